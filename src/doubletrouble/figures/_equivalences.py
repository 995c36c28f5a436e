r"""Features, samples and penalty of infinitely many models are equivalent: one effective ridge.

The mean of infinitely many members, each with its own features, its own subset of the samples or
both, predicts as linear ridge regression on all of the data, with the ridge

    ρ = (N/D) u/(1-u) - u,        u = 1 - Ψ₁ of a member, at its own P, N and λ

relative to XᵀX/D. Linear ridge regression is the limit P → ∞ of features without a nonlinear part,
where ρ = λ N/D; the best linear predictor has ρ = τ²/F² (for a linear teacher).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Ensemble, Scheme, Subsample
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, Points, log_grid, with_snr
from doubletrouble.figures._settings import (
    RANGE,
    GridBounds,
    SignalSettings,
    SimulationSettings,
    setting,
)
from doubletrouble.figures._simulated import TwoSizes, at_two_sizes, two_sizes
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, psi_terms

LEVELS = (0.4, 0.6, 1.0, 2.0, 5.0, 20.0)  # of ρ
_TICK = 0.036  # half the height of a tick, in units of the error
_LABELS_AT = 4.5  # the P/N of the contour labels
_SHADES = drawing.shades("#fbf8ee", "#b09a5c", 7)
_LABELS = {
    "features": "Fewer features",
    "subsample": "Fewer samples",
    "ridge": r"Larger penalty $\lambda$",
    "mixed": "All three, tanh (ticks: theory)",
}
_STROKES = dict(zip(_LABELS, drawing.SERIES[1:5], strict=True))


class EffectiveRidges(NamedTuple):
    """Infinitely many members at some settings, and the error of their mean; equal shapes."""

    label: str
    ratio: FloatArray  # P/N, all samples counted
    fraction: FloatArray  # of the samples that a member has
    ridge: FloatArray  # λ
    effective: FloatArray  # ρ
    total: FloatArray  # test error


@dataclass(frozen=True, kw_only=True, eq=False)
class Equivalences:
    """Two planes of settings, and paths on which only one of them changes."""

    planes: tuple[EffectiveRidges, EffectiveRidges]  # over P/N and λ, over P/N and the fraction
    paths: tuple[EffectiveRidges, ...]
    linear: Line  # linear ridge regression on all of the data, along ρ
    points: tuple[Points, ...]
    problem: Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class EquivalenceSettings(SimulationSettings, SignalSettings):
    """The settings of the figure."""

    snr: float = setting(1.0, glossary.SNR)
    ratio_range: GridBounds = setting((0.1, 10.0, 81), "P/N", f"features per sample: {RANGE}")
    ridge_range: GridBounds = setting((1e-3, 10.0, 81), "λ", f"ridge: {RANGE}")
    fraction_range: GridBounds = setting(
        (0.1, 1.0, 61), glossary.FRACTION, f"share of the samples that each member has: {RANGE}"
    )


def equivalences_data(settings: EquivalenceSettings) -> Equivalences:
    """Return effective ridges and test errors over both planes and along every path.

    Paths start at infinitely many features, all samples, and the ridge of the settings.

    >>> data = equivalences_data(EquivalenceSettings(dim=20, n_data=2, n_init=2))
    >>> [round(float(v), 4) for v in np.interp([0.5, 1.0, 2.0], data.linear.x, data.linear.y)]
    [0.6667, 0.618, 0.6547]
    """
    problem = replace(with_snr(settings.problem, settings.snr), features_per_dim=math.inf)
    ridge = problem.ridge
    ratios, ridges, fractions = (
        log_grid(getattr(settings, name), name)
        for name in ("ratio_range", "ridge_range", "fraction_range")
    )
    planes = (
        effective_ridges(problem, "ridges", ratios, 1.0, ridges[:, None]),
        effective_ridges(problem, "fractions", ratios, fractions[:, None], ridge),
    )
    bent = replace(problem, activation="tanh")
    sizes, shares, varied = np.meshgrid([0.6, 1.5, 8.0], [0.4, 0.9], [1e-2, 1.0])
    paths = (
        effective_ridges(problem, "features", ratios, 1.0, ridge),
        effective_ridges(problem, "subsample", math.inf, fractions, ridge),
        effective_ridges(problem, "ridge", math.inf, 1.0, ridges),
        effective_ridges(bent, "mixed", sizes.ravel(), shares.ravel(), varied.ravel()),
    )
    around_best = np.geomspace(0.5, 2.0, 3) * best_ridge(problem)
    effective = np.unique(np.concatenate([np.geomspace(0.1, 60.0, 241), around_best]))
    return Equivalences(
        planes=planes,
        paths=paths,
        linear=Line("linear", effective, linear_error(problem, effective)),
        points=simulated_paths(problem, settings),
        problem=problem,
    )


def effective_ridges(
    problem: Problem, label: str, ratio: Numeric, fraction: Numeric, ridge: Numeric
) -> EffectiveRidges:
    """Infinitely many members of any P, share of the samples and ridge."""
    ratio, fraction, ridge = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (ratio, fraction, ridge))
    )
    N = np.asarray(problem.samples_per_dim)
    at = replace(problem, features_per_dim=ratio * N, ridge=ridge)
    s = np.asarray(psi_terms(replace(at, samples_per_dim=fraction * N)).psi1)
    rho = np.asarray(N * (1 - s) / s - (1 - s))
    error = exact_error(at, Subsample(math.inf, fraction=fraction))
    return EffectiveRidges(label, ratio, fraction, ridge, rho, np.asarray(error.total))


def best_ridge(problem: Problem) -> float:
    """The best effective ridge, τ²/F²."""
    return float(np.square(np.asarray(problem.noise_sd) / np.asarray(problem.signal)))


def linear_error(problem: Problem, effective: FloatArray) -> FloatArray:
    """The test error of linear ridge regression on all of the data."""
    ridge = effective / np.asarray(problem.samples_per_dim)
    at = replace(problem, features_per_dim=math.inf, ridge=ridge, activation="linear")
    return np.asarray(exact_error(at).total)


def simulated_paths(problem: Problem, settings: SimulationSettings) -> tuple[Points, ...]:
    """Simulated points on every path with one setting varied; P = ∞ is a kernel."""
    narrow = two_sizes(problem, settings, ratios=[0.25, 0.5, 0.75], model="features")
    kernel = replace(problem, features_per_dim=[math.inf])
    bags = [Subsample(math.inf, fraction=fraction) for fraction in (0.24, 0.5, 0.8)]
    sampled = at_two_sizes(kernel, settings, model="kernel", ensembles=bags)
    paths = replace(kernel, ridge=[0.16, 0.5, 2.0])
    regularized = at_two_sizes(paths, settings, model="kernel")
    return (
        _points(problem, "features", narrow, Ensemble(math.inf)),
        *(_points(problem, "subsample", sampled, one) for one in bags),
        _points(problem, "ridge", regularized, Ensemble(math.inf)),
    )


def _points(problem: Problem, label: str, runs: TwoSizes, ensemble: Scheme) -> Points:
    at = runs.problem
    ratio = np.asarray(at.features_per_dim) / np.asarray(at.samples_per_dim)
    numerator, denominator = runs.whole.realized(ensemble).sample_share
    theory = effective_ridges(problem, label, ratio, np.divide(numerator, denominator), at.ridge)
    line = Line(label, theory.effective.ravel(), theory.total.ravel())
    return runs.points(line, lambda simulation: simulation.error(ensemble).total)


def table(data: Equivalences) -> PanelTable:
    """Return the numbers drawn: members of the planes and paths, simulations, the linear curve."""
    members = [
        {
            "features_per_sample": one.ratio,
            "fraction": one.fraction,
            "ridge": one.ridge,
            "effective_ridge": one.effective,
            "test_error": one.total,
        }
        for one in (*data.planes, *data.paths)
    ]
    points = [
        {"effective_ridge": points.x, "test_error": points.theory, **points.measured}
        for points in data.points
    ]
    linear = {"effective_ridge": data.linear.x, "test_error": data.linear.y}
    return PanelTable.stack(*members, *points, linear)


def draw_plane(
    axes: "drawing.Axes", plane: EffectiveRidges, y: FloatArray, label: str, best: float
) -> None:
    """Draw contours of ρ on the given axes."""
    x, rho = plane.ratio[0], plane.effective
    axes.contourf(x, y, rho, levels=[0, *LEVELS, np.inf], colors=_SHADES, zorder=0)
    thin, thick = {"color": drawing.INK, "linewidth": 0.7}, {"color": "#000000", "linewidth": 2.4}
    for levels, look, key in (
        (LEVELS, thin, r"Contours: equal $\rho$"),
        ([best], thick, r"Best, $\rho=\tau^2/F^2$"),
    ):
        axes.contour(
            x, y, rho, levels=levels, colors=look["color"], linewidths=look["linewidth"], zorder=2
        )
        drawing.legend_line(axes, key, **look)
    drawing.contour_labels(axes, label_positions(plane, y))
    drawing.log_axes(axes, x, ylabel=label)
    axes.set_ylim(float(y.min()), float(y.max()))
    axes.grid(visible=False)
    drawing.threshold(axes)


def label_positions(
    plane: EffectiveRidges, y: FloatArray
) -> list[tuple[float, float, float | None]]:
    """The positions of contour labels: where the contours cross one value of P/N."""
    at = int(np.argmin(np.abs(np.log(plane.ratio[0] / _LABELS_AT))))
    x, rho = float(plane.ratio[0, at]), plane.effective[:, at]
    return [(level, x, drawing.crossing(y, rho, level)) for level in LEVELS]


def draw_curve(axes: "drawing.Axes", data: Equivalences) -> None:
    """Draw the error along ρ, and every path, on the given axes."""
    axes.plot(
        data.linear.x,
        data.linear.y,
        color="#c9c9c9",
        linewidth=5.0,
        solid_capstyle="butt",
        label="Linear ridge regression",
        zorder=1,
    )
    for path in data.paths:
        stroke, label = _STROKES[path.label], _LABELS[path.label]
        if path.label == "mixed":
            tick: dict[str, Any] = {"color": stroke.color, "zorder": 2}
            low, high = path.total - _TICK, path.total + _TICK
            axes.vlines(path.effective, low, high, linewidth=1.4, **tick)
            drawing.legend_line(
                axes,
                label,
                linestyle="none",
                marker="|",
                markersize=13,
                markeredgewidth=1.4,
                **tick,
            )
        else:
            line = Line(path.label, path.effective, path.total)
            drawing.curve(axes, line, stroke, label=label, simulated=True)
    drawing.simulated_points(axes, data.points, _STROKES)
    drawing.log_axes(axes, data.linear.x, xlabel=r"Effective ridge $\rho$")
    axes.set_yscale("linear")
    axes.yaxis.set_major_formatter(drawing.plain_number)
    drawing.threshold(axes, best_ridge(data.problem), r"$\rho=\tau^2/F^2$")


def plot(data: Equivalences) -> "drawing.Figure":
    """Draw the figure: two planes above, one curve below."""
    with drawing.new_figure(height=6.2) as figure:
        axes = figure.subplot_mosaic([["ridges", "fractions"], ["curve", "curve"]])
        ridges, fractions = data.planes
        best = best_ridge(data.problem)
        draw_plane(axes["ridges"], ridges, ridges.ridge[:, 0], r"Penalty $\lambda$", best)
        share = fractions.fraction[:, 0]
        draw_plane(axes["fractions"], fractions, share, "Fraction of the samples", best)
        draw_curve(axes["curve"], data)
        axes["ridges"].set_title("All samples", loc="right")
        ridge = drawing.scientific(float(np.asarray(data.problem.ridge)))
        axes["fractions"].set_title(rf"$\lambda={ridge}$", loc="right")
        drawing.letters(list(axes.values()))
        samples = drawing.scientific(float(np.asarray(data.problem.samples_per_dim)))
        snr = drawing.scientific(1 / math.sqrt(best) if best else math.inf)
        title = rf"$K\to\infty$,$\quad$$N/D={samples}$,$\quad$$\mathrm{{SNR}}=F/\tau={snr}$"
        title += rf",$\quad$$D={data.points[0].dim}$"
        drawing.figure_legend(figure, title=title, ncols=3)
    return figure


def comparisons(data: Equivalences) -> tuple[agreement.Agreement, ...]:
    """Simulation and theory, and the deviation of all settings from the curve."""
    settings = [m for m in (*data.planes, *data.paths) if np.all(m.effective > 0)]
    rho = np.concatenate([np.ravel(m.effective) for m in settings])
    error = np.concatenate([np.ravel(m.total) for m in settings])
    off = np.abs(error / linear_error(data.problem, rho) - 1)
    linear = "Linear ridge regression, and all settings of features, samples and ridge"
    return (*agreement.with_simulation(data.points), agreement.Agreement.of(linear, off))


FIGURE = FigureSpec(
    name="equivalences",
    title="Features, samples and penalty are equivalent",
    caption=(
        "Averages of infinitely many models. Fewer features, a random subset of the samples for "
        "each model, or a larger penalty have the same effect: the average predicts as linear "
        "ridge regression on all samples, with an effective ridge ρ. (a, b) Contours of ρ over "
        "features and penalty, and over features and fraction of the samples. Along a contour the "
        "test error and its parts are constant; the thick one is the best, ρ = τ²/F². With a very "
        "small penalty (b) ρ depends only on the smaller of the two, features or samples of a "
        "member.\n"
        "(c) The test error along ρ. For every setting and activation it is that of linear ridge "
        "regression (grey). The three coloured paths start at infinitely many features, all "
        "samples and no penalty, at the least ρ of ReLU features, μ⋆²/μ₁² = 0.36: here "
        "P = 0.61 N features, 61% of the samples, or λ = 0.16 reach the same best error, 0.618. "
        "The three differ only in cost and in the number of models that they need. Ticks: theory "
        "for tanh with all three varied. Markers: simulation at finite size, with bars of two "
        "standard errors."
    ),
    alt=(
        "Two maps with lines of equal effective ridge: over features per sample and penalty they "
        "bend from vertical to horizontal; over features per sample and fraction of the samples "
        "they are corners. Below, test error against effective ridge: one curve with its minimum, "
        "0.618, at ridge 1, on which lie the paths of fewer features, fewer samples and more "
        "penalty, and points of tanh features."
    ),
    settings=EquivalenceSettings(dim=100, n_data=20, n_init=2),
    data=equivalences_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={
        "paper": {
            "ratio_range": (0.1, 10.0, 161),
            "ridge_range": (1e-3, 10.0, 161),
            "fraction_range": (0.1, 1.0, 121),
            "dim": 200,
            "n_data": 40,
        }
    },
)
