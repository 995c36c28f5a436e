r"""K models on the same data, or on K disjoint parts of it: dividing the data averages the noise.

[dascoli2020] App. A.2: with divided data each model has N/K samples and the models are independent.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doubletrouble.ensembles import Divide
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, along_ratios, number_list, table, with_snr
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

_LABELS = {
    "single": "One model",
    "ensemble": "{k} models, same data",
    "divide": "{k} models, divided data",
}


def divide_and_conquer_data(
    *,
    snrs: Sequence[float] = (10.0, 1.0),
    n_members: int = 2,
    problem: Problem = Problem(),
    ratios: Numeric | None = None,
) -> tuple[Panel, ...]:
    """Return a panel for each F/τ: the test errors of the three choices along `ratios` = P/N.

    >>> clean, noisy = divide_and_conquer_data(ratios=[100.0])
    >>> [round(float(line.y[0]), 2) for line in clean.lines + noisy.lines]
    [0.3, 0.3, 0.52, 0.74, 0.73, 0.65]
    """
    panels = []
    for snr in number_list("snrs", snrs):
        ratio, along = along_ratios(with_snr(problem, snr), ratios)
        kernel = errors(replace(along, features_per_dim=np.inf), n_members)
        limits = {f"limit_{label}": float(kernel[label]) for label in ("ensemble", "divide")}
        panels.append(
            Panel(
                axis="P_over_N",
                keys={"SNR": snr, "K": n_members, **limits},
                problem=along,
                lines=tuple(Line(k, ratio, y) for k, y in errors(along, n_members).items()),
            )
        )
    return tuple(panels)


def errors(problem: Problem, n_members: float) -> dict[str, FloatArray]:
    """The test error of one model, of K on the same data, and of K on divided data."""
    results = (
        exact_error(problem),
        exact_error(problem, n_members),
        exact_error(problem, Divide(n_members)),
    )
    return {label: np.asarray(e.total) for label, e in zip(_LABELS, results, strict=True)}


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw one panel on the given axes."""
    drawing.log_axes(axes, panel.x)
    k = panel.keys["K"]
    drawing.threshold(axes, 1 / k, rf"$P=N/{k:g}$", align="right")
    drawing.threshold(axes, 1.0, "  $P=N$", align="left")
    labels = {name: text.format(k=f"{k:g}") for name, text in _LABELS.items()}
    drawing.curves(axes, panel, drawing.labelled(labels))
    drawing.corner(axes, rf"$\mathrm{{SNR}}=F/\tau={drawing.scientific(panel.keys['SNR'])}$")


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.page(height=3.3) as figure:
        drawing.side_by_side(figure, panels, draw)
        drawing.legend_above(figure, title=drawing.setting(panels[0], snr=False))
    return figure


def comparisons(panels: Sequence[Panel]) -> tuple[str, ...]:
    """The kernel limits."""
    return tuple(
        f"SNR = {p.keys['SNR']:g}, infinitely many features: divided data "
        f"{p.keys['limit_divide']:.4f}, same data {p.keys['limit_ensemble']:.4f}."
        for p in panels
    )


FIGURE = FigureSpec(
    name="divide-and-conquer",
    number=11,
    title="The same data for all models, or a part for each?",
    caption=(
        "Two models are trained on all the data, or each on one half. Models on disjoint halves "
        "have independent noise, which the average reduces; but each has fewer samples, and its "
        "peak moves to P = N/2.\n"
        "(a) With clean labels, dividing the data increases the error, also with infinitely many "
        "features. (b) With noisy labels, it decreases the error: beyond the threshold, the curve "
        "of divided data is the lowest."
    ),
    alt=(
        "Two panels of test error against features per sample P/N, logarithmic axes. One model "
        "and two models on the same data peak at P = N; two models on divided data peak at "
        "P = N/2. At high SNR divided data end highest, 0.52 against 0.29; at SNR 1 they end "
        "lowest, 0.65 against 0.73."
    ),
    data=divide_and_conquer_data,
    constants=("ridge", "samples_per_dim", "signal", "activation"),
    plot=plot,
    table=table,
    agreement=comparisons,
)
