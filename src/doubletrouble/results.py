"""Results: errors by cause, and estimates with standard errors.

A part is a Python float, an array of the shape the problem broadcasts to, or an `Estimate`. The
types of all other results are importable from this module, too.
"""

from __future__ import annotations  # help() then shows the alias Value

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import (
    ROWS,
    SYMBOLS,
    Column,
    Content,
    Quantity,
    Shown,
    Table,
    point_table,
    quantity_table,
)
from doubletrouble._numbers import percent, plain, whole, with_error
from doubletrouble.errors import import_name, is_available
from doubletrouble.parameters import FloatArray, Value, common_shape, shown, whole_number

_RESULTS = {
    "advice": "FrontierExponents MarginalValue ScalingFrontier",
    "convex": "OrderParameters",
    "decomposition": "Decomposition Design LearnerDecomposition RepeatPlan",
    "diagnosis": "Diagnosis LearnerComparison LearningCurve",
    "estimators": "RidgePath",
    "forecasting": "Forecast ForecastCheck ForecastChecks LabelNoise",
    "networks": "LazyCurve LazyRun LazySplit",
    "options": "Advice Option",
    "runs": "Cell",
    "simulation": "CommitteeSimulation ConvexSimulation Simulation",
    "sweep": "SweepResult SweepRow SweepStatus",
    "theory": "Calibration Exponents PartExponents",
}
"""The results of other packages, imported from there at their first use."""

