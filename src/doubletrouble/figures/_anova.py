r"""The symmetric decomposition of the test error: main effects and their interactions.

The paper's decomposition averages over noise, features and data in one order. The symmetric one
([adlam2020]) has the main effects of features (V_P) and of inputs (V_X), and their interactions
(V_PX, and V_Xε and V_PXε with label noise). It needs the term Ψ₂ᵖ that the paper does not define.
"""

from dataclasses import dataclass

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._drawing import Stroke
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, along_ratios, table
from doubletrouble.figures._settings import ErrorSettings, setting
from doubletrouble.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from doubletrouble.parameters import Numeric
from doubletrouble.theory import anova, exact_error

DIVERGING = ("initialization_sampling", "noise_initialization_sampling")
FINITE = ("bias", "initialization", "sampling", "noise_sampling")
_STROKES = {
    "total": drawing.PARTS["total"],
    "noise_initialization_sampling": Stroke(
        r"$V_{PX\varepsilon}$: noise, features, inputs", VERMILION, "-", "o", 1.6, VERMILION
    ),
    "initialization_sampling": Stroke(
        r"$V_{PX}$: features, inputs", BLUE, (0, (6, 2)), "s", 1.6, "white"
    ),
    "noise_sampling": Stroke(
        r"$V_{X\varepsilon}$: noise, inputs", ORANGE, (0, (3, 1, 1, 1, 1, 1)), "v", 1.6, "white"
    ),
    "initialization": Stroke(r"$V_P$: features alone", SKY, (0, (2.5, 1.2)), "P", 1.6, SKY),
    "sampling": Stroke(r"$V_X$: inputs alone", GREEN, (0, (5, 1.5, 1, 1.5)), "^", 1.6, GREEN),
    "bias": Stroke("Bias", PURPLE, (0, (1.2, 1.0)), "D", 1.9, "white"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class AnovaSettings(ErrorSettings):
    """The settings of the figure."""

    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)


def anova_data(settings: AnovaSettings) -> Panel:
    """Return every effect along `ratios` = P/N, and their total.

    >>> at_peak = anova_data(AnovaSettings(ratios=[1.0]))
    >>> [round(float(at_peak.line(name).y[0]), 2) for name in ("initialization", *DIVERGING)]
    [0.25, 31.68, 70.49]
    """
    ratio, problem = along_ratios(settings.problem, settings.ratios)
    terms = anova(problem)
    lines = tuple(Line(name, ratio, np.asarray(getattr(terms, name))) for name in _STROKES)
    return Panel(axis="features_per_sample", problem=problem, lines=lines)


def draw(axes: "drawing.Axes", data: Panel, names: tuple[str, ...]) -> None:
    """Draw some of the effects on the given axes."""
    drawing.log_axes(axes, data.x)
    drawing.threshold(axes)
    drawing.curves(axes, data, {name: _STROKES[name] for name in names})


def plot(data: Panel) -> "drawing.Figure":
    """Draw the figure: effects that diverge at P = N, and effects that do not."""
    with drawing.new_figure(height=4.1) as figure:
        row = figure.subplots(1, 2, sharex=True, sharey=True)
        draw(row[0], data, ("total", *reversed(DIVERGING)))
        draw(row[1], data, tuple(reversed(FINITE)))
        row[1].set_ylabel("")
        row[0].set_ylim(drawing.log_range(line.y for line in data.lines))
        drawing.letters(row)
        drawing.figure_legend(figure, title=drawing.constants_title(data), ncols=3)
    return figure


def comparisons(data: Panel) -> tuple[Agreement, ...]:
    """The sum of the effects against the test error."""
    total = np.asarray(exact_error(data.problem).total)
    finite = np.isfinite(total) & (total > 0)
    off = np.abs(data.line("total").y[finite] / total[finite] - 1)
    return (Agreement.of("The test error, and the sum of all effects", off),)


FIGURE = FigureSpec(
    name="anova",
    title="Only interactions diverge",
    caption=(
        "The test error of the decomposition figure, decomposed symmetrically into main effects of "
        "each source of randomness and their interactions. (a) The peak at P = N consists of two "
        "interactions of features and inputs, one without and one with label noise. (b) All other "
        "effects are finite there, including the main effect of the features.\n"
        "The initialization variance of the paper is V_P + V_PX, and only the second part "
        "diverges; its noise variance is the sum of the two parts with ε. An interaction of two "
        "causes is removed by averaging over either: over features, or over data sets."
    ),
    alt=(
        "Two panels against features per sample P/N, logarithmic axes. Left: total error and the "
        "interactions of features and inputs, with and without noise, peak at P = N near 100, 70 "
        "and 30. Right: bias and the effects of inputs alone, features alone and noise with inputs "
        "stay below 1 and bend at P = N."
    ),
    settings=AnovaSettings(),
    data=anova_data,
    plot=plot,
    table=table,
    agreement=comparisons,
)
