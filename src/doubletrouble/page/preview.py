"""The first sight of a page: its curves, drawn in the document itself.

A browser needs a second to start what draws and moves the plot; until then the same lines stand in
its place.
"""

import numpy as np

from doubletrouble.page.curves import Curves, curves
from doubletrouble.page.frame import limits
from doubletrouble.page.setting import PageView
from doubletrouble.parameters import FloatArray

_GAP = 0.04  # between two plots


def preview(view: PageView) -> str:
    """HTML that covers the page until it is ready."""
    drawn = [curves(view, setting) for setting in view.settings]
    width = (1 - _GAP * (len(drawn) - 1)) / len(drawn)
    paths = "".join(
        _panel(view, one, limits(view, drawn), place * (width + _GAP), width)
        for place, one in enumerate(drawn)
    )
    sight = f'<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">{paths}</svg>'
    return (
        '<div id="preview"><div class="page"><h1>Where does the test error come from?</h1>'
        f'<div class="view">{sight}</div><p role="status">Starting…</p>'
        "<noscript>This page needs JavaScript, from this server alone.</noscript></div></div>"
    )


def _panel(
    view: PageView, drawn: Curves, reach: tuple[float, float], left: float, width: float
) -> str:
    """The lines of one setting, within a unit square."""
    across = left + width * _unit(drawn.x, view.range(), view.x)
    lines = {**drawn.parts, "total": drawn.total}
    return "".join(_path(across, _unit(y, reach, view.y), name) for name, y in lines.items())


def _unit(values: FloatArray, ends: tuple[float, float], scale: str) -> FloatArray:
    """Values as a share of an axis, within it."""
    of = np.log if scale == "log" else np.asarray
    with np.errstate(divide="ignore"):
        low, high, at = of(ends[0]), of(ends[1]), of(values)
    found: FloatArray = np.clip((at - low) / (high - low), 0.0, 1.0)
    return found


def _path(x: FloatArray, y: FloatArray, name: str) -> str:
    points = " ".join(f"{a:.4f},{1 - b:.4f}" for a, b in zip(x, y, strict=True))
    return f'<polyline points="{points}" style="stroke: var(--part-{name})"/>'
