"""Label noise of a pool: known, injected, repeated or unknown, and the parts identified."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.learners import LearnerDecomposition
from doubletrouble.parameters import FloatArray
from tests.learners.known import FEW, Predict, least_squares, pool, random_features
from tests.learners.random_effects import label, rows
from tests.messages import not_identified

SIGMA, N_SAMPLES, N_DATA, N_TEST, REPEATS = 0.8, 16, 10, 60, 30
SIZES: dict[str, Any] = {"n_data": N_DATA, "n_init": 3, "n_noise": 2, "progress": False}
PARTS = ("noise", "initialization", "sampling", "bias", "total")
Parts = dict[str, float]
Given = Callable[[FloatArray, list[FloatArray]], dict[str, Any]]
"""Arguments of a PoolSource from the labels without noise and several noisy measurements."""


def repeated(model: Any, given: Given) -> list[Parts]:
    """The parts of the error on many pools, whose inputs do not depend on what is given."""
    result = []
    for seed in range(REPEATS):
        X, clean = pool(N_DATA * N_SAMPLES + N_TEST, seed=seed)
        rng = np.random.default_rng([seed, 1])
        measured = [clean + SIGMA * rng.standard_normal(len(clean)) for _ in range(3)]
        data = dt.PoolSource(X, n_samples=N_SAMPLES, n_test=N_TEST, **given(clean, measured))
        split = dt.decompose(model, data, seed=seed, **SIZES)
        result.append({name: float(part) for name, part in rows(split).items()})
    return result


@cache
def truth(model: Any) -> list[Parts]:
    """The parts with noise drawn anew on labels without noise."""
    return repeated(model, lambda clean, _: {"y": clean, "noise": 0.0, "inject": SIGMA})


def differences(given: Given, model: Any = random_features) -> dict[str, dt.Estimate]:
    """The mean difference of each part to the truth, over the same pools."""
    pairs = list(zip(repeated(model, given), truth(model), strict=True))
    names = pairs[0][0].keys() & pairs[0][1].keys()
    return {k: dt.Estimate.of(np.array([one[k] - true[k] for one, true in pairs])) for k in names}


def z_scores(given: Given, model: Any = random_features) -> dict[str, float]:
    return {k: float(part.z_score(0.0)) for k, part in differences(given, model).items()}


@pytest.mark.statistical
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda _, y: {"y": y[0], "noise": SIGMA}, marks=pytest.mark.full),
        lambda _, y: {"y": y[0], "noise": SIGMA, "inject": 0.5 * SIGMA},
        lambda _, y: {"y": y[0], "repeated": [y[1]]},
        pytest.param(lambda _, y: {"y": y[0], "repeated": y[1:]}, marks=pytest.mark.full),
    ],
    ids=["known", "known, another injected", "measured twice", "three times"],
)
def test_known_noise_identifies_all_parts(given: Given) -> None:
    scores = z_scores(given)
    assert set(scores) == set(PARTS)
    assert max(map(abs, scores.values())) < 4, scores


@pytest.mark.statistical
def test_unknown_noise_is_not_separated() -> None:
    """Negative control: the same labels without their noise level."""
    result = differences(lambda _, y: {"y": y[0]})
    assert set(result) == set(PARTS) - {"noise"}
    scores = {name: float(part.z_score(0.0)) for name, part in result.items()}
    assert min(scores.values()) > 5, scores
    assert float(result["bias"]) == pytest.approx(SIGMA**2, rel=0.2)


@pytest.mark.statistical
def test_a_wrong_noise_level_gives_wrong_parts() -> None:
    scores = z_scores(lambda _, y: {"y": y[0], "noise": 1.5 * SIGMA})
    assert scores["noise"] > 5
    assert scores["bias"] < -5


def fit_to_squares(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """Not linear in its labels."""
    return random_features(X, y * np.abs(y), seed)


@pytest.mark.statistical
def test_noise_of_a_nonlinear_learner_is_overestimated() -> None:
    """Bias and total are unbiased for any learner."""
    scores = z_scores(lambda _, y: {"y": y[0], "noise": SIGMA}, fit_to_squares)
    assert abs(scores["bias"]) < 4
    assert abs(scores["total"]) < 4
    assert scores["noise"] > 5


# --- labels of parts, and notes ---


def split(**options: Any) -> LearnerDecomposition:
    X, y = pool(150, noise=SIGMA)
    extra = {key: FEW[key] for key in FEW if key not in options}
    counts = {key: options.pop(key) for key in list(options) if key.startswith("n_")}
    data = dt.PoolSource(X, y, n_samples=20, n_test=50, **options)
    return dt.decompose(random_features, data, **extra, **counts)


def test_unknown_noise_has_a_label() -> None:
    result = split()
    assert result.predictions.shape[1] == 1
    assert label(result, "initialization") == "initialization + label noise"
    assert label(result, "sampling") == "sampling + label noise"
    assert label(result, "bias") == "bias + noise floor"
    assert "sampling + label noise" in str(result.error())
    not_identified(result.error(), "noise", r"^noise needs")
    assert any("n_noise = 2" in note for note in result.notes)
    assert any("noise of its labels" in note for note in result.notes)


def test_known_noise_has_a_note() -> None:
    result = split(noise=SIGMA)
    assert [label(result, name) for name in PARTS] == list(PARTS)
    assert result.design.injected == 1
    assert any("noise is overestimated" in note for note in result.notes)


def test_clean_labels_have_no_noise_part() -> None:
    result = split(noise=0.0)
    assert (result.error().noise.value, result.error().noise.standard_error) == (0, 0)
    assert [label(result, name) for name in PARTS] == list(PARTS)
    assert not result.notes


def test_noise_injected_into_clean_labels_is_their_noise() -> None:
    result = split(noise=0.0, inject=SIGMA)
    assert result.error().noise.value > 0
    assert result.design.injected is None
    expected = np.mean((result.predictions - result.y_test) ** 2)
    assert result.error().total.value == pytest.approx(expected)


def test_injected_noise_does_not_separate_unknown_noise() -> None:
    result = split(inject=0.5)
    assert result.error().noise.value > 0
    assert label(result, "sampling") == "sampling + label noise"
    assert any("effect of the injected noise" in note for note in result.notes)


def test_repeated_labels_are_noise_draws() -> None:
    X, y = pool(150, noise=SIGMA)
    again = [y + 0.1, y - 0.1]
    data = dt.PoolSource(X, y, n_samples=20, n_test=50, repeated=again)
    result = dt.decompose(random_features, data, **(FEW | {"n_noise": 5}))
    assert result.predictions.shape[1] == 3
    assert any("n_noise = 5 draws" in note and "3 are available" in note for note in result.notes)
    np.testing.assert_allclose(result.y_test, data.test(0, classification=False).y)
    training = data.training(1, n_noise=3, seed=0, classes=None)
    np.testing.assert_allclose(training.y[1] - training.y[0], 0.1)


def test_one_draw_of_known_noise_does_not_identify_it() -> None:
    result = split(noise=SIGMA, n_noise=1)
    assert label(result, "sampling") == "sampling + label noise"
    assert label(result, "bias") == "bias"


def test_one_data_set_with_known_noise_identifies_all_but_sampling() -> None:
    result = split(noise=SIGMA, n_data=1)
    assert list(result.error().parts) == ["noise", "initialization", "bias"]
    parts = sum(float(part.value) for part in result.error().parts.values())
    assert parts == pytest.approx(result.error().total.value)


def test_without_initializations_own_noise_leaves_sampling() -> None:
    X, y = pool(150, noise=SIGMA)
    counts: dict[str, Any] = {"n_data": 5, "n_init": 1, "progress": False}
    known, unknown = (
        dt.decompose(least_squares, dt.PoolSource(X, y, 20, noise, 50), **counts)
        for noise in (0.8, None)
    )
    expected = unknown.error().sampling.value - known.error().noise.value
    assert known.error().sampling.value == pytest.approx(expected, rel=1e-9)
