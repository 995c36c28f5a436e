"""The order parameters of a problem with any convex loss, and the overlaps of its members.

Blocks of points are solved in units in which the labels have power one: labels of classes depend on
`noise`/`signal` only, and residual losses are rescaled. A ridge of 0 or inf is a limit: the
equations are solved at a surrogate ridge, and values beyond 1e±70 there are 0 or inf. For
classification the directions of the weights, and the errors that depend on them only, have
limits too.
"""

from __future__ import annotations  # help() then shows the alias Value

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from doubletrouble.convex._fixed_point import Equations, SolvedPoints, solve
from doubletrouble.convex._labels import (
    Labels,
    LearningPoints,
    LogisticLabels,
    MarginLabels,
    ResidualLabels,
)
from doubletrouble.convex._overlaps import excess_overlap
from doubletrouble.convex._separability import active_fraction
from doubletrouble.convex._training import (
    logistic_training,
    margin_training,
    residual_training,
)
from doubletrouble.errors import DivergenceError
from doubletrouble.losses import Logistic, Loss, MaxMargin
from doubletrouble.parameters import FloatArray, Numeric, Parameter, Value, checked
from doubletrouble.problems import Mixture, Problem

BLOCK = 2048  # points solved at once

_LEAST, _MOST = 1e-300, 1e100  # ridges
_SURROGATE = 1e-250  # for ridge 0
_NEGLIGIBLE = 1e-70
_NOISELESS = 1e-24  # relative variance of the noise in place of 0, for linear networks

