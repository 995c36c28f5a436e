"""Derivatives of the error by P and N: against 800-digit differences, closed forms and limits."""

import math
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES
from doubletrouble.theory import psi_terms
from doubletrouble.theory._optimum import Slopes, error_slopes
from tests.schemes import AnyProblem
from tests.theory import oracle

RELU = dt.activation("relu")
POWERS: dict[str, Any] = {"signal": 1.0, "noise": 0.7, "nonlinear_signal": 0.3}


def risk(P: Any, N: Any, ridge: float, members: int, scheme: str) -> Any:
    n = N / members if scheme == "divide" else N
    terms = oracle.psi(P, n, ridge, mpf(RELU.linear), mpf(RELU.nonlinear))
    return sum(oracle.error(terms, **POWERS, members=members, scheme=scheme).values())


@pytest.mark.parametrize(
    ("P", "N", "ridge", "members", "scheme"),
    [
        (1 - 1e-12, 1.0, 1e-30, 2, "ensemble"),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (
                (2.0, 1.0, 1e-5, 1, "ensemble"),
                (0.5, 1.0, 1e-3, 3, "ensemble"),
                (1.0, 1.0, 1e-3, 2, "ensemble"),
                (1.0, 1.0, 1e-300, 1, "ensemble"),
                (1 + 1e-12, 1.0, 1e-300, 1, "ensemble"),
                (0.7, 1.0, 0.01, 2, "divide"),
                (0.5, 1.0, 1e-200, 2, "divide"),
            )
        ),
    ],
)
def test_slopes_equal_high_precision_differences(
    P: float, N: float, ridge: float, members: int, scheme: str
) -> None:
    problem = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, **POWERS)
    result = error_slopes(problem, SCHEMES[scheme](members))
    with mpmath.workdps(oracle.DIGITS):
        h = mpf(10) ** -200 if ridge < 1e-20 else mpf(10) ** -40
        p, n = mpf(P), mpf(N)

        def at(p: Any, n: Any) -> Any:
            return risk(p, n, ridge, members, scheme)

        by_n_features = (at(p * (1 + h), n) - at(p * (1 - h), n)) / (2 * h * p)
        by_n_samples = (at(p, n * (1 + h)) - at(p, n * (1 - h))) / (2 * h * n)
    assert result.by_n_features == pytest.approx(float(by_n_features), rel=1e-13)
    assert result.by_n_samples == pytest.approx(float(by_n_samples), rel=1e-13)


SPECTRUM: dict[str, Any] = {
    "levels": [1.0, 0.35, 0.125, 0.05],
    "powers": [1.0, 0.5, 0.25, 0.7],
    "tail": 0.03125,
}


