"""Classification by least squares, logistic regression and support vector machines."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import doubletrouble as dt
from doubletrouble.parameters import FloatArray
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


def test_least_squares_have_no_probabilities() -> None:
    assert not hasattr(dt.RandomFeaturesClassifier(), "predict_proba")


# --- losses without a closed form ----------------------------------------------------------------


def features_of(model: dt.RandomFeaturesClassifier, x: FloatArray) -> FloatArray:
    """The features of the only member."""
    theta = model.weights_[0]
    return np.asarray(np.maximum(x @ theta.T / np.sqrt(x.shape[1]), 0) - 1 / np.sqrt(2 * np.pi))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", [20, 90])
def test_logistic_loss_is_that_of_scikit_learn(intercept: bool, width: int) -> None:
    x, y = data(60, 10)
    model = dt.RandomFeaturesClassifier(
        width, ridge=0.01, loss="logistic", fit_intercept=intercept, random_state=0
    ).fit(x, y > 0)
    alpha = 0.01 * width * 60 / 10
    assert model.alpha_[0] == pytest.approx(alpha)
    theirs = LogisticRegression(C=1 / alpha, fit_intercept=intercept, tol=1e-10, max_iter=10**4)
    theirs.fit(features_of(model, x), y > 0)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(
        model.predict_proba(x), theirs.predict_proba(features_of(model, x)), atol=1e-5
    )
    np.testing.assert_allclose(model.predict_log_proba(x), np.log(model.predict_proba(x)))


def test_hinge_loss_is_a_support_vector_machine() -> None:
    x, y = data(60, 10)
    model = dt.RandomFeaturesClassifier(
        40, ridge=0.01, loss="hinge", fit_intercept=True, class_weight="balanced", random_state=0
    ).fit(x, y > 0.5)
    machine = SVC(kernel="linear", C=1 / model.alpha_[0], class_weight="balanced", tol=1e-10)
    machine.fit(features_of(model, x), y > 0.5)
    expected = machine.decision_function(features_of(model, x))
    np.testing.assert_allclose(model.decision_function(x), expected, atol=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_infinitely_many_features_are_the_limit(loss: Any) -> None:
    x, y = data(40, 5)
    options: Any = {"ridge": 0.05, "loss": loss, "fit_intercept": True, "random_state": 0}
    limit = dt.RandomFeaturesClassifier(math.inf, **options).fit(x, y > 0)
    near = dt.RandomFeaturesClassifier(20_000, **options).fit(x, y > 0)
    far = dt.RandomFeaturesClassifier(200, **options).fit(x, y > 0)
    expected = limit.decision_function(x)
    assert limit.dual_coef_.shape == (40,)
    deviations = [np.abs(m.decision_function(x) - expected).max() for m in (near, far)]
    assert deviations[0] < 0.3 * deviations[1]


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("ensemble", [3, dt.Divide(2), dt.Bootstrap(2)])
def test_ensembles_average_the_scores(loss: Any, ensemble: Any) -> None:
    x, y = data(80, 5)
    labels = np.digitize(y, [-0.5, 0.5])
    options: Any = {"ridge": 0.1, "loss": loss, "random_state": 0}
    model = dt.RandomFeaturesClassifier(20, ensemble=ensemble, **options).fit(x, labels)
    assert model.decision_function(x).shape == (80, 3)
    assert model.score(x, labels) > 0.5
    if loss == "logistic":
        shares = model.predict_proba(x)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        odds = 1 / (1 + np.exp(-model.decision_function(x)))
        np.testing.assert_allclose(shares, odds / odds.sum(axis=1, keepdims=True))
    if ensemble == 3:  # member k is the same for every K
        members = [
            dt.RandomFeaturesClassifier(20, ensemble=k, **options).fit(x, labels) for k in (1, 2)
        ]
        np.testing.assert_allclose(model.coef_[:2], members[1].coef_)
        np.testing.assert_allclose(members[1].coef_[:1], members[0].coef_)


def test_losses_are_names_or_objects() -> None:
    x, y = data(40, 5)
    named, given = (
        dt.RandomFeaturesClassifier(20, ridge=0.1, loss=loss, random_state=0)
        for loss in ("logistic", dt.losses.Logistic())
    )
    same = clone(given).fit(x, y > 0).predict_proba(x)
    np.testing.assert_array_equal(same, named.fit(x, y > 0).predict_proba(x))


def test_settings_without_a_closed_form_raise() -> None:
    x, y = data(40, 5)
    for ridge in ("loo", "forecast"):
        model = dt.RandomFeaturesClassifier(20, ridge=ridge, loss="hinge")
        with pytest.raises(ValueError, match="ridge must be a number for loss 'hinge'"):
            model.fit(x, y > 0)
    with pytest.raises(ValueError, match="loss must be one of squared, logistic"):
        dt.RandomFeaturesClassifier(loss="cubic").fit(x, y > 0)  # type: ignore[arg-type]
    hinge = dt.RandomFeaturesClassifier(loss="hinge")
    assert not hasattr(hinge, "predict_proba")
    assert not hasattr(hinge, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = hinge.partial_fit
    separable = dt.RandomFeaturesClassifier(200, ridge=0.0, loss="logistic", random_state=0)
    with pytest.raises(dt.DivergenceError, match="ridge must be positive"):
        separable.fit(x, y > 0)
    hard = dt.RandomFeaturesClassifier(200, ridge=0.0, loss="hinge", random_state=0).fit(x, y > 0)
    margins = np.where(y > 0, 1, -1) * hard.decision_function(x)
    assert margins.min() == pytest.approx(1)
