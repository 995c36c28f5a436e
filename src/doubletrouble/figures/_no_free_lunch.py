r"""K models of P features against one model of K P features: the ratio of their test errors.

At the best ridge of each, the single model is better on any data ("no free lunch", [ruben2025]); at
a fixed small ridge it need not be. The statement is counted on random spectra, along the steps in
which K doubles and K P does not change.
"""

from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Ensemble
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable, log_grid
from doubletrouble.figures._settings import RANGE, GridBounds, LawSettings, setting
from doubletrouble.palette import GREY, VERMILION
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import SpectralProblem
from doubletrouble.theory import exact_error, optimal_ridge

LEVELS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0, 20.0)
_LABELLED = (0.5, 2.0, 5.0, 10.0)
_COLORS = [*drawing.shades("#7a6bb0", "#eeecf6", 5), *drawing.shades("#fff4e6", "#e08a2e", 6)]
_HATCH = "#6a5aa8"
_FEW = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0])
_ALL = np.arange(1.0, 65.0)
_LABELS_AT = {False: 4.0, True: 40.0}  # K of the labels of ratios below and above 1
_RATIO = "Error relative to one model"
_TITLE = "Error of $K$ models of $P$ features relative to that of one model of $KP$"
_DOUBLED: FloatArray = np.array([2.0**k for k in range(10)])
_ROUNDING = 1e-9  # relative difference of errors that count as equal


@dataclass(frozen=True, kw_only=True, eq=False)
class RatioMap:
    """The error of K models of P features over that of one of K P; over K P/N (columns) and K."""

    totals: FloatArray  # K P/N
    n_members: FloatArray
    ratio: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomSpectra:
    """Ratios along K = 1, 2, 4, ... at constant K P: a row for each spectrum."""

    n_members: FloatArray
    best: FloatArray  # at the best ridge of each
    fixed: FloatArray  # at the small ridge

    @property
    def worse_steps(self) -> int:
        """Steps of doubling K that do not reduce the error at the best ridge."""
        return int(np.count_nonzero(np.diff(self.best) >= -_ROUNDING * self.best[:, 1:]))

    @property
    def steps(self) -> int:
        """All steps."""
        return int(self.best.size - self.best.shape[0])

    @property
    def better_ensembles(self) -> int:
        """Spectra for which some K > 1 is better than one model at the small ridge."""
        return int(np.count_nonzero(self.fixed.min(axis=1) < 1 - _ROUNDING))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoFreeLunch:
    """Maps at the best ridge and at a small one, and random spectra."""

    best: RatioMap
    fixed: RatioMap
    gram_ridge: float  # of the map
    spectra: RandomSpectra


@dataclass(frozen=True, kw_only=True, eq=False)
class LunchSettings(LawSettings):
    """The settings of the figure."""

    n_samples: float = setting(100.0, glossary.N_SAMPLES)
    gram_ridge: float = setting(1e-2, glossary.GRAM_RIDGE)
    total_range: GridBounds = setting((0.1, 100.0, 121), "KP/N", f"all features: {RANGE}")
    best_range: GridBounds = setting(
        (0.1, 100.0, 21), "KP/N", f"all features, at the best ridge: {RANGE}"
    )
    n_spectra: int = setting(20, "spectra", "random spectra")
    relative_ridge: float = setting(
        1e-4, "δ/Tr", "small ridge of random spectra, per weight of the kernel"
    )
    seed: int = setting(0, "seed", "of the random spectra")


def lunch_data(settings: LunchSettings) -> NoFreeLunch:
    """Return the ratios at the best ridge and at a small one, and those of random spectra.

    >>> data = lunch_data(LunchSettings(best_range=(1, 1, 1), total_range=(1, 1, 1), n_spectra=3))
    >>> data.spectra.worse_steps, data.spectra.steps, bool(data.best.ratio.min() >= 1)
    (27, 27, True)
    """
    return NoFreeLunch(
        best=_map(settings, log_grid(settings.best_range, "best_range"), _FEW, best=True),
        fixed=_map(settings, log_grid(settings.total_range, "total_range"), _ALL, best=False),
        gram_ridge=settings.gram_ridge,
        spectra=random_spectra(settings.n_spectra, settings.relative_ridge, settings.seed),
    )


