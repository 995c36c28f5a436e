r"""Kernel ridge regression on N rows as a function of its ridge κ.

With the Gram matrix K of the rows and G = (K + κ)⁻¹, the error of random features depends on

    df₁ = tr K G,        df₂ = tr K² G²
    error          E_∞ = mean_x (y(x) - k_xᵀ G y)²
    sampling       h = mean_x k_xᵀ G² k_x, the factor of the variance over training sets
    feature error  v = mean_x E_θ (s_θ(x) - k_xᵀ G s_θ(X))², of predicting one feature at x
    label energy   w = yᵀ G K G y, and of label noise of unit variance, w_n = tr G K G

summed over the columns of y, and averaged over new rows x. They are evaluated on a grid of κ,

* at N = n by leave-one-out, exactly, from one eigendecomposition K = U diag(d) Uᵀ:
  E_∞ = mean_i ((G y)_i/G_ii)², h = mean_i (G²)_ii/G_ii² - 1, v = mean_i (G K G)_ii/G_ii²,
* at N < n from random splits into N and n - N rows,
* at N > n by the functions of the population (`_population`),

and interpolated in logarithms, which continue as power laws to κ → 0 and κ → ∞. An intercept is a
direction without a penalty: K is centred, and the constant vector leaves the eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh

from doubletrouble.errors import require
from doubletrouble.parameters import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]
Fits: TypeAlias = list[tuple[FloatArray, FloatArray]]
"""G y and G² y for each column of y, (n, m)."""

_PER_DECADE = 14  # nodes of the grid of κ
_BELOW, _ABOVE = 1e-3, 1e6  # the grid, relative to the least and the largest eigenvalue
_SINGULAR = 1e-13  # eigenvalues below it, relative to the largest, are rounding
_TINY = 1e-300
_FLOPS = 2e11  # of the eigendecompositions of all splits of one size
_MOST_SPLITS, _FEWEST_SPLITS = 24, 3


class RidgeFunctions(NamedTuple):
    """The functions of κ, at some values of it."""

    unused1: FloatArray  # N - df₁, without cancellation
    unused2: FloatArray  # N - df₂
    df1: FloatArray
    df2: FloatArray
    error: FloatArray
    sampling: FloatArray
    feature_error: FloatArray
    label_energy: FloatArray
    noise_energy: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelRidge:
    """The functions of κ on a grid, for training sets of one size."""

    n_samples: float  # N, less one for an intercept
    log_kappa: FloatArray  # (m,), increasing
    logs: FloatArray  # (m, 9): logarithms of RidgeFunctions
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
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(np.stack(functions, axis=-1), _TINY))
        return cls(n_samples=n_samples, log_kappa=np.log(kappa), logs=logs, log_g=log_g)

    @cached_property
    def _spline(self) -> CubicSpline:
        return CubicSpline(self.log_kappa, self.logs, bc_type="natural")

    @cached_property
    def _freedom_spline(self) -> CubicSpline:
        return CubicSpline(self.log_kappa, self.logs[:, [0, 2]], bc_type="natural")

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

    There all functions are whole powers of κ: a slope of 0.0002 in place of 0 would change the
    limit κ → 0, hundreds of e-folds away, by 10 %.
    """
    low, high = spline.x[0], spline.x[-1]
    inside = np.clip(t, low, high)
    values = np.asarray(spline(inside))
    beyond = np.asarray(t) - inside
    if np.any(beyond):
        values = values + beyond[..., None] * np.rint(spline(inside, 1))
    return values


# --- leave-one-out ---


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The eigendecomposition of a Gram matrix, and labels in its basis."""

    eigenvalues: FloatArray  # (r,)
    vectors: FloatArray  # (n, r): r = n, or n - 1 with an intercept
    labels: FloatArray  # (n, T)
    intercept: bool

    @classmethod
    def of(
        cls, gram: FloatArray, labels: FloatArray, *, intercept: bool, device: str = "cpu"
    ) -> Self:
        """Decompose a Gram matrix, which is not changed."""
        matrix = gram.copy()
        if intercept:
            matrix -= matrix.mean(axis=0)
            matrix -= matrix.mean(axis=1, keepdims=True)
            labels = labels - labels.mean(axis=0)
        d, U = _eigh(matrix, device)
        if intercept:
            # of the null space, which contains the constant vector, keep what is orthogonal to it
            d, U = _without_constant(d, U)
        return cls(eigenvalues=np.maximum(d, 0.0), vectors=U, labels=labels, intercept=intercept)

    @property
    def n_modes(self) -> int:
        """N, less one for an intercept."""
        return len(self.eigenvalues)

    def kappas(self) -> FloatArray:
        """The grid of κ."""
        d = self.eigenvalues
        largest = float(d[-1])
        least = max(_BELOW * float(d[0]), _SINGULAR * largest)
        count = int(np.ceil(_PER_DECADE * np.log10(_ABOVE * largest / least)))
        return np.geomspace(least, _ABOVE * largest, count + 1)


def _eigh(matrix: FloatArray, device: str) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, increasing, and eigenvectors; the matrix may be overwritten."""
    if device == "cpu":
        d, U = eigh(matrix, overwrite_a=True, check_finite=False)
        return d, U
    torch = require("torch", "torch")
    values, vectors = torch.linalg.eigh(torch.asarray(matrix, device=device))
    return values.cpu().numpy(), vectors.cpu().numpy()


