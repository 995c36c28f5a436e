r"""The test error against P/N for K averaged models: ensembling removes the double-descent peak.

[dascoli2020] Eq. (18), with simulations of true random features at finite size.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import (
    Line,
    Panel,
    along_ratios,
    log_grid,
    members_name,
    number_list,
    table,
)
from doubletrouble.figures._settings import (
    RANGE,
    ErrorSettings,
    GridBounds,
    SimulationSettings,
    setting,
)
from doubletrouble.figures._simulated import two_sizes, with_simulated_points
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

_FILE = "fig5_test_error_lambda1e-5_SNR10.csv"


@dataclass(frozen=True, kw_only=True, eq=False)
class DoubleDescentSettings(SimulationSettings, ErrorSettings):
    """The settings of the figure."""

    n_members: Sequence[float] = setting((1, 2, 10, math.inf), glossary.N_MEMBERS)
    noise: float = setting(0.1, glossary.NOISE)
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)
    simulated_ratios: GridBounds = setting((0.1, 10.0, 13), "P/N", f"where to simulate: {RANGE}")


def double_descent_data(settings: DoubleDescentSettings) -> Panel:
    """Return the test error for each number of members along `ratios` = P/N, and simulated ones.

    >>> small = DoubleDescentSettings(ratios=[1.0], simulated_ratios=(1, 1, 1), dim=10, n_data=2)
    >>> panel = double_descent_data(small)
    >>> [(line.label, round(float(line.y[0]), 2)) for line in panel.lines[::3]]
    [('one_model', 32.93), ('infinitely_many_models', 0.29)]
    """
    ratio, problem = along_ratios(settings.problem, settings.ratios)
    ratios = log_grid(settings.simulated_ratios)
    members = number_list("n_members", settings.n_members)
    return with_simulated_points(
        ratio,
        problem,
        two_sizes(problem, settings, ratios=ratios, model="features"),
        theory=lambda x, along: error_lines(x, along, members),
        measured=lambda line, simulation: simulation.error(line.n_members).total,
    )


def error_lines(x: FloatArray, problem: Problem, members: Iterable[float]) -> tuple[Line, ...]:
    """The test error of each number of members along `x`."""
    return tuple(
        Line(members_name(k), x, np.asarray(exact_error(problem, k).total), n_members=k)
        for k in members
    )


def authors_name(n_members: float) -> str:
    """The column of K models in the authors' tables."""
    return f"K{n_members:g}"


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw on the given axes."""
    drawing.log_axes(axes, panel.x, room=1.06)
    drawing.threshold(axes)
    labels = {line.label: drawing.members_label(line.n_members) for line in panel.lines}
    drawing.curves(axes, panel, drawing.labelled(labels))


def plot(panel: Panel) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.7) as figure:
        draw(figure.subplots(), panel)
        drawing.figure_legend(figure, title=drawing.constants_title(panel, dim=True))
    return figure


def comparisons(panel: Panel) -> tuple[agreement.Agreement, ...]:
    """Theory, simulation and the authors' values."""
    compared = agreement.with_simulation(panel.points)
    if not agreement.has_constants(panel.problem, noise=0.1):
        return compared
    ratio, rows = agreement.stored_curve(_FILE)
    known = [line.n_members for line in panel.lines if authors_name(line.n_members) in rows[0]]
    lines = error_lines(ratio, replace(panel.problem, features_per_dim=ratio), known)
    authors = agreement.with_authors(
        (line.y, agreement.column(rows, authors_name(line.n_members))) for line in lines
    )
    return (*compared, authors)


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
    settings=DoubleDescentSettings(),
    data=double_descent_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        "The paper's caption has the limit N → ∞; the curve is that of K → ∞. Its bars are "
        "standard deviations over 10 runs, those here two standard errors of the mean; the "
        "authors' released notebook has D = 100 and λ = 1e-4 where the text has D = 200 and "
        "λ = 1e-5.",
    ),
    presets={"paper": {"simulated_ratios": (0.1, 31.6, 26), "n_data": 20}},
)
