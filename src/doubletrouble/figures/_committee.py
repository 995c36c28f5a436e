r"""A committee of models with different numbers of features: its best weights, and its test error.

All members have the same samples and independent features; the best weights follow from the mean
products of errors of every two members (`theory.committee`). Every product is a signal part plus a
noise part, so that one simulation gives every signal-to-noise ratio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.estimates import Estimate
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, PanelTable, Points, log_grid, number_list
from doubletrouble.figures._settings import RANGE, DrawSettings, GridBounds, setting
from doubletrouble.figures._simulated import MORE_DRAWS, computed
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Member, Problem, noise_at
from doubletrouble.runs import Cell, Record
from doubletrouble.simulation import CommitteeSimulation, simulate
from doubletrouble.theory import committee

_REVISION = 2  # of the stored simulations; increased when `simulate` draws otherwise
GAINS = {"equal": "Equal weights", "single": "Best member", "optimal": "Best weights"}


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitteeWeights:
    """The best weights against P/N, a line for each F/τ or each ridge."""

    ratios: FloatArray
    by_snr: Mapping[float, FloatArray]  # at the first ridge
    by_ridge: Mapping[float, FloatArray]  # at the first F/τ
    gain: Panel  # test errors along F/τ, at the ridge of the gain


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitteeSettings(DrawSettings):
    """The settings of the figure."""

    member_ratios: Sequence[float] = setting(
        (0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0), "P/N", "of the members"
    )
    snrs: Sequence[float] = setting((1.0, 2.0, 10.0), glossary.SNR)
    ridges: Sequence[float] = setting((0.0, 1e-2, 1e-1), glossary.RIDGE)
    gain_ridge: float = setting(1e-3, "λ", "ridge of the third panel")
    snr_range: GridBounds = setting((0.5, 10.0, 61), "F/τ", f"signal-to-noise ratio: {RANGE}")
    samples_per_dim: float = setting(1.0, glossary.SAMPLES_PER_DIM)
    activation: str = setting("relu", "σ", "activation function")


def committee_data(settings: CommitteeSettings) -> CommitteeWeights:
    """Return the best weight of the member at every P/N, and test errors along F/τ.

    >>> sizes = CommitteeSettings(member_ratios=(0.5, 1.0, 2.0), dim=20, n_data=2)
    >>> committee_data(sizes).by_snr[1.0].round(3)
    array([0.474, 0.   , 0.526])
    """
    sizes = np.array(number_list("member_ratios", settings.member_ratios))
    snrs, ridges = number_list("snrs", settings.snrs), number_list("ridges", settings.ridges)
    shared: dict[str, Any]
    shared = {name: getattr(settings, name) for name in ("samples_per_dim", "activation")}

    def members_at(ridge: float) -> list[Member]:
        features_per_dim = sizes * settings.samples_per_dim
        return [
            Member(features_per_dim=float(size), ridge=ridge, **shared) for size in features_per_dim
        ]

    def weights(ridge: float, snr: float) -> FloatArray:
        return committee(members_at(ridge), weights="optimal", noise=noise_at(snr, 1.0)).weights

    along = log_grid(settings.snr_range, "snr_range")
    members = members_at(settings.gain_ridge)
    return CommitteeWeights(
        ratios=sizes,
        by_snr={snr: weights(ridges[0], snr) for snr in snrs},
        by_ridge={ridge: weights(ridge, snrs[0]) for ridge in ridges},
        gain=Panel(
            axis="snr",
            problem=Problem(ridge=settings.gain_ridge, noise=1 / along, **shared),
            lines=tuple(Line(k, along, y) for k, y in errors(members, along).items()),
            points=_simulated(members, np.array(snrs), settings),
        ),
    )


class Weighting(NamedTuple):
    """Weights of the members, and the test error of the committee."""

    weights: FloatArray
    total: float  # test error


def weightings(members: Sequence[Member], snr: float) -> dict[str, Weighting]:
    """Equal weights, the best member alone and the best weights, at one F/τ."""
    best = committee(members, weights="optimal", noise=noise_at(snr, 1.0))
    count, single = len(members), int(np.argmin(np.diag(best.pair_errors)))
    return {
        "equal": Weighting(np.full(count, 1 / count), float(np.mean(best.pair_errors))),
        "single": Weighting(np.eye(count)[single], float(best.pair_errors[single, single])),
        "optimal": Weighting(best.weights, float(best.error.total)),
    }


def errors(members: Sequence[Member], snrs: FloatArray) -> dict[str, FloatArray]:
    """The test error of equal weights, of the best member and of the best weights, along F/τ."""
    along = [weightings(members, snr) for snr in snrs]
    return {label: np.array([one[label].total for one in along]) for label in GAINS}


def _simulated(
    members: Sequence[Member], snrs: FloatArray, settings: DrawSettings
) -> tuple[Points, ...]:
    """Every error as simulated at D and at D/2, with the weights of the theory."""
    dim, n_data = settings.dim, settings.n_data
    chosen = [weightings(members, snr) for snr in snrs]
    smaller = replace(settings, dim=dim // 2, n_data=MORE_DRAWS * n_data)
    whole, half = (_along(members, snrs, size) for size in (settings, smaller))
    points = []
    for label in GAINS:
        theory = Line(label, snrs, np.array([one[label].total for one in chosen]))
        at, at_half = (_measured(runs, chosen, label) for runs in (whole, half))
        points.append(Points.extrapolated(theory, at, at_half, dim=dim, n_data=n_data))
    return tuple(points)


def _along(
    members: Sequence[Member], snrs: FloatArray, settings: DrawSettings
) -> list[CommitteeSimulation]:
    """The committee at every F/τ: no term of the simulation depends on it."""
    run = _run(members, settings)
    return [replace(run, noise=noise_at(snr, 1.0)) for snr in snrs]


def _run(members: Sequence[Member], settings: DrawSettings) -> CommitteeSimulation:
    """Simulate a committee, or read a finished simulation from the store."""
    how: dict[str, Any] = {name: getattr(settings, name) for name in ("dim", "n_data", "seed")}
    if not all(isinstance(member.activation, str) for member in members):
        # a function as activation has no key in a store
        return simulate(members, progress=False, **how)
    parameters = {"members": [asdict(member) for member in members], **how}
    record = computed(Cell.of("committee", _REVISION, parameters), _simulate, settings.store)
    realized = tuple(Member(**member) for member in record["members"])
    return CommitteeSimulation(**{**record, "members": realized})


def _simulate(parameters: Record) -> Record:
    how = dict(parameters)
    members = [Member(**member) for member in how.pop("members")]
    return asdict(simulate(members, progress=False, **how))


def _measured(
    runs: Sequence[CommitteeSimulation], chosen: Sequence[Mapping[str, Weighting]], label: str
) -> Estimate:
    """The error with one choice of weights at every F/τ."""
    totals = [run.error(by[label].weights).total for run, by in zip(runs, chosen, strict=True)]
    return Estimate(
        value=np.array([t.value for t in totals]),
        standard_error=np.array([t.standard_error for t in totals]),
        n_draws=totals[0].n_draws,
    )


def table(data: CommitteeWeights) -> PanelTable:
    """Return the numbers drawn: weights of every member, then errors along F/τ."""
    weights = {
        "features_per_sample": data.ratios,
        **{f"weight_at_snr_{snr:g}": line for snr, line in data.by_snr.items()},
        **{f"weight_at_ridge_{ridge:g}": line for ridge, line in data.by_ridge.items()},
    }
    return PanelTable.stack(weights, *data.gain.blocks)


def draw_weights(
    axes: "drawing.Axes", ratios: FloatArray, lines: Mapping[float, FloatArray], title: str
) -> None:
    """Draw weights against P/N on the given axes; ticks on the zero line are the members."""
    axes.axhline(0.0, color="#000000", linewidth=0.8, zorder=1)
    for (value, weights), stroke in zip(lines.items(), drawing.strokes(), strict=False):
        axes.plot(ratios, weights, label=f"${drawing.scientific(value)}$", **stroke.line)
    axes.vlines(ratios, -0.012, 0.012, color="#000000", linewidth=0.8, zorder=1)
    drawing.log_axes(axes, ratios, ylabel="Best weight", room=1.1)
    axes.set_yscale("linear")
    drawing.threshold(axes)
    axes.legend(
        title=title, loc="upper left", borderaxespad=0.2, handlelength=2.0, labelspacing=0.3
    )


def draw_gain(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw test errors along F/τ on the given axes."""
    drawing.log_axes(axes, panel.x, xlabel=r"Signal-to-noise ratio, $F/\tau$", room=1.06)
    using = (drawing.SERIES[1], drawing.SERIES[4], drawing.SERIES[0])
    drawing.curves(axes, panel, drawing.labelled(GAINS, using))
    axes.set_ylim(top=3 * max(float(line.y.max()) for line in panel.lines))  # for the legend
    axes.legend(loc="upper right", borderaxespad=0.2, handlelength=2.2, labelspacing=0.3)


