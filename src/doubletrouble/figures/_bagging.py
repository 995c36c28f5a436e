r"""Bagging: members that draw their samples by bootstrap or subsampling, or that divide the data.

All schemes have the same total number of features, P K: the memory, and the cost of a prediction.
The cost of their training (`costs.training_cost`) differs and is given, too. A bootstrap sample
has 1 - 1/e of the samples, some of them several times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.costs import training_cost
from doubletrouble.ensembles import Bootstrap, Divide, Ensemble, Scheme, Subsample
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._drawing import Stroke
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import (
    Line,
    Panel,
    PanelTable,
    Points,
    along_ratios,
    at_ratio,
    log_grid,
    number_list,
    with_snr,
)
from doubletrouble.figures._settings import (
    RANGE,
    GridBounds,
    SignalSettings,
    SimulationSettings,
    setting,
)
from doubletrouble.figures._simulated import TwoSizes, two_sizes
from doubletrouble.palette import CAUSES, GREY, HATCHES, PART_WORDS
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import ErrorTerms
from doubletrouble.simulation import Simulation
from doubletrouble.theory import DISTINCT, exact_error, optimal_ridge

BEST = "ensemble_best_ridge"
_TOP = 4.0  # of the curves; the peaks are higher
PARTS = ("bias", "sampling", "noise", "initialization", "resampling")


class BagStyle(NamedTuple):
    """One way to assign samples to members, and the stroke of its curve."""

    ensemble: Scheme
    share: float  # of the samples that a member fits
    stroke: Stroke


@dataclass(frozen=True, kw_only=True, eq=False)
class Bagging:
    """A panel along P K/N for each F/τ, and the parts of every scheme at one P."""

    panels: tuple[Panel, ...]
    splits: tuple[Mapping[str, ErrorTerms[Any]], ...]  # by scheme
    costs: Mapping[str, float]  # of training at that P, relative to the ensemble
    split_ratio: float
    styles: Mapping[str, BagStyle]


@dataclass(frozen=True, kw_only=True, eq=False)
class BaggingSettings(SimulationSettings, SignalSettings):
    """The settings of the figure."""

    snrs: Sequence[float] = setting((1.0, 10.0), glossary.SNR)
    n_members: int = setting(10, glossary.N_MEMBERS)
    fractions: Sequence[float] = setting((0.8, 0.5), glossary.FRACTION)
    split_ratio: float = setting(2.0, "P/N", "of the splits")
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)
    simulated_ratios: GridBounds = setting((0.4, 9.2, 4), "P/N", f"where to simulate: {RANGE}")


def bagging_data(settings: BaggingSettings) -> Bagging:
    """Return test errors along `ratios` = P/N for each F/τ, and every split at `split_ratio`.

    >>> small = BaggingSettings(ratios=[10.0], simulated_ratios=(2, 2, 1), dim=20, n_data=2)
    >>> data = bagging_data(small)
    >>> noisy, clean = data.panels
    >>> [(line.label, round(float(line.y[0]), 3)) for line in noisy.lines[:3:2]]
    [('ensemble', 0.743), ('bootstrap', 0.649)]
    >>> [round(float(line.y[0]), 3) for line in clean.lines[:3:2]]
    [0.298, 0.445]
    """
    problem, n_members, split_ratio = settings.problem, settings.n_members, settings.split_ratio
    styles = bag_styles(settings.fractions, n_members)
    drawn = {name: style.ensemble for name, style in styles.items() if name != BEST}
    shares = [styles[name].share for name in drawn]
    grid = _close_to(shares) if settings.ratios is None else settings.ratios
    runs = two_sizes(
        replace(problem, noise=1.0),
        settings,
        ensembles=list(drawn.values()),
        ratios=log_grid(settings.simulated_ratios),
        model="features",
    )
    panels, splits = [], []
    for snr in number_list("snrs", settings.snrs):
        ratio, along = along_ratios(with_snr(problem, snr), grid)
        lines = {name: total_error(along, ensemble) for name, ensemble in drawn.items()}
        lines[BEST] = np.asarray(optimal_ridge(along, n_members).error.total)
        panels.append(
            Panel(
                axis="total_features_per_sample",
                keys={"snr": snr},
                problem=along,
                lines=tuple(Line(name, ratio * n_members, y) for name, y in lines.items()),
                points=tuple(
                    simulated_points(runs, name, ensemble, along.noise_sd)
                    for name, ensemble in drawn.items()
                ),
                ensemble=Ensemble(n_members),
            )
        )
        at = at_ratio(along, split_ratio)
        parts = {name: exact_error(at, ensemble) for name, ensemble in drawn.items()}
        splits.append({**parts, BEST: optimal_ridge(at, n_members).error})

    def cost(share: float) -> float:
        samples = float(np.asarray(problem.samples_per_dim))
        return training_cost(split_ratio * samples, share * samples, n_members, "ensemble")

    return Bagging(
        panels=tuple(panels),
        splits=tuple(splits),
        costs={name: cost(style.share) / cost(1.0) for name, style in styles.items()},
        split_ratio=float(split_ratio),
        styles=styles,
    )


def bag_styles(fractions: Sequence[float], members: float) -> dict[str, BagStyle]:
    """Every way to assign samples, by the name of its column; the reference, `BEST`, is last."""
    solid, sparse, mixed, dotted, purple, orange, _ = drawing.SERIES
    styles = {
        "ensemble": BagStyle(Ensemble(members), 1.0, solid._replace(label="All samples")),
        "bootstrap": BagStyle(Bootstrap(members), DISTINCT, sparse._replace(label="Bootstrap")),
        "divide": BagStyle(Divide(members), 1 / members, purple._replace(label="Divided")),
    }
    for fraction, stroke in zip(
        number_list("fractions", fractions), cycle((mixed, dotted, orange)), strict=False
    ):
        label, drawn = f"Subsample, {100 * fraction:.0f}%", Subsample(members, fraction=fraction)
        styles[f"subsample_{fraction:g}"] = BagStyle(drawn, fraction, stroke._replace(label=label))
    ordered = dict(sorted(styles.items(), key=lambda item: -item[1].share))
    grey = Stroke(r"All samples, best $\lambda$", GREY, "-", "", 2.6, "none")
    return {**ordered, BEST: BagStyle(Ensemble(members), 1.0, grey)}


def total_error(problem: Problem, ensemble: Scheme) -> FloatArray:
    """The test error of an ensemble along a problem."""
    return np.asarray(exact_error(problem, ensemble).total)


def simulated_points(runs: TwoSizes, label: str, ensemble: Scheme, noise: Numeric) -> Points:
    """One ensemble as simulated, at another label noise: no term of a simulation depends on it."""

    def noisy(simulation: Simulation) -> Simulation:
        return replace(simulation, problem=replace(simulation.problem, noise=noise))

    at_noise = replace(runs, whole=noisy(runs.whole), half=noisy(runs.half))
    problem, members = at_noise.problem, np.asarray(ensemble.n_members)
    x = members * np.asarray(problem.features_per_dim) / np.asarray(problem.samples_per_dim)
    theory = Line(label, x, total_error(problem, runs.whole.realized(ensemble)))
    return at_noise.points(theory, lambda simulation: simulation.error(ensemble).total)


def _close_to(shares: Sequence[float]) -> FloatArray:
    """P/N from 0.03 to 10, denser where the members of a scheme have as many features as samples.

    The shares themselves are in it.
    """
    wide = np.geomspace(0.03, 10.0, 201)
    close = np.multiply.outer(shares, 10.0 ** np.linspace(-0.1, 0.1, 81)).ravel()
    return np.unique(np.concatenate([wide, close]))


def table(data: Bagging) -> PanelTable:
    """Return the numbers drawn: those of the curves, then a row for each split."""
    splits = [
        {
            **panel.keys,
            panel.axis: data.split_ratio * panel.n_members,
            **{name: terms.total for name, terms in split.items()},
            **{f"{p}_of_{name}": getattr(split[name], p) for name in split for p in PARTS},
        }
        for panel, split in zip(data.panels, data.splits, strict=True)
    ]
    return PanelTable.stack(*(block for panel in data.panels for block in panel.blocks), *splits)


def part_of(terms: ErrorTerms[Any], part: str) -> float:
    """One part of a split."""
    return float(np.asarray({**terms.parts, "total": terms.total}.get(part, 0.0)))


def draw(axes: "drawing.Axes", panel: Panel, data: Bagging) -> None:
    """Draw one panel on the given axes."""
    drawing.log_axes(axes, panel.x, xlabel="Total number of features, $PK/N$")
    drawing.threshold(axes, panel.n_members)
    drawing.curves(axes, panel, {name: style.stroke for name, style in data.styles.items()})
    drawing.corner(axes, rf"$F/\tau={drawing.scientific(panel.snr)}$")


def draw_split(axes: "drawing.Axes", split: Mapping[str, ErrorTerms[Any]], data: Bagging) -> None:
    """Draw the parts of each scheme as stacked bars on the given axes."""
    names = list(split)
    left = np.zeros(len(names))
    for part in PARTS:
        sizes = np.array([part_of(split[name], part) for name in names])
        axes.barh(
            names,
            sizes,
            left=left,
            height=0.72,
            color=CAUSES["light"][part],
            label=PART_WORDS[part].label,
            edgecolor="white",
            linewidth=0.6,
            hatch=HATCHES[part],
        )
        left = left + sizes
    for index, name in enumerate(names):
        axes.annotate(
            rf"$\times${data.costs[name]:.2g}",
            (left[index], index),
            (4, 0),
            textcoords="offset points",
            va="center",
            ha="left",
        )
    axes.set_yticks(range(len(names)), [data.styles[name].stroke.label for name in names])
    axes.set_xlim(0, 1.18 * float(left.max()))
    axes.set_ylim(len(names) - 0.5, -0.5)  # the first on top
    axes.grid(visible=False, axis="y")
    axes.set_title(r"$\times$: cost of training", loc="right")


def plot(data: Bagging) -> "drawing.Figure":
    """Draw the figure: curves above, the parts at one P below."""
    with drawing.new_figure(height=6.6) as figure:
        grid = figure.subplots(2, len(data.panels), sharey="row", height_ratios=(1.15, 1))
        grid = np.reshape(grid, (2, -1))
        for k, (panel, split) in enumerate(zip(data.panels, data.splits, strict=True)):
            draw(grid[0, k], panel, data)
            draw_split(grid[1, k], split, data)
            snr = drawing.scientific(panel.snr)
            at = rf"$P={data.split_ratio:g}N$, $F/\tau={snr}$"
            grid[1, k].set_xlabel(f"Test error at {at}")
            if k:
                grid[0, k].set_ylabel("")
        lowest = min(float(line.y.min()) for panel in data.panels for line in panel.lines)
        grid[0, 0].set_ylim(lowest / 1.2, _TOP)
        drawing.letters(list(grid.ravel()))
        first = data.panels[0]
        title = (
            rf"$K={first.n_members:g}$,$\quad${drawing.constants_title(first, snr=False, dim=True)}"
        )
        drawing.figure_legend(figure, title=title, ncols=4, narrow=0.9, panels=grid[0])
        drawing.figure_legend(figure, loc="outside lower center", panels=grid[1], narrow=0.8)
    return figure


def comparisons(data: Bagging) -> tuple[agreement.Agreement, ...]:
    """Theory and simulation."""
    return agreement.with_simulation([p for panel in data.panels for p in panel.points])


FIGURE = FigureSpec(
    name="bagging",
    title="Bagging acts as a penalty",
    caption=(
        "Averages of ten models with independent features, for several ways to assign samples to "
        "them: all samples to each, 80% or 50% drawn without replacement (subsample), N drawn "
        "with replacement (bootstrap), or one tenth to each (divided). All have the same total "
        "number of features, P K: the same memory and cost of a prediction. The numbers at the "
        "bars are the cost of training, K n P min(n, P) for members that fit n different samples, "
        "relative to that of all samples.\n"
        "(a, b) Each scheme has its peak where P is the number of samples of a member (peaks are "
        "cut off at the top). Wide members without a penalty have a lower error with fewer samples "
        "if labels are noisy (a), and a higher one if they are clean (b). All samples with the "
        "best penalty (grey) are nowhere worse than any scheme drawn.\n"
        "(c, d) With fewer samples, noise variance decreases and bias increases, as with a larger "
        "penalty. The resampling variance, which the choice of samples adds, is negligible for ten "
        "members. Bagging reduces the cost of training; the best penalty gives the lower error. "
        "Markers: simulation of random features at finite size, with bars of two standard errors."
    ),
    alt=(
        "Above, test error against the total number of features for six schemes, at "
        "signal-to-noise ratios 1 and 10, logarithmic axes: peaks at P = N for all samples and "
        "earlier for fewer. For many features and noisy labels all samples end at 0.74, bootstrap "
        "at 0.65; with clean labels at 0.30 and 0.45. All samples with the best penalty lie "
        "lowest, at 0.62 and 0.30. Below, "
        "bars of the parts at P = 2N: the fewer samples, the more bias and the less noise."
    ),
    settings=BaggingSettings(dim=100, n_data=8, n_init=2),
    data=bagging_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"dim": 200, "n_data": 20, "simulated_ratios": (0.4, 9.2, 4)}},
)
