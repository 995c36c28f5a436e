"""The conformance table as Markdown."""

import math
from collections.abc import Mapping
from functools import cache

import numpy as np

from conformance.cases import CURVES, DIVIDED, MEMBERS, Curve
from conformance.compare import CLEAR, LIMIT, Row, Sizes, compared, shrinking

Found = Mapping[tuple[Curve, int], list[Row]]

HEAD = """# Theory against simulation

Every number of the exact theory below is compared with a simulation of the finite model
(`dt.simulate`), for {seeds} seeds. `make conformance` remakes this page.

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


def report(found: Found) -> tuple[str, float]:
    """The page, and the largest |z| on it."""
    seeds = sorted({seed for _, seed in found})
    sizes, curve = Sizes(), CURVES[0]
    worst = max(abs(row.z) for rows in found.values() for row in rows)
    parts = [
        HEAD.format(
            seeds=len(seeds),
            members=", ".join(map(_number, MEMBERS)),
            divided=", ".join(map(_number, DIVIDED)),
            weights="(1/3, -2, 8/3)",
            limit=LIMIT,
            verdict=f"{'yes' if worst < LIMIT else 'no'}, the largest is {worst:.2f}",
            nonlinear=curve.nonlinear_signal,
            noise=curve.noise,
            draws=", ".join(map(str, sizes.draws)),
            dims=", ".join(map(str, sizes.dims)),
            n_init=sizes.n_init,
        ),
        _summary(found, seeds),
        _control(),
    ]
    for curve in CURVES:
        parts.append(_table(curve, found[curve, seeds[0]], seeds[0]))
    return "\n".join(parts), worst


def _summary(found: Found, seeds: list[int]) -> str:
    lines = [
        "## Summary",
        "",
        "| seed | comparisons | largest \\|z\\| | largest \\|t\\| | root mean square of z |"
        " \\|z\\| > 2 | bias at 2D over bias at D | at 4D over 2D |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for seed in seeds:
        rows = [row for (_, s), one in found.items() if s == seed for row in one]
        z = np.array([row.z for row in rows if row.error > 0])
        t = np.array([row.t for row in rows if row.error > 0])
        first, second, count = shrinking(rows)
        lines.append(
            f"| {seed} | {z.size} | {np.max(np.abs(z)):.2f} | {np.max(np.abs(t)):.2f} | "
            f"{np.sqrt(np.mean(z**2)):.2f} | "
            f"{np.mean(np.abs(z) > 2):.1%} | {first:.2f} ({count} rows) | {second:.2f} |"
        )
    lines += [
        "",
        "The last two columns are medians over the rows whose deviation at the smallest D is more",
        f"than {CLEAR:g} times the SE of the extrapolated value: a bias of order 1/D is halved by",
        "doubling D.",
        "",
    ]
    return "\n".join(lines)


@cache
def _control() -> str:
    """The same comparison with the theory of a wrong activation."""
    small = Sizes(dims=(50, 100, 200), draws=(20, 10, 6))
    rows = compared(CURVES[0], 0, small, activation="tanh")
    worst = max(abs(row.t) for row in rows)
    return (
        "**Negative control.** The first curve, ReLU features, against the theory for tanh, with "
        f"{', '.join(map(str, small.draws))} draws at D = {', '.join(map(str, small.dims))}: "
        f"{sum(abs(row.z) > LIMIT for row in rows)} of {len(rows)} rows have |z| > {LIMIT:g}, "
        f"the largest |t| is {worst:.0f}.\n"
    )


def _table(curve: Curve, rows: list[Row], seed: int) -> str:
    sizes = " | ".join(f"D = {dim}" for dim in Sizes().dims)
    lines = [
        f"## {curve.name}",
        "",
        f"Seed {seed}.",
        "",
        f"| P/N | scheme | K | part | theory | {sizes} | simulation | SE | t | z |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        means = " | ".join(
            f"{mean:.5g} ± {error:.0e}" for mean, error in zip(row.means, row.errors, strict=True)
        )
        lines.append(
            f"| {_number(row.ratio)} | {row.scheme} | {_number(row.members)} | {row.part} | "
            f"{row.theory:.5g} | {means} | {row.value:.5g} | {row.error:.1e} | {row.t:+.2f} | "
            f"{row.z:+.2f} |"
        )
    return "\n".join([*lines, ""])


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:g}"
