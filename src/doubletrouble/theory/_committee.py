r"""Members of different size, ridge, activation or data: products of two, and weighted averages.

The mean product of two members' errors E (f⋆ - f_a)(f⋆ - f_b) is the formula of `_cross_terms` at
the fixed point of each. The parts of a product are covariances: bias is the product of the errors
of the two mean predictors (over features, data and noise); sampling is the covariance due to common
samples, initialization that due to common features, and noise that due to the label noise of common
samples.

With R the matrix of these products, the error of weights w that add up to one is wᵀ R w, with the
minimum at

    w = R⁻¹ 1/(1ᵀ R⁻¹ 1),        of value 1/(1ᵀ R⁻¹ 1).

Weights may be negative: a member whose error is a multiple of that of a better one is subtracted. A
member of infinite error (P = N without ridge) has weight 0; identical members have equal weights.

An overlap is counted like the sizes themselves: per dimension for a `Member`, in features and
samples for a `SpectralProblem`. Overlaps of several members must be sizes of intersections of sets:
of any three, the parts that the first shares with the others fit into it, and the matrix of
overlaps has no negative eigenvalue. (For more than three members these are necessary, not
sufficient.)
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots, glossary
from doubletrouble._display import Content, Shown, committee_content
from doubletrouble.activations import correlation
from doubletrouble.ensembles import CrossTerms, MemberTerms
from doubletrouble.estimates import ByValue
from doubletrouble.parameters import (
    Declared,
    FloatArray,
    IntArray,
    Numeric,
    Parameter,
    Parts,
    Value,
    checked,
    common_shape,
)
from doubletrouble.problems import (
    USUAL,
    Member,
    Problem,
    SpectralProblem,
    require_ridge_regression,
)
from doubletrouble.results import ErrorTerms
from doubletrouble.spectra import levels_of
from doubletrouble.theory._cross_terms import at_limits, cross_terms, product_or_zero
from doubletrouble.theory._error import BLOCK, Amplitudes, blockwise, combine
from doubletrouble.theory._fixed_point import (
    FixedPoint,
    Spectrum,
    root_power,
    sizes_of,
    spectrum_of,
)

AnyMember: TypeAlias = Member | Problem | SpectralProblem

Shared: TypeAlias = Literal["samples", "features", "both", "nothing"]
"""Names of common overlaps of the members of a committee."""

Sharing: TypeAlias = Shared | Sequence[Numeric] | Mapping[str, Numeric]
"""A name, or the overlaps (features, samples), each a number or a matrix."""

SHARINGS: tuple[str, ...] = get_args(Shared)

_TARGET = ("signal", "noise", "nonlinear_signal", "test_noise")
_SPECTRUM = ("law", "eigenvalues", "target_powers", "multiplicities", "tail")
_SMALLEST = 1e-290  # smaller squares have few digits
_SLACK = 1e-12  # relative tolerance of an overlap that exceeds a size by rounding
_SUM = 1e-9  # tolerance of the sum of weights
_RANK = 1e-13  # relative to the largest: smaller eigenvalues of scaled errors count as zero


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Committee(ByValue, Shown):
    """The exact test error of members averaged with weights, and the matrix behind it.

    With R the matrix `pair_errors`, at test points without noise, and weights w the total error is
    wᵀ R w plus the noise of test labels. `shared_features` and `shared_samples` are the overlaps of
    every two members.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> narrow, wide = dt.Member(features_per_dim=0.5), dt.Member(features_per_dim=4.0)
    >>> dt.committee([narrow, wide], noise=0.5).pair_errors.round(4)
    array([[1.5998, 0.4231],
           [0.4231, 0.6308]])
    """

    error: ErrorTerms[Value]  # of the weighted average
    weights: FloatArray  # (K,)
    pair_errors: FloatArray  # (K, K): E (f⋆ - f_a)(f⋆ - f_b)
    shared_features: FloatArray  # (K, K), the members' own sizes on the diagonal
    shared_samples: FloatArray  # (K, K)

    def _content(self) -> Content:
        return committee_content(self.error, self.weights, self.pair_errors)

    def _picture(self) -> _plots.Picture:
        return _plots.error_picture(self.error)


def pair_error(
    a: AnyMember,
    b: AnyMember,
    *,
    shared_features: Numeric = 0.0,
    shared_samples: Numeric = 0.0,
    signal: Numeric | None = None,
    noise: Numeric | None = None,
    nonlinear_signal: Numeric | None = None,
) -> ErrorTerms[Value]:
    """Return E (f⋆ - f_a)(f⋆ - f_b), the mean product of two members' errors, split by cause.

    Parameters
    ----------
    a, b : Member or Problem or SpectralProblem
        Two members of one kind; `Problem`s have one target, and `SpectralProblem`s one spectrum
        too. Their fields may be arrays. The `gram_ridge` of a `SpectralProblem` is on its
        own Gram matrix: for a member with part of the samples it is in proportion to their number.
    shared_features : float or array_like, default: 0
        The features that both have, at most those of either: per dimension for a `Member` or a
        `Problem`, a number of features for a `SpectralProblem`.
    shared_samples : float or array_like, default: 0
        The samples that both have, in the same units.
    signal : float or array_like or None, default: None
        Norm F of the linear target of `Member`s, 1 unless given; others have their own.
    noise : float or array_like or None, default: None
        Standard deviation τ of the label noise of `Member`s, 1 unless given.
    nonlinear_signal : float or array_like or None, default: None
        Root power F⋆ of the nonlinear part of the target of `Member`s, 0 unless given.

    Returns
    -------
    ErrorTerms
        The product at test points without noise is `total`. The parts are covariances due to what
        two members share: without common features `initialization` is 0, without common samples
        `sampling` and `noise` are 0. Floats, or arrays of the shape that all arguments broadcast
        to.

    Raises
    ------
    ValueError
        If an overlap exceeds the size of a member, the targets or spectra differ, a target is given
        for members that have their own, a loss is not the squared loss of regression, a number is
        outside its domain, or shapes do not broadcast.
    TypeError
        If the members are not of one of these kinds, or of different ones.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> a = dt.Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3)
    >>> b = dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-2, activation="tanh")
    >>> terms = dt.pair_error(a, b, shared_samples=0.8, noise=0.5)
    >>> round(terms.total, 6), terms.initialization, terms.sampling > 0
    (0.414895, 0.0, True)
    """
    a, b = both = _of_one_kind({"a": a, "b": b}, "pair_error")
    target = _target(both, signal, noise, nonlinear_signal)
    (P_a, N_a, ridge_a), (P_b, N_b, ridge_b) = sizes_of(a), sizes_of(b)
    k = shared("shared_features", shared_features, glossary.SHARED_FEATURES, P_a, P_b)
    n = shared("shared_samples", shared_samples, glossary.SHARED_SAMPLES, N_a, N_b)
    names: dict[str, Value | tuple[int, ...]] = {
        "the fields of a": a.shape,
        "the fields of b": b.shape,
    }
    names |= {"shared_features": k, "shared_samples": n}
    names |= {name: value for name, value in target.items() if isinstance(value, np.ndarray)}
    shape = common_shape(names)
    inputs: dict[str, Value] = {
        "features_a": P_a,
        "samples_a": N_a,
        "ridge_a": ridge_a,
        "features_b": P_b,
        "samples_b": N_b,
        "ridge_b": ridge_b,
        "shared_features": k,
        "shared_samples": n,
        **target,
    }
    at_points, block = partial(_pair_block, a, b), BLOCK // spectrum_of(a).cost
    parts = blockwise(at_points, _TwoMembers, inputs, shape, block)
    varying = {name: value for name, value in inputs.items() if np.ndim(value)}
    return ErrorTerms.of(parts, coordinates=varying if shape else {})


@dataclass(slots=True, kw_only=True)
class _TwoMembers(Amplitudes):
    """Sizes and ridges of two members, what they share, and their target, at every point."""

    features_a: FloatArray
    samples_a: FloatArray
    ridge_a: FloatArray
    features_b: FloatArray
    samples_b: FloatArray
    ridge_b: FloatArray
    shared_features: FloatArray
    shared_samples: FloatArray


def _pair_block(a: AnyMember, b: AnyMember, at: _TwoMembers) -> Parts:
    """The parts of the product at a block of points."""
    if shape := at.shape:
        at = at.map(lambda v: np.broadcast_to(v, shape))
    spectrum_a, spectrum_b = spectrum_of(a), spectrum_of(b)
    kappa = _correlation(a, b, at.shared_features)
    with np.errstate(all="ignore"):
        one = _solved(spectrum_a, at.features_a, at.samples_a, at.ridge_a)
        other = _solved(spectrum_b, at.features_b, at.samples_b, at.ridge_b)
        terms = _overlapping(one, other, spectrum_a, at.shared_features, at.shared_samples, kappa)
        return _parts(terms, at)


def _overlapping(
    a: FixedPoint,
    b: FixedPoint,
    spectrum: Spectrum,
    features: FloatArray,
    samples: FloatArray,
    kappa: Value | None,
) -> CrossTerms:
    """The terms of two members with these numbers of common features and samples."""
    f = np.nan_to_num(features / b.features)  # inf/inf: no overlap counts among infinitely many
    # a surrogate for 0 samples shares the same proportion
    g = np.fmin(samples / a.samples, 1.0)
    return at_limits(cross_terms(a, b, spectrum, f, g, kappa), a.limit | b.limit)


def _solved(
    spectrum: Spectrum, features: FloatArray, samples: FloatArray, ridge: FloatArray
) -> FixedPoint:
    """The fixed point of a member, limits included; `samples` are its own."""
    r = spectrum.scaled_ridge(ridge, samples)
    point = spectrum.fixed_point(features, samples, features - samples, r)
    point.limit = np.broadcast_to(point.limit, np.shape(features))
    return point


def _parts(terms: CrossTerms, target: Amplitudes) -> Parts:
    """The parts of a product, by cause."""
    one = MemberTerms(shared=terms, own=CrossTerms())
    with np.errstate(all="ignore"):  # members of infinite error
        parts = combine(one, one.unlearned(), target, 1.0, None, times=product_or_zero)
    return {name: np.broadcast_to(value, np.shape(terms.bias)) for name, value in parts.items()}


def _of_one_kind(given: Mapping[str, object], function: str) -> Sequence[AnyMember]:
    """Members of one kind by the names of their arguments, with one target; else raise."""
    (first_name, first), *_ = given.items()
    every: list[AnyMember] = []
    for name, one in given.items():
        if not isinstance(one, Member | Problem | SpectralProblem):
            got = type(one).__name__
            raise TypeError(f"{name} must be a Member, Problem or SpectralProblem, got {got}")
        if type(one) is not type(first):
            wanted, got = type(first).__name__, type(one).__name__
            raise TypeError(f"{name} must be a {wanted} as {first_name} is, got a {got}")
        require_ridge_regression(one, function)
        every.append(one)
    members = _with_common_levels(every)
    for member in members:
        for name in (*_SPECTRUM, *_TARGET):
            both = [np.asarray(getattr(one, name, None)) for one in (members[0], member)]
            if not np.array_equal(both[0], both[1]):
                shown = " and ".join(np.array2string(value, threshold=4) for value in both)
                raise ValueError(f"{name} must be the same for all members, got {shown}")
    return members


def _with_common_levels(members: Sequence[AnyMember]) -> Sequence[AnyMember]:
    """Members with the same law have the levels of the largest: sums are over the same modes."""
    spectral = [one for one in members if isinstance(one, SpectralProblem)]
    laws = {one.law for one in spectral}
    if len(laws) != 1 or (law := laws.pop()) is None:
        return members
    levels = vars(levels_of(law, max(one.size for one in spectral)))
    return [replace(one, law=None, **levels) for one in spectral]


def _target(
    members: Sequence[AnyMember],
    signal: Numeric | None,
    noise: Numeric | None,
    nonlinear_signal: Numeric | None,
) -> dict[str, Value]:
    """The amplitudes F, τ and F⋆: those given, or the problem's own."""
    given = {"signal": signal, "noise": noise, "nonlinear_signal": nonlinear_signal}
    first = members[0]
    if isinstance(first, Member):
        specs = (glossary.SIGNAL, glossary.NOISE, glossary.NONLINEAR_SIGNAL)
        return {
            name: checked(name, USUAL[name] if value is None else value, spec)
            for (name, value), spec in zip(given.items(), specs, strict=True)
        }
    for name, value in given.items():
        if value is not None:
            kind = type(first).__name__
            raise ValueError(f"{name} must be left out, as it is a field of {kind}, got {value!r}")
    rest: Value = first.nonlinear_signal
    return {"signal": root_power(first), "noise": first.noise_sd, "nonlinear_signal": rest}


