"""Drawing shared by all figures: house style, curves, simulated points, legends and labels.

The colours are those of Okabe and Ito, distinguishable by colour-blind readers; each curve also has
its own dashes, so that a grey print loses nothing. Markers are for data only: simulations and
trained networks. Fonts come with matplotlib, and the user's matplotlibrc is not applied, so that a
figure looks the same everywhere.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from doubletrouble.errors import require
from doubletrouble.figures._panel import Line, Panel, Points
from doubletrouble.palette import (
    BLACK,
    BLUE,
    CAUSES,
    GREEN,
    ORANGE,
    PART_WORDS,
    PURPLE,
    SKY,
    VERMILION,
)
from doubletrouble.parameters import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

PanelData = TypeVar("PanelData")

RATIO = "Features per sample, $P/N$"
ERROR = "Test error"
SIMULATION = "Markers: simulation"
INK = "#333333"  # of thin lines and small labels
WHITE_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}

_WIDTH = 7.0  # inches: the text width of a two-column journal page
_BAR = 2  # standard errors on each side of a simulated value
_NARROW = 1.0  # inches: a decade of an x axis with less has fewer labels
_SLOPE: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": (0, (2, 1.5))}
_ABOVE = 0.02  # between a curve and the mark of its slope, as a share of the axis
_APART = 0.048  # between labels in the margin, as a share of the axis
_FEW_DECADES = 300  # an axis over less than this factor has too few powers of ten as labels

_RC: dict[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 10.5,
    "legend.fontsize": 10.0,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.pad": 5.0,  # labels of minor ticks, which are shorter, in line with the others
    "ytick.minor.pad": 5.0,
    "xtick.minor.width": 0.5,
    "ytick.minor.width": 0.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.title_fontsize": 10.0,
    "legend.handlelength": 3.0,
    "legend.columnspacing": 1.8,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.wspace": 0.06,
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",  # no font needed to read the file
    "svg.hashsalt": "doubletrouble",  # the same identifiers in every run
    "pdf.fonttype": 42,  # text stays text
}


class Stroke(NamedTuple):
    """Label, colour and dashes of a curve, and the marker of its simulated points."""

    label: str
    color: str
    linestyle: Any
    marker: str
    width: float
    face: str  # of the marker

    @property
    def line(self) -> dict[str, Any]:
        """The look of the curve, for `Axes.plot`."""
        return {"color": self.color, "linestyle": self.linestyle, "linewidth": self.width}

    @property
    def data(self) -> dict[str, Any]:
        """The look of the markers, for `Axes.plot`."""
        return {"marker": self.marker, "markerfacecolor": self.face, "markeredgewidth": 1.0}


_COLORS = CAUSES["light"]
_SPARSE, _MIXED, _DENSE = (0, (6, 2)), (0, (5, 1.5, 1, 1.5)), (0, (1.2, 1.0))
_TWO_DOTS, _SHORT = (0, (3, 1, 1, 1, 1, 1)), (0, (2.5, 1.2))

# In the order of the legend; the first is drawn underneath.
PARTS: dict[str, Stroke] = {
    part: Stroke(PART_WORDS[part].label, _COLORS[part], dashes, marker, width, face)
    for part, dashes, marker, width, face in (
        ("total", "-", "X", 2.2, _COLORS["total"]),
        ("noise", "-", "o", 1.5, _COLORS["noise"]),
        ("initialization", _SPARSE, "s", 1.5, "white"),
        ("sampling", _MIXED, "^", 1.5, _COLORS["sampling"]),
        ("bias", _DENSE, "D", 1.9, "white"),
    )
}
"""The total error and its parts."""

SERIES: tuple[Stroke, ...] = (
    Stroke("", BLACK, "-", "o", 1.7, BLACK),
    Stroke("", VERMILION, _SPARSE, "s", 1.7, "white"),
    Stroke("", BLUE, _MIXED, "^", 1.7, BLUE),
    Stroke("", GREEN, _DENSE, "D", 2.0, "white"),
    Stroke("", PURPLE, _TWO_DOTS, "v", 1.7, PURPLE),
    Stroke("", ORANGE, _TWO_DOTS, "P", 1.7, ORANGE),
    Stroke("", SKY, _SHORT, "p", 1.7, "white"),
)
"""For curves that differ in a number, such as K: in the order of the curves."""


# --- the figure ----------------------------------------------------------------------------------


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the house style; matplotlib's settings are restored afterwards."""
    matplotlib = require("matplotlib", "figures")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


