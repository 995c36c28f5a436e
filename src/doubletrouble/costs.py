"""Costs of K models of P features on N samples, and the sizes that a budget affords.

The cost is P K features in total, or the operations of training: K n P min(n, P) for ridge fits on
n samples each, up to a constant; n is N, or N/K where the data are divided.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble.parameters import FloatArray

Measure: TypeAlias = Literal["features", "training"]
"""The measures of cost."""

COSTS: tuple[Measure, ...] = get_args(Measure)


def training_cost(width: float, samples: float, members: float, scheme: str) -> float:
    """Operations of K ridge fits, K n P min(n, P)."""
    P, N, K = width, samples, members
    n = N / K if scheme == "divide" else N
    if min(n, P) == 0:  # infinitely many parts: the cost falls as 1/K
        return 0.0
    return (N if scheme == "divide" else K * N) * P * min(n, P)


def cost_of(width: float, samples: float, members: float, scheme: str, measure: Measure) -> float:
    """Cost of K models in one of the measures."""
    if measure == "features":
        return width * members
    return training_cost(width, samples, members, scheme)


def widest(
    budget: float, samples: float, members: FloatArray, scheme: str, measure: Measure
) -> FloatArray:
    """Largest affordable width of K models: the inverse of the cost in P."""
    C, N, K = budget, samples, members
    if measure == "features":
        return C / K
    n = N / K if scheme == "divide" else np.full_like(K, N)
    each = C / N if scheme == "divide" else C / (K * N)  # P min(n, P)
    return np.where(each >= n * n, each / n, np.sqrt(each))


def most_members(budget: float, samples: float, width: FloatArray, measure: Measure) -> FloatArray:
    """Largest affordable number of models that share the data: the inverse of the cost in K."""
    C, N, P = budget, samples, width
    with np.errstate(over="ignore", under="ignore"):
        return C / P if measure == "features" else C / N / P / np.minimum(N, P)
