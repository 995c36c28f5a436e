r"""The effective ridge of infinitely many members, in theory and as simulated.

The mean of infinitely many members, each with its own features, its own choice of the samples or
both, predicts like linear ridge regression on all of the data, with the ridge

    ρ = (N/D) u/(1-u) - u,        u = 1 - Ψ₁ of a member, at its own P, N and λ

relative to XᵀX/D. Linear ridge regression is the limit P → ∞ of features without a nonlinear part,
where ρ = λ N/D; the best linear predictor has ρ = τ²/F² (of a linear teacher).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.ensembles import Ensemble, Scheme, Subsample
from doubletrouble.figures.simulated import MORE_DRAWS, Points, TwoSizes, simulated, two_sizes
from doubletrouble.figures.spec import Line
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, psi_terms


class Members(NamedTuple):
    """Infinitely many members at some settings, and what their mean is worth; arrays alike."""

    label: str
    ratio: FloatArray  # P/N, all samples counted
    fraction: FloatArray  # of the samples, that a member has
    ridge: FloatArray  # λ
    effective: FloatArray  # ρ
    total: FloatArray  # test error


def members(
    problem: Problem, label: str, ratio: Numeric, fraction: Numeric, ridge: Numeric
) -> Members:
    """Infinitely many members of any width, share of the samples and penalty."""
    ratio, fraction, ridge = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (ratio, fraction, ridge))
    )
    N = np.asarray(problem.samples_per_dim)
    at = replace(problem, features_per_dim=ratio * N, ridge=ridge)
    s = np.asarray(psi_terms(replace(at, samples_per_dim=fraction * N)).psi1)
    rho = np.asarray(N * (1 - s) / s - (1 - s))
    found = exact_error(at, Subsample(math.inf, fraction=fraction))
    return Members(label, ratio, fraction, ridge, rho, np.asarray(found.total))


def linear_error(problem: Problem, effective: FloatArray) -> FloatArray:
    """The test error of linear ridge regression on all of the data."""
    ridge = effective / np.asarray(problem.samples_per_dim)
    at = replace(problem, features_per_dim=math.inf, ridge=ridge, activation="linear")
    return np.asarray(exact_error(at).total)


def simulated_paths(
    problem: Problem, *, dim: int, n_data: int, seed: int, store: str | Path | None
) -> tuple[Points, ...]:
    """Points on every path of one setting; the kernel of the activation has infinite width."""
    shared: dict[str, Any] = {"seed": seed, "store": store}
    narrow = two_sizes(
        problem, dim=dim, n_data=n_data, ratios=[0.25, 0.5, 0.75], model="features", n_init=2,
        **shared,
    )  # fmt: skip
    kernel = {"model": "kernel", "features_per_dim": [math.inf], **shared}

    def at_infinity(**settings: Any) -> TwoSizes:
        half = simulated(problem, dim=dim // 2, n_data=MORE_DRAWS * n_data, **kernel, **settings)
        whole = simulated(problem, dim=dim, n_data=n_data, **kernel, **settings)
        return TwoSizes(whole=whole, half=half, n_data=n_data)

    bags = [Subsample(math.inf, fraction=fraction) for fraction in (0.24, 0.5, 0.8)]
    sampled = at_infinity(ensembles=bags)
    penalized = at_infinity(ridge=[0.16, 0.5, 2.0])
    return (
        _points(problem, "width", narrow, Ensemble(math.inf)),
        _joined([_points(problem, "subsample", sampled, one) for one in bags]),
        _points(problem, "ridge", penalized, Ensemble(math.inf)),
    )


def _points(problem: Problem, label: str, runs: TwoSizes, ensemble: Scheme) -> Points:
    at = runs.problem
    ratio = np.asarray(at.features_per_dim) / np.asarray(at.samples_per_dim)
    numerator, denominator = runs.whole.realized(ensemble).sample_share
    theory = members(problem, label, ratio, np.divide(numerator, denominator), at.ridge)
    line = Line(label, theory.effective.ravel(), theory.total.ravel())
    found = runs.points(line, lambda simulation: simulation.error(ensemble).total)
    flat = ("value", "standard_error", "limit", "limit_error")
    shaped: dict[str, Any] = {name: np.ravel(getattr(found, name)) for name in flat}
    return replace(found, **shaped)


def _joined(parts: Sequence[Points]) -> Points:
    names = ("x", "value", "standard_error", "theory", "limit", "limit_error")
    together: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in names
    }
    return replace(parts[0], **together)