def _correlation(a: AnyMember, b: AnyMember, shared_features: FloatArray) -> float | None:
    """κ of two activations, with the sign of μ₁a μ₁b; None of one activation.

    It is 0 where no features are shared.
    """
    if isinstance(a, SpectralProblem) or isinstance(b, SpectralProblem) or a.moments == b.moments:
        return None
    if not np.any(shared_features):
        return 0.0
    sign = -1.0 if a.moments.linear * b.moments.linear < 0 else 1.0
    return sign * correlation(a.moments, b.moments)


# --- overlaps of members -------------------------------------------------------------------------


class Overlaps(NamedTuple):
    """Matrices of overlaps; the diagonal holds the members' own sizes."""

    features: FloatArray  # (K, K)
    samples: FloatArray  # (K, K)


def overlaps(features: Sequence[float], samples: Sequence[float], sharing: Sharing) -> Overlaps:
    """Return the overlaps of members of these sizes, or raise ValueError if they are impossible.

    >>> overlaps([2.0, 0.5], [1.0, 0.8], "samples").samples
    array([[1. , 0.8],
           [0.8, 0.8]])
    >>> overlaps([2.0, 0.5], [1.0, 0.8], {"features": 0.6})
    Traceback (most recent call last):
    ValueError: shared features must be at most 0.5, the size of a member, got 0.6
    """
    if isinstance(sharing, str):
        if sharing not in SHARINGS:
            raise ValueError(
                f"sharing must be one of {', '.join(SHARINGS)}, or (features, samples) in common, "
                f"got {sharing!r}"
            )
        of_features = np.inf if sharing in ("features", "both") else 0.0
        of_samples = np.inf if sharing in ("samples", "both") else 0.0
        return Overlaps(_most(features, of_features), _most(samples, of_samples))
    if isinstance(sharing, Mapping):
        if unknown := sorted(set(map(str, sharing)) - {"features", "samples"}):
            raise ValueError(f"sharing must name features and samples only, got {unknown[0]!r}")
        wanted: tuple[Numeric, Numeric] = (
            sharing.get("features", 0.0),
            sharing.get("samples", 0.0),
        )
    elif isinstance(sharing, Sequence) and len(sharing) == 2:
        wanted = (sharing[0], sharing[1])
    else:
        raise TypeError(
            f"sharing must be one of {', '.join(SHARINGS)}, or (features, samples) in common, "
            f"got {sharing!r}"
        )
    return Overlaps(
        _matrix("shared features", wanted[0], features, glossary.SHARED_FEATURES),
        _matrix("shared samples", wanted[1], samples, glossary.SHARED_SAMPLES),
    )


