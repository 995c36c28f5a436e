"""The paper's learner on its own data, all fits of a decomposition at once."""

import numpy as np

from doubletrouble.parameters import FloatArray

RIDGE = 1e-3


def predictions(
    rng: np.random.Generator, *, dim: int, width: int, shape: tuple[int, int, int, int]
) -> tuple[FloatArray, FloatArray]:
    """Predictions [data, noise, init, test] of relu features, N = D, SNR 1; and the truth."""
    n_data, n_noise, n_init, n_test = shape
    x = rng.standard_normal((n_data, dim, dim))  # (data, N, D)
    new = rng.standard_normal((n_test, dim))
    theta = rng.standard_normal((n_init, 1, width, dim))
    beta = np.full(dim, dim**-0.5)
    y = (x @ beta)[:, None, :] + rng.standard_normal((n_data, n_noise, dim))
    z, z_new = (
        _features(x, theta),
        _features(new[None], theta),
    )  # (init, data, N, P), (init, 1, T, P)
    gram = z.swapaxes(2, 3) @ z + width * RIDGE * np.eye(width)
    weights = np.linalg.solve(gram, z.swapaxes(2, 3) @ y.swapaxes(1, 2))  # (init, data, P, noise)
    return np.asarray((z_new @ weights).transpose(1, 3, 0, 2)), new @ beta


def _features(x: FloatArray, theta: FloatArray) -> FloatArray:
    z = x @ theta.swapaxes(2, 3) / np.sqrt(x.shape[-1])
    return np.asarray(np.maximum(z, 0) - 1 / np.sqrt(2 * np.pi))
