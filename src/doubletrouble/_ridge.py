r"""Ridge regression by the smaller Gram matrix: one penalty, a path of them, each row left out.

For a design Z (N × P) and labels y the minimum of |y - Z a|² + alpha |a|² is

    a = (Zᵀ Z + alpha)⁻¹ Zᵀ y = Zᵀ c,        c = (Z Zᵀ + alpha)⁻¹ y

`cholesky_solution` solves either for one alpha. With modes Z = U S Vᵀ (`Modes`) every alpha takes
one more product,

    a = V S/(S² + alpha) Uᵀ y,        c = U 1/(S² + alpha) Uᵀ y

and the fit of least norm is alpha = 0, once modes with S = 0 are omitted. An eigendecomposition of
a Gram matrix has S² with half of its digits where S is small compared to its largest value; the
design itself has them all. A kernel takes the place of Z Zᵀ.

**Left out.** The residuals of all rows are R y, and that of row i under the fit to all other rows
is (R y)_i / R_ii, where

    R = alpha U (S² + alpha)⁻¹ Uᵀ + Q,        Q = 1 - U Uᵀ - n nᵀ

and Q projects on the orthogonal complement of all predictions; n is the unit vector of an
intercept, if there is one. Where Q_ii = 0, as for all rows of a fit that interpolates, alpha drops
out of the ratio, which then holds down to alpha = 0.

Gram matrices, and what follows from them, are arrays of NumPy or torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from scipy.linalg import eigh, get_lapack_funcs

from doubletrouble.errors import require
from doubletrouble.parameters import Array, FloatArray

EPS = float(np.finfo(np.float64).eps)
SINGULAR = 1e-10
"""Reciprocal condition below which a Gram matrix alone is decomposed: a mode may be rounding."""

_SMALLEST_SQUARE = 1e-290  # of a largest singular value: squares below lose digits
_NO_SHARE = EPS**0.5  # Q_ii below is taken as zero


def half_of_digits(precision: float = EPS) -> float:
    """The reciprocal condition of a matrix above which half of the digits of a solution hold."""
    return float(np.sqrt(precision))


def cholesky_solution(
    gram: Array, right: Array, alpha: float = 0.0, *, least: float, null: Array | None = None
) -> Array | None:
    """(K + alpha)⁻¹ right, or None where the reciprocal condition is not above `least`.

    `null` is a unit vector in the null space of K, orthogonal to `right`. torch has no estimate of
    the condition: the ratio of the pivots stands for it.

    >>> cholesky_solution(np.diag([1.0, 3.0]), np.ones((2, 1)), 1.0, least=1e-8).ravel()
    array([0.5 , 0.25])
    >>> cholesky_solution(np.diag([1.0, 0.0]), np.ones((2, 1)), least=1e-8) is None
    True
    """
    if is_torch_array(gram):
        torch = require("torch", "torch")
        matrix = gram.clone()
        matrix.diagonal().add_(alpha)
        factor, failed = torch.linalg.cholesky_ex(matrix)
        pivots = factor.diagonal() ** 2
        if not ((failed == 0) & (pivots.min() > least * pivots.max())).item():
            return None
        return torch.cholesky_solve(right, factor)
    matrix = gram.copy()
    if null is not None:
        matrix += np.outer(np.trace(gram) * null, null)
    matrix.flat[:: len(matrix) + 1] += alpha
    norm = np.abs(matrix).sum(axis=0).max(initial=0.0)
    functions = get_lapack_funcs(("potrf", "pocon", "potrs"), (matrix,))
    assert isinstance(functions, list)
    potrf, pocon, potrs = functions
    factor, failed = potrf(matrix.T, lower=True, overwrite_a=True, clean=False)
    if failed or not (np.isfinite(norm) and np.isfinite(right).all()):
        return None
    condition, _ = pocon(factor, norm, uplo="L")
    if not condition > least:
        return None
    solution, _ = potrs(factor, right, lower=True)
    return np.asarray(solution)


def eigenvectors(
    gram: Array, *, null: Array | None = None, size: float = 0.0
) -> tuple[Array, Array]:
    """S², increasing and 0 where it is only rounding, and U; the matrix may be overwritten.

    `null` is a unit vector in the null space of K, not one of U; `size` that of the numbers of
    which K is a difference, where these are larger than the eigenvalues.

    >>> eigenvectors(np.ones((2, 2)))[0]
    array([0., 2.])
    """
    xp = array_namespace(gram)
    if null is not None:  # it becomes the last eigenvector
        gram += xp.linalg.outer(2 * abs(xp.linalg.trace(gram)) * null, null)
    if is_torch_array(gram):
        values, vectors = xp.linalg.eigh(gram)
    else:  # in place: Fortran order
        values, vectors = eigh(gram.T, overwrite_a=True, check_finite=False, driver="evd")
    if null is not None:
        values, vectors = values[:-1], vectors[:, :-1]
    if not len(values):
        return values, vectors
    return xp.where(values > rounding(values, size), values, 0.0), vectors


def rounding(values: Array, size: float = 0.0) -> float:
    """The limit below which eigenvalues of a Gram matrix, increasing, are only rounding."""
    precision = array_namespace(values).finfo(values.dtype).eps
    return len(values) * float(precision) * max(float(values[-1]), size)


def centred(gram: FloatArray, constant: FloatArray) -> FloatArray:
    """C K C with C = 1 - n nᵀ for a unit vector n, symmetric to the last digit; in place."""
    product = gram @ constant
    shift = np.outer(constant, product - 0.5 * (constant @ product) * constant)
    gram -= shift
    gram -= shift.T
    return gram


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes with S > 0: S², the projections of the labels, and singular vectors."""

    values: Array  # (r,): S²
    projections: Array  # (r, T): Uᵀ y
    left: Array | None = None  # U, (N, r)
    right: Array | None = None  # V, (P, r)

    @classmethod
    def of_rows(
        cls, gram: Array, targets: Array, *, null: Array | None = None, size: float = 0.0
    ) -> Modes:
        """Modes from K = Z Zᵀ and y, as in `eigenvectors`."""
        values, vectors = eigenvectors(gram, null=null, size=size)
        left = vectors[:, values > 0]
        return cls(values[values > 0], left.T @ targets, left=left)

    @classmethod
    def of_features(cls, gram: FloatArray, right: FloatArray) -> Modes:
        """Modes from Zᵀ Z and Zᵀ y."""
        values, vectors = eigenvectors(gram)
        keep = values > 0
        values, vectors = values[keep], vectors[:, keep]
        return cls(values, vectors.T @ right / np.sqrt(values)[:, None], right=vectors)

    @classmethod
    def of_design(cls, z: FloatArray, targets: FloatArray, longest: int) -> Modes:
        """Modes from Z itself, with all digits; `longest` is the larger of N and P."""
        left, s, right = np.linalg.svd(z, full_matrices=False)
        largest = s.max(initial=0.0)
        keep = s > largest * longest * EPS  # as numpy.linalg.matrix_rank
        if largest and not _SMALLEST_SQUARE < largest**2 < np.inf:
            raise ValueError(
                "X must have features whose squares do not overflow or underflow, got features of "
                f"size {largest:.1e}: scale the inputs"
            )
        left = left[:, keep]
        return cls(s[keep] ** 2, left.T @ targets, left=left, right=right[keep].T)

    def gains(self, alphas: Array, power: int) -> Array:
        """S^power / (S² + alpha) Uᵀ y for every alpha, (r, T × R)."""
        above = self.values[:, None] ** (0.5 * power)
        factors = above / (self.values[:, None] + alphas)  # (r, R)
        products = self.projections[:, :, None] * factors[:, None, :]
        return products.reshape(len(products), products.shape[1] * products.shape[2])

    def dual(self, alphas: Array) -> Array:
        """C for every alpha, (N, T × R)."""
        assert self.left is not None
        return self.left @ self.gains(alphas, 0)


