"""Results: errors by cause, and estimates with standard errors.

A part is a Python float, an array of the shape the problem broadcasts to, or an `Estimate`. The
types of all other results are importable from this module, too.
"""

from __future__ import annotations  # help() then shows the alias Value

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import (
    MEAN,
    SQUARED,
    Content,
    Quantity,
    Shown,
    error_content,
    power_verdict,
    quantity_table,
    row_content,
)
from doubletrouble._numbers import number_in
from doubletrouble._plots import Axes
from doubletrouble.errors import import_name, is_available, listed_names
from doubletrouble.estimates import ByValue, same_value
from doubletrouble.estimates import ConfidenceInterval as ConfidenceInterval
from doubletrouble.estimates import Estimate as Estimate
from doubletrouble.palette import EXTRAPOLATED, OTHER_CAUSES, printed_name
from doubletrouble.parameters import FloatArray, Value, common_shape, shown  # noqa: F401

_OWN = ("AnovaTerms", "ConfidenceInterval", "ErrorTerms", "Estimate", "PsiTerms", "RowErrors")
"""The results that this module has itself."""

if TYPE_CHECKING:
    from doubletrouble._result_types import *  # noqa: F403

_HOMES = listed_names(Path(__file__).with_name("_result_types.pyi"))
"""The results of other packages, imported from there at their first use."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_name(name, _HOMES[name])


def __dir__() -> list[str]:
    return sorted([*_OWN, *(name for name, home in _HOMES.items() if is_available(home))])


Term = TypeVar("Term", bound="Value | Estimate")


# --- errors by cause -----------------------------------------------------------------------------


def _part() -> Any:
    """A part of an error, None where it is not identified, or another value that may be None."""
    return field(default=None)


def _about() -> Any:
    """A field that describes the parts."""
    return field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ByCause(ByValue, Shown, Generic[Term]):
    """Parts that add up to a total; they subtract, print as a table, plot, and convert to pandas.

    A part that a design does not identify is None, and `reasons` has the reason by its name.
    """

    coordinates: Mapping[str, Value] = _about()  # the parameters that vary along the axes
    settings: Mapping[str, float] = _about()  # sizes, ridge and noise that are one number each
    includes: Mapping[str, str] = _about()  # further causes that a part contains
    status: Mapping[str, str | tuple[str, ...]] = _about()  # how total and parts are known
    reasons: Mapping[str, str] = _about()  # why a part, or the total, is not identified
    separate_total: Term | None = field(  # the total, where it is not the sum of the parts
        default=None, repr=False, compare=False
    )
    is_difference: bool = field(default=False, repr=False, compare=False)  # of two errors
    label: str = field(default=SQUARED, repr=False, compare=False)  # the name of the error
    baseline: float | None = field(default=None, repr=False, compare=False)  # that of the mean
    baseline_name: str = field(default=MEAN, repr=False, compare=False)  # what it predicts

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
    def of(cls, parts: Mapping[str, npt.NDArray[Any] | float], **about: Any) -> Self:
        """Return terms with these parts.

        Parameters
        ----------
        parts : dict
            The parts by name.
        about : object
            The fields that describe them, such as `coordinates`.

        Returns
        -------
        ErrorTerms or AnovaTerms or RowErrors
            An object of this class.
        """
        values: dict[str, Any] = {**parts, **about}
        return cls(**values)

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
            total: Term = sum(parts[1:], start=parts[0]) if parts else math.nan  # type: ignore[assignment]
        return total

    def __sub__(self, other: object) -> Self:
        """The difference of two errors, part by part; estimates of the same draws are paired."""
        if not isinstance(other, ByCause) or self.names() != other.names():
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
                    reasons[name] = f"{printed_name(name)} {OTHER_CAUSES}"
            separate = any(terms.separate_total is not None for terms in (self, other))
            if separate or not parts.keys() >= {*self.parts, *other.parts}:
                parts["separate_total"] = total - other.total
        return replace(
            self,
            **{"separate_total": None, **dict.fromkeys(self.names()), **parts},
            reasons=reasons,
            coordinates=coordinates,
            settings=dict(self.settings.items() & other.settings.items()),
            includes={name: self.includes[name] for name in self.includes if name in parts},
            status=_together(self.status, other.status),
            is_difference=True,
            baseline=None,
        )

    def _common_coordinates(self, other: ByCause[Any]) -> dict[str, Value]:
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
        parts = _plots.identified(self).values()
        return np.broadcast_shapes(*(np.shape(number_in(part)) for part in parts))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, ByCause):
            return False
        if self.includes != other.includes:
            return False
        mine, theirs = _plots.identified(self), _plots.identified(other)
        return mine.keys() == theirs.keys() and all(same_value(mine[k], theirs[k]) for k in mine)

    __hash__ = None  # type: ignore[assignment]

    @property
    def extrapolated(self) -> bool | npt.NDArray[np.bool_]:
        """Whether the total is beyond what was measured; an array for several points."""
        known = self.status.get("total", "")
        if isinstance(known, str):
            beyond = known == EXTRAPOLATED
            return np.full(self.shape, beyond) if self.shape else beyond
        return np.array([one == EXTRAPOLATED for one in known]).reshape(self.shape)

    # --- shown ---

    def _content(self) -> Content:
        return error_content(self)

    def _picture(self) -> _plots.Picture:
        return _plots.error_picture(self)


_SETTINGS = (
    "dim",
    "n_features",
    "features_per_dim",
    "gram_ridge",
    "ridge",
    "n_members",
    "n_samples",
    "samples_per_dim",
    "noise",
)


def fixed(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among some parameters that are one each: sizes, ridge, noise; no mixtures."""
    known = {name: values[name] for name in _SETTINGS if values.get(name) is not None}
    single = {name: np.ravel(np.asarray(value)) for name, value in known.items()}
    return {k: float(v[0]) for k, v in single.items() if v.size == 1 and v.dtype.kind in "iuf"}


