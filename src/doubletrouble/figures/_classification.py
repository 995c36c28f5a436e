r"""Double descent of classification, for several losses, and the causes of its error.

The share of test points on the wrong side of the teacher's plane, for one model and for infinitely
many. The peak of the squared loss is at P = N, as in regression; that of losses of the margin is
where the training data become separable, P = N/`separability`, below P = N/2.

A second figure has the four causes of the error. They are differences of the error along the chain
of mean scores: averaged over the noise, then the features, then the samples.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.convex import threshold_ratio
from doubletrouble.ensembles import Ensemble
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._decomposition import parts_along
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import (
    Line,
    Panel,
    Points,
    at_ratio,
    log_grid,
    members_name,
    number_list,
    table,
)
from doubletrouble.figures._settings import (
    RANGE,
    ClassSettings,
    GridBounds,
    SimulationSettings,
    setting,
)
from doubletrouble.figures._simulated import two_sizes, with_simulated_points
from doubletrouble.palette import CAUSES, HATCHES, PART_WORDS
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

ERROR = "Error rate"
SEPARABLE = r"$N=N^{\!\star}$"
_STACKED = ("bias", "sampling", "initialization", "noise")  # from below


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationSettings(SimulationSettings, ClassSettings):
    """The settings of the figure."""

    losses: Sequence[str] = setting(("squared", "hinge", "logistic"), "ℓ", "losses")
    ratio_range: GridBounds = setting((0.05, 20.0, 161), "P/N", f"features per sample: {RANGE}")
    simulated_ratios: GridBounds = setting((0.1, 4.0, 6), "P/N", f"where to simulate: {RANGE}")


def classification_data(settings: ClassificationSettings) -> Panel:
    """Return the error rate of one and of infinitely many models, for each loss.

    >>> small = ClassificationSettings(
    ...     ratio_range=(1, 1, 1), simulated_ratios=(1, 1, 1), dim=10, n_data=2
    ... )
    >>> lines = classification_data(small).lines
    >>> [(line.label, round(float(line.y[0]), 3)) for line in lines[::2]]
    [('squared_one_model', 0.427), ('hinge_one_model', 0.298), ('logistic_one_model', 0.289)]
    """
    ratios = log_grid(settings.ratio_range, "ratio_range")
    simulated = log_grid(settings.simulated_ratios)
    lines: list[Line] = []
    points: list[Points] = []
    for loss in settings.losses:
        problem = at_ratio(replace(settings.problem, loss=loss), ratios)
        panel = with_simulated_points(
            ratios,
            problem,
            two_sizes(problem, settings, ratios=simulated, model="features"),
            theory=lambda x, along: (error_line(x, along, 1),),
            measured=lambda line, simulation: simulation.error(line.n_members).total,
        )
        lines += [*panel.lines, error_line(ratios, problem, math.inf)]
        points += panel.points
    return Panel(
        axis="features_per_sample", problem=problem, lines=tuple(lines), points=tuple(points)
    )


def error_line(x: FloatArray, problem: Problem, n_members: float) -> Line:
    """The error rate of K models along `x`."""
    label = f"{problem.loss}_{members_name(n_members)}"
    return Line(label, x, np.asarray(exact_error(problem, n_members).total), n_members=n_members)


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw on the given axes: one model thick, infinitely many thin."""
    drawing.log_axes(axes, panel.x, ylabel=ERROR)
    axes.set_yscale("linear")
    drawing.threshold(axes)
    drawing.threshold(axes, float(threshold_ratio(panel.problem)), SEPARABLE)
    names = {
        line.label: line.label.removesuffix(f"_{members_name(line.n_members)}")
        for line in panel.lines
    }
    strokes = dict(zip(dict.fromkeys(names.values()), drawing.strokes(), strict=False))
    looks = {}
    for line in panel.lines:
        name, one = names[line.label], line.n_members == 1
        label = drawing.loss_label(name) if one else "_"
        width = strokes[name].width + 0.2 if one else 0.9
        looks[line.label] = strokes[name]._replace(label=label, width=width)
    drawing.curves(axes, panel, looks)
    axes.set_ylim(0.15, 0.45)


def plot(panel: Panel) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.7) as figure:
        draw(figure.subplots(), panel)
        constants = drawing.constants_title(panel, snr=False, dim=True)
        drawing.figure_legend(
            figure, title=rf"Thick: $K=1$,$\quad$thin: $K\to\infty$,$\quad${constants}"
        )
    return figure


def comparisons(panel: Panel) -> tuple[agreement.Agreement, ...]:
    """Theory and simulation."""
    return agreement.with_simulation(panel.points)


