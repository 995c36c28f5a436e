r"""Where averaging infinitely many models loses to choosing the penalty of a single one.

[dascoli2020] Sec. 5 says that K → ∞ models with next to no penalty are always better than one model
with the best penalty. It is so at F/τ = 10, where the paper looks, but not for noisy labels. One
model with infinitely many features has the best penalty zero if F²/τ² > μ₁²/μ⋆², and then equals
the ensemble; below that ratio it is better than the ensemble.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.activations import activation as find_activation
from doubletrouble.figures import drawing
from doubletrouble.figures.ratios import spaced
from doubletrouble.figures.spec import FigureSpec, Table
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, optimal_ridge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Purple where the ensemble is better, orange where it is worse; pale, for labels to be read.
_COLORS = (
    "#7a6bb0", "#8f82bf", "#a399cb", "#b6afd7", "#c9c4e2", "#dbd8ec", "#eeecf6",
    "#fff4e6", "#fee3c3", "#fdcf9b", "#f9b871", "#efa04c", "#e08a2e",
)  # fmt: skip
_GAINS_AT, _LOSSES_AT = (3.2, 4.2), 35.0  # the F/τ, in turn, and the P/N where contours are named
LEVELS = (-0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """Test errors over P/N (columns) and F/τ (rows)."""

    ratios: FloatArray
    snrs: FloatArray
    ensemble: FloatArray  # K → ∞ at the small penalty
    single: FloatArray  # K = 1 at its best penalty
    threshold: float  # the F/τ at which both are equal for P/N → ∞ and λ → 0

    @property
    def excess(self) -> FloatArray:
        """How much worse the ensemble is, relative to the single model; negative: better."""
        return self.ensemble / self.single - 1


def map_data(
    *,
    ratio_range: tuple[float, float, int] = (0.1, 100.0, 121),
    snr_range: tuple[float, float, int] = (0.3, 10.0, 81),
    samples_per_dim: float = 1.0,
    ridge: float = 0.0,
    activation: str = "relu",
) -> Map:
    """Return both test errors over P/N and F/τ, each from, to, and how many values.

    >>> found = map_data(ratio_range=(10, 10, 1), snr_range=(1, 10, 2))
    >>> [round(float(v), 4) for v in (*found.ensemble[:, 0], *found.single[:, 0])]
    [0.727, 0.293, 0.6661, 0.3438]
    """
    ratios, snrs = spaced(ratio_range, "ratio_range"), spaced(snr_range, "snr_range")
    problem = Problem(
        features_per_dim=ratios * samples_per_dim, samples_per_dim=samples_per_dim, ridge=ridge,
        noise=1 / snrs[:, None], activation=activation,
    )  # fmt: skip
    sigma = find_activation(activation)
    nonlinear = sigma.nonlinear
    return Map(
        ratios=ratios,
        snrs=snrs,
        ensemble=np.asarray(exact_error(problem, np.inf).total),
        single=np.asarray(optimal_ridge(problem).error.total),
        threshold=abs(sigma.linear) / nonlinear if nonlinear else np.inf,
    )


def table(data: Map) -> Table:
    """Return the numbers drawn: a row for each F/τ and P/N."""
    rows: list[tuple[float, ...]] = [
        (float(snr), float(x), float(data.ensemble[i, j]), float(data.single[i, j]))
        for i, snr in enumerate(data.snrs)
        for j, x in enumerate(data.ratios)
    ]
    return Table(("SNR", "P_over_N", "Kinf_small_ridge", "K1_best_ridge"), rows)


def draw(axes: "Axes", data: Map) -> None:
    """Draw the map on axes that the caller owns."""
    x, y, z = data.ratios, data.snrs, data.excess
    axes.contourf(x, y, z, levels=LEVELS, colors=_COLORS, extend="both", zorder=0)
    worse = axes.contourf(x, y, z, levels=[0, np.inf], colors="none", hatches=["//"], zorder=0)
    worse.set_edgecolor("#b07a3a")
    worse.set_linewidth(0.0)
    axes.contour(x, y, z, levels=LEVELS, colors="#444444", linewidths=0.6, zorder=1)
    axes.contour(x, y, z, levels=[0.0], colors="#000000", linewidths=2.2, zorder=2)
    for level, place in label_places(data).items():
        axes.text(
            *place, _percent(level), ha="center", va="center", fontsize=9, zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    axes.grid(visible=False)
    drawing.log_axes(axes, [x], ylabel=r"Signal-to-noise ratio, $F/\tau$")
    axes.set_ylim(y.min(), y.max())
    drawing.threshold(axes)
    if y.min() < data.threshold < y.max():
        axes.axhline(data.threshold, color="#000000", linewidth=1.0, linestyle=(0, (1, 1.5)))
        axes.annotate(
            r"$F/\tau=\mu_1/\mu_{\!\star}$", (1.0, data.threshold), (5, 0),
            xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
            ha="left", annotation_clip=False,
        )  # fmt: skip
    for height, words in ((0.93, "Ensemble better"), (0.07, "Best penalty better")):
        axes.text(
            0.6, height, words, transform=axes.transAxes, ha="center", va="center", fontsize=11,
            bbox={"facecolor": "white", "edgecolor": "#444444", "linewidth": 0.5, "pad": 3.0},
        )  # fmt: skip


def label_places(data: Map) -> dict[float, tuple[float, float]]:
    """Where to name contours: gains to the right of P = N at one F/τ, losses at one P/N."""
    at = int(np.argmin(np.abs(np.log(data.ratios / _LOSSES_AT))))
    right = data.ratios >= 1
    places = {}
    for i, level in enumerate(LEVELS):
        if level < 0:
            row = int(np.argmin(np.abs(np.log(data.snrs / _GAINS_AT[i % 2]))))
            x = _crossing(data.ratios[right], data.excess[row, right], level)
            y: float | None = float(data.snrs[row])
        else:
            x, y = float(data.ratios[at]), _crossing(data.snrs, -data.excess[:, at], -level)
        if level and x is not None and y is not None:
            places[level] = (x, y)
    return places


def _crossing(axis: FloatArray, rising: FloatArray, level: float) -> float | None:
    """Where values that rise along a logarithmic axis pass a level, if they do."""
    if not rising.size or not rising[0] < level < rising[-1]:
        return None
    return float(np.exp(np.interp(level, rising, np.log(axis))))


def _percent(value: float) -> str:
    return f"{value:+.0%}".replace("-", "−").replace("%", " %")


def plot(data: Map) -> "Figure":
    """Make the whole figure."""
    with drawing.page(height=4.0) as figure:
        draw(figure.subplots(), data)
    return figure


def agrees(data: Map) -> tuple[str, ...]:
    """The paper's claim, in numbers."""
    worst = np.unravel_index(int(np.argmax(data.excess)), data.excess.shape)
    share = float(np.mean(data.excess > 0))
    return (
        "The paper's text says that infinitely many models always beat an optimally regularized "
        f"one. On this map they lose on {share:.0%} of the area, most at "
        f"P/N = {data.ratios[worst[1]]:.3g}, F/τ = {data.snrs[worst[0]]:.2g}: "
        f"{data.ensemble[worst]:.3g} against {data.single[worst]:.3g}.",
    )


