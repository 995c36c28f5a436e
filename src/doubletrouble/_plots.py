"""Pictures of results: what a result declares of its plot, and how that is drawn.

A result declares one of the pictures below, numbers and words only, and `draw` draws it with
matplotlib, on the given axes or on those of a new figure. A value is a number, an array, or an
estimate: an object with `value`, `standard_error` and `confidence_interval`. Its whisker or band is
the interval at the picture's `confidence`, one standard error on each side where that is None.

Errors are not negative: whiskers and bands of values from 0 end at 0, unless the picture is
`signed`, as that of a difference. A curve has a gap where an estimate is cut off at 0 and, on a
logarithmic axis, where its value is 0 or less; a note lists these curves, and those that leave the
axes. A point without neighbours has a marker; an infinite value is a triangle at the edge of the
axes.

Colours of text, lines and causes are those of the palette for the background of the axes, light or
dark.

A figure of ordinary subplots gets matplotlib's tight layout, with room for labels, legends and
notes. Axes at a given position, and figures that have a layout, stay as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import (
    Cell,
    Uncertain,
    alone,
    interval_of,
    level,
    number_in,
    percent,
    percents_between,
    whole,
)
from doubletrouble.errors import require
from doubletrouble.glossary import axis_label, heading, symbol
from doubletrouble.palette import (
    BLACK,
    BLUE,
    CAUSES,
    DARKER,
    EFFECTS,
    EXTRAPOLATED,
    FORECAST,
    GREEN,
    HATCHES,
    ORANGE,
    PAPER,
    PART_WORDS,
    PURPLE,
    SKY,
    VERMILION,
    printed_name,
)
from doubletrouble.parameters import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis

    from doubletrouble import results

    ByCause: TypeAlias = results.ByCause[Any]
else:  # matplotlib is imported where something is drawn
    Axes = ByCause = Any

Style: TypeAlias = dict[str, Any]
"""Keyword arguments of matplotlib: the look of lines and texts, and where they are."""

_SOFT = PAPER["light"]["soft"]
_TOTAL = "#555555"  # bars of totals
_LINE = "#999999"  # separators
_ON_DARK = DARKER | {_TOTAL: "#B5BAC2", _LINE: "#777777"}
_NEUTRAL = "#C3C8CF"  # bars without parts
_BETTER, _WORSE = SKY, VERMILION
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)  # lines that are no part
_DASHES = (0, (3, 2))  # extrapolated
_DOTS = (0, (1, 1.4))
_MARKERS = "osDvPX*<>phH"
_STYLES = ("-", _DOTS, "-.", (0, (1, 3)))
_GUIDE = (0, (4, 3))  # separators and marks
_WHISKER: Style = {"fmt": "none", "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1}

_WIDE = 20.0  # an axis is logarithmic if its numbers span more than this factor
_LIMIT = 4.0  # bars are cut at this multiple of the median
_ROUNDING = 1e-9
_SMALL_STEP = 1e-3  # of a waterfall, as a share of the larger error
_LONGEST_WHISKER = 2.0  # whiskers are cut at this multiple of the longest bar
_MUCH = 1.3  # and only if they are longer than that by this factor
_LEAST_SHOWN = 1e-3  # share of the least total at which logarithmic axes of errors begin
_FEW_POINTS = 25  # estimates at more are drawn as curves with bands
_FEW_ROWS = 6  # curves of a family in a legend; more have a colour bar
_LETTER = 0.07  # width of a small letter in inches
_FEW_COLUMNS = 12  # points of each estimated curve of a family that have whiskers
_LABEL_WIDTH = 30  # letters of a line of a row's label
_POINTS = {"medium": 10.0, "small": 8.33, "x-small": 6.94}  # the sizes of letters
_NARROW = 5.0  # inches, of axes with a legend above them
_COARSE = 8  # rows and columns of a map with a number in each cell
_BRIGHTEST = 20.0  # colours of a map end at this multiple of the median
_SEQUENTIAL = "viridis"
_LEVELS = {"light": (0.0, 0.67), "dark": (1.0, 0.33)}
"""Ends of these colours, for lines: a contrast of 2.5 on the background."""


# --- pictures ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Bar:
    """A horizontal bar; an `int` is a count, with all of its digits."""

    label: str
    value: Cell | int
    part: str = ""  # the part of the error that determines colour and hatch


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """Horizontal bars with intervals, the first one on top."""

    rows: Sequence[Bar]
    xlabel: str
    confidence: float | None = None
    signed: bool = False
    marks: Sequence[Mark] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class StackRow:
    """A bar of parts; without parts in grey, without a total the label with a note."""

    label: str
    total: Cell | None
    parts: Mapping[str, Cell] | None = None  # by name: "noise", "bias"
    note: str = ""
    new_group: bool = False  # a separator above


@dataclass(frozen=True, kw_only=True, eq=False)
class Stack:
    """Horizontal bars stacked by part, with the total at their ends, the first one on top.

    Bars much longer than the median are cut by a slanted gap. Negative parts are left of 0.
    """

    rows: Sequence[StackRow]
    xlabel: str
    confidence: float | None = None
    ylabel: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # of parts, if not those of the palette
    baseline: float | None = None
    baseline_label: str = "predicting the mean"
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Change:
    """An option of a diagnosis: the error after it, and the share of the error it removes."""

    label: str
    after: Cell | None = None  # None if withheld
    gain: float | None = None
    low: float | None = None  # of the interval of the gain
    high: float | None = None
    note: str = ""
    extrapolated: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Breakdown:
    """The causes of an error, each bar beginning where the last one ends, and what changes it.

    The bar of a change ends at the error after it. Its whisker is the interval of the gain, which
    is paired with the error now, and that of the error after the change where there is none.
    """

    parts: Mapping[str, tuple[str, Cell]]  # by label: name of the part, value
    total: Cell
    xlabel: str
    changes: Sequence[Change] = ()
    confidence: float | None = None
    baseline: float | None = None
    baseline_label: str = "predicting the mean"


@dataclass(frozen=True, kw_only=True, eq=False)
class Mark:
    """A vertical line with a label."""

    label: str
    x: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A curve, or points with whiskers; its band is from `low` to `high`, or that of an estimate.

    It is dashed (points: open) where `extrapolated`. An estimate of 0 with an error is cut off.
    """

    label: str  # without one, it is not in the legend
    y: Cell
    part: str = ""
    low: FloatArray | None = None
    high: FloatArray | None = None
    points: bool = False
    joined: bool = False  # points with a line through them
    extrapolated: npt.NDArray[np.bool_] | None = None
    dotted: bool = False
    color: str = ""  # that of the part unless given
    style: int = 0  # number of the marker and of the dashes, of curves of the same colour
    band: bool = True  # drawn where there is an interval


@dataclass(frozen=True, kw_only=True, eq=False)
class _Along:
    """Axes along one number, which are logarithmic where that fits, unless given."""

    x: npt.ArrayLike
    xlabel: str
    ylabel: str
    marks: Sequence[Mark] = ()  # those within the axis are drawn
    note: str = ""
    confidence: float | None = None
    logx: bool | None = None
    logy: bool | None = None
    baseline: float | None = None  # drawn where it is within the axis, or near
    baseline_label: str = "predicting the mean"


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves(_Along):
    """Curves and points along one number."""

    lines: Sequence[Curve]
    signed: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveFamily(_Along):
    """One curve for each row of a two-dimensional array, coloured in order.

    Up to six rows are in a legend; more have a colour bar if `levels` are given.
    """

    names: Sequence[str]  # of the rows
    totals: Cell  # (rows, columns)
    levels: npt.ArrayLike | None = None  # the number that varies over the rows
    levels_label: str = ""
    extrapolated: npt.NDArray[np.bool_] | None = None  # (rows, columns)
    lines: FloatArray | None = None  # (rows, columns) of numbers drawn behind points
    others: Sequence[Curve] = ()  # further ones, in colours of their own


