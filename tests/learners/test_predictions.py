"""Known answers of a decomposition, sums of its parts, standard errors and memory."""

import math
import pickle
import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from doubletrouble.learners import decompose_predictions
from doubletrouble.parameters import FloatArray
from tests.learners.random_effects import Effects

SHAPE = (6, 3, 4, 5)


def predictions(shape: tuple[int, int, int, int] = SHAPE, seed: int = 0) -> FloatArray:
    return Effects().draw(shape, np.random.default_rng(seed))


def truth(n_test: int = SHAPE[-1]) -> FloatArray:
    return np.linspace(-1, 1, n_test)


# --- known answers -------------------------------------------------------------------------------


def test_parts_of_three_data_sets_equal_those_by_hand() -> None:
    f = np.array([1.0, 3.0, 2.0]).reshape(3, 1, 1, 1)
    result = decompose_predictions(f, truth=[1.0])
    assert result.error().sampling.value == pytest.approx(1.0)  # the sample variance
    assert result.error().bias.value == pytest.approx((3 + 2 + 6) / 3 - 2 * 2 + 1)  # of products
    assert result.error().total.value == pytest.approx(5 / 3)


@pytest.mark.parametrize(
    ("axis", "expected"),  # -1/3 is the product of two different draws
    [
        (0, {"noise": 0, "initialization": 0, "sampling": 1, "bias": -1 / 3}),
        (1, {"noise": 1, "initialization": 0, "sampling": -1 / 3, "bias": 0}),
        (2, {"noise": 0, "initialization": 1, "sampling": 0, "bias": -1 / 3}),
    ],
)
def test_variance_of_one_cause_is_in_its_part(axis: int, expected: dict[str, float]) -> None:
    draws = np.array([-1.0, 0.0, 1.0])  # of sample variance 1
    f = np.zeros((3, 3, 3, 2)) + np.expand_dims(draws, tuple({0, 1, 2, 3} - {axis}))
    parts = decompose_predictions(f, truth=[0.0, 0.0]).error().parts
    values = {name: part.value for name, part in parts.items()}
    assert values == pytest.approx(expected, abs=1e-15)


def test_shared_initializations_are_an_effect_of_their_own() -> None:
    f = np.zeros((3, 2, 3, 1)) + np.array([-1.0, 0.0, 1.0])[:, None]
    anova = decompose_predictions(f, truth=[0.0]).anova()
    assert anova.initialization.value == pytest.approx(1.0)
    assert anova.initialization_sampling.value == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("crossed", [True, False])
def test_parts_sum_to_total(crossed: bool) -> None:
    f = predictions()
    result = decompose_predictions(f, truth(), crossed=crossed)
    mean_square = np.mean((f - truth()) ** 2)
    assert result.error().total.value == pytest.approx(mean_square, rel=1e-13)
    every = sum(part.value for part in result.error().parts.values())
    assert every == pytest.approx(mean_square, rel=1e-13)
    anova = result.anova()
    both = anova.noise_sampling.value + anova.noise_initialization_sampling.value
    assert both == pytest.approx(result.error().noise.value, rel=1e-12)
    if crossed:
        both = anova.initialization.value + anova.initialization_sampling.value
        assert both == pytest.approx(result.error().initialization.value, rel=1e-12)
        every = sum(part.value for part in anova.parts.values())
        assert every == pytest.approx(mean_square, rel=1e-13)


@pytest.mark.parametrize("shape", [(6, 1, 4, 5), (6, 3, 1, 5), (1, 3, 4, 5), (6, 1, 1, 5)])
def test_parts_sum_to_total_where_some_are_absorbed(shape: tuple[int, int, int, int]) -> None:
    f = predictions(shape)
    result = decompose_predictions(f, truth())
    every = sum(part.value for part in result.error().parts.values())
    assert every == pytest.approx(np.mean((f - truth()) ** 2), rel=1e-13)


@pytest.mark.parametrize("crossed", [True, False])
def test_an_ensemble_is_the_mean_over_groups(crossed: bool) -> None:
    f = predictions()
    result = decompose_predictions(f, truth(), crossed=crossed)
    for K in (1, 2, 3, 4):
        groups = [f[:, :, list(g)].mean(axis=2) for g in combinations(range(SHAPE[2]), K)]
        expected = np.mean([(group - truth()) ** 2 for group in groups])
        assert result.error(K).total.value == pytest.approx(expected, rel=1e-12)
    assert result.error(1).total == result.error().total


@pytest.mark.parametrize("K", [1, 7, math.inf])
def test_effects_of_the_initialization_fall_as_one_over_k(K: float) -> None:
    result = decompose_predictions(predictions(), truth(), crossed=False)
    error, anova = result.error(), result.anova()
    falls = error.initialization.value + anova.noise_initialization_sampling.value
    stays = error.bias.value + error.sampling.value + anova.noise_sampling.value
    expected = stays + falls / K
    assert result.error(K).total.value == pytest.approx(expected, rel=1e-12)


def test_fresh_initializations_are_exchangeable() -> None:
    f = predictions()
    mixed = np.stack([one[:, np.random.default_rng(d).permutation(4)] for d, one in enumerate(f)])
    fresh = [decompose_predictions(g, truth(), crossed=False) for g in (f, mixed)]
    assert fresh[0].error().bias.value == pytest.approx(fresh[1].error().bias.value, rel=1e-12)
    crossed = [decompose_predictions(g, truth()).error().bias.value for g in (f, mixed)]
    assert crossed[0] != pytest.approx(crossed[1], rel=1e-3)