@contextmanager
def new_figure(*, height: float) -> "Iterator[Figure]":
    """An empty figure of journal width in the house style, laid out when the block ends.

    It is made without pyplot: no window and no global state.
    """
    with house_style():
        figure: Figure = require("matplotlib.figure", "figures").Figure(figsize=(_WIDTH, height))
        yield figure
        for axes in figure.axes:  # ticks are made under the house style, not at a later save
            fill_ticks(axes)
        figure.draw_without_rendering()


def corner_text(figure: "Figure", text: str) -> None:
    """Small text in the lower left corner, outside the panels."""
    figure.text(0.004, 0.004, text, ha="left", va="bottom", fontsize=5.5, color="#808080")


def side_by_side(
    figure: "Figure", panels: Sequence[PanelData], draw: "Callable[[Axes, PanelData], None]"
) -> "Sequence[Axes]":
    """Draw panels with common axes in one row, named by letters; return the axes."""
    grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)
    row: Sequence[Axes] = grid[0]
    for axes, panel in zip(row, panels, strict=True):
        draw(axes, panel)
        axes.label_outer()
    letters(row)
    return row


def letters(row: Sequence["Axes"]) -> None:
    """Name the panels (a), (b), ...; a single panel has no name."""
    if len(row) > 1:
        for index, axes in enumerate(row):
            axes.set_title(f"({chr(ord('a') + index)})", loc="left")


# --- curves, points, annotations -----------------------------------------------------------------


def curve(
    axes: "Axes", line: Line, stroke: Stroke, *, label: str = "", simulated: bool = False
) -> None:
    """Draw a curve; if `simulated`, its legend entry has the marker of its simulated points."""
    if not np.any((line.y > 0) & np.isfinite(line.y)):
        return  # zero cannot be drawn on a logarithmic axis
    look = stroke.line | (stroke.data | {"markevery": []} if simulated else {})
    axes.plot(line.x, line.y, label=label or stroke.label, **look)


def curves(axes: "Axes", panel: Panel, looks: Mapping[str, Stroke]) -> None:
    """Draw the lines of a panel that have a stroke in `looks`, and their simulated points."""
    points = [points for points in panel.points if points.label in looks]
    simulated = {points.label for points in points}
    for label, stroke in looks.items():
        curve(axes, panel.line(label), stroke, simulated=label in simulated)
    if points:
        simulated_points(axes, points, looks)


def labelled(labels: Mapping[str, str], using: Iterable[Stroke] = ()) -> dict[str, Stroke]:
    """A stroke for each line, by its label in a panel; `labels` has those of the legend."""
    chosen = zip(labels.items(), using or strokes(), strict=False)
    return {name: stroke._replace(label=label) for (name, label), stroke in chosen}


def strokes() -> Iterator[Stroke]:
    """Strokes for any number of curves."""
    return itertools.cycle(SERIES)


def points_with_bars(
    axes: "Axes", x: Any, value: Any, standard_error: Any, stroke: Stroke, *, markersize: float
) -> None:
    """Draw markers with bars of two standard errors."""
    axes.errorbar(
        x,
        value,
        yerr=_BAR * standard_error,
        linestyle="none",
        color=stroke.color,
        **stroke.data,
        markersize=markersize,
        elinewidth=1.0,
        capsize=2.0,
        zorder=3,
    )
    axes.relim()  # matplotlib before 3.11 has the origin in the range of the bars


