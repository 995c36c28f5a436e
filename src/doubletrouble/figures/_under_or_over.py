r"""The minimum of the test error along P/N: beyond the threshold, or below it.

[dascoli2020] App. A.3 names three causes of a minimum at P < N: more averaged models, a lower
signal-to-noise ratio, and fewer samples. For infinitely many models and λ → 0 the condition is
exact: the minimum lies below P = N if and only if F²/τ² < μ₁²/μ⋆², for any N/D.

**Differs from the paper.** At the constants of its third panel, K = 2 and F/τ = 1, the error
is least for P/N → ∞ at every N/D; a minimum at P < N as samples are taken away needs F/τ below 0.8
or so. `third_snr=0.6` shows it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, along_ratios, number_list, with_snr
from doubletrouble.figures._settings import FigureSettings, setting
from doubletrouble.parameters import Numeric
from doubletrouble.theory import exact_error


class WidthCurve(NamedTuple):
    """One curve, and its parameters."""

    n_members: float
    snr: float
    samples_per_dim: float
    line: Line

    @property
    def best(self) -> float:
        """The P/N of the least test error; 0 or inf if the curve decreases towards that end."""
        least = int(np.argmin(self.line.y))
        if least in (0, self.line.y.size - 1):
            return math.inf if least else 0.0
        return float(self.line.x[least])


class Family(NamedTuple):
    """One panel: the field of `WidthCurve` that is varied, and the curves."""

    varied: str
    curves: tuple[WidthCurve, ...]


_HIGH = 7.0  # larger test errors are cut off: the figure is about minima
_SYMBOLS = {"n_members": "K", "snr": r"F/\tau", "samples_per_dim": "N/D"}


@dataclass(frozen=True, kw_only=True, eq=False)
class UnderOrOverSettings(FigureSettings):
    """The settings of the figure."""

    n_members: Sequence[float] = setting((1, 2, 10, 100, math.inf), glossary.N_MEMBERS)
    snrs: Sequence[float] = setting((0.5, 1.0, 2.0, 10.0), glossary.SNR)
    samples_per_dim: Sequence[float] = setting((0.1, 0.3, 1.0, 3.0, 10.0), glossary.SAMPLES_PER_DIM)
    middle: tuple[float, float, float] = setting(
        (2, 1.0, 1.0), "K, F/τ, N/D", "where they are not varied"
    )
    third_snr: float = setting(1.0, glossary.SNR, "signal-to-noise ratio of the third panel")
    ridge: float = setting(1e-5, glossary.RIDGE)
    signal: float = setting(1.0, glossary.SIGNAL)
    activation: str = setting("relu", "σ", "activation function")
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)


def under_or_over_data(settings: UnderOrOverSettings) -> tuple[Family, ...]:
    """Return test errors along `ratios` = P/N, varying K, then F/τ, then N/D.

    `middle` has K, F/τ and N/D where they are not varied; the third panel has F/τ = `third_snr`.

    >>> members, snrs, samples = under_or_over_data(UnderOrOverSettings())
    >>> [round(curve.best, 2) for curve in members.curves]
    [inf, inf, inf, 0.56, 0.61]
    """

    def curve(k: float, snr: float, samples: float) -> WidthCurve:
        at = replace(with_snr(settings.problem, snr), samples_per_dim=samples)
        ratio, along = along_ratios(at, settings.ratios)
        error = np.asarray(exact_error(along, k).total)
        return WidthCurve(k, snr, samples, Line("total", ratio, error))

    k, snr, samples = settings.middle
    counts, snrs, sizes = (
        number_list(name, getattr(settings, name))
        for name in ("n_members", "snrs", "samples_per_dim")
    )
    return (
        Family("n_members", tuple(curve(value, snr, samples) for value in counts)),
        Family("snr", tuple(curve(k, value, samples) for value in snrs)),
        Family("samples_per_dim", tuple(curve(k, settings.third_snr, value) for value in sizes)),
    )


def table(families: Sequence[Family]) -> PanelTable:
    """Return the numbers drawn: a row for each curve and P/N."""
    return PanelTable.stack(
        *(
            {
                "n_members": curve.n_members,
                "snr": curve.snr,
                "samples_per_dim": curve.samples_per_dim,
                "features_per_sample": curve.line.x,
                "test_error": curve.line.y,
            }
            for family in families
            for curve in family.curves
        )
    )


def draw(axes: "drawing.Axes", family: Family) -> None:
    """Draw one panel on the given axes; an arrow marks each minimum inside it, with its P/N."""
    drawing.log_axes(axes, family.curves[0].line.x)
    drawing.threshold(axes)
    starts = itertools.cycle(((-17, -17), (-5, -36)))  # labels of close minima one below another
    for curve, stroke in zip(family.curves, drawing.strokes(), strict=False):
        value = getattr(curve, family.varied)
        label = "$" + (r"\infty" if math.isinf(value) else f"{value:g}") + "$"
        drawing.curve(axes, curve.line, stroke, label=label)
        if 0 < curve.best < math.inf:
            y, text = float(np.min(curve.line.y)), f"{curve.best:.2f}"
            drawing.arrow_to_minimum(axes, curve.best, y, stroke, text=text, start=next(starts))


def plot(families: Sequence[Family]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.5) as figure:
        row = drawing.side_by_side(figure, families, draw)
        for axes, family in zip(row, families, strict=True):
            axes.set_xlabel("$P/N$")
            drawing.axes_legend(axes, ncols=3, title=_title(family), narrow=0.65)
        row[0].set_ylim(_low(families), _HIGH)
    return figure


def _low(families: Sequence[Family]) -> float:
    return 0.8 * min(float(np.min(c.line.y)) for family in families for c in family.curves)


def _title(family: Family) -> str:
    """The varied parameter, and the values of the others."""
    first = family.curves[0]
    fixed = [
        f"{symbol}={drawing.scientific(getattr(first, name))}"
        for name, symbol in _SYMBOLS.items()
        if name != family.varied
    ]
    return f"${_SYMBOLS[family.varied]}$ varied; ${', '.join(fixed)}$"


FIGURE = FigureSpec(
    name="under-or-over",
    number=12,
    title="Is it always better to have more features than samples?",
    caption=(
        "No. Arrows mark the least test error of a curve, with its P/N; a curve without an arrow "
        "decreases towards an end of the axis. Peaks are cut off at the top. (a) With more models "
        "averaged, the minimum moves to P < N, at this noise between ten and a hundred models. "
        "(b) With two models, a low signal-to-noise ratio has the same effect: the error is then "
        "least for very few features.\n"
        "(c) Fewer samples increase the error more beyond the threshold than below it. At the "
        "constants of the paper the minimum does not move to P < N; at F/τ = 0.6 it does."
    ),
    alt=(
        "Three panels of test error against P/N, logarithmic axes, each with a peak at P = N for "
        "finite K. Left, by number of models: K = 100 and infinity have a dip below P = N. "
        "Centre, by signal-to-noise ratio: at 0.5 the left end is lowest. Right, by samples per "
        "dimension: all curves end lower than they begin."
    ),
    settings=UnderOrOverSettings(),
    data=under_or_over_data,
    plot=plot,
    table=table,
    notes=(
        "According to the paper, the minimum in its third panel moves to P < N with fewer samples. "
        "At its constants (K = 2, F/τ = 1) the error is least for P/N → ∞ at every N/D; the "
        "statement holds below F/τ ≈ 0.8: at 0.6 the minimum is at P < N for N/D up to 2.",
    ),
)
