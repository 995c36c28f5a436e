r"""The average over random features, given the rows.

P features with independent weights are integrated in closed form [jacot2020]. Ridge regression on
them with the penalty δ on the Gram matrix of features/√P has the mean prediction of kernel ridge
regression with a larger, effective ridge κ, and a variance that is a product:

    δ = κ (1 - df₁(κ)/P),        mean = k_xᵀ G y,        V = c/(1 - c df₂) w v,        c = 1/P

**Features of unequal energy.** Features are not Gaussian: for ReLU their energy over the rows is
proportional to |θ|². With features √τ × Gaussian, E τ = 1 and x = df₁/P = ψ(u),

    ψ(u) = E[u τ/(1 + u τ)],        δ = κ x/u,        c = (1/P) (1 + Var[1/(1 + u τ)]/x²),

    P (1 - c df₂) = (P/x) E[u τ/(1 + u τ)²] + c P κ w_n        (no difference of large numbers)

and τ has a Gamma distribution. Its variance follows from the energies e = zᵀ G z of drawn features
z: Var e/(E e)² = 2 df₂/df₁² for Gaussian ones, and larger by Var τ otherwise. For Var τ = 0 the
equations are those above, u = x/(1 - x).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh_tridiagonal

from doubletrouble.forecasting._ridge_functions import RidgeFunctions, RidgeTable
from doubletrouble.parameters import FloatArray

_EQUAL = 1e-3  # a smaller variance of the energies is 0
_MOST = 4.0  # the largest variance of the energies
_NODES = 48  # of the average over energies
_LOG_U = np.linspace(-12.0, 14.0, 521)
_FARTHEST = 800.0  # of log κ: e^-800 is 0 and e^800 infinite
_BISECTIONS = 62
_DIVERGENCE = 1e100  # a larger ratio of the variance to the error is infinite


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureEnergy:
    """The distribution of the energies of random features: Gamma, of mean 1."""

    variance: float

    @classmethod
    def measured(cls, energies: FloatArray, df1: float, df2: float) -> Self:
        """The variance beyond that of Gaussian features, from drawn ones."""
        spread = float(energies.var(ddof=1) / energies.mean() ** 2 - 2 * df2 / df1**2)
        return cls(variance=min(max(spread, 0.0), _MOST))

    @cached_property
    def _table(self) -> tuple[CubicSpline, CubicSpline]:
        """Log u against log x/(1 - x); logs of Var[1/(1 + u τ)]/x² and E[u τ/(1 + u τ)²]/x."""
        shape = 1 / self.variance
        order = np.arange(_NODES)  # Gauss-Laguerre nodes (Golub and Welsch), for any shape
        off_diagonal = np.sqrt(order[1:] * (order[1:] + shape - 1))
        nodes, vectors = eigh_tridiagonal(2 * order + shape, off_diagonal)
        tau, weights = nodes / shape, vectors[0] ** 2
        u = np.exp(_LOG_U)[:, None]
        rest = (weights / (1 + u * tau)).sum(axis=1)
        x = (weights * u * tau / (1 + u * tau)).sum(axis=1)
        away = 1 / (1 + u * tau) - rest[:, None]
        spread = (weights * away**2).sum(axis=1) / x**2
        spare = (weights * u * tau / (1 + u * tau) ** 2).sum(axis=1) / x
        odds = np.log(x) - np.log(rest)
        parts = np.log(np.stack([spread, spare], axis=1))
        return CubicSpline(odds, _LOG_U), CubicSpline(_LOG_U, parts)

    def log_u(self, log_odds: FloatArray) -> FloatArray:
        """Log u at log x/(1 - x)."""
        if self.variance < _EQUAL:
            return log_odds
        spline, _ = self._table
        inside = np.clip(log_odds, spline.x[0], spline.x[-1])
        return np.asarray(spline(inside) + (log_odds - inside))

    def unequal(self, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Var[1/(1 + u τ)]/x² and E[u τ/(1 + u τ)²]/x at log x/(1 - x)."""
        if self.variance < _EQUAL:
            return np.zeros_like(log_odds), np.exp(-np.logaddexp(0.0, log_odds))  # 1 - x
        log_u, (_, spline) = self.log_u(log_odds), self._table
        inside = np.clip(log_u, spline.x[0], spline.x[-1])
        beyond = np.maximum(log_u - inside, 0.0)[..., None]  # u → ∞: they fall as 1/u² and 1/u
        spread, spare = np.moveaxis(np.exp(spline(inside) - beyond * (2.0, 1.0)), -1, 0)
        return spread, spare


class FeatureAverage(NamedTuple):
    """The average over features at some (P, δ)."""

    log_kappa: FloatArray
    functions: RidgeFunctions
    variance: FloatArray  # V, over features
    noise_variance: FloatArray  # V per unit variance of label noise


def average_over_features(
    rows: RidgeTable, energy: FeatureEnergy, n_features: FloatArray, delta: FloatArray
) -> FeatureAverage:
    """κ, the functions there and the variance over features, for arrays of P and δ alike."""
    with np.errstate(divide="ignore"):
        log_delta = np.log(delta)
    low, high = np.full(n_features.shape, -_FARTHEST), np.full(n_features.shape, _FARTHEST)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = _is_below(rows, energy, n_features, middle, log_delta)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    own = rows.at(high)
    _, odds = _odds(rows.n_samples, n_features, own.unused, own.df1)
    spread, spare = energy.unequal(odds)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = n_features * spare + (1 + spread) * np.exp(high) * own.noise_energy  # P (1 - c df₂)
        ratio = (1 + spread) / left * own.feature_error
        variance, noise = ratio * own.label_energy, ratio * own.noise_energy
    infinite = np.isposinf(n_features) | np.isposinf(log_delta)
    diverges = ~infinite & ~(variance < _DIVERGENCE * own.error)
    return FeatureAverage(
        log_kappa=high,
        functions=own,
        variance=np.where(infinite, 0.0, np.where(diverges, np.inf, variance)),
        noise_variance=np.where(infinite, 0.0, np.where(diverges, np.inf, noise)),
    )


def _odds(
    n_samples: float, n_features: FloatArray, unused: FloatArray, used: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """1 - x, and log x/(1 - x), for x = df₁/P; -inf where x ≥ 1 and for infinite P."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(np.isinf(n_features), 1.0, (n_features - n_samples + unused) / n_features)
        odds = np.log(used / n_features) - np.log(np.maximum(rest, 0.0))
    return rest, odds


def _is_below(
    rows: RidgeTable,
    energy: FeatureEnergy,
    n_features: FloatArray,
    log_kappa: FloatArray,
    log_delta: FloatArray,
) -> npt.NDArray[np.bool_]:
    """Whether κ is below that of δ: its own δ is less, or more than P features would be used."""
    unused, used = rows.freedom(log_kappa)
    rest, odds = _odds(rows.n_samples, n_features, unused, used)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = log_kappa + np.log(used / n_features) - energy.log_u(odds)
    own = np.where(np.isinf(n_features), log_kappa, own)
    return np.asarray((rest <= 0) | (own < log_delta))