def shared(name: str, value: Numeric, spec: Parameter, first: Value, second: Value) -> Value:
    """Check an overlap of two members against the sizes of both."""
    overlap = checked(name, value, spec)
    _refuse_more(name, np.asarray(overlap), np.minimum(first, second))
    return overlap


def _refuse_more(name: str, overlap: FloatArray, most: FloatArray) -> None:
    """Raise ValueError for an overlap larger than the smaller of the two members."""
    overlap, most = np.broadcast_arrays(overlap, most)
    over = overlap > most * (1 + _SLACK)
    if np.any(over):
        bound = f"at most {most[over][0]:g}, the size of a member"
        raise ValueError(f"{name} must be {bound}, got {overlap[over][0]:g}")


def _most(sizes: Sequence[float], wanted: float) -> FloatArray:
    """The largest possible overlaps (`wanted` = inf), or none (0)."""
    own = np.asarray(sizes, dtype=np.float64)
    overlap = np.where(np.eye(own.size) > 0, np.inf, wanted)
    return np.minimum(overlap, np.minimum.outer(own, own))


def _matrix(name: str, value: Numeric, sizes: Sequence[float], spec: Parameter) -> FloatArray:
    """One overlap for every two members, or a matrix of them."""
    own = np.asarray(sizes, dtype=np.float64)
    count, overlap = own.size, np.asarray(checked(name, value, spec))
    if overlap.ndim == 0:
        overlap = np.full((count, count), overlap)
    elif overlap.shape != (count, count):
        raise ValueError(
            f"{name} must be one number, or a matrix for {count} members, got shape {overlap.shape}"
        )
    elif not np.array_equal(overlap, overlap.T):
        raise ValueError(f"{name} must be a symmetric matrix, got {overlap.tolist()!r}")
    overlap = np.where(np.eye(count) > 0, own, overlap)
    most = np.minimum.outer(own, own)
    _refuse_more(name, overlap, most)
    overlap = np.asarray(np.minimum(overlap, most))
    finite = np.isfinite(own)
    if not _fit_together(overlap[np.ix_(finite, finite)]):
        raise ValueError(
            f"{name} must be possible for all members at once, got {overlap.tolist()!r}"
        )
    return overlap


