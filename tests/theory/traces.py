"""Monte Carlo of the Gaussian covariate model by traces, as a reference for the theory.

Features are Z = (μ₁ X Θᵀ/√D + μ⋆ W)/√D with Gaussian X, Θ, W. Label noise, the teacher's
direction and the test point are averaged exactly, so that each draw of two data sets (X₁, X₂) and
two sets of features (Θ₁, Θ₂) gives every term without bias. Draws are independent.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble import Activation

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One finite problem; `variances` are those of the inputs, `powers` those of the teacher."""

    dim: int
    features_per_dim: float
    samples_per_dim: float
    ridge: float  # the paper's λ
    activation: Activation
    variances: FloatArray
    powers: FloatArray

    @property
    def sizes(self) -> tuple[int, int, int]:
        return (
            self.dim,
            round(self.features_per_dim * self.dim),
            round(self.samples_per_dim * self.dim),
        )


class Learner(NamedTuple):
    """A fit as a linear map of labels y: weights `a = fit @ y`, linear part `linear @ y`."""

    fit: FloatArray  # (P, N)
    linear: FloatArray  # (D, N)
    smooth: FloatArray  # (N, N), training predictions


def learner(setting: Setting, x: FloatArray, theta: FloatArray, z: FloatArray) -> Learner:
    """Ridge regression on the features z (N, P), through the smaller of the two Gram matrices."""
    d, p, n = setting.sizes
    strength = (p / d) * (n / d) * setting.ridge
    if p > n:
        fit = np.linalg.solve(z @ z.T + strength * np.eye(n), z).T  # (P, N)
    else:
        fit = np.linalg.solve(z.T @ z + strength * np.eye(p), z.T)
    linear = setting.activation.linear * theta.T @ fit / d  # (D, N)
    return Learner(fit=np.asarray(fit, dtype=np.float64), linear=linear, smooth=z @ fit)


def draw(setting: Setting, rng: np.random.Generator) -> dict[str, float]:
    """One draw of every Ψ term, for a teacher of power one, and of training errors."""
    d, p, n = setting.sizes
    mu1, star = setting.activation.linear, setting.activation.nonlinear
    xs = [rng.standard_normal((n, d)) * np.sqrt(setting.variances) for _ in range(2)]
    thetas = [rng.standard_normal((p, d)) for _ in range(2)]
    zs = [
        [
            (mu1 * x @ t.T / np.sqrt(d) + star * rng.standard_normal((n, p))) / np.sqrt(d)
            for t in thetas
        ]
        for x in xs
    ]
    fits = [
        [learner(setting, x, t, z) for t, z in zip(thetas, row, strict=True)]
        for x, row in zip(xs, zs, strict=True)
    ]
    beta2 = setting.powers / setting.powers.sum() / setting.variances  # E β_i²

    def overlap(i: int, j: int, k: int, m: int) -> tuple[float, float]:
        """E_x of the product of learners (X_i, Θ_j) and (X_k, Θ_m): teacher and noise parts."""
        a, b = fits[i][j], fits[k][m]
        signal_a, signal_b = a.linear @ xs[i], b.linear @ xs[k]  # (D, D)
        signal = float(np.sum(setting.variances[:, None] * signal_a * signal_b * beta2))
        noise = 0.0
        if i == k:
            noise = float(np.sum(setting.variances[:, None] * a.linear * b.linear))
        if j == m:  # the same features have the same nonlinear part at a test point
            signal += star**2 / d * float(np.sum((a.fit @ xs[i]) * (b.fit @ xs[k]) * beta2))
            noise += star**2 / d * float(np.sum(a.fit * b.fit)) if i == k else 0.0
        return signal, noise

    def residual(i: int, j: int) -> FloatArray:
        return np.eye(n) - fits[i][j].smooth

    def training(a: FloatArray, b: FloatArray, x: FloatArray) -> tuple[float, float]:
        return float(np.sum((a @ x) * (b @ x) * beta2)) / n, float(np.sum(a * b)) / n

    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    vanilla = np.mean([overlap(i, j, i, j) for i, j in pairs], axis=0)
    ensemble = np.mean([overlap(i, 0, i, 1) for i in range(2)], axis=0)
    psi1 = [
        np.sum(setting.variances * np.einsum("ij,ji->i", fits[i][j].linear, xs[i]) * beta2)
        for i, j in pairs
    ]
    train1 = np.mean([training(residual(i, j), residual(i, j), xs[i]) for i, j in pairs], axis=0)
    train2 = np.mean([training(residual(i, 0), residual(i, 1), xs[i]) for i in range(2)], axis=0)
    divided = _split_training(zs, fits, xs, beta2)
    return {
        "psi1": float(np.mean(psi1)),
        "psi2_vanilla": vanilla[0],
        "psi3_vanilla": vanilla[1],
        "psi2_ensemble": ensemble[0],
        "psi3_ensemble": ensemble[1],
        "psi2_divide": float(np.mean([overlap(0, 0, 1, 1)[0], overlap(0, 1, 1, 0)[0]])),
        "psi2_features": float(np.mean([overlap(0, j, 1, j)[0] for j in range(2)])),
        "train_signal": train1[0],
        "train_noise": train1[1],
        "train_pair_signal": train2[0],
        "train_pair_noise": train2[1],
        "train_divide_signal": divided[0],
        "train_divide_noise": divided[1],
    }


def _split_training(
    zs: list[list[FloatArray]], fits: list[list[Learner]], xs: list[FloatArray], beta2: FloatArray
) -> tuple[float, float]:
    """Training error of the mean of two learners, each trained on its own half of the data."""
    n = xs[0].shape[0]
    signal = noise = 0.0
    for i, k in ((0, 1), (1, 0)):
        # predictions on set i: learner (i, i) has trained there, learner (k, k) on the other half
        seen, unseen = fits[i][i].smooth, zs[i][k] @ fits[k][k].fit
        error = xs[i] - 0.5 * (seen @ xs[i] + unseen @ xs[k])  # (N, D), for labels X β
        signal += float(np.sum(error**2 * beta2)) / n / 2
        noise += float(np.sum((np.eye(n) - 0.5 * seen) ** 2) + np.sum((0.5 * unseen) ** 2)) / n / 2
    return signal, noise


class Measured(NamedTuple):
    """A mean over independent draws, with its standard error."""

    value: float
    standard_error: float

    @classmethod
    def of(cls, draws: FloatArray) -> "Measured":
        return cls(float(draws.mean()), float(draws.std(ddof=1) / np.sqrt(draws.size)))

    def z_score(self, expected: float) -> float:
        if self.standard_error == 0:  # a term that does not fluctuate must be exact
            return 0.0 if self.value == expected else np.inf
        return (self.value - expected) / self.standard_error


def draws(setting: Setting, n_draws: int, seed: int) -> dict[str, FloatArray]:
    """Every term of `draw`, for independent draws."""
    table = [draw(setting, rng) for rng in np.random.default_rng(seed).spawn(n_draws)]
    return {name: np.array([row[name] for row in table]) for name in table[0]}


def extrapolated(small: FloatArray, large: FloatArray) -> Measured:
    """The mean for D → ∞ from draws at D and 2D: the O(1/D) finite-size bias cancels."""
    a, b = Measured.of(small), Measured.of(large)
    error = float(np.hypot(2 * b.standard_error, a.standard_error))
    return Measured(2 * b.value - a.value, error)
