"""`advise`: the error after each change, and the best allocation of a budget.

Of a problem the errors are exact; of a forecast, a diagnosis or a decomposition they are estimates.
"""

from __future__ import annotations  # help() shows names instead of unions

import math
from typing import Any, overload

from doubletrouble import options
from doubletrouble.advice._allocation import (
    best_allocation,
    best_features_of_many,
    count_unit,
    round_many,
)
from doubletrouble.advice._frontier import scaling_frontier
from doubletrouble.advice._options import (
    FRONTIER,
    MANY_AT_BEST,
    NOW,
    RIDGE,
    AdviceOption,
    n_samples_of,
    scalar,
    single_changes,
)
from doubletrouble.advice._result import Advice, MarginalValue
from doubletrouble.costs import CostName, check_cost
from doubletrouble.decomposition import Decomposition
from doubletrouble.diagnosis import Diagnosis, LearnerComparison
from doubletrouble.ensembles import Ensemble, EnsembleLike, as_ensemble
from doubletrouble.forecasting import DEFAULT_RIDGE, Forecast
from doubletrouble.glossary import BUDGET, DIM, N_MEMBERS
from doubletrouble.losses import Logistic, MaxMargin, Measure
from doubletrouble.parameters import number, shown
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import AnyProblem, optimal_ridge

_AVERAGED = (10, math.inf)  # seeds, in the advice on a decomposition
_DEFAULTS: dict[str, object] = {"ensemble": 1, "cost": "features"}  # others are None
_OF_A_FORECAST = ("n_features", "ridge", "n_samples", "ensemble", "budget", "cost")
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
    cost: CostName = "features",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Advice: ...


@overload
def advise(
    problem: Forecast,
    ensemble: float = 1,
    *,
    n_features: float,
    ridge: float = DEFAULT_RIDGE,
    n_samples: float | None = None,
    budget: float | None = None,
    cost: CostName = "features",
) -> options.Advice: ...


@overload
def advise(problem: Decomposition | Diagnosis | LearnerComparison) -> options.Advice: ...


