r"""Variance over initializations of lazy two-layer networks: a forecast by blocks of features.

A lazy network is ridge regression on its tangent features. Those of neuron h,

    Φ_h(x) = (σ(θ_h·x/√D), a_h σ'(θ_h·x/√D) x/√D),

share the weights θ_h and a_h: they come in blocks of D + 1, and the formula for independent
features does not hold with any number of them. With the resolvent of w neurons,
R = (δ + Σ_h Φ_h Φ_hᵀ/w)⁻¹, removing one neuron at a time gives its deterministic equivalent G, the
mean prediction and the variance over initializations:

    G = (δ + E[Φ_h B_h⁻¹ Φ_hᵀ])⁻¹,        B_h = 1 + Φ_hᵀ G Φ_h/w
    mean f(x) = p_xᵀ y,        p_x = G E[Φ_h B_h⁻¹ Φ_h(x)]
    Y = G (y yᵀ + E[Φ_h B_h⁻¹ Φ_hᵀ Y Φ_h B_h⁻¹ Φ_hᵀ]/w) G        (equivalent of R y yᵀ R)
    Var f(x) = E[r_hᵀ B_h⁻¹ Φ_hᵀ Y Φ_h B_h⁻¹ r_h]/w,        r_h = Φ_h(x) - Φ_hᵀ p_x

with averages over a sample of neurons. Beside it are drawn networks and the formula for
independent features, with (D + 1) w of them.
"""

import math
import time
from typing import NamedTuple

import numpy as np

import doubletrouble as dt
from doubletrouble.parameters import FloatArray

ROWS, TEST_ROWS, NEURONS = 150, 300, 1600  # of the sample that averages are taken over
WIDTHS, RIDGES = (30, 100, 300, 1000), (1e-3, 1e-1)
NETWORKS = 40  # drawn at each width
_TOLERANCE, _STEPS = 1e-4, 300


class Spread(NamedTuple):
    """The error of infinitely many networks averaged, and the variance of one."""

    error: float
    variance: float


def blocks(x: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Tangent features of `count` ReLU neurons at all rows, (count, n, D + 1)."""
    dim = x.shape[1]
    theta, outer = rng.standard_normal((count, dim)), rng.standard_normal(count)
    u = theta @ x.T / math.sqrt(dim)  # (count, n)
    inner = (outer[:, None] * (u > 0))[:, :, None] * x / math.sqrt(dim)
    return np.concatenate([np.maximum(u, 0.0)[:, :, None], inner], axis=2)


def drawn(
    x: FloatArray, y: FloatArray, n: int, width: int, ridge: float, rng: np.random.Generator
) -> Spread:
    """The spread of drawn networks, trained on the first n rows."""
    predictions = []
    for _ in range(NETWORKS):
        features = blocks(x, width, rng).transpose(1, 0, 2).reshape(len(x), -1) / math.sqrt(width)
        train, test = features[:n], features[n:]
        weights = np.linalg.solve(train @ train.T + ridge * np.eye(n), y[:n])
        predictions.append(test @ (train.T @ weights))
    spread = float(np.var(predictions, axis=0, ddof=1).mean())
    error = np.square(y[n:] - np.mean(predictions, axis=0)).mean()
    return Spread(float(error) - spread / NETWORKS, spread)


def by_blocks(
    x: FloatArray, y: FloatArray, n: int, width: int, ridge: float, rng: np.random.Generator
) -> Spread:
    """The spread by the deterministic equivalent of blocks."""
    sample = blocks(x, NEURONS, rng)
    train, test = sample[:, :n], sample[:, n:]
    one = np.eye(train.shape[2])
    G = np.linalg.inv(ridge * np.eye(n) + np.einsum("hni,hmi->nm", train, train) / NEURONS)
    for _ in range(_STEPS):
        shrunk = train @ np.linalg.inv(one + train.transpose(0, 2, 1) @ (G @ train) / width)
        kernel = np.einsum("hni,hmi->nm", shrunk, train, optimize=True) / NEURONS
        new = np.linalg.inv(ridge * np.eye(n) + kernel)
        change, G = np.abs(new - G).max() / np.abs(new).max(), 0.5 * (G + new)
        if change < _TOLERANCE:
            break
    else:
        raise RuntimeError(f"no fixed point in {_STEPS} steps, last change {change:.1e}")
    p = np.einsum("hmi,hni->mn", test, shrunk, optimize=True) @ G / NEURONS
    labels = np.outer(y[:n], y[:n])
    Y = G @ labels @ G
    for _ in range(_STEPS):
        energy = shrunk.transpose(0, 2, 1) @ (Y @ shrunk)  # B⁻¹ Φᵀ Y Φ B⁻¹, (H, D + 1, D + 1)
        source = np.einsum("hni,hmi->nm", train @ energy, train, optimize=True)
        new = G @ (labels + source / (NEURONS * width)) @ G
        change, Y = np.abs(new - Y).max() / np.abs(new).max(), new
        if change < _TOLERANCE:
            break
    else:
        raise RuntimeError(f"no fixed point in {_STEPS} steps, last change {change:.1e}")
    rest = test - p @ train
    energy = shrunk.transpose(0, 2, 1) @ (Y @ shrunk)
    variance = np.einsum("hmi,hmi->m", rest @ energy, rest) / (NEURONS * width)
    return Spread(float(np.square(y[n:] - p @ y[:n]).mean()), float(variance.mean()))


def by_single_features(
    x: FloatArray, y: FloatArray, n: int, width: int, ridge: float, rng: np.random.Generator
) -> Spread:
    """The spread if the (D + 1) w features were independent, on the same rows by `forecast`."""
    sample = blocks(x, 4 * NEURONS, rng).transpose(1, 0, 2).reshape(len(x), -1)
    gram = sample[:n] @ sample[:n].T / (4 * NEURONS)
    f = dt.forecast(None, y[:n], kernel=gram, dim=float(n), fit_intercept=False, check=False)
    features = width * (x.shape[1] + 1)
    model = {"n_features": features, "ridge": ridge}
    one, many = (float(f.error(**model, ensemble=K).total) for K in (1, math.inf))
    return Spread(many, one - many)


def main() -> None:
    """Print the table."""
    data = dt.load_data("digits", pca=10, n_samples=ROWS, n_test=TEST_ROWS)
    x, y = np.concatenate([data.x_train, data.x_test]), np.concatenate([data.y_train, data.y_test])
    print(f"{ROWS} digits in 10 components, parity; error of the mean / variance of one network")
    print(f"{'width':>6} {'ridge':>6} {'drawn':>15} {'blocks':>15} {'independent':>15}   s")
    for width in WIDTHS:
        for ridge in RIDGES:
            started = time.perf_counter()
            cells = [
                method(x, y, ROWS, width, ridge, np.random.default_rng(seed))
                for seed, method in enumerate((drawn, by_blocks, by_single_features))
            ]
            shown = " ".join(f"{one.error:>7.3f} {one.variance:7.4f}" for one in cells)
            print(f"{width:>6} {ridge:>6g} {shown} {time.perf_counter() - started:>4.0f}")


if __name__ == "__main__":
    main()