@dataclass(frozen=True, kw_only=True, eq=False)
class MapPoint:
    """A labelled point of a map."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """A quantity over two numbers, in colours with contour lines."""

    x: npt.ArrayLike  # (columns,)
    y: npt.ArrayLike  # (rows,)
    z: npt.ArrayLike  # (rows, columns)
    xlabel: str
    ylabel: str
    zlabel: str
    points: Sequence[MapPoint] = ()
    marks: Sequence[Mark] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Waterfall:
    """From one error to another, by cause."""

    start_label: str
    start: Cell
    steps: Sequence[tuple[str, str, Cell]]  # label, name of the part, signed change
    end_label: str
    end: Cell
    xlabel: str
    gain: float | None = None  # the share of the first error that is removed
    note: str = ""


OfPoints: TypeAlias = Bars | Curves | CurveFamily
"""Pictures of quantities at one point, along one axis, or along two."""

Picture: TypeAlias = Bars | Stack | Breakdown | Curves | CurveFamily | Map | Waterfall


# --- errors by cause -----------------------------------------------------------------------------


def identified(error: ByCause) -> dict[str, Any]:
    """The parts and the total that are identified."""
    return {**error.parts, **({} if "total" in error.reasons else {"total": error.total})}


def part_label(error: ByCause, name: str) -> str:
    """The name of a part, with the causes it includes."""
    label = printed_name(name)
    return f"{label} + {error.includes[name]}" if name in error.includes else label


def part_labels(error: ByCause | None) -> dict[str, str]:
    """The labels of all parts by their names."""
    return {} if error is None else {name: part_label(error, name) for name in error.parts}


def varying_parameters(
    error: ByCause, coordinates: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The varying parameters; `noise` is `noise_sd` where a part has the same name."""
    renamed = {"noise": "noise_sd"} if "noise" in error.names() else {}
    given = error.coordinates if coordinates is None else coordinates
    return {renamed.get(name, name): value for name, value in given.items()}


def error_picture(error: ByCause, coordinates: Mapping[str, Any] | None = None) -> OfPoints:
    """The picture of an error: bars at one point, curves along one axis, totals along two.

    The parameters along the axes are those of the error unless `coordinates` are given.
    """
    columns = identified(error)
    picture = _picture_of(
        {part_label(error, name): part for name, part in columns.items()},
        error.shape,
        varying_parameters(error, coordinates),
        error.label,
        parts={part_label(error, name): name for name in columns},
        signed=error.is_difference,
        of_two_axes=(f"total {error.label}", error.total),
        extrapolated=error.extrapolated,
    )
    picture = replace(picture, note=settings_note(error.settings))
    if isinstance(picture, Bars):
        return picture
    label = f"predicting {error.baseline_name}"
    marks = _peaks(varying_parameters(error, coordinates), error.settings, picture.x)
    picture = replace(picture, marks=marks, baseline=error.baseline, baseline_label=label)
    if isinstance(picture, CurveFamily) or not is_forecast(error):
        return picture
    lines = [replace(one, points=False, band=one.part == "total") for one in picture.lines]
    return replace(picture, lines=lines)


def settings_note(settings: Mapping[str, float]) -> str:
    """The settings with their symbols."""
    return ", ".join(f"{symbol(name)} = {whole(value)}" for name, value in settings.items())


def is_forecast(error: ByCause) -> bool:
    """Whether the totals are forecasts, as a function of the settings, and no measurements."""
    known = error.status.get("total", "")
    return ({known} if isinstance(known, str) else set(known)) <= {FORECAST, EXTRAPOLATED}


_SIZES = (("n_features", "n_samples"), ("features_per_dim", "samples_per_dim"))


def _peaks(
    coordinates: Mapping[str, Any], settings: Mapping[str, float], x: npt.ArrayLike
) -> list[Mark]:
    """The mark P = N on an axis of features or rows, where the other is one number."""
    marks = []
    for pair in _SIZES:
        for name, other in (pair, pair[::-1]):
            along = np.ravel(coordinates.get(name, ()))
            if other in settings and set(along) == set(np.ravel(x)):
                value = settings[other]
                label = f"P = N = {whole(value)}" if name.startswith("n_") else "P = N"
                marks.append(Mark(label=label, x=value if math.isfinite(value) else None))
    return marks


def quantity_picture(
    quantities: Mapping[str, Any],
    ylabel: str,
    coordinates: Mapping[str, Any] | None = None,
    parts: Mapping[str, str] | None = None,
    signed: bool = False,
) -> OfPoints:
    """The picture of quantities by label: bars, curves along one axis, the first one along two.

    `coordinates` are the parameters along the axes, and `parts` those with the colour of a part.
    """
    first, value = next(iter(quantities.items()))
    return _picture_of(
        quantities,
        np.broadcast_shapes(*(np.shape(_number(value)) for value in quantities.values())),
        coordinates or {},
        ylabel,
        parts=parts or {},
        signed=signed or any(np.any(_number(value) < 0) for value in quantities.values()),
        of_two_axes=(f"{first} ({ylabel})", value),
    )


def _picture_of(
    quantities: Mapping[str, Any],
    shape: tuple[int, ...],
    coordinates: Mapping[str, Any],
    ylabel: str,
    *,
    parts: Mapping[str, str],
    signed: bool,
    of_two_axes: tuple[str, Any],
    extrapolated: Any = None,
) -> OfPoints:
    """Bars, curves along one axis, or the curves of one quantity, with its label, along two."""
    if len(shape) > 2:
        raise ValueError(f"plot must be of at most two axes, got shape {shape}")
    if not shape:
        bars = [Bar(label=k, value=v, part=parts.get(k, "")) for k, v in quantities.items()]
        return Bars(rows=bars, xlabel=ylabel, signed=signed)
    at = {name: np.broadcast_to(values, shape) for name, values in coordinates.items()}
    dashed = None if extrapolated is None else np.broadcast_to(extrapolated, shape)
    if len(shape) == 2:
        label, value = of_two_axes
        return _family(_at_points(value, shape), at, label, dashed)
    at = {name: values for name, values in at.items() if _varies(values)} or at
    name, x = next(iter(at.items()), ("point", np.arange(shape[0])))
    lines = [
        Curve(
            label=label,
            y=_at_points(value, shape),
            part=parts.get(label, ""),
            points=isinstance(value, Uncertain) and shape[0] <= _FEW_POINTS,
            extrapolated=dashed,
        )
        for label, value in quantities.items()
    ]
    title = " and ".join(axis_label(one) for one in at or [name])
    return Curves(x=x, xlabel=title, lines=lines, ylabel=ylabel, signed=signed)


def _family(
    values: Any, at: Mapping[str, FloatArray], ylabel: str, extrapolated: Any = None
) -> CurveFamily:
    """The curves of a two-dimensional array, one for each row."""
    rows, columns = np.shape(_number(values))
    along = {k: v[0] for k, v in at.items() if np.all(v == v[0]) and _varies(v[0])}
    across = {k: v[:, 0] for k, v in at.items() if np.all(v == v[:, :1]) and k not in along}
    name, x = next(iter(along.items()), ("point", np.arange(columns)))
    return CurveFamily(
        x=x,
        xlabel=axis_label(name),
        totals=values,
        ylabel=ylabel,
        extrapolated=extrapolated,
        **levels_of(across, rows),
    )


def levels_of(across: Mapping[str, FloatArray], rows: int) -> dict[str, Any]:
    """The names of the rows of a family, and the number that varies over them if it is one."""
    settings = [
        ", ".join(f"{heading(k)} = {whole(float(v[row]))}" for k, v in across.items())
        for row in range(rows)
    ]
    names = [setting or str(row) for row, setting in enumerate(settings)]
    if len(across) != 1:
        return {"names": names}
    ((name, levels),) = across.items()
    return {"names": names, "levels": levels, "levels_label": axis_label(name)}


def _varies(values: FloatArray) -> bool:
    return values.size == 1 or bool(np.any(values != values[0]))


def _at_points(part: Any, shape: tuple[int, ...]) -> Any:
    """A part as an array over the points."""
    if isinstance(part, Uncertain):
        return part if np.shape(part.value) == shape else part + np.zeros(shape)  # type: ignore[operator]
    return np.broadcast_to(part, shape)


def worst_rows(error: ByCause, index: Sequence[Any], count: int) -> Stack:
    """The parts of the rows of largest error, or difference of errors."""
    total = np.asarray(error.total)
    order = np.argsort(-np.abs(total) if error.is_difference else -total)[:count]
    rows = [
        StackRow(
            label=str(index[k]),
            parts={name: float(part[k]) for name, part in error.parts.items()},
            total=float(total[k]),
        )
        for k in order
    ]
    return Stack(rows=rows, xlabel=error.label, ylabel="row", labels=part_labels(error))


