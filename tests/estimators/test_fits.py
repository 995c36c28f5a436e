"""Fits of one member: digits, blocks, memory and refinement."""

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.estimators import _fits
from doubletrouble.estimators._features import feature_map
from doubletrouble.estimators._fits import Dual, Primal, Sample
from doubletrouble.parameters import FloatArray
from tests.estimators.literal import data, features

MEGABYTE = 2**20


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
def test_features_of_low_rank_have_the_minimum_norm_fit(kind: str) -> None:
    x, y = _deficient(kind), data(30, 5)[1]
    if kind == "repeated rows":
        y[10:20] = y[:10]
    for p, activation in product((10, 100), ("relu", "linear")):
        options: dict[str, Any] = {"activation": activation, "center": False, "random_state": 0}
        model = dt.RandomFeaturesRidge(p, ridge=0, **options).fit(x, y)
        z = features(x, model.weights_[0], activation, center=False)
        a = np.linalg.pinv(z) @ y
        np.testing.assert_allclose(model.coef_[0], a, rtol=1e-7, atol=1e-9, err_msg=activation)


def test_ill_conditioned_features_are_fitted_to_all_digits() -> None:
    """A Gram matrix alone would lose singular values of 1e-11 of the largest."""
    x = np.linspace(-2, 2, 60)[:, None]
    for p in (20, 90):
        model = dt.RandomFeaturesRidge(p, activation="sin", ridge=0, random_state=0).fit(x, x[:, 0])
        z = features(x, model.weights_[0], "sin")
        s = np.linalg.svd(z, compute_uv=False)
        assert s[min(p, 10)] < 1e-8 * s[0]
        assert np.max(np.abs(model.predict(x) - x[:, 0])) < 1e-11


@pytest.mark.parametrize("intercept", [True, False])
def test_dual_equations_equal_primal_ones(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(40, 10)
    for p in (30, 55):
        for ridge in (0.0, 1e-9, 0.01):
            model = dt.RandomFeaturesRidge(p, ridge=ridge, fit_intercept=intercept, random_state=0)
            with monkeypatch.context() as patch:
                patch.setattr(_fits, "equations", Dual)
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
def test_result_is_independent_of_blocks(p: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(50, 5, outputs=2)
    w = np.random.default_rng(0).uniform(0.5, 2, 50)
    for ridge in (0.0, 0.1, "loo"):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, fit_intercept=True, random_state=0)
        whole = model.fit(x, y, w).predict(x)
        with monkeypatch.context() as patch:
            for module in ("_fits", "_features"):
                patch.setattr(f"doubletrouble.estimators.{module}.blocks", _small_blocks)
            np.testing.assert_allclose(model.fit(x, y, w).predict(x), whole, atol=1e-8)


def _small_blocks(length: int, *_: int) -> list[slice]:
    return [slice(start, min(start + 8, length)) for start in range(0, length, 8)]


def test_large_means_do_not_cancel() -> None:
    """The mean of the features is a million times their spread."""
    x, y = data(300, 5)
    model = dt.RandomFeaturesRidge(
        4, activation="linear", alpha=1e-3, fit_intercept=True, random_state=0
    )
    near = model.fit(x, y).predict(x)
    np.testing.assert_allclose(model.fit(x + 1e6, y).predict(x + 1e6), near, atol=1e-6)


@pytest.mark.parametrize("side", [Primal, Dual])
def test_means_of_float32_features_are_computed_in_float64(side: Any) -> None:
    """NumPy would add up float32 in float32."""
    x, y = data(1000, 3)
    sigma = dt.activation("linear")
    phi = feature_map(np.ones((2, 3)), sigma, center=False, dtype=np.float32)
    x = (x + 100).astype(np.float32)
    sample = Sample(inputs=x, labels=y[:, None], weights=np.ones(1000), intercept=True)
    expected = phi(sample.inputs).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(side(phi, sample).mean, expected, rtol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(60_000, 300), (300, 60_000)])
