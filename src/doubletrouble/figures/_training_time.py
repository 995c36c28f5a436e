r"""The test error during training, over time and P/N: the peak grows with training time.

Gradient flow from zero weights (`theory.gradient_flow`); time is 2 (D/N) × steps × learning
rate of gradient descent on the mean loss. Without a penalty, the parts that grow with
time at P = N are those that diverge at the end ([dascoli2020] Sec. 4): label noise and
initialization, in the ratio τ² : F² (1 - Ψ₁) of the ridgeless fit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.estimates import Estimate
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._decomposition import CAUSES
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import (
    Line,
    Panel,
    PanelTable,
    Points,
    at_ratio,
    log_grid,
    members_name,
    number_list,
)
from doubletrouble.figures._settings import (
    RANGE,
    ErrorSettings,
    GridBounds,
    SimulationSettings,
    setting,
)
from doubletrouble.figures._simulated import TwoSizes, two_sizes
from doubletrouble.palette import GREY
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.simulation import Simulation
from doubletrouble.theory import best_stopping_time, exact_error, gradient_flow

_TIME = r"Training time, $t$"
_TIME_UNIT = r"$t=2\,(D/N)\times$ steps $\times$ learning rate"
MANY = f"total_{members_name(math.inf)}"
LEVELS = (0.63, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_SHADES = [*drawing.shades("#f4f9ff", "#a0bedd", 9), *drawing.shades("#fdf3e2", "#d99434", 7)]
# Labels of contours by K: the time, the levels, and whether at the last crossing along P/N.
_LABELLED: dict[float, tuple[tuple[float, tuple[float, ...], bool], ...]] = {
    1.0: ((3e3, (1.5, 2.0, 5.0), True), (0.2, (0.7, 0.8, 0.9), False)),
    math.inf: ((3e3, (0.7,), True), (30.0, (0.65, 0.7, 0.8), False)),
}
_EQUAL = 1e-8  # relative difference of errors that count as equal


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeMap:
    """Test errors of K averaged models over P/N (rows) and time (columns)."""

    n_members: float
    times: FloatArray
    ratios: FloatArray
    total: FloatArray
    best: FloatArray  # the best time to stop, by row; inf: never


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingTime:
    """Maps for one model and for infinitely many, and the split along time at some P/N."""

    maps: tuple[TimeMap, ...]
    cuts: tuple[Panel, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingTimeSettings(SimulationSettings, ErrorSettings):
    """The settings of the figure."""

    cuts: Sequence[float] = setting((1.0, 2.0), "P/N", "of the cuts through the maps")
    ridge: float = setting(0.0, glossary.RIDGE)
    time_range: GridBounds = setting((0.1, 1e4, 101), "t", f"training time: {RANGE}")
    ratio_range: GridBounds = setting((0.1, 10.0, 81), "P/N", f"features per sample: {RANGE}")
    simulated_times: GridBounds = setting((0.3, 100.0, 6), "t", f"where to simulate: {RANGE}")


def training_time_data(settings: TrainingTimeSettings) -> TrainingTime:
    """Return test errors over time and P/N for K = 1 and K → ∞, and the splits at P/N in `cuts`.

    >>> grids = {"time_range": (1, 1e4, 3), "ratio_range": (1, 1, 1)}
    >>> data = training_time_data(TrainingTimeSettings(cuts=[1.0], dim=10, n_data=2, **grids))
    >>> [round(float(line.y[-1]), 2) for line in data.cuts[0].lines]
    [43.15, 29.49, 13.37, 0.09, 0.2, 0.72]
    """
    times, ratios, moments = (
        log_grid(getattr(settings, name), name)
        for name in ("time_range", "ratio_range", "simulated_times")
    )
    problem = at_ratio(settings.problem, ratios)
    maps = tuple(time_map(problem, times, ratios, k) for k in (1.0, math.inf))
    cuts = number_list("cuts", settings.cuts)
    runs = two_sizes(problem, settings, ratios=cuts, model="features", times=moments.tolist())
    simulated = np.ravel(runs.problem.features_per_dim) / np.asarray(problem.samples_per_dim)
    panels = []
    for ratio in cuts:
        at = at_ratio(problem, ratio)
        row = int(np.argmin(np.abs(simulated - ratio)))
        realized = at_ratio(at, simulated[row])
        lines = split(at, times) | {MANY: np.asarray(gradient_flow(at, times, math.inf).total)}
        panels.append(
            Panel(
                axis="time",
                keys={"features_per_sample": ratio},
                problem=at,
                lines=tuple(Line(k, times, y) for k, y in lines.items()),
                points=tuple(
                    _points(runs, Line(k, moments, y), row)
                    for k, y in split(realized, moments).items()
                ),
            )
        )
    return TrainingTime(maps=maps, cuts=tuple(panels))


def time_map(problem: Problem, times: FloatArray, ratios: FloatArray, members: float) -> TimeMap:
    """The test error of K models with `problem`'s features, which are along `ratios` = P/N."""
    column = replace(problem, features_per_dim=np.asarray(problem.features_per_dim)[:, None])
    return TimeMap(
        n_members=members,
        times=times,
        ratios=ratios,
        total=np.asarray(gradient_flow(column, times, members).total),
        best=stops(problem, members),
    )


