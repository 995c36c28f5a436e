r"""A map of the test error over training time and P/N, with the best time to stop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.figures import drawing
from doubletrouble.figures.double_descent import symbol
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import best_stopping_time, exact_error, gradient_flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIME = r"Training time, $t$"
LEVELS = (0.63, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
_SHADES = (
    "#f4f9ff", "#eaf3fb", "#dfecf8", "#d4e5f4", "#c9def0", "#bfd6ec", "#b5cfe8", "#abc7e3",
    "#a0bedd", "#fdf3e2", "#fbe6c6", "#f8d8a8", "#f4c98a", "#eeb86c", "#e5a64f", "#d99434",
)  # fmt: skip
# Which lines are named, at which time, and whether where they cross it first or last along P/N.
_NAMED: dict[float, tuple[tuple[float, tuple[float, ...], bool], ...]] = {
    1.0: ((3e3, (1.5, 2.0, 5.0), True), (0.2, (0.7, 0.8, 0.9), False)),
    math.inf: ((3e3, (0.7,), True), (30.0, (0.65, 0.7, 0.8), False)),
}
_AS_GOOD = 1e-8  # relative: errors this close are one


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeMap:
    """Test errors of K averaged models over P/N (rows) and time (columns)."""

    n_members: float
    times: FloatArray
    ratios: FloatArray
    total: FloatArray
    best: FloatArray  # the best time to stop, by row; inf: never


def time_map(problem: Problem, times: FloatArray, ratios: FloatArray, members: float) -> TimeMap:
    """The test error of K models with `problem`'s features, which are along `ratios` = P/N."""
    column = replace(problem, features_per_dim=np.asarray(problem.features_per_dim)[:, None])
    return TimeMap(
        n_members=members, times=times, ratios=ratios,
        total=np.asarray(gradient_flow(column, times, members).total),
        best=stops(problem, members),
    )  # fmt: skip


def stops(problem: Problem, members: float) -> FloatArray:
    """The best time to stop; inf where no time is better than the end by more than rounding."""
    found = best_stopping_time(problem, members)
    end = np.asarray(exact_error(problem, members).total)
    worth = np.asarray(found.error.total) < (1 - _AS_GOOD) * end
    return np.where(worth, np.asarray(found.time), math.inf)


def second_descent(data: TimeMap) -> float:
    """The most by which the error of any width falls again once it has risen, relative."""
    total = data.total
    risen = total > (1 + _AS_GOOD) * np.minimum.accumulate(total, axis=1)
    top = np.maximum.accumulate(np.where(risen, total, 0.0), axis=1)  # 0 before any rise
    fallen = np.divide(top - total, top, out=np.zeros_like(total), where=top > 0)
    return float(fallen.max())


def draw_map(axes: "Axes", data: TimeMap, cuts: Sequence[float]) -> None:
    """Draw one map on axes that the caller owns: errors below that of no training are blue."""
    x, y, z = data.times, data.ratios, data.total
    axes.contourf(x, y, z, levels=LEVELS, colors=_SHADES, extend="both", zorder=0)
    axes.contour(x, y, z, levels=LEVELS, colors="#555555", linewidths=0.5, zorder=1)
    for level, place in label_places(data):
        axes.text(
            *place, f"{level:g}", ha="center", va="center", fontsize=8.5, zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    never = np.flatnonzero(np.isinf(data.best))
    far = np.minimum(data.best, 100 * x[-1])  # beyond the axes
    axes.plot(
        far, y, color="#000000", linewidth=2.8, linestyle=(0, (2.2, 0.8)), zorder=4,
        label="Best time to stop",
    )  # fmt: skip
    if never.size:
        axes.text(
            0.97, 0.07, "Best: never stop", transform=axes.transAxes, ha="right", va="center",
            bbox={"facecolor": "white", "edgecolor": "#444444", "linewidth": 0.5, "pad": 3.0},
        )  # fmt: skip
    drawing.log_axes(axes, [x], xlabel=TIME, ylabel=drawing.RATIO)
    axes.set_ylim(float(y.min()), float(y.max()))
    for cut in cuts:
        axes.axhline(cut, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=2)
    axes.grid(visible=False)
    axes.set_title(symbol(f"K{data.n_members:g}"), loc="right")


def label_places(data: TimeMap) -> list[tuple[float, tuple[float, float]]]:
    """Levels that are named, and where."""
    found = []
    for time, levels, last in _NAMED.get(data.n_members, ()):
        column = int(np.argmin(np.abs(np.log(data.times / time))))
        values, logs = data.total[:, column], np.log(data.ratios)
        for level in levels:
            crossed = np.flatnonzero((values[1:] - level) * (values[:-1] - level) < 0)
            if crossed.size:
                k = int(crossed[-1] if last else crossed[0])
                part = (level - values[k]) / (values[k + 1] - values[k])
                y = float(np.exp(logs[k] + part * (logs[k + 1] - logs[k])))
                found.append((level, (float(data.times[column]), y)))
    return found
