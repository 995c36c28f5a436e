"""The frame of a plot: axes, their ends, and the room around them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from doubletrouble.page.curves import Curves
from doubletrouble.page.kinds import NumberField
from doubletrouble.page.marks import height
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageView

_QUANTITY = "Test error"
_DECADES = 5  # of a logarithmic axis below the total
_PEAK = 1e3  # how far above the middle of the total an axis goes to show a peak
_LINEAR_PEAK = 6.0  # the same on a linear axis, which a peak would flatten


def limits(view: PageView, drawn: Sequence[Curves]) -> tuple[float, float]:
    """The ends of the vertical axis: the total and its parts, but not all of a peak."""
    totals = np.concatenate([curves.total for curves in drawn])
    parts = np.concatenate([part for curves in drawn for part in curves.parts.values()])
    finite = totals[np.isfinite(totals)]
    if not finite.size or not finite.max() > 0:
        return 0.0 if view.y == "linear" else 1e-3, 1.0
    middle = float(np.median(finite)) or float(finite.max())
    here = [c.here["total"] for c in drawn if np.isfinite(c.here["total"])]
    if view.y == "linear":
        reach = min(float(finite.max()), _LINEAR_PEAK * middle)
        return 0.0, 1.08 * max([reach, *(v for v in here if v <= 4 * _LINEAR_PEAK * middle)])
    top = min(float(finite.max()), _PEAK * middle)
    small = parts[(parts > 0) & np.isfinite(parts)]
    least = min(float(small.min()) if small.size else top, float(finite[finite > 0].min()))
    return max(least / 1.3, float(finite.min() or top) * 10.0**-_DECADES), 1.4 * top


def layout(
    view: PageView, drawn: Sequence[Curves], screen: Screen, reach: tuple[float, float],
    shapes: list[dict[str, Any]], notes: list[dict[str, Any]], entries: int,
) -> dict[str, Any]:  # fmt: skip
    """The layout of a figure, for one setting or for two beside (or below) each other.

    `entries` are those of the legend.
    """
    axis, (left, right) = view.axis(), view.range()
    line = {
        "gridcolor": screen.rule, "linecolor": screen.soft, "tickcolor": screen.soft,
        "ticks": "outside", "showline": True, "zeroline": False, "exponentformat": "power",
    }  # fmt: skip
    short = screen.narrow or len(drawn) > 1
    words = axis.label if short else f"{axis.label}: {_name(axis)}"
    x = {**line, "type": view.x, "range": _scaled(view.x, left, right), "title": {"text": words}}
    y = {**line, "type": view.y, "range": _scaled(view.y, *reach)}
    if screen.narrow:  # no room beside the numbers
        notes = [*notes, _above_axis(_QUANTITY, height(view, drawn))]
    else:
        y["title"] = {"text": _QUANTITY}
    if view.x == "log":
        x |= {"dtick": _decades(left, right, screen), "tickangle": 0}
    if view.y == "log":
        y |= {"dtick": _decades(*reach, screen) if reach[1] > 20 * reach[0] else "D2"}
    for name, axis_ in (("x", x), ("y", y)):
        if name in screen.zoom:
            axis_["range"] = list(screen.zoom[name])
    layout: dict[str, Any] = {
        "autosize": True,
        "paper_bgcolor": screen.paper, "plot_bgcolor": screen.paper,
        "font": {"color": screen.ink, "size": 12 if screen.narrow else 14,
                 "family": "system-ui, sans-serif"},
        "margin": _margin(view, drawn, screen, entries),
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": screen.paper, "font": {"color": screen.ink}},
        "legend": {"orientation": "h", "x": 0, "font": {"size": 11 if screen.narrow else 13},
                   "traceorder": "reversed" if view.form == "areas" else "normal",
                   "yref": "container", "y": 1, "yanchor": "top"},
        "uirevision": frame(view),
        "shapes": shapes, "annotations": notes,
        "xaxis": x, "yaxis": y,
    }  # fmt: skip
    if len(drawn) > 1:
        beside: dict[str, Any] = {
            "xaxis2": {**x, "anchor": "y2", "matches": "x"},
            "yaxis2": {**y, "anchor": "x2", "matches": "y"},
        }
        if screen.narrow:
            layout["yaxis"]["domain"], beside["yaxis2"]["domain"] = [0.59, 1], [0, 0.41]
            layout["xaxis"] = {**x, "title": {"text": ""}}
        else:
            layout["xaxis"]["domain"], beside["xaxis2"]["domain"] = [0, 0.47], [0.53, 1]
            beside["yaxis2"] |= {"title": {"text": ""}, "showticklabels": False}
        layout |= beside
    return layout


def frame(view: PageView) -> str:
    """What a range of the axes is a range of: with another, nothing stays zoomed."""
    return f"{view.along} {view.first.per} {view.x} {view.y} {len(view.settings)}"


def _margin(
    view: PageView, drawn: Sequence[Curves], screen: Screen, entries: int
) -> dict[str, int]:
    """Room for the numbers of the axes, for a legend of some lines, and for words below it."""
    rows = entries if view.split == "effects" else (entries + 1) // 2  # names are long
    titles = 18 * (len(drawn) > 1 or screen.narrow) + height(view, drawn)
    if screen.narrow:
        return {"l": 44, "r": 20, "t": 10 + 20 * rows + titles, "b": 38}
    return {"l": 76, "r": 16, "t": 40 + titles, "b": 50}


def _above_axis(words: str, shift: int) -> dict[str, Any]:
    """The title of the vertical axis, above it."""
    return {
        "text": words, "showarrow": False, "x": 0, "xref": "paper", "xanchor": "left",
        "xshift": -40, "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": shift,
    }  # fmt: skip


def _decades(low: float, high: float, screen: Screen) -> int:
    """From one number at an axis to the next."""
    return 2 if screen.narrow and high > 1e5 * low else 1


def _scaled(scale: str, low: float, high: float) -> list[float]:
    return [float(np.log10(v)) for v in (low, high)] if scale == "log" else [low, high]


def _name(axis: NumberField) -> str:
    return axis.meaning.split(";")[0]
