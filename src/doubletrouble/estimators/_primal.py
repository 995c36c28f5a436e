r"""A fit by Zᵀ Z (P × P), for no more features than rows; Z is made in blocks of rows.

It is stored whole only for the sake of digits (`precise_modes`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from doubletrouble.estimators._feature_map import FeatureMap, RealArray, blocks
from doubletrouble.estimators._modes import WHOLE, EigenModes, eigenmodes, kept, solve, whole_modes
from doubletrouble.estimators._normal_equations import NormalEquations
from doubletrouble.estimators._sample import Sample
from doubletrouble.parameters import FloatArray


class Primal:
    """The normal equations (Zᵀ Z + alpha) a = Zᵀ y, with products in precision `kind`.

    That is the precision of the features unless given.
    """

    def __init__(self, phi: FeatureMap, sample: Sample, kind: Any = None) -> None:
        kind = phi.weights.dtype if kind is None else kind
        self._phi, self._sample = phi, sample
        self._precision = float(np.finfo(kind).eps)
        self._sums = NormalEquations(phi.n_features, sample.labels.shape[1])
        add_rows(self._sums, phi, sample, kind)

    @property
    def mean(self) -> FloatArray:
        """The mean feature, (P,); zeros without an intercept."""
        return self._sums.mean

    def solve(self, alpha: float) -> FloatArray | None:
        """The weights (P, T) for one penalty, or None where too few digits would be right."""
        return solve(self._sums.gram, self._sums.right, alpha, precision=self._precision)

    def equations(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Both sides of the normal equations."""
        matrix = self._sums.gram.copy()
        matrix.flat[:: len(matrix) + 1] += alpha
        return matrix, self._sums.right

    def residual(self, phi: FeatureMap, coef: FloatArray, alpha: float) -> FloatArray:
        """Zᵀ (y - Z a) - alpha a, (P, T), with the features of another map, in float64.

        As a by-product `mean` becomes that of the other map: what is left of it after centring is
        added.
        """
        found, constant = -alpha * coef, self._sample.constant
        drift = np.zeros(phi.n_features)
        for rows, z in self._rows(phi):
            found += z.T @ (self._sample.targets[rows] - z @ coef)
            if constant is not None:
                drift += constant[rows] @ z
        self._sums.mean += drift / np.sqrt(self._sample.weight)
        return found

    def modes(self) -> EigenModes:
        """The modes, by an eigendecomposition."""
        return eigenmodes(self._sums.gram, self._sums.right, primal=True)

    def precise_modes(self) -> EigenModes:
        """The modes, of Z or of the triangle R of Z = Q R, beside which grows Qᵀ y."""
        p, n = self._phi.n_features, self._sample.size
        if n * p <= WHOLE:
            whole = np.empty((n, p))
            for rows, z in self._rows():
                whole[rows] = z
            return whole_modes(whole, self._sample.targets)
        triangle: Any = np.empty((0, p + self._sample.labels.shape[1]))
        for rows, z in self._rows():
            block = np.hstack([z, self._sample.targets[rows]])
            triangle = np.linalg.qr(np.vstack([triangle, block]), mode="r")
        left, s, right = np.linalg.svd(triangle[:p, :p])
        keep = kept(s, max(n, p))
        return EigenModes(s[keep] ** 2, left[:, keep].T @ triangle[:p, p:], right=right[keep].T)

    def weights(self, modes: EigenModes, alphas: FloatArray) -> FloatArray:
        """The weights for every penalty, (P, T, R)."""
        assert modes.right is not None
        found = modes.right @ modes.gains(alphas, 1)
        return found.reshape(len(found), -1, alphas.size)

    def left_vectors(self, modes: EigenModes) -> Iterator[tuple[slice, FloatArray]]:
        """U, in blocks of rows."""
        if modes.left is not None:
            yield slice(0, self._sample.size), modes.left
            return
        assert modes.right is not None
        scaled = modes.right / np.sqrt(modes.values)
        for rows, z in self._rows():
            yield rows, z @ scaled

    def _rows(self, phi: FeatureMap | None = None) -> Iterator[tuple[slice, FloatArray]]:
        """Z in blocks of rows, each overwritten by the next: centred, weighted, float64."""
        for rows, part, z in _blocks_of(phi or self._phi, self._sample):
            yield rows, part.prepared(z, self.mean)


def add_rows(
    sums: NormalEquations, phi: FeatureMap, sample: Sample, kind: Any = np.float64
) -> None:
    """Add all rows of a sample to normal equations, with products in precision `kind`."""
    for _, part, z in _blocks_of(phi, sample):
        sums.add(z.astype(kind, copy=False), part)


def _blocks_of(phi: FeatureMap, sample: Sample) -> Iterator[tuple[slice, Sample, RealArray]]:
    """Blocks of rows and their features, which share one buffer in the precision of `phi`."""
    precision = phi.weights.dtype
    cuts = blocks(sample.size, phi.n_features, precision.itemsize)
    buffer = np.empty((cuts[0].stop, phi.n_features), precision)
    for rows in cuts:
        part = sample.rows(rows)
        z = buffer[: part.size]
        phi.fill(part.inputs.astype(precision, copy=False), z)
        yield rows, part, z