def _length(values: Value, axis: int) -> int:
    """The length of an array along an axis counted from the last one."""
    shape = np.shape(values)
    return shape[axis] if len(shape) >= -axis else 1


def _check_rows(a: ByCause[Any], b: ByCause[Any]) -> None:
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _SequentialParts(Generic[Term]):
    """The parts of `ErrorTerms`: a base of its own, whose fields come before those about them."""

    noise: Term = _part()  # label noise of the training set
    initialization: Term = _part()  # the draw of the random features
    sampling: Term = _part()  # the draw of the training inputs
    bias: Term = _part()  # the error of the mean predictor
    bayes: Term = _part()  # label noise of the test set: the noise floor
    resampling: Term = _part()  # the members' own choices


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrorTerms(ByCause[Term], _SequentialParts[Term]):
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


def unsplit_error(total: Any, reason: str, **about: Any) -> ErrorTerms[Any]:
    """The total alone; `reason` is why its parts are not identified."""
    reasons = {name: reason for name in ErrorTerms.names() if name != "resampling"}
    return ErrorTerms(separate_total=total, reasons=reasons, **about)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowErrors(ErrorTerms["FloatArray"]):  # help() shows the alias
    """The error at every row, or test point, by cause; the means are those of `error()`.

    Parts of single rows are unbiased but noisy: they come from few fits. `initialization` is the
    disagreement of seeds, the diversity of an ensemble of them: averaging K removes 1 - 1/K of it.
    """

    index: Sequence[Hashable] = field(default=(), compare=False)  # of the rows of the data
    rows_key: Hashable = field(default="", repr=False, compare=False)  # equal for the same rows

    def _content(self) -> Content:
        return row_content(self, self.index)

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

    def plot(self, ax: Axes | None = None, count: int = 20) -> Axes:
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
        return _plots.draw(self._picture(count), ax)

    def _picture(self, count: int = 20) -> _plots.Stack:
        return _plots.worst_rows(self, self.index, count)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _SymmetricParts(Generic[Term]):
    """The parts of `AnovaTerms`."""

    bias: Term = _part()  # the error of the mean predictor
    initialization: Term = _part()  # V_P: the features alone
    sampling: Term = _part()  # V_X: the inputs alone
    initialization_sampling: Term = _part()  # V_PX: features and inputs together
    noise_sampling: Term = _part()  # V_Xε: label noise through the inputs
    noise_initialization_sampling: Term = _part()  # V_PXε: label noise through inputs and features
    bayes: Term = _part()  # label noise of the test set
    resampling: Term = _part()  # the members' own choices


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnovaTerms(ByCause[Term], _SymmetricParts[Term]):
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


def _psi(symbol: str, tex: str, meaning: str) -> Any:
    return field(metadata={"symbol": symbol, "tex": tex, "meaning": meaning})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PsiTerms(ByValue, Shown, Generic[Term]):
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

    coordinates: Mapping[str, Value] = _about()  # the parameters that vary along the axes

    @classmethod
    def symbols(cls) -> dict[str, str]:
        """Return the symbols of all terms, by their names.

        Returns
        -------
        dict of str
            The symbols, in the order of the terms.
        """
        return {f.name: f.metadata["symbol"] for f in fields(cls) if f.metadata}

    @property
    def by_name(self) -> dict[str, Term]:
        """The terms by their names."""
        return {name: getattr(self, name) for name in self.symbols()}

    def _content(self) -> Content:
        terms = [
            Quantity(
                name=f.name,
                value=getattr(self, f.name),
                heading=f.metadata["symbol"],
                meaning=f.metadata["meaning"],
            )
            for f in fields(self)
            if f.metadata
        ]
        table = quantity_table("terms", terms, self.coordinates)
        powers = (self.psi2_vanilla, self.psi2_ensemble, self.psi2_divide)
        return Content(tables=[table], verdict=power_verdict(*powers))

    def _picture(self) -> _plots.Picture:
        terms = {self.symbols()[name]: term for name, term in self.by_name.items()}
        return _plots.quantity_picture(terms, "value", self.coordinates)
