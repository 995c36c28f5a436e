r"""The test error along gradient flow, split by cause, and the best time to stop.

The predictor of gradient flow at time t is a combination of ridge fits with complex ridges, with
the same weights for all times. The variance parts of the error are bilinear in the predictor, so
each is a double sum of the parts of two members that share features and data but not the ridge
(`_cross_terms`), and the bias is that of the combined mean predictor:

    V(t) = Σ_jk w_j w_k V(a_j, a_k),        ρ(t) = Σ_i v_i² (Σ_j w_j M_ij)².

With a ridge λ > 0, flow descends the penalized loss and ends at the ridge fit: λ is added to every
complex ridge. [bodin2021] has the same dynamics by linear pencils and double contour integrals.

**Filters.** A filter that is a rational function with simple poles,

    learned(t x) = Σ_j w_j t x/(t x + z_j),

is a combination of ridge fits: at time t, the sum of fits with the ridges z_j/t, with weights w_j.
One pole z = 1 is ridge regression with the penalty 1/t. The ridge of the problem is added to each.

**Gradient flow** is the filter 1 - e⁻ᵗˣ. Talbot's contour,
z(θ) = n (0.5017 θ cot(0.6407 θ) - 0.6122 + 0.2645 iθ), -π < θ < π, winds around the negative real
axis; the midpoint rule on Cauchy's integral along it gives, for all x ≥ 0,

    e⁻ˣ ≈ Σ_j c_j/(x + z_j)        with an error of about 3.9⁻ⁿ for n poles    [weideman2006]

so that the filter of gradient flow at time t along an eigenvalue x is

    (1 - e⁻ᵗˣ)/x ≈ Σ_j w_j/(x + z_j/t),        w_j = c_j/z_j,  Σ_j w_j = 1.

Poles come in conjugate pairs; only those with θ > 0 are stored, in the order of θ: the first is the
closest to a real ridge, and each is close to the one before.

**Complex ridges.** At a complex ridge off the negative real axis (*) of `_fixed_point` has one
solution that belongs to a resolvent. It is followed by continuation from a real ridge: from pole to
pole of a contour a tangent predicts log y, and Newton's method corrects it. With
s = gap + 2 h small/big,

    F = z + small·h - small = 0,    dF/dlog y = (z - Q) + small r y/s,    dF/dlog r = small r y/s,

and h = 2 r y/(gap + s), where s = ±√(gap² + 4 (small/big) r y) has the sign that is nearer to the
value that z implies (along a contour both occur). A step that moves the solution too far is divided
into smaller ones.

**Time** is that of `conventions`: da/dt = (Φᵀ (y - Φ a) - alpha a)/D, from a = 0. A member with m
of the samples has its own Φ and alpha, so that its unit of time is the same. The features of a
`SpectralProblem` are divided by √P, and its time is da/dt = Φᵀ (y - Φ a/√P)/√P - δ a.

**When to stop.** The error is smooth in log t between the two ends, the zero predictor and the fit
itself, either of which may be best; it may have several minima (a dip, the epoch-wise peak, and a
second descent). Ten times per decade are evaluated, from 10⁻⁶ to 10¹⁸ of the fastest mode's time,
and the best is refined on grids that are ten times as fine in each round. Of times whose errors are
equal up to rounding, the last is returned.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import Content, Shown, solved_content
from doubletrouble._numbers import plain, whole
from doubletrouble._numerics import limit_value
from doubletrouble.ensembles import (
    CrossTerms,
    EnsembleLike,
    MemberTerms,
    Scheme,
    as_ensemble,
    coordinates,
)
from doubletrouble.errors import ConvergenceError
from doubletrouble.estimates import ByValue
from doubletrouble.glossary import TIME
from doubletrouble.parameters import (
    BoolArray,
    FloatArray,
    Numbers,
    Numeric,
    Parts,
    Value,
    checked,
    refuse,
    whole_number,
)
from doubletrouble.problems import Problem, require_ridge_regression
from doubletrouble.results import ErrorTerms
from doubletrouble.theory._cross_terms import (
    TERM_NAMES,
    PairSums,
    member_terms,
    pair_sums,
    terms_of_pair,
)
from doubletrouble.theory._error import (
    AnyProblem,
    Inputs,
    combine,
    evaluate,
    member_fixed_point,
    on_flat_points,
)
from doubletrouble.theory._fixed_point import FixedPoint, Sizes, Spectrum, Sum
from doubletrouble.theory._optimum import OptimalRidge, optimal_ridge, without

ComplexArray = npt.NDArray[np.complex128]

_POINTS = 4096  # numbers per pole in a block: points times levels
_NO_TIME = 1e-150  # in units of the fastest mode: equal to the zero predictor
_SLOWEST = 1e-290  # the smallest complex ridge without underflow


def gradient_flow(
    problem: AnyProblem,
    times: Numeric,
    ensemble: EnsembleLike = 1,
    *,
    n_poles: int = 20,
    filter: Filter | None = None,
) -> ErrorTerms[Value]:
    """Return the exact test error of an ensemble at each time of its training, by cause.

    Training is gradient flow from zero weights, da/dt = (Φᵀ (y - Φ a) - alpha a)/D with
    alpha = N P λ/D (`convert_time` converts steps × learning rate to this time; a
    `SpectralProblem` has its own unit, "gram").

    Parameters
    ----------
    problem : Problem or SpectralProblem
        A problem of ridge regression; its fields may be arrays.
    times : float or array_like
        Times of training; they broadcast with the problem and the ensemble. 0 is the zero predictor
        and `math.inf` the ridge fit. With infinitely many features every positive time gives the
        ridge fit.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K, or a scheme other than `Bootstrap`.
    n_poles : int, default: 20
        The number of complex ridges, even, from 4 to 64: the error of the sum falls by a factor of
        3.9 with each.
    filter : Filter or None, default: None
        A filter in place of 1 - e⁻ᵗˣ; `n_poles` is then ignored.

    Returns
    -------
    ErrorTerms
        Floats, or arrays of the shape that the problem, the times and the ensemble broadcast to.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression, an ensemble that is not supported, a
        number outside its domain, or shapes that do not broadcast.
    TypeError
        If an argument is not of the type above.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0, noise=0.5)
    >>> dt.gradient_flow(problem, [0.0, 10.0, 1000.0]).total.round(4)
    array([1.    , 1.0279, 6.833 ])
    """
    require_ridge_regression(problem, "gradient_flow")
    scheme = as_ensemble(ensemble, "gradient_flow")
    time = checked("times", times, TIME)
    count = whole_number("n_poles", n_poles, 4, 65)
    if count % 2:
        raise ValueError(f"n_poles must be even, as poles come in pairs, got {n_poles}")
    if not (filter is None or isinstance(filter, Filter)):
        raise TypeError(f"filter must be a Filter, got {type(filter).__name__}")
    poles = talbot_poles(count) if filter is None else filter.poles

    @on_flat_points
    def parts_at(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
        terms = _terms_at_time(spectrum, scheme, at, poles)
        return combine(terms, terms.unlearned(), at, 1 / at.n_members, scheme.resamples)

    parts = evaluate(problem, scheme, parts_at, block=_POINTS, times=time)
    return ErrorTerms.of(parts, coordinates=coordinates(problem, scheme, time=time))


def _terms_at_time(spectrum: Spectrum, scheme: Scheme, at: Inputs, poles: Poles) -> MemberTerms:
    """Terms of unit power at every point of a flat block."""
    ridge = spectrum.scaled_ridge(at.ridge, at.samples)
    samples, _ = at.member_samples()
    # the ridge of a pole at 1
    pace = spectrum.at_ridge_of_time(at.times, at.features, samples)
    begun = (pace < 1 / _NO_TIME) & (ridge < 1 / _NO_TIME) & (spectrum.rank > 0)
    done = np.isinf(at.times) | (pace == 0) | (ridge > poles.ending * pace)
    pace = np.maximum(pace, _SLOWEST)
    terms = MemberTerms(shared=CrossTerms(bias=1.0), own=CrossTerms())  # the zero predictor
    terms = terms.map(lambda v: np.full(np.shape(at.times), v))
    for which, trained in ((begun & done, True), (begun & ~done, False)):
        index = np.flatnonzero(which)
        if not index.size:
            continue
        some = at.take(index)
        if trained:
            there = _terms_at_convergence(spectrum, scheme, some, ridge[index], poles)
        else:
            there = _terms_during_flow(spectrum, some, ridge[index], pace[index], poles)
        terms.put(index, there)
    return terms


def _terms_at_convergence(
    spectrum: Spectrum, scheme: Scheme, at: Inputs, ridge: FloatArray, poles: Poles
) -> MemberTerms:
    """The terms of the ridge fit, times the share that the filter reaches at infinite time."""
    point, g = member_fixed_point(spectrum, scheme, at, ridge)
    terms = member_terms(point, spectrum, at.shared_features, g)
    share = 2 * float(np.sum(poles.weights).real)
    if abs(share - 1) < _ROUNDING:
        return terms
    # the bias of a share s of the mean predictor: Σ v² (M + (1-s) L)², Σ v² L² = 1 - ρ - 2 χ
    rho, chi = terms.shared.bias, limit_value(point.crossed)
    bias = rho + (1 - share) * (2 * chi + (1 - share) * (1 - rho - 2 * chi))
    terms = terms.map(lambda v: share**2 * v)
    return replace(terms, shared=replace(terms.shared, bias=bias))


def _terms_during_flow(
    spectrum: Spectrum, at: Inputs, ridge: FloatArray, pace: FloatArray, poles: Poles
) -> MemberTerms:
    """The terms at finite times, as sums over poles."""
    samples, _ = at.member_samples()
    ridges = [ridge + z * pace for z in poles.ridges]
    points = list(fixed_points_along(spectrum, at.features, samples, ridges))
    share = 1 - 2 * np.sum(poles.weights).real  # 0 for a filter that tends to one

    def unlearned_power(count: Sum, weigh: Sum, *pairs: tuple[Numbers, Numbers]) -> tuple[Numbers]:
        unlearned = share + 2 * sum(
            (w * M).real for w, (_, M) in zip(poles.weights, pairs, strict=True)
        )
        return (weigh(np.asarray(unlearned) ** 2),)

    (bias,) = spectrum.sum_over(unlearned_power, *points)
    one = _double_sum(spectrum, points, poles, 1.0, 1.0)
    f, g = at.shared_features, at.shared_samples
    if np.ndim(f) == 0 and np.ndim(g) == 0 and f == 0 and g in (0, 1):
        two = CrossTerms(sampling=g * one.sampling, noise_sampling=g * one.noise_sampling)
    else:
        two = _double_sum(spectrum, points, poles, f, g)
    own = one.map(lambda a, b: np.maximum(a - b, 0.0), two)
    return MemberTerms(shared=replace(two, bias=bias), own=own)


def _double_sum(
    spectrum: Spectrum, points: Sequence[FixedPoint], poles: Poles, f: Value, g: Value
) -> CrossTerms:
    """Σ_jk w_j w_k V(a_j, a_k) for members that share f P features and g N samples."""
    totals = {name: np.zeros(points[0].tail.shape) for name in TERM_NAMES if name != "bias"}
    pairs = zip(
        _pairs(points, lambda point: point.map(np.conj)),
        _pairs(list(poles.weights), np.conj),
        spectrum.sum_over(_sums_of_pairs, *points),
        strict=True,
    )
    for (a, b, times), (v, w, _), sums in pairs:
        terms = terms_of_pair(a, b, PairSums(*sums), f, g)
        for name, total in totals.items():
            total += (times * v * w * getattr(terms, name)).real
    return CrossTerms(**{name: np.maximum(v, 0.0) for name, v in totals.items()})  # rounded zeros


def _sums_of_pairs(count: Sum, weigh: Sum, *modes: tuple[Numbers, Numbers]) -> Iterator[Numbers]:
    """One array of the five sums for each pair of poles, as parts of a spectrum are added."""
    for a, b, _ in _pairs(modes, lambda one: (np.conj(one[0]), np.conj(one[1]))):
        yield np.stack(pair_sums(count, weigh, a, b))


_T = TypeVar("_T")


def _pairs(poles: Sequence[_T], conjugate: Callable[[_T], _T]) -> Iterator[tuple[_T, _T, float]]:
    """Every two poles, and the conjugate of every one with another; with their multiplicity.

    The other halves of the double sum are conjugates of these, and the same in the other order.
    """
    for j, pole in enumerate(poles):
        for first in (pole, conjugate(pole)):
            for k, second in enumerate(poles[j:]):
                yield first, second, 2.0 if k == 0 else 4.0


# --- filters -------------------------------------------------------------------------------------

_ALIKE = 1e-9  # tolerance for conjugates
_EXPONENTIAL_END = 100.0  # a relative e⁻¹⁰⁰ of the ridge fit is not learned yet
_RATIONAL_END = 1e18  # the share of a pole that is not learned yet falls as 1/t


@dataclass(frozen=True, slots=True)
class Poles:
    """Complex ridges for unit time, and their weights; each represents itself and its conjugate."""

    ridges: ComplexArray  # z
    weights: ComplexArray  # w
    ending: float  # ridge times t beyond which the result equals the ridge fit


@lru_cache(maxsize=8)
def talbot_poles(count: int) -> Poles:
    """Nodes of Talbot's contour: half of `count` poles, the others being their conjugates.

    >>> poles = talbot_poles(20)
    >>> x = 3.0
    >>> learned = 2 * np.sum(poles.weights * x / (x + poles.ridges)).real
    >>> bool(abs(learned - (1 - np.exp(-x))) < 1e-11)
    True
    """
    theta = np.pi * np.arange(1, count, 2) / count
    angle = 0.6407 * theta
    z = count * (0.5017 * theta / np.tan(angle) - 0.6122 + 0.2645j * theta)
    slope = 0.5017 / np.tan(angle) - 0.5017 * angle / np.sin(angle) ** 2 + 0.2645j
    residues = -1j * np.exp(z) * slope  # c: times n (from z'), over n (from the rule)
    weights = residues / z
    return Poles(z, weights / (2 * weights.sum().real), _EXPONENTIAL_END)


@dataclass(frozen=True, kw_only=True, eq=False)
class Filter:
    """A spectral filter by its poles, Σ_j w_j t x/(t x + z_j) for the eigenvalue x at time t.

    `gradient_flow(problem, times, filter=…)` uses it in place of 1 - e⁻ᵗˣ.

    Parameters
    ----------
    ridges : array_like of complex
        The poles z_j for unit time, up to 200, none of them zero or negative. Those that are not
        real come with their conjugates, so that the filter is real.
    weights : array_like of complex
        The weights w_j, one for each pole.

    Raises
    ------
    ValueError
        If these conditions do not hold, or a number is not finite.
    TypeError
        If these are not lists of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> ridge = dt.Filter(ridges=[1.0], weights=[1.0])  # ridge regression, with the penalty 1/t
    >>> ridge.learned(3.0)
    0.75
    """

    ridges: Sequence[complex] | ComplexArray
    weights: Sequence[complex] | ComplexArray

    def __post_init__(self) -> None:
        for name in ("ridges", "weights"):
            given = np.asarray(getattr(self, name))
            if given.ndim != 1 or given.dtype.kind not in "iufc":
                raise TypeError(f"{name} must be a list of numbers, got {getattr(self, name)!r}")
            if not given.size:
                raise ValueError(f"{name} must not be empty, got {getattr(self, name)!r}")
            if not np.isfinite(given).all():
                raise ValueError(f"{name} must be finite, got {given.tolist()!r}")
            object.__setattr__(self, name, given.astype(np.complex128))
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        if ridges.shape != weights.shape:
            raise ValueError(
                f"weights must be one for each of {ridges.size} ridges, got {weights.size}"
            )
        bad = (ridges.real <= 0) & (np.abs(ridges.imag) <= 1e-6 * np.abs(ridges.real))
        if bad.any():
            raise ValueError(
                f"ridges must not be zero or negative, got {complex(ridges[bad][0])!r}"
            )
        if ridges.size > 200:
            raise ValueError(f"ridges must be 200 at most, got {ridges.size}")
        _ = self.poles  # raises where conjugates are missing

    @property
    def poles(self) -> Poles:
        """Poles on or above the real axis, by angle; the weights of real ones are halved."""
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        size = _ALIKE * np.abs(ridges)
        real, upper = np.abs(ridges.imag) <= size, ridges.imag > size
        for z, w in zip(ridges[~real], weights[~real], strict=True):
            others = np.abs(ridges - np.conj(z)) <= _ALIKE * abs(z)
            if abs(np.sum(weights[others]) - np.conj(w)) > _ALIKE * (1 + abs(w)):
                raise ValueError(f"ridges must come with their conjugates, got {complex(z)!r}")
        if np.any(np.abs(weights[real].imag) > _ALIKE * (1 + np.abs(weights[real]))):
            raise ValueError(
                f"weights must be real where ridges are, got {weights[real].tolist()!r}"
            )
        chosen = real | upper
        ridges, weights = ridges[chosen], np.where(real, weights / 2, weights)[chosen]
        order = np.lexsort((np.abs(ridges), np.abs(np.angle(ridges))))
        return Poles(ridges[order], weights[order], _RATIONAL_END)

    def learned(self, x: float) -> float:
        """Return the share learned.

        Parameters
        ----------
        x : float
            Eigenvalue times time, at least 0.

        Returns
        -------
        float
            The share Σ_j w_j x/(x + z_j).
        """
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        return float(np.sum(weights * x / (x + ridges)).real)


# --- fixed points at complex ridges --------------------------------------------------------------

_LAST_STEP = 1e-9
_MOST_STEPS = 12
_DECIDED = 1e-8
_STRIDE = 0.4  # largest step of log r
_MOST_PIECES = 1000


@dataclass(slots=True, kw_only=True)
class _State:
    """The terms of (*) at some y and r."""

    gap: Numbers  # z - Q
    unused: tuple[Numbers, Numbers]  # of the smaller and the bigger resource
    excess: Numbers  # F
    pull: Numbers  # small r y/s


def fixed_points_along(
    spectrum: Spectrum, features: FloatArray, samples: FloatArray, ridges: Sequence[Numbers]
) -> Iterator[FixedPoint]:
    """Yield the fixed point at each of `ridges` (an array of points each), in their order.

    Continuation starts at the real ridge |ridges[0]|, and is fastest if each ridge is close to the
    one before.
    """
    surplus = features - samples
    sizes = Sizes.of(features, samples, surplus)
    here: Numbers = np.abs(ridges[0])
    y: Numbers = spectrum.inverse_ridge(spectrum.solve(features, samples, surplus, here)) + 0j
    for ridge in ridges:
        y = _continued(spectrum, sizes, y, here, ridge, _pieces(here, ridge))
        here = ridge
        unused = _state(spectrum, sizes, y, here).unused
        yield FixedPoint.at(spectrum, features, samples, y, unused)


def _pieces(start: Numbers, end: Numbers) -> int:
    """Number of continuation steps from one ridge to another."""
    return max(1, math.ceil(float(np.max(np.abs(np.log(end / start)))) / _STRIDE))


def _continued(
    spectrum: Spectrum, sizes: Sizes, y: Numbers, start: Numbers, end: Numbers, pieces: int
) -> Numbers:
    """Follow y from one ridge to another; without convergence, in smaller steps."""
    turn = np.log(end / start) / pieces
    start_y, converged = y, np.ones(np.shape(y), dtype=bool)
    for piece in range(pieces):
        at = _state(spectrum, sizes, y, start * np.exp(turn * piece))
        y = y * np.exp(-turn * at.pull / (at.gap + at.pull))
        y, near = _corrected(spectrum, sizes, y, start * np.exp(turn * (piece + 1)))
        converged &= near
    if converged.all():
        return y
    if pieces > _MOST_PIECES:
        raise ConvergenceError(
            f"the fixed point at a complex ridge did not converge in {pieces} pieces",
            last=y,
            residual=float(np.max(np.abs(_state(spectrum, sizes, y, end).excess))),
        )
    failed = np.flatnonzero(~converged)
    few = sizes.take(failed)
    y[failed] = _continued(spectrum, few, start_y[failed], start[failed], end[failed], 4 * pieces)
    return y


def _corrected(
    spectrum: Spectrum, sizes: Sizes, y: Numbers, ridge: Numbers
) -> tuple[Numbers, BoolArray]:
    """Newton's method on log y, and where it converged close to its start."""
    moved = np.zeros(np.shape(y), dtype=np.complex128)
    for _ in range(_MOST_STEPS):
        at = _state(spectrum, sizes, y, ridge)
        step = at.excess / (at.gap + at.pull)
        step = step / np.maximum(1.0, 2 * np.abs(step))
        y, moved = y * np.exp(-step), moved - step
        if np.all(np.abs(step) < _LAST_STEP):
            break
    return y, (np.abs(step) < _LAST_STEP) & (np.abs(moved) < 0.3)


