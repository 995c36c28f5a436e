"""Averaged support vector machines against the kernel machine, with finite models on drawn data.

With 20% of the labels flipped and N/D = 2, the theory has a lower error for infinitely many models
of P = 2D features than for the kernel limit, each with its best ridge, with the hinge loss only.
Both are fitted to the same data sets; that of infinitely many models is estimated without bias from
pairs of models. The difference is a mean over data sets of paired differences.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.convex import LinearModel

LOSSES = ("squared", "logistic", "hinge")
SIZES = ((100, 300), (200, 120))  # D, and the number of data sets
N_MODELS = 12
N_TEST = 4000
PROBLEM = dt.Problem(task="classification", features_per_dim=2.0, samples_per_dim=2.0, flips=0.2)


def overlaps(
    dim: int, ridges: dict[str, tuple[float, float]], rng: np.random.Generator
) -> dict[str, list[float]]:
    """The overlaps m and q of both for each loss, on one data set."""
    n, n_features = 2 * dim, 2 * dim
    x, test = rng.standard_normal((n, dim)), rng.standard_normal((N_TEST, dim))
    y = np.where((x[:, 0] > 0) != (rng.random(n) < 0.2), 1.0, -1.0)
    gram = dt.kernel("relu", x, center=True)
    across = dt.kernel("relu", test, x, center=True)
    kernel = LinearModel(gram=gram)
    models = []
    for _ in range(N_MODELS):
        theta = rng.standard_normal((dim, n_features)) / math.sqrt(dim)
        phi, other = (np.maximum(z @ theta, 0) - 1 / math.sqrt(2 * math.pi) for z in (x, test))
        models.append((LinearModel(phi), other))
    result = {}
    for loss, (of_models, of_kernel) in ridges.items():
        alone = across @ kernel.fit(y, loss, n * of_kernel / dim).dual
        fits = [
            other @ np.asarray(model.fit(y, loss, n * n_features * of_models / dim).weights)
            for model, other in models
        ]
        total, squares = np.sum(fits, axis=0), np.sum(np.square(fits), axis=0)
        pairs = (total**2 - squares) / (N_MODELS * (N_MODELS - 1))
        result[loss] = [
            float(np.mean(test[:, 0] * total)) / N_MODELS,
            float(np.mean(pairs)),
            float(np.mean(test[:, 0] * alone)),
            float(np.mean(alone**2)),
        ]
    return result


def difference(means: Any) -> Any:
    """The error of infinitely many models minus that of the kernel, from their overlaps."""
    m, q, m_kernel, q_kernel = means
    rates = [np.arccos(a / np.sqrt(b)) / np.pi for a, b in ((m, q), (m_kernel, q_kernel))]
    return rates[0] - rates[1]


def main() -> None:
    ridges, theory = {}, {}
    for loss in LOSSES:
        problem = replace(PROBLEM, loss=loss)
        many = dt.optimal_ridge(problem, math.inf)
        kernel = dt.optimal_ridge(replace(problem, features_per_dim=math.inf))
        ridges[loss] = (float(many.ridge), float(kernel.ridge))
        theory[loss] = many.error.total - kernel.error.total
    print(f"{'loss':<10}{'D':>5}{'data sets':>11}   ensemble - kernel       theory")
    for dim, n_data in SIZES:
        rngs = np.random.default_rng(dim).spawn(n_data)
        draws = [overlaps(dim, ridges, rng) for rng in rngs]
        for loss in LOSSES:
            values = np.array([one[loss] for one in draws])  # (data sets, 4)
            others = (n_data * values.mean(axis=0) - values) / (n_data - 1)
            jackknife = difference(others.T)
            error = math.sqrt((n_data - 1) * float(np.var(jackknife)))
            value = float(difference(values.mean(axis=0)))
            print(
                f"{loss:<10}{dim:>5}{n_data:>11}   {value:+.5f} ± {error:.5f}   {theory[loss]:+.5f}"
            )


if __name__ == "__main__":
    main()
