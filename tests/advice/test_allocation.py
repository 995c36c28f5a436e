"""The best allocation equals that of brute force, over ratios and over whole counts."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice import advise_problem
from doubletrouble.advice._allocation import Models, search
from doubletrouble.advice._settings import scalar
from doubletrouble.costs import COSTS, CostName, cost_of
from doubletrouble.ensembles import SCHEMES, named_ensemble
from doubletrouble.options import BEST, BEST_AT_THIS_RIDGE, MANY_AT_BEST
from tests.advice.brute_force import (
    features,
    least,
    least_at_this_ridge,
    models,
    paid,
    random_problem,
    scheme_of,
    setting,
    sizes,
    total,
)
from tests.selection import full_beyond, full_beyond_cases

WAYS = [(scheme, cost) for scheme in ("ensemble", "divide") for cost in COSTS]
CLOSE = 1e-6


def compare(seed: int, *, spectral: bool) -> None:
    """Each scheme by itself; the best option is the better of the two."""
    problem, budget = random_problem(np.random.default_rng(seed), spectral=spectral)
    scheme, cost = WAYS[seed % 4]
    if cost == "training":
        budget *= sizes(problem)[1] ** 2
    advice = advise_problem(problem, named_ensemble(scheme), budget=budget, cost=cost)
    name, N = sizes(problem)
    for free, option in ((True, advice[BEST]), (False, advice[BEST_AT_THIS_RIDGE])):
        assert paid(option, cost) <= budget * (1 + 1e-12)
        totals = {}
        for kind in ("ensemble", "divide"):
            K, P = search(Models(problem, SCHEMES[kind], budget, cost), free_ridge=free)
            assert cost_of(P, N, K, kind, cost) <= budget * (1 + 1e-12)
            there = replace(problem, **{name: P})  # type: ignore[arg-type]
            error = dt.optimal_ridge(there, named_ensemble(kind, K)).error if free else None
            error = error or dt.exact_error(there, named_ensemble(kind, K))
            totals[kind] = float(np.asarray(error.total))
        brute = (least if free else least_at_this_ridge)(problem, budget, scheme, cost)
        assert abs(totals[scheme] - brute) < CLOSE * max(1.0, brute)
        assert option.total == pytest.approx(min(totals.values()), rel=1e-9)
    assert advice[BEST].total <= advice[BEST_AT_THIS_RIDGE].total * (1 + 1e-9)


@pytest.mark.parametrize("seed", full_beyond(range(4), range(12)))
def test_search_equals_brute_force(seed: int) -> None:
    compare(seed, spectral=False)


@pytest.mark.parametrize("seed", full_beyond([3], range(4)))
def test_search_equals_brute_force_for_a_measured_spectrum(seed: int) -> None:
    compare(seed, spectral=True)


def test_other_allocations_are_worse() -> None:
    """The control: twice the models, or half of them, at the same cost."""
    worse = 0
    for seed in range(8):
        problem, budget = random_problem(np.random.default_rng(seed))
        best = advise_problem(problem, budget=budget)[BEST_AT_THIS_RIDGE]
        for K in {2 * models(best), max(1.0, models(best) // 2)} - {models(best)}:
            name, _ = sizes(problem)
            other = float(total(problem, K, scheme_of(best), **{name: budget / K}))
            assert other >= best.total * (1 - 1e-9)
            worse += other > best.total + 1e-4
    assert worse > 8


def test_infinite_budget_is_the_kernel_limit_or_infinitely_many_models() -> None:
    clean = advise_problem(dt.Problem(noise=0.1, ridge=0.0), budget=math.inf)
    assert (models(clean[BEST]), clean[BEST].setting["ridge"]) == (1, 0)
    for option in (clean[BEST], clean[BEST_AT_THIS_RIDGE]):
        assert features(option) == math.inf
    noisy = advise_problem(dt.Problem(noise=1.0, ridge=0.0), budget=math.inf)
    assert models(noisy[BEST_AT_THIS_RIDGE]) == math.inf
    assert noisy[BEST_AT_THIS_RIDGE].total == pytest.approx((math.sqrt(5) - 1) / 2, rel=1e-9)
    assert models(noisy[BEST]) == 1
    assert noisy[BEST].total == pytest.approx(noisy[BEST_AT_THIS_RIDGE].total, rel=1e-9)


@pytest.mark.parametrize("cost", COSTS)
def test_larger_budget_is_never_worse(cost: CostName) -> None:
    limit = (math.sqrt(5) - 1) / 2
    budgets = [1.0, 1e6, 1e12, 1e60, 1e300, math.inf]
    result = [
        advise_problem(dt.Problem(), budget=C, cost=cost)[BEST_AT_THIS_RIDGE] for C in budgets
    ]
    totals = [option.total for option in result]
    for option, budget in zip(result, budgets, strict=True):
        assert paid(option, cost) <= budget * (1 + 1e-12)
    for less, more in itertools.pairwise(totals):
        assert more <= less * (1 + 1e-9)
    assert totals[2:] == pytest.approx([limit] * 4, rel=1e-9)
    vast = advise_problem(dt.Problem(), ensemble=1e300, cost=cost)[BEST_AT_THIS_RIDGE]
    assert vast.total == pytest.approx(limit, rel=1e-9)


def test_both_schemes_are_searched() -> None:
    """The best models share the data in one problem, and have parts of it in another."""
    for ensemble in (dt.Ensemble(), dt.Divide()):
        result = advise_problem(dt.Problem(), ensemble, budget=2.0)[BEST_AT_THIS_RIDGE]
        assert (scheme_of(result), models(result)) == ("ensemble", 8)
        assert result.total == pytest.approx(0.8227, abs=1e-4)
        divided = advise_problem(
            dt.Problem(features_per_dim=1.015), ensemble=ensemble, cost="training"
        )
        for option in (divided[BEST], divided[BEST_AT_THIS_RIDGE]):
            assert (scheme_of(option), models(option)) == ("divide", 3)


@pytest.mark.parametrize("cost", COSTS)
def test_best_allocation_does_not_depend_on_the_present_scheme(cost: CostName) -> None:
    for problem in (dt.Problem(noise=3.0), dt.Problem(features_per_dim=5.0)):
        one, two = (
            advise_problem(problem, present, budget=3.0, cost=cost)
            for present in (dt.Ensemble(), dt.Divide())
        )
        assert one[BEST_AT_THIS_RIDGE].total == pytest.approx(
            two[BEST_AT_THIS_RIDGE].total, rel=1e-9
        )


def test_cheapest_point_of_a_plateau_is_chosen() -> None:
    """Without ridge and noise, infinitely many models are as good from P = N on."""
    result = dt.advise(dt.Problem(features_per_dim=5.0, samples_per_dim=2.0, ridge=0.0, noise=0.0))
    assert features(result[MANY_AT_BEST]) == 2.0


def test_present_allocation_is_returned_if_none_is_better() -> None:
    problem = dt.Problem(ridge=math.inf)
    result = dt.advise(problem, ensemble=3)
    assert result[BEST_AT_THIS_RIDGE].problem == problem
    assert models(result[BEST_AT_THIS_RIDGE]) == 3


def test_best_ridge_is_infinite_without_signal() -> None:
    result = dt.advise(dt.Problem(signal=0.0, ridge=0.1))
    assert result[BEST].setting["ridge"] == math.inf
    assert result[BEST].total == 0
    assert result[BEST_AT_THIS_RIDGE].total < 1e-9


# --- whole counts --------------------------------------------------------------------------------


def counted(D: int, P: int, N: int, noise: float) -> dt.Problem:
    return dt.Problem.from_sizes(n_features=P, n_samples=N, dim=D, noise=noise, ridge=1e-5)


def least_over_counts(
    problem: dt.Problem, D: int, budget: int, cost: CostName, *, free: bool
) -> float:
    """The least error of all whole allocations."""
    N = round(scalar(problem.samples_per_dim) * D)
    best = math.inf
    for scheme in ("ensemble", "divide"):
        for P in range(1, budget + 1):
            most = N if scheme == "divide" else budget
            fits = [K for K in range(1, most + 1) if cost_of(P, N, K, scheme, cost) <= budget]
            if not fits:
                continue
            there = counted(D, P, N, scalar(problem.noise_sd))
            ensemble = named_ensemble(scheme, np.array(fits, dtype=float))
            error = (
                dt.optimal_ridge(there, ensemble).error if free else dt.exact_error(there, ensemble)
            )
            best = min(best, float(np.min(error.total)))
    return best


@pytest.mark.parametrize(
    ("D", "P", "N", "noise", "budget"),
    full_beyond_cases(
        [(30, 50, 11, 0.3, 23)],
        [(20, 24, 20, 1.0, 40), (4, 12, 8, 1.0, 41), (10, 7, 30, 3.0, 29), (30, 50, 11, 0.3, 23)],
    ),
)
def test_counts_equal_brute_force(D: int, P: int, N: int, noise: float, budget: int) -> None:
    problem = counted(D, P, N, noise)
    advice = advise_problem(problem, budget=budget / D, dim=D)
    for free, option in ((True, advice[BEST]), (False, advice[BEST_AT_THIS_RIDGE])):
        assert paid(option, "features") * D <= budget * (1 + 1e-12)
        brute = least_over_counts(problem, D, budget, "features", free=free)
        assert option.total == pytest.approx(brute, rel=1e-9)


def test_counts_are_close_to_brute_force_in_training() -> None:
    problem, budget = counted(6, 7, 6, 1.0), 7 * 6 * 6
    advice = advise_problem(problem, cost="training", dim=6)
    for free, option in ((True, advice[BEST]), (False, advice[BEST_AT_THIS_RIDGE])):
        assert paid(option, "training") * 6**3 <= budget * (1 + 1e-12)
        brute = least_over_counts(problem, 6, budget, "training", free=free)
        assert option.total == pytest.approx(brute, rel=1e-3)  # only counts near the optimum


@pytest.mark.parametrize("seed", full_beyond(range(4), range(12)))
def test_counts_are_whole_and_affordable(seed: int) -> None:
    scheme, cost = WAYS[(seed + seed // 4) % 4]
    rng = np.random.default_rng(seed)
    D, P, N = (int(v) for v in rng.integers(3, 300, 3))
    ensemble = named_ensemble(scheme, int(rng.integers(1, N + 1)))
    problem = counted(D, P, N, 10 ** rng.uniform(-1, 1))
    budget = None if seed % 2 else float(rng.uniform(1, 100)) * (N / D) ** 2
    advice = advise_problem(problem, ensemble, budget=budget, cost=cost, dim=D)
    for option in advice.options:
        count = features(option) * D
        assert math.isinf(count) or count == pytest.approx(round(count), rel=1e-9), option.name
        assert 1 <= models(option) <= (N if scheme_of(option) == "divide" else math.inf)
        assert option.error == dt.exact_error(*setting(option))
    for option in (advice[BEST], advice[BEST_AT_THIS_RIDGE]):
        assert paid(option, cost) <= advice.facts["budget"] * (1 + 1e-12)
        ideal = advice.facts["ideal"].get(option.name, {"error": option.total})
        assert ideal["error"] <= option.total * (1 + 1e-9)
    ratios = advise_problem(problem, ensemble, budget=budget, cost=cost)
    assert not ratios.facts["ideal"]  # the control: ratios are not rounded


def test_measured_spectrum_has_counts_if_its_samples_are_whole() -> None:
    levels = np.arange(1.0, 20.0) ** -1.5
    for N, whole in ((12, True), (12.5, False)):
        problem = dt.SpectralProblem(
            eigenvalues=levels,
            target_powers=levels,
            tail=0.1,
            n_features=17,
            n_samples=N,
            noise=1.0,
            gram_ridge=1e-3,
        )
        advice = dt.advise(problem, 3)
        option = advice[BEST_AT_THIS_RIDGE]
        assert features(option).is_integer() == whole
        assert (BEST_AT_THIS_RIDGE in advice.facts["ideal"]) == whole
        assert paid(option, "features") <= 51 * (1 + 1e-12)


def test_budget_below_one_feature_is_not_rounded() -> None:
    best = advise_problem(counted(10, 13, 10, 1.0), budget=0.05, dim=10)[BEST]
    assert paid(best, "features") <= 0.05 * (1 + 1e-12)
