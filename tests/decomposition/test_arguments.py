"""Validation of the arguments, before anything is fitted; messages begin with the argument."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import doubletrouble as dt
from tests.decomposition.known import FEW, curved, pool, random_features, source
from tests.messages import message_of

X, Y = pool(100)


def never(X: Any, y: Any, seed: int) -> Any:
    raise AssertionError("fitted before all arguments were checked")


def check(make: Callable[..., Any], cases: list[dict[str, Any]]) -> None:
    """The last argument of every case is refused, by its name."""
    for options in cases:
        assert message_of(make, **options).startswith(f"{list(options)[-1]} must ")


def test_options_are_checked() -> None:
    check(
        lambda **options: dt.decompose(never, source(), **(FEW | options)),
        [
            {"n_data": 0},
            {"n_init": 2.5},
            {"n_noise": True},
            {"seed": -1},
            {"confidence": 95},
            {"errors": "ignore"},
            {"task": "ranking"},
            {"workers": 0},
            {"executor": 3},
            {"workers": 2, "scheduler": "tcp://nowhere"},
        ],
    )


def test_models_and_sources_are_checked() -> None:
    too_few: Any = lambda X, y: None  # noqa: E731
    too_many: Any = lambda X, y, seed, more: 0  # noqa: E731
    cases: list[dict[str, Any]] = [{"model": bad} for bad in (Ridge, 3, too_few, too_many)]
    sources = ((X, Y), curved, None, dt.PoolSource, dt.GeneratorSource)
    cases += [{"model": random_features, "source": bad} for bad in sources]
    check(lambda **options: dt.decompose(**({"source": source()} | FEW | options)), cases)


# --- generators ----------------------------------------------------------------------------------


def test_generators_are_checked() -> None:
    given: dict[str, Any] = {"sample": curved, "n_train": 10}
    check(
        lambda **options: dt.GeneratorSource(**(given | options)),
        [
            {"sample": X},
            {"n_train": 0},
            {"n_test": 0.5},
            *({"noise": bad} for bad in (-1.0, math.nan, "loud")),
        ],
    )


@pytest.mark.parametrize(
    ("drawn", "name"),
    [
        (X, "sample"),
        ((X, Y), "sample"),
        ((X[:30], Y), "y of sample"),
        ((X[:30], np.full(30, np.nan)), "y of sample"),
        ((3, Y), "X of sample"),
    ],
)
def test_samples_are_checked(drawn: Any, name: str) -> None:
    data = dt.GeneratorSource(lambda rng, n: drawn, n_train=10, noise=0.1, n_test=30)
    assert message_of(dt.decompose, never, data, **FEW).startswith(f"{name} must")


# --- pools ---------------------------------------------------------------------------------------


def test_pools_are_checked() -> None:
    given: dict[str, Any] = {"X": X, "y": Y, "n_train": 10}
    check(
        lambda **options: dt.PoolSource(**(given | options)),
        [
            {"y": Y[:50]},
            {"X": 3},
            {"n_train": -2},
            {"n_test": 0},
            {"n_test": 98},  # beside n_train = 10 of 100
            {"noise": -0.5},
            {"noise": np.tanh},
            {"inject": -0.5},
            {"repeated": [Y], "inject": 1.0},
            {"resampling": "jackknife"},
            *({"groups": bad} for bad in (np.zeros(100), np.zeros(50), np.zeros((100, 2)))),
        ],
    )
    with pytest.raises(ValueError, match="repeated"):
        dt.PoolSource(X, Y, n_train=10, repeated=[Y[:3]])


@pytest.mark.parametrize(("n_train", "fitting"), [(30, "n_data=2"), (60, "n_train=20")])
def test_small_pools_are_refused_with_the_number_that_would_fit(n_train: int, fitting: str) -> None:
    with pytest.raises(ValueError, match=rf"^n_data = 4 .*{fitting}"):
        dt.decompose(never, dt.PoolSource(X, Y, n_train=n_train, n_test=20), **FEW)


def test_a_pool_may_be_just_large_enough() -> None:
    data = dt.PoolSource(X, Y, n_train=20, n_test=20)
    assert dt.decompose(random_features, data, **FEW).n_fits == 12


# --- classes -------------------------------------------------------------------------------------


def flipped(rng: np.random.Generator, n: int) -> Any:
    X, y = curved(rng, n)
    return X, y > 0


@pytest.mark.parametrize(
    ("model", "data", "name"),
    [
        (LogisticRegression(), dt.GeneratorSource(flipped, 10, 1.5), "noise"),
        (LogisticRegression(), dt.PoolSource(X, Y > 0, 10, inject=1.5), "inject"),
        (LogisticRegression(), dt.PoolSource(X, Y > 0, 10, 0.1), "noise"),
        (LogisticRegression(), dt.PoolSource(X, np.ones(100, int), 10), "y"),
        (LogisticRegression(), dt.PoolSource(X, np.stack([Y > 0] * 2, 1), 10), "y"),
        (Ridge(), dt.PoolSource(X, Y > 0, 10), "model"),
    ],
)
def test_labels_and_noise_of_classes_are_checked(model: Any, data: Any, name: str) -> None:
    message = message_of(dt.decompose, model, data, task="classification", **FEW)
    assert message.startswith(f"{name} must")