@pytest.mark.parametrize(
    ("P", "N", "ridge", "members", "scheme"),
    [
        (2.5, 5.0, 1e-30, 2, "divide"),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (
                (3.0, 5.0, 0.1, 1, "ensemble"),
                (8.0, 5.0, 1e-3, 3, "divide"),
                (2.0, 5.0, 0.0, 2, "ensemble"),
                (5.0, 5.0, 1e-3, 1, "ensemble"),
                (5.0, 5.0, 1e-30, 2, "ensemble"),
                (5.0, 5.0, 1e-200, 1, "ensemble"),
            )
        ),
    ],
)
def test_slopes_of_a_spectrum_equal_high_precision_differences(
    P: float, N: float, ridge: float, members: int, scheme: str
) -> None:
    """The ridge on the Gram matrix is constant, so that λ falls with N (κ = 1)."""
    problem = dt.SpectralProblem(
        eigenvalues=SPECTRUM["levels"],
        target_powers=SPECTRUM["powers"],
        tail=SPECTRUM["tail"],
        n_features=P,
        n_samples=N,
        gram_ridge=ridge,
        noise=0.3,
    )
    result = error_slopes(problem, SCHEMES[scheme](members))

    def at(p: Any, n: Any) -> Any:
        return oracle.spectral_risk(
            p, n, ridge, **SPECTRUM, noise=0.3, members=members, scheme=scheme, digits=digits
        )

    digits = oracle.DIGITS if ridge < 1e-100 else 240
    with mpmath.workdps(digits):
        h = mpf(10) ** (-digits // 4)
        p, n = mpf(P), mpf(N)
        by_n_features = (at(p * (1 + h), n) - at(p * (1 - h), n)) / (2 * h * p)
        by_n_samples = (at(p, n * (1 + h)) - at(p, n * (1 - h))) / (2 * h * n)
        here = at(p, n)
    total = float(np.asarray(dt.exact_error(problem, SCHEMES[scheme](members)).total))
    assert total == pytest.approx(float(here), rel=1e-13)
    assert result.by_n_features == pytest.approx(float(by_n_features), rel=1e-13)
    assert result.by_n_samples == pytest.approx(float(by_n_samples), rel=1e-13)


@pytest.mark.parametrize(("ratio", "members"), [(1.001, 4), (2.0, 1), (50.0, 4)])
def test_ridgeless_slopes_equal_the_closed_form(ratio: float, members: int) -> None:
    """R_K = R_inf + (F² (1 - Ψ1) + σ²)/(K (P/N - 1)), and R_inf does not depend on P."""
    problem = dt.Problem(features_per_dim=ratio, samples_per_dim=1.0, ridge=0.0, noise=0.5)
    psi1 = float(np.asarray(psi_terms(problem).psi1))
    expected = -(1 - psi1 + 0.25) / (members * (ratio - 1) ** 2)
    result = error_slopes(problem, members).by_n_features
    assert result == pytest.approx(expected, rel=1e-12)
    assert result != pytest.approx(expected * members * 1.01, rel=1e-3)  # the control


def test_slopes_at_the_peak_are_minus_infinity() -> None:
    peak = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0)
    assert error_slopes(peak, 5) == Slopes(by_n_features=-math.inf, by_n_samples=-math.inf)
    many = error_slopes(peak, math.inf)
    assert many.by_n_features == 0  # the plateau
    step = 1e-7
    more = dt.Problem(features_per_dim=1.0, samples_per_dim=1 + step, ridge=0.0)
    fall = (dt.exact_error(more, math.inf).total - dt.exact_error(peak, math.inf).total) / step
    assert many.by_n_samples == pytest.approx(fall, rel=1e-5)
    silent = dt.Problem(features_per_dim=1.0, ridge=0.0, signal=0.0, noise=0.0)
    assert error_slopes(silent) == Slopes(by_n_features=0, by_n_samples=0)


# --- linear networks without ridge learn every mode in full: a corner, or a divergence, at D ------


def linear(P: float, N: float, noise: float = 1.0, *, spectral: bool) -> AnyProblem:
    """Three modes, each with its power; P and N are features and samples per mode."""
    if not spectral:
        return dt.Problem(
            features_per_dim=P, samples_per_dim=N, ridge=0.0, noise=noise, activation="linear"
        )
    return dt.SpectralProblem(
        eigenvalues=[1.0, 0.3, 0.1, 0.0],
        target_powers=[1.0, 1.0, 0.5, 0.0],
        n_features=3 * P,
        n_samples=3 * N,
        noise=noise,
    )


@pytest.mark.parametrize("spectral", [False, True])
@pytest.mark.parametrize("members", [1, math.inf])
@pytest.mark.parametrize("P", [1.0, 3.0])
def test_feature_slope_is_zero_where_samples_diverge(
    P: float, members: float, *, spectral: bool
) -> None:
    wider, richer = linear(2 * P, 1.0, spectral=spectral), linear(P, 2.0, spectral=spectral)
    assert dt.exact_error(wider, members).total == math.inf
    assert math.isfinite(float(np.asarray(dt.exact_error(richer, members).total)))
    assert error_slopes(linear(P, 1.0, spectral=spectral), members) == Slopes(
        by_n_features=0, by_n_samples=-math.inf
    )


