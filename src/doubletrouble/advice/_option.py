"""One way to go on: a problem, how many models, how they share the data, and the error then."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble.advice._cost import Cost, cost_of
from doubletrouble.ensembles import Scheme
from doubletrouble.glossary import N_FEATURES, N_SAMPLES
from doubletrouble.parameters import Numeric
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error


@dataclass(frozen=True, kw_only=True)
class AdviceOption:
    """A setting by name, with its exact error and what it costs."""

    name: str  # "widen"
    label: str  # "P → 2P"
    problem: Problem | SpectralProblem
    ensemble: Scheme
    error: ErrorTerms[Any]
    ideal: "AdviceOption | None" = None  # the optimum over ratios, where this one is of counts

    @classmethod
    def of(cls, name: str, label: str, problem: AnyProblem, ensemble: Scheme) -> "AdviceOption":
        """Evaluate a setting."""
        error = exact_error(problem, ensemble)
        return cls(name=name, label=label, problem=problem, ensemble=ensemble, error=error)

    @property
    def n_members(self) -> float:
        """K, the number of models."""
        return scalar(self.ensemble.n_members)

    @property
    def scheme(self) -> str:
        """The name of the scheme: "ensemble" or "divide"."""
        return self.ensemble.name

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
        return scalar(self.problem.ridge)

    @property
    def features(self) -> float:
        """P K: the features of all models together."""
        return self.cost("features")

    @property
    def training(self) -> float:
        """K n P min(n, P): the cost of fitting them, n being the samples each one sees."""
        return self.cost("training")

    def cost(self, measure: Cost) -> float:
        """What it costs, "features" or "training"."""
        return cost_of(self.width, self.samples, self.n_members, self.scheme, measure)


def scalar(value: Numeric) -> float:
    """One number of a problem that is a single one."""
    return float(np.asarray(value))


def width(problem: AnyProblem) -> float:
    """P of either kind of problem."""
    return scalar(problem.features_per_dim if isinstance(problem, Problem) else problem.n_features)


def samples(problem: AnyProblem) -> float:
    """N of either kind of problem."""
    return scalar(problem.samples_per_dim if isinstance(problem, Problem) else problem.n_samples)


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