def _fit_together(overlap: FloatArray) -> bool:
    """Check the necessary conditions for intersections of sets: triples, and eigenvalues."""
    own = np.diag(overlap)
    for i, row in enumerate(overlap):
        inside = row[:, None] + row[None, :] - overlap  # of member i: shared with j or with k
        np.fill_diagonal(inside, 0.0)
        if np.any(inside > own[i] * (1 + 1e-9)):
            return False
    scale = np.sqrt(own)
    scaled = overlap / np.outer(scale, scale)
    return not own.size or bool(np.linalg.eigvalsh(scaled)[0] > -1e-9 * own.size)


def checked_weights(weights: Numeric, count: int) -> FloatArray:
    """Return the weights of `count` members; raise ValueError unless they add up to one.

    >>> checked_weights([0.25, 0.75], 2)
    array([0.25, 0.75])
    """
    given = np.asarray(checked("weights", weights, glossary.WEIGHT))
    if given.shape != (count,):
        raise ValueError(f"weights must be one for each of {count}, got shape {given.shape}")
    if not abs(float(given.sum()) - 1) <= _SUM:
        raise ValueError(f"weights must add up to 1, got {float(given.sum()):g}")
    return given


Kind = TypeVar("Kind", bound=Declared)


def checked_members(members: object, kinds: tuple[type[Kind], ...]) -> tuple[Kind, ...]:
    """Return members as a tuple; raise unless each is a single point of one of these kinds."""
    if isinstance(members, kinds) or not isinstance(members, Sequence):
        raise TypeError(
            f"members must be a list of one member or more, got {type(members).__name__}"
        )
    if not members:
        raise ValueError("members must be a list of one member or more, got none")
    all_members: tuple[Kind, ...] = tuple(members)
    for k, one in enumerate(all_members):
        if not isinstance(one, kinds):
            *others, last = (kind.__name__ for kind in kinds)
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise TypeError(f"members[{k}] must be a {wanted}, got {type(one).__name__}")
    if shapes := [one.shape for one in all_members if one.shape]:
        raise ValueError(f"members must be single points, got fields of shape {shapes[0]}")
    return all_members