@pytest.mark.parametrize("spectral", [False, True])
@pytest.mark.parametrize("members", [1, math.inf])
@pytest.mark.parametrize("P", [1.0, 3.0])
def test_feature_slope_is_zero_for_saturated_linear_networks(
    P: float, members: float, *, spectral: bool
) -> None:
    """The error is σ² D/(N - D) for all P ≥ D; the slope is the right derivative."""
    unit = 3 if spectral else 1
    result = error_slopes(linear(P, 3.0, spectral=spectral), members)
    assert result.by_n_features == 0
    assert result.by_n_samples * unit == pytest.approx(-0.25, rel=1e-12)
    less = error_slopes(linear(0.999, 3.0, spectral=spectral), members)
    assert abs(float(less.by_n_features) * unit) > 0.2  # the control


@pytest.mark.parametrize("spectral", [False, True])
def test_noiseless_kink_is_at_the_number_of_modes(*, spectral: bool) -> None:
    """The error is 0 beyond N = D; at P = N = D both slopes are infinite."""
    assert error_slopes(linear(3.0, 1.0, 0.0, spectral=spectral)) == Slopes(
        by_n_features=0, by_n_samples=0
    )
    assert error_slopes(linear(3.0, 0.999, 0.0, spectral=spectral)).by_n_samples < -0.3
    assert float(np.asarray(dt.exact_error(linear(1.0, 1.0, 0.0, spectral=spectral)).total)) > 0.3
    for P, N in ((1.0, 1.001), (1.001, 1.0)):
        assert dt.exact_error(linear(P, N, 0.0, spectral=spectral)).total == 0
    assert error_slopes(linear(1.0, 1.0, 0.0, spectral=spectral)) == Slopes(
        by_n_features=-math.inf, by_n_samples=-math.inf
    )


def test_flat_spectrum_equals_the_isotropic_problem() -> None:
    """The ridges differ: δ = λ N is constant as N grows."""
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=0.8, ridge=0.05)
    flat = dt.SpectralProblem.from_problem(problem, dim=10)
    one, many = error_slopes(problem), error_slopes(flat)
    assert many.by_n_features * 10 == pytest.approx(one.by_n_features, rel=1e-10)
    h = 1e-5
    ridges = (dt.exact_error(replace(problem, ridge=0.05 * (1 + s))) for s in (-h, h))
    low, high = (float(np.asarray(error.total)) for error in ridges)
    by_ridge = (high - low) / (2 * h)  # by log λ
    assert many.by_n_samples * 10 == pytest.approx(one.by_n_samples - by_ridge / 0.8, rel=1e-6)
    assert many.by_n_samples * 10 != pytest.approx(one.by_n_samples, rel=1e-3)  # the control


@pytest.mark.parametrize("activation", ["relu", "linear", "quadratic", "tanh"])
def test_slopes_are_not_nan(activation: str) -> None:
    rng, count = np.random.default_rng(9), 300
    N = 10 ** rng.uniform(-3, 3, count)
    kinds = (10 ** rng.uniform(-3, 3, count), N, np.full(count, math.inf))
    problem = dt.Problem(
        features_per_dim=np.choose(rng.integers(3, size=count), kinds),
        samples_per_dim=N,
        ridge=rng.choice([0.0, 1e-300, 1e-5, 1.0, 1e300, math.inf], count),
        activation=activation,
    )
    members = rng.choice([1, 2, 1000, math.inf], count)
    for scheme in (dt.Ensemble, dt.Divide):
        result = error_slopes(problem, scheme(members))
        assert not np.isnan(result.by_n_features).any()
        assert not np.isnan(result.by_n_samples).any()


def test_slopes_of_arrays_have_their_shape() -> None:
    widths = np.array([0.5, 1.0, 2.0])
    result = error_slopes(dt.Problem(features_per_dim=widths, ridge=0.1), 2)
    for width, slope in zip(widths, np.asarray(result.by_n_features), strict=True):
        one = error_slopes(dt.Problem(features_per_dim=float(width), ridge=0.1), 2)
        assert slope == pytest.approx(one.by_n_features, rel=1e-14)
