"""Weights count rows."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from tests.estimators.literal import data, features

PENALTIES: list[dict[str, Any]] = [{"ridge": 0.02}, {"alpha": 1.5}]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("p", [10, 200])
def test_whole_weights_repeat_and_zeros_drop(
    penalty: dict[str, Any], intercept: bool, p: int
) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), w)
    make = partial(dt.RandomFeaturesRidge, p, fit_intercept=intercept, random_state=0, **penalty)
    weighted, repeated = make().fit(x, y, w), make().fit(x[rows], y[rows])
    np.testing.assert_allclose(weighted.predict(x), repeated.predict(x), atol=1e-9)
    np.testing.assert_allclose(weighted.alpha_, repeated.alpha_)
    unweighted = make().fit(x, y)
    assert np.max(np.abs(weighted.predict(x) - unweighted.predict(x))) > 1e-3


@pytest.mark.parametrize("p", [10, 100])
@pytest.mark.parametrize("intercept", [True, False])
def test_as_in_ridge(p: int, intercept: bool) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).uniform(0, 3, 40)
    ours = dt.RandomFeaturesRidge(p, alpha=0.3, fit_intercept=intercept, random_state=0)
    ours.fit(x, y, w)
    theirs = Ridge(alpha=0.3, fit_intercept=intercept).fit(features(x, ours.weights_[0]), y, w)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-9)


def test_the_papers_ridge_ignores_a_common_factor() -> None:
    x, y = data(40, 5)
    model = dt.RandomFeaturesRidge(10, ridge=0.1, random_state=0)
    plain = model.fit(x, y).predict(x)
    np.testing.assert_allclose(model.fit(x, y, np.full(40, 7.0)).predict(x), plain, atol=1e-11)


@pytest.mark.parametrize("p", [10, 100])
def test_minimum_norm(p: int) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).uniform(0.5, 3, 40)
    model = dt.RandomFeaturesRidge(p, ridge=0, random_state=0).fit(x, y, w)
    root = np.sqrt(w)
    z = features(x, model.weights_[0]) * root[:, None]
    np.testing.assert_allclose(model.coef_[0], np.linalg.pinv(z) @ (root * y), atol=1e-6)