def stops(problem: Problem, members: float) -> FloatArray:
    """The best time to stop; inf where no time is better than the end by more than rounding."""
    stopping = best_stopping_time(problem, members)
    end = np.asarray(exact_error(problem, members).total)
    better = np.asarray(stopping.error.total) < (1 - _EQUAL) * end
    return np.where(better, np.asarray(stopping.time), math.inf)


def second_descent(data: TimeMap) -> FloatArray:
    """The largest relative decrease of the error after an increase, by P/N."""
    total = data.total
    risen = total > (1 + _EQUAL) * np.minimum.accumulate(total, axis=1)
    top = np.maximum.accumulate(np.where(risen, total, 0.0), axis=1)  # 0 before any rise
    fallen = np.divide(top - total, top, out=np.zeros_like(total), where=top > 0)
    return np.asarray(np.max(fallen, axis=1))


def split(problem: Problem, times: FloatArray) -> dict[str, FloatArray]:
    """The total error of one model along time, and its parts."""
    error = gradient_flow(problem, times)
    return {name: np.asarray(getattr(error, name)) for name in ("total", *CAUSES)}


def _points(runs: TwoSizes, theory: Line, row: int) -> Points:
    """One part as simulated, at one of the cuts."""

    def measured(simulation: Simulation) -> Estimate:
        part: Estimate = getattr(simulation.error(1), theory.label)
        value, error = (np.asarray(v)[row] for v in (part.value, part.standard_error))
        return Estimate(value=value, standard_error=error, n_draws=part.n_draws)

    return runs.points(theory, measured)


def table(data: TrainingTime) -> PanelTable:
    """Return the numbers drawn: the maps and best times, then the cuts."""
    cuts = [block for panel in data.cuts for block in panel.blocks]
    first = data.maps[0]
    maps: dict[str, FloatArray] = {
        "features_per_sample": first.ratios[:, None],
        "time": first.times,
    }
    maps |= {f"map_{members_name(one.n_members)}": one.total for one in data.maps}
    maps |= {f"best_time_{members_name(one.n_members)}": one.best[:, None] for one in data.maps}
    return PanelTable.stack(maps, *cuts, columns=PanelTable.stack(*cuts).columns)


def draw_map(axes: "drawing.Axes", data: TimeMap, cuts: Sequence[float]) -> None:
    """Draw one map on the given axes; errors below that of zero weights are blue."""
    x, y, z = data.times, data.ratios, data.total
    axes.contourf(x, y, z, levels=LEVELS, colors=_SHADES, extend="both", zorder=0)
    axes.contour(x, y, z, levels=LEVELS, colors="#555555", linewidths=0.5, zorder=1)
    drawing.contour_labels(axes, label_positions(data))
    far = np.minimum(data.best, 100 * x[-1])  # beyond the axes
    axes.plot(
        far,
        y,
        color="#000000",
        linewidth=2.8,
        linestyle=(0, (2.2, 0.8)),
        zorder=4,
        label="Best time to stop",
    )
    drawing.legend_line(axes, "Contours: equal test error", color="#555555", linewidth=0.7)
    drawing.legend_area(axes, "Error below 1 (no training)", facecolor=_SHADES[5])
    drawing.legend_area(axes, "Error above 1", facecolor=_SHADES[12])
    if np.any(np.isinf(data.best)):
        axes.text(
            0.97,
            0.07,
            "Best: never stop",
            transform=axes.transAxes,
            ha="right",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "#444444", "linewidth": 0.5, "pad": 3.0},
        )
    drawing.log_axes(axes, x, xlabel=_TIME, ylabel=drawing.RATIO)
    axes.set_ylim(float(y.min()), float(y.max()))
    for cut in cuts:
        axes.axhline(cut, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=2)
    drawing.legend_line(
        axes, "$P/N$ of (c, d)", color="#555555", linewidth=0.8, linestyle=(0, (4, 3))
    )
    axes.grid(visible=False)
    axes.set_title(drawing.members_label(data.n_members), loc="right")


