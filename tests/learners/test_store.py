"""Stored fits: none is computed twice, and none is confused with another."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import doubletrouble as dt
from doubletrouble.learners._decompose import DrawnFits, FitIndex
from doubletrouble.parameters import FloatArray
from doubletrouble.runs import Record
from tests.learners.known import FEW, curved, least_squares, pool, random_features, source

Count = Callable[[], list[FitIndex]]


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Count:
    """The indices fitted since the last call."""
    indices: list[FitIndex] = []
    fit = DrawnFits.__call__

    def counted(self: DrawnFits, parameters: Mapping[str, Any]) -> Record:
        indices.append(FitIndex(**parameters))
        return fit(self, parameters)

    monkeypatch.setattr(DrawnFits, "__call__", counted)

    def since_last_call() -> list[FitIndex]:
        result = indices.copy()
        indices.clear()
        return result

    return since_last_call


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "fits.sqlite"


def test_stored_fits_are_not_computed_again(fitted: Count, store: Path) -> None:
    plain = dt.decompose(random_features, source(), **FEW)
    assert len(fitted()) == 24
    first = dt.decompose(random_features, source(), store=store, **FEW)
    assert len(fitted()) == 24
    again = dt.decompose(random_features, source(), store=str(store), **FEW)
    assert fitted() == []
    for result in (first, again):
        np.testing.assert_array_equal(result.predictions, plain.predictions)
        assert result.error().parts == plain.error().parts


def test_more_draws_reuse_stored_fits(fitted: Count, store: Path) -> None:
    dt.decompose(random_features, source(), store=store, **FEW)
    fitted()
    more = {"n_data": 5, "n_init": 4, "n_noise": 3}
    result = dt.decompose(random_features, source(), store=store, **(FEW | more))
    assert len(fitted()) == 5 * 4 * 3 - 24
    plain = dt.decompose(random_features, source(), **(FEW | more))
    np.testing.assert_array_equal(result.predictions, plain.predictions)
    fitted()
    dt.decompose(random_features, source(), store=store, **(FEW | {"n_data": 2}))
    assert fitted() == []


def test_failed_fits_are_retried(fitted: Count, store: Path, tmp_path: Path) -> None:
    trouble = tmp_path / "trouble"
    trouble.touch()
    failing_seed = source().training(2, n_noise=2, seed=0, classes=None).X[0, 0]

    def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
        if X[0, 0] == failing_seed and trouble.exists():
            raise OSError("disk full")
        return random_features(X, y, seed)

    with pytest.raises(dt.FitError, match=r"^6 of 24 fits failed") as caught:
        dt.decompose(fit, source(), store=store, name="mine", **FEW)
    assert f"the other 18 are in {store}" in str(caught.value)
    assert "OSError: disk full" in str(caught.value)
    assert caught.value.partial.n_fits == 18
    assert len(fitted()) == 24
    trouble.unlink()
    result = dt.decompose(fit, source(), store=store, name="mine", **FEW)
    assert {index.data for index in fitted()} == {2}
    plain = dt.decompose(random_features, source(), **FEW)
    np.testing.assert_array_equal(result.predictions, plain.predictions)


def test_an_interrupted_run_continues(fitted: Count, store: Path) -> None:
    done: list[int] = []

    def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
        if len(done) == 10:
            raise KeyboardInterrupt
        done.append(seed)
        return random_features(X, y, seed)

    with pytest.raises(KeyboardInterrupt):
        dt.decompose(fit, source(), store=store, name="mine", **FEW)
    fitted()
    again = closure(1.0)  # a learner that cannot be hashed goes by its name
    result = dt.decompose(again, source(), store=store, name="mine", **FEW)
    assert 12 <= len(fitted()) <= 16
    plain = dt.decompose(random_features, source(), **FEW)
    np.testing.assert_array_equal(result.predictions, plain.predictions)


# --- identity of fits ----------------------------------------------------------------------------


@contextmanager
def all_new(fitted: Count, count: int) -> Iterator[None]:
    fitted()
    yield
    assert len(fitted()) == count


def test_learner_source_seed_and_name_identify_fits(fitted: Count, store: Path) -> None:
    dt.decompose(random_features, source(), store=store, **FEW)
    with all_new(fitted, 24):
        dt.decompose(least_squares, source(), store=store, **FEW)
    with all_new(fitted, 24):
        dt.decompose(random_features, source(noise=0.6), store=store, **FEW)
    with all_new(fitted, 24):
        dt.decompose(random_features, source(n_test=31), store=store, **FEW)
    with all_new(fitted, 24):
        dt.decompose(random_features, source(), store=store, seed=1, **FEW)
    with all_new(fitted, 24):
        dt.decompose(random_features, source(), store=store, name="mine", **FEW)
    with all_new(fitted, 24):
        dt.decompose(least_squares, source(), store=store, name="mine", **FEW)
    with all_new(fitted, 0):
        dt.decompose(random_features, source(), store=store, name="mine", **FEW)


def test_estimators_of_equal_names_are_distinguished(fitted: Count, store: Path) -> None:
    for alpha in (1.0, 2.0):
        with all_new(fitted, 24):
            dt.decompose(Ridge(alpha=alpha), source(), store=store, name="ridge", **FEW)


@pytest.mark.parametrize("model", [random_features, Ridge()])
def test_sources_of_equal_names_are_distinguished(model: Any, fitted: Count, store: Path) -> None:
    totals = []
    for scale in (1.0, 3.0, 1.0):

        def sample(rng: np.random.Generator, n: int, scale: float = scale) -> Any:
            X, y = curved(rng, n)
            return X, scale * y

        data = dt.GeneratorSource(sample, n_samples=20, noise=0.5, n_test=30)
        fitted()
        totals.append(dt.decompose(model, data, store=store, name="mine", **FEW).error().total)
    assert fitted() == []  # the third is the first again
    assert totals[0] == totals[2]
    assert totals[1].value > 2 * totals[0].value


def test_noise_of_equal_names_is_distinguished(fitted: Count, store: Path) -> None:
    for sigma in (0.5, 1.0):

        def noise(rng: np.random.Generator, y: FloatArray, sigma: float = sigma) -> FloatArray:
            return y + sigma * rng.standard_normal(len(y))

        data = dt.GeneratorSource(curved, n_samples=20, noise=noise)
        with all_new(fitted, 24):
            dt.decompose(random_features, data, store=store, name="mine", **FEW)


def test_parameters_and_data_identify_estimators(fitted: Count, store: Path) -> None:
    X, y = pool(150)
    data = dt.PoolSource(X, y, n_samples=20)
    dt.decompose(Ridge(), data, store=store, **FEW)
    with all_new(fitted, 12):
        dt.decompose(Ridge(alpha=2.0), data, store=store, **FEW)
    other = X.copy()
    other[7, 1] += 1e-9
    with all_new(fitted, 12):
        dt.decompose(Ridge(), dt.PoolSource(other, y, n_samples=20), store=store, **FEW)
    with all_new(fitted, 0):
        dt.decompose(Ridge(), dt.PoolSource(X.copy(), y, n_samples=20), store=store, **FEW)


def test_injected_noise_identifies_fits(fitted: Count, store: Path) -> None:
    data = dt.PoolSource(*pool(150, noise=0.5), n_samples=20, noise=0.5)
    dt.decompose(Ridge(), data, store=store, **(FEW | {"n_noise": 1}))
    with all_new(fitted, 36):
        dt.decompose(Ridge(), data, store=store, **FEW)


def test_the_task_identifies_fits(fitted: Count, store: Path) -> None:
    X, y = pool(150)
    data = dt.PoolSource(X, (y > 0).astype(int), n_samples=20)
    for task in ("classification", "regression"):
        with all_new(fitted, 4):
            dt.decompose(KNeighborsClassifier(), data, task=task, store=store, **FEW)


# --- identity ------------------------------------------------------------------------------------


def closure(value: Any) -> Any:
    return lambda X, y, seed: random_features(X, value * y, seed)


@pytest.mark.parametrize(
    "model",
    [closure(1.0), lambda X, y, seed: random_features(X, y, seed), partial(closure(1.0))],
    ids=["closure", "lambda", "partial"],
)
def test_functions_without_a_module_need_a_name(model: Any, store: Path) -> None:
    with pytest.raises(ValueError, match=r"^name must be given"):
        dt.decompose(model, source(), store=store, **FEW)
    assert dt.decompose(model, source(), store=store, name="mine", **FEW).n_fits == 24


def test_functions_of_the_main_module_need_a_name(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curved, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "curved", curved, raising=False)
    with pytest.raises(ValueError, match=r"^name must be given .* curved"):
        dt.decompose(Ridge(), source(), store=store, **FEW)
    assert dt.decompose(Ridge(), source(), store=store, name="mine", **FEW).n_fits == 24


def test_content_without_a_pickle_needs_a_name(store: Path) -> None:
    model = partial(with_lock, threading.Lock())
    with pytest.raises(ValueError, match=r"^name must be given"):
        dt.decompose(model, source(), store=store, **FEW)


def with_lock(lock: Any, X: Any, y: Any, seed: int) -> Any:
    return random_features(X, y, seed)


def test_names_are_checked(store: Path) -> None:
    bad: Any
    for bad in ("", 3):
        with pytest.raises(ValueError, match=r"^name must be a string"):
            dt.decompose(Ridge(), source(), store=store, name=bad, **FEW)


def test_partials_are_identified_by_their_arguments(fitted: Count, store: Path) -> None:
    dt.decompose(partial(scaled, 1.0), source(), store=store, **FEW)
    with all_new(fitted, 0):
        dt.decompose(partial(scaled, 1.0), source(), store=store, **FEW)
    with all_new(fitted, 24):
        dt.decompose(partial(scaled, 2.0), source(), store=store, **FEW)


def scaled(scale: float, X: Any, y: Any, seed: int) -> Any:
    return random_features(X, scale * y, seed)
