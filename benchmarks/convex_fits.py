"""Fits with convex losses: time against scikit-learn's solvers, and against a linear solve."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from benchmarks.timing import best_time
from doubletrouble.convex import LinearFit, LinearModel
from doubletrouble.parameters import FloatArray

DIM = 500
RIDGES = (1e-5, 1e-3)
LOSSES = ("logistic", "hinge", "squared_hinge", "max_margin", "huber", "absolute", "quantile")


def problem(n: int, p: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centred ReLU features, signs of a linear teacher with 10% flipped, and noisy values."""
    rng = np.random.default_rng(seed)
    x, theta = rng.standard_normal((n, DIM)), rng.standard_normal((p, DIM))
    phi = np.maximum(x @ theta.T / np.sqrt(DIM), 0) - 1 / np.sqrt(2 * np.pi)
    signs = np.where((x[:, 0] > 0) != (rng.random(n) < 0.1), 1.0, -1.0)
    return phi, signs, x[:, 0] + 0.5 * rng.standard_normal(n)


def fit(phi: FloatArray, y: FloatArray, loss: str, alpha: float) -> LinearFit:
    return LinearModel(phi).fit(y, loss, alpha)


def main() -> None:
    for n, p in ((1000, 1000), (1000, 2000)):
        phi, signs, values = problem(n, p)
        gram = phi @ phi.T + np.eye(n)
        solve = best_time(partial(np.linalg.solve, gram, signs), repeats=3)
        print(f"N = {n}, P = {p}: one linear solve takes {solve * 1e3:.0f} ms")
        for ridge in RIDGES:
            alpha = n * p * ridge / DIM
            for name in LOSSES:
                y = signs if name in LOSSES[:4] else values
                gap = fit(phi, y, name, alpha).gap
                time = best_time(partial(fit, phi, y, name, alpha), repeats=2)
                print(f"  {name:<14} λ = {ridge:g}: {time:6.3f} s, gap {gap:.1e}")
            others: dict[str, Any] = {
                "LogisticRegression": LogisticRegression(C=1 / alpha, tol=1e-6, max_iter=10**4),
                "SVC": SVC(kernel="linear", C=1 / alpha, tol=1e-6),
            }
            for name, other in others.items():
                time = best_time(partial(other.fit, phi, signs), repeats=1)
                print(f"  {name} of scikit-learn, tol 1e-6: {time:6.3f} s")


if __name__ == "__main__":
    main()
