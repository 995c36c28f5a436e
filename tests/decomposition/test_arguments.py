"""Validation of the arguments, before anything is fitted."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import doubletrouble as dt
from tests.decomposition.known import FEW, curved, pool, random_features, source

X, Y = pool(100)


def never(X: Any, y: Any, seed: int) -> Any:
    raise AssertionError("nothing is to be fitted")


def generator(**options: Any) -> dt.GeneratorSource:
    given: dict[str, Any] = {"sample": curved, "n_train": 10}
    return dt.GeneratorSource(**(given | options))


def from_pool(**options: Any) -> dt.PoolSource:
    given: dict[str, Any] = {"X": X, "y": Y, "n_train": 10}
    return dt.PoolSource(**(given | options))


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"n_data": 0}, "n_data must be a whole number of at least 1, got 0"),
    ({"n_init": 2.5}, "n_init must be a whole number of at least 1, got 2.5"),
    ({"n_noise": True}, "n_noise must be a whole number of at least 1, got True"),
    ({"seed": -1}, "seed must be a whole number of at least 0 and below 4294967296, got -1"),
    ({"confidence": 95}, "confidence must be a number in (0, 1), got 95"),
    ({"errors": "ignore"}, "errors must be one of 'raise', 'collect', got 'ignore'"),
    ({"task": "ranking"}, "task must be one of 'auto', 'regression', 'classification', got 'rank"),
    ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
    ({"executor": 3}, "executor must have a method submit, got int"),
    ({"workers": 2, "scheduler": "tcp://nowhere"}, "scheduler must be left out when workers is"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=lambda case: str(case)[:30])
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        dt.decompose(never, source(), **(FEW | options))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge, "model must be an estimator, not a class; got Ridge"),
        (3, "model must be a scikit-learn estimator or a function fit(X, y, seed) -> predict, got"),
        (lambda X, y: None, "model must be a function fit(X, y, seed) -> predict: too many posit"),
        (
            lambda X, y, seed, more: 0,
            "model must be a function fit(X, y, seed) -> predict: missing",
        ),
    ],
)
def test_models(model: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        dt.decompose(model, source(), **FEW)
    assert message in str(raised.value)


@pytest.mark.parametrize("bad", [(X, Y), curved, None, dt.PoolSource, dt.GeneratorSource])
def test_other_sources_are_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^source must be a GeneratorSource or a PoolSource"):
        dt.decompose(random_features, bad, **FEW)


# --- generators ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": X}, "sample must be a function rng, n -> X, y, got ndarray"),
        ({"n_train": 0}, "n_train must be a whole number of at least 1, got 0"),
        ({"n_test": 0.5}, "n_test must be a whole number of at least 1, got 0.5"),
        ({"noise": -1.0}, "noise must be in [0, 1e+150], got -1.0"),
        ({"noise": math.nan}, "noise must be in [0, 1e+150], got nan"),
        ({"noise": "loud"}, "noise must be a number"),
    ],
)
def test_generators(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        generator(**options)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (X, "sample must return X, y, got ndarray"),
        ((X, Y), "sample must return n = 30 rows, got 100"),
        ((X[:30], Y), "y of sample must have a label for each of 30 samples, got shape (100,)"),
        ((X[:30], np.full(30, np.nan)), "y of sample must be finite, got nan at index 0"),
        ((3, Y), "X of sample must be an array or a DataFrame, got int"),
    ],
)
def test_samples(drawn: Any, message: str) -> None:
    data = dt.GeneratorSource(lambda rng, n: drawn, n_train=10, noise=0.1, n_test=30)
    with pytest.raises((ValueError, TypeError)) as raised:
        dt.decompose(never, data, **FEW)
    assert message in str(raised.value)


def test_more_than_all_labels_cannot_be_flipped() -> None:
    def sample(rng: np.random.Generator, n: int) -> Any:
        X, y = curved(rng, n)
        return X, y > 0

    data = dt.GeneratorSource(sample, n_train=10, noise=1.5)
    with pytest.raises(ValueError, match=r"^noise must be in \[0, 1\], got 1.5$"):
        dt.decompose(LogisticRegression(), data, **FEW)
    flips = dt.PoolSource(X, Y > 0, n_train=10, inject=1.5)
    with pytest.raises(ValueError, match=r"^inject must be in \[0, 1\], got 1.5$"):
        dt.decompose(LogisticRegression(), flips, **FEW)


# --- pools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": Y[:50]}, "y must have a label for each of 100 samples, got shape (50,)"),
        ({"X": 3}, "X must be an array or a DataFrame, got int"),
        ({"n_train": -2}, "n_train must be a whole number of at least 1, got -2"),
        ({"n_test": 0}, "n_test must be a whole number of at least 1, got 0"),
        ({"noise": -0.5}, "noise must be in [0, 1e+150], got -0.5"),
        ({"noise": np.tanh}, "noise must be a number or None, got a function; see inject"),
        ({"inject": -0.5}, "inject must be in [0, 1e+150], got -0.5"),
        ({"repeated": [Y[:3]]}, "must have a label for each of 100 samples, got shape (3,)"),
        ({"repeated": [Y], "inject": 1.0}, "inject must be left out where labels are repeated"),
        ({"resampling": "jackknife"}, "resampling must be one of 'disjoint', 'subsample', 'boots"),
    ],
)
def test_pools(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        from_pool(**options)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("n_train", "n_test", "fitting"), [(30, 20, "n_data=2"), (60, 20, "n_train=20")]
)
def test_a_pool_that_is_too_small(n_train: int, n_test: int, fitting: str) -> None:
    with pytest.raises(ValueError, match=rf"^n_data = 4 training sets .*, got 80; {fitting} would"):
        dt.decompose(never, dt.PoolSource(X, Y, n_train=n_train, n_test=n_test), **FEW)


def test_n_test_is_checked_at_construction() -> None:
    with pytest.raises(ValueError, match=r"^n_test must leave n_train = 10 of 100 samples"):
        dt.PoolSource(X, Y, n_train=10, n_test=98)


def test_a_pool_that_is_just_large_enough() -> None:
    data = dt.PoolSource(X, Y, n_train=20, n_test=20)
    assert dt.decompose(random_features, data, **FEW).n_fits == 12


# --- classes -------------------------------------------------------------------------------------


def test_classes_have_no_noise_of_known_size() -> None:
    data = dt.PoolSource(X, Y > 0, n_train=10, noise=0.1)
    with pytest.raises(ValueError, match=r"^noise must be left out for classes, got 0.1; inject"):
        dt.decompose(LogisticRegression(), data, **FEW)


def test_a_regressor_is_no_classifier() -> None:
    data = dt.PoolSource(X, Y > 0, n_train=10)
    with pytest.raises(ValueError, match=r"^model must be a classifier for task"):
        dt.decompose(Ridge(), data, task="classification", **FEW)


def test_several_labels_at_once_are_no_class() -> None:
    data = dt.PoolSource(X, np.stack([Y > 0, Y > 1], axis=1), n_train=10)
    with pytest.raises(ValueError, match=r"^y must have one class for each sample, got shape "):
        dt.decompose(LogisticRegression(), data, **FEW)
