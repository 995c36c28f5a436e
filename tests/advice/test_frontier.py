"""The frontier of compute: against a search by brute force, and its exponents."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt

LAW = dt.SpectralProblem.power_law(
    capacity=1.5, source=0.8, n_features=1e9, n_samples=1e9, noise=0.1
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
    total = float(best.error.total[0])
    assert float(cost(best.n_features, best.n_samples, best.n_members)[0]) <= compute * (1 + 1e-9)
    rng = np.random.default_rng(1)
    near = (float(best.n_features[0]), float(best.n_members[0]), float(best.ridge[0]))
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
    tried = dt.exact_error(
        replace(LAW, n_features=P, n_samples=np.exp(low), ridge=ridge), dt.Ensemble(K)
    ).total
    assert total <= tried.min() * (1 + 3e-4)
    assert tried.min() <= total * 1.02  # the search by brute force comes close


@pytest.mark.parametrize("source", [0.3, 0.8, 1.5])
@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("cost", [dt.Cost(), dt.Cost(steps=10), dt.Cost(workers=math.inf)])
def test_frontier_tends_to_its_exponents(source: float, noise: float, cost: dt.Cost) -> None:
    law = dt.SpectralProblem.power_law(
        capacity=1.4, source=source, n_features=1.0, n_samples=1.0, noise=noise
    )
    frontier = dt.scaling_frontier(law, np.geomspace(1e28, 1e32, 3), cost=cost)
    for one in (frontier, frontier.one_model):
        assert one is not None
        assert one.asymptotic is not None
        slope = one.exponents["error"][1]
        assert slope == pytest.approx(one.asymptotic.error, abs=0.01)
        assert abs(slope - 1.1 * one.asymptotic.error) > 0.01  # control


def test_ensembles_pay_with_a_direct_solver_noise_and_a_smooth_target() -> None:
    compute = np.geomspace(1e14, 1e22, 5)
    direct = dt.scaling_frontier(LAW, compute)
    assert np.all(direct.n_members > 10)
    assert np.all(np.diff(direct.gain) > 0)
    assert direct.gain[0] > 0.5
    b, c = 2 * 1.5 * 0.8, 2 * 1.5 * 0.5
    assert direct.asymptotic is not None
    assert direct.asymptotic.error == pytest.approx(-b / (3 + 2 * b - c))
    assert direct.one_model is not None
    assert direct.one_model.asymptotic is not None
    assert direct.one_model.asymptotic.error == pytest.approx(-b / (3 + 3 * b - 2 * c))
    iterative = dt.scaling_frontier(LAW, compute, cost=dt.Cost(steps=100))
    assert np.all(iterative.n_members == 1)


def test_frontier_is_of_whole_numbers_within_limits() -> None:
    compute = np.geomspace(10, 1e15, 6)
    limited = dt.scaling_frontier(LAW, compute, max_samples=1e4, max_members=7)
    for sizes in (limited.n_features, limited.n_samples, limited.n_members):
        assert np.all(sizes == np.floor(sizes))
        assert np.all(sizes >= 1)
    assert limited.n_samples.max() <= 1e4
    assert limited.n_members.max() <= 7
    assert np.all(np.diff(limited.error.total) < 0)
    assert limited.asymptotic is None
    one = dt.scaling_frontier(LAW, compute, max_members=1)
    assert one.one_model is not None
    np.testing.assert_allclose(one.error.total, one.one_model.error.total, rtol=1e-9)
    assert not one.gain.any()


def test_a_function_is_as_good_as_a_cost() -> None:
    def own(P: Any, N: Any, K: Any) -> Any:
        return K * N * P * np.minimum(N, P)

    ours, theirs = (dt.scaling_frontier(LAW, [1e10, 1e16], cost=cost) for cost in (dt.Cost(), own))
    np.testing.assert_allclose(ours.error.total, theirs.error.total)
    assert theirs.asymptotic is None


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
    assert frame["total"].tolist() == frontier.error.total.tolist()
    assert "one model" in str(frontier)
    assert frontier.plot().get_xlabel() == "compute"
    with pytest.raises(ValueError, match="compute must have two values"):
        _ = dt.scaling_frontier(LAW, 1e12).exponents


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"compute": 0.5}, "compute"),
        ({"compute": math.inf}, "compute"),
        ({"compute": 1e9, "cost": 3.0}, "cost"),
        ({"compute": 1e9, "cost": lambda P, N, K: K * P**2}, "cost"),
        ({"compute": 1e9, "max_samples": 0.0}, "max_samples"),
        ({"compute": 1e9, "max_members": 1.5}, "max_members"),
        ({"compute": 2.0, "cost": dt.Cost(predictions=1e3)}, "compute"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name} must"):
        dt.scaling_frontier(LAW, **arguments)


def test_advice_has_the_frontier_of_a_measured_spectrum() -> None:
    problem = replace(LAW, n_features=500.0, n_samples=4000.0, ridge=0.1)
    advice = dt.advise(problem)
    frontier = advice["frontier"]
    assert frontier.training_cost <= advice.now.training_cost * (1 + 1e-9)
    assert frontier.total < advice.now.total
    assert "frontier" not in {one.name for one in dt.advise(dt.Problem()).options}
