"""Limits of known value: ridgeless, kernel, many members, and their combinations."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.theory import psi_terms

ACTIVATIONS = ("relu", "sign")


def ridgeless(features: Any, samples: Any, activation: str = "relu", **more: Any) -> dt.Problem:
    return dt.Problem(
        features_per_dim=features, samples_per_dim=samples, ridge=0.0, activation=activation, **more
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_ridgeless_initialization_beyond_the_peak_is_in_closed_form(activation: str) -> None:
    """For P > N initialization is F² (1 - Ψ₁) N/(P - N) exactly, the rest does not depend on P."""
    features, samples = np.array([(2.0, 1.0), (1.0001, 1.0), (30.0, 0.4), (7.0, 3.0)]).T
    problem = ridgeless(features, samples, activation)
    psi, error = psi_terms(problem), dt.exact_error(problem)
    excess = samples / (features - samples)
    assert error.initialization == pytest.approx((1 - np.asarray(psi.psi1)) * excess, rel=1e-13)
    own = np.asarray(psi.psi3_vanilla) - psi.psi3_ensemble
    assert own == pytest.approx(excess, rel=1e-12)
    plateau = dt.exact_error(replace(problem, features_per_dim=math.inf))
    assert error.sampling == pytest.approx(plateau.sampling, rel=1e-14)
    assert error.bias == pytest.approx(plateau.bias, rel=1e-14)
    assert np.all(np.asarray(dt.training_error(problem)) == 0.0)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_ridgeless_error_below_the_peak_is_that_of_least_squares(activation: str) -> None:
    """For P < N the model is misspecified."""
    features, samples = np.array([(0.5, 1.0), (0.9999, 1.0), (0.4, 30.0), (3.0, 7.0)]).T
    problem = ridgeless(features, samples, activation, noise=0.5)
    psi, error = psi_terms(problem), dt.exact_error(problem)
    missed = 1 - np.asarray(psi.psi1) + 0.25
    inflation = samples / (samples - features)
    assert error.noise == pytest.approx(0.25 * features / (samples - features), rel=1e-13)
    assert error.total == pytest.approx(missed * inflation - 0.25, rel=1e-12)
    assert dt.training_error(problem) == pytest.approx(missed * (1 - features / samples), rel=1e-12)


def test_ridgeless_overlap_solves_a_quadratic_in_the_smaller_of_features_and_samples() -> None:
    for features, samples in [(0.3, 2.0), (5.0, 0.8), (1.0, 1.0), (4.0, 9.0)]:
        problem = ridgeless(features, samples)
        zeta = (problem.moments.linear / problem.moments.nonlinear) ** 2
        small = min(features, samples)
        b = 1 + zeta + small * zeta
        expected = (b - math.sqrt(b * b - 4 * small * zeta**2)) / (2 * zeta)
        assert psi_terms(problem).psi1 == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_noise_and_initialization_diverge_at_the_peak(activation: str) -> None:
    problem = ridgeless(1.5, 1.5, activation)
    error, psi = dt.exact_error(problem), psi_terms(problem)
    near = dt.exact_error(replace(problem, features_per_dim=1.5 * (1 + 1e-12)))
    assert error.noise == error.initialization == error.total == math.inf
    assert error.sampling == pytest.approx(near.sampling, rel=1e-10)
    assert error.bias == pytest.approx(near.bias, rel=1e-10)
    assert psi.psi2_vanilla == psi.psi3_vanilla == math.inf
    assert 0 < psi.psi2_features < math.inf
    split = dt.anova(problem)
    assert split.initialization_sampling == split.noise_initialization_sampling == math.inf
    assert max(split.initialization, split.sampling, split.noise_sampling) < math.inf
    assert dt.exact_error(problem, math.inf).total < math.inf
    assert dt.training_error(problem) == 0.0


def test_absent_causes_do_not_diverge() -> None:
    silent = dt.exact_error(ridgeless(1.0, 1.0, noise=0.0))
    assert silent.noise == 0.0
    assert silent.initialization == math.inf
    aimless = dt.exact_error(ridgeless(1.0, 1.0, signal=0.0))
    assert aimless.initialization == aimless.sampling == aimless.bias == 0.0
    assert aimless.noise == math.inf


def test_divergence_is_inverse_in_the_distance_from_the_peak() -> None:
    for offset in (1e-12, -1e-12, 1e-9, -1e-6):
        problem = ridgeless(1.0 + offset, 1.0)
        distance = abs((1.0 + offset) - 1.0)  # of the rounded sizes
        psi = psi_terms(problem)
        assert psi.psi3_vanilla * distance == pytest.approx(1.0, abs=2 * distance + 1e-14)


def test_infinite_width_is_approached_as_one_over_width_and_equals_many_members() -> None:
    ridge = np.array([0.0, 1e-300, 1e-5, 0.1, 10.0])
    kernel = dt.Problem(features_per_dim=math.inf, samples_per_dim=0.7, ridge=ridge)
    exact = dt.exact_error(kernel)
    assert np.all(exact.initialization == np.zeros(5))
    wide = replace(kernel, features_per_dim=np.array([1e4, 1e5, 1e6])[:, None])
    gaps = np.asarray(dt.exact_error(wide).total) - exact.total
    np.testing.assert_allclose(gaps[:-1] / gaps[1:], 10, rtol=1e-3)
    assert np.array_equal(dt.exact_error(kernel, math.inf).total, exact.total)


def test_ridge_limits_are_continuous() -> None:
    for features in (0.5, 2.0, math.inf):
        problem = dt.Problem(features_per_dim=features, samples_per_dim=1.0)
        zero, tiny = (dt.exact_error(replace(problem, ridge=r)) for r in (0.0, 1e-300))
        assert tiny.total == pytest.approx(zero.total, rel=1e-15)
        huge, infinite = (dt.exact_error(replace(problem, ridge=r)) for r in (1e300, math.inf))
        assert huge.total == pytest.approx(infinite.total, rel=1e-15)
        assert infinite == dt.ErrorTerms(
            noise=0.0, initialization=0.0, sampling=0.0, bias=1.0, bayes=0.0
        )


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_error_is_affine_in_one_over_members(ridge: float) -> None:
    """K → ∞ removes the initialization variance."""
    problem = dt.Problem(
        features_per_dim=2.0, samples_per_dim=1.0, ridge=ridge, nonlinear_signal=0.3
    )
    one, two, ten, many = (dt.exact_error(problem, k).total for k in (1, 2, 10, math.inf))
    assert two == pytest.approx((one + many) / 2, rel=1e-14)
    assert ten == pytest.approx(many + (one - many) / 10, rel=1e-14)
    assert dt.exact_error(problem, math.inf).initialization == 0.0
    assert dt.exact_error(problem, 10**300).total == pytest.approx(many, rel=1e-15)


def test_divided_data_equal_smaller_problems() -> None:
    problem = dt.Problem(
        features_per_dim=1.0, samples_per_dim=2.0, ridge=1e-3, nonlinear_signal=0.2
    )
    assert dt.exact_error(problem, dt.Divide(1)) == dt.exact_error(problem, 1)
    half, split = replace(problem, samples_per_dim=1.0), dt.exact_error(problem, dt.Divide(2))
    single = dt.exact_error(half)
    for cause in ("noise", "initialization", "sampling"):
        assert getattr(split, cause) == pytest.approx(getattr(single, cause) / 2, rel=1e-14)
    assert split.bias == single.bias
    nothing = dt.exact_error(problem, dt.Divide(math.inf))
    assert nothing.bias == pytest.approx(1.04, rel=1e-15)
    assert nothing.total == nothing.bias
    many = dt.exact_error(problem, dt.Divide(10**12))
    assert many.total == pytest.approx(nothing.total, rel=1e-9)


def test_training_error_of_one_model_is_that_of_both_schemes() -> None:
    """With one learner the two schemes are the same, down to the smallest training error."""
    problem = dt.Problem(
        features_per_dim=np.array([0.5, 1.0, 2.0, math.inf])[:, None],
        ridge=[0.0, 1e-300, 1e-18, 1e-12, 1e-8, 1e-3, 1.0, math.inf],
        nonlinear_signal=0.3,
    )
    divided = dt.training_error(problem, dt.Divide(1))
    np.testing.assert_allclose(divided, dt.training_error(problem), rtol=1e-14, atol=1e-12)


def test_ridgeless_linear_networks_learn_the_directions_seen() -> None:
    """μ⋆ = 0: with P, N > D at ridge 0 the teacher is learned; at P = N = D noise diverges."""
    wide = dt.exact_error(ridgeless(3.0, 2.0, "linear"))
    assert (wide.initialization, wide.sampling, wide.bias) == (0.0, 0.0, 0.0)
    assert wide.noise == pytest.approx(1 / (2.0 - 1.0), rel=1e-12)  # least squares, D/(N - D)
    corner = dt.exact_error(ridgeless(1.0, 1.0, "linear"))
    assert corner.noise == math.inf
    # with h the common scale of unused features, samples and directions, V_PX → 1/4 + 1/12
    assert corner.initialization == pytest.approx(1 / 3, rel=1e-12)
    vanishing = dt.exact_error(replace(ridgeless(1.0, 1.0, "linear"), ridge=1e-200))
    assert vanishing.initialization == pytest.approx(1 / 3, rel=1e-12)
    narrow = dt.exact_error(ridgeless(0.5, 2.0, "linear"))
    assert narrow.bias == pytest.approx(0.25, rel=1e-13)  # half the directions are seen


@pytest.mark.parametrize("activation", ["abs", "quadratic"])
def test_even_activations_learn_no_linear_signal(activation: str) -> None:
    """μ₁ = 0: the features are uncorrelated with a linear teacher."""
    problem = dt.Problem(
        features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3, activation=activation
    )
    psi, error = psi_terms(problem), dt.exact_error(problem)
    assert psi.psi1 == psi.psi2_ensemble == psi.psi3_ensemble == psi.psi2_divide == 0.0
    assert error.bias == 1.0
    assert error.noise == pytest.approx(error.initialization, rel=1e-14)  # F = τ: fitted alike
    assert dt.exact_error(problem, math.inf).total == 1.0


def test_constant_activation_predicts_zero() -> None:
    dead = dt.activation(lambda z: np.full_like(z, 2.0))
    for ridge in (0.0, 1e-3, math.inf):
        error = dt.exact_error(dt.Problem(ridge=ridge, activation=dead))
        assert error.total == error.bias == 1.0


def test_nonlinear_teacher_adds_bias_sampling_and_initialization() -> None:
    """F⋆² is bias, and its response splits into sampling and initialization."""
    plain = dt.Problem(features_per_dim=2.0, samples_per_dim=1.5, ridge=1e-2, noise=0.8)
    bent = replace(plain, nonlinear_signal=0.6)
    a, b, psi = dt.exact_error(plain), dt.exact_error(bent), psi_terms(plain)
    assert b.noise == a.noise
    assert b.bias - a.bias == pytest.approx(0.36, rel=1e-14)
    assert b.sampling - a.sampling == pytest.approx(0.36 * psi.psi3_ensemble, rel=1e-12)
    assert b.initialization - a.initialization == pytest.approx(
        0.36 * (psi.psi3_vanilla - psi.psi3_ensemble), rel=1e-12
    )
    loud = replace(plain, noise=1.0)  # 0.8² + 0.6² = 1
    assert b.total - 0.36 == pytest.approx(dt.exact_error(loud).total, rel=1e-14)


def test_test_noise_is_the_bayes_error() -> None:
    problem = dt.Problem(test_noise=0.3)
    error = dt.exact_error(problem)
    assert error.bayes == pytest.approx(0.09, rel=1e-15)
    assert error.total - dt.exact_error(dt.Problem()).total == pytest.approx(0.09, rel=1e-14)
    assert dt.training_error(problem) == dt.training_error(dt.Problem())


def test_infinitely_many_models_have_the_published_errors() -> None:
    """The infinite ensemble is Bayes-optimal among linear models."""
    best = dt.Problem(features_per_dim=0.606547, samples_per_dim=1.0, ridge=0.0)
    golden = (math.sqrt(5) - 1) / 2
    assert dt.exact_error(best, math.inf).total == pytest.approx(golden, rel=1e-12)
    single = dt.Problem(features_per_dim=10.0, samples_per_dim=1.0, ridge=1e-5)
    assert dt.exact_error(single, math.inf).total == pytest.approx(0.7270, abs=5e-5)
