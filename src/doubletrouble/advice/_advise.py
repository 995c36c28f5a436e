"""`advise`: the error after each change, and the best allocation of a budget.

Of a problem the errors are exact; of a forecast, a diagnosis or a decomposition they are estimates.
"""

from __future__ import annotations  # help() shows names instead of unions

import math
from dataclasses import asdict
from typing import Any, Literal, TypeAlias, cast, get_args

from doubletrouble.advice._allocation import (
    best_features_of_many,
    best_setting,
    count_unit,
    round_many,
)
from doubletrouble.advice._frontier import scaling_frontier
from doubletrouble.advice._marginal import marginal_at
from doubletrouble.advice._settings import (
    Setting,
    n_features_of,
    n_samples_of,
    scalar,
    single_changes,
)
from doubletrouble.costs import COSTS, CostName, check_cost
from doubletrouble.ensembles import Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.forecasting import Forecast
from doubletrouble.glossary import BUDGET, DIM, N_MEMBERS
from doubletrouble.learners import Decomposition, Diagnosis, LearnerComparison
from doubletrouble.losses import Logistic, MaxMargin, Measure
from doubletrouble.options import (
    FRONTIER,
    MANY_AT_BEST,
    NOW,
    RIDGE,
    Advice,
    Option,
)
from doubletrouble.parameters import check_choice, number
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import AnyProblem, optimal_ridge

Source: TypeAlias = AnyProblem | Forecast | Diagnosis | LearnerComparison | Decomposition
"""What `advise` takes."""

AtRidge: TypeAlias = Literal["best", "fixed"]


def advise(source: Source, ensemble: EnsembleLike = 1, *, measure: Measure | None = None) -> Advice:
    """Compute the error now, after every single change, and at its best at the present cost.

    Of a problem the errors are exact. Of a result it is the `advise` of that result, with
    estimates: of a forecast, the changes of a model of infinitely many features at λ = 0.001;
    of a diagnosis, measured errors, averaged models and more data; of a comparison, the other
    learners. A decomposition determines the error of averaged seeds, and not that of more data.

    The single changes of a problem are "best ridge"; "2x features"; "slightly more features" (a
    tenth more, or half of P - N where that is less); "2x models"; "divided data" (among twice the
    models); "2x data"; and "∞ models". Below them are the best P, K and λ at the present number of
    features in all, for models that share the data and for divided data; `best_allocation` has
    them for other budgets. For a `SpectralProblem` the option "frontier" is that of
    `scaling_frontier`: the best n ≤ N, P, K and ridge at the present cost of training, where fewer
    samples may pay for more features.

    Parameters
    ----------
    source : Problem or SpectralProblem or result
        A single problem, or a result of `forecast`, `diagnose`, `compare` or `decompose`.
    ensemble : int or Ensemble or Divide, default: 1
        The present models. `Divide` is for problems only.
    measure : None or "zero_one" or "zero_one_noisy" or "squared" or "log", default: None
        The error of classification, as for `exact_error`; None for that of the source.

    Returns
    -------
    Advice
        Every option with its error by cause, its gain and its cost; `choice` is the best change.

    Raises
    ------
    ValueError
        If a measure is unknown or not that of the source, or the ensemble is not supported; for the
        loss "max_margin", whose margin does not depend on the ridge, and the loss "logistic" at
        ridge 0, where its weights diverge on separable data.
    TypeError
        If `source` is not of the types above, or is an array.
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
    """
    if isinstance(source, Problem | SpectralProblem):
        return advise_problem(source, ensemble, measure=measure)
    if not isinstance(source, Forecast | Diagnosis | LearnerComparison | Decomposition):
        raise TypeError(
            "source must be a Problem, a SpectralProblem, or the result of forecast, diagnose, "
            f"compare or decompose, got {type(source).__name__}"
        )
    if isinstance(source, Diagnosis | LearnerComparison):
        return source.advise(ensemble, measure=cast(Any, measure))
    known = source.measure if isinstance(source, Decomposition) else "squared"
    if measure is not None:
        check_choice("measure", measure, (known,), f"a {type(source).__name__}")
    if isinstance(source, Decomposition):
        return source.advise(ensemble)
    models = as_ensemble(ensemble, "Forecast.error").n_members
    return source.advise(ensemble=cast(float, models))


