"""Fits that fail: the others go on, and the error lists the failed ones."""

import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import doubletrouble as dt
from doubletrouble.learners._decompose import FitIndex
from doubletrouble.learners._sources import init_seed
from doubletrouble.parameters import FloatArray
from tests.learners.known import FEW, pool, random_features, source

Fit = Callable[[Any, Any, int], Any]


def first_input(number: int) -> float:
    """The first input of a data set, which identifies it."""
    some = source().training(number, n_noise=2, seed=0, classes=None)
    return float(some.X[0, 0])


def failing(data: int, init: int, how: Callable[[], Any]) -> Fit:
    """Random features that fail on one data set, from one seed."""
    x, failing_seed = first_input(data), init_seed(0, init)

    def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
        if X[0, 0] == x and seed == failing_seed:
            return how()
        return random_features(X, y, seed)

    return fit


def explode() -> Any:
    raise RuntimeError("out of paper")


def raised(fit: Any, **options: Any) -> dt.FitError:
    with pytest.raises(dt.FitError) as caught:
        dt.decompose(fit, source(), **(FEW | options))
    return caught.value


@pytest.mark.parametrize("threads", [False, True])
def test_failed_fits_do_not_stop_others(threads: bool) -> None:
    whole = dt.decompose(random_features, source(), **FEW)
    with ThreadPoolExecutor(2) as executor:
        error = raised(failing(1, 2, explode), executor=executor if threads else None)
    seed = init_seed(0, 2)
    assert str(error).startswith("2 of 24 fits failed")
    assert f"(seed {seed}): RuntimeError" in str(error)
    assert "other 22" in str(error)
    assert [failure.fit for failure in error.failures] == [FitIndex(1, 0, 2), FitIndex(1, 1, 2)]
    assert {failure.seed for failure in error.failures} == {seed}
    f = error.predictions
    assert f is not None
    assert np.isnan(f[1, :, 2]).all()
    assert np.isnan(f).sum() == 2 * 30
    np.testing.assert_array_equal(f[~np.isnan(f)], whole.predictions[~np.isnan(f)])

    partial = error.partial
    assert partial.n_fits == 18
    sound = dt.decompose_predictions(whole.predictions[[0, 2, 3]], truth=whole.y_test)
    assert partial.error().parts == sound.error().parts
    again: Any = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.failures == error.failures


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e70])
def test_predictions_must_be_finite(bad: float) -> None:
    def how() -> Any:
        return lambda X: np.where(np.arange(len(X)) < 3, bad, 0.0)

    error = raised(failing(0, 0, how))
    assert "predict must" in str(error)
    assert f"got {bad} at 3 of 30" in str(error)
    assert len(error.failures) == 2
    assert error.partial.design.n_data == 3


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros(29), "got (29,)"),
        (np.zeros((30, 2)), "got (30, 2)"),
        (np.array(["a"] * 30), "TypeError: predict must"),
        (np.zeros(30, complex), "TypeError: predict must"),
        (np.ma.masked_less(np.arange(30), 3), "TypeError: predictions must"),
    ],
)
def test_shape_and_type_of_predictions_are_checked(result: Any, message: str) -> None:
    assert message in str(raised(lambda X, y, seed: lambda X: result))


def test_outputs_in_the_wrong_order_are_refused() -> None:
    X, y = pool(150)
    data = dt.PoolSource(X, np.stack([y, y], axis=1), n_samples=20, n_test=30)
    with pytest.raises(dt.FitError, match=r"predict must .*\(30, 2\), got \(2, 30\)"):
        dt.decompose(lambda X, y, seed: lambda X: np.zeros((2, len(X))), data, **FEW)


def test_fit_must_return_a_function() -> None:
    error = raised(lambda X, y, seed: None)
    assert "TypeError: fit must" in str(error)