# --- committees ----------------------------------------------------------------------------------


def committee(
    members: Sequence[AnyMember],
    *,
    sharing: Sharing = "samples",
    weights: Literal["equal", "optimal"] | npt.ArrayLike = "equal",
    signal: Numeric | None = None,
    noise: Numeric | None = None,
    nonlinear_signal: Numeric | None = None,
) -> Committee:
    """Return the exact test error of members averaged with weights.

    Parameters
    ----------
    members : sequence of Member or Problem or SpectralProblem
        One member or more, of one kind and with the same target, each a single point.
    sharing : str or tuple or dict, default: "samples"
        Overlaps of the members: "samples" (nested subsets of one data set, features are
        independent), "features" (nested subsets of one set of features, samples are independent),
        "both" or "nothing"; or the overlaps of every two as (features, samples) or
        {"features": …, "samples": …}, each a number or a matrix, in the units of `pair_error`.
    weights : "equal" or "optimal" or array_like, default: "equal"
        "equal", "optimal", or numbers that add up to one, one for each member.
    signal : float or None, default: None
        Norm F of the linear target of `Member`s, 1 unless given; others have their own.
    noise : float or None, default: None
        Standard deviation τ of the label noise of `Member`s, 1 unless given.
    nonlinear_signal : float or None, default: None
        Root power F⋆ of the nonlinear part of the target of `Member`s, 0 unless given.

    Returns
    -------
    Committee
        The error by cause, the weights, and the error of every two members.

    Raises
    ------
    ValueError
        If overlaps are impossible, the targets or spectra differ, a target is given for members
        that have their own, a loss is not the squared loss of regression, the weights do not add up
        to one, a number is outside its domain, or an array is given for one.
    TypeError
        If the members are not of one of these kinds, or of different ones, or `sharing` has another
        type.
    ConvergenceError
        If a solver stops before its tolerance.

    Notes
    -----
    The noise of test labels is included in the error, not in `pair_errors`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> narrow, wide = dt.Member(features_per_dim=0.5), dt.Member(features_per_dim=4.0)
    >>> best = dt.committee([narrow, wide], weights="optimal", noise=0.5)
    >>> best.weights.round(3), round(best.error.total, 4)
    (array([0.15, 0.85]), 0.5996)
    """
    given = checked_members(members, (Member, Problem, SpectralProblem))
    named = {f"members[{k}]": one for k, one in enumerate(given)}
    all_members = _of_one_kind(named, "committee")
    target = _target(all_members, signal, noise, nonlinear_signal)
    for name, value in target.items():
        if np.ndim(value):
            raise ValueError(f"{name} must be one number here, got shape {np.shape(value)}")
    sizes = np.array([sizes_of(one) for one in all_members], dtype=np.float64)
    features, samples, _ = sizes.T.tolist()
    common = overlaps(features, samples, sharing)
    test_noise: Value = getattr(all_members[0], "test_noise", 0.0)
    products = _products(all_members, sizes, common.features, common.samples)
    parts = _parts(products, Amplitudes(**target))
    errors = np.asarray(sum(parts.values()))
    chosen = _weights(weights, products, target)
    by_cause = {name: _quadratic(chosen, np.asarray(part)) for name, part in parts.items()}
    by_cause["bayes"] = float(np.square(test_noise))
    return Committee(
        error=ErrorTerms.of(by_cause),
        weights=chosen,
        pair_errors=errors,
        shared_features=common.features,
        shared_samples=common.samples,
    )


