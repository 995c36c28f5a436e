"""Results: errors by cause, and estimates with standard errors.

A part is a Python float, an array of the shape the problem broadcasts to, or an `Estimate`. The
types of all other results are importable from this module, too.
"""

from __future__ import annotations  # help() then shows the alias Value

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import import_name, is_available, require
from doubletrouble.palette import BLACK, CAUSES, EFFECTS, HATCHES, YELLOW
from doubletrouble.parameters import FloatArray, Value, whole_number

_RESULTS = {
    "advice": "Advice AdviceOption FrontierExponents MarginalValue ScalingFrontier",
    "convex": "OrderParameters",
    "decomposition": "Decomposition Design LearnerDecomposition RepeatPlan",
    "diagnosis": "Diagnosis DiagnosisAdvice DiagnosisOption LearnerComparison LearningCurve",
    "estimators": "RidgePath",
    "forecasting": "Forecast ForecastAdvice ForecastCheck ForecastChecks ForecastOption "
    "ForecastTerms LabelNoise",
    "networks": "LazyCurve LazyRun LazySplit TrainingOutcome",
    "runs": "Cell",
    "simulation": "CommitteeSimulation ConvexSimulation DrawnEnsemble Simulation",
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
    kinds = (_Result, ConfidenceInterval)
    own = [k for k, v in globals().items() if isinstance(v, type) and issubclass(v, kinds)]
    others = [name for name, home in _HOMES.items() if is_available(home)]
    return sorted([*(name for name in own if name[0].isupper()), *others])


Term = TypeVar("Term", bound="Value | Estimate")
Choice = TypeVar("Choice")

NOISE_FLOOR = "noise floor"
"""The name of the part `bayes` where it is printed."""

_ROWS = 12  # of a printed table: longer ones show their first and last rows


@dataclass(frozen=True, kw_only=True, eq=False)
class _Result:
    """Compare by value, arrays included."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        names = [f.name for f in fields(self) if f.compare]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) if isinstance(a, _Result) else np.array_equal(a, b)


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
class Estimate(_Result):
    """An estimate with its standard error, 0 of a divergence; numbers, or arrays of one shape.

    Estimates add, subtract, multiply and divide, with numbers and with each other. Two estimates
    from the same draws (of one simulation or decomposition) are combined draw by draw, so that the
    standard error of their difference is that of the paired differences; others are independent.
    Products and quotients have standard errors to first order.

    Raises
    ------
    ValueError
        If `standard_error` is negative, or `n_draws` is not a whole number of at least 1.

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
        return _with_error(float(self.value), float(self.standard_error), spec)

    def __str__(self) -> str:
        """Value ± standard error, with matching digits; of arrays, the first and last ones."""
        if not np.ndim(self.value):
            return format(self, "")
        values, errors = np.ravel(self.value), np.ravel(self.standard_error)
        shown = [_with_error(float(v), float(e), "") for v, e in zip(values, errors, strict=True)]
        half = _ROWS // 2
        few = shown if len(shown) <= _ROWS else [*shown[:half], "…", *shown[-half:]]
        return "[" + ", ".join(few) + "]"

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
_DIGITS = 15  # that a float holds


def _with_error(value: float, error: float, spec: str) -> str:
    """A value and its standard error, rounded to the same decimal place.

    The error has two digits, or one where a precision ".3g" in `spec` leaves fewer to the value.

    >>> _with_error(3453.12, 183.0, ""), _with_error(0.012345, 0.00167, ".2g")
    ('3450 ± 180', '0.012 ± 0.002')
    """
    match = _FORMAT.fullmatch(spec)
    if match is None:  # fixed or scientific, for both alike
        return f"{format(value, spec)} ± {format(error, spec)}"
    sign = "" if value < 0 or math.isnan(value) else match["sign"]
    text = sign + _matched(value, error, int(match["digits"] or 0))
    return format(text, match["pad"] + match["width"])


def _matched(value: float, error: float, digits: int) -> str:
    largest = max(abs(value), error)
    certain = error <= largest * 10.0**-_DIGITS  # no digit of the value is in doubt
    if certain or not 1e-300 < largest < math.inf:
        return f"{value:.{digits or 6}g} ± {error:.2g}"
    first = _first_digit(float(f"{error:.1e}"))
    place = first - 1  # of the last digit shown
    if digits and value:
        place = min(max(place, _first_digit(value) - digits + 1), first)
    if 1e-4 <= largest < 1e7 and place <= 3:
        decimals = max(0, -place)
        return f"{round(value, -place):.{decimals}f} ± {round(error, -place):.{decimals}f}"
    power = _first_digit(round(largest, -place))
    scale, decimals = 10.0**-power, max(0, power - place)
    return f"({value * scale:.{decimals}f} ± {error * scale:.{decimals}f})e{power:+03d}"


def _first_digit(number: float) -> int:
    """The decimal place of the first digit."""
    return math.floor(math.log10(abs(number)))


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
class _Terms(_Result, Generic[Term]):
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

    _colors: ClassVar[Mapping[str, str]]

    @classmethod
    def _of_total(cls, total: Term, reason: str, **about: Any) -> Self:
        """The total alone; `reason` is why its parts are not identified."""
        reasons = {name: reason for name in cls.names() if name != "resampling"}
        return cls(separate_total=total, reasons=reasons, **about)

    @classmethod
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
        kind: Any = ErrorTerms if isinstance(self, ErrorTerms) else AnovaTerms
        terms: Self = kind(
            **parts,
            reasons=reasons,
            coordinates=_common(self.coordinates, other.coordinates),
            includes={name: self.includes[name] for name in self.includes if name in parts},
            status=_together(self.status, other.status),
        )
        return terms

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

    __hash__ = None

    def __repr__(self) -> str:
        shown = self.parts or self._columns()  # the total, if no part is identified
        parts = ", ".join(f"{name}={part!r}" for name, part in shown.items())
        return f"{type(self).__name__}({parts})"

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

    def _status_at(self, k: int) -> str:
        """How the total at one point is known, and then the parts that are known otherwise.

        >>> status = {"total": "measured", "sampling": "law", "bias": "law"}
        >>> ErrorTerms(status=status)._status_at(0)
        'measured; sampling, bias: law'
        """
        own = {name: how if isinstance(how, str) else how[k] for name, how in self.status.items()}
        total = own.get("total", "")
        names: dict[str, list[str]] = {}
        for name, how in own.items():
            if how != total:
                names.setdefault(how, []).append(printed_name(name))
        return "; ".join([total, *(f"{', '.join(some)}: {how}" for how, some in names.items())])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of the printed table; "…" marks omitted rows."""
        columns, shape = self._columns(), self.shape
        if not shape:
            total = float(_number(columns["total"])) if "total" in columns else math.nan
            rows = []
            for name, part in columns.items():
                share = (
                    float(_number(part)) / total
                    if name != "total" and 0 < total < math.inf
                    else None
                )
                shown = str(part) if isinstance(part, Estimate) else f"{part:.6g}"
                row = [self._label(name), shown, "" if share is None else f"{share:z.1%}"]
                rows.append([*row, str(self.status.get(name, ""))] if self.status else row)
            return ["part", "value", "share", *(["status"] if self.status else [])], rows
        flat = {
            name: np.broadcast_to(value, shape).reshape(-1)
            for name, value in self._coordinates().items()
        }
        head = [*(flat or ["point"]), *map(self._label, columns)]
        head += ["status"] if self.status else []
        count, half = math.prod(shape), _ROWS // 2
        few = [k for k in range(count) if count <= _ROWS or not half <= k < count - half]
        rows = []
        for k in few:
            own = [f"{values[k]:.6g}" for values in flat.values()] or [str(k)]
            own += [_entry(part, shape, k) for part in columns.values()]
            rows.append([*own, self._status_at(k)] if self.status else own)
        if count > _ROWS:
            rows.insert(half, ["…"] * len(head))
        return head, rows

    def __str__(self) -> str:
        """One line per part with its share of the total; for arrays, one line per point."""
        head, rows = self._cells()
        if not self.shape:
            wide = max((len(row[0]) for row in rows), default=0) + 2
            most = max([12, *(len(row[1]) for row in rows)])
            return "\n".join(
                f"{label:<{wide}} {value:>{most}} {share:>7}   {' '.join(status)}".rstrip()
                for label, value, share, *status in rows
            )
        sides = ">" * (len(head) - 1) + ("<" if self.status else ">")
        count = math.prod(self.shape)
        return aligned([head, *rows], sides) + (f"\n{count} points" if count > _ROWS else "")

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        count = math.prod(self.shape)
        foot = f"<p>{count} points</p>" if count > _ROWS else ""
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def to_frame(self) -> Any:
        """Return the table of all points.

        Returns
        -------
        pandas.DataFrame
            A row per point, and a column per part and for the total. Varying parameters come
            first; estimates have a second column `<part>_standard_error`, and parts of a known
            status a column `<part>_status`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pandas = require("pandas", "tables")
        shape = self.shape
        table: dict[str, FloatArray | Sequence[str]] = {}
        for name, value in (*self._coordinates().items(), *self._columns().items()):
            table[name] = np.broadcast_to(_number(value), shape).reshape(-1)
            if isinstance(value, Estimate):
                error = np.broadcast_to(value.standard_error, shape).reshape(-1)
                table[f"{name}_standard_error"] = error
            if name in self.status:
                how = self.status[name]
                table[f"{name}_status"] = [how] * math.prod(shape) if isinstance(how, str) else how
        return pandas.DataFrame(table)

    def plot(self, axes: Any = None) -> Any:
        """Draw the parts.

        A single point is drawn as bars, an array as curves along the varying parameter. For a
        two-dimensional array the totals are drawn, one curve per row.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If the terms have more than two axes.
        MissingExtraError
            If matplotlib is not installed.
        """
        if len(self.shape) > 2:
            raise ValueError(f"plot must be of at most two axes, got shape {self.shape}")
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(figsize=(6.0, 3.4), layout="constrained").add_subplot()
        draw = (self._draw_bars, self._draw_curves, self._draw_family)[len(self.shape)]
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def _draw_bars(self, axes: Any) -> None:
        columns = self._columns()
        for index, (name, part) in enumerate(columns.items()):
            value, error = float(_number(part)), float(getattr(part, "standard_error", 0.0))
            if not math.isfinite(value):
                axes.text(0.0, index, f" {value}", va="center", fontsize="small")
                continue
            whisker = {"xerr": error, "error_kw": {"capsize": 3}} if 0 < error < math.inf else {}
            axes.barh(index, value, height=0.7, color=self._colors.get(name, "#999999"), **whisker)
        axes.set_yticks(range(len(columns)), list(map(self._label, columns)))
        axes.invert_yaxis()
        axes.set_xlabel("squared error")
        if any(isinstance(part, Estimate) for part in columns.values()):
            axes.set_title("whiskers: standard errors", fontsize="small", loc="right")

    def _draw_family(self, axes: Any) -> None:
        rows, columns = self.shape
        varying = {k: np.broadcast_to(v, self.shape) for k, v in self._coordinates().items()}
        along = {k: v[0] for k, v in varying.items() if np.ptp(v[0]) > 0 or columns == 1}
        across = {k: v[:, 0] for k, v in varying.items() if k not in along}
        name, x = next(iter(along.items()), ("point", np.arange(columns)))
        total = self.total
        for row in range(rows):
            labels = (f"{k.replace('_', ' ')} = {v[row]:.4g}" for k, v in across.items())
            values, label = np.broadcast_to(_number(total), self.shape)[row], ", ".join(labels)
            if isinstance(total, Estimate):
                error = np.broadcast_to(total.standard_error, self.shape)[row]
                axes.errorbar(x, values, error, fmt="o", markersize=3, capsize=2, label=label)
            else:
                axes.plot(x, values, label=label or str(row))
        scaled_axes(axes, name, x, "total squared error")

    def _draw_curves(self, axes: Any) -> None:
        (count,) = self.shape
        varying = {k: v for k, v in self._coordinates().items() if np.shape(v) == (count,)}
        name, x = next(iter(varying.items()), ("point", np.arange(count)))
        for part, value in self._columns().items():
            style = {"color": self._colors.get(part, "#999999"), "label": self._label(part)}
            y = np.broadcast_to(_number(value), (count,))
            if not np.any(y):  # zeros are not visible on a logarithmic axis
                continue
            if isinstance(value, Estimate):
                error = np.broadcast_to(value.standard_error, (count,))
                axes.errorbar(x, y, error, fmt="o", markersize=3, capsize=2, **style)
            else:
                axes.plot(x, y, **style)
        scaled_axes(axes, " and ".join(varying or [name]), x, "squared error")


def scaled_axes(axes: Any, name: str, x: npt.ArrayLike, ylabel: str) -> None:
    """Logarithmic axes where numbers are positive and span more than a factor of 20; labels."""
    finite = np.asarray(x)[np.isfinite(x)]
    if finite.size and finite.min() > 0 and finite.max() > 20 * finite.min():
        axes.set_xscale("log")
    missing = "" if finite.size == np.size(x) else " (inf not shown)"
    axes.set_xlabel(name.replace("_", " ") + missing)
    axes.set_ylabel(ylabel)
    if axes.get_legend_handles_labels()[1]:
        axes.set_yscale("log")
        outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        axes.legend(frameon=False, fontsize="small", **outside)


def _common(a: Mapping[str, Value], b: Mapping[str, Value]) -> dict[str, Value]:
    """The coordinates of both errors; ValueError for points that differ."""
    for name, value in a.items():
        if not np.array_equal(value, other := b.get(name, value)):
            raise ValueError(
                f"errors must be of the same {name} to be subtracted, got {_brief(value)} and "
                f"{_brief(other)} (a simulation has those realized in sim.problem)"
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


def _entry(part: Value | Estimate, shape: tuple[int, ...], k: int) -> str:
    """One point of a part as text."""
    value = np.broadcast_to(_number(part), shape).reshape(-1)[k]
    if not isinstance(part, Estimate):
        return f"{value:.6g}"
    error = np.broadcast_to(part.standard_error, shape).reshape(-1)[k]
    return _with_error(float(value), float(error), "")


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

    _colors = CAUSES["light"] | {"bayes": YELLOW}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowErrors(ErrorTerms["FloatArray"]):  # help() shows the alias
    """The error at every row, or test point, by cause; the means are those of `error()`.

    Parts of single rows are unbiased but noisy: they come from few fits. `initialization` is the
    disagreement of seeds, the diversity of an ensemble of them: averaging K removes 1 - 1/K of it.
    """

    index: Sequence[Hashable] = field(default=(), compare=False)  # of the rows of the data
    label: str = field(default="squared error", compare=False)  # of the axis of a plot

    def to_frame(self) -> Any:
        """Return the table of all rows.

        Returns
        -------
        pandas.DataFrame
            A row for each row of the data, with its index, and a column for each part and for the
            total.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pandas = require("pandas", "tables")
        columns = {**self.parts, "total": self.total}
        return pandas.DataFrame(columns, index=self.index)

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

    def plot(self, axes: Any = None, count: int = 20) -> Any:
        """Draw the parts of the rows of largest error as bars.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
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
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(
                figsize=(6.4, 0.22 * count + 1.2), layout="constrained"
            ).add_subplot()
        order = np.argsort(-np.asarray(self.total))[:count]
        below = {True: np.zeros(len(order)), False: np.zeros(len(order))}
        for name, part in self.parts.items():
            values = np.asarray(part)[order]
            for positive in (True, False):  # estimates of single rows may be negative
                width = np.where((values >= 0) == positive, values, 0.0)
                label = self._label(name) if positive else None
                style: dict[str, Any] = {
                    "color": self._colors[name],
                    "hatch": HATCHES.get(name, ""),
                }
                left = below[positive]
                style |= {"label": label, "left": left, "edgecolor": "white", "lw": 0}
                axes.barh(range(len(order)), width, **style)
                below[positive] = left + width
        axes.set_yticks(range(len(order)), [str(self.index[k]) for k in order], fontsize="small")
        axes.invert_yaxis()
        axes.axvline(0.0, color=BLACK, linewidth=0.8)
        axes.set_xlabel(self.label)
        axes.set_ylabel("row")
        axes.set_title(f"The {len(order)} rows of largest error", loc="left", fontsize="medium")
        axes.legend(frameon=False, fontsize="small", loc="lower right")
        axes.spines[["top", "right"]].set_visible(False)
        return axes


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

    _colors = EFFECTS["light"] | {"bayes": YELLOW}


def _psi(symbol: str, tex: str, meaning: str) -> Any:
    return field(metadata={"symbol": symbol, "tex": tex, "meaning": meaning})


@dataclass(frozen=True, kw_only=True, eq=False)
class PsiTerms(_Result, Generic[Term]):
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _ErrorTable(_Result):
    """A result with an error by cause, shown in notebooks as text around the error's table."""

    def _repr_html_(self) -> str:
        error: ErrorTerms[Value] = self.__dict__["error"]
        before, table, after = str(self).partition(str(error))
        if not table:  # the text of an array has another table
            return f"<pre>{escape(str(self))}</pre>"
        lines = [
            f"<pre>{escape(text.strip())}</pre>" if text.strip() else "" for text in (before, after)
        ]
        return f"{lines[0]}{error._repr_html_()}{lines[1]}"


def _first(error: ErrorTerms[Value], name: str) -> ErrorTerms[Value]:
    """The same terms with one coordinate in the first column."""
    varying = {name: error.coordinates[name], **error.coordinates}
    return replace(error, coordinates=varying)


@dataclass(frozen=True, kw_only=True, eq=False)
class OptimalRidge(_ErrorTable):
    """The ridge of least total test error, and the error there.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.optimal_ridge(dt.Problem(features_per_dim=10.0, noise=0.5)))
    best ridge: 0.0153784
    noise                0.116856   24.7%
    initialization      0.0443651    9.4%
    sampling            0.0858023   18.1%
    bias                 0.226132   47.8%
    noise floor                 0    0.0%
    total                0.473155
    """

    error: ErrorTerms[Value]  # at this ridge
    ridge: Value = _part()  # λ of a `Problem`, 0 and inf are possible; None of a `SpectralProblem`
    gram_ridge: Value = _part()  # of a `SpectralProblem`; None of a `Problem`

    def __str__(self) -> str:
        """The ridge, and the error there by cause; of arrays, a table."""
        if np.ndim(self._penalty):
            return str(_first(self.error, self._name))
        return f"best {self._name}: {self._penalty:.6g}\n{self.error}"

    @property
    def _name(self) -> str:
        """Which of the two ridges it is."""
        return "ridge" if self.gram_ridge is None else "gram_ridge"

    @property
    def _penalty(self) -> Value:
        """The ridge of either kind of problem."""
        penalty: Value = getattr(self, self._name)
        return penalty


@dataclass(frozen=True, kw_only=True, eq=False)
class Committee(_ErrorTable):
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

    def __str__(self) -> str:
        """The error by cause, and for each member its weight and its products with the others."""
        rows = zip(self.weights, self.pair_errors, strict=True)
        lines = [
            f"{member:>6} {weight:>10.4g}   " + " ".join(f"{value:>9.4g}" for value in row)
            for member, (weight, row) in enumerate(rows, start=1)
        ]
        return "\n".join([str(self.error), "", "member     weight   error with each", *lines])


@dataclass(frozen=True, kw_only=True, eq=False)
class StoppingTime(_ErrorTable):
    """The time of least total test error along gradient flow, and the error there."""

    time: Value  # 0 and inf are possible
    error: ErrorTerms[Value]  # at this time
    optimal_ridge: OptimalRidge  # the best ridge fit, trained to convergence

    def __str__(self) -> str:
        """The time, the error there by cause, and the best ridge; of arrays, a table."""
        if np.ndim(self.time):
            return str(_first(self.error, "time"))
        best = self.optimal_ridge
        other = f"total {best.error.total:.6g} at the best {best._name} {best._penalty:.6g}"
        return f"best time to stop: {self.time:.6g}\n{self.error}\ntrained to the end: {other}"


# --- options of a choice -------------------------------------------------------------------------

WORTHWHILE = 0.01
"""The least gain of a change that is recommended.

The gain is the share of the error that the change removes, 1 - error/error now: positive if the
error falls.
"""


def by_name(kind: str, known: Mapping[str, Choice], name: str) -> Choice:
    """One of several results; KeyError with all their names for another name."""
    if name not in known:
        raise KeyError(f"{kind} must be one of {', '.join(known) or 'none'}, got {name!r}")
    return known[name]


# --- text and JSON -------------------------------------------------------------------------------


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Rows of cells as lines; `sides` has "<" or ">" for each column.

    >>> print(aligned([["option", "error"], ["now", "1.25"]], "<>"))
    option  error
    now      1.25
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    columns = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    return "\n".join("  ".join(map(format, row, columns)).rstrip() for row in rows)


def strict_json(value: Any) -> Any:
    """A value as strict JSON has it: infinities are "inf" and "-inf", NaN is None.

    >>> strict_json({"error": [1.5, math.inf, math.nan]})
    {'error': [1.5, 'inf', None]}
    """
    if isinstance(value, Mapping):
        return {name: strict_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [strict_json(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
