r"""Ridge regression of labels on the features of one member.

Z (N × P) holds the features of the rows, centred where there is an intercept and multiplied by the
roots of the sample weights; it is evaluated in blocks. The fit minimizes |y - Z a|² + alpha |a|².

`Primal` solves (Zᵀ Z + alpha) a = Zᵀ y, for P ≤ N, and `Dual` (Z Zᵀ + alpha) c = y with a = Zᵀ c,
for P > N. Where too few digits would be correct, or for many values of alpha at once, both use the
singular value decomposition Z = U S Vᵀ:

    a = V S / (S² + alpha) Uᵀ y = Zᵀ U / (S² + alpha) Uᵀ y,

with the minimum-norm fit as alpha → 0 once modes with S = 0 are omitted. An eigendecomposition of
Zᵀ Z or Z Zᵀ gives S² with half of its digits where S is small compared to its largest value; Z
itself, or the triangle of its QR decomposition where Z is too large to be stored, gives them all.

`refined` computes a float64 solution from products in float32, at half of the cost. With
M ≈ A = Zᵀ Z + alpha in float32,

    a ← a + M⁻¹ (Zᵀ (y - Z a) - alpha a)

in float64 has the solution of A for its fixed point. Each step takes one pass over the data and
multiplies the error by |1 - M⁻¹ A|: the rounding of float32 times the condition number of A.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble.estimators._features import FeatureMap, RealArray, blocks
from doubletrouble.parameters import FloatArray, Numbers

STORED_LIMIT = 2**27
"""Largest number of entries of a stored Z: 1 GB."""

REFINED_FROM = 1e10
"""Least number of multiplications in Zᵀ Z for which refinement is tried."""

_EPS = float(np.finfo(np.float64).eps)
_EPS32 = float(np.finfo(np.float32).eps)
_SMALLEST_SQUARE = 1e-290  # of a largest singular value: squares below lose digits
_FEATURES_PER_DIM = 4  # a pass evaluates all features again: worth it where P is several times D
_PASSES, _TOLERANCE = 3, 1e-10
_NORM_ROWS = 256  # rows from which the norm of Zᵀ Z is estimated


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of positive weight; `intercept`: whether a constant is fitted, too."""

    inputs: RealArray  # (N, D)
    labels: FloatArray  # (N, T)
    weights: FloatArray | None  # (N,); None: all one
    intercept: bool

    @property
    def size(self) -> int:
        """N."""
        return int(self.inputs.shape[0])

    @cached_property
    def weight(self) -> float:
        """W = Σ w, in place of N."""
        return float(self.size if self.weights is None else self.weights.sum())

    @cached_property
    def roots(self) -> FloatArray | None:
        """√w, by which rows are multiplied."""
        return None if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def label_mean(self) -> FloatArray:
        """Mean of the labels, (T,): zeros without an intercept."""
        if not self.intercept:
            return np.zeros(self.labels.shape[1])
        return np.asarray(np.average(self.labels, axis=0, weights=self.weights))

    @cached_property
    def targets(self) -> FloatArray:
        """Labels, centred and weighted."""
        shifted = self.labels - self.label_mean
        return shifted if self.roots is None else shifted * self.roots[:, None]

    @property
    def constant(self) -> FloatArray | None:
        """The unit vector of the intercept among the weighted rows, or None."""
        if not self.intercept:
            return None
        roots = np.ones(self.size) if self.roots is None else self.roots
        return np.asarray(roots / np.sqrt(self.weight))

    def mean_of(self, z: RealArray) -> FloatArray:
        """The weighted mean of the features of these rows, (P,)."""
        if self.weights is None:
            # in float64 for any z: NumPy would add up float32 in float32
            return np.asarray(z.mean(axis=0, dtype=np.float64))
        return np.asarray(np.average(z, axis=0, weights=self.weights))

    def prepared(self, z: RealArray, mean: RealArray) -> FloatArray:
        """Features of these rows in float64, centred and weighted; z may be overwritten."""
        z = np.asarray(z, dtype=np.float64)
        if self.intercept:
            z -= mean
        if self.roots is not None:
            z *= self.roots[:, None]
        return z

    def rows(self, part: slice | npt.NDArray[np.intp]) -> Sample:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[part]
        return replace(self, inputs=self.inputs[part], labels=self.labels[part], weights=weights)

    def drawn(self, counts: npt.NDArray[np.int64]) -> Sample:
        """The rows of a member, each as often as in `counts`; consecutive rows are not copied."""
        rows = np.flatnonzero(counts)
        first, last = int(rows[0]), int(rows[-1])
        part = self.rows(slice(first, last + 1) if last - first + 1 == rows.size else rows)
        if np.all(counts[rows] == 1):
            return part
        weights = counts[rows].astype(np.float64)
        return replace(part, weights=weights if part.weights is None else weights * part.weights)


