"""Speed of the theory: against np.exp on arrays, and against a literal solve of the paper's system.

The literal solve hands the two saddle-point equations of [dascoli2020] App. B to scipy, point by
point, and evaluates the two vanilla terms by the 2 x 2 Hessian of the action: less work than the
paper's six terms by 4 x 4 Hessians, so the ratio printed is a lower bound.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import root

import doubletrouble as dt
from benchmarks.timing import best_time
from doubletrouble.theory import psi_terms
from tests.oracles import replica

POINTS = 1_000_000


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, POINTS)
    exp = best_time(lambda: np.exp(x), 20)
    print(
        f"np.exp on {POINTS:.0e} floats: {exp * 1e3:.2f} ms ({exp / POINTS * 1e9:.2f} ns a point)"
    )
    for name, problem in _arrays(rng).items():
        psi = best_time(lambda p=problem: psi_terms(p))  # type: ignore[misc]
        error = best_time(lambda p=problem: dt.exact_error(p, 10))  # type: ignore[misc]
        rate = POINTS / (psi + error) / 1e6
        print(
            f"psi_terms + exact_error, {name}: {(psi + error) * 1e3:.0f} ms = "
            f"{(psi + error) / exp:.0f} x np.exp ({rate:.1f} million points a second)"
        )
    _memory(rng)
    _scalars()
    _literal()


def _arrays(rng: np.random.Generator) -> dict[str, dt.Problem]:
    def log_uniform(low: float, high: float) -> Any:
        return 10 ** rng.uniform(low, high, POINTS)

    return {
        "a curve of the paper": dt.Problem(
            features_per_dim=np.geomspace(0.1, 100, POINTS), samples_per_dim=1.0, ridge=1e-5
        ),
        "typical ranges": dt.Problem(
            features_per_dim=log_uniform(-1, 1), samples_per_dim=log_uniform(-1, 1),
            ridge=log_uniform(-8, 1),
        ),
        "the widest ranges": dt.Problem(
            features_per_dim=log_uniform(-4, 4), samples_per_dim=log_uniform(-4, 4),
            ridge=log_uniform(-300, 6), noise=log_uniform(-1, 1),
        ),
    }  # fmt: skip


def _memory(rng: np.random.Generator) -> None:
    problem = _arrays(rng)["typical ranges"]
    tracemalloc.start()
    terms = dt.exact_error(problem)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    results = sum(np.asarray(v).nbytes for v in vars(terms).values())
    print(
        f"peak memory beyond the {results / 1e6:.0f} MB of results: {(peak - results) / 1e6:.1f} MB"
    )


def _scalars() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
    calls: dict[str, Callable[[], object]] = {
        "psi_terms(problem)": lambda: psi_terms(problem),
        "exact_error(problem, 10)": lambda: dt.exact_error(problem, 10),
        "Problem(...) and exact_error": lambda: dt.exact_error(dt.Problem(ridge=1e-5), 10),
        "exact_error(problem, Bootstrap(10))": lambda: dt.exact_error(problem, dt.Bootstrap(10)),
        "optimal_ridge(problem)": lambda: dt.optimal_ridge(problem),
    }
    for name, call in calls.items():
        print(f"{name}: {best_time(lambda c=call: [c() for _ in range(100)]) * 1e4:.0f} µs")  # type: ignore[misc]


def _literal() -> None:
    ratios = np.geomspace(0.1, 10, 200)
    problem = dt.Problem(features_per_dim=ratios, samples_per_dim=1.0, ridge=1e-5)
    moments = problem.moments
    literal = best_time(
        lambda: [_literal_terms(r, 1.0, 1e-5, moments.linear, moments.nonlinear) for r in ratios], 2
    )
    ours = best_time(lambda: psi_terms(problem), 20)
    route = best_time(lambda: replica.psi_terms(dt.Problem(ridge=1e-5)), 2)
    psi3 = [_literal_terms(r, 1.0, 1e-5, moments.linear, moments.nonlinear)[1] for r in ratios]
    off = np.max(np.abs(np.divide(psi3, psi_terms(problem).psi3_vanilla) - 1))
    print(
        f"200 values of P/D: literal scipy solve {literal * 1e3:.0f} ms (two terms, off by "
        f"{off:.0e}), psi_terms {ours * 1e3:.2f} ms (seven terms): {literal / ours:.0f} x"
    )
    print(f"replica route at full precision: {route * 1e3:.0f} ms a point")


def _literal_terms(
    psi1: float, psi2: float, lam: float, mu1: float, star: float
) -> tuple[float, float]:
    """Ψ₂ᵛ and Ψ₃ᵛ by scipy's solver on the gradient of S₀, and its Hessian."""

    def gradient(logs: Any) -> list[float]:
        q, r = np.exp(logs)
        whole = 1 + psi1 * (mu1**2 * r + star**2 * q)
        f = lam * psi1**2 * psi2 + psi2 * psi1 * star**2 / whole + (1 - psi1) / q - r / q**2
        g = psi2 * psi1 * mu1**2 / whole + 1 / q - 1 / r
        return [q * f, r * g]

    start, ridge = np.log([1.0, 0.9]) - np.log(psi1 * psi2 * 100.0), 100.0
    target, lam = lam, ridge
    while True:  # the solver needs a good start: lower λ by decades
        start = root(gradient, start, tol=1e-14).x
        if lam <= target:
            break
        lam = max(lam / 10, target)
    q, r = np.exp(start)
    whole = 1 + psi1 * (mu1**2 * r + star**2 * q)
    bend = psi2 * psi1**2 / whole**2
    hessian = np.array([
        [-bend * star**4 - (1 - psi1) / q**2 + 2 * r / q**3, -bend * star**2 * mu1**2 - 1 / q**2],
        [-bend * star**2 * mu1**2 - 1 / q**2, -bend * mu1**4 + 1 / r**2],
    ])  # fmt: skip
    v, s = np.array([star**2, mu1**2]), 1 - r / q
    psi3 = psi1**2 * psi2 / whole**2 * v @ np.linalg.solve(hessian, v)
    more = psi1**2 * psi2**2 * mu1**2 / whole**2 * v @ np.linalg.solve(hessian, [0.0, 1.0])
    return float((1 - 2 * s) * psi3 + more), float(psi3)


if __name__ == "__main__":
    main()
