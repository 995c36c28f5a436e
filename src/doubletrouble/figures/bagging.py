r"""K models that draw their samples: bags, sub-bags, all of the data, or a share for each.

All have the same number of features in all, P K, which is what is stored and evaluated at every
prediction (`advice.cost`); the cost of their training is given beside. A bag sees 1 - 1/e of the
samples (`theory._bootstrap`), some of them several times.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble.advice import training_cost
from doubletrouble.figures import agreement, drawing, style
from doubletrouble.figures.bags import bag_styles, simulated_points, total_error
from doubletrouble.figures.panel import Panel
from doubletrouble.figures.panel import table as panel_table
from doubletrouble.figures.ratios import along_ratios, noise_at, numbers, spaced
from doubletrouble.figures.simulated import two_sizes
from doubletrouble.figures.spec import FigureSpec, Line, Table
from doubletrouble.figures.style import Stroke
from doubletrouble.palette import CAUSES, GREY, LABELS
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import exact_error, optimal_ridge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEST = "ensemble_best_ridge"
_TOP = 4.0  # of the curves; the peaks are higher
PARTS = ("bias", "sampling", "noise", "initialization", "resampling")
_HATCHES = {"bias": "", "sampling": "....", "noise": "////", "initialization": "\\\\\\\\"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Bagging:
    """A panel along P K/N for each F/τ, and the split of every scheme at one width."""

    panels: tuple[Panel, ...]
    splits: tuple[Mapping[str, ErrorTerms[Any]], ...]  # by scheme
    costs: Mapping[str, float]  # of training at that width, relative to the ensemble
    split_ratio: float
    words: Mapping[str, str]
    strokes: Mapping[str, Stroke]


def bagging_data(
    *,
    snrs: Sequence[float] = (1.0, 10.0),
    n_members: int = 10,
    fractions: Sequence[float] = (0.8, 0.5),
    ridge: float = 1e-5,
    split_ratio: float = 2.0,
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    activation: str = "relu",
    ratios: Numeric | None = None,
    simulated_ratios: tuple[float, float, int] = (0.4, 9.2, 4),
    dim: int = 100,
    n_data: int = 8,
    n_init: int = 2,
    seed: int = 0,
    store: str | Path | None = None,
) -> Bagging:
    """Return test errors along `ratios` = P/N for each F/τ, and every split at `split_ratio`.

    >>> data = bagging_data(ratios=[10.0], simulated_ratios=(2, 2, 1), dim=20, n_data=2)
    >>> noisy, clean = data.panels
    >>> [(line.label, round(float(line.y[0]), 3)) for line in noisy.lines[:3:2]]
    [('ensemble', 0.743), ('bootstrap', 0.649)]
    >>> [round(float(line.y[0]), 3) for line in clean.lines[:3:2]]
    [0.298, 0.445]
    """
    known = bag_styles(fractions, n_members)
    constants: dict[str, Any] = {
        "ridge": ridge, "samples_per_dim": samples_per_dim, "signal": signal,
        "activation": activation,
    }  # fmt: skip
    grid = _close_to([one.share for one in known.values()]) if ratios is None else ratios
    runs = two_sizes(
        Problem(noise=1.0, **constants), ensembles=[one.ensemble for one in known.values()],
        ratios=spaced(simulated_ratios), dim=dim, n_data=n_data, store=store, model="features",
        n_init=n_init, seed=seed,
    )  # fmt: skip
    panels, splits = [], []
    for snr in numbers("snrs", snrs):
        noise = noise_at(snr, signal)
        ratio, problem = along_ratios(grid, noise=noise, **constants)
        lines = {k: total_error(problem, one.ensemble) for k, one in known.items()}
        lines[BEST] = np.asarray(optimal_ridge(problem, n_members).error.total)
        panels.append(
            Panel(
                axis="PK_over_N", keys={"SNR": snr}, problem=problem,
                lines=tuple(Line(k, ratio * n_members, y) for k, y in lines.items()),
                points=tuple(
                    simulated_points(runs, k, one.ensemble, noise) for k, one in known.items()
                ),
            )
        )  # fmt: skip
        at = replace(problem, features_per_dim=split_ratio * samples_per_dim)
        parts = {k: exact_error(at, s.ensemble) for k, s in known.items()}
        splits.append({**parts, BEST: optimal_ridge(at, n_members).error})
    width = split_ratio * samples_per_dim
    whole = training_cost(width, samples_per_dim, n_members, "ensemble")
    costs = {
        k: training_cost(width, s.share * samples_per_dim, n_members, "ensemble") / whole
        for k, s in known.items()
    }
    return Bagging(
        panels=tuple(panels), splits=tuple(splits), costs={**costs, BEST: 1.0},
        split_ratio=float(split_ratio),
        words={**{k: s.words for k, s in known.items()}, BEST: r"All samples, best $\lambda$"},
        strokes={
            **{k: s.stroke for k, s in known.items()}, BEST: Stroke("", GREY, "-", "", 2.6, "none"),
        },
    )  # fmt: skip


def _close_to(shares: Sequence[float]) -> FloatArray:
    """P/N from 0.03 to 10, denser where the members of a scheme have as many features as samples.

    The shares themselves are in it.
    """
    wide = np.geomspace(0.03, 10.0, 201)
    close = np.multiply.outer(shares, 10.0 ** np.linspace(-0.1, 0.1, 81)).ravel()
    return np.unique(np.concatenate([wide, close]))


def table(data: Bagging) -> Table:
    """Return the numbers drawn: those of the curves, then a row for each split."""
    columns, rows = panel_table(data.panels)
    names = list(data.splits[0])
    wide = tuple(f"{part}_of_{name}" for name in names for part in PARTS)
    filled = [(*row, *(math.nan,) * len(wide)) for row in rows]
    for panel, split in zip(data.panels, data.splits, strict=True):
        totals = [float(split[line.label].total) for line in panel.lines]
        parts = [part_of(split[name], part) for name in names for part in PARTS]
        blank = (math.nan,) * (len(columns) - 2 - len(totals))
        x = data.split_ratio * panel.lines[0].x[0] / _ratio(panel)
        filled.append((*map(float, panel.keys.values()), x, *totals, *blank, *parts))
    return Table((*columns, *wide), filled)


def part_of(terms: ErrorTerms[Any], part: str) -> float:
    """One part of a split."""
    return float(np.asarray(getattr(terms, part)))


def _ratio(panel: Panel) -> float:
    """The first P/N of a panel."""
    width = np.ravel(panel.problem.features_per_dim)[0]
    return float(width) / panel.constant("samples_per_dim")


def draw(axes: "Axes", panel: Panel, data: Bagging) -> None:
    """Draw one panel on axes that the caller owns."""
    drawing.log_axes(axes, [panel.lines[0].x], xlabel="Features in all, $PK/N$")
    members = panel.lines[0].x[0] / _ratio(panel)
    drawing.threshold(axes, members, "$P=N$")
    for line in panel.lines:
        drawing.curve(axes, line, data.strokes[line.label], label=data.words[line.label], markers=0)
    for found in panel.points:
        drawing.points(axes, found, data.strokes[found.label])
    drawing.corner(axes, rf"$F/\tau={style.scientific(panel.keys['SNR'])}$")


def draw_split(axes: "Axes", split: Mapping[str, ErrorTerms[Any]], data: Bagging) -> None:
    """Draw the parts of each scheme, one after the other, on axes that the caller owns."""
    names = list(split)
    left = np.zeros(len(names))
    for part in PARTS:
        sizes = np.array([part_of(split[name], part) for name in names])
        axes.barh(
            names, sizes, left=left, height=0.72, color=CAUSES["light"][part], label=LABELS[part],
            edgecolor="white", linewidth=0.6, hatch=_HATCHES.get(part, "xxxx"),
        )  # fmt: skip
        left = left + sizes
    for place, name in enumerate(names):
        axes.annotate(
            rf"$\times${data.costs[name]:.2g}", (left[place], place), (4, 0),
            textcoords="offset points", va="center", ha="left",
        )  # fmt: skip
    axes.set_yticks(range(len(names)), [data.words[name] for name in names])
    axes.set_xlim(0, 1.18 * float(left.max()))
    axes.set_ylim(len(names) - 0.5, -0.5)  # the first on top
    axes.grid(visible=False, axis="y")
    axes.set_title(r"$\times$: cost of training", loc="right")


def plot(data: Bagging) -> "Figure":
    """Make the whole figure: curves above, their splits at one width below."""
    with drawing.page(height=6.6) as figure:
        grid = figure.subplots(2, len(data.panels), sharey="row", height_ratios=(1.15, 1))
        grid = np.reshape(grid, (2, -1))
        for k, (panel, split) in enumerate(zip(data.panels, data.splits, strict=True)):
            draw(grid[0, k], panel, data)
            draw_split(grid[1, k], split, data)
            snr = style.scientific(panel.keys["SNR"])
            at = rf"$P={data.split_ratio:g}N$, $F/\tau={snr}$"
            grid[1, k].set_xlabel(f"Test error at {at}")
            if k:
                grid[0, k].set_ylabel("")
        lowest = min(float(line.y.min()) for panel in data.panels for line in panel.lines)
        grid[0, 0].set_ylim(lowest / 1.2, _TOP)
        drawing.letters(list(grid.ravel()))
        members = data.panels[0].lines[0].x[0] / _ratio(data.panels[0])
        title = drawing.setting(data.panels[0], snr=False)
        title = rf"$K={members:g}$,$\quad${title}"
        drawing.legend_above(figure, title=title, ncols=3, of=grid[0])
        drawing.legend_above(figure, loc="outside lower center", of=grid[1], narrow=0.8)
    return figure


def agrees(data: Bagging) -> tuple[str, ...]:
    """Agreement of theory and simulation, and the numbers of the caption."""
    said = [agreement.with_simulation([p for panel in data.panels for p in panel.points])]
    for panel in data.panels:
        lines = {line.label: line.y for line in panel.lines}
        rivals = np.array([y for label, y in lines.items() if label != BEST])
        worst = float(np.max(lines[BEST] / rivals.min(axis=0)))
        said.append(
            f"F/τ = {panel.keys['SNR']:g}: at the widest, all samples {lines['ensemble'][-1]:.3f}, "
            f"bootstrap {lines['bootstrap'][-1]:.3f}, all samples at the best penalty "
            f"{lines[BEST][-1]:.3f}; the last is at most {worst:.3f} times the best of the others."
        )
    return tuple(said)


FIGURE = FigureSpec(
    name="bagging",
    title="Bagging is a penalty in disguise",
    caption=(
        "Beyond the paper: ten models whose predictions are averaged, with features of their own "
        "and different ways to give them samples. All see all samples, or each draws 80 % or 50 % "
        "of them (sub-bagging), or N with replacement (bootstrap), or the samples are divided. "
        "Held equal is the number of features in all, P K: what is stored, and evaluated at every "
        "prediction. Training is not equal: the numbers at the bars are its cost, K n P min(n, P) "
        "for members that fit n different samples, relative to that of all samples.\n"
        "(a, b) Each scheme has its peak where P is the number of samples that a member has (the "
        "peaks are cut off). Wide members without a penalty are better off with fewer samples if "
        "labels are noisy (a), and worse off if they are clean (b). A penalty chosen well does the "
        "same and more: all samples with the best λ (grey) are nowhere worse than any "
        "scheme drawn.\n"
        "(c, d) Why: with fewer samples, a member fits less noise and less signal. Noise falls and "
        "bias rises, as with a penalty. What the choice of samples adds by itself, the resampling "
        "variance, is next to nothing for ten members. So bag to save training; "
        "to lower the error, choose the penalty. Markers: true random features at finite size, "
        "with bars of two standard errors."
    ),
    alt=(
        "Above, test error against features in all for six schemes, at signal-to-noise ratios 1 "
        "and 10, logarithmic axes: peaks at P = N for all samples and earlier for fewer. For many "
        "features and noisy labels all samples end at 0.74, bootstrap at 0.65; with clean labels "
        "at 0.30 and 0.45. All samples with the best penalty lie lowest, at 0.62 and 0.30. Below, "
        "bars of the parts at P = 2N: the fewer samples, the more bias and the less noise."
    ),
    data=bagging_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={"paper": {"dim": 200, "n_data": 20, "simulated_ratios": (0.4, 9.2, 4)}},
)
