"""The plot of a view, as Plotly reads it; made by hand, since a slider waits for it."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doubletrouble.page.curves import Curves
from doubletrouble.page.fields import NumberField
from doubletrouble.page.frame import layout, limits
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import View
from doubletrouble.parameters import FloatArray

LABELS = {
    "total": "Total",
    "noise": "Noise",
    "initialization": "Initialization",
    "sampling": "Sampling",
    "bias": "Bias",
    "initialization_sampling": "Init. × sampling",
    "noise_sampling": "Noise × sampling",
    "noise_initialization_sampling": "Noise × init. × sampling",
}
_DASHES = {
    "noise": "solid",
    "initialization": "9px,3px",
    "sampling": "9px,3px,2px,3px",
    "bias": "2px,2px",
    "noise_initialization_sampling": "solid",
    "noise_sampling": "14px,4px",
    "initialization_sampling": "5px,2px",
}
_PATTERNS = {  # for areas: what a grey print tells them apart by
    "noise": "", "initialization": "/", "sampling": ".", "bias": "x",
    "noise_initialization_sampling": "", "noise_sampling": "-", "initialization_sampling": "\\",
}  # fmt: skip
_SYMBOLS = {
    "total": "circle", "noise": "circle-open", "initialization": "square-open",
    "sampling": "triangle-up-open", "bias": "diamond-open",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Simulated values of one part, with their standard errors."""

    name: str
    x: Sequence[float]
    value: Sequence[float]
    error: Sequence[float]


def figure(
    view: View, drawn: Sequence[Curves], screen: Screen, measured: Sequence[Sequence[Measured]]
) -> dict[str, Any]:
    """The figure of one or two settings, with points where they were simulated."""
    low, high = limits(view, drawn)
    traces: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for place, curves in enumerate(drawn):
        axes = _axes(place)
        own = [
            *_lines(view, curves, screen, cap=high * 10),
            *(_points(points, screen.colors(view.split)) for points in measured[place]),
            _here(view, curves, screen, (low, high)),
        ]
        traces += [{**trace, **axes, "showlegend": _in_legend(trace, place)} for trace in own]
        for line, words in _verticals(view, curves, screen, axes):
            shapes.append(line)
            notes += words
        if len(drawn) > 1:
            notes.append(_title(_differences(drawn, place), screen, axes))
    return {"data": traces, "layout": layout(view, drawn, screen, (low, high), shapes, notes)}


def _in_legend(trace: Mapping[str, Any], place: int) -> bool:
    return place == 0 and bool(trace.get("showlegend", True))


def _lines(view: View, curves: Curves, screen: Screen, cap: float) -> list[dict[str, Any]]:
    """The parts, as lines or stacked, and the total above them."""
    found: list[dict[str, Any]] = []
    stacked = np.zeros_like(curves.total)
    names, colors = tuple(curves.parts), screen.colors(view.split)
    # an area is filled down to the trace before it
    for name in reversed(names) if view.form == "areas" else names:
        values = curves.parts[name]
        stacked = stacked + values
        color = colors[name]
        trace = _trace(name, curves.x, stacked if view.form == "areas" else values, values, cap)
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
    if curves.many is not None:
        level = np.full_like(curves.total, curves.many)
        limit = _trace("total", curves.x, level, level, cap)
        limit |= {"name": "Total, K → ∞", "line": {"color": screen.soft, "width": 1.5,
                                                   "dash": "4px,4px"}}  # fmt: skip
        found.append(limit)
    return [*found, total]


def _mode(view: View) -> str:
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
    bars = {"type": "data", "array": [2 * e for e in points.error], "color": color,
            "thickness": 1.5, "width": 4}  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "name": f"{LABELS[points.name]}, simulated",
        "x": list(points.x), "y": list(points.value), "error_y": bars, "showlegend": False,
        "marker": {"color": color, "size": 8, "symbol": _SYMBOLS[points.name],
                   "line": {"width": 2 if points.name != "total" else 1, "color": color}},
        "customdata": list(points.error),
        "hovertemplate": "%{y:.4g} ± %{customdata:.2g}",
    }  # fmt: skip


def _here(view: View, curves: Curves, screen: Screen, reach: tuple[float, float]) -> dict[str, Any]:
    """A ring where the slider stands; beyond the axes, an arrow at their edge."""
    (left, right), (low, high) = view.range(), reach
    x, y = curves.mark, curves.here["total"]
    beyond = {"left": x < left, "right": x > right, "up": y > high, "down": y < low}
    symbol = next((f"triangle-{side}" for side, so in beyond.items() if so), "circle-open")
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False,
        "x": [min(max(x, left), right)], "y": [min(max(y, low), high)], "cliponaxis": False,
        "marker": {"size": 13, "symbol": symbol, "color": screen.ink,
                   "line": {"width": 2.5, "color": screen.ink}},
    }  # fmt: skip


def _axes(place: int) -> dict[str, str]:
    return {"xaxis": f"x{place + 1}" if place else "x", "yaxis": f"y{place + 1}" if place else "y"}


def _verticals(
    view: View, curves: Curves, screen: Screen, axes: Mapping[str, str]
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Where a model has as many features as samples, and where the slider stands."""
    found = []
    low, high = view.range()
    words = "P = N/K" if curves.setting.scheme == "divide" else "P = N"
    for place in curves.setting.thresholds(view.along):
        if low <= place <= high:
            line = _vertical(place, screen.soft, "dot", axes)
            at = np.log10(place) if view.x == "log" else place
            top = {"y": 1, "yref": f"{axes['yaxis']} domain", "yanchor": "top"}
            side = {"x": float(at), "xref": axes["xaxis"], "xanchor": "left", "xshift": 3}
            found.append((line, [_words(words, screen.soft, **side, **top)]))
    if low <= curves.mark <= high:
        found.append((_vertical(curves.mark, screen.ink, "solid", axes, width=0.8), []))
    return found


def _vertical(
    x: float, color: str, dash: str, axes: Mapping[str, str], width: float = 1.5
) -> dict[str, Any]:
    return {
        "type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "xref": axes["xaxis"],
        "yref": f"{axes['yaxis']} domain", "layer": "below",
        "line": {"color": color, "width": width, "dash": dash},
    }  # fmt: skip


def _words(text: str, color: str, **place: Any) -> dict[str, Any]:
    return {"text": text, "showarrow": False, "font": {"color": color, "size": 13}, **place}


def _title(text: str, screen: Screen, axes: Mapping[str, str]) -> dict[str, Any]:
    return _words(text, screen.ink, x=0.5, y=1.0, xref=f"{axes['xaxis']} domain",
                  yref=f"{axes['yaxis']} domain", xanchor="center", yanchor="bottom")  # fmt: skip


def _differences(drawn: Sequence[Curves], place: int) -> str:
    """What tells one setting from the other."""
    own, other = drawn[place].setting, drawn[1 - place].setting
    said = [
        f"{_symbol(field)} = {field.shown(getattr(own, field.name))}"
        for field in own.fields
        if getattr(own, field.name) != getattr(other, field.name)
    ]
    which = ("first", "second")[place]
    return ", ".join(said[:3]) + ("…" if len(said) > 3 else "") or f"{which} setting"


def _symbol(field: Any) -> str:
    return field.label if isinstance(field, NumberField) else field.label.lower()
