"""How often intervals of nominally 95% contain the expected value of a part.

Three models whose predictions are drawn at once: random features at P = N, where tails are heavy; a
linear model in one dimension, trained by gradient flow from a random weight, whose outputs at all
test points are one common random number; and Gaussian random effects that all test points share.
The expected value is the mean of the (unbiased) estimates over all repeats and numbers of data
sets. Beside the intervals of `decompose_predictions` stand symmetric ones by Student's t.

    python -m benchmarks.coverage [--repeats R]
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from doubletrouble.estimates import Estimate
from doubletrouble.learners import decompose_predictions
from doubletrouble.parameters import FloatArray

PARTS = ("noise", "initialization", "sampling", "bias", "total")
VARIANCES = PARTS[:3]
N_DATA = (5, 10, 20)
BAR = (0.92, 0.97)  # for the variance parts

Draw = Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]
"""Predictions [data, noise, init, test] for a number of data sets, and the truth."""


def random_features(
    rng: np.random.Generator,
    n_data: int,
    *,
    dim: int = 40,
    n_features: int = 40,
    ridge: float = 1e-3,
    draws: tuple[int, int, int] = (2, 5, 150),
) -> tuple[FloatArray, FloatArray]:
    """The paper's learner on its own data: relu features, N = D, SNR 1."""
    n_noise, n_init, n_test = draws
    x = rng.standard_normal((n_data, dim, dim))  # (data, N, D)
    new = rng.standard_normal((n_test, dim))
    theta = rng.standard_normal((n_init, 1, n_features, dim))
    beta = np.full(dim, dim**-0.5)
    y = (x @ beta)[:, None, :] + rng.standard_normal((n_data, n_noise, dim))
    z, z_new = _features(x, theta), _features(new[None], theta)  # (init, data or 1, N or T, P)
    gram = z.swapaxes(2, 3) @ z + n_features * ridge * np.eye(n_features)
    weights = np.linalg.solve(gram, z.swapaxes(2, 3) @ y.swapaxes(1, 2))  # (init, data, P, noise)
    return np.asarray((z_new @ weights).transpose(1, 3, 0, 2)), new @ beta


def _features(x: FloatArray, theta: FloatArray) -> FloatArray:
    z = x @ theta.swapaxes(2, 3) / np.sqrt(x.shape[-1])
    return np.asarray(np.maximum(z, 0) - 1 / np.sqrt(2 * np.pi))


def linear(rng: np.random.Generator, n_data: int) -> tuple[FloatArray, FloatArray]:
    """One weight w of y = wx + noise, fitted to 30 samples; f(x) = ŵx at 100 test points."""
    n_samples, n_noise, n_init, n_test = 30, 2, 5, 100
    x = rng.standard_normal((n_data, 1, n_samples))
    noise = rng.standard_normal((n_data, n_noise, n_samples))
    power = np.mean(x**2, axis=2)  # (data, 1)
    fitted = 1 + np.mean(x * noise, axis=2) / power
    left = np.exp(-power)[..., None]  # of the initial weight, when gradient flow is stopped
    weights = left * rng.standard_normal(n_init) + (1 - left) * fitted[..., None]
    new = rng.standard_normal(n_test)
    return np.asarray(weights[..., None] * new), new


def gaussian(rng: np.random.Generator, n_data: int) -> tuple[FloatArray, FloatArray]:
    """Main effects and interactions of variances 0.3 to 0.8, equal at all test points."""
    D, N, K = n_data, 2, 5
    shapes = {(1, 1, K): 0.3, (D, 1, 1): 0.5, (D, 1, K): 0.8, (D, N, 1): 0.4, (D, N, K): 0.6}
    f = 0.8 + sum(np.sqrt(v) * rng.standard_normal(shape) for shape, v in shapes.items())
    return np.repeat(f[..., None], 3, axis=3), np.zeros(3)


MODELS: dict[str, tuple[Draw, bool]] = {  # and whether test points are drawn
    "random features, P = N": (random_features, True),
    "linear, one common output": (linear, True),
    "Gaussian, one common output": (gaussian, False),
}


def repeated(model: str, n_data: int, repeats: int, seed: int = 0) -> dict[str, list[Estimate]]:
    """The estimates of every part, for independent draws of everything."""
    draw, include_test = MODELS[model]
    rng = np.random.default_rng([seed, n_data])
    estimates: dict[str, list[Estimate]] = {name: [] for name in PARTS}
    for _ in range(repeats):
        f, truth = draw(rng, n_data)
        error = decompose_predictions(f, truth, include_test=include_test).error()
        for name in PARTS:
            estimates[name].append(getattr(error, name))
    return estimates


def coverage(estimates: list[Estimate], expected: float) -> tuple[float, float]:
    """The share of intervals that contain the expected value, and the same of Student's t."""
    symmetric = [replace(part, mean_square=None) for part in estimates]
    shares = []
    for parts in (estimates, symmetric):
        intervals = [part.confidence_interval(0.95) for part in parts]
        shares.append(float(np.mean([low <= expected <= high for low, high in intervals])))
    return shares[0], shares[1]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="of every model and size")
    repeats = parser.parse_args([] if arguments is None else arguments).repeats
    error = 100 * (0.95 * 0.05 / repeats) ** 0.5
    print(f"coverage of 95% intervals in %, {repeats} repeats (± {error:.1f}); Student's t after /")
    print(f"bar for noise, initialization and sampling: {BAR[0]:.0%} to {BAR[1]:.0%}")
    for model in MODELS:
        found = {n_data: repeated(model, n_data, repeats) for n_data in N_DATA}
        print(f"{model:<30}{''.join(f'{n} data sets'.rjust(16) for n in N_DATA)}")
        for name in PARTS:
            every = [float(part) for parts in found.values() for part in parts[name]]
            shares = [coverage(found[n_data][name], float(np.mean(every))) for n_data in N_DATA]
            cells = (f"{100 * ours:.1f} / {100 * t:.1f}".rjust(16) for ours, t in shares)
            print(f"  {name:<28}{''.join(cells)}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
