"""Learners whose parts can be written down."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.decomposition._sources import init_seed
from doubletrouble.parameters import FloatArray
from tests.decomposition.known import (
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
from tests.decomposition.random_effects import label


def pairs(values: FloatArray) -> float:
    """The mean product of two different ones."""
    return float(np.mean([a * b for a, b in permutations(values, 2)]))


def test_a_mean_plus_an_offset_of_the_seed() -> None:
    data = source()
    found = dt.decompose(
        mean_and_offset, data, n_data=5, n_init=4, n_noise=3, seed=7, progress=False
    )
    sets = [data.training(d, n_noise=3, seed=7, classes=None) for d in range(5)]
    means = np.array([[np.mean(y) for y in some.y] for some in sets])
    offsets = np.array([offset(init_seed(7, k)) for k in range(4)])
    expected = 1 + means[:, :, None] + offsets
    assert found.predictions.shape == (5, 3, 4, 30)
    np.testing.assert_allclose(found.predictions, np.repeat(expected[..., None], 30, axis=3))
    assert found.n_fits == 60

    assert found.error().noise.value == pytest.approx(np.mean(np.var(means, axis=1, ddof=1)))
    assert found.error().initialization.value == pytest.approx(np.var(offsets, ddof=1))
    within = np.mean([pairs(some) for some in means])
    assert found.error().sampling.value == pytest.approx(within - pairs(means.mean(axis=1)))
    assert found.anova().initialization.value == pytest.approx(found.error().initialization.value)
    assert found.anova().noise_sampling.value == pytest.approx(found.error().noise.value)
    for name in ("initialization_sampling", "noise_initialization_sampling"):
        assert getattr(found.anova(), name).value == pytest.approx(0, abs=1e-13)

    truth = found.y_test
    assert found.error().total.value == pytest.approx(np.mean((found.predictions - truth) ** 2))
    parts = sum(float(part.value) for part in found.error().parts.values())
    assert parts == pytest.approx(found.error().total.value)
    stays = found.error().total.value - np.var(offsets, ddof=1)
    assert found.error(math.inf).total.value == pytest.approx(stays)
    assert found.error(4).total.value == pytest.approx(
        np.mean((found.predictions.mean(axis=2) - truth) ** 2)
    )
    assert found.classes is None
    assert found.seconds > 0


@pytest.mark.statistical
def test_least_squares_on_linear_labels() -> None:
    n, sigma = 15, 0.7
    data = dt.GeneratorSource(linear, n_train=n, noise=sigma, n_test=400)
    found = dt.decompose(least_squares, data, n_data=300, n_init=1, n_noise=3, progress=False)
    expected = {"noise": sigma**2 * DIM / (n - DIM - 1), "sampling": 0.0, "bias": 0.0}
    for name, value in expected.items():
        assert abs(float(found.error().parts[name].z_score(value))) < 4, name
    assert float(found.error().noise.z_score(0.6 * expected["noise"])) > 5
    assert found.error().noise.standard_error < 0.1 * expected["noise"]


def test_noise_is_proportional_to_its_variance_for_a_linear_learner() -> None:
    small, large = (
        dt.decompose(random_features, source(noise=noise), **FEW) for noise in (0.5, 1.0)
    )
    one, four = small.error().noise, large.error().noise
    assert four.value == pytest.approx(4 * one.value)
    assert four.standard_error == pytest.approx(4 * one.standard_error)


def test_without_noise_its_part_is_zero() -> None:
    found = dt.decompose(random_features, source(noise=0.0), **FEW)
    assert found.predictions.shape == (4, 1, 3, 30)
    assert (found.error().noise.value, found.error().noise.standard_error) == (0, 0)
    assert label(found, "sampling") == "sampling"
    assert found.notes[-1].startswith("noise = 0: the labels of sample are taken as exact")


def test_parts_equal_those_of_the_predictions() -> None:
    found = dt.decompose(random_features, source(), confidence=0.8, **FEW)
    alone = dt.decompose_predictions(found.predictions, truth=found.y_test, confidence=0.8)
    assert found.error().parts == alone.error().parts
    assert found.anova().parts == alone.anova().parts
    assert found.error(7).total == alone.error(7).total
    assert str(found.error()) == str(alone.error())


def test_confidence() -> None:
    wide, narrow = (
        dt.decompose(random_features, source(), confidence=c, **FEW) for c in (0.95, 0.9)
    )
    assert (wide.to_frame().low < narrow.to_frame().low).all()
    assert (narrow.to_frame().high < wide.to_frame().high).all()


def test_one_test_point_and_one_of_everything() -> None:
    found = dt.decompose(
        random_features, source(n_test=1), n_data=1, n_init=1, n_noise=1, progress=False
    )
    assert found.n_fits == 1
    assert list(found.error().parts) == ["bias"]
    assert math.isinf(found.error().bias.standard_error)


def test_several_outputs_are_added_up() -> None:
    def both(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        X, y = curved(rng, n)
        return X, np.stack([y, 2 * y], axis=1)

    def only(column: int) -> Any:
        def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
            predict = random_features(X, y, seed)
            return lambda X: predict(X) * (np.arange(2) == column)

        return fit

    data = dt.GeneratorSource(both, n_train=20, noise=0.5, n_test=30)
    found = dt.decompose(random_features, data, **FEW)
    assert found.predictions.shape == (4, 2, 3, 30, 2)
    for name in ("noise", "initialization", "sampling"):
        apart = [dt.decompose(only(c), data, **FEW).error().parts[name].value for c in (0, 1)]
        assert found.error().parts[name].value == pytest.approx(sum(apart))
    error = np.sum((found.predictions - found.y_test) ** 2, axis=-1)
    assert found.error().total.value == pytest.approx(error.mean())
