"""Settings with their error and cost, and the single changes of a setting.

**Cost.** There are two measures, in the units of the problem (per D and D³ for ratios to D):

    features   P K               stored, and evaluated for each prediction
    training   K n P min(n, P)   n = N, or N/K for divided data

A ridge fit on n samples forms the smaller of the two Gram matrices and solves with it, in
n P min(n, P) operations up to a constant. One factorization serves every ridge, so that choosing
λ costs nothing.

**Slightly more features.** Beyond the peak at P = n, n samples per model, and without ridge, the
error of K models is R∞ + c/(K (P/n - 1)): twice the models are equivalent to twice the distance
P - n. "slightly more features" is less than that: a tenth of P, or half of P - n where that is
less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble.costs import COSTS, CostName, cost_of, relative_cost
from doubletrouble.ensembles import Divide, Ensemble, Scheme
from doubletrouble.glossary import N_FEATURES, N_SAMPLES
from doubletrouble.losses import Measure
from doubletrouble.options import (
    DATA,
    DIVIDED,
    FEATURES,
    MANY,
    MODELS,
    RIDGE,
    SLIGHTLY,
    Option,
    option_after,
)
from doubletrouble.parameters import Numeric, Value
from doubletrouble.problems import Problem, SpectralProblem, ridge_name
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error

ERROR_TOLERANCE = 1e-10  # relative difference of equal errors, the tolerance of the search
WHOLE_TOLERANCE = 1e-9  # relative distance of a whole number from its integer
_COST_TOLERANCE = 1e-12  # relative difference of equal costs
_SLIGHTLY_MORE = 1.1
_LARGEST_COUNT = 1e15  # larger ones are not exact to the last digit


def affordable(cost: float, budget: float) -> bool:
    """Whether a cost is within the budget, up to rounding."""
    return cost <= budget * (1 + _COST_TOLERANCE)


def less(error: float, other: float) -> bool:
    """Whether an error is below another one by more than the tolerance of the search.

    >>> less(1.0, 2.0), less(1 - 1e-12, 1.0), less(math.inf, math.inf)
    (True, False, False)
    """
    return error < other * (1 - ERROR_TOLERANCE)


def is_whole(value: float) -> bool:
    """Whether a number is an integer, up to rounding.

    >>> is_whole(3.0), is_whole(2.9999999999999996), is_whole(2.99), is_whole(math.inf)
    (True, True, False, False)
    """
    return math.isfinite(value) and abs(value - round(value)) <= WHOLE_TOLERANCE * value


def scalar(value: Numeric) -> float:
    """A parameter of a single problem as a float."""
    return float(np.asarray(value))


def n_features_of(problem: AnyProblem) -> float:
    """P in the units of the problem."""
    return scalar(problem.features_per_dim if isinstance(problem, Problem) else problem.n_features)


def n_samples_of(problem: AnyProblem) -> float:
    """N in the units of the problem."""
    return scalar(problem.samples_per_dim if isinstance(problem, Problem) else problem.n_samples)


def ridge_of(problem: AnyProblem) -> float:
    """The ridge: λ of a `Problem`, the `gram_ridge` of a `SpectralProblem`."""
    return scalar(problem.ridge if isinstance(problem, Problem) else problem.gram_ridge)


def changed(problem: AnyProblem, **changes: Any) -> AnyProblem:
    """The problem with other `n_features` or `n_samples`, in its units, or another `ridge`."""
    isotropic = isinstance(problem, Problem)
    names = {
        "n_features": "features_per_dim" if isotropic else "n_features",
        "n_samples": "samples_per_dim" if isotropic else "n_samples",
        "ridge": ridge_name(problem),
    }
    return replace(problem, **{names[name]: value for name, value in changes.items()})


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A problem and its models by name, with their exact error and their cost."""

    name: str  # "2x features"
    problem: AnyProblem  # with its features, samples and ridge
    ensemble: Scheme  # the models
    error: ErrorTerms[Value]  # the exact error by cause
    measure: Measure | None = None  # of the error of classification
    ideal: Setting | None = None  # the optimum over ratios, if this one is over counts

    @classmethod
    def of(
        cls, name: str, problem: AnyProblem, ensemble: Scheme, measure: Measure | None = None
    ) -> Setting:
        """Evaluate the error of a setting."""
        error = exact_error(problem, ensemble, measure)
        return cls(name=name, problem=problem, ensemble=ensemble, error=error, measure=measure)

    def moved(self, name: str, ensemble: Scheme, **changes: Any) -> Setting:
        """The setting after a change of its problem or its ensemble."""
        problem = changed(self.problem, **changes) if changes else self.problem
        return Setting.of(name, problem, ensemble, self.measure)

    @property
    def n_members(self) -> float:
        """Number of models K."""
        return scalar(self.ensemble.n_members)

    @property
    def scheme(self) -> str:
        """Name of the scheme: "ensemble" or "divide"."""
        return self.ensemble.name

    @property
    def total(self) -> float:
        """Total test error."""
        return float(self.error.total)

    def cost(self, of: CostName) -> float:
        """The features of all models, or the operations of training, in the problem's units."""
        P, N = n_features_of(self.problem), n_samples_of(self.problem)
        return cost_of(P, N, self.n_members, self.scheme, of)

    def sizes(self, dim: float | None) -> dict[str, float]:
        """P, N and K by name, as counts where these are known."""
        counted = dim is not None or isinstance(self.problem, SpectralProblem)
        names = ("n_features", "n_samples") if counted else ("features_per_dim", "samples_per_dim")
        P, N = (size(self.problem) * (dim or 1.0) for size in (n_features_of, n_samples_of))
        sizes = dict(zip(names, (P, N), strict=True)) | {"n_members": self.n_members}
        return {
            name: round(size) if is_whole(size) and size < _LARGEST_COUNT else size
            for name, size in sizes.items()
        }

    def option(self, now: Setting, dim: float | None) -> Option:
        """The setting as an option beside the present one."""
        sizes, ridge = self.sizes(dim), {ridge_name(self.problem): ridge_of(self.problem)}
        about: dict[str, Any] = {
            "cost": self._relative_cost(now),
            "setting": {**sizes, **ridge, "scheme": self.scheme},
            "problem": self.problem,
            "ensemble": self.ensemble,
        }
        if self is now:
            return Option(name=self.name, error=self.error, **about)
        present = Option(name=now.name, error=now.error)
        return option_after(self.name, self.error, present, **about)

    def _relative_cost(self, now: Setting) -> dict[str, float]:
        """The costs in multiples of the present ones; infinitely many models cost infinitely."""
        features, training = (relative_cost(self.cost(of), now.cost(of)) for of in COSTS)
        if math.isinf(self.n_members) and math.isfinite(now.n_members):
            features = training = math.inf
        data = relative_cost(n_samples_of(self.problem), n_samples_of(now.problem))
        return {"features": features, "data": data, "training": training}


