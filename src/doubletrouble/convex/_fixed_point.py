r"""The order parameters of one member: a fixed point of three scalars.

The features side (`_features`) and the data side (`_labels`) are closed by (V, q, a) for margin
losses and by (V, R, b) for residual losses: V is the variance of the cavity output, q its power,
a the tangent form of its correlation with the labels, R the test error and b the intercept. The
equations are solved for log V, log q, log a (log R, b/S) by Newton's method with a Jacobian by
differences, on all points of a block at once. The start is the fixed point of the square loss on
the share of the samples that act as constraints, after a few damped iterations. Points that do not
converge are continued from a large ridge (the maximum margin from few samples).

The setting, random features with convex losses in high dimension, is that of [loureiro2022], with
the ridge λ N/D in place of λ. The closed forms of both sides are derived here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from doubletrouble.convex._features import Response, response
from doubletrouble.convex._labels import Forces, Labels, LearningPoints, MarginLabels
from doubletrouble.errors import ConvergenceError

_DAMPED = 8  # iterations before Newton's method
_STEPS = 60  # of Newton's method
_LONGEST = 1.2  # of a step, in logarithms
_DONE = 3e-14  # residual at which iteration stops
_ACCEPTED = 1e-9  # residual of a solution at the limit of rounding
_STAGES = 40  # of a continuation
_NOISELESS = 1e-24  # relative variance of the noise at the end of a path
INFINITE = 1e100


@dataclass(slots=True, kw_only=True, frozen=True)
class Equations:
    """The equations of a task, loss and activation; parameters that vary are `LearningPoints`."""

    labels: Labels
    residual: bool  # whether the loss is one of residuals
    intercept: bool
    hard: bool  # maximum margin: the ridge is only a scale
    linear: float  # μ₁²
    nonlinear: float  # μ⋆²

    def state(self, at: LearningPoints, unknowns: Any) -> tuple[Any, Any, Any]:
        """V, q or R, and a or b."""
        V, spread = np.exp(unknowns[0]), np.exp(unknowns[1])
        if self.residual:
            scale = np.sqrt(spread + (at.weights * at.variances).sum(axis=0))
            return V, spread, unknowns[2] * scale
        return V, spread, np.where(self.blind(at), 0.0, np.exp(unknowns[2]))

    def blind(self, at: LearningPoints) -> Any:
        """Where the outputs do not correlate with the labels at all."""
        return (at.power == 0) | (at.flips == 0.5) | (self.linear == 0)

    def sides(
        self, at: LearningPoints, unknowns: Any, coarse: bool = False
    ) -> tuple[Forces, Response]:
        """Both sides of the equations."""
        V, spread, third = self.state(at, unknowns)
        forces = self.labels.forces(at, V, spread, third, coarse=coarse)
        stiff = at.samples * at.ridge * V
        return forces, response(
            self.linear, self.nonlinear, at.inverse_width, stiff, forces.response
        )

    def mismatch(self, at: LearningPoints, unknowns: Any, coarse: bool = False) -> Any:
        """One iteration of the equations less the unknowns, (3, n)."""
        forces, features = self.sides(at, unknowns, coarse)
        m, q, rho = forces.alignment, forces.power, at.power
        noise, fluctuation = features.noise(), rho * m * m * features.signal()
        third: Any = -unknowns[2]
        if self.residual:
            spread = rho * features.unlearned**2 + fluctuation + q * noise
            if self.intercept:
                V, power, _ = self.state(at, unknowns)
                scale = np.sqrt(power + (at.weights * at.variances).sum(axis=0))
                slack = V * (at.high - at.low)
                third = forces.mean * (scale + slack) / (scale * slack)
        else:
            aligned = rho * (m * features.aligned) ** 2
            rest = fluctuation + q * noise
            spread = aligned + rest
            # a² = m²/(q (ρ+τ²) - m²), without the difference
            spare = at.power * rest + at.variances[0] * spread
            tilt = 0.5 * np.log(rho * aligned / spare)
            third = np.where(self.blind(at), third, tilt - unknowns[2])
        return np.stack([np.log(features.growth), np.log(spread) - unknowns[1], third])

    def start(self, at: LearningPoints) -> Any:
        """Unknowns at which the iteration starts, (3, n)."""
        share = 1.0 if self.residual else 0.45  # of samples that act as constraints when P < N
        samples = share * at.samples
        low, high = np.full(at.size, -740.0), np.full(at.size, 740.0)
        for _ in range(18):
            middle = 0.5 * (low + high)
            v = samples / (1 + np.exp(-middle))
            stiff = at.samples * at.ridge * np.exp(np.minimum(middle, 700.0))
            growing = response(self.linear, self.nonlinear, at.inverse_width, stiff, v).growth > 1
            low, high = np.where(growing, middle, low), np.where(growing, high, middle)
        unknowns = np.stack([np.clip(middle, -600.0, 690.0), np.zeros(at.size), np.zeros(at.size)])
        for turn in range(_DAMPED):
            change = self.mismatch(at, unknowns, True)
            change = np.where(np.isfinite(change), change, 0.0)
            unknowns = unknowns + np.clip((0.9 if turn < 4 else 0.7) * change, -3.0, 3.0)
        return unknowns


@dataclass(slots=True, kw_only=True)
class SolvedPoints:
    """Solved points: the unknowns, both sides, and the order parameters in the block's units."""

    at: LearningPoints
    V: Any
    third: Any  # a or b
    forces: Forces
    features: Response

    @property
    def aligned(self) -> Any:
        """m²/ρ: the power of the mean output."""
        return self.at.power * (self.forces.alignment * self.features.aligned) ** 2

    @property
    def unaligned(self) -> Any:
        """ρ u²: the bias of residual losses, whose mean output is (1 - u) times the target."""
        return self.at.power * self.features.unlearned**2

    @property
    def overlap(self) -> Any:
        """m/ρ."""
        return self.forces.alignment * self.features.aligned

    def fluctuation(self, shared_features: Any = 1.0) -> Any:
        """The part of q₁₂ - m²/ρ that comes from shared features alone."""
        m = self.forces.alignment
        return self.at.power * m * m * self.features.signal(shared_features)

    @property
    def excess(self) -> Any:
        """The excess q - m²/ρ over members that share nothing."""
        return self.fluctuation() + self.forces.power * self.features.noise()

    def interpolating(self, equations: Equations, where: Any) -> SolvedPoints:
        """The solution, with the limit of ridge 0 at P = N at some points: V and q are infinite."""
        at, a = self.at, np.where(where, 0.0, self.third)
        V = np.where(where, INFINITE**2, self.V)
        linear = equations.labels.forces(at, V, np.ones_like(V), a)  # g V = e
        forces = Forces(
            response=np.where(where, at.samples, self.forces.response),
            power=np.where(where, INFINITE * 1e10, self.forces.power),
            alignment=np.where(where, linear.alignment, self.forces.alignment),
        )
        stiff = np.where(where, 0.0, at.samples * at.ridge * V)
        features = response(
            equations.linear, equations.nonlinear, at.inverse_width, stiff, forces.response
        )
        return SolvedPoints(at=at, V=V, third=a, forces=forces, features=features)

    def take(self, index: Any) -> SolvedPoints:
        """The solutions at some of the points."""

        def some(block: Any) -> Any:
            values = {f.name: getattr(block, f.name) for f in fields(block)}
            return type(block)(**{k: v[..., index] if np.ndim(v) else v for k, v in values.items()})

        return SolvedPoints(
            at=self.at.take(index),
            V=self.V[index],
            third=self.third[index],
            forces=some(self.forces),
            features=some(self.features),
        )


