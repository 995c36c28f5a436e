"""The frontier of compute: against a search by brute force, and its exponents."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.advice.brute_force import paid, samples

LAW = dt.SpectralProblem.from_law(
    dt.PowerLaw(capacity=1.5, source=0.8), n_features=1e9, n_samples=1e9, noise=0.1
)
COSTS = {
    "direct": dt.Cost(),
    "iterative": dt.Cost(steps=50),
    "parallel": dt.Cost(workers=8),
    "serving": dt.Cost(predictions=1e6, sample_price=1e3),
}


@pytest.mark.parametrize("name", COSTS)
def test_no_random_allocation_is_better(name: str) -> None:
    cost, compute = COSTS[name], 1e12
    best = dt.scaling_frontier(LAW, compute, cost=cost)
    total = float(np.ravel(best.error.total)[0])
    paid = cost(best.n_features, best.n_samples, best.n_members)
    assert float(np.ravel(paid)[0]) <= compute * (1 + 1e-9)
    rng = np.random.default_rng(1)
    near = (float(best.n_features[0]), float(best.n_members[0]), float(best.gram_ridge[0]))
    count = 20_000
    spread = np.exp(rng.normal(size=(3, count)) * np.where(rng.random(count) < 0.5, 0.1, 3.0))
    P = np.maximum(near[0] * spread[0], 1.0)
    K = np.maximum(np.rint(near[1] * spread[1]), 1.0)
    # the most samples that the rest of the budget pays for
    low, high = np.zeros(count), np.full(count, 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        over = cost(P, np.exp(middle), K) > compute
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    ridge = np.where(rng.random(count) < 0.3, 0.0, max(near[2], 1.0) * spread[2])
    there = replace(LAW, n_features=P, n_samples=np.exp(low), gram_ridge=ridge)
    tried = np.asarray(dt.exact_error(there, dt.Ensemble(K)).total)
    assert total <= tried.min() * (1 + 3e-4)
    assert tried.min() <= total * 1.02  # the search by brute force comes close


@pytest.mark.parametrize("source", [0.3, 0.8, 1.5])
@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("cost", [dt.Cost(), dt.Cost(steps=10), dt.Cost(workers=math.inf)])
def test_frontier_tends_to_its_exponents(source: float, noise: float, cost: dt.Cost) -> None:
    law = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.4, source=source), n_features=1.0, n_samples=1.0, noise=noise
    )
    frontier = dt.scaling_frontier(law, np.geomspace(1e28, 1e32, 3), cost=cost)
    for one in (frontier, frontier.one_model):
        assert one is not None
        assert one.asymptotic is not None
        assert one.exponents is not None
        slope = float(np.asarray(one.exponents.total)[1])
        assert slope == pytest.approx(one.asymptotic.total, abs=0.01)
        steep = dt.SpectralProblem.from_law(
            dt.PowerLaw(capacity=1.9, source=source), n_features=1.0, n_samples=1.0, noise=noise
        )
        wrong = dt.scaling_frontier(steep, 1e28, cost=cost)
        other = wrong if one is frontier else wrong.one_model
        assert other is not None
        assert other.asymptotic is not None
        assert abs(slope - float(other.asymptotic.total)) > 0.01  # control: another capacity


def test_ensembles_pay_with_a_direct_solver_noise_and_a_smooth_target() -> None:
    compute = np.geomspace(1e14, 1e22, 5)
    direct = dt.scaling_frontier(LAW, compute)
    assert np.all(direct.n_members > 10)
    assert np.all(np.diff(direct.gain) > 0)
    assert direct.gain[0] > 0.5
    b, c = 2 * 1.5 * 0.8, 2 * 1.5 * 0.5
    assert direct.asymptotic is not None
    assert direct.asymptotic.total == pytest.approx(-b / (3 + 2 * b - c))
    assert direct.one_model is not None
    assert direct.one_model.asymptotic is not None
    assert direct.one_model.asymptotic.total == pytest.approx(-b / (3 + 3 * b - 2 * c))
    iterative = dt.scaling_frontier(LAW, compute, cost=dt.Cost(steps=100))
    assert np.all(iterative.n_members == 1)


@pytest.mark.parametrize("most", [3, 15, 63, 70])
def test_as_many_models_as_allowed(most: int) -> None:
    """Below the best number, 81, the limit is reached."""
    limited = dt.scaling_frontier(LAW, 1e12, max_n_members=most)
    assert limited.n_members == most
    fewer = dt.scaling_frontier(LAW, 1e12, max_n_members=most - 1)
    assert limited.error.total < fewer.error.total


def test_no_allocation_of_all_samples_is_better() -> None:
    limit = 2e4
    best = dt.scaling_frontier(LAW, 1e12, max_n_samples=limit)
    assert best.n_samples == limit
    total = float(np.ravel(best.error.total)[0])
    K = np.unique(np.rint(np.geomspace(1, 1e4, 120)))
    P = np.sqrt(1e12 / limit / K)  # below N
    ridge = np.geomspace(1e-3, 1e3, 60)[:, None]
    there = replace(LAW, n_features=P, n_samples=limit, gram_ridge=ridge)
    tried = np.asarray(dt.exact_error(there, dt.Ensemble(K)).total)
    assert total <= tried.min() * (1 + 1e-3)
    assert tried.min() <= total * 1.02


def test_unusual_costs_stay_within_the_budget() -> None:
    def steep(P: Any, N: Any, K: Any) -> Any:
        return K * (N * P) ** 4.5

    frontier = dt.scaling_frontier(LAW, [1e3, 1e24], cost=steep)
    spent = steep(frontier.n_features, frontier.n_samples, frontier.n_members)
    assert np.all(spent <= frontier.compute * (1 + 1e-9))
    assert np.all(frontier.n_features * frontier.n_samples > 1)


def test_limited_members_have_the_exponents_of_one_model() -> None:
    frontier = dt.scaling_frontier(LAW, np.geomspace(1e24, 1e30, 3), max_n_members=10)
    assert frontier.asymptotic is not None
    assert frontier.exponents is not None
    assert frontier.asymptotic.n_members == 0
    slope = float(np.asarray(frontier.exponents.total)[1])
    assert slope == pytest.approx(frontier.asymptotic.total, abs=0.01)


def test_steep_laws_have_a_frontier_beyond_their_modes() -> None:
    steep = dt.SpectralProblem.from_law(
        dt.ExponentialLaw(scale=10.0, source=0.5), n_features=100, n_samples=100, noise=0.1
    )
    frontier = dt.scaling_frontier(steep, np.geomspace(1e6, 1e15, 4))
    assert np.all(np.diff(frontier.error.total) < 0)
    large = replace(steep, n_features=40000.0, n_samples=20000.0, gram_ridge=1e-3)
    assert (advice := dt.advise(large, 2))["frontier"].total <= advice.now.total


def test_errors_that_no_budget_removes_have_no_asymptotic_frontier() -> None:
    for problem in (replace(LAW, nonlinear_signal=0.1), replace(LAW, test_noise=0.1)):
        assert dt.scaling_frontier(problem, [1e20, 1e24]).asymptotic is None


def test_frontier_is_of_whole_numbers_within_limits() -> None:
    compute = np.geomspace(10, 1e15, 6)
    limited = dt.scaling_frontier(LAW, compute, max_n_samples=1e4, max_n_members=7)
    for sizes in (limited.n_features, limited.n_samples, limited.n_members):
        assert np.all(sizes == np.floor(sizes))
        assert np.all(sizes >= 1)
    assert limited.n_samples.max() <= 1e4
    assert limited.n_members.max() <= 7
    assert np.all(np.diff(limited.error.total) < 0)
    assert limited.asymptotic is None
    one = dt.scaling_frontier(LAW, compute, max_n_members=1)
    assert one.one_model is not None
    np.testing.assert_allclose(one.error.total, one.one_model.error.total, rtol=1e-9)
    assert not one.gain.any()


def test_a_function_is_as_good_as_a_cost() -> None:
    def own(P: Any, N: Any, K: Any) -> Any:
        return K * N * P * np.minimum(N, P)

    ours, theirs = (dt.scaling_frontier(LAW, [1e10, 1e16], cost=cost) for cost in (dt.Cost(), own))
    np.testing.assert_allclose(ours.error.total, theirs.error.total)
    assert theirs.asymptotic is None


@pytest.mark.parametrize("noise", [0.1, 100.0])
@pytest.mark.parametrize("compute", [1.0, 3.0, 30.0, 300.0])
def test_small_budgets_are_kept_and_used_best(compute: float, noise: float) -> None:
    """Against every affordable allocation of whole numbers, at its best ridge."""
    problem = replace(LAW, noise=noise)
    best = dt.scaling_frontier(problem, compute)
    for one in (best, best.one_model):
        assert one is not None
        paid = dt.Cost()(one.n_features, one.n_samples, one.n_members)
        assert float(np.ravel(paid)[0]) <= compute
    sizes = np.arange(1.0, compute + 1)
    P, N, K = np.meshgrid(sizes[:40], sizes, sizes[:12], indexing="ij")
    affordable = dt.Cost()(P, N, K) <= compute
    # without a search of the ridge for all: the good ones of a grid first
    ridges = np.geomspace(1e-3, 1e6, 40)[:, None]
    tried = replace(problem, n_features=P[affordable], n_samples=N[affordable], gram_ridge=ridges)
    least = np.asarray(dt.exact_error(tried, dt.Ensemble(K[affordable])).total).min()
    assert float(np.ravel(best.error.total)[0]) <= least * 1.03
    assert best.gain >= 0


def test_all_features_of_a_list_are_tried() -> None:
    """The best width is the number of modes, where a ridge is not needed."""
    modes = np.arange(1.0, 51.0)
    problem = dt.SpectralProblem(
        eigenvalues=1 / modes, target_powers=1 / modes, n_features=1, n_samples=1, noise=0.5
    )
    frontier = dt.scaling_frontier(problem, [1e6, 1e8], cost=dt.Cost(steps=1))
    assert frontier.n_features.tolist() == [50.0, 50.0]
    assert np.ravel(frontier.error.total)[0] == pytest.approx(6.27e-4, rel=1e-2)


def test_frontier_of_a_short_list() -> None:
    spectrum = dt.SpectralProblem(
        eigenvalues=[1.0, 0.3, 0.1], target_powers=[1.0, 1.0, 1.0], n_features=5, n_samples=9
    )
    frontier = dt.scaling_frontier(spectrum, np.geomspace(10, 1e8, 4))
    assert np.all(np.diff(frontier.error.total) <= 1e-8)
    assert np.isfinite(frontier.error.total).all()


def test_table_frame_and_plot() -> None:
    frontier = dt.scaling_frontier(LAW, [1e12, 1e14])
    frame = frontier.to_frame()
    assert frame["total"].tolist() == np.ravel(frontier.error.total).tolist()
    assert "one model" in str(frontier)
    assert frontier.plot().get_xlabel() == "operations"
    assert dt.scaling_frontier(LAW, 1e12).exponents is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"compute": 0.5}, "compute"),
        ({"compute": math.inf}, "compute"),
        ({"compute": 1e9, "cost": 3.0}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N, K: K * P**2}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N, K: None}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N: P * N}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N, K: 1j * P * N * K}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N, K: K * N * P * min(N, P)}, "cost"),
        ({"compute": 1e9, "max_n_samples": 0.0}, "max_n_samples"),
        ({"compute": 1e9, "max_n_members": 1.5}, "max_n_members"),
        ({"compute": 2.0, "cost": dt.Cost(predictions=1e3)}, "compute"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name} must"):
        dt.scaling_frontier(LAW, **arguments)


def test_advice_has_the_frontier_of_a_measured_spectrum() -> None:
    problem = replace(LAW, n_features=500.0, n_samples=4000.0, gram_ridge=0.1)
    advice = dt.advise(problem)
    frontier = advice["frontier"]
    assert paid(frontier, "training") <= paid(advice.now, "training") * (1 + 1e-9)
    assert samples(frontier) <= 4000
    assert frontier.total < advice.now.total
    assert "frontier" not in {one.name for one in dt.advise(dt.Problem()).options}
