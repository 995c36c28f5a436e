"""Subsamples, bootstrap samples and banks of features: special cases and high precision."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, Scheme
from doubletrouble.theory import psi_terms
from tests import pair_oracle
from tests.schemes import ensemble, supported

PARTS = ("noise", "initialization", "sampling", "bias", "resampling")
POWERS: dict[str, Any] = {"noise": 0.5, "nonlinear_signal": 0.3}
DISTINCT = 1 - math.exp(-1)


def problem(width: Any = 2.0, samples: Any = 1.0, ridge: Any = 1e-3) -> dt.Problem:
    return dt.Problem(
        features_per_dim=width, samples_per_dim=samples, ridge=ridge, signal=1.2, **POWERS
    )


def member(at: dt.Problem, share: float = 1.0) -> dt.Member:
    return dt.Member(
        features_per_dim=at.features_per_dim,
        samples_per_dim=share * float(at.samples_per_dim),
        ridge=at.ridge,
    )


EDGES = problem(
    np.array([0.3, 1.0, 1 + 1e-12, 4.0, math.inf])[:, None],
    ridge=np.array([0.0, 1e-300, 1e-3, 1e3]),
)


def assert_same_parts(result: Any, known: Any) -> None:
    for name in PARTS[:4]:
        np.testing.assert_allclose(
            getattr(result, name), getattr(known, name), rtol=1e-12, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_subsample_of_all_samples_equals_ensemble(members: float) -> None:
    result = dt.exact_error(EDGES, dt.Subsample(members, fraction=1.0))
    assert np.all(result.resampling == 0)
    assert_same_parts(result, dt.exact_error(EDGES, members))


def test_bank_of_one_members_size_equals_one_model() -> None:
    result = dt.exact_error(EDGES, dt.FeatureBank(7, bank_per_dim=EDGES.features_per_dim))
    assert np.all(result.resampling == 0)
    assert_same_parts(result, dt.exact_error(EDGES))


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_infinite_bank_equals_ensemble(members: float) -> None:
    at = problem()
    result = dt.exact_error(at, dt.FeatureBank(members, bank_per_dim=math.inf))
    known = dt.exact_error(at, members)
    assert result.total == pytest.approx(known.total, rel=1e-12)
    assert result.initialization == 0  # all of it is variance over the choice from the bank
    assert result.resampling == pytest.approx(known.initialization, rel=1e-12)


def test_one_subsampled_member_equals_fewer_samples() -> None:
    width, ridge = np.array([0.3, 0.4, 2.0, 2.0]), np.array([0.0, 1e-3, 0.0, 0.1])
    fraction = np.array([1e-3, 0.4, 0.999])[:, None]
    result = dt.exact_error(problem(width, ridge=ridge), dt.Subsample(1, fraction=fraction))
    known = dt.exact_error(problem(width, fraction, ridge))
    np.testing.assert_allclose(result.total, known.total, rtol=1e-12)
    np.testing.assert_allclose(result.bias, known.bias, rtol=1e-12)


@pytest.mark.parametrize("members", [1, 5])
@pytest.mark.parametrize(("width", "ridge"), [(0.3, 0.0), (2.0, 0.0), (3.0, 0.5)])
def test_resampled_members_equal_a_committee(members: int, width: float, ridge: float) -> None:
    """Every two members share η² of the samples, or P²/B features."""
    at, eta, bank = problem(width, ridge=ridge), 0.6, width * 1.7
    powers: dict[str, Any] = {"signal": 1.2, **POWERS}
    bag = dt.committee([member(at, eta)] * members, sharing=(0.0, eta**2), **powers)
    result = dt.exact_error(at, dt.Subsample(members, fraction=eta))
    assert result.total == pytest.approx(bag.error.total, rel=1e-12)
    sharing = (width**2 / bank, 1.0)
    banked = dt.committee([member(at)] * members, sharing=sharing, **powers)
    result = dt.exact_error(at, dt.FeatureBank(members, bank_per_dim=bank))
    assert result.total == pytest.approx(banked.error.total, rel=1e-12)


def linear_ridge(rho: Any, samples: float, sigma2: float) -> Any:
    """The risk of linear ridge regression, from its resolvent."""
    b = rho + samples - 1
    m = 2 / (b + np.sqrt(b * b + 4 * rho))
    u, s = rho * m, 1 - rho * m
    gamma = s * s / samples
    return (1.44 * u * u + sigma2 * gamma) / (1 - gamma) + 0.09


def test_infinitely_many_subsamples_equal_linear_ridge_regression() -> None:
    """Width, subsample and ridge act as one effective ridge, ψ₂ u/s - u."""
    width, fraction = np.array([0.2, 1.0, 3.0]), np.array([0.3, 0.8, 1.0])[:, None]
    ridge, samples = np.array([0.0, 0.2])[:, None, None], 1.5
    s = np.asarray(psi_terms(problem(width, samples * fraction, ridge)).psi1)
    rho = samples * (1 - s) / s - (1 - s)
    members = dt.Subsample(math.inf, fraction=fraction)
    result = dt.exact_error(problem(width, samples, ridge), members)
    np.testing.assert_allclose(result.total, linear_ridge(rho, samples, 0.34), rtol=1e-11)
    assert np.all(np.asarray(result.resampling) + result.initialization == 0)


@pytest.mark.parametrize(
    ("width", "samples", "ridge"), [(0.5, 1.0, 0.1), (2.0, 1.0, 0.01), (0.3, 3.0, 1.0)]
)
def test_bootstrap_equals_high_precision(width: float, samples: float, ridge: float) -> None:
    relu = dt.activation("relu")
    tails = (relu.nonlinear / relu.linear) ** 2
    at, own = pair_oracle.bootstrap(width, samples, ridge, relu.linear, tails)
    with mpmath.workdps(pair_oracle.DIGITS):
        within, between = (
            1.44 * one.signal + 0.34 * one.noise + 0.09
            for one in (
                pair_oracle.product(at, at, 1 / at.features, own, tails),
                pair_oracle.product(at, at, 0, 1 / at.samples, tails),
            )
        )
        known = [float(between + (within - between) / members) for members in (1, 4)]
    result = dt.exact_error(problem(width, samples, ridge), dt.Bootstrap([1, 4]))
    np.testing.assert_allclose(result.total, known, rtol=1e-12)


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_ridgeless_bootstrap_interpolates_distinct_samples(members: float) -> None:
    """A wide model interpolates the distinct samples; a narrow one weighs all."""
    for width, same in ((2.0, True), (0.3, members == math.inf)):
        at = problem(width, ridge=0.0)
        bootstrap = dt.exact_error(at, dt.Bootstrap(members)).total
        subsample = dt.exact_error(at, dt.Subsample(members, fraction=DISTINCT)).total
        assert (bootstrap == pytest.approx(subsample, rel=1e-11)) is same


def test_finite_ensembles_of_every_scheme_diverge_at_their_peak() -> None:
    def peaks(members: float) -> list[tuple[Scheme, float]]:
        return [
            (dt.Bootstrap(members), DISTINCT),
            (dt.Subsample(members, fraction=0.25), 0.25),
            (dt.FeatureBank(members, bank_per_dim=3.0), 1.0),
        ]

    for two, width in peaks(2):
        assert dt.exact_error(problem(width, ridge=0.0), two).total == math.inf
    for infinite, width in peaks(math.inf):
        assert math.isfinite(dt.exact_error(problem(width, ridge=0.0), infinite).total)


@pytest.mark.parametrize("activation", ["relu", "tanh", "linear", "abs"])
def test_parts_are_positive_and_fall_with_members(activation: str) -> None:
    rng, count = np.random.default_rng(6), 200
    at = dt.Problem(
        features_per_dim=10 ** rng.uniform(-2, 2, count),
        samples_per_dim=10 ** rng.uniform(-2, 2, count),
        ridge=rng.choice([0.0, 1.0], count) * 10 ** rng.uniform(-9, 2, count),
        activation=activation,
        **POWERS,
    )
    members, shares = np.array([1, 2, 10, math.inf])[:, None], rng.uniform(0.01, 1.0, count)
    for scheme in (name for name, kind in SCHEMES.items() if kind.any_size):
        result = dt.exact_error(at, ensemble(scheme, at, members, shares))
        for name in PARTS:
            part = np.broadcast_to(result.parts.get(name, 0.0), (4, count))
            assert np.all(part >= 0)
            finite = part[:, np.isfinite(part[0])]
            assert np.all(np.diff(finite, axis=0) <= 1e-12 * finite[0]), (scheme, name)


@pytest.mark.parametrize("name", supported())
def test_flat_spectrum_equals_the_isotropic_problem(name: str) -> None:
    at = problem()
    spectrum = dt.SpectralProblem.from_problem(at, dim=6)
    flat = dt.exact_error(at, ensemble(name, at, 3))
    result = dt.exact_error(spectrum, ensemble(name, spectrum, 3))
    for part in PARTS:
        assert getattr(result, part) == pytest.approx(getattr(flat, part), rel=1e-11), part


def test_arrays_broadcast() -> None:
    at = dt.Problem(features_per_dim=np.array([0.5, 2.0]))
    result = dt.exact_error(at, dt.Subsample(3, fraction=np.array([[0.3], [0.6], [1.0]])))
    assert {*result.coordinates} == {"features_per_dim", "fraction"}
    assert np.shape(result.total) == np.shape(result.resampling) == (3, 2)
    one = dt.exact_error(dt.Problem(features_per_dim=2.0), dt.Subsample(3, fraction=0.6))
    assert np.asarray(result.total)[1, 1] == one.total
    members = dt.Subsample([1, 2], fraction=np.array([[0.3], [0.6], [1.0]]))
    assert members.shape == (3, 2)
    assert np.shape(dt.exact_error(dt.Problem(), members).total) == (3, 2)
    assert np.shape(dt.anova(at, members).total) == (3, 2)
    assert np.shape(dt.optimal_ridge(at, members).ridge) == (3, 2)
    assert np.shape(dt.training_error(at, members)) == (3, 2)
    assert np.shape(dt.gradient_flow(at, 1.0, members).total) == (3, 2)
