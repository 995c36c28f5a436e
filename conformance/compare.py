r"""Simulate a curve at three sizes, extrapolate to infinite size, compare with the theory.

Means at dimension D deviate from the theory by b/D + c/D² + …. With sizes D, 2D and 4D the first
two orders cancel in (1/3, -2, 8/3) times the three means (Richardson's extrapolation); what is left
is compared in standard errors, t, and as the normal score z of the same probability.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import ndtri_exp

import doubletrouble as dt
from conformance.cases import DIVIDED, MEMBERS, Curve

WEIGHTS = np.array([1 / 3, -2.0, 8 / 3])
LIMIT = 5.0  # of |z|, for theory and simulation to agree
CLEAR = 10.0  # standard errors of the extrapolated value at which a bias is clear

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Dimensions D, 2D, 4D, and independent draws at each."""

    dims: tuple[int, int, int] = (100, 200, 400)
    draws: tuple[int, int, int] = (40, 20, 10)
    n_init: int = 2


@dataclass(frozen=True, kw_only=True)
class Row:
    """One quantity at one point."""

    ratio: float
    scheme: str
    members: float
    part: str
    theory: float
    means: tuple[float, ...]  # at each size
    errors: tuple[float, ...]  # the standard errors of these
    value: float  # extrapolated
    error: float

    freedom: float  # degrees of freedom of the standard error

    @property
    def t(self) -> float:
        """The deviation in standard errors; 0 where both are exactly zero."""
        off = self.value - self.theory
        return off / self.error if self.error else math.copysign(math.inf, off) if off else 0.0

    @property
    def z(self) -> float:
        """The normal score as improbable as this t: the standard error is an estimate, too."""
        if not math.isfinite(self.t):
            return self.t
        score = -float(ndtri_exp(stats.t.logsf(abs(self.t), self.freedom)))
        return math.copysign(score, self.t)


def compared(
    curve: Curve, seed: int, sizes: Sizes | None = None, activation: str | None = None
) -> list[Row]:
    """Every quantity of every point; the theory of another `activation` is a negative control."""
    sizes = sizes or Sizes()
    options: dict[str, Any] = {"model": curve.model, "widths": curve.widths, "seed": seed,
                               "n_init": sizes.n_init, "n_members": DIVIDED,
                               "schemes": ("ensemble", "divide"), "progress": False}  # fmt: skip
    runs = [
        dt.simulate(curve.problem, dim=dim, n_data=draws, **options)
        for dim, draws in zip(sizes.dims, sizes.draws, strict=True)
    ]
    asked = replace(curve.problem, features_per_dim=curve.widths)
    problems = [
        replace(p, activation=activation or curve.activation)
        for p in (asked, *(run.problem for run in runs))
    ]
    rows = []
    for scheme, members, parts in _quantities():
        exact = [dt.exact_error(p, members, scheme) for p in problems]
        found = [run.error(members, scheme) for run in runs]
        for part in parts:
            # P is rounded to whole numbers: compare each size with the theory at its own
            theory = np.array([np.broadcast_to(getattr(e, part), len(curve.ratios)) for e in exact])
            means = np.array([getattr(f, part).value for f in found]) - theory[1:] + theory[0]
            errors = np.array([getattr(f, part).standard_error for f in found])
            value, error = WEIGHTS @ means, np.sqrt(WEIGHTS**2 @ errors**2)
            freedom = _freedom((WEIGHTS[:, None] * errors) ** 2, sizes.draws)
            for k in range(len(curve.ratios)):
                rows.append(
                    Row(
                        ratio=curve.ratios[k],
                        scheme=scheme,
                        members=members,
                        part=part,
                        theory=float(theory[0, k]),
                        means=tuple(means[:, k].tolist()),
                        errors=tuple(errors[:, k].tolist()),
                        value=float(value[k]),
                        error=float(error[k]),
                        freedom=float(freedom[k]),
                    )
                )
    return sorted(rows, key=lambda row: curve.ratios.index(row.ratio))


def _freedom(variances: Values, draws: Sequence[int]) -> Values:
    """Degrees of freedom of a sum of independent variances, by Welch and Satterthwaite."""
    each = np.array(draws)[:, None] - 1
    total = variances.sum(axis=0)
    with np.errstate(invalid="ignore"):
        freedom = total**2 / np.sum(variances**2 / each, axis=0)
    return np.asarray(np.where(total > 0, freedom, each.sum()))


def _quantities() -> list[tuple[str, float, tuple[str, ...]]]:
    """Scheme, K and the parts; those that do not depend on K only once."""
    every = ("noise", "initialization", "sampling", "bias", "total")
    found: list[tuple[str, float, tuple[str, ...]]] = [
        ("ensemble", k, every if k == 1 else ("noise", "initialization", "total")) for k in MEMBERS
    ]
    return found + [("divide", k, every) for k in DIVIDED]


def shrinking(rows: list[Row]) -> tuple[float, float, int]:
    """Median ratios of the bias from size to size, and of how many rows where it is clear."""
    ratios = []
    for row in rows:
        bias = [abs(mean - row.theory) for mean in row.means]
        if bias[0] > CLEAR * row.error:
            ratios.append((bias[1] / bias[0], bias[2] / bias[1] if bias[1] else 1.0))
    if not ratios:
        return np.nan, np.nan, 0
    first, second = np.median(ratios, axis=0)
    return float(first), float(second), len(ratios)
