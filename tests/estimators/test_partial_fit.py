"""Fits to rows in parts."""

import pickle
import tracemalloc
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.estimators.literal import data

PARTS = [slice(0, 7), slice(7, 8), slice(8, 60), slice(60, 100)]


@pytest.mark.parametrize(
    "options", [{"ridge": 0.01}, {"alpha": 2.0}, {"ridge": 0.0}, {"ensemble": 3}], ids=str
)
def test_parts_equal_one_fit(options: dict[str, Any]) -> None:
    x, y = data(100, 10, outputs=2)
    y += 5
    w = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 100)
    w[7] = 1.0  # a part of its own
    for p, intercept, weighted in product((20, 150), (True, False), (True, False)):
        make = partial(
            dt.RandomFeaturesRidge, p, fit_intercept=intercept, random_state=0, **options
        )
        parts = make()
        for rows in PARTS:
            parts.partial_fit(x[rows], y[rows], w[rows] if weighted else None)
        whole = make().fit(x, y, w if weighted else None)
        case = str((p, intercept, weighted))
        np.testing.assert_allclose(parts.predict(x), whole.predict(x), atol=1e-8, err_msg=case)
        assert parts.ridge_ == pytest.approx(whole.ridge_), case
        np.testing.assert_allclose(parts.alpha_, whole.alpha_, err_msg=case)


def test_predictions_between_parts_are_those_of_the_rows_so_far() -> None:
    x, y = data(100, 10)
    model = dt.RandomFeaturesRidge(20, random_state=0)
    for start, end in ((0, 30), (30, 60), (60, 100)):
        model.partial_fit(x[start:end], y[start:end])
        model = pickle.loads(pickle.dumps(model))
        whole = dt.RandomFeaturesRidge(20, random_state=0).fit(x[:end], y[:end])
        np.testing.assert_allclose(model.predict(x), whole.predict(x), atol=1e-9)


def test_the_penalty_is_that_of_the_last_part() -> None:
    x, y = data(50, 5)
    used, unused = (
        dt.RandomFeaturesRidge(10, ridge=0.1, random_state=0).partial_fit(x, y) for _ in "12"
    )
    before = used.predict(x)
    for ridge in (10.0, "loo"):
        for model in (used, unused):
            assert np.array_equal(model.set_params(ridge=ridge).predict(x), before)
    assert unused.set_params(ridge=10.0).partial_fit(x, y).ridge_ == 10.0


def test_intercept_is_that_of_the_first_part() -> None:
    x, y = data(100, 10)
    model, same = (
        dt.RandomFeaturesRidge(20, fit_intercept=True, random_state=0).partial_fit(x[:50], y[:50])
        for _ in "12"
    )
    model.set_params(fit_intercept=False).partial_fit(x[50:], y[50:])
    assert np.array_equal(model.predict(x), same.partial_fit(x[50:], y[50:]).predict(x))


def test_fit_and_partial_fit_start_anew() -> None:
    x, y = data(50, 5)
    model = dt.RandomFeaturesRidge(10, random_state=0)
    fresh = dt.RandomFeaturesRidge(10, random_state=0).fit(x, y).coef_
    assert np.array_equal(model.partial_fit(x, -y).fit(x, y).coef_, fresh)
    np.testing.assert_allclose(model.partial_fit(x, y).coef_, fresh, atol=1e-12)


def test_failed_fit_leaves_the_last_one() -> None:
    x, y = data(50, 5)
    model = dt.RandomFeaturesRidge(10, ridge="loo", random_state=0).fit(x, y)
    before = model.predict(x)
    with pytest.raises(ValueError, match="at least 2 rows"):
        model.fit(x[:1], y[:1])
    assert np.array_equal(model.predict(x), before)
    model.set_params(ridge=0.1).partial_fit(x, y)
    assert not hasattr(model, "loo_path_")


def test_single_precision_is_preserved() -> None:
    x, y = data(100, 10)
    model = dt.RandomFeaturesRidge(20, random_state=0)
    for rows in PARTS:
        model.partial_fit(x[rows].astype(np.float32), y[rows].astype(np.float32))
    assert model.coef_.dtype == np.float32
    whole = dt.RandomFeaturesRidge(20, random_state=0).fit(x, y)
    np.testing.assert_allclose(model.predict(x), whole.predict(x), atol=1e-4)


def test_classifier_of_parts_equals_one_fit() -> None:
    x, _ = data(100, 10)
    y = np.array(["a", "b", "c"])[np.argmax(x[:, :3], axis=1)]
    parts = dt.RandomFeaturesClassifier(30, random_state=0)
    for rows in PARTS:
        parts.partial_fit(x[rows], y[rows], classes=["a", "b", "c"])
    whole = dt.RandomFeaturesClassifier(30, random_state=0).fit(x, y)
    np.testing.assert_allclose(parts.decision_function(x), whole.decision_function(x), atol=1e-9)
    assert np.array_equal(parts.predict(x), whole.predict(x))


def test_memory_does_not_grow_with_rows() -> None:
    x, y = data(5000, 10)
    model = dt.RandomFeaturesRidge(100, random_state=0).partial_fit(x, y)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(10):
            model.partial_fit(x, y)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 200_000