def advise(
    problem: AnyProblem | Forecast | Diagnosis | LearnerComparison | Decomposition,
    ensemble: EnsembleLike = 1,
    *,
    n_features: float | None = None,
    ridge: float | None = None,
    n_samples: float | None = None,
    budget: float | None = None,
    cost: CostName = "features",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Advice | options.Advice:
    """Compute the error now, after every single change, and at its best under a budget.

    Of a problem the errors are exact. Of a result it is the `advise` of that result: of a forecast,
    the forecast errors of a model and its changes; of a diagnosis, measured errors; of a
    comparison, the other learners. A decomposition determines the error of averaged seeds, and not
    that of more data.

    The single changes of a problem are "2x features"; "slightly more features" (a tenth more, or
    half of P - N where that is less); "2x models"; "divided data" (among twice the models); "best
    ridge"; "2x data"; and "∞ models". The first, third and fourth cost the same in features.

    The best allocation is over P, K and λ, for models that share the data and for divided data. For
    a `SpectralProblem` the option "frontier" is that of `scaling_frontier`: the best n ≤ N, P, K
    and ridge at the present cost of training, where fewer samples may pay for more features.

    Parameters
    ----------
    problem : Problem, SpectralProblem, Forecast, Diagnosis, LearnerComparison or Decomposition
        A single problem, or a result of `forecast`, `diagnose`, `compare` or `decompose`. The last
        three take no further arguments.
    ensemble : int, Ensemble or Divide, default: 1
        The present models.
    n_features, ridge, n_samples : float or None, default: None
        The present model of a forecast, as for `Forecast.advise`: `n_features` is required, and the
        defaults of the others are 0.001 and all rows.
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
    Advice or options.Advice
        Of a problem, an `Advice` with every option, its error by cause and its cost. Of a forecast,
        an `options.Advice`, and of another result a `options.Advice`: the error and the gain of
        each option, with intervals.

    Raises
    ------
    ValueError
        If a number is outside its domain, a measure is unknown, or the ensemble is not supported;
        for the loss "max_margin", whose margin does not depend on the ridge, and the loss
        "logistic" at ridge 0, where its weights diverge on separable data; or if an argument is
        given that the problem does not take.
    TypeError
        If `problem` is not of the types above or is an array, or a number is one.
    ConvergenceError
        If a solver stops before its tolerance.

    Notes
    -----
    With losses other than the squared loss of regression the best allocation is the best of up to
    1024 models, of N/50 features or more each; the marginal values are central differences.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> advice.choice.name, round(advice.now.total, 3), round(advice.choice.total, 3)
    ('best ridge', 7.94, 0.841)
    >>> advice["2x models"].total < advice["slightly more features"].total
    True
    >>> advice.best.n_members, round(advice.best.ridge, 3)
    (1.0, 0.78)
    """
    model = {"n_features": n_features, "ridge": ridge, "n_samples": n_samples}
    if isinstance(problem, Forecast | Diagnosis | LearnerComparison | Decomposition):
        others = {"ensemble": ensemble, "budget": budget, "cost": cost}
        return _own_advice(problem, model | others | {"dim": dim, "measure": measure})
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            "problem must be a Problem, a SpectralProblem, or the result of forecast, diagnose, "
            f"compare or decompose, got {type(problem).__name__}"
        )
    _refuse(_given(model), problem)
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    scheme = as_ensemble(ensemble, "advise")
    number("ensemble", scheme.n_members, N_MEMBERS)
    check_cost(cost)
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
    now = AdviceOption._of(NOW, problem, scheme, measure)
    budget = now.cost(cost) if budget is None else budget
    best_ridge = scalar(optimal_ridge(problem, scheme, measure)._penalty)
    changes = single_changes(now, best_ridge, unit)
    most = best_features_of_many(problem, measure)
    many = now._moved(MANY_AT_BEST, Ensemble(math.inf), n_features=most)
    many = round_many(many, unit)
    regularized = next(option for option in changes if option.name == RIDGE)

    def best(known: AdviceOption, *, free_ridge: bool) -> AdviceOption:
        return best_allocation(
            known, many, budget=budget, cost=cost, unit=unit, free_ridge=free_ridge
        )

    return Advice(
        now=now,
        changes=changes,
        best=best(regularized, free_ridge=True),
        best_at_this_ridge=best(now, free_ridge=False),
        many_at_best_features=many,
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
    best = scaling_frontier(now.problem, compute, max_n_samples=n_samples_of(now.problem))
    sizes = {"n_features": best.n_features, "n_samples": best.n_samples, "ridge": best.gram_ridge}
    return now._moved(
        FRONTIER,
        Ensemble(float(best.n_members[0])),
        **{name: float(value[0]) for name, value in sizes.items()},
    )


def _own_advice(
    result: Forecast | Diagnosis | LearnerComparison | Decomposition, values: dict[str, Any]
) -> options.Advice:
    """The advice of a result, with the arguments that it takes."""
    given = _given(values)
    taken = _OF_A_FORECAST if isinstance(result, Forecast) else ()
    _refuse({name: value for name, value in given.items() if name not in taken}, result)
    if isinstance(result, Forecast):
        if "n_features" not in given:
            raise ValueError("n_features must be given for a Forecast, got None")
        return result.advise(**given)
    return _averaging(result) if isinstance(result, Decomposition) else result.advise()


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments that differ from their defaults."""
    return {
        name: value
        for name, value in values.items()
        if value is not (default := _DEFAULTS.get(name))
        and not (isinstance(value, int | str) and value == default)  # arrays are not compared
    }


def _refuse(values: dict[str, Any], source: object) -> None:
    """Raise ValueError for an argument that a source does not take."""
    for name, value in values.items():
        kind = type(source).__name__
        raise ValueError(f"{name} must be left out for a {kind}, got {shown(value)}")


def _averaging(result: Decomposition) -> options.Advice:
    """The error of averaged seeds, and why that of more data is not determined."""
    now, design, measure = result.error(), result.design, result.measure
    if (missing := design.lacks("total", ("target",))) is not None:
        raise ValueError(missing)
    reason = design.lacks("the error of an ensemble", ("init",)) or ""
    if design.deterministic:
        reason = "the learner has no seed: averaging changes nothing"
    elif math.isinf(float(now.total)):
        reason = "the error is infinite"
    rows = []
    # other measures do not fall as 1/K
    for K in _AVERAGED if measure == "squared" or design.deterministic else (design.n_init,):
        error = None if reason else result.error(K)
        gain = None if error is None else 1 - error.total / now.total
        models = f"{'∞' if math.isinf(K) else K} models"
        rows.append(
            options.Option(
                name=f"vote of {models}" if measure == "zero_one" else models,
                error=error,
                gain=gain,
                interval=None if gain is None else gain.confidence_interval(result.confidence),
                status=options.WITHHELD if error is None else "measured",
                cost={"fits": K},
                reason=reason,
            )
        )
    more = options.Option(
        name=options.DATA, error=None, status=options.WITHHELD, cost={"data": 2}, reason=_ONE_SIZE
    )
    return options.Advice(
        now=options.Option(name=NOW, error=now, status="measured"),
        changes=(*rows, more),
        confidence=result.confidence,
    )
