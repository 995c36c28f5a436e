"""Ensembles: rows and features of members, penalties and sample weights."""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from doubletrouble.estimators._features import draws_generator, seed_of
from tests.estimators.literal import data, features, weights


@pytest.mark.parametrize(
    "ensemble", [3, dt.Divide(3), dt.Subsample(3, fraction=0.7), dt.Bootstrap(3)], ids=repr
)
@pytest.mark.parametrize("intercept", [True, False])
def test_members_are_averaged(ensemble: int | dt.Scheme, intercept: bool) -> None:
    x, y = data(50, 10)
    new, _ = data(9, 10, seed=1)
    model = dt.RandomFeaturesRidge(
        15, ridge=0.1, ensemble=ensemble, fit_intercept=intercept, random_state=0
    ).fit(x, y)
    result = np.zeros(9)
    parts = [np.arange(50)] * 3
    if isinstance(ensemble, dt.Divide):
        parts = np.split(np.arange(50), [17, 33])
    elif isinstance(ensemble, dt.Scheme):
        counts = ensemble.draw_samples(50, 3, draws_generator(seed_of(0)))
        parts = [np.repeat(np.arange(50), own) for own in counts]
        assert any(len(set(rows)) < 50 for rows in parts)
    for theta, rows in zip(model.weights_, parts, strict=True):
        z, label = features(x[rows], theta), y[rows]
        mean, shift = (z.mean(axis=0), label.mean()) if intercept else (np.zeros(15), 0.0)
        a = weights(z - mean, label - shift, 0.1, 10)
        result += ((features(new, theta) - mean) @ a + shift) / 3
    np.testing.assert_allclose(model.predict(new), result, atol=1e-10)
    alphas = [0.1 * 15 * len(rows) / 10 for rows in parts]
    np.testing.assert_allclose(model.alpha_, alphas)
    assert model.ridge_ == 0.1


def test_members_draw_features_from_a_common_bank() -> None:
    x, y = data(50, 10)
    new, _ = data(9, 10, seed=1)
    for bank in (dt.FeatureBank(4, bank_per_dim=2.0), dt.FeatureBank(4, n_bank=20)):
        model = dt.RandomFeaturesRidge(15, ridge=0.1, ensemble=bank, random_state=0).fit(x, y)
        rows = model.weights_.reshape(-1, 10)
        assert len(np.unique(rows, axis=0)) == 20
        assert len(np.unique(model.weights_[0], axis=0)) == 15
        result = [
            features(new, theta) @ weights(features(x, theta), y, 0.1, 10)
            for theta in model.weights_
        ]
        np.testing.assert_allclose(model.predict(new), np.mean(result, axis=0), atol=1e-10)
        parts = dt.RandomFeaturesRidge(15, ridge=0.1, ensemble=bank, random_state=0)
        parts.partial_fit(x[:20], y[:20]).partial_fit(x[20:], y[20:])
        np.testing.assert_allclose(parts.predict(new), model.predict(new), atol=1e-8)


@pytest.mark.parametrize(
    "few", [dt.Ensemble(2), dt.Subsample(2, fraction=0.5), dt.FeatureBank(2, n_bank=30)], ids=repr
)
def test_first_members_do_not_depend_on_their_number(few: dt.Scheme) -> None:
    x, y = data(40, 5)
    many = replace(few, n_members=4)
    one, two = (
        dt.RandomFeaturesRidge(20, ensemble=e, random_state=0).fit(x, y) for e in (few, many)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_[:2])


def test_draws_of_rows_and_features_are_independent() -> None:
    theta = dt.RandomFeaturesRidge(20, random_state=0).fit(*data(40, 5)).weights_
    other = draws_generator(seed_of(0)).standard_normal(theta.size)
    assert not np.intersect1d(theta, other).size


@pytest.mark.parametrize("penalty", [{"ridge": 0.02}, {"alpha": 1.5}], ids=str)
def test_integer_weights_are_repeated_rows(penalty: dict[str, Any]) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), w)
    for p, intercept in product((10, 200), (True, False)):
        make = partial(
            dt.RandomFeaturesRidge, p, fit_intercept=intercept, random_state=0, **penalty
        )
        weighted, repeated = make().fit(x, y, w), make().fit(x[rows], y[rows])
        np.testing.assert_allclose(weighted.predict(x), repeated.predict(x), atol=1e-9)
        np.testing.assert_allclose(weighted.alpha_, repeated.alpha_)
        unweighted = make().fit(x, y)
        assert np.max(np.abs(weighted.predict(x) - unweighted.predict(x))) > 1e-3


@pytest.mark.parametrize("p", [10, 100])
@pytest.mark.parametrize("intercept", [True, False])
def test_sample_weights_agree_with_scikit_learn(p: int, intercept: bool) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).uniform(0, 3, 40)
    ours = dt.RandomFeaturesRidge(p, alpha=0.3, fit_intercept=intercept, random_state=0)
    ours.fit(x, y, w)
    theirs = Ridge(alpha=0.3, fit_intercept=intercept).fit(features(x, ours.weights_[0]), y, w)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_, atol=1e-9)


def test_common_factor_of_weights_has_no_effect() -> None:
    x, y = data(40, 5)
    model = dt.RandomFeaturesRidge(10, ridge=0.1, random_state=0)
    plain = model.fit(x, y).predict(x)
    np.testing.assert_allclose(model.fit(x, y, np.full(40, 7.0)).predict(x), plain, atol=1e-11)


@pytest.mark.parametrize("p", [10, 100])
def test_ridge_zero_is_the_weighted_minimum_norm_fit(p: int) -> None:
    x, y = data(40, 5)
    w = np.random.default_rng(0).uniform(0.5, 3, 40)
    model = dt.RandomFeaturesRidge(p, ridge=0, random_state=0).fit(x, y, w)
    root = np.sqrt(w)
    z = features(x, model.weights_[0]) * root[:, None]
    np.testing.assert_allclose(model.coef_[0], np.linalg.pinv(z) @ (root * y), atol=1e-6)