@pytest.mark.parametrize("errors", ["raise", "collect"])
def test_three_failures_at_the_start_stop_the_run(errors: str) -> None:
    tried = []

    def fit(X: Any, y: Any, seed: int) -> Any:
        tried.append(seed)
        if len(tried) <= 18:  # the first three data sets
            raise RuntimeError("no")
        return lambda Z: np.zeros(len(Z))

    error = raised(fit, n_data=5, errors=errors)
    if errors == "raise":
        assert len(tried) == len(error.failures) == 3
        assert str(error).startswith("the first 3 fits failed")
        assert "RuntimeError: no" in str(error)
        return
    assert len(tried) == 5 * 6
    assert len(error.failures) == 3 * 6
    assert error.partial.design.n_data == 2
    assert str(error).startswith("18 of 30 fits failed")


def test_early_failures_stop_stored_runs(tmp_path: Path) -> None:
    error = raised(
        lambda X, y, seed: explode(), store=tmp_path / "fits.sqlite", name="mine", n_data=40
    )
    assert "the first 3 fits failed" in str(error)
    assert len(error.failures) == 3


def test_early_failures_stop_threads() -> None:
    """Fits after the first three wait until the run has stopped."""
    first = source().training(0, n_noise=1, seed=0, classes=None).y[0]
    started: list[int] = []
    stopped = threading.Event()

    def fit(X: Any, y: FloatArray, seed: int) -> Any:
        started.append(seed)
        if not np.array_equal(y, first) and not stopped.wait(120):
            stopped.set()
        return explode()

    with ThreadPoolExecutor(2) as executor:
        error = raised(fit, executor=executor, n_data=40)
        stopped.set()
    assert "the first 3 fits failed" in str(error)
    assert len(started) <= 3 + 2  # and one in each thread


def test_one_success_at_the_start_continues_the_run() -> None:
    error = raised(failing(0, 1, explode))
    assert len(error.failures) == 2


def test_sys_exit_is_a_failed_fit(tmp_path: Path) -> None:
    for options in ({}, {"store": tmp_path / "fits.sqlite", "name": "mine"}):
        error = raised(failing(1, 2, lambda: sys.exit(3)), **options)
        assert len(error.failures) == 2
        assert "sys.exit(3)" in str(error)


@pytest.mark.full  # tests/runs kills workers of other cells
def test_a_fit_that_kills_its_worker_fails_alone() -> None:
    error = raised(failing(1, 2, lambda: os._exit(1)), workers=2, n_noise=1)
    assert [failure.fit for failure in error.failures] == [FitIndex(1, 0, 2)]
    assert "1 of 12 fits failed" in str(error)
    assert error.predictions is not None
    assert np.isnan(error.predictions).sum() == 30


def test_many_failures_are_counted() -> None:
    failing_seed = init_seed(0, 0)

    def fit(X: Any, y: Any, seed: int) -> Any:
        return explode() if seed == failing_seed else random_features(X, y, seed)

    error = raised(fit, n_data=5)
    assert str(error).startswith("10 of 30 fits failed, data set 0, noise draw 0")
    assert str(error).count("out of paper") == 1
    assert str(error).count("initialization 0") == 3
    assert error.partial is None  # none of the data sets is whole


# --- classes -------------------------------------------------------------------------------------


def rare(seed: int = 0) -> dt.PoolSource:
    """A pool where training sets of one class are frequent."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 2))
    return dt.PoolSource(X, X[:, 0] > 1.2, n_samples=10, n_test=50)


def one_class(data: dt.PoolSource, seed: int) -> list[int]:
    sets = [data.training(d, n_noise=1, seed=seed, classes=None).y[0] for d in range(8)]
    return [d for d, y in enumerate(sets) if len(np.unique(y)) == 1]


@pytest.mark.parametrize("first", [True, False])
def test_training_sets_of_one_class_fail(first: bool) -> None:
    data = rare()
    seed = next(s for s in range(50) if one_class(data, s) and (0 in one_class(data, s)) == first)
    lost = one_class(data, seed)
    with pytest.raises(dt.FitError) as caught:
        dt.decompose(LogisticRegression(), data, **(FEW | {"n_data": 8, "seed": seed, "n_init": 1}))
    error = caught.value
    assert "classes" in str(error)
    assert [failure.fit.data for failure in error.failures] == lost
    assert error.partial.design.n_data == 8 - len(lost)
