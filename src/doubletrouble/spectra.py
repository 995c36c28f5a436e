r"""Levels that represent many modes of a kernel: of a law for the eigenvalues, or of a long list.

A level stands for m modes of one eigenvalue and one target power. Sums over modes, of the form
Σ_i g(l_i) and Σ_i v_i² g(l_i) with g a function of l y/(1 + l y), become sums over few levels, with
non-integer weights m.

**Laws.** Eigenvalues l(i) are a smooth function of the rank i, and the target has the power
v²(i) = l(i)^(2r)/i on mode i, with r the source exponent. The first modes are levels of their own.
Beyond them the sum is an integral over the rank,

    Σ_{i=1}^∞ f(i) = Σ_{i=1}^n g_i f(i) + ∫_n^∞ f(x) dx,

where g_i = 1 except for Gregory's weights of the last eight levels (all of them positive), and the
integral is a Gauss-Legendre rule in log x on panels across which log l and log x change by a
fixed amount: the poles of 1/(1 + l y), for y > 0, are at Im log l = π whatever the law. The same
holds at the upper end of a law with finitely many modes, and on both sides of a knee.

For sizes S = min(P, N) the inverse effective ridge y is at most 1/l(2S), since half of the modes
with l y ≥ 1 count towards z ≤ S. Modes with l y below 1e-16 for every such y are linear in y: they
are added to the tail, and their target power to a level of eigenvalue 0.

The error of sums is estimated by a finer rule: more single modes, shorter panels with more nodes,
and a later start of the linear tail.

**Lists.** In a bin of a long list, sums over modes are Gauss rules of the list's own measure, exact
for polynomials p of degree 2 n - 1 in log l. For a term f > 0 with |f - p| ≤ ε f in the bin, the
sum and the rule differ from those of p by at most a share ε each: the relative error is at most
2 ε/(1 - ε), whatever the measure.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import overload

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import (
    Declared,
    FloatArray,
    Numeric,
    Value,
    as_value,
    declared,
    number,
    parameter,
)

_SMOOTH = 20.0  # ranks over which log l changes by one, at least, where a sum becomes an integral
_LINEAR = math.log(1e-16)  # log(l y) below which a mode is linear in y
_LATER = math.log(1e-4)  # change of it in a finer rule
UNDERFLOW = 1e-250
"""Eigenvalues below this share of the largest count as zero."""
_UNDERFLOW = math.log(UNDERFLOW)
_ROUNDING = math.log(1e-18)  # log(l y), relative to the cut, of negligible modes
_FEW_ROUNDINGS = 1e-14  # of sums and of the rules themselves
_TOLERANCE = 1e-11  # relative error of sums at which refinement stops
_MOST_REFINEMENTS = 4
_SMALLEST = 1e-280  # sums below have few digits
_SUM_POINTS = 64  # values of y at which sums are compared
_ORDER = 8  # of Gregory's weights: the largest for which all are positive
_LARGEST_SINGLE_RANK = 1e15  # beyond it, single modes are below rounding
_MOST_DECADES = 50  # of features and samples
_SHORT = 64  # modes; fewer have levels of their own


def _gregory_weights(order: int) -> FloatArray:
    """End weights of the trapezoidal rule, from the end inwards; positive up to order 8."""
    # coefficients of x/log(1 + x), by the recursion that inverts the series of log(1 + x)/x
    coefficients = [1.0]
    for n in range(1, order + 1):
        coefficients.append(
            -sum(coefficients[k] * (-1.0) ** (n - k) / (n - k + 1) for k in range(n))
        )
    weights = np.ones(order)
    for k in range(order):  # minus |c_k+1| times the k-th backward difference
        for j in range(k + 1):
            weights[j] -= abs(coefficients[k + 1]) * math.comb(k, j) * (-1.0) ** j
    return weights


_GREGORY = _gregory_weights(_ORDER)


@dataclass(frozen=True, kw_only=True, eq=False)
class Levels:
    """Eigenvalues with target powers and multiplicities, and the tail beyond them."""

    eigenvalues: FloatArray
    target_powers: FloatArray
    multiplicities: FloatArray
    tail: float
    level_error: float  # relative error of sums over modes: an estimate for laws, else a bound


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralLaw(Declared, abc.ABC):
    """Base of laws for the eigenvalues l(i) of a kernel and the target's powers l(i)^(2r)/i.

    The target is smoother the larger the source exponent r is.

    Parameters
    ----------
    source : float
        r: source exponent: the target has the power l^(2r)/i on mode i.
        Must be in [0.001, 100].
    n_modes : int or inf, default: inf
        M: modes of a law; `math.inf` is allowed.
        Must be a whole number in [1, 1e+100] or inf.
    """

    source: float = parameter(glossary.SOURCE)
    n_modes: float = parameter(glossary.N_MODES, math.inf)

    def __post_init__(self) -> None:
        for f, spec in declared(self):
            number(f.name, getattr(self, f.name), spec)  # TypeError for an array
        super().__post_init__()

    @abc.abstractmethod
    def _log_eigenvalue(self, rank: Numeric) -> Value:
        """The logarithm of the eigenvalue of a mode; the rank is a number from 1."""

    @abc.abstractmethod
    def _rank(self, log_eigenvalue: float) -> float:
        """The inverse of `_log_eigenvalue`."""

    @abc.abstractmethod
    def _beyond(self, rank: float) -> tuple[float, float]:
        """The integrals of the eigenvalue and of the target's power from a rank to infinity."""

    @property
    def _knees(self) -> tuple[float, ...]:
        """Ranks after which the law is another smooth function."""
        return ()

    @property
    @abc.abstractmethod
    def _smooth_from(self) -> float:
        """The rank from which a sum over modes may become an integral."""

    @property
    def last_mode(self) -> float:
        """The rank of the last mode that does not count as zero.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> round(dt.PowerLaw(capacity=2.5, source=0.5).last_mode / 1e100, 6)
        1.0
        """
        last = self._rank(float(self._log_eigenvalue(1.0)) + _UNDERFLOW)
        return min(last, self.n_modes)

    @overload
    def eigenvalue(self, rank: float) -> float: ...
    @overload
    def eigenvalue(self, rank: FloatArray | Sequence[float]) -> FloatArray: ...
    def eigenvalue(self, rank: Numeric) -> Value:
        """Return the eigenvalue of a mode.

        Parameters
        ----------
        rank : float or array_like
            The rank of the mode, from 1.

        Returns
        -------
        float or numpy.ndarray
            Eigenvalues, in the shape of `rank`.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> dt.PowerLaw(capacity=2.0, source=0.5).eigenvalue(4.0)
        0.0625
        """
        value = np.exp(self._log_eigenvalue(rank))
        return as_value(value)

    @overload
    def target_power(self, rank: float) -> float: ...
    @overload
    def target_power(self, rank: FloatArray | Sequence[float]) -> FloatArray: ...
    def target_power(self, rank: Numeric) -> Value:
        """Return the target's power on a mode, l^(2r)/i.

        Parameters
        ----------
        rank : float or array_like
            The rank of the mode, from 1.

        Returns
        -------
        float or numpy.ndarray
            Powers, in the shape of `rank`.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> round(dt.PowerLaw(capacity=2.0, source=0.5).target_power(2.0), 12)
        0.125
        """
        value = np.exp(2 * self.source * self._log_eigenvalue(rank) - np.log(rank))
        return as_value(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerLaw(SpectralLaw):
    """Eigenvalues i^-α with the capacity α, and target powers i^-(1 + 2αr).

    Parameters
    ----------
    source : float
        r: source exponent: the target has the power l^(2r)/i on mode i.
        Must be in [0.001, 100].
    n_modes : int or inf, default: inf
        M: modes of a law; `math.inf` is allowed.
        Must be a whole number in [1, 1e+100] or inf.
    capacity : float
        α: exponent of a power law: eigenvalues are i^-α.
        Must be in [0.01, 100].

    Raises
    ------
    ValueError
        If a number is outside its domain, or if `capacity` is at most 1 for infinitely many
        modes, whose sum diverges.
    TypeError
        If one is an array.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.PowerLaw(capacity=2.0, source=0.5).eigenvalue([1, 10])
    array([1.  , 0.01])
    >>> dt.PowerLaw(capacity=1.0, source=0.5)
    Traceback (most recent call last):
    ValueError: capacity must be above 1 for infinitely many modes, got 1
    """

    capacity: float = parameter(glossary.CAPACITY)

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_divergence("capacity", self.capacity, self.n_modes)

    def _log_eigenvalue(self, rank: Numeric) -> Value:
        return -self.capacity * np.log(rank)

    def _rank(self, log_eigenvalue: float) -> float:
        return _exp(-log_eigenvalue / self.capacity)

    def _beyond(self, rank: float) -> tuple[float, float]:
        return _power_tails(rank, self.capacity, self.source, 0.0)

    @property
    def _smooth_from(self) -> float:
        return _SMOOTH * self.capacity


@dataclass(frozen=True, kw_only=True, eq=False)
class ExponentialLaw(SpectralLaw):
    """Eigenvalues exp(-i/s) with the scale s, and target powers exp(-2 r i/s)/i.

    Parameters
    ----------
    source : float
        r: source exponent: the target has the power l^(2r)/i on mode i.
        Must be in [0.001, 100].
    n_modes : int or inf, default: inf
        M: modes of a law; `math.inf` is allowed.
        Must be a whole number in [1, 1e+100] or inf.
    scale : float
        s: scale of an exponential law: eigenvalues are exp(-i/s).
        Must be in [0.01, 1e+50].

    Raises
    ------
    ValueError
        If a number is outside its domain.
    TypeError
        If one is an array.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> round(dt.ExponentialLaw(scale=2.0, source=0.5).eigenvalue(2.0), 6)
    0.367879
    """

    scale: float = parameter(glossary.SCALE)

    def _log_eigenvalue(self, rank: Numeric) -> Value:
        return -np.asarray(rank) / self.scale

    def _rank(self, log_eigenvalue: float) -> float:
        return -self.scale * log_eigenvalue

    def _beyond(self, rank: float) -> tuple[float, float]:
        from scipy.special import exp1  # takes 0.1 s to import

        power = float(exp1(2 * self.source * rank / self.scale))
        return self.scale * _exp(-rank / self.scale), power

    @property
    def _smooth_from(self) -> float:
        return 1.0 if self.scale >= _SMOOTH else math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoPowerLaw(SpectralLaw):
    """Eigenvalues i^-α up to the rank `knee`, and in proportion to i^-α' beyond it.

    Eigenvalues are continuous at the knee.

    Parameters
    ----------
    source : float
        r: source exponent: the target has the power l^(2r)/i on mode i.
        Must be in [0.001, 100].
    n_modes : int or inf, default: inf
        M: modes of a law; `math.inf` is allowed.
        Must be a whole number in [1, 1e+100] or inf.
    capacity : float
        α: exponent of a power law: eigenvalues are i^-α.
        Must be in [0.01, 100].
    later_capacity : float
        α': exponent beyond the knee: eigenvalues are in proportion to i^-α'.
        Must be in [0.01, 100].
    knee : float
        i₀: rank at which the exponent of a law changes.
        Must be in [1, 1e+50].

    Raises
    ------
    ValueError
        If a number is outside its domain, or if `later_capacity` is at most 1 for infinitely
        many modes, whose sum diverges.
    TypeError
        If one is an array.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> law = dt.TwoPowerLaw(capacity=1.0, later_capacity=2.0, knee=4.0, source=0.5)
    >>> law.eigenvalue([4.0, 8.0])
    array([0.25  , 0.0625])
    """

    capacity: float = parameter(glossary.CAPACITY)
    later_capacity: float = parameter(glossary.LATER_CAPACITY)
    knee: float = parameter(glossary.KNEE)

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_divergence("later_capacity", self.later_capacity, self.n_modes)

    @property
    def _shift(self) -> float:
        """The logarithm of the factor of i^-α', which makes the law continuous."""
        return (self.later_capacity - self.capacity) * math.log(self.knee)

    def _log_eigenvalue(self, rank: Numeric) -> Value:
        logs = np.log(rank)
        later = self._shift - self.later_capacity * logs
        return np.where(np.asarray(rank) <= self.knee, -self.capacity * logs, later)

    def _rank(self, log_eigenvalue: float) -> float:
        early = _exp(-log_eigenvalue / self.capacity)
        return (
            early
            if early <= self.knee
            else _exp((self._shift - log_eigenvalue) / self.later_capacity)
        )

    def _beyond(self, rank: float) -> tuple[float, float]:
        weight, power = _power_tails(
            max(rank, self.knee), self.later_capacity, self.source, self._shift
        )
        if rank < self.knee:
            length, slope = math.log(self.knee / rank), 2 * self.source * self.capacity
            weight += _power_integral(rank, self.capacity - 1, length)
            power += _power_integral(rank, slope, length)
        return weight, power

    @property
    def _knees(self) -> tuple[float, ...]:
        return (self.knee,)

    @property
    def _smooth_from(self) -> float:
        return _SMOOTH * max(self.capacity, self.later_capacity)


def _refuse_divergence(name: str, capacity: float, n_modes: float) -> None:
    if capacity <= 1 and math.isinf(n_modes):  # the trace of the kernel diverges
        raise ValueError(f"{name} must be above 1 for infinitely many modes, got {capacity:g}")


def _power_tails(rank: float, capacity: float, source: float, shift: float) -> tuple[float, float]:
    """The integrals of c i^-α and of (c i^-α)^(2r)/i from a rank to infinity, log c = shift."""
    logs, slope = math.log(rank), 2 * source * capacity
    return (
        math.exp(shift + (1 - capacity) * logs) / (capacity - 1),
        math.exp(2 * source * shift - slope * logs) / slope,
    )


def _power_integral(rank: float, slope: float, length: float) -> float:
    """The integral of x^-(1 + slope) from a rank over a length of log x."""
    # the mean of e^(-slope u) over the length, times it
    mean = -math.expm1(-slope * length) / (slope * length) if slope else 1.0
    return math.exp(-slope * math.log(rank)) * length * mean


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf


# --- levels of a law -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """How finely a law is resolved."""

    explicit: int = 200  # modes at the head with levels of their own, at least
    nodes: int = 10  # of each panel
    panel: float = 1.6  # change of log l, and of log x, across a panel, at most
    linear: float = _LINEAR  # log(l y) below which modes belong to the tail

    def finer(self) -> _Rule:
        """A rule with closer nodes, and a later start of the integral and of the tail."""
        return _Rule(2 * self.explicit, self.nodes + 2, self.panel / 1.5, self.linear + _LATER)


def levels_of(law: SpectralLaw, size: float) -> Levels:
    """The levels of a law for learners with at most `size` features or samples.

    >>> levels = levels_of(PowerLaw(capacity=1.5, source=0.8), 1e9)
    >>> levels.eigenvalues.size < 1000, levels.level_error < 1e-11
    (True, True)
    """
    return _levels(law, max(0, math.ceil(math.log10(size))))


def foreign_field(law: SpectralLaw, given: Mapping[str, Value]) -> str | None:
    """The first field of `Levels` in which those given are not a law's own; None if they are.

    They may be the levels for any size: those of a problem whose size changes.
    """
    eigenvalues = np.atleast_1d(given["eigenvalues"])
    smallest = float(np.min(eigenvalues, where=eigenvalues > 0, initial=math.inf))
    if math.isinf(smallest):
        return "eigenvalues"
    # levels end where l y is 1e-16 for y = 1/l(2 S): start from this size
    size = 0.5 * law._rank(math.log(smallest) - _LINEAR)
    guess = math.log10(min(max(size, 1.0), 10.0**_MOST_DECADES))
    field = "eigenvalues"
    for decades in sorted(range(_MOST_DECADES + 1), key=lambda d: abs(d - guess)):
        own = vars(_levels(law, decades))
        other = next((name for name in own if not _equal(own[name], given.get(name))), None)
        if other is None:
            return None
        field = other if field == "eigenvalues" else field
    return field


def _equal(own: Value, given: Value | None) -> bool:
    """Whether values are equal up to rounding, which may differ where a problem was stored."""
    if given is None or np.size(own) != np.size(given):
        return False
    return bool(np.all(np.abs(np.asarray(own) - given) <= 1e-9 * np.abs(own)))


@lru_cache(maxsize=256)
def _levels(law: SpectralLaw, decades: int) -> Levels:
    """The levels of a law for sizes up to 10^decades."""
    return _refined(law, 10.0**decades, _Rule())


def _refined(law: SpectralLaw, size: float, rule: _Rule) -> Levels:
    """The levels of a law, from one rule to finer ones until the sums agree."""
    here = _resolved(law, size, rule)
    for _ in range(_MOST_REFINEMENTS):
        rule = rule.finer()
        finer = _resolved(law, size, rule)
        here = replace(here, level_error=_difference(here, finer, law, size))
        if here.level_error < _TOLERANCE:
            break
        here = replace(finer, level_error=here.level_error)
    return here


def _resolved(law: SpectralLaw, size: float, rule: _Rule) -> Levels:
    """The levels of a law by one rule."""
    smallest = float(law._log_eigenvalue(1.0)) + _UNDERFLOW
    # y is at most 1/l(2 S); without a bound, where all modes can be learned, all have levels
    last = max(float(law._log_eigenvalue(2 * size)) + rule.linear, smallest)
    cut = law.n_modes if 2 * size >= law.n_modes else min(law._rank(last), law.n_modes)
    if math.isinf(law._smooth_from):
        cut = min(math.ceil(min(cut, law._rank(smallest))), law.n_modes)
        negligible = law._rank(
            float(law._log_eigenvalue(cut)) + _ROUNDING * max(1, 0.5 / law.source)
        )
        ranks = np.arange(1.0, min(math.ceil(negligible), law.n_modes) + 1)
        weights, beyond = np.ones_like(ranks), (0.0, 0.0)
    else:
        first = max((1.0, *(knee for knee in law._knees if knee < cut)))
        cut = max(cut, 2 * _head(law, first, rule))
        if math.isinf(law.n_modes):
            ranks, weights = _quadrature(law, cut, False, rule)
            beyond = law._beyond(cut)
        else:
            ranks, weights = _quadrature(law, law.n_modes, True, rule)
            beyond = (0.0, 0.0)
    eigenvalues, powers = law.eigenvalue(ranks), law.target_power(ranks)
    linear = ranks > cut
    tail = beyond[0] + float(weights[linear] @ eigenvalues[linear])
    rest = beyond[1] + float(weights[linear] @ powers[linear])
    eigenvalues, powers, weights = (v[~linear] for v in (eigenvalues, powers, weights))
    if rest > 0:
        eigenvalues, powers = np.append(eigenvalues, 0.0), np.append(powers, rest)
        weights = np.append(weights, 1.0)
    for array in (eigenvalues, powers, weights):
        array.flags.writeable = False  # they are cached
    return Levels(
        eigenvalues=eigenvalues,
        target_powers=powers,
        multiplicities=weights,
        tail=tail,
        level_error=0.0,
    )


def _head(law: SpectralLaw, first: float, rule: _Rule) -> int:
    """The last rank, of those from `first`, before the sum becomes an integral."""
    finer = rule.explicit / _Rule.explicit
    return math.ceil(max(first + 2 * _ORDER, rule.explicit, law._smooth_from * finer))


def _quadrature(
    law: SpectralLaw, end: float, closed: bool, rule: _Rule
) -> tuple[FloatArray, FloatArray]:
    """Ranks and weights for sums over modes from 1 to `end`, or, if not closed, before `end`.

    The modes from `end` on, if not closed, are the integral from there.
    """
    pieces, first = [], 1.0
    for knee in (*(k for k in law._knees if k < end), end):
        last = math.floor(knee) if closed or knee < end else end
        pieces.append(_segment(law, first, float(last), closed or knee < end, rule))
        first = last + 1.0
    ranks, weights = zip(*pieces, strict=True)
    return np.concatenate(ranks), np.concatenate(weights)


def _segment(
    law: SpectralLaw, first: float, last: float, closed: bool, rule: _Rule
) -> tuple[FloatArray, FloatArray]:
    """Ranks and weights of the modes between two ranks, where the law is smooth."""
    head = float(_head(law, first, rule))
    foot = last - 2 * _ORDER if closed else last
    if closed and foot - head < _SHORT and last < _LARGEST_SINGLE_RANK:
        explicit = np.arange(first, last + 1)
        return explicit, np.ones_like(explicit)
    pieces = [_up_to(first, head)] if first < _LARGEST_SINGLE_RANK else []
    start, end = head if pieces else first, foot if last < _LARGEST_SINGLE_RANK else last
    pieces.append(_panels(law, start, end, rule))
    if closed and last < _LARGEST_SINGLE_RANK:
        ranks, weights = _up_to(0.0, 2.0 * _ORDER)  # the mirror image
        pieces.append((last - ranks[::-1], weights[::-1]))
    ranks, weights = (np.concatenate(some) for some in zip(*pieces, strict=True))
    return ranks, weights


def _up_to(first: float, last: float) -> tuple[FloatArray, FloatArray]:
    """Modes from `first` to `last`, with Gregory's weights at the end."""
    ranks = np.arange(first, last + 1)
    weights = np.ones_like(ranks)
    weights[-_ORDER:] = _GREGORY[::-1]
    return ranks, weights


def _panels(
    law: SpectralLaw, start: float, end: float, rule: _Rule
) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the integral over ranks, by Gauss's rule on panels in log x."""
    logs = np.linspace(math.log(start), math.log(end), 4096)
    along = logs - np.asarray(law._log_eigenvalue(np.exp(logs)))
    count = math.ceil(float(along[-1] - along[0]) / (2 * rule.panel))
    # the ends of panels need not be exact
    ends = np.interp(np.linspace(along[0], along[-1], count + 1), along, logs)
    nodes, weights = np.polynomial.legendre.leggauss(rule.nodes)
    half = 0.5 * np.diff(ends)[:, None]
    x = np.exp(0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes)
    return x.ravel(), (half * weights * x).ravel()


def _difference(a: Levels, b: Levels, law: SpectralLaw, size: float) -> float:
    """Twice the largest relative difference of sums over modes, for every y within reach."""
    bound = min(2 * size, law.n_modes)
    lowest = max(float(law._log_eigenvalue(bound)), _UNDERFLOW)
    first = float(law._log_eigenvalue(1.0))
    y = np.exp(-np.linspace(first + 3, lowest - 3 * (bound == law.n_modes), _SUM_POINTS))
    sums_a, sums_b = _sums(a, y), _sums(b, y)
    largest = np.max(np.abs(sums_a - sums_b) / np.maximum(np.abs(sums_b), _SMALLEST))
    return 2 * float(largest) + (_FEW_ROUNDINGS if largest > 0 else 0.0)


def _sums(levels: Levels, y: FloatArray) -> FloatArray:
    """z, z - Q, Q and Σ L²M over modes; and, over the target, Σ v²M², Σ v²LM and Σ v²LM²."""
    ly = levels.eigenvalues[:, None] * y
    M = 1 / (1 + ly)
    L = ly * M
    m = levels.multiplicities
    v = m * levels.target_powers
    rest = levels.tail * y
    return np.array(
        [
            m @ L + rest,
            m @ (L * M) + rest,
            m @ (L * L),
            m @ (L * L * M),
            v @ (M * M),
            v @ (L * M),
            v @ (L * M * M),
        ]
    )


# --- levels of a list ----------------------------------------------------------------------------

_NODES_PER_BIN = (3, 4, 5, 6, 8, 10, 12, 14)
_NO_MODES = 1e-30  # multiplicity of levels that have power only
_LARGEST_POWER = 1e299
_MORE_BINS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)  # where some bins have few modes
_NO_MORE_POINTS = 1e-24  # relative norm of the next orthogonal polynomial of fewer points
_GRID_MARGIN = 1.1  # finer grids give up to 1.03 times the distance
# exponents a and b of the terms e^(a s)/(1 + e^s)^b of `_sums`, with s = log(l y)
_TERMS = ((1, 1), (1, 2), (2, 2), (2, 3), (0, 2), (1, 3))