def solve(equations: Equations, at: LearningPoints) -> SolvedPoints:
    """The fixed point at every point, or raise ConvergenceError."""
    with np.errstate(all="ignore"):
        unknowns, residual = newton(equations, at, equations.start(at))
        failed = np.flatnonzero(~(residual < _ACCEPTED))
        if failed.size:
            unknowns[:, failed], residual[failed] = _continued(equations, at.take(failed))
        worst = float(np.max(residual))
        if not worst < _ACCEPTED:
            k = int(np.argmax(np.where(np.isnan(residual), np.inf, residual)))
            count = int(np.sum(~(residual < _ACCEPTED)))
            raise ConvergenceError(
                f"the order parameters did not converge at {count} of {residual.size} points, the "
                f"worst at {at.take([k])}",
                last=unknowns[:, k],
                residual=worst,
            )
        forces, features = equations.sides(at, unknowns)
        V, _, third = equations.state(at, unknowns)
    return SolvedPoints(at=at, V=V, third=third, forces=forces, features=features)


def newton(equations: Equations, at: LearningPoints, unknowns: Any) -> tuple[Any, Any]:
    """Newton's method with backtracking; the unknowns, and the largest residual of each point."""
    unknowns = unknowns.copy()
    current = equations.mismatch(at, unknowns)
    residual = _size(current)
    active = np.flatnonzero(~(residual < _DONE) & np.isfinite(residual))
    step = 1e-7
    for _ in range(_STEPS):
        if not active.size:
            break
        some, x, f = at.take(active), unknowns[:, active], current[:, active]
        n = active.size
        tiled = some.take(np.tile(np.arange(n), 3))
        moved = np.concatenate([x + step * np.eye(3)[:, [k]] for k in range(3)], axis=1)
        shifted = equations.mismatch(tiled, moved).reshape(3, 3, n)  # (equation, unknown, point)
        jacobian = np.moveaxis((shifted - f[:, None, :]) / step, -1, 0)  # (n, 3, 3)
        good = np.isfinite(jacobian).all(axis=(1, 2))
        jacobian[~good] = -np.eye(3)
        singular = np.abs(np.linalg.det(jacobian)) < 1e-280
        jacobian[singular] = -np.eye(3)
        move = -np.linalg.solve(jacobian, f.T[:, :, None])[:, :, 0].T
        move *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), 1e-300))
        before = residual[active]
        trial = x + move
        value = equations.mismatch(some, trial)
        after = _size(value)
        for _ in range(6):
            worse = np.flatnonzero(~(after < np.maximum(before, 1e-11)))
            if not worse.size:
                break
            move[:, worse] *= 0.3
            trial[:, worse] = x[:, worse] + move[:, worse]
            value[:, worse] = equations.mismatch(some.take(worse), trial[:, worse])
            after[worse] = _size(value[:, worse])
        better = after < before
        take = active[better | (after < 1e-11)]
        chosen = better | (after < 1e-11)
        unknowns[:, take], current[:, take] = trial[:, chosen], value[:, chosen]
        residual[take] = after[chosen]
        # rounding ends the descent: a residual that no longer falls is final
        stuck = ~better | ((after < 1e-12) & (after > 0.1 * before))
        active = active[~stuck & ~(after < _DONE)]
    return unknowns, residual


