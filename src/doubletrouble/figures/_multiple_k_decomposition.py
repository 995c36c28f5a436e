r"""The parts of the test error of K averaged models, and those of a single one.

[dascoli2020] Sec. 5: averaging divides the initialization variance by K, and the part of the noise
variance that the members do not share; sampling variance and bias do not change.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doubletrouble.figures import _decomposition as decomposition
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._decomposition import decomposition_data, with_stored
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Panel, Table, number_list
from doubletrouble.figures._panel import table as table_of
from doubletrouble.parameters import Numeric
from doubletrouble.problems import Problem

_FILES = {
    (1e-5, 10.0): "fig6_decomposition_lambda1e-5_SNR1_K10.csv",
    (1e-5, 1.0): "fig3_top_decomposition_lambda1e-5_SNR1_K1.csv",
}


def multiple_k_decomposition_data(
    *,
    n_members: Sequence[float] = (1, 10),
    problem: Problem = Problem(),
    ratios: Numeric | None = None,
) -> tuple[Panel, ...]:
    """Return the decomposition for each number of members, along `ratios` = P/N.

    >>> one, ten = multiple_k_decomposition_data(ratios=[1.0])
    >>> round(float(one.line("initialization").y[0] / ten.line("initialization").y[0]), 6)
    10.0
    """
    return tuple(
        panel
        for k in number_list("n_members", n_members)
        for panel in decomposition_data(
            ridges=[float(np.asarray(problem.ridge))], problem=problem, ensemble=k, ratios=ratios
        )
    )


def table(panels: Sequence[Panel]) -> Table:
    """Return the numbers drawn: one row for each number of members and P/N."""
    return table_of([replace(p, keys={"K": p.n_members}) for p in panels])


def draw(axes: "drawing.Axes", panels: Sequence[Panel]) -> None:
    """Draw on the given axes: the last panel thick, the others thin beneath it."""
    *others, main = panels
    drawing.log_axes(axes, main.x)
    drawing.threshold(axes)
    for panel in others:
        for label, stroke in drawing.PARTS.items():
            drawing.curve(axes, panel.line(label), stroke._replace(width=0.9), label="_")
    for label, stroke in drawing.PARTS.items():
        drawing.curve(axes, main.line(label), stroke._replace(width=stroke.width + 0.7))


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.page(height=3.9) as figure:
        axes = figure.subplots()
        draw(axes, panels)
        axes.set_ylim(drawing.log_range(line.y for panel in panels for line in panel.lines))
        shown = [drawing.scientific(panel.n_members) for panel in panels]
        thin = "".join(rf",$\quad$thin: $K={k}$" for k in shown[:-1])
        constants = decomposition.setting(panels[0], ridge=True)
        drawing.legend_above(figure, title=rf"Thick: $K={shown[-1]}${thin},$\quad${constants}")
    return figure


def agrees(panels: Sequence[Panel]) -> tuple[str, ...]:
    """The authors' values."""
    return tuple(
        f"K = {panel.n_members:g}: {text}"
        for panel in panels
        for text in with_stored(panel, _FILES)
    )


FIGURE = FigureSpec(
    name="multiple-k-decomposition",
    number=6,
    title="The effect of ensembling on each part",
    caption=(
        "The parts of the test error for an average of K = 10 models (thick) and for a single "
        "model (thin). Averaging divides the initialization variance by K everywhere, and the part "
        "of the noise variance that the members do not share: both peaks at P = N are ten times "
        "lower.\n"
        "Sampling variance and bias are the same for any K: their thin lines coincide with the "
        "thick ones. All members have the same training data, and averaging does not reduce these "
        "parts."
    ),
    alt=(
        "Parts of the test error against features per sample P/N, logarithmic axes, for K = 10 "
        "and K = 1. Total, noise and initialization peak at P = N, ten times lower for K = 10. "
        "Sampling variance and bias coincide for both and are flat beyond P = N."
    ),
    data=multiple_k_decomposition_data,
    plot=plot,
    table=table,
    agreement=agrees,
)