def draw(picture: Picture, ax: Axes | None = None) -> Axes:
    """Draw a picture.

    Parameters
    ----------
    picture : Bars or Stack or Breakdown or Curves or CurveFamily or Map or Waterfall
        What is drawn.
    ax : matplotlib.axes.Axes or None, default: None
        The axes to draw on; those of a new figure unless given. A figure of subplots without a
        layout engine gets the tight one.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    pyplot = require("matplotlib.pyplot", "figures")
    if ax is None:
        ax = pyplot.figure(figsize=_size(picture), layout="constrained").add_subplot()
    else:
        _make_room(ax)
    match picture:
        case Bars():
            _draw_bars(picture, ax)
        case Stack():
            _draw_stack(picture, ax)
        case Breakdown():
            _draw_breakdown(picture, ax)
        case Curves():
            _draw_curves(picture, ax)
        case CurveFamily():
            _draw_family(picture, ax)
        case Map():
            _draw_map(picture, ax)
        case Waterfall():
            _draw_waterfall(picture, ax)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _make_room(ax: Axes) -> None:
    """A layout with room for labels and legends, in a figure of subplots that has none."""
    figure = ax.figure
    has_none = figure.figure is figure and figure.get_layout_engine() is None
    if has_none and all(one.get_subplotspec() is not None for one in figure.axes):
        ax.figure.figure.set_layout_engine("tight")


def _size(picture: Picture) -> tuple[float, float]:
    """Width and height of a new figure, in inches."""
    match picture:
        case Bars(rows=rows):
            height = _row_height(6.0, [(row.label, "") for row in rows])
            return 6.0, 0.9 + height * max(len(rows), 3)
        case Stack(rows=rows):
            height = _row_height(6.8, [(row.label, row.note) for row in rows])
            return 6.8, 1.2 + (height if len(rows) < 16 else 0.24) * max(len(rows), 3)
        case Breakdown(changes=changes):
            notes = [one.note for one in changes]
            labels = _breakdown_labels(picture)
            texts = [*((label, "") for label in labels), *(("", note) for note in notes)]
            return 6.8, 1.4 + (_row_height(6.8, texts) - 0.04) * len(labels)
        case Waterfall():
            labels = _waterfall_labels(picture)
            height = _row_height(6.0, [(label, "") for label in labels])
            return 6.0, 1.0 + 0.02 * len(labels) + height * len(labels)
        case Map():
            return 6.0, 4.0
        case _:
            return 6.4, 3.6


def _letters(width: float, size: str, beside: Sequence[str] = ()) -> int:
    """The letters of a line in a figure of this width in inches, beside the labels of rows."""
    lines = [len(line) for label in beside for line in _wrapped(label).splitlines()]
    room = 72 * width - 0.6 * _POINTS["medium"] * max(lines, default=0) - 20
    return max(int(room / (0.54 * _POINTS[size])), 24)


def _row_height(width: float, rows: Sequence[tuple[str, str]]) -> float:
    """The height of a row in inches, with room for all lines of the labels and notes."""
    letters = _letters(width, "x-small", [label for label, _ in rows])
    lines = max([1, *(_wrapped(label).count("\n") + 1 for label, _ in rows)])
    notes = max([1, *(len(wrap(_unbroken(note), letters)) for _, note in rows)])
    return max(0.34, 0.06 + 0.17 * lines, 0.12 + 0.12 * notes)


def _width(ax: Axes) -> float:
    """The width of the part of the figure that the axes have, in inches."""
    spec = ax.get_subplotspec()
    share = ax.get_position().width
    if spec is not None:
        share = len(spec.colspan) / spec.get_gridspec().ncols
    return float(ax.figure.bbox.width / ax.figure.dpi * share)


def _wrapped(label: str) -> str:
    """The label of a row in lines, which end between words or at brackets."""
    if len(label) <= _LABEL_WIDTH:
        return label
    return fill(label.replace("(", "( "), _LABEL_WIDTH).replace("( ", "(")


def _unbroken(text: str) -> str:
    """A text in which no call of a function is broken by the end of a line."""
    return re.sub(r"\w\([^()]*\)", lambda call: call[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


# --- values --------------------------------------------------------------------------------------


def _shown(cell: Cell) -> str:
    """A number, with the digits that its error leaves it, and a minus sign as on axes."""
    return alone(cell).replace("-", "−")


def _gain(share: float) -> str:
    return percent(share, "+").replace("-", "−")


def _signed(cell: Cell) -> str:
    return f"+{alone(cell)}" if float(_number(cell)) > 0 else _shown(cell)


def _number(cell: Cell) -> FloatArray:
    return np.asarray(number_in(cell), dtype=np.float64)


def _interval(
    cell: Cell, confidence: float | None, signed: bool = False
) -> tuple[FloatArray, FloatArray] | None:
    """The ends of the interval, NaN where it is unknown; None of a cell without error.

    Those of values from 0 end at 0 unless `signed`.
    """
    if isinstance(cell, int | float | np.ndarray | np.number):
        return None
    value, error = _number(cell), np.asarray(cell.standard_error, dtype=np.float64)
    if not np.any(error > 0):
        return None
    with np.errstate(invalid="ignore"):
        low, high = map(np.asarray, interval_of(cell, confidence))
    if not signed:
        low = np.where(value >= 0, np.maximum(low, 0.0), low)
    known = np.isfinite(value) & np.isfinite(low) & np.isfinite(high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _meaning(confidence: float | None, ranges: str = "whiskers") -> str:
    """The meaning of whiskers or bands."""
    if confidence is None:
        return f"{ranges}: standard errors"
    return f"{ranges}: {level(confidence)} intervals"


# --- looks ---------------------------------------------------------------------------------------


def _theme(ax: Axes) -> Literal["light", "dark"]:
    """Whether the background of the axes, or of the figure where they have none, is dark."""
    to_rgba = require("matplotlib.colors", "figures").to_rgba
    *own, alpha = to_rgba(ax.get_facecolor())
    *behind, depth = to_rgba(ax.figure.get_facecolor())
    figure = depth * np.asarray(behind) + 1 - depth
    color = alpha * np.asarray(own) + (1 - alpha) * figure
    return "light" if color @ [0.299, 0.587, 0.114] > 0.5 else "dark"


def _ink(ax: Axes, color: str = BLACK) -> str:
    """A colour as it is on the background of the axes."""
    return color if _theme(ax) == "light" else _ON_DARK.get(color, color)


def _paper(ax: Axes) -> str:
    """The colour of the edges and hatches of areas."""
    return PAPER[_theme(ax)]["paper"]


def _colors(ax: Axes, parts: Iterable[str]) -> Mapping[str, str]:
    """The colours of parts: those of effects where there are interactions."""
    return (CAUSES if set(parts) <= {"", *CAUSES["light"]} else EFFECTS)[_theme(ax)]


def _area(ax: Axes, colors: Mapping[str, str], part: str) -> Style:
    """The look of a bar."""
    color = _ink(ax, _TOTAL) if part == "total" else colors.get(part, _NEUTRAL)
    look: Style = {"color": color, "edgecolor": _paper(ax), "linewidth": 0.0}
    return look | {"hatch": HATCHES.get(part, "")}


def _whisker(
    ax: Axes, at: float, row: float, low: float, high: float, x_max: float = math.inf
) -> float:
    """Draw a whisker, with an arrow for an end beyond `x_max`; return where it ends."""
    if not (math.isfinite(low) and math.isfinite(high) and high > low):
        return at
    end = max(at, min(high, x_max))
    reach = [[max(at - low, 0.0)], [max(end - at, 0.0)]]
    ax.errorbar(at, row, xerr=reach, ecolor=_ink(ax), **_WHISKER)
    if end < high:
        ax.plot(end, row, ">", color=_ink(ax), markersize=4, clip_on=False)
    return end


def _box(ax: Axes) -> Style:
    """The background of a text, so that no line crosses it."""
    return {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5}


def _beside(ax: Axes, x: float, row: float, text: str, **style: Any) -> float:
    """A small text to the right of a bar; return the end of the axis that it needs."""
    style = {"fontsize": "small", "va": "center", "ha": "left", "color": _ink(ax)} | style
    style["bbox"] = _box(ax)
    offset: Style = {"xytext": (4, 0), "textcoords": "offset points"}
    ax.annotate(text, (x, row), **offset, **style, annotation_clip=False)
    left, share = min(ax.dataLim.x0, 0.0), _text_share(ax, text)
    return float((max(x, 0.0) - share * left) / (1 - share))


def _text_share(ax: Axes, text: str) -> float:
    """The share of the axes beside the labels of rows that a small text takes."""
    lines = [len(line) for label in _row_labels(ax) for line in label.splitlines()]
    beside = 0.3 + 0.6 * _POINTS["medium"] / 72 * max(lines, default=0)
    longest = max(map(len, text.splitlines()), default=0)
    return min(_LETTER * min(longest + 1, 40) / max(_width(ax) - beside, 1.0), 0.7)


def _draw_vertical(ax: Axes, at: float, rows: Iterable[int], right: float) -> None:
    """A dashed line over some rows, with a gap where the text beside a bar is."""
    width = right - min(ax.dataLim.x0, 0.0)
    taken = {
        round(text.xy[1])
        for text in ax.texts
        if hasattr(text, "xy")
        and text.xy[0] <= at <= text.xy[0] + width * _text_share(ax, text.get_text())
    }
    ends = [[row - 0.5, row + 0.5, math.nan] for row in rows if row not in taken]
    look: Style = {"color": _ink(ax, _SOFT), "linewidth": 0.9, "linestyle": _GUIDE, "zorder": 0.5}
    y = np.ravel(ends)
    ax.plot(np.full(y.size, at), y, **look)


def _aside(ax: Axes, row: float, note: str) -> None:
    """A note in the place of a bar."""
    letters = _letters(_width(ax), "x-small", _row_labels(ax))
    _beside(ax, 0.0, row, fill(_unbroken(note), letters), fontsize="x-small", color=_ink(ax, _SOFT))


def _row_labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def _begin_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Rows from top to bottom, with labels."""
    lines = [_wrapped(label) for label in labels]
    small = len(labels) > 15 or any("\n" in label for label in lines)
    ax.set_yticks(range(len(labels)), lines, fontsize="small" if small else "medium")
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _label_x(ax: Axes, label: str, notes: Iterable[str], rows: Sequence[str] = ()) -> None:
    """The label of the axis, and notes in small letters below, not wider than beside the rows."""
    ax.set_xlabel(label)
    text = "; ".join(note for note in notes if note)
    if text:
        where: Style = {
            "xycoords": ax.xaxis.label,
            "xytext": (0, -2),
            "textcoords": "offset points",
        }
        look: Style = {"ha": "center", "va": "top", "fontsize": "small", "color": _ink(ax, _SOFT)}
        letters = min(_letters(_width(ax), "small", rows), 84)
        ax.annotate(fill(text, letters), (0.5, 0.0), **where, **look, annotation_clip=False)