FIGURE = FigureSpec(
    name="ensemble-or-regularize-map",
    title="When to average, and when to regularize",
    caption=(
        "Beyond the paper: the test error of infinitely many models without a penalty, relative "
        "to that of a single model with its best penalty, over the number of features and "
        "the signal-to-noise ratio. Numbers on the contours say how much higher (+) or lower (−) "
        "the error of the ensemble is. In the hatched region below the thick line "
        "the single model is better.\n"
        "With clean labels averaging wins everywhere, as the paper has it for F/τ = 10. With noisy "
        "labels an unregularized ensemble keeps fitting the noise in the data that all its "
        "members share, and a penalty does what averaging cannot. For many features the border "
        "tends to F/τ = μ₁/μ⋆ (dotted), whatever the number of samples."
    ),
    alt=(
        "Map over features per sample P/N and signal-to-noise ratio, logarithmic axes, with "
        "labelled contours. Above a border the ensemble has the lower error, down to 60 % lower "
        "near P = N at high signal-to-noise ratio; below it, hatched, the regularized model has. "
        "The border is low for few features and rises to 1.66 for many."
    ),
    data=map_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={
        "laptop": {"ratio_range": (0.1, 100.0, 91), "snr_range": (0.3, 10.0, 61)},
        "paper": {"ratio_range": (0.1, 100.0, 241), "snr_range": (0.3, 10.0, 161)},
    },
)
