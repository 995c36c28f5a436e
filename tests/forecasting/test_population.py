"""Functions of the population: the exact theory, the rows themselves, and their continuation."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.forecasting._population import Population
from doubletrouble.forecasting._random_features import FeatureEnergy, average_over_features
from doubletrouble.forecasting._ridge_functions import DataRows, Eigenbasis, LeaveOneOut, RidgeTable
from doubletrouble.parameters import FloatArray
from tests.forecasting.datasets import forecast_of

WIDTHS = np.array([30.0, 100.0, 300.0, 900.0, 3000.0, math.inf])
DELTAS = np.array([1e-4, 1e-2, 1.0, 10.0])
NOISE = 0.1  # variance
EIGENVALUES = np.arange(1, 4001) ** -1.5
POWERS = np.arange(1, 4001) ** -2.0


def known_population() -> Population:
    """That of given eigenvalues, with rows of equal energy."""
    log_g = np.linspace(math.log(1e-5), math.log(1e4), 400)
    g = np.exp(log_g)[:, None]
    rest = g / (EIGENVALUES + g)
    z = (1 - rest).sum(axis=1)
    return Population(
        log_g=log_g,
        log_kappa=log_g,
        log_z=np.log(z),
        z_decay=(rest * (1 - rest)).sum(axis=1) / z,
        energies=np.ones((len(log_g), 1)),
        energy_slopes=np.ones((len(log_g), 1)),
        log_mean_error=np.log(NOISE + (POWERS * rest**2).sum(axis=1)),
        products=NOISE + (POWERS * rest).sum(axis=1, keepdims=True),
        product_slopes=(POWERS * rest * (1 - rest)).sum(axis=1, keepdims=True),
        log_ratios=np.zeros((len(log_g), 5)),
        n_samples=1e4,
        unpenalized=0.0,
        least_kappa=0.0,
        noise=NOISE,
    )


def parts(rows: RidgeTable, n_members: float) -> dict[str, FloatArray]:
    """The split by cause at all widths and ridges."""
    P, delta = (v.ravel() for v in np.broadcast_arrays(WIDTHS[:, None], DELTAS))
    found = average_over_features(rows, FeatureEnergy(variance=0.0), P, delta)
    own, K = found.functions, n_members
    V = found.variance / K if math.isfinite(K) else np.zeros_like(P)
    per_noise = found.noise_variance / K if math.isfinite(K) else np.zeros_like(P)
    bias = own.error / (1 + own.sampling) - NOISE
    return {
        "total": own.error + V,
        "noise": NOISE * (own.sampling + per_noise),
        "initialization": V - NOISE * per_noise,
        "sampling": own.sampling * bias,
        "bias": bias,
    }


@pytest.mark.parametrize("n_samples", [100, 1000, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("n_members", [1, math.inf])
def test_equal_energies_are_the_exact_theory(n_samples: int, n_members: float) -> None:
    exact = dt.exact_error(
        dt.SpectralProblem(
            eigenvalues=EIGENVALUES,
            target_powers=POWERS,
            n_features=WIDTHS[:, None],
            n_samples=n_samples,
            gram_ridge=DELTAS,
            noise=math.sqrt(NOISE),
            test_noise=math.sqrt(NOISE),
        ),
        n_members,
    )
    found = parts(known_population().at_size(n_samples), n_members)
    total = np.ravel(exact.total)
    for name, value in found.items():
        off = np.abs(value - np.ravel(getattr(exact, name))) / total
        assert off.max() < 1e-3, name


# --- from rows ---


@cache
def loo_of(n: int, *, intercept: bool = False, activation: str = "relu") -> LeaveOneOut:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((n, 8)) * np.linspace(0.3, 2, 8)
    x *= np.exp(0.5 * rng.standard_normal((n, 1)))  # rows of unequal energy
    y = np.tanh(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * rng.standard_normal(n)
    gram = dt.kernel(activation, x, center=True)
    return LeaveOneOut.of(
        Eigenbasis.of(DataRows(gram=gram, labels=y[:, None], intercept=intercept))
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_population_at_the_size_of_the_rows_is_leave_one_out(intercept: bool) -> None:
    n, loo = 150, loo_of(150, intercept=intercept)
    modes = n - int(intercept)
    direct = RidgeTable.of(loo.kappa, loo.functions, modes)
    through = Population.of(loo, modes, 0.05).at_size(modes)
    assert through.log_g is not None
    g_min = Population.of(loo, modes, 0.05).log_g_min
    at = g_min + np.log([1.0001, 1.01, 1.2, 2, 10, 100])
    log_kappa = np.interp(at, through.log_g, through.log_kappa)
    a, b = direct.at(log_kappa), through.at(log_kappa)
    for name in a._fields:
        assert getattr(b, name) == pytest.approx(getattr(a, name), rel=2e-3), name


def one_hot(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Three categories, the levels of which have 34 to 3% of the rows."""
    shares = 1 / np.arange(1, 11) / (1 / np.arange(1, 11)).sum()
    effects = np.random.default_rng(0).standard_normal((3, 10))
    levels = rng.choice(10, p=shares, size=(3, n))
    x = np.hstack([2 * (np.eye(10)[level] - shares) for level in levels])
    x = np.hstack([x, rng.standard_normal((n, 2))])
    y = np.take_along_axis(effects, levels, axis=1).sum(axis=0) + x[:, -1]
    return x, y + 0.3 * rng.standard_normal(n)