def label_positions(data: TimeMap) -> list[tuple[float, float, float | None]]:
    """The levels that are labelled, and the time and P/N of their labels."""
    positions = []
    for time, levels, last in _LABELLED.get(data.n_members, ()):
        k = int(np.argmin(np.abs(np.log(data.times / time))))
        for level in levels:
            ratio = drawing.crossing(data.ratios, data.total[:, k], level, last=last)
            positions.append((level, float(data.times[k]), ratio))
    return positions


def draw_cut(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the parts along time on the given axes."""
    drawing.log_axes(axes, panel.x, xlabel=f"{_TIME}\n{_TIME_UNIT}")
    many = panel.line(MANY)
    axes.plot(
        many.x,
        many.y,
        color=GREY,
        linewidth=2.2,
        linestyle=(0, (8, 2)),
        label=r"Total, $K\to\infty$",
    )
    drawing.curves(axes, panel, drawing.PARTS)
    ratio = panel.ratio
    axes.set_title(f"$K=1$, $P={'' if ratio == 1 else f'{ratio:g}'}N$", loc="right")


def plot(data: TrainingTime) -> "drawing.Figure":
    """Draw the figure: maps above, cuts below."""
    with drawing.new_figure(height=6.7) as figure:
        grid = figure.subplots(2, 2, sharey="row", sharex=True)
        cuts = [panel.ratio for panel in data.cuts]
        for axes, one in zip(grid[0], data.maps, strict=True):
            draw_map(axes, one, cuts)
        for axes, panel in zip(grid[1], data.cuts, strict=True):
            draw_cut(axes, panel)
        for axes in grid.ravel():
            axes.label_outer()
        drawing.letters(list(grid.ravel()))
        title = drawing.constants_title(data.cuts[0], dim=True)
        drawing.figure_legend(figure, title=title, ncols=3, panels=grid[0])
        drawing.figure_legend(figure, ncols=4, panels=grid[1], loc="outside lower center")
    return figure


def comparisons(data: TrainingTime) -> tuple[agreement.Agreement, ...]:
    """Theory and simulation, and the absence of a second descent in time."""
    falls = np.concatenate([second_descent(one) for one in data.maps])
    return (
        *agreement.with_simulation([p for panel in data.cuts for p in panel.points]),
        agreement.Agreement.of("Errors without a decrease after an increase", falls),
    )


FIGURE = FigureSpec(
    name="training-time",
    title="The peak grows with training time",
    caption=(
        "Gradient flow from zero weights, without a penalty, stopped at time t. (a, b) The test "
        "error over training time and features per sample, for one model and for the average of "
        "infinitely many; blue is better than no training, orange worse, and the thick dashed line "
        "is the best time to stop. (c, d) The parts of the error at the two P/N that are marked in "
        "the maps.\n"
        "For one model the best time is before t = 1 at every P/N drawn. Later the error "
        "increases: at P = N without bound, as the square root of time, beyond P = N to a plateau. "
        "Label noise and initialization increase; bias decreases, and sampling variance tends to a "
        "limit. The ratio of the first two tends to τ² : F²(1 − Ψ₁) at P = N, 2.2 : 1 here; above "
        "F/τ = 1.5 initialization would be larger. Averaging removes both at any time (grey line): "
        "after the best time the error of infinitely many models increases by 17% at most, by the "
        "noise in the data they share, and narrow ones need no stopping. With isotropic data "
        "there is no second descent in time: an error that has increased does not decrease again. "
        "Data of two scales may have one.\n"
        "Time is in units of 2 (D/N) × steps × learning rate of gradient descent on the mean "
        "squared loss. Lines: exact theory. Markers: simulation of random features at finite size, "
        "with bars of two standard errors."
    ),
    alt=(
        "Two maps over training time and features per sample, and two panels of the parts of the "
        "test error against time, logarithmic axes. One model: a valley near time 1 and a ridge "
        "along P = N that rises to 43 at time 10000. Infinitely many: no ridge, and a valley that "
        "reaches later times for fewer features. At P = N noise and initialization grow without "
        "end, to 29 and 13; at P = 2N they level off at 1.4 and 0.45."
    ),
    settings=TrainingTimeSettings(dim=100, n_data=20, n_init=2),
    data=training_time_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={
        "paper": {
            "time_range": (0.1, 1e4, 201),
            "ratio_range": (0.1, 10.0, 161),
            "dim": 200,
            "n_data": 40,
        }
    },
)
