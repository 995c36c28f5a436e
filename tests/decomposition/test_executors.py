"""Fits elsewhere: the same to the last bit."""

import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.decomposition.known import FEW, pool, random_features, source


def test_threads() -> None:
    here = dt.decompose(random_features, source(), **FEW)
    with ThreadPoolExecutor(3) as executor:
        there = dt.decompose(random_features, source(), executor=executor, **FEW)
        assert executor.submit(int, "3").result() == 3  # it is not ours to stop
    np.testing.assert_array_equal(here.predictions, there.predictions)
    assert here.error().parts == there.error().parts


def test_processes() -> None:
    X, y = pool(150, noise=0.5)
    data = dt.PoolSource(X, y, n_train=20, noise=0.5, n_test=30)
    here = dt.decompose(random_features, data, **FEW)
    there = dt.decompose(random_features, data, workers=2, **FEW)
    np.testing.assert_array_equal(here.predictions, there.predictions)
    assert here.error().parts == there.error().parts
    assert here.notes == there.notes


def test_processes_fit_functions_defined_here() -> None:
    def fit(X: Any, y: Any, seed: int) -> Any:
        return random_features(X, 2 * y, seed)

    here = dt.decompose(fit, source(), **FEW)
    there = dt.decompose(fit, source(), workers=2, **FEW)
    np.testing.assert_array_equal(here.predictions, there.predictions)


SCRIPT = """
import numpy as np
import doubletrouble as dt

def sample(rng, n):
    X = rng.standard_normal((n, 3))
    return X, X[:, 0]

def fit(X, y, seed):
    F = np.random.default_rng(seed).standard_normal((3, 8))
    w = np.linalg.lstsq(np.tanh(X @ F), y, rcond=None)[0]
    return lambda X: np.tanh(X @ F) @ w

def main():
    source = dt.GeneratorSource(sample, n_train=20, noise=0.5, n_test=30)
    few = {"n_data": 3, "n_init": 2, "progress": False}
    here, there = dt.decompose(fit, source, **few), dt.decompose(fit, source, workers=2, **few)
    assert np.array_equal(here.predictions, there.predictions)
    print("the same")

"""


def ran(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "script.py"
    file.write_text(script)
    words = [sys.executable, str(file)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("guard", ["", "if __name__ == '__main__':\n    "])
def test_functions_of_a_script_are_sent_to_processes(guard: str, tmp_path: Path) -> None:
    done = ran(f"{SCRIPT}{guard}main()\n", tmp_path)
    assert done.stdout == "the same\n", done.stderr


def test_functions_defined_interactively_are_sent_to_processes() -> None:
    words = [sys.executable, "-c", f"{SCRIPT}main()"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "the same\n", done.stderr


def test_fits_by_data_sets_draw_each_once() -> None:
    drawn: list[bytes] = []
    lock = threading.Lock()

    def sample(rng: np.random.Generator, n: int) -> Any:
        X = rng.standard_normal((n, 3))
        with lock:
            drawn.append(X.tobytes())
        return X, X[:, 0]

    data = dt.GeneratorSource(sample, n_train=20, noise=0.5, n_test=30)
    with ThreadPoolExecutor(2) as executor:
        dt.decompose(random_features, data, executor=executor, **FEW)
    counted = list(drawn)
    for number in range(1, 4):  # the first fits are a cell of their own
        assert (
            counted.count(data.training(number, n_noise=1, seed=0, classes=None).X.tobytes()) == 1
        )


# --- warnings ------------------------------------------------------------------------------------


def slow_and_loud(X: Any, y: Any, seed: int) -> Any:
    warnings.warn("not converged", RuntimeWarning, stacklevel=1)
    time.sleep(0.001 * (seed % 7))
    return random_features(X, y, seed)


WARNED = "24 of 24 fits warned: RuntimeWarning: not converged"


@pytest.mark.parametrize("workers", [None, 2])
def test_warnings_of_all_fits_are_summarized(workers: int | None, tmp_path: Path) -> None:
    store = tmp_path / "fits.sqlite" if workers else None
    for _ in range(2):  # with a store, the second time from it
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = dt.decompose(slow_and_loud, source(), workers=workers, store=store, **FEW)
        assert [str(warning.message) for warning in caught] == [WARNED]
        assert caught[0].filename == __file__
        assert result.notes[-1] == f"{WARNED}."


def sometimes(X: Any, y: Any, seed: int) -> Any:
    category = (UserWarning, RuntimeWarning, FutureWarning, BytesWarning)[seed % 4]
    warnings.warn(f"{category.__name__} of a fit", category, stacklevel=1)
    if seed % 4:
        warnings.warn("often", UserWarning, stacklevel=1)
    return random_features(X, y, seed)


def test_the_most_frequent_warnings_come_first() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.warns(UserWarning, match="fits warned") as caught:
            dt.decompose(sometimes, source(), **(FEW | {"n_init": 20}))
    message = str(caught[0].message)
    assert message.startswith("160 of 160 fits warned: UserWarning: ")
    assert "(160 fits); " in message
    assert message.endswith("; and 1 more categories")


def test_warnings_that_are_ignored_are_not_reported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = dt.decompose(slow_and_loud, source(), **FEW)
    assert not any("warned" in note for note in result.notes)


def test_threads_leave_the_filters_of_warnings_as_they_were() -> None:
    """Filters belong to the process: fits that end in another order must not mix them up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        before = list(warnings.filters)
        with ThreadPoolExecutor(4) as executor:
            dt.decompose(slow_and_loud, source(), executor=executor, **(FEW | {"n_data": 12}))
        assert warnings.filters == before
        with pytest.warns(UserWarning, match="still heard"):
            warnings.warn("still heard", UserWarning, stacklevel=1)