def _state(spectrum: Spectrum, sizes: Sizes, y: Numbers, ridge: Numbers) -> _State:
    excess, gap = spectrum.balance(y, sizes.small)
    ry = ridge * y
    root = np.sqrt(sizes.square + 2 * sizes.twice_ratio * ry)
    likely = sizes.gap - sizes.twice_ratio * (excess / sizes.small)
    # next to P = N at the smallest ridges z does not decide: there it is the principal root
    turned = ((root * np.conj(likely)).real < 0) & (np.abs(root) > _DECIDED)
    root = np.where(turned, -root, root)
    smaller = 2 * ry / (sizes.gap + root)
    return _State(
        gap=gap,
        unused=(smaller, 0.5 * (sizes.gap + root)),
        excess=excess + sizes.small * smaller,
        pull=sizes.small * ry / root,
    )


# --- when to stop --------------------------------------------------------------------------------

_FIRST, _LAST, _PER_DECADE = -6, 18, 10
_ROUNDS = 7  # after which the error has all its digits
_CLOSER = np.linspace(-1.0, 1.0, 21)
_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoppingTime(ByValue, Shown):
    """The time of least total test error along gradient flow, and the error there."""

    time: Value  # 0 and inf are possible
    error: ErrorTerms[Value]  # at this time
    optimal_ridge: OptimalRidge  # the best ridge fit, trained to convergence

    def _content(self) -> Content:
        verdict, best, error = "", self.optimal_ridge, self.error
        if not error.shape:
            verdict = (
                f"The best time to stop is {whole(float(self.time))}, with error "
                f"{plain(float(error.total))}; trained to the end at the best {best.name}, "
                f"{whole(float(best.value))}, it is {plain(float(best.error.total))}."
            )
        compared = {f"best_{best.name}": best.value, "best_ridge_total": best.error.total}
        return solved_content(error, "time", self.time, verdict, compared)

    def _picture(self) -> _plots.Picture:
        return _plots.error_picture(self.error, without(self.error.coordinates, "time"))