class MemberFit(NamedTuple):
    """The fit of one member."""

    coef: FloatArray  # (P, T)
    intercept: FloatArray  # (T,)


def features_by_rows(phi: FeatureMap, sample: Sample) -> Iterator[tuple[slice, Sample, RealArray]]:
    """Blocks of rows and their features, which share one buffer in the precision of `phi`."""
    precision = phi.weights.dtype
    cuts = blocks(sample.size, phi.n_features, precision.itemsize)
    buffer = np.empty((cuts[0].stop, phi.n_features), precision)
    for rows in cuts:
        part = sample.rows(rows)
        z = buffer[: part.size]
        phi.fill(part.inputs.astype(precision, copy=False), z)
        yield rows, part, z


class NormalEquations:
    """Zᵀ Z and Zᵀ y in float64, accumulated over blocks of rows.

    With an intercept they are taken about the means. Each block is centred by its own mean, and two
    blocks of weights V, W and means u, v add up with V W / (V + W) (u - v)(u - v)ᵀ: large means do
    not cancel, as they would in Zᵀ Z - W z̄ z̄ᵀ.
    """

    def __init__(self, n_features: int, n_outputs: int) -> None:
        self.weight = 0.0
        self.gram: FloatArray = np.zeros((n_features, n_features))
        self.right: FloatArray = np.zeros((n_features, n_outputs))
        self.mean: FloatArray = np.zeros(n_features)
        self.label_mean: FloatArray = np.zeros(n_outputs)

    def add(self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64) -> None:
        """Add all rows of a sample, with products in a given precision."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked before a solution
            for _, part, z in features_by_rows(phi, sample):
                self._add_block(z.astype(precision, copy=False), part)

    def _add_block(self, z: RealArray, part: Sample) -> None:
        if part.intercept:
            mean = part.mean_of(z)
            z -= mean.astype(z.dtype)
            self._shift(mean, part.label_mean, part.weight)
        if part.roots is not None:
            z *= part.roots[:, None].astype(z.dtype)
        self.gram += z.T @ z
        self.right += z.T @ part.targets.astype(z.dtype)
        self.weight += part.weight

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

    def fit(self, alpha: float) -> MemberFit:
        """The fit for one penalty, with the digits that Zᵀ Z has."""
        with np.errstate(over="ignore", invalid="ignore"):
            coef = solve(self.gram, self.right, alpha)
            if coef is None:
                modes = eigenmodes(self.gram, self.right, primal=True)
                assert modes.right is not None
                coef = modes.right @ modes.gains(np.array([alpha]), 1)
        return MemberFit(coef, self.label_mean - self.mean @ coef)


@dataclass(frozen=True)
class EigenModes:
    """Modes with S > 0: S², the projections of the labels, and singular vectors."""

    values: FloatArray  # (r,): S²
    projections: FloatArray  # (r, T): Uᵀ y
    left: FloatArray | None = None  # U, (N, r)
    right: FloatArray | None = None  # V, (P, r)

    def gains(self, alphas: FloatArray, power: int) -> FloatArray:
        """S^power / (S² + alpha) Uᵀ y for every alpha, (r, T × R)."""
        above = self.values[:, None] ** (0.5 * power)
        factors = above / (self.values[:, None] + alphas)  # (r, R)
        products = self.projections[:, :, None] * factors[:, None, :]
        return products.reshape(len(products), products.shape[1] * products.shape[2])


def resolved(smallest: float, largest: float, precision: float = _EPS) -> bool:
    """Whether half of the digits are correct after a solve with such eigenvalues."""
    return bool(smallest > np.sqrt(precision) * largest)


def solve(
    matrix: FloatArray,
    right: FloatArray,
    alpha: float,
    *,
    precision: float = _EPS,
    null: FloatArray | None = None,
) -> FloatArray | None:
    """(matrix + alpha)⁻¹ right, or None where too few digits would be correct.

    `precision` is that of the matrix; `null` a unit vector in its null space, orthogonal to
    `right`.
    """
    size = float(np.linalg.norm(matrix))
    if not (np.isfinite(size) and np.isfinite(right).all()):
        return None
    shifted = matrix.copy()
    shifted.flat[:: matrix.shape[0] + 1] += alpha
    if resolved(alpha, size, precision):
        return np.asarray(np.linalg.solve(shifted, right))
    if null is not None:
        shifted += np.outer(size * null, null)
    try:
        inverse = np.linalg.inv(shifted)
    except np.linalg.LinAlgError:
        return None
    large = float(np.linalg.norm(inverse))  # at least one over the smallest eigenvalue
    return inverse @ right if resolved(1.0, large * (size + alpha), precision) else None


def eigenmodes(
    matrix: FloatArray, right: FloatArray, *, primal: bool, drop: int = 0, size: float = 0.0
) -> EigenModes:
    """Modes from Zᵀ Z with right = Zᵀ y (primal), or from Z Zᵀ with right = y.

    The first `drop` eigenvalues are zero; others are omitted where they are only rounding, of
    numbers up to `size` where these are larger than the eigenvalues.
    """
    _check_finite("X", matrix)
    _check_finite("y", right)
    values, vectors = np.linalg.eigh(matrix)
    keep = values > max(values[-1], size) * values.size * _EPS
    keep[:drop] = False
    values, vectors = values[keep], vectors[:, keep]
    projections = vectors.T @ right
    if primal:
        return EigenModes(values, projections / np.sqrt(values)[:, None], right=vectors)
    return EigenModes(values, projections, left=vectors)


def singular_modes(z: FloatArray, targets: FloatArray, longest: int) -> EigenModes:
    """Modes from Z itself, with all digits; `longest` is the larger of N and P."""
    _check_finite("X", z)
    left, s, right = np.linalg.svd(z, full_matrices=False)
    largest = s.max(initial=0.0)
    keep = s > largest * longest * _EPS  # as numpy.linalg.matrix_rank
    if largest and not _SMALLEST_SQUARE < largest**2 < np.inf:
        raise ValueError(
            "X must have features whose squares do not overflow or underflow, got features of "
            f"size {largest:.1e}: scale the inputs"
        )
    left = left[:, keep]
    return EigenModes(s[keep] ** 2, left.T @ targets, left=left, right=right[keep].T)


def _check_finite(name: str, array: FloatArray) -> None:
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be scaled, got values whose products with features overflow")


class RidgeEquations(ABC):
    """The equations of one member, with products in a given precision."""

    mean: FloatArray  # of the features, (P,); zeros without an intercept

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        self.phi, self.sample = phi, sample
        self.eps = float(np.finfo(precision).eps)

    @abstractmethod
    def solve(self, alpha: float) -> FloatArray | None:
        """The weights (P, T) for one penalty, or None where too few digits would be correct."""

    @abstractmethod
    def modes(self) -> EigenModes:
        """The modes, by an eigendecomposition."""

    def precise_modes(self) -> EigenModes:
        """The modes of Z, where it may be stored."""
        shape = (self.sample.size, self.phi.n_features)
        if math.prod(shape) > STORED_LIMIT:
            return self._modes_in_blocks()
        whole = np.empty(shape)
        for part, z in self._blocks():
            whole[part] = z
        return singular_modes(whole, self.sample.targets, max(shape))

    def weights(self, modes: EigenModes, alphas: FloatArray) -> FloatArray:
        """The weights for every penalty, (P, T, R)."""
        if modes.right is not None:
            coef = modes.right @ modes.gains(alphas, 1)
        else:
            assert modes.left is not None
            coef = self._transposed(modes.left @ modes.gains(alphas, 0))
        return coef.reshape(len(coef), -1, alphas.size)

    def left_vectors(self, modes: EigenModes) -> Iterator[tuple[slice, FloatArray]]:
        """U, in blocks of rows."""
        if modes.left is not None:
            yield slice(0, self.sample.size), modes.left
            return
        assert modes.right is not None
        scaled = modes.right / np.sqrt(modes.values)
        for (rows, _), z in self._blocks():
            yield rows, z @ scaled

    def _transposed(self, inner: FloatArray) -> FloatArray:
        """Zᵀ c."""
        product = np.empty((self.phi.n_features, inner.shape[1]))
        for (_, columns), z in self._blocks():
            product[columns] = z.T @ inner
        return product

    @abstractmethod
    def _modes_in_blocks(self) -> EigenModes:
        """The modes of a Z that is too large to be stored."""

    @abstractmethod
    def _blocks(self) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
        """Z in blocks of rows and columns, each overwritten by the next."""


class Primal(RidgeEquations):
    """The equations (Zᵀ Z + alpha) a = Zᵀ y, with Z in blocks of rows."""

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        super().__init__(phi, sample, precision)
        self.sums = NormalEquations(phi.n_features, sample.labels.shape[1])
        self.sums.add(phi, sample, precision)
        self.mean = self.sums.mean

    def solve(self, alpha: float) -> FloatArray | None:
        return solve(self.sums.gram, self.sums.right, alpha, precision=self.eps)

    def modes(self) -> EigenModes:
        return eigenmodes(self.sums.gram, self.sums.right, primal=True)

    def residual(self, phi: FeatureMap, coef: FloatArray, alpha: float) -> FloatArray:
        """Zᵀ (y - Z a) - alpha a, (P, T), with the features of another map, in float64.

        Also moves `mean` to that of the other map, by the mean that is left after centring.
        """
        total, constant = -alpha * coef, self.sample.constant
        drift = np.zeros(phi.n_features)
        for (rows, _), z in self._blocks(phi):
            total += z.T @ (self.sample.targets[rows] - z @ coef)
            if constant is not None:
                drift += constant[rows] @ z
        self.mean += drift / np.sqrt(self.sample.weight)
        return total

    def _modes_in_blocks(self) -> EigenModes:
        """The modes of the triangle R of Z = Q R, with Qᵀ y."""
        p, n = self.phi.n_features, self.sample.size
        triangle: Numbers = np.empty((0, p + self.sample.labels.shape[1]))
        for (rows, _), z in self._blocks():
            block = np.hstack([z, self.sample.targets[rows]])
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
        modes = singular_modes(triangle[:p, :p], triangle[:p, p:], max(n, p))
        return replace(modes, left=None)  # of the triangle, not of Z

    def _blocks(
        self, phi: FeatureMap | None = None
    ) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
        for rows, part, z in features_by_rows(phi or self.phi, self.sample):
            yield (rows, slice(None)), part.prepared(z, self.mean)


class Dual(RidgeEquations):
    """The equations (Z Zᵀ + alpha) c = y, a = Zᵀ c, with Z in blocks of columns."""

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        super().__init__(phi, sample, precision)
        self.mean = np.zeros(phi.n_features)
        self._cuts = blocks(phi.n_features, sample.size)
        self._whole: FloatArray | None = None  # Z, where it is one block
        self._gram: FloatArray = np.zeros((sample.size, sample.size))
        for _, z in self._blocks():
            z = z.astype(precision, copy=False)
            self._gram += z @ z.T

    def solve(self, alpha: float) -> FloatArray | None:
        targets, null = self.sample.targets, self.sample.constant
        inner = solve(self._gram, targets, alpha, precision=self.eps, null=null)
        return None if inner is None else self._transposed(inner)

    def modes(self) -> EigenModes:
        drop = int(self.sample.intercept)
        return eigenmodes(self._gram, self.sample.targets, primal=False, drop=drop)

    def _modes_in_blocks(self) -> EigenModes:
        return self.modes()

    def _blocks(self) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
        if self._whole is not None:
            yield (slice(None), slice(None)), self._whole
            return
        sample = self.sample
        buffer = np.empty((sample.size, self._cuts[0].stop), self.phi.weights.dtype)
        for columns in self._cuts:
            z = buffer[:, : columns.stop - columns.start]
            self.phi.fill(sample.inputs, z, columns)
            if sample.intercept:
                self.mean[columns] = sample.mean_of(z)
            z = sample.prepared(z, self.mean[columns])
            if len(self._cuts) == 1:
                self._whole = z
            yield (slice(None), columns), z


def equations(
    phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
) -> RidgeEquations:
    """The smaller of both systems."""
    return (Dual if phi.n_features > sample.size else Primal)(phi, sample, precision)


def fit_member(phi: FeatureMap, sample: Sample, alpha: float) -> MemberFit:
    """The fit for one penalty, by the fastest method with enough correct digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        quick = refined(phi, sample, alpha)
        if quick is not None:
            coef, mean = quick
            return MemberFit(coef, sample.label_mean - mean @ coef)
        for precision in dict.fromkeys([sample.inputs.dtype, np.dtype(np.float64)]):
            system = equations(phi, sample, precision)
            solved = system.solve(alpha)
            if solved is not None:
                break
        else:
            solved = system.weights(system.precise_modes(), np.array([alpha]))[..., 0]
    return MemberFit(solved, sample.label_mean - system.mean @ solved)


