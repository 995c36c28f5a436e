"""The page, panels in a row, and strokes on axes that the caller owns: curves, points, legends."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from doubletrouble.figures import style
from doubletrouble.figures.panel import Panel
from doubletrouble.figures.simulated import Points
from doubletrouble.figures.spec import FigureData, Line
from doubletrouble.figures.style import Stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATIO = "Features per sample, $P/N$"
ERROR = "Test error"

_REACH = 2  # standard errors that a bar spans on each side


@contextmanager
def page(*, height: float) -> "Iterator[Figure]":
    """An empty figure in the house style, laid out when the block ends."""
    with style.journal():
        figure = style.blank(height=height)
        yield figure
        finish(figure)


def side_by_side(
    figure: "Figure",
    panels: Sequence[FigureData],
    draw: "Callable[[Axes, FigureData], None]",
) -> "Sequence[Axes]":
    """Draw panels with common axes in one row, named by letters; return the axes."""
    grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)
    row: Sequence[Axes] = grid[0]
    for axes, panel in zip(row, panels, strict=True):
        draw(axes, panel)
        axes.label_outer()
    letters(row)
    return row


def curve(
    axes: "Axes", line: Line, stroke: Stroke, *, label: str, place: float = 0, markers: int = 6
) -> None:
    """Draw one curve, with a few markers that distinguish it in grey.

    With `markers=0` they stand in the legend only, for curves with simulated points.
    """
    if not np.any((line.y > 0) & np.isfinite(line.y)):
        return  # an absent cause has no place on a logarithmic axis
    axes.plot(
        line.x, line.y, label=label, color=stroke.color, linestyle=stroke.linestyle,
        linewidth=stroke.width, marker=stroke.marker, markerfacecolor=stroke.face,
        markeredgewidth=1.0,
        markevery=style.spread(line.x, count=markers, shift=0.2 * place or 0.9),  # not on the edge
    )  # fmt: skip


def series(axes: "Axes", lines: Iterable[Line], words: Mapping[str, str]) -> None:
    """Draw rival curves, each in the next stroke, with `words` for their labels."""
    for place, (line, stroke) in enumerate(zip(lines, style.cycle(), strict=False)):
        curve(axes, line, stroke, label=words[line.label], place=place)


def points(axes: "Axes", found: Points, stroke: Stroke) -> None:
    """Draw simulated values with bars of two standard errors."""
    axes.errorbar(
        found.x, found.value, yerr=_REACH * found.standard_error, linestyle="none",
        color=stroke.color, marker=stroke.marker, markerfacecolor=stroke.face,
        markeredgewidth=1.0, markersize=4.8, elinewidth=1.0, capsize=2.0, zorder=3,
    )  # fmt: skip


def threshold(axes: "Axes", x: float = 1.0, label: str = "$P=N$", *, align: str = "center") -> None:
    """Mark a place on the x axis, with its name above the axes."""
    axes.axvline(x, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        label, (x, 1.0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
        ha=align, va="bottom", color="#333333", annotation_clip=True,
    )  # fmt: skip


def star(axes: "Axes", x: float, y: float, stroke: Stroke) -> None:
    """Mark the least value of a curve."""
    axes.plot(
        [x], [y], marker="*", markersize=9.5, color=stroke.color, markeredgecolor="#000000",
        markeredgewidth=0.7, linestyle="none", zorder=4, clip_on=False,
    )  # fmt: skip


def corner(axes: "Axes", text: str) -> None:
    """What holds in this panel, in its upper right corner."""
    axes.text(
        0.97, 0.96, text, transform=axes.transAxes, ha="right", va="top", zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip


def log_axes(
    axes: "Axes", x: Iterable[Any], *, xlabel: str = RATIO, ylabel: str = ERROR, room: float = 1.0
) -> None:
    """Logarithmic axes over the finite range of `x`, with ticks that read as numbers.

    `room` is a factor left free on both sides, for markers at the ends.
    """
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    style.plain_ticks(axes)
    values = np.concatenate([np.asarray(v, dtype=float) for v in x])
    inside = values[np.isfinite(values)]
    if inside.size > 1:
        axes.set_xlim(inside.min() / room, inside.max() * room)


def letters(row: Sequence["Axes"]) -> None:
    """Name the panels (a), (b), ...; one alone has no name."""
    if len(row) > 1:
        for place, axes in enumerate(row):
            axes.set_title(f"({chr(ord('a') + place)})", loc="left")


def legend_above(
    figure: "Figure", *, title: str = "", ncols: int = 0, narrow: float = 1,
    loc: Literal["outside upper center", "outside lower center"] = "outside upper center",
    of: "Iterable[Axes] | None" = None,
) -> None:  # fmt: skip
    """One legend above all panels, of everything they show; `narrow` < 1 brings it together.

    It may be below them instead; `of` are the panels that it explains.
    """
    shown: dict[str, Any] = {}
    for axes in figure.axes if of is None else of:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(
        list(shown.values()), list(shown), title=title, ncols=ncols or len(shown),
        loc=loc, columnspacing=1.8 * narrow, handlelength=2.8 * narrow,
    )  # fmt: skip


def labels_above(axes: "Axes", *, ncols: int = 0, title: str = "", narrow: float = 1) -> None:
    """A legend of its own above one panel, clear of the data, to be read row by row."""
    shown = list(zip(*axes.get_legend_handles_labels(), strict=True))
    ncols = ncols or len(shown)
    by_column = [each for k in range(ncols) for each in shown[k::ncols]]  # as matplotlib fills it
    axes.legend(
        [handle for handle, _ in by_column], [label for _, label in by_column], title=title,
        ncols=ncols, borderaxespad=0.4,
        columnspacing=1.2 * narrow, handlelength=2.4 * narrow, handletextpad=0.8 * narrow,
        loc="lower center", bbox_to_anchor=(0.5, 1.06),
    )  # fmt: skip


def finish(figure: "Figure") -> "Figure":
    """Lay out while the house style holds: ticks are made now, not at a later save."""
    for axes in figure.axes:
        style.fill_ticks(axes)
    figure.draw_without_rendering()
    return figure


def setting(panel: Panel, *, ridge: bool = True, snr: bool = True, dim: bool = False) -> str:
    """The constants of a panel, for the title of a legend."""
    words = [rf"\lambda={style.scientific(panel.constant('ridge'))}"] if ridge else []
    if np.ndim(panel.problem.samples_per_dim) == 0:
        words.append(f"N/D={style.scientific(panel.constant('samples_per_dim'))}")
    if snr:
        words.append(rf"\mathrm{{SNR}}=F/\tau={style.scientific(panel.snr)}")
    if dim:
        words.append(f"D={panel.points[0].dim}")
    return r",$\quad$".join(f"${word}$" for word in words)
