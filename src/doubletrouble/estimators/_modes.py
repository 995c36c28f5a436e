r"""A ridge fit from one factorization, for every penalty.

With the singular value decomposition Z = U S Vᵀ of the (weighted, centred) features, the weights
for labels y and penalty alpha are

    a = V S / (S² + alpha) Uᵀ y = Zᵀ U / (S² + alpha) Uᵀ y

and alpha → 0 is the minimum-norm fit once modes with S = 0 are left out. Either an
eigendecomposition of Zᵀ Z or Z Zᵀ gives S², half of whose digits are lost where S is small
compared to its largest; or, at some times the cost, Z itself does, or the triangle of its QR
decomposition where Z is too large to be stored.
"""

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray

WHOLE = 2**27
"""Numbers in a Z that may be stored, for the sake of digits: 1 GB."""

_EPS = float(np.finfo(np.float64).eps)


class EigenModes(NamedTuple):
    """The modes that are not empty: S², the labels they see, and their vectors on some side."""

    values: FloatArray  # (r,): S²
    seen: FloatArray  # (r, T): Uᵀ y
    left: FloatArray | None = None  # U, (N, r)
    right: FloatArray | None = None  # V, (P, r)

    def gains(self, alphas: FloatArray, power: int) -> FloatArray:
        """S^power / (S² + alpha) Uᵀ y for every alpha, (r, T × R)."""
        above = self.values[:, None] ** (0.5 * power)
        factors = above / (self.values[:, None] + alphas)  # (r, R)
        found = self.seen[:, :, None] * factors[:, None, :]
        return found.reshape(len(found), found.shape[1] * found.shape[2])  # also of no modes


def resolved(smallest: float, largest: float, precision: float = _EPS) -> bool:
    """Whether half of the digits are right after a solve with such eigenvalues."""
    return bool(smallest > np.sqrt(precision) * largest)


def solve(
    matrix: FloatArray, right: FloatArray, alpha: float, *, precision: float = _EPS,
    empty: FloatArray | None = None,
) -> FloatArray | None:  # fmt: skip
    """(matrix + alpha)⁻¹ right, or None where too few digits would be right.

    `precision` is that of the matrix; `empty` a unit vector that it maps to zero, as it maps
    `right`.
    """
    size = float(np.linalg.norm(matrix))
    lifted = matrix.copy()
    lifted.flat[:: matrix.shape[0] + 1] += alpha
    if resolved(alpha, size, precision):
        return np.asarray(np.linalg.solve(lifted, right))
    if empty is not None:
        lifted += np.outer(size * empty, empty)
    try:
        inverse = np.linalg.inv(lifted)
    except np.linalg.LinAlgError:
        return None
    large = float(np.linalg.norm(inverse))  # at least one over the smallest eigenvalue
    return inverse @ right if resolved(1.0, large * (size + alpha), precision) else None


def eigenmodes(matrix: FloatArray, right: FloatArray, *, primal: bool, drop: int = 0) -> EigenModes:
    """EigenModes of Zᵀ Z with right = Zᵀ y (primal), or of Z Zᵀ with right = y.

    `drop` is how many are known to be empty; others are where rounding is all they have.
    """
    values, vectors = np.linalg.eigh(matrix)
    keep = values > max(values[-1], 0.0) * values.size * _EPS
    keep[:drop] = False
    values, vectors = values[keep], vectors[:, keep]
    seen = vectors.T @ right
    if primal:
        return EigenModes(values, seen / np.sqrt(values)[:, None], right=vectors)
    return EigenModes(values, seen, left=vectors)


def whole_modes(z: FloatArray, targets: FloatArray) -> EigenModes:
    """EigenModes of Z itself, with all digits."""
    left, s, right = np.linalg.svd(z, full_matrices=False)
    keep = kept(s, max(z.shape))
    left = left[:, keep]
    return EigenModes(s[keep] ** 2, left.T @ targets, left=left, right=right[keep].T)


def kept(singular: FloatArray, longest: int) -> FloatArray:
    """Which singular values of a matrix are more than rounding, as `numpy.linalg.matrix_rank`."""
    return np.asarray(singular > singular.max(initial=0.0) * longest * _EPS)
