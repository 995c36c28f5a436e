r"""The order parameters of one member: a fixed point of three scalars.

**Features.** A member with ψ₁ = P/D random features answers the forces on its N training outputs,
which have the mean response v̂, alignment m̂ with the target and power q̂ (`_labels`). With the
moments μ₁, μ⋆ of the activation and the ridge ψ₂λ,

    m = ρ m̂ (uX),    q = ρ m̂² Q(1/ψ₁) + q̂ T(1/ψ₁),    V = (u + μ⋆²/μ₁²) X,    X = μ₁² Y
    u² μ₁²/ψ₁ + u (ω + μ₁² (1 - 1/ψ₁)) = ω,    ω = μ⋆²/ψ₁ + ψ₂λ/v̂,    1/Y = v̂ (ω + u μ₁²/ψ₁)

and, for two members that share a fraction f of their features, with c = f/ψ₁, s = u X v̂ = 1 - u,

    Q(c) = (uX)² + c u² μ₁² Y² (μ₁² u² + μ⋆²)/(1 - c s²)
    T(c) = (uX)² + c Y² (μ₁² u² + μ⋆²)²/(1 - c s²).

All is in units of V: v̂V, m̂V, q̂V² and Y/V are numbers of order one for ridges from 1e-300 to
1e300. Products replace quotients, so that P = ∞, v̂ = 0 (the hinge loss at a huge ridge) and μ₁ = 0
or μ⋆ = 0 are regular.

**Unknowns.** Features and labels are closed by (V, q, a) for margin losses and by (V, R, b) for
residual losses: V is the variance of the cavity output, q its power, a the tangent form of its
correlation with the labels, R the test error and b the intercept. The equations are solved for
log V, log q, log a (log R, b/S) by Newton's method with a Jacobian by differences, on all points of
a block at once. The start is the fixed point of the squared loss, for margin losses on the share of
the samples that act as constraints and after a few damped iterations. Points that do not converge
are continued from a large ridge (the maximum margin from few samples).

**Interpolation.** Near P = N a residual loss with a small ridge has V and R that diverge, and both
equations are differences of nearly equal numbers. With the rank P of the features (D for linear
features with P > D), the share t of the response that labels lose and D₂ of their power
(`Forces.lost`, `lost_power`),

    v̂V = ψ₂ (1 - t),    rank/(v̂V) = (1 + z) D,    T v̂² = (1 - d) rank/D,    E (gV)² = R + τ² - D₂

with z and d sums of positive terms (`_resistance`), the equations are balances of small terms,
log(N/rank) = log(1 + ...), without a difference of numbers of order one.

**Threshold.** At N = N⋆ of separability (`_separability`) the weights of a margin loss diverge as
the ridge vanishes, and rounding determines q. Their direction has a limit, which is set where
|N/N⋆ - 1| < 1e-7, with q = V = ∞.

The setting, random features with convex losses in high dimension, is that of [loureiro2022], with
the ridge λ N/D in place of λ. The closed forms of both sides are derived here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from doubletrouble.convex._labels import (
    Forces,
    Labels,
    LearningPoints,
    MarginLabels,
    ResidualLabels,
    wrong_share,
)
from doubletrouble.convex._separability import active_fraction
from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Indices, Value

_DAMPED = 4  # iterations before Newton's method
_STEPS = 60  # of Newton's method
_LONGEST = 1.2  # of a step, in logarithms
_BROYDEN = 1e-4  # residual below which Jacobians are updated
_DONE = 3e-14  # residual at which iteration stops
_ACCEPTED = 1e-9  # residual of a solution at the limit of rounding
_STAGES = 40  # of a continuation
_NOISELESS = 1e-24  # relative variance of the noise at the end of a path
_CLOSE = 0.1  # |log(N/rank)| of interpolation
_TINIEST = 5e-324
_RIDGELESS = 1e-200  # ridges that stand for 0
_THRESHOLD = 1e-7  # |N/N⋆ - 1| of the limit N = N⋆
_LARGE = 1e30  # q at N = N⋆, in a unit that stands for infinity
_INFINITE = 1e130


@dataclass(slots=True, kw_only=True)
class Response:
    """The response of the features at a block of points, in units of V."""

    unlearned: FloatArray  # u
    gain: FloatArray  # uX/V
    growth: FloatArray  # (u + μ⋆²/μ₁²) X/V: one at the fixed point
    inverse_features: FloatArray  # 1/ψ₁
    _signal: FloatArray  # μ₁² (uY)² (μ₁² u² + μ⋆²)
    _noise: FloatArray  # (Y (μ₁² u² + μ⋆²))²

    def signal(self, shared: Value = 1.0) -> FloatArray:
        """Q(f/ψ₁) - Q(0): the fluctuation of the learned signal over features shared."""
        c = shared * self.inverse_features
        return c * self._signal / self._rest(c)

    def noise(self, shared: Value = 1.0) -> FloatArray:
        """T(f/ψ₁)."""
        c = shared * self.inverse_features
        return self.gain**2 + c * self._noise / self._rest(c)

    def _rest(self, c: FloatArray) -> FloatArray:
        """1 - c s², without the difference where P and D are equal."""
        return 1 - c + c * self.unlearned * (2 - self.unlearned)


def response(
    linear: float, nonlinear: float, inverse_features: FloatArray, stiff: Value, v: FloatArray
) -> Response:
    """The response to forces of response v̂V; `linear` is μ₁², `nonlinear` μ⋆², `stiff` ψ₂λV."""
    shared = linear * inverse_features * v
    w = nonlinear * inverse_features * v + stiff
    b = w + linear * v * (1 - inverse_features)
    root = np.sqrt(b * b + 4 * w * shared)
    falling = b <= 0
    # two forms of one root; the one that does not subtract
    h = np.where(falling, 4 * w * shared / (root - b + _TINIEST), b + root)
    u = np.where(falling, (root - b) / (2 * shared), 2 * w / h)
    gain = 2 * linear / (h + 2 * shared)
    rest = nonlinear * (h / (w * (h + 2 * shared))) if nonlinear else 0.0
    strength = linear * u * u + nonlinear
    return Response(
        unlearned=u,
        gain=gain,
        growth=gain + rest,
        inverse_features=inverse_features,
        _signal=gain * gain * (strength / linear) if linear else 0.0 * u,
        _noise=(u * gain + rest) ** 2,
    )


@dataclass(slots=True, kw_only=True, frozen=True)
class Equations:
    """The equations of a task, loss and activation; parameters that vary are `LearningPoints`."""

    labels: Labels
    residual: bool  # whether the unknowns are those of a loss of residuals
    classes: bool  # whether labels are ±1
    intercept: bool
    hard: bool  # maximum margin: the ridge is only a scale
    linear: float  # μ₁²
    nonlinear: float  # μ⋆²

    def state(
        self, at: LearningPoints, unknowns: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """V, q or R, and a or b."""
        V, spread = np.exp(unknowns[0]), np.exp(unknowns[1])
        if self.residual:
            return V, spread, unknowns[2] * np.sqrt(spread + at.noise_power)
        return V, spread, np.exp(unknowns[2]) if self.linear else 0.0 * V

    def sides(
        self, at: LearningPoints, unknowns: FloatArray, coarse: bool = False
    ) -> tuple[Forces, Response]:
        """Both sides of the equations."""
        V, spread, third = self.state(at, unknowns)
        forces = self.labels.forces(at, V, spread, third, coarse=coarse)
        return forces, self.response(at, V, forces.response)

    def response(self, at: LearningPoints, V: FloatArray, v: FloatArray) -> Response:
        """The response of the features to labels of response v̂V."""
        stiff = at.samples * at.ridge * V
        return response(self.linear, self.nonlinear, at.inverse_features, stiff, v)

    def mismatch(
        self, at: LearningPoints, unknowns: FloatArray, coarse: bool = False
    ) -> FloatArray:
        """One iteration of the equations less the unknowns, (3, n).

        Near interpolation it is the logarithm of the ratio of both sides of the balances instead.
        """
        sides = self.sides(at, unknowns, coarse)
        of_task = self._residual_mismatch if self.residual else self._margin_mismatch
        return np.stack(of_task(at, unknowns, *sides))

    def _margin_mismatch(
        self, at: LearningPoints, unknowns: FloatArray, forces: Forces, features: Response
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        m, rho = forces.alignment, at.power
        q_d = rho * (m * features.gain) ** 2
        rest = rho * m * m * features.signal() + forces.power * features.noise()
        spread, third = q_d + rest, -unknowns[2]
        if self.linear:  # a² = m²/(q (ρ+τ²) - m²), without the difference
            spare = rho * rest + at.label_noise * spread
            third = 0.5 * np.log(rho * q_d / spare) - unknowns[2]
        return np.log(features.growth), np.log(spread) - unknowns[1], third

    def _residual_mismatch(
        self, at: LearningPoints, unknowns: FloatArray, forces: Forces, features: Response
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        m, rho = forces.alignment, at.power
        V, spread, b = self.state(at, unknowns)
        bias = rho * features.unlearned**2 + rho * m * m * features.signal()
        growth = np.log(features.growth)
        power = np.log(bias + forces.power * features.noise()) - unknowns[1]
        near = (np.abs(at.log_load) < _CLOSE) & (forces.lost < 0.5)
        if np.any(near):
            z, d = self._resistance(at, V, forces.response, features)
            load, log_response = at.log_load, np.log1p(-forces.lost)
            balance = _balance(
                np.maximum(-load, 0) - log_response, np.maximum(load, 0), np.log1p(z)
            )
            growth = np.where(near, balance, growth)
            log_kernel = np.log1p(-d) - load - 2 * log_response  # of ψ₂ T
            kernel, spare = np.exp(log_kernel), -np.expm1(log_kernel)
            given = (bias + kernel * (at.noise_power + b * b)) / spread
            lost = kernel * forces.lost_power / spread
            balance = _balance(given + np.maximum(-spare, 0), np.maximum(spare, 0), lost)
            close = np.maximum(spare, 0) + lost < 0.5
            power = np.where(near & close, balance, power)
        third = -unknowns[2]
        if self.intercept:
            scale, slack = np.sqrt(spread + at.noise_power), V * (at.high - at.low)
            third = forces.mean * (scale + slack) / (scale * slack)
        return growth, power, third

    def _resistance(
        self, at: LearningPoints, V: FloatArray, v: FloatArray, features: Response
    ) -> tuple[FloatArray, FloatArray]:
        """Z and d of the features: what the ridge takes from their first and second moments."""
        linear, u, i = self.linear, features.unlearned, at.inverse_features
        stiff = at.samples * at.ridge * V
        root = (self.nonlinear * i + linear * (1 - i + 2 * i * u)) * v + stiff
        rise = stiff * (1 - u) / root  # du/dlog λ
        strength = linear * u + self.nonlinear
        z = stiff / (i * v * strength)
        dz = z * (1 - linear * rise / strength)
        if not self.nonlinear:  # the rank is D where P > D
            deficient, floor = i < 1, stiff / (linear * v)
            z = np.where(deficient, i * u + floor, z)
            dz = np.where(deficient, i * rise + floor, dz)
        return z, (z * (1 + z) + dz) / (1 + z) ** 2

    def threshold(self, at: LearningPoints) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`active_fraction` of the points: where N = N⋆, and the direction of the weights there."""
        share = 1 / (1 + at.label_noise)
        return active_fraction(at.inverse_features, share, at.flips, self.linear, self.nonlinear)

    def start(self, at: LearningPoints) -> FloatArray:
        """Unknowns at which the iteration starts, (3, n)."""
        share = 1.0 if self.residual else 0.45  # of samples that act as constraints when P < N
        log_V = self._bisected(
            at, lambda V: np.log(self.response(at, V, share * at.samples * V / (1 + V)).growth), 18
        )
        unknowns = np.stack([np.clip(log_V, -600.0, 690.0), 0.0 * log_V, 0.0 * log_V])
        near = np.flatnonzero(self.residual & (np.abs(at.log_load) < _CLOSE) & (log_V > 0))
        if not self.residual:  # little information: a is proportional to it
            weak = np.log(at.information) - 0.5 * np.log1p(at.label_noise)
            unknowns[2] = np.minimum(weak, 0.0)
            # outputs are V g with forces g of order one at a large ridge
            unknowns[1] = 0.0 if self.hard else np.minimum(2 * unknowns[0], 0.0)
        far = np.setdiff1d(np.arange(at.size), near)
        if far.size:
            some, x = at.take(far), unknowns[:, far]
            for _ in range(_DAMPED):
                change = self.mismatch(some, x, True)
                change = np.where(np.isfinite(change), change, 0.0)
                x = x + np.clip(0.9 * change, -3.0, 3.0)
            unknowns[:, far] = x
        if near.size:
            unknowns[:2, near] = self._near_start(at.take(near))
        return unknowns

    def _near_start(self, at: LearningPoints) -> tuple[FloatArray, FloatArray]:
        """Log V and log R near interpolation."""
        load = at.log_load

        def features(V: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            v = at.samples * V / (1 + V)
            response = self.response(at, V, v)
            given = at.power * (response.unlearned**2 + response.signal() * v * v) + at.noise_power
            return *self._resistance(at, V, v, response), given

        def square(V: FloatArray) -> FloatArray:
            return np.log1p(1 / V) - load - np.log1p(features(V)[0])

        def power(V: FloatArray) -> FloatArray:  # of the squared loss
            _, d, given = features(V)
            return np.log(given) - np.log(-np.expm1(np.log1p(-d) - load))

        log_V = self._bisected(at, square, 24)
        log_R = power(np.exp(log_V))
        if isinstance(self.labels, ResidualLabels) and not self.labels.softness:
            # forces without a quadratic part lose their tails only, beyond β standard deviations:
            # t ~ exp(-β²/2) = z + log(N/rank), and R 2t/β² is what is given, hV = β √R
            slope = np.minimum(-at.low, at.high)

            def tails(V: FloatArray) -> tuple[FloatArray, FloatArray]:
                z, _, given = features(V)
                t = np.maximum(load + np.log1p(z), 1e-300)
                beta = np.sqrt(np.maximum(-2 * np.log(t), 1.0))
                return 2 * t * (slope * V / (beta * beta)) ** 2 / given, slope * V / beta

            other = self._bisected(at, lambda V: -np.log(tails(V)[0]), 24)
            V = np.exp(other)
            spread = 2 * np.log(tails(V)[1])
            # for P > N the tails may be lost already where the squared loss interpolates
            beyond = slope**2 * np.exp(2 * log_V - log_R) > 6 - 2 * np.log(-load)
            narrow = (load + np.log1p(features(V)[0]) < 0.1) & ~((load < 0) & beyond)
            log_V, log_R = np.where(narrow, other, log_V), np.where(narrow, spread, log_R)
        return np.clip(log_V, -600.0, 690.0), np.where(np.isfinite(log_R), log_R, 0.0)

    @staticmethod
    def _bisected(
        at: LearningPoints, function: Callable[[FloatArray], FloatArray], steps: int
    ) -> FloatArray:
        """Log V at which a function of V changes from positive to negative, to 1400/2^steps."""
        # the calls of few points cost more than their arithmetic: more sections at once
        bits = 6 if at.size <= 16 else 1
        sections = 2**bits
        low, width = np.full(at.size, -700.0), 1400.0
        inner = np.arange(1.0, sections)[:, None]
        for _ in range(-(-steps // bits)):
            width /= sections
            positive = function(np.exp(low + width * inner)) > 0
            # the last of them: far below the root the function may be 0/0
            low = low + width * np.where(positive, inner, 0.0).max(axis=0)
        return low + 0.5 * width


def _balance(more: FloatArray, less: FloatArray, lost: FloatArray) -> FloatArray:
    """More - less - lost of positive terms, or the logarithm of the ratio where they are small."""
    less = less + lost
    return np.where(less < 0.5, np.log(more / less), more - less)


Side = TypeVar("Side", Forces, Response)


@dataclass(slots=True, kw_only=True)
class SolvedPoints:
    """Solved points: the unknowns, both sides, and the order parameters in the block's units."""

    equations: Equations
    at: LearningPoints
    V: FloatArray
    third: FloatArray  # a or b
    forces: Forces
    features: Response

    @property
    def q_d(self) -> FloatArray:
        """m²/ρ: the power of the mean output, and the overlap of members that share nothing."""
        return self.at.power * (self.forces.alignment * self.features.gain) ** 2

    @property
    def bias(self) -> FloatArray:
        """ρ u²: the bias of residual losses, whose mean output is (1 - u) times the target."""
        return self.at.power * self.features.unlearned**2

    def fluctuation(self, shared_features: Value = 1.0) -> FloatArray:
        """The part of q₁₂ - m²/ρ that comes from shared features alone."""
        m = self.forces.alignment
        return self.at.power * m * m * self.features.signal(shared_features)

    @property
    def excess(self) -> FloatArray:
        """The excess q - m²/ρ over members that share nothing."""
        return self.fluctuation() + self.forces.power * self.features.noise()

    def spare(self, shared_features: FloatArray) -> FloatArray:
        """1 - ψ₂ T(f/ψ₁), near interpolation without the difference."""
        equations, at, features = self.equations, self.at, self.features
        plain = 1 - at.samples * features.noise(shared_features)
        if not equations.residual:
            return plain
        _, d = equations._resistance(at, self.V, self.forces.response, features)
        kernel, exact = np.log1p(-d), shared_features == 1
        if not equations.nonlinear:  # all features have the same span where P > D
            u, c = features.unlearned, shared_features * at.inverse_features
            whole = at.inverse_features <= 1
            of_span = 2 * np.log1p(-u) + np.log1p(c * u * u / features._rest(c))
            kernel, exact = np.where(whole, of_span, kernel), exact | whole
        lost = -np.expm1(kernel - at.log_load - 2 * np.log1p(-self.forces.lost))
        return np.where(
            exact & (np.abs(at.log_load) < _CLOSE) & (self.forces.lost < 0.5), lost, plain
        )

    def training(self) -> tuple[FloatArray, FloatArray]:
        """The error on the training labels (squared residuals, or wrong signs) and the loss."""
        equations, at, q_d, excess = self.equations, self.at, self.q_d, self.excess
        spread = (self.bias if equations.residual else q_d) + excess
        error, loss = equations.labels.training(at, self.V, spread, self.third)
        if equations.residual and equations.classes:  # the squared loss
            a = np.sqrt(q_d / (excess + at.label_noise * (q_d + excess)))
            error = wrong_share(at, self.V, np.sqrt(q_d + excess), a)
        error = error if equations.classes else error * at.unit
        return np.maximum(error, 0.0), np.maximum(loss * at.loss_unit, 0.0)

    def take(self, index: Indices) -> SolvedPoints:
        """The solutions at some of the points."""

        def some(block: Side) -> Side:
            values = {f.name: getattr(block, f.name) for f in fields(block)}
            return type(block)(**{k: v[..., index] if np.ndim(v) else v for k, v in values.items()})

        return SolvedPoints(
            equations=self.equations,
            at=self.at.take(index),
            V=self.V[index],
            third=self.third[index],
            forces=some(self.forces),
            features=some(self.features),
        )


def solve(equations: Equations, at: LearningPoints) -> SolvedPoints:
    """The fixed point at every point, or raise ConvergenceError.

    Points of diverging weights, at the threshold N⋆ of separability, get a `unit` of infinity.
    """
    with np.errstate(all="ignore"):
        unknowns, residual = newton(equations, at, equations.start(at))
        critical = _critical(equations, at, at.ridge < _RIDGELESS)
        failed = np.flatnonzero(~(residual < _ACCEPTED) & ~critical)
        if failed.size:
            unknowns[:, failed], residual[failed] = _continued(equations, at.take(failed))
            critical |= _critical(equations, at, ~(residual < _ACCEPTED))
        residual[critical] = 0.0
        bad = ~(residual < _ACCEPTED)
        if np.any(bad):
            k = int(np.argmax(np.where(np.isnan(residual), np.inf, residual)))
            raise ConvergenceError(
                f"the order parameters did not converge at {int(bad.sum())} of {at.size} points, "
                f"the worst at {_named(equations, at, k)}",
                last=unknowns[:, k],
                residual=float(residual[k]),
            )
        forces, features = equations.sides(at, unknowns)
        V, _, third = equations.state(at, unknowns)
        solution = SolvedPoints(
            equations=equations, at=at, V=V, third=third, forces=forces, features=features
        )
        if np.any(critical):
            _set_threshold(solution, np.flatnonzero(critical))
    return solution


def _named(equations: Equations, at: LearningPoints, k: int) -> str:
    """The parameters of a point as named numbers, in the units of the problem."""
    root = np.sqrt(at.unit[k])
    scaled = isinstance(equations.labels, ResidualLabels) and not equations.labels.softness
    ridge = at.ridge[k] / (root if scaled else 1.0)
    values = {
        "features_per_dim": 1 / at.inverse_features[k],
        "samples_per_dim": at.samples[k],
        "ridge": 0.0 if ridge < _RIDGELESS else ridge,
    }
    if equations.classes:
        values |= {"flips": at.flips[k], "noise/signal": np.sqrt(at.label_noise[k])}
    else:
        values |= {"signal": root * np.sqrt(at.power[k]), "noise": root * at.noise_power[k] ** 0.5}
    return ", ".join(f"{name} = {value:.12g}" for name, value in values.items())


def _critical(equations: Equations, at: LearningPoints, among: BoolArray) -> BoolArray:
    """Those points of a margin loss whose N is N⋆, so that small ridges have diverging weights."""
    result = np.zeros(at.size, dtype=bool)
    if not equations.residual and np.any(among):
        index = np.flatnonzero(among)
        fraction, inverse_rank, _ = equations.threshold(at.take(index))
        load = at.samples[index] * fraction * inverse_rank
        result[index] = np.abs(load - 1) < _THRESHOLD
    return result


def _set_threshold(solution: SolvedPoints, index: Indices) -> None:
    """Set points to the limit N = N⋆, ridge 0: a finite direction of infinite weights.

    Margins are negligible there: the forces are -t for t < 0, with V ≫ √q ≫ 1.
    """
    equations, at = solution.equations, solution.at.take(index)
    ones = np.ones(index.size)
    _, _, tangent = equations.threshold(at)
    q, V, a = _LARGE * ones, _LARGE**3 * ones, at.information * tangent
    at.low, at.high = 0 * ones, np.inf * ones
    forces = MarginLabels(0.0).forces(at, V, q, a)
    features = response(
        equations.linear, equations.nonlinear, at.inverse_features, 1e-100, forces.response
    )
    solution.V[index], solution.third[index] = V, a
    for ours, new in ((solution.forces, forces), (solution.features, features)):
        for field in fields(new):
            if np.ndim(getattr(ours, field.name)):
                getattr(ours, field.name)[index] = getattr(new, field.name)
    solution.at.unit = solution.at.unit.copy()
    solution.at.unit[index] = _INFINITE
    solution.at.limit[index] = True


def newton(
    equations: Equations, at: LearningPoints, unknowns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Newton's method with backtracking; the unknowns, and the largest residual of each point."""
    unknowns = unknowns.copy()
    current = equations.mismatch(at, unknowns)
    residual = _size(current)
    active = np.flatnonzero(~(residual < _DONE) & np.isfinite(residual))
    jacobians = np.empty((at.size, 3, 3))
    exact = np.ones(at.size, dtype=bool)  # whether the next Jacobian is one by differences
    for _ in range(_STEPS):
        if not active.size:
            break
        some, x, f = at.take(active), unknowns[:, active], current[:, active]
        fresh = np.flatnonzero(exact[active])
        if fresh.size:
            jacobians[active[fresh]] = _jacobian(
                equations, some.take(fresh), x[:, fresh], f[:, fresh]
            )
        jacobian = jacobians[active]
        move = -np.linalg.solve(jacobian, f.T[:, :, None])[:, :, 0].T
        move *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), 1e-300))
        before = residual[active]
        trial = x + move
        value = equations.mismatch(some, trial)
        after = _size(value)
        updated = ~exact[active]
        for _ in range(6):
            worse = np.flatnonzero(~(after < np.maximum(before, 1e-11)) & ~updated)
            if not worse.size:
                break
            move[:, worse] *= 0.3
            trial[:, worse] = x[:, worse] + move[:, worse]
            value[:, worse] = equations.mismatch(some.take(worse), trial[:, worse])
            after[worse] = _size(value[:, worse])
        better = after < before
        chosen = better | (after < 1e-11)
        take = active[chosen]
        unknowns[:, take], current[:, take] = trial[:, chosen], value[:, chosen]
        residual[take] = after[chosen]
        # close to the solution Broyden's update replaces three evaluations, while it converges
        slow = ~(after < 0.03 * before)
        exact[active] = slow | (after > _BROYDEN)
        move, value = move.T, (value - f).T
        defect = value - np.einsum("nij,nj->ni", jacobian, move)
        rank_one = defect[:, :, None] * (move / (move * move).sum(axis=1, keepdims=True))[:, None]
        jacobians[active] = jacobian + rank_one
        # rounding ends the descent: a residual that no longer falls is final
        stuck = ~better | ((after < 1e-12) & (after > 0.1 * before))
        active = active[~(stuck & ~updated) & ~(after < _DONE)]
    return unknowns, residual


def _jacobian(
    equations: Equations, at: LearningPoints, unknowns: FloatArray, current: FloatArray
) -> FloatArray:
    """The Jacobian by differences, (n, 3, 3); minus one where it is singular."""
    n, step = at.size, 1e-7
    tiled = at.take(np.tile(np.arange(n), 3))
    moved = np.concatenate([unknowns + step * np.eye(3)[:, [k]] for k in range(3)], axis=1)
    shifted = equations.mismatch(tiled, moved).reshape(3, 3, n)  # (equation, unknown, point)
    jacobian = np.moveaxis((shifted - current[:, None, :]) / step, -1, 0)
    jacobian[~np.isfinite(jacobian).all(axis=(1, 2))] = -np.eye(3)
    jacobian[np.abs(np.linalg.det(jacobian)) < 1e-280] = -np.eye(3)
    return jacobian


def _size(mismatch: FloatArray) -> FloatArray:
    largest: FloatArray = np.abs(mismatch).max(axis=0)
    return largest


def _continued(equations: Equations, at: LearningPoints) -> tuple[FloatArray, FloatArray]:
    """Points approached along a path from an easier problem, the first path that arrives."""
    paths: dict[str, tuple[FloatArray, FloatArray]] = {
        "ridge": (np.maximum(at.ridge, 3.0), at.ridge)
    }
    if equations.hard:
        paths = {
            "samples": (
                np.minimum(at.samples, 0.1 / np.maximum(at.inverse_features, 1.0)),
                at.samples,
            )
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
        easiest: dict[str, Any] = {name: start}
        there = before = equations.start(replace(some, **easiest))
        for stage in np.linspace(0.0, 1.0, _STAGES):
            value = np.exp((1 - stage) * np.log(start) + stage * np.log(end))
            guess = there if name == "samples" else 2 * there - before
            solved, misfit = newton(equations, replace(some, **{name: value}), guess)
            failed = ~(misfit < _ACCEPTED)
            if np.any(failed):
                again, _ = newton(equations, replace(some, **{name: value}), there)
                solved[:, failed] = again[:, failed]
            there, before = solved, there
        unknowns[:, left], residual[left] = newton(equations, some, there)
    return unknowns, residual
