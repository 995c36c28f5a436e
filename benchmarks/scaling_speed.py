"""Spectra given by a law beside lists of their modes, and the frontier of compute.

A law is compared with the list of its first modes: as a law that ends there, which must agree with
the list, and as one that does not end, from which the list is off once the sizes come near its
length. On the list three literal methods solve for the effective ridge of one model, each the
method of a published code: two unknowns by `scipy.optimize.root` (Simon et al., arXiv:2311.14646),
one unknown by bracketing (Ruben et al., arXiv:2412.05418), and a damped iteration (Loureiro et al.,
arXiv:2102.08127). They return the total error of one model; ours splits it by cause.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import resource
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, root

import doubletrouble as dt
from benchmarks.timing import best_time

ALPHA, SOURCE, NOISE = 1.5, 0.8, 0.1
LENGTHS = (10**4, 10**5, 10**6)
SIZES = ((2e3, 1e3), (5e4, 2e5))  # P, N
LARGE = 1e9
MANY = 10**7
MAX_STEPS = 10_000  # of the damped iteration
PARTS = ("noise", "initialization", "sampling", "bias")


class Modes(NamedTuple):
    """A list of eigenvalues and target powers."""

    levels: Any
    powers: Any


def main() -> None:
    for P, N in SIZES:
        _beside_lists(P, N)
    for length in LENGTHS[1:]:
        _long_list(length)
    _compression()
    _large_sizes()


def law_of(n_modes: float = math.inf, **sizes: Any) -> dt.SpectralProblem:
    """The problem of the power law."""
    return dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=ALPHA, source=SOURCE, n_modes=n_modes), noise=NOISE, **sizes
    )


def modes_of(length: int) -> Modes:
    """The list of the first modes of the power law."""
    ranks = np.arange(1.0, length + 1)
    return Modes(ranks**-ALPHA, ranks ** -(1 + 2 * ALPHA * SOURCE))


def list_of(modes: Modes, **sizes: Any) -> dt.SpectralProblem:
    """The problem of a list of modes."""
    return dt.SpectralProblem(
        eigenvalues=modes.levels, target_powers=modes.powers, noise=NOISE, **sizes
    )


# --- laws and lists ------------------------------------------------------------------------------


def _beside_lists(P: float, N: float) -> None:
    """Time methods on lists of several lengths, and compare them with the law that does not end."""
    ridge = 1e-3 * N
    sizes: dict[str, Any] = {"n_features": P, "n_samples": N, "gram_ridge": ridge}
    law = law_of(**sizes)
    exact = float(dt.exact_error(law).total)
    ours = best_time(partial(dt.exact_error, law), 20)
    print(f"P = {P:g}, N = {N:g}: law of infinitely many modes {ours * 1e3:.2f} ms")
    for length in LENGTHS:
        modes = modes_of(length)
        listed = list_of(modes, **sizes)
        methods: dict[str, Callable[[], float]] = {
            "exact_error of the list": lambda p=listed: float(dt.exact_error(p).total),  # type: ignore[misc]
            "two unknowns": partial(two_unknowns, modes, P, N, ridge),
            "one unknown": partial(one_unknown, modes, P, N, ridge),
            "damped iteration": partial(damped, modes, P, N, ridge),
        }
        for name, method in methods.items():
            off = method() / exact - 1
            seconds = best_time(method, 7)
            print(
                f"  {length:>8} modes, {name:<24} {seconds * 1e3:9.2f} ms: "
                f"{seconds / ours:7.1f} x the law; off by {off:.1e}"
            )


def _long_list(length: int) -> None:
    """Compare a law that ends with its list: deviation of the parts, time and memory."""
    sizes: dict[str, Any] = {"n_features": 3e3, "n_samples": 1e3, "gram_ridge": 1e-3}
    law, listed = law_of(length, **sizes), list_of(modes_of(length), **sizes)
    short, long = (dt.exact_error(problem, 3) for problem in (law, listed))
    error = max(abs(getattr(short, name) / getattr(long, name) - 1) for name in PARTS)
    print(f"{length:.0e} modes as {np.size(law.eigenvalues)} levels: parts differ by {error:.0e}")
    calls: tuple[Any, ...] = (dt.exact_error, dt.optimal_ridge)
    for call in calls:
        fast, slow = best_time(partial(call, law, 3)), best_time(partial(call, listed, 3), 2)
        memory = _peak(partial(call, listed, 3))
        print(
            f"  {call.__name__:<14} {fast * 1e3:8.2f} ms against {slow * 1e3:8.1f} ms of the list "
            f"({slow / fast:.0f} x), which takes {memory:.0f} MB"
        )


def _compression() -> None:
    rng = np.random.default_rng(0)
    values = np.arange(1.0, MANY + 1) ** -ALPHA * rng.exponential(size=MANY)
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


# --- large sizes ---------------------------------------------------------------------------------


def _large_sizes() -> None:
    """Time one point at 10⁹, exponents over a grid, and a frontier."""
    law = law_of(n_features=LARGE, n_samples=LARGE)
    for ridge in (0.0, 1.0):
        seconds = best_time(partial(dt.exact_error, replace(law, gram_ridge=ridge), LARGE), 50)
        print(
            f"P = N = K = {LARGE:g}, gram_ridge {ridge:g}: {seconds * 1e3:.2f} ms a point, by cause"
        )
    sizes = np.geomspace(1e2, 1e12, 100)
    grid = replace(law, n_features=sizes, n_samples=sizes[:, None])
    seconds = best_time(partial(dt.exponents, grid), 1) / math.prod(grid.shape)
    print(f"exponents, 100 x 100 sizes: {seconds * 1e3:.3f} ms a point")
    compute = np.geomspace(1e12, 1e24, 25)
    seconds = best_time(partial(dt.scaling_frontier, law, compute), 2)
    print(f"scaling_frontier, {compute.size} budgets: {seconds:.2f} s")


# --- literal methods -----------------------------------------------------------------------------


def risk(modes: Modes, gamma: float, P: float, N: float) -> float:
    """The total error of one model at the effective ridge γ."""
    L = modes.levels / (modes.levels + gamma)
    z, Q = np.sum(L), np.sum(L * L)
    rho, chi = np.sum(modes.powers * (1 - L) ** 2), np.sum(modes.powers * L * (1 - L))
    spread = 1 - Q / P
    T = (Q + (z - Q) ** 2 / P / spread) / N
    S = rho + chi * (z - Q) / P / spread
    return float((S + NOISE**2 * T) / (1 - T))


def two_unknowns(modes: Modes, P: float, N: float, ridge: float) -> float:
    """Solve N = z(γ) + δ/κ and P = z(γ) + P κ/γ for log κ and log γ with a general solver."""

    def equations(x: Any) -> Any:
        kappa, gamma = np.exp(x)
        z = np.sum(modes.levels / (modes.levels + gamma))
        return [(z + ridge / kappa) / N - 1, (z + P * kappa / gamma) / P - 1]

    start = math.log(min(P, N) ** -ALPHA)
    solution = root(equations, [start, start], tol=1e-12)
    return risk(modes, float(np.exp(solution.x[1])), P, N)


def one_unknown(modes: Modes, P: float, N: float, ridge: float) -> float:
    """(1 - z/P)(1 - z/N) γ = δ/N, by bracketing in log γ."""

    def excess(x: float) -> float:
        gamma = math.exp(x)
        z = float(np.sum(modes.levels / (modes.levels + gamma)))
        if z >= min(P, N):
            return -1.0
        return math.log((1 - z / P) * (1 - z / N) * gamma) - math.log(ridge / N)

    return risk(modes, math.exp(brentq(excess, -60.0, 5.0, xtol=1e-12)), P, N)


def damped(modes: Modes, P: float, N: float, ridge: float) -> float:
    """γ ← δ/N / ((1 - z/P)(1 - z/N)), halfway, until it does not move by 1e-10."""
    gamma = 1.0
    for _ in range(MAX_STEPS):
        z = float(np.sum(modes.levels / (modes.levels + gamma)))
        used = max((1 - z / P) * (1 - z / N), 1e-3) if z < min(P, N) else 1e-3
        new = 0.5 * gamma + 0.5 * ridge / N / used
        change, gamma = abs(new / gamma - 1), new
        if change <= 1e-10:
            return risk(modes, gamma, P, N)
    raise RuntimeError(f"no fixed point in {MAX_STEPS} steps, last change {change:.1e}")
