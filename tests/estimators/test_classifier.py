"""Least-squares classification."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import doubletrouble as dt
from tests.estimators.literal import data


def test_two_classes_are_a_regression_of_signs() -> None:
    x, y = data(60, 10)
    labels = np.where(y > 0, "up", "down")
    model = dt.RandomFeaturesClassifier(30, ridge=0.1, random_state=0).fit(x, labels)
    signs = np.where(y > 0, 1.0, -1.0)
    same = dt.RandomFeaturesRidge(30, ridge=0.1, random_state=0).fit(x, signs)
    np.testing.assert_allclose(model.decision_function(x), same.predict(x), atol=1e-12)
    assert np.array_equal(model.predict(x) == "up", same.predict(x) > 0)
    assert list(model.classes_) == ["down", "up"]
    assert model.coef_.shape == (1, 30)


def test_more_classes_are_one_against_the_rest() -> None:
    x, _ = data(60, 10)
    labels = np.argmax(x[:, :3], axis=1) * 10
    model = dt.RandomFeaturesClassifier(30, ridge=0.1, ensemble=2, random_state=0).fit(x, labels)
    outputs = model.decision_function(x)
    assert outputs.shape == (60, 3)
    for c in range(3):
        one = dt.RandomFeaturesClassifier(30, ridge=0.1, ensemble=2, random_state=0)
        one.fit(x, labels == 10 * c)
        np.testing.assert_allclose(one.decision_function(x), outputs[:, c], atol=1e-10)
    assert np.array_equal(model.predict(x), 10 * np.argmax(outputs, axis=1))


def test_handwritten_digits_are_classified() -> None:
    x, y = load_digits(return_X_y=True)
    parts = train_test_split(x / 16, y, random_state=0)
    model = dt.RandomFeaturesClassifier(600, ridge="loo", ensemble=2, random_state=0)
    model.fit(parts[0], parts[2])
    assert model.score(parts[1], parts[3]) > 0.97
    assert 0 < model.loo_error_ < 0.1


@pytest.mark.parametrize("spec", ["balanced", {False: 1.0, True: 9.0}])
def test_class_weights_are_weights_of_rows(spec: str | dict[bool, float]) -> None:
    x, y = data(200, 5)
    rare = y > np.quantile(y, 0.9)
    model = dt.RandomFeaturesClassifier(20, ridge=0.1, fit_intercept=True, random_state=0)
    plain = model.fit(x, rare).predict(x)
    weighted = model.set_params(class_weight=spec).fit(x, rare).predict(x)
    assert weighted.sum() > 1.5 * plain.sum()
    by_rows = dt.RandomFeaturesClassifier(20, ridge=0.1, fit_intercept=True, random_state=0)
    by_rows.fit(x, rare, np.where(rare, 9.0, 1.0))
    np.testing.assert_allclose(model.decision_function(x), by_rows.decision_function(x), atol=1e-9)


def test_there_are_no_probabilities() -> None:
    assert not hasattr(dt.RandomFeaturesClassifier(), "predict_proba")
