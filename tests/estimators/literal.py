"""The learner of the theory, written down literally: one P × P solve, no blocks, no shortcuts."""

import numpy as np

import doubletrouble as dt
from doubletrouble.parameters import FloatArray


def data(
    n: int, dim: int, seed: int = 0, outputs: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Gaussian inputs and noisy linear labels."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, dim))
    beta = rng.standard_normal((dim,) if outputs is None else (dim, outputs))
    y = x @ beta / np.sqrt(dim)
    return x, y + 0.3 * rng.standard_normal(y.shape)


def features(
    x: FloatArray, theta: FloatArray, name: str = "relu", center: bool = True
) -> FloatArray:
    """σ(Θ x / √D) - μ₀."""
    sigma = dt.activation(name)
    assert sigma.function is not None
    z = np.asarray(sigma.function(x @ theta.T / np.sqrt(x.shape[1])))
    return z - sigma.mean if center else z


def weights(z: FloatArray, y: FloatArray, ridge: float, dim: int) -> FloatArray:
    """Minimizer of (1/N) |y - Z a|² + (P λ/D) |a|²."""
    n, p = z.shape
    return np.linalg.solve(z.T @ z / n + p * ridge / dim * np.eye(p), z.T @ y / n)
