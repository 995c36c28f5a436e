"""How every figure looks: fonts, colours, line styles and number formats, in one place.

The colours are those of Okabe and Ito, distinguishable by colour-blind readers; each cause also has
its own dashes and marker, so that a grey print loses nothing. Fonts come with matplotlib, and the
reader's own matplotlibrc is set aside, so that a figure looks the same everywhere.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from doubletrouble.errors import require
from doubletrouble.palette import BLACK, BLUE, CAUSES, GREEN, LABELS, PURPLE, VERMILION
from doubletrouble.parameters import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 300  # an axis over less than this factor has too few powers of ten to read

WIDTH = 7.0  # inches: the text width of a two-column journal page

RC: dict[str, Any] = {
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
    "xtick.minor.width": 0.5,
    "ytick.minor.width": 0.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.title_fontsize": 10.0,
    "legend.handlelength": 2.8,
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
    """How one cause is named and drawn."""

    label: str
    color: str
    linestyle: Any
    marker: str
    width: float
    face: str  # of the marker


_INK = CAUSES["light"]

# In the order of the legend; the first is drawn underneath.
STROKES: dict[str, Stroke] = {
    "total": Stroke(LABELS["total"], _INK["total"], "-", "", 2.2, "none"),
    "noise": Stroke(LABELS["noise"], _INK["noise"], "-", "o", 1.5, _INK["noise"]),
    "initialization": Stroke(
        LABELS["initialization"], _INK["initialization"], (0, (6, 2)), "s", 1.5, "white"
    ),
    "sampling": Stroke(
        LABELS["sampling"], _INK["sampling"], (0, (5, 1.5, 1, 1.5)), "^", 1.5, _INK["sampling"]
    ),
    "bias": Stroke(LABELS["bias"], _INK["bias"], (0, (1.2, 1.0)), "D", 1.9, "white"),
}

# For curves that differ in a number, such as K: in the order of the curves.
SERIES: tuple[Stroke, ...] = (
    Stroke("", BLACK, "-", "o", 1.7, BLACK),
    Stroke("", VERMILION, (0, (6, 2)), "s", 1.7, "white"),
    Stroke("", BLUE, (0, (5, 1.5, 1, 1.5)), "^", 1.7, BLUE),
    Stroke("", GREEN, (0, (1.2, 1.0)), "D", 2.0, "white"),
    Stroke("", PURPLE, (0, (3, 1, 1, 1, 1, 1)), "v", 1.7, PURPLE),
)


@contextmanager
def journal() -> Iterator[None]:
    """Draw and save in the house style; matplotlib's settings return afterwards."""
    matplotlib = require("matplotlib", "figures")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def blank(*, height: float) -> "Figure":
    """Make an empty figure of journal width, outside pyplot: no window, no global state."""
    require("matplotlib", "figures")
    figure: Figure = require("matplotlib.figure", "figures").Figure(figsize=(WIDTH, height))
    return figure


def cycle() -> Iterator[Stroke]:
    """Strokes for any number of curves."""
    return itertools.cycle(SERIES)


def plain_ticks(axes: "Axes") -> None:
    """Label the decades of logarithmic axes, 0.1, 1, 10, and nothing between them."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain_number)
        axis.set_minor_formatter("")


def fill_ticks(axes: "Axes") -> None:
    """On logarithmic axes, label 2, 3 and 5, too, where it is short; write all powers alike."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() != "log":
            continue
        if high < _FEW * low:
            axis.set_minor_formatter(_said)
            axis.set_tick_params(which="minor", labelsize=RC["ytick.labelsize"])
        elif any(not _plain(tick) for tick in axis.get_majorticklocs() if low <= tick <= high):
            axis.set_major_formatter(_power)


def _said(value: float, _: object = None) -> str:
    return plain_number(value) if f"{value:.0e}"[0] in "235" else ""


def log_range(curves: Iterable[FloatArray]) -> tuple[float, float]:
    """Limits of a logarithmic axis that hold every positive, finite value, with a little room."""
    values = np.concatenate(list(curves))
    seen = values[np.isfinite(values) & (values > 0)]
    return (float(seen.min()) / 1.5, float(seen.max()) * 1.5) if seen.size else (0.1, 10.0)


def plain_number(value: float, _: object = None) -> str:
    """Write a tick as a plain number, and only extreme ones as powers of ten.

    >>> plain_number(0.01), plain_number(100.0), plain_number(1e-5)
    ('0.01', '100', '$10^{-5}$')
    """
    return f"{value:g}" if value <= 0 or _plain(value) else f"${scientific(value)}$"


def _plain(value: float) -> bool:
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


def spread(x: FloatArray, *, count: int, shift: float) -> list[int]:
    """Pick the points that carry a marker: evenly spaced in log x, `shift` of a step along."""
    finite = np.flatnonzero(np.isfinite(x) & (x > 0))
    if finite.size == 0:
        return []
    logs = np.log(x[finite])
    low, high = float(logs.min()), float(logs.max())
    places = low + (high - low) * (np.arange(count) + shift) / count
    return sorted({int(finite[np.argmin(np.abs(logs - place))]) for place in places})
