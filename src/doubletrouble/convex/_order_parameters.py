"""The order parameters of a problem with any convex loss, and the overlaps of its members.

Blocks of points are solved in units in which the labels have power one: labels of classes depend on
`noise`/`signal` only, and residual losses are rescaled. A ridge of 0 or inf is a limit: the
equations are solved at a surrogate ridge, and values beyond 1e±70 there are 0 or inf. For
classification the directions of the weights, and the errors that depend on them only, have
limits too; those of labels without information (p = 1/2, or no signal) are the limits p → 1/2, or
τ²/ρ → ∞.
"""

from __future__ import annotations  # help() then shows the alias Value

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Content, Quantity, Shown, quantity_table
from doubletrouble._numbers import percents
from doubletrouble._numerics import limit_value
from doubletrouble.convex._fixed_point import Equations, SolvedPoints, solve
from doubletrouble.convex._labels import Labels, LearningPoints, MarginLabels, ResidualLabels
from doubletrouble.convex._logistic import LogisticLabels
from doubletrouble.convex._overlaps import excess_overlap
from doubletrouble.errors import DivergenceError
from doubletrouble.losses import Logistic, Loss, MaxMargin
from doubletrouble.parameters import (
    BoolArray,
    FloatArray,
    Numeric,
    Parameter,
    Value,
    as_value,
    check_flag,
    checked,
)
from doubletrouble.problems import Mixture, Problem

BLOCK = 2048  # points solved at once

_LEAST, _MOST = 1e-300, 1e100  # ridges
_SURROGATE = 1e-250  # for ridge 0
_UNINFORMED = 1e-40  # for 1 - 2p = 0
_NOISELESS = 1e-24  # relative variance of the noise in place of 0, for linear networks

_FRACTION = Parameter(
    symbol="f", meaning="share that two members have in common", typical=(0.0, 1.0), high=1.0
)


