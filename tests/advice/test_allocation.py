"""The best allocation is that of brute force; the budget is kept."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice._allocation import Search
from doubletrouble.advice._cost import COSTS, Cost, cost_of, most_members, widest
from doubletrouble.ensembles import SCHEMES, named_ensemble
from tests.advice.brute_force import least, least_at_this_ridge, random_problem, sizes, total

WAYS = [(scheme, cost) for scheme in ("ensemble", "divide") for cost in COSTS]
CLOSE = 1e-6


def compare(seed: int, *, spectral: bool) -> None:
    """Each scheme by itself; what is advised is the better of the two."""
    problem, budget = random_problem(np.random.default_rng(seed), spectral=spectral)
    scheme, cost = WAYS[seed % 4]
    if cost == "training":
        budget *= sizes(problem)[1] ** 2
    found = dt.advise(problem, budget, ensemble=named_ensemble(scheme), cost=cost)
    name, N = sizes(problem)
    for free, option in ((True, found.best), (False, found.best_at_this_ridge)):
        assert option.cost(cost) <= budget * (1 + 1e-12)
        totals = {}
        for kind in ("ensemble", "divide"):
            K, P = Search(problem, SCHEMES[kind], budget, cost, free=free).best()
            assert cost_of(P, N, K, kind, cost) <= budget * (1 + 1e-12)
            there = replace(problem, **{name: P})  # type: ignore[arg-type]
            error = dt.optimal_ridge(there, named_ensemble(kind, K)).error if free else None
            error = error or dt.exact_error(there, named_ensemble(kind, K))
            totals[kind] = float(np.asarray(error.total))
        brute = (least if free else least_at_this_ridge)(problem, budget, scheme, cost)
        assert abs(totals[scheme] - brute) < CLOSE * max(1.0, brute)
        assert option.total == pytest.approx(min(totals.values()), rel=1e-9)
    assert found.best.total <= found.best_at_this_ridge.total * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(52))
def test_it_equals_brute_force(seed: int) -> None:
    compare(seed, spectral=False)


@pytest.mark.parametrize("seed", range(8))
def test_it_equals_brute_force_for_a_measured_spectrum(seed: int) -> None:
    compare(seed, spectral=True)


def test_other_allocations_are_worse() -> None:
    """The control: twice the models, or half of them, at the same cost."""
    worse = 0
    for seed in range(30):
        problem, budget = random_problem(np.random.default_rng(seed))
        best = dt.advise(problem, budget).best_at_this_ridge
        for K in {2 * best.n_members, max(1.0, best.n_members // 2)} - {best.n_members}:
            name, _ = sizes(problem)
            other = float(total(problem, K, best.scheme, **{name: budget / K}))
            assert other >= best.total * (1 - 1e-9)
            worse += other > best.total + 1e-4
    assert worse > 30


@pytest.mark.parametrize(("scheme", "cost"), WAYS)
@pytest.mark.parametrize("budget", [1e-3, 0.7, 30.0, 1e4])
def test_the_widest_models_cost_the_budget(scheme: str, cost: Cost, budget: float) -> None:
    members = np.array([1.0, 2.0, 7.0, 1000.0])
    for N in (0.3, 1.0, 5.0):
        for K, P in zip(members, widest(budget, N, members, scheme, cost), strict=True):
            assert cost_of(float(P), N, float(K), scheme, cost) == pytest.approx(budget, rel=1e-12)
            if scheme == "ensemble":
                (many,) = most_members(budget, N, np.array([P]), cost)
                assert many == pytest.approx(K, rel=1e-12)


def test_costs_in_plain_numbers() -> None:
    assert cost_of(3.0, 2.0, 5.0, "ensemble", "features") == 15
    assert cost_of(3.0, 2.0, 5.0, "ensemble", "training") == 5 * 2 * 3 * 2
    assert cost_of(3.0, 10.0, 5.0, "ensemble", "training") == 5 * 10 * 3 * 3
    assert cost_of(3.0, 10.0, 5.0, "divide", "training") == 5 * 2 * 3 * 2
    assert cost_of(math.inf, 1.0, 2.0, "divide", "training") == math.inf
    assert cost_of(math.inf, 1.0, math.inf, "divide", "training") == 0


def test_an_infinite_budget_is_the_kernel_limit_or_infinitely_many_models() -> None:
    clean = dt.advise(dt.Problem(noise=0.1, ridge=0.0), math.inf)
    assert (clean.best.n_members, clean.best.width, clean.best.ridge) == (1, math.inf, 0)
    assert clean.best_at_this_ridge.width == math.inf
    noisy = dt.advise(dt.Problem(noise=1.0, ridge=0.0), math.inf)
    assert noisy.best_at_this_ridge.n_members == math.inf
    assert noisy.best_at_this_ridge.total == pytest.approx((math.sqrt(5) - 1) / 2, rel=1e-9)
    assert noisy.best.n_members == 1
    assert noisy.best.total == pytest.approx(noisy.best_at_this_ridge.total, rel=1e-9)


@pytest.mark.parametrize("cost", COSTS)
def test_the_more_there_is_to_spend_the_better(cost: Cost) -> None:
    """Models of the best width may be as many as the budget pays for, however many that is."""
    limit = (math.sqrt(5) - 1) / 2
    budgets = [1.0, 1e3, 1e6, 1e11, 1e12, 1e13, 1e16, 1e40, 1e60, 1e300, math.inf]
    found = [dt.advise(dt.Problem(), C, cost=cost).best_at_this_ridge for C in budgets]
    totals = [option.total for option in found]
    for option, budget in zip(found, budgets, strict=True):
        assert option.cost(cost) <= budget * (1 + 1e-12)
    for less, more in itertools.pairwise(totals):
        assert more <= less * (1 + 1e-9)
    assert totals[3:] == pytest.approx([limit] * 8, rel=1e-9)
    vast = dt.advise(dt.Problem(), ensemble=1e300, cost=cost).best_at_this_ridge
    assert vast.total == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize(
    ("ensemble", "other"), [(dt.Ensemble(), dt.Divide()), (dt.Divide(), dt.Ensemble())]
)
@pytest.mark.parametrize("cost", COSTS)
def test_both_schemes_are_considered(ensemble: dt.Scheme, other: dt.Scheme, cost: Cost) -> None:
    """One problem whose best models see all data, and one whose best see parts of them."""
    found = dt.advise(dt.Problem(), 2.0, ensemble=ensemble).best_at_this_ridge
    assert (found.scheme, found.n_members) == ("ensemble", 8)
    assert found.total == pytest.approx(0.8227, abs=1e-4)
    divided = dt.advise(dt.Problem(features_per_dim=1.015), ensemble=ensemble, cost="training")
    for option in (divided.best, divided.best_at_this_ridge):
        assert (option.scheme, option.n_members) == ("divide", 3)
    for asked in (dt.Problem(), dt.Problem(noise=3.0), dt.Problem(features_per_dim=5.0)):
        one, two = (dt.advise(asked, 3.0, ensemble=e, cost=cost) for e in (ensemble, other))
        assert one.best.total == pytest.approx(two.best.total, rel=1e-9)
        assert one.best_at_this_ridge.total == pytest.approx(two.best_at_this_ridge.total, rel=1e-9)


def test_a_plateau_is_left_at_its_cheapest_point() -> None:
    """Without ridge and noise, infinitely many models are as good from P = N on."""
    found = dt.advise(dt.Problem(features_per_dim=5.0, samples_per_dim=2.0, ridge=0.0, noise=0.0))
    assert found.many_at_best_width.width == 2.0


def test_what_cannot_be_improved_stays() -> None:
    problem = dt.Problem(ridge=math.inf)
    found = dt.advise(problem, ensemble=3)
    assert found.best_at_this_ridge.problem == problem
    assert found.best_at_this_ridge.n_members == 3


def test_with_nothing_to_learn_zero_is_predicted() -> None:
    found = dt.advise(dt.Problem(signal=0.0, ridge=0.1))
    assert found.best.ridge == math.inf
    assert found.best.total == 0
    assert found.best_at_this_ridge.total < 1e-9
    assert "predict zero" in found.reason
