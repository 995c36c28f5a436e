"""The conformance table as Markdown."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from conformance.cases import CURVES, DIVIDED, MEMBERS, Curve
from conformance.compare import (
    CLEAR,
    LIMIT,
    Row,
    Sizes,
    agree,
    compared,
    largest,
    noticed,
    shrinking,
    told,
)

Found = Mapping[tuple[Curve, int], list[Row]]

HEAD = """# Theory against simulation

Every number of the exact theory below is compared with a simulation of the finite model
(`dt.simulate`), for {seeds} seeds. `make conformance` measures them again.

- **Curves.** True random features, Gaussian covariates and exact kernels, a linear teacher of
  norm 1 with a random quadratic part of root power F⋆ = {nonlinear:g}, label noise τ = {noise:g}.
  Ensembles of K = {members} models, and K = {divided} models on divided data.
- **Simulation.** {draws} independent draws at D = {dims}, with {n_init} sets of features on two
  data sets each. Means deviate from the theory by O(1/D). The column *simulation* is the
  combination of the three sizes with weights {weights}, which cancels 1/D and 1/D²; *SE* is its
  standard error and t = (simulation - theory)/SE. As SE is estimated from few draws, t has
  Student's distribution; z is the normal score of the same probability.
- **Rows** of one curve share their draws, so that their z's are correlated. Rows that are exactly
  zero on both sides (no initialization variance for K = ∞) are shown, not counted.
- **Verdict.** Theory and simulation agree where |z| < {limit:g} on every row of every seed:
  {verdict}.
"""


class Report(NamedTuple):
    """A part of the page, and what it says."""

    text: str
    worst: float  # the largest |z|
    agrees: bool  # theory and simulation, on every row
    noticed: bool  # every negative control


def verdict(rows: Sequence[Row]) -> str:
    """Whether theory and simulation agree, in words."""
    return f"{'yes' if agree(rows) else 'no'}, the largest is {largest(rows):.2f}"


def report(found: Found) -> Report:
    """The page, with all curves."""
    seeds = sorted({seed for _, seed in found})
    sizes, curve = Sizes(), CURVES[0]
    every = [row for rows in found.values() for row in rows]
    control = _control()
    parts = [
        HEAD.format(
            seeds=len(seeds),
            members=", ".join(map(number, MEMBERS)),
            divided=", ".join(map(number, DIVIDED)),
            weights="(1/3, -2, 8/3)",
            limit=LIMIT,
            verdict=verdict(every),
            nonlinear=curve.nonlinear_signal,
            noise=curve.noise,
            draws=", ".join(map(str, sizes.draws)),
            dims=", ".join(map(str, sizes.dims)),
            n_init=sizes.n_init,
        ),
        summary(
            [[row for (_, s), one in found.items() if s == seed for row in one] for seed in seeds],
            seeds,
        ),
        _control_told(control),
    ]
    for curve in CURVES:
        rows = found[curve, seeds[0]]
        labels = [
            [number(row.ratio), row.scheme, number(row.members), row.part] for row in rows
        ]  # fmt: skip
        parts.append(f"## {curve.name}\n")
        parts.append(table(["P/N", "scheme", "K", "part"], labels, rows, seeds[0], sizes))
    return Report("\n".join(parts), largest(every), agree(every), noticed(control))


def summary(
    found: Sequence[Sequence[Row]], seeds: Sequence[int], heading: str = "##", *, bias: bool = True
) -> str:
    """What the rows of every seed have in common; how their bias falls with D, where it is seen."""
    columns = ["seed", "comparisons", r"largest \|z\|", r"largest \|t\|", "root mean square of z",
               r"\|z\| > 2"]  # fmt: skip
    columns += ["bias at 2D over bias at D", "at 4D over 2D"] if bias else []
    lines = [f"{heading} Summary", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for seed, rows in zip(seeds, found, strict=True):
        z = np.array([row.z for row in rows if row.error > 0])
        t = np.array([row.t for row in rows if row.error > 0])
        cells = [
            f"{seed}", f"{z.size}", f"{np.max(np.abs(z)):.2f}", f"{np.max(np.abs(t)):.2f}",
            f"{np.sqrt(np.mean(z**2)):.2f}", f"{np.mean(np.abs(z) > 2):.1%}",
        ]  # fmt: skip
        if bias:
            first, second, count = shrinking(list(rows))
            cells += [f"{first:.2f} ({count} rows)", f"{second:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    if bias:
        lines += [
            "",
            "The last two columns are medians over the rows whose deviation at the smallest D is "
            "more",
            f"than {CLEAR:g} times the SE of the extrapolated value: a bias of order 1/D is halved "
            "by",
            "doubling D.",
        ]
    return "\n".join([*lines, ""])


_FEW = Sizes(dims=(50, 100, 200), draws=(20, 10, 6))


@cache
def _control() -> list[Row]:
    """The same comparison with the theory of a wrong activation."""
    return compared(CURVES[0], 0, _FEW, activation="tanh")


def _control_told(rows: Sequence[Row]) -> str:
    return (
        "**Negative control.** The first curve, ReLU features, against the theory for tanh, with "
        f"{', '.join(map(str, _FEW.draws))} draws at D = {', '.join(map(str, _FEW.dims))}: "
        f"{told(rows)}.\n"
    )


def table(
    heads: Sequence[str], labels: Sequence[Sequence[str]], rows: Sequence[Row], seed: int,
    sizes: Sizes,
) -> str:  # fmt: skip
    """Every row, with labels in its first columns."""
    columns = [
        *heads,
        "theory",
        *(f"D = {dim}" for dim in sizes.dims),
        "simulation",
        "SE",
        "t",
        "z",
    ]
    lines = [
        f"Seed {seed}.",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    for label, row in zip(labels, rows, strict=True):
        means = " | ".join(
            f"{mean:.5g} ± {error:.0e}" for mean, error in zip(row.means, row.errors, strict=True)
        )
        lines.append(
            f"| {' | '.join(label)} | {row.theory:.5g} | {means} | {row.value:.5g} | "
            f"{row.error:.1e} | {row.t:+.2f} | {row.z:+.2f} |"
        )
    return "\n".join([*lines, ""])


def number(value: float) -> str:
    """A number as the page writes it."""
    return "∞" if math.isinf(value) else f"{value:g}"
