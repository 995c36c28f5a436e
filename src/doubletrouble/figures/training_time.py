r"""The test error along training, over time and P/N: a peak that is built by waiting.

Gradient flow from zero weights (`theory._gradient_flow`); time is that of `clock`, 2 (D/N) × steps
× learning rate of gradient descent on the mean loss. Without a penalty, what grows in time at P = N
is what diverges at the end ([dascoli2020] Sec. 4): label noise and initialization, in the ratio
τ² : F² (1 - Ψ₁) of the ridgeless fit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.conventions import time_to
from doubletrouble.figures import agreement, drawing, style
from doubletrouble.figures.panel import Panel
from doubletrouble.figures.panel import table as panel_table
from doubletrouble.figures.ratios import numbers, spaced
from doubletrouble.figures.simulated import Points, TwoSizes, two_sizes
from doubletrouble.figures.spec import FigureSpec, Line, Table
from doubletrouble.figures.time_map import TIME, TimeMap, draw_map, second_descent, time_map
from doubletrouble.palette import GREY
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate
from doubletrouble.simulation import Simulation
from doubletrouble.theory import gradient_flow, psi_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CLOCK = r"$t=2\,(D/N)\times$ steps $\times$ learning rate"
_PARTS = ("noise", "initialization", "sampling", "bias")
EVERYONE = "total_Kinf"


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingTime:
    """Maps for one model and for infinitely many, and the split along time at some P/N."""

    maps: tuple[TimeMap, ...]
    cuts: tuple[Panel, ...]


def training_time_data(
    *,
    cuts: Sequence[float] = (1.0, 2.0),
    ridge: float = 0.0,
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    noise: float = 1.0,
    activation: str = "relu",
    time_range: tuple[float, float, int] = (0.1, 1e4, 101),
    ratio_range: tuple[float, float, int] = (0.1, 10.0, 81),
    simulated_times: tuple[float, float, int] = (0.3, 100.0, 6),
    dim: int = 100,
    n_data: int = 20,
    n_init: int = 2,
    seed: int = 0,
    store: str | Path | None = None,
) -> TrainingTime:
    """Return test errors over time and P/N for K = 1 and K → ∞, and the splits at P/N in `cuts`.

    >>> data = training_time_data(
    ...     cuts=[1.0], time_range=(1, 1e4, 3), ratio_range=(1, 1, 1), dim=10, n_data=2
    ... )
    >>> [round(float(line.y[-1]), 2) for line in data.cuts[0].lines]
    [43.15, 29.49, 13.37, 0.09, 0.2, 0.72]
    """
    times, ratios = spaced(time_range, "time_range"), spaced(ratio_range, "ratio_range")
    problem = Problem(
        features_per_dim=ratios * samples_per_dim, samples_per_dim=samples_per_dim, ridge=ridge,
        signal=signal, noise=noise, activation=activation,
    )  # fmt: skip
    maps = tuple(time_map(problem, times, ratios, k) for k in (1.0, math.inf))
    widths = numbers("cuts", cuts)
    moments = spaced(simulated_times, "simulated_times")
    runs = two_sizes(
        problem, dim=dim, n_data=n_data, ratios=widths, store=store, model="features",
        n_init=n_init, seed=seed, times=moments.tolist(),
    )  # fmt: skip
    found = np.ravel(np.asarray(runs.problem.features_per_dim)) / samples_per_dim
    panels = []
    for ratio in widths:
        at = replace(problem, features_per_dim=ratio * samples_per_dim)
        row = int(np.argmin(np.abs(found - ratio)))
        met = replace(at, features_per_dim=found[row] * samples_per_dim)
        lines = split(at, times) | {EVERYONE: np.asarray(gradient_flow(at, times, math.inf).total)}
        panels.append(
            Panel(
                axis="time", keys={"P_over_N": ratio}, problem=at,
                lines=tuple(Line(k, times, y) for k, y in lines.items()),
                points=tuple(
                    _points(runs, Line(k, moments, y), row) for k, y in split(met, moments).items()
                ),
            )
        )  # fmt: skip
    return TrainingTime(maps=maps, cuts=tuple(panels))


def split(problem: Problem, times: FloatArray) -> dict[str, FloatArray]:
    """The total of one model along time, and its parts."""
    found = gradient_flow(problem, times)
    return {name: np.asarray(getattr(found, name)) for name in ("total", *_PARTS)}


def _points(runs: TwoSizes, theory: Line, row: int) -> Points:
    """One part as simulated, at one of the widths."""

    def measured(simulation: Simulation) -> Estimate:
        part: Estimate = getattr(simulation.error(1), theory.label)
        value, error = (np.asarray(v)[row] for v in (part.value, part.standard_error))
        return Estimate(value=value, standard_error=error, n_draws=part.n_draws)

    return runs.points(theory, measured)


def table(data: TrainingTime) -> Table:
    """Return the numbers drawn: the maps and best times, then the cuts."""
    columns, rows = panel_table(data.cuts)
    names = [f"K{one.n_members:g}" for one in data.maps]
    extra = (*(f"map_{k}" for k in names), *(f"best_time_{k}" for k in names))
    first = data.maps[0]
    blank = (math.nan,) * (len(columns) - 2)
    found: list[tuple[float, ...]] = [
        (
            float(x), float(t), *blank, *(float(one.total[i, j]) for one in data.maps),
            *(float(one.best[i]) for one in data.maps),
        )
        for i, x in enumerate(first.ratios)
        for j, t in enumerate(first.times)
    ]  # fmt: skip
    return Table((*columns, *extra), found + [(*row, *(math.nan,) * len(extra)) for row in rows])


def draw_cut(axes: "Axes", panel: Panel) -> None:
    """Draw the split along time on axes that the caller owns."""
    drawing.log_axes(axes, [panel.lines[0].x], xlabel=f"{TIME}\n{_CLOCK}")
    everyone = panel.line(EVERYONE)
    axes.plot(
        everyone.x, everyone.y, color=GREY, linewidth=2.2, linestyle=(0, (8, 2)),
        label=r"Total, $K\to\infty$",
    )  # fmt: skip
    strokes = {k: s._replace(marker=s.marker or "X") for k, s in style.STROKES.items()}
    for label, stroke in strokes.items():
        drawing.curve(axes, panel.line(label), stroke, label=stroke.label, markers=0)
    for found in panel.points:
        drawing.points(axes, found, strokes[found.label])
    ratio = panel.keys["P_over_N"]
    axes.set_title(f"$K=1$, $P={'' if ratio == 1 else f'{ratio:g}'}N$", loc="right")


def plot(data: TrainingTime) -> "Figure":
    """Make the whole figure: maps above, cuts below."""
    with drawing.page(height=6.4) as figure:
        grid = figure.subplots(2, 2, sharey="row", sharex=True)
        widths = [panel.keys["P_over_N"] for panel in data.cuts]
        for axes, one in zip(grid[0], data.maps, strict=True):
            draw_map(axes, one, widths)
        for axes, panel in zip(grid[1], data.cuts, strict=True):
            draw_cut(axes, panel)
        for axes in grid.ravel():
            axes.label_outer()
        drawing.letters(list(grid.ravel()))
        drawing.legend_above(figure, title=drawing.setting(data.cuts[0]), ncols=4)
    return figure


def agrees(data: TrainingTime) -> tuple[str, ...]:
    """Theory and simulation, and what the rise is made of."""
    said = [agreement.with_simulation([p for panel in data.cuts for p in panel.points])]
    for panel in data.cuts:
        total, noise, init = (panel.line(k) for k in ("total", "noise", "initialization"))
        at = float(total.x[-1])
        rate = time_to("mean", at, n_samples=panel.constant("samples_per_dim"), dim=1.0)
        missed = 1 - float(psi_terms(replace(panel.problem, ridge=0.0)).psi1)
        ratio = panel.constant("noise") ** 2 / (panel.constant("signal") ** 2 * missed)
        at_peak = panel.keys["P_over_N"] == 1
        law = f"; their ratio tends to τ²/(F² (1 - Ψ₁)) = {ratio:.2f}" if at_peak else ""
        said.append(
            f"P/N = {panel.keys['P_over_N']:g}, t = {at:g} (steps × learning rate = {rate:g} on "
            f"the mean loss): total {total.y[-1]:.3g}, noise {noise.y[-1]:.3g}, initialization "
            f"{init.y[-1]:.3g}{law}."
        )
    most = max(second_descent(one) for one in data.maps)
    said.append(
        f"Once it has risen, the error of no width falls again by more than {most:.0e} (relative)."
    )
    return tuple(said)


FIGURE = FigureSpec(
    name="training-time",
    title="The peak is built by waiting",
    caption=(
        "Beyond the paper: gradient flow from zero weights, without a penalty, stopped at time t. "
        "(a, b) The test error over training time and features per sample, for one model and for "
        "infinitely many averaged; blue is better than not training at all, orange worse, and the "
        "thick dashes are the best time to stop. (c, d) The causes of the error along the two thin "
        "lines of the maps.\n"
        "One model should stop early, before t = 1 at every width drawn. If it does not, its error "
        "rises: at P = N for ever, as the square root of time, beyond P = N to a plateau. What "
        "rises is both, label noise and initialization, and nothing else: bias falls, and sampling "
        "variance levels off. Their ratio tends to τ² : F²(1 − Ψ₁) at P = N, "
        "2.2 : 1 here; above F/τ = 1.5 initialization would be the larger. So the peak of "
        "double descent is built by waiting, and both troubles are cured by averaging at any time "
        "(grey line): infinitely many models lose 17 % at most after their best time, by "
        "the noise in the data they share, and narrow ones need not be stopped at all. "
        "With isotropic data there is no second descent in time: an error that has begun to rise "
        "does not fall again. Data of two scales may have one.\n"
        "Time is in units of 2 (D/N) × steps × learning rate of gradient descent on the mean "
        "squared loss. Lines: exact theory. Markers: true random features at finite size, with "
        "bars of two standard errors."
    ),
    alt=(
        "Two maps over training time and features per sample, and two panels of test error by "
        "cause against time, logarithmic axes. One model: a valley near time 1 and a ridge along "
        "P = N that rises to 43 at time 10000. Infinitely many: no ridge, and a valley that "
        "reaches later times for fewer features. At P = N noise and initialization grow without "
        "end, to 29 and 13; at P = 2N they level off at 1.4 and 0.45."
    ),
    data=training_time_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={
        "paper": {
            "time_range": (0.1, 1e4, 201), "ratio_range": (0.1, 10.0, 161), "dim": 200,
            "n_data": 40,
        },
    },
)  # fmt: skip
