"""Lines across the plot, and the words above them: where P = N, where to stop, where we are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from doubletrouble.page.curves import Curves
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageSetting, PageView

ROW = 24
"""The height of the words above a plot, in pixels: a mark at its edge reaches a little over it."""

_WORDS = {"divide": "P = N/K", "subsample": "P = ηN", "bootstrap": "P = (1 − 1/e) N"}
_EDGE = 0.12  # of the axis: closer to its ends, words go inwards


def marks(view: PageView, setting: PageSetting) -> list[tuple[float, str]]:
    """Where on the axis a model has as many features as samples, and how that is said."""
    low, high = view.range()
    above, below = setting.sample_share
    other = "P = N" if above == below else f"P = {above / below:.3g} N"
    words = _WORDS.get(setting.scheme, other)
    return [(place, words) for place in setting.thresholds(view.along) if low <= place <= high]


def height(view: PageView, drawn: Sequence[Curves]) -> int:
    """The room that the words need above each plot; for the best time, before it is known."""
    needed = view.along == "time" or any(marks(view, curves.setting) for curves in drawn)
    return ROW if needed else 0


def verticals(
    view: PageView, curves: Curves, screen: Screen, axes: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """A line for every mark, and its words, if it has some."""
    low, high = view.range()
    for place, words in marks(view, curves.setting):
        yield _line(place, screen.soft, "dot", axes), [_above(view, place, words, screen, axes)]
    if curves.stop is not None:
        best = float(curves.stop.time)
        if low <= best <= high:
            said = _above(view, best, f"best t = {best:.3g}", screen, axes)
            yield _line(best, screen.soft, "dash", axes), [said]
    if low <= curves.mark <= high:
        yield _line(curves.mark, screen.ink, "solid", axes, width=0.8), []


def words(text: str, color: str, **place: Any) -> dict[str, Any]:
    """Words on the plot."""
    return {"text": text, "showarrow": False, "font": {"color": color, "size": 13}, **place}


def _above(
    view: PageView, place: float, text: str, screen: Screen, axes: Mapping[str, str]
) -> dict[str, Any]:
    """Words above the plot: within it, curves would run through them."""
    of = np.log10 if view.x == "log" else np.asarray
    at, low, high = (float(of(v)) for v in (place, *view.range()))
    share = (at - low) / (high - low)
    side = "left" if share < _EDGE else "right" if share > 1 - _EDGE else "center"
    return words(
        text, screen.soft, x=at, xref=axes["xaxis"], xanchor=side, y=1,
        yref=f"{axes['yaxis']} domain", yanchor="bottom", yshift=8,
    )  # fmt: skip


def _line(
    x: float, color: str, dash: str, axes: Mapping[str, str], width: float = 1.5
) -> dict[str, Any]:
    return {
        "type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "xref": axes["xaxis"],
        "yref": f"{axes['yaxis']} domain", "layer": "below",
        "line": {"color": color, "width": width, "dash": dash},
    }  # fmt: skip
