r"""Fits of one member, or of its kernel, for losses without a closed form.

The loss of a column of labels ±1 with weights w of the rows, of sum W, is

    (1/W) Σ_i 2 w_i ℓ(y_i, f(x_i)) + (P λ / D) |a|²

in which the squared loss (y - f)²/2 is that of `_solvers`. `convex.LinearModel` minimizes
Σ w ℓ + (alpha/2) |a|² with alpha = λ P W/D, or Σ w ℓ + (δ/2) γᵀ K γ with δ = λ W/D where
f = K γ for infinitely many features.
"""

import math

import numpy as np
import numpy.typing as npt

from doubletrouble.convex import LinearFit, LinearModel
from doubletrouble.errors import DivergenceError
from doubletrouble.estimators._features import FeatureMap
from doubletrouble.estimators._kernel_limit import KernelMap, mean_fit, members_of
from doubletrouble.estimators._members import Penalty, Solution
from doubletrouble.estimators._solvers import STORED_LIMIT, MemberFit, Sample
from doubletrouble.losses import Loss
from doubletrouble.parameters import FloatArray


def fit_convex_member(phi: FeatureMap, sample: Sample, loss: Loss, alpha: float) -> MemberFit:
    """The fit for one penalty: the weights (P, T), and an intercept for each column."""
    if sample.size * phi.n_features > STORED_LIMIT:
        raise ValueError(
            f"n_features times rows must be at most {STORED_LIMIT} for loss {loss!s}, which needs "
            f"all features at once, got {phi.n_features} and {sample.size}"
        )
    z = np.asarray(phi(sample.inputs), dtype=np.float64)
    model = LinearModel(z)
    fits = [_fit_column(model, sample, column, loss, alpha) for column in sample.labels.T]
    weights: list[FloatArray] = [fit.weights for fit in fits if fit.weights is not None]
    return MemberFit(np.stack(weights, axis=1), np.array([fit.intercept for fit in fits]))


def fit_convex_kernel(
    phi: KernelMap,
    sample: Sample,
    counts: npt.NDArray[np.int64],
    penalty: Penalty,
    loss: Loss,
) -> Solution:
    """The mean of the fits of all members with infinitely many features."""
    maps, samples = members_of(phi, sample, counts)
    weights = np.array([own.weight for own in samples])
    deltas = penalty.alphas(weights, n_features=math.inf, dim=phi.dim)
    fits = []
    for own_phi, own, delta in zip(maps, samples, deltas.tolist(), strict=True):
        model = LinearModel(gram=own_phi.gram())
        columns = [_fit_column(model, own, y, loss, delta) for y in own.labels.T]
        dual = np.stack([fit.dual for fit in columns], axis=1)
        fits.append(MemberFit(dual, np.array([fit.intercept for fit in columns])))
    mean = mean_fit(fits, counts)
    return Solution(
        coef=mean.coef.T[None], intercept=mean.intercept, alphas=deltas, ridge=penalty.value
    )


def _fit_column(
    model: LinearModel, sample: Sample, labels: FloatArray, loss: Loss, alpha: float
) -> LinearFit:
    try:
        return model.fit(
            labels, loss, alpha, sample_weight=sample.weights, intercept=sample.intercept
        )
    except DivergenceError as error:
        raise DivergenceError(
            f"ridge must be positive for loss {loss!s} on data that are linearly separable, where "
            "weights diverge without a penalty, got 0: loss 'hinge' without ridge is the limit of "
            "their direction"
        ) from error