def binned_levels(eigenvalues: FloatArray, target_powers: FloatArray, most: int) -> Levels:
    """Compress a list of modes into at most `most` levels (a few more where bins are sparse)."""
    order = np.argsort(eigenvalues)[::-1]
    values, powers = eigenvalues[order], target_powers[order]
    del order
    positive = int(np.searchsorted(-values, 0.0))
    largest = float(powers.max()) or 1.0
    nodes, bins, error = 0, 0, 0.0
    if positive > most:
        nodes, bins, error = _best_bins(values[:positive], most - 1)
        if not error < 1:
            fewest = _fewest_levels(values[:positive], most)
            raise ValueError(
                f"levels must be at least {fewest} for an error bound below 1, got {most}"
            )
    pieces: list[
        tuple[FloatArray, FloatArray, FloatArray]
    ] = []  # eigenvalues, powers, multiplicities
    for part in _parts(values[:positive], bins):
        own, v = values[part], powers[part]
        if own.size <= 2 * nodes or not bins:
            pieces.append((own, v, np.ones_like(own)))
            continue
        center = 0.5 * (math.log(own[0]) + math.log(own[-1]))
        x = np.log(own) - center
        half = float(x[0])
        x /= half or 1.0
        at, weights = _gauss(x, np.ones_like(x), nodes)
        pieces.append((np.exp(center + half * at), np.zeros_like(at), weights))
        if v.any():
            at, weights = _gauss(x, v / largest, nodes)
            few = np.maximum(_NO_MODES, weights * (largest / _LARGEST_POWER))
            pieces.append((np.exp(center + half * at), weights / few * largest, few))
    if positive < values.size:
        rest, count = powers[positive:], float(values.size - positive)
        mean = float(np.sum(rest / largest)) / count * largest
        pieces.append((np.zeros(1), np.array([mean]), np.array([count])))
    joined = [np.concatenate(some) for some in zip(*pieces, strict=True)]
    return Levels(
        eigenvalues=joined[0],
        target_powers=joined[1],
        multiplicities=joined[2],
        tail=0.0,
        level_error=error,
    )


