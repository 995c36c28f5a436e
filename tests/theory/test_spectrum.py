"""A measured spectrum: the isotropic problem as a special case, and published formulas."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq

import doubletrouble as dt


@pytest.mark.parametrize("dim", [1, 8, 64])
@pytest.mark.parametrize("activation", ["relu", "tanh", "abs", "linear"])
def test_isotropic_problem_is_a_special_case(dim: int, activation: str) -> None:
    # dimensions that are powers of two: sizes next to P = N are then multiplied exactly
    sizes = np.array([0.05, 0.5, 1 - 1e-12, 1.0, 2.0, 30.0, math.inf])
    problem = dt.Problem(
        features_per_dim=sizes,
        samples_per_dim=sizes[:-1, None],
        ridge=np.array([0.0, 1e-300, 1e-12, 1e-3, 10.0, math.inf])[:, None, None],
        noise=0.7,
        nonlinear_signal=0.3,
        activation=activation,
    )
    spectrum = dt.SpectralProblem.from_problem(problem, dim=dim)
    for members in (1, 3, math.inf):
        a, b = dt.exact_error(problem, members), dt.exact_error(spectrum, members)
        for name in ("noise", "initialization", "sampling", "bias"):
            np.testing.assert_allclose(getattr(b, name), getattr(a, name), rtol=2e-12, atol=1e-300)
    np.testing.assert_allclose(
        dt.training_error(spectrum, 2), dt.training_error(problem, 2), rtol=2e-12, atol=1e-300
    )
    np.testing.assert_allclose(dt.anova(spectrum).total, dt.anova(problem).total, rtol=2e-12)


def published_risk(
    levels: npt.NDArray[Any],
    powers: npt.NDArray[Any],
    n: float,
    k: float,
    ridge: float,
    noise: float,
) -> float:
    """One model's test error as [defilippis2024] and [simon2023] write it, solved by nesting."""

    def degrees(g: float) -> float:
        return float(np.sum(levels / (levels + g)))

    def inner(g: float) -> float:
        return g * (1 - degrees(g) / k) * (1 - degrees(g) / n) - ridge / n

    low = 1e-14  # beyond this g the factors are positive
    if min(k, n) < levels.size:
        low = brentq(lambda g: min(k, n) - degrees(g), 1e-14, 1e6, xtol=1e-300, rtol=1e-15)
    g = brentq(inner, low, 1e9, xtol=1e-300, rtol=1e-15)
    nu2, nu1 = g, g * (1 - degrees(g) / k)
    df2 = float(np.sum(levels**2 / (levels + g) ** 2))
    upsilon = (k / n) * ((1 - nu1 / nu2) ** 2 + (nu1 / nu2) ** 2 * df2 / (k - df2))
    chi = float(np.sum(levels / (levels + g) ** 2)) / (k - df2)
    plain = float(np.sum(powers / (levels + nu2) ** 2))
    lifted = float(np.sum(powers * levels / (levels + nu2) ** 2))
    return nu2**2 / (1 - upsilon) * (plain + chi * lifted) + noise**2 * upsilon / (1 - upsilon)


def test_error_equals_the_published_deterministic_equivalent() -> None:
    rng = np.random.default_rng(5)
    index = np.arange(1.0, 101.0)
    levels, powers = np.power(index, -1.3), rng.uniform(0, 1, 100) / index
    points = itertools.product((15.0, 40.0, 300.0), (10.0, 39.0, 200.0), (1e-3, 0.1, 5.0))
    n_features, n_samples, ridge = np.array(list(points)).T
    problem = dt.SpectralProblem(
        eigenvalues=levels,
        target_powers=powers,
        n_features=n_features,
        n_samples=n_samples,
        gram_ridge=ridge,
        noise=0.4,
    )
    expected = [
        published_risk(levels, powers, n, k, delta, 0.4)
        for k, n, delta in zip(n_features, n_samples, ridge, strict=True)
    ]
    np.testing.assert_allclose(dt.exact_error(problem).total, expected, rtol=1e-10)


def test_tail_is_the_limit_of_many_small_levels() -> None:
    """The tail is the limit of infinitely many tiny eigenvalues, here 10⁵ of them."""
    levels, powers = np.array([1.0, 0.3, 0.1]), np.array([1.0, 0.5, 0.2])
    sizes: dict[str, Any] = {"n_features": 20.0, "n_samples": 8.0, "gram_ridge": 1e-2, "noise": 0.3}
    with_tail = dt.SpectralProblem(
        eigenvalues=levels, target_powers=powers, tail=0.4, nonlinear_signal=0.5, **sizes
    )
    gaps: list[float] = []
    for count in (10_000, 100_000):
        fine = dt.SpectralProblem(
            eigenvalues=np.concatenate([levels, np.full(count, 0.4 / count)]),
            target_powers=np.concatenate([powers, np.full(count, 0.25 / count)]),
            **sizes,
        )
        a, b = dt.exact_error(fine, 2), dt.exact_error(with_tail, 2)
        gaps.append(float(np.abs(np.divide(a.total, b.total) - 1)))
        assert a.sampling == pytest.approx(b.sampling, rel=1e-2)
    assert gaps[1] < 1e-3
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.02)


def test_errors_do_not_depend_on_units() -> None:
    """Eigenvalues, tail and ridge share one unit; target powers another."""
    levels, powers = np.arange(1, 30) ** -2.0, np.arange(1, 30) ** -1.0
    base = dt.SpectralProblem(
        eigenvalues=levels,
        target_powers=powers,
        tail=0.1,
        n_features=20,
        n_samples=12,
        gram_ridge=0.01,
    )
    for unit in (1e-120, 1e-7, 1e9, 1e120):
        scaled = dt.SpectralProblem(
            eigenvalues=unit * levels,
            target_powers=unit * powers,
            tail=unit * 0.1,
            n_features=20,
            n_samples=12,
            gram_ridge=unit * 0.01,
        )
        ratio = dt.exact_error(scaled).total / dt.exact_error(base).total
        assert ratio == pytest.approx(unit, rel=1e-12)


def test_far_smaller_levels_act_as_noise() -> None:
    levels = np.concatenate([np.ones(10), np.full(1000, 1e-18)])
    powers = np.concatenate([np.full(10, 0.1), np.zeros(1000)])
    problem = dt.SpectralProblem(
        eigenvalues=levels, target_powers=powers, n_features=math.inf, n_samples=100, noise=1.0
    )
    error = dt.exact_error(problem)
    # of 100 samples 10 are spent on the ten directions; 90 are interpolated by a thousand others
    assert error.bias == pytest.approx(0.0, abs=1e-20)
    assert error.noise == pytest.approx(10 / 90 + 90 / 910 * (1 + 10 / 90), rel=1e-12)


def test_zero_eigenvalues_are_bias() -> None:
    """Zero eigenvalues cannot be learned: their target power is bias."""
    problem = dt.SpectralProblem(
        eigenvalues=[1.0, 0.0], target_powers=[0.0, 0.7], n_features=5, n_samples=4, gram_ridge=0.1
    )
    twin = dt.SpectralProblem(
        eigenvalues=[1.0],
        target_powers=[0.0],
        n_features=5,
        n_samples=4,
        gram_ridge=0.1,
        nonlinear_signal=math.sqrt(0.7),
    )
    assert dt.exact_error(problem).bias == pytest.approx(0.7, rel=1e-14)
    assert dt.exact_error(problem, 3).total == pytest.approx(
        dt.exact_error(twin, 3).total, rel=1e-13
    )
