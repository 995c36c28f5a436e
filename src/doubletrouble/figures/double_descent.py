r"""The test error against P/N for K models averaged: ensembling cuts the peak of double descent.

[dascoli2020] Eq. (18), with simulations of true random features at finite size.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.figures import _authors, agreement, drawing, style
from doubletrouble.figures.panel import Panel, beside_simulation, table
from doubletrouble.figures.ratios import along_ratios, numbers, spaced
from doubletrouble.figures.simulated import two_sizes
from doubletrouble.figures.spec import FigureSpec
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate
from doubletrouble.simulation import Simulation
from doubletrouble.theory import exact_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FILE = "fig5_test_error_lambda1e-5_SNR10.csv"
_SAME: dict[str, float | str] = {
    "ridge": 1e-5, "samples_per_dim": 1.0, "signal": 1.0, "noise": 0.1, "activation": "relu",
}  # fmt: skip


def double_descent_data(
    *,
    n_members: Sequence[float] = (1, 2, 10, math.inf),
    ridge: float = 1e-5,
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    noise: float = 0.1,
    activation: str = "relu",
    ratios: Numeric | None = None,
    simulated_ratios: tuple[float, float, int] = (0.1, 10.0, 13),
    dim: int = 200,
    n_data: int = 10,
    n_init: int = 4,
    seed: int = 0,
    store: str | Path | None = None,
) -> Panel:
    """Return the test error for each number of members along `ratios` = P/N, and simulated ones.

    >>> panel = double_descent_data(ratios=[1.0], simulated_ratios=(1, 1, 1), dim=10, n_data=2)
    >>> [(line.label, round(float(line.y[0]), 2)) for line in panel.lines[::3]]
    [('K1', 32.93), ('Kinf', 0.29)]
    """
    ratio, problem = along_ratios(
        ratios, ridge=ridge, samples_per_dim=samples_per_dim, signal=signal, noise=noise,
        activation=activation,
    )  # fmt: skip
    runs = two_sizes(
        problem, dim=dim, n_data=n_data, ratios=spaced(simulated_ratios), store=store,
        model="features", n_init=n_init, seed=seed,
    )  # fmt: skip
    members = numbers("n_members", n_members)
    return beside_simulation(
        ratio, problem, runs, theory=partial(errors, members=members),
        measured={name(k): _total(k) for k in members},
    )  # fmt: skip


def errors(problem: Problem, members: Iterable[float]) -> dict[str, FloatArray]:
    """The test error of each number of members, by the name of its column."""
    return {name(k): np.asarray(exact_error(problem, k).total) for k in members}


def _total(members: float) -> Callable[[Simulation], Estimate]:
    return lambda simulation: simulation.error(members).total


def name(members: float) -> str:
    """The column of K members, as the authors' table has it.

    >>> name(2), name(math.inf)
    ('K2', 'Kinf')
    """
    return f"K{members:g}"


def symbol(label: str) -> str:
    """The same, as a legend has it."""
    value = float(label.removeprefix("K"))
    return r"$K\to\infty$" if math.isinf(value) else f"$K={value:g}$"


def draw(axes: "Axes", panel: Panel) -> None:
    """Draw on axes that the caller owns."""
    drawing.log_axes(axes, [panel.lines[0].x], room=1.06)
    drawing.threshold(axes)
    strokes = dict(zip((line.label for line in panel.lines), style.cycle(), strict=False))
    for line in panel.lines:
        drawing.curve(axes, line, strokes[line.label], label=symbol(line.label), markers=0)
    for found in panel.points:
        drawing.points(axes, found, strokes[found.label])


def plot(panel: Panel) -> "Figure":
    """Make the whole figure."""
    with drawing.page(height=3.7) as figure:
        draw(figure.subplots(), panel)
        drawing.legend_above(figure, title=drawing.setting(panel, dim=True))
    return figure


def agrees(panel: Panel) -> tuple[str, ...]:
    """Theory, simulation and the authors' values."""
    said: tuple[str, ...] = (agreement.with_simulation(panel.points),)
    if _authors.constants(panel.problem, **_SAME):
        ratio, rows = _authors.along(_FILE)
        known = [float(line.label[1:]) for line in panel.lines if line.label in rows[0]]
        ours = errors(replace(panel.problem, features_per_dim=ratio), known)
        said += agreement.with_authors((y, _authors.column(rows, k)) for k, y in ours.items())
    return (
        *said,
        "The paper's caption names the limit N → ∞; the curve is that of K → ∞. Its bars are "
        "standard deviations over 10 runs, ours two standard errors of the mean; the authors' "
        "released notebook has D = 100 and λ = 1e-4 where the text has D = 200 and λ = 1e-5.",
    )


FIGURE = FigureSpec(
    name="double-descent",
    title="Ensembling takes the peak away",
    caption=(
        "The test error of K random-features models with independent features, all trained on the "
        "same data, whose predictions are averaged. One model has the double-descent peak at "
        "P = N; averaging divides what is above the lowest curve by K, and infinitely many models "
        "have no peak at all.\n"
        "Beyond P = N that lowest curve is flat: averaging models there is as good as having "
        "infinitely many features. Below, it is not: the average of small models is still "
        "held back by an implicit penalty. Lines: exact theory for infinite sizes. Markers: true "
        "random features at finite size, with bars of two standard errors."
    ),
    alt=(
        "Test error against features per sample P/N, logarithmic axes. The curve of one model "
        "peaks near 30 at P = N; those of 2 and 10 models have the same peak, 2 and 10 times "
        "lower; that of infinitely many falls until P = N and is flat at 0.29 beyond, where the "
        "others approach it. Simulated points lie on the lines."
    ),
    data=double_descent_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={
        "paper": {"simulated_ratios": (0.1, 31.6, 26), "n_data": 20},
    },
)