def factorize(
    phi: FeatureMap, sample: Sample, smallest: float
) -> tuple[RidgeEquations, EigenModes]:
    """The equations of one member and their modes, for alphas down to `smallest`."""
    with np.errstate(over="ignore", invalid="ignore"):
        system = equations(phi, sample)
        modes = system.modes()
        rank = min(phi.n_features, sample.size - sample.intercept)
        low = modes.values[0] if modes.values.size == rank > 0 else 0.0
        if not resolved(low + smallest, modes.values.max(initial=0.0)):
            modes = system.precise_modes()
    return system, modes


def refined(phi: FeatureMap, sample: Sample, alpha: float) -> tuple[FloatArray, FloatArray] | None:
    """The weights (P, T) and the mean feature (P,) from products in float32.

    None where refinement is not worth its cost, or where it does not converge.
    """
    n, p, dim = sample.size, phi.n_features, sample.inputs.shape[1]
    if n < p or n * p**2 < REFINED_FROM or p < _FEATURES_PER_DIM * dim:
        return None
    if phi.weights.dtype != np.float64 or alpha <= 10 * _EPS32 * _gram_norm(phi, sample):
        return None
    rough = Primal(replace(phi, weights=phi.weights.astype(np.float32)), sample, np.float32)
    matrix = rough.sums.gram.copy()
    matrix.flat[:: len(matrix) + 1] += alpha
    if not np.isfinite(matrix).all():
        return None
    coef: FloatArray = np.asarray(np.linalg.solve(matrix, rough.sums.right))
    reduced = 1.0
    for _ in range(_PASSES):
        step = np.linalg.solve(matrix, rough.residual(phi, coef, alpha))
        factor = float(np.linalg.norm(step)) / max(float(np.linalg.norm(coef)), 1e-300) / reduced
        coef = coef + step
        reduced *= factor
        if reduced * factor < _TOLERANCE:
            return coef, rough.mean
    return None


def _gram_norm(phi: FeatureMap, sample: Sample) -> float:
    """Estimate of |Zᵀ Z|, whose square is the sum of (z_i·z_j)² over all pairs of rows."""
    n = sample.size
    part = sample.rows(slice(0, n, -(-n // _NORM_ROWS)))
    z = part.prepared(phi(part.inputs), np.zeros(phi.n_features))
    pairs = (z @ z.T) ** 2
    own = float(np.trace(pairs))
    other = (float(pairs.sum()) - own) / max(part.size - 1, 1)
    return float(np.sqrt(n / part.size * own + n * n / part.size * other))
