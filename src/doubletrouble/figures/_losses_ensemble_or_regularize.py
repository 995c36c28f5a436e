r"""Infinitely many averaged classifiers against one with the best penalty, for several losses.

The map of `_ensemble_or_regularize_map` for the error rate, over P/N and the share of
flipped labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._ensemble_or_regularize_map import (
    draw_regions,
    legend_regions,
    percent,
)
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable, at_ratio, log_grid
from doubletrouble.figures._settings import RANGE, ClassSettings, GridBounds, setting
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, optimal_ridge

LEVELS = (-0.4, -0.3, -0.2, -0.1, -0.05, 0.0, 0.02, 0.03)
_COLORS = [*drawing.shades("#7a6bb0", "#eeecf6", 6), *drawing.shades("#fff4e6", "#eebb80", 3)]
_GAINS_AT, _LOSSES_AT = (0.05, 0.15), 25.0  # p (alternating) and P/N of the labels of contours


@dataclass(frozen=True, kw_only=True, eq=False)
class LossMap:
    """Error rates over P/N (columns) and flips (rows), for one loss."""

    problem: Problem
    ratios: FloatArray
    flips: FloatArray
    ensemble: FloatArray  # K → ∞ at the small ridge
    single: FloatArray  # K = 1 at its best ridge

    @property
    def excess(self) -> FloatArray:
        """How much worse the ensemble is, relative to the single model; negative: better."""
        return self.ensemble / self.single - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class LossMapSettings(ClassSettings):
    """The settings of the figure."""

    losses: Sequence[str] = setting(("squared", "hinge", "logistic"), "ℓ", "losses")
    ratio_range: GridBounds = setting((0.1, 50.0, 41), "P/N", f"features per sample: {RANGE}")
    flip_range: GridBounds = setting((0.0, 0.45, 28), "p", f"share of flipped labels: {RANGE}")

    @property
    def problem(self) -> Problem:
        """The problem along the shares of flipped labels."""
        low, high, count = self.flip_range
        return replace(super().problem, flips=np.linspace(low, high, int(count))[:, None])


def loss_maps(settings: LossMapSettings) -> tuple[LossMap, ...]:
    """Return both rates over P/N and flips, for each loss.

    >>> small = LossMapSettings(
    ...     losses=["hinge"], ratio_range=(1, 10, 2), flip_range=(0.0, 0.2, 2)
    ... )
    >>> loss_maps(small)[0].excess.round(3).tolist()
    [[-0.366, -0.086], [-0.12, 0.021]]
    """
    ratios = log_grid(settings.ratio_range, "ratio_range")
    maps = []
    for loss in settings.losses:
        problem = at_ratio(replace(settings.problem, loss=loss), ratios)
        maps.append(
            LossMap(
                problem=problem,
                ratios=ratios,
                flips=np.ravel(problem.flips),
                ensemble=np.asarray(exact_error(problem, np.inf).total),
                single=np.asarray(optimal_ridge(problem).error.total),
            )
        )
    return tuple(maps)


def table(maps: Sequence[LossMap]) -> PanelTable:
    """Return the numbers drawn: a row for each loss, share of flips and P/N."""
    return PanelTable.stack(
        *(
            {
                "loss": index,
                "flips": data.flips[:, None],
                "features_per_sample": data.ratios,
                "infinitely_many_models_small_ridge": data.ensemble,
                "one_model_best_ridge": data.single,
            }
            for index, data in enumerate(maps)
        )
    )


def draw(axes: "drawing.Axes", data: LossMap) -> None:
    """Draw the map of one loss on the given axes."""
    x, y = data.ratios, data.flips
    draw_regions(axes, x, y, data.excess, LEVELS, _COLORS)
    drawing.contour_labels(axes, label_positions(data), percent)
    drawing.log_axes(axes, x, ylabel="Flipped labels, $p$")
    axes.set(yscale="linear", ylim=(float(y.min()), float(y.max())))
    axes.set_title(drawing.loss_label(str(data.problem.loss)), loc="right")


def label_positions(data: LossMap) -> list[tuple[float, float | None, float | None]]:
    """Positions of contour labels: gains at two shares of flips, losses at one P/N."""
    at = int(np.argmin(np.abs(np.log(data.ratios / _LOSSES_AT))))
    positions: list[tuple[float, float | None, float | None]] = []
    for i, level in enumerate(LEVELS):
        if level < 0:
            row = int(np.argmin(np.abs(data.flips - _GAINS_AT[i % 2])))
            x = drawing.crossing(data.ratios, data.excess[row], level)
            positions.append((level, x, float(data.flips[row])))
        elif level > 0:
            y = drawing.crossing(np.exp(data.flips), data.excess[:, at], level)
            positions.append((level, float(data.ratios[at]), y and float(np.log(y))))
    return positions


def plot(maps: Sequence[LossMap]) -> "drawing.Figure":
    """Draw the figure: a map for each loss."""
    with drawing.new_figure(height=3.6) as figure:
        first, *_ = drawing.side_by_side(figure, maps, draw)
        legend_regions(first, "rate", better=_COLORS[1], worse=_COLORS[-2])
        problem = maps[0].problem
        ridge, samples = (
            float(np.asarray(problem.ridge)),
            float(np.asarray(problem.samples_per_dim)),
        )
        title = (
            rf"Ensemble: $K\to\infty$, $\lambda={drawing.scientific(ridge)}$;$\quad$"
            rf"single model: $K=1$, best $\lambda$;$\quad$$N/D={samples:g}$"
        )
        drawing.figure_legend(figure, title=title, ncols=2)
    return figure


FIGURE = FigureSpec(
    name="losses-ensemble-or-regularize",
    title="When to average classifiers, and when to regularize",
    caption=(
        "The error rate of infinitely many averaged models at a small penalty (the "
        "ensemble), relative to that of a single model with its best penalty, for three losses, "
        "over the number of features and the share of flipped training labels. In the hatched "
        "region to the right of the thick line the single model is better.\n"
        "As with ridge regression, averaging is better for narrow models and for clean labels, and "
        "a penalty is better for wide models on noisy labels. The border is nearly the same for "
        "all losses; the single model gains little beyond it, at most 4%, and the ensemble up to "
        "48% before it."
    ),
    alt=(
        "Three maps, for squared, hinge and logistic loss, over features per sample P/N and the "
        "share of flipped labels. In each the ensemble is better on the left and below, by more "
        "than 40% for few features and clean labels; a border rises from the right edge, at a "
        "few percent of flipped labels, to P/N = 2 to 3 at 45%, and beyond it the single model is "
        "better by up to 4%."
    ),
    settings=LossMapSettings(),
    data=loss_maps,
    plot=plot,
    table=table,
    presets={
        "laptop": {"ratio_range": (0.1, 50.0, 22), "flip_range": (0.0, 0.45, 14)},
        "paper": {"ratio_range": (0.1, 50.0, 61), "flip_range": (0.0, 0.45, 37)},
    },
)