def _products(
    members: Sequence[AnyMember],
    sizes: FloatArray,
    shared_features: FloatArray,
    shared_samples: FloatArray,
) -> CrossTerms:
    """The terms of every product, (K, K)."""
    spectra = [spectrum_of(one) for one in members]
    first, second = np.triu_indices(len(members))
    with np.errstate(all="ignore"):
        points = [
            _solved(spectrum, *own[:, None]) for spectrum, own in zip(spectra, sizes, strict=True)
        ]
        together = points[0].map(lambda *v: np.concatenate(v, axis=-1), *points[1:])
        kappa = _correlations(members, first, second, shared_features)
        terms = _overlapping(
            together.take(first),
            together.take(second),
            spectra[0],
            shared_features[first, second],
            shared_samples[first, second],
            kappa,
        )

    def symmetric(values: FloatArray) -> FloatArray:
        matrix = np.empty((len(members), len(members)))
        matrix[first, second] = matrix[second, first] = values
        return matrix

    return terms.map(symmetric)


def _correlations(
    members: Sequence[AnyMember],
    first: IntArray,
    second: IntArray,
    shared_features: FloatArray,
) -> FloatArray | None:
    """κ of every two members; None where all have one activation."""
    kappa = [
        _correlation(members[i], members[j], shared_features[i, j])
        for i, j in zip(first, second, strict=True)
    ]
    if all(one is None for one in kappa):
        return None
    return np.array([1.0 if one is None else one for one in kappa])


