r"""Infinitely many averaged models against a single one with the best penalty.

[dascoli2020] Sec. 5 states that K → ∞ models with a small penalty are always better than one model
with the best penalty. This holds at the paper's F/τ = 10, but not for noisy labels. For one model
with infinitely many features the best penalty is zero if F²/τ² > μ₁²/μ⋆², and it equals the
ensemble; below that ratio it is better than the ensemble.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable, at_ratio, log_grid
from doubletrouble.figures._settings import RANGE, GridBounds, TermSettings, setting
from doubletrouble.parameters import FloatArray
from doubletrouble.theory import exact_error, optimal_ridge

# Purple where the ensemble is better, orange where it is worse; pale, for labels to be read.
_COLORS = [*drawing.shades("#7a6bb0", "#eeecf6", 7), *drawing.shades("#fff4e6", "#e08a2e", 6)]
_EDGE, _BORDER = "#b07a3a", 2.2  # color of hatches, width of the line of equal errors
_GAINS_AT, _LOSSES_AT = (3.2, 4.2), 35.0  # F/τ (alternating) and P/N of the contour labels
LEVELS = (-0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeMap:
    """Test errors over P/N (columns) and F/τ (rows)."""

    ratios: FloatArray
    snrs: FloatArray
    ensemble: FloatArray  # K → ∞ at the small ridge
    single: FloatArray  # K = 1 at its best ridge
    threshold: float  # the F/τ at which both are equal for P/N → ∞ and λ → 0
    ridge: float  # of the ensemble

    @property
    def excess(self) -> FloatArray:
        """How much worse the ensemble is, relative to the single model; negative: better."""
        return self.ensemble / self.single - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class MapSettings(TermSettings):
    """The settings of the figure."""

    ratio_range: GridBounds = setting((0.1, 100.0, 121), "P/N", f"features per sample: {RANGE}")
    snr_range: GridBounds = setting((0.3, 10.0, 81), "F/τ", f"signal-to-noise ratio: {RANGE}")


def map_data(settings: MapSettings) -> RidgeMap:
    """Return both test errors over P/N and F/τ; a range is first, last, number of values.

    >>> data = map_data(MapSettings(ridge=0.0, ratio_range=(10, 10, 1), snr_range=(1, 10, 2)))
    >>> [round(float(v), 4) for v in (*data.ensemble[:, 0], *data.single[:, 0])]
    [0.727, 0.293, 0.6661, 0.3438]
    """
    problem = settings.problem
    ratios = log_grid(settings.ratio_range, "ratio_range")
    snrs = log_grid(settings.snr_range, "snr_range")
    linear, nonlinear = abs(problem.moments.linear), problem.moments.nonlinear
    problem = replace(at_ratio(problem, ratios), noise=np.asarray(problem.signal) / snrs[:, None])
    return RidgeMap(
        ratios=ratios,
        snrs=snrs,
        ensemble=np.asarray(exact_error(problem, np.inf).total),
        single=np.asarray(optimal_ridge(problem).error.total),
        threshold=linear / nonlinear if nonlinear else np.inf,
        ridge=float(np.asarray(problem.ridge)),
    )


def table(data: RidgeMap) -> PanelTable:
    """Return the numbers drawn: a row for each F/τ and P/N."""
    return PanelTable.stack(
        {
            "snr": data.snrs[:, None],
            "features_per_sample": data.ratios,
            "infinitely_many_models_small_ridge": data.ensemble,
            "one_model_best_ridge": data.single,
        }
    )


def draw(axes: "drawing.Axes", data: RidgeMap) -> None:
    """Draw the map on the given axes."""
    x, y = data.ratios, data.snrs
    draw_regions(axes, x, y, data.excess, LEVELS, _COLORS)
    drawing.contour_labels(axes, label_positions(data), percent)
    legend_regions(axes, "error", better=_COLORS[2], worse=_COLORS[-3])
    drawing.log_axes(axes, x, ylabel=r"Signal-to-noise ratio, $F/\tau$")
    axes.set_ylim(y.min(), y.max())
    drawing.threshold(axes)
    if y.min() < data.threshold < y.max():
        axes.axhline(data.threshold, color="#000000", linewidth=1.0, linestyle=(0, (1, 1.5)))
        axes.annotate(
            r"$F/\tau=\mu_1/\mu_{\!\star}$",
            (1.0, data.threshold),
            (5, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            ha="left",
            annotation_clip=False,
        )


def draw_regions(
    axes: "drawing.Axes",
    x: FloatArray,
    y: FloatArray,
    excess: FloatArray,
    levels: Sequence[float],
    colors: Sequence[str],
) -> None:
    """Draw the contours of a relative difference, hatched where the single model is better."""
    axes.contourf(x, y, excess, levels=levels, colors=colors, extend="both", zorder=0)
    worse = axes.contourf(x, y, excess, levels=[0, np.inf], colors="none", hatches=["//"], zorder=0)
    worse.set_edgecolor(_EDGE)
    worse.set_linewidth(0.0)
    thin: Any = {"colors": drawing.INK, "linewidths": 0.7, "linestyles": "solid"}
    axes.contour(x, y, excess, levels=levels, **thin, zorder=1)
    axes.contour(x, y, excess, levels=[0.0], colors="#000000", linewidths=_BORDER, zorder=2)
    axes.grid(visible=False)


def legend_regions(axes: "drawing.Axes", error: str, *, better: str, worse: str) -> None:
    """Add the legend of `draw_regions`: `error` is the name of what is compared."""
    contours = f"Contours: {error} of the ensemble relative to that of the single model"
    drawing.legend_line(axes, contours, color=drawing.INK, linewidth=0.7)
    drawing.legend_line(axes, f"Equal {error}s", color="#000000", linewidth=_BORDER)
    drawing.legend_area(axes, "Ensemble better", facecolor=better)
    hatches: Any = {"hatch": "//", "edgecolor": _EDGE, "linewidth": 0.0}
    drawing.legend_area(axes, "Single model better", facecolor=worse, **hatches)


def label_positions(data: RidgeMap) -> list[tuple[float, float | None, float | None]]:
    """Positions of contour labels: gains to the right of P = N at one F/τ, losses at one P/N."""
    at = int(np.argmin(np.abs(np.log(data.ratios / _LOSSES_AT))))
    right = data.ratios >= 1
    positions: list[tuple[float, float | None, float | None]] = []
    for i, level in enumerate(LEVELS):
        if level < 0:
            row = int(np.argmin(np.abs(np.log(data.snrs / _GAINS_AT[i % 2]))))
            x = drawing.crossing(data.ratios[right], data.excess[row, right], level)
            positions.append((level, x, float(data.snrs[row])))
        elif level > 0:
            y = drawing.crossing(data.snrs, data.excess[:, at], level)
            positions.append((level, float(data.ratios[at]), y))
    return positions


def percent(value: float) -> str:
    """A relative difference, for contour labels."""
    return f"{value:+.0%}".replace("-", "−")


def _title(data: RidgeMap) -> str:
    ridge = drawing.scientific(data.ridge)
    return rf"Ensemble: $K\to\infty$, $\lambda={ridge}$;$\quad$single model: $K=1$, best $\lambda$"


def plot(data: RidgeMap) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=4.3) as figure:
        draw(figure.subplots(), data)
        drawing.figure_legend(figure, title=_title(data), ncols=2)
    return figure


def comparisons(data: RidgeMap) -> tuple[Agreement, ...]:
    """The ensemble and the single model in the region that contradicts the paper."""
    worse = data.excess[data.excess > 0]
    return (Agreement.of("One model with its best λ, and the ensemble where it is worse", worse),)


FIGURE = FigureSpec(
    name="ensemble-or-regularize-map",
    title="When to average, and when to regularize",
    caption=(
        "The test error of infinitely many models without a penalty (the ensemble), relative to "
        "that of a single model with its best penalty, over the number of features and the "
        "signal-to-noise ratio. Contours have the relative difference: higher (+) or lower (−) "
        "error of the ensemble. In the hatched region below the thick line the single model is "
        "better.\n"
        "With clean labels averaging is better everywhere, in agreement with the paper's result "
        "for F/τ = 10. With noisy labels an unregularized ensemble fits the noise in the data that "
        "all its members share, which a penalty reduces and averaging does not. For many features "
        "the border tends to F/τ = μ₁/μ⋆ (dotted), for any number of samples."
    ),
    alt=(
        "Map over features per sample P/N and signal-to-noise ratio, logarithmic axes, with "
        "labelled contours. Above a border the ensemble has the lower error, down to 60% lower "
        "near P = N at high signal-to-noise ratio; below it, hatched, the regularized model has. "
        "The border is low for few features and rises to 1.66 for many."
    ),
    settings=MapSettings(ridge=0.0),
    data=map_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        "The paper states that infinitely many models are always better than an optimally "
        "regularized one; in the hatched region they are worse.",
    ),
    presets={
        "laptop": {"ratio_range": (0.1, 100.0, 91), "snr_range": (0.3, 10.0, 61)},
        "paper": {"ratio_range": (0.1, 100.0, 241), "snr_range": (0.3, 10.0, 161)},
    },
)
