"""The regressor against literal formulas."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from tests.estimators.literal import data, features, weights

SIZES = [(60, 40), (40, 60), (50, 50), (1, 5), (5, 1), (1, 1), (2, 3)]  # N, P


@pytest.mark.parametrize(("n", "p"), SIZES)
def test_coefficients_follow_the_formula_of_the_paper(n: int, p: int) -> None:
    x, y = data(n, 20)
    new, _ = data(9, 20, seed=1)
    for center in (True, False):
        model = dt.RandomFeaturesRidge(p, ridge=0.01, center=center, random_state=0).fit(x, y)
        theta = model.weights_[0]
        a = weights(features(x, theta, center=center), y, 0.01, 20)
        np.testing.assert_allclose(model.coef_, a[None], rtol=1e-8, atol=1e-11)
        expected = features(new, theta, center=center) @ a
        np.testing.assert_allclose(model.predict(new), expected, rtol=1e-8, atol=1e-11)
        assert model.intercept_ == 0.0


@pytest.mark.parametrize(("n", "p"), SIZES)
def test_alpha_is_the_penalty_of_scikit_learn(n: int, p: int) -> None:
    x, y = data(n, 20)
    y += 3
    for intercept in (True, False):
        model = dt.RandomFeaturesRidge(p, alpha=2.5, fit_intercept=intercept, random_state=0)
        model.fit(x, y)
        z = features(x, model.weights_[0])
        theirs = Ridge(alpha=2.5, fit_intercept=intercept).fit(z, y)
        np.testing.assert_allclose(model.coef_[0], theirs.coef_, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-10)
        assert model.alpha_ == [2.5]
        assert model.ridge_ == pytest.approx(2.5 * 20 / (n * p))


@pytest.mark.parametrize(("n", "p"), [*SIZES, (100, 99), (100, 101)])
def test_ridge_zero_is_the_minimum_norm_fit(n: int, p: int) -> None:
    x, y = data(n, 20)
    for intercept in (True, False):
        model = dt.RandomFeaturesRidge(p, ridge=0, fit_intercept=intercept, random_state=0)
        model.fit(x, y)
        z = features(x, model.weights_[0])
        mean, label = (z.mean(axis=0), y.mean()) if intercept else (0.0, 0.0)
        a = np.linalg.pinv(z - mean, rcond=1e-12) @ (y - label)  # centred: rank n - 1
        np.testing.assert_allclose(model.coef_[0], a, rtol=1e-6, atol=1e-7 * np.abs(a).max())
        if p >= n:
            np.testing.assert_allclose(model.predict(x), y, atol=1e-7)


@pytest.mark.parametrize("p", [20, 80])
def test_many_outputs_are_separate_fits(p: int) -> None:
    x, y = data(50, 5, outputs=3)
    for ridge in (0.0, 0.02):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=2, random_state=0).fit(x, y)
        assert model.coef_.shape == (2, 3, p)
        assert model.predict(x[:4]).shape == (4, 3)
        for t in range(3):
            single = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=2, random_state=0)
            np.testing.assert_allclose(
                single.fit(x, y[:, t]).predict(x), model.predict(x)[:, t], atol=1e-9
            )
    column = dt.RandomFeaturesRidge(p, random_state=0).fit(x, y[:, :1])
    assert column.predict(x).shape == (50, 1)


@pytest.mark.parametrize("p", [20, 80])
@pytest.mark.parametrize("ridge", [0.0, 1e-6, 0.1])
def test_single_precision_is_preserved(p: int, ridge: float) -> None:
    x, y = data(50, 10)
    model = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=2, random_state=0)
    double = model.fit(x, y).predict(x)
    single = model.fit(x.astype(np.float32), y.astype(np.float32))
    assert single.coef_.dtype == np.float32
    assert single.predict(x.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict(x.astype(np.float32)), double, atol=2e-4)
