"""The regressor against literal formulas."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from doubletrouble.estimators._dual import Dual
from doubletrouble.estimators._feature_map import feature_map
from doubletrouble.estimators._primal import Primal
from doubletrouble.estimators._sample import Sample
from doubletrouble.estimators._weights import choices, seed_of
from doubletrouble.parameters import FloatArray
from tests.estimators.literal import data, features, weights

SIZES = [(60, 40), (40, 60), (50, 50), (1, 5), (5, 1), (1, 1), (2, 3)]  # N, P


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("center", [True, False])
def test_is_the_learner_of_the_paper(n: int, p: int, center: bool) -> None:
    x, y = data(n, 20)
    new, _ = data(9, 20, seed=1)
    model = dt.RandomFeaturesRidge(p, ridge=0.01, center=center, random_state=0).fit(x, y)
    theta = model.weights_[0]
    a = weights(features(x, theta, center=center), y, 0.01, 20)
    np.testing.assert_allclose(model.coef_, a[None], rtol=1e-8, atol=1e-11)
    expected = features(new, theta, center=center) @ a
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-8, atol=1e-11)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("intercept", [True, False])
def test_alpha_is_scikit_learns(n: int, p: int, intercept: bool) -> None:
    x, y = data(n, 20)
    y += 3
    model = dt.RandomFeaturesRidge(p, alpha=2.5, fit_intercept=intercept, random_state=0).fit(x, y)
    z = features(x, model.weights_[0])
    theirs = Ridge(alpha=2.5, fit_intercept=intercept).fit(z, y)
    np.testing.assert_allclose(model.coef_[0], theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-10)
    assert model.alpha_ == [2.5]
    assert model.ridge_ == pytest.approx(2.5 * 20 / (n * p))


@pytest.mark.parametrize(("n", "p"), [*SIZES, (200, 200), (100, 99), (100, 101)])
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_zero_is_the_minimum_norm_fit(n: int, p: int, intercept: bool) -> None:
    x, y = data(n, 20)
    model = dt.RandomFeaturesRidge(p, ridge=0, fit_intercept=intercept, random_state=0).fit(x, y)
    z = features(x, model.weights_[0])
    mean, label = (z.mean(axis=0), y.mean()) if intercept else (0.0, 0.0)
    a = np.linalg.pinv(z - mean) @ (y - label)
    np.testing.assert_allclose(model.coef_[0], a, rtol=1e-6, atol=1e-7 * np.abs(a).max())
    if p >= n:
        np.testing.assert_allclose(model.predict(x), y, atol=1e-7)


def _deficient(kind: str) -> FloatArray:
    x, _ = data(30, 5)
    if kind == "constant column":
        x[:, 2] = 1.0
    if kind == "repeated rows":
        x[10:20] = x[:10]
    if kind == "one direction":
        x = np.outer(np.linspace(-1, 1, 30), np.ones(5))
    if kind == "zeros":
        x = np.zeros((30, 5))
    return x


@pytest.mark.parametrize("kind", ["constant column", "repeated rows", "one direction", "zeros"])
@pytest.mark.parametrize("p", [10, 100])
@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_features_of_low_rank(kind: str, p: int, activation: str) -> None:
    x, y = _deficient(kind), data(30, 5)[1]
    if kind == "repeated rows":
        y[10:20] = y[:10]
    options: dict[str, Any] = {"activation": activation, "center": False, "random_state": 0}
    model = dt.RandomFeaturesRidge(p, ridge=0, **options).fit(x, y)
    z = features(x, model.weights_[0], activation, center=False)
    a = np.linalg.pinv(z) @ y
    np.testing.assert_allclose(model.coef_[0], a, rtol=1e-7, atol=1e-9)


def test_ill_conditioned_features_keep_their_digits() -> None:
    """Singular values down to 1e-11 of the largest: a Gram matrix alone would lose them."""
    x = np.linspace(-2, 2, 60)[:, None]
    for p in (20, 90):
        model = dt.RandomFeaturesRidge(p, activation="sin", ridge=0, random_state=0).fit(x, x[:, 0])
        z = features(x, model.weights_[0], "sin")
        s = np.linalg.svd(z, compute_uv=False)
        assert s[min(p, 10)] < 1e-8 * s[0]
        assert np.max(np.abs(model.predict(x) - x[:, 0])) < 1e-11


@pytest.mark.parametrize("intercept", [True, False])
def test_dual_is_primal(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row more or less than features, with the other side forced."""
    x, y = data(40, 10)
    for p in (30, 55):
        for ridge in (0.0, 1e-9, 0.01):
            model = dt.RandomFeaturesRidge(p, ridge=ridge, fit_intercept=intercept, random_state=0)
            with monkeypatch.context() as patch:
                patch.setattr("doubletrouble.estimators._members._side", Dual)
                dual = model.fit(x, y).predict(x)
            if p < 40:
                np.testing.assert_allclose(model.fit(x, y).predict(x), dual, atol=1e-7)
            else:
                z = features(x, model.weights_[0])
                z, label = (z - z.mean(axis=0), y.mean()) if intercept else (z, 0.0)
                gram = z.T @ z + ridge * 40 * p / 10 * np.eye(p)
                a = np.linalg.pinv(gram, rcond=1e-13) @ z.T @ (y - label)
                np.testing.assert_allclose(z @ a + label, dual, atol=1e-6)


