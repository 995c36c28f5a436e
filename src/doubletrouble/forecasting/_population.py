r"""Functions of the population from one sample, and through them any number of rows N.

Let ℓ be the eigenvalues of the kernel over the distribution of the inputs, and g an effective ridge
on them. Kernel ridge regression on N rows depends on g through z(g) = Σ ℓ/(ℓ + g), its slope
Q = z + g z'(g), the error M(g) = bias² + σ² of the mean predictor, and A(g), the mean product of a
label and its residual. Leave-one-out on n rows gives them along κ: with s_i = 1/G_ii - κ, the
variance of row i left out, s their mean and τ_i = s_i/s the energies of the rows,

    z = df₁(κ),        g = s/df₁,        M = E_∞/(1 + h),        A = mean_i y_i (G y)_i/G_ii,

and for every N, κ and c follow from z and g by

    1 = N mean_i[q_i τ_i g],        c_N = N mean_i[(q_i τ_i g)²],        q_i = 1/(κ + τ_i g z)
    E_∞ = M (1 + h),        v = g (z - Q)/(1 - c_N Q)

(τ = 1: κ = g (N - z), c_N = 1/N). The others are derivatives in κ: with N - df₁ = κ tr G,
yᵀ G y = N A mean q, the mean variance g z of a new row, A' = (A - M)/g and the slope
b = d log g/dκ = N g mean[τ q²]/(1 - c_N Q),

    h = d(g z)/dκ = g b Q,        w_n = tr G Γ G = d(κ tr G)/dκ = N mean[τ q²] v
    w = yᵀ G Γ G y = d(κ yᵀ G y)/dκ = A w_n + N κ mean[q] (A - M) b

Each is multiplied by the ratio of its measured value to this one at N = n and the same g, so that
N = n is leave-one-out itself.

**Identifiability.** n rows determine these functions for g ≥ g_min = s(κ → 0)/n and nothing below.
There z is continued by a power law, M and A by σ² plus a power law. A kernel of fewer directions
than rows is determined for every g: z = z₀ - O(g), and M and A are constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.interpolate import CubicSpline

from doubletrouble.errors import ConvergenceError
from doubletrouble.forecasting._ridge_functions import (
    LeaveOneOut,
    RidgeFunctions,
    RidgeTable,
)
from doubletrouble.parameters import FloatArray

_ANCHOR = 1.05  # continuation starts at this multiple of g_min
_SLOPE_BETWEEN = (1.05, 1.25)  # multiples of g_min, of the power law of z
_WINDOW = (1.05, 2.5)  # multiples of g_min from which the power laws of M and A are fitted
_LEAST_EXPONENT, _LARGEST_EXPONENTS = 0.05, (2.0, 1.0)  # of M and A
_SATURATED, _FASTEST = 0.01, 0.98  # exponents of z: of finitely many directions, and the largest
_TINY = 1e-300
_DECAYS = (1e-15, 1 - 1e-12)  # of 1 - Q/z
_NEAR, _NEAR_NODES = 1e-9, 60  # nodes towards κ → 0, where z = N
_BELOW = 1e-8  # of g_min: the least g
_PER_DECADE = 14
_NEWTON_STEPS, _CONVERGED = 60, 1e-5  # the latter relative: near κ = 0 digits cancel
_CORRECTED = ("sampling", "feature_error", "label_energy", "noise_energy")


class _PowerLaw(NamedTuple):
    """floor + (value - floor) (g/g_anchor)^exponent."""

    floor: float
    value: float
    exponent: float

    def at(self, log_ratio: FloatArray) -> FloatArray:
        return np.asarray(
            self.floor + (self.value - self.floor) * np.exp(self.exponent * log_ratio)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """The functions of g on a grid, from leave-one-out."""

    log_g: FloatArray  # (m,), increasing
    log_kappa: FloatArray  # (m,): of leave-one-out
    log_z: FloatArray  # (m,)
    energies: FloatArray  # (m, n): τ_i
    log_mean_error: FloatArray  # (m,): log M
    log_product: FloatArray  # (m,): log A
    log_ratios: FloatArray  # (m, 4): measured over model, of the functions in _CORRECTED
    noise: float  # σ², the floor of the continuation

    @classmethod
    def of(cls, loo: LeaveOneOut, n_samples: float, noise: float) -> Self:
        """Invert leave-one-out."""
        own = loo.functions
        s = loo.row_variance.mean(axis=0)
        g, z = s / own.df1, own.df1
        order = _increasing(g)
        g, z = g[order], z[order]
        tau = np.maximum(loo.row_variance[:, order] / s[order], 1e-12).T
        log_g, log_z = np.log(g), np.log(z)
        decay = np.clip(-CubicSpline(log_g, log_z)(log_g, 1), *_DECAYS)
        kappa = loo.kappa[order]
        M = np.maximum(own.error[order] / (1 + own.sampling[order]), _TINY)
        A = np.maximum(loo.label_product[order], M)
        model = _at_size(n_samples, kappa, g, z, decay, M, A, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.log(getattr(own, k)[order] / getattr(model, k)) for k in _CORRECTED]
        return cls(
            log_g=log_g,
            log_kappa=np.log(kappa),
            log_z=log_z,
            energies=tau,
            log_mean_error=np.log(M),
            log_product=np.log(A),
            log_ratios=np.nan_to_num(np.stack(ratios, axis=1), posinf=0.0, neginf=0.0),
            noise=noise,
        )

    @property
    def log_g_min(self) -> float:
        """The least g that the rows determine."""
        return float(self.log_g[0])

    @cached_property
    def _z_spline(self) -> CubicSpline:
        return CubicSpline(self.log_g, self.log_z)

    @cached_property
    def _splines(self) -> CubicSpline:
        parts = [self.log_mean_error[:, None], self.log_product[:, None], self.log_ratios]
        return CubicSpline(self.log_g, np.concatenate(parts, axis=1))

    @cached_property
    def _anchor(self) -> float:
        return self.log_g_min + float(np.log(_ANCHOR))

    def _window(self) -> FloatArray:
        low, high = (self.log_g_min + np.log(edge) for edge in _WINDOW)
        return np.asarray(np.linspace(low, min(high, self.log_g[-1]), 60))

    @cached_property
    def _decay(self) -> float:
        """The exponent of z below g_min; where z saturates, its slope at the anchor."""
        ends = np.log(_SLOPE_BETWEEN)
        low, high = self._z_spline(self.log_g_min + ends)
        slope = float((low - high) / (ends[1] - ends[0]))
        if slope < _SATURATED:
            return max(-float(self._z_spline(self._anchor, 1)), 0.0)
        return min(slope, _FASTEST)

    @property
    def saturates(self) -> bool:
        """Whether the rows determine every direction of the kernel: z is constant below g_min."""
        return self._decay < _SATURATED

    def is_extrapolated(self, log_g: FloatArray) -> Any:
        """Whether g is below what the rows determine."""
        return (log_g < self.log_g_min - 1e-9) & (not self.saturates)

    @cached_property
    def _laws(self) -> tuple[_PowerLaw, _PowerLaw]:
        """The continuation of M and of A."""
        x, laws = self._window(), []
        for index, most in enumerate(_LARGEST_EXPONENTS):
            values = np.exp(self._splines(x)[:, index])
            anchor = float(np.exp(self._splines(self._anchor)[index]))
            if self.saturates:
                laws.append(_PowerLaw(anchor, anchor, 0.0))
                continue
            floor = min(self.noise, 0.999 * float(values.min()), anchor)
            slope = np.polyfit(x, np.log(np.maximum(values - floor, 1e-12 * values)), 1)[0]
            laws.append(_PowerLaw(floor, anchor, float(np.clip(slope, _LEAST_EXPONENT, most))))
        return laws[0], laws[1]

    def z(self, log_g: FloatArray) -> FloatArray:
        """Degrees of freedom z of g, continued below g_min."""
        inside = np.clip(log_g, self._anchor, self.log_g[-1])
        values = np.asarray(self._z_spline(inside))
        above = np.maximum(log_g - self.log_g[-1], 0.0)
        below = np.minimum(log_g - self._anchor, 0.0)
        growth = -np.expm1(below) if self.saturates else -below
        return np.asarray(np.exp(values + self._decay * growth - above))

    def decay(self, log_g: FloatArray) -> FloatArray:
        """1 - Q/z, the exponent of z."""
        inside = np.clip(log_g, self._anchor, self.log_g[-1])
        measured = np.clip(-self._z_spline(inside, 1), *_DECAYS)
        below = np.minimum(log_g - self._anchor, 0.0)
        continued = self._decay * (np.exp(below) if self.saturates else 1.0)
        return np.where(below < 0, continued, measured)

    def at_size(self, n_samples: float) -> RidgeTable:
        """The functions of κ at N rows."""
        nodes = self._nodes(n_samples)
        g, z = np.exp(nodes), self.z(nodes)
        values = np.asarray(self._splines(np.clip(nodes, self._anchor, self.log_g[-1])))
        below = np.minimum(nodes - self._anchor, 0.0)
        M, A = np.exp(values[:, 0]), np.exp(values[:, 1])
        for law, function in zip(self._laws, (M, A), strict=True):
            function[below < 0] = law.at(below[below < 0])
        A = np.maximum(A, M)
        tau = self._energies_at(nodes)
        kappa = _effective_ridge(n_samples, g, z, tau)
        good = _increasing(kappa)
        decay = self.decay(nodes)
        model = _at_size(
            n_samples, kappa[good], g[good], z[good], decay[good], M[good], A[good], tau[good]
        )
        ratios = dict(zip(_CORRECTED, np.exp(values[good, 2:]).T, strict=True))
        functions = model._replace(**{k: getattr(model, k) * ratios[k] for k in _CORRECTED})
        functions = functions._replace(error=M[good] * (1 + functions.sampling))
        return RidgeTable.of(kappa[good], functions, n_samples, nodes[good])

    def _nodes(self, n_samples: float) -> FloatArray:
        """Values of log g from z = N upwards, denser towards it."""
        lowest = self.log_g_min + np.log(_BELOW)
        fine = np.linspace(lowest, self.log_g[-1], 4000)
        here = fine[self.z(fine) < n_samples]
        low, high = here[0] - (fine[1] - fine[0]), here[0]
        if low < lowest:  # z stays below N: the kernel has fewer than N directions
            start = lowest
        else:
            for _ in range(60):
                middle = 0.5 * (low + high)
                if self.z(np.asarray(middle)) < n_samples:
                    high = middle
                else:
                    low = middle
            start = high
        near = start + np.geomspace(_NEAR, 0.2, _NEAR_NODES)
        far = np.arange(start + 0.2, self.log_g[-1], np.log(10) / _PER_DECADE)[1:]
        return np.concatenate([near, far])

    def _energies_at(self, nodes: FloatArray) -> FloatArray:
        """τ_i at the nodes, (m', n), interpolated in log g."""
        index = np.clip(np.searchsorted(self.log_g, nodes) - 1, 0, len(self.log_g) - 2)
        low, high = self.log_g[index], self.log_g[index + 1]
        share = np.clip((nodes - low) / (high - low), 0.0, 1.0)[:, None]
        return (1 - share) * self.energies[index] + share * self.energies[index + 1]


def _increasing(values: FloatArray) -> Any:
    """Indices of a strictly increasing subsequence from the largest value down."""
    least = np.minimum.accumulate(values[::-1])[::-1]
    keep = np.append(values[:-1] < least[1:] * (1 - 1e-12), True)
    return np.flatnonzero(keep)


def _effective_ridge(n_samples: float, g: FloatArray, z: FloatArray, tau: FloatArray) -> FloatArray:
    """The root κ of 1 = N mean_i[τ_i g/(κ + τ_i g z)], by Newton's method from κ = 0.

    1/mean is concave and increasing in κ: the steps increase towards the root.
    """
    kappa = np.zeros_like(g)
    energy = tau * g[:, None]
    for _ in range(_NEWTON_STEPS):
        q = 1 / (kappa[:, None] + energy * z[:, None])
        mean = (energy * q).mean(axis=1)
        slope = (energy * q**2).mean(axis=1) / mean**2
        step = (n_samples - 1 / mean) / slope
        kappa = kappa + step
        if np.all(np.abs(step) <= 1e-13 * kappa):
            break
    worst = int(np.argmax(np.abs(step) / kappa))
    last, residual = float(kappa[worst]), float(abs(step[worst]))
    if not residual <= _CONVERGED * last:
        raise ConvergenceError(
            f"effective ridge not found in {_NEWTON_STEPS} steps", last=last, residual=residual
        )
    return kappa


def _at_size(
    n_samples: float,
    kappa: FloatArray,
    g: FloatArray,
    z: FloatArray,
    decay: FloatArray,
    M: FloatArray,
    A: FloatArray,
    tau: FloatArray,
) -> RidgeFunctions:
    """The deterministic equivalents at N rows; `decay` is 1 - Q/z."""
    N, Q = n_samples, z * (1 - decay)
    q = 1 / (kappa[:, None] + tau * (g * z)[:, None])
    first, mixed = q.mean(axis=1), (tau * q**2).mean(axis=1)
    c = N * np.square(q * tau * g[:, None]).mean(axis=1)
    rest = 1 - c * Q
    v, b = g * z * decay / rest, N * g * mixed / rest
    unused, noise = kappa * N * first, N * mixed * v  # N - z, and w_n
    return RidgeFunctions(
        unused=unused,
        df1=z,
        error=M * (1 + g * b * Q),
        sampling=g * b * Q,
        feature_error=v,
        label_energy=A * noise + unused * (A - M) * b,
        noise_energy=noise,
    )
