"""Power laws beside methods that sum over a list of modes, and the frontier of compute.

Three literal methods solve for the effective ridge of one model on a list of modes, each the method
of a published code: two unknowns by `scipy.optimize.root` (Simon et al., arXiv:2311.14646), one
unknown by bracketing (Ruben et al., arXiv:2412.05418), and a damped iteration (Loureiro et al.,
arXiv:2102.08127). They return the total error of one model; ours splits it by cause. The list is
cut off, which is an error of its own once the sizes come near its length.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, root

import doubletrouble as dt
from benchmarks.timing import best_time

ALPHA, SOURCE, NOISE = 1.5, 0.8, 0.1
LENGTHS = (10**4, 10**5, 10**6)
SIZES = ((2e3, 1e3), (5e4, 2e5))  # P, N
LARGE = 1e9


class Modes(NamedTuple):
    """A list of eigenvalues and target powers."""

    levels: Any
    powers: Any


def main() -> None:
    law = dt.SpectralProblem.power_law(
        capacity=ALPHA, source=SOURCE, n_features=1.0, n_samples=1.0, noise=NOISE
    )
    for P, N in SIZES:
        ridge = 1e-3 * N
        here = replace(law, n_features=P, n_samples=N, ridge=ridge)
        exact = float(dt.exact_error(here).total)
        ours = best_time(lambda problem=here: dt.exact_error(problem), 20)  # type: ignore[misc]
        print(f"P = {P:g}, N = {N:g}: law of infinitely many modes {ours * 1e3:.2f} ms")
        for length in LENGTHS:
            ranks = np.arange(1.0, length + 1)
            modes = Modes(ranks**-ALPHA, ranks ** -(1 + 2 * ALPHA * SOURCE))
            listed = dt.SpectralProblem(
                eigenvalues=modes.levels, target_powers=modes.powers, n_features=P, n_samples=N,
                ridge=ridge, noise=NOISE,
            )  # fmt: skip
            methods: dict[str, Any] = {
                "exact_error of the list": lambda p=listed: float(dt.exact_error(p).total),
                "two unknowns": lambda m=modes, s=(P, N, ridge): two_unknowns(m, *s),
                "one unknown": lambda m=modes, s=(P, N, ridge): one_unknown(m, *s),
                "damped iteration": lambda m=modes, s=(P, N, ridge): damped(m, *s),
            }
            for name, method in methods.items():
                off = method() / exact - 1
                seconds = best_time(method, 2)
                print(
                    f"  {length:>8} modes, {name:<24} {seconds * 1e3:9.2f} ms: "
                    f"{seconds / ours:7.0f} x the law; off by {off:.1e}"
                )
    many = replace(law, n_features=LARGE, n_samples=LARGE)
    seconds = best_time(lambda: dt.exact_error(many, LARGE), 20)
    print(f"P = N = K = {LARGE:g}: {seconds * 1e3:.2f} ms, by cause")
    compute = np.geomspace(1e12, 1e24, 25)
    seconds = best_time(lambda: dt.scaling_frontier(law, compute), 2)
    print(f"scaling_frontier, 25 budgets: {seconds:.2f} s")
    sizes = np.geomspace(1e2, 1e12, 100)
    grid = replace(law, n_features=sizes, n_samples=sizes[:, None])
    seconds = best_time(lambda: dt.exponents(grid), 1) / grid.shape[0] / grid.shape[1]
    print(f"exponents, 100 x 100 sizes: {seconds * 1e3:.3f} ms a point")


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
    gamma, change = 1.0, 1.0
    while change > 1e-10:
        z = float(np.sum(modes.levels / (modes.levels + gamma)))
        used = max((1 - z / P) * (1 - z / N), 1e-3) if z < min(P, N) else 1e-3
        new = 0.5 * gamma + 0.5 * ridge / N / used
        change, gamma = abs(new / gamma - 1), new
    return risk(modes, gamma, P, N)
