"""Features are made in blocks: what a fit takes does not grow with the larger side."""

import tracemalloc

import numpy as np
import pytest

import doubletrouble as dt
from tests.estimators.literal import data, features

MEGABYTE = 2**20


@pytest.mark.parametrize(("n", "p"), [(60_000, 300), (300, 60_000)])
def test_features_are_not_stored_whole(n: int, p: int) -> None:
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
def test_minimum_norm_where_the_features_may_not_be_stored(
    p: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the triangle, or by the Gram matrix."""
    for side in ("primal", "dual"):
        monkeypatch.setattr(f"doubletrouble.estimators.{side}.WHOLE", 0)
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


def test_the_triangle_keeps_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.estimators._primal.WHOLE", 0)
    x = np.linspace(-2, 2, 60)[:, None]
    model = dt.RandomFeaturesRidge(20, activation="sin", ridge=0, random_state=0).fit(x, x[:, 0])
    assert np.max(np.abs(model.predict(x) - x[:, 0])) < 1e-11
