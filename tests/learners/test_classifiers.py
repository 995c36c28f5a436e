"""Classifiers: the Brier score of their probabilities."""

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import doubletrouble as dt
from doubletrouble.parameters import FloatArray
from tests.learners.known import FEW
from tests.learners.random_effects import label

NAMES = np.array(["ant", "bee", "cow"])


def animals(rng: np.random.Generator, n: int) -> tuple[FloatArray, Any]:
    X = rng.standard_normal((n, 2))
    return X, NAMES[np.digitize(X[:, 0], [-0.5, 0.8])]


def zoo(noise: float = 0.1, n_samples: int = 40) -> dt.GeneratorSource:
    return dt.GeneratorSource(animals, n_samples=n_samples, noise=noise, n_test=50)


@pytest.mark.parametrize("numbers", [False, True])
def test_total_is_the_brier_score_of_one_hot_labels(numbers: bool) -> None:
    def sample(rng: np.random.Generator, n: int) -> tuple[FloatArray, Any]:
        X, y = animals(rng, n)
        return X, 10 * np.searchsorted(NAMES, y) if numbers else y

    data = dt.GeneratorSource(sample, n_samples=40, noise=0.1, n_test=50)
    result = dt.decompose(KNeighborsClassifier(), data, **FEW)
    f = result.predictions
    assert f.shape == (4, 2, 1, 50, 3)
    np.testing.assert_allclose(f.sum(axis=-1), 1)
    assert result.classes is not None
    assert list(result.classes) == ([0, 10, 20] if numbers else list(NAMES))
    y = data.test(0, classification=True).y
    np.testing.assert_array_equal(result.classes[result.y_test.argmax(axis=1)], y)
    brier = np.sum((f - result.y_test) ** 2, axis=-1).mean()
    assert result.error().total.value == pytest.approx(brier)
    assert sum(float(part.value) for part in result.error().parts.values()) == pytest.approx(brier)


def test_constant_probabilities_have_bias_only() -> None:
    result = dt.decompose(DummyClassifier(strategy="uniform"), zoo(), **FEW)
    assert result.error().bias.value == pytest.approx(2 / 3)  # (1 - 1/3)² + 2/9
    assert result.error().total.value == pytest.approx(2 / 3)
    assert result.error().noise.value == pytest.approx(0, abs=1e-12)


def test_noise_is_the_share_of_flipped_labels() -> None:
    data = zoo(noise=0.3, n_samples=2000)
    clean = zoo(noise=0.0, n_samples=2000).training(0, n_noise=1, seed=0, classes=NAMES).y[0]
    one, other = data.training(0, n_noise=2, seed=0, classes=NAMES).y
    assert np.mean(one != clean) == pytest.approx(0.3, abs=0.04)
    assert np.mean((one != clean) & (other != clean)) == pytest.approx(0.09, abs=0.03)
    flipped = one[(clean == "bee") & (one != clean)]
    assert np.mean(flipped == "ant") == pytest.approx(0.5, abs=0.1)


def test_noise_adds_to_the_error_of_a_tree() -> None:
    quiet, loud = (
        dt.decompose(DecisionTreeClassifier(max_features=1), zoo(noise), **FEW)
        for noise in (0.0, 0.4)
    )
    assert quiet.error().noise.value == 0
    assert loud.error().noise.value > 0.1
    assert loud.error().total.value > quiet.error().total.value
    assert loud.error().initialization.value > 0


def test_a_class_that_is_missing_from_a_training_set_has_no_probability() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = np.where(X[:, 0] > 0, "b", "d")
    y[rng.choice(300, 12, replace=False)] = "c"  # between the other two
    data = dt.PoolSource(X, y, n_samples=20, n_test=100)
    result = dt.decompose(KNeighborsClassifier(), data, **(FEW | {"n_data": 10}))
    missing = ["c" not in data.training(d, n_noise=1, seed=0, classes=None).y[0] for d in range(10)]
    assert 0 < sum(missing) < 10
    f = result.predictions
    assert np.all(f[missing][..., 1] == 0)
    assert np.all(f[..., 1].max(axis=(1, 2, 3))[~np.array(missing)] > 0)
    np.testing.assert_allclose(f.sum(axis=-1), 1)


