r"""Functions of the population from one sample, and through them any number of rows N.

Let λ be the eigenvalues of the kernel over the distribution of the inputs, and g an effective ridge
on them. Kernel ridge regression on N rows depends on g through z(g) = Σ λ/(λ + g), its slope
Q = z + g z'(g), the error M(g) = bias² + σ² of the mean predictor, and A(g), the mean product of a
label and its residual. Leave-one-out on n rows gives them along κ: with s_i = 1/G_ii - κ, the
variance of row i left out, s their mean and τ_i = s_i/s the energies of the rows,

    z = df₁(κ),        g = s/df₁,        M = E_∞ (1 - c_n Q),        A = mean_i y_i (G y)_i/G_ii,

and for every N, κ and c follow from z and g by

    1 = N mean_i[q_i τ_i g],        c_N = N mean_i[(q_i τ_i g)²],        q_i = 1/(κ + τ_i g z)
    E_∞ = M/(1 - c_N Q),        h = c_N Q/(1 - c_N Q),        v = g (z - Q)/(1 - c_N Q)
    w = N (A mean q - κ E_∞ mean q²),        w_n = N (mean q - κ mean q²/(1 - c_N Q))
    df₂ = z - κ N mean q + κ² N mean q²/(1 - c_N Q)

(τ = 1: κ = g (N - z), c_N = 1/N). Each is multiplied by the ratio of its measured value to this
one at N = n and the same g, so that N = n is leave-one-out itself.

**Identifiability.** n rows determine these functions for g ≥ g_min = s(κ → 0)/n and nothing below.
There z is continued by a power law, M and A by σ² plus a power law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.interpolate import CubicSpline

from doubletrouble.forecasting._kernel_ridge import (
    KernelRidge,
    LeaveOneOut,
    RidgeFunctions,
)
from doubletrouble.parameters import FloatArray

_ANCHOR = 1.05  # continuation starts at this multiple of g_min
_SLOPE_BETWEEN = (1.05, 1.25)  # multiples of g_min, of the power law of z
_WINDOW = (1.2, 30.0)  # multiples of g_min from which the power laws of M and A are fitted
_EXPONENTS = (0.05, 1.0)  # of M and A
_DECAY = (0.02, 0.98)  # exponents of z
_NEAR, _NEAR_NODES = 1e-9, 60  # nodes towards κ → 0, where z = N
_BELOW = 1e-8  # of g_min: the least g
_PER_DECADE = 14
_LEAST_ENERGY = 0.05  # of w, in units of M w_n
_NEWTON_STEPS = 60
_CORRECTED = ("sampling", "feature_error", "label_energy", "noise_energy", "df2", "unused2")


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

    n_samples: float  # n, less one for an intercept
    log_g: FloatArray  # (m,), increasing
    log_kappa: FloatArray  # (m,): of leave-one-out
    log_z: FloatArray  # (m,)
    energies: FloatArray  # (m, n): τ_i
    log_mean_error: FloatArray  # (m,): log M
    log_product: FloatArray  # (m,): log A
    log_ratios: FloatArray  # (m, 6): measured over model, of the functions in _CORRECTED
    log_share: FloatArray  # (m,): log df₂/df₁ at n rows
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
        Q = z * (1 + CubicSpline(log_g, log_z)(log_g, 1))
        kappa = loo.kappa[order]
        q = 1 / (kappa[:, None] + tau * (g * z)[:, None])
        c = n_samples * np.square(q * tau * g[:, None]).mean(axis=1)
        M = own.error[order] * (1 - c * Q)
        A = np.maximum(loo.label_product[order], M)
        model = _at_size(n_samples, kappa, g, z, Q, M, A, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.log(getattr(own, k)[order] / getattr(model, k)) for k in _CORRECTED]
        return cls(
            n_samples=n_samples,
            log_g=log_g,
            log_kappa=np.log(kappa),
            log_z=log_z,
            energies=tau,
            log_mean_error=np.log(M),
            log_product=np.log(A),
            log_ratios=np.nan_to_num(np.stack(ratios, axis=1), posinf=0.0, neginf=0.0),
            log_share=np.log(own.df2[order] / z),
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
        columns = [self.log_mean_error, self.log_product, *self.log_ratios.T, self.log_share]
        return CubicSpline(self.log_g, np.stack(columns, axis=1))

    @cached_property
    def _anchor(self) -> float:
        return self.log_g_min + float(np.log(_ANCHOR))

    def _window(self) -> FloatArray:
        low, high = (self.log_g_min + np.log(edge) for edge in _WINDOW)
        return np.asarray(np.linspace(low, min(high, self.log_g[-1]), 60))

    @cached_property
    def _decay(self) -> float:
        """The exponent of z below g_min: its slope there, since it still grows towards g_min."""
        ends = np.log(_SLOPE_BETWEEN)
        low, high = self._z_spline(self.log_g_min + ends)
        return float(np.clip((low - high) / (ends[1] - ends[0]), *_DECAY))

    @cached_property
    def _laws(self) -> tuple[_PowerLaw, _PowerLaw]:
        """The continuation of M and of A."""
        x, laws = self._window(), []
        for index in (0, 1):
            values = np.exp(self._splines(x)[:, index])
            anchor = float(np.exp(self._splines(self._anchor)[index]))
            floor = min(self.noise, 0.999 * float(values.min()), anchor)
            slope = np.polyfit(x, np.log(np.maximum(values - floor, 1e-12 * values)), 1)[0]
            laws.append(_PowerLaw(floor, anchor, float(np.clip(slope, *_EXPONENTS))))
        return laws[0], laws[1]

    def z(self, log_g: FloatArray) -> FloatArray:
        """Degrees of freedom z of g, continued below g_min."""
        inside = np.clip(log_g, self._anchor, self.log_g[-1])
        values = np.asarray(self._z_spline(inside))
        above = np.maximum(log_g - self.log_g[-1], 0.0)
        below = np.minimum(log_g - self._anchor, 0.0)
        return np.asarray(np.exp(values - self._decay * below - above))

    def slope(self, log_g: FloatArray) -> FloatArray:
        """Q/z."""
        inside = np.clip(log_g, self._anchor, self.log_g[-1])
        measured = 1 + np.asarray(self._z_spline(inside, 1))
        return np.where(log_g < self._anchor, 1 - self._decay, measured)

    def at_size(self, n_samples: float) -> KernelRidge:
        """The functions of κ at N rows."""
        nodes = self._nodes(n_samples)
        g, z = np.exp(nodes), self.z(nodes)
        Q = z * self.slope(nodes)
        values = np.asarray(self._splines(np.clip(nodes, self._anchor, self.log_g[-1])))
        below = np.minimum(nodes - self._anchor, 0.0)
        M, A = np.exp(values[:, 0]), np.exp(values[:, 1])
        for law, function in zip(self._laws, (M, A), strict=True):
            function[below < 0] = law.at(below[below < 0])
        tau = self._energies_at(nodes)
        kappa = _effective_ridge(n_samples, g, z, tau)
        good = _increasing(kappa)
        model = _at_size(
            n_samples, kappa[good], g[good], z[good], Q[good], M[good], A[good], tau[good]
        )
        ratios = dict(zip(_CORRECTED, np.exp(values[good, 2:-1]).T, strict=True))
        functions = model._replace(**{k: getattr(model, k) * ratios[k] for k in _CORRECTED})
        # at one g, df₂ decreases with N from its value at n rows
        most = np.where(below < 0, 1.0, np.exp(np.minimum(values[:, -1], 0.0)))[good] * z[good]
        functions = _with_sum(functions, model.df2 / n_samples, n_samples, most)
        # tr G K G = (df₁ - df₂)/κ; noise of the variance of the error alone has w = M w_n
        noise_energy = (functions.df1 - functions.df2) / kappa[good]
        functions = functions._replace(
            noise_energy=noise_energy,
            label_energy=np.maximum(functions.label_energy, _LEAST_ENERGY * M[good] * noise_energy),
        )
        return KernelRidge.of(kappa[good], functions, n_samples, nodes[good])

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


def _with_sum(
    functions: RidgeFunctions, share: FloatArray, n_samples: float, most: FloatArray
) -> RidgeFunctions:
    """Let df₂ and N - df₂, which are corrected apart, have the sum N, and df₂ its upper bound."""
    weight = share**2 / (share**2 + (1 - share) ** 2)  # of N - df₂: the smaller one counts
    df2 = (1 - weight) * functions.df2 + weight * (n_samples - functions.unused2)
    unused2 = (1 - weight) * (n_samples - functions.df2) + weight * functions.unused2
    least = functions.unused1 + (functions.df1 - most)  # N - df₂ without cancellation
    return functions._replace(df2=np.minimum(df2, most), unused2=np.maximum(unused2, least))


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
    return kappa


def _at_size(
    n_samples: float,
    kappa: FloatArray,
    g: FloatArray,
    z: FloatArray,
    Q: FloatArray,
    M: FloatArray,
    A: FloatArray,
    tau: FloatArray,
) -> RidgeFunctions:
    """The deterministic equivalents at N rows."""
    N = n_samples
    q = 1 / (kappa[:, None] + tau * (g * z)[:, None])
    first, second = q.mean(axis=1), np.square(q).mean(axis=1)
    c = N * np.square(q * tau * g[:, None]).mean(axis=1)
    rest = 1 - c * Q
    error = M / rest
    unused = kappa * N * first  # N - z
    df2 = z - unused + kappa**2 * N * second / rest
    return RidgeFunctions(
        unused1=unused,
        unused2=2 * unused - kappa**2 * N * second / rest,
        df1=z,
        df2=df2,
        error=error,
        sampling=c * Q / rest,
        feature_error=g * (z - Q) / rest,
        label_energy=N * (A * first - kappa * error * second),
        noise_energy=N * (first - kappa * second / rest),
    )
