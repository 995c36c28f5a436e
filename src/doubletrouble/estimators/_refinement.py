r"""A float64 solution from products in float32, at half of the cost.

A = Zᵀ Z + alpha is known as M ≈ A, with features and products in float32. Then

    a ← a + M⁻¹ (Zᵀ (y - Z a) - alpha a),

with the bracket in float64, has the solution of A for its fixed point: each step takes one pass
over the data and multiplies the error by |1 - M⁻¹ A|, the rounding of float32 times the condition
number of A. The first step shows that factor. Where it is too large, there is no answer.

A pass makes all features anew, so that this pays where P is several times D.
"""

from dataclasses import replace

import numpy as np

from doubletrouble.estimators._feature_map import FeatureMap
from doubletrouble.estimators._primal import Primal
from doubletrouble.estimators._sample import Sample
from doubletrouble.parameters import FloatArray

LEAST = 1e10
"""Multiplications of a Zᵀ Z that takes long enough to think about."""

_FEATURES_PER_DIM = 4
_PASSES, _TOLERANCE = 3, 1e-10
_EPS32 = float(np.finfo(np.float32).eps)
_LOOK = 256  # rows from which the size of Zᵀ Z is told


def refined(phi: FeatureMap, sample: Sample, alpha: float) -> tuple[FloatArray, FloatArray] | None:
    """The weights (P, T) and the mean feature (P,), or None where this does not pay or converge."""
    n, p, dim = sample.size, phi.n_features, sample.inputs.shape[1]
    if n < p or n * p**2 < LEAST or p < _FEATURES_PER_DIM * dim:
        return None
    if phi.weights.dtype != np.float64 or alpha <= 10 * _EPS32 * _size(phi, sample):
        return None
    rough = Primal(replace(phi, weights=phi.weights.astype(np.float32)), sample)
    matrix, right = rough.equations(alpha)
    coef: FloatArray = np.asarray(np.linalg.solve(matrix, right))
    shrunk = 1.0
    for _ in range(_PASSES):
        step = np.linalg.solve(matrix, rough.residual(phi, coef, alpha))
        factor = float(np.linalg.norm(step)) / max(float(np.linalg.norm(coef)), 1e-300) / shrunk
        coef = coef + step
        shrunk *= factor
        if shrunk * factor < _TOLERANCE:
            return coef, rough.mean
    return None


def _size(phi: FeatureMap, sample: Sample) -> float:
    """The norm of Zᵀ Z, about: its square is the sum of (z_i·z_j)² over all pairs of rows."""
    n = sample.size
    part = sample.rows(slice(0, n, -(-n // _LOOK)))
    z = part.prepared(phi(part.inputs), np.zeros(phi.n_features))
    pairs = (z @ z.T) ** 2
    own = float(np.trace(pairs))
    other = (float(pairs.sum()) - own) / max(part.size - 1, 1)
    return float(np.sqrt(n / part.size * own + n * n / part.size * other))
