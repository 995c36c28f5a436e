"""Fits by executors: equal bits, and warnings of all fits."""

import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.learners._fitting import FitWarning, summarized_warnings
from tests.learners.known import FEW, pool, random_features, source


def test_executors_of_the_user_stay_open() -> None:
    here = dt.decompose(random_features, source(), **FEW)
    with ThreadPoolExecutor(3) as executor:
        there = dt.decompose(random_features, source(), executor=executor, **FEW)
        assert executor.submit(int, "3").result() == 3
    np.testing.assert_array_equal(here.predictions, there.predictions)
    assert here.error().parts == there.error().parts


def test_processes_have_the_results_of_one() -> None:
    def fit(X: Any, y: Any, seed: int) -> Any:  # not in a module
        return random_features(X, 2 * y, seed)

    X, y = pool(150, noise=0.5)
    data = dt.PoolSource(X, y, n_samples=20, noise=0.5, n_test=30)
    here = dt.decompose(fit, data, **FEW)
    there = dt.decompose(fit, data, workers=2, **FEW)
    np.testing.assert_array_equal(here.predictions, there.predictions)
    assert here.error().parts == there.error().parts
    assert here.notes == there.notes


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
    source = dt.GeneratorSource(sample, n_samples=20, noise=0.5, n_test=30)
    few = {"n_data": 3, "n_init": 2, "progress": False}
    here, there = dt.decompose(fit, source, **few), dt.decompose(fit, source, workers=2, **few)
    assert np.array_equal(here.predictions, there.predictions)
    print("the same")

"""


@pytest.mark.parametrize(
    ("guard", "is_file"),
    [
        ("", True),
        pytest.param("if __name__ == '__main__':\n    ", True, marks=pytest.mark.full),
        pytest.param("", False, marks=pytest.mark.full),  # as in an interactive session
    ],
)
def test_functions_of_the_main_module_are_sent_to_processes(
    guard: str, is_file: bool, tmp_path: Path
) -> None:
    script, file = f"{SCRIPT}{guard}main()\n", tmp_path / "script.py"
    file.write_text(script)
    words = [sys.executable, *([str(file)] if is_file else ["-c", script])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "the same\n", done.stderr


@pytest.mark.parametrize("threads", [0, 2])
def test_each_worker_draws_a_training_set_once(threads: int) -> None:
    drawn: list[bytes] = []
    lock = threading.Lock()

    def sample(rng: np.random.Generator, n: int) -> Any:
        X = rng.standard_normal((n, 3))
        with lock:
            drawn.append(X.tobytes())
        return X, X[:, 0]

    data = dt.GeneratorSource(sample, n_samples=20, noise=0.5, n_test=30)
    with ThreadPoolExecutor(2) as executor:
        dt.decompose(random_features, data, executor=executor if threads else None, **FEW)
    counted = list(drawn)
    for number in range(1, 4):  # the first one is also drawn to identify the source
        X = data.training(number, n_noise=1, seed=0, classes=None).X
        assert 1 <= counted.count(X.tobytes()) <= max(1, threads)


def test_threads_do_not_reuse_training_sets_of_another_run() -> None:
    one = FEW | {"n_data": 1}
    with ThreadPoolExecutor(1) as executor:
        for data in (source(), source(noise=1.0)):
            there = dt.decompose(random_features, data, executor=executor, **one)
            here = dt.decompose(random_features, data, **one)
            np.testing.assert_array_equal(here.predictions, there.predictions)


def test_warnings_of_sample_are_those_of_every_fit_on_it() -> None:
    def sample(rng: np.random.Generator, n: int) -> Any:
        warnings.warn("slow sampler", RuntimeWarning, stacklevel=1)
        X = rng.standard_normal((n, 3))
        return X, X[:, 0]

    data = dt.GeneratorSource(sample, n_samples=20, noise=0.5, n_test=30)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.warns() as caught:
            dt.decompose(random_features, data, **FEW)
    shown = [str(warning.message) for warning in caught]
    assert "24 of 24 fits warned: RuntimeWarning: slow sampler" in shown


# --- warnings ------------------------------------------------------------------------------------


def not_converged(X: Any, y: Any, seed: int) -> Any:
    warnings.warn("not converged", RuntimeWarning, stacklevel=1)
    return random_features(X, y, seed)


WARNED = "24 of 24 fits warned: RuntimeWarning: not converged"


@pytest.mark.parametrize("workers", [1, 2])
def test_warnings_of_all_fits_are_summarized(workers: int, tmp_path: Path) -> None:
    store = tmp_path / "fits.sqlite" if workers > 1 else None
    for _ in range(2):  # with a store, the second time from it
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = dt.decompose(not_converged, source(), workers=workers, store=store, **FEW)
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
    assert message.startswith("160 of 160 fits warned: UserWarning: often (")
    counts = [int(count) for count in re.findall(r"\((\d+) fits\)", message)]
    assert len(counts) == 3
    assert counts == sorted(counts, reverse=True)
    assert message.endswith("; and 2 other warnings")


def test_warnings_are_counted_by_text() -> None:
    texts = [["not converged."], ["not converged.", "ill-conditioned"], ["ill-conditioned"], []]
    warned = [[FitWarning("UserWarning", text) for text in some] for some in (*texts, texts[0])]
    assert summarized_warnings(warned) == (
        "4 of 5 fits warned: UserWarning: not converged (3 fits); "
        "UserWarning: ill-conditioned (2 fits)"
    )
    assert summarized_warnings(warned[:1]) == "1 of 1 fits warned: UserWarning: not converged"


def test_warnings_that_are_ignored_are_not_reported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = dt.decompose(not_converged, source(), **FEW)
    assert not any("warned" in note for note in result.notes)


def test_threads_leave_the_filters_of_warnings_unchanged() -> None:
    """Filters belong to the process; each fit ends after the next one has begun."""
    begun, turn = 0, threading.Condition()

    def overlapping(X: Any, y: Any, seed: int) -> Any:
        nonlocal begun
        with turn:
            begun += 1
            mine = begun
            turn.notify_all()
            turn.wait_for(lambda: begun > mine or mine == 24, timeout=120)
        return not_converged(X, y, seed)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        before = list(warnings.filters)
        with ThreadPoolExecutor(2) as executor:
            dt.decompose(overlapping, source(), executor=executor, **FEW)
        assert warnings.filters == before
        with pytest.warns(UserWarning, match="shown"):
            warnings.warn("shown", UserWarning, stacklevel=1)
