"""Estimates: numbers with standard errors, and the draws behind them.

Estimates from the same draws are combined draw by draw, so that differences are paired.
"""

from __future__ import annotations  # help() then shows the alias Value

import hashlib
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from doubletrouble._display import ROWS
from doubletrouble._numbers import CONFIDENCE, range_of, with_error
from doubletrouble.parameters import FloatArray, Value, as_value, check_level, whole_number


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ByValue:
    """Compare by value, arrays included."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        names = [f.name for f in fields(self) if f.compare]
        return all(same_value(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]


def same_value(a: Any, b: Any) -> bool:
    """Whether two numbers, arrays or estimates are equal."""
    return bool(a == b) if isinstance(a, ByValue) else np.array_equal(a, b)


class ConfidenceInterval(NamedTuple):
    """The lower and the upper end of a confidence interval."""

    low: Value
    high: Value


ConfidenceInterval.__new__.__annotations__ = {"low": "Value", "high": "Value"}  # as help() shows


class Draws(Protocol):
    """The draws behind an estimate, whose deviation from its mean is linear in them."""

    @property
    def key(self) -> Hashable:
        """Identifier of the draws: those of equal keys are combined draw by draw."""

    def summary(self) -> tuple[Value, Value, int]:
        """The mean, its standard error, and its degrees of freedom plus one."""

    def combined(self, scale: Value, other: Self, other_scale: Value) -> Self:
        """A linear combination with other draws of the same key."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _DrawsAlongFirstAxis:
    """Draws along the first axis; further axes are points."""

    values: FloatArray
    key: Hashable

    def item(self, index: Any) -> Self:
        """The draws of some points."""
        return replace(self, values=np.moveaxis(np.moveaxis(self.values, 0, -1)[index], -1, 0))

    def combined(self, scale: Value, other: Self, other_scale: Value) -> Self:
        """A linear combination, draw by draw."""
        depth = max(np.ndim(self.values), np.ndim(other.values), 1 + np.ndim(scale))
        mine, theirs = (_deepened(draws.values, depth) for draws in (self, other))
        return replace(self, values=scale * mine + other_scale * theirs)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOfDraws(_DrawsAlongFirstAxis):
    """Independent draws along the first axis, whose mean is the estimate."""

    def summary(self) -> tuple[Value, Value, int]:
        """Mean, standard error of the mean, and number of draws."""
        count = self.values.shape[0]
        mean = self.values.mean(axis=0)
        spread = self.values.std(axis=0, ddof=1) if count > 1 else np.full_like(mean, math.inf)
        return as_value(mean), as_value(spread / math.sqrt(count)), count


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorDraws(_DrawsAlongFirstAxis):
    """Draws along the first axis from the distribution of an unknown number, as of a posterior.

    The estimate is their mean, its standard error their standard deviation, and an interval lies
    between two of their quantiles.
    """

    def summary(self) -> tuple[Value, Value, int]:
        """Mean, standard deviation (0 of a divergence), and number of draws."""
        mean = self.values.mean(axis=0)
        with np.errstate(invalid="ignore"):
            spread = np.where(np.isfinite(mean), self.values.std(axis=0, ddof=1), 0.0)
        return as_value(mean), as_value(spread), self.values.shape[0]

    def quantiles(self, level: float) -> tuple[Value, Value]:
        """The quantiles that leave out equal shares on both sides, as deviations from the mean."""
        mean = self.values.mean(axis=0)
        with np.errstate(invalid="ignore"):
            ends = np.quantile(self.values, [0.5 - level / 2, 0.5 + level / 2], axis=0) - mean
        low, high = np.where(np.isfinite(mean), ends, 0.0)
        return as_value(low), as_value(high)


