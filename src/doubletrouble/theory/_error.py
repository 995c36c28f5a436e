r"""The error of an ensemble by cause, at every point of a problem.

The fixed point of one member (`_fixed_point`) gives the shared and the own terms of its members for
unit powers (`_cross_terms`). Arrays of problems are evaluated in cache-sized blocks.

**Combination.** With `shared` the terms of two different members and `own` the excess of the square
of one over them, each part of the average of K members is shared + own/K; times the power F² of the
target, F⋆² of its nonlinear part or the noise variance τ² this is the error by cause
([dascoli2020] Sec. 5; `combine`, also for other losses, simulations and committees).

**Differs from the paper.** The paper has a linear teacher only. The model responds to a nonlinear
part of power F⋆² as to noise, but it is a function of the inputs: by the paper's definitions of the
four parts its fluctuation is sampling and initialization variance, and its power is bias.

**Training error.** On a training sample, a ridge learner's residual is B times its residual when
trained without that sample, B = 1 - z/N being the unused fraction of the samples
(generalized cross-validation, exact in the limit, and for products of two members as well). With π
the share of the samples in one member, and π₂ the share in both of two members, the training error
of K averaged models is

    [π B² + 1 - π] (R + σ²)/K + (1 - 1/K) [π₂ B² + 2 (π - π₂) B + 1 - 2π + π₂] (R_× + σ²)

with R the test error of one model and R_× the mean product of the errors of two.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeGuard, TypeVar

import numpy as np

from doubletrouble._numerics import PointArrays, limit_value
from doubletrouble.ensembles import (
    CrossTerms,
    EnsembleLike,
    MemberTerms,
    Resampled,
    Scheme,
    Vote,
    as_ensemble,
    coordinates,
    parameters_of,
)
from doubletrouble.errors import ConvergenceError
from doubletrouble.losses import MEASURES, VOTE_MEASURES, Measure, measure_name
from doubletrouble.parameters import (
    FloatArray,
    Numbers,
    Parts,
    Value,
    check_choice,
    check_flag,
    common_shape,
)
from doubletrouble.problems import Problem, SpectralProblem, require_ridge_regression
from doubletrouble.results import AnovaTerms, ErrorTerms, PsiTerms, fixed
from doubletrouble.theory._bootstrap import bootstrap
from doubletrouble.theory._cross_terms import member_terms, product_or_zero
from doubletrouble.theory._fixed_point import (
    FixedPoint,
    Spectrum,
    root_power,
    sizes_of,
    spectrum_of,
)

AnyProblem: TypeAlias = Problem | SpectralProblem


def has_any_loss(problem: AnyProblem) -> TypeGuard[Problem]:
    """Whether the theory is that of any convex loss, not the closed form of ridge regression."""
    return isinstance(problem, Problem) and not problem.is_ridge_regression


BLOCK = 16384  # points: some twenty temporaries of this length stay in the second-level cache


def exact_error(
    problem: AnyProblem, ensemble: EnsembleLike = 1, measure: Measure | None = None
) -> ErrorTerms[Value]:
    """Return the exact test error of an ensemble, split by cause.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        An isotropic problem, or one with a known spectrum; its fields may be arrays.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K (`math.inf` and arrays included), which have features of their own and
        all of the data; or `Ensemble`, `Divide`, `Subsample`, `Bootstrap` (squared loss only),
        `FeatureBank`, `Folds`, and for classification `Vote`.
    measure : None or "zero_one" or "zero_one_noisy" or "squared" or "log", default: None
        The error of regression is "squared". For classification it is "zero_one" (the
        default) or "squared" against the clean sign, "zero_one_noisy" or "log" against labels with
        noise and flips, whose own part is `bayes`.

    Returns
    -------
    ErrorTerms
        Floats, or arrays of the shape that the problem and the ensemble broadcast to.

    Raises
    ------
    ValueError
        For an ensemble or a measure that is not supported for the problem, shapes that do not
        broadcast, or the maximum margin of data that are not separable.
    TypeError
        If an argument is not of the type above.
    DivergenceError
        For the logistic loss without ridge on separable data.
    ConvergenceError
        If a solver stops before its tolerance.

    Notes
    -----
    λ is relative to the mean loss of the samples a member has (and the `gram_ridge` of a
    `SpectralProblem` to all samples: a member with fewer has δ in proportion).

    For classification the parts are differences of the error along the chain of scores averaged
    over the noise, the initialization and the sampling in turn: they depend on this order. The
    intercept of a quantile loss is not part of the error (`doubletrouble.convex.order_parameters`).

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
    >>> print(dt.exact_error(problem, 10))
    part             error  share
    noise           0.538     62%
    initialization  0.0448     5%
    sampling        0.0880    10%
    bias            0.201     23%
    noise floor     0          0%
    total           0.872
    62% of the error is variance by noise in the training labels.
    >>> round(dt.exact_error(problem, dt.Divide(10)).total, 6)
    0.881721
    >>> classes = dt.Problem(task="classification", loss="hinge", ridge=1e-4, flips=0.1)
    >>> [round(dt.exact_error(classes, ensemble).total, 6) for ensemble in (5, dt.Vote(5))]
    [0.333874, 0.340993]
    """
    scheme = as_ensemble(ensemble)
    name = checked_measure(problem, measure, vote=isinstance(scheme, Vote))
    if has_any_loss(problem):
        parts = convex_parts(problem, scheme, name)
    else:
        parts = evaluate(problem, scheme, ensemble_parts)
    varying = problem.shape or scheme.shape
    return ErrorTerms.of(
        parts,
        coordinates=coordinates(problem, scheme) if varying else {},
        settings=fixed(parameters_of(problem, scheme)),
        label=measure_name(name),
    )


def total_of(problem: AnyProblem, scheme: Scheme, measure: Measure | None = None) -> FloatArray:
    """The total of `exact_error`; without its parts, which cost more with other losses."""
    if has_any_loss(problem):
        from doubletrouble.convex import total_error

        name = checked_measure(problem, measure, vote=isinstance(scheme, Vote))
        return np.asarray(total_error(problem, scheme, name))
    return np.asarray(exact_error(problem, scheme, measure).total)


def anova(problem: AnyProblem, ensemble: EnsembleLike = 1) -> AnovaTerms[Value]:
    """Return the symmetric split of an ensemble's test error: main effects and interactions.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        An isotropic problem, or one with a known spectrum; its fields may be arrays. For
        classification the error is the squared one of the scores against the clean sign.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K, or any ensemble of `exact_error` except `Vote`.

    Returns
    -------
    AnovaTerms
        Floats, or arrays of the shape that the problem and the ensemble broadcast to.

    Raises
    ------
    ValueError
        For an ensemble that is not supported for the problem, shapes that do not broadcast, or the
        maximum margin of data that are not separable.
    TypeError
        If an argument is not of the type above.
    DivergenceError
        For the logistic loss without ridge on separable data.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> at_peak = dt.anova(dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0))
    >>> round(at_peak.initialization, 4), at_peak.initialization_sampling
    (0.2473, inf)
    """
    scheme = as_ensemble(ensemble, "anova")
    if has_any_loss(problem):
        parts = convex_parts(problem, scheme)
    else:
        parts = evaluate(problem, scheme, partial(ensemble_parts, interactions=True))
    return AnovaTerms.of(parts, coordinates=coordinates(problem, scheme))


def training_error(
    problem: AnyProblem, ensemble: EnsembleLike = 1, *, mean_loss: bool = False
) -> Value:
    """Return the mean error of an ensemble on the (noisy) training labels.

    It is the mean squared error, and for classification the share of training labels on the wrong
    side. The average is evaluated on the whole data set: where members are trained on parts of it,
    a sample is in the training sets of only some of them.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        An isotropic problem, or one with a known spectrum; its fields may be arrays.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K, or any ensemble of `exact_error` except `Vote`; one model for losses
        other than the squared loss of regression.
    mean_loss : bool, default: False
        Return the mean of the loss ℓ itself instead.

    Returns
    -------
    float or numpy.ndarray
        The error, of the shape that the problem and the ensemble broadcast to.

    Raises
    ------
    ValueError
        For an ensemble that is not supported for the problem, shapes that do not broadcast, or the
        maximum margin of data that are not separable.
    TypeError
        If an argument is not of the type above.
    DivergenceError
        For the logistic loss without ridge on separable data.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.training_error(dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.0))
    0.0
    """
    scheme = as_ensemble(ensemble, "training_error")
    check_flag("mean_loss", mean_loss)
    if has_any_loss(problem):
        from doubletrouble.convex import training_parts

        at_training: Value = training_parts(problem, scheme)["loss" if mean_loss else "error"]
        return at_training
    error: Value = evaluate(problem, scheme, _training_parts)["error"]
    return 0.5 * error if mean_loss else error


def psi_terms(problem: Problem) -> PsiTerms[Value]:
    """Return the paper's dimensionless terms Ψ (and Ψ₂ᵖ, for shared features and fresh data).

    Parameters
    ----------
    problem : Problem
        A problem of ridge regression. P/D, N/D, λ (which may be arrays) and the activation matter;
        the powers of signal and noise have no effect.

    Returns
    -------
    PsiTerms
        Floats, or arrays of the shape that P/D, N/D and λ broadcast to.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression.
    TypeError
        If `problem` is not a `Problem`.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> terms = dt.theory.psi_terms(problem)
    >>> round(terms.psi1, 5), round(terms.psi2_vanilla, 5), round(terms.psi3_ensemble, 5)
    (0.39157, 0.37695, 0.1811)
    """
    unit = _unit_problem(problem, "psi_terms")
    one = as_ensemble(1)
    terms = evaluate(unit, one, _psi_parts)
    return PsiTerms(**terms, coordinates=coordinates(problem, one) if problem.shape else {})


def effective_ridge(problem: Problem) -> Value:
    """Return the paper's λ̃: infinitely many averaged models are kernel regression with this ridge.

    The mean over the features of a model with ridge λ is the predictor of infinitely many features
    with ridge λ̃ ≥ λ [jacot2020]; λ̃ = λ where P = ∞, and diverges as P/N → 0.

    Parameters
    ----------
    problem : Problem
        A problem of ridge regression. P/D, N/D, λ (which may be arrays) and the activation matter.

    Returns
    -------
    float or numpy.ndarray
        λ̃, of the shape that P/D, N/D and λ broadcast to.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression.
    TypeError
        If `problem` is not a `Problem`.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> narrow = dt.Problem(features_per_dim=0.5, samples_per_dim=1.0, ridge=1e-5)
    >>> round(dt.theory.effective_ridge(narrow), 6)
    0.259612
    """
    unit = _unit_problem(problem, "effective_ridge")
    ridge: Value = evaluate(unit, as_ensemble(1), _effective_ridge)["ridge"]
    return ridge


def _unit_problem(problem: Problem, function: str) -> Problem:
    """The same sizes, ridge and activation, without powers that are arrays."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    require_ridge_regression(problem, function)
    powers = (problem.signal, problem.noise_sd, problem.nonlinear_signal, problem.test_noise)
    if not any(map(np.ndim, powers)):  # they do not change the shape
        return problem
    return Problem(
        features_per_dim=problem.features_per_dim,
        samples_per_dim=problem.samples_per_dim,
        ridge=problem.ridge,
        activation=problem.activation,
    )