FIGURE = FigureSpec(
    name="classification",
    title="Double descent of classification",
    caption=(
        "The error rate of random features fitted with three losses to clean labels of "
        "two classes: one model (thick) and an average of infinitely many (thin). The squared loss "
        "has its peak at P = N. The hinge loss (support vector machine) and the logistic loss have "
        "a smaller one at P = 0.40 N, which tends to 0.384 N as the penalty vanishes: there the "
        "training data become linearly separable, N = N⋆. They have no peak at P = N. "
        "Averaging removes the peak of all three.\n"
        "Lines: exact theory for infinite sizes. Markers: simulation of random features at finite "
        "size, with bars of two standard errors."
    ),
    alt=(
        "Error rate against features per sample P/N, logarithmic axis. For one model "
        "the squared loss peaks at 0.43 at P = N; hinge and logistic loss peak at 0.38 and 0.37 "
        "near P/N = 0.4, and are below 0.30 at P = N. With infinitely many models all three fall "
        "from 0.22 to 0.18 without a peak. Simulated points lie on the lines."
    ),
    settings=ClassificationSettings(dim=60, n_data=8, n_init=2),
    data=classification_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"dim": 200, "n_data": 20, "simulated_ratios": (0.1, 8.0, 13)}},
)


# --- the causes ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class CausesSettings(ClassSettings):
    """The settings of the figure of causes."""

    loss: str = setting("logistic", "ℓ", "loss")
    flips: float = setting(0.1, glossary.FLIPS)
    n_members: Sequence[float] = setting((1, 10), glossary.N_MEMBERS)
    ratio_range: GridBounds = setting((0.05, 20.0, 105), "P/N", f"features per sample: {RANGE}")


def causes_data(settings: CausesSettings) -> tuple[Panel, ...]:
    """Return the causes of the error rate for each number of members.

    >>> one, ten = causes_data(CausesSettings(ratio_range=(0.5, 0.5, 1)))
    >>> [(line.label, round(float(line.y[0]), 3)) for line in one.lines[:3]]
    [('noise', 0.045), ('initialization', 0.161), ('sampling', 0.187)]
    """
    ratios = log_grid(settings.ratio_range, "ratio_range")
    return tuple(
        parts_along(settings.problem, Ensemble(k), ratios, {"n_members": k})
        for k in number_list("n_members", settings.n_members)
    )


def draw_causes(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the causes of one panel, stacked."""
    drawing.log_axes(axes, panel.x, ylabel=ERROR)
    axes.set_yscale("linear")
    below = np.zeros_like(panel.x)
    for name in _STACKED:
        above = below + panel.line(name).y
        if np.any(above > below):
            axes.fill_between(
                panel.x,
                below,
                above,
                facecolor=CAUSES["light"][name],
                edgecolor="white",
                linewidth=0.0,
                hatch=HATCHES[name],
                label=PART_WORDS[name].label,
            )
        below = above
    axes.plot(
        panel.x,
        panel.line("total").y,
        **drawing.PARTS["total"].line,
        label=PART_WORDS["total"].label,
    )
    drawing.threshold(axes, float(threshold_ratio(panel.problem)), SEPARABLE)
    axes.grid(visible=False)
    axes.set_ylim(0.0, 0.5)
    axes.set_title(drawing.members_label(panel.n_members), loc="right")


def plot_causes(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure of causes: the panels side by side."""
    with drawing.new_figure(height=3.2) as figure:
        drawing.side_by_side(figure, panels, draw_causes)
        loss = drawing.loss_label(str(panels[0].problem.loss))
        constants = drawing.constants_title(panels[0], snr=False)
        drawing.figure_legend(figure, title=rf"{loss},$\quad${constants}")
    return figure


CAUSES_FIGURE = FigureSpec(
    name="classification-causes",
    title="The causes of misclassification",
    caption=(
        "The error rate of random features with the logistic loss, 10% of the "
        "training labels flipped, by cause: what remains of it when the scores are averaged over "
        "the label noise, then over the features (initialization), then over the samples. The "
        "average over all three has no error: for a linear teacher the bias of the sign is zero, "
        "and all misclassification is fluctuation.\n"
        "(a) One model. Initialization and noise make the peak where the data become separable "
        "(N = N⋆), sampling falls through it. (b) Ten averaged models have less initialization, "
        "and the peak is a bump. The parts of a rate are no variances: they do not fall as 1/K, "
        "and the noise part of ten models is the larger one, because it is counted on top of a "
        "smaller error. The split depends on the order of the averages."
    ),
    alt=(
        "Two stacked area charts of the error rate against features per sample P/N, "
        "for one model and for ten. Sampling is 0.22 to 0.18 in both. For one model initialization "
        "adds 0.17 near the threshold P/N = 0.43 and falls to zero for many features, noise adds "
        "0.01 to 0.07; the total peaks near 0.40. For ten models initialization adds 0.05 there, "
        "and the total is 0.30."
    ),
    settings=CausesSettings(),
    data=causes_data,
    plot=plot_causes,
    table=table,
)
