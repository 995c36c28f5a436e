"""Validation of the arguments, before anything is fitted; messages begin with the argument."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import doubletrouble as dt
from tests.learners.known import FEW, curved, pool, random_features, source
from tests.messages import message_of, not_identified

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
    sources = (curved, dt.PoolSource, dt.GeneratorSource)
    cases += [{"model": random_features, "X": bad} for bad in sources]
    check(lambda **options: dt.decompose(**({"X": source()} | FEW | options)), cases)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, Y), {}, "n_samples must be given, at most 90 of the 100 rows, got None"),
        ((X, Y), {"n_test": 40}, "n_samples must be given, at most 60 of the 100 rows"),
        ((X, Y), {"n_samples": 91}, "n_samples must be at most 90 of the 100 rows"),
        ((X, Y), {"n_samples": 20, "noise": -1.0}, "noise must"),
        ((X,), {}, "y must be given with the rows X"),
        (((X, Y),), {"n_samples": 20}, "y must be given with the rows X"),
        ((source(), Y), {}, "y must be left out with a source"),
        ((source(),), {"n_samples": 20}, "n_samples must be left out with a source"),
        ((source(),), {"groups": Y}, "groups must be left out with a source"),
    ],
)
def test_rows_and_sources_are_distinguished(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    assert message_of(dt.decompose, never, *arguments, **(FEW | options)).startswith(message)


def test_rows_are_those_of_a_pool() -> None:
    groups = np.arange(100) // 4
    options: dict[str, Any] = {"n_samples": 12, "noise": 0.1, "groups": groups, "n_test": 30}
    rows = dt.decompose(random_features, X, Y, **FEW, **options)
    pool = dt.decompose(random_features, dt.PoolSource(X, Y, **options), **FEW)
    assert (rows.predictions == pool.predictions).all()
    assert (rows.error().total - pool.error().total).standard_error == 0


# --- generators ----------------------------------------------------------------------------------


def test_generators_are_checked() -> None:
    given: dict[str, Any] = {"sample": curved, "n_samples": 10}
    check(
        lambda **options: dt.GeneratorSource(**(given | options)),
        [
            {"sample": X},
            {"n_samples": 0},
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
    data = dt.GeneratorSource(lambda rng, n: drawn, n_samples=10, noise=0.1, n_test=30)
    assert message_of(dt.decompose, never, data, **FEW).startswith(f"{name} must")


# --- pools ---------------------------------------------------------------------------------------


def test_pools_are_checked() -> None:
    given: dict[str, Any] = {"X": X, "y": Y, "n_samples": 10}
    check(
        lambda **options: dt.PoolSource(**(given | options)),
        [
            {"y": Y[:50]},
            {"X": 3},
            {"n_samples": -2},
            {"n_test": 0},
            {"n_test": 98},  # beside n_samples = 10 of 100
            {"noise": -0.5},
            {"noise": np.tanh},
            {"inject": -0.5},
            {"repeated": [Y], "inject": 1.0},
            {"resampling": "jackknife"},
            *({"groups": bad} for bad in (np.zeros(100), np.zeros(50), np.zeros((100, 2)))),
        ],
    )
    with pytest.raises(ValueError, match="repeated"):
        dt.PoolSource(X, Y, n_samples=10, repeated=[Y[:3]])


def test_training_sets_without_a_number_are_as_many_as_fit() -> None:
    def split(n_samples: int, **options: Any) -> Any:
        return dt.decompose(random_features, X, Y, n_samples=n_samples, n_init=2, **options)

    assert [split(n).design.n_data for n in (3, 15, 25)] == [20, 5, 3]
    with pytest.warns(UserWarning, match="sampling is underestimated"):
        shared = split(50)
    assert (shared.design.n_data, shared.design.n_test) == (20, 25)
    assert any("between the value shown and 3.0 times" in note for note in shared.notes)
    alone = split(90)
    assert (alone.design.n_data, alone.design.n_test) == (1, 10)
    not_identified(alone.error(), "sampling", "2 or more data sets")


@pytest.mark.parametrize(("n_samples", "fitting"), [(30, "n_data=2"), (60, "n_samples=20")])
def test_small_pools_are_refused_with_the_number_that_would_fit(
    n_samples: int, fitting: str
) -> None:
    with pytest.raises(ValueError, match=rf"^n_data = 4 .*{fitting}"):
        dt.decompose(never, dt.PoolSource(X, Y, n_samples=n_samples, n_test=20), **FEW)


def test_a_pool_may_be_just_large_enough() -> None:
    data = dt.PoolSource(X, Y, n_samples=20, n_test=20)
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


def test_wrong_models_and_pools_are_named_first() -> None:
    X, y = np.zeros((20, 2)), np.arange(20.0)
    for rows in (0, 1):
        with pytest.raises(ValueError, match=f"^X must have 2 or more rows, got {rows}"):
            dt.decompose(Ridge(), X[:rows], y[:rows])
    with pytest.raises(TypeError, match=r"^model must be"):
        dt.decompose(X, y, Ridge(), n_samples=5)
    with pytest.raises(TypeError, match=r"^X must be rows or a source, got the class"):
        dt.decompose(Ridge(), dt.GeneratorSource)
