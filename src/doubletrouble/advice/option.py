"""One way to go on: a problem, how many models, how they share the data, and the error then."""

import math
from dataclasses import dataclass, replace
from typing import Any

from doubletrouble.advice.cost import cost_of
from doubletrouble.glossary import N_FEATURES, N_SAMPLES
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.points import AnyProblem


@dataclass(frozen=True, kw_only=True)
class Option:
    """A setting by name, with its exact error and what it costs."""

    name: str  # "widen"
    label: str  # "P → 2P"
    problem: Problem | SpectralProblem
    n_members: float
    scheme: str
    error: ErrorTerms
    ideal: "Option | None" = None  # the best of ratios, where this is the whole one next to it

    @classmethod
    def of(
        cls, name: str, label: str, problem: AnyProblem, n_members: float, scheme: str
    ) -> "Option":
        """Evaluate a setting."""
        return cls(
            name=name, label=label, problem=problem, n_members=n_members, scheme=scheme,
            error=exact_error(problem, n_members, scheme),
        )  # fmt: skip

    @property
    def total(self) -> float:
        """The total test error."""
        return float(self.error.total)

    @property
    def width(self) -> float:
        """P of each model, in the problem's units: per input dimension, or a count."""
        return width(self.problem)

    @property
    def samples(self) -> float:
        """N, in the same units."""
        return samples(self.problem)

    @property
    def ridge(self) -> float:
        """The ridge, in the problem's convention."""
        return float(self.problem.ridge)  # type: ignore[arg-type]

    @property
    def features(self) -> float:
        """P K: the features of all models together."""
        return self.cost("features")

    @property
    def training(self) -> float:
        """K n P min(n, P): the cost of fitting them, n being the samples each one sees."""
        return self.cost("training")

    def cost(self, measure: str) -> float:
        """What it costs, "features" or "training"."""
        return cost_of(self.width, self.samples, self.n_members, self.scheme, measure)


def width(problem: AnyProblem) -> float:
    """P of either kind of problem."""
    isotropic = isinstance(problem, Problem)
    return float(problem.features_per_dim if isotropic else problem.n_features)  # type: ignore


def samples(problem: AnyProblem) -> float:
    """N of either kind of problem."""
    isotropic = isinstance(problem, Problem)
    return float(problem.samples_per_dim if isotropic else problem.n_samples)  # type: ignore


def wider(width: float, factor: float) -> float:
    """So many times the features, as far as there can be as many."""
    return width if math.isinf(width) else min(factor * width, N_FEATURES.high)


def richer(samples: float, factor: float) -> float:
    """So many times the samples, as far as there can be as many."""
    return min(factor * samples, N_SAMPLES.high)


def changed(problem: AnyProblem, **changes: Any) -> AnyProblem:
    """The same problem with another `width`, `samples` or `ridge`."""
    isotropic = isinstance(problem, Problem)
    names = {
        "width": "features_per_dim" if isotropic else "n_features",
        "samples": "samples_per_dim" if isotropic else "n_samples",
        "ridge": "ridge",
    }
    return replace(problem, **{names[name]: value for name, value in changes.items()})
