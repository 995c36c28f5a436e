"""`advise`: widen, ensemble, regularize, divide, or collect?"""

from __future__ import annotations  # help() then shows names, not what they stand for

import math
from dataclasses import replace

from doubletrouble.advice._allocation import Allocation, Search, best_of_many
from doubletrouble.advice._changes import present, single_changes
from doubletrouble.advice._cost import Cost, check_cost, cost_of
from doubletrouble.advice._equality import affordable, less
from doubletrouble.advice._marginal import MarginalValue
from doubletrouble.advice._option import AdviceOption, changed, samples, width
from doubletrouble.advice._result import Advice
from doubletrouble.advice._whole import most_parts, nearest, nearest_many, one_of
from doubletrouble.ensembles import (
    SCHEMES,
    SUPPORT,
    Ensemble,
    EnsembleLike,
    Scheme,
    as_ensemble,
)
from doubletrouble.glossary import BUDGET, DIM, N_MEMBERS
from doubletrouble.parameters import number
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import AnyProblem, optimal_ridge


def advise(
    problem: AnyProblem, budget: float | None = None, ensemble: EnsembleLike = 1, *,
    cost: Cost = "features", dim: float | None = None,
) -> Advice:  # fmt: skip
    """Compute the exact error now, after every single change, and at its best under a budget.

    The single changes are twice the width ("widen"; "widen_a_little" is a tenth more, or half of
    P - N where that is less), twice the models ("ensemble"), the data divided among twice the
    models ("divide"), the best ridge ("regularize"), twice the data ("collect") and infinitely many
    models ("many"). The first three of twice the features cost the same.

    The best allocation is that of P, K and λ under `budget`, of models on all data or on parts of
    it, whatever the present `ensemble` is: a number of models, `Ensemble` or `Divide`. With
    `cost="features"` it is on the total number of features P K; with `cost="training"` on
    K n P min(n, P), the operations of K ridge fits on n samples each, up to a constant: the smaller
    Gram matrix, and a solve. Both are in the problem's units: P and N of a `Problem` are per input
    dimension, so that training is per D³. Choosing λ is free, since one factorization serves all.
    Without `budget` it is what the present setting costs; it may be `math.inf`.

    With the dimension `dim` of a `Problem`, P and N are shown as counts; if N is a whole one, what
    is advised has whole counts, too. A `SpectralProblem` has counts without.

    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> advice.choice.name, round(advice.now.total, 3), round(advice.choice.total, 3)
    ('regularize', 7.94, 0.841)
    >>> advice["ensemble"].total < advice["widen_a_little"].total
    True
    >>> advice.best.n_members, round(advice.best.ridge, 3)
    (1.0, 0.78)
    """
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            f"problem must be a Problem or a SpectralProblem, got {type(problem).__name__}"
        )
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    scheme = as_ensemble(ensemble, "advise")
    K = number("ensemble", scheme.n_members, N_MEMBERS)
    check_cost(cost)
    P, N = width(problem), samples(problem)
    spent = cost_of(P, N, K, scheme.name, cost)
    C = spent if budget is None else number("budget", budget, BUDGET)
    if dim is not None:
        dim = number("dim", dim, DIM)
        if isinstance(problem, SpectralProblem):
            raise ValueError(f"dim must be left out beside a SpectralProblem, got {dim:g}")
    one = one_of(problem, dim)

    now = present(problem, scheme)
    best_ridge = float(optimal_ridge(problem, scheme).ridge)
    changes = single_changes(problem, scheme, best_ridge, one)
    at_best_width = changed(problem, width=best_of_many(problem))
    many = nearest_many(
        AdviceOption.of(
            "many_at_best_width", "K → ∞ at its best P", at_best_width, Ensemble(math.inf)
        ),
        one,
    )
    regularized = next(option for option in changes if option.name == "regularize")
    asked = problem, type(scheme), C, cost, one
    return Advice(
        now=now, changes=changes,
        best=_best(*asked, regularized, many, free=True),
        best_at_this_ridge=_best(*asked, now, many, free=False),
        many_at_best_width=many,
        marginal=MarginalValue.of(problem, scheme, best_ridge),
        budget=C, cost=cost, dim=dim,
    )  # fmt: skip


def _best(
    problem: AnyProblem, present_kind: type[Scheme], budget: float, cost: Cost, one: float | None,
    known: AdviceOption, many: AdviceOption, *, free: bool,
) -> AdviceOption:  # fmt: skip
    """The best allocation of either scheme; `known` is returned where nothing is better."""
    name = "best" if free else "best_at_this_ridge"
    label = "best P, K, λ" if free else "best P, K at this λ"

    def at(allocation: Allocation, kind: type[Scheme]) -> AdviceOption:
        ensemble, there = kind(allocation.members), changed(problem, width=allocation.width)
        if free:
            there = changed(there, ridge=optimal_ridge(there, ensemble).ridge)
        return nearest(AdviceOption.of(name, label, there, ensemble), budget, cost, one, free=free)

    found = []
    kinds = [kind for kind in SCHEMES.values() if SUPPORT["advise"](kind)]
    # of equal ones, the present
    for kind in sorted(kinds, key=lambda kind: kind is not present_kind):
        parts = most_parts(problem, one)
        search = Search(problem, kind, budget, cost, free=free, most_parts=parts)
        if free and kind is present_kind:  # ties need more digits of the ridge than the search has
            found.append(at(search.one_model(), kind))
        allocation = search.best()
        if allocation.members > 1 or not free:
            found.append(at(allocation, kind))
    if math.isinf(budget):
        found.append(replace(many, name=name, label=label))
    option, *others = found
    for other in others:
        option = other if less(other.total, option.total) else option
    if affordable(known.cost(cost), budget) and not less(option.total, known.total):
        option = replace(known, name=name, label=label)
    return option