_HOMES = {
    name: f"doubletrouble.{package}"
    for package, names in _RESULTS.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_name(name, _HOMES[name])


def __dir__() -> list[str]:
    kinds = (_ByValue, Shown, ConfidenceInterval)
    own = [k for k, v in globals().items() if isinstance(v, type) and issubclass(v, kinds)]
    others = [name for name, home in _HOMES.items() if is_available(home)]
    return sorted([*(name for name in own if name[0].isupper()), *others])


Term = TypeVar("Term", bound="Value | Estimate")
Choice = TypeVar("Choice")

NOISE_FLOOR = "noise floor"
"""The name of the part `bayes` where it is printed."""

_CAUSES = {  # in sentences
    "noise": "variance by noise in the training labels",
    "initialization": "variance over initializations",
    "sampling": "variance over training samples",
    "resampling": "variance over resampled members",
    "bayes": "the noise floor of test labels",
}

EXTRAPOLATED = "extrapolated"
"""The status of an error beyond what was measured."""

_SIGNIFICANT = 2.0  # standard errors
_FEW_POINTS = 25  # estimates at more are drawn as curves with bands


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _ByValue:
    """Compare by value, arrays included."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        names = [f.name for f in fields(self) if f.compare]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) if isinstance(a, _ByValue) else np.array_equal(a, b)


# --- estimates -----------------------------------------------------------------------------------


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
        return _plain(mean), _plain(spread / math.sqrt(count)), count


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
        return _plain(mean), _plain(spread), self.values.shape[0]

    def quantiles(self, level: float) -> tuple[Value, Value]:
        """The quantiles that leave out equal shares on both sides, as deviations from the mean."""
        mean = self.values.mean(axis=0)
        with np.errstate(invalid="ignore"):
            ends = np.quantile(self.values, [0.5 - level / 2, 0.5 + level / 2], axis=0) - mean
        low, high = np.where(np.isfinite(mean), ends, 0.0)
        return _plain(low), _plain(high)


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
        error = _plain(np.asarray(self.standard_error)[index])
        return _KnownError(standard_error=error, n_draws=self.n_draws)

    def combined(self, scale: Value, other: _KnownError, other_scale: Value) -> _KnownError:
        with np.errstate(invalid="ignore"):
            parts = (scale * self.standard_error, other_scale * other.standard_error)
        error = _plain(np.abs(sum(np.where(np.isnan(part), 0.0, part) for part in parts)))
        return _KnownError(standard_error=error, n_draws=self.n_draws, key=self.key)


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate(_ByValue):
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

    @classmethod
    def of(cls, draws: npt.ArrayLike, key: Hashable = None) -> Self:
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
        return cls._of_draws(MeanOfDraws(values=values, key=object() if key is None else key))

    @classmethod
    def _of_draws(cls, draws: Draws, mean_square: float | None = None) -> Self:
        """The estimate from some draws; `mean_square` is that of a variance component."""
        value, error, count = draws.summary()
        return cls(
            value=value,
            standard_error=error,
            n_draws=count,
            sources=(draws,),
            mean_square=mean_square,
        )

    def confidence_interval(self, confidence: float = 0.9) -> ConfidenceInterval:
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
            return _plain(np.where(off == 0, 0.0, off / np.asarray(self.standard_error)))

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
            value=_plain(np.broadcast_to(value, shape)),
            standard_error=_plain(np.broadcast_to(np.sqrt(variance), shape)),
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
            value=_plain(np.asarray(self.value)[index]),
            standard_error=_plain(np.asarray(self.standard_error)[index]),
            n_draws=self.n_draws,
            sources=tuple(source.item(index) for source in sources),
        )

    def __len__(self) -> int:
        return len(np.asarray(self.value))


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


def check_level(name: str, level: float) -> None:
    """Raise ValueError for a confidence level outside (0, 1)."""
    if isinstance(level, bool) or not isinstance(level, float | int) or not 0 < level < 1:
        raise ValueError(f"{name} must be a number in (0, 1), got {level!r}")


def _plain(array: Any) -> Value:
    """A Python float for a scalar."""
    return array if np.ndim(array) else float(array)


# --- errors by cause -----------------------------------------------------------------------------


def _part() -> Any:
    """A part of an error, None where it is not identified, or another value that may be None."""
    return field(default=None)


def _about() -> Any:
    """A field that describes the parts."""
    return field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Terms(_ByValue, Shown, Generic[Term]):
    """Parts that add up to a total; they subtract, print as a table, plot, and convert to pandas.

    A part that a design does not identify is None, and `reasons` has the reason by its name.
    """

    coordinates: Mapping[str, Value] = _about()  # the parameters that vary along the axes
    includes: Mapping[str, str] = _about()  # further causes that a part contains
    status: Mapping[str, str | tuple[str, ...]] = _about()  # how total and parts are known
    reasons: Mapping[str, str] = _about()  # why a part, or the total, is not identified
    separate_total: Term | None = field(  # the total, where it is not the sum of the parts
        default=None, repr=False, compare=False
    )
    is_difference: bool = field(default=False, repr=False, compare=False)  # of two errors
    label: str = field(default="squared error", repr=False, compare=False)  # the name of the error

    def __post_init__(self) -> None:
        arrays = {}
        for name in self.names():
            part = getattr(self, name)
            if part is None or isinstance(part, float):
                continue
            if not isinstance(part, int | np.ndarray | np.number | Estimate):
                raise TypeError(
                    f"{name} must be a number, an array, an Estimate or None, got {shown(part)}"
                )
            arrays[name] = np.shape(part.value if isinstance(part, Estimate) else part)
        common_shape(arrays)

    @classmethod
    def _of_total(cls, total: Term, reason: str, **about: Any) -> Self:
        """The total alone; `reason` is why its parts are not identified."""
        reasons = {name: reason for name in cls.names() if name != "resampling"}
        return cls(separate_total=total, reasons=reasons, **about)

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """Return the names of all parts.

        Returns
        -------
        tuple of str
            The names, in the order of the parts.
        """
        return tuple(f.name for f in fields(cls) if f.compare)  # others describe the parts

    @property
    def parts(self) -> dict[str, Term]:
        """Every identified part by its name; `resampling` only where members resample."""
        parts = {name: getattr(self, name) for name in self.names()}
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def total(self) -> Term:
        """The sum of all parts; NaN where the design does not identify it (see `reasons`)."""
        if self.separate_total is not None:
            return self.separate_total
        parts = [] if "total" in self.reasons else list(self.parts.values())
        with np.errstate(over="ignore"):  # overflow is inf
            total: Term = sum(parts[1:], start=parts[0]) if parts else math.nan  # type: ignore
        return total

    def __sub__(self, other: object) -> Self:
        """The difference of two errors, part by part; estimates of the same draws are paired."""
        if not isinstance(other, _Terms) or self.names() != other.names():
            return NotImplemented
        _check_rows(self, other)
        if self.label != other.label:
            raise ValueError(
                f"errors must be of the same measure, got {self.label} and {other.label}"
            )
        coordinates = self._common_coordinates(other)
        parts: dict[str, Any] = {}
        reasons = {**other.reasons, **self.reasons}
        total: Any = self.total
        with np.errstate(invalid="ignore"):  # of infinite parts, NaN
            for name in self.names():
                mine, theirs = getattr(self, name), getattr(other, name)
                if name == "resampling" and name in {*self.parts, *other.parts}:
                    mine, theirs = (0.0 if part is None else part for part in (mine, theirs))
                if mine is None or theirs is None:
                    continue
                if self.includes.get(name) == other.includes.get(name):
                    parts[name] = mine - theirs
                else:
                    reasons[name] = f"{name} contains other causes in one error than in the other"
            separate = any(terms.separate_total is not None for terms in (self, other))
            if separate or not parts.keys() >= {*self.parts, *other.parts}:
                parts["separate_total"] = total - other.total
        return replace(
            self,
            **{"separate_total": None, **dict.fromkeys(self.names()), **parts},
            reasons=reasons,
            coordinates=coordinates,
            includes={name: self.includes[name] for name in self.includes if name in parts},
            status=_together(self.status, other.status),
            is_difference=True,
        )

    def _common_coordinates(self, other: _Terms[Any]) -> dict[str, Value]:
        """The parameters of both errors; ValueError for points that are not the same ones."""
        shapes = self.shape, other.shape
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(
                f"errors must have shapes that broadcast, got {shapes[0]} and {shapes[1]}"
            ) from None
        a, b = self.coordinates, other.coordinates
        coordinates = common_coordinates("errors", a, b)
        for axis in range(-min(map(len, shapes)), 0):
            if min(shape[axis] for shape in shapes) > 1:
                mine, theirs = ({k for k in c if _length(c[k], axis) > 1} for c in (a, b))
                if mine and theirs and not mine & theirs:
                    raise ValueError(
                        "errors must vary by the same parameter along each axis, got "
                        f"{', '.join(sorted(mine))} and {', '.join(sorted(theirs))}"
                    )
        return coordinates

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays; () for numbers."""
        return np.broadcast_shapes(*(np.shape(_number(part)) for part in self._columns().values()))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, _Terms):
            return False
        if self.includes != other.includes:
            return False
        mine, theirs = self._columns(), other._columns()
        return mine.keys() == theirs.keys() and all(_same(mine[k], theirs[k]) for k in mine)

    __hash__ = None  # type: ignore[assignment]

    @property
    def extrapolated(self) -> bool | npt.NDArray[np.bool_]:
        """Whether the total is beyond what was measured; an array for several points."""
        known = self.status.get("total", "")
        if isinstance(known, str):
            beyond = known == EXTRAPOLATED
            return np.full(self.shape, beyond) if self.shape else beyond
        return np.array([one == EXTRAPOLATED for one in known]).reshape(self.shape)

    # --- presentation ---

    def _columns(self) -> dict[str, Term]:
        """The parts and the total that are identified."""
        parts = self.parts
        if "total" not in self.reasons:
            parts["total"] = self.total
        return parts

    def _coordinates(self) -> dict[str, Value]:
        """The varying parameters; `problem_` is prefixed where a part has the same name."""
        taken = {*self.names(), "total"}
        return {f"problem_{k}" if k in taken else k: v for k, v in self.coordinates.items()}

    def _label(self, name: str) -> str:
        """The name of a part, with the causes it includes."""
        label = printed_name(name).replace("_", " × ")
        return f"{label} + {self.includes[name]}" if name in self.includes else label

    def _part_table(self, confidence: float | None = None) -> Table:
        """A row for each part of one point, and for the total."""
        columns = self._columns()
        total = float(_number(columns["total"])) if "total" in columns else math.nan
        split = 0 < total < math.inf and not self.is_difference
        estimated = any(isinstance(part, Estimate) for part in columns.values())
        rows = [
            [
                name,
                self._label(name),
                part,
                float(_number(part)) / total if split and name != "total" else None,
                str(self.status.get(name, "")),
                self.includes.get(name, ""),
            ]
            for name, part in columns.items()
        ]
        return Table(
            name="parts",
            columns=(
                Column(name="part", form="words", printed=False),
                Column(name="label", heading="part", form="words", exported=False),
                Column(
                    name="error",
                    heading="error ± s.e." if estimated and confidence is None else "error",
                    interval=confidence is not None,
                ),
                Column(name="share", form="share"),
                Column(name="status", heading="how it is known", form="words"),
                Column(name="includes", form="words", printed=False),
            ),
            rows=rows,
            confidence=confidence,
            parts={} if self.is_difference else dict(enumerate(columns)),
        )

    def _point_table(self, confidence: float | None = None) -> Table:
        """A row for each point: the varying parameters, every part, and the total."""
        shape = self.shape
        columns: list[tuple[Column, Any]] = [
            (
                Column(
                    name=name,
                    heading=self._label(name),
                    interval=confidence is not None and name == "total",
                    without_error=name != "total",
                ),
                part,
            )
            for name, part in self._columns().items()
        ]
        heading = "how it is known" if len(self.status) == 1 else "the total is"
        for name, how in self.status.items():
            column = Column(name=f"{name}_status", form="words", printed=False)
            if name == "total":
                column = Column(name="status", heading=heading, form="words")
            known = np.array(how, dtype=object)
            columns.append((column, known.reshape(shape) if known.shape else known))
        return point_table("points", shape, self._coordinates(), columns, confidence=confidence)

    def _content(self) -> Content:
        table = self._point_table() if self.shape else self._part_table()
        return Content(tables=[table], verdict=self._verdict())

    def _verdict(self) -> str:
        """The largest part of the total, or the point of least total."""
        if "total" in self.reasons:
            return ""
        total, shape = self.total, self.shape
        if self.is_difference and not shape:
            if not isinstance(total, Estimate):
                return f"The difference of the totals is {plain(float(total))}."
            text = f"The difference of the totals is {total}"
            if not total.standard_error:
                return f"{text}."
            return f"{text}, {abs(float(total.z_score(0.0))):.1f} standard errors."
        values = np.broadcast_to(_number(total), shape)
        if shape and self.is_difference:
            return (
                f"The differences of the totals are {plain(values.min())} to {plain(values.max())}."
            )
        if shape:
            if not values.size or np.isnan(values).all():
                return ""
            k = int(np.nanargmin(values))
            where = [
                f"{SYMBOLS.get(name, name.replace('_', ' '))} = "
                f"{whole(float(np.broadcast_to(v, shape).flat[k]))}"
                for name, v in self._coordinates().items()
            ]
            place = ", ".join(where) or f"point {k}"
            least = np.unravel_index(k, shape)
            if isinstance(total, Estimate) and np.ndim(total.value):
                excess = (total - total[least]).z_score(0.0)
                if values.size > 1 and not np.any(np.asarray(excess) > _SIGNIFICANT):
                    return "No total is larger than another one by two standard errors."
                return f"The least total is {total[least]}, at {place}."
            return f"The least total is {plain(float(values.flat[k]))}, at {place}."
        number, parts = float(values), {n: float(_number(p)) for n, p in self.parts.items()}
        infinite = [self._label(name) for name, part in parts.items() if math.isinf(part)]
        if infinite:
            return f"The error is infinite: {', '.join(infinite)}."
        if not parts or not 0 < number < math.inf:
            return f"The total is {total if isinstance(total, Estimate) else plain(number)}."
        largest = max(parts, key=parts.__getitem__)
        cause = self._label(largest)
        if largest not in self.includes:
            cause = _CAUSES.get(largest, cause)
        return f"{percent(parts[largest] / number)} of the error is {cause}."

    def _picture(self) -> Any:  # its kind depends on the shape
        shape = self.shape
        if len(shape) > 2:
            raise ValueError(f"plot must be of at most two axes, got shape {shape}")
        columns, label = self._columns(), self.label
        if not shape:
            bars = [_plots.Bar(label=self._label(n), value=p, part=n) for n, p in columns.items()]
            return _plots.Bars(rows=bars, xlabel=label, signed=self.is_difference)
        varying: dict[str, FloatArray] = {
            k: np.broadcast_to(v, shape) for k, v in self._coordinates().items()
        }
        if len(shape) == 2:
            return self._family(varying)
        varying = {k: v for k, v in varying.items() if _varies(v)} or varying
        name, x = next(iter(varying.items()), ("point", np.arange(shape[0])))
        lines = [
            _plots.Curve(
                label=self._label(part),
                y=_broadcast(value, shape),
                part=part,
                points=isinstance(value, Estimate) and shape[0] <= _FEW_POINTS,
                extrapolated=np.broadcast_to(self.extrapolated, shape),
            )
            for part, value in columns.items()
        ]
        title = " and ".join(varying or [name]).replace("_", " ")
        signed = self.is_difference
        return _plots.Curves(x=x, xlabel=title, lines=lines, ylabel=label, signed=signed)

    def _family(self, varying: Mapping[str, FloatArray]) -> _plots.CurveFamily:
        """The totals of a two-dimensional array, a curve for each row."""
        rows, columns = self.shape
        along = {k: v[0] for k, v in varying.items() if np.all(v == v[0]) and _varies(v[0])}
        across = {
            k: v[:, 0] for k, v in varying.items() if np.all(v == v[:, :1]) and k not in along
        }
        name, x = next(iter(along.items()), ("point", np.arange(columns)))
        labels = [
            ", ".join(f"{k.replace('_', ' ')} = {whole(float(v[row]))}" for k, v in across.items())
            for row in range(rows)
        ]
        levels = next(iter(across.items()), None) if len(across) == 1 else None
        return _plots.CurveFamily(
            x=x,
            xlabel=name.replace("_", " "),
            names=[label or str(row) for row, label in enumerate(labels)],
            totals=_broadcast(self.total, self.shape),
            ylabel=f"total {self.label}",
            levels=None if levels is None else levels[1],
            levels_label="" if levels is None else levels[0].replace("_", " "),
            extrapolated=np.broadcast_to(self.extrapolated, self.shape),
        )