def test_rare_levels_forecast_twice_the_rows() -> None:
    """At g_min of the half: variances of rows left out are most unequal there."""
    offs = []
    for seed in range(4):
        x, y = one_hot(np.random.default_rng(seed), 240)
        rows = DataRows(gram=dt.kernel("relu", x, center=True), labels=y[:, None])
        loo = LeaveOneOut.of(Eigenbasis.of(rows))
        whole = RidgeTable.of(loo.kappa, loo.functions, 240)
        for part in (np.arange(120), np.arange(120, 240)):
            half = LeaveOneOut.of(Eigenbasis.of(rows.subset(part)))
            population = Population.of(half, 120, 0.0)
            grown = population.at_size(240)
            assert grown.log_g is not None
            at = np.interp(population.log_g_min + 0.02, grown.log_g, grown.log_kappa)
            a, b = grown.at(np.array([at])), whole.at(np.array([at]))
            offs.append([np.log(getattr(a, name) / getattr(b, name))[0] for name in a._fields])
    assert np.abs(np.mean(offs, axis=0)).max() < 0.25


def test_row_energies_matter() -> None:
    """Control: with equal energies the same rows are off by far more than 1%."""
    loo = loo_of(150)
    population = Population.of(loo, 150, 0.05)
    equal = replace(population, energies=np.ones_like(population.energies)).at_size(150)
    assert equal.log_g is not None
    log_kappa = np.interp(population.log_g_min + math.log(1.2), equal.log_g, equal.log_kappa)
    direct = RidgeTable.of(loo.kappa, loo.functions, 150)
    ratio = equal.at(np.array([log_kappa])).error / direct.at(np.array([log_kappa])).error
    assert abs(math.log(float(ratio[0]))) > 0.03


def test_continuation_is_continuous_and_monotone() -> None:
    population = Population.of(loo_of(150), 150, 0.05)
    anchor = population.log_g_min
    below, above = (population.z(np.array([anchor + s])) for s in (-1e-6, 1e-6))
    assert float(below[0]) == pytest.approx(float(above[0]), rel=1e-5)
    g = np.linspace(population.log_g_min - 10, population.log_g_min + 15, 400)
    assert np.all(np.diff(population.z(g)) < 0)
    for size in (200, 1500, 10**6):
        rows = population.at_size(size)
        assert np.all(np.isfinite(rows.logs))
        assert np.all(np.diff(rows.log_kappa) > 0)
        assert rows.log_g is not None
        log_error = np.log(rows.at(rows.log_kappa).error)[np.abs(rows.log_g - anchor) < 0.5]
        assert len(log_error) > 1  # across the anchor
        assert np.abs(np.diff(log_error)).max() < 0.15


def test_more_rows_reduce_the_error_towards_the_noise() -> None:
    population = Population.of(loo_of(150), 150, 0.05)
    errors = []
    for size in (150, 300, 1000, 10**4):
        rows = population.at_size(size)
        errors.append(float(rows.at(np.array([math.log(1e-3 * size)])).error[0]))
    assert np.all(np.diff(errors) < 0)
    assert 0.05 < errors[-1] < 0.7 * errors[0]


def test_marks_of_extrapolation() -> None:
    population = Population.of(loo_of(150), 150, 0.05)
    log_g = population.log_g_min + np.array([-0.1, 0.0, 0.1])
    assert population.is_extrapolated(log_g).tolist() == [True, False, False]
    linear = Population.of(loo_of(150, activation="linear"), 150, 0.05)
    assert linear.saturates
    assert not linear.is_extrapolated(np.array([-100.0])).any()


def test_kernel_of_few_directions_is_linear_regression_at_every_size() -> None:
    """Least squares in D dimensions has the error σ² (1 + D/(N - D - 1)) for Gaussian inputs."""
    rng = np.random.default_rng(0)
    dim, noise = 5, 0.5
    x = rng.standard_normal((400, dim))
    y = x @ np.ones(dim) + noise * rng.standard_normal(400)
    forecast = forecast_of(x, y, activation="linear", check=False)
    sizes = np.array([50, 100, 400, 1000, 10**5])
    error = forecast.error(n_features=math.inf, ridge=0.0, ensemble=1, n_samples=sizes)
    expected = noise**2 * (1 + dim / (sizes - dim - 1))
    assert np.all(np.abs(error.total.z_score(expected)) < 3)
    relative = error.total.value / error.total.value[-1]
    assert relative == pytest.approx(expected / expected[-1], rel=0.04)
    assert not error.extrapolated.any()
