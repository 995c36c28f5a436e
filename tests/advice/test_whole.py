"""Where features and samples are counted, what is advised can be done: whole counts."""

import math

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice._cost import COSTS, Cost, cost_of
from doubletrouble.ensembles import named_ensemble

LEVELS = np.arange(1.0, 20.0) ** -1.5
SPECTRUM = dt.SpectralProblem(
    eigenvalues=LEVELS, target_powers=LEVELS, tail=0.1, n_features=17, n_samples=12, noise=1.0,
    ridge=1e-3,
)  # fmt: skip


def counted(D: int, P: int, N: int, noise: float, ridge: float = 1e-5) -> dt.Problem:
    return dt.Problem.from_sizes(n_features=P, n_samples=N, dim=D, noise=noise, ridge=ridge)


def brute(problem: dt.Problem, D: int, budget: int, cost: Cost, *, free: bool) -> float:
    """The least error of all whole allocations."""
    N = round(float(np.asarray(problem.samples_per_dim)) * D)
    best = math.inf
    for scheme in ("ensemble", "divide"):
        for P in range(1, budget + 1):
            fits = [
                K for K in range(1, (N if scheme == "divide" else budget) + 1)
                if cost_of(P, N, K, scheme, cost) <= budget
            ]  # fmt: skip
            if not fits:
                continue
            there = counted(D, P, N, float(np.asarray(problem.noise)))
            K = np.array(fits, dtype=float)
            error = dt.optimal_ridge(there, named_ensemble(scheme, K)).error if free else None
            found = error.total if error else dt.exact_error(there, named_ensemble(scheme, K)).total
            best = min(best, float(np.min(found)))
    return best


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(
    ("D", "P", "N", "noise", "budget"),
    [(20, 24, 20, 1.0, 40), (4, 12, 8, 1.0, 41), (10, 7, 30, 3.0, 29), (30, 50, 11, 0.3, 23)],
)
def test_it_is_the_best_of_all_whole_ones(
    D: int, P: int, N: int, noise: float, budget: int, *, free: bool
) -> None:
    problem = counted(D, P, N, noise)
    found = dt.advise(problem, budget / D, dim=D)
    option = found.best if free else found.best_at_this_ridge
    assert option.features * D <= budget * (1 + 1e-12)
    assert option.total == pytest.approx(brute(problem, D, budget, "features", free=free), rel=1e-9)


def test_it_is_the_best_of_all_whole_ones_in_training() -> None:
    problem, budget = counted(6, 7, 6, 1.0), 7 * 6 * 6
    found = dt.advise(problem, cost="training", dim=6)
    for free, option in ((True, found.best), (False, found.best_at_this_ridge)):
        assert option.training * 6**3 <= budget * (1 + 1e-12)
        least = brute(problem, 6, budget, "training", free=free)
        assert option.total == pytest.approx(least, rel=1e-3)  # one that is near, not any


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("scheme", ["ensemble", "divide"])
@pytest.mark.parametrize("seed", range(6))
def test_every_count_is_whole_and_every_error_its_own(cost: Cost, scheme: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    D, P, N = (int(v) for v in rng.integers(3, 300, 3))
    members = int(rng.integers(1, N + 1))
    problem = counted(D, P, N, 10 ** rng.uniform(-1, 1))
    budget = None if seed % 2 else float(rng.uniform(1, 100)) * (N / D) ** 2
    found = dt.advise(problem, budget, ensemble=named_ensemble(scheme, members), cost=cost, dim=D)
    for option in found.options:
        count = option.width * D
        assert math.isinf(count) or count == pytest.approx(round(count), rel=1e-9), option.name
        assert option.n_members >= 1
        if option.scheme == "divide":
            assert option.n_members <= N
        own = dt.exact_error(option.problem, option.ensemble)
        assert option.error == own
    for option in (found.best, found.best_at_this_ridge):
        assert option.cost(cost) <= found.budget * (1 + 1e-12)
        ideal = option.ideal or option
        assert ideal.total <= option.total * (1 + 1e-9)
    ratios = dt.advise(problem, budget, ensemble=named_ensemble(scheme, members), cost=cost)
    assert ratios.best.ideal is None  # the control: of ratios, nothing is rounded


def test_the_best_of_ratios_is_kept_for_programs() -> None:
    problem = counted(200, 240, 200, 1.0)
    asked = dt.advise(problem, 41.5 / 200, dim=200)
    rows = {row["name"]: row for row in asked.to_dict()["options"]}
    row, ratios = rows["best_at_this_ridge"], dt.advise(problem, 41.5 / 200).best_at_this_ridge
    assert row["ideal_features"] == pytest.approx(ratios.width * 200)
    assert row["ideal_n_members"] == ratios.n_members
    assert row["ideal_error_total"] == ratios.total < row["error_total"]
    assert rows["now"]["ideal_features"] == rows["now"]["features"]
    assert f"models of P = {row['features']:g}, each on" in asked.reason


def test_a_measured_spectrum_is_counted_where_its_samples_are() -> None:
    whole = dt.advise(SPECTRUM, ensemble=3).best_at_this_ridge
    assert whole.width == round(whole.width)
    assert whole.features <= 51
    parts = dt.advise(SPECTRUM, ensemble=dt.Divide(12))
    assert parts["divide"].n_members == 12
    assert "divide among 12" not in parts.reason.partition("For twice")[2]
    loose = dt.SpectralProblem(
        eigenvalues=LEVELS, target_powers=LEVELS, tail=0.1, n_features=17, n_samples=12.5,
        ridge=1e-3, noise=1.0,
    )  # fmt: skip
    assert dt.advise(loose, ensemble=3).best_at_this_ridge.ideal is None


def test_many_features_are_shown_with_every_digit() -> None:
    found = dt.advise(counted(1000, 1234, 1000, 1.0), dim=1000)
    assert " 1234 " in found.table()
    assert "Under a budget of 1234 features in all" in found.reason
    assert found["widen_a_little"].label == "P → P + (P-N)/2"
    assert dt.advise(counted(10, 13, 10, 1.0), dim=10)["widen_a_little"].label == "P → P + 1"


def test_a_budget_below_one_feature_is_left_to_ratios() -> None:
    found = dt.advise(counted(10, 13, 10, 1.0), 0.05, dim=10)
    assert found.best.features <= 0.05 * (1 + 1e-12)
