r"""Kernel ridge regression on N rows as a function of its ridge κ.

With the Gram matrix Γ of the rows and G = (Γ + κ)⁻¹, the error of random features depends on

    df₁ = tr Γ G,        df₂ = tr Γ² G² = df₁ - κ w_n
    error          E_∞ = mean_x (y(x) - k_xᵀ G y)²
    sampling       h = mean_x k_xᵀ G² k_x, the factor of the variance over training sets
    feature error  v = mean_x E_θ (s_θ(x) - k_xᵀ G s_θ(X))², of predicting one feature at x
    label energy   w = yᵀ G Γ G y, and of label noise of unit variance, w_n = tr G Γ G

summed over the columns of y, and averaged over new rows x. They are evaluated on a grid of κ,

* at N = n by leave-one-out, exactly, from one eigendecomposition Γ = U diag(d) Uᵀ:
  E_∞ = mean_i ((G y)_i/G_ii)², h = mean_i (G²)_ii/G_ii² - 1, v = mean_i (G Γ G)_ii/G_ii²,
* at N < n from random splits into N and n - N rows,
* at N > n by the functions of the population (`_population`),

and interpolated in logarithms, with power laws for κ → 0 and κ → ∞. An intercept is a
direction without a penalty: Γ is centred, and the constant vector is not one of the eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline

from doubletrouble import _ridge
from doubletrouble.errors import require
from doubletrouble.parameters import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]
Fits: TypeAlias = list[tuple[FloatArray, FloatArray]]
"""G y and G² y for each column of y, (n, m)."""

_PER_DECADE = 14  # nodes of the grid of κ
_BELOW, _ABOVE = 1e-4, 1e6  # the grid, relative to the least and the largest eigenvalue
_LEAST = 1e-13  # κ, relative to the largest eigenvalue
_GAP = 1e3  # of a rank: the least eigenvalue over that limit
_TINY = 1e-300
_BLOCK = 2**20  # entries of temporary arrays of groups
_FLOPS = 2e11  # of the eigendecompositions of all splits of one size
_MOST_SPLITS, _FEWEST_SPLITS = 24, 3


class RidgeFunctions(NamedTuple):
    """The functions of κ, at some values of it."""

    unused: FloatArray  # N - df₁, without cancellation
    df1: FloatArray
    error: FloatArray
    sampling: FloatArray
    feature_error: FloatArray
    label_energy: FloatArray
    noise_energy: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeTable:
    """The functions of κ on a grid, for training sets of one size."""

    n_samples: float  # N, less one for an intercept
    log_kappa: FloatArray  # (m,), increasing
    logs: FloatArray  # (m, 7): logarithms of RidgeFunctions
    log_g: FloatArray | None = None  # (m,): g of the population at the nodes, for N > n

    @classmethod
    def of(
        cls,
        kappa: FloatArray,
        functions: RidgeFunctions,
        n_samples: float,
        log_g: FloatArray | None = None,
    ) -> Self:
        """Store logarithms."""
        logs = np.log(np.maximum(np.stack(functions, axis=-1), _TINY))
        return cls(n_samples=n_samples, log_kappa=np.log(kappa), logs=logs, log_g=log_g)

    @cached_property
    def _spline(self) -> CubicSpline:
        return CubicSpline(self.log_kappa, self.logs, bc_type="natural")

    @cached_property
    def _freedom_spline(self) -> CubicSpline:
        return CubicSpline(self.log_kappa, self.logs[:, :2], bc_type="natural")

    @property
    def functions(self) -> RidgeFunctions:
        """The functions on the grid."""
        return RidgeFunctions(*np.exp(self.logs.T))

    def at(self, log_kappa: FloatArray) -> RidgeFunctions:
        """The functions at any κ: beyond the grid, by power laws."""
        logs = np.moveaxis(_continued(self._spline, log_kappa), -1, 0)
        with np.errstate(over="ignore", under="ignore"):
            return RidgeFunctions(*np.exp(logs))

    def freedom(self, log_kappa: FloatArray) -> tuple[FloatArray, FloatArray]:
        """N - df₁ and df₁ alone."""
        unused, used = np.moveaxis(_continued(self._freedom_spline, log_kappa), -1, 0)
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(unused), np.exp(used)


def _continued(spline: CubicSpline, t: FloatArray) -> FloatArray:
    """A spline, continued linearly beyond its ends.

    Exponents of the limits are integers: not negative for κ → 0, and not positive for κ → ∞.
    """
    low, high = spline.x[0], spline.x[-1]
    inside = np.clip(t, low, high)
    values = np.asarray(spline(inside))
    beyond = (np.asarray(t) - inside)[..., None]
    if np.any(beyond):
        slope = np.round(spline(inside, 1))
        values = values + beyond * np.where(beyond < 0, np.maximum(slope, 0), np.minimum(slope, 0))
    return values


# --- rows ---


@dataclass(frozen=True, kw_only=True, eq=False)
class DataRows:
    """The rows of a data set: their Gram matrix, labels, and groups that are left out together."""

    gram: FloatArray  # (n, n)
    labels: FloatArray  # (n, T)
    groups: IntArray | None = None  # (n,): codes 0, 1, …
    intercept: bool = False
    device: str = "cpu"

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_modes(self) -> int:
        """N, less one for an intercept."""
        return len(self) - int(self.intercept)

    def subset(self, rows: IntArray) -> Self:
        """Some of the rows."""
        groups = self.groups
        return replace(
            self,
            gram=self.gram[np.ix_(rows, rows)],
            labels=self.labels[rows],
            groups=None if groups is None else np.unique(groups[rows], return_inverse=True)[1],
        )

    def shuffled(self, rng: np.random.Generator) -> IntArray:
        """The rows in random order, those of a group together."""
        if self.groups is None:
            return rng.permutation(len(self))
        return np.argsort(rng.permutation(int(self.groups.max()) + 1)[self.groups], kind="stable")


@dataclass(frozen=True, kw_only=True, eq=False)
class Eigenbasis:
    """The eigendecomposition of a Gram matrix, and the labels; centred, with an intercept."""

    eigenvalues: FloatArray  # (r,), increasing, 0 below rounding: r = n, or n - 1 (intercept)
    vectors: FloatArray  # (n, r)
    labels: FloatArray  # (n, T)

    @classmethod
    def of(cls, rows: DataRows) -> Self:
        """Decompose the Gram matrix, which is not changed."""
        matrix, labels, constant = rows.gram.copy(), rows.labels, None
        if rows.intercept:
            constant = np.full(len(rows), len(rows) ** -0.5)
            _ridge.centred(matrix, constant)
            labels = labels - labels.mean(axis=0)
        if rows.device == "cpu":
            d, U = _ridge.eigenvectors(matrix, null=constant)
            return cls(eigenvalues=d, vectors=U, labels=labels)
        torch = require("torch", "torch")
        try:
            tensor = torch.asarray(matrix, device=rows.device)
        except (RuntimeError, AssertionError):  # unknown, or not on this machine
            raise ValueError(f"device must be available to torch, got {rows.device!r}") from None
        null = None if constant is None else torch.asarray(constant, device=rows.device)
        d, U = (tensor.cpu().numpy() for tensor in _ridge.eigenvectors(tensor, null=null))
        return cls(eigenvalues=d, vectors=U, labels=labels)

    @property
    def rounding(self) -> float:
        """The least κ with an effect beyond rounding: 0 unless eigenvalues decrease to rounding."""
        d = self.eigenvalues
        limit = _ridge.rounding(d)
        return limit if d[0] == 0 and d[d > 0][0] < _GAP * limit else 0.0

    @cached_property
    def kappas(self) -> FloatArray:
        """The grid of κ."""
        d = self.eigenvalues[self.eigenvalues > 0]
        largest = float(d[-1])
        least = max(_BELOW * float(d[0]), _LEAST * largest)
        count = int(np.ceil(_PER_DECADE * np.log10(_ABOVE * largest / least)))
        return np.geomspace(least, _ABOVE * largest, count + 1)


# --- leave-one-out ---


class _LeftOut(NamedTuple):
    """Quantities of rows left out, on a grid of κ: (n, m) each."""

    residuals: list[FloatArray]  # of every column of y
    residual_slopes: list[FloatArray]  # in κ
    variance: FloatArray  # s_i
    sampling: FloatArray  # h_i
    feature_error: FloatArray  # v_i
    label_energy: FloatArray  # change of w by the row


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaveOneOut:
    """Leave-one-out on a grid of κ: the functions, and the contributions of rows to them.

    With groups, all rows of a group are left out together.
    """

    kappa: FloatArray  # (m,)
    functions: RidgeFunctions
    row_errors: FloatArray  # (n, m): squared residuals left out, summed over columns of y
    row_label_energy: FloatArray  # (n, m): change of w by a row
    row_feature_error: FloatArray  # (n, m)
    row_variance: FloatArray  # (n, m): s_i = 1/G_ii - κ, the variance of k(x_i, ·) left out
    row_sampling: FloatArray  # (n, m): ds_i/dκ, more with an intercept
    row_product: FloatArray  # (n, m): y_i (G y)_i/G_ii
    row_product_slope: FloatArray  # (n, m): its derivative in κ
    gcv: FloatArray  # (m,): E_∞ with G_ii replaced by its mean
    inflation: FloatArray  # (m,): of the standard error, for correlated residuals
    rounding: float  # the least κ with an effect beyond rounding

    @classmethod
    def of(cls, spectrum: Eigenbasis, groups: IntArray | None = None) -> Self:
        """Evaluate all functions; the eigenvectors of `spectrum` are squared in place."""
        d, U, y = spectrum.eigenvalues, spectrum.vectors, spectrum.labels
        kappa = spectrum.kappas
        inverse = 1 / (d[:, None] + kappa)  # (r, m)
        learned = d[:, None] * inverse
        b = U.T @ y  # (r, T)
        fits = [(U @ (c[:, None] * inverse), U @ (c[:, None] * inverse**2)) for c in b.T]
        if groups is None:
            np.square(U, out=U)
            left = _rows_left_out(U, inverse, learned, kappa, fits)
        else:
            left = _groups_left_out(U, inverse, learned, kappa, fits, groups)
        mean_inverse = inverse.sum(axis=0) / len(U)
        relative = inverse * kappa  # its powers do not overflow
        row_errors = np.sum(np.square(left.residuals), axis=0)
        functions = RidgeFunctions(
            unused=(kappa * inverse).sum(axis=0),
            df1=learned.sum(axis=0),
            error=row_errors.mean(axis=0),
            sampling=left.sampling.mean(axis=0),
            feature_error=left.feature_error.mean(axis=0),
            label_energy=((b**2).sum(axis=1)[:, None] * learned * inverse).sum(axis=0),
            noise_energy=(learned * inverse).sum(axis=0),
        )
        products, slopes = (
            np.sum([c[:, None] * one for c, one in zip(y.T, ones, strict=True)], axis=0)
            for ones in (left.residuals, left.residual_slopes)
        )
        fitted = sum((once**2).mean(axis=0) for once, _ in fits)
        return cls(
            kappa=kappa,
            functions=functions,
            row_errors=row_errors,
            row_label_energy=left.label_energy,
            row_feature_error=left.feature_error,
            row_variance=left.variance,
            row_sampling=left.sampling,
            row_product=products,
            row_product_slope=slopes,
            gcv=fitted / mean_inverse**2,
            rounding=spectrum.rounding,
            inflation=np.sqrt(len(U) * (relative**4).sum(axis=0)) / (relative**2).sum(axis=0),
        )


def _rows_left_out(
    squares: FloatArray,
    inverse: FloatArray,
    learned: FloatArray,
    kappa: FloatArray,
    fits: Fits,
) -> _LeftOut:
    """Single rows left out, from the squared eigenvectors."""
    diagonal = squares @ inverse  # G_ii
    diagonal2 = squares @ inverse**2  # (G²)_ii
    shrunk = squares @ learned  # 1 - κ G_ii, less 1/n with an intercept
    share = squares.sum(axis=1, keepdims=True)  # 1, less 1/n with an intercept
    kept = share - shrunk
    # two forms of one variance: use the one that does not subtract
    sampling = np.where(
        shrunk < 0.5 * share,
        (share - 2 * shrunk + squares @ learned**2 - kept**2) / kept**2,
        diagonal2 / diagonal**2 - 1,
    )
    residuals, slopes, energy = [], [], np.zeros_like(diagonal)
    for once, twice in fits:
        residual = once / diagonal
        slope = residual * (residual * diagonal2 - 2 * twice)  # of (G y)_i²/G_ii in κ
        energy += residual * once + kappa * slope
        residuals.append(residual)
        slopes.append((residual * diagonal2 - twice) / diagonal)
    return _LeftOut(
        residuals=residuals,
        residual_slopes=slopes,
        variance=shrunk / (share * diagonal),
        sampling=sampling,
        feature_error=squares @ (learned * inverse) / diagonal**2,
        label_energy=energy,
    )


def _groups_left_out(
    vectors: FloatArray,
    inverse: FloatArray,
    learned: FloatArray,
    kappa: FloatArray,
    fits: Fits,
    groups: IntArray,
) -> _LeftOut:
    """Whole groups left out: 1/G_ii is replaced by the inverse of the group's block of G."""
    shape = (len(vectors), len(kappa))
    residuals, slopes = ([np.empty(shape) for _ in fits] for _ in range(2))
    variance, sampling, features, energy = (np.zeros(shape) for _ in range(4))
    for group in range(int(groups.max()) + 1):
        rows = np.flatnonzero(groups == group)
        U = vectors[rows]
        centring = np.linalg.inv(U @ U.T)  # the identity, more with an intercept
        step = max(1, _BLOCK // U.size)
        for start in range(0, len(kappa), step):
            here = slice(start, start + step)
            one, used = inverse[:, here].T[:, None, :], learned[:, here].T[:, None, :]
            first, second, shrunk = (U * one) @ U.T, (U * one**2) @ U.T, (U * used) @ U.T
            block = np.linalg.inv(first)  # (G_II)⁻¹, (m, g, g)
            variance[rows, here] = _diagonals(block @ shrunk @ centring)
            # two forms of one variance: use the one that does not subtract
            kept = block / kappa[here, None, None]  # (U Uᵀ - shrunk)⁻¹
            rest = (U * used**2) @ U.T - shrunk @ centring @ shrunk
            fixed = np.diagonal(centring)[:, None] - 1
            sampling[rows, here] = np.where(
                np.trace(shrunk, axis1=1, axis2=2) < 0.5 * len(rows),
                fixed + _diagonals(kept @ rest @ kept),
                _diagonals(block @ second @ block) - 1,
            )
            features[rows, here] = _diagonals(block @ ((U * (used * one)) @ U.T) @ block)
            for residual, slope, (once, twice) in zip(residuals, slopes, fits, strict=True):
                own, own2 = once[rows, here], twice[rows, here]
                left = np.einsum("mij,jm->im", block, own)
                change = np.einsum("mij,jm->im", second, left)
                residual[rows, here] = left
                slope[rows, here] = np.einsum("mij,jm->im", block, change - own2)
                energy[rows, here] += left * own + kappa[here] * left * (change - 2 * own2)
    return _LeftOut(residuals, slopes, variance, sampling, features, energy)


def _diagonals(matrices: FloatArray) -> FloatArray:
    """The diagonals of m matrices, (g, m)."""
    return np.diagonal(matrices, axis1=1, axis2=2).T


# --- splits into training and test rows ---


def split_functions(
    rows: DataRows, n_samples: int, left_out: LeaveOneOut, rng: np.random.Generator
) -> RidgeFunctions:
    """The functions at N < n, averaged over random splits of the rows.

    Some rows are tested on more often than others. The leave-one-out errors of the rows, weighted
    by how often, are a control variate: a curve in N does not vary with the choice of test rows.
    """
    kappa = left_out.kappa
    affordable = int(_FLOPS / (10.0 * n_samples**3))
    count = max(_FEWEST_SPLITS, min(_MOST_SPLITS, affordable))
    found: list[RidgeFunctions] = []
    weights = np.zeros(len(rows))  # how often a row is tested on
    while len(found) < count:
        order = rows.shuffled(rng)
        train, test = order[:n_samples], order[n_samples:]
        if rows.groups is not None:  # rows of a group that is split are not test rows
            test = test[rows.groups[test] != rows.groups[train[-1]]]
        if test.size:
            found.append(one_split(rows, train, test, kappa))
            weights[test] += 1 / (count * test.size)
    mean = RidgeFunctions(*(np.mean(values, axis=0) for values in zip(*found, strict=True)))

    def corrected(value: FloatArray, of_rows: FloatArray) -> FloatArray:
        tested = weights @ of_rows
        slope = np.minimum(1.0, value / tested)
        return np.asarray(value + slope * (of_rows.mean(axis=0) - tested))

    return mean._replace(
        error=corrected(mean.error, left_out.row_errors),
        feature_error=corrected(mean.feature_error, left_out.row_feature_error),
    )


def one_split(rows: DataRows, train: IntArray, test: IntArray, kappa: FloatArray) -> RidgeFunctions:
    """The functions of one training set, averaged over test rows."""
    inside = rows.subset(train)
    spectrum = Eigenbasis.of(inside)
    across, own, target = rows.gram[np.ix_(test, train)], rows.gram[test, test], rows.labels[test]
    if rows.intercept:
        row, column, mean = across.mean(axis=1), inside.gram.mean(axis=0), inside.gram.mean()
        own = own - 2 * row + mean
        across = across - row[:, None] - column + mean
        target = target - inside.labels.mean(axis=0)
    d, U, y = spectrum.eigenvalues, spectrum.vectors, spectrum.labels
    inverse = 1 / (d[:, None] + kappa)
    learned = d[:, None] * inverse
    projected, b = across @ U, U.T @ y  # (n - N, r), (r, T)
    pairs = zip(target.T, b.T, strict=True)
    residuals = [t[:, None] - projected @ (c[:, None] * inverse) for t, c in pairs]
    energy = np.square(projected).mean(axis=0)  # (r,)
    # k_xx - k_xᵀ G (1 + κ G) k_x without a difference that vanishes with κ
    scaled = np.where(d > 0, energy / np.where(d > 0, d, 1.0), 0.0)
    outside = max(float(own.mean() - scaled.sum()), 0.0)
    return RidgeFunctions(
        unused=(kappa * inverse).sum(axis=0),
        df1=learned.sum(axis=0),
        error=np.square(residuals).mean(axis=1).sum(axis=0),
        sampling=energy @ inverse**2 + (1 / len(train) if rows.intercept else 0.0),
        feature_error=outside + scaled @ np.square(kappa * inverse),
        label_energy=((b**2).sum(axis=1)[:, None] * learned * inverse).sum(axis=0),
        noise_energy=(learned * inverse).sum(axis=0),
    )