def _varies(values: FloatArray) -> bool:
    return values.size == 1 or bool(np.any(values != values[0]))


def _broadcast(part: Value | Estimate, shape: tuple[int, ...]) -> FloatArray | Estimate:
    """A part as an array over the points."""
    if isinstance(part, Estimate):
        return part if np.shape(part.value) == shape else part + np.zeros(shape)
    return np.broadcast_to(part, shape)


def _length(values: Value, axis: int) -> int:
    """The length of an array along an axis counted from the last one."""
    shape = np.shape(values)
    return shape[axis] if len(shape) >= -axis else 1


def _check_rows(a: _Terms[Any], b: _Terms[Any]) -> None:
    """Raise ValueError for errors by row beside a mean over rows, or of other rows."""
    keys = [terms.rows_key if isinstance(terms, RowErrors) else None for terms in (a, b)]
    if keys[0] != keys[1]:
        got = "errors by row and one over all rows" if None in keys else "two different test sets"
        raise ValueError(f"errors must be of the same rows, got {got}")


def common_coordinates(
    what: str, a: Mapping[str, Value], b: Mapping[str, Value]
) -> dict[str, Value]:
    """The coordinates of both errors; ValueError for points that differ."""
    for name, value in a.items():
        if not np.array_equal(value, other := b.get(name, value)):
            raise ValueError(
                f"{what} must be of the same {name}, got {_brief(value)} and {_brief(other)} "
                "(a simulation has those realized in sim.problem)"
            )
    return {**b, **a}


