"""What a problem offers to the balance equation: its levels, and how a target weighs them.

The isotropic problem has one level that stands for all D input directions, counted per dimension;
a measured spectrum has a list. Everything downstream sees only `learned` and `missed` fractions,
a weighted sum over modes, and unused fractions, so it is written once for both.
"""

import math
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Learner, Problem, SpectralProblem
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.levels import balance_levels
from doubletrouble.theory.one_level import balance_one_level

BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Weights this far below the largest cannot be told from zero.
NEGLIGIBLE_WEIGHT = 1e-250


class Modes(Protocol):
    """The levels of a problem, scaled to a total weight of one."""

    cost: int  # numbers stored per point
    tail: float  # t
    learnable: bool  # whether any of the target's power is on a mode the features see
    rank: float  # features and samples that learn every mode in full; inf where there is a tail
    ridge_falls_with_samples: (
        bool  # whether r is the problem's own ridge over N, or does not know N
    )

    def scaled_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        """The problem's own ridge as r of the balance equation; `samples` is the whole data set."""

    def own_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        """The inverse of `scaled_ridge`."""

    def saturated(self, features: FloatArray, samples: FloatArray) -> BoolArray:
        """Where features and samples suffice to learn every mode in full."""

    def solve(
        self, features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray
    ) -> Balance:
        """Solve the balance equation at ridge r; `spare` is P - N."""

    def fractions(self, y: Any) -> tuple[Any, Any]:
        """What is learned and missed of each mode at y, real or complex."""

    def surplus(self, y: Any, learned: Any, missed: Any, size: FloatArray) -> Any:
        """Return z - size by exact counting: of a mode nearly learned, 1 is taken off."""

    def reached(self, balance: Balance) -> FloatArray:
        """The y of a balance."""

    def paced(self, time: FloatArray, features: FloatArray, samples: FloatArray) -> FloatArray:
        """The ridge r that, as a penalty, pulls at the rate 1/time."""

    def weigh(self, values: FloatArray) -> FloatArray:
        """Sum over modes, weighted by the target's normalized powers."""

    def count(self, values: FloatArray) -> FloatArray:
        """Sum over modes, in the units of features and samples."""


class IsotropicModes:
    """One level l = μ₁² and the tail t = μ⋆²; P, N are P/D, N/D, and the ridge is λ."""

    cost = 1
    ridge_falls_with_samples = False

    def __init__(self, problem: Problem | Learner) -> None:
        moments = problem.moments
        self._root = math.hypot(moments.linear, moments.nonlinear) or 1.0
        self._level = (moments.linear / self._root) ** 2
        self.tail = (moments.nonlinear / self._root) ** 2
        self.learnable = self._level > 0
        self.rank = float(self.learnable) if self.tail < NEGLIGIBLE_WEIGHT else math.inf

    def scaled_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        return ridge / self._root / self._root

    def own_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        return ridge * self._root * self._root

    def saturated(self, features: FloatArray, samples: FloatArray) -> BoolArray:
        return np.minimum(features, samples) >= self.rank

    def solve(
        self, features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray
    ) -> Balance:
        return balance_one_level(features, samples, spare, ridge, self._level, self.tail)

    def fractions(self, y: Any) -> tuple[Any, Any]:
        ly = self._level * y
        missed = 1 / (1 + ly)
        return ly * missed, missed

    def surplus(self, y: Any, learned: Any, missed: Any, size: FloatArray) -> Any:
        known = np.abs(missed) < 0.5
        return (np.where(known, -missed, learned) + self.tail * y) + (known - size)

    def reached(self, balance: Balance) -> FloatArray:
        if self._level > 0:
            return np.asarray(balance.learned / balance.missed / self._level)
        return np.asarray(balance.tail / self.tail)

    def paced(self, time: FloatArray, features: FloatArray, samples: FloatArray) -> FloatArray:
        return self.scaled_ridge(1 / time / features / samples, samples)

    def weigh(self, values: FloatArray) -> FloatArray:
        return values

    count = weigh


class SpectralModes:
    """The measured levels and their tail, with the ridge δ on the Gram matrix."""

    ridge_falls_with_samples = True

    def __init__(self, problem: SpectralProblem) -> None:
        levels, powers = np.asarray(problem.eigenvalues), np.asarray(problem.target_powers)
        tail = float(problem.tail)  # type: ignore[arg-type]
        self._scale = float(levels.sum()) + tail or 1.0
        levels = levels / self._scale
        self._levels = np.where(levels < NEGLIGIBLE_WEIGHT, 0.0, levels)
        self.tail = tail / self._scale
        # divided by the largest first: the sum of large powers could overflow
        weights = powers / powers.max() if powers.any() else np.ones_like(powers)
        self._weights = weights / weights.sum()
        self.cost = levels.size
        self.learnable = bool(np.any(self._levels * self._weights > 0))
        count = float(np.count_nonzero(self._levels))
        self.rank = count if self.tail < NEGLIGIBLE_WEIGHT else math.inf

    def scaled_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        return ridge / self._scale / samples

    def own_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        return ridge * self._scale * samples

    def saturated(self, features: FloatArray, samples: FloatArray) -> BoolArray:
        return np.minimum(features, samples) >= self.rank

    def solve(
        self, features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray
    ) -> Balance:
        return balance_levels(features, samples, spare, ridge, self._levels, self.tail)

    def fractions(self, y: Any) -> tuple[Any, Any]:
        ly = self._levels[:, None] * y
        missed = 1 / (1 + ly)
        return ly * missed, missed

    def surplus(self, y: Any, learned: Any, missed: Any, size: FloatArray) -> Any:
        known = np.abs(missed) < 0.5
        loose = np.where(known, -missed, learned).sum(axis=0)
        return (loose + self.tail * y) + (known.sum(axis=0) - size)

    def reached(self, balance: Balance) -> FloatArray:
        top = int(np.argmax(self._levels))
        if self._levels[top] > 0:
            return np.asarray(balance.learned[top] / balance.missed[top] / self._levels[top])
        return np.asarray(balance.tail / self.tail)

    def paced(self, time: FloatArray, features: FloatArray, samples: FloatArray) -> FloatArray:
        # infinitely many features are as fast as any: they are divided by √P
        return self.scaled_ridge(1 / time, samples)

    def weigh(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(self._weights, values, axes=1))

    def count(self, values: FloatArray) -> FloatArray:
        return np.asarray(values.sum(axis=0))


def modes_of(problem: Problem | SpectralProblem) -> Modes:
    """Return the modes of either kind of problem."""
    return IsotropicModes(problem) if isinstance(problem, Problem) else SpectralModes(problem)