def _parts(values: FloatArray, bins: int) -> list[slice]:
    """Slices of a falling list, of equal width in the logarithm; without bins, all of it."""
    if not bins:
        return [slice(0, values.size)]
    edges = np.exp(np.linspace(math.log(values[0]), math.log(values[-1]), bins + 1)[1:-1])
    ends = [0, *np.searchsorted(-values, -edges).tolist(), values.size]
    return [slice(a, b) for a, b in itertools.pairwise(ends) if b > a]


def _best_bins(values: FloatArray, most: int) -> tuple[int, int, float]:
    """Nodes per bin, the number of bins and the bound on the error, within `most` levels."""
    span = math.log(values[0]) - math.log(values[-1])
    best = (1, 1, math.inf)
    for nodes in _NODES_PER_BIN:
        for bins in sorted({round(most / (2 * nodes) * factor) for factor in _MORE_BINS}):
            sizes = np.array([part.stop - part.start for part in _parts(values, bins)])
            if bins < 1 or np.minimum(sizes, 2 * nodes).sum() > most:
                break
            error = _gauss_error(0.5 * span / bins, nodes)
            if error < best[2]:
                best = (nodes, bins, error)
    return best


def _fewest_levels(values: FloatArray, most: int) -> int:
    """The number of levels, above `most`, from which the bound on the error is below one."""
    low, high = most, 2 * most
    while high < values.size and not _best_bins(values, high - 1)[2] < 1:
        low, high = high, 2 * high
    high = min(high, values.size)  # every mode has a level
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _best_bins(values, middle - 1)[2] < 1 else (middle, high)
    return high


