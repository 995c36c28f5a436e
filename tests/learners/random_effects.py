"""Predictions with known parts: a sum of independent effects, one for each set of causes."""

from dataclasses import dataclass

import numpy as np

from doubletrouble.learners import Decomposition
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate


@dataclass(frozen=True, kw_only=True)
class Effects:
    """Every part of the squared error against zero, on average over test points."""

    bias: float = 0.7
    initialization: float = 0.3
    sampling: float = 0.5
    initialization_sampling: float = 0.8
    noise_sampling: float = 0.4
    noise_initialization_sampling: float = 0.6
    tails: float | None = None  # degrees of freedom of Student's distribution; None: Gaussian
    together: float = 0.0  # correlation of an effect between test points

    def draw(
        self, shape: tuple[int, int, int, int], rng: np.random.Generator, *, crossed: bool = True
    ) -> FloatArray:
        """Predictions [data, noise, init, test], with more variance at later test points."""
        D, N, K, T = shape
        effects = (
            (self.initialization, (1 if crossed else D, 1, K)),
            (self.sampling, (D, 1, 1)),
            (self.initialization_sampling, (D, 1, K)),
            (self.noise_sampling, (D, N, 1)),
            (self.noise_initialization_sampling, (D, N, K)),
        )
        sums = np.zeros(shape)
        for variance, draws in effects:
            alone, shared = self._draw((*draws, T), rng), self._draw((*draws, 1), rng)
            mixed = np.sqrt(1 - self.together) * alone + np.sqrt(self.together) * shared
            sums += np.sqrt(variance) * mixed
        scale = np.sqrt(np.linspace(0.5, 1.5, T)) if T > 1 else np.ones(1)
        return np.asarray(np.sqrt(self.bias) + scale * sums)

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        if self.tails is None:
            return rng.standard_normal(shape)
        draws = rng.standard_t(self.tails, shape)
        return np.asarray(draws * np.sqrt((self.tails - 2) / self.tails))

    @property
    def anova(self) -> dict[str, float]:
        """The parts one by one."""
        names = (
            "bias",
            "initialization",
            "sampling",
            "initialization_sampling",
            "noise_sampling",
            "noise_initialization_sampling",
        )
        return {name: getattr(self, name) for name in names}

    @property
    def sequential(self) -> dict[str, float]:
        """The paper's parts."""
        return {
            "noise": self.noise_sampling + self.noise_initialization_sampling,
            "initialization": self.initialization + self.initialization_sampling,
            "sampling": self.sampling,
            "bias": self.bias,
        }

    def ensemble(self, n_members: float) -> float:
        """The error of K averaged members."""
        own = self.initialization + self.initialization_sampling
        own += self.noise_initialization_sampling
        return self.bias + self.sampling + self.noise_sampling + own / n_members


def rows(result: Decomposition) -> dict[str, Estimate]:
    """Every part, and the total where there is a target."""
    error = result.error()
    return {**error.parts, **({"total": error.total} if result.design.targets else {})}


def label(result: Decomposition, name: str) -> str:
    """The name of a part, with what else it contains."""
    more = result.error().includes.get(name)
    return f"{name} + {more}" if more else name