def test_noise_of_test_labels_is_the_bayes_error() -> None:
    f, y = predictions(), truth() + np.array([0.5, -0.5, 0.2, 0.1, -0.9])
    result = decompose_predictions(f, truth(), y)
    alone = decompose_predictions(f, truth())
    labels = decompose_predictions(f, y_test=y)
    error = result.error()
    assert error.bias == alone.error().bias
    assert error.total == labels.error().total
    assert error.total.value == pytest.approx(np.mean((f - y) ** 2), rel=1e-13)
    difference = float(error.total) - float(alone.error().total)
    assert error.bayes.value == pytest.approx(difference, rel=1e-12)
    assert sum(part.value for part in error.parts.values()) == pytest.approx(error.total.value)


def test_a_large_offset_does_not_change_variances() -> None:
    f = np.round(predictions() * 2**20) / 2**20  # exact after the shift
    near, far = decompose_predictions(f, truth()), decompose_predictions(f + 2.0**20, truth())
    for name in ("noise", "initialization", "sampling"):
        one, other = near.error().parts[name], far.error().parts[name]
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


def test_parts_scale_with_the_square_of_predictions() -> None:
    f = predictions().astype(np.float32)
    small = decompose_predictions(f, truth())
    large = decompose_predictions(1e50 * f.astype(np.float64), 1e50 * truth())
    for name, part in small.error().parts.items():
        other = large.error().parts[name]
        assert other.value == pytest.approx(1e100 * part.value, rel=1e-9)
        assert other.standard_error == pytest.approx(1e100 * part.standard_error)
        assert other.n_draws == part.n_draws


# --- standard errors -----------------------------------------------------------------------------


def test_fresh_initializations_leave_one_data_set_out() -> None:
    f = predictions()
    result = decompose_predictions(f, truth(), crossed=False, include_test=False).error().bias
    without = [
        decompose_predictions(np.delete(f, d, axis=0), truth(), crossed=False).error().bias.value
        for d in range(6)
    ]
    expected = math.sqrt(5 / 6 * np.sum((np.array(without) - result.value) ** 2))
    assert result.standard_error == pytest.approx(expected, rel=1e-10)
    assert result.n_draws == 6


def test_the_standard_error_of_a_mean_square_is_the_usual_one() -> None:
    f = predictions((8, 1, 1, 5))
    result = decompose_predictions(f, truth(), include_test=False).error().total
    errors = np.mean((f - truth()) ** 2, axis=(1, 2, 3))
    assert result.standard_error == pytest.approx(np.std(errors, ddof=1) / math.sqrt(8))


def test_shared_initializations_and_test_points_add_to_standard_errors() -> None:
    f = Effects(initialization=5.0).draw((30, 2, 4, 20), np.random.default_rng(0))
    zeros = np.zeros(20)
    apart = decompose_predictions(f, zeros, crossed=False, include_test=False)
    fresh = apart.error().initialization
    shared = decompose_predictions(f, zeros, include_test=False).error().initialization
    assert shared.standard_error > 3 * fresh.standard_error
    assert 4 <= shared.n_draws < 10
    drawn = decompose_predictions(f, zeros).error().initialization
    assert drawn.standard_error > shared.standard_error
    assert drawn.value == shared.value


@pytest.mark.parametrize(
    ("shape", "infinite"),
    [
        ((1, 2, 3, 4), {"noise", "initialization", "bias"}),
        ((2, 2, 3, 4), {"sampling", "bias"}),
        ((3, 2, 2, 4), {"initialization", "sampling", "bias"}),
        ((3, 2, 3, 4), set()),
        ((3, 2, 1, 4), set()),
    ],
)
def test_too_few_draws_have_infinite_errors(
    shape: tuple[int, int, int, int], infinite: set[str]
) -> None:
    result = decompose_predictions(predictions(shape), np.zeros(4))
    errors = {name: part.standard_error for name, part in result.error().parts.items()}
    assert {name for name, error in errors.items() if math.isinf(error)} == infinite
    assert bool(infinite) == any("infinite" in note for note in result.notes)
    assert not any(math.isnan(error) for error in errors.values())


def test_a_constant_learner_has_no_variance() -> None:
    result = decompose_predictions(np.full((3, 2, 3, 2), 0.25), np.zeros(2))
    assert result.error().bias.value == result.error().total.value == 0.0625
    assert result.error().total.standard_error == result.error().noise.value == 0


# --- memory --------------------------------------------------------------------------------------


def test_memory_is_bounded() -> None:
    one = predictions((20, 2, 5, 1)).astype(np.float32)
    many = np.broadcast_to(one, (20, 2, 5, 40_000))  # 64 MB as float64
    zeros = np.zeros(40_000)
    tracemalloc.start()
    try:
        decompose_predictions(many, zeros)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 48 * 2**20


def test_a_result_can_be_pickled() -> None:
    result = decompose_predictions(predictions(), truth())
    again: Any = pickle.loads(pickle.dumps(result))
    assert again.error(3).total == result.error(3).total
    assert str(again) == str(result)