def _gauss_error(half: float, nodes: int) -> float:
    """A bound on the relative error of Gauss's rule in a bin of this half width in log l.

    It is 2 ε/(1 - ε), with ε the largest relative distance of a term from the polynomial that
    equals it at 2 n Chebyshev points, over terms, the bin, and the place of the bin on the axis of
    log(l y). Far out, terms are exponential functions. The largest is over a grid, with a margin.
    """
    count = 2 * nodes
    angles = np.pi * (np.arange(count) + 0.5) / count
    fine = np.linspace(0.0, np.pi, 4 * count + 1)
    k = np.arange(count)
    series = np.cos(np.outer(k, angles)) * np.where(k == 0, 1.0, 2.0)[:, None] / count
    interpolation = np.cos(np.outer(fine, k)) @ series
    places = np.concatenate([[-50.0], np.linspace(-half - 8, half + 8, 257), [50.0]])
    points = np.concatenate([np.cos(angles), np.cos(fine)])
    s = np.add.outer(half * points, places)
    softplus = np.logaddexp(0.0, s)
    worst = 0.0
    for a, b in _TERMS:
        at, values = np.split(np.exp(a * s - b * softplus), [count])
        worst = max(worst, float(np.max(np.abs(interpolation @ at / values - 1))))
    worst *= _GRID_MARGIN
    return 2 * worst / (1 - worst) + _FEW_ROUNDINGS if worst < 1 else math.inf


def _gauss(x: FloatArray, weights: FloatArray, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's rule of a discrete measure, by the recursion of its orthogonal polynomials."""
    total = float(weights.sum())
    before, here, norm = np.zeros_like(x), np.ones_like(x), total
    alphas, betas, beta = [], [], 0.0
    for k in range(nodes):
        weighed = weights * here
        alphas.append(float((weighed * here) @ x) / norm)
        if k == nodes - 1:
            break
        after = (x - alphas[-1]) * here - beta * before
        after_norm = float((weights * after) @ after)
        beta = after_norm / norm
        if not beta > _NO_MORE_POINTS:  # the measure has no more than k + 1 points
            break
        betas.append(beta)
        before, here, norm = here, after, after_norm
    jacobi = np.diag(alphas) + np.diag(np.sqrt(betas), 1) + np.diag(np.sqrt(betas), -1)
    at, vectors = np.linalg.eigh(jacobi)
    return np.clip(at, -1.0, 1.0), total * vectors[0] ** 2