def convex_parts(problem: Problem, scheme: Scheme, measure: str | None = None) -> Parts:
    """The error of an ensemble by cause with any convex loss.

    Without a measure it is the squared error by main effects and interactions.
    """
    from doubletrouble.convex import ConvexMembers  # scipy.special takes 0.1 s

    members, interactions = ConvexMembers.of(problem, scheme), measure is None
    with np.errstate(all="ignore"):
        if measure is not None and isinstance(scheme, Vote):
            return members.at_limits(members.vote_parts(measure))
        parts = combine(
            members.terms(interactions=interactions),
            None,
            Amplitudes(signal=1.0, noise=1.0, test_noise=problem.test_noise),
            members.per_member,
            scheme.resamples,
            interactions=interactions,
        )
        if measure is not None and problem.task == "classification":
            parts = members.measured(parts, measure)
    return members.at_limits(parts)


def checked_measure(problem: AnyProblem, measure: str | None, *, vote: bool = False) -> str:
    """The measure of a problem's error: the given one, or the default of its task."""
    classes = getattr(problem, "task", "regression") == "classification"
    allowed: tuple[str, ...] = MEASURES if classes else ("squared",)
    if vote:
        allowed = VOTE_MEASURES
    if measure is None:
        return allowed[0]
    case = "a vote" if vote else getattr(problem, "task", "regression")
    check_choice("measure", measure, allowed, case)
    return measure


