"""Monte Carlo of true random features with a true nonlinear teacher (no Gaussian equivalent).

The teacher is ⟨β, x⟩ plus a random quadratic form of power F⋆². Two data sets, two draws of the
features: products of independent copies give each part of the decomposition without bias.
"""

from dataclasses import dataclass

import numpy as np

from tests.theory.traces import FloatArray

N_TEST = 300


@dataclass(frozen=True, kw_only=True)
class Setting:
    """ReLU features, the paper's ridge λ, and the powers of the teacher and the noise."""

    features_per_dim: float
    samples_per_dim: float
    ridge: float
    signal: float
    noise: float
    nonlinear_signal: float


def relu(x: FloatArray, theta: FloatArray) -> FloatArray:
    """Centred ReLU features of x."""
    hidden = x @ theta.T / np.sqrt(x.shape[1])
    return np.asarray(np.maximum(hidden, 0.0) - 1 / np.sqrt(2 * np.pi))


def draw(setting: Setting, dim: int, rng: np.random.Generator) -> dict[str, float]:
    """One draw of noise, initialization, sampling and bias."""
    p, n = round(setting.features_per_dim * dim), round(setting.samples_per_dim * dim)
    beta = rng.standard_normal(dim)
    beta *= setting.signal / np.linalg.norm(beta)
    form = rng.standard_normal((dim, dim))
    form = form + form.T
    form *= setting.nonlinear_signal / np.sqrt(2 * np.sum(form**2))

    def teacher(x: FloatArray) -> FloatArray:
        curved = np.sum((x @ form) * x, axis=1) - np.trace(form)
        return np.asarray(x @ beta + curved)

    xs = [rng.standard_normal((n, dim)) for _ in range(2)]
    thetas = [rng.standard_normal((p, dim)) for _ in range(2)]
    test = rng.standard_normal((N_TEST, dim))
    truth, response = teacher(test), []
    f = np.empty((2, 2, N_TEST))
    for i, x in enumerate(xs):
        for j, theta in enumerate(thetas):
            phi, phi_test = relu(x, theta), relu(test, theta)
            gram = phi @ phi.T + n * p * setting.ridge / dim * np.eye(n)
            maps = np.linalg.solve(gram, phi @ phi_test.T).T  # (test, N): f = maps @ y
            f[i, j] = maps @ teacher(x)
            response.append(np.sum(maps**2) / N_TEST)
    same = np.mean(f**2)
    ensemble = np.mean(f[:, 0] * f[:, 1])
    apart = np.mean(f[0, 0] * f[1, 1] + f[0, 1] * f[1, 0]) / 2
    off = truth - f
    bias = np.mean(off[0, 0] * off[1, 1] + off[0, 1] * off[1, 0]) / 2
    return {
        "noise": setting.noise**2 * float(np.mean(response)),
        "initialization": float(same - ensemble),
        "sampling": float(ensemble - apart),
        "bias": float(bias),
    }


def draws(setting: Setting, dim: int, n_draws: int, seed: int) -> dict[str, FloatArray]:
    """Every part, for independent draws."""
    table = [draw(setting, dim, rng) for rng in np.random.default_rng(seed).spawn(n_draws)]
    return {name: np.array([row[name] for row in table]) for name in table[0]}
