"""P, N and budgets as they are shown: per input dimension, or as counts."""

import math
from typing import NamedTuple

from doubletrouble.advice._cost import Cost
from doubletrouble.advice._counts import is_whole
from doubletrouble.advice._words import count, noun, said
from doubletrouble.problems import SpectralProblem
from doubletrouble.theory import AnyProblem


class Units(NamedTuple):
    """What to call P and N, and what to multiply them with; costs, there and back."""

    features: str
    samples: str
    scale: float

    @classmethod
    def of(cls, problem: AnyProblem, dim: float | None) -> "Units":
        """Counts for a measured spectrum, and wherever D is known."""
        if isinstance(problem, SpectralProblem):
            return cls("P", "N", 1.0)
        return cls("P/D", "N/D", 1.0) if dim is None else cls("P", "N", dim)

    def width(self, value: float) -> str:
        """A width with its symbol: P/D = 2."""
        return f"{self.features} = {self.number(value)}"

    def number(self, value: float) -> str:
        """A number of features or of samples; a count with all its digits."""
        shown = value * self.scale
        if self.features == "P" and shown >= 1 and is_whole(shown):
            return count(float(round(shown)))
        return said(shown)

    def shown(self, value: float, cost: Cost) -> float:
        """A cost as it is shown, from the problem's own units."""
        return value * self._unit(cost)

    def own(self, value: float, cost: Cost) -> float:
        """A cost in the problem's own units, from what is shown: the inverse of `shown`."""
        return value / self._unit(cost)

    def under(self, budget: float, cost: Cost) -> str:
        """The budget as the beginning of a sentence."""
        if math.isinf(budget):
            return "Whatever it costs"
        amount = self.shown(budget, cost)
        if cost == "features":
            per = " per dimension" if self.features == "P/D" else ""
            features = self.number(budget)
            return f"Under a budget of {features} {noun(features, 'feature')}{per} in all"
        per = " (per D³)" if self.features == "P/D" else ""
        return f"Under a training cost of {said(amount)}{per} at most"

    def _unit(self, cost: Cost) -> float:
        """D of features, D³ of operations of training."""
        return self.scale if cost == "features" else self.scale**3
