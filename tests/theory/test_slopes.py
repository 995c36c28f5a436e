"""Derivatives of the error by P and N: against 800-digit differences, closed forms and limits."""

import math
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

import doubletrouble as dt
from doubletrouble.theory.slopes import error_slopes
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
        (2.0, 1.0, 1e-5, 1, "ensemble"),
        (0.5, 1.0, 1e-3, 3, "ensemble"),
        (1.0, 1.0, 1e-3, 2, "ensemble"),
        (1.0, 1.0, 1e-300, 1, "ensemble"),
        (1 + 1e-12, 1.0, 1e-300, 1, "ensemble"),
        (1 - 1e-12, 1.0, 1e-30, 2, "ensemble"),
        (0.7, 1.0, 0.01, 2, "divide"),
        (0.5, 1.0, 1e-200, 2, "divide"),
    ],
)
def test_slopes_are_those_of_high_precision_differences(
    P: float, N: float, ridge: float, members: int, scheme: str
) -> None:
    problem = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, **POWERS)
    found = error_slopes(problem, members, scheme)
    with mpmath.workdps(oracle.DIGITS):
        h = mpf(10) ** -200 if ridge < 1e-20 else mpf(10) ** -40
        p, n = mpf(P), mpf(N)

        def at(p: Any, n: Any) -> Any:
            return risk(p, n, ridge, members, scheme)

        by_features = (at(p * (1 + h), n) - at(p * (1 - h), n)) / (2 * h * p)
        by_samples = (at(p, n * (1 + h)) - at(p, n * (1 - h))) / (2 * h * n)
    assert found.by_features == pytest.approx(float(by_features), rel=1e-13)
    assert found.by_samples == pytest.approx(float(by_samples), rel=1e-13)


@pytest.mark.parametrize("ratio", [1.001, 1.2, 2.0, 50.0])
@pytest.mark.parametrize("members", [1, 4])
def test_the_closed_form_without_ridge_beyond_the_threshold(ratio: float, members: int) -> None:
    """R_K = R_inf + (F² (1 - Ψ1) + σ²)/(K (P/N - 1)), and R_inf does not depend on P."""
    problem = dt.Problem(features_per_dim=ratio, samples_per_dim=1.0, ridge=0.0, noise=0.5)
    psi1 = float(np.asarray(dt.psi_terms(problem).psi1))
    expected = -(1 - psi1 + 0.25) / (members * (ratio - 1) ** 2)
    found = error_slopes(problem, members).by_features
    assert found == pytest.approx(expected, rel=1e-12)
    assert found != pytest.approx(expected * members * 1.01, rel=1e-3)  # the control


def test_at_the_peak_one_more_of_either_takes_the_divergence_away() -> None:
    peak = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0)
    assert error_slopes(peak, 5) == (-math.inf, -math.inf)
    many = error_slopes(peak, math.inf)
    assert many.by_features == 0  # the plateau
    step = 1e-7
    more = dt.Problem(features_per_dim=1.0, samples_per_dim=1 + step, ridge=0.0)
    fall = (dt.exact_error(more, math.inf).total - dt.exact_error(peak, math.inf).total) / step
    assert many.by_samples == pytest.approx(fall, rel=1e-5)
    nothing = dt.Problem(features_per_dim=1.0, ridge=0.0, signal=0.0, noise=0.0)
    assert error_slopes(nothing) == (0, 0)


@pytest.mark.parametrize(("members", "scheme"), [(1, "ensemble"), (3, "divide")])
@pytest.mark.parametrize(("P", "N", "ridge"), [(30, 50, 0.1), (80, 50, 1e-3), (10, 50, 0.0)])
def test_a_measured_spectrum(P: float, N: float, ridge: float, members: int, scheme: str) -> None:
    levels = np.arange(1, 21) ** -1.5

    def spectrum(P: float, N: float) -> dt.SpectralProblem:
        return dt.SpectralProblem(
            eigenvalues=levels, target_powers=levels, tail=0.01, n_features=P, n_samples=N,
            ridge=ridge, noise=0.3,
        )  # fmt: skip

    def at(P: float, N: float) -> float:
        return float(np.asarray(dt.exact_error(spectrum(P, N), members, scheme).total))

    found, h = error_slopes(spectrum(P, N), members, scheme), 1e-4
    by_features = (
        8 * (at(P + h, N) - at(P - h, N)) - (at(P + 2 * h, N) - at(P - 2 * h, N))
    ) / (12 * h)  # fmt: skip
    by_samples = (8 * (at(P, N + h) - at(P, N - h)) - (at(P, N + 2 * h) - at(P, N - 2 * h))) / (
        12 * h
    )
    assert found.by_features == pytest.approx(by_features, rel=1e-7)
    assert found.by_samples == pytest.approx(by_samples, rel=1e-7)


def test_a_flat_spectrum_is_the_isotropic_problem() -> None:
    """But for the ridge: δ = λ N stays, and λ falls, as N grows."""
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=0.8, ridge=0.05)
    flat = dt.SpectralProblem.from_problem(problem, dim=10)
    one, many = error_slopes(problem), error_slopes(flat)
    assert many.by_features * 10 == pytest.approx(one.by_features, rel=1e-10)
    h = 1e-5
    ridges = (dt.exact_error(replace(problem, ridge=0.05 * (1 + s))) for s in (-h, h))
    low, high = (float(np.asarray(error.total)) for error in ridges)
    by_ridge = (high - low) / (2 * h)  # by log λ
    assert many.by_samples * 10 == pytest.approx(one.by_samples - by_ridge / 0.8, rel=1e-6)
    assert many.by_samples * 10 != pytest.approx(one.by_samples, rel=1e-3)  # the control


@settings(max_examples=200, deadline=None)
@given(
    P=st.floats(1e-3, 1e3) | st.just(math.inf), N=st.floats(1e-3, 1e3),
    ridge=st.sampled_from([0.0, 1e-300, 1e-5, 1.0, 1e300, math.inf]),
    members=st.sampled_from([1, 2, 1000, math.inf]), scheme=st.sampled_from(["ensemble", "divide"]),
    activation=st.sampled_from(["relu", "linear", "quadratic", "tanh"]),
)  # fmt: skip
def test_slopes_are_numbers(
    P: float, N: float, ridge: float, members: float, scheme: str, activation: str
) -> None:
    problem = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, activation=activation)
    assert not any(map(math.isnan, error_slopes(problem, members, scheme)))


def test_arrays_give_arrays() -> None:
    widths = np.array([0.5, 1.0, 2.0])
    found = error_slopes(dt.Problem(features_per_dim=widths, ridge=0.1), 2)
    for width, slope in zip(widths, np.asarray(found.by_features), strict=True):
        one = error_slopes(dt.Problem(features_per_dim=float(width), ridge=0.1), 2)
        assert slope == pytest.approx(one.by_features, rel=1e-14)
