"""Power-law spectra against Gaussian features of 2,000 modes, by cause and in standard errors.

All parts are compared at ridges for which deviations of order 1/N are below the standard errors.
At a small ridge the noise of P < N features is τ² P/(N - P - 1) at finite sizes, in place of
τ² P/(N - P): this factor is tested on its own.
"""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt

pytestmark = pytest.mark.statistical

MODES = 2000
NOISE = 0.3
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


class Draws:
    """Responses of learners with Gaussian features: their maps from labels to modes."""

    def __init__(self, law: dt.SpectralProblem, seed: int) -> None:
        self.law, self.rng = law, np.random.default_rng(seed)
        ranks = np.arange(1.0, MODES + 1)
        self.roots = ranks ** (-law.law.capacity / 2)  # type: ignore[union-attr]
        slope = 1 + 2 * law.law.capacity * law.law.source  # type: ignore[union-attr]
        self.target = ranks ** (-slope / 2)

    def response(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """The map (modes, N) from labels to the coefficients of the fitted function."""
        scaled = weights * self.roots / np.sqrt(len(weights))  # (P, modes)
        features = data @ scaled.T  # (N, P)
        ridge = float(np.asarray(self.law.gram_ridge))
        small = features.T @ features + ridge * np.eye(len(weights))
        return np.asarray(scaled.T @ np.linalg.solve(small, features.T))

    def parts(self) -> dict[str, float]:
        """The parts of the error of one model from two data sets and two sets of features."""
        N, P = int(np.asarray(self.law.n_samples)), int(np.asarray(self.law.n_features))
        data = [self.rng.standard_normal((N, MODES)) for _ in range(2)]
        weights = [self.rng.standard_normal((P, MODES)) for _ in range(2)]
        maps = [[self.response(x, w) for w in weights] for x in data]
        off = [
            [m @ (x @ self.target) - self.target for m in both]
            for x, both in zip(data, maps, strict=True)
        ]
        own = float(np.mean([e @ e for both in off for e in both]))
        other = float(np.mean([a @ b for a, b in off]))
        apart = float(off[0][0] @ off[1][1] + off[0][1] @ off[1][0]) / 2
        power = float(np.mean([np.sum(m * m) for both in maps for m in both]))
        return {
            "noise": NOISE**2 * power,
            "initialization": own - other,
            "sampling": other - apart,
            "bias": apart,
        }


def law(capacity: float, source: float, **sizes: float) -> dt.SpectralProblem:
    return dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=capacity, source=source, n_modes=MODES), noise=NOISE, **sizes
    )


@pytest.mark.parametrize(
    ("P", "N", "ridge"),
    [(60, 180, 1.0), pytest.param(240, 120, 0.3, marks=pytest.mark.full), (100, 100, 0.3)],
)
def test_parts_agree_with_gaussian_features(P: int, N: int, ridge: float) -> None:
    problem = law(1.5, 0.8, n_features=P, n_samples=N, gram_ridge=ridge)
    draws = Draws(problem, seed=7)
    table = [draws.parts() for _ in range(40)]
    error, wrong = (
        dt.exact_error(law(1.5, source, n_features=P, n_samples=N, gram_ridge=ridge * factor))
        for source, factor in ((0.8, 1.0), (0.6, 2.0))
    )
    z, control = [], []
    for name in ("noise", "initialization", "sampling", "bias"):
        estimate = dt.Estimate.of([row[name] for row in table])
        z.append(float(estimate.z_score(getattr(error, name))))
        control.append(float(estimate.z_score(getattr(wrong, name))))
    assert np.abs(z).max() < 5
    assert np.abs(control).max() > 10  # another source and twice the ridge


def test_noise_at_a_small_ridge_has_the_factor_of_finite_sizes() -> None:
    P, N = 30, 90
    problem = law(1.5, 0.8, n_features=P, n_samples=N, gram_ridge=1e-4)
    draws = Draws(problem, seed=11)
    noise = dt.Estimate.of([draws.parts()["noise"] for _ in range(60)])
    limit = float(dt.exact_error(problem).noise)
    assert abs(float(noise.z_score(limit * (N - P) / (N - P - 1)))) < 4
    assert float(noise.z_score(limit)) > 4  # control: without the factor
