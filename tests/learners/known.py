"""Samples and learners whose parts are known, in a module that worker processes can import."""

from collections.abc import Callable
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.parameters import FloatArray

DIM = 3
Predict = Callable[[FloatArray], FloatArray]
FEW: dict[str, Any] = {"n_data": 4, "n_init": 3, "n_noise": 2, "progress": False}


def linear(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Labels that least squares can learn."""
    X = rng.standard_normal((n, DIM))
    return X, X @ np.arange(1.0, DIM + 1)


def curved(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Labels that least squares can learn in part."""
    X = rng.standard_normal((n, DIM))
    return X, X[:, 0] + 0.5 * (X[:, 1] ** 2 - 1)


def source(n_samples: int = 20, noise: float = 0.5, n_test: int = 30) -> dt.GeneratorSource:
    return dt.GeneratorSource(curved, n_samples=n_samples, noise=noise, n_test=n_test)


def pool(n: int, *, noise: float = 0.0, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Inputs and noisy labels."""
    rng = np.random.default_rng(seed)
    X, clean = curved(rng, n)
    return X, clean + noise * rng.standard_normal(n)


def offset(seed: int) -> float:
    """A standard normal number for each seed."""
    return float(np.random.default_rng(seed).standard_normal())


def mean_and_offset(X: Any, y: FloatArray, seed: int) -> Predict:
    """Predicts the mean label plus the offset of the seed: no interaction of any kind."""
    level = 1.0 + offset(seed) + float(np.mean(y))
    return lambda X: np.full(len(X), level)


def least_squares(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """Without randomness: the seed has no effect."""
    weights = np.linalg.lstsq(X, y, rcond=None)[0]
    return lambda X: np.asarray(X @ weights)


def random_features(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    """Linear in its labels, random in its features."""
    width = 12
    theta = np.random.default_rng(seed).standard_normal((X.shape[1], width))
    Z = np.tanh(X @ theta)
    weights = np.linalg.solve(Z.T @ Z + 0.3 * np.eye(width), Z.T @ y)
    return lambda X: np.asarray(np.tanh(X @ theta) @ weights)
