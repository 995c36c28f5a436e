r"""A ridge fit as a linear map from labels to outputs, worked out on the smaller side.

With features Φ (N × P) of the training set and alpha = N P λ / D, the weights for labels y are
Φᵀ (Φ Φᵀ + alpha)⁻¹ y = (Φᵀ Φ + alpha)⁻¹ Φᵀ y. Outputs are linear in the weights, with coefficients
O (P × R): the outputs for labels y are Wᵀ y with

    W = (Φ Φᵀ + alpha)⁻¹ Φ O        where P > N: Φ Φᵀ and Φ O grow by sums over features
      = Φ (Φᵀ Φ + alpha)⁻¹ O        otherwise

One ridge takes a linear solve. Several, or one near zero, take one eigendecomposition.

Gradient flow from zero, da/dt = (Φᵀ (y - Φ a) - alpha a)/D, has fitted the share 1 - exp(-t x/D) of
what the ridge would at time t, on a mode of eigenvalue e with x = e + alpha: the same
eigendecomposition serves every time, too.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from array_api_compat import array_namespace

from doubletrouble.kernels import Array
from doubletrouble.simulation._place import positive_solve

_NEGLIGIBLE = 1e-10  # of the mean eigenvalue: a smaller alpha is left to the eigendecomposition


class Fit(NamedTuple):
    """How a fit is made: its penalty alpha, and the time t/D that it is given."""

    alpha: float
    time: float = math.inf


class GramModes(NamedTuple):
    """An eigendecomposition of the Gram matrix, and the right-hand side seen by its modes."""

    values: Array  # (m,)
    vectors: Array  # (m, m)
    seen: Array  # (m, R)


class RidgeMap(NamedTuple):
    """Fits to the same features: `respond` gives the W of one."""

    gram: Array  # (m, m) of the smaller side
    right: Array  # (m, R), what the inverse is applied to
    lift: Array | None  # Φ where the smaller side is that of the features
    modes: GramModes | None  # where several fits share a factorization

    def respond(self, fit: Fit) -> Array:
        """Return W, (N, R): what each output makes of each label."""
        xp = array_namespace(self.gram)
        if self.modes is None:
            eye = xp.eye(self.gram.shape[0], dtype=self.gram.dtype, device=self.gram.device)
            inner = positive_solve(self.gram + fit.alpha * eye, self.right)
        else:
            values, vectors, seen = self.modes
            inner = (vectors * gains(values, fit)) @ seen
        return inner if self.lift is None else self.lift @ inner


class FeatureSums(NamedTuple):
    """What grows feature by feature: Φ Φᵀ and Φ O."""

    gram: Array  # (N, N)
    reached: Array  # (N, R)


def learner(
    features: Array,
    outputs: Array,
    own: float,
    fits: Sequence[Fit],
    sums: FeatureSums | None = None,
) -> RidgeMap:
    """Prepare all fits of features (N, P).

    `own` adds an output of that size for each feature, in columns after those of `outputs`.
    """
    xp = array_namespace(features)
    n, p = features.shape
    if p > n:
        gram, right = sums or accumulated(features, outputs)
        extra, lift = features, None
    else:
        gram, right = features.T @ features, outputs
        extra, lift = xp.eye(p, dtype=features.dtype, device=features.device), features
    if own:
        right = xp.concat([right, own * extra], axis=1)
    return fitted(gram, right, fits, lift)


def fitted(gram: Array, right: Array, fits: Sequence[Fit], lift: Array | None = None) -> RidgeMap:
    """Prepare (gram + alpha)⁻¹ right for every fit."""
    xp = array_namespace(gram)
    floor = _NEGLIGIBLE * float(xp.linalg.trace(gram)) / gram.shape[0]
    modes = None
    if len(fits) > 1 or fits[0].alpha < floor or math.isfinite(fits[0].time):
        values, vectors = xp.linalg.eigh(gram)
        modes = GramModes(xp.clip(values, 0.0, None), vectors, vectors.T @ right)
    return RidgeMap(gram, right, lift, modes)


def accumulated(features: Array, outputs: Array, before: FeatureSums | None = None) -> FeatureSums:
    """Φ Φᵀ and Φ O of some features, added to those of the features before them."""
    gram, reached = features @ features.T, features @ outputs
    if before is None:
        return FeatureSums(gram, reached)
    return FeatureSums(before.gram + gram, before.reached + reached)


def gains(values: Array, fit: Fit) -> Array:
    """(1 - exp(-t x/D))/x with x = e + alpha, on the modes of a Gram matrix.

    Modes that are empty but for rounding are left alone: there is nothing on them to be learned.
    """
    xp = array_namespace(values)
    floor = values.shape[0] * xp.finfo(values.dtype).eps * float(xp.max(values))
    total = values + fit.alpha
    found = xp.where(total > floor, 1 / xp.where(total > floor, total, 1.0), 0.0)
    return found if math.isinf(fit.time) else -xp.expm1(-fit.time * total) * found
