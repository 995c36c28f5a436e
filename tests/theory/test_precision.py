"""Every term and every part to 1e-13 of high-precision arithmetic, everywhere in the domain."""

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.theory import psi_terms
from tests.selection import full_beyond
from tests.theory import oracle

TOLERANCE = 1e-13
PARTS = ("noise", "initialization", "sampling", "bias")
NEARLY_LINEAR = dt.Activation(name="nearly linear", mean=0.0, linear=1.0, nonlinear=1e-5)
NEARLY_EVEN = dt.Activation(name="nearly even", mean=0.0, linear=1e-3, nonlinear=1.0)
ACTIVATIONS = ("relu", "tanh", "sign", "linear", NEARLY_LINEAR, NEARLY_EVEN)


def deviation(got: float, expected: Any) -> float:
    """Relative deviation; absolute below the range of floats."""
    with mpmath.workdps(40):
        if abs(expected) < mpmath.mpf(10) ** -300:
            return float(abs(got - expected) * mpmath.mpf(10) ** 280)
        return float(abs((mpmath.mpf(got) - expected) / expected))


def random_points(seed: int, count: int) -> list[tuple[float, float, float]]:
    """ψ₁, ψ₂ over eight decades (some equal, some equal to within 1e-12), λ over 306 decades."""
    rng = np.random.default_rng(seed)
    points = []
    for _ in range(count):
        features, samples = 10 ** rng.uniform(-4, 4, 2)
        kind = rng.integers(4)
        if kind == 1:
            samples = features
        elif kind == 2:
            samples = features * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-12, -0.1))
        elif kind == 3:
            near_one = [1.0, 1 + 1e-12, 1 - 1e-10, 1 + 1e-6, 0.5, 2.0]
            features, samples = rng.choice(near_one, 2)
        ridge = rng.choice([10 ** rng.uniform(-300, 6), 10 ** rng.uniform(-16, 2)])
        if features != samples and rng.random() < 0.2:
            ridge = 0.0
        points.append((float(features), float(samples), float(ridge)))
    return points


def deviations(
    point: tuple[float, float, float], activation: str | dt.Activation, nonlinear_signal: float
) -> dict[str, float]:
    """Deviations of all terms, parts and effects from the oracle at (P/D, N/D, λ)."""
    features, samples, ridge = point
    if ridge == 0 and activation == "linear":
        return {}  # saturated: test_limits has the known answers
    powers: dict[str, Any] = {"signal": 1.3, "noise": 0.7, "nonlinear_signal": nonlinear_signal}
    problem = dt.Problem(
        features_per_dim=features,
        samples_per_dim=samples,
        ridge=ridge,
        activation=activation,
        **powers,
    )
    moments = problem.moments
    psi = oracle.psi(features, samples, ridge, moments.linear, moments.nonlinear)
    parts = oracle.error(psi, members=3, scheme="ensemble", **powers)
    effects = oracle.anova(psi, **powers)
    terms, error, split = psi_terms(problem), dt.exact_error(problem, 3), dt.anova(problem)
    return {
        **{name: deviation(getattr(terms, name), psi[name]) for name in psi},
        **{name: deviation(getattr(error, name), parts[name]) for name in PARTS},
        **{f"anova {n}": deviation(getattr(split, n), effects[n]) for n in effects},
    }


@pytest.mark.parametrize("seed", full_beyond({0}, range(6)))
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_terms_and_parts_equal_high_precision(activation: str | dt.Activation, seed: int) -> None:
    worst: dict[str, tuple[float, Any]] = {}
    for point in random_points(seed, 30 if seed else 15):
        for name, off in deviations(point, activation, 0.4 * (seed % 2)).items():
            worst[name] = max(worst.get(name, (0.0, point)), (off, point))
    assert max(off for off, _ in worst.values()) < TOLERANCE, worst