def _map(
    settings: LunchSettings, totals: FloatArray, members: FloatArray, *, best: bool
) -> RatioMap:
    K, N = members[:, None], settings.n_samples
    problem = settings.at(totals * N / K, N, gram_ridge=settings.gram_ridge)
    error = _totals(problem, Ensemble(K), best=best)
    return RatioMap(totals=totals, n_members=members, ratio=error / error[0])


def random_spectra(count: int, relative_ridge: float, seed: int) -> RandomSpectra:
    """Ratios for random eigenvalues, targets, sizes and noise."""
    best: list[FloatArray] = []
    fixed: list[FloatArray] = []
    ensemble = Ensemble(_DOUBLED)
    for rng in np.random.default_rng(seed).spawn(count):
        eigenvalues = 10.0 ** -rng.uniform(0, 4, 40)
        powers = eigenvalues * rng.exponential(size=40)
        samples = 10.0 ** rng.uniform(1.0, 2.5)
        problem = SpectralProblem(
            eigenvalues=eigenvalues,
            target_powers=powers,
            n_features=samples * 10.0 ** rng.uniform(-0.5, 1.5) / _DOUBLED,
            n_samples=samples,
            noise=0.5 * rng.uniform() * np.sqrt(powers.sum()),
        )
        problem = replace(problem, gram_ridge=relative_ridge * eigenvalues.sum())
        for rows, at_best in ((best, True), (fixed, False)):
            error = _totals(problem, ensemble, best=at_best)
            rows.append(error / error[0])
    return RandomSpectra(n_members=_DOUBLED, best=np.array(best), fixed=np.array(fixed))


def _totals(problem: SpectralProblem, ensemble: Ensemble, *, best: bool) -> FloatArray:
    error = optimal_ridge(problem, ensemble).error if best else exact_error(problem, ensemble)
    return np.asarray(error.total)


def table(data: NoFreeLunch) -> PanelTable:
    """Return the numbers drawn: both maps, then the random spectra."""
    maps = [
        {
            "best_ridge": float(best),
            "total_features_per_sample": one.totals,
            "n_members": one.n_members[:, None],
            "ratio": one.ratio,
        }
        for best, one in ((True, data.best), (False, data.fixed))
    ]
    spectra = [
        {
            "best_ridge": float(best),
            "spectrum": np.arange(len(ratio))[:, None],
            "n_members": data.spectra.n_members,
            "ratio": ratio,
        }
        for best, ratio in ((True, data.spectra.best), (False, data.spectra.fixed))
    ]
    return PanelTable.stack(*maps, *spectra)


def draw_map(axes: "drawing.Axes", one: RatioMap) -> None:
    """Draw a map of ratios on the given axes."""
    x, y, z = one.totals, one.n_members[1:], one.ratio[1:]  # the ratio of one model is 1
    axes.contourf(x, y, z, levels=LEVELS, colors=_COLORS, extend="both", zorder=0)
    if np.any(z < 1 - _ROUNDING):
        better = axes.contourf(x, y, z, levels=[0, 1], colors="none", hatches=["//"], zorder=0)
        better.set_edgecolor(_HATCH)
        better.set_linewidth(0.0)
        axes.contour(x, y, z, levels=[1.0], colors="#000000", linewidths=2.0, zorder=2)
    lines = [level for level in LEVELS if level != 1]
    axes.contour(x, y, z, levels=lines, colors=drawing.INK, linewidths=0.7, zorder=1)
    drawing.contour_labels(axes, label_positions(one))
    drawing.legend_line(axes, "Contours: equal ratio", color=drawing.INK, linewidth=0.7)
    drawing.legend_area(axes, "One model better", facecolor=_COLORS[-3])
    look = {"facecolor": _COLORS[2], "hatch": "//", "edgecolor": _HATCH, "linewidth": 0.0}
    drawing.legend_area(axes, "Ensemble better", **look)
    drawing.log_axes(axes, x, xlabel="All features per sample, $KP/N$", ylabel="Models, $K$")
    axes.set_ylim(float(y.min()), float(y.max()))
    axes.grid(visible=False)


def label_positions(one: RatioMap) -> list[tuple[float, float | None, float | None]]:
    """The levels that are labelled, with the K P/N and K of their labels."""
    found: list[tuple[float, float | None, float | None]] = []
    for level in _LABELLED:
        k = int(np.argmin(np.abs(one.n_members - _LABELS_AT[level > 1])))
        x = drawing.crossing(one.totals, one.ratio[k], level)
        found.append((level, x, float(one.n_members[k])))
    return found


