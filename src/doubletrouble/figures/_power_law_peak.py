r"""The double-descent peak of isotropic data beside that of data with a power-law spectrum.

Both have as many samples N as the other, targets of unit power and the same label noise; the
isotropic problem is that of the paper. Errors are in units of the target's power.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._decomposition import CAUSES
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, at_ratio, log_grid
from doubletrouble.figures._settings import RANGE, GridBounds, LawSettings, setting
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import exact_error, optimal_ridge, root_power

_BELOW = 300.0  # the range of parts drawn below the least total
_DATA = {"isotropic": "isotropic data", "power-law": "power-law data"}


@dataclass(frozen=True, kw_only=True, eq=False)
class PeakPanel:
    """The error by cause along P/N, for one kind of data and ridge."""

    data: str
    best_ridge: bool
    relative_ridge: float  # as a share of the kernel's weight, where it is not the best
    lines: tuple[Line, ...]

    def line(self, label: str) -> Line:
        """Return the line with this label."""
        return {line.label: line for line in self.lines}[label]


@dataclass(frozen=True, kw_only=True, eq=False)
class PeakSettings(LawSettings):
    """The settings of the figure."""

    source: float = setting(0.3, glossary.SOURCE)
    noise: float = setting(0.3, glossary.NOISE)
    n_samples: float = setting(1000.0, glossary.N_SAMPLES)
    relative_ridge: float = setting(
        1e-5, "δ/Tr", "ridge on the Gram matrix of features/√P, per weight of the kernel"
    )
    ratio_range: GridBounds = setting((0.1, 100.0, 121), "P/N", f"features per sample: {RANGE}")


def peak_data(settings: PeakSettings) -> tuple[PeakPanel, ...]:
    """Return the error along P/N of both kinds of data, at a small ridge, then at the best one.

    >>> data = peak_data(PeakSettings(ratio_range=(1, 1, 1)))
    >>> [round(float(panel.line("total").y[0]), 3) for panel in data]
    [65.905, 3.202, 0.764, 0.021]
    """
    ratios = log_grid(settings.ratio_range, "ratio_range")
    problems = _problems(settings, ratios)
    return tuple(
        PeakPanel(
            data=name,
            best_ridge=best,
            relative_ridge=settings.relative_ridge,
            lines=_lines(ratios, optimal_ridge(one).error if best else exact_error(one)),
        )
        for best in (False, True)
        for name, one in problems.items()
    )


def _problems(settings: PeakSettings, ratios: FloatArray) -> dict[str, Problem | SpectralProblem]:
    """Both problems along P/N, with targets of unit power."""
    isotropic = at_ratio(Problem(noise=settings.noise), ratios)
    weight = isotropic.moments.linear**2 + isotropic.moments.nonlinear**2
    law = settings.at(ratios * settings.n_samples, settings.n_samples)
    trace = float(np.asarray(law.multiplicities) @ np.asarray(law.eigenvalues)) + float(
        np.asarray(law.tail)
    )
    power = root_power(law)
    return {
        # δ = λ N/D, and N/D = 1
        "isotropic": replace(isotropic, ridge=settings.relative_ridge * weight),
        "power-law": replace(
            law,
            gram_ridge=settings.relative_ridge * trace,
            law=None,
            target_powers=np.asarray(law.target_powers) / power**2,
        ),
    }


def _lines(ratios: FloatArray, error: ErrorTerms[Any]) -> tuple[Line, ...]:
    return tuple(
        Line(name, ratios, np.asarray(getattr(error, name))) for name in ("total", *CAUSES)
    )


def table(data: Sequence[PeakPanel]) -> PanelTable:
    """Return the numbers drawn: a row for each P/N of each panel."""
    return PanelTable.stack(
        *(
            {
                "power_law": float(panel.data != "isotropic"),
                "best_ridge": float(panel.best_ridge),
                "features_per_sample": panel.lines[0].x,
                **{line.label: line.y for line in panel.lines},
            }
            for panel in data
        )
    )


def draw(axes: "drawing.Axes", panel: PeakPanel) -> None:
    """Draw the parts of one panel on the given axes."""
    drawing.log_axes(axes, panel.lines[0].x, ylabel="Test error / power of the target")
    for line in panel.lines:
        drawing.curve(axes, line, drawing.PARTS[line.label])
    drawing.threshold(axes)
    ridge = "best ridge" if panel.best_ridge else "small ridge"
    axes.set_title(f"{_DATA[panel.data]}, {ridge}", loc="right")


def plot(data: Sequence[PeakPanel]) -> "drawing.Figure":
    """Draw the figure: a small ridge above, the best ridge below."""
    with drawing.new_figure(height=5.8) as figure:
        grid = figure.subplots(2, 2, sharex=True, sharey="row")
        for axes, panel in zip(grid.ravel(), data, strict=True):
            draw(axes, panel)
            axes.label_outer()
        for row, best in zip(grid, (False, True), strict=True):
            totals = [p.line("total").y for p in data if p.best_ridge == best]
            low, high = drawing.log_range(totals)
            row[0].set_ylim(low / _BELOW, high)
        drawing.letters(list(grid.ravel()))
        drawing.figure_legend(figure, ncols=5)
    return figure


FIGURE = FigureSpec(
    name="power-law-peak",
    title="The peak of isotropic data and of power-law data",
    caption=(
        "Test error by cause along features per sample, in units of the power of the target: "
        "isotropic data (left, the problem of the paper, N/D = 1) and power-law data (right, α = "
        "1.5, r = 0.3, N = 1000), with the same label noise τ = 0.3, for one model.\n"
        "(a, b) A ridge of 10⁻⁵ of the kernel's weight. Both errors peak at P = N, and in both by "
        "noise and initialization; sampling and bias are continuous. For isotropic data the "
        "features that carry no signal turn 83% of the peak into initialization variance. With a "
        "power law the modes beyond N have little of the target's power left: the peak is 21 "
        "times lower, 94% of it is noise, and the error before it, near P = 0.17 N, is nearly as "
        "low as that of infinitely many features.\n"
        "(c, d) At the best ridge neither has a peak, and more features always help. The kink of "
        "the isotropic curves is where the best ridge becomes 0; with the power law it remains "
        "positive, and the kernel limit has a third of the error without ridge."
    ),
    alt=(
        "Four panels of the test error and its parts against P/N from 0.1 to 100, logarithmic "
        "axes. Small ridge: a peak at P = N of height 66 for isotropic data, mostly "
        "initialization, and 3.2 for power-law data, mostly noise. Best ridge: both totals "
        "decrease without a peak, from 0.97 to 0.33 and from 0.051 to 0.016."
    ),
    settings=PeakSettings(),
    data=peak_data,
    plot=plot,
    table=table,
    presets={"paper": {"ratio_range": (0.1, 100.0, 241)}},
)