# --- the error of the average of members ---------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Amplitudes(PointArrays):
    """Root powers of the target and of the noise, by which terms of unit power are scaled."""

    signal: FloatArray | float  # F
    nonlinear_signal: FloatArray | float = 0.0  # F⋆
    noise: FloatArray | float  # τ
    test_noise: FloatArray | float = 0.0  # τ̃


def combine(
    linear: MemberTerms,
    nonlinear: MemberTerms | None,
    at: Amplitudes,
    per_member: Numbers | float,
    resamples: Resampled | None,
    *,
    interactions: bool = False,
    times: Callable[[Numbers | float, Numbers | float], Numbers] = np.multiply,
) -> Parts:
    """The error of the average of K = 1/`per_member` members, by cause.

    `linear` are the terms of the linear target, `nonlinear` those of the nonlinear one. With
    `interactions` the parts are those of `AnovaTerms`, else those of `ErrorTerms`, in which
    [dascoli2020] Sec. 5 counts interactions to noise and initialization. The variance over each
    member's own choice of samples, or of features, is `resampling`.
    """
    bias: Value = 0.0
    initialization = sampling = interaction = resampling = bias
    for amplitude, terms in ((at.signal, linear), (at.nonlinear_signal, nonlinear)):
        if terms is None:
            continue
        power, shared, own = amplitude**2, terms.shared, terms.own
        features: Numbers | float = times(per_member, own.initialization)
        both: Numbers | float = times(per_member, own.interaction)
        choice: Numbers | float = times(per_member, own.sampling)
        if resamples == "features":
            resampling = resampling + times(power, features + both)
            features = both = 0.0
        elif resamples == "samples":
            resampling = resampling + times(power, choice)
            choice = 0.0
        bias = bias + power * shared.bias
        initialization = initialization + times(power, shared.initialization + features)
        sampling = sampling + times(power, shared.sampling + choice)
        interaction = interaction + times(power, shared.interaction + both)
    shared, own = linear.shared, linear.own
    power = at.noise**2
    noise_sampling = times(power, shared.noise_sampling + times(per_member, own.noise_sampling))
    joint = shared.noise_interaction + times(per_member, own.noise_interaction)
    noise_interaction = times(power, joint)
    if interactions:
        parts = {
            "bias": bias,
            "initialization": initialization,
            "sampling": sampling,
            "initialization_sampling": interaction,
            "noise_sampling": noise_sampling,
            "noise_initialization_sampling": noise_interaction,
        }
    else:
        parts = {
            "noise": noise_sampling + noise_interaction,
            "initialization": initialization + interaction,
            "sampling": sampling,
            "bias": bias,
        }
    if times is np.multiply and np.isnan(sum(parts.values()) + resampling).any():
        # 0 · inf, with an exact factor 0
        return combine(
            linear,
            nonlinear,
            at,
            per_member,
            resamples,
            interactions=interactions,
            times=product_or_zero,
        )
    parts["bayes"] = at.test_noise**2
    if resamples is not None:
        parts["resampling"] = resampling
    return parts


