r"""The cause that dominates the test error, over samples N and features P, on power-law data.

The regimes are those of `theory._exponents`: what limits the degrees of freedom z of the fit at a
given ridge, the least of N, P and (N/δ)^(1/α). Sampling variance is α - 1 times the bias where
samples limit z: above it only for α > 2.
"""

import math
from dataclasses import dataclass

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._decomposition import CAUSES
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable, log_grid
from doubletrouble.figures._settings import RANGE, GridBounds, LawSettings, setting
from doubletrouble.palette import CAUSES as COLORS
from doubletrouble.palette import HATCHES, PART_WORDS
from doubletrouble.parameters import FloatArray
from doubletrouble.theory import exact_error, regimes

_MEMBERS = (1.0, math.inf)
_PALE = 0.45  # share of the colour of a cause in its area


@dataclass(frozen=True, kw_only=True, eq=False)
class PhaseMap:
    """The parts of the error over P (rows) and N (columns)."""

    noise: float
    n_members: float
    parts: dict[str, FloatArray]

    @property
    def dominant(self) -> FloatArray:
        """The index in `CAUSES` of the largest part."""
        return np.asarray(np.argmax(np.stack([self.parts[name] for name in CAUSES]), axis=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Phases:
    """Maps for two strengths of noise and two numbers of models; degrees of freedom by regime."""

    sizes: FloatArray  # of N and of P
    maps: tuple[PhaseMap, ...]
    limits: dict[str, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class PhaseSettings(LawSettings):
    """The settings of the figure."""

    capacity: float = setting(2.5, glossary.CAPACITY)
    source: float = setting(0.6, glossary.SOURCE)
    noise: float = setting(1e-3, glossary.NOISE)
    gram_ridge: float = setting(1e-8, glossary.GRAM_RIDGE)
    size_range: GridBounds = setting((1e2, 1e12, 81), "N, P", f"samples and features: {RANGE}")


def phases_data(settings: PhaseSettings) -> Phases:
    """Return the parts over N and P, with noise and without, for K = 1 and K → ∞.

    >>> data = phases_data(PhaseSettings(size_range=(1e3, 1e9, 2)))
    >>> [[CAUSES[k] for k in row] for row in data.maps[0].dominant]
    [['noise', 'initialization'], ['noise', 'noise']]
    """
    sizes = log_grid(settings.size_range, "size_range")
    maps = []
    for noise in (settings.noise, 0.0):
        problem = settings.at(sizes[:, None], sizes, gram_ridge=settings.gram_ridge, noise=noise)
        for members in _MEMBERS:
            error = exact_error(problem, members)
            parts = {name: np.asarray(getattr(error, name)) for name in CAUSES}
            maps.append(PhaseMap(noise=noise, n_members=members, parts=parts))
    limits = {name: one.degrees for name, one in regimes(problem, 1.0, best=False).items()}
    return Phases(sizes=sizes, maps=tuple(maps), limits=limits)


def table(data: Phases) -> PanelTable:
    """Return the numbers drawn: the parts for each N and P of each map."""
    axes = {"n_features": data.sizes[:, None], "n_samples": data.sizes}
    return PanelTable.stack(
        *({"noise_sd": m.noise, "n_members": m.n_members, **axes, **m.parts} for m in data.maps)
    )


def draw(axes: "drawing.Axes", data: Phases, one: PhaseMap) -> None:
    """Draw one map on the given axes: an area for each cause, lines between regimes."""
    x = data.sizes
    logs = {name: np.log(np.maximum(part, 1e-300)) for name, part in one.parts.items()}
    for k, name in enumerate(CAUSES):
        color = drawing.shades("#ffffff", COLORS["light"][name], 101)[round(100 * _PALE)]
        look = {"facecolor": color, "hatch": HATCHES[name], "edgecolor": COLORS["light"][name]}
        drawing.legend_area(axes, PART_WORDS[name].label, **look, linewidth=0.0)
        if not np.any(one.dominant == k):
            continue
        # the lead of a cause, in decades, is positive where it dominates
        lead = logs[name] - np.max([logs[n] for n in CAUSES if n != name], axis=0)
        lead = np.clip(lead, -1e3, 1e3)
        area = axes.contourf(
            x, x, lead, levels=[0, np.inf], colors=[color], hatches=[HATCHES[name]], zorder=0
        )
        area.set_edgecolor(COLORS["light"][name])
        area.set_linewidth(0.0)
    _regimes(axes, data)
    axes.grid(visible=False)
    drawing.log_axes(axes, x, xlabel="Samples, $N$", ylabel="Features, $P$")
    axes.set_ylim(float(x.min()), float(x.max()))
    noise = rf"$\tau={one.noise:g}$" if one.noise else "no label noise"
    axes.set_title(f"{drawing.members_label(one.n_members)}, {noise}", loc="right")


def _regimes(axes: "drawing.Axes", data: Phases) -> None:
    """The lines at which the least of the degrees of freedom changes, and names between them."""
    x = data.sizes
    z = np.log(np.stack([np.broadcast_to(v, (x.size, x.size)) for v in data.limits.values()]))
    least = np.argmin(z, axis=0)
    for k, name in enumerate(data.limits):
        others = np.min(np.delete(z, k, axis=0), axis=0)
        axes.contour(x, x, z[k] - others, levels=[0.0], colors="#000000", linewidths=1.6)
        if np.any(least == k):
            rows, columns = np.nonzero(least == k)
            middle = [float(np.exp(np.log(x[i]).mean())) for i in (columns, rows)]
            axes.text(
                middle[0],
                middle[1],
                name,
                ha="center",
                va="center",
                zorder=4,
                bbox=drawing.WHITE_BOX,
            )
    drawing.legend_line(axes, "What limits the fit changes", color="#000000", linewidth=1.6)


def plot(data: Phases) -> "drawing.Figure":
    """Draw the figure: with noise above, without below."""
    with drawing.new_figure(height=6.6) as figure:
        grid = figure.subplots(2, len(_MEMBERS), sharex=True, sharey=True)
        for axes, one in zip(grid.ravel(), data.maps, strict=True):
            draw(axes, data, one)
            axes.label_outer()
        drawing.letters(list(grid.ravel()))
        drawing.figure_legend(figure, title="Largest part of the test error", ncols=5, narrow=0.6)
    return figure


FIGURE = FigureSpec(
    name="phases",
    title="Which cause dominates at which scale",
    caption=(
        "The part of the test error that is largest, over the numbers of samples N and features "
        "P, for power-law data (capacity α = 2.5, source r = 0.6) at a fixed ridge δ = 10⁻⁸ on "
        "the Gram matrix; for one model (left) and infinitely many (right), with little label "
        "noise (above) and without (below). Black lines divide the regimes: what limits the "
        "degrees of freedom of the fit, which are the least of N, P and (N/δ)^(1/α) up to a "
        "constant.\n"
        "With label noise, however small, noise dominates at large sizes, unless the samples are "
        "many more than the features: then it is initialization, and for infinitely many models "
        "bias. Averaging removes initialization. Without noise the areas follow the regimes for "
        "infinitely many models: sampling where samples limit the fit, bias elsewhere. Sampling "
        "is α - 1 times the bias there, so that for α < 2 bias would dominate. For one model "
        "initialization dominates up to P ~ N^1.5 where samples limit the fit, and P ~ N^0.6 "
        "where the ridge does; averaging helps below these lines."
    ),
    alt=(
        "Four maps over samples and features from 10² to 10¹², with areas coloured and hatched by "
        "the dominating cause and lines that meet in one point and separate three regimes: "
        "samples (upper left), features (below), ridge (upper right). With noise: noise nearly "
        "everywhere, initialization (one model) or bias (infinitely many) at the lower right. "
        "Without noise: one model, initialization below a rising line, sampling at the upper left "
        "and bias above; infinitely many, sampling at the upper left and bias elsewhere."
    ),
    settings=PhaseSettings(),
    data=phases_data,
    plot=plot,
    table=table,
    presets={"paper": {"size_range": (1e2, 1e12, 161)}},
)