def _without_constant(d: FloatArray, U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The eigenvectors orthogonal to the constant vector, an eigenvector of eigenvalue 0."""
    n = len(U)
    null = d <= 1e-10 * d[-1]
    basis = U[:, null]
    constant = basis.T @ np.full(n, n**-0.5)
    # a reflection that maps the first coordinate to the constant
    reflected = constant.copy()
    reflected[0] += np.copysign(np.linalg.norm(constant), constant[0])
    basis = basis - np.outer(basis @ reflected, 2 * reflected / (reflected @ reflected))
    U[:, null] = basis
    drop = int(np.flatnonzero(null)[0])
    return np.delete(d, drop), np.delete(U, drop, axis=1)


class _LeftOut(NamedTuple):
    """Quantities of rows left out, on a grid of κ: (n, m) each."""

    residuals: list[FloatArray]  # of every column of y
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
    label_product: FloatArray  # (m,): mean_i y_i (G y)_i/G_ii
    gcv: FloatArray  # (m,): E_∞ with G_ii replaced by its mean
    inflation: FloatArray  # (m,): of the standard error, for correlated residuals

    @classmethod
    def of(cls, spectrum: Spectrum, groups: IntArray | None = None) -> Self:
        """Evaluate all functions; the eigenvectors of `spectrum` are squared in place."""
        d, U, y = spectrum.eigenvalues, spectrum.vectors, spectrum.labels
        kappa = spectrum.kappas()
        inverse = 1 / (d[:, None] + kappa)  # (r, m)
        learned = d[:, None] * inverse
        b = U.T @ y  # (r, T)
        fits = [(U @ (c[:, None] * inverse), U @ (c[:, None] * inverse**2)) for c in b.T]
        if groups is None:
            np.square(U, out=U)
            left = _rows_left_out(U, inverse, learned, kappa, fits)
            mean_inverse = inverse.sum(axis=0) / len(U)
        else:
            left = _groups_left_out(U, inverse, learned, kappa, fits, groups)
            mean_inverse = inverse.sum(axis=0) / len(U)
        row_errors = np.sum(np.square(left.residuals), axis=0)
        functions = RidgeFunctions(
            unused1=(kappa * inverse).sum(axis=0),
            unused2=(kappa * (2 * d[:, None] + kappa) * inverse**2).sum(axis=0),
            df1=learned.sum(axis=0),
            df2=(learned**2).sum(axis=0),
            error=row_errors.mean(axis=0),
            sampling=left.sampling.mean(axis=0),
            feature_error=left.feature_error.mean(axis=0),
            label_energy=((b**2).sum(axis=1)[:, None] * learned * inverse).sum(axis=0),
            noise_energy=(learned * inverse).sum(axis=0),
        )
        products = sum(
            column[:, None] * one for column, one in zip(y.T, left.residuals, strict=True)
        )
        fitted = sum((once**2).mean(axis=0) for once, _ in fits)
        return cls(
            kappa=kappa,
            functions=functions,
            row_errors=row_errors,
            row_label_energy=left.label_energy,
            row_feature_error=left.feature_error,
            row_variance=left.variance,
            label_product=np.asarray(products).mean(axis=0),
            gcv=fitted / mean_inverse**2,
            inflation=np.sqrt(len(U) * (inverse**4).sum(axis=0)) / (inverse**2).sum(axis=0),
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
    residuals, energy = [], np.zeros_like(diagonal)
    for once, twice in fits:
        residual = once / diagonal
        slope = residual * (residual * diagonal2 - 2 * twice)  # of (G y)_i²/G_ii in κ
        energy += residual * once + kappa * slope
        residuals.append(residual)
    return _LeftOut(
        residuals=residuals,
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
    residuals = [np.empty(shape) for _ in fits]
    variance, sampling, features, energy = (np.zeros(shape) for _ in range(4))
    for group in range(int(groups.max()) + 1):
        rows = np.flatnonzero(groups == group)
        U = vectors[rows]
        share = np.diagonal(np.linalg.inv(U @ U.T))  # 1, more with an intercept
        for index, ridge in enumerate(kappa):
            one, used = inverse[:, index], learned[:, index]
            block = np.linalg.inv((U * one) @ U.T)  # (G_II)⁻¹
            variance[rows, index] = np.diagonal(block) - ridge * share
            second = (U * one**2) @ U.T
            sampling[rows, index] = np.diagonal(block @ second @ block) - 1
            features[rows, index] = np.diagonal(block @ ((U * (used * one)) @ U.T) @ block)
            for residual, (once, twice) in zip(residuals, fits, strict=True):
                own = block @ once[rows, index]
                residual[rows, index] = own
                slope = own * (second @ own - 2 * twice[rows, index])
                energy[rows, index] += own * once[rows, index] + ridge * slope
    return _LeftOut(residuals, variance, sampling, features, energy)


# --- splits into training and test rows ---


def split_functions(
    gram: FloatArray,
    labels: FloatArray,
    n_train: int,
    kappa: FloatArray,
    rng: np.random.Generator,
    *,
    intercept: bool,
    groups: IntArray | None = None,
) -> RidgeFunctions:
    """The functions at N < n, averaged over random splits of the rows."""
    affordable = int(_FLOPS / (10.0 * n_train**3))
    count = max(_FEWEST_SPLITS, min(_MOST_SPLITS, affordable))
    found = []
    for _ in range(count):
        train, test = _split_rows(len(gram), n_train, rng, groups)
        found.append(_split(gram, labels, train, test, kappa, intercept=intercept))
    return RidgeFunctions(*(np.mean(values, axis=0) for values in zip(*found, strict=True)))


def _split_rows(
    n: int, n_train: int, rng: np.random.Generator, groups: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Training and test rows; those of a group that is split are not test rows."""
    if groups is None:
        order = rng.permutation(n)
        return order[:n_train], order[n_train:]
    order = np.argsort(rng.permutation(int(groups.max()) + 1)[groups], kind="stable")
    train, test = order[:n_train], order[n_train:]
    return train, test[groups[test] != groups[train[-1]]]


def _split(
    gram: FloatArray,
    labels: FloatArray,
    train: IntArray,
    test: IntArray,
    kappa: FloatArray,
    *,
    intercept: bool,
) -> RidgeFunctions:
    """The functions of one split."""
    inside, across = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
    own, y, target = gram[test, test], labels[train], labels[test]
    if intercept:
        row, column, mean = across.mean(axis=1), inside.mean(axis=0), inside.mean()
        own = own - 2 * row + mean
        across = across - row[:, None] - column + mean
        target = target - y.mean(axis=0)
    spectrum = Spectrum.of(inside, y, intercept=intercept)
    d, U, y = spectrum.eigenvalues, spectrum.vectors, spectrum.labels
    inverse = 1 / (d[:, None] + kappa)
    learned = d[:, None] * inverse
    projected = across @ U  # (n - N, r)
    b = U.T @ y
    error = 0.0
    for column_index in range(y.shape[1]):
        predicted = projected @ (b[:, column_index, None] * inverse)
        error = error + ((target[:, column_index, None] - predicted) ** 2).mean(axis=0)
    energy = np.square(projected).mean(axis=0)[:, None]  # (r, 1)
    constant = 1 / len(train) if intercept else 0.0
    return RidgeFunctions(
        unused1=(kappa * inverse).sum(axis=0),
        unused2=(kappa * (2 * d[:, None] + kappa) * inverse**2).sum(axis=0),
        df1=learned.sum(axis=0),
        df2=(learned**2).sum(axis=0),
        error=np.asarray(error),
        sampling=(energy * inverse**2).sum(axis=0) + constant,
        feature_error=own.mean() - (energy * (inverse + kappa * inverse**2)).sum(axis=0),
        label_energy=((b**2).sum(axis=1)[:, None] * learned * inverse).sum(axis=0),
        noise_energy=(learned * inverse).sum(axis=0),
    )