def test_memory_is_bounded_by_blocks(n: int, p: int) -> None:
    x, y = data(n, 5)
    model = dt.RandomFeaturesRidge(p, random_state=0)
    tracemalloc.start()
    try:
        model.fit(x, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * MEGABYTE < 8 * n * p


@pytest.mark.parametrize("p", [20, 50, 90])
def test_ridge_zero_is_the_minimum_norm_fit_without_stored_features(
    p: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fits, "STORED_LIMIT", 0)
    x, y = data(50, 10, outputs=2)
    path = dt.RandomFeaturesRidge(p, random_state=0).ridge_path(x, y, [0.0, 1e-8])
    model = dt.RandomFeaturesRidge(p, ridge=0.0, random_state=0).fit(x, y)
    expected = np.linalg.pinv(features(x, model.weights_[0])) @ y
    close = {"rtol": 1e-6, "atol": 1e-7 * np.abs(expected).max()}
    np.testing.assert_allclose(model.coef_[0].T, expected, **close)
    np.testing.assert_allclose(path.coef[0, 0].T, expected, **close)
    monkeypatch.undo()
    stored = dt.RandomFeaturesRidge(p, random_state=0).ridge_path(x, y, [0.0, 1e-8])
    np.testing.assert_allclose(path.loo_error, stored.loo_error, rtol=1e-5)


def test_qr_triangle_has_all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fits, "STORED_LIMIT", 0)
    x = np.linspace(-2, 2, 60)[:, None]
    model = dt.RandomFeaturesRidge(20, activation="sin", ridge=0, random_state=0).fit(x, x[:, 0])
    assert np.max(np.abs(model.predict(x) - x[:, 0])) < 1e-11


def pair(monkeypatch: pytest.MonkeyPatch, ridge: float, **options: Any) -> tuple[Any, Any, bool]:
    """Predictions without and with refinement, and whether refinement was used."""
    x, y = data(400, 5, outputs=2)
    w = np.random.default_rng(0).uniform(0.1, 2, 400)
    model = dt.RandomFeaturesRidge(60, ridge=ridge, random_state=0, **options)
    plain = model.fit(x, y, w).predict(x)
    monkeypatch.setattr(_fits, "REFINED_FROM", 0)
    refined, answers = _fits.refined, []

    def recorded(*args: Any) -> Any:
        answers.append(refined(*args))
        return answers[-1]

    monkeypatch.setattr(_fits, "refined", recorded)
    return plain, model.fit(x, y, w).predict(x), answers[0] is not None


@pytest.mark.parametrize(("ridge", "intercept"), [(1e-3, True), (0.1, False), (10.0, True)])
def test_refinement_reaches_the_float64_solution(
    ridge: float, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, quick, taken = pair(monkeypatch, ridge, fit_intercept=intercept)
    assert taken
    assert not np.array_equal(plain, quick)
    np.testing.assert_allclose(quick, plain, atol=1e-8)


@pytest.mark.parametrize(("ridge", "center"), [(0.0, True), (1e-9, True), (1e-6, False)])
def test_refinement_is_not_used_where_float32_is_not_enough(
    ridge: float, center: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, quick, taken = pair(monkeypatch, ridge, center=center)
    assert not taken
    assert np.array_equal(plain, quick)


def test_slow_refinement_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of a float32 matrix that is off by a tenth converge too slowly."""

    class Inaccurate(Primal):
        def __init__(self, phi: Any, sample: Sample, precision: Any = np.float64) -> None:
            super().__init__(phi, sample, precision)
            if precision == np.float32:
                self.sums.gram *= 1.1

    monkeypatch.setattr(_fits, "Primal", Inaccurate)
    plain, quick, taken = pair(monkeypatch, 0.1)
    assert not taken
    assert np.array_equal(plain, quick)


def test_features_that_are_zero_have_zero_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fits, "REFINED_FROM", 0)
    model = dt.RandomFeaturesRidge(20, ridge=0.0, center=False, random_state=0)
    x, y = np.zeros((100, 3)), np.ones(100)
    assert np.array_equal(model.fit(x, y).predict(x), np.zeros(100))
