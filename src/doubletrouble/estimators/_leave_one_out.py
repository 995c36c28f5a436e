r"""The exact leave-one-out residuals of a ridge fit, from its modes.

With Z = U S Vᵀ, the fit leaves residuals R y of the labels, and the residual of row i under the
fit to all other rows is (R y)_i / R_ii, where

    R = alpha U (S² + alpha)⁻¹ Uᵀ + Q,        Q = 1 - U Uᵀ - c cᵀ

projects on what no weights can reach; c is the unit vector of the intercept, if there is one.
Where Q has nothing of row i, as for all rows of a fit that interpolates, alpha drops out of the
ratio, which then holds down to alpha = 0.

The paper's λ stays when a row is left out. alpha = λ P W / D does not: W loses the row's weight.
"""

import numpy as np

from doubletrouble.estimators._dual import Dual
from doubletrouble.estimators._modes import EigenModes
from doubletrouble.estimators._primal import Primal
from doubletrouble.estimators._sample import Sample
from doubletrouble.parameters import FloatArray

_NOTHING = float(np.sqrt(np.finfo(np.float64).eps))  # of a row in Q


def left_out(
    side: Primal | Dual, modes: EigenModes, sample: Sample, alphas: FloatArray
) -> FloatArray:
    """What the fit to all other rows predicts for each row, (N, T, R), for alphas of all rows."""
    found = np.empty((*sample.labels.shape, alphas.size))
    for rows, vectors in side.left_vectors(modes):
        found[rows] = _left_out(vectors, modes, sample, rows, alphas)
    return found


def _left_out(
    u: FloatArray, modes: EigenModes, sample: Sample, rows: slice, alphas: FloatArray
) -> FloatArray:
    part, targets, constant = sample.rows(rows), sample.targets[rows], sample.constant
    remaining = sample.weight - (np.ones(1) if part.weights is None else part.weights)
    lifted = np.outer(remaining / sample.weight, alphas)  # (1 or n, R)
    above, below = _reached(u, modes, lifted)
    free = np.zeros(len(u))  # Q_ii
    if modes.values.size < sample.size - sample.intercept:
        free = 1 - np.sum(u * u, axis=1)
        if constant is not None:
            free -= constant[rows] ** 2
    tied = (free < _NOTHING)[:, None]
    beyond = targets - u @ modes.seen  # Q y
    # where Q has nothing of a row, 1 in place of alpha: it drops out
    share = np.where(tied, 1.0, lifted)
    above = share[:, None, :] * above + np.where(tied, 0.0, beyond)[..., None]
    below = share * below + np.where(tied, 0.0, free[:, None])
    residual = above / below[:, None, :]
    if part.roots is not None:
        residual /= part.roots[:, None, None]
    return part.labels[..., None] - residual


def _reached(u: FloatArray, modes: EigenModes, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
    """U (S² + alpha)⁻¹ Uᵀ y, (n, T, R), and the diagonal of U (S² + alpha)⁻¹ Uᵀ, (n, R).

    `alphas` has one row for all, or one for each.
    """
    if len(alphas) == 1:
        above = u @ modes.gains(alphas[0], 0)
        below = (u * u) @ (1 / (modes.values[:, None] + alphas))
        return above.reshape(len(u), -1, alphas.size), below
    above, below = np.empty((len(u), modes.seen.shape[1], alphas.shape[1])), np.empty(alphas.shape)
    for r, column in enumerate(alphas.T):
        scaled = u / (modes.values + column[:, None])
        above[..., r] = scaled @ modes.seen
        below[:, r] = np.sum(u * scaled, axis=1)
    return above, below
