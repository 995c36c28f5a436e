r"""Functions of the population from one sample, and through them any number of rows N.

Let ℓ be the eigenvalues of the kernel over the distribution of the inputs, and g an effective ridge
on them. Kernel ridge regression on N rows depends on g through z(g) = Σ ℓ/(ℓ + g), its slope
Q = z + g z'(g), the error M(g) = bias² + σ² of the mean predictor, and A(g), the mean product of a
label and its residual. Leave-one-out on n rows gives them along κ: with s_i = 1/G_ii - κ, the
variance of row i left out, s their mean and τ_i = s_i/s the energies of the rows,

    z = df₁(κ),        g = s/df₁,        M = E_∞/(1 + h),        a_i = y_i (G y)_i/G_ii,

A = mean a_i, and for every N, κ follows from z and g: with e_i = τ_i g, and q_i = 1/(κ + e_i z) in
place of G_ii,

    1 = N mean_i[q_i e_i]        (τ = 1: κ = g (N - z))

The others are derivatives in κ, of N - df₁ = κ tr G, of the mean variance g z of a new row and of
κ yᵀ G y = κ N mean[q a]. With b = d log g/dκ, and e_i', z' = Q - z and A' derivatives in log g,

    1/b = (κ mean[q² e'] - z' mean[q² e²])/mean[q² e]
    h = g Q b,        v = g z - κ h,        E_∞ = M (1 + h),        w_n = tr G Γ G = -z' b
    w = yᵀ G Γ G y = w_n mean[q² e a]/mean[q² e] + N κ mean[q] A' b

At N = n, with e' of the rows, h, v and w_n are leave-one-out itself. What is left for w, and for
rows left out in groups, is a factor: measured over model at N = n and the same g.

A' = A - M in theory; the slope of the measured A is a second estimate, whose deviation has the
other sign, and their mean is used. Near g_min, the functions of these rows deviate from those of
the population: for N > n, M, A and the slope of z are continued from a coarser g.

**Identifiability.** n rows determine these functions for g ≥ g_min = s(κ → 0)/n and nothing below.
There z is continued by a power law, M and A by σ² plus a power law. A kernel of fewer directions
than rows is determined for every g: z = z₀ - O(g), and M and A are constant. Where rows are
repeated, κ is bounded from below, and functions of a smaller κ are constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

from doubletrouble._numerics import bisected
from doubletrouble.errors import ConvergenceError
from doubletrouble.forecasting._ridge_functions import LeaveOneOut, RidgeFunctions, RidgeTable
from doubletrouble.parameters import FloatArray

_SLOPE_BETWEEN = (1.05, 1.25)  # multiples of g_min, of the power law of z
_WINDOW = (1.3, 3.0)  # multiples of g_min from which the power laws of M and A are fitted
_LEAST_EXPONENT, _LARGEST_EXPONENTS = 0.05, (2.0, 1.0)  # of M and A
_SATURATED, _FASTEST = 0.01, 0.98  # exponents of z: of finitely many directions, and the largest
_RESOLVED = 1.3  # multiple of g_min from which functions are those of the population
_FADING = 4  # power of n/N with which functions of these rows fade below it
_TINY = 1e-300
_REPEATED = 0.01  # least κ with repeated rows, relative to the mean variance of a row left out
_CLEAR = 1e-5  # of N: digits of a smaller N - z cancel
_DECAYS = (1e-15, 1 - 1e-12)  # of 1 - Q/z
_NEAR, _NEAR_NODES = 1e-9, 60  # nodes towards κ → 0, where z = N
_BELOW = 1e-8  # of g_min: the least g
_PER_DECADE = 14
_NEWTON_STEPS, _CONVERGED = 60, 1e-5  # the latter relative: near κ = 0 digits cancel
_CORRECTED = ("sampling", "feature_error", "label_energy", "noise_energy")


class _PowerLaw(NamedTuple):
    """floor + (value - floor) (g/g₀)^exponent."""

    floor: float
    value: float
    exponent: float

    def at(self, log_ratio: FloatArray) -> FloatArray:
        return np.asarray(
            self.floor + (self.value - self.floor) * np.exp(self.exponent * log_ratio)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """The functions of g on a grid, from leave-one-out; slopes are derivatives in log g."""

    log_g: FloatArray  # (m,), increasing
    log_kappa: FloatArray  # (m,): of leave-one-out
    log_z: FloatArray  # (m,)
    z_decay: FloatArray  # (m,): -d log z/d log g
    energies: FloatArray  # (m, n): τ_i
    energy_slopes: FloatArray  # (m, n): d log(τ_i g)/d log g
    log_mean_error: FloatArray  # (m,): log M
    products: FloatArray  # (m, n): a_i, whose mean is A
    product_slopes: FloatArray  # (m, n)
    log_ratios: FloatArray  # (m, 5): measured over model, of κ and the functions in _CORRECTED
    n_samples: float  # n, less one for an intercept
    unpenalized: float  # directions without a penalty: 1 with an intercept
    least_kappa: float  # with repeated rows; below, functions of κ are constant
    noise: float  # σ², the floor of the continuation

    @classmethod
    def of(cls, loo: LeaveOneOut, n_samples: float, noise: float) -> Self:
        """Invert leave-one-out."""
        own = loo.functions
        s = loo.row_variance.mean(axis=0)
        order = _increasing(s / own.df1)
        # for κ → 0, the variances of repeated rows vanish, those of others do not
        repeated = bool(own.unused[0] > 0.5 and loo.kappa[order[0]] <= _REPEATED * s[order[0]])
        if repeated:
            order = order[loo.kappa[order] > _REPEATED * s[order]]
        own = RidgeFunctions(*(values[order] for values in own))
        s_rows, s, kappa = loo.row_variance[:, order].T, s[order], loo.kappa[order]
        s_rows = np.maximum(s_rows, 1e-12 * s[:, None])
        z, g = own.df1, s / own.df1
        # an intercept adds a constant to h_i, which is 0 for κ → ∞ without it
        fixed = loo.row_sampling[:, -1]
        growth = np.maximum(loo.row_sampling[:, order].T - fixed, 0.0)  # ds_i/dκ
        loss = own.noise_energy / z  # -d log z/dκ
        b = growth.mean(axis=1) / s + loss  # d log g/dκ
        M = np.maximum(own.error / (1 + own.sampling), _TINY)
        plain = cls(
            log_g=np.log(g),
            log_kappa=np.log(kappa),
            log_z=np.log(z),
            z_decay=np.clip(loss / b, *_DECAYS),
            energies=s_rows / s[:, None],
            energy_slopes=(growth / s_rows + loss[:, None]) / b[:, None],
            log_mean_error=np.log(M),
            products=loo.row_product[:, order].T,
            product_slopes=loo.row_product_slope[:, order].T / b[:, None],
            log_ratios=np.zeros((len(g), 1 + len(_CORRECTED))),
            n_samples=n_samples,
            unpenalized=float(fixed.mean() * n_samples),
            least_kappa=float(kappa[0]) if repeated else 0.0,
            noise=noise,
        )
        clear = int(np.argmax(own.unused > _CLEAR * n_samples))  # below, digits of N - z cancel
        model_kappa, model = plain._at(n_samples, np.log(g[clear:]))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [np.log(getattr(own, k)[clear:] / getattr(model, k)) for k in _CORRECTED]
            found = [np.log(kappa[clear:] / model_kappa), *found]
        ratios = np.nan_to_num(np.stack(found, axis=1), posinf=0.0, neginf=0.0)
        return replace(plain, log_ratios=ratios[np.maximum(np.arange(len(g)) - clear, 0)])

    @property
    def log_g_min(self) -> float:
        """The least g that the rows determine."""
        return float(self.log_g[0])

    @cached_property
    def _z_spline(self) -> CubicHermiteSpline:
        return CubicHermiteSpline(self.log_g, self.log_z, -self.z_decay)

    @cached_property
    def _splines(self) -> PchipInterpolator:
        product = np.log(np.maximum(self.products.mean(axis=1), np.exp(self.log_mean_error)))
        return PchipInterpolator(self.log_g, np.stack([self.log_mean_error, product], axis=1))

    @cached_property
    def _resolved(self) -> float:
        """The g below which, for N > n, functions are those of the continuation."""
        return self.log_g_min if self.saturates else self.log_g_min + float(np.log(_RESOLVED))

    def _window(self) -> FloatArray:
        low, high = (self.log_g_min + np.log(edge) for edge in _WINDOW)
        return np.asarray(np.linspace(low, min(high, self.log_g[-1]), 60))

    @cached_property
    def _decay(self) -> float:
        """The exponent of z below g_min; where z saturates, its slope there."""
        ends = np.log(_SLOPE_BETWEEN)
        low, high = self._z_spline(self.log_g_min + ends)
        slope = float((low - high) / (ends[1] - ends[0]))
        if slope < _SATURATED:
            return max(-float(self._z_spline(self.log_g_min, 1)), 0.0)
        return min(slope, _FASTEST)

    @property
    def saturates(self) -> bool:
        """Whether the rows determine every direction of the kernel: z is constant below g_min."""
        return self._decay < _SATURATED

    def is_extrapolated(self, log_g: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether g is below what the rows determine."""
        return (log_g < self.log_g_min - 1e-9) & (not self.saturates)

    @cached_property
    def _laws(self) -> tuple[_PowerLaw, _PowerLaw]:
        """The continuation of M and of A."""
        x, laws = self._window(), []
        for index, most in enumerate(_LARGEST_EXPONENTS):
            values = np.exp(self._splines(x)[:, index])
            anchor = float(np.exp(self._splines(self._resolved)[index]))
            if self.saturates:
                laws.append(_PowerLaw(anchor, anchor, 0.0))
                continue
            floor = min(self.noise, 0.999 * float(values.min()), anchor)
            slope = np.polyfit(x, np.log(np.maximum(values - floor, 1e-12 * values)), 1)[0]
            laws.append(_PowerLaw(floor, anchor, float(np.clip(slope, _LEAST_EXPONENT, most))))
        return laws[0], laws[1]

    def z(self, log_g: FloatArray) -> FloatArray:
        """Degrees of freedom z of g, continued below g_min."""
        inside = np.clip(log_g, self.log_g_min, self.log_g[-1])
        values = np.asarray(self._z_spline(inside))
        above = np.maximum(log_g - self.log_g[-1], 0.0)
        below = np.minimum(log_g - self.log_g_min, 0.0)
        growth = -np.expm1(below) if self.saturates else -below
        return np.asarray(np.exp(values + self._decay * growth - above))

    def decay(self, log_g: FloatArray, n_samples: float) -> FloatArray:
        """1 - Q/z, the exponent of z.

        Near g_min, the rows at hand have a larger one than the population: it is theirs at N = n,
        and that of a coarser g, or of the power law below g_min, for larger N.
        """
        own, coarse = (
            np.clip(-self._z_spline(np.clip(log_g, low, self.log_g[-1]), 1), *_DECAYS)
            for low in (self.log_g_min, self._resolved)
        )
        below = np.minimum(log_g - self.log_g_min, 0.0)
        if self.saturates:
            return np.where(below < 0, self._decay * np.exp(below), own)
        share = self._share(n_samples)
        coarse = np.where(below < 0, self._decay, coarse)
        return np.asarray(coarse + share * (own - coarse))

    def _share(self, n_samples: float) -> float:
        """The weight of the functions of these rows near g_min, at N rows: 1 at N = n."""
        return min((self.n_samples / n_samples) ** _FADING, 1.0)

    def at_size(self, n_samples: float) -> RidgeTable:
        """The functions of κ at N rows."""
        nodes = self._nodes(n_samples)
        kappa, functions = self._at(n_samples, nodes)
        good = _increasing(kappa)
        good = good[kappa[good] >= self.least_kappa]
        functions = RidgeFunctions(*(values[good] for values in functions))
        return RidgeTable.of(kappa[good], functions, n_samples, nodes[good])

    def _at(self, n_samples: float, nodes: FloatArray) -> tuple[FloatArray, RidgeFunctions]:
        """κ and the functions at N rows, at values of log g."""
        N, g, z, decay = n_samples, np.exp(nodes), self.z(nodes), self.decay(nodes, n_samples)
        M, measured = np.exp(self._splines(np.clip(nodes, self.log_g_min, self.log_g[-1]))).T
        A, below = measured.copy(), np.minimum(nodes - self._resolved, 0.0)
        continued = 1 - self._share(N)
        for law, function in zip(self._laws, (M, A), strict=True):
            function += np.where(below < 0, continued * (law.at(below) - function), 0.0)
        tau, slope, a, a_slope, log_ratios = self._interpolated(nodes)
        kappa, ratios = _effective_ridge(N, g, z, tau), np.exp(log_ratios).T
        e = tau * g[:, None]
        q = 1 / (kappa[:, None] + e * z[:, None])
        first, weight = q.mean(axis=1), e * q**2
        total = weight.mean(axis=1)
        b = total / (
            kappa * (slope * weight).mean(axis=1) + z * decay * np.square(e * q).mean(axis=1)
        )
        h, noise_energy = g * z * (1 - decay) * b, z * decay * b
        carried, grown = (a * weight).mean(axis=1) / total, (q * a_slope).mean(axis=1)
        carried, grown = (values * A / measured for values in (carried, grown))
        share = 0.5 * np.exp(np.minimum(nodes - self.log_g_min, 0.0))
        grown = share * np.clip(grown, 0.0, first * A) + (1 - share) * first * np.maximum(
            A - M, 0.0
        )
        label_energy = np.maximum(carried, M) * noise_energy + N * kappa * grown * b
        sampling = h * ratios[1] + self.unpenalized / N
        functions = RidgeFunctions(
            unused=kappa * N * first,
            df1=z,
            error=M * (1 + sampling),
            sampling=sampling,
            feature_error=(g * z - kappa * h) * ratios[2],
            label_energy=label_energy * ratios[3],
            noise_energy=noise_energy * ratios[4],
        )
        return kappa * ratios[0], functions

    def _nodes(self, n_samples: float) -> FloatArray:
        """Values of log g from z = N upwards, denser towards it."""
        lowest = self.log_g_min + np.log(_BELOW)
        fine = np.linspace(lowest, self.log_g[-1], 4000)
        here = fine[self.z(fine) < n_samples]
        low, high = np.asarray(here[0] - (fine[1] - fine[0])), np.asarray(here[0])
        start = lowest  # where z stays below N: the kernel has fewer than N directions
        if low >= lowest:
            start = float(bisected(lambda log_g: self.z(log_g) >= n_samples, low, high))
        near = start + np.geomspace(_NEAR, 0.2, _NEAR_NODES)
        far = np.arange(start + 0.2, self.log_g[-1], np.log(10) / _PER_DECADE)[1:]
        return np.concatenate([near, far])

    def _interpolated(self, nodes: FloatArray) -> list[FloatArray]:
        """Functions of rows and ratios at the nodes, linear in log g."""
        index = np.clip(np.searchsorted(self.log_g, nodes) - 1, 0, len(self.log_g) - 2)
        low, high = self.log_g[index], self.log_g[index + 1]
        share = np.clip((nodes - low) / (high - low), 0.0, 1.0)[:, None]
        functions = (
            self.energies,
            self.energy_slopes,
            self.products,
            self.product_slopes,
            self.log_ratios,
        )
        return [(1 - share) * values[index] + share * values[index + 1] for values in functions]


def _increasing(values: FloatArray) -> npt.NDArray[np.intp]:
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