def simulated_points(
    axes: "Axes", simulated: Iterable[Points], looks: Mapping[str, Stroke]
) -> None:
    """Draw simulated values with bars of two standard errors, and name them in the legend."""
    for points in simulated:
        stroke, error = looks[points.label], points.standard_error
        points_with_bars(axes, points.x, points.value, error, stroke, markersize=4.8)
    legend_line(axes, SIMULATION, linestyle="none", marker="o", markerfacecolor="white", color=INK)


def threshold(axes: "Axes", x: float = 1.0, label: str = "$P=N$", *, align: str = "center") -> None:
    """Mark a value on the x axis by a vertical line, with its name above the axes."""
    axes.axvline(x, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        label,
        (x, 1.0),
        (0, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha=align,
        va="bottom",
        color=INK,
        annotation_clip=True,
    )


def arrow_to_minimum(
    axes: "Axes",
    x: float,
    y: float,
    stroke: Stroke,
    *,
    text: str = "",
    start: tuple[float, float] = (0, -18),
) -> None:
    """An arrow to the least value of a curve; `start` is its other end, in points from there."""
    axes.annotate(
        text,
        (x, y),
        start,
        textcoords="offset points",
        ha="center",
        va="top",
        color=stroke.color,
        fontsize=9,
        arrowprops={
            "arrowstyle": "-|>,head_length=0.35,head_width=0.16",
            "color": stroke.color,
            "linewidth": 1.1,
            "shrinkA": 0,
            "shrinkB": 1.5,
        },
    )


def corner(axes: "Axes", text: str) -> None:
    """The constants of a panel, in its upper right corner."""
    box = {**WHITE_BOX, "pad": 1.5}
    axes.text(0.97, 0.96, text, transform=axes.transAxes, ha="right", va="top", zorder=4, bbox=box)


def contour_labels(
    axes: "Axes",
    positions: Iterable[tuple[float, float | None, float | None]],
    text: Callable[[float], str] = "{:g}".format,
) -> None:
    """Write levels of contours at positions (level, x, y); None where there is no contour."""
    for level, x, y in positions:
        if x is not None and y is not None:
            axes.text(
                x, y, text(level), ha="center", va="center", fontsize=8.5, zorder=3, bbox=WHITE_BOX
            )


def crossing(
    axis: FloatArray, values: FloatArray, level: float, *, last: bool = False
) -> float | None:
    """The first or last point of a logarithmic axis at which values cross a level, or None.

    >>> crossing(np.array([1.0, 100.0, 1e4]), np.array([0.0, 2.0, 1.0]), 1.0)
    10.0
    """
    below = values < level
    crossed = np.flatnonzero(below[1:] != below[:-1])
    if not crossed.size:
        return None
    k = int(crossed[-1 if last else 0])
    share = (level - values[k]) / (values[k + 1] - values[k])
    return float(axis[k] * (axis[k + 1] / axis[k]) ** share)


def shades(first: str, last: str, count: int) -> list[str]:
    """Colours from the first to the last, evenly spaced.

    >>> shades("#000000", "#ffffff", 3)
    ['#000000', '#808080', '#ffffff']
    """
    low, high = ([int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in (first, last))
    steps = np.linspace(low, high, count).round().astype(int)
    return ["#" + "".join(f"{part:02x}" for part in color) for color in steps]


# --- exponents -----------------------------------------------------------------------------------


def slope_mark(axes: "Axes", x: float, y: float, slope: float, *, decades: float = 1.2) -> None:
    """A short dashed line with the slope of a power law, above the point of a curve."""
    ends = 10.0 ** np.array([-decades / 2, decades / 2])
    axes.plot(x * ends, y * slope_offset(axes) * ends**slope, **_SLOPE)


def slope_offset(axes: "Axes") -> float:
    """The factor between a curve and the mark of its slope."""
    low, high = axes.get_ylim()
    return float((high / low) ** _ABOVE)


def slope_legend(axes: "Axes", label: str = "Exponents of the laws") -> None:
    """The legend entry of marks of slopes."""
    legend_line(axes, label, **_SLOPE)


def margin_labels(axes: "Axes", labels: Sequence[tuple[float, str, str]]) -> None:
    """Labels (height, text, colour) right of the axes, moved up where they would overlap."""
    low, high = axes.get_ylim()
    last, least = -math.inf, _APART * math.log(high / low)
    for height, text, color in sorted(labels):
        last = max(math.log(height), last + least)
        axes.annotate(
            text,
            (1.0, math.exp(last)),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=color,
            annotation_clip=False,
        )


def exponent(value: float) -> str:
    """An exponent with three digits.

    >>> exponent(-0.4941), exponent(-0.0)
    ('−0.494', '0')
    """
    return f"{value:z.3g}".replace("-", "−")


# --- axes and their ticks ------------------------------------------------------------------------


def log_axes(
    axes: "Axes", x: FloatArray, *, xlabel: str = RATIO, ylabel: str = ERROR, room: float = 1.0
) -> None:
    """Logarithmic axes over the finite range of `x`, with plain numbers at the ticks.

    `room` is a factor left free on both sides, for markers at the ends.
    """
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain_number)
        axis.set_minor_formatter("")
    finite = x[np.isfinite(x)]
    if finite.size > 1:
        axes.set_xlim(finite.min() / room, finite.max() * room)


def log_range(curves: Iterable[FloatArray]) -> tuple[float, float]:
    """Limits of a logarithmic axis that contain every positive, finite value, with a margin."""
    values = np.concatenate(list(curves))
    drawn = values[np.isfinite(values) & (values > 0)]
    return (float(drawn.min()) / 1.5, float(drawn.max()) * 1.5) if drawn.size else (0.1, 10.0)


def fill_ticks(axes: "Axes") -> None:
    """On logarithmic axes, label 2, 3 and 5 if the axis is short; write all powers alike.

    On narrow panels, 3 is not labelled.
    """
    width = axes.get_window_extent().width / axes.figure.dpi
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() != "log":
            continue
        if high < _FEW_DECADES * low:
            narrow = axis is axes.xaxis and width < _NARROW * math.log10(high / low)
            axis.set_minor_formatter(_label_25 if narrow else _label_235)
            axis.set_tick_params(which="minor", labelsize=_RC["ytick.labelsize"])
        elif any(not _is_plain(tick) for tick in axis.get_majorticklocs() if low <= tick <= high):
            axis.set_major_formatter(_power)


def _label_235(value: float, _: object = None) -> str:
    return plain_number(value) if f"{value:.0e}"[0] in "235" else ""


def _label_25(value: float, _: object = None) -> str:
    return plain_number(value) if f"{value:.0e}"[0] in "25" else ""


def plain_number(value: float, _: object = None) -> str:
    """Write a tick as a plain number, and only extreme ones as powers of ten.

    >>> plain_number(0.01), plain_number(100.0), plain_number(1e-5)
    ('0.01', '100', '$10^{-5}$')
    """
    return f"{value:g}" if value <= 0 or _is_plain(value) else f"${scientific(value)}$"


def _is_plain(value: float) -> bool:
    return 1e-3 <= value <= 1e4


def _power(value: float, _: object = None) -> str:
    return f"$10^{{{round(math.log10(value))}}}$"


def scientific(value: float) -> str:
    r"""Write a number in mathtext, with a power of ten where that is customary.

    >>> scientific(1e-5), scientific(3e-4), scientific(2.5), scientific(0.0), scientific(math.inf)
    ('10^{-5}', '3\\times 10^{-4}', '2.5', '0', '\\infty')
    """
    if math.isinf(value):
        return r"\infty"
    factor, _, exponent = f"{value:.6e}".partition("e")
    whole_power = float(factor) == 1 and value < 1  # 0.1 is written 10⁻¹ next to 10⁻⁵
    if value == 0 or (1e-2 <= value <= 1e3 and not whole_power):
        return f"{value:g}"
    power = f"10^{{{int(exponent)}}}"
    return power if float(factor) == 1 else rf"{float(factor):g}\times {power}"


# --- legends -------------------------------------------------------------------------------------


def legend_line(axes: "Axes", label: str, **look: Any) -> None:
    """A legend entry without data: for contours, markers and other signs of a panel."""
    axes.plot([], [], label=label, **look)


def legend_area(axes: "Axes", label: str, **look: Any) -> None:
    """A legend entry for a shaded area."""
    axes.fill([np.nan], [np.nan], label=label, **look)


def figure_legend(
    figure: "Figure",
    *,
    title: str = "",
    ncols: int = 0,
    narrow: float = 1,
    loc: Literal["outside upper center", "outside lower center"] = "outside upper center",
    panels: "Iterable[Axes] | None" = None,
) -> None:
    """One legend above (or below) all `panels`; `narrow` < 1 reduces its spaces."""
    entries: dict[str, Any] = {}
    for axes in figure.axes if panels is None else panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if SIMULATION in entries:  # last
        entries[SIMULATION] = entries.pop(SIMULATION)
    ncols = min(ncols or len(entries), len(entries))
    labels = _by_rows(list(entries), ncols)
    figure.legend(
        [entries[label] for label in labels],
        labels,
        title=title,
        ncols=ncols,
        loc=loc,
        columnspacing=1.8 * narrow,
        handlelength=3.0 * narrow,
    )


def axes_legend(axes: "Axes", *, ncols: int, title: str = "", narrow: float = 1) -> None:
    """A legend above one panel."""
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        _by_rows(handles, ncols),
        _by_rows(labels, ncols),
        title=title,
        ncols=ncols,
        borderaxespad=0.4,
        columnspacing=1.2 * narrow,
        handlelength=2.9 * narrow,
        handletextpad=0.8 * narrow,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.06),
    )


