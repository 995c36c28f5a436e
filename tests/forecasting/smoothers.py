"""Kernel ridge regression by direct solution: the oracle of leave-one-out and of splits."""

from typing import Any, NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray


class Direct(NamedTuple):
    """Quantities of test rows, from the weights l_x of the training labels in f(x) = l_xᵀ y."""

    error: FloatArray  # (m,): squared residuals, summed over columns of y
    sampling: FloatArray  # |l_x|²
    feature_error: FloatArray  # k_xx - 2 l_xᵀ k_x + l_xᵀ K l_x
    variance: FloatArray  # of prediction, less that of the noise κ


def _bordered(gram: FloatArray, kappa: float, intercept: bool) -> FloatArray:
    """K + κ, with a row and a column of ones for a constant that is not penalized."""
    n = len(gram)
    matrix = gram + kappa * np.eye(n)
    if not intercept:
        return matrix
    return np.block([[matrix, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])


def direct(
    gram: FloatArray,
    labels: FloatArray,
    train: Any,
    test: Any,
    kappa: float,
    *,
    intercept: bool,
) -> Direct:
    """Solve for the weights of the training rows, at every test row."""
    inside, across = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
    right = np.column_stack([across, np.ones((len(test), 1 if intercept else 0))]).T
    solved = np.linalg.solve(_bordered(inside, kappa, intercept), right)
    weights = solved[: len(train)].T  # (m, N)
    own = np.diagonal(gram)[test]
    constant = 1 / len(train) if intercept else 0.0
    return Direct(
        error=np.square(labels[test] - weights @ labels[train]).sum(axis=1),
        sampling=np.square(weights).sum(axis=1),
        feature_error=own
        - 2 * (weights * across).sum(axis=1)
        + np.einsum("mi,ij,mj->m", weights, inside, weights),
        variance=own - (right * solved).sum(axis=0) - kappa * constant,
    )


def label_energy(
    gram: FloatArray, labels: FloatArray, rows: Any, kappa: float, *, intercept: bool
) -> float:
    """W = yᵀ G K G y."""
    inside, y = gram[np.ix_(rows, rows)], labels[rows]
    padded = np.concatenate([y, np.zeros((int(intercept), y.shape[1]))])
    coefficients = np.linalg.solve(_bordered(inside, kappa, intercept), padded)[: len(rows)]
    return float((coefficients * (inside @ coefficients)).sum())
