"""`advise`: widen, ensemble, regularize, divide, or collect?"""

import math
from dataclasses import replace

from doubletrouble.advice.allocation import Allocation, Search, best_of_many
from doubletrouble.advice.changes import present, single_changes
from doubletrouble.advice.cost import check_cost, cost_of
from doubletrouble.advice.equality import less
from doubletrouble.advice.marginal import Marginal
from doubletrouble.advice.option import Option, changed, samples, width
from doubletrouble.advice.result import Advice
from doubletrouble.glossary import BUDGET, N_MEMBERS
from doubletrouble.parameters import number
from doubletrouble.theory.optimum import optimal_ridge
from doubletrouble.theory.points import AnyProblem, prepare

_ROUNDING = 1e-12  # costs that differ by as much are equal


def advise(
    problem: AnyProblem, budget: float | None = None, *,
    n_members: float = 1, scheme: str = "ensemble", cost: str = "features",
) -> Advice:  # fmt: skip
    """Say what to change: the exact error now, after every single change, and at its best.

    The single changes are twice the width ("widen"; "widen_a_little" is a tenth more), twice the
    models ("ensemble"), the data divided among twice the models ("divide"), the best ridge
    ("regularize"), twice the data ("collect") and infinitely many models ("many"). The first
    three of twice the features cost the same.

    The best allocation is that of P, K and λ under `budget`. With `cost="features"` it is on the
    total number of features P K; with `cost="training"` on K n P min(n, P), the operations of K
    ridge fits on n samples each, up to a constant: the smaller Gram matrix, and a solve. Both are
    in the problem's units: P and N of a `Problem` are per input dimension, so that training is per
    D³. Choosing λ is free, since one factorization serves all. Without `budget` it is what the
    present setting costs; it may be `math.inf`.

    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> advice.choice.name, round(advice.now.total, 3), round(advice.choice.total, 3)
    ('regularize', 7.94, 0.841)
    >>> advice["ensemble"].total < advice["widen_a_little"].total
    True
    >>> advice.best.n_members, round(advice.best.ridge, 3)
    (1.0, 0.78)
    """
    prepare(problem, n_members, scheme)
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    K = number("n_members", n_members, N_MEMBERS)
    check_cost(cost)
    P, N = width(problem), samples(problem)
    spent = cost_of(P, N, K, scheme, cost)
    C = spent if budget is None else number("budget", budget, BUDGET)

    now = present(problem, K, scheme)
    best_ridge = float(optimal_ridge(problem, K, scheme).ridge)
    changes = single_changes(problem, K, scheme, best_ridge)
    many = Option.of(
        "many_at_best_width", "K → ∞ at its best P",
        changed(problem, width=best_of_many(problem)), math.inf, "ensemble",
    )  # fmt: skip
    regularized = next(one for one in changes if one.name == "regularize")
    return Advice(
        now=now, changes=changes,
        best=_best(problem, scheme, C, cost, regularized, many, free=True),
        best_at_this_ridge=_best(problem, scheme, C, cost, now, many, free=False),
        many_at_best_width=many,
        marginal=Marginal.of(problem, K, scheme, best_ridge),
        budget=C, cost=cost,
    )  # fmt: skip


def _best(
    problem: AnyProblem, scheme: str, budget: float, cost: str,
    known: Option, many: Option, *, free: bool,
) -> Option:  # fmt: skip
    """The best allocation; `known` is one that is kept where nothing is better."""
    name = "best" if free else "best_at_this_ridge"
    label = "best P, K, λ" if free else "best P, K at this λ"
    search = Search(problem, scheme, budget, cost, free=free)
    found, one = search.best(), search.one_model()

    def at(allocation: Allocation) -> Option:
        K, there = allocation.members, changed(problem, width=allocation.width)
        if free:
            there = changed(there, ridge=optimal_ridge(there, K, scheme).ridge)
        return Option.of(name, label, there, K, scheme)

    option = at(found)
    if free and found.members > 1:  # the search knows its ridges to fewer digits than ties need
        single = at(one)
        option = option if less(option.total, single.total) else single
    if math.isinf(budget) and scheme == "ensemble" and less(many.total, option.total):
        option = replace(many, name=name, label=label)
    affordable = known.cost(cost) <= budget * (1 + _ROUNDING)
    if affordable and not less(option.total, known.total):
        option = replace(known, name=name, label=label)
    return option