def plot(data: CommitteeWeights) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.2) as figure:
        row = figure.subplots(1, 3, width_ratios=(1, 1, 1.03))
        draw_weights(row[0], data.ratios, data.by_snr, r"$F/\tau$")
        draw_weights(row[1], data.ratios, data.by_ridge, r"$\lambda$")
        draw_gain(row[2], data.gain)
        row[1].sharey(row[0])
        row[1].set_ylabel("")
        row[1].tick_params(labelleft=False)
        drawing.letters(row)
        ridge, snr = next(iter(data.by_ridge)), next(iter(data.by_snr))
        dim = data.gain.points[0].dim
        headings = (
            rf"\lambda={drawing.scientific(ridge)}",
            rf"F/\tau={drawing.scientific(snr)}",
            rf"\lambda={drawing.scientific(data.gain.constant('ridge'))},\ D={dim}",
        )
        for axes, heading in zip(row, headings, strict=True):
            axes.set_title(f"${heading}$", loc="right")
    return figure


def comparisons(data: CommitteeWeights) -> tuple[agreement.Agreement, ...]:
    """Theory and simulation."""
    return agreement.with_simulation(data.gain.points)


FIGURE = FigureSpec(
    name="committee",
    title="The best weights of a committee of unequal models",
    caption=(
        "Nine models with P from N/5 to 5N features, trained on the same data with independent "
        "features, and averaged with the weights that minimize the test error. (a) Without a "
        "penalty, the model with as many features as samples has weight zero, for every noise, and "
        "its neighbours have small weights. With clean labels the wide models have most of the "
        "weight, and the narrowest have negative weights, since their errors are correlated with "
        "those of the wide ones and larger. With noisy labels narrow models have positive weights: "
        "they are regularized by their small number of features. (b) With a penalty, the weight at "
        "P = N increases and that of the narrow models decreases.\n"
        "(c) The best weights are better than equal weights and than the best member at every "
        "signal-to-noise ratio drawn; with clean labels equal weights are worse than the best "
        "member. Lines: exact theory; in (a, b) they connect the members, marked by ticks on the "
        "zero line. Markers: simulation of random features at finite size, with bars of two "
        "standard errors."
    ),
    alt=(
        "Two panels of weights against features per sample P/N. Without a penalty all lines pass "
        "through zero at P = N; at signal-to-noise ratio 1 the narrowest model has 0.23 and the "
        "widest 0.28, at 10 they have -0.10 and 0.60. With a penalty the dip at P = N fills up. "
        "Third panel: test error against signal-to-noise ratio; best weights lie lowest, from 1.3 "
        "to 0.35; equal weights end at 0.50 and the best member at 0.41."
    ),
    settings=CommitteeSettings(dim=60, n_data=6),
    data=committee_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"dim": 200, "n_data": 20, "snr_range": (0.5, 10.0, 121)}},
)
