r"""Width, samples and penalty of infinitely many models are one knob: an effective ridge.

The effective ridge is that of `effective_ridge`; its best value is τ²/F².
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.figures import agreement, drawing, style
from doubletrouble.figures.effective_ridge import (
    Members,
    linear_error,
    members,
    simulated_paths,
)
from doubletrouble.figures.ratios import noise_at, spaced
from doubletrouble.figures.simulated import Points
from doubletrouble.figures.spec import FigureSpec, Line, Table
from doubletrouble.figures.style import Stroke
from doubletrouble.palette import BLUE, GREEN, PURPLE, VERMILION
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = (0.4, 0.6, 1.0, 2.0, 5.0, 20.0)  # of ρ
_NAMED_AT = 4.5  # the P/N where they are named
_SHADES = ("#fbf8ee", "#f1ead5", "#e6dcbd", "#dacda4", "#cdbd8b", "#bfac73", "#b09a5c")
_STROKES = {
    "width": Stroke("Fewer features", VERMILION, (0, (6, 2)), "s", 1.7, "white"),
    "subsample": Stroke("Fewer samples", BLUE, (0, (5, 1.5, 1, 1.5)), "^", 1.7, BLUE),
    "ridge": Stroke(r"More penalty $\lambda$", GREEN, (0, (1.2, 1.0)), "D", 2.0, "white"),
    "mixed": Stroke("All three, tanh", PURPLE, "-", "v", 1.7, PURPLE),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Equivalences:
    """Two planes of settings, and paths on which only one of them changes."""

    planes: tuple[Members, Members]  # over P/N and λ, over P/N and the fraction
    paths: tuple[Members, ...]
    linear: Line  # linear ridge regression on all of the data, along ρ
    points: tuple[Points, ...]
    problem: Problem

    @property
    def best(self) -> float:
        """The best effective ridge, τ²/F²."""
        return float(np.square(np.asarray(self.problem.noise) / np.asarray(self.problem.signal)))


def equivalences_data(
    *,
    snr: float = 1.0,
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    activation: str = "relu",
    ratio_range: tuple[float, float, int] = (0.1, 10.0, 81),
    ridge_range: tuple[float, float, int] = (1e-3, 10.0, 81),
    fraction_range: tuple[float, float, int] = (0.1, 1.0, 61),
    ridge: float = 1e-5,
    dim: int = 100,
    n_data: int = 20,
    seed: int = 0,
    store: str | Path | None = None,
) -> Equivalences:
    """Return effective ridges and test errors over both planes and along every path.

    Paths start at infinitely many features, all samples, and the penalty `ridge`.

    >>> data = equivalences_data(ratio_range=(0.5, 2, 2), dim=20, n_data=2)
    >>> [round(float(v), 4) for v in np.interp([0.5, 1.0, 2.0], data.linear.x, data.linear.y)]
    [0.6667, 0.618, 0.6547]
    """
    noise = noise_at(snr, signal)
    problem = Problem(
        features_per_dim=math.inf, samples_per_dim=samples_per_dim, ridge=ridge, signal=signal,
        noise=noise, activation=activation,
    )  # fmt: skip
    ratios, ridges = spaced(ratio_range, "ratio_range"), spaced(ridge_range, "ridge_range")
    fractions = spaced(fraction_range, "fraction_range")
    planes = (
        members(problem, "ridges", ratios, 1.0, ridges[:, None]),
        members(problem, "fractions", ratios, fractions[:, None], ridge),
    )
    bent = replace(problem, activation="tanh")
    sizes, shares, penalties = np.meshgrid([0.6, 1.5, 8.0], [0.4, 0.9], [1e-2, 1.0])
    paths = (
        members(problem, "width", ratios, 1.0, ridge),
        members(problem, "subsample", math.inf, fractions, ridge),
        members(problem, "ridge", math.inf, 1.0, ridges),
        members(bent, "mixed", sizes.ravel(), shares.ravel(), penalties.ravel()),
    )
    effective = np.geomspace(0.5, 2.0, 3) * (noise / signal) ** 2
    effective = np.unique(np.concatenate([np.geomspace(0.1, 60.0, 241), effective]))
    return Equivalences(
        planes=planes,
        paths=paths,
        linear=Line("linear", effective, linear_error(problem, effective)),
        points=simulated_paths(problem, dim=dim, n_data=n_data, seed=seed, store=store),
        problem=problem,
    )


def table(data: Equivalences) -> Table:
    """Return the numbers drawn: members of the planes and paths, simulations, the linear curve."""
    blank = (math.nan,) * 4
    rows: list[tuple[float, ...]] = []
    for found in (*data.planes, *data.paths):
        columns = (found.ratio, found.fraction, found.ridge, found.effective, found.total)
        rows += [(*map(float, row), *blank) for row in zip(*map(np.ravel, columns), strict=True)]
    for points in data.points:
        values = (points.x, points.theory, points.value, points.standard_error, points.limit)
        for row in zip(*values, points.limit_error, strict=True):
            rows.append((math.nan, math.nan, math.nan, *map(float, row)))
    for x, y in zip(data.linear.x, data.linear.y, strict=True):
        rows.append((math.nan, math.nan, math.nan, float(x), float(y), *blank))
    names = ("P_over_N", "fraction", "ridge", "effective_ridge", "test_error")
    kinds = ("simulated", "standard_error", "extrapolated", "extrapolated_error")
    return Table((*names, *kinds), rows)


def draw_plane(axes: "Axes", plane: Members, y: FloatArray, label: str, best: float) -> None:
    """Draw lines of equal ρ on axes that the caller owns."""
    x, rho = plane.ratio[0], plane.effective
    axes.contourf(
        x, y, rho, levels=[0, *LEVELS, np.inf], colors=_SHADES, extend="neither", zorder=0
    )
    axes.contour(x, y, rho, levels=LEVELS, colors="#333333", linewidths=0.7, zorder=1)
    axes.contour(x, y, rho, levels=[best], colors="#000000", linewidths=2.4, zorder=2)
    for level, place in label_places(plane, y).items():
        axes.text(
            *place, f"{level:g}", ha="center", va="center", fontsize=9, zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    drawing.log_axes(axes, [x], ylabel=label)
    axes.set_ylim(float(y.min()), float(y.max()))
    axes.grid(visible=False)
    drawing.threshold(axes)


def label_places(plane: Members, y: FloatArray) -> dict[float, tuple[float, float]]:
    """Where lines of equal ρ are named: at one P/N, where they cross it."""
    at = int(np.argmin(np.abs(np.log(plane.ratio[0] / _NAMED_AT))))
    rising = plane.effective[:, at]
    x, logs = float(plane.ratio[0, at]), np.log(y)
    if rising[0] > rising[-1]:
        rising, logs = rising[::-1], logs[::-1]
    inside = (level for level in LEVELS if rising[0] < level < rising[-1])
    return {level: (x, float(np.exp(np.interp(level, rising, logs)))) for level in inside}


def draw_curve(axes: "Axes", data: Equivalences) -> None:
    """Draw the error along ρ, and every path on it, on axes that the caller owns."""
    axes.plot(
        data.linear.x, data.linear.y, color="#c9c9c9", linewidth=5.0, solid_capstyle="butt",
        label="Linear ridge regression", zorder=1,
    )  # fmt: skip
    for place, path in enumerate(data.paths):
        stroke = _STROKES[path.label]
        line = Line(path.label, path.effective, path.total)
        if path.label == "mixed":
            axes.plot(
                line.x, line.y, color=stroke.color, marker=stroke.marker, linestyle="none",
                label=stroke.label, markersize=5.5, zorder=3,
            )  # fmt: skip
        else:
            drawing.curve(axes, line, stroke, label=stroke.label, place=place, markers=0)
    for found in data.points:
        drawing.points(axes, found, _STROKES[found.label])
    drawing.log_axes(axes, [data.linear.x], xlabel=r"Effective ridge $\rho$")
    axes.set_yscale("linear")
    axes.yaxis.set_major_formatter(style.plain_number)
    drawing.threshold(axes, data.best, r"$\rho=\tau^2/F^2$")


def plot(data: Equivalences) -> "Figure":
    """Make the whole figure: two planes above, one curve below."""
    with drawing.page(height=6.2) as figure:
        axes = figure.subplot_mosaic([["ridges", "fractions"], ["curve", "curve"]])
        ridges, fractions = data.planes
        draw_plane(axes["ridges"], ridges, ridges.ridge[:, 0], r"Penalty $\lambda$", data.best)
        draw_plane(
            axes["fractions"], fractions, fractions.fraction[:, 0], "Fraction of the samples",
            data.best,
        )  # fmt: skip
        draw_curve(axes["curve"], data)
        axes["ridges"].set_title("All samples", loc="right")
        ridge = style.scientific(float(np.asarray(data.problem.ridge)))
        axes["fractions"].set_title(rf"$\lambda={ridge}$", loc="right")
        drawing.letters(list(axes.values()))
        samples = style.scientific(float(np.asarray(data.problem.samples_per_dim)))
        noise = np.asarray(data.problem.noise) / np.asarray(data.problem.signal)
        snr = style.scientific(float(1 / noise) if noise else math.inf)
        title = rf"$K\to\infty$,$\quad$$N/D={samples}$,$\quad$$\mathrm{{SNR}}=F/\tau={snr}$"
        drawing.legend_above(figure, title=title, ncols=3)
    return figure


def agrees(data: Equivalences) -> tuple[str, ...]:
    """How far members lie from the curve, and simulation from theory."""
    found = [m for m in (*data.planes, *data.paths) if np.all(m.effective > 0)]
    rho = np.concatenate([np.ravel(m.effective) for m in found])
    error = np.concatenate([np.ravel(m.total) for m in found])
    off = float(np.max(np.abs(error / linear_error(data.problem, rho) - 1)))
    return (
        agreement.with_simulation(data.points),
        f"All {rho.size} settings of width, samples and penalty lie on the curve of linear ridge "
        f"regression: at most {off:.0e} apart (relative).",
        f"The least error of any of them is {error.min():.6f}, at ρ = {rho[np.argmin(error)]:.3f}; "
        f"that of linear ridge regression at ρ = τ²/F² is "
        f"{float(linear_error(data.problem, np.asarray(data.best))):.6f}.",
    )


FIGURE = FigureSpec(
    name="equivalences",
    title="Width, samples and penalty are one knob",
    caption=(
        "Beyond the paper: infinitely many models averaged. Making each narrower, giving each a "
        "random part of the samples, or raising its penalty all do the same: the average predicts "
        "like linear ridge regression on all samples, with an effective ridge ρ. (a, b) Lines of "
        "equal ρ, over width and penalty, and over width and fraction of the samples. Along a line "
        "neither the test error nor its split changes; the thick one is the best, ρ = τ²/F². With "
        "next to no penalty (b) only the smaller of the two counts, features or samples of a "
        "member.\n"
        "(c) The test error along ρ. Whatever is varied, and whatever the activation, the points "
        "fall on the curve of linear ridge regression (grey). The three coloured paths start where "
        "nothing is held back, at the least ρ that ReLU features allow, μ⋆²/μ₁² = 0.36, and run to "
        "the right: here P = 0.61 N features, 61 % of the samples, or λ = 0.16 reach the same "
        "best error, 0.618. None of the three is a cure that another is not; what differs is the "
        "cost, and how many models it takes. Markers of the paths: simulations at finite size, "
        "with bars of two standard errors."
    ),
    alt=(
        "Two maps with lines of equal effective ridge: over features per sample and penalty they "
        "bend from vertical to horizontal; over features per sample and fraction of the samples "
        "they are corners. Below, test error against effective ridge: one curve with its minimum, "
        "0.618, at ridge 1, on which lie the paths of fewer features, fewer samples and more "
        "penalty, and points of tanh features."
    ),
    data=equivalences_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={
        "paper": {
            "ratio_range": (0.1, 10.0, 161), "ridge_range": (1e-3, 10.0, 161),
            "fraction_range": (0.1, 1.0, 121), "dim": 200, "n_data": 40,
        },
    },
)  # fmt: skip