@pytest.mark.parametrize("model", [RidgeClassifier(), SVC()])
def test_without_probabilities_the_predicted_class_is_certain(model: Any) -> None:
    result = dt.decompose(model, zoo(), **FEW)
    assert set(np.unique(result.predictions)) == {0.0, 1.0}
    np.testing.assert_array_equal(result.predictions.sum(axis=-1), 1)
    assert any("predict_proba" in note for note in result.notes)
    wrong = np.mean(result.predictions.argmax(axis=-1) != result.y_test.argmax(axis=-1))
    assert result.error().total.value == pytest.approx(2 * wrong)


def test_functions_are_classifiers_by_task() -> None:
    def fit(X: FloatArray, y: Any, seed: int) -> Any:
        rates = [np.mean(y == name) for name in NAMES]
        return lambda X: np.tile(rates, (len(X), 1))

    result = dt.decompose(fit, zoo(), task="classification", **FEW)
    prior = dt.decompose(DummyClassifier(strategy="prior"), zoo(), **FEW)
    np.testing.assert_allclose(result.predictions, prior.predictions[:, :, :3])
    with pytest.raises(TypeError, match=r"^y must be numbers for a regression"):
        dt.decompose(fit, zoo(), **FEW)


def test_classifiers_of_numbers_are_regressors_by_task() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    data = dt.PoolSource(X, (X[:, 0] > 0).astype(int), n_samples=20, noise=0.0)
    result = dt.decompose(KNeighborsClassifier(), data, task="regression", **FEW)
    assert result.predictions.shape == (4, 1, 1, 50)
    assert result.classes is None
    wrong = np.mean(result.predictions != result.y_test)
    assert result.error().total.value == pytest.approx(wrong)


def test_repeated_class_labels_are_not_averaged() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    first, second = ((X[:, 0] + 0.5 * rng.standard_normal(200) > 0).astype(int) for _ in range(2))
    data = dt.PoolSource(X, first, n_samples=20, repeated=[second])
    result = dt.decompose(LogisticRegression(), data, **FEW)
    np.testing.assert_array_equal(result.y_test.sum(axis=1), 1)
    assert result.predictions.shape[1] == 2
    assert label(result, "bias") == "bias + noise floor"
    assert result.error().noise.value > 0


def test_classes_that_the_test_set_lacks_can_be_given() -> None:
    def rare(rng: np.random.Generator, n: int) -> tuple[FloatArray, Any]:
        X = rng.standard_normal((n, 2))
        return X, np.where(
            X[:, 0] > (1.0 if n < 50 else 9.0), "new", NAMES[rng.integers(3, size=n)]
        )

    options: dict[str, Any] = {"n_samples": 40, "noise": 0.0, "n_test": 50}
    with pytest.raises(dt.FitError, match="classes must have every label"):
        dt.decompose(KNeighborsClassifier(), dt.GeneratorSource(rare, **options), **FEW)
    data = dt.GeneratorSource(rare, **options, classes=["new", *NAMES])
    result = dt.decompose(KNeighborsClassifier(), data, **FEW)
    assert result.predictions.shape[-1] == 4
    assert np.all(result.y_test[:, 3] == 0)


def test_repeated_labels_of_a_regression_must_be_numbers() -> None:
    X = np.random.default_rng(0).standard_normal((60, 2))
    words = NAMES[np.arange(60) % 3]
    data = dt.PoolSource(X, words, n_samples=10, repeated=[words])
    with pytest.raises(TypeError, match=r"^y must be numbers for a regression"):
        dt.decompose(lambda X, y, seed: lambda X: X[:, 0], data, **FEW)