def _plain_ticks(axis: Axis) -> None:
    """Thousands separators on a linear axis, unless its numbers are very large or small."""
    ticker = require("matplotlib.ticker", "figures")
    low, high = axis.get_view_interval()
    if 1e-3 < max(abs(low), abs(high)) < 1e7:
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.6g}".replace("-", "−")))
    axis.set_major_locator(ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))


def _log_ticks(axis: Axis) -> None:
    """Numbers in plain notation where there are few decades, powers of ten where many."""
    ticker = require("matplotlib.ticker", "figures")
    low, high = axis.get_view_interval()
    few = high < 200 * low
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
    axis.set_minor_locator(ticker.LogLocator(subs=range(2, 10), numticks=12))
    axis.set_minor_formatter(ticker.NullFormatter())
    if low >= 1e-3 and high <= 2e5:
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.6g}"))


def _is_wide(values: FloatArray) -> bool:
    """Whether numbers are positive and span a large factor."""
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0 and known.max() > _WIDE * known.min())


# --- bars ----------------------------------------------------------------------------------------


def _draw_bars(picture: Bars, ax: Axes) -> None:
    colors = _colors(ax, (row.part for row in picture.rows))
    whiskers, right = False, 0.0
    _begin_rows(ax, [row.label for row in picture.rows])
    _reach_left(ax, [float(_number(row.value)) for row in picture.rows])
    for y, row in enumerate(picture.rows):
        value = float(_number(row.value))
        if not math.isfinite(value):
            _beside(ax, 0.0, y, _shown(value))
            continue
        ax.barh(y, value, height=0.68, **_area(ax, colors, row.part))
        interval = _interval(row.value, picture.confidence, picture.signed)
        end = max(value, 0.0)
        text = _signed(row.value) if picture.signed else _shown(row.value)
        if isinstance(row.value, int):
            text = whole(value)
        if interval is not None and np.isfinite(interval[0]):
            _whisker(ax, value, y, *map(float, interval))
            end, whiskers = max(end, float(interval[1])), True
        elif interval is not None:
            text += " ± ?"
        right = max(right, _beside(ax, end, y, text, color=_ink(ax, _SOFT)))
    ax.axvline(0.0, color=_ink(ax), linewidth=0.8)
    _begin_at_zero(ax, right)
    _draw_marks(ax, picture.marks)
    notes = [picture.note, _meaning(picture.confidence) if whiskers else ""]
    _label_x(ax, picture.xlabel, notes, _row_labels(ax))


def _reach_left(ax: Axes, ends: Iterable[float]) -> None:
    """Include the ends of bars left of 0 in the limits of the data, for the room of texts."""
    ax.update_datalim([(min([0.0, *filter(math.isfinite, ends)]), 0.0)])


def _begin_at_zero(ax: Axes, right: float) -> None:
    """The axis of bars: from 0, or the left end of what is drawn, to a given end."""
    left = min(0.0, ax.dataLim.x0) if math.isfinite(ax.dataLim.x0) else 0.0
    ax.set_xlim(1.05 * left, right if right > left else left + 1.0)
    _plain_ticks(ax.xaxis)