@dataclass(slots=True, kw_only=True)
class SolvedMember:
    """The order parameters of one member at every point of a problem, before limits are taken."""

    shape: tuple[int, ...]
    limit: BoolArray  # whether values are at a surrogate of a limit: see `limit_value`
    m: FloatArray
    q: FloatArray
    V: FloatArray
    intercept: FloatArray
    q_d: FloatArray
    blocks: tuple[SolvedPoints, ...]

    @classmethod
    def of(cls, problem: Problem, samples: Numeric, shape: tuple[int, ...]) -> SolvedMember:
        """Solve for members with `samples` per dimension, of a shape."""
        if np.any(np.asarray(problem.nonlinear_signal) != 0):
            raise ValueError(
                f"nonlinear_signal must be 0 for order parameters, got {problem.nonlinear_signal!r}"
            )
        loss = problem.loss_function
        equations = _equations(problem, loss)
        names = ("features_per_dim", "ridge", "signal", "flips")
        values: dict[str, Numeric] = {name: getattr(problem, name) for name in names}
        values["samples"] = samples
        noise = problem.noise
        mixture = noise.components if isinstance(noise, Mixture) else ((1.0, noise),)
        values |= {f"sd{k}": sd for k, (_, sd) in enumerate(mixture)}
        flat = {
            name: np.broadcast_to(np.asarray(value, dtype=np.float64), shape).reshape(-1)
            for name, value in values.items()
        }
        weights = np.array([weight for weight, _ in mixture])
        blocks = []
        for start in range(0, math.prod(shape), BLOCK):
            part = {name: value[start : start + BLOCK] for name, value in flat.items()}
            with np.errstate(all="ignore"):
                points = _points(equations, problem, part, weights)
                if equations.max_margin or (
                    isinstance(loss, Logistic) and np.any(part["ridge"] == 0)
                ):
                    _check_separability(equations, loss, part, points)
                blocks.append(solve(equations, points))

        def joined(values: Iterable[FloatArray]) -> FloatArray:
            return np.concatenate(list(values)).reshape(shape)

        with np.errstate(all="ignore"):
            q_d = joined(block.q_d * block.points.unit for block in blocks)
            root = np.sqrt(joined(block.points.unit for block in blocks))
            V = joined(block.V for block in blocks)
            if equations.residual and not loss.softness:
                V = V * root
            if equations.max_margin:
                V = V / flat["ridge"].reshape(shape)
            m = flat["signal"].reshape(shape) * np.sqrt(q_d)
            if problem.task == "classification":
                m = np.where(_uninformative(flat).reshape(shape), 0.0, m)
            intercept = joined(block.state.intercept for block in blocks) * root
            return cls(
                shape=shape,
                limit=np.concatenate([block.points.limit for block in blocks]).reshape(shape),
                m=m,
                q=joined((block.q_d + block.excess) * block.points.unit for block in blocks),
                V=V,
                intercept=intercept,
                q_d=q_d,
                blocks=tuple(blocks),
            )

    def excess(
        self, shared_features: Value, shared_samples: Value, *, shared_noise: bool
    ) -> FloatArray:
        """q₁₂ - m²/ρ of two members that share these fractions, of the broadcast shape."""
        shape = np.broadcast_shapes(self.shape, np.shape(shared_features), np.shape(shared_samples))
        every_point = np.arange(math.prod(self.shape)).reshape(self.shape)
        index = np.broadcast_to(every_point, shape).reshape(-1)
        f1, f2 = (
            np.broadcast_to(np.asarray(f, dtype=np.float64), shape).reshape(-1)
            for f in (shared_features, shared_samples)
        )
        result, start = np.empty(index.size), 0
        for block in self.blocks:
            size = block.points.size
            inside = np.flatnonzero((index >= start) & (index < start + size))
            for k in range(0, inside.size, BLOCK):
                i = inside[k : k + BLOCK]
                own = index[i] - start
                every = own.size == size and np.array_equal(own, np.arange(size))
                some = block if every else block.take(own)
                result[i] = excess_overlap(some, f1[i], f2[i], shared_noise) * some.points.unit
            start += size
        return result.reshape(shape)

    def training(self) -> tuple[FloatArray, FloatArray]:
        """The training error (squared residuals, or wrong signs) and the mean loss."""
        with np.errstate(all="ignore"):
            parts = [block.training() for block in self.blocks]
        error, loss = (np.concatenate(v).reshape(self.shape) for v in zip(*parts, strict=True))
        return error, loss


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OrderParameters(Shown):
    """The order parameters of one member: floats, or arrays of the problem's shape.

    All test errors follow from m, q and the overlaps q₁₂ = E h₁ h₂ of two members, `overlap`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.convex.order_parameters(dt.Problem(task="classification", loss="hinge", ridge=0.1))
    OrderParameters(m=0.467, q=0.877, V=1.63)
    """

    m: Value  # E ν h: overlap of the output h with the target ν at a test point
    q: Value  # E h²: power of the output
    V: Value  # variance of the cavity output: the response to a shift of one label
    intercept: Value = 0.0  # the fitted constant of a quantile loss
    q_d: Value = 0.0  # m²/ρ: overlap of members that share nothing
    coordinates: Mapping[str, Value] = field(default_factory=dict)  # that vary along the axes
    _member: SolvedMember = field(repr=False)

    def _content(self) -> Content:
        about = {"m": "overlap of the output with the target", "q": "power of the output"}
        about["V"] = "variance of the cavity output"
        if self._member.shape or self.intercept:
            about["intercept"] = "the fitted constant"
        values = [
            Quantity(name=name, value=getattr(self, name), meaning=text)
            for name, text in about.items()
        ]
        with np.errstate(invalid="ignore"):  # of an output that is 0, or diverges
            share = np.asarray(self.q_d) / np.asarray(self.q)
        verdict = ""
        if np.all(np.isfinite(share)):
            verdict = (
                f"Of the power of the output {percents(share)} is that of the mean over all "
                "draws; the rest is variance."
            )
        table = quantity_table("order_parameters", values, self.coordinates)
        return Content(tables=[table], verdict=verdict)

    def _picture(self) -> _plots.Picture:
        values = {name: getattr(self, name) for name in ("m", "q", "V")}
        return _plots.quantity_picture(values, "value", self.coordinates)

    def overlap(
        self,
        shared_features: Numeric = 0.0,
        shared_samples: Numeric = 1.0,
        shared_noise: bool = True,
    ) -> Value:
        """Return q₁₂ = E h₁ h₂ of two members that share these fractions of features and samples.

        The defaults are two members of an ensemble: own features, the same data.

        Parameters
        ----------
        shared_features : float or array_like, default: 0
            The fraction of features in common, in [0, 1].
        shared_samples : float or array_like, default: 1
            The fraction of samples in common, in [0, 1].
        shared_noise : bool, default: True
            If False, the labels of shared inputs are drawn independently for both.

        Returns
        -------
        float or numpy.ndarray
            The overlap, of the shape that the problem and the fractions broadcast to.

        Raises
        ------
        ValueError
            If a fraction is outside [0, 1], or shapes do not broadcast.
        TypeError
            If an argument is not of the type above.
        ConvergenceError
            If a solver stops before its tolerance.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> problem = dt.Problem(task="classification", loss="hinge", ridge=0.1)
        >>> one = dt.convex.order_parameters(problem)
        >>> round(one.overlap(), 6), round(one.overlap(shared_features=1.0), 6)
        (0.455906, 0.877152)
        """
        f1 = checked("shared_features", shared_features, _FRACTION)
        f2 = checked("shared_samples", shared_samples, _FRACTION)
        check_flag("shared_noise", shared_noise)
        member = self._member
        overlap = member.q_d + member.excess(f1, f2, shared_noise=shared_noise)
        return as_value(limit_value(overlap, member.limit))


