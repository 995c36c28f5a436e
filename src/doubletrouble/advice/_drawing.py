"""An advice as a picture: a bar for each option, made of the parts of its error."""

from typing import TYPE_CHECKING, Any

from doubletrouble.advice._table import is_cut, lengths, longest
from doubletrouble.advice._words import said
from doubletrouble.decomposition import COLORS
from doubletrouble.errors import require

if TYPE_CHECKING:
    from doubletrouble.advice._result import Advice

SIZE = (7.5, 4.4)  # of a figure with nothing else, in inches


def draw(advice: "Advice", axes: Any = None) -> Any:
    """Horizontal bars, now on top; those much longer than the others are cut off and marked."""
    options = advice.options
    if axes is None:
        pyplot = require("matplotlib.pyplot", "figures")
        axes = pyplot.figure(figsize=SIZE, layout="constrained").add_subplot()
    most = longest(advice)
    shown = [name for name in COLORS if name != "total" and any(
        getattr(option.error, name) for option in options)]  # fmt: skip
    for place, option in enumerate(options):
        left, parts = 0.0, lengths(option, most)
        for name in shown:
            part = parts[name]
            color, hatch = COLORS[name]
            axes.barh(place, part, left=left, height=0.7, color=color, hatch=hatch,
                      edgecolor="white", linewidth=0.0)  # fmt: skip
            left += part
        cut = "… " if is_cut(option, most) else ""
        axes.text(left, place, f" {cut}{said(option.total)}", va="center", fontsize="small")
    handles = [_handle(axes, name) for name in shown]
    for end in (1, 1 + len(advice.changes)):  # now; single changes; what is best
        axes.axhline(end - 0.5, color="#999999", linewidth=0.6, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(options)), [option.label for option in options])
    axes.set_ylim(len(options) - 0.5, -0.5)
    axes.set_xlim(0.0, 1.12 * most)
    axes.set_xlabel("test error")
    if handles:
        axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5,
                    frameon=False, fontsize="small")  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _handle(axes: Any, name: str) -> Any:
    """A patch for the legend."""
    patches = require("matplotlib.patches", "figures")
    color, hatch = COLORS[name]
    return patches.Patch(facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.0, label=name)
