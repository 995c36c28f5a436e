"""Spectra by a law against explicit lists of their modes: speed, memory and accuracy.

The errors of a law are compared with those of its list of modes, cut at the same number; then the
memory of long lists, the compression of 10⁷ modes, a law at N = P = K = 10⁹, and one call with
bootstrap samples.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import doubletrouble as dt
from benchmarks.timing import best_time

CAPACITY, SOURCE = 1.5, 0.8
SIZES: dict[str, Any] = {"n_features": 3e3, "n_samples": 1e3, "ridge": 1e-3, "noise": 0.1}
COUNTS = (10**5, 10**6)
MANY = 10**7


def main() -> None:
    for count in COUNTS:
        _law_against_list(count)
    _huge_sizes()
    _compression()
    one = dt.Problem()
    plain = best_time(partial(dt.exact_error, one), 200)
    bootstrap = best_time(partial(dt.exact_error, one, dt.Bootstrap(10)), 200)
    print(f"one isotropic point: {plain * 1e3:.3f} ms; with bootstrap {bootstrap * 1e3:.3f} ms")


def _list_of(count: int) -> dt.SpectralProblem:
    ranks = np.arange(1.0, count + 1)
    return dt.SpectralProblem(
        eigenvalues=ranks**-CAPACITY,
        target_powers=ranks ** -(1 + 2 * CAPACITY * SOURCE),
        **SIZES,
    )


def _law_against_list(count: int) -> None:
    law = dt.SpectralProblem.power_law(capacity=CAPACITY, source=SOURCE, n_modes=count, **SIZES)
    modes = _list_of(count)
    short, long = (dt.exact_error(problem, 3) for problem in (law, modes))
    parts = ("noise", "initialization", "sampling", "bias")
    error = max(abs(getattr(short, name) / getattr(long, name) - 1) for name in parts)
    levels = np.size(law.eigenvalues)
    print(f"{count:.0e} modes as {levels} levels: parts differ by {error:.0e}")
    calls: dict[str, Callable[[dt.SpectralProblem], object]] = {
        "exact_error": partial(dt.exact_error, ensemble=3),
        "optimal_ridge": partial(dt.optimal_ridge, ensemble=3),
    }
    for name, call in calls.items():
        fast, slow = best_time(partial(call, law)), best_time(partial(call, modes), 2)
        memory = _peak(partial(call, modes))
        print(
            f"  {name:<14} {fast * 1e3:8.2f} ms against {slow * 1e3:8.1f} ms of the list "
            f"({slow / fast:.0f} times), which takes {memory:.0f} MB"
        )


def _huge_sizes() -> None:
    for ridge in (0.0, 1.0):
        law = dt.SpectralProblem.power_law(
            capacity=CAPACITY, source=SOURCE, n_features=1e9, n_samples=1e9, ridge=ridge, noise=0.1
        )
        seconds = best_time(partial(dt.exact_error, law, 1e9), 50)
        print(f"N = P = K = 1e9, ridge {ridge:g}: {seconds * 1e3:.2f} ms a point")


def _compression() -> None:
    rng = np.random.default_rng(0)
    values = np.arange(1.0, MANY + 1) ** -CAPACITY * rng.exponential(size=MANY)
    powers = values * rng.exponential(size=MANY)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    short = dt.SpectralProblem.binned(values, powers)
    seconds = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    print(
        f"{MANY:.0e} modes compressed into {np.size(short.eigenvalues)} levels in {seconds:.1f} s "
        f"with {memory:.0f} MB beyond the list; error bound {short.level_error:.0e}"
    )


def _peak(work: Callable[[], object]) -> float:
    """The most memory allocated at once, in MB."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6
