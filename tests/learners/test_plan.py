"""Plans of repeats, and the precision reached with them."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from doubletrouble.learners import Decomposition, RepeatPlan, decompose_predictions
from tests.learners.known import FEW, curved, least_squares, pool, random_features, source
from tests.learners.random_effects import Effects, rows

N_TEST = 40


def pilot(shape: tuple[int, int, int] = (10, 2, 4), seed: int = 0, **options: Any) -> Decomposition:
    f = Effects(**options).draw((*shape, N_TEST), np.random.default_rng(seed))
    return decompose_predictions(f, np.zeros(N_TEST), include_test=False)


def worst(result: Decomposition) -> float:
    """The largest standard error over what it may be at a relative error of 1."""
    least = 0.05 * float(result.error().total.value)
    return max(
        float(part.standard_error) / max(float(part.value), least) for part in rows(result).values()
    )


def test_half_the_error_takes_four_times_the_data() -> None:
    f = Effects().draw((20, 2, 1, N_TEST), np.random.default_rng(0))
    result = decompose_predictions(f, np.zeros(N_TEST), include_test=False, deterministic=True)
    rough, fine = (dt.plan_repeats(result, error) for error in (0.05, 0.025))
    assert (rough.n_init, rough.n_noise) == (1, 2)
    assert fine.n_data == pytest.approx(4 * rough.n_data, abs=4)
    assert fine.n_fits == fine.n_data * 2


def test_half_the_error_takes_four_times_the_initializations() -> None:
    result = pilot(initialization=2.0)
    rough, fine = (dt.plan_repeats(result, error) for error in (0.1, 0.05))
    assert fine.n_fits == pytest.approx(16 * rough.n_fits, rel=0.4)  # data sets and initializations


@pytest.mark.statistical
def test_planned_repeats_reach_the_precision() -> None:
    wanted, reached = 0.1, []
    for seed in range(10):
        plan = dt.plan_repeats(pilot(seed=seed), wanted)
        shape = (plan.n_data, plan.n_noise, plan.n_init)
        reached.append(worst(pilot(shape, seed=seed + 100)) / wanted)
    assert 0.4 < np.median(reached) < 1.25
    assert max(reached) < 2


def test_expected_errors_reach_the_requested_precision() -> None:
    result = pilot()
    plan = dt.plan_repeats(result, 0.1)
    assert plan.standard_errors.keys() == rows(result).keys()
    least = 0.05 * float(result.error().total.value)
    ratios = {
        name: plan.standard_errors[name] / max(float(part.value), least)
        for name, part in rows(result).items()
    }
    assert max(ratios.values()) == pytest.approx(0.1, rel=0.1)
    assert max(ratios.values()) <= 0.1


def test_plans_have_at_least_the_present_initializations() -> None:
    """With fewer, each data set would be less precise, by an unknown amount."""
    assert dt.plan_repeats(pilot((10, 2, 8)), 0.5).n_init >= 8


def test_a_precision_already_reached_needs_the_fewest_repeats() -> None:
    plan = dt.plan_repeats(pilot((40, 2, 10)), 0.9)
    assert (plan.n_data, plan.n_init) == (10, 10)
    assert plan.notes == ()


def test_too_few_test_points_have_a_note() -> None:
    rng = np.random.default_rng(0)
    f = Effects(bias=0.0).draw((20, 2, 4, N_TEST), rng) + rng.normal(size=N_TEST)
    result = decompose_predictions(f, np.zeros(N_TEST))
    plan = dt.plan_repeats(result, 0.02)
    assert any(note.startswith("bias ") for note in plan.notes)
    none = dt.plan_repeats(result, 0.001)
    assert len(none.notes) == len(rows(result))
    assert none.standard_errors["bias"] < result.error().bias.standard_error


def test_pools_with_too_few_training_sets_have_a_note() -> None:
    data = dt.PoolSource(*pool(150), n_samples=20, n_test=50)
    plan = dt.plan_repeats(dt.decompose(random_features, data, **FEW), 0.01)
    assert plan.n_data > 5
    assert "5 training sets" in plan.notes[-1]


def test_a_deterministic_learner_needs_one_initialization() -> None:
    data = dt.PoolSource(*pool(150), n_samples=20, n_test=50)
    assert dt.plan_repeats(dt.decompose(Ridge(), data, **FEW)).n_init == 1


@pytest.mark.statistical
def test_plans_of_several_pilots_are_similar() -> None:
    """The variance over few initializations is imprecise, and must not dominate the plan."""
    data = dt.GeneratorSource(curved, n_samples=20, noise=0.5, n_test=200)
    few: dict[str, Any] = {"n_data": 20, "n_init": 5, "progress": False}
    plans = [dt.plan_repeats(dt.decompose(random_features, data, seed=s, **few)) for s in range(8)]
    assert max(plan.n_fits for plan in plans) < 15 * min(plan.n_fits for plan in plans)


@pytest.mark.parametrize("shape", [(2, 2, 4), (10, 2, 2), (1, 2, 4)])
def test_too_few_repeats_are_refused(shape: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"^result must have standard errors"):
        dt.plan_repeats(pilot(shape))


def test_plans_need_a_decomposition() -> None:
    result: Any = 3
    with pytest.raises(TypeError, match=r"^result must be a Decomposition, got 3$"):
        dt.plan_repeats(result)


def test_plans_need_a_total() -> None:
    f = Effects().draw((10, 2, 4, N_TEST), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^result must have a total"):
        dt.plan_repeats(decompose_predictions(f))


def test_relative_errors_are_checked() -> None:
    for bad in (0.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"^relative_error must"):
            dt.plan_repeats(pilot(), bad)


@pytest.mark.parametrize("learner", [random_features, least_squares])
def test_plans_have_the_noise_draws_of_their_pilot(learner: Any) -> None:
    result = dt.decompose(learner, source(n_test=200), **(FEW | {"n_data": 8}))
    plan = dt.plan_repeats(result, relative_error=0.2)
    assert isinstance(plan, RepeatPlan)
    assert plan.n_data > 8
    assert plan.n_noise == 2
    known = dt.PoolSource(*random_pool(), n_samples=20, noise=0.5, n_test=150)
    result = dt.decompose(learner, known, **(FEW | {"n_data": 10}))
    plan = dt.plan_repeats(result, relative_error=0.5)
    assert plan.n_fits == plan.n_data * plan.n_init * 3  # the labels as they are, and two draws


def random_pool() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    return X, X[:, 0] + 0.5 * rng.standard_normal(400)
