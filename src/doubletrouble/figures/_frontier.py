r"""The least error that a budget of operations pays for, and the best sizes, for several costs.

The frontier of `scaling_frontier`, for the work of direct solvers, N P min(N, P) for each model,
that of iterative ones, steps × N P, and for the time of a direct solver with all models in
parallel. The best ensemble is compared with the best single model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.advice import ScalingFrontier, scaling_frontier
from doubletrouble.costs import Cost
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, log_grid
from doubletrouble.figures._settings import RANGE, GridBounds, LawSettings, setting
from doubletrouble.parameters import FloatArray

_BUDGET = "Operations, $C$"
_TITLES = {
    "direct": "direct solver",
    "iterative": "iterative solver",
    "parallel": "direct, in parallel",
}
_SIZES = {"n_samples": "Samples, $N$", "n_features": "Features, $P$", "n_members": "Models, $K$"}
_ENSEMBLE, _ONE = drawing.labelled(
    {"ensemble": "Best ensemble", "one": "One model"}, (drawing.SERIES[0], drawing.SERIES[1])
).values()
_SIZE_STROKES = drawing.labelled(_SIZES, drawing.SERIES[2:5])


@dataclass(frozen=True, kw_only=True, eq=False)
class CostPanel:
    """The frontier of one cost."""

    name: str
    frontier: ScalingFrontier


@dataclass(frozen=True, kw_only=True, eq=False)
class FrontierSettings(LawSettings):
    """The settings of the figure."""

    steps: float = setting(1000.0, glossary.SOLVER_STEPS, "iterations of the iterative solver")
    compute_range: GridBounds = setting((1e12, 1e24, 25), "C", f"operations: {RANGE}")


def frontier_data(settings: FrontierSettings) -> tuple[CostPanel, ...]:
    """Return the frontiers of a direct solver, an iterative one, and models in parallel.

    >>> data = frontier_data(FrontierSettings(compute_range=(1e12, 1e12, 1)))
    >>> [float(panel.frontier.n_members[0]) for panel in data]
    [81.0, 1.0, inf]
    """
    budgets = log_grid(settings.compute_range, "compute_range")
    costs = {
        "direct": Cost(),
        "iterative": Cost(steps=settings.steps),
        "parallel": Cost(workers=math.inf),
    }
    law = settings.at(1.0, 1.0)
    return tuple(
        CostPanel(name=name, frontier=scaling_frontier(law, budgets, cost=cost))
        for name, cost in costs.items()
    )


def table(data: Sequence[CostPanel]) -> PanelTable:
    """Return the numbers drawn: a row for each budget of each cost, and exponents as a last row."""
    blocks = []
    for k, panel in enumerate(data):
        best, one = panel.frontier, panel.frontier.one_model
        assert one is not None
        sizes = {name: getattr(best, name) for name in _SIZES}
        error = {"error": np.asarray(best.error.total), "error_one": np.asarray(one.error.total)}
        blocks.append({"cost": k, "compute": best.compute, **sizes, **error})
        if best.asymptotic is not None and one.asymptotic is not None:
            powers = {name: getattr(best.asymptotic, name) for name in _SIZES}
            error_powers = {"error": best.asymptotic.total, "error_one": one.asymptotic.total}
            blocks.append({"cost": k, "compute": math.inf, **powers, **error_powers})
    return PanelTable.stack(*blocks)


def _budget_axis(axes: "drawing.Axes", compute: FloatArray, ylabel: str) -> None:
    drawing.log_axes(axes, compute, xlabel=_BUDGET, ylabel=ylabel)
    locator: Any = axes.xaxis.get_major_locator()
    locator.set_params(base=1e3)


def draw_error(axes: "drawing.Axes", panel: CostPanel) -> None:
    """Draw the least error of ensembles and of one model on the given axes."""
    best, one = panel.frontier, panel.frontier.one_model
    assert one is not None
    _budget_axis(axes, best.compute, drawing.ERROR)
    curves = ((one, _ONE), (best, _ENSEMBLE))
    lines = [Line(stroke.label, f.compute, np.asarray(f.error.total)) for f, stroke in curves]
    for line, (_, stroke) in zip(lines, curves, strict=True):
        drawing.curve(axes, line, stroke)
    same = bool(np.all(best.n_members == 1))
    shown = curves[1:] if same else curves
    _exponents(
        axes,
        [
            (np.asarray(f.error.total), float(f.asymptotic.total), stroke.color)
            for f, stroke in shown
            if f.asymptotic is not None
        ],
        best.compute,
    )
    if same:
        axes.annotate("one model is best", (0.06, 0.06), xycoords="axes fraction")


def draw_sizes(axes: "drawing.Axes", panel: CostPanel) -> None:
    """Draw the best sizes on the given axes."""
    best = panel.frontier
    _budget_axis(axes, best.compute, "Best sizes")
    marks = []
    for name, stroke in _SIZE_STROKES.items():
        values = np.asarray(getattr(best, name))
        if np.any(np.isinf(values)):
            axes.annotate(r"$K\to\infty$", (0.06, 0.95), xycoords="axes fraction", va="top")
            continue
        drawing.curve(axes, Line(name, best.compute, values), stroke)
        if best.asymptotic is not None:
            marks.append((values, float(getattr(best.asymptotic, name)), stroke.color))
    _exponents(axes, marks, best.compute)
    drawing.slope_legend(axes, "Exponents for large budgets")


def _exponents(
    axes: "drawing.Axes", curves: Sequence[tuple[FloatArray, float, str]], compute: FloatArray
) -> None:
    """Marks of the exponents for large budgets, and the numbers right of the axes."""
    at = 3 * compute.size // 4
    for y, slope, _ in curves:
        drawing.slope_mark(axes, float(compute[at]), float(y[at]), slope, decades=2.5)
    labels = [(float(y[-1]), drawing.exponent(slope), color) for y, slope, color in curves]
    drawing.margin_labels(axes, labels)


def plot(data: Sequence[CostPanel]) -> "drawing.Figure":
    """Draw the figure: a row for each cost, errors on the left and best sizes on the right."""
    errors = [np.asarray(f.error.total) for panel in data for f in _both(panel.frontier)]
    sizes = [getattr(panel.frontier, name) for panel in data for name in _SIZES]
    with drawing.new_figure(height=7.4) as figure:
        grid = figure.subplots(len(data), 2, sharex=True, squeeze=False)
        for (left, right), panel in zip(grid, data, strict=True):
            left.set(yscale="log", ylim=drawing.log_range(errors))
            right.set(yscale="log", ylim=drawing.log_range(sizes))
            draw_error(left, panel)
            draw_sizes(right, panel)
            for axes in (left, right):
                axes.set_xlabel(_BUDGET if panel is data[-1] else "")
                axes.set_title(_TITLES[panel.name], loc="right")
        drawing.letters(list(grid.ravel()))
        drawing.figure_legend(figure, ncols=3)
    return figure


def _both(frontier: ScalingFrontier) -> tuple[ScalingFrontier, ...]:
    assert frontier.one_model is not None
    return frontier, frontier.one_model


def comparisons(data: Sequence[CostPanel]) -> tuple[Agreement, ...]:
    """Exponents of the error between the last two budgets, and those for large budgets."""
    gaps = [
        abs(float(np.ravel(f.exponents.total)[-1]) - f.asymptotic.total)
        for panel in data
        for f in _both(panel.frontier)
        if f.asymptotic is not None and f.exponents is not None
    ]
    statement = "Exponents of the error for large budgets, and those at the largest one"
    return (Agreement.of(statement, np.array(gaps), unit="absolute"),)


FIGURE = FigureSpec(
    name="frontier",
    title="Ensemble or scale: the best use of compute",
    caption=(
        "The least test error for a budget of C operations, and the sizes that reach it, on "
        "power-law data (α = 1.5, r = 0.8, τ = 0.1): over P, N, the ridge and the number of "
        "models K (solid), and with one model only (dashed). Numbers at the right are the "
        "exponents for large budgets, from a linear program in the exponents of P, N and K; short "
        "dashed lines have these slopes.\n"
        "(a, b) A direct solver takes N P min(N, P) operations for each model: many small models "
        "are cheaper than one large one. The best ensemble has 2.6 times less error at 10¹² "
        "operations and 8.8 times less at 10²⁴, with 81 and 3937 models and no ridge. Its price "
        "is at prediction: 7 and 31 times as many features in all.\n"
        "(c, d) An iterative solver of 1000 steps takes 1000 N P operations: models of equal K P "
        "cost as much as one, and one model is the best at every budget, with a positive ridge.\n"
        "(e, f) If all models are trained at the same time by direct solvers and only that time "
        "counts, infinitely many models are the best. The work is then unbounded; the comparison "
        "with one model is not one of equal work."
    ),
    alt=(
        "Six panels, logarithmic axes against operations from 10¹² to 10²⁴. Left, the error: "
        "direct solver, one model falls with slope -0.333 and the best ensemble below it with "
        "-0.381; iterative solver, one line of slope -0.453; in parallel, slopes -0.333 and "
        "-0.444. Right, the best sizes: samples grow fastest, with exponents 0.54, 0.642 and "
        "0.63, features with 0.159, 0.358 and 0.185, models with 0.143, 0 and, in parallel, "
        "infinitely many."
    ),
    settings=FrontierSettings(),
    data=frontier_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={
        "laptop": {"compute_range": (1e12, 1e24, 13)},
        "paper": {"compute_range": (1e12, 1e24, 49)},
    },
)