def best_stopping_time(problem: AnyProblem, ensemble: EnsembleLike = 1) -> StoppingTime:
    """Return the time at which an ensemble, trained together, has the least test error.

    Time is that of `gradient_flow`, at the problem's own ridge.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        A problem of ridge regression; its fields may be arrays. In the unit of time of a `Problem`
        infinitely many features converge at once; use `SpectralProblem.from_problem` for them.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K, or a scheme other than `Bootstrap`.

    Returns
    -------
    StoppingTime
        The time, 0 (do not train) and inf (train to convergence) included, the error there, and the
        best ridge fit for comparison.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression, an ensemble that is not supported,
        shapes that do not broadcast, or a `Problem` with infinitely many features.
    TypeError
        If an argument is not of the type above.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> best = dt.best_stopping_time(dt.Problem(features_per_dim=1.0, ridge=0.0, noise=0.5))
    >>> round(best.time, 2), round(best.error.total, 4), round(best.optimal_ridge.error.total, 4)
    (1.55, 0.7994, 0.7903)
    """
    require_ridge_regression(problem, "best_stopping_time")
    scheme = as_ensemble(ensemble, "best_stopping_time")
    if isinstance(problem, Problem):
        features = np.asarray(problem.features_per_dim)
        refuse(
            "features_per_dim",
            features,
            np.isinf(features),
            "finite for a stopping time, as infinitely many features converge at once "
            "(use a SpectralProblem, whose unit of time differs)",
        )
    unit = np.asarray(evaluate(problem, scheme, _unit_of_time)["unit"])
    shape = np.shape(unit)
    grid = np.arange(_FIRST * _PER_DECADE, _LAST * _PER_DECADE + 1) / _PER_DECADE
    nodes = np.concatenate([[-np.inf], grid, [np.inf]])
    best, spacing = _least(problem, scheme, _column(nodes, shape), unit), 1 / _PER_DECADE
    for _ in range(_ROUNDS):
        close = best + _column(_CLOSER * spacing, shape)
        best, spacing = _least(problem, scheme, close, unit), spacing / 10
    times = _times(unit, best)
    time: Value = times if shape else float(times)
    error = gradient_flow(problem, time, scheme)
    return StoppingTime(time=time, error=error, optimal_ridge=optimal_ridge(problem, scheme))