_FRACTION = Parameter(
    symbol="f", meaning="share that two members have in common", typical=(0.0, 1.0), high=1.0
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OrderParameters:
    """The order parameters of one member: floats, or arrays of the problem's shape.

    `m` = E ν h is the overlap of its output h with the target ν at a test point, `q` = E h² its
    power, `V` the variance of the cavity output (the response to a shift of one label), and
    `intercept` the fitted constant of a quantile loss. All test errors follow from m, q and the
    overlaps q₁₂ = E h₁ h₂ of two members, `overlap`.

    >>> import doubletrouble as dt
    >>> dt.order_parameters(dt.Problem(task="classification", loss="hinge", ridge=0.1))
    OrderParameters(m=0.466534, q=0.877152, V=1.62646)
    """

    m: Value
    q: Value
    V: Value
    intercept: Value = 0.0
    mean_power: Value = 0.0  # m²/ρ: q₁₂ of members that share nothing
    _members: tuple[_Block, ...] = field(default=(), repr=False)
    _shape: tuple[int, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        shown = ["m", "q", "V", *(["intercept"] if np.any(self.intercept) else [])]
        text = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in shown)
        return f"{type(self).__name__}({text})"

    def overlap(
        self,
        shared_features: Numeric = 0.0,
        shared_samples: Numeric = 1.0,
        shared_noise: bool = True,
    ) -> Value:
        """Return q₁₂ = E h₁ h₂ of two members that share these fractions of features and samples.

        With `shared_noise` False their training sets have labels drawn independently at the shared
        inputs. The defaults are two members of an ensemble: own features, the same data.

        >>> import doubletrouble as dt
        >>> one = dt.order_parameters(dt.Problem(task="classification", loss="hinge", ridge=0.1))
        >>> round(one.overlap(), 6), round(one.overlap(shared_features=1.0), 6)
        (0.455906, 0.877152)
        """
        f1 = checked("shared_features", shared_features, _FRACTION)
        f2 = checked("shared_samples", shared_samples, _FRACTION)
        if not isinstance(shared_noise, bool):
            raise TypeError(f"shared_noise must be True or False, got {shared_noise!r}")
        result = self.mean_power + self.excess(f1, f2, shared_noise=shared_noise)
        return result if np.ndim(result) else float(result)

    def training(self) -> tuple[Any, Any]:
        """The training error (squared residuals, or wrong signs) and the mean loss."""
        parts = [block.training() for block in self._members]
        error, loss = (np.concatenate(v).reshape(self._shape) for v in zip(*parts, strict=True))
        return error, loss

    def excess(self, shared_features: Any, shared_samples: Any, *, shared_noise: bool) -> Any:
        """q₁₂ - m²/ρ, of the broadcast shape."""
        shape = np.broadcast_shapes(
            self._shape, np.shape(shared_features), np.shape(shared_samples)
        )
        points = np.arange(math.prod(self._shape)).reshape(self._shape)
        index = np.broadcast_to(points, shape).reshape(-1)
        f1, f2 = (
            np.broadcast_to(np.asarray(f, dtype=np.float64), shape).reshape(-1)
            for f in (shared_features, shared_samples)
        )
        result, start = np.empty(index.size), 0
        for block in self._members:
            inside = np.flatnonzero((index >= start) & (index < start + block.size))
            for k in range(0, inside.size, BLOCK):
                i = inside[k : k + BLOCK]
                result[i] = block.excess(index[i] - start, f1[i], f2[i], shared_noise)
            start += block.size
        return result.reshape(shape)


def _shown(value: Any) -> str:
    return f"{value:.6g}" if not np.ndim(value) else np.array2string(np.asarray(value), precision=6)


@dataclass(slots=True, kw_only=True)
class _Block:
    """A solved block of points, with the units of its outputs."""

    equations: Equations
    solution: SolvedPoints
    unit: FloatArray  # of squared outputs
    loss_unit: FloatArray  # of the loss
    limit: Any  # whether the ridge is a surrogate

    @property
    def size(self) -> int:
        return int(self.unit.size)

    def at_limits(self, value: Any, index: Any = slice(None)) -> Any:
        """Values at a surrogate ridge replaced by their limits."""
        limit = self.limit[index]
        near = np.where(limit & (np.abs(value) < _NEGLIGIBLE), 0.0, value)
        return np.where(limit & (np.abs(near) > 1 / _NEGLIGIBLE), np.inf, near)

    def training(self) -> tuple[Any, Any]:
        labels = self.equations.labels
        with np.errstate(all="ignore"):
            if isinstance(labels, ResidualLabels):
                error, loss = residual_training(self.solution, labels.softness)
                error = error * self.unit
            elif isinstance(labels, MarginLabels):
                error, loss = margin_training(self.solution, labels.softness)
            else:
                error, loss = logistic_training(self.solution)
            return tuple(np.maximum(self.at_limits(v), 0.0) for v in (error, loss * self.loss_unit))

    def excess(self, index: Any, f1: Any, f2: Any, shared_noise: bool) -> Any:
        every = index.size == self.size and np.array_equal(index, np.arange(self.size))
        solution = self.solution if every else self.solution.take(index)
        value = excess_overlap(self.equations, solution, f1, f2, shared_noise)
        return self.at_limits(value * self.unit[index], index)


def order_parameters(problem: Problem) -> OrderParameters:
    """Return the order parameters m, q and V of one member, for any loss.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
    >>> dt.order_parameters(problem)
    OrderParameters(m=2.39102, q=37.3557, V=1548.76)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    return solved(problem, problem.samples_per_dim, problem.shape)


def solved(
    problem: Problem, samples: Any, shape: tuple[int, ...], *, limits: bool = True
) -> OrderParameters:
    """The order parameters of members with `samples` per dimension, of a shape.

    Without `limits` values at a surrogate ridge stay as they are.
    """
    if np.any(np.asarray(problem.nonlinear_signal) != 0):
        raise ValueError(
            f"nonlinear_signal must be 0 for order parameters, got {problem.nonlinear_signal!r}"
        )
    loss: Any = problem.loss
    equations = _equations(problem, loss)
    names = ("features_per_dim", "ridge", "signal", "flips")
    values = {name: getattr(problem, name) for name in names} | {"samples": samples}
    noise: Any = problem.noise
    mixture = noise.components if isinstance(noise, Mixture) else ((1.0, noise),)
    values |= {f"sd{k}": sd for k, (_, sd) in enumerate(mixture)}
    flat = {
        name: np.broadcast_to(np.asarray(value, dtype=np.float64), shape).reshape(-1)
        for name, value in values.items()
    }
    weights = np.array([weight for weight, _ in mixture])
    results: list[tuple[FloatArray, ...]] = []
    blocks = []
    for start in range(0, math.prod(shape), BLOCK):
        part = {name: value[start : start + BLOCK] for name, value in flat.items()}
        with np.errstate(all="ignore"):
            block, signal, scale = _block(equations, loss, part, weights)
            solution = block.solution
            m = solution.at.power * solution.overlap
            q = solution.aligned + solution.excess
            intercept = solution.third * np.sqrt(block.unit) if equations.residual else 0.0 * m
            block.limit &= limits
            numbers = (m * signal, q * block.unit, solution.V * scale, intercept)
            mean_power = solution.aligned * block.unit
            results.append(tuple(map(block.at_limits, (*numbers, mean_power))))
        blocks.append(block)
    m, q, V, b, power = (np.concatenate(v).reshape(shape) for v in zip(*results, strict=True))
    return OrderParameters(
        m=_plain(m),
        q=_plain(q),
        V=_plain(V),
        intercept=_plain(b),
        mean_power=_plain(power),
        _members=tuple(blocks),
        _shape=shape,
    )


def _plain(array: FloatArray) -> Value:
    return array if array.ndim else float(array)


def _equations(problem: Problem, loss: Loss) -> Equations:
    residual = problem.task == "regression"
    if isinstance(loss, Logistic):
        labels: Labels = LogisticLabels()
    else:
        labels = (ResidualLabels if residual else MarginLabels)(loss.softness)
    sigma = problem.moments
    return Equations(
        labels=labels,
        residual=residual,
        intercept=loss.intercept,
        hard=isinstance(loss, MaxMargin),
        linear=sigma.linear**2,
        nonlinear=sigma.nonlinear**2,
    )


def _block(
    equations: Equations, loss: Loss, values: dict[str, FloatArray], weights: FloatArray
) -> tuple[_Block, Any, Any]:
    """Solve a block; the units of m and of V come with it."""
    given, samples, signal = values["ridge"], values["samples"], values["signal"]
    limit = (given == 0) | np.isinf(given)
    inverse_width, flips = 1 / values["features_per_dim"], values["flips"].copy()
    variances = np.stack([values[f"sd{k}"] ** 2 for k in range(weights.size)])
    ridge = np.clip(np.where(given == 0, _SURROGATE, given), _LEAST, _MOST)
    ones = np.ones_like(given)
    low: Any
    high: Any
    low, high = (0.0, 0.0) if isinstance(loss, Logistic) else loss.slopes
    scale = ones
    if equations.residual:
        unit = signal**2 + weights @ variances
        unit = np.where(unit > 0, unit, 1.0)
        root = np.sqrt(unit)
        power, variances = signal**2 / unit, variances / unit
        if equations.nonlinear == 0:  # without noise, the target may be recovered exactly
            variances = np.maximum(variances, _NOISELESS)
        if loss.softness:  # quadratic near 0: the slopes scale, else the loss
            low, high = low / root, high / root
        else:
            ridge, scale = ridge * root, root
        m_unit = unit
    else:
        unit, power, m_unit = ones, ones, signal
        seen = signal > 0
        flips[~seen] = 0.5  # labels are independent of the inputs
        variances = np.where(seen, variances / np.where(seen, signal, 1.0) ** 2, 0.0)
    if equations.hard:
        ridge, scale = ones, 1 / given
    if loss.margin:
        share = 1 / (1 + variances[0])
        fraction, inverse_rank = active_fraction(
            inverse_width, share, flips, equations.linear, equations.nonlinear
        )
        separable = samples * fraction * inverse_rank < 1
        if equations.hard and not separable.all():
            raise ValueError(
                "samples_per_dim must be less than N⋆/D = features_per_dim · "
                "doubletrouble.separability(problem) for loss max_margin, got "
                f"{samples[~separable][0]:g} where N⋆/D is "
                f"{(1 / (fraction * inverse_rank))[~separable][0]:g}"
            )
        if isinstance(loss, Logistic) and np.any(separable & (given == 0)):
            raise DivergenceError(
                "ridge must be positive for loss logistic on separable data (N < N⋆), got 0: its "
                "weights diverge; losses.MaxMargin() is the limit of their direction"
            )
    # P = N as the ridge vanishes: losses with forces of both signs interpolate, with infinite q
    peak = (given < 1e-100) & (samples * inverse_width == 1) & (np.asarray(low) < 0)
    peak &= (equations.nonlinear > 0) | (inverse_width >= 1)  # features of full rank
    limit |= peak
    at = LearningPoints(
        inverse_width=inverse_width,
        samples=samples,
        ridge=np.where(peak, 1.0, ridge),
        power=power,
        flips=flips,
        low=low * ones,
        high=high * ones,
        weights=np.broadcast_to(weights[:, None], variances.shape),
        variances=variances,
    )
    solution = solve(equations, at)
    if np.any(peak):
        solution = solution.interpolating(equations, peak)
    block = _Block(
        equations=equations,
        solution=solution,
        unit=unit,
        loss_unit=unit if loss.softness else np.sqrt(unit),
        limit=limit,
    )
    return block, m_unit, scale