def minimum_norm(gram: Array, right: Array) -> Array:
    """The solution of K c = right, of least norm where K is singular; K may be overwritten.

    >>> minimum_norm(np.diag([2.0, 0.0]), np.array([[1.0], [0.0]])).ravel()
    array([0.5, 0. ])
    """
    solution = cholesky_solution(gram, right, least=SINGULAR)
    if solution is not None:
        return solution
    return Modes.of_rows(gram, right).dual(0.0)


def left_out_residuals(
    modes: Modes,
    alphas: FloatArray,
    targets: FloatArray,
    *,
    left: Iterable[tuple[slice, FloatArray]],
    weights: FloatArray,
    constant: FloatArray | None,
) -> FloatArray:
    """Residuals of every row under the fit to all others, (N, T, R), for alphas of all rows.

    `targets` (N, T) and Z are centred where there is an intercept, whose unit vector is `constant`,
    and multiplied by the roots of `weights`; so are the residuals. alpha is in proportion to the
    weight of the rows of a fit. `left` is U in blocks of rows.
    """
    remaining = 1 - weights / weights.sum()
    if np.ptp(weights) == 0:
        remaining = remaining[:1]  # one for all rows
    residuals = np.empty((*targets.shape, alphas.size))
    for rows, u in left:
        own = np.outer(remaining[rows] if len(remaining) > 1 else remaining, alphas)
        above, below = _resolvent(u, modes, own)
        free = np.zeros(len(u))  # Q_ii
        if modes.values.size < len(targets) - (constant is not None):
            free = 1 - np.sum(u * u, axis=1)
            if constant is not None:
                free -= constant[rows] ** 2
        tied = (free < _NO_SHARE)[:, None]
        beyond = targets[rows] - u @ modes.projections  # Q y
        # where Q_ii = 0, alpha drops out of the ratio: 1 is used for it
        share = np.where(tied, 1.0, own)
        above = share[:, None, :] * above + np.where(tied, 0.0, beyond)[..., None]
        below = share * below + np.where(tied, 0.0, free[:, None])
        residuals[rows] = above / below[:, None, :]
    return residuals


def _resolvent(u: FloatArray, modes: Modes, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
    """U (S² + alpha)⁻¹ Uᵀ y, (n, T, R), and the diagonal of U (S² + alpha)⁻¹ Uᵀ, (n, R).

    `alphas` has one row for all, or one for each.
    """
    if len(alphas) == 1:
        above = u @ modes.gains(alphas[0], 0)
        below = (u * u) @ (1 / (modes.values[:, None] + alphas))
        return above.reshape(len(u), -1, alphas.size), below
    above = np.empty((len(u), modes.projections.shape[1], alphas.shape[1]))
    below = np.empty(alphas.shape)
    for r, column in enumerate(alphas.T):
        scaled = u / (modes.values + column[:, None])
        above[..., r] = scaled @ modes.projections
        below[:, r] = np.sum(u * scaled, axis=1)
    return above, below
