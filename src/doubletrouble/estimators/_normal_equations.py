r"""Zᵀ Z and Zᵀ y, grown block of rows by block of rows.

With an intercept they are taken about the means. Each block is centred by its own mean, and two
blocks of weights V, W and means u, v add up with V W / (V + W) (u - v)(u - v)ᵀ: large means do
not cancel, as they would in Zᵀ Z - W z̄ z̄ᵀ.
"""

import numpy as np

from doubletrouble.estimators._feature_map import RealArray
from doubletrouble.estimators._sample import Sample
from doubletrouble.parameters import FloatArray


class NormalEquations:
    """Sums over all rows so far, in float64."""

    def __init__(self, n_features: int, n_outputs: int) -> None:
        self.weight = 0.0
        self.gram: FloatArray = np.zeros((n_features, n_features))
        self.right: FloatArray = np.zeros((n_features, n_outputs))
        self.mean: FloatArray = np.zeros(n_features)
        self.label_mean: FloatArray = np.zeros(n_outputs)

    def add(self, z: RealArray, sample: Sample) -> None:
        """Add the rows of a sample, whose features z (n, P) are overwritten.

        The product is taken in the precision of z.
        """
        if sample.intercept:
            mean = sample.mean_of(z)
            z -= mean.astype(z.dtype)
            self._shift(mean, sample.label_mean, sample.weight)
        if sample.roots is not None:
            z *= sample.roots[:, None].astype(z.dtype)
        self.gram += z.T @ z
        self.right += z.T @ sample.targets.astype(z.dtype)
        self.weight += sample.weight

    def _shift(self, mean: FloatArray, label_mean: FloatArray, weight: float) -> None:
        """Move the means to those of the rows so far and the new ones together."""
        total = self.weight + weight
        step, label_step = mean - self.mean, label_mean - self.label_mean
        share = self.weight * (weight / total)
        if share:
            self.gram += np.outer(share * step, step)
            self.right += np.outer(share * step, label_step)
        self.mean += (weight / total) * step
        self.label_mean += (weight / total) * label_step
