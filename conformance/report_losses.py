"""The part of the page on other losses, as Markdown."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import doubletrouble as dt
from conformance.losses import (
    LEAST_CONTROL,
    MOST_UNLIKELY,
    PROBLEMS,
    UNLIKELY,
    LossRow,
    LossSizes,
    compared,
    unlikely,
)
from conformance.report import Report
from doubletrouble.losses import LOSSES, loss

HEAD = """## Other losses

Every loss of [any convex loss](losses.md), {problems} problems with true random features, for
{seeds} seeds: m, q, the overlaps of two models by what they share, and the total errors of one
model, of three averaged and of two on divided data.
`python -m conformance --part losses --seeds {seeds}` measures them again.

- **Simulation.** {draws} independent draws at D = {dim}, with {n_init} sets of features on two data
  sets each, and two draws of the label noise; fits are checked by their duality gap. The theory is
  that of the sizes realized. There is no extrapolation: deviations include the bias of order 1/D.
- **Overlaps** of two models: *q1* has the same data and other features; *q_noise* the same features
  and inputs, other label noise; *q_init* the same inputs alone; *q_features* the same features
  alone; *q_d* nothing in common.
- **Rows** of one problem and seed share their draws, so that their deviations are correlated.
  t = (simulation - theory)/SE, with probability p by Student's distribution; z is the normal score.
- **Verdict.** p < {unlikely:g} in at most {most:.0%} of all comparisons: {verdict}.
"""


def report_losses(found: Mapping[tuple[int, int], list[LossRow]]) -> Report:
    """The part of the page, with all problems."""
    seeds = sorted({seed for _, seed in found})
    every = [row for rows in found.values() for row in rows]
    sizes, share, control = LossSizes(), unlikely(every), _control()
    agrees = share <= MOST_UNLIKELY
    text = [
        HEAD.format(
            problems=len(PROBLEMS), seeds=len(seeds), draws=sizes.draws,
            dim=sizes.dim, n_init=sizes.n_init, unlikely=UNLIKELY, most=MOST_UNLIKELY,
            verdict=f"{'yes' if agrees else 'no'}, in {share:.1%} of {len(every)}",
        ),
        "### Summary\n",
        _summary(
            {str(s): [r for (_, seed), rows in found.items() if seed == s for r in rows]
             for s in seeds},
            "seed",
        ),
        _summary(
            {name: [row for row in every if loss(row.problem.loss).name == name]
             for name in LOSSES},
            "loss, all seeds",
        ),
        _control_told(control),
        "### Every loss\n",
        _table([row for k in range(len(PROBLEMS)) for row in found[k, seeds[0]]], seeds[0]),
    ]  # fmt: skip
    worst = max(abs(row.z) for row in every)
    return Report("\n".join(text), worst, agrees, _median(control) > LEAST_CONTROL)


def _summary(groups: Mapping[str, Sequence[LossRow]], head: str) -> str:
    columns = [head, "comparisons", r"largest \|z\|", r"largest \|t\|", "root mean square of z",
               f"p < {UNLIKELY:g}"]  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, rows in groups.items():
        z, t = (np.array([getattr(row, score) for row in rows]) for score in "zt")
        cells = [name, f"{z.size}", f"{np.max(np.abs(z)):.2f}", f"{np.max(np.abs(t)):.2f}",
                 f"{np.sqrt(np.mean(z**2)):.2f}", f"{unlikely(rows):.1%}"]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


@cache
def _control() -> list[LossRow]:
    """Problems with flipped labels, against the theory without flips."""
    flipped = [one for one in PROBLEMS if np.any(one.flips)]
    return [row for k, one in enumerate(flipped) for row in compared(one, k, control=True)]


def _median(rows: Sequence[LossRow], score: str = "t") -> float:
    return float(np.median([abs(getattr(row, score)) for row in rows]))


def _control_told(rows: Sequence[LossRow]) -> str:
    return (
        "**Negative control.** The problems with flipped labels, against the theory that ignores "
        f"the flips: p < {UNLIKELY:g} in {unlikely(rows):.0%} of {len(rows)} comparisons, the "
        f"median |t| is {_median(rows):.1f} (at least {LEAST_CONTROL:g}), the median |z| "
        f"{_median(rows, 'z'):.1f}.\n"
    )


def _table(rows: Sequence[LossRow], seed: int) -> str:
    columns = ["loss", "σ", "P/D", "N/D", "λ", "labels", "quantity", "theory", "simulation", "SE",
               "t", "p"]  # fmt: skip
    lines = [f"Seed {seed}.", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in rows:
        p = row.problem
        cells = [
            str(p.loss), p.moments.name, f"{p.features_per_dim:g}", f"{p.samples_per_dim:g}",
            f"{p.ridge:g}", _labels(p), row.quantity, f"{row.theory:.5g}",
            f"{row.found.value:.5g}", f"{row.found.standard_error:.1e}", f"{row.t:+.2f}",
            f"{row.probability:.2g}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _labels(problem: dt.Problem) -> str:
    """The noise of the labels."""
    noise: Any = problem.noise
    if isinstance(noise, dt.Mixture):
        return "τ = " + ", ".join(f"{sd:g} ({weight:.0%})" for weight, sd in noise.components)
    flips = f"{float(np.asarray(problem.flips)):.0%} flipped" if np.any(problem.flips) else ""
    return flips or f"τ = {noise:g}"
