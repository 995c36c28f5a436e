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

from doubletrouble.costs import CostName, cost_of
from doubletrouble.ensembles import Divide, Ensemble, Scheme
from doubletrouble.glossary import N_FEATURES, N_SAMPLES
from doubletrouble.losses import Measure
from doubletrouble.parameters import Numeric, Value
from doubletrouble.problems import Problem, SpectralProblem, ridge_name
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error

ERROR_TOLERANCE = 1e-10  # relative difference of equal errors, the tolerance of the search
WHOLE_TOLERANCE = 1e-9  # relative distance of a whole number from its integer
_COST_TOLERANCE = 1e-12  # relative difference of equal costs
_SLIGHTLY_MORE = 1.1
NOW, RIDGE, DATA = "now", "best ridge", "2x data"
FEATURES, SLIGHTLY, MODELS = "2x features", "slightly more features", "2x models"
DIVIDED, MANY, MANY_AT_BEST = "divided data", "∞ models", "∞ models, best features"
BEST, BEST_AT_THIS_RIDGE = "best allocation", "best at this ridge"
FRONTIER = "frontier"
"""Names of options."""


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


def rounded(value: float, digits: int = 3) -> str:
    """A number with some significant digits, without exponent between 1e-3 and 1e6.

    >>> rounded(0.61803), rounded(1234.5), rounded(12345678.0), rounded(math.inf), rounded(2.0)
    ('0.618', '1230', '1.23e+07', '∞', '2')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    near = float(f"{value:.{digits}g}") + 0.0  # not -0
    plain = near == 0 or 1e-3 <= abs(near) < 1e6
    return f"{near:.{max(digits, 6) if plain else digits}g}"


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
class AdviceOption:
    """A setting by name, with its exact error and its cost; P, N and λ are those of `problem`."""

    name: str  # "2x features"
    problem: Problem | SpectralProblem  # with its features, samples and ridge
    ensemble: Scheme  # the models
    error: ErrorTerms[Value]  # the exact error by cause
    measure: Measure | None = None  # of the error of classification
    ideal: AdviceOption | None = None  # the optimum over ratios, if this one is over counts

    @classmethod
    def _of(
        cls,
        name: str,
        problem: AnyProblem,
        ensemble: Scheme,
        measure: Measure | None = None,
    ) -> AdviceOption:
        """Evaluate the error of a setting."""
        error = exact_error(problem, ensemble, measure)
        values: dict[str, Any] = {"problem": problem, "ensemble": ensemble, "measure": measure}
        return cls(name=name, error=error, **values)

    def _moved(self, name: str, ensemble: Scheme, **changes: Any) -> AdviceOption:
        """The option after a change of its problem or its ensemble."""
        problem = changed(self.problem, **changes) if changes else self.problem
        return AdviceOption._of(name, problem, ensemble, self.measure)

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

    @property
    def ridge(self) -> float | None:
        """Ridge λ of a `Problem`; None for a `SpectralProblem`."""
        return ridge_of(self.problem) if isinstance(self.problem, Problem) else None

    @property
    def gram_ridge(self) -> float | None:
        """The `gram_ridge` of a `SpectralProblem`; None for a `Problem`."""
        return None if isinstance(self.problem, Problem) else ridge_of(self.problem)

    @property
    def total_features(self) -> float:
        """Features of all models together, P K."""
        return self.cost("features")

    @property
    def training_cost(self) -> float:
        """Cost of training, K n P min(n, P) with n samples per model."""
        return self.cost("training")

    def cost(self, of: CostName) -> float:
        """Return the features of all models, or the operations of training.

        Parameters
        ----------
        of : {"features", "training"}
            P K features in total, or the operations of training.

        Returns
        -------
        float
            The cost, in the units of the problem.
        """
        P, N = n_features_of(self.problem), n_samples_of(self.problem)
        return cost_of(P, N, self.n_members, self.scheme, of)


def single_changes(
    now: AdviceOption, best_ridge: float, unit: float | None
) -> tuple[AdviceOption, ...]:
    """Every single change; `unit` is one feature or sample where these are counted.

    An infinite number does not change when it is doubled. Counted data have at most as many parts
    as there are samples.
    """
    P, N = n_features_of(now.problem), n_samples_of(now.problem)
    K, ensemble = now.n_members, now.ensemble
    twice = min(2.0 * N, N_SAMPLES.high)
    more = _slightly_more(P, N / K if isinstance(ensemble, Divide) else N, unit)
    parts = min(2 * K, most_parts(now.problem, unit))
    return (
        now._moved(FEATURES, ensemble, n_features=_times(P, 2.0)),
        now._moved(SLIGHTLY, ensemble, n_features=more),
        now._moved(MODELS, Ensemble(2 * K)),
        now._moved(DIVIDED, Divide(parts)),
        now._moved(RIDGE, ensemble, ridge=best_ridge),
        now._moved(DATA, ensemble, n_samples=twice),
        now._moved(MANY, Ensemble(math.inf)),
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