def _by_rows(entries: list[Any], ncols: int) -> list[Any]:
    """Entries in the order in which matplotlib fills columns, so that rows are read in order."""
    ncols = min(ncols, len(entries)) or 1
    return [entry for k in range(ncols) for entry in entries[k::ncols]]


def constants_title(
    panel: Panel, *, ridge: bool = True, snr: bool = True, dim: bool = False
) -> str:
    """The constants of a panel, for the title of a legend."""
    terms = [rf"\lambda={scientific(panel.constant('ridge'))}"] if ridge else []
    if np.ndim(panel.problem.samples_per_dim) == 0:
        terms.append(f"N/D={scientific(panel.constant('samples_per_dim'))}")
    if snr:
        terms.append(rf"\mathrm{{SNR}}=F/\tau={scientific(panel.snr)}")
    if panel.problem.task == "classification" and np.ndim(panel.problem.flips) == 0:
        terms.append(f"p={panel.constant('flips'):g}")
    if dim:
        terms.append(f"D={panel.points[0].dim}")
    return r",$\quad$".join(f"${term}$" for term in terms)


def loss_label(name: str) -> str:
    """The name of a loss, with its number if it has one, for legends.

    >>> loss_label("squared_hinge"), loss_label("huber:0.5")
    ('Squared hinge loss', 'Huber loss (0.5)')
    """
    words, _, number = name.partition(":")
    return f"{words.replace('_', ' ').capitalize()} loss" + (f" ({number})" if number else "")


def activation_label(name: str) -> str:
    """The name of an activation, for legends.

    >>> activation_label("relu"), activation_label("tanh")
    ('ReLU', 'tanh')
    """
    return {"relu": "ReLU", "leaky_relu": "leaky ReLU"}.get(name, name)


def members_label(n_members: float) -> str:
    r"""The number of models in mathtext.

    >>> members_label(2), members_label(math.inf)
    ('$K=2$', '$K\\to\\infty$')
    """
    return r"$K\to\infty$" if math.isinf(n_members) else f"$K={n_members:g}$"
