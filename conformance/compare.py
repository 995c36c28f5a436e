r"""Simulate a curve at three sizes, extrapolate to infinite size, compare with the theory.

Means at dimension D deviate from the theory by b/D + c/D² + …. With sizes D, 2D and 4D the first
two orders cancel in (1/3, -2, 8/3) times the three means (Richardson's extrapolation); what is left
is compared in standard errors, t, and as the normal score z of the same probability.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import ndtri_exp

import doubletrouble as dt
from conformance.cases import ENSEMBLES, Curve

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
        """The deviation in standard errors; 0 where theory and simulation are exactly the same."""
        off = self.value - self.theory
        if self.error:
            return off / self.error
        return math.copysign(math.inf, off) if off else 0.0

    @property
    def z(self) -> float:
        """The normal score as improbable as this t: the standard error is an estimate, too."""
        return normal_score(self.t, self.freedom)


def normal_score(t: float, freedom: float) -> float:
    """The normal score as improbable as t with Student's distribution."""
    if not math.isfinite(t):
        return t
    return math.copysign(-float(ndtri_exp(stats.t.logsf(abs(t), freedom))), t)


def compared(
    curve: Curve, seed: int, sizes: Sizes | None = None, activation: str | None = None
) -> list[Row]:
    """Every quantity of every point; the theory of another `activation` is a negative control."""
    sizes = sizes or Sizes()
    options: dict[str, Any] = {"model": curve.model, "seed": seed, "n_init": sizes.n_init,
                               "ensembles": ENSEMBLES, "progress": False}  # fmt: skip
    requested = replace(curve.problem, features_per_dim=curve.widths)
    runs = [
        dt.simulate(requested, dim=dim, n_data=draws, **options)
        for dim, draws in zip(sizes.dims, sizes.draws, strict=True)
    ]
    problems = [
        replace(p, activation=activation or curve.activation)
        for p in (requested, *(run.problem for run in runs))
    ]
    rows = []
    for ensemble, parts in _quantities():
        exact = [dt.exact_error(p, ensemble) for p in problems]
        found = [run.error(ensemble) for run in runs]
        for part in parts:
            # P is rounded to whole numbers: compare each size with the theory at its own
            theory = np.array([np.broadcast_to(getattr(e, part), len(curve.ratios)) for e in exact])
            means = np.array([getattr(f, part).value for f in found]) - theory[1:] + theory[0]
            errors = np.array([getattr(f, part).standard_error for f in found])
            for k, ratio in enumerate(curve.ratios):
                rows.append(
                    extrapolated(
                        ratio, ensemble.name, _members(ensemble), part,
                        theory=float(theory[0, k]), means=means[:, k], errors=errors[:, k],
                        sizes=sizes,
                    )
                )  # fmt: skip
    return sorted(rows, key=lambda row: curve.ratios.index(row.ratio))


def extrapolated(
    ratio: float, scheme: str, members: float, part: str, *, theory: float, means: Values,
    errors: Values, sizes: Sizes,
) -> Row:  # fmt: skip
    """One quantity at three sizes, taken to infinite size."""
    return Row(
        ratio=ratio,
        scheme=scheme,
        members=members,
        part=part,
        theory=theory,
        means=tuple(means.tolist()),
        errors=tuple(errors.tolist()),
        value=float(WEIGHTS @ means),
        error=float(np.sqrt(WEIGHTS**2 @ errors**2)),
        freedom=_freedom((WEIGHTS * errors) ** 2, sizes.draws),
    )


def _freedom(variances: Values, draws: Sequence[int]) -> float:
    """Degrees of freedom of a sum of independent variances, by Welch and Satterthwaite."""
    each, total = np.array(draws) - 1, float(variances.sum())
    return total**2 / float(np.sum(variances**2 / each)) if total > 0 else float(each.sum())


def _quantities() -> list[tuple[dt.Scheme, tuple[str, ...]]]:
    """Ensembles and their parts; parts that do not depend on K only once."""
    every = ("noise", "initialization", "sampling", "bias", "total")
    changing = ("noise", "initialization", "total")
    return [
        (one, changing if isinstance(one, dt.Ensemble) and _members(one) > 1 else every)
        for one in ENSEMBLES
    ]


def _members(ensemble: dt.Scheme) -> float:
    return float(np.asarray(ensemble.n_members))


def agree(rows: Iterable[Row]) -> bool:
    """Whether theory and simulation agree on every row; one that is not a number does not."""
    return all(abs(row.z) < LIMIT for row in rows)


def largest(rows: Iterable[Row]) -> float:
    """The largest |z|; not a number if any is."""
    return float(np.max([abs(row.z) for row in rows]))


def noticed(rows: Sequence[Row]) -> bool:
    """Whether a wrong theory, for a negative control, is told from the simulation."""
    return any(abs(row.z) > LIMIT for row in rows)


def told(rows: Sequence[Row]) -> str:
    """How clearly, in words."""
    wrong, worst = sum(abs(row.z) > LIMIT for row in rows), max(abs(row.t) for row in rows)
    return f"{wrong} of {len(rows)} rows have |z| > {LIMIT:g}, the largest |t| is {worst:.0f}"


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
