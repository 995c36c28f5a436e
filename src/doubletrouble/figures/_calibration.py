r"""The calibration of one model and of averaged models, for the logistic loss.

The score of a logistic model is read as the log-odds of the label. The calibration slope is the
factor of the score with the least cross-entropy: below one, the scores are overconfident. Averaging
shrinks scores more than it improves their direction, so that slopes rise with the number of models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from doubletrouble import glossary
from doubletrouble.convex import calibration
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, log_grid, members_name, number_list, table
from doubletrouble.figures._settings import RANGE, ClassSettings, GridBounds, setting

_PROBABILITIES = np.linspace(0.001, 0.999, 201)


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationSettings(ClassSettings):
    """The settings of the figure."""

    features_per_dim: float = setting(4.0, glossary.FEATURES_PER_DIM)
    ridge: float = setting(1e-3, glossary.RIDGE, "ridge of panel (a)")
    flips: float = setting(0.1, glossary.FLIPS)
    loss: str = setting("logistic", "ℓ", "loss")
    n_members: Sequence[float] = setting((1, 5, np.inf), glossary.N_MEMBERS)
    ridge_range: GridBounds = setting((1e-4, 1.0, 81), "λ", f"ridge: {RANGE}")


def calibration_data(settings: CalibrationSettings) -> tuple[Panel, Panel]:
    """Return the actual along the predicted probability, and the slope along the ridge.

    >>> _, slopes = calibration_data(CalibrationSettings(ridge_range=(0.001, 0.001, 1)))
    >>> [(line.label, round(float(line.y[0]), 3)) for line in slopes.lines]
    [('one_model', 0.231), ('5_models', 0.326), ('infinitely_many_models', 0.363)]
    """
    problem = settings.problem
    names = {members_name(k): k for k in number_list("n_members", settings.n_members)}
    ridges = log_grid(settings.ridge_range, "ridge_range")
    along = replace(problem, ridge=ridges)
    reliability = [
        Line(name, _PROBABILITIES, calibration(problem, k).actual(logit(_PROBABILITIES)), k)
        for name, k in names.items()
    ]
    slopes = [
        Line(name, ridges, np.asarray(calibration(along, k).slope), k) for name, k in names.items()
    ]
    return (
        Panel(axis="predicted", problem=problem, lines=tuple(reliability)),
        Panel(axis="ridge", problem=along, lines=tuple(slopes)),
    )


def draw_reliability(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the actual against the predicted probability on the given axes."""
    axes.plot([0, 1], [0, 1], color=drawing.INK, linewidth=0.8, linestyle=(0, (4, 3)))
    drawing.curves(axes, panel, _looks(panel))
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="Predicted probability of the label",
        ylabel="Actual probability",
    )
    axes.set_title(rf"$\lambda={drawing.scientific(panel.constant('ridge'))}$", loc="right")


def draw_slopes(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the calibration slopes on the given axes."""
    drawing.log_axes(axes, panel.x, xlabel=r"Ridge penalty, $\lambda$", ylabel="Calibration slope")
    axes.axhline(1.0, color=drawing.INK, linewidth=0.8, linestyle=(0, (4, 3)))
    drawing.curves(axes, panel, _looks(panel))
    for text, height in (("underconfident", 0.96), ("overconfident", 0.04)):
        axes.text(
            0.04 if height > 0.5 else 0.96,
            height,
            text,
            transform=axes.transAxes,
            ha="left" if height > 0.5 else "right",
            va="top" if height > 0.5 else "bottom",
        )


def _looks(panel: Panel) -> dict[str, drawing.Stroke]:
    return drawing.labelled(
        {line.label: drawing.members_label(line.n_members) for line in panel.lines}
    )


def plot(panels: tuple[Panel, Panel]) -> "drawing.Figure":
    """Draw the figure: reliability on the left, slopes on the right."""
    reliability, slopes = panels
    with drawing.new_figure(height=3.3) as figure:
        left, right = figure.subplots(1, 2)
        draw_reliability(left, reliability)
        draw_slopes(right, slopes)
        drawing.letters([left, right])
        ratio = drawing.scientific(reliability.ratio)
        constants = drawing.constants_title(reliability, ridge=False, snr=False)
        loss = drawing.loss_label(str(reliability.problem.loss))
        title = rf"{loss},$\quad$$P/N={ratio}$,$\quad${constants}"
        drawing.figure_legend(figure, title=title, panels=[left])
    return figure


FIGURE = FigureSpec(
    name="calibration",
    title="Calibration of one model and of an ensemble",
    caption=(
        "Random features with the logistic loss, 10% of the labels flipped; the mean score of K "
        "models is read as the log-odds of the label. (a) The actual probability of a label "
        "against the predicted one, at a small penalty: scores are overconfident, those of an "
        "ensemble less so. (b) The calibration slope, the factor of the score that has the least "
        "log loss, along the penalty (dashed: calibrated).\n"
        "Averaging reduces the size of the scores, and raises the slope at every penalty. With a "
        "small penalty this improves the calibration, and does not make it right; at the penalty "
        "at which one model is calibrated, the ensemble is underconfident, and its own penalty is "
        "smaller."
    ),
    alt=(
        "Left: actual against predicted probability for one, five and infinitely many models at "
        "λ = 0.001, all flatter than the diagonal, one model the flattest. Right: calibration "
        "slope against the penalty, logarithmic axes; slopes rise from 0.14 to 6.9 for one model "
        "and from 0.23 to 10 for infinitely many, and cross 1 at λ = 0.05 and 0.024."
    ),
    settings=CalibrationSettings(),
    data=calibration_data,
    plot=plot,
    table=table,
)