def _deepened(draws: FloatArray, depth: int) -> FloatArray:
    """Draws with further axes of length one after the first, so that points broadcast."""
    count, *shape = draws.shape
    return draws.reshape(count, *(1 for _ in range(depth - draws.ndim)), *shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class _KnownError:
    """A standard error without its draws."""

    standard_error: Value
    n_draws: int
    key: Hashable = field(default_factory=object)

    def summary(self) -> tuple[Value, Value, int]:
        return 0.0, self.standard_error, self.n_draws

    def item(self, index: Any) -> _KnownError:
        error = as_value(np.asarray(self.standard_error)[index])
        return _KnownError(standard_error=error, n_draws=self.n_draws)

    def combined(self, scale: Value, other: _KnownError, other_scale: Value) -> _KnownError:
        with np.errstate(invalid="ignore"):
            parts = (scale * self.standard_error, other_scale * other.standard_error)
        error = as_value(np.abs(sum(np.where(np.isnan(part), 0.0, part) for part in parts)))
        return _KnownError(standard_error=error, n_draws=self.n_draws, key=self.key)


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate(ByValue):
    """An estimate with its standard error, 0 of a divergence; numbers, or arrays of one shape.

    Estimates add, subtract, multiply and divide, with numbers and with each other. Two estimates
    from the same draws (of one simulation or decomposition) are combined draw by draw, so that the
    standard error of their difference is that of the paired differences; others are independent.
    Products and quotients have standard errors to first order.

    Raises
    ------
    ValueError
        If `standard_error` is negative, or `n_draws` is not a whole number of at least 1.
    TypeError
        If `value` or `standard_error` is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> e = dt.Estimate(value=1.2342, standard_error=0.0432, n_draws=10)
    >>> str(e), f"{e:.3g}", float(e)
    ('1.234 ± 0.043', '1.23 ± 0.04', 1.2342)
    """

    value: Value  # the estimate itself
    standard_error: Value  # of the value
    n_draws: int  # one more than the degrees of freedom of the standard error
    sources: tuple[Draws, ...] = field(default=(), repr=False, compare=False)  # independent draws
    mean_square: float | None = field(default=None, repr=False, compare=False)  # of a variance

    def __post_init__(self) -> None:
        for name in ("value", "standard_error"):
            if (kind := np.asarray(number := getattr(self, name)).dtype.kind) not in "biuf":
                got = repr(number) if kind == "U" else type(number).__name__
                raise TypeError(f"{name} must be a number or an array of numbers, got {got}")
        if not np.all(np.asarray(self.standard_error) >= 0):
            raise ValueError(f"standard_error must be in [0, inf], got {self.standard_error!r}")
        whole_number("n_draws", self.n_draws, 1)
        if not self.sources:
            known = _KnownError(standard_error=self.standard_error, n_draws=self.n_draws)
            object.__setattr__(self, "sources", (known,))

    @staticmethod
    def of(draws: npt.ArrayLike, key: Hashable = None) -> Estimate:
        """Return the mean of independent draws, with its standard error.

        Parameters
        ----------
        draws : array_like
            Draws along the first axis; further axes are points.
        key : hashable or None, default: None
            Identifier of the draws: estimates of equal keys are combined draw by draw.

        Returns
        -------
        Estimate
            A number, or an array over the points.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> dt.Estimate.of([1.0, 2.0, 3.0])
        Estimate(value=2.0, standard_error=0.5773502691896258, n_draws=3)
        """
        values = np.asarray(draws, dtype=np.float64)
        return estimate_of(MeanOfDraws(values=values, key=object() if key is None else key))

    def confidence_interval(self, confidence: float = CONFIDENCE) -> ConfidenceInterval:
        """Return the interval that covers the expected value with a given probability.

        It is symmetric, by Student's t, except for variance components, and for estimates from
        `PosteriorDraws`, whose quantiles it takes. A component is a mean
        square A less a correction; A is taken as a scaled chi-square variable with ν = 2A²/(cs)²
        degrees of freedom, at least 1, where s is the standard error and c the ratio of the
        quantiles of Student's t and of the normal distribution.

        Parameters
        ----------
        confidence : float, default: 0.9
            The probability, in (0, 1).

        Returns
        -------
        ConfidenceInterval
            Its ends `low` and `high`: numbers, or arrays of the shape of the estimate.

        Raises
        ------
        ValueError
            If `confidence` is not a number in (0, 1).

        Examples
        --------
        >>> import doubletrouble as dt
        >>> estimate = dt.Estimate(value=1.0, standard_error=0.1, n_draws=10)
        >>> low, high = estimate.confidence_interval()
        >>> round(low, 3), round(high, 3), round(estimate.confidence_interval(0.99).low, 3)
        (0.817, 1.183, 0.675)
        """
        check_level("confidence", confidence)
        if len(self.sources) == 1 and isinstance(self.sources[0], PosteriorDraws):
            low, high = self.sources[0].quantiles(confidence)
            return ConfidenceInterval(self.value + low, self.value + high)
        from scipy.special import chdtri, ndtri, stdtrit

        few = self.n_draws < 2  # one draw does not determine its spread: the error is infinite
        quantile = 1.0 if few else float(stdtrit(self.n_draws - 1, 0.5 + confidence / 2))
        reach = quantile * self.standard_error
        square = self.mean_square
        if square is not None and square > 0 and 0 < reach < math.inf:
            freedom = 2 * (square * float(ndtri(0.5 + confidence / 2)) / float(reach)) ** 2
            if freedom < _MOST_FREEDOM:
                freedom = max(1.0, freedom)
                low, high = (
                    square * freedom / float(chdtri(freedom, 0.5 - side * confidence / 2))
                    for side in (1, -1)
                )
                correction = self.value - square
                return ConfidenceInterval(correction + low, correction + high)
        return ConfidenceInterval(self.value - reach, self.value + reach)

    def z_score(self, expected: Value) -> Value:
        """Return the distance from an expected value in standard errors.

        Of a simulation against the theory, it contains the deviation of finite dimensions, which
        the standard error does not: see `simulate`.

        Parameters
        ----------
        expected : float or numpy.ndarray
            The expected value.

        Returns
        -------
        float or numpy.ndarray
            (value - expected)/standard_error; 0 where value and expected value are equal.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> dt.Estimate(value=1.0, standard_error=0.25, n_draws=10).z_score(0.5)
        2.0
        """
        off = np.asarray(self.value - expected)
        with np.errstate(divide="ignore", invalid="ignore"):
            return as_value(np.where(off == 0, 0.0, off / np.asarray(self.standard_error)))

    # --- arithmetic ---

    def _combined(
        self, other: Value | Estimate, value: Value, slope: Value, other_slope: Value
    ) -> Estimate:
        """A function of two estimates, or of one and a number, to first order in deviations."""
        if shape := np.shape(value):  # also where this one is a number, and the other an array
            slope, other_slope = np.broadcast_to(slope, shape), np.broadcast_to(other_slope, shape)
        sources = {draws.key: draws.combined(slope, draws, 0.0) for draws in self.sources}
        for draws in other.sources if isinstance(other, Estimate) else ():
            if draws.key in sources:
                sources[draws.key] = sources[draws.key].combined(1.0, draws, other_slope)
            else:
                sources[draws.key] = draws.combined(other_slope, draws, 0.0)
        errors, counts = [], []
        for draws in sources.values():
            _, error, count = draws.summary()
            errors.append(np.asarray(error))
            counts.append(count)
        variance = np.where(np.isinf(value), 0.0, sum(error**2 for error in errors))
        shape = np.broadcast_shapes(np.shape(value), np.shape(variance))
        return Estimate(
            value=as_value(np.broadcast_to(value, shape)),
            standard_error=as_value(np.broadcast_to(np.sqrt(variance), shape)),
            n_draws=_welch(errors, counts),
            sources=tuple(sources.values()),
        )

    def __add__(self, other: Value | Estimate) -> Estimate:
        b = _operand(other)
        return NotImplemented if b is None else self._combined(other, self.value + b, 1.0, 1.0)

    def __sub__(self, other: Value | Estimate) -> Estimate:
        b = _operand(other)
        return NotImplemented if b is None else self._combined(other, self.value - b, 1.0, -1.0)

    def __rsub__(self, other: Value | Estimate) -> Estimate:
        b = _operand(other)
        return NotImplemented if b is None else self._combined(other, b - self.value, -1.0, 1.0)

    def __mul__(self, other: Value | Estimate) -> Estimate:
        a, b = self.value, _operand(other)
        return NotImplemented if b is None else self._combined(other, a * b, b, a)

    def __truediv__(self, other: Value | Estimate) -> Estimate:
        a, b = self.value, _operand(other)
        return NotImplemented if b is None else self._combined(other, a / b, 1 / b, -a / b**2)

    def __rtruediv__(self, other: Value | Estimate) -> Estimate:
        a, b = self.value, _operand(other)
        return NotImplemented if b is None else self._combined(other, b / a, -b / a**2, 1 / a)

    def __neg__(self) -> Estimate:
        return self._combined(0.0, -self.value, -1.0, 0.0)

    __radd__ = __add__
    __rmul__ = __mul__
    __array_ufunc__ = None  # array + estimate is left to the estimate

    def __float__(self) -> float:
        if np.ndim(self.value):
            raise TypeError(f"estimate must be one number, got shape {np.shape(self.value)}")
        return float(self.value)

    def __format__(self, spec: str) -> str:
        if np.ndim(self.value):
            raise TypeError(f"estimate must be one number, got shape {np.shape(self.value)}")
        match = _FORMAT.fullmatch(spec)
        value, error = float(self.value), float(self.standard_error)
        if match is None:  # fixed or scientific, for both alike
            return f"{format(value, spec)} ± {format(error, spec)}"
        sign = "" if value < 0 or math.isnan(value) else match["sign"]
        text = sign + with_error(value, error, int(match["digits"] or 0))
        return format(text, match["pad"] + match["width"])

    def __repr__(self) -> str:
        """The numbers on one line; of arrays, their shape and range."""
        value, error = (range_of(x) for x in (self.value, self.standard_error))
        at = f"shape={self.shape}, " if self.shape else ""
        return f"Estimate({at}value={value}, standard_error={error}, n_draws={self.n_draws})"

    def __str__(self) -> str:
        """Value ± standard error, with matching digits; of long arrays, the first and last ones."""
        if not np.ndim(self.value):
            return format(self, "")
        pairs = np.stack(np.broadcast_arrays(self.value, self.standard_error), axis=-1)
        texts = np.empty(pairs.shape[:-1], dtype=object)
        for index in np.ndindex(texts.shape):
            value, error = map(float, pairs[index])
            texts[index] = with_error(value, error)
        return np.array2string(
            texts, formatter={"all": str}, separator=", ", threshold=ROWS, edgeitems=3
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays; () for a number."""
        return np.shape(self.value)

    def __getitem__(self, index: Any) -> Estimate:
        """Some of the points of an array of estimates."""
        if not np.ndim(self.value):
            raise TypeError("an Estimate must be an array to have items, got one number")
        sources: list[Any] = list(self.sources)
        return Estimate(
            value=as_value(np.asarray(self.value)[index]),
            standard_error=as_value(np.asarray(self.standard_error)[index]),
            n_draws=self.n_draws,
            sources=tuple(source.item(index) for source in sources),
        )

    def __len__(self) -> int:
        return len(np.asarray(self.value))


def estimate_of(draws: Draws, mean_square: float | None = None) -> Estimate:
    """The estimate from some draws; `mean_square` is that of a variance component."""
    value, error, count = draws.summary()
    return Estimate(
        value=value,
        standard_error=error,
        n_draws=count,
        sources=(draws,),
        mean_square=mean_square,
    )


_MOST_FREEDOM = 1e6  # beyond it the chi-square distribution is normal


def _operand(other: Value | Estimate) -> Value | None:
    """The value of an estimate or a number; None for anything else."""
    if isinstance(other, Estimate):
        return other.value
    return other if isinstance(other, int | float | np.ndarray | np.number) else None


def _welch(errors: Sequence[FloatArray], counts: Sequence[int]) -> int:
    """Degrees of freedom plus one of a sum of independent estimates (Welch, Satterthwaite)."""
    if len(errors) == 1:
        return counts[0]
    with np.errstate(all="ignore"):
        variance = sum(error**2 for error in errors)
        shares = sum(
            np.square(error**2 / variance) / max(count - 1, 1)
            for error, count in zip(errors, counts, strict=True)
        )
        freedom = float(np.min(1 / np.asarray(shares)))
    return 1 + max(1, math.floor(freedom + 1e-9)) if math.isfinite(freedom) else min(counts)


_FORMAT = re.compile(
    r"(?P<pad>(?:.?[<>^])?)(?P<sign>[+ ]?)(?P<width>\d*)(?:\.(?P<digits>[1-9]\d?))?g?"
)


# --- statistics of a two-way table of draws ---


class Variances(NamedTuple):
    """Contributions to the variance of a statistic; NaN stands for too few draws, or points."""

    data: float  # the draw of data sets
    init: float  # the draw of initializations that data sets share
    test: float  # the draw of test points; 0 where these are fixed

    @property
    def total(self) -> float:
        """Their sum."""
        return sum(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistic:
    """A mean over test points, and its values with a data set or an initialization left out.

    Entry [0, 0] of `table` is the statistic itself; row d leaves out the d-th data set, column k
    the k-th initialization. Where initializations are not shared by data sets there is one column.
    NaN marks entries with too few draws. The standard error is derived in
    `doubletrouble.learners._components`. Statistics of an equal `key` are of the same draws:
    `Estimate` combines them entry by entry.
    """

    table: FloatArray  # (1 + D, 1 + K), or (1 + D, 1)
    points: FloatArray  # (H, T): at each test point, for H = 2 halves of the data sets, or 1, or 0
    key: Hashable

    def variances(self) -> Variances:
        """The contributions of data sets, initializations and test points to its variance."""
        z = self.table
        D, K = z.shape[0] - 1, z.shape[1] - 1
        data, init = z[1:, :1] - z[0, 0], z[:1, 1:] - z[0, 0]
        V_d, extra = _jackknife(data, D) if D > 1 else math.nan, 0.0
        if K:
            V_dk = _jackknife(z[1:, 1:] - z[0, 0] - data - init, D, K)
            extra = float(np.maximum(_jackknife(init, K) - V_dk, 0.0))  # keeps NaN
        return Variances(data=V_d, init=extra, test=_variance_of_points(self.points))

    def summary(self) -> tuple[float, float, int]:
        """The statistic, its standard error (inf for too few draws), and a number of draws.

        The number is one more than the degrees of freedom of the standard error: those of the data
        sets, initializations and test points, weighted by their variances (Satterthwaite).
        """
        value, (D, K) = float(self.table[0, 0]), (n - 1 for n in self.table.shape)
        parts = self.variances()
        variance = parts.total
        if math.isnan(variance):
            return value, math.inf, D
        sources = zip(parts, (D - 1, K - 1, self.points.shape[-1] - 1), strict=True)
        inverse = sum((V / variance) ** 2 / freedom for V, freedom in sources if V)
        freedom = 1 / inverse if inverse else D - 1
        return value, math.sqrt(variance), 1 + max(1, math.floor(freedom + 1e-9))

    def combined(self, scale: Value, other: Statistic, other_scale: Value) -> Statistic:
        """A linear combination with another statistic of the same draws.

        A table of one column, of a learner without randomness, broadcasts over the initializations
        of the other. ValueError for arrays: a statistic is one number.
        """
        if shape := np.shape(scale) or np.shape(other_scale):
            raise ValueError(
                "an estimate of a decomposition must be combined with one number, got an array of "
                f"shape {shape}"
            )
        table = scale * self.table + other_scale * other.table
        points = scale * self.points + other_scale * other.points
        return Statistic(table=table, points=points, key=self.key)


def draws_digest(predictions: npt.NDArray[np.generic]) -> str:
    """A digest of predictions, which identifies their draws.

    >>> zeros = np.zeros((2, 3))
    >>> draws_digest(zeros) == draws_digest(zeros.copy()) != draws_digest(zeros.T)
    True
    """
    hashed = hashlib.blake2b(repr((predictions.shape, predictions.dtype.str)).encode())
    for block in predictions:
        hashed.update(np.ascontiguousarray(block).reshape(-1).data)
    return hashed.hexdigest()


def _variance_of_points(points: FloatArray) -> float:
    """The variance of a mean over test points, by the covariance of two halves, or of one."""
    T: int = points.shape[-1]
    if not len(points):
        return 0.0
    if T == 1:
        return math.nan
    centred = points - points.mean(axis=1, keepdims=True)
    return max(0.0, float(np.sum(centred[0] * centred[-1])) / (T - 1) / T)


def _jackknife(differences: FloatArray, *sizes: int) -> float:
    """The jackknife variance, from the differences that leaving out one makes."""
    return math.prod((n - 1) / n for n in sizes) * float(np.sum(differences**2))
