r"""The number of samples up to which random features separate the classes.

Training data with N labels are linearly separable in the space of P features if N < N⋆
(`convex.separability`). Labels that do not depend on the features have Cover's N⋆ = 2P; a teacher
that the features represent makes N⋆ larger, and flipped labels make it smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doubletrouble import glossary
from doubletrouble.convex import separability, threshold_ratio
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, log_grid, number_list
from doubletrouble.figures._settings import RANGE, FigureSettings, GridBounds, setting
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem

LEVELS = (2.01, 2.05, 2.1, 2.2, 2.4, 2.8, 3.5, 5.0)
_COLORS = drawing.shades("#f4f9fc", "#4f93b8", len(LEVELS) + 1)
_LABELS_AT = 9.0  # P/D of the labels of contours


@dataclass(frozen=True, kw_only=True, eq=False)
class SeparabilityMap:
    """P/N⋆ along N⋆/D, and N⋆/P over P/D (columns) and flips (rows)."""

    curves: tuple[Line, ...]  # of each activation and share of flips
    marked: tuple[float, ...]  # P/N⋆ of each curve at `samples_per_dim`
    samples_per_dim: float
    activation: str  # of the map
    features_per_dim: FloatArray
    flips: FloatArray
    samples_per_feature: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SeparabilitySettings(FigureSettings):
    """The settings of the figure."""

    activations: Sequence[str] = setting(("relu", "tanh"), "σ", "activation functions")
    flips: Sequence[float] = setting((0.0, 0.1), glossary.FLIPS)
    samples_per_dim: float = setting(2.0, glossary.SAMPLES_PER_DIM, "N/D of the marked values")
    features_per_dim_range: GridBounds = setting(
        (0.05, 20.0, 121), "P/D", f"features per dimension: {RANGE}"
    )
    flip_range: GridBounds = setting((0.0, 0.5, 51), "p", f"share of flipped labels: {RANGE}")


def separability_data(settings: SeparabilitySettings) -> SeparabilityMap:
    """Return the threshold of each activation along N⋆/D, and a map for the first activation.

    >>> small = SeparabilitySettings(features_per_dim_range=(1, 2, 2), flip_range=(0, 0.5, 2))
    >>> separability_data(small).samples_per_feature.round(3).tolist()
    [[2.833, 3.883], [2.0, 2.0]]
    """
    features_per_dim = log_grid(settings.features_per_dim_range, "features_per_dim_range")
    low, high, count = settings.flip_range
    shares = np.linspace(low, high, int(count))
    curves, marked = [], []
    for name in settings.activations:
        for flips in number_list("flips", settings.flips):
            problem = Problem(
                task="classification",
                activation=name,
                flips=flips,
                features_per_dim=features_per_dim,
                samples_per_dim=settings.samples_per_dim,
            )
            most = features_per_dim * np.asarray(separability(problem))  # N⋆/D
            curves.append(Line(f"{name}_flips{flips:g}", most, features_per_dim / most))
            marked.append(float(threshold_ratio(problem)))
    first = Problem(
        task="classification",
        activation=settings.activations[0],
        flips=shares[:, None],
        features_per_dim=features_per_dim,
    )
    return SeparabilityMap(
        curves=tuple(curves),
        marked=tuple(marked),
        samples_per_dim=settings.samples_per_dim,
        activation=settings.activations[0],
        features_per_dim=features_per_dim,
        flips=shares,
        samples_per_feature=np.asarray(separability(first)),
    )


def table(data: SeparabilityMap) -> PanelTable:
    """Return the numbers drawn: each curve with its marked value, then the map."""
    blocks = []
    for index, (line, ratio) in enumerate(zip(data.curves, data.marked, strict=True)):
        x, y = np.append(line.x, data.samples_per_dim), np.append(line.y, ratio)
        blocks.append({"curve": index, "samples_per_dim": x, "features_per_sample": y})
    plane = {
        "features_per_dim": data.features_per_dim,
        "flips": data.flips[:, None],
        "samples_per_feature": data.samples_per_feature,
    }
    return PanelTable.stack(*blocks, plane)


def draw_curves(axes: "drawing.Axes", data: SeparabilityMap) -> None:
    """Draw the thresholds of the activations on the given axes; labels have the marked values."""
    for line, stroke, ratio in zip(data.curves, drawing.strokes(), data.marked, strict=False):
        name, _, flips = line.label.partition("_flips")
        label = f"{drawing.activation_label(name)}, $p={flips}$ ({ratio:.4f})"
        drawing.curve(axes, line, stroke, label=label)
    drawing.threshold(axes, data.samples_per_dim, f"$N={data.samples_per_dim:g}D$")
    axes.axhline(0.5, color=drawing.INK, linewidth=0.8, linestyle=(0, (1, 1.5)))
    axes.annotate(
        "Cover: $P/N=1/2$",
        (1, 0.5),
        (-2, -3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="top",
    )
    axes.annotate("separable", (0.03, 0.95), xycoords="axes fraction", va="top")
    axes.annotate("not separable", (0.03, 0.05), xycoords="axes fraction", va="bottom")
    drawing.log_axes(axes, np.concatenate([line.x for line in data.curves]))
    axes.set(
        yscale="linear",
        xlabel="Samples per dimension, $N/D$",
        ylabel=drawing.RATIO,
        ylim=(0, 0.57),
        xlim=(0.1, 40),
    )


def draw_map(axes: "drawing.Axes", data: SeparabilityMap) -> None:
    """Draw the map on the given axes."""
    x, y, z = data.features_per_dim, data.flips, data.samples_per_feature
    axes.contourf(x, y, z, levels=LEVELS, colors=_COLORS, extend="both", zorder=0)
    axes.contour(x, y, z, levels=LEVELS, colors=drawing.INK, linewidths=0.7, zorder=1)
    at = int(np.argmin(np.abs(np.log(x / _LABELS_AT))))
    positions = [
        (level, float(x[at]), float(np.interp(level, z[::-1, at], y[::-1])))
        for level in LEVELS
        if z[-1, at] < level < z[0, at]
    ]
    drawing.contour_labels(axes, positions)
    axes.grid(visible=False)
    drawing.log_axes(axes, x, xlabel="Features per dimension, $P/D$", ylabel="Flipped labels, $p$")
    axes.set(yscale="linear", ylim=(float(y.min()), float(y.max())))
    axes.set_title(
        rf"Samples per feature, $N^{{\!\star}}\!/P$ ({drawing.activation_label(data.activation)})",
        loc="right",
    )


def plot(data: SeparabilityMap) -> "drawing.Figure":
    """Draw the figure: curves on the left, the map on the right."""
    with drawing.new_figure(height=3.6) as figure:
        left, right = figure.subplots(1, 2)
        draw_curves(left, data)
        draw_map(right, data)
        drawing.letters([left, right])
        title = rf"(a) In brackets: $P/N^{{\!\star}}$ at $N={data.samples_per_dim:g}D$"
        drawing.figure_legend(figure, title=title, panels=[left], ncols=2)
    return figure


FIGURE = FigureSpec(
    name="separability",
    title="When random features separate the classes",
    caption=(
        "(a) Random features separate the training data linearly if there are at least P/N⋆ of "
        "them per sample (above a line), and do not if there are fewer. Labels without a relation "
        "to the features need P = N/2 (Cover's limit, dotted); those of a linear teacher need "
        "fewer features, the more samples per dimension the fewer, and flipped labels (p) need "
        "more. At N = 2D, P/N⋆ = 0.3842 and 0.4267 for ReLU with p = 0 and 0.1, 0.3423 and "
        "0.3991 for tanh. The classification error of models with the hinge or the logistic loss "
        "peaks there, and not at P = N, where the peak of the squared loss is.\n"
        "(b) The largest number of samples per feature that ReLU features separate, N⋆/P, over the "
        "number of features per dimension and the share of flipped labels: 2 where half of the "
        "labels are flipped, and also for few features. The values are exact in the limit of "
        "large sizes, and do not depend on the loss."
    ),
    alt=(
        "Left: features per sample at the threshold of separability against samples per dimension, "
        "for ReLU and tanh, clean labels and 10% flipped labels. All four curves fall from 0.5 at "
        "few samples; at N = 2D they are 0.384, 0.427, 0.342 and 0.399. Curves of clean labels "
        "fall toward 0, those of flipped labels level off. Right: map of samples per feature at "
        "the threshold over features per dimension and share of flipped labels: 2 at half flipped "
        "labels, above 5 for many features and clean labels."
    ),
    settings=SeparabilitySettings(),
    data=separability_data,
    plot=plot,
    table=table,
)
