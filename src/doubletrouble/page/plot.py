"""The plot of a view, as Plotly reads it; made by hand, since a slider waits for it."""

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doubletrouble.page.curves import ENDLESS, Curves
from doubletrouble.page.frame import layout, limits
from doubletrouble.page.kinds import Field, NumberField
from doubletrouble.page.marks import height, verticals, words
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.palette import LABELS
from doubletrouble.parameters import FloatArray

_DASHES = {
    "noise": "solid",
    "initialization": "9px,3px",
    "resampling": "12px,3px,2px,3px,2px,3px",
    "sampling": "9px,3px,2px,3px",
    "bias": "2px,2px",
    "noise_initialization_sampling": "solid",
    "noise_sampling": "14px,4px",
    "initialization_sampling": "5px,2px",
}
_PATTERNS = {  # for areas: what a grey print tells them apart by
    "noise": "", "initialization": "/", "resampling": "|", "sampling": ".", "bias": "x",
    "noise_initialization_sampling": "", "noise_sampling": "-", "initialization_sampling": "\\",
}  # fmt: skip
_SYMBOLS = {
    "total": "circle", "noise": "circle-open", "initialization": "square-open",
    "resampling": "star-open", "sampling": "triangle-up-open", "bias": "diamond-open",
    "noise_initialization_sampling": "circle-open", "noise_sampling": "cross-open",
    "initialization_sampling": "triangle-down-open",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Simulated values of one part, with their standard errors."""

    name: str
    at: Sequence[float]  # where they were asked for
    x: Sequence[float]  # where they are, at whole P and N
    value: Sequence[float]
    standard_error: Sequence[float]


def figure(
    view: PageView, drawn: Sequence[Curves], screen: Screen, measured: Sequence[Sequence[Measured]]
) -> dict[str, Any]:
    """The figure of one or two settings, with points where they were simulated."""
    low, high = limits(view, drawn)
    traces: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    named: set[str] = set()  # in the legend
    for place, curves in enumerate(drawn):
        axes = _axes(place)
        own = [
            *_lines(view, curves, screen, (low, high)),
            *(_points(points, screen.colors(view.split)) for points in measured[place]),
            _here(view, curves, screen, (low, high)),
        ]
        for trace in own:
            first = trace["showlegend"] and trace["name"] not in named
            named |= {trace["name"]} if first else set()
            traces.append({**trace, **axes, "showlegend": first})
        for line, said in verticals(view, curves, screen, axes):
            shapes.append(line)
            notes += said
        if len(drawn) > 1:
            across, up = (f"{axes[axis]} domain" for axis in ("xaxis", "yaxis"))
            title = words(
                _differences(drawn, place), screen.ink, x=1.0 if screen.narrow else 0.5, y=1.0,
                xref=across, yref=up, xanchor="right" if screen.narrow else "center",
                yanchor="bottom", yshift=height(view, drawn),
            )  # fmt: skip
            notes.append(title)
    return {
        "data": traces,
        "layout": layout(view, drawn, screen, (low, high), shapes, notes, len(named)),
    }


def _lines(
    view: PageView, curves: Curves, screen: Screen, reach: tuple[float, float]
) -> list[dict[str, Any]]:
    """The parts, as lines or stacked, and the total above them."""
    cap = 10 * reach[1]
    found: list[dict[str, Any]] = []
    stacked = np.zeros_like(curves.total)
    names, colors = tuple(curves.parts), screen.colors(view.split)
    # an area is filled down to the trace before it
    for name in reversed(names) if view.form == "areas" else names:
        values = curves.parts[name]
        stacked = stacked + values
        color = colors[name]
        trace = _trace(name, curves.x, stacked if view.form == "areas" else values, values, cap)
        trace["showlegend"] = _is_seen(view, values, reach[0])
        if view.form == "areas":
            trace |= {
                "fill": "tonexty" if found else "tozeroy",
                "line": {"color": color, "width": 0.8},
                "fillcolor": color + "B0",
                "fillpattern": {"shape": _PATTERNS[name], "size": 7, "solidity": 0.12,
                                "fgcolor": screen.ink, "bgcolor": color},
            }  # fmt: skip
        else:
            trace["mode"] = _mode(view)
            trace["line"] = {"color": color, "width": 2, "dash": _DASHES[name], "simplify": False}
        found.append(trace)
    total = _trace("total", curves.x, curves.total, curves.total, cap)
    total["mode"] = _mode(view)
    total["line"] = {"color": colors["total"], "width": 3, "simplify": False}
    if curves.level is not None:
        level = np.full_like(curves.total, curves.level)
        limit = _trace("total", curves.x, level, level, cap)
        limit |= {"name": f"{LABELS['total']}, {ENDLESS[view.along]}",
                  "showlegend": reach[0] <= curves.level <= reach[1],
                  "line": {"color": screen.soft, "width": 1.5, "dash": "4px,4px"}}  # fmt: skip
        found.append(limit)
    return [*found, total]


def _is_seen(view: PageView, values: FloatArray, low: float) -> bool:
    """Whether anything is drawn of a part: what is 0 has no logarithm, and no area."""
    if view.form == "areas":
        return bool(np.any(values > 0))
    return view.y == "linear" or bool(np.any(values >= low))


def _mode(view: PageView) -> str:
    """Whole numbers of models are points; the lines between them only guide the eye."""
    return "lines+markers" if view.along == "members" else "lines"


def _trace(
    name: str, x: FloatArray, y: FloatArray, values: FloatArray, cap: float
) -> dict[str, Any]:
    """One line; beyond `cap` it is drawn at it, and said as it is."""
    return {
        "type": "scatter",
        "mode": "lines",
        "marker": {"size": 5},
        "name": LABELS[name],
        "showlegend": True,
        "x": encoded(x),
        "y": encoded(np.minimum(y, cap)),
        "customdata": encoded(values),
        "hovertemplate": "%{customdata:.6g}",
    }


def encoded(values: FloatArray) -> dict[str, str]:
    """An array as Plotly reads it fast, to the last bit."""
    data = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return {"dtype": "f8", "bdata": b64encode(data).decode()}


def _points(points: Measured, colors: Mapping[str, str]) -> dict[str, Any]:
    color = colors[points.name]
    bars = {"type": "data", "array": [2 * e for e in points.standard_error], "color": color,
            "thickness": 1.5, "width": 4}  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "name": f"{LABELS[points.name]}, simulated",
        "x": list(points.x), "y": list(points.value), "error_y": bars, "showlegend": False,
        "marker": {"color": color, "size": 8, "symbol": _SYMBOLS[points.name],
                   "line": {"width": 2 if points.name != "total" else 1, "color": color}},
        "customdata": list(points.standard_error),
        "hovertemplate": "%{y:.4g} ± %{customdata:.2g}",
    }  # fmt: skip


def _here(
    view: PageView, curves: Curves, screen: Screen, reach: tuple[float, float]
) -> dict[str, Any]:
    """A ring where the slider stands; beyond the axes, an arrow at their edge."""
    (left, right), (low, high) = view.range(), reach
    x, y = curves.mark, curves.here["total"]
    beyond = {"left": x < left, "right": x > right, "up": y > high, "down": y < low}
    symbol = next((f"triangle-{side}" for side, so in beyond.items() if so), "circle-open")
    return {
        "type": "scatter", "mode": "markers", "name": "", "hoverinfo": "skip", "showlegend": False,
        "x": [min(max(x, left), right)], "y": [min(max(y, low), high)], "cliponaxis": False,
        "marker": {"size": 13, "symbol": symbol, "color": screen.ink,
                   "line": {"width": 2.5, "color": screen.ink}},
    }  # fmt: skip


def _axes(place: int) -> dict[str, str]:
    return {"xaxis": f"x{place + 1}" if place else "x", "yaxis": f"y{place + 1}" if place else "y"}


def _differences(drawn: Sequence[Curves], place: int) -> str:
    """What tells one setting from the other."""
    own, other = drawn[place].setting, drawn[1 - place].setting
    said = [
        f"{_symbol(field)} = {field.shown(getattr(own, field.name)).partition(':')[0]}"
        for field in own.fields
        if _tells(field, own, other)
    ]
    which = ("first", "second")[place]
    return ", ".join(said[:3]) + ("…" if len(said) > 3 else "") or f"{which} setting"


def _tells(field: Field, own: PageSetting, other: PageSetting) -> bool:
    """Whether a field tells one setting from another; ∞ where it means nothing is as good as no."""
    value = getattr(own, field.name)
    if not own.uses(field):
        return False
    return bool(value != (getattr(other, field.name) if other.uses(field) else math.inf))


def _symbol(field: Field) -> str:
    return field.label if isinstance(field, NumberField) else field.label.lower()
