"""Settings with their error and cost, and the single changes of a setting."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice import advise_problem
from doubletrouble.advice._settings import affordable
from doubletrouble.costs import COSTS, CostName, cost_of, most_features, most_members
from tests.advice.brute_force import features, models, paid

INF = math.inf
PROBLEM = dt.Problem(features_per_dim=1.5, ridge=0.01)
SPECTRUM = dt.SpectralProblem(
    eigenvalues=np.arange(1.0, 20.0) ** -1.5,
    target_powers=np.arange(1.0, 20.0) ** -1.5,
    tail=0.1,
    n_features=17,
    n_samples=12,
    noise=1.0,
    gram_ridge=1e-3,
)


def total(ensemble: float | dt.Scheme = 1, **fields: Any) -> float:
    problem = dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields})
    return float(dt.exact_error(problem, ensemble).total)


@pytest.mark.parametrize("scheme", ["ensemble", "divide"])
@pytest.mark.parametrize("cost", COSTS)
def test_most_features_and_most_members_invert_the_cost(scheme: str, cost: CostName) -> None:
    members = np.array([1.0, 2.0, 7.0, 1000.0])
    for budget, N in itertools.product((1e-3, 0.7, 30.0, 1e4), (0.3, 1.0, 5.0)):
        for K, P in zip(members, most_features(budget, N, members, scheme, cost), strict=True):
            assert cost_of(float(P), N, float(K), scheme, cost) == pytest.approx(budget, rel=1e-12)
            if scheme == "ensemble":
                (many,) = most_members(budget, N, np.array([P]), cost)
                assert many == pytest.approx(K, rel=1e-12)


def test_costs_have_known_values() -> None:
    assert cost_of(3.0, 2.0, 5.0, "ensemble", "features") == 15
    assert cost_of(3.0, 2.0, 5.0, "ensemble", "training") == 5 * 2 * 3 * 2
    assert cost_of(3.0, 10.0, 5.0, "ensemble", "training") == 5 * 10 * 3 * 3
    assert cost_of(3.0, 10.0, 5.0, "divide", "training") == 5 * 2 * 3 * 2
    assert cost_of(INF, 1.0, 2.0, "divide", "training") == INF
    assert cost_of(INF, 1.0, INF, "divide", "training") == 0
    assert affordable(1 + 1e-15, 1.0)
    assert not affordable(1.1, 1.0)


def test_each_change_has_its_own_error() -> None:
    advice = dt.advise(PROBLEM, 3)
    expected = {
        "2x features": total(3, features_per_dim=3.0),
        "slightly more features": total(3, features_per_dim=1.5 * 1.1),
        "2x models": total(6),
        "divided data": total(dt.Divide(6)),
        "2x data": total(3, samples_per_dim=2.0),
        "∞ models": total(INF),
        "best ridge": float(dt.optimal_ridge(PROBLEM, 3).error.total),
    }
    assert {option.name: option.total for option in advice.changes} == pytest.approx(expected)
    assert advice.now.total == total(3)
    divided = dt.advise(PROBLEM, dt.Divide(4))
    assert divided["2x models"].total == total(8)
    assert divided["divided data"].total == total(dt.Divide(8))
    assert divided["2x features"].total == total(dt.Divide(4), features_per_dim=3.0)


def test_changes_of_twice_the_features_cost_the_same() -> None:
    advice = dt.advise(PROBLEM, 3)
    assert {
        paid(advice[name], "features") for name in ("2x features", "2x models", "divided data")
    } == {9.0}
    assert paid(advice["best ridge"], "features") == paid(advice.now, "features") == 4.5
    assert paid(advice["best ridge"], "training") == paid(advice.now, "training") == 3 * 1.5
    assert (
        paid(advice["2x features"], "training")
        == paid(advice["2x models"], "training")
        == 2 * 3 * 1.5
    )
    assert paid(advice["2x data"], "training") == 3 * 2 * 1.5 * 1.5
    assert paid(advice["divided data"], "training") == 6 * (1 / 6) * 1.5 * (1 / 6)
    assert paid(advice["∞ models"], "features") == INF


def test_doubling_an_infinite_number_has_no_effect() -> None:
    advice = dt.advise(dt.Problem(features_per_dim=INF, ridge=0.01), INF)
    for name in ("2x features", "slightly more features", "2x models", "∞ models"):
        assert advice[name].total == advice.now.total
        assert paid(advice[name], "features") == INF


@pytest.mark.parametrize(
    ("P", "ensemble", "expected"),
    [
        (0.9, dt.Ensemble(1), 0.99),
        (1.0, dt.Ensemble(1), 1.1),
        (1.2, dt.Ensemble(2), 1.3),
        (1.3, dt.Ensemble(1), 1.43),
        (0.6, dt.Divide(2), 0.65),
        (INF, dt.Ensemble(1), INF),
    ],
)
def test_slightly_more_features_are_less_than_the_distance_to_the_peak(
    P: float, ensemble: dt.Scheme, expected: float
) -> None:
    option = dt.advise(dt.Problem(features_per_dim=P), ensemble)["slightly more features"]
    assert features(option) == pytest.approx(expected)


def test_slightly_more_features_are_a_whole_count() -> None:
    for D, P, more in ((1000, 1234, 117), (10, 13, 1)):
        problem = dt.Problem.from_sizes(n_features=P, n_samples=D, dim=D)
        option = advise_problem(problem, dim=D)["slightly more features"]
        assert features(option) * D == pytest.approx(P + more)


def test_counted_data_have_at_most_as_many_parts_as_samples() -> None:
    assert models(dt.advise(SPECTRUM, dt.Divide(12))["divided data"]) == 12
    assert models(dt.advise(SPECTRUM, dt.Divide(5))["divided data"]) == 10