# --- evaluation over arrays ----------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Inputs(Amplitudes):
    """A problem and an ensemble as numbers, or as a block of points."""

    features: FloatArray  # P/D, or P for a measured spectrum
    samples: FloatArray  # N/D, or N
    ridge: FloatArray
    n_members: FloatArray
    share_numerator: FloatArray  # of m/N
    share_denominator: FloatArray
    shared_samples: FloatArray  # n/m
    shared_features: FloatArray  # k/P
    times: FloatArray  # of training, where it is limited

    def member_samples(self) -> tuple[FloatArray, FloatArray]:
        """The samples m of each member, and P - m to full precision where they are close."""
        numerator, denominator = self.share_numerator, self.share_denominator
        part = self.samples * numerator / denominator
        whole, error = _exact_product(self.samples, numerator)
        again, rest = _exact_product(part, denominator)
        left = np.where(denominator < 1e15, (whole - again) + (error - rest), 0.0)
        surplus = (self.features - part) - left / denominator
        # a difference below the rounding of P, N and K counts as P = m
        return part, np.where(np.abs(surplus) <= 2.5e-16 * part, 0.0, surplus)


def _exact_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The product of two numbers and its rounding error (Dekker)."""
    product = a * b
    high_a, high_b = a * 134217729.0, b * 134217729.0  # 2²⁷ + 1
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


PointFunction: TypeAlias = Callable[[Spectrum, Scheme, Inputs], Parts]
"""Evaluates a block of points: named arrays, or numbers for all of them."""


def on_flat_points(function: PointFunction) -> PointFunction:
    """A function of points along one axis, as one of points of any shape, or of numbers.

    Scalar shares of an ensemble stay scalars: some terms are 0 then.
    """

    def at_points(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
        shape = at.shape
        flat = at.map(lambda v: np.broadcast_to(v, shape).reshape(-1))
        shares = {name: value for name in _SHARES if not np.ndim(value := getattr(at, name))}
        parts = function(spectrum, scheme, replace(flat, **shares))
        return {k: np.broadcast_to(v, flat.ridge.shape).reshape(shape) for k, v in parts.items()}

    return at_points


_SHARES = ("share_numerator", "share_denominator", "shared_samples", "shared_features")


def evaluate(
    problem: AnyProblem,
    scheme: Scheme,
    function: PointFunction,
    *,
    block: int = BLOCK,
    times: Value = 0.0,
) -> Parts:
    """Evaluate `function` at every point; scalars in give Python floats out.

    The function gets NumPy scalars for scalar inputs, and blocks of equal length for arrays, so
    that memory beyond the results is that of one block.
    """
    if isinstance(problem, Problem):
        if not problem.is_ridge_regression:
            require_ridge_regression(problem, "this function")
    elif not isinstance(problem, SpectralProblem):
        raise TypeError(
            f"problem must be a Problem or a SpectralProblem, got {type(problem).__name__}"
        )
    if isinstance(scheme, Vote):
        raise ValueError(f"ensemble must average for regression, got {scheme!r}")
    spectrum, (features, samples, ridge) = spectrum_of(problem), sizes_of(problem)
    numerator, denominator = scheme.sample_share
    inputs: dict[str, Value] = {
        "features": features,
        "samples": samples,
        "ridge": ridge,
        "signal": root_power(problem),
        "nonlinear_signal": problem.nonlinear_signal,
        "noise": problem.noise_sd,
        "test_noise": problem.test_noise,
        "n_members": scheme.n_members,
        "share_numerator": numerator,
        "share_denominator": denominator,
        "shared_samples": scheme.shared_samples,
        "shared_features": scheme.shared_features(problem) if scheme.shares_features else 0.0,
        "times": times,
    }
    shape = problem.shape
    if scheme.shape or not isinstance(times, float):
        shapes = {"the problem's fields": problem.shape, "ensemble": scheme.shape, "times": times}
        shape = common_shape(shapes)
    at_points = partial(function, spectrum, scheme)
    with np.errstate(all="ignore"):
        return blockwise(at_points, Inputs, inputs, shape, block // spectrum.cost)


Points = TypeVar("Points", bound=PointArrays)


def blockwise(
    function: Callable[[Points], Parts],
    kind: Callable[..., Points],
    inputs: Mapping[str, Value],
    shape: tuple[int, ...],
    block: int,
) -> Parts:
    """Evaluate `function` on `inputs` broadcast to `shape`, in blocks of `block` points.

    It gets a `kind` of points. Scalar inputs become NumPy scalars; the results have the shape, or
    are floats where it is ().
    """
    if not shape:
        parts = function(kind(**{name: np.float64(value) for name, value in inputs.items()}))
        numbers: Parts = dict(zip(parts, map(float, parts.values()), strict=True))
        if any(map(math.isnan, numbers.values())):
            _not_a_number(numbers)
        return numbers
    size, block = math.prod(shape), max(1, block)
    sources = {name: _source(value, shape) for name, value in inputs.items()}
    results: dict[str, FloatArray] = {}
    for start in range(0, size, block):
        part = slice(start, min(start + block, size))
        here = {k: v if isinstance(v, np.float64) else v[part] for k, v in sources.items()}
        for name, value in function(kind(**here)).items():
            if name not in results:
                results[name] = np.empty(size)
            results[name][part] = value
            if np.isnan(value).any():
                _not_a_number({name: value})
    return {name: value.reshape(shape) for name, value in results.items()}


def _source(
    value: Value, shape: tuple[int, ...]
) -> np.float64 | FloatArray | np.flatiter[FloatArray]:
    """A NumPy scalar, or a flat array whose slices are copied one at a time."""
    if np.ndim(value) == 0:
        return np.float64(value)
    array = np.broadcast_to(value, shape)
    return array.reshape(-1) if array.flags.c_contiguous else array.flat


def _not_a_number(values: Mapping[str, Numbers | float]) -> None:
    raise ConvergenceError(
        f"{', '.join(values)} must be numbers, got NaN from the theory; please report the problem",
        last=values,
        residual=math.nan,
    )


# --- functions of a block of points --------------------------------------------------------------


def member_fixed_point(
    spectrum: Spectrum, scheme: Scheme, at: Inputs, ridge: FloatArray | None = None
) -> tuple[FixedPoint, FloatArray]:
    """The fixed point of one member, and the share g of its samples that another member has.

    `ridge` is r, if it is not that of the problem.
    """
    r = spectrum.scaled_ridge(at.ridge, at.samples) if ridge is None else ridge
    if scheme.with_replacement:
        bag = bootstrap(spectrum, at.features, at.samples, r)
        return bag.point, bag.shared_samples
    if scheme.sample_share is Scheme.sample_share:  # all of the data
        samples, surplus = at.samples, at.features - at.samples
    else:
        samples, surplus = at.member_samples()
    return spectrum.fixed_point(at.features, samples, surplus, r), at.shared_samples


def ensemble_parts(
    spectrum: Spectrum, scheme: Scheme, at: Inputs, *, interactions: bool = False
) -> Parts:
    """The error of an ensemble by cause at a block of points."""
    point, g = member_fixed_point(spectrum, scheme, at)
    terms = member_terms(point, spectrum, at.shared_features, g)
    # a nonlinear target is all bias, and the response to it is that to noise
    nonlinear = terms.unlearned() if np.any(at.nonlinear_signal) else None
    per_member = 1 / at.n_members
    return combine(terms, nonlinear, at, per_member, scheme.resamples, interactions=interactions)


def _psi_parts(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    point, _ = member_fixed_point(spectrum, scheme, at)
    terms = member_terms(point, spectrum, 0.0, 1.0)
    data, features = terms.shared, terms.own
    overlap, square = point.learnability, point.learnability**2
    if np.any(point.limit):
        overlap, square = (limit_value(v, point.limit) for v in (overlap, square))
    ensemble = square + data.sampling
    return {
        "psi1": overlap,
        "psi2_vanilla": ensemble + features.initialization + features.interaction,
        "psi3_vanilla": data.noise_sampling + features.noise_interaction,
        "psi2_ensemble": ensemble,
        "psi3_ensemble": data.noise_sampling,
        "psi2_divide": square,
        "psi2_features": square + features.initialization,
    }


def _effective_ridge(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    """λ̃ = λ/A = B/y, since 1 - z/N = r̃ y is (*) for infinitely many features."""
    point, _ = member_fixed_point(spectrum, scheme, at)
    by_features = at.ridge / point.unused_features  # A is 0 for P <= N without ridge
    y = spectrum.inverse_ridge(point)
    by_samples = limit_value(spectrum.own_ridge(point.unused_samples / y, at.samples))
    wide = (at.features > at.samples) | np.isinf(at.ridge) | (spectrum.rank == 0)
    return {"ridge": np.where(wide, by_features, by_samples)}


def total_error(
    terms: MemberTerms, nonlinear: MemberTerms, at: Amplitudes, per_member: Value
) -> Numbers:
    """The sum of all parts but the Bayes error, also on complex numbers."""
    parts = combine(terms, nonlinear, at, per_member, None, times=product_or_zero)
    return np.asarray(sum(value for name, value in parts.items() if name != "bayes"))


Weights: TypeAlias = tuple[Value, Value, Value]


def _training_parts(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    """Weights of B², B and 1 in the residuals of one member, and of two, on a training sample."""
    has = at.share_numerator / at.share_denominator
    both = has * at.shared_samples
    if scheme.with_replacement:
        bag = bootstrap(
            spectrum, at.features, at.samples, spectrum.scaled_ridge(at.ridge, at.samples)
        )
        point, g = bag.point, bag.shared_samples
        once: Weights = (0.0, 0.0, bag.residual_square)
        pair: Weights = (0.0, 0.0, bag.residual**2)
    else:
        point, g = member_fixed_point(spectrum, scheme, at)
        once = (has, 0.0, 1 - has)
        apart = (1 - has) ** 2  # the sample is in neither, for independent choices
        neither = apart + has * (g - has)
        pair = (both, 2 * has * (1 - g), np.where(neither > 1e-14 * apart, neither, 0.0))
    terms = member_terms(point, spectrum, at.shared_features, g)
    B = limit_value(point.unused_samples, point.limit)
    # the mean product of two members' errors, with the noise, and the excess of the square of one
    nonlinear = terms.unlearned()
    product = total_error(terms, nonlinear, at, 0.0) + at.noise**2
    linear, nonlinear = (
        MemberTerms(shared=some.own, own=CrossTerms()) for some in (terms, nonlinear)
    )
    beyond = total_error(linear, nonlinear, at, 0.0)
    member, error = 1 / at.n_members, np.float64(0.0)
    for one, two in zip(once, pair, strict=True):  # (w₂ B + w₁) B + w₀: B² alone could underflow
        weight = member * one
        value = product_or_zero(weight + (1 - member) * two, product) + product_or_zero(
            weight, beyond
        )
        error = product_or_zero(B, error) + value
    return {"error": error}
