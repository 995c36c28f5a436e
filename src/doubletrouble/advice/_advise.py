"""`advise`: the error after each change, and the best allocation of a budget.

Of a problem the errors are exact; of a decomposition or a diagnosis they are measured.
"""

from __future__ import annotations  # help() shows names instead of unions

import math
from typing import Any, overload

from doubletrouble.advice._allocation import (
    best_allocation,
    best_width_of_many,
    count_unit,
    round_many,
)
from doubletrouble.advice._frontier import scaling_frontier
from doubletrouble.advice._options import AdviceOption, single_changes
from doubletrouble.advice._result import Advice, MarginalValue
from doubletrouble.costs import Measure as CostMeasure
from doubletrouble.costs import check_measure
from doubletrouble.decomposition import Decomposition
from doubletrouble.diagnosis import (
    MEASURED,
    WITHHELD,
    Diagnosis,
    LearnerComparison,
    Remedies,
    Remedy,
)
from doubletrouble.ensembles import Ensemble, EnsembleLike, as_ensemble
from doubletrouble.glossary import BUDGET, DIM, N_MEMBERS
from doubletrouble.losses import Logistic, MaxMargin, Measure
from doubletrouble.parameters import number
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import AnyProblem, optimal_ridge

_AVERAGED = (10, math.inf)  # seeds, in the remedies of a decomposition
_ONE_SIZE = (
    "a decomposition has one size of training sets, which does not determine the error at "
    "another; dt.diagnose(model, X, y) extrapolates it"
)


