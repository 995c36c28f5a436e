r"""A fit by Z Zᵀ (N × N), for more features than rows; Z is made in blocks of columns.

It is stored whole where that takes one block, or for the sake of digits (`precise_modes`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from doubletrouble.estimators._feature_map import FeatureMap, blocks
from doubletrouble.estimators._modes import WHOLE, EigenModes, eigenmodes, solve, whole_modes
from doubletrouble.estimators._sample import Sample
from doubletrouble.parameters import FloatArray


class Dual:
    """The equations (Z Zᵀ + alpha) c = y and a = Zᵀ c, with products in precision `kind`."""

    def __init__(self, phi: FeatureMap, sample: Sample, kind: Any = np.float64) -> None:
        self._phi, self._sample = phi, sample
        self._precision = float(np.finfo(kind).eps)
        self._cuts = blocks(phi.n_features, sample.size)
        self._whole: FloatArray | None = None  # Z, where it is one block
        self.mean: FloatArray = np.zeros(phi.n_features)
        self._gram: FloatArray = np.zeros((sample.size, sample.size))
        for _, z in self._columns():
            z = z.astype(kind, copy=False)
            self._gram += z @ z.T

    def solve(self, alpha: float) -> FloatArray | None:
        """The weights (P, T) for one penalty, or None where too few digits would be right."""
        sample = self._sample
        found = solve(
            self._gram, sample.targets, alpha, precision=self._precision, empty=sample.constant
        )
        return None if found is None else self._lifted(found)

    def modes(self) -> EigenModes:
        """The modes, by an eigendecomposition."""
        return eigenmodes(
            self._gram, self._sample.targets, primal=False, drop=int(self._sample.intercept)
        )

    def precise_modes(self) -> EigenModes:
        """The modes of Z where it may be stored; else there is nothing better than `modes`."""
        n, p = self._sample.size, self._phi.n_features
        if n * p > WHOLE:
            return self.modes()
        whole = np.empty((n, p))
        for columns, z in self._columns():
            whole[:, columns] = z
        return whole_modes(whole, self._sample.targets)

    def weights(self, modes: EigenModes, alphas: FloatArray) -> FloatArray:
        """The weights for every penalty, (P, T, R)."""
        if modes.right is not None:
            found = modes.right @ modes.gains(alphas, 1)
        else:
            assert modes.left is not None
            found = self._lifted(modes.left @ modes.gains(alphas, 0))
        return found.reshape(len(found), -1, alphas.size)

    def left_vectors(self, modes: EigenModes) -> Iterator[tuple[slice, FloatArray]]:
        """U, in one block."""
        assert modes.left is not None
        yield slice(0, self._sample.size), modes.left

    def _lifted(self, inner: FloatArray) -> FloatArray:
        """Zᵀ c."""
        found = np.empty((self._phi.n_features, inner.shape[1]))
        for columns, z in self._columns():
            found[columns] = z.T @ inner
        return found

    def _columns(self) -> Iterator[tuple[slice, FloatArray]]:
        """Z in blocks of columns, each overwritten by the next: centred, weighted, float64."""
        if self._whole is not None:
            yield self._cuts[0], self._whole
            return
        sample = self._sample
        buffer = np.empty((sample.size, self._cuts[0].stop), self._phi.weights.dtype)
        for columns in self._cuts:
            z = buffer[:, : columns.stop - columns.start]
            self._phi.fill(sample.inputs, z, columns)
            if sample.intercept:
                self.mean[columns] = sample.mean_of(z)
            z = sample.prepared(z, self.mean[columns])
            if len(self._cuts) == 1:
                self._whole = z
            yield columns, z
