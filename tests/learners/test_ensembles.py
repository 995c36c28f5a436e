"""The error of K averaged members by cause."""

import math
import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.estimates import estimate_of
from doubletrouble.learners import decompose_predictions
from doubletrouble.learners._components import weighted_sum
from doubletrouble.results import Decomposition
from tests.learners.random_effects import Effects, rows

T = 6
DESIGNS: list[tuple[tuple[int, int, int], dict[str, Any]]] = [
    ((5, 2, 4), {}),
    ((5, 2, 4), {"crossed": False}),
    ((5, 1, 4), {}),
    ((5, 1, 4), {"noiseless": True}),
    ((1, 2, 4), {}),
    ((5, 3, 4), {"injected": 0.5}),
    ((5, 2, 1), {"deterministic": True}),
    ((5, 3, 1), {"deterministic": True, "injected": 2.0}),
]


def split(draws: tuple[int, int, int], seed: int = 0, **options: Any) -> Decomposition:
    f = Effects().draw((*draws, T), np.random.default_rng(seed))
    return decompose_predictions(f, np.linspace(-1, 1, T), np.linspace(-1, 2, T), **options)


@pytest.mark.parametrize(("draws", "options"), DESIGNS, ids=str)
def test_parts_sum_to_total(draws: tuple[int, int, int], options: dict[str, Any]) -> None:
    result = split(draws, **options)
    for K in (1, 3, 10, math.inf):
        error = result.error(K)
        first, *others = error.parts.values()
        together = sum(others, first)
        assert float(together) == pytest.approx(float(error.total), rel=1e-12), K
        assert together.standard_error == pytest.approx(error.total.standard_error, rel=1e-9), K
        weights = {"same": 1 / K, "other_init": 1 - 1 / K, "y_test": 1.0}
        if options.get("deterministic"):
            weights = {"same": 1.0, "y_test": 1.0}
        expected = estimate_of(weighted_sum(weights, result.statistics))
        assert error.total == expected, K
        anova = result.anova(K)
        assert anova.total == error.total, K
        if set(anova.names()) <= {*anova.parts, "resampling"}:
            every = sum(float(part) for part in anova.parts.values())
            assert every == pytest.approx(float(error.total), rel=1e-12), K


@pytest.mark.parametrize("crossed", [True, False])
def test_parts_are_those_of_averaged_predictions(crossed: bool) -> None:
    """Each group of two of four initializations is a learner of its own."""
    f, truth = Effects().draw((5, 2, 4, T), np.random.default_rng(1)), np.linspace(-1, 1, T)
    result = decompose_predictions(f, truth, crossed=crossed).error(2)
    groups = [f[:, :, list(pair)].mean(axis=2, keepdims=True) for pair in combinations(range(4), 2)]
    each = [rows(decompose_predictions(g, truth, crossed=crossed)) for g in groups]
    for name in ("noise", "total"):
        expected = np.mean([float(parts[name]) for parts in each])
        assert float(getattr(result, name)) == pytest.approx(expected, rel=1e-12)


def test_only_effects_of_the_initialization_fall_with_k() -> None:
    result = split((5, 2, 4))
    one, many, all_ = result.error(), result.error(4), result.error(math.inf)
    assert float(many.initialization) == pytest.approx(float(one.initialization) / 4)
    assert float(all_.initialization) == 0
    assert (many.sampling, many.bias, many.bayes) == (one.sampling, one.bias, one.bayes)
    effects = result.anova()
    assert all_.noise.value == pytest.approx(effects.noise_sampling.value)
    for name in ("initialization", "initialization_sampling", "noise_initialization_sampling"):
        part = getattr(result.anova(4), name)
        assert float(part) == pytest.approx(float(getattr(effects, name)) / 4)


def test_a_number_is_an_ensemble_of_that_size() -> None:
    result = split((5, 2, 4))
    assert result.error(7).parts == result.error(dt.Ensemble(7)).parts
    assert result.anova(7).parts == result.anova(dt.Ensemble(7)).parts


def test_averaging_a_deterministic_learner_has_no_effect() -> None:
    result = split((5, 2, 1), deterministic=True)
    assert result.error(10).parts == result.error().parts
    assert result.error(math.inf).total == result.error().total


def test_estimates_of_one_decomposition_are_paired() -> None:
    result = split((8, 2, 4))
    gain = result.error().total - result.error(5).total
    products = {"same": 0.8, "other_init": -0.8}
    expected = estimate_of(weighted_sum(products, result.statistics))
    assert gain.value == pytest.approx(expected.value)
    assert gain.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert gain.n_draws == expected.n_draws
    again = pickle.loads(pickle.dumps(result)).error(5).total
    assert result.error().total - again == gain
    apart = split((8, 2, 4), seed=1).error(5).total
    alone = result.error().total - apart
    independent = math.hypot(*(float(e.standard_error) for e in (result.error().total, apart)))
    assert alone.standard_error == pytest.approx(independent)


def test_statistics_of_other_designs_are_not_paired() -> None:
    """Their entries are those of other draws left out."""
    result = split((8, 2, 4)).error().total
    for options in ({"include_test": False}, {"crossed": False}):
        other = split((8, 2, 4), **options).error().total
        assert (result - other).standard_error > 0
