"""The average over random features: its equations, limits, and simulation for the same rows."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import doubletrouble as dt
from doubletrouble.forecasting._random_features import (
    FeatureAverage,
    FeatureEnergy,
    average_over_features,
)
from doubletrouble.forecasting._ridge_functions import DataRows, Eigenbasis, RidgeTable, one_split
from doubletrouble.parameters import FloatArray

N_TRAIN, N_TEST, DIM = 120, 80, 4
EQUAL = FeatureEnergy(variance=0.0)
UNEQUAL = FeatureEnergy(variance=0.5)

Draw = Callable[[int, np.random.Generator], FloatArray]


@cache
def sample() -> tuple[FloatArray, DataRows]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N_TRAIN + N_TEST, DIM))
    y = np.tanh(2 * x[:, 0]) + 0.3 * rng.standard_normal(len(x))
    return x, DataRows(gram=dt.kernel("relu", x, center=True), labels=y[:, None])


@cache
def rows() -> RidgeTable:
    """The functions of κ for one training set and one test set."""
    _, data = sample()
    train = np.arange(N_TRAIN)
    kappa = Eigenbasis.of(data.subset(train)).kappas
    functions = one_split(data, train, np.arange(N_TRAIN, len(data)), kappa)
    return RidgeTable.of(kappa, functions, N_TRAIN)


def average(
    energy: FeatureEnergy, n_features: float | list[float], delta: float | list[float]
) -> FeatureAverage:
    P, d = np.broadcast_arrays(np.asarray(n_features, dtype=float), np.asarray(delta, dtype=float))
    return average_over_features(rows(), energy, P, d)


# --- equations ---


@given(
    n_features=st.floats(0, math.log(1e6)).map(math.exp),
    delta=st.floats(math.log(1e-12), math.log(1e6)).map(math.exp),
)
def test_effective_ridge_solves_its_equation(n_features: float, delta: float) -> None:
    found = average(EQUAL, n_features, delta)
    own, kappa = found.functions, float(np.exp(found.log_kappa))
    spare = n_features - N_TRAIN + float(own.unused)  # P - df₁, which may be small
    assert kappa * spare == pytest.approx(
        delta * n_features, rel=1e-6, abs=1e-9 * kappa * n_features
    )
    spare += kappa * float(own.noise_energy)  # P - df₂
    expected = float(own.label_energy * own.feature_error) / spare
    assert float(found.variance) == pytest.approx(expected, rel=1e-4)


@given(
    n_features=st.floats(0, math.log(1e5)).map(math.exp),
    energy=st.sampled_from([EQUAL, UNEQUAL, FeatureEnergy(variance=0.002)]),
)
def test_effective_ridge_increases_with_the_ridge(n_features: float, energy: FeatureEnergy) -> None:
    delta = np.array([0.0, 1e-300, *np.geomspace(1e-12, 1e12, 25), math.inf])
    log_kappa = average(energy, n_features, list(delta)).log_kappa
    assert np.all(np.diff(log_kappa) >= -1e-9)
    assert np.all(log_kappa[2:-1] >= np.log(delta[2:-1]) - 1e-6)  # features only add to the ridge


@pytest.mark.parametrize("variance", [0.01, 0.4, 2.0])
@pytest.mark.parametrize(("n_features", "delta"), [(40.0, 0.1), (120.0, 1e-3), (1000.0, 1e-2)])
def test_unequal_energies_solve_their_equations(
    variance: float, n_features: float, delta: float
) -> None:
    """1 = E[r τ/(1 + r τ x)] with x = df₁/P and r = κ/δ; c = (r²/P) E[τ²/(1 + r τ x)²]."""
    found = average(FeatureEnergy(variance=variance), n_features, delta)
    own = found.functions
    x, r = float(own.df1) / n_features, float(np.exp(found.log_kappa)) / delta
    density = stats.gamma(1 / variance, scale=variance).pdf
    used, _ = quad(lambda t: density(t) * r * t / (1 + r * t * x), 0, np.inf, limit=500)
    assert used == pytest.approx(1, rel=2e-4)
    square, _ = quad(lambda t: density(t) * (r * t / (1 + r * t * x)) ** 2, 0, np.inf, limit=500)
    c = square / n_features
    df2 = float(own.df1) - float(np.exp(found.log_kappa)) * float(own.noise_energy)
    expected = c / (1 - c * df2) * float(own.label_energy * own.feature_error)
    assert float(found.variance) == pytest.approx(expected, rel=2e-3)


def test_small_differences_of_energy_are_no_difference() -> None:
    almost = average(FeatureEnergy(variance=1.01e-3), [30.0, 120.0, 500.0], 1e-2)
    equal = average(EQUAL, [30.0, 120.0, 500.0], 1e-2)
    assert almost.variance == pytest.approx(equal.variance, rel=5e-3)


# --- limits ---


@pytest.mark.parametrize("energy", [EQUAL, UNEQUAL])
def test_infinitely_many_features_are_kernel_ridge_regression(energy: FeatureEnergy) -> None:
    deltas = [1e-300, 1e-3, 1.0, 1e3]
    infinite = average(energy, math.inf, deltas)
    assert infinite.log_kappa == pytest.approx(np.log(deltas), abs=1e-9)
    assert np.all(infinite.variance == 0)
    assert np.all(infinite.noise_variance == 0)
    wide = average(energy, 1e12, deltas)
    assert wide.functions.error == pytest.approx(infinite.functions.error, rel=1e-6)


@pytest.mark.parametrize("energy", [EQUAL, UNEQUAL])
def test_limits_of_no_ridge(energy: FeatureEnergy) -> None:
    few, many = average(energy, 40.0, [0.0, 1e-300]), average(energy, 500.0, [0.0, 1e-300])
    assert few.functions.df1 == pytest.approx(40, rel=1e-9)  # every feature is used
    assert many.functions.df1 == pytest.approx(N_TRAIN, rel=1e-4)  # and here every row
    for found in (few, many):
        assert np.all(np.isfinite(found.variance) & (found.variance > 0))
        assert found.variance[0] == pytest.approx(found.variance[1], rel=1e-9)
    as_many = average(energy, float(N_TRAIN), [0.0, 1e-12, 1e-8])
    assert as_many.variance[0] == math.inf
    assert as_many.variance[1] > 10 * as_many.variance[2]
    if energy is EQUAL:  # c/(1 - c df₂) at κ = 0
        own = many.functions
        expected = own.label_energy * own.feature_error / (500 - own.df1)
        assert many.variance == pytest.approx(expected, rel=1e-4)


def test_ridgeless_fit_with_few_features_does_not_depend_on_their_energies() -> None:
    equal, unequal = average(EQUAL, 40.0, 0.0), average(UNEQUAL, 40.0, 0.0)
    assert float(unequal.log_kappa) == pytest.approx(float(equal.log_kappa), rel=1e-6)
    assert float(unequal.variance) == pytest.approx(float(equal.variance), rel=1e-3)


@pytest.mark.parametrize("n_features", [1.0, 120.0, math.inf])
def test_infinite_ridge_predicts_zero(n_features: float) -> None:
    _, data = sample()
    found = average(UNEQUAL, n_features, math.inf)
    assert float(found.variance) == 0
    expected = np.square(data.labels[N_TRAIN:]).mean()
    assert float(found.functions.error) == pytest.approx(expected, rel=1e-4)


# --- simulation for the same rows ---


def simulated(draw: Draw, n_features: int, delta: float, n_draws: int) -> Any:
    """The variance over features of the prediction, averaged over test rows."""
    _, data = sample()
    rng, found = np.random.default_rng(7), []
    for _ in range(n_draws):
        z = draw(n_features, rng) / math.sqrt(n_features)
        a, b = z[:N_TRAIN], z[N_TRAIN:]
        dual = np.linalg.solve(a @ a.T + delta * np.eye(N_TRAIN), data.labels[:N_TRAIN, 0])
        found.append(b @ (a.T @ dual))
    squares = np.square(found - np.mean(found, axis=0)).mean(axis=1) * n_draws / (n_draws - 1)
    return dt.Estimate.of(squares)


def gaussian_features() -> Draw:
    _, data = sample()
    root = np.linalg.cholesky(data.gram + 1e-12 * np.eye(len(data)))
    return lambda n_features, rng: np.asarray(root @ rng.standard_normal((len(data), n_features)))


def relu_features() -> Draw:
    x, _ = sample()
    mean = dt.activation("relu").mean

    def draw(n_features: int, rng: np.random.Generator) -> FloatArray:
        theta = rng.standard_normal((DIM, n_features)) / math.sqrt(DIM)
        return np.asarray(np.maximum(x @ theta, 0.0) - mean)

    return draw


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n_features", "delta"),
    [(120, 1e-3), pytest.param(30, 1e-2, marks=pytest.mark.full)]
    + [pytest.param(360, d, marks=pytest.mark.full) for d in (1e-3, 1e-2)],
)
def test_variance_over_gaussian_features_is_simulated(n_features: int, delta: float) -> None:
    found = simulated(gaussian_features(), n_features, delta, 200)
    predicted = average(EQUAL, float(n_features), delta)
    assert abs(found.z_score(float(predicted.variance))) < 4
    if n_features <= N_TRAIN:  # control: without 1/(1 - c df₂)
        own = predicted.functions
        assert abs(found.z_score(float(own.label_energy * own.feature_error) / n_features)) > 10


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n_features", "delta"), [(360, 1e-2), pytest.param(360, 1e-1, marks=pytest.mark.full)]
)
def test_variance_over_relu_features_needs_their_energies(n_features: int, delta: float) -> None:
    _, data = sample()
    spectrum = Eigenbasis.of(data.subset(np.arange(N_TRAIN)))
    d, kappa = spectrum.eigenvalues, float(np.median(spectrum.eigenvalues))
    z = relu_features()(4000, np.random.default_rng(1))[:N_TRAIN]
    energies = (np.square(spectrum.vectors.T @ z) / (d + kappa)[:, None]).sum(axis=0)
    learned = d / (d + kappa)
    energy = FeatureEnergy.measured(energies, float(learned.sum()), float((learned**2).sum()))
    assert energy.variance == pytest.approx(2 / DIM, rel=0.2)
    found = simulated(relu_features(), n_features, delta, 200)
    assert abs(found.z_score(float(average(energy, float(n_features), delta).variance))) < 4
    assert abs(found.z_score(float(average(EQUAL, float(n_features), delta).variance))) > 10
