"""Learners whose parts are known."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.learners._sources import init_seed
from doubletrouble.parameters import FloatArray
from tests.learners.known import (
    DIM,
    FEW,
    curved,
    least_squares,
    linear,
    mean_and_offset,
    offset,
    random_features,
    source,
)
from tests.learners.random_effects import label


def pairs(values: FloatArray) -> float:
    """The mean product of two different values."""
    return float(np.mean([a * b for a, b in permutations(values, 2)]))


def test_parts_of_a_mean_plus_an_offset_equal_their_sample_variances() -> None:
    data = source()
    result = dt.decompose(
        mean_and_offset, data, n_data=5, n_init=4, n_noise=3, seed=7, progress=False
    )
    sets = [data.training(d, n_noise=3, seed=7, classes=None) for d in range(5)]
    means = np.array([[np.mean(y) for y in some.y] for some in sets])
    offsets = np.array([offset(init_seed(7, k)) for k in range(4)])
    expected = 1 + means[:, :, None] + offsets
    assert result.predictions.shape == (5, 3, 4, 30)
    np.testing.assert_allclose(result.predictions, np.repeat(expected[..., None], 30, axis=3))
    assert result.n_fits == 60

    assert result.error().noise.value == pytest.approx(np.mean(np.var(means, axis=1, ddof=1)))
    assert result.error().initialization.value == pytest.approx(np.var(offsets, ddof=1))
    within = np.mean([pairs(some) for some in means])
    assert result.error().sampling.value == pytest.approx(within - pairs(means.mean(axis=1)))
    assert result.anova().initialization.value == pytest.approx(result.error().initialization.value)
    assert result.anova().noise_sampling.value == pytest.approx(result.error().noise.value)
    for name in ("initialization_sampling", "noise_initialization_sampling"):
        assert getattr(result.anova(), name).value == pytest.approx(0, abs=1e-13)

    truth = result.y_test
    assert result.error().total.value == pytest.approx(np.mean((result.predictions - truth) ** 2))
    parts = sum(float(part.value) for part in result.error().parts.values())
    assert parts == pytest.approx(result.error().total.value)
    stays = result.error().total.value - np.var(offsets, ddof=1)
    assert result.error(math.inf).total.value == pytest.approx(stays)
    assert result.error(4).total.value == pytest.approx(
        np.mean((result.predictions.mean(axis=2) - truth) ** 2)
    )
    assert result.classes is None
    assert result.seconds > 0


@pytest.mark.statistical
def test_parts_of_least_squares_equal_the_closed_form() -> None:
    n, sigma = 15, 0.7
    data = dt.GeneratorSource(linear, n_samples=n, noise=sigma, n_test=400)
    result = dt.decompose(least_squares, data, n_data=300, n_init=1, n_noise=3, progress=False)
    expected = {"noise": sigma**2 * DIM / (n - DIM - 1), "sampling": 0.0, "bias": 0.0}
    for name, value in expected.items():
        assert abs(float(result.error().parts[name].z_score(value))) < 4, name
    assert float(result.error().noise.z_score(0.6 * expected["noise"])) > 5
    assert result.error().noise.standard_error < 0.1 * expected["noise"]


def test_noise_is_proportional_to_its_variance_for_a_linear_learner() -> None:
    small, large = (
        dt.decompose(random_features, source(noise=noise), **FEW) for noise in (0.5, 1.0)
    )
    one, four = small.error().noise, large.error().noise
    assert four.value == pytest.approx(4 * one.value)
    assert four.standard_error == pytest.approx(4 * one.standard_error)


def test_without_noise_its_part_is_zero() -> None:
    result = dt.decompose(random_features, source(noise=0.0), **FEW)
    assert result.predictions.shape == (4, 1, 3, 30)
    assert (result.error().noise.value, result.error().noise.standard_error) == (0, 0)
    assert label(result, "sampling") == "sampling"
    assert result.notes[-1].startswith("noise = 0")


def test_parts_equal_those_of_the_predictions() -> None:
    result = dt.decompose(random_features, source(), confidence=0.8, **FEW)
    alone = dt.decompose_predictions(result.predictions, truth=result.y_test, confidence=0.8)
    assert result.error().parts == alone.error().parts
    assert result.anova().parts == alone.anova().parts
    assert result.error(7).total == alone.error(7).total
    assert str(result.error()) == str(alone.error())


def test_intervals_widen_with_confidence() -> None:
    wide, narrow = (
        dt.decompose(random_features, source(), confidence=c, **FEW) for c in (0.95, 0.9)
    )
    assert (wide.to_frame().error_low < narrow.to_frame().error_low).all()
    assert (narrow.to_frame().error_high < wide.to_frame().error_high).all()


def test_one_fit_at_one_test_point_identifies_bias_only() -> None:
    result = dt.decompose(
        random_features, source(n_test=1), n_data=1, n_init=1, n_noise=1, progress=False
    )
    assert result.n_fits == 1
    assert list(result.error().parts) == ["bias"]
    assert math.isinf(result.error().bias.standard_error)


def test_several_outputs_are_added_up() -> None:
    def both(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        X, y = curved(rng, n)
        return X, np.stack([y, 2 * y], axis=1)

    def only(column: int) -> Any:
        def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
            predict = random_features(X, y, seed)
            return lambda X: predict(X) * (np.arange(2) == column)

        return fit

    data = dt.GeneratorSource(both, n_samples=20, noise=0.5, n_test=30)
    result = dt.decompose(random_features, data, **FEW)
    assert result.predictions.shape == (4, 2, 3, 30, 2)
    for name in ("noise", "initialization", "sampling"):
        apart = [dt.decompose(only(c), data, **FEW).error().parts[name].value for c in (0, 1)]
        assert result.error().parts[name].value == pytest.approx(sum(apart))
    error = np.sum((result.predictions - result.y_test) ** 2, axis=-1)
    assert result.error().total.value == pytest.approx(error.mean())