def _size(mismatch: Any) -> Any:
    return np.abs(mismatch).max(axis=0)


def _continued(equations: Equations, at: LearningPoints) -> tuple[Any, Any]:
    """Points approached along a path from an easier problem, the first path that arrives."""
    paths: dict[str, tuple[Any, Any]] = {
        "ridge": (np.maximum(at.ridge, 3.0), np.maximum(at.ridge, 1e-12))
    }
    if equations.hard:
        paths = {
            "samples": (np.minimum(at.samples, 0.1 / np.maximum(at.inverse_width, 1.0)), at.samples)
        }
    elif equations.residual:
        noise = np.maximum(at.variances, _NOISELESS)
        paths["variances"] = (np.maximum(noise, 1.0), noise)
    unknowns, residual = np.zeros((3, at.size)), np.full(at.size, np.inf)
    if not equations.residual and not equations.hard and np.all(at.high > 0):
        # from the maximum margin, the limit of small ridges on separable data
        hard = replace(equations, hard=True, labels=MarginLabels(0.0))
        ones = np.ones(at.size)
        there, _ = _continued(hard, replace(at, ridge=ones, low=0 * ones, high=np.inf * ones))
        there[0] -= np.log(at.ridge)
        unknowns, residual = newton(equations, at, there)
    for name, (easy, target) in paths.items():
        left = np.flatnonzero(~(residual < _ACCEPTED))
        if not left.size:
            break
        some, start, end = at.take(left), easy[..., left], target[..., left]
        there = equations.start(replace(some, **{name: start}))
        for stage in np.linspace(0.0, 1.0, _STAGES):
            value = np.exp((1 - stage) * np.log(start) + stage * np.log(end))
            there, _ = newton(equations, replace(some, **{name: value}), there)
        unknowns[:, left], residual[left] = newton(equations, some, there)
    return unknowns, residual
