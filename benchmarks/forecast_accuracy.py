"""Accuracy of `forecast` on real data, beside generalized cross-validation and the plug-in.

From samples of n rows, `forecast` estimates the error of random features at N = n, below and above
it, for widths P/N from 0.1 to 10, ridges δ on the Gram matrix from 1e-4 to 10 and K = 1, 5 and ∞.
The truth is the mean over fresh training sets and drawn features, on the other rows; K = ∞ from
pairs of draws. Cells whose truth has a standard error above 10 % are left out. Printed are
relative deviations of the mean forecast over samples of rows, and how often two standard errors of
one forecast contain the truth.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.parameters import FloatArray

WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # P/N
RIDGES = (1e-4, 1e-2, 1.0, 10.0)  # δ
MEMBERS = (1.0, 5.0, math.inf)
SAMPLES = 8  # of rows, each forecast
KNOWN = 0.1  # the largest relative standard error of the truth
TEST_ROWS = 1000

Pool = tuple[FloatArray, FloatArray]


def _standardized(x: FloatArray) -> FloatArray:
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _column(y: FloatArray) -> FloatArray:
    return np.asarray((y - y.mean()) / y.std())[:, None]


def diabetes() -> Pool:
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    return _standardized(x), _column(y)


def breast_cancer() -> Pool:
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    return _standardized(x), _column(y)


def digits_one_hot() -> Pool:
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = x - x.mean(axis=0)
    return x / math.sqrt(np.square(x).mean()), np.eye(10)[y] - 0.1


def digits_standardized() -> Pool:
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return _standardized(x), _column(y % 2.0)


def friedman() -> Pool:
    rng = np.random.default_rng(0)
    x = rng.random((6000, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    y = y + 10 * x[:, 3] + 5 * x[:, 4]
    return (x - 0.5) * math.sqrt(12), _column(y) + 0.3 * rng.standard_normal((6000, 1))


def _images(name: str, labels: Any) -> Pool:
    data = dt.load_data(name, pca=None, labels=labels, n_train=None, n_test=1)
    x, y = np.asarray(data.pool_x)[:6000], np.asarray(data.pool_y)[:6000]
    x = x - x.mean(axis=0)
    return x / math.sqrt(np.square(x).mean()), y[:, None]


def mnist_parity() -> Pool:
    return _images("mnist", "parity")


def cifar_parity() -> Pool:
    return _images("cifar10", "parity")


SETS: dict[str, Callable[[], Pool]] = {
    "diabetes": diabetes,
    "breast cancer": breast_cancer,
    "digits one-hot": digits_one_hot,
    "digits standardized": digits_standardized,
    "Friedman 1": friedman,
    "MNIST parity": mnist_parity,
    "CIFAR parity": cifar_parity,
}


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Mean errors over training sets and features, (P, δ, K), with standard errors."""

    error: FloatArray
    standard_error: FloatArray


def truth(
    pool: Pool, n: int, *, sets: int, draws: int, activation: str, rng: np.random.Generator
) -> Truth:
    """The errors at N = n by fitting drawn models."""
    found = []
    for _ in range(sets):
        order = rng.permutation(len(pool[0]))
        train, test = order[:n], order[n : n + TEST_ROWS]
        found.append(model_errors(pool, train, test, draws=draws, activation=activation, rng=rng))
    spread = np.std(found, axis=0, ddof=1) / math.sqrt(sets)
    return Truth(error=np.mean(found, axis=0), standard_error=spread)


def model_errors(
    pool: Pool, train: Any, test: Any, *, draws: int, activation: str, rng: np.random.Generator
) -> FloatArray:
    """The errors of drawn models on one training set, (P, δ, K)."""
    x, y = pool
    sigma, dim, n = dt.activation(activation), x.shape[1], len(train)
    assert sigma.function is not None
    table = np.empty((len(WIDTHS), len(RIDGES), len(MEMBERS)))
    for i, share in enumerate(WIDTHS):
        width = max(1, round(share * n))
        residuals = np.empty((draws, len(RIDGES), len(test), y.shape[1]))
        for k in range(draws):
            theta = rng.standard_normal((dim, width)) / math.sqrt(dim)
            z, zt = ((sigma.function(x[rows] @ theta) - sigma.mean) for rows in (train, test))
            z, zt = z / math.sqrt(width), zt / math.sqrt(width)
            wide = width >= n
            d, U = np.linalg.eigh(z @ z.T if wide else z.T @ z)
            left = zt @ (z.T @ U if wide else U)
            right = U.T @ (y[train] if wide else z.T @ y[train])
            for j, ridge in enumerate(RIDGES):
                inverse = 1 / (np.maximum(d, 0.0) + ridge)
                residuals[k, j] = y[test] - left @ (inverse[:, None] * right)
        one = np.square(residuals).sum(axis=-1).mean(axis=(0, 2))
        mean = residuals.mean(axis=0)
        many = (np.square(mean).sum(axis=-1).mean(axis=1) * draws - one) / (draws - 1)
        for m, members in enumerate(MEMBERS):
            table[i, :, m] = many + (0.0 if math.isinf(members) else (one - many) / members)
    return table


def forecasts(
    pool: Pool,
    n: int,
    sizes: Sequence[int],
    *,
    samples: int,
    rng: np.random.Generator,
    **options: Any,
) -> tuple[FloatArray, FloatArray, Any, list[dt.Forecast]]:
    """The forecast totals (samples, sizes, P, δ, K), standard errors, marks, and the forecasts."""
    x, y = pool
    values, errors, marks, made = [], [], [], []
    for _ in range(samples):
        rows = rng.choice(len(x), n, replace=False)
        f = dt.forecast(x[rows], y[rows], **options)
        made.append(f)
        one = []
        for size in sizes:
            P = np.maximum(1, np.round(np.array(WIDTHS) * size))[:, None, None]
            lam = np.array(RIDGES)[:, None] * x.shape[1] / size
            one.append(f.error(P, lam, np.array(MEMBERS), size))
        values.append([e.total.value for e in one])
        errors.append([e.total.standard_error for e in one])
        marks.append([e.extrapolated for e in one])
    return np.array(values), np.array(errors), np.array(marks), made
