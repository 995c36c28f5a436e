r"""The test error against P/N for K averaged models: ensembling removes the double-descent peak.

[dascoli2020] Eq. (18), with simulations of true random features at finite size.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Panel, along_ratios, log_grid, number_list, table
from doubletrouble.figures._simulated import SimulationSettings, two_sizes, with_simulated_points
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate
from doubletrouble.simulation import Simulation
from doubletrouble.theory import exact_error

_FILE = "fig5_test_error_lambda1e-5_SNR10.csv"


def double_descent_data(
    *,
    n_members: Sequence[float] = (1, 2, 10, math.inf),
    problem: Problem = Problem(noise=0.1),
    ratios: Numeric | None = None,
    simulated_ratios: tuple[float, float, int] = (0.1, 10.0, 13),
    simulation: SimulationSettings = SimulationSettings(),
) -> Panel:
    """Return the test error for each number of members along `ratios` = P/N, and simulated ones.

    >>> small = SimulationSettings(dim=10, n_data=2)
    >>> panel = double_descent_data(
    ...     ratios=[1.0], simulated_ratios=(1, 1, 1), simulation=small
    ... )
    >>> [(line.label, round(float(line.y[0]), 2)) for line in panel.lines[::3]]
    [('K1', 32.93), ('Kinf', 0.29)]
    """
    ratio, problem = along_ratios(problem, ratios)
    runs = two_sizes(problem, simulation, ratios=log_grid(simulated_ratios), model="features")
    members = number_list("n_members", n_members)
    return with_simulated_points(
        ratio,
        problem,
        runs,
        theory=partial(errors, members=members),
        measured={name(k): _total(k) for k in members},
    )


def errors(problem: Problem, members: Iterable[float]) -> dict[str, FloatArray]:
    """The test error of each number of members, by the name of its column."""
    return {name(k): np.asarray(exact_error(problem, k).total) for k in members}


def _total(members: float) -> Callable[[Simulation], Estimate]:
    return lambda simulation: simulation.error(members).total


def name(members: float) -> str:
    """The column of K members in the authors' table.

    >>> name(2), name(math.inf)
    ('K2', 'Kinf')
    """
    return f"K{members:g}"


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw on the given axes."""
    drawing.log_axes(axes, panel.x, room=1.06)
    drawing.threshold(axes)
    labels = {line.label: drawing.members(line.label) for line in panel.lines}
    drawing.curves(axes, panel, drawing.labelled(labels))


def plot(panel: Panel) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.page(height=3.7) as figure:
        draw(figure.subplots(), panel)
        drawing.legend_above(figure, title=drawing.setting(panel, dim=True))
    return figure


def comparisons(panel: Panel) -> tuple[str, ...]:
    """Theory, simulation and the authors' values."""
    statements: tuple[str, ...] = (agreement.with_simulation(panel.points),)
    if agreement.has_constants(panel.problem, noise=0.1):
        ratio, rows = agreement.stored_curve(_FILE)
        known = [float(line.label[1:]) for line in panel.lines if line.label in rows[0]]
        computed = errors(replace(panel.problem, features_per_dim=ratio), known)
        statements += agreement.with_authors(
            (y, agreement.column(rows, k)) for k, y in computed.items()
        )
    return (
        *statements,
        "The paper's caption has the limit N → ∞; the curve is that of K → ∞. Its bars are "
        "standard deviations over 10 runs, those here two standard errors of the mean; the "
        "authors' released notebook has D = 100 and λ = 1e-4 where the text has D = 200 and "
        "λ = 1e-5.",
    )


FIGURE = FigureSpec(
    name="double-descent",
    number=5,
    title="Ensembling removes the peak",
    caption=(
        "The test error of K random-features models with independent features, all trained on the "
        "same data, whose predictions are averaged. One model has the double-descent peak at "
        "P = N; averaging divides the excess over the lowest curve by K, and infinitely many "
        "models have no peak.\n"
        "Beyond P = N the lowest curve is flat: averaging infinitely many models is equivalent to "
        "infinitely many features. Below P = N it is not: the average of narrow models has an "
        "implicit penalty. Lines: exact theory for infinite sizes. Markers: simulation of random "
        "features at finite size, with bars of two standard errors."
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
    agreement=comparisons,
    presets={"paper": {"simulated_ratios": (0.1, 31.6, 26), "n_data": 20}},
)
