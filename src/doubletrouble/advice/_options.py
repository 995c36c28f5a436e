"""Settings with their error and cost, and the single changes of a setting.

**Cost.** There are two measures, in the units of the problem (per D and D³ for ratios to D):

    features   P K               stored, and evaluated for each prediction
    training   K n P min(n, P)   n = N, or N/K for divided data

A ridge fit on n samples forms the smaller of the two Gram matrices and solves with it, in
n P min(n, P) operations up to a constant. One factorization serves every ridge, so that choosing
λ costs nothing.

**A little more width.** Beyond the peak at P = n, n samples per model, and without ridge, the error
of K models is R∞ + c/(K (P/n - 1)): twice the models are equivalent to twice the distance P - n.
"widen_a_little" is less than that: a tenth of P, or half of P - n where that is less.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble.costs import Measure as CostMeasure
from doubletrouble.costs import cost_of
from doubletrouble.ensembles import Divide, Ensemble, Scheme
from doubletrouble.glossary import N_FEATURES, N_SAMPLES
from doubletrouble.losses import Measure
from doubletrouble.parameters import Numeric
from doubletrouble.problems import Problem, SpectralProblem, ridge_name
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error

ERROR_TOLERANCE = 1e-10  # relative difference of equal errors, the tolerance of the search
WHOLE_TOLERANCE = 1e-9  # relative distance of a whole number from its integer
_COST_TOLERANCE = 1e-12  # relative difference of equal costs
_LITTLE_WIDER = 1.1


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


def width_of(problem: AnyProblem) -> float:
    """P in the units of the problem."""
    return scalar(problem.features_per_dim if isinstance(problem, Problem) else problem.n_features)


def samples_of(problem: AnyProblem) -> float:
    """N in the units of the problem."""
    return scalar(problem.samples_per_dim if isinstance(problem, Problem) else problem.n_samples)


def ridge_of(problem: AnyProblem) -> float:
    """The ridge: λ of a `Problem`, the `gram_ridge` of a `SpectralProblem`."""
    return scalar(problem.ridge if isinstance(problem, Problem) else problem.gram_ridge)


def changed(problem: AnyProblem, **changes: Any) -> AnyProblem:
    """The problem with another `width`, `samples` or `ridge`."""
    isotropic = isinstance(problem, Problem)
    names = {
        "width": "features_per_dim" if isotropic else "n_features",
        "samples": "samples_per_dim" if isotropic else "n_samples",
        "ridge": ridge_name(problem),
    }
    return replace(problem, **{names[name]: value for name, value in changes.items()})


@dataclass(frozen=True, kw_only=True)
class AdviceOption:
    """A setting by name, with its exact error and its cost."""

    name: str  # "widen"
    label: str  # "P → 2P"
    problem: Problem | SpectralProblem  # with its width, samples and ridge
    ensemble: Scheme  # the models
    error: ErrorTerms[Any]  # the exact error by cause
    measure: Measure | None = None  # of the error of classification
    ideal: "AdviceOption | None" = None  # the optimum over ratios, if this one is over counts

    @classmethod
    def _of(
        cls,
        name: str,
        label: str,
        problem: AnyProblem,
        ensemble: Scheme,
        measure: Measure | None = None,
    ) -> "AdviceOption":
        """Evaluate the error of a setting."""
        error = exact_error(problem, ensemble, measure)
        values: dict[str, Any] = {"problem": problem, "ensemble": ensemble, "measure": measure}
        return cls(name=name, label=label, error=error, **values)

    def _moved(self, name: str, label: str, ensemble: Scheme, **changes: Any) -> "AdviceOption":
        """The option after a change of its problem or its ensemble."""
        problem = changed(self.problem, **changes) if changes else self.problem
        return AdviceOption._of(name, label, problem, ensemble, self.measure)

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
    def width(self) -> float:
        """Features P of each model, in the units of the problem."""
        return width_of(self.problem)

    @property
    def samples(self) -> float:
        """Samples N, in the same units."""
        return samples_of(self.problem)

    @property
    def ridge(self) -> float:
        """Ridge: λ of a `Problem`, the `gram_ridge` of a `SpectralProblem`."""
        return ridge_of(self.problem)

    @property
    def total_features(self) -> float:
        """Features of all models together, P K."""
        return self.cost("features")

    @property
    def training_cost(self) -> float:
        """Cost of training, K n P min(n, P) with n samples per model."""
        return self.cost("training")

    def cost(self, measure: CostMeasure) -> float:
        """Return the cost in one of the measures.

        Parameters
        ----------
        measure : {"features", "training"}
            P K features in total, or the operations of training.

        Returns
        -------
        float
            The cost, in the units of the problem.
        """
        return cost_of(self.width, self.samples, self.n_members, self.scheme, measure)


def single_changes(
    now: AdviceOption, best_ridge: float, unit: float | None
) -> tuple[AdviceOption, ...]:
    """Every single change; `unit` is one feature or sample where these are counted.

    An infinite number does not change when it is doubled. Counted data have at most as many parts
    as there are samples.
    """
    P, N, K, ensemble = now.width, now.samples, now.n_members, now.ensemble
    all_data = "" if isinstance(ensemble, Ensemble) else ", all data each"
    twice = min(2.0 * N, N_SAMPLES.high)
    label, little = _a_little(P, N, K if isinstance(ensemble, Divide) else 1.0, unit)
    parts = min(2 * K, most_parts(now.problem, unit))
    return (
        now._moved("widen", "P → 2P", ensemble, width=_wider(P, 2.0)),
        now._moved("widen_a_little", label, ensemble, width=little),
        now._moved("ensemble", f"K → 2K{all_data}", Ensemble(2 * K)),
        now._moved("divide", f"divide among {rounded(parts, 6)}", Divide(parts)),
        now._moved("regularize", "λ → λ*", ensemble, ridge=best_ridge),
        now._moved("collect", "N → 2N", ensemble, samples=twice),
        now._moved("many", f"K → ∞{all_data}", Ensemble(math.inf)),
    )


def most_parts(problem: AnyProblem, unit: float | None) -> float:
    """Largest number of parts of the data: each has at least one sample."""
    return math.inf if unit is None else float(round(samples_of(problem) / unit))


def _wider(P: float, factor: float) -> float:
    return P if math.isinf(P) else min(factor * P, N_FEATURES.high)


def _a_little(P: float, N: float, parts: float, unit: float | None) -> tuple[str, float]:
    """Label and value of a slightly larger width, for models on N/parts samples."""
    n = N / parts
    near_peak = math.isfinite(P) and 0 < (P - n) / 2 < (_LITTLE_WIDER - 1) * P
    more = P + (P - n) / 2 if near_peak else _wider(P, _LITTLE_WIDER)
    if unit is not None and math.isfinite(more):
        steps = (more - P) / unit
        if steps < 0.5 or not is_whole(steps):
            steps = max(1.0, float(round(steps)))
            return f"P → P + {rounded(steps, 6)}", _wider(P + steps * unit, 1.0)
    return f"P → P + (P-N{'/K' if parts > 1 else ''})/2" if near_peak else "P → 1.1P", more
