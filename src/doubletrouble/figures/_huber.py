r"""Robust losses against the squared loss with outliers among the labels.

Label noise is a mixture: a small share of the labels has a large standard deviation. Losses that
grow linearly bound the force of a label, and reduce the noise part below P = N. Models with more
features than samples interpolate all labels for a vanishing penalty, with every loss alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, at_ratio, log_grid, table
from doubletrouble.figures._settings import RANGE, FigureSettings, GridBounds, setting
from doubletrouble.problems import Mixture, Problem
from doubletrouble.theory import exact_error

PARTS = ("noise", "total")


@dataclass(frozen=True, kw_only=True, eq=False)
class HuberSettings(FigureSettings):
    """The settings of the figure."""

    losses: Sequence[str] = setting(("squared", "huber", "absolute"), "ℓ", "losses")
    ridge: float = setting(1e-3, glossary.RIDGE)
    samples_per_dim: float = setting(2.0, glossary.SAMPLES_PER_DIM)
    activation: str = setting("relu", "σ", "activation function")
    usual_noise: float = setting(0.4, "τ", "standard deviation of the noise of most labels")
    outliers: float = setting(0.1, "w", "share of outliers among the labels")
    outlier_noise: float = setting(4.0, "τₒ", "standard deviation of the noise of outliers")
    ratio_range: GridBounds = setting((0.05, 20.0, 161), "P/N", f"features per sample: {RANGE}")

    @property
    def problem(self) -> Problem:
        """The problem with the mixture as its label noise."""
        w = self.outliers
        noise = Mixture(((1 - w, self.usual_noise), (w, self.outlier_noise)))
        return Problem(noise=noise, **self.constants)


def huber_data(settings: HuberSettings) -> tuple[Panel, ...]:
    """Return the noise part and the total of the error along P/N, for each loss.

    >>> noise, total = huber_data(HuberSettings(ratio_range=(0.25, 0.25, 1)))
    >>> [(line.label, round(float(line.y[0]), 3)) for line in noise.lines]
    [('squared', 0.577), ('huber', 0.183), ('absolute', 0.289)]
    """
    ratios = log_grid(settings.ratio_range, "ratio_range")
    problem = at_ratio(settings.problem, ratios)
    errors = {loss: exact_error(replace(problem, loss=loss)) for loss in settings.losses}
    return tuple(
        Panel(
            axis="features_per_sample",
            keys={"part": index},
            problem=problem,
            lines=tuple(
                Line(str(loss), ratios, np.asarray(getattr(error, part)))
                for loss, error in errors.items()
            ),
        )
        for index, part in enumerate(PARTS)
    )


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw one panel on the given axes."""
    drawing.log_axes(axes, panel.x)
    drawing.threshold(axes)
    labels = {line.label: drawing.loss_label(line.label) for line in panel.lines}
    drawing.curves(axes, panel, drawing.labelled(labels))


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure: the noise part and the total side by side."""
    noise = panels[0].problem.noise
    assert isinstance(noise, Mixture)
    (_, usual), (share, outlier) = noise.components
    with drawing.new_figure(height=3.2) as figure:
        row = drawing.side_by_side(figure, panels, draw)
        for axes, part in zip(row, ("Noise variance", "Test error"), strict=True):
            axes.set_title(part, loc="right")
        row[0].set_ylabel("Error")
        constants = drawing.constants_title(panels[0], snr=False)
        drawing.figure_legend(
            figure,
            title=rf"{constants},$\quad$$\tau={usual:g}$; {share:.0%} outliers: "
            rf"$\tau={outlier:g}$",
        )
    return figure


FIGURE = FigureSpec(
    name="huber",
    title="Robust losses and outliers",
    caption=(
        "Random-features regression where one label in ten is an outlier (noise of standard "
        "deviation 4 instead of 0.4), with the squared loss, the Huber loss (linear beyond a "
        "residual of 1) and the absolute loss. (a) The part of the test error that is due to label "
        "noise, (b) the test error.\n"
        "With few features the robust losses have less noise variance than the squared loss, at "
        "P = N/4 0.18 (Huber) and 0.29 (absolute) instead of 0.58; sampling variance and bias are "
        "the same to a few percent. With more features than samples the models interpolate the "
        "labels, outliers included, and the losses agree: the peak at P = N remains. That of the "
        "absolute loss is even higher: where residuals are small, the penalty weighs less against "
        "them than against their squares."
    ),
    alt=(
        "Two panels against features per sample P/N, logarithmic axes. Left, noise variance: for "
        "P < N the Huber and absolute losses are two to four times below the squared loss; all "
        "three rise to a peak near P = N, of 7, 7 and 11, and nearly coincide beyond. Right, the "
        "test error has the same order: at P = N/4 it is 1.09 (Huber), 1.21 (absolute) and 1.48 "
        "(squared)."
    ),
    settings=HuberSettings(),
    data=huber_data,
    plot=plot,
    table=table,
)