def draw_spectra(axes: "drawing.Axes", spectra: RandomSpectra, *, best: bool) -> None:
    """Draw the ratio along K for every random spectrum on the given axes."""
    for ratio in spectra.best if best else spectra.fixed:
        better = ratio.min() < 1 - _ROUNDING
        color, width = (VERMILION, 1.2) if better else (GREY, 0.9)
        axes.plot(spectra.n_members, ratio, color=color, linewidth=width, zorder=2)
    axes.axhline(1.0, color="#000000", linewidth=1.0)
    drawing.log_axes(axes, spectra.n_members, xlabel="Models, $K$, at equal $KP$", ylabel=_RATIO)
    axes.set_ylim(*drawing.log_range([spectra.best.ravel(), spectra.fixed.ravel()]))
    count = spectra.steps if best else len(spectra.fixed)
    text = (
        f"worse in {spectra.worse_steps} of {count} steps"
        if best
        else f"some $K>1$ better for {spectra.better_ensembles} of {count}"
    )
    axes.annotate(text, (0.04, 0.95), xycoords="axes fraction", va="top", bbox=drawing.WHITE_BOX)
    drawing.legend_line(axes, "Random spectrum", color=GREY, linewidth=0.9)
    drawing.legend_line(axes, "Some ensemble better", color=VERMILION, linewidth=1.2)


def plot(data: NoFreeLunch) -> "drawing.Figure":
    """Draw the figure: maps above, random spectra below."""
    with drawing.new_figure(height=6.2) as figure:
        grid = figure.subplots(2, 2, sharey="row")
        draw_map(grid[0, 0], data.best)
        draw_map(grid[0, 1], data.fixed)
        draw_spectra(grid[1, 0], data.spectra, best=True)
        draw_spectra(grid[1, 1], data.spectra, best=False)
        for row in grid:
            row[0].set_title("best ridge of each", loc="right")
            row[1].set_ylabel("")
        ridge = rf"$\delta={drawing.scientific(data.gram_ridge)}$"
        grid[0, 1].set_title(f"fixed ridge, {ridge}", loc="right")
        grid[1, 1].set_title("fixed small ridge", loc="right")
        drawing.letters(list(grid.ravel()))
        drawing.figure_legend(figure, title=_TITLE, ncols=3)
    return figure


def comparisons(data: NoFreeLunch) -> tuple[Agreement, ...]:
    """Decreases of the error at the best ridge as models of equal K P become more."""
    drops = np.concatenate([1 - data.best.ratio.ravel(), 1 - data.spectra.best.ravel()])
    statement = "Errors of ensembles below that of one model of equal size, at the best ridges"
    return (Agreement.of(statement, drops),)


FIGURE = FigureSpec(
    name="no-free-lunch",
    title="One large model or several small ones",
    caption=(
        "The test error of K averaged models of P features each, relative to that of one model of "
        "K P features. (a) Each at its best ridge, on power-law data (α = 1.5, r = 0.8, τ = 0.1, "
        "N = 100): the ensemble is never better, and up to 33 times worse. (b) Both at the fixed "
        "ridge δ = 0.01: in the hatched region the ensemble is better, by up to 64% at K P = N, "
        "where the single model has its peak, along a band in which each model has fewer features "
        "than samples and the single one has more, and for very many features, by 1% at most.\n"
        "(c, d) The same for 20 random spectra of 40 modes, with random targets, sizes and noise, "
        "along steps in which K doubles and K P stays equal. At the best ridge, no step reduces "
        "the error: 180 of 180. At a ridge of 10⁻⁴ of the kernel's weight, some ensemble is "
        "better than the single model for 18 of 20 (coloured). Averaging replaces a ridge that is "
        "too small; it does not replace features."
    ),
    alt=(
        "Two maps over all features per sample and number of models, and two panels of the ratio "
        "of errors against the number of models. At the best ridge the ratio is at least 1 "
        "everywhere, up to 33 for many models of few features. At the fixed ridge a hatched "
        "region below 1 starts at K P = N, with 0.36 at K = 3, and continues as a band to more "
        "models and features. Random spectra: at the best ridge all 20 curves rise; at a small "
        "ridge 18 of 20 fall below 1 first."
    ),
    settings=LunchSettings(),
    data=lunch_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={
        "laptop": {"best_range": (0.1, 100.0, 16)},
        "paper": {"total_range": (0.1, 100.0, 241), "best_range": (0.1, 100.0, 61)},
    },
)