def bar_limit(lengths: npt.ArrayLike) -> float:
    """The length at which bars are cut, so that the others stay visible."""
    known = np.sort(np.asarray(lengths, dtype=np.float64))
    known = known[np.isfinite(known)]
    if not known.size or known[-1] <= 0:
        return 1.0
    longest, limit = float(known[-1]), _LIMIT * float(known[known.size // 2])
    return limit if 0 < limit < longest / _MUCH else longest


def _draw_stack(picture: Stack, ax: Axes) -> None:
    rows, confidence = picture.rows, picture.confidence
    names = [name for name in _ORDER if any(name in (row.parts or {}) for row in rows)]
    colors = _colors(ax, names)
    parts = [_row_parts(row, names) for row in rows]
    lengths = [sum(value for value in one.values() if value > 0) for one in parts]
    known = np.array([n for n, row in zip(lengths, rows, strict=True) if row.total is not None])
    limit = bar_limit(known)
    x_max = _LONGEST_WHISKER * limit
    right = 0.0
    _begin_rows(ax, [row.label for row in rows])
    occurring: dict[str, Any] = {}
    whiskers = cut = False
    for y, row in enumerate(rows):
        if row.new_group and y:
            ax.axhline(y - 0.5, color=_ink(ax, _LINE), linewidth=0.6, linestyle=_GUIDE)
        if row.total is None:
            _aside(ax, y, row.note)
            continue
        total, interval = float(_number(row.total)), _interval(row.total, confidence)
        side = {True: 0.0, False: 0.0}  # the ends of positive and of negative parts
        for name, value in parts[y].items():
            start = side[value > 0]
            side[value > 0] = stop = min(start + value, limit)
            if stop != start:
                look = _area(ax, colors, name)
                bar = ax.barh(y, stop - start, left=start, height=0.7, **look)
                occurring.setdefault(name, bar)
        end = side[True]
        if lengths[y] > limit * (1 + _ROUNDING):  # a slanted gap
            cut = True
            gap = limit * np.array([0.96, 0.97, 0.985, 0.975])
            ax.fill(gap, y + 0.4 * np.array([1, -1, -1, 1]), color=ax.get_facecolor(), zorder=3)
        elif interval is not None and np.isfinite(interval[0]):
            whiskers = True
            low, high = map(float, interval)
            end = max(end, _whisker(ax, total, y, low, high, x_max))
        right = max(right, _beside(ax, end, y, _shown(row.total)))
    ax.set_ylabel(picture.ylabel)
    if ax.dataLim.x0 < 0:
        ax.axvline(0.0, color=_ink(ax), linewidth=0.8)
    notes = [
        picture.note,
        _meaning(confidence) if whiskers else "",
        "bars with a gap are cut" if cut else "",
    ]
    if picture.baseline is not None:
        baseline = f"{picture.baseline_label}, {_shown(picture.baseline)}"
        if picture.baseline < 1.6 * right:
            right, baseline = max(right, 1.02 * picture.baseline), f"dashed: {baseline}"
            _draw_vertical(ax, picture.baseline, range(len(rows)), right)
        notes.append(baseline)
    _begin_at_zero(ax, right)
    if not np.isfinite(known).any():
        ax.set_xticks([])
    _label_x(ax, picture.xlabel, notes, _row_labels(ax))
    if occurring.keys() - {""}:
        handles = [occurring[name] for name in names if name in occurring]
        labels = [_part_label(picture.labels, name) for name in names if name in occurring]
        _legend_above(ax, handles, labels)


def _legend_above(
    ax: Axes, handles: Sequence[Any], labels: Sequence[str], points: float = 0.0
) -> None:
    """A legend above the axes inside of the figure, over the labels of rows, too, if it is wide.

    It is some points higher, above the labels of marks.
    """
    transforms = require("matplotlib.transforms", "figures")
    room, dpi = _width(ax), ax.figure.dpi
    rows = max((label.get_window_extent().width for label in ax.get_yticklabels()), default=0) / dpi
    look: Style = {"frameon": False, "fontsize": "small", "borderaxespad": 0.2}
    look["labelcolor"] = _ink(ax)
    for columns in range(len(labels), 0, -1):
        legend = ax.legend(handles, labels, loc="lower right", ncols=columns, **look)
        width = legend.get_window_extent().width / dpi
        if width < room - 0.2:
            break
    center = width < room - rows - 0.4
    legend.set_loc("lower center" if center else "lower right")
    shift = transforms.ScaledTranslation(0.0, points / 72, ax.figure.dpi_scale_trans)
    legend.set_bbox_to_anchor((0.5 if center else 1.0, 1.0), transform=ax.transAxes + shift)


def _row_parts(row: StackRow, names: Iterable[str]) -> dict[str, float]:
    """The numbers of the parts of a row; of a row without parts, the total under no name."""
    if row.parts:
        return {name: float(_number(row.parts[name])) for name in names if name in row.parts}
    return {} if row.total is None else {"": float(_number(row.total))}


_ORDER = [name for name in PART_WORDS if name != "total"]  # of stacked parts


def _part_label(labels: Mapping[str, str], name: str) -> str:
    return labels.get(name, printed_name(name))


# --- a diagnosis ---------------------------------------------------------------------------------


def _draw_breakdown(picture: Breakdown, ax: Axes) -> None:
    confidence, now = picture.confidence, float(_number(picture.total))
    colors = _colors(ax, (name for name, _ in picture.parts.values()))
    labels, headings = _breakdown_labels(picture), {0: "where the error comes from"}
    at, right, whiskers = 0.0, 0.0, False
    x_max = _LONGEST_WHISKER * now if 0 < now < math.inf else math.inf
    _begin_rows(ax, labels)
    causes = [*picture.parts.values(), ("total", picture.total)]
    _reach_left(ax, np.cumsum([float(_number(cell)) for _, cell in picture.parts.values()]))
    for y, (name, cell) in enumerate(causes, start=1):
        value = float(_number(cell))
        start = 0.0 if name == "total" else at
        if not math.isfinite(value):
            _beside(ax, start, y, _shown(value))
            continue
        ax.barh(y, value, left=start, height=0.66, **_area(ax, colors, name))
        end = max(start, start + value)
        interval = _interval(cell, confidence)
        if interval is not None and np.isfinite(interval[0]):
            low, high = (start + float(one) for one in interval)
            end, whiskers = max(end, _whisker(ax, start + value, y, low, high, x_max)), True
        if name == "total":
            right = max(right, _beside(ax, end, y, _shown(cell)))
            continue
        share = f"  ({percent(value / now)})" if 0 < now < math.inf else ""
        right = max(right, _beside(ax, end, y, _shown(cell) + share, color=_ink(ax, _SOFT)))
        at += value
        _connect(ax, at, y, y + 1)
    if picture.changes:
        headings[len(causes) + 1] = "what would change it"
    x_max = 2 * max(now if math.isfinite(now) else 0.0, right)
    for y, change in enumerate(picture.changes, start=len(causes) + 2):
        right = max(right, _draw_change(ax, y, change, now, confidence, x_max))
    drawn = [change for change in picture.changes if change.after is not None]
    notes = [_meaning(confidence)] if whiskers else []
    if any(_is_unclear(change) for change in drawn):
        notes.append("pale: interval includes 0")
    if math.isfinite(now):
        ends = [0.5, len(labels) - 0.5]
        ax.plot([now, now], ends, color=_ink(ax), linewidth=0.7, zorder=0.5)
        if picture.changes:
            side = "center" if now > 0.45 * right else "left"  # beside the heading
            look: Style = {"fontsize": "small", "ha": side, "va": "center", "bbox": _box(ax)}
            look["color"] = _ink(ax)
            ax.text(now, max(headings), "now", **look)
    if picture.baseline is not None and picture.baseline > 1.6 * right:
        notes.append(f"{picture.baseline_label}: {_shown(picture.baseline)}, beyond the axis")
    elif picture.baseline is not None:
        right = max(right, 1.02 * picture.baseline)
        _draw_baseline(ax, picture.baseline, picture.baseline_label, right, len(causes))
    for y, text in headings.items():
        box = _box(ax) | {"pad": 0.0}  # beside the axis
        look = {"fontsize": "small", "fontweight": "bold", "va": "center", "bbox": box}
        look["color"] = _ink(ax)
        ax.text(0.005, y, text, transform=ax.get_yaxis_transform(), **look)
    _begin_at_zero(ax, right)
    _label_x(ax, picture.xlabel, notes, _row_labels(ax))


def _breakdown_labels(picture: Breakdown) -> list[str]:
    """The labels of the rows, empty where there is a heading."""
    labels = ["", *picture.parts, "total"]
    if picture.changes:
        labels.append("")
    for change in picture.changes:
        labels.append(f"{change.label} (extrapolated)" if change.extrapolated else change.label)
    return labels


def _draw_baseline(ax: Axes, at: float, label: str, right: float, row: int) -> None:
    """A vertical line down to a row, with a label above the axes, inside of their ends."""
    _draw_vertical(ax, at, range(row + 1), right)
    side = "left" if at < 0.25 * right else "right" if at > 0.75 * right else "center"
    look: Style = {"fontsize": "small", "color": _ink(ax, _SOFT), "ha": side, "va": "bottom"}
    ax.text(at, 1.0, f"{label}: {_shown(at)}", transform=ax.get_xaxis_transform(), **look)


def _connect(ax: Axes, x: float, above: float, below: float) -> None:
    """A thin line from the end of a bar to the beginning of the next."""
    ax.plot([x, x], [above, below], color=_ink(ax, _LINE), linewidth=0.7, zorder=0.4)


def _is_unclear(change: Change) -> bool:
    """Whether the interval of a gain includes 0."""
    return change.low is not None and change.high is not None and change.low <= 0 <= change.high


def _draw_change(
    ax: Axes, y: int, change: Change, now: float, confidence: float | None, x_max: float
) -> float:
    """Draw one change; return the end of the axis that it needs."""
    if change.after is None:
        _aside(ax, y, change.note)
        return 0.0
    after, start = float(_number(change.after)), now if math.isfinite(now) else 0.0
    if not math.isfinite(after):
        return _beside(ax, start, y, _shown(after))
    pale = 0.45 if _is_unclear(change) else 1.0
    look: Style = {"color": _BETTER if after <= now else _WORSE, "alpha": pale, "linewidth": 0.0}
    ax.barh(y, after - start, left=start, height=0.66, **look)
    end, ends = max(start, after), _interval(change.after, confidence)
    text = _shown(change.after)
    if change.gain is not None and 0 < now < math.inf:
        if change.low is None or change.high is None:
            text += f", gain {_gain(change.gain)}"
        else:
            shown = percents_between(change.low, change.high, value=change.gain, sign="+")
            least, most, gained = (one.replace("-", "−") for one in shown)
            text += f", gain {gained}  [{least}, {most}]"
            low, high = max(now * (1 - change.high), 0.0), now * (1 - change.low)
            ends = np.asarray(low), np.asarray(high)
    if ends is not None and np.isfinite(ends[0]):
        end = max(end, _whisker(ax, after, y, float(ends[0]), float(ends[1]), x_max))
    return _beside(ax, end, y, text)


def _draw_waterfall(picture: Waterfall, ax: Axes) -> None:
    colors = _colors(ax, (part for _, part, _ in picture.steps))
    steps, labels = _waterfall_steps(picture), _waterfall_labels(picture)
    start_at = at = float(_number(picture.start))
    _begin_rows(ax, labels)
    right, arrows = 0.0, []
    bars = [("total", picture.start), *((part, change) for _, part, change in steps)]
    for y, (part, cell) in enumerate([*bars, ("total", picture.end)]):
        is_step, value = 0 < y <= len(steps), float(_number(cell))
        start = at if is_step else 0.0
        ax.barh(y, value, left=start, height=0.68, **_area(ax, colors, part))
        if not is_step:
            text = _shown(cell)
            if y and picture.gain is not None:
                text += f", gain {_gain(picture.gain)}"
            right = max(right, _beside(ax, value, y, text))
            continue
        at += value
        arrows.append((at, y, "<" if value < 0 else ">"))
        right = max(right, start, at)
    for y, x in enumerate([start_at, *(x for x, *_ in arrows)]):
        _connect(ax, x, y, y + 1)
    for x, y, marker in arrows:
        look: Style = {"color": _ink(ax), "markeredgecolor": _paper(ax), "markeredgewidth": 0.8}
        ax.plot(x, y, marker, markersize=8, clip_on=False, **look)
    _begin_at_zero(ax, right)
    small = [label for label, *_ in picture.steps if label not in {label for label, *_ in steps}]
    notes = [picture.note]
    notes += [f"not shown: {_listed(small)}, less than {percent(_SMALL_STEP)}"] * bool(small)
    _label_x(ax, picture.xlabel, notes, labels)


def _waterfall_steps(picture: Waterfall) -> list[tuple[str, str, Cell]]:
    """The steps that are not too small to be seen."""
    least = _SMALL_STEP * max(float(_number(end)) for end in (picture.start, picture.end))
    return [step for step in picture.steps if abs(float(_number(step[2]))) >= least]


def _waterfall_labels(picture: Waterfall) -> list[str]:
    """The labels of the rows, with the changes."""
    changes = [f"{label} {_signed(change)}" for label, _, change in _waterfall_steps(picture)]
    return [picture.start_label, *changes, picture.end_label]


# --- curves --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class _Visible:
    """The numbers of a line at the finite x, NaN where it has a gap."""

    line: Curve
    color: str
    y: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    dashed: npt.NDArray[np.bool_]
    infinite: FloatArray  # ∞ and -∞ where the value is infinite, 0 elsewhere

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Whether a point has no neighbours to which a line leads."""
        there = np.pad(np.isfinite(self.y), 1)
        return np.asarray(there[1:-1] & ~there[:-2] & ~there[2:])


def _visible(
    ax: Axes, picture: Curves, known: npt.NDArray[np.bool_]
) -> tuple[list[_Visible], list[str], list[str]]:
    """The lines with their colours, and the labels of those cut off at 0, and without difference.

    Lines that are unknown or, of errors and of the differences of parts, 0 everywhere are left out.
    """
    colors = _colors(ax, (line.part for line in picture.lines))
    cycle = iter(CYCLE * len(picture.lines))
    numbers = [np.broadcast_to(_number(line.y), known.shape)[known] for line in picture.lines]
    largest = max((float(np.abs(y[np.isfinite(y)]).max(initial=0.0)) for y in numbers), default=0.0)
    least = _ROUNDING * largest if picture.signed else 0.0
    shown: list[_Visible] = []
    cut: list[str] = []
    equal: list[str] = []
    for line, y in zip(picture.lines, numbers, strict=True):
        color = colors.get(line.part) if not line.color else None
        color = color or _ink(ax, line.color or next(cycle))
        if isinstance(line.y, Uncertain) and not (line.points or picture.signed):
            uncertain = np.broadcast_to(np.asarray(line.y.standard_error) > 0, known.shape)[known]
            if np.any(ends := uncertain & (y <= 0)):
                cut.append(line.label)
                y = np.where(ends, np.nan, y)
        if np.isnan(y).all():
            continue
        if np.all(np.abs(np.nan_to_num(y)) <= least):
            if not picture.signed:
                continue
            if line.part not in ("", "total"):
                equal.append(line.label)
                continue
        interval = _interval(line.y, picture.confidence, picture.signed) if line.band else None
        if line.low is not None and line.high is not None:
            given = np.asarray(line.low, dtype=np.float64)
            interval = given if picture.signed else np.maximum(given, 0.0), np.asarray(line.high)
        low, high = interval or (None, None)
        dashed = np.zeros(known.shape, bool) if line.extrapolated is None else line.extrapolated
        shown.append(
            _Visible(
                line=line,
                color=color,
                y=np.where(np.isfinite(y), y, np.nan),
                low=None if low is None else np.broadcast_to(low, known.shape)[known],
                high=None if high is None else np.broadcast_to(high, known.shape)[known],
                dashed=np.broadcast_to(dashed, known.shape)[known],
                infinite=np.where(np.isinf(y), y, 0.0),
            )
        )
    return shown, cut, equal


def _draw_curves(picture: Curves, ax: Axes, by_end: bool = True) -> None:
    """Draw the lines; those of the legend are in the order of their right ends, or as given."""
    given = np.atleast_1d(np.asarray(picture.x, dtype=np.float64))
    known = np.isfinite(given)
    x, notes = given[known], [picture.note]
    shown, cut, equal = _visible(ax, picture, known)
    with np.errstate(invalid="ignore"):
        values = np.concatenate([one.y[one.y > 0] for one in shown]) if shown else np.ones(1)
    logx = _is_wide(x) if picture.logx is None else picture.logx
    logy = not picture.signed and _is_wide(values) if picture.logy is None else picture.logy
    logy = logy and values.size > 0
    bottom = 0.0
    if logy:
        ax.set_yscale("log")
        bottom, shown, negative, tiny, leaving = _above_bottom(shown)
        cut += negative
        notes += [f"not shown: {tiny}, below the axis"] * bool(tiny)
        notes += [f"in part below the axis: {leaving}"] * bool(leaving)
    notes += [f"not shown: {_listed(cut)} at or below zero"] * any(cut)
    notes += [f"no difference: {_listed(equal)}"] * any(equal)
    if logx:
        ax.set_xscale("log")
    handles = {id(one): _draw_line(ax, x, one, bottom) for one in shown}
    if x.size:
        _limit_axes(ax, x, shown, logx, logy, bottom)
    for axis, log in ((ax.xaxis, logx), (ax.yaxis, logy)):
        (_log_ticks if log else _plain_ticks)(axis)
    if np.unique(x).size == 1:
        ax.set_xticks(x[:1], [whole(float(x[0]))], minor=False)
    if any(one.infinite.any() for one in shown):
        _draw_infinite(ax, x, shown)
        notes.append("triangles: infinite")
    height = _draw_marks(ax, picture.marks)
    missing = "" if known.all() else " (∞ not shown)"
    level = None
    if picture.baseline is not None and shown:
        level = _draw_level(ax, picture.baseline, logy)
        if level is None:
            notes.append(f"{picture.baseline_label}: {_shown(picture.baseline)}, beyond the axis")
    ranges = {"whiskers" if one.line.points else "bands" for one in shown if one.low is not None}
    if ranges:
        notes.append(_meaning(picture.confidence, " and ".join(sorted(ranges, reverse=True))))
    later = [one for one in shown if one.dashed.any()]
    if later:
        drawn = [one for one in later if not one.line.points or one.line.joined]
        how = ["dashed"] * any((one.dashed & ~one.alone).any() for one in drawn)
        how += ["open"] * any(one.line.points or (one.dashed & one.alone).any() for one in later)
        notes.append(f"{' or '.join(how)}: extrapolated")
    named = [one for one in shown if one.line.label]
    if by_end:
        named.sort(key=_last, reverse=True)
    entries = [handles[id(one)] for one in named], [one.line.label for one in named]
    if level is not None:
        entries[0].append(level)
        entries[1].append(f"{picture.baseline_label}:\n{_shown(float(level.get_ydata()[0]))}")
    has_legend = len(named) > 1 or level is not None or (named and named[0].line.part != "total")
    beside = [line for label in entries[1] for line in label.splitlines()]
    _label_x(
        ax, picture.xlabel + missing, notes, beside if has_legend and _width(ax) >= _NARROW else []
    )
    ax.set_ylabel(picture.ylabel)
    if has_legend:
        if _width(ax) < _NARROW:
            _legend_above(ax, *entries, points=height)
        else:
            place: Style = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
            ax.legend(*entries, **place, fontsize="small", labelcolor=_ink(ax))


def _draw_level(ax: Axes, at: float, log: bool) -> Any:
    """A horizontal line at an error within the axis, or near; None if it is beyond."""
    low, high = ax.get_ylim()
    if not low <= at <= (3.0 if log else 1.3) * high:
        return None
    ax.set_ylim(top=max(high, at * (1.1 if log else 1.02)))
    look: Style = {"color": _ink(ax, _SOFT), "linewidth": 0.9, "linestyle": _GUIDE}
    return ax.axhline(at, **look, zorder=0.5)


def _last(one: _Visible) -> float:
    """The last number of a line."""
    known = one.y[np.isfinite(one.y)]
    return float(known[-1]) if known.size else math.inf


def _draw_infinite(ax: Axes, x: FloatArray, shown: Sequence[_Visible]) -> None:
    """Triangles side by side at the upper edge of the axes for ∞, at the lower one for -∞."""
    transforms = require("matplotlib.transforms", "figures")
    for value, edge, marker in ((np.inf, 1.0, "^"), (-np.inf, 0.0, "v")):
        ends = np.array([one.infinite == value for one in shown])
        places = ends.cumsum(axis=0) - (ends.sum(axis=0) + 1) / 2
        for one, chosen, place in zip(shown, ends, places, strict=True):
            for k in np.flatnonzero(chosen):
                shift = transforms.ScaledTranslation(
                    7 * place[k] / 72, (1 - 2 * edge) * 4 / 72, ax.figure.dpi_scale_trans
                )
                look: Style = {"markersize": 6, "color": one.color, "clip_on": False, "zorder": 4}
                where = ax.get_xaxis_transform() + shift
                ax.plot(x[k], edge, marker, transform=where, **look)


def _above_bottom(
    shown: list[_Visible],
) -> tuple[float, list[_Visible], list[str], str, str]:
    """The bottom of a logarithmic axis, and the lines above, with gaps at 0 and below.

    With the labels of lines that have such gaps, that are below the axis, and in part below.
    """
    gaps = [np.where(one.y > 0, one.y, np.nan) for one in shown]
    largest = np.fmax.reduce(gaps) if gaps else np.ones(1)
    least = np.fmin.reduce([one.y[one.y > 0].min() for one in shown if np.any(one.y > 0)] or [1.0])
    bottom = max(0.8 * float(least), _LEAST_SHOWN * float(np.nanmin(largest)))
    visible, negative, tiny, leaving = [], [], [], []
    for one, y in zip(shown, gaps, strict=True):
        if np.any(one.y <= 0):
            negative.append(one.line.label)
        if np.any(y > bottom) or one.infinite.any():
            visible.append(replace(one, y=y))
            if np.any(y < bottom):
                leaving.append(one.line.label)
        elif np.any(y > 0):
            tiny.append(one.line.label)
    return bottom, visible, negative, _listed(tiny), _listed(leaving)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


def _draw_line(ax: Axes, x: FloatArray, one: _Visible, bottom: float) -> Any:
    """Draw a line, or points; return what stands for it in a legend."""
    line, color, y, marks = one.line, one.color, one.y, one.dashed
    low = None if one.low is None else np.maximum(one.low, bottom / 2) if bottom else one.low
    width = 2.0 if line.part == "total" else 1.4
    marker = _MARKERS[line.style % len(_MARKERS)]
    look: Style = {"color": color, "markersize": 4}
    drawn = None
    if line.points:
        style: Style = look | {"fmt": marker, "elinewidth": 1.0, "capsize": 2}
        for chosen, face in ((~marks, color), (marks, ax.get_facecolor())):
            where = chosen & np.isfinite(y)
            if not where.any():
                continue
            reach = None
            if low is not None and one.high is not None:
                reach = np.nan_to_num(
                    [np.maximum(y - low, 0.0)[where], np.maximum(one.high - y, 0.0)[where]]
                )
            new = ax.errorbar(x[where], y[where], reach, markerfacecolor=face, **style)
            drawn = drawn or new
        if drawn is not None and not line.joined:
            return drawn
    elif low is not None and one.high is not None:
        there = np.isfinite(y)
        band: Style = {"color": color, "alpha": 0.16, "linewidth": 0}
        ax.fill_between(x, low, one.high, where=there, **band)
    dashed = marks.copy()  # with the pieces between marks and their neighbours
    dashed[1:] |= marks[:-1]
    dashed[:-1] |= marks[1:]
    style = {"color": color, "linewidth": width, "solid_capstyle": "round"}
    solid = _DOTS if line.dotted else _STYLES[line.style % len(_STYLES)]
    handles = [
        ax.plot(x, np.where(chosen, y, np.nan), linestyle=dashes, **style)[0]
        for chosen, dashes in ((~marks, solid), (dashed, _DASHES))
        if np.any(chosen & np.isfinite(y) & ~one.alone)
    ]
    lines = require("matplotlib.lines", "figures")
    if line.points:  # points and the line through them
        dashes = handles[0].get_linestyle() if handles else "none"
        return lines.Line2D([], [], marker=marker, linestyle=dashes, linewidth=width, **look)
    if one.alone.any():
        for chosen, face in ((~marks, color), (marks, ax.get_facecolor())):
            where = one.alone & chosen
            if where.any():
                handles += ax.plot(x[where], y[where], "o", markerfacecolor=face, **look)
    if handles:
        return handles[0]
    return lines.Line2D([], [], marker="^", linestyle="none", **look)


def _limit_axes(
    ax: Axes, x: FloatArray, shown: Sequence[_Visible], logx: bool, logy: bool, bottom: float
) -> None:
    """Axes that end with the curves, and begin at 0 unless they are logarithmic or signed."""
    first, last = float(x.min()), float(x.max())
    marked = any(one.line.points or one.alone.any() or one.infinite.any() for one in shown)
    space = 0.03 if marked else 0.0
    if last > first:
        if logx:
            factor = (last / first) ** space
            ax.set_xlim(first / factor, last * factor)
        else:
            ax.set_xlim(first - space * (last - first), last + space * (last - first))
    if logy:
        ax.set_ylim(bottom=bottom)
    elif all(
        np.all(~(one.y < 0)) and not np.any(one.low < 0 if one.low is not None else False)
        for one in shown
    ):
        ax.set_ylim(bottom=0.0)
    else:
        ax.axhline(0.0, color=_ink(ax), linewidth=0.7, zorder=0.5)


def _draw_marks(ax: Axes, marks: Sequence[Mark], **style: Any) -> float:
    """Vertical lines within the axis, with labels above the axes, on the outer sides of close ones.

    Return the height of the labels in points.
    """
    height = 0.0
    left, right = ax.get_xlim()
    seen = {m.x: m.label for m in marks if m.x is not None and left <= m.x <= right}
    places = sorted(seen)
    to_axes = ax.transData + ax.transAxes.inverted()
    along = to_axes.transform([(x, 1.0) for x in places]) if places else np.empty((0, 2))
    for k, x in enumerate(places):
        room = 0.011 * (len(seen[x]) + 4)
        before = k > 0 and along[k, 0] - along[k - 1, 0] < room
        after = k + 1 < len(places) and along[k + 1, 0] - along[k, 0] < room
        side = "left" if before else "right" if after else "center"
        guide: Style = {
            "color": _ink(ax, _SOFT),
            "linewidth": 0.9,
            "linestyle": _GUIDE,
            "zorder": 0.5,
        }
        ax.axvline(x, **guide | style)
        place: Style = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        look: Style = {"fontsize": "small", "color": _ink(ax, _SOFT), "ha": side, "va": "bottom"}
        above = 2 + 11 * (before and after)
        height = max(height, above + 12.0)
        ax.annotate(seen[x], (x, 1.0), xytext=(0, above), **place, **look)
    return height


def _draw_family(picture: CurveFamily, ax: Axes) -> None:
    totals = _number(picture.totals)
    rows = len(totals)
    pyplot = require("matplotlib.pyplot", "figures")
    colors = require("matplotlib.colors", "figures")
    shades = pyplot.get_cmap(_SEQUENTIAL)(np.linspace(*_LEVELS[_theme(ax)], 256))
    shading = colors.ListedColormap(shades)
    levels = None if picture.levels is None else np.asarray(picture.levels, dtype=np.float64)
    few = rows <= _FEW_ROWS
    if few or levels is None or not np.isfinite(levels).all():
        levels, norm = np.arange(rows, dtype=np.float64), colors.Normalize(0, max(rows - 1, 1))
        bar = False
    else:
        norm = (colors.LogNorm if _is_wide(levels) else colors.Normalize)(
            levels.min(), levels.max()
        )
        bar = True
    named = set(range(rows) if few else np.linspace(0, rows - 1, _FEW_ROWS).round().astype(int))
    masks = np.broadcast_to(
        False if picture.extrapolated is None else picture.extrapolated, totals.shape
    )
    interval = None  # of points only: bands of many curves overlap
    if picture.lines is not None or (totals.shape[1] <= _FEW_COLUMNS and not masks.any()):
        interval = _interval(picture.totals, picture.confidence)
    lines = [
        Curve(
            label="" if bar or row not in named else picture.names[row],
            y=totals[row],
            low=None if interval is None else interval[0][row],
            high=None if interval is None else interval[1][row],
            points=interval is not None,
            joined=picture.lines is None,
            extrapolated=masks[row],
            color=colors.to_hex(shading(norm(levels[row]))),
        )
        for row in range(rows)
    ]
    if picture.lines is not None:
        behind = zip(lines, picture.lines, strict=True)
        lines = [Curve(label="", y=y, color=line.color) for line, y in behind] + lines
    axes = {f.name: getattr(picture, f.name) for f in fields(_Along)}
    _draw_curves(Curves(lines=[*lines, *picture.others], **axes), ax, by_end=False)
    if bar:
        mappable = pyplot.cm.ScalarMappable(norm, shading)
        ax.figure.colorbar(mappable, ax=ax, label=picture.levels_label, pad=0.02)


# --- maps ----------------------------------------------------------------------------------------


def _edges(centers: FloatArray, log: bool) -> FloatArray:
    """The boundaries of cells around given centers; those of positive ones are not negative."""
    at = np.log(centers) if log else centers
    if at.size < 2:
        inner = np.array([at[0] - 0.5, at[0] + 0.5])
        return np.exp(inner) if log else inner
    middle = (at[1:] + at[:-1]) / 2
    ends = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    if log:
        ends = np.exp(ends)
    return np.asarray(np.maximum(ends, 0.0)) if np.all(centers > 0) else ends


def _is_geometric(values: FloatArray) -> bool:
    """Whether positive numbers are more even in their logarithms, or span a large factor."""
    if values.size < 3 or values.min() <= 0 or _is_wide(values):
        return _is_wide(values)
    even = [
        np.ptp(steps) / np.abs(steps).max() for steps in (np.diff(values), np.diff(np.log(values)))
    ]
    return bool(even[1] < even[0])


def _draw_map(picture: Map, ax: Axes) -> None:
    pyplot = require("matplotlib.pyplot", "figures")
    colors = require("matplotlib.colors", "figures")
    x, y, z = (np.asarray(v, dtype=np.float64) for v in (picture.x, picture.y, picture.z))
    columns, rows = np.isfinite(x), np.isfinite(y)
    x, y, z = x[columns], y[rows], z[rows][:, columns]
    known = z[np.isfinite(z)]
    logs = [_is_geometric(x), _is_geometric(y)]
    positive = bool(known.size and known.min() > 0)
    low, top = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    high = min(top, _BRIGHTEST * float(np.median(known))) if positive else top
    log = positive and high > 1.02 * low
    norm = (colors.LogNorm if log else colors.Normalize)(low, high)
    shading = pyplot.get_cmap(_SEQUENTIAL).with_extremes(bad="#DDDDDD")
    for scale, set_scale in zip(logs, (ax.set_xscale, ax.set_yscale), strict=True):
        if scale:
            set_scale("log")
    edges = [_edges(values, scale) for values, scale in zip((x, y), logs, strict=True)]
    shown = np.ma.masked_invalid(np.where(z == np.inf, 2 * top + 1, z))
    mesh = ax.pcolormesh(*edges, shown, norm=norm, cmap=shading, rasterized=True)
    extend = "max" if top > high or np.any(z == np.inf) else "neither"
    bar = ax.figure.colorbar(mesh, ax=ax, label=picture.zlabel, pad=0.02, extend=extend)
    for axis, scale in zip((ax.xaxis, ax.yaxis, bar.ax.yaxis), (*logs, log), strict=True):
        (_log_ticks if scale else _plain_ticks)(axis)
    texts = _draw_points(ax, picture.points)
    if max(z.shape) <= _COARSE:
        _draw_numbers(ax, x, y, z)
    elif min(z.shape) > 1 and high > 1.02 * low:
        _draw_contours(ax, x, y, z, (low, high), texts)
    _draw_marks(ax, picture.marks, color="white", zorder=3)
    missing = "" if columns.all() else " (∞ not shown)"
    _label_x(ax, picture.xlabel + missing, [picture.note])
    ax.set_ylabel(picture.ylabel + ("" if rows.all() else " (∞ not shown)"))


def _draw_numbers(ax: Axes, x: FloatArray, y: FloatArray, z: FloatArray) -> None:
    """The number of each cell."""
    look: Style = {"fontsize": "small", "color": "white", "path_effects": _outlined("#333333")}
    for (row, column), value in np.ndenumerate(z):
        if not np.isnan(value):
            ax.text(
                float(x[column]), float(y[row]), _shown(value), ha="center", va="center", **look
            )


def _outlined(color: str = "white") -> list[Any]:
    effects = require("matplotlib.patheffects", "figures")
    return [effects.withStroke(linewidth=2.2, foreground=color)]


def _draw_contours(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    ends: tuple[float, float],
    texts: Sequence[Any],
) -> None:
    """A few contour lines at round numbers, with labels apart from other texts."""
    ticker = require("matplotlib.ticker", "figures")
    low, high = ends
    candidates = [ticker.MaxNLocator(nbins=6)] if high < 10 * low or low <= 0 else []
    candidates += [ticker.LogLocator(subs=subs) for subs in ((1, 2, 5), (1, 3), (1,))]
    for locator in candidates:
        levels = [v for v in locator.tick_values(low, high) if low < v < high]
        if len(levels) < 8:
            break
    style: Style = {"colors": "white", "linewidths": 0.7, "alpha": 0.85}
    lines = ax.contour(x, y, np.ma.masked_invalid(z), levels=levels, **style)
    look: Style = {"fontsize": "x-small", "color": "white", "path_effects": _outlined("#333333")}
    to_axes = ax.transData + ax.transAxes.inverted()
    boxes = [one.get_window_extent().transformed(ax.transAxes.inverted()) for one in texts]
    taken = np.array([[box.x0, box.y0, box.x1, box.y1] for box in boxes]).reshape(-1, 4)
    taken += [-0.09, -0.05, 0.09, 0.05]
    for height, segments in zip(lines.levels, lines.allsegs, strict=True):
        free = []
        for piece in segments:
            at = to_axes.transform(piece) if len(piece) else np.empty((0, 2))
            inside = np.all(np.abs(at - 0.5) < 0.44, axis=1)
            over = (at[:, None] > taken[:, :2]) & (at[:, None] < taken[:, 2:])
            free.append(piece[inside & ~np.any(over.all(axis=2), axis=1)])
        longest = max(free, key=len, default=np.empty((0, 2)))
        if len(longest):
            middle_x, middle_y = longest[len(longest) // 3]
            ax.text(middle_x, middle_y, f"{height:,.6g}", ha="center", va="center", **look)


def _draw_points(ax: Axes, points: Sequence[MapPoint]) -> list[Any]:
    """Markers with labels, above and below them in turn, inside of the axes; return the labels."""
    texts = []
    for k, point in enumerate(points):
        marker, size = (("o", 7), ("*", 13), ("D", 6))[k % 3]
        style: Style = {"markerfacecolor": "white", "markeredgecolor": BLACK, "clip_on": False}
        ax.plot(point.x, point.y, marker, markersize=size, linestyle="none", zorder=5, **style)
        ax_x, ax_y = ax.transAxes.inverted().transform(ax.transData.transform((point.x, point.y)))
        side: Literal["left", "right"] = "right" if ax_x > 0.7 else "left"
        above = ax_y < 0.12 or (ax_y < 0.88 and k % 2 == 0)
        shift = (-6 if side == "right" else 6, 6 if above else -6)
        look: Style = {
            "fontsize": "small",
            "fontweight": "bold",
            "color": BLACK,
            "path_effects": _outlined(),
            "zorder": 6,
        }
        place: Style = {
            "ha": side,
            "va": "bottom" if above else "top",
            "textcoords": "offset points",
        }
        texts.append(ax.annotate(point.label, (point.x, point.y), xytext=shift, **place, **look))
    return texts
