"""Monte Carlo of ensembles of Gaussian-equivalent features, in plain NumPy: every scheme, by maps.

Features are Z = (μ₁ X Θᵀ/√D + μ⋆ W)/√D with Gaussian X, Θ, W, all of them in one bank of which each
member has some. Training is linear in the labels; label noise, the teacher's direction and the test
point are averaged exactly. Nothing of the package but the activation's moments is used.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doubletrouble import activation
from tests.theory.traces import FloatArray, Measured, extrapolated

IntArray = npt.NDArray[np.int_]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One problem with ReLU features, and K members of a scheme, by its command-line name."""

    scheme: str
    members: int
    fraction: float = 1.0  # of the samples
    bank: float = 1.0  # in units of a member's features
    features_per_dim: float = 1.5
    samples_per_dim: float = 1.0
    ridge: float = 1e-2
    signal: float = 1.2
    noise: float = 0.6
    time: float = 20.0  # of training, beside the end


def _choices(
    setting: Setting, n: int, p: int, rng: np.random.Generator
) -> list[tuple[FloatArray, IntArray]]:
    """Counts of each sample in a member, and the indices of its features in the bank."""
    K, result = setting.members, []
    shuffled = rng.permutation(n)
    for k in range(K):
        weights, own = np.ones(n), np.arange(k * p, (k + 1) * p)
        if setting.scheme == "divide":
            weights = np.zeros(n)
            weights[shuffled[k * n // K : (k + 1) * n // K]] = 1
        elif setting.scheme == "subsample":
            weights = np.zeros(n)
            weights[rng.permutation(n)[: round(setting.fraction * n)]] = 1
        elif setting.scheme == "bootstrap":
            weights = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
        elif setting.scheme == "feature_bank":
            own = rng.permutation(round(setting.bank * p))[:p]
        result.append((weights, own))
    return result


def draw(setting: Setting, dim: int, rng: np.random.Generator) -> dict[str, float]:
    """The test error, that at a time of training, and the training error, of one data set."""
    relu = activation("relu")
    p, n = round(setting.features_per_dim * dim), round(setting.samples_per_dim * dim)
    choices = _choices(setting, n, p, rng)
    size = 1 + max(int(own.max()) for _, own in choices)
    x, theta = rng.standard_normal((n, dim)), rng.standard_normal((size, dim))
    noise = rng.standard_normal((n, size))
    z = (relu.linear * x @ theta.T / np.sqrt(dim) + relu.nonlinear * noise) / np.sqrt(dim)
    maps = {"end": np.zeros((size, n)), "flow": np.zeros((size, n))}  # labels to weights
    for counts, own in choices:
        strength = (p / dim) * (counts.sum() / dim) * setting.ridge
        u, s, vt = np.linalg.svd(np.sqrt(counts)[:, None] * z[:, own], full_matrices=False)
        pace = s**2 + strength  # da/dt = Zᵀ (y - Z a) - strength a, from a = 0
        learned = {"end": 1 / pace, "flow": -np.expm1(-setting.time * pace) / pace}
        for name, share in learned.items():
            maps[name][own] += (vt.T * (share * s)) @ (u.T * np.sqrt(counts)) / setting.members
    F2, T2, star2 = setting.signal**2, setting.noise**2, relu.nonlinear**2 / dim
    test = {}
    for name, weights in maps.items():
        linear = relu.linear * theta.T @ weights / dim  # (D, N)
        missed = np.sum((np.eye(dim) - linear @ x) ** 2) + star2 * np.sum((weights @ x) ** 2)
        response = np.sum(linear**2) + star2 * np.sum(weights**2)
        test[name] = float(F2 / dim * missed + T2 * response)
    residual = np.eye(n) - z @ maps["end"]
    training = (F2 / dim * np.sum((residual @ x) ** 2) + T2 * np.sum(residual**2)) / n
    return {"test": test["end"], "flow": test["flow"], "training": float(training)}


def measured(setting: Setting, sizes: dict[int, int], seed: int) -> dict[str, Measured]:
    """These errors for D → ∞, from two dimensions, the second twice the first."""
    tables = []
    for dim, count in sizes.items():
        rows = [draw(setting, dim, rng) for rng in np.random.default_rng(seed).spawn(count)]
        tables.append({name: np.array([row[name] for row in rows]) for name in rows[0]})
    small, large = tables
    return {name: extrapolated(small[name], large[name]) for name in small}
