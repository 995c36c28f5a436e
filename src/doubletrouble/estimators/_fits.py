r"""The fit of one member: to its rows, with its features or the kernel of infinitely many.

Z (N × P) holds the features of the rows, centred where there is an intercept and multiplied by the
roots of the sample weights; it is evaluated in blocks. The fit minimizes |y - Z a|² + alpha |a|²,
by the smaller of the two Gram matrices of `doubletrouble._ridge`: that of the features (`Primal`)
for P ≤ N, that of the rows (`Dual`) for P > N. Where too few digits would be correct, both use Z
itself, or the triangle of its QR decomposition where Z is too large to be stored.

**Infinitely many features.** For P → ∞ the matrix Φ Φᵀ/P tends to the Gram matrix Γ of the rows
(`doubletrouble.kernels`), for every draw of the features, and the prediction to

    f(x) = Σ_i k(x, x_i) β_i + b,        β = √w (A + δ)⁻¹ √w (y - ȳ),        δ = λ W / D

with sample weights w of sum W, and

    A = C √w Γ √w C,        C = 1 - c cᵀ,        c = √(w/W)

With an intercept, ȳ is the weighted mean of the labels and b = ȳ - Σ_ij w_i k(x_i, x_j) β_j / W;
without one C = 1 and ȳ = b = 0. A takes the place of Z Zᵀ, and δ that of alpha (`Kernel`).

**Refinement** (`refined`) computes a float64 solution from products in float32. With
M ≈ A = Zᵀ Z + alpha in float32,

    a ← a + M⁻¹ (Zᵀ (y - Z a) - alpha a)

in float64 has the solution of A for its fixed point. Each step takes one pass over the data and
multiplies the error by |1 - M⁻¹ A|: the rounding of float32 times the condition number of A. A fit
to 50,000 rows with 2000 features takes four fifths of the time.

**Losses without a closed form.** The loss of a column of labels ±1 is

    (1/W) Σ_i 2 w_i ℓ(y_i, f(x_i)) + (P λ / D) |a|²

in which the squared loss (y - f)²/2 is that above. `convex.LinearModel` minimizes
Σ w ℓ + (alpha/2) |a|² with alpha = λ P W/D, or Σ w ℓ + (δ/2) γᵀ Γ γ where f = Γ γ.
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

from doubletrouble import _ridge
from doubletrouble._ridge import SINGULAR, Modes, cholesky_solution, half_of_digits
from doubletrouble.convex import LinearFit, LinearModel
from doubletrouble.errors import DivergenceError
from doubletrouble.estimators._features import FeatureMap, InputMap, KernelMap, RealArray, blocks
from doubletrouble.losses import Loss, Squared
from doubletrouble.parameters import FloatArray, IntArray

STORED_LIMIT = 2**27
"""Largest number of entries of a stored Z: 1 GB."""

REFINED_FROM = 1e10
"""Least number of multiplications in Zᵀ Z for which refinement is tried."""

_EPS32 = float(np.finfo(np.float32).eps)
_FEATURES_PER_DIM = 4  # a pass evaluates all features again: worth it where P is several times D
_PASSES, _TOLERANCE = 3, 1e-10
_NORM_ROWS = 256  # rows from which the norm of Zᵀ Z is estimated


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of positive weight; `intercept`: whether a constant is fitted, too."""

    inputs: RealArray  # (N, D)
    labels: FloatArray  # (N, T)
    weights: FloatArray  # (N,)
    intercept: bool

    @property
    def size(self) -> int:
        """N."""
        return int(self.inputs.shape[0])

    @cached_property
    def weight(self) -> float:
        """W = Σ w, in place of N."""
        return float(self.weights.sum())

    @cached_property
    def roots(self) -> FloatArray | None:
        """√w, by which rows are multiplied; None: all one."""
        return None if np.all(self.weights == 1) else np.sqrt(self.weights)

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
        return np.sqrt(self.weights / self.weight) if self.intercept else None

    def mean_of(self, z: RealArray) -> FloatArray:
        """The weighted mean of the features of these rows in float64, (P,)."""
        if self.roots is None:  # NumPy would add up float32 in float32
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
        inputs, labels, weights = self.inputs[part], self.labels[part], self.weights[part]
        return replace(self, inputs=inputs, labels=labels, weights=weights)

    def drawn(self, counts: IntArray) -> Sample:
        """The rows of a member, each as often as in `counts`; consecutive rows are not copied."""
        rows = np.flatnonzero(counts)
        first, last = int(rows[0]), int(rows[-1])
        part = self.rows(slice(first, last + 1) if last - first + 1 == rows.size else rows)
        return replace(part, weights=counts[rows] * part.weights)


