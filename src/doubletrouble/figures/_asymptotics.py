r"""Scaling laws: the parts of the test error approach their limits for P/N → ∞ and grow for P → N.

[dascoli2020] App. A.1 has inverse laws for both. For λ → 0 one law holds for all P > N:

    initialization = F² (1 - Ψ₁) N/(P - N),     noise = limit + τ² N/(P - N),

and sampling variance and bias do not depend on P at all. The small penalty rounds the law off where
P/N - 1 is of the order of √λ, and makes sampling variance and bias depend on P by O(λ).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._decomposition import CAUSES
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, PanelTable, at_ratio, axis_values
from doubletrouble.figures._settings import ErrorSettings, setting
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, psi_terms

FAR, NEAR = "features_per_sample", "features_per_sample_minus_1"
_WINDOWS = {FAR: (100.0, 1e4), NEAR: (0.1, 1.0)}  # where slopes are fitted
_AXES = {
    FAR: (drawing.RATIO, "Distance from the limit"),
    NEAR: ("Distance from the threshold, $P/N-1$", "Variance above its limit"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class AsymptoticsSettings(ErrorSettings):
    """The settings of the figure."""

    far: Numeric | None = setting(None, "P/N", "features per sample, of the first panel")
    near: Numeric | None = setting(None, "P/N - 1", "distance from P = N, of the second panel")


def asymptotics_data(settings: AsymptoticsSettings) -> tuple[Panel, Panel]:
    """Return distances from the limit along `far` = P/N, and variances along `near` = P/N - 1.

    >>> far, near = asymptotics_data(AsymptoticsSettings(near=[0.1, 1.0]))
    >>> [round(float(v), 3) for v in near.line("initialization").y]
    [4.428, 0.448]
    """
    problem, far, near = settings.problem, settings.far, settings.near
    beyond = axis_values(
        "far", np.geomspace(10, 1e4, 121) if far is None else far, "features_per_dim"
    )
    close = axis_values(
        "near", np.geomspace(1e-3, 10, 161) if near is None else near, "features_per_dim"
    )
    law = exact_law(problem, close)
    panels = []
    for name, x, ratio in ((FAR, beyond, beyond), (NEAR, close, 1 + close)):
        there = at_ratio(problem, ratio)
        away = _distance(there)
        causes = CAUSES if name == FAR else tuple(law)
        lines = [Line(cause, x, away[cause]) for cause in causes]
        if name == NEAR:
            lines += [Line(f"law_{cause}", x, y) for cause, y in law.items()]
        panels.append(Panel(axis=name, problem=there, lines=tuple(lines)))
    return panels[0], panels[1]


def _distance(problem: Problem) -> Mapping[str, FloatArray]:
    """The distance of each part from its limit for infinitely many features."""
    error, limit = (exact_error(p) for p in (problem, replace(problem, features_per_dim=np.inf)))
    return {c: np.abs(np.asarray(getattr(error, c)) - getattr(limit, c)) for c in CAUSES}


def exact_law(problem: Problem, close: FloatArray) -> dict[str, FloatArray]:
    """The law of λ → 0, with N/(P - N) = 1/`close`; Ψ₁ is the same for every P > N."""
    above = replace(problem, features_per_dim=np.inf, ridge=0.0)
    missed = 1 - float(np.asarray(psi_terms(above).psi1))
    return {
        "noise": np.square(problem.noise_sd) / close,
        "initialization": np.square(problem.signal) * missed / close,
    }


def slopes(panel: Panel) -> dict[str, float]:
    """The slope of each line on logarithmic axes, fitted in the window of the panel."""
    low, high = _WINDOWS[panel.axis]
    fitted = {}
    for line in panel.lines:
        inside = (line.x >= low) & (line.x <= high) & (line.y > 0)
        if np.count_nonzero(inside) > 1:
            fit = np.polyfit(np.log(line.x[inside]), np.log(line.y[inside]), 1)
            fitted[line.label] = float(fit[0])
    return fitted


def table(panels: Sequence[Panel]) -> PanelTable:
    """Return the numbers drawn: rows for P/N → ∞, then for P → N; NaN where a curve is absent."""
    far, near = (
        {
            line.label if line.label.startswith("law_") else f"{line.label}_distance": line.y
            for line in panel.lines
        }
        for panel in panels
    )
    x, close = (panel.x for panel in panels)
    return PanelTable.stack({FAR: x, NEAR: x - 1, **far}, {FAR: 1 + close, NEAR: close, **near})


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw one panel on the given axes, with the fitted slopes."""
    xlabel, ylabel = _AXES[panel.axis]
    drawing.log_axes(axes, panel.x, xlabel=xlabel, ylabel=ylabel)
    fitted = slopes(panel)
    for line in panel.lines:
        if line.label.startswith("law_"):
            label = (
                r"Exact for $\lambda\to 0$: $\propto N/(P-N)$" if line.label == "law_noise" else "_"
            )
            axes.plot(line.x, line.y, color="#000000", linewidth=0.9, label=label, zorder=1.5)
            continue
        drawing.curve(axes, line, drawing.PARTS[line.label])
        if line.label in fitted:
            _write_slope(axes, line, fitted[line.label])


