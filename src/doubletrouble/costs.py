"""Costs of K models of P features on N samples, and the sizes that a budget affords.

The cost is P K features in total, or the operations of training: K n P min(n, P) for ridge fits on
n samples each, up to a constant; n is N, or N/K where the data are divided. `Cost` adds iterative
solvers, predictions, the price of samples, and models that are trained at the same time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import Declared, FloatArray, Value, as_value, check_choice, parameter

CostName: TypeAlias = Literal["features", "training"]
"""The quantities that a budget may limit: features in all, or operations of training."""

COSTS: tuple[CostName, ...] = get_args(CostName)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cost(Declared):
    """Operations to train K models of P features on N samples, and to predict with them.

    The operations are counted up to a constant, for ⌈K/workers⌉ rounds:

        training      N P min(N, P) a round, or steps · N P with an iterative solver
        predictions   predictions · P a round
        samples       sample_price · N

    With one worker it is the work of all models; with more, the time until the last one is done.

    Parameters
    ----------
    steps : float, default: 0
        T: iterations of an iterative solver; 0 is a direct one.
        Must be in [0, inf].
    predictions : float, default: 0
        n: predictions that are made with trained models.
        Must be in [0, inf].
    sample_price : float, default: 0
        c: price of one labelled sample, in operations.
        Must be in [0, inf].
    workers : int or inf, default: 1
        W: models trained at the same time; `math.inf` for all.
        Must be a whole number in [1, inf].

    Raises
    ------
    ValueError
        If a field is outside its domain, or an array.
    TypeError
        If a field is not a number.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.Cost()(100, 1000, 5), dt.Cost(steps=10, workers=5)(100, 1000, 5)
    (50000000.0, 1000000.0)
    """

    steps: float = parameter(glossary.SOLVER_STEPS, 0.0)
    predictions: float = parameter(glossary.PREDICTIONS, 0.0)
    sample_price: float = parameter(glossary.SAMPLE_PRICE, 0.0)
    workers: float = parameter(glossary.WORKERS, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape:
            raise ValueError(f"fields of Cost must be numbers, got shape {self.shape}")

    def __call__(self, n_features: Value, n_samples: Value, n_members: Value) -> Value:
        """Return the operations for K models of P features on N samples.

        Parameters
        ----------
        n_features, n_samples, n_members : float or numpy.ndarray
            P, N and K; they broadcast.

        Returns
        -------
        float or numpy.ndarray
            The operations, of the broadcast shape.
        """
        P, N, K = n_features, n_samples, n_members
        if self.workers == math.inf:
            rounds = np.ones_like(np.asarray(K, dtype=np.float64))
        else:
            rounds = np.ceil(np.divide(K, self.workers))
        each = N * P * (self.steps or np.minimum(N, P)) + self.predictions * P
        cost = rounds * each + self.sample_price * np.asarray(N)
        return as_value(np.asarray(cost))


def check_cost(cost: object) -> None:
    """Raise ValueError unless `cost` is one of the quantities of a budget."""
    check_choice("cost", cost, COSTS)


def relative_cost(cost: float, now: float) -> float:
    """The ratio of a cost to that of now; 1 for two infinite ones, and for two of 0.

    >>> relative_cost(3.0, 2.0), relative_cost(math.inf, math.inf), relative_cost(0.0, 0.0)
    (1.5, 1.0, 1.0)
    """
    if cost == now:
        return 1.0
    return cost / now if now > 0 else math.inf


def training_cost(n_features: float, n_samples: float, n_members: float, scheme: str) -> float:
    """Operations of K ridge fits, K n P min(n, P)."""
    P, N, K = n_features, n_samples, n_members
    n = N / K if scheme == "divide" else N
    if min(n, P) == 0:  # infinitely many parts: the cost falls as 1/K
        return 0.0
    return (N if scheme == "divide" else K * N) * P * min(n, P)


def cost_of(
    n_features: float, n_samples: float, n_members: float, scheme: str, cost: CostName
) -> float:
    """Cost of K models: their features, or the operations of training."""
    if cost == "features":
        return n_features * n_members
    return training_cost(n_features, n_samples, n_members, scheme)


def most_features(
    budget: float, n_samples: float, n_members: FloatArray, scheme: str, cost: CostName
) -> FloatArray:
    """Largest affordable P of K models: the inverse of the cost in P."""
    C, N, K = budget, n_samples, n_members
    if cost == "features":
        return C / K
    n = N / K if scheme == "divide" else np.full_like(K, N)
    each = C / N if scheme == "divide" else C / (K * N)  # P min(n, P)
    return np.where(each >= n * n, each / n, np.sqrt(each))


def most_members(
    budget: float, n_samples: float, n_features: FloatArray, cost: CostName
) -> FloatArray:
    """Largest affordable number of models that share the data: the inverse of the cost in K."""
    C, N, P = budget, n_samples, n_features
    with np.errstate(over="ignore", under="ignore"):
        return C / P if cost == "features" else C / N / P / np.minimum(N, P)
