r"""What models cost, and how wide they may be for it.

Two measures, in the problem's own units (per D and D³ for ratios to the dimension):

    features   P K                       what is stored, and evaluated at every prediction
    training   K n P min(n, P)           n = N, or N/K of divided data

A ridge fit needs the smaller of the two Gram matrices of n samples and P features, and solves with
it: both take n P min(n, P) operations, up to a constant. One factorization serves every ridge, so
that choosing λ is free.
"""

from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble.parameters import FloatArray

Cost: TypeAlias = Literal["features", "training"]
"""The measures of cost."""

COSTS: tuple[Cost, ...] = get_args(Cost)


def check_cost(cost: object) -> Cost:
    """Return a measure of cost, or refuse what is none."""
    for known in COSTS:
        if isinstance(cost, str) and cost == known:
            return known
    raise ValueError(f"cost must be one of {', '.join(COSTS)}, got {cost!r}")


def total_features(width: float, members: float) -> float:
    """P K."""
    return width * members


def training_cost(width: float, samples: float, members: float, scheme: str) -> float:
    """K n P min(n, P)."""
    P, N, K = width, samples, members
    n = N / K if scheme == "divide" else N
    smaller = min(n, P)
    if smaller == 0:  # data divided for ever: the cost falls as 1/K
        return 0.0
    return (N if scheme == "divide" else K * N) * P * smaller


def cost_of(width: float, samples: float, members: float, scheme: str, cost: Cost) -> float:
    """What models cost in one of the measures."""
    if cost == "features":
        return total_features(width, members)
    return training_cost(width, samples, members, scheme)


def widest(
    budget: float, samples: float, members: FloatArray, scheme: str, cost: Cost
) -> FloatArray:
    """The most features each of K models can have: the inverse of the cost, in P."""
    C, N, K = budget, samples, members
    if cost == "features":
        return C / K
    n = N / K if scheme == "divide" else np.full_like(K, N)
    each = C / N if scheme == "divide" else C / (K * N)  # P min(n, P)
    return np.where(each >= n * n, each / n, np.sqrt(each))


def most_members(budget: float, samples: float, width: FloatArray, cost: Cost) -> FloatArray:
    """How many models of P features, each on all data, can be paid for: the inverse, in K."""
    C, N, P = budget, samples, width
    with np.errstate(over="ignore", under="ignore"):
        if cost == "features":
            return C / P
        return C / N / P / np.minimum(N, P)