class MemberFit(NamedTuple):
    """The fit of one member, for one penalty or for R of them."""

    coef: FloatArray  # (P, T) or (P, T, R); for infinitely many features (N, T) or (N, T, R)
    intercept: FloatArray  # (T,) or (T, R)


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

    def modes(self) -> Modes:
        """The modes, with half of the digits."""
        _check_finite(self.gram, self.right)
        return Modes.of_features(self.gram.copy(), self.right)

    def fit(self, alpha: float) -> MemberFit:
        """The fit for one penalty, with the digits that Zᵀ Z has."""
        coef = cholesky_solution(self.gram, self.right, alpha, least=SINGULAR)
        if coef is None:
            modes = self.modes()
            assert modes.right is not None
            coef = modes.right @ modes.gains(np.array([alpha]), 1)
        return MemberFit(coef, self.label_mean - self.mean @ coef)


def _check_finite(gram: FloatArray, labels: FloatArray) -> None:
    for name, array in (("X", gram), ("y", labels)):
        if not np.isfinite(array).all():
            raise ValueError(
                f"{name} must be scaled, got values whose products with features overflow"
            )


# --- equations of one member ---


class RidgeEquations(ABC):
    """The equations of one member, with products in a given precision."""

    sample: Sample
    mean: FloatArray  # of the features, (P,), or of the kernel, (N,); zeros without an intercept

    @abstractmethod
    def solve(self, alpha: float) -> FloatArray | None:
        """The coefficients for one penalty, or None where too few digits would be correct."""

    @abstractmethod
    def modes(self, smallest: float) -> Modes:
        """Modes with half of the digits of fits for alphas down to `smallest`."""

    @abstractmethod
    def precise_modes(self) -> Modes:
        """Modes with all digits that the features have."""

    @abstractmethod
    def coef(self, modes: Modes, alphas: FloatArray) -> FloatArray:
        """The coefficients for every penalty, (P, T × R) or (N, T × R)."""

    def left_vectors(self, modes: Modes) -> Iterator[tuple[slice, FloatArray]]:
        """U, in blocks of rows."""
        assert modes.left is not None
        yield slice(0, self.sample.size), modes.left

    def fit(self, alpha: float) -> MemberFit | None:
        """The fit for one penalty, or None where too few digits would be correct."""
        coef = self.solve(alpha)
        return None if coef is None else MemberFit(coef, self._intercept(coef))

    def precise_fit(self, alpha: float) -> MemberFit:
        """The same with all digits."""
        coef = self.coef(self.precise_modes(), np.array([alpha]))
        return MemberFit(coef, self._intercept(coef))

    def _intercept(self, coef: FloatArray) -> FloatArray:
        return self.sample.label_mean - self.mean @ coef

    def path(self, alphas: FloatArray) -> tuple[MemberFit, FloatArray]:
        """The fits for every penalty, and predictions of rows by fits to all others, (N, T, R)."""
        sample, modes = self.sample, self.modes(float(alphas.min()))
        flat = self.coef(modes, alphas)
        coef = flat.reshape(len(flat), -1, alphas.size)
        intercept = sample.label_mean[:, None] - np.tensordot(self.mean, coef, 1)
        residuals = _ridge.left_out_residuals(
            modes,
            alphas,
            sample.targets,
            left=self.left_vectors(modes),
            weights=sample.weights,
            constant=sample.constant,
        )
        if sample.roots is not None:
            residuals /= sample.roots[:, None, None]
        return MemberFit(coef, intercept), sample.labels[..., None] - residuals


