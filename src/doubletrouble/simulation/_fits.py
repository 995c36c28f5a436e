r"""A ridge fit as a linear map from labels to outputs, computed on the smaller side.

With features Φ (N × P) of the training set and alpha = N P λ / D, the weights for labels y are
Φᵀ (Φ Φᵀ + alpha)⁻¹ y = (Φᵀ Φ + alpha)⁻¹ Φᵀ y. Outputs are linear in the weights, with coefficients
O (P × R): the outputs for labels y are Wᵀ y with the response

    W = (Φ Φᵀ + alpha)⁻¹ Φ O        where P > N: Φ Φᵀ and Φ O grow by sums over features
      = Φ (Φᵀ Φ + alpha)⁻¹ O        otherwise

A single ridge takes a linear solve. Several, or one near zero, take one eigendecomposition.

**Gradient flow** from zero, da/dt = (Φᵀ (y - Φ a) - alpha a)/D, has at time t fitted the share
1 - exp(-t x/D) of the ridge solution on a mode of eigenvalue e, with x = e + alpha: the same
eigendecomposition gives every time.

**Samples drawn with weights.** A sample drawn w times is one of weight w, whose row of features and
label are multiplied by √w; a member of n samples in all has alpha = n P λ/D. Its response acts on
all N labels, with zeros for the samples it does not have, so that responses of members with
different samples can be multiplied.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.parameters import Array, IntArray
from doubletrouble.simulation._devices import ArrayDevice, positive_solve

_NEGLIGIBLE = 1e-10  # of the mean eigenvalue: a smaller alpha takes the eigendecomposition


class RidgeFit(NamedTuple):
    """The penalty alpha of a fit, and the time t/D at which gradient flow is stopped."""

    alpha: float
    time: float = math.inf


class SampleChoice(NamedTuple):
    """The samples of a member: a block of consecutive ones, or distinct ones with weights."""

    n_drawn: int  # the sum of the weights
    rows: slice | Array  # (n,)
    roots: Array | None = None  # (n, 1) square roots of the weights; None: a block
    back: Array | None = None  # (N,) index of each of the N samples in `rows`; n if not drawn

    @classmethod
    def block(cls, rows: slice) -> "SampleChoice":
        """Consecutive samples; labels are those of the block only."""
        return cls(int(rows.stop - rows.start), rows)

    @classmethod
    def weighted(cls, counts: IntArray, device: ArrayDevice, like: Array) -> "SampleChoice":
        """Each of the N samples as often as counted; arrays on the device of `like`."""
        rows = np.flatnonzero(counts)
        back = np.full(counts.size, rows.size)
        back[rows] = np.arange(rows.size)
        xp = array_namespace(like)
        return cls(
            int(counts.sum()),
            xp.asarray(rows, device=like.device),
            device.asarray(np.sqrt(counts[rows]))[:, None],
            xp.asarray(back, device=like.device),
        )

    def of_rows(self, values: Array) -> Array:
        """Rows of the samples, multiplied by the roots of their weights."""
        return values[self.rows] if self.roots is None else self.roots * values[self.rows]

    def of_gram(self, gram: Array) -> Array:
        """The Gram matrix of the samples, out of that of all N."""
        part = gram[self.rows][:, self.rows]
        return part if self.roots is None else part * (self.roots * self.roots.T)

    def to_all_labels(self, response: Array) -> Array:
        """The response to all N labels: zero for samples that were not drawn."""
        if self.back is None:
            return response
        xp = array_namespace(response)
        return xp.concat([self.roots * response, 0 * response[:1]], axis=0)[self.back]


RidgeLearner: TypeAlias = Callable[[int], Array]
"""All fits to one set of features and samples: the response W, (N, R), of the k-th fit."""


class FeatureSums(NamedTuple):
    """Sums over features, which grow with P: Φ Φᵀ and Φ O."""

    gram: Array  # (N, N)
    right: Array  # (N, R)


def feature_sums(features: Array, outputs: Array, before: FeatureSums | None = None) -> FeatureSums:
    """Φ Φᵀ and Φ O of some features, added to those of the features before them."""
    gram, right = features @ features.T, features @ outputs
    if before is None:
        return FeatureSums(gram, right)
    return FeatureSums(before.gram + gram, before.right + right)


def feature_learner(
    features: Array,
    outputs: Array,
    own: float,
    fits: Sequence[RidgeFit],
    *,
    sums: FeatureSums | None = None,
    samples: SampleChoice | None = None,
) -> RidgeLearner:
    """All fits to features (n, P) of a member's samples.

    `own` adds an output of that size for each feature, in columns after those of `outputs`.
    """
    xp = array_namespace(features)
    n, p = features.shape
    if p > n:
        gram, right = sums or feature_sums(features, outputs)
        extra, lift = features, None
    else:
        gram, right = features.T @ features, outputs
        extra, lift = xp.eye(p, dtype=features.dtype, device=features.device), features
    if own:
        right = xp.concat([right, own * extra], axis=1)
    return gram_learner(gram, right, fits, lift=lift, samples=samples)


def gram_learner(
    gram: Array,
    right: Array,
    fits: Sequence[RidgeFit],
    *,
    lift: Array | None = None,
    samples: SampleChoice | None = None,
) -> RidgeLearner:
    """All fits (gram + alpha)⁻¹ right, factorized once where that is needed.

    `gram` is of the smaller side, m × m; `lift` is Φ where that is the side of the features.
    """
    xp = array_namespace(gram)
    size = gram.shape[0]
    floor = _NEGLIGIBLE * float(xp.linalg.trace(gram)) / size
    factorized = len(fits) > 1 or fits[0].alpha < floor or math.isfinite(fits[0].time)
    if factorized:
        values, vectors = xp.linalg.eigh(gram)
        values, rotated = xp.clip(values, 0.0, None), vectors.T @ right

    def response(k: int) -> Array:
        if factorized:
            inner = (vectors * gains(values, fits[k])) @ rotated
        else:
            eye = xp.eye(size, dtype=gram.dtype, device=gram.device)
            inner = positive_solve(gram + fits[k].alpha * eye, right)
        full = inner if lift is None else lift @ inner
        return full if samples is None else samples.to_all_labels(full)

    return response


def gains(values: Array, fit: RidgeFit) -> Array:
    """(1 - exp(-t x/D))/x with x = e + alpha, for eigenvalues e of a Gram matrix.

    Modes that are zero up to rounding have gain 0.
    """
    xp = array_namespace(values)
    floor = values.shape[0] * xp.finfo(values.dtype).eps * float(xp.max(values))
    total = values + fit.alpha
    inverse = xp.where(total > floor, 1 / xp.where(total > floor, total, 1.0), 0.0)
    return inverse if math.isinf(fit.time) else -xp.expm1(-fit.time * total) * inverse
