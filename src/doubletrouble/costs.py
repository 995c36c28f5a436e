"""Costs of K models of P features on N samples, and the sizes that a budget affords.

The cost is P K features in total, or the operations of training: K n P min(n, P) for ridge fits on
n samples each, up to a constant; n is N, or N/K where the data are divided.
"""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble.parameters import FloatArray

Measure: TypeAlias = Literal["features", "training"]
"""The measures of cost."""

COSTS: tuple[Measure, ...] = get_args(Measure)


def check_measure(cost: object) -> None:
    """Raise ValueError unless `cost` is one of the measures."""
    if not isinstance(cost, str) or cost not in COSTS:
        raise ValueError(f"cost must be one of {', '.join(COSTS)}, got {cost!r}")


def relative_cost(cost: float, now: float) -> float:
    """The ratio of a cost to that of now; 1 for two infinite ones, and for two of 0.

    >>> relative_cost(3.0, 2.0), relative_cost(math.inf, math.inf), relative_cost(0.0, 0.0)
    (1.5, 1.0, 1.0)
    """
    if cost == now:
        return 1.0
    return cost / now if now > 0 else math.inf


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
