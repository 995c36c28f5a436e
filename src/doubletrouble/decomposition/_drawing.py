"""A decomposition as a picture: a bar for each part, and what averaging K members would give."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from doubletrouble.errors import require
from doubletrouble.palette import BLACK, CAUSES, YELLOW

if TYPE_CHECKING:
    from doubletrouble.decomposition._result import Decomposition

_HATCHES = {  # which tell the parts apart in grey print
    "noise": "", "initialization": "////", "sampling": "....", "bias": "\\\\\\\\", "bayes": "xxxx",
    "total": "",
}  # fmt: skip
_COLORS = CAUSES["light"] | {"bayes": YELLOW, "total": "#555555"}
COLORS = {name: (_COLORS[name], hatch) for name, hatch in _HATCHES.items()}
_MEMBERS = (5, math.inf)
_WHISKER = {"capsize": 3, "elinewidth": 1.2, "ecolor": BLACK}


def draw(split: "Decomposition", axes: Any = None) -> Any:
    """Horizontal bars with intervals, the first part on top."""
    if axes is None:
        pyplot = require("matplotlib.pyplot", "figures")
        axes = pyplot.figure(figsize=(6.0, 3.2), layout="constrained").add_subplot()
    error = split.error()
    parts = dict(error.parts)
    if split.design.targets:
        parts["total"] = error.total
    rows = [(_label(name, error.includes), part, *COLORS[name]) for name, part in parts.items()]
    if split.design.lacks("total", ("target", "init")) is None:
        for K in _MEMBERS:
            label = f"K = {'∞' if math.isinf(K) else K} averaged"
            rows.append((label, split.error(K).total, "#BBBBBB", ""))
    for place, (_, part, color, hatch) in enumerate(rows):
        known = math.isfinite(part.standard_error)
        high = part.confidence_interval(split.confidence).high
        reach = (high - part.value) if known else 0.0
        axes.barh(
            place, part.value, height=0.7, color=color, hatch=hatch, edgecolor="white",
            linewidth=0.0, xerr=reach, error_kw=_WHISKER,
        )  # fmt: skip
        if not known:
            axes.text(max(part.value, 0.0), place, "  ± ?", va="center", fontsize="small")
    axes.set_yticks(range(len(rows)), [label for label, *_ in rows])
    axes.invert_yaxis()
    axes.axvline(0.0, color="#333333", linewidth=0.8)
    axes.set_xlabel("squared error")
    axes.set_title(f"whiskers: {split.confidence:.0%} intervals", fontsize="small", loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _label(name: str, includes: Mapping[str, str]) -> str:
    """The name of a part, with what else it contains."""
    return f"{name} + {includes[name]}" if name in includes else name
