r"""A committee of models of different width: whom to trust, and what it brings.

All members see the same samples, with features of their own; the best weights come from the
products of errors of every two members (`theory._committee`). Every product is a part of the signal
plus a part of the label noise, so that one simulation without noise and one of noise alone serve
every signal-to-noise ratio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from doubletrouble.figures import agreement, drawing, style
from doubletrouble.figures.panel import Panel
from doubletrouble.figures.panel import table as panel_table
from doubletrouble.figures.ratios import noise_at, numbers, spaced
from doubletrouble.figures.simulated import MORE_DRAWS, Points
from doubletrouble.figures.spec import FigureSpec, Line, Table
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Member, Problem
from doubletrouble.simulation import CommitteeSimulation, simulate_committee
from doubletrouble.theory import committee

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAINS = {
    "equal": "Equal weights",
    "single": "Best member",
    "optimal": "Best weights",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitteeWeights:
    """The best weights against P/N, a line for each F/τ or each penalty."""

    widths: FloatArray
    by_snr: Mapping[float, FloatArray]  # at the first penalty
    by_ridge: Mapping[float, FloatArray]  # at the first F/τ
    gain: Panel  # test errors along F/τ, at the penalty of the gain


def committee_data(
    *,
    member_ratios: Sequence[float] = (0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0),
    snrs: Sequence[float] = (1.0, 2.0, 10.0),
    ridges: Sequence[float] = (0.0, 1e-2, 1e-1),
    gain_ridge: float = 1e-3,
    snr_range: tuple[float, float, int] = (0.5, 10.0, 61),
    samples_per_dim: float = 1.0,
    activation: str = "relu",
    dim: int = 60,
    n_data: int = 6,
    seed: int = 0,
) -> CommitteeWeights:
    """Return the best weights of members at every P/N, and what they bring along F/τ.

    >>> found = committee_data(
    ...     member_ratios=(0.5, 1.0, 2.0), snr_range=(1, 10, 2), dim=20, n_data=2
    ... )
    >>> found.by_snr[1.0].round(3)
    array([0.474, 0.   , 0.526])
    """
    sizes = np.array(numbers("member_ratios", member_ratios))
    ratios, penalties = numbers("snrs", snrs), numbers("ridges", ridges)
    shared: dict[str, Any] = {"samples_per_dim": samples_per_dim, "activation": activation}

    def team(ridge: float) -> list[Member]:
        return [Member(features_per_dim=w * samples_per_dim, ridge=ridge, **shared) for w in sizes]

    def weights(ridge: float, snr: float) -> FloatArray:
        return committee(team(ridge), weights="optimal", noise=noise_at(snr, 1.0)).weights

    along = spaced(snr_range, "snr_range")
    voters = team(gain_ridge)
    return CommitteeWeights(
        widths=sizes,
        by_snr={snr: weights(penalties[0], snr) for snr in ratios},
        by_ridge={ridge: weights(ridge, ratios[0]) for ridge in penalties},
        gain=Panel(
            axis="SNR", keys={}, problem=Problem(ridge=gain_ridge, noise=1 / along, **shared),
            lines=tuple(Line(k, along, y) for k, y in errors(voters, along).items()),
            points=_simulated(voters, np.array(ratios), dim=dim, n_data=n_data, seed=seed),
        ),
    )  # fmt: skip


class Vote(NamedTuple):
    """Weights of the members, and the test error of the committee."""

    weights: FloatArray
    total: float  # test error


def votes(team: Sequence[Member], snr: float) -> dict[str, Vote]:
    """Equal weights, the best member alone and the best weights, at one F/τ."""
    best = committee(team, weights="optimal", noise=noise_at(snr, 1.0))
    count, alone = len(team), int(np.argmin(np.diag(best.pair_errors)))
    return dict(
        zip(
            GAINS,
            (
                Vote(np.full(count, 1 / count), float(np.mean(best.pair_errors))),
                Vote(np.eye(count)[alone], float(best.pair_errors[alone, alone])),
                Vote(best.weights, float(best.error.total)),
            ),
            strict=True,
        )
    )


def errors(team: Sequence[Member], snrs: FloatArray) -> dict[str, FloatArray]:
    """The test error of equal weights, of the best member and of the best weights, along F/τ."""
    found = [votes(team, snr) for snr in snrs]
    return {label: np.array([one[label].total for one in found]) for label in GAINS}


def _simulated(
    team: Sequence[Member], snrs: FloatArray, *, dim: int, n_data: int, seed: int
) -> tuple[Points, ...]:
    """Every error as simulated at D and at D/2, with the weights of the theory."""
    chosen = [votes(team, snr) for snr in snrs]
    whole, half = (
        _along(team, snrs, dim=size, n_data=draws, seed=seed)
        for size, draws in ((dim, n_data), (dim // 2, MORE_DRAWS * n_data))
    )
    points = []
    for label in GAINS:
        value, error = _measured(whole, chosen, label)
        other, other_error = _measured(half, chosen, label)
        points.append(
            Points(
                label=label, x=snrs, value=value, standard_error=error,
                theory=np.array([one[label].total for one in chosen]),
                limit=2 * value - other, limit_error=np.hypot(2 * error, other_error),
                dim=dim, n_data=n_data,
            )
        )  # fmt: skip
    return tuple(points)


def _along(
    team: Sequence[Member], snrs: FloatArray, *, dim: int, n_data: int, seed: int
) -> list[CommitteeSimulation]:
    """The team at every F/τ, of one simulation without noise and one of noise alone."""
    signal, noise = (
        simulate_committee(
            team, signal=F, noise=tau, dim=dim, n_data=n_data, seed=seed, progress=False
        )
        for F, tau in ((1.0, 0.0), (0.0, 1.0))
    )  # fmt: skip
    return [
        replace(signal, noise=noise_at(snr, 1.0), draws=signal.draws + noise.draws / snr**2)
        for snr in snrs
    ]


def _measured(
    runs: Sequence[CommitteeSimulation], chosen: Sequence[Mapping[str, Vote]], label: str
) -> tuple[FloatArray, FloatArray]:
    """The error of one way to vote at every F/τ, and its standard error."""
    found = [run.error(by[label].weights).total for run, by in zip(runs, chosen, strict=True)]
    return np.array([one.value for one in found]), np.array([one.standard_error for one in found])


def table(data: CommitteeWeights) -> Table:
    """Return the numbers drawn: weights of every member, then errors along F/τ."""
    columns, rows = panel_table(data.gain)
    names = (
        "P_over_N",
        *(f"weight_at_SNR_{snr:g}" for snr in data.by_snr),
        *(f"weight_at_ridge_{ridge:g}" for ridge in data.by_ridge),
    )
    lines = (*data.by_snr.values(), *data.by_ridge.values())
    nothing = (np.nan,) * len(columns)
    found: list[tuple[float, ...]] = [
        (float(w), *(float(line[i]) for line in lines), *nothing) for i, w in enumerate(data.widths)
    ]
    return Table((*names, *columns), found + [(*(np.nan,) * len(names), *row) for row in rows])


def draw_weights(axes: "Axes", widths: FloatArray, lines: Mapping[float, FloatArray]) -> None:
    """Draw weights against P/N on axes that the caller owns."""
    axes.axhline(0.0, color="#000000", linewidth=0.8, zorder=1)
    for (value, weights), stroke in zip(lines.items(), style.cycle(), strict=False):
        axes.plot(
            widths, weights, color=stroke.color, linestyle=stroke.linestyle,
            linewidth=stroke.width, marker=stroke.marker, markerfacecolor=stroke.face,
            markersize=5.0, label=f"${style.scientific(value)}$",
        )  # fmt: skip
    drawing.log_axes(axes, [widths], ylabel="Best weight", room=1.1)
    axes.set_yscale("linear")
    drawing.threshold(axes)


def draw_gain(axes: "Axes", panel: Panel) -> None:
    """Draw test errors along F/τ on axes that the caller owns."""
    drawing.log_axes(axes, [panel.lines[0].x], xlabel=r"Signal-to-noise ratio, $F/\tau$", room=1.06)
    strokes = dict(zip(GAINS, (style.SERIES[1], style.SERIES[4], style.SERIES[0]), strict=True))
    for line in panel.lines:
        drawing.curve(axes, line, strokes[line.label], label=GAINS[line.label], markers=0)
    for found in panel.points:
        drawing.points(axes, found, strokes[found.label])


def plot(data: CommitteeWeights) -> "Figure":
    """Make the whole figure."""
    with drawing.page(height=3.9) as figure:
        row = figure.subplots(1, 3, width_ratios=(1, 1, 1.03))
        draw_weights(row[0], data.widths, data.by_snr)
        draw_weights(row[1], data.widths, data.by_ridge)
        draw_gain(row[2], data.gain)
        row[1].sharey(row[0])
        row[1].set_ylabel("")
        row[1].tick_params(labelleft=False)
        drawing.letters(row)
        ridge, snr = style.scientific(next(iter(data.by_ridge))), next(iter(data.by_snr))
        drawing.labels_above(row[0], title=rf"$F/\tau$, at $\lambda={ridge}$", narrow=0.72)
        title = rf"$\lambda$, at $F/\tau={style.scientific(snr)}$"
        drawing.labels_above(row[1], title=title, narrow=0.72)
        gained = style.scientific(data.gain.constant("ridge"))
        drawing.labels_above(row[2], title=rf"$\lambda={gained}$", ncols=1, narrow=0.8)
    return figure


def agrees(data: CommitteeWeights) -> tuple[str, ...]:
    """Theory and simulation, and the gain in numbers."""
    said = [agreement.with_simulation(data.gain.points)]
    for place, snr in enumerate(data.gain.points[0].x):
        found = {p.label: float(p.theory[place]) for p in data.gain.points}
        said.append(
            f"F/τ = {snr:g}: best weights {found['optimal']:.3f}, equal weights "
            f"{found['equal']:.3f}, the best member alone {found['single']:.3f}."
        )
    return tuple(said)


FIGURE = FigureSpec(
    name="committee",
    title="Whom to trust in a committee of unequal models",
    caption=(
        "Beyond the paper: nine models of widths from P = N/5 to 5N, trained on the same data with "
        "features of their own, and averaged with the weights that make the test error least. "
        "(a) Without a penalty, the model with as many features as samples gets no weight at all, "
        "whatever the noise, and its neighbours get little. With clean labels the wide ones are "
        "trusted, and the narrowest are subtracted, since they err as the wide ones do, only "
        "more so. With noisy labels narrow models get weight: they are "
        "regularized by having few features, which is what the wide ones lack. (b) A penalty "
        "gives the model at P = N its voice back, and takes from the narrow ones theirs.\n"
        "(c) The best weights against equal ones, and against the best member alone: a committee "
        "of unequal models is worth having at every signal-to-noise ratio drawn, "
        "but with clean labels equal weights make it worse than its best member. "
        "Lines: exact theory; (a, b) connect the members. Markers in (c): true random features at "
        "finite size, with bars of two standard errors."
    ),
    alt=(
        "Two panels of weights against features per sample P/N. Without a penalty all lines pass "
        "through zero at P = N; at signal-to-noise ratio 1 the narrowest model has 0.23 and the "
        "widest 0.28, at 10 they have -0.10 and 0.60. With a penalty the dip at P = N fills up. "
        "Third panel: test error against signal-to-noise ratio; best weights lie lowest, from 1.3 "
        "to 0.35; equal weights end at 0.50 and the best member at 0.41."
    ),
    data=committee_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={"paper": {"dim": 200, "n_data": 20, "snr_range": (0.5, 10.0, 121)}},
)
