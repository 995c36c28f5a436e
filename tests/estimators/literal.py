"""The learner of the theory, written down literally: one P × P solve, no blocks, no shortcuts."""

import numpy as np
import numpy.typing as npt

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


def left_out_error(
    x: FloatArray,
    y: FloatArray,
    thetas: FloatArray,
    ridge: float,
    *,
    counts: npt.ArrayLike | None = None,  # (K, N): of each row in the sample of each member
    weights: FloatArray | None = None,
    intercept: bool = False,
    center: bool = True,
) -> float:
    """The squared error of each row under the fits to all others, by one SVD for each row."""
    n, dim = x.shape
    labels, w = y.reshape(n, -1), np.ones(n) if weights is None else weights
    drawn = np.ones((len(thetas), n)) if counts is None else np.asarray(counts)
    outside = np.zeros(labels.shape)
    for theta, own in zip(thetas, drawn, strict=True):
        z = features(x, theta, center=center)
        rest = own * w * (1 - np.eye(n))  # (N, N): weights of rows, by the row left out
        total = rest.sum(axis=1)
        share = rest / total[:, None] if intercept else np.zeros((n, n))
        mean, shift = share @ z, share @ labels
        root = np.sqrt(rest)[..., None]
        u, s, vt = np.linalg.svd(root * (z - mean[:, None]), full_matrices=False)
        positive = s > 1e-14 * n * s[:, :1]
        alpha = ridge * len(theta) * total[:, None] / dim
        gain = np.where(positive, s, 0) / np.where(positive, s**2 + alpha, 1)
        projected = gain[..., None] * (u.mT @ (root * (labels - shift[:, None])))
        outside += (((z - mean)[:, None] @ vt.mT) @ projected)[:, 0] + shift
    missed = np.mean((labels - outside / len(thetas)) ** 2, axis=1)
    return float(np.average(missed, weights=w))