def _write_slope(axes: "drawing.Axes", line: Line, slope: float) -> None:
    """The fitted slope at its line: above for the upper line of a pair, below for the other."""
    above = line.label in ("noise", "bias")
    i = int(0.6 * line.x.size) if above else int(0.5 * line.x.size)
    axes.annotate(
        f"slope ${slope:.3f}$",
        (line.x[i], line.y[i]),
        (7, 4) if above else (-7, -5),
        textcoords="offset points",
        ha="left" if above else "right",
        va="bottom" if above else "top",
        color=drawing.PARTS[line.label].color,
    )


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.6) as figure:
        row = figure.subplots(1, len(panels))
        for axes, panel in zip(row, panels, strict=True):
            draw(axes, panel)
        drawing.letters(row)
        drawing.figure_legend(figure, title=drawing.constants_title(panels[0]), narrow=0.9)
    return figure


def comparisons(panels: Sequence[Panel]) -> tuple[Agreement, ...]:
    """Fitted slopes, and the exact law."""
    near = panels[1]
    inside = near.x >= _WINDOWS[NEAR][0]
    laws = {cause: near.line(f"law_{cause}").y[inside] for cause in ("noise", "initialization")}
    off = [near.line(cause).y[inside] / law - 1 for cause, law in laws.items() if np.all(law > 0)]
    fitted = [np.array([s for c, s in slopes(panel).items() if c in CAUSES]) for panel in panels]
    return (
        Agreement.of("Slope -1 for P/N from 100 to 10 000", np.abs(fitted[0] + 1), unit="slope"),
        Agreement.of("Slope -1 for P/N - 1 from 0.1 to 1", np.abs(fitted[1] + 1), unit="slope"),
        Agreement.of("The law N/(P - N) for P/N - 1 > 0.1", np.abs(np.ravel(off))),
    )


FIGURE = FigureSpec(
    name="asymptotics",
    number=10,
    title="One inverse law on both sides",
    caption=(
        "(a) As features are added, every part of the test error approaches its limit as N/P: "
        "slope -1 on these axes. Noise and initialization dominate; sampling variance and bias "
        "depend on P only because the penalty is not zero, and are a factor of λ smaller.\n"
        "(b) Towards the threshold, noise (above its limit) and initialization grow as one over "
        "the distance P/N - 1, until the penalty limits them. The thin black lines are the law "
        "N/(P - N), exact when the penalty vanishes: the same law describes the divergence at "
        "P = N and the decay at infinity."
    ),
    alt=(
        "Two panels with logarithmic axes. Left: distances of noise, initialization, bias and "
        "sampling variance from their limits against P/N from 10 to 10000, four parallel lines of "
        "slope -1. Right: noise and initialization variance against P/N - 1 from 0.001 to 10: "
        "lines of slope -1 that level off below 0.01, and the straight exact law."
    ),
    settings=AsymptoticsSettings(),
    data=asymptotics_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        "For λ → 0 the law N/(P - N) is exact for all P > N, not only asymptotic as in the paper.",
    ),
)
