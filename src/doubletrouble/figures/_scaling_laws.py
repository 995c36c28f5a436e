r"""The test error by cause on power-law data along N = P^a, with the exponents of the laws.

Without ridge the degrees of freedom of the fit are the smaller of N and P, and every part of the
error is a power of the size (`theory._exponents`). At the best ridge they are those at which the
label noise balances the bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._decomposition import CAUSES
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, PanelTable, log_grid, number_list
from doubletrouble.figures._settings import RANGE, GridBounds, LawSettings, setting
from doubletrouble.parameters import FloatArray
from doubletrouble.theory import exact_error, exponents, optimal_ridge

_REGIMES = {
    "samples": "limited by samples",
    "features": "limited by features",
    "noise": "limited by noise",
}
_ROOM = 0.04  # above the curves, as a share of the axis
_RIDGES = {False: "no ridge", True: "best ridge"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """The error by cause along N = P^a, and the exponents by P of the law at one P."""

    power: float  # a
    best_ridge: bool
    features: FloatArray
    lines: tuple[Line, ...]  # the total and its parts
    marked: float  # the P of the exponents
    regime: str  # there
    asymptotic: dict[str, float]
    local: dict[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingSettings(LawSettings):
    """The settings of the figure."""

    powers: Sequence[float] = setting((0.7, 1.4), "a", "paths N = P^a")
    size_range: GridBounds = setting((1e2, 1e12, 61), "P", f"random features: {RANGE}")
    marked: float = setting(1e9, "P", "where exponents are marked")


def scaling_data(settings: ScalingSettings) -> tuple[Path, ...]:
    """Return the paths without ridge, then those at the best ridge.

    >>> first, *_ = scaling_data(ScalingSettings(size_range=(1e9, 1e9, 1)))
    >>> first.regime, round(first.asymptotic["bias"], 3), round(first.local["bias"], 3)
    ('samples', -1.68, -1.68)
    """
    P = log_grid(settings.size_range, "size_range")
    found = []
    for best in (False, True):
        for power in number_list("powers", settings.powers):
            problem = settings.at(P, P**power)
            error = optimal_ridge(problem).error if best else exact_error(problem)
            one = settings.at(settings.marked, settings.marked**power)
            slopes = exponents(one, ridge="best" if best else "fixed")
            assert slopes.asymptotic is not None
            along = [s.along(n_features=1.0, n_samples=power) for s in (slopes, slopes.asymptotic)]
            local, law = (
                {name: float(getattr(s, name)) for name in ("total", *CAUSES)} for s in along
            )
            found.append(
                Path(
                    power=power,
                    best_ridge=best,
                    features=P,
                    lines=tuple(
                        Line(name, P, np.asarray(getattr(error, name)))
                        for name in ("total", *CAUSES)
                    ),
                    marked=settings.marked,
                    regime=str(slopes.regime),
                    asymptotic=law,
                    local=local,
                )
            )
    return tuple(found)


def table(data: Sequence[Path]) -> PanelTable:
    """Return the numbers drawn: a row for each P of each path, then the marked exponents."""
    rows, marks = [], []
    for path in data:
        keys = {"best_ridge": float(path.best_ridge), "power": path.power}
        rows.append(
            {**keys, "n_features": path.features, **{line.label: line.y for line in path.lines}}
        )
        slopes = {f"exponent_{name}": value for name, value in path.asymptotic.items()}
        marks.append({**keys, "n_features": path.marked, **slopes})
    return PanelTable.stack(*rows, *marks)


def draw(axes: "drawing.Axes", path: Path) -> None:
    """Draw the parts of one path, and a mark of each exponent, on the given axes."""
    drawing.log_axes(axes, path.features, xlabel="Random features, $P$")
    for line in path.lines:
        drawing.curve(axes, line, drawing.PARTS[line.label])
    parts = [line for line in path.lines if line.label != "total"]
    for line in parts:
        _mark(axes, path, line)
    drawing.margin_labels(
        axes,
        [
            (float(line.y[-1]), drawing.exponent(path.asymptotic[line.label]), _color(line))
            for line in parts
        ],
    )
    drawing.slope_legend(axes)
    regime = _REGIMES.get(path.regime, path.regime)
    title = f"$N=P^{{{path.power:g}}}$, {_RIDGES[path.best_ridge]}: {regime}"
    axes.set_title(title, loc="right", fontsize=9.5)


def _color(line: Line) -> str:
    return drawing.PARTS[line.label].color


def _mark(axes: "drawing.Axes", path: Path, line: Line) -> None:
    """The exponent of the law above a curve, unless another curve is there."""
    at = int(np.argmin(np.abs(np.log(path.features / path.marked))))
    y = float(line.y[at])
    heights = [other.y[at] for other in path.lines if other.label not in ("total", line.label)]
    if not any(y < other < y * drawing.slope_offset(axes) ** 2 for other in heights):
        drawing.slope_mark(axes, float(path.features[at]), y, path.asymptotic[line.label])


def plot(data: Sequence[Path]) -> "drawing.Figure":
    """Draw the figure: no ridge above, the best ridge below."""
    with drawing.new_figure(height=6.2) as figure:
        grid = figure.subplots(2, len(data) // 2, sharex=True, sharey="row", squeeze=False)
        for axes, path in zip(grid.ravel(), data, strict=True):
            drawn = [p for p in data if p.best_ridge == path.best_ridge]
            axes.set_ylim(*_range(drawn))
            draw(axes, path)
            axes.label_outer()
        drawing.letters(list(grid.ravel()))
        drawing.figure_legend(figure, ncols=6, narrow=0.6)
    return figure


def _range(paths: Sequence[Path]) -> tuple[float, float]:
    """The limits of the error, with room for marks above."""
    low, high = drawing.log_range(line.y for path in paths for line in path.lines)
    return low, high * (high / low) ** _ROOM


def comparisons(data: Sequence[Path]) -> tuple[Agreement, ...]:
    """Local exponents at the marked sizes, and those of the laws."""
    gaps = [abs(path.local[name] - path.asymptotic[name]) for path in data for name in CAUSES]
    statement = "Exponents of the law, and the derivatives where they are marked"
    return (Agreement.of(statement, np.array(gaps), unit="absolute"),)


FIGURE = FigureSpec(
    name="scaling-laws",
    title="Every cause has its own scaling law",
    caption=(
        "Test error of one model of P random features on power-law data, eigenvalues i^-1.5 and "
        "target powers i^-3.4 (capacity α = 1.5, source r = 0.8), with label noise τ = 0.1, along "
        "N = P^0.7 (left) and N = P^1.4 (right). Each part is a power of the size. The numbers at "
        "the right are the exponents of its law by P; short dashed lines, marked at P = 10⁹, have "
        "these slopes.\n"
        "(a, b) Without ridge the degrees of freedom z of the fit are the smaller of N and P. "
        "Noise is τ² z/N: with more features than samples it does not decrease at all, whatever "
        "the size. The exponents are those of z/N (noise), z^(1-c)/P (initialization), z^(1-b)/N "
        "(sampling) and z^-b (bias), where b = 2α min(r, 1) = 2.4 and c = 2α min(r, 1/2) = 1.5.\n"
        "(c, d) At the best ridge z is smaller than both sizes, and grows as N^(1/(1+b)): noise "
        "and bias are in balance and decrease as N^(-b/(b+1)), so that the exponents of the total "
        "are -0.494 and -0.988 instead of 0 and -0.4."
    ),
    alt=(
        "Four panels of the test error by cause against the number of features from 10² to 10¹², "
        "logarithmic axes, all nearly straight lines. Without ridge, noise dominates: constant "
        "for N = P^0.7, slope -0.4 for N = P^1.4; initialization, bias and sampling fall with "
        "slopes -1.35, -1.68, -1.68 and -1.5, -2.4, -2.8. At the best ridge the total falls with "
        "slope -0.494 and -0.988, noise and bias in parallel."
    ),
    settings=ScalingSettings(),
    data=scaling_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"size_range": (1e2, 1e12, 121)}},
)
