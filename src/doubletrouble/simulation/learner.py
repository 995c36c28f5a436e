r"""A ridge fit for every ridge at once, from one factorization on the smaller side.

With features Φ (N × P) and alpha = N P λ / D, the weights for labels y are a = H y with

    H = Φᵀ (Φ Φᵀ + alpha)⁻¹ = (Φᵀ Φ + alpha)⁻¹ Φᵀ = left · diag(1/(e + alpha)) · rightᵀ

where e are the min(N, P) eigenvalues of the smaller of the two Gram matrices. `rightᵀ right` and
`leftᵀ left` are diagonal: (1, e) when P > N, (e, 1) otherwise.
"""

from typing import Any, NamedTuple

from array_api_compat import array_namespace

Array = Any  # a NumPy array or a torch tensor


class Learner(NamedTuple):
    """One fit, for every ridge: H = left · diag(gains) · rightᵀ."""

    left: Array  # (P, m)
    right: Array  # (N, m)
    eigenvalues: Array  # (m,)
    left_square: Array  # (m,), the diagonal of leftᵀ left
    right_square: Array  # (m,), the diagonal of rightᵀ right


def gains(eigenvalues: Array, alpha: float) -> Array:
    """1/(e + alpha) on the modes of a Gram matrix; at alpha 0 empty modes are left alone."""
    xp = array_namespace(eigenvalues)
    total = eigenvalues + alpha
    floor = 1e-14 * xp.max(eigenvalues) if alpha == 0 else 0.0
    return xp.where(total > floor, 1 / xp.where(total > floor, total, 1.0), 0.0)


def fit(features: Array) -> Learner:
    """Factorize the features of one training set, (N, P)."""
    xp = array_namespace(features)
    n, p = features.shape
    if p > n:
        values, vectors = xp.linalg.eigh(features @ features.T)
        values = xp.where(values > 0, values, 0.0)
        return Learner(features.T @ vectors, vectors, values, values, xp.ones_like(values))
    values, vectors = xp.linalg.eigh(features.T @ features)
    values = xp.where(values > 0, values, 0.0)
    return Learner(vectors, features @ vectors, values, xp.ones_like(values), values)