def _quadratic(weights: FloatArray, part: FloatArray) -> float:
    """wᵀ V w; infinite where that of a member with a nonzero weight is."""
    used = weights != 0
    if np.any(np.isinf(np.diag(part)) & used):
        return math.inf
    return float(weights[used] @ part[np.ix_(used, used)] @ weights[used])


def _weights(
    wanted: str | npt.ArrayLike, products: CrossTerms, target: Mapping[str, Value]
) -> FloatArray:
    """The given weights, or the optimal ones."""
    count = len(np.asarray(products.bias))
    if isinstance(wanted, str):
        if wanted not in ("equal", "optimal"):
            raise ValueError(f"weights must be equal, optimal or an array, got {wanted!r}")
        return np.full(count, 1 / count) if wanted == "equal" else _best(products, target)
    return checked_weights(wanted, count)


def _best(products: CrossTerms, target: Mapping[str, Value]) -> FloatArray:
    """The weights of least error, of smallest norm where they are not unique.

    They do not depend on a common factor of the amplitudes, whose squares may underflow: amplitudes
    are scaled, by powers of two, such that the largest is near one. Members whose errors underflow
    even then make none from the largest amplitude. All others get no weight, and the next largest
    amplitude decides.
    """
    amplitudes = {name: float(value) for name, value in target.items()}
    count = len(np.asarray(products.bias))
    best, members = np.zeros(count), np.arange(count)
    while any(amplitudes.values()):
        largest = max(amplitudes, key=lambda name: amplitudes[name])
        exponent = math.frexp(amplitudes[largest])[1]
        amplitudes = {name: math.ldexp(value, -exponent) for name, value in amplitudes.items()}
        errors = np.asarray(sum(_parts(products, Amplitudes(**amplitudes)).values()))
        errors = errors[np.ix_(members, members)]
        negligible = np.diag(errors) < _SMALLEST
        if not negligible.any():
            best[members] = _least_error(errors)
            return best
        members, amplitudes[largest] = members[negligible], 0.0
    best[members] = 1 / members.size  # no error
    return best


def _least_error(errors: FloatArray) -> FloatArray:
    """The weights of least error for a matrix of products."""
    own = np.diag(errors)
    finite = np.isfinite(own)
    if not finite.any():  # all errors are infinite
        return np.full(own.size, 1 / own.size)
    scale = 1 / np.sqrt(own[finite])
    # errors may differ by many decades: scaled to unit size, the matrix is well conditioned
    scaled = errors[np.ix_(finite, finite)] * scale[:, None] * scale  # in this order: no overflow
    values, vectors = np.linalg.eigh(scaled)
    used = values > _RANK * values[-1]  # the others are zero up to rounding
    relative = scale / scale.max()  # a common factor does not change the weights
    projected = (vectors.T @ relative)[used]
    weights = relative * (vectors[:, used] @ (projected / values[used]))
    best = np.zeros(own.size)
    best[finite] = weights / weights.sum()
    return best
