"""The whole path of ridges, and leave-one-out errors, against separate fits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import doubletrouble as dt
from doubletrouble.estimators._features import draws_generator, seed_of
from doubletrouble.parameters import FloatArray
from tests.estimators.literal import data, features

RIDGES = [0.0, 1e-8, 1e-3, 0.1, 10.0]
SIZES = [(25, 10), (15, 30), (12, 12), (12, 11), (2, 5), (2, 1)]  # N, P


def literal_error(model: Any, x: FloatArray, y: FloatArray, w: FloatArray | None = None) -> float:
    """Leave out each row in turn."""
    missed = np.empty(y.shape)
    for i in range(len(x)):
        keep = np.arange(len(x)) != i
        model.fit(x[keep], y[keep], None if w is None else w[keep])
        missed[i] = y[i] - model.predict(x[i : i + 1])[0]
    return float(np.average(missed.reshape(len(x), -1) ** 2, axis=0, weights=w).mean())


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("members", [1, 3])
def test_leave_one_out_error_is_exact(n: int, p: int, intercept: bool, members: int) -> None:
    x, y = data(n, 5)
    options: dict[str, Any] = {"ensemble": members, "fit_intercept": intercept, "random_state": 0}
    path = dt.RandomFeaturesRidge(p, **options).ridge_path(x, y, RIDGES)
    for ridge, error, predictions in zip(RIDGES, path.loo_error, path.predict(x), strict=True):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, **options)
        assert literal_error(model, x, y) == pytest.approx(error, rel=1e-6)
        np.testing.assert_allclose(model.fit(x, y).predict(x), predictions, atol=1e-6)


def test_agrees_with_cross_validation() -> None:
    x, y = data(30, 5)
    model = dt.RandomFeaturesRidge(20, ridge=0.01, random_state=0)
    outside = cross_val_predict(model, x, y, cv=LeaveOneOut())
    (error,) = model.ridge_path(x, y, 0.01).loo_error
    assert error == pytest.approx(np.mean((y - outside) ** 2), rel=1e-10)
    within = np.mean((y - model.fit(x, y).predict(x)) ** 2)
    assert error > 2 * within  # negative control


@pytest.mark.parametrize("p", [8, 40])
@pytest.mark.parametrize("intercept", [True, False])
def test_with_weights_and_outputs(p: int, intercept: bool) -> None:
    x, y = data(20, 5, outputs=2)
    w = np.random.default_rng(1).uniform(0.2, 3, 20)
    options: dict[str, Any] = {"fit_intercept": intercept, "random_state": 0}
    path = dt.RandomFeaturesRidge(p, **options).ridge_path(x, y, RIDGES, sample_weight=w)
    assert path.coef.shape == (5, 1, 2, p)
    assert path.intercept.shape == (5, 2)
    assert path.predict(x).shape == (5, 20, 2)
    for ridge, error, predictions in zip(RIDGES, path.loo_error, path.predict(x), strict=True):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, **options)
        assert literal_error(model, x, y, w) == pytest.approx(error, rel=1e-6)
        np.testing.assert_allclose(model.fit(x, y, w).predict(x), predictions, atol=1e-6)


@pytest.mark.parametrize("p", [4, 20])
def test_divided_data(p: int) -> None:
    """The other rows stay with their members."""
    x, y = data(21, 5)
    model = dt.RandomFeaturesRidge(p, ensemble=dt.Divide(2), random_state=0)
    path = model.ridge_path(x, y, RIDGES)
    theta = model.fit(x, y).weights_
    parts = [np.arange(10), np.arange(10, 21)]
    for ridge, error, predictions in zip(RIDGES, path.loo_error, path.predict(x), strict=True):
        outside = np.zeros(21)
        for k, rows in enumerate(parts):
            for i in range(21):
                seen = rows[rows != i]
                one = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=2, random_state=0)
                one.fit(x[seen], y[seen])
                assert np.array_equal(one.weights_, theta)
                z = dt.RandomFeaturesRidge.predict(_only(one, k), x[i : i + 1])
                outside[i] += z[0] / 2
        assert np.mean((y - outside) ** 2) == pytest.approx(error, rel=1e-6)
        model.set_params(ridge=ridge)
        np.testing.assert_allclose(model.fit(x, y).predict(x), predictions, atol=1e-6)


@pytest.mark.parametrize("p", [4, 30])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ensemble", [dt.Subsample(3, fraction=0.6), dt.Bootstrap(3)], ids=repr)
def test_rows_left_out_of_drawn_samples(p: int, intercept: bool, ensemble: dt.Scheme) -> None:
    """A row is left out of every member that has it, with all its copies."""
    x, y = data(15, 5)
    w = np.random.default_rng(1).uniform(0.5, 2, 15)
    how: dict[str, Any] = {"fit_intercept": intercept, "random_state": 0}
    model = dt.RandomFeaturesRidge(p, ensemble=ensemble, **how)
    path = model.ridge_path(x, y, RIDGES, sample_weight=w)
    counts = ensemble.draw_samples(15, 3, draws_generator(seed_of(0)))
    for ridge, error in zip(RIDGES, path.loo_error, strict=True):
        outside = np.zeros(15)
        for k, own in enumerate(counts):
            for i in range(15):
                remaining = (own * w) * (np.arange(15) != i)
                one = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=3, **how).fit(x, y, remaining)
                z = features(x[i : i + 1], one.weights_[k])
                outside[i] += (z @ one.coef_[k])[0] / 3
                if intercept:
                    means = [
                        np.average(y - features(x, theta) @ coef, weights=remaining)
                        for theta, coef in zip(one.weights_, one.coef_, strict=True)
                    ]
                    outside[i] += means[k] / 3
        assert np.average((y - outside) ** 2, weights=w) == pytest.approx(error, rel=1e-5)


def _only(model: Any, k: int) -> Any:
    """The same with one member."""
    model.weights_ = model.weights_[k : k + 1]
    model._solution = replace(model._solution, coef=model._solution.coef[k : k + 1])
    return model


def test_row_of_leverage_one() -> None:
    """The only row on which a feature is not zero: leverage one, without interpolating."""
    x = -np.ones((6, 1))
    x[0] = 2.0
    y = np.arange(1.0, 7.0)
    model = dt.RandomFeaturesRidge(1, center=False, random_state=1)
    sign = np.sign(model.fit(x, y).weights_[0, 0, 0])
    path = model.ridge_path(sign * x, y, [0.0, 0.1])
    for ridge, error in zip(path.ridges, path.loo_error, strict=True):
        again = dt.RandomFeaturesRidge(1, ridge=ridge, center=False, random_state=1)
        assert literal_error(again, sign * x, y) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("p", [20, 100])
@pytest.mark.parametrize("ensemble", [2, dt.Divide(2), dt.Bootstrap(2)], ids=repr)
def test_loo_selects_the_best_ridge(p: int, ensemble: int | dt.Scheme) -> None:
    x, y = data(60, 10)
    model = dt.RandomFeaturesRidge(
        p, ridge="loo", ridges=[1e3, 0.01, 1e2], ensemble=ensemble, random_state=0
    ).fit(x, y)
    assert model.ridge_ == 0.01
    assert model.loo_error_ == model.loo_path_.loo_error.min() == model.loo_path_.loo_error[1]
    same = dt.RandomFeaturesRidge(p, ridge=0.01, ensemble=ensemble, random_state=0)
    np.testing.assert_allclose(model.predict(x), same.fit(x, y).predict(x), atol=1e-10)
    np.testing.assert_allclose(model.alpha_, same.alpha_)
    assert not hasattr(model.set_params(ridge=0.1).fit(x, y), "loo_path_")


def test_single_precision_is_factorized_in_double() -> None:
    x, y = (a.astype(np.float32) for a in data(40, 5))
    for p in (20, 60):
        model = dt.RandomFeaturesRidge(p, random_state=0)
        single = model.ridge_path(x, y, [1e-4, 0.1])
        double = model.ridge_path(x.astype(float), y.astype(float), [1e-4, 0.1])
        np.testing.assert_allclose(single.loo_error, double.loo_error, rtol=1e-3)
        assert single.predict(x).dtype == np.float32