def assert_divided_data_equal_high_precision(
    features: float, samples: float, ridge: float, members: int
) -> None:
    problem = dt.Problem(features_per_dim=features, samples_per_dim=samples, ridge=ridge)
    moments = problem.moments
    with mpmath.workdps(oracle.DIGITS):
        each = mpmath.mpf(samples) / members
    psi = oracle.psi(features, each, ridge, moments.linear, moments.nonlinear)
    parts = oracle.error(
        psi, signal=1.0, noise=1.0, nonlinear_signal=0.0, members=members, scheme="divide"
    )
    got = dt.exact_error(problem, dt.Divide(members))
    for name in PARTS:
        assert deviation(getattr(got, name), parts[name]) < TOLERANCE, (name, features, members)


def test_divided_data_equal_high_precision() -> None:
    for features, members in ((0.3, 1), (0.3, 4), (1.0, 4), (7.0, 1000)):
        assert_divided_data_equal_high_precision(features, 2.0, 1e-3, members)


def test_divided_data_near_the_peak_equal_high_precision() -> None:
    """N/K is not a float, but its distance from P is exact."""
    features = 1.2345678
    for members, offset in itertools.product((3, 7, 10), (1e-6, -1e-9, 1e-12, -1e-12)):
        samples = features * members * (1 + offset)
        assert_divided_data_equal_high_precision(features, samples, 0.0, members)


def test_divided_counts_at_the_peak_diverge() -> None:
    """P = N/K in counts is P = N/K after division by any dimension."""
    dim = np.arange(1, 200)
    problem = dt.Problem.from_sizes(n_features=100, n_samples=300, dim=dim, ridge=0.0)
    assert np.all(np.isposinf(dt.exact_error(problem, dt.Divide(3)).noise))


@pytest.mark.parametrize("activation", full_beyond({"relu"}, ["relu", "tanh"]))
def test_terms_equal_high_precision_with_exact_moments(activation: str) -> None:
    _, mu1, power = oracle.moments(activation)
    with mpmath.workdps(40):
        star = mpmath.sqrt(power)
    for features, samples, ridge in random_points(99, 10):
        psi = oracle.psi(features, samples, ridge, mu1, star)
        got = psi_terms(
            dt.Problem(
                features_per_dim=features,
                samples_per_dim=samples,
                ridge=ridge,
                activation=activation,
            )
        )
        for name, expected in psi.items():
            assert deviation(getattr(got, name), expected) < TOLERANCE, (name, features, samples)


def test_arrays_equal_scalars() -> None:
    """A block of points equals single points to a few units in the last place."""
    points = np.array(random_points(7, 60)).T
    problem = dt.Problem(features_per_dim=points[0], samples_per_dim=points[1], ridge=points[2])
    together = dt.exact_error(problem, 2)
    for i, (features, samples, ridge) in enumerate(points.T):
        alone = dt.exact_error(
            dt.Problem(features_per_dim=features, samples_per_dim=samples, ridge=ridge), 2
        )
        for name in PARTS:
            one = getattr(alone, name)
            assert abs(np.asarray(getattr(together, name))[i] - one) <= 5e-15 * one, (name, i)


def test_arrays_broadcast() -> None:
    features, ridges = np.geomspace(0.1, 10, 7)[:, None], np.geomspace(1e-5, 1, 5)
    problem = dt.Problem(features_per_dim=features, samples_per_dim=1.0, ridge=ridges)
    members = np.array([1, 2, np.inf]).reshape(3, 1, 1)
    error = dt.exact_error(problem, members)
    assert np.shape(error.total) == (3, 7, 5)
    one = dt.exact_error(
        dt.Problem(features_per_dim=float(features[2, 0]), samples_per_dim=1.0, ridge=ridges[4]), 2
    )
    assert np.asarray(error.noise)[1, 2, 4] == pytest.approx(one.noise, rel=1e-15)
    assert isinstance(one.total, float)
    assert type(one.noise) is float