@pytest.mark.parametrize("p", [30, 70])
def test_blocks_do_not_show(p: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(50, 5, outputs=2)
    w = np.random.default_rng(0).uniform(0.5, 2, 50)
    for ridge in (0.0, 0.1, "loo"):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, fit_intercept=True, random_state=0)
        whole = model.fit(x, y, w).predict(x)
        with monkeypatch.context() as patch:
            for where in ("primal", "dual", "members", "path"):
                patch.setattr(f"doubletrouble.estimators.{where}.blocks", _small_blocks)
            np.testing.assert_allclose(model.fit(x, y, w).predict(x), whole, atol=1e-8)


def _small_blocks(length: int, *_: int) -> list[slice]:
    return [slice(start, min(start + 8, length)) for start in range(0, length, 8)]


@pytest.mark.parametrize("p", [20, 80])
def test_many_outputs_are_fits_of_one(p: int) -> None:
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
def test_single_precision(p: int, ridge: float) -> None:
    x, y = data(50, 10)
    model = dt.RandomFeaturesRidge(p, ridge=ridge, ensemble=2, random_state=0)
    double = model.fit(x, y).predict(x)
    single = model.fit(x.astype(np.float32), y.astype(np.float32))
    assert single.coef_.dtype == np.float32
    assert single.predict(x.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict(x.astype(np.float32)), double, atol=2e-4)


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
    found = np.zeros(9)
    parts = [np.arange(50)] * 3
    if isinstance(ensemble, dt.Divide):
        parts = np.split(np.arange(50), [17, 33])
    elif isinstance(ensemble, dt.Scheme):
        counts = ensemble.draw_samples(50, 3, choices(seed_of(0)))
        parts = [np.repeat(np.arange(50), own) for own in counts]
        assert any(len(set(rows)) < 50 for rows in parts)
    for theta, rows in zip(model.weights_, parts, strict=True):
        z, label = features(x[rows], theta), y[rows]
        mean, shift = (z.mean(axis=0), label.mean()) if intercept else (np.zeros(15), 0.0)
        a = weights(z - mean, label - shift, 0.1, 10)
        found += ((features(new, theta) - mean) @ a + shift) / 3
    np.testing.assert_allclose(model.predict(new), found, atol=1e-10)
    alphas = [0.1 * 15 * len(rows) / 10 for rows in parts]
    np.testing.assert_allclose(model.alpha_, alphas)
    assert model.ridge_ == 0.1


def test_members_choose_features_of_a_common_bank() -> None:
    x, y = data(50, 10)
    new, _ = data(9, 10, seed=1)
    for bank in (dt.FeatureBank(4, bank_per_dim=2.0), dt.FeatureBank(4, n_bank=20)):
        model = dt.RandomFeaturesRidge(15, ridge=0.1, ensemble=bank, random_state=0).fit(x, y)
        rows = model.weights_.reshape(-1, 10)
        assert len(np.unique(rows, axis=0)) == 20
        assert len(np.unique(model.weights_[0], axis=0)) == 15
        found = [
            features(new, theta) @ weights(features(x, theta), y, 0.1, 10)
            for theta in model.weights_
        ]
        np.testing.assert_allclose(model.predict(new), np.mean(found, axis=0), atol=1e-10)
        parts = dt.RandomFeaturesRidge(15, ridge=0.1, ensemble=bank, random_state=0)
        parts.partial_fit(x[:20], y[:20]).partial_fit(x[20:], y[20:])
        np.testing.assert_allclose(parts.predict(new), model.predict(new), atol=1e-8)


@pytest.mark.parametrize(
    "few", [dt.Ensemble(2), dt.Subsample(2, fraction=0.5), dt.FeatureBank(2, n_bank=30)], ids=repr
)
def test_more_members_leave_the_first_as_they_are(few: dt.Scheme) -> None:
    x, y = data(40, 5)
    many = replace(few, n_members=4)
    one, two = (
        dt.RandomFeaturesRidge(20, ensemble=e, random_state=0).fit(x, y) for e in (few, many)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_[:2])


def test_large_means_do_not_cancel() -> None:
    """Features whose mean is a million times their spread, with an intercept."""
    x, y = data(300, 5)
    model = dt.RandomFeaturesRidge(
        4, activation="linear", alpha=1e-3, fit_intercept=True, random_state=0
    )
    near = model.fit(x, y).predict(x)
    np.testing.assert_allclose(model.fit(x + 1e6, y).predict(x + 1e6), near, atol=1e-6)


@pytest.mark.parametrize("side", [Primal, Dual])
def test_means_of_single_precision_have_all_digits(side: Any) -> None:
    """NumPy would add up float32 in float32."""
    x, y = data(3000, 3)
    sigma = dt.activation("linear")
    phi = feature_map(np.ones((2, 3)), sigma, center=False, dtype=np.float32)
    x = (x + 100).astype(np.float32)
    sample = Sample(inputs=x, labels=y[:, None], weights=None, intercept=True)
    expected = phi(sample.inputs).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(side(phi, sample).mean, expected, rtol=1e-12)