@overload
def advise(
    problem: AnyProblem,
    ensemble: EnsembleLike = 1,
    *,
    budget: float | None = None,
    cost: CostMeasure = "features",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Advice: ...


@overload
def advise(problem: Decomposition | Diagnosis | LearnerComparison) -> Remedies: ...


def advise(
    problem: AnyProblem | Decomposition | Diagnosis | LearnerComparison,
    ensemble: EnsembleLike = 1,
    *,
    budget: float | None = None,
    cost: CostMeasure = "features",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Advice | Remedies:
    """Compute the exact error now, after every single change, and at its best under a budget.

    The remedies of a result of `diagnose` or `decompose` have measured errors. A decomposition
    determines that of averaged seeds, and not that of more data. The remedies of `compare` are the
    other learners.

    The single changes are twice the width ("widen"; "widen_a_little" is a tenth more, or half of
    P - N where that is less), twice the models ("ensemble"), the data divided among twice the
    models ("divide"), the best ridge ("regularize"), twice the data ("collect") and infinitely many
    models ("many"). "widen", "ensemble" and "divide" cost the same in features.

    The best allocation is over P, K and λ, for models that share the data and for divided data. For
    a `SpectralProblem` the option "frontier" is that of `scaling_frontier`: the best n ≤ N, P, K
    and ridge at the present cost of training, where fewer samples may pay for more features.

    Parameters
    ----------
    problem : Problem, SpectralProblem, Diagnosis, LearnerComparison or Decomposition
        A single problem, or a result of `diagnose`, `compare`, `decompose` or
        `decompose_predictions`, which takes no further arguments.
    ensemble : int, Ensemble or Divide, default: 1
        The present models.
    budget : float or None, default: None
        The largest cost, in the units of the problem: P and N of a `Problem` are per input
        dimension, so that training is per D³. Default: the present cost; may be `math.inf`.
    cost : {"features", "training"}, default: "features"
        The measure of cost: P K features in total, or K n P min(n, P), the operations of K ridge
        fits on n samples each, up to a constant. Choosing λ costs nothing: one factorization
        serves all.
    dim : float or None, default: None
        The input dimension D of a `Problem`, to show P and N as counts. If N is then a whole
        number, the best allocations have whole numbers of features, as for a `SpectralProblem`.
    measure : {None, "zero_one", "zero_one_noisy", "squared", "log"}, default: None
        The error of classification, "zero_one" unless given, as for `exact_error`.

    Returns
    -------
    Advice or Remedies
        Of a problem, an `Advice` with every option, its error by cause and its cost. Of another
        result, its `Remedies`: the error after each, with intervals.

    Raises
    ------
    ValueError
        If a number is outside its domain, a measure is unknown, or the ensemble is not supported;
        for the loss "max_margin", whose margin does not depend on the ridge, and the loss
        "logistic" at ridge 0, where its weights diverge on separable data; or if an argument is
        given that the problem does not take.
    TypeError
        If `problem` is not of the types above or is an array.
    ConvergenceError
        If a solver stops before its tolerance.

    Notes
    -----
    With losses other than the squared loss of regression the best allocation is the best of up to
    1024 models, at widths of a fiftieth of N or more; the marginal values are central differences.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> advice.choice.name, round(advice.now.total, 3), round(advice.choice.total, 3)
    ('regularize', 7.94, 0.841)
    >>> advice["ensemble"].total < advice["widen_a_little"].total
    True
    >>> advice.best.n_members, round(advice.best.ridge, 3)
    (1.0, 0.78)
    """
    if isinstance(problem, Diagnosis | LearnerComparison | Decomposition):
        values: dict[str, Any] = {"ensemble": ensemble, "budget": budget, "dim": dim}
        values |= {"cost": cost, "measure": measure}
        for name, value in values.items():
            default = {"ensemble": 1, "cost": "features"}.get(name)
            if value != default:
                kind = type(problem).__name__
                raise ValueError(f"{name} must be left out for a {kind}, got {value!r}")
        return _remedies(problem) if isinstance(problem, Decomposition) else problem.remedies()
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            "problem must be a Problem, a SpectralProblem, or the result of diagnose, compare or "
            f"decompose, got {type(problem).__name__}"
        )
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    scheme = as_ensemble(ensemble, "advise")
    number("ensemble", scheme.n_members, N_MEMBERS)
    check_measure(cost)
    if budget is not None:
        budget = number("budget", budget, BUDGET)
    if dim is not None:
        dim = number("dim", dim, DIM)
        if isinstance(problem, SpectralProblem):
            raise ValueError(f"dim must be left out for a SpectralProblem, got {dim:g}")

    if isinstance(problem, Problem) and isinstance(problem.loss, MaxMargin):
        raise ValueError("loss must depend on the ridge for advise, got max_margin")
    if isinstance(problem, Problem) and isinstance(problem.loss, Logistic) and not problem.ridge:
        raise ValueError(
            "ridge must be positive for advise with loss logistic, whose weights diverge at ridge "
            "0 where a change makes the data separable, got 0: optimal_ridge(problem) is one, and "
            "losses hinge and squared_hinge have a limit"
        )

    unit = count_unit(problem, dim)
    now = AdviceOption._of("now", "now", problem, scheme, measure)
    budget = now.cost(cost) if budget is None else budget
    best_ridge = float(optimal_ridge(problem, scheme, measure).ridge)
    changes = single_changes(now, best_ridge, unit)
    label, width = "K → ∞ at its best P", best_width_of_many(problem, measure)
    many = now._moved("many_at_best_width", label, Ensemble(math.inf), width=width)
    many = round_many(many, unit)
    regularized = next(option for option in changes if option.name == "regularize")

    def best(known: AdviceOption, *, free_ridge: bool) -> AdviceOption:
        return best_allocation(
            known, many, budget=budget, cost=cost, unit=unit, free_ridge=free_ridge
        )

    return Advice(
        now=now,
        changes=changes,
        best=best(regularized, free_ridge=True),
        best_at_this_ridge=best(now, free_ridge=False),
        many_at_best_width=many,
        marginal=MarginalValue._of(now, best_ridge),
        budget=budget,
        cost=cost,
        dim=dim,
        frontier=_frontier(now),
    )


def _frontier(now: AdviceOption) -> AdviceOption | None:
    """The best n ≤ N, P, K and ridge at the present cost of training; None for a `Problem`."""
    compute = now.training_cost
    if not isinstance(now.problem, SpectralProblem) or not 1 <= compute < math.inf:
        return None
    best = scaling_frontier(now.problem, compute, max_n_samples=now.samples)
    sizes = {"width": best.n_features, "samples": best.n_samples, "ridge": best.gram_ridge}
    return now._moved(
        "frontier",
        "best n ≤ N, P, K, λ for this training",
        Ensemble(float(best.n_members[0])),
        **{name: float(value[0]) for name, value in sizes.items()},
    )


def _remedies(result: Decomposition) -> Remedies:
    """The error of averaged seeds, and why that of more data is not determined."""
    now, design, loss = result.error().total, result.design, result.loss
    reason = design.lacks("the error of an ensemble", ("init",)) or ""
    if design.deterministic:
        reason = "the learner has no seed: averaging changes nothing"
    elif math.isinf(float(now)):
        reason = "the error is infinite"
    rows = []
    # other losses do not fall as 1/K
    for K in _AVERAGED if loss == "brier" or design.deterministic else (design.n_init,):
        total = None if reason else result.error(K).total
        how = "voting" if loss == "zero_one" else "averaged"
        rows.append(
            Remedy(
                name=f"{'∞' if math.isinf(K) else K} seeds {how}",
                status=WITHHELD if total is None else MEASURED,
                error=total,
                change=None if total is None else total / now - 1,
                fits=K,
                reason=reason,
            )
        )
    more = Remedy(
        name="2x data",
        status=WITHHELD,
        error=None,
        change=None,
        fits=1,
        growth=2,
        reason=_ONE_SIZE,
    )
    return Remedies(remedies=(*rows, more), confidence=result.confidence)