def best_allocation(
    problem: AnyProblem,
    budget: float,
    ensemble: EnsembleLike = 1,
    *,
    cost: CostName = "features",
    ridge: AtRidge = "best",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Option:
    """Return the best features, number of models and ridge within a budget, and the error there.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        A single problem, with the present features and ridge.
    budget : float
        The largest cost, in the units of the problem: P and N of a `Problem` are per input
        dimension, so that training is per D³. It may be `math.inf`.
    ensemble : int or Ensemble or Divide, default: 1
        The present models, to which gain and cost refer.
    cost : "features" or "training", default: "features"
        The measure of cost: P K features in total, or K n P min(n, P), the operations of K ridge
        fits on n samples each, up to a constant. Choosing λ costs nothing: one factorization
        serves all.
    ridge : "best" or "fixed", default: "best"
        Whether the ridge is chosen, too, or that of the problem.
    dim : float or None, default: None
        The input dimension D of a `Problem`, for P and N as counts. If N is then a whole number,
        the best allocation has a whole number of features, as for a `SpectralProblem`.
    measure : None or "zero_one" or "zero_one_noisy" or "squared" or "log", default: None
        The error of classification, as for `exact_error`.

    Returns
    -------
    Option
        The error by cause, and `setting`: the numbers of features, samples and models, and the
        ridge, by the names of the arguments. Its
        `problem` and `ensemble` are those of `exact_error`.

    Raises
    ------
    ValueError
        If a number is outside its domain, or for the ensembles, losses and measures that `advise`
        does not take.
    TypeError
        If `problem` is not a single problem, or a number is an array.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5)
    >>> best = dt.best_allocation(problem, budget=5.0)
    >>> best.setting["features_per_dim"], best.setting["n_members"], round(best.total, 4)
    (5, 1, 0.7056)
    """
    check_choice("ridge", ridge, get_args(AtRidge))
    search = _Allocations(problem, ensemble, budget, cost, dim, measure)
    best = search.best(free_ridge=ridge == "best")
    return best.option(search.now, search.dim)


class _Allocations:
    """The present setting of a problem, a budget, and the best settings within it."""

    def __init__(
        self,
        problem: AnyProblem,
        ensemble: EnsembleLike,
        budget: float | None,
        cost: CostName,
        dim: float | None,
        measure: Measure | None,
    ) -> None:
        scheme = _checked(problem, ensemble)
        check_cost(cost)
        if budget is not None:
            budget = number("budget", budget, BUDGET)
        if dim is not None:
            dim = number("dim", dim, DIM)
            if isinstance(problem, SpectralProblem):
                raise ValueError(f"dim must be left out for a SpectralProblem, got {dim:g}")
        self.cost, self.dim, self.unit = cost, dim, count_unit(problem, dim)
        self.now = Setting.of(NOW, problem, scheme, measure)
        self.budget = self.now.cost(cost) if budget is None else budget
        self.best_ridge = scalar(optimal_ridge(problem, scheme, measure).value)
        most = best_features_of_many(problem, measure)
        many = self.now.moved(MANY_AT_BEST, Ensemble(math.inf), n_features=most)
        self.many = round_many(many, self.unit)

    def best(self, *, free_ridge: bool) -> Setting:
        """The best P and K, and λ unless it is that of the problem."""
        known = self.now
        if free_ridge:
            known = known.moved(RIDGE, known.ensemble, ridge=self.best_ridge)
        return best_setting(
            known,
            self.many,
            budget=self.budget,
            cost=self.cost,
            unit=self.unit,
            free_ridge=free_ridge,
        )


def advise_problem(
    problem: AnyProblem,
    ensemble: EnsembleLike = 1,
    *,
    budget: float | None = None,
    cost: CostName = "features",
    dim: float | None = None,
    measure: Measure | None = None,
) -> Advice:
    """Return the advice on a problem under a budget; see `advise` and `best_allocation`.

    `facts` has the budget, whether P and N are counts (unit "one") or per dimension, whether
    infinitely many models are best with fewer features than samples, the marginal values, and the
    optima over ratios of those that are rounded to counts.
    """
    search = _Allocations(problem, ensemble, budget, cost, dim, measure)
    now, many = search.now, search.many
    settings = (
        now,
        *single_changes(now, search.best_ridge, search.unit),
        many,
        search.best(free_ridge=False),
        search.best(free_ridge=True),
        *_frontier(now),
    )
    options = [setting.option(now, search.dim) for setting in settings]
    first = settings.index(many)
    scale = search.dim or 1.0
    marginal = marginal_at(problem, now.ensemble, measure, search.best_ridge)
    units = {name: scale if name == "features" else scale**3 for name in COSTS}
    counted = search.dim is not None or isinstance(problem, SpectralProblem)
    return Advice(
        now=options[0],
        changes=tuple(options[1:first]),
        allocations=tuple(options[first:]),
        facts={
            "unit": "one" if counted else "dimension",
            "budget": search.budget * units[cost],
            "cost": cost,
            "present_cost": {name: now.cost(name) * unit for name, unit in units.items()},
            "prefers_few_features": _prefers_few_features(many),
            "marginal": {
                **{name: value / scale for name, value in asdict(marginal).items()},
                "features_per_sample": marginal.features_per_sample,
            },
            "ideal": {
                one.name: {**one.ideal.sizes(search.dim), "error": one.ideal.total}
                for one in settings
                if one.ideal is not None
            },
        },
    )


def _checked(problem: AnyProblem, ensemble: EnsembleLike) -> Scheme:
    """The scheme of an ensemble; ValueError for problems without advice."""
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            f"problem must be a Problem or a SpectralProblem, got {type(problem).__name__}"
        )
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    scheme = as_ensemble(ensemble, "advise")
    number("ensemble", scheme.n_members, N_MEMBERS)
    if isinstance(problem, Problem) and isinstance(problem.loss_function, MaxMargin):
        raise ValueError("loss must depend on the ridge for advise, got max_margin")
    if (
        isinstance(problem, Problem)
        and isinstance(problem.loss_function, Logistic)
        and not problem.ridge
    ):
        raise ValueError(
            "ridge must be positive for advise with loss logistic, whose weights diverge at ridge "
            "0 where a change makes the data separable, got 0: optimal_ridge(problem) is one, and "
            "losses hinge and squared_hinge have a limit"
        )
    return scheme


def _prefers_few_features(many: Setting) -> bool:
    """Whether the best P of infinitely many models is below the threshold, P < N.

    Without ridge, it is if and only if (τ² + F⋆²)/F² > μ⋆²/μ₁²: the nonlinear part of the teacher
    acts as noise.
    """
    return n_features_of((many.ideal or many).problem) < n_samples_of(many.problem)


def _frontier(now: Setting) -> tuple[Setting, ...]:
    """The best n ≤ N, P, K and ridge at the present cost of training; none for a `Problem`."""
    compute = now.cost("training")
    if not isinstance(now.problem, SpectralProblem) or not 1 <= compute < math.inf:
        return ()
    best = scaling_frontier(now.problem, compute, max_n_samples=n_samples_of(now.problem))
    sizes = {"n_features": best.n_features, "n_samples": best.n_samples, "ridge": best.gram_ridge}
    models = Ensemble(float(best.n_members[0]))
    return (now.moved(FRONTIER, models, **{k: float(v[0]) for k, v in sizes.items()}),)