def order_parameters(problem: Problem) -> OrderParameters:
    """Return the order parameters m, q and V of one member, for any loss.

    Parameters
    ----------
    problem : Problem
        A problem of regression or classification; its fields may be arrays.

    Returns
    -------
    OrderParameters
        With h the output of a member and ν the target at a new input: m = E ν h, q = E h², the
        response V of outputs, and `overlap` of two members. Floats, or arrays of the problem's
        shape.

    Raises
    ------
    ValueError
        For a nonlinear teacher, or the maximum margin of data that are not separable.
    TypeError
        If `problem` is not a `Problem`.
    DivergenceError
        For the logistic loss without ridge on separable data.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
    >>> dt.convex.order_parameters(problem)
    OrderParameters(m=2.39, q=37.4, V=1,550)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    member = SolvedMember.of(problem, problem.samples_per_dim, problem.shape)
    given = {f.name: getattr(problem, f.name) for f in fields(problem)}

    def limited(value: FloatArray) -> Value:
        return as_value(limit_value(value, member.limit))

    return OrderParameters(
        m=limited(member.m),
        q=limited(member.q),
        V=limited(member.V),
        intercept=limited(member.intercept),
        q_d=limited(member.q_d),
        coordinates={name: value for name, value in given.items() if np.ndim(value)},
        _member=member,
    )


# --- from parameters to equations ----------------------------------------------------------------


def _equations(problem: Problem, loss: Loss) -> Equations:
    # labels ±1 enter the squared loss by their second moments only: it is one of residuals
    residual = not loss.margin
    if isinstance(loss, Logistic):
        labels: Labels = LogisticLabels()
    else:
        labels = (ResidualLabels if residual else MarginLabels)(loss.softness)
    sigma = problem.moments
    return Equations(
        labels=labels,
        residual=residual,
        classes=problem.task == "classification",
        intercept=loss.intercept,
        max_margin=isinstance(loss, MaxMargin),
        linear=sigma.linear**2,
        nonlinear=sigma.nonlinear**2,
    )


def _uninformative(values: dict[str, FloatArray]) -> BoolArray:
    """Where labels of classes carry no information."""
    return np.asarray((values["signal"] == 0) | (values["flips"] == 0.5))


def _points(
    equations: Equations, problem: Problem, values: dict[str, FloatArray], weights: FloatArray
) -> LearningPoints:
    """The parameters of a block in the units of the equations, with surrogates for limits."""
    loss = problem.loss_function
    given, samples, features = values["ridge"], values["samples"], values["features_per_dim"]
    ones, zeros = np.ones_like(given), np.zeros_like(given)
    # linear features have the rank min(P, D); log(N/rank) is exact near 0
    rank = features if equations.nonlinear else np.minimum(features, 1.0)
    log_load = np.where(np.isinf(rank), -np.inf, np.log1p((samples - rank) / rank))
    ridge = np.clip(np.where(given == 0, _SURROGATE, given), _LEAST, _MOST)
    low, high = (0.0, 0.0) if isinstance(loss, Logistic) else loss.slopes
    points = LearningPoints(
        inverse_features=1 / features,
        samples=samples,
        ridge=ones if equations.max_margin else ridge,
        log_load=log_load,
        power=ones,
        low=low * ones,
        high=high * ones,
        flips=values["flips"],
        information=ones,
        label_noise=zeros,
        nonlinear=zeros,
        weights=np.broadcast_to(weights[:, None], (weights.size, given.size)),
        variances=np.zeros((weights.size, given.size)),
        unit=ones,
        loss_unit=ones,
        limit=(given == 0) | np.isinf(given),
    )
    if problem.task == "classification":
        return _of_classes(points, equations.residual, values)
    return _of_numbers(points, equations, loss, values)


def _of_classes(
    points: LearningPoints, residual: bool, values: dict[str, FloatArray]
) -> LearningPoints:
    """Labels ±1, which depend on `noise`/`signal` only.

    Labels without information are the limit of labels with little information.
    """
    signal, p = values["signal"], points.flips
    seen = signal > 0
    noise = np.where(seen, (values["sd0"] / np.where(seen, signal, 1.0)) ** 2, 1 / _UNINFORMED**2)
    k = np.where(p == 0.5, _UNINFORMED, 1 - 2 * p)
    points = replace(
        points, information=k, label_noise=noise, limit=points.limit | _uninformative(values)
    )
    if not residual:
        return points
    # the squared loss has E ν y, and E y₁y₂ of labels drawn twice at one input
    power = k * k * (2 / np.pi) / (1 + noise)
    repeated = k * k * (2 / np.pi) * np.arcsin(1 / (1 + noise))
    return replace(
        points,
        power=power,
        variances=(1 - power)[None],
        nonlinear=np.maximum(repeated - power, 0.0),
    )


def _of_numbers(
    points: LearningPoints, equations: Equations, loss: Loss, values: dict[str, FloatArray]
) -> LearningPoints:
    """Labels of regression, rescaled to power one."""
    signal, weights = values["signal"], points.weights[:, 0]
    variances = np.stack([values[f"sd{k}"] ** 2 for k in range(weights.size)])
    unit = signal**2 + weights @ variances
    # labels that are all 0 are noise of any size, in outputs of unit 0
    scale = np.where(unit > 0, unit, 1.0)
    root, variances = np.sqrt(scale), np.where(unit > 0, variances / scale, 1.0)
    if equations.nonlinear == 0:  # without noise, the target may be recovered exactly
        variances = np.maximum(variances, _NOISELESS)
    points = replace(points, power=signal**2 / scale, variances=variances, unit=unit)
    if loss.softness:  # quadratic near 0: the slopes scale, else the loss
        return replace(points, low=points.low / root, high=points.high / root, loss_unit=unit)
    return replace(points, ridge=points.ridge * root, loss_unit=root)


def _check_separability(
    equations: Equations, loss: Loss, values: dict[str, FloatArray], points: LearningPoints
) -> None:
    """Raise an error where a margin loss has no minimum."""
    fraction, inverse_rank, _ = equations.threshold(points)
    separable = points.samples * fraction * inverse_rank < 1
    if equations.max_margin and not separable.all():
        raise ValueError(
            "samples_per_dim must be less than N⋆/D = features_per_dim · "
            "doubletrouble.separability(problem) for loss max_margin, got "
            f"{points.samples[~separable][0]:g} where N⋆/D is "
            f"{(1 / (fraction * inverse_rank))[~separable][0]:g}"
        )
    if isinstance(loss, Logistic) and np.any(separable & (values["ridge"] == 0)):
        raise DivergenceError(
            "ridge must be positive for loss logistic on separable data (N < N⋆), got 0: its "
            "weights diverge; losses.MaxMargin() is the limit of their direction"
        )