def single_changes(now: Setting, best_ridge: float, unit: float | None) -> tuple[Setting, ...]:
    """Every single change, the cheapest first; `unit` is one feature or sample of counts.

    An infinite number does not change when it is doubled. Counted data have at most as many parts
    as there are samples.
    """
    P, N = n_features_of(now.problem), n_samples_of(now.problem)
    K, ensemble = now.n_members, now.ensemble
    twice = min(2.0 * N, N_SAMPLES.high)
    more = _slightly_more(P, N / K if isinstance(ensemble, Divide) else N, unit)
    parts = min(2 * K, most_parts(now.problem, unit))
    return (
        now.moved(RIDGE, ensemble, ridge=best_ridge),
        now.moved(FEATURES, ensemble, n_features=_times(P, 2.0)),
        now.moved(SLIGHTLY, ensemble, n_features=more),
        now.moved(MODELS, Ensemble(2 * K)),
        now.moved(DIVIDED, Divide(parts)),
        now.moved(DATA, ensemble, n_samples=twice),
        now.moved(MANY, Ensemble(math.inf)),
    )


def most_parts(problem: AnyProblem, unit: float | None) -> float:
    """Largest number of parts of the data: each has at least one sample."""
    return math.inf if unit is None else float(round(n_samples_of(problem) / unit))


def _times(P: float, factor: float) -> float:
    return P if math.isinf(P) else min(factor * P, N_FEATURES.high)


def _slightly_more(P: float, n: float, unit: float | None) -> float:
    """Slightly more features, for models on n samples each."""
    near_peak = math.isfinite(P) and 0 < (P - n) / 2 < (_SLIGHTLY_MORE - 1) * P
    more = P + (P - n) / 2 if near_peak else _times(P, _SLIGHTLY_MORE)
    if unit is None or math.isinf(more):
        return more
    steps = (more - P) / unit
    return _times(P + max(1.0, float(round(steps))) * unit, 1.0)
