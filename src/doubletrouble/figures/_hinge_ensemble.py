r"""Averaged models against one wide model, each with its best penalty, for several losses.

For the squared loss the average of infinitely many models at its best penalty equals the kernel
limit, and K models of P features are never better than one of K P. For the hinge loss with flipped
labels both are untrue: the average of support vector machines is better than the kernel machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._classification import ERROR
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, log_grid, number_list, table
from doubletrouble.figures._settings import RANGE, ClassSettings, GridBounds, setting
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import optimal_ridge

KERNEL = "_kernel"  # ends the labels of the limits


@dataclass(frozen=True, kw_only=True, eq=False)
class HingeSettings(ClassSettings):
    """The settings of the figure; every ridge is the best one."""

    losses: Sequence[str] = setting(("squared", "hinge", "logistic"), "ℓ", "losses")
    flips: float = setting(0.2, glossary.FLIPS)
    features_per_dim_range: GridBounds = setting(
        (0.25, 32.0, 22), "P/D", f"features per dimension: {RANGE}"
    )
    member_features_per_dim: float = setting(
        2.0, "P/D", "features per dimension of a member in panel (b)"
    )
    n_members: Sequence[float] = setting(
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64), glossary.N_MEMBERS
    )

    @property
    def problem(self) -> Problem:
        """The problem without the ridge among the settings, which has no effect."""
        return replace(super().problem, ridge=1.0)


def hinge_data(settings: HingeSettings) -> tuple[Panel, Panel]:
    """Return the errors of infinitely many models along P/D, and K models minus one along K.

    >>> small = HingeSettings(losses=["hinge"], features_per_dim_range=(2, 2, 1), n_members=[4, 8])
    >>> many, difference = hinge_data(small)
    >>> [round(float(line.y[0]), 4) for line in many.lines], difference.lines[0].y.round(5).tolist()
    ([0.3029, 0.3048], [0.00036, -0.00039])
    """
    features_per_dim = log_grid(settings.features_per_dim_range, "features_per_dim_range")
    members = np.array(number_list("n_members", settings.n_members))
    limits, differences = [], []
    for loss in settings.losses:
        problem, of_member = replace(settings.problem, loss=loss), settings.member_features_per_dim
        many = least_error(problem, features_per_dim, np.inf)
        kernel = np.broadcast_to(least_error(problem, np.inf, 1), features_per_dim.shape)
        limits += [
            Line(loss, features_per_dim, many),
            Line(loss + KERNEL, features_per_dim, kernel),
        ]
        several = least_error(problem, of_member, members)
        differences.append(
            Line(loss, members, several - least_error(problem, of_member * members, 1))
        )
    problem = settings.problem
    return (
        Panel(
            axis="features_per_dim",
            problem=replace(problem, features_per_dim=features_per_dim),
            lines=tuple(limits),
        ),
        Panel(
            axis="n_members",
            problem=replace(problem, features_per_dim=settings.member_features_per_dim),
            lines=tuple(differences),
        ),
    )


def least_error(problem: Problem, features_per_dim: Numeric, n_members: Numeric) -> FloatArray:
    """The error rate of K models with this P/D at their best ridge."""
    best = optimal_ridge(replace(problem, features_per_dim=features_per_dim), n_members)
    return np.asarray(best.error.total)


def draw_limits(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw infinitely many models on the given axes, and the kernel limits as thin lines."""
    drawing.log_axes(axes, panel.x, xlabel="Features per dimension of a model, $P/D$", ylabel=ERROR)
    axes.set_yscale("linear")
    kernels = {line.label.removesuffix(KERNEL): line for line in panel.lines}
    for name, stroke in zip(kernels, drawing.strokes(), strict=False):
        drawing.curve(axes, panel.line(name), stroke, label=drawing.loss_label(name))
        drawing.curve(axes, kernels[name], stroke._replace(width=0.9, linestyle="-"), label="_")
    axes.set_title(r"$K\to\infty$ (thin: $P\to\infty$)", loc="right")


def draw_differences(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the error of K models minus that of one model with as many features."""
    drawing.log_axes(axes, panel.x, xlabel="Number of models, $K$", ylabel="Difference of rates")
    axes.set_xscale("log", base=2)
    axes.set_yscale("linear")
    axes.xaxis.set_major_formatter(drawing.plain_number)
    axes.axhline(0.0, color=drawing.INK, linewidth=0.8, linestyle=(0, (4, 3)))
    labels = {line.label: drawing.loss_label(line.label) for line in panel.lines}
    for line, stroke in zip(panel.lines, drawing.labelled(labels).values(), strict=True):
        axes.plot(line.x, line.y, **stroke.line, label=stroke.label)
    axes.set_title("$K$ models of $P$, minus one of $KP$", loc="right")
    features_per_dim = panel.constant("features_per_dim")
    axes.text(
        0.96, 0.95, f"$P/D={features_per_dim:g}$", transform=axes.transAxes, ha="right", va="top"
    )


def plot(panels: tuple[Panel, Panel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.3) as figure:
        left, right = figure.subplots(1, 2)
        draw_limits(left, panels[0])
        draw_differences(right, panels[1])
        drawing.letters([left, right])
        constants = drawing.constants_title(panels[1], ridge=False, snr=False)
        drawing.figure_legend(figure, title=rf"{constants},$\quad$best $\lambda$", panels=[left])
    return figure


FIGURE = FigureSpec(
    name="hinge-ensemble",
    title="Averaged support vector machines and the kernel machine",
    caption=(
        "Error rates with 20% of the training labels flipped; every model and every ensemble has "
        "its best penalty. (a) Infinitely many averaged models against the features per dimension "
        "of each (thick), and one model with infinitely many features, the kernel limit (thin). "
        "With the squared and the logistic loss the ensemble is as good as the kernel from P = D/2 "
        "on, and never better. With the hinge loss it is better from P = D/3 on: 0.3029 at P = 2D "
        "against 0.3048 for the kernel machine.\n"
        "(b) K models of P = 2D features minus one model of K P features. With the squared loss "
        "the difference is never negative; with the hinge loss it is from K = 6 on. Averaging "
        "smooths the hinge, which a penalty does not. The differences are small: one to two "
        "errors in a thousand test points."
    ),
    alt=(
        "Left: error rate of infinitely many models against features per dimension, "
        "between 0.302 and 0.307. Those of squared and logistic loss fall to their kernel limits, "
        "0.3047 and "
        "0.3050, and stay there. The hinge loss falls below its kernel limit of 0.3048 to 0.3029 "
        "at P = 2D and rises again. Right: difference of K models and one of as many features. It "
        "is positive up to 0.001 for squared and logistic loss, and falls to -0.0016 for the hinge."
    ),
    settings=HingeSettings(),
    data=hinge_data,
    plot=plot,
    table=table,
)
