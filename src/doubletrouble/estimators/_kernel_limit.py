r"""Kernel ridge regression: the limit of infinitely many random features.

For P → ∞ the matrix Φ Φᵀ/P of a member tends to the Gram matrix Γ of its N rows
(`doubletrouble.kernels`), for every draw of the features, and its prediction to

    f(x) = Σ_i k(x, x_i) β_i + b,        β = √w (A + δ)⁻¹ √w (y - ȳ),        δ = λ W / D

with sample weights w of sum W (1 and N without weights), and

    A = C √w Γ √w C,        C = 1 - c cᵀ,        c = √(w/W)

With an intercept, ȳ is the weighted mean of the labels and b = ȳ - Σ_ij w_i k(x_i, x_j) β_j / W;
without one C = 1 and ȳ = b = 0. A takes the place of Z Zᵀ in `_solvers` and `_path`, and δ that of
alpha. For δ = 0 modes with eigenvalue 0 are omitted: the minimum-norm fit.

Members with the same rows are equal, so that one stands for all of them. Others, of `Divide` or
`Bootstrap`, differ in their rows alone: their mean is f(x) with the mean of β and b over members,
where β is zero for the rows that a member does not have.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.activations import Activation
from doubletrouble.conventions import convert_ridge
from doubletrouble.estimators._features import RealArray
from doubletrouble.estimators._members import Penalty, Solution
from doubletrouble.estimators._path import RidgePath, leave_one_out, left_out, ridge_path
from doubletrouble.estimators._solvers import EigenModes, MemberFit, Sample, eigenmodes, solve
from doubletrouble.kernels import kernel
from doubletrouble.parameters import FloatArray, Numeric

_BLOCK_ENTRIES = 2**21  # of a kernel matrix: 16 MB, and as much for each intermediate result
_SMALLEST, _LARGEST = 1e-70, 1e70  # of inputs: products of their squares do not under- or overflow


@dataclass(frozen=True, kw_only=True)
class KernelMap:
    """x ↦ k(x, x_i) for the rows x_i of a fit, in float64."""

    inputs: RealArray  # (N, D)
    activation: Activation
    center: bool

    @property
    def n_features(self) -> int:
        """N."""
        return int(self.inputs.shape[0])

    @property
    def dim(self) -> int:
        """D."""
        return int(self.inputs.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the inputs."""
        return self.inputs.dtype

    def blocks(self, length: int) -> list[slice]:
        """Cut `length` rows into blocks of 16 MB of the kernel matrix."""
        step = max(_BLOCK_ENTRIES // self.n_features, 1)
        return [slice(start, min(start + step, length)) for start in range(0, length, step)]

    def __call__(self, x: RealArray) -> FloatArray:
        """k(x, x_i), (n, N)."""
        return kernel(self.activation, x, self.inputs, center=self.center)

    def gram(self) -> FloatArray:
        """Γ, (N, N): block by block of its lower triangle."""
        x, sigma, center = self.inputs, self.activation, self.center
        check_kernel_range(x, "n_features = inf")
        matrix = np.empty((self.n_features, self.n_features))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in self.blocks(self.n_features):
                matrix[rows, rows] = kernel(sigma, x[rows], center=center)
                if rows.start:
                    below = kernel(sigma, x[rows], x[: rows.start], center=center)
                    matrix[rows, : rows.start] = below
                    matrix[: rows.start, rows] = below.T
        return matrix


def check_kernel_range(x: RealArray, setting: str) -> None:
    """Raise ValueError where the kernel of inputs could over- or underflow, for a parameter."""
    size = float(np.abs(x).max())
    if size and not _SMALLEST < size < _LARGEST:
        raise ValueError(
            f"X must be in [-{_LARGEST:g}, {_LARGEST:g}] and not below {_SMALLEST:g} in "
            f"magnitude for {setting}, got {size:g}: scale the inputs"
        )


class KernelEquations:
    """The equations (A + δ) γ = √w (y - ȳ), with β = √w γ, of one member."""

    def __init__(self, phi: KernelMap, sample: Sample) -> None:
        matrix, self.sample = phi.gram(), sample
        self.mean = sample.mean_of(matrix) if sample.intercept else np.zeros(sample.size)
        if sample.roots is not None:
            matrix *= sample.roots
            matrix *= sample.roots[:, None]
        self.size, constant = 0.0, sample.constant
        if constant is not None:
            self.size = float(np.abs(matrix).max())
            product = matrix @ constant
            shift = np.outer(constant, product - 0.5 * (constant @ product) * constant)
            matrix -= shift  # with the next line A, symmetric to the last digit
            matrix -= shift.T
        self.matrix = matrix

    def solve(self, delta: float) -> MemberFit:
        """The fit for one penalty; coefficients (N, T)."""
        sample = self.sample
        dual = solve(self.matrix, sample.targets, delta, null=sample.constant)
        if dual is None:
            return MemberFit(*(one[..., 0] for one in self.fits(self.modes(), np.array([delta]))))
        return self._fit(dual, sample.label_mean)

    def modes(self) -> EigenModes:
        """The eigenvectors of A."""
        drop = int(self.sample.intercept)
        return eigenmodes(self.matrix, self.sample.targets, primal=False, drop=drop, size=self.size)

    def fits(self, modes: EigenModes, deltas: FloatArray) -> MemberFit:
        """The fits for every penalty; coefficients (N, T, R) and intercepts (T, R)."""
        assert modes.left is not None
        dual = modes.left @ modes.gains(deltas, 0)
        shape = (*self.sample.labels.shape, deltas.size)
        return self._fit(dual.reshape(shape), self.sample.label_mean[:, None])

    def _fit(self, dual: FloatArray, label_mean: FloatArray) -> MemberFit:
        roots, constant = self.sample.roots, self.sample.constant
        if constant is not None:
            # C γ = γ but for rounding, which an inverse eigenvalue can make large
            dual = dual - np.multiply.outer(constant, np.tensordot(constant, dual, 1))
        coef = dual if roots is None else (dual.T * roots).T
        return MemberFit(coef, label_mean - np.tensordot(self.mean, coef, 1))


def fit_kernel(
    phi: KernelMap, sample: Sample, counts: npt.NDArray[np.int64], penalty: Penalty
) -> Solution:
    """The mean of the fits of all members, as one fit to the rows of `phi`."""
    maps, samples = members_of(phi, sample, counts)
    weights = np.array([own.weight for own in samples])
    deltas = penalty.alphas(weights, n_features=math.inf, dim=phi.dim)
    with np.errstate(over="ignore", invalid="ignore"):
        fits = [
            KernelEquations(own_phi, own).solve(delta)
            for own_phi, own, delta in zip(maps, samples, deltas.tolist(), strict=True)
        ]
    mean = mean_fit(fits, counts)
    return Solution(
        coef=mean.coef.T[None], intercept=mean.intercept, alphas=deltas, ridge=penalty.value
    )


def fit_kernel_path(
    phi: KernelMap,
    sample: Sample,
    counts: npt.NDArray[np.int64],
    ridges: FloatArray,
    *,
    single: bool,
) -> RidgePath:
    """The same for every ridge, with leave-one-out errors."""
    maps, _ = members_of(phi, sample, counts)
    errors, fits = leave_one_out(maps, sample, counts, ridges, _fit_member)
    return ridge_path(ridges, errors, [mean_fit(fits, counts)], [phi], single=single)


def _fit_member(phi: KernelMap, own: Sample, ridges: FloatArray) -> tuple[MemberFit, FloatArray]:
    """The fits of one member for every ridge, and its predictions for rows left out."""
    sizes: dict[str, Numeric] = {"n_samples": own.weight, "dim": phi.dim}
    deltas = np.asarray(convert_ridge(ridges, "paper", "gram", n_features=math.inf, **sizes))
    with np.errstate(over="ignore", invalid="ignore"):
        system = KernelEquations(phi, own)
        modes = system.modes()
    assert modes.left is not None
    left = left_out(own, modes, deltas, [(slice(0, own.size), modes.left)])
    return system.fits(modes, deltas), left


def members_of(
    phi: KernelMap, sample: Sample, counts: npt.NDArray[np.int64]
) -> tuple[list[KernelMap], list[Sample]]:
    """The kernels with the rows of each member, and its rows."""
    samples = [sample.drawn(drawn) for drawn in counts]
    return [replace(phi, inputs=own.inputs) for own in samples], samples


def mean_fit(fits: Sequence[MemberFit], counts: npt.NDArray[np.int64]) -> MemberFit:
    """The mean over members, with coefficients of all rows."""
    coef = np.zeros((counts.shape[1], *fits[0].coef.shape[1:]))
    for fit, drawn in zip(fits, counts, strict=True):
        coef[drawn > 0] += fit.coef / len(fits)
    return MemberFit(coef, np.mean([fit.intercept for fit in fits], axis=0))