class FeatureEquations(RidgeEquations):
    """The equations of finite features."""

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        self.phi, self.sample = phi, sample
        self.least = half_of_digits(float(np.finfo(precision).eps))

    def modes(self, smallest: float) -> Modes:
        modes = self.gram_modes()
        rank = min(self.phi.n_features, self.sample.size - self.sample.intercept)
        low = float(modes.values[0]) if modes.values.size == rank > 0 else 0.0
        sufficient = low + smallest > half_of_digits() * modes.values.max(initial=0.0)
        return modes if sufficient else self.precise_modes()

    def precise_modes(self) -> Modes:
        shape = (self.sample.size, self.phi.n_features)
        if math.prod(shape) > STORED_LIMIT:
            return self.modes_in_blocks()
        whole = np.empty(shape)
        for part, z in self.blocks():
            whole[part] = z
        return Modes.of_design(whole, self.sample.targets, max(shape))

    def coef(self, modes: Modes, alphas: FloatArray) -> FloatArray:
        if modes.right is not None:
            return np.asarray(modes.right @ modes.gains(alphas, 1))
        return self.transposed(modes.dual(alphas))

    def transposed(self, inner: FloatArray) -> FloatArray:
        """Zᵀ c."""
        product = np.empty((self.phi.n_features, inner.shape[1]))
        for (_, columns), z in self.blocks():
            product[columns] = z.T @ inner
        return product

    @abstractmethod
    def gram_modes(self) -> Modes:
        """The modes of the Gram matrix."""

    @abstractmethod
    def modes_in_blocks(self) -> Modes:
        """The modes of a Z that is too large to be stored."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
        """Z in blocks of rows and columns, each overwritten by the next."""


class Primal(FeatureEquations):
    """The equations (Zᵀ Z + alpha) a = Zᵀ y, with Z in blocks of rows."""

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        super().__init__(phi, sample, precision)
        self.sums = NormalEquations(phi.n_features, sample.labels.shape[1])
        self.sums.add(phi, sample, precision)
        self.mean = self.sums.mean

    def solve(self, alpha: float) -> FloatArray | None:
        return cholesky_solution(self.sums.gram, self.sums.right, alpha, least=self.least)

    def gram_modes(self) -> Modes:
        return self.sums.modes()

    def left_vectors(self, modes: Modes) -> Iterator[tuple[slice, FloatArray]]:
        if modes.left is not None:
            yield from super().left_vectors(modes)
            return
        assert modes.right is not None
        scaled = modes.right / np.sqrt(modes.values)
        for (rows, _), z in self.blocks():
            yield rows, z @ scaled

    def residual(self, phi: FeatureMap, coef: FloatArray, alpha: float) -> FloatArray:
        """Zᵀ (y - Z a) - alpha a, (P, T), with the features of another map, in float64.

        Also moves `mean` to that of the other map, by the mean that is left after centring.
        """
        total, constant = -alpha * coef, self.sample.constant
        drift = np.zeros(phi.n_features)
        for (rows, _), z in self.blocks(phi):
            total += z.T @ (self.sample.targets[rows] - z @ coef)
            if constant is not None:
                drift += constant[rows] @ z
        self.mean += drift / np.sqrt(self.sample.weight)
        return total

    def modes_in_blocks(self) -> Modes:
        """The modes of the triangle R of Z = Q R, with Qᵀ y."""
        p, n = self.phi.n_features, self.sample.size
        triangle: FloatArray = np.empty((0, p + self.sample.labels.shape[1]))
        for (rows, _), z in self.blocks():
            block = np.hstack([z, self.sample.targets[rows]])
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
        modes = Modes.of_design(triangle[:p, :p], triangle[:p, p:], max(n, p))
        return replace(modes, left=None)  # of the triangle, not of Z

    def blocks(
        self, phi: FeatureMap | None = None
    ) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
        for rows, part, z in features_by_rows(phi or self.phi, self.sample):
            yield (rows, slice(None)), part.prepared(z, self.mean)


class Dual(FeatureEquations):
    """The equations (Z Zᵀ + alpha) c = y, a = Zᵀ c, with Z in blocks of columns."""

    def __init__(
        self, phi: FeatureMap, sample: Sample, precision: npt.DTypeLike = np.float64
    ) -> None:
        super().__init__(phi, sample, precision)
        self.mean = np.zeros(phi.n_features)
        self._cuts = blocks(phi.n_features, sample.size)
        self._whole: FloatArray | None = None  # Z, where it is one block
        self._gram: FloatArray = np.zeros((sample.size, sample.size))
        for _, z in self.blocks():
            z = z.astype(precision, copy=False)
            self._gram += z @ z.T

    def solve(self, alpha: float) -> FloatArray | None:
        targets, null = self.sample.targets, self.sample.constant
        inner = cholesky_solution(self._gram, targets, alpha, least=self.least, null=null)
        return None if inner is None else self.transposed(inner)

    def gram_modes(self) -> Modes:
        _check_finite(self._gram, self.sample.targets)
        return Modes.of_rows(self._gram.copy(), self.sample.targets, null=self.sample.constant)

    def modes_in_blocks(self) -> Modes:
        # the triangle of Zᵀ has more digits of c, which cancel in Zᵀ c
        return self.gram_modes()

    def blocks(self) -> Iterator[tuple[tuple[slice, slice], FloatArray]]:
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


class Kernel(RidgeEquations):
    """The equations (A + δ) γ = √w (y - ȳ), with β = √w γ, for infinitely many features."""

    def __init__(self, phi: KernelMap, sample: Sample) -> None:
        self.sample, self._size = sample, 0.0
        matrix = phi.gram()
        self.mean = sample.mean_of(matrix) if sample.intercept else np.zeros(sample.size)
        if sample.roots is not None:
            matrix *= sample.roots
            matrix *= sample.roots[:, None]
        if sample.constant is not None:
            self._size = float(np.abs(matrix).max())
            _ridge.centred(matrix, sample.constant)
        self._matrix = matrix

    def solve(self, alpha: float) -> FloatArray | None:
        targets, null = self.sample.targets, self.sample.constant
        dual = cholesky_solution(self._matrix, targets, alpha, least=SINGULAR, null=null)
        return None if dual is None else self._beta(dual)

    def modes(self, smallest: float) -> Modes:
        return self.precise_modes()

    def precise_modes(self) -> Modes:
        targets, null = self.sample.targets, self.sample.constant
        return Modes.of_rows(self._matrix, targets, null=null, size=self._size)

    def coef(self, modes: Modes, alphas: FloatArray) -> FloatArray:
        return self._beta(modes.dual(alphas))

    def _beta(self, dual: FloatArray) -> FloatArray:
        """√w C γ: C γ = γ but for rounding, which an inverse eigenvalue can make large."""
        roots, constant = self.sample.roots, self.sample.constant
        if constant is not None:
            dual = dual - np.outer(constant, constant @ dual)
        return dual if roots is None else roots[:, None] * dual


def equations(
    phi: InputMap, sample: Sample, precision: npt.DTypeLike = np.float64
) -> RidgeEquations:
    """Those of the kernel, or the smaller of both systems of the features."""
    if isinstance(phi, KernelMap):
        return Kernel(phi, sample)
    assert isinstance(phi, FeatureMap)
    return (Dual if phi.n_features > sample.size else Primal)(phi, sample, precision)


def fit_path(phi: InputMap, sample: Sample, alphas: FloatArray) -> tuple[MemberFit, FloatArray]:
    """Fits for every penalty, and predictions for each row by the fits to all others."""
    with np.errstate(over="ignore", invalid="ignore"):
        return equations(phi, sample).path(alphas)


def fit_member(phi: InputMap, sample: Sample, alpha: float, loss: Loss) -> MemberFit:
    """The fit for one penalty, by the fastest method with enough correct digits."""
    if not isinstance(loss, Squared):
        return _fit_convex(phi, sample, alpha, loss)
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(phi, FeatureMap):
            fit = refined(phi, sample, alpha)
            if fit is None and sample.inputs.dtype == np.float32:
                fit = equations(phi, sample, np.float32).fit(alpha)
            if fit is not None:
                return fit
        system = equations(phi, sample)
        fit = system.fit(alpha)
        return system.precise_fit(alpha) if fit is None else fit


def refined(phi: FeatureMap, sample: Sample, alpha: float) -> MemberFit | None:
    """The fit from products in float32, or None where that is not faster or does not converge."""
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
            return MemberFit(coef, sample.label_mean - rough.mean @ coef)
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


def _fit_convex(phi: InputMap, sample: Sample, alpha: float, loss: Loss) -> MemberFit:
    if isinstance(phi, KernelMap):
        model = LinearModel(gram=phi.gram())
    elif sample.size * phi.n_features > STORED_LIMIT:
        raise ValueError(
            f"n_features times rows must be at most {STORED_LIMIT} for loss {loss!s}, which needs "
            f"all features at once, got {phi.n_features} and {sample.size}"
        )
    else:
        model = LinearModel(np.asarray(phi(sample.inputs), dtype=np.float64))
    fits = [_fit_column(model, sample, column, loss, alpha) for column in sample.labels.T]
    columns = [fit.dual if fit.weights is None else fit.weights for fit in fits]
    return MemberFit(np.stack(columns, axis=1), np.array([fit.intercept for fit in fits]))


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
