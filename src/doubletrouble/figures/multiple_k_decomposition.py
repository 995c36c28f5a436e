r"""The test error by cause for K models averaged, over that of a single one.

[dascoli2020] Sec. 5: averaging divides the initialization variance by K, and of the noise variance
what the members do not share; sampling variance and bias stay.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from doubletrouble.figures import decomposition, drawing, style
from doubletrouble.figures.decomposition import (
    DecompositionPanel,
    decomposition_data,
    with_stored,
)
from doubletrouble.figures.panel import table as table_of
from doubletrouble.figures.ratios import numbers
from doubletrouble.figures.spec import FigureSpec, Table
from doubletrouble.parameters import Numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILES = {
    (1e-5, 10.0): "fig6_decomposition_lambda1e-5_SNR1_K10.csv",
    (1e-5, 1.0): "fig3_top_decomposition_lambda1e-5_SNR1_K1.csv",
}


def multiple_k_decomposition_data(
    *,
    n_members: Sequence[float] = (1, 10),
    ridge: float = 1e-5,
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    noise: float = 1.0,
    activation: str = "relu",
    ratios: Numeric | None = None,
) -> tuple[DecompositionPanel, ...]:
    """Return the decomposition for each number of members, along `ratios` = P/N.

    >>> one, ten = multiple_k_decomposition_data(ratios=[1.0])
    >>> round(float(one.line("initialization").y[0] / ten.line("initialization").y[0]), 6)
    10.0
    """
    return tuple(
        panel
        for k in numbers("n_members", n_members)
        for panel in decomposition_data(
            ridges=[ridge], samples_per_dim=samples_per_dim, signal=signal, noise=noise,
            ensemble=k, activation=activation, ratios=ratios,
        )
    )  # fmt: skip


def table(panels: Sequence[DecompositionPanel]) -> Table:
    """Return the numbers drawn: one row for each number of members and P/N."""
    return table_of([replace(p, keys={"K": p.n_members}) for p in panels])


def draw(axes: "Axes", panels: Sequence[DecompositionPanel]) -> None:
    """Draw on axes that the caller owns: the last panel strong, the others thin beneath it."""
    *others, main = panels
    drawing.log_axes(axes, [main.ratios])
    drawing.threshold(axes)
    for panel in others:
        for label, stroke in style.STROKES.items():
            faint = stroke._replace(width=1.0, marker="")
            drawing.curve(axes, panel.line(label), faint, label="_")
    for place, (label, stroke) in enumerate(style.STROKES.items()):
        strong = stroke._replace(width=stroke.width + 0.6)
        drawing.curve(axes, main.line(label), strong, label=stroke.label, place=place)


def plot(panels: Sequence[DecompositionPanel]) -> "Figure":
    """Make the whole figure."""
    with drawing.page(height=3.9) as figure:
        axes = figure.subplots()
        draw(axes, panels)
        axes.set_ylim(style.log_range(line.y for panel in panels for line in panel.lines))
        shown = [style.scientific(panel.n_members) for panel in panels]
        thin = "".join(rf",$\quad$thin: $K={k}$" for k in shown[:-1])
        constants = decomposition.setting(panels[0], ridge=True)
        drawing.legend_above(
            figure, title=rf"Thick, with markers: $K={shown[-1]}${thin},$\quad${constants}"
        )
    return figure


def agrees(panels: Sequence[DecompositionPanel]) -> tuple[str, ...]:
    """The authors' values."""
    return tuple(
        f"K = {panel.n_members:g}: {said}"
        for panel in panels
        for said in with_stored(panel, _FILES)
    )


FIGURE = FigureSpec(
    name="multiple-k-decomposition",
    title="What ensembling does to each cause",
    caption=(
        "The four causes of the test error for an average of K = 10 models (thick, with markers) "
        "over those of a single model (thin). Averaging divides the initialization variance by K "
        "everywhere, and of the noise variance the part that the members do not share: both "
        "peaks at P = N are ten times lower.\n"
        "Sampling variance and bias are the same for any K: their thin lines lie under the thick "
        "ones. All members see the same data, and averaging them cannot help there."
    ),
    alt=(
        "Test error by cause against features per sample P/N, logarithmic axes, for K = 10 over "
        "K = 1. Total, noise and initialization peak at P = N, ten times lower for K = 10. "
        "Sampling variance and bias coincide for both and are flat beyond P = N."
    ),
    data=multiple_k_decomposition_data,
    plot=plot,
    table=table,
    agreement=agrees,
)