def _brief(value: Value) -> str:
    return np.array2string(np.asarray(value), threshold=4, edgeitems=2, precision=4)


def _together(
    a: Mapping[str, str | tuple[str, ...]], b: Mapping[str, str | tuple[str, ...]]
) -> dict[str, str | tuple[str, ...]]:
    """How differences are known, from how both numbers are."""
    both = {name: (how, b[name]) for name, how in a.items() if name in b}
    return {
        name: mine if mine == theirs else f"{mine} and {theirs}"
        for name, (mine, theirs) in both.items()
        if mine == theirs or (isinstance(mine, str) and isinstance(theirs, str))
    }


def printed_name(name: str) -> str:
    """The name of a part in printed tables."""
    return NOISE_FLOOR if name == "bayes" else name


def _number(part: Value | Estimate) -> Value:
    return part.value if isinstance(part, Estimate) else part


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrorTerms(_Terms[Term]):
    """The test error by cause, in the paper's sequential order; the parts add up to `total`.

    Parts are floats, arrays or `Estimate`s; None, with the reason in `reasons`, where the design
    does not identify them. The difference of two errors is taken part by part.

    `resampling` is the variance over the members' choices where they draw samples, or features,
    from a common set: for samples, the variance over each member's choice of its mean over
    features; for a bank of features, the variance over the choice of features from a given bank. It
    is None for other ensembles.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> terms = dt.ErrorTerms(noise=1.0, initialization=0.5, sampling=0.25, bias=0.25, bayes=0.0)
    >>> terms.total, terms.parts["noise"]
    (2.0, 1.0)
    """

    noise: Term = _part()  # label noise of the training set
    initialization: Term = _part()  # the draw of the random features
    sampling: Term = _part()  # the draw of the training inputs
    bias: Term = _part()  # the error of the mean predictor
    bayes: Term = _part()  # label noise of the test set: the noise floor
    resampling: Term = _part()  # the members' own choices


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowErrors(ErrorTerms["FloatArray"]):  # help() shows the alias
    """The error at every row, or test point, by cause; the means are those of `error()`.

    Parts of single rows are unbiased but noisy: they come from few fits. `initialization` is the
    disagreement of seeds, the diversity of an ensemble of them: averaging K removes 1 - 1/K of it.
    """

    index: Sequence[Hashable] = field(default=(), compare=False)  # of the rows of the data
    rows_key: Hashable = field(default="", repr=False, compare=False)  # equal for the same rows

    def _point_table(self, confidence: float | None = None) -> Table:
        table = super()._point_table(confidence)
        columns = [Column(name="row", form="words"), *table.columns[1:]]
        rows = [[index, *row[1:]] for index, row in zip(self.index, table.rows, strict=True)]
        return replace(table, columns=columns, rows=rows, omitted="rows", index="row")

    def _verdict(self) -> str:
        if self.is_difference:
            return super()._verdict()
        total = np.sort(np.asarray(self.total))[::-1]
        count = max(1, len(total) // 10)
        if not total.sum() > 0:
            return ""
        share = total[:count].sum() / total.sum()
        return f"The {count} worst rows have {percent(share)} of the error."

    def worst(self, count: int = 20) -> Any:
        """Return the rows of largest error.

        Parameters
        ----------
        count : int, default: 20
            The number of rows.

        Returns
        -------
        pandas.DataFrame
            These rows of `to_frame`, the largest total first.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return self.to_frame().nlargest(count, "total")

    def plot(self, ax: Any = None, count: int = 20) -> Any:
        """Draw the parts of the rows of largest error, or difference of errors, as bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.
        count : int, default: 20
            The number of rows.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        total = np.asarray(self.total)
        order = np.argsort(-np.abs(total) if self.is_difference else -total)[:count]
        rows = [
            _plots.StackRow(
                label=str(self.index[k]),
                parts={name: float(part[k]) for name, part in self.parts.items()},
                total=float(total[k]),
            )
            for k in order
        ]
        labels = {name: self._label(name) for name in self.parts}
        picture = _plots.Stack(rows=rows, xlabel=self.label, ylabel="row", labels=labels)
        return _plots.draw(picture, ax)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnovaTerms(_Terms[Term]):
    """The test error by cause, main effects and interactions apart [adlam2020].

    In the paper's terms: sampling is `sampling`; initialization is `initialization` +
    `initialization_sampling`; noise is `noise_sampling` + `noise_initialization_sampling`.
    Only the interactions with the initialization diverge at P = N. `resampling` is that of
    `ErrorTerms`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> terms, by_cause = dt.anova(problem), dt.exact_error(problem)
    >>> both = terms.noise_sampling + terms.noise_initialization_sampling
    >>> round(both, 6) == round(by_cause.noise, 6)
    True
    """

    bias: Term = _part()  # the error of the mean predictor
    initialization: Term = _part()  # V_P: the features alone
    sampling: Term = _part()  # V_X: the inputs alone
    initialization_sampling: Term = _part()  # V_PX: features and inputs together
    noise_sampling: Term = _part()  # V_Xε: label noise through the inputs
    noise_initialization_sampling: Term = _part()  # V_PXε: label noise through inputs and features
    bayes: Term = _part()  # label noise of the test set
    resampling: Term = _part()  # the members' own choices


def _psi(symbol: str, tex: str, meaning: str) -> Any:
    return field(metadata={"symbol": symbol, "tex": tex, "meaning": meaning})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PsiTerms(_ByValue, Shown, Generic[Term]):
    """The dimensionless terms of [dascoli2020] Eqs. (12)-(17), and one the paper lacks."""

    psi1: Term = _psi("Ψ₁", r"\Psi_1", "overlap of teacher and student")
    psi2_vanilla: Term = _psi("Ψ₂ᵛ", r"\Psi_2^v", "power of the noise-free student")
    psi3_vanilla: Term = _psi("Ψ₃ᵛ", r"\Psi_3^v", "response to label noise")
    psi2_ensemble: Term = _psi(
        "Ψ₂ᵉ", r"\Psi_2^e", "overlap of two students: same data, fresh features"
    )
    psi3_ensemble: Term = _psi("Ψ₃ᵉ", r"\Psi_3^e", "overlap of their responses to label noise")
    psi2_divide: Term = _psi(
        "Ψ₂ᵈ", r"\Psi_2^d", "overlap of two students: fresh data, fresh features"
    )
    psi2_features: Term = _psi(  # not in the paper
        "Ψ₂ᵖ", r"\Psi_2^p", "overlap of two students: fresh data, same features"
    )

    def _content(self, coordinates: Mapping[str, Value] | None = None) -> Content:
        terms = [
            Quantity(
                name=f.name,
                value=getattr(self, f.name),
                heading=f.metadata["symbol"],
                meaning=f.metadata["meaning"],
            )
            for f in fields(self)
        ]
        return Content(tables=[quantity_table("terms", terms, coordinates)])

    def _picture(self) -> _plots.Bars:
        bars = [
            _plots.Bar(label=f.metadata["symbol"], value=getattr(self, f.name))
            for f in fields(self)
        ]
        if any(np.ndim(_number(getattr(self, f.name))) for f in fields(self)):
            raise ValueError("plot must be of one point, got terms of several")
        return _plots.Bars(rows=bars, xlabel="value")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _WithTerms(_ByValue, Shown):
    """A result with an error by cause, which it shows under a title."""

    def _error(self) -> ErrorTerms[Value]:
        """The error shown."""
        error: ErrorTerms[Value] = self.__dict__["error"]
        return error

    def _picture(self) -> Any:
        error = self._error()
        given = {k: v for k, v in error.coordinates.items() if k != self._solved}
        return replace(error, coordinates=given or error.coordinates)._picture()

    @property
    def _solved(self) -> str:
        """The parameter that is not given."""
        return ""

    def _content_with(self, name: str, value: Value, verdict: str) -> Content:
        """The error's table with the best value of a parameter, which comes first."""
        error = self._error()
        if error.shape:
            varying = {name: value, **error.coordinates}
            return replace(error, coordinates=varying)._content()
        table = error._part_table()
        best = Column(name=name, printed=False)
        rows = [[*row, value] for row in table.rows]
        table = replace(table, columns=[*table.columns, best], rows=rows)
        return Content(tables=[table], verdict=verdict, facts={name: value})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OptimalRidge(_WithTerms):
    """The ridge of least total test error, and the error there.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.optimal_ridge(dt.Problem(features_per_dim=10.0, noise=0.5)))
    part             error  share
    noise           0.117     25%
    initialization  0.0444     9%
    sampling        0.0858    18%
    bias            0.226     48%
    noise floor     0          0%
    total           0.473
    The best ridge is 0.0154. 48% of the error is bias.
    """

    error: ErrorTerms[Value]  # at this ridge
    ridge: Value = _part()  # λ of a `Problem`, 0 and inf are possible; None of a `SpectralProblem`
    gram_ridge: Value = _part()  # of a `SpectralProblem`; None of a `Problem`

    def _content(self) -> Content:
        name, error = self._name, self.error
        verdict = ""
        if not error.shape:
            best = whole(float(np.asarray(self._penalty)))
            verdict = f"The best {name} is {best}. {error._verdict()}"
        return self._content_with(name, self._penalty, verdict)

    @property
    def _solved(self) -> str:
        return self._name

    @property
    def _name(self) -> str:
        """Which of the two ridges it is."""
        return "ridge" if self.gram_ridge is None else "gram_ridge"

    @property
    def _penalty(self) -> Value:
        """The ridge of either kind of problem."""
        penalty: Value = getattr(self, self._name)
        return penalty


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Committee(_WithTerms):
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


def committee_content(error: ErrorTerms[Any], weights: FloatArray, pair_errors: Any) -> Content:
    """The error of a weighted average, and the weight and error of each member."""
    members = range(len(weights))
    own = [pair_errors[k, k] + (0.0 if error.bayes is None else error.bayes) for k in members]
    columns = [Column(name="member", form="count"), Column(name="weight"), Column(name="error")]
    columns += [Column(name=f"error_with_{k + 1}", printed=False) for k in members]
    rows = [[k + 1, weights[k], own[k], *(pair_errors[k, j] for j in members)] for k in members]
    best = min(members, key=lambda k: float(own[k]))
    verdict = error._verdict() if error.parts else ""
    if len(members) > 1:
        verdict += (
            f" Averaged, the error is {plain(float(error.total))}; "
            f"member {best + 1} alone, the best one, has {plain(float(own[best]))}."
        )
    table = Table(name="members", title="Members", columns=columns, rows=rows, omitted="members")
    return Content(tables=[error._part_table(), table], verdict=verdict.strip())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoppingTime(_WithTerms):
    """The time of least total test error along gradient flow, and the error there."""

    time: Value  # 0 and inf are possible
    error: ErrorTerms[Value]  # at this time
    optimal_ridge: OptimalRidge  # the best ridge fit, trained to convergence

    @property
    def _solved(self) -> str:
        return "time"

    def _content(self) -> Content:
        verdict, best, error = "", self.optimal_ridge, self.error
        if not error.shape:
            time, total = (float(np.asarray(value)) for value in (self.time, best.error.total))
            verdict = (
                f"The best time to stop is {whole(time)}, with error "
                f"{plain(float(np.asarray(error.total)))}; trained to the end at the best "
                f"{best._name}, {whole(float(np.asarray(best._penalty)))}, it is {plain(total)}."
            )
        content, shape = self._content_with("time", self.time, verdict), error.shape
        compared = {f"best_{best._name}": best._penalty, "best_ridge_total": best.error.total}
        if not shape:
            return replace(content, facts={**content.facts, **compared})
        (table,) = content.tables
        columns = [
            Column(name=name, heading="total at best ridge", printed="total" in name)
            for name in compared
        ]
        cells = [np.broadcast_to(value, shape).ravel().tolist() for value in compared.values()]
        rows = [
            [*row, *pair] for row, pair in zip(table.rows, zip(*cells, strict=True), strict=True)
        ]
        table = replace(table, columns=[*table.columns, *columns], rows=rows)
        return replace(content, tables=[table])


# --- choices -------------------------------------------------------------------------------------


def by_name(kind: str, known: Mapping[str, Choice], name: str) -> Choice:
    """One of several results; KeyError with all their names for another name."""
    if name not in known:
        raise KeyError(f"{kind} must be one of {', '.join(known) or 'none'}, got {name!r}")
    return known[name]