def _unit_of_time(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    """The time scale on which a mode of weight one is learned."""
    samples, _ = at.member_samples()
    unit = spectrum.at_ridge_of_time(1.0, at.features, samples)
    return {"unit": np.where(np.isfinite(unit) & (unit > 0), unit, 1.0)}


def _times(unit: FloatArray, logs: FloatArray) -> FloatArray:
    """Times from their logarithms, clipped to the domain of `gradient_flow`."""
    with np.errstate(over="ignore"):
        times = unit * 10.0**logs
    return np.where(np.isinf(logs), times, np.minimum(times, TIME.high))


def _column(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values along an axis before those of the problem."""
    return values.reshape(-1, *(1 for _ in shape))


def _least(problem: AnyProblem, scheme: Scheme, logs: FloatArray, unit: FloatArray) -> FloatArray:
    """The best of some times at each point, by their logarithms."""
    total = np.asarray(gradient_flow(problem, _times(unit, logs), scheme).total)
    logs = np.broadcast_to(logs, total.shape)
    # the last of the times that are equal to the best up to rounding
    least = np.min(total, axis=0)
    index = total.shape[0] - 1 - np.argmax((total <= least * (1 + _ROUNDING))[::-1], axis=0)[None]
    return np.asarray(np.take_along_axis(logs, index, axis=0)[0])
