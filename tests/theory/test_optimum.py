"""The best ridge: closed forms where they exist, brute force elsewhere."""

import itertools
import math
import operator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.schemes import ensemble, supported


@pytest.mark.parametrize("activation", ["relu", "tanh", "erf"])
def test_optimal_ridge_of_infinitely_many_models_equals_the_closed_form(activation: str) -> None:
    """The ensemble is linear ridge regression, and its best ridge is σ²/F²."""
    features = np.array([0.4, 1.0, 3.0, 50.0, math.inf])
    samples, noise = np.array([0.3, 1.0, 4.0])[:, None], np.array([0.1, 0.62, 1, 3])[:, None, None]
    problem = dt.Problem(
        features_per_dim=features, samples_per_dim=samples, noise=noise, activation=activation
    )
    mu1, star = problem.moments.linear, problem.moments.nonlinear
    b = noise**2 + samples - 1
    u = (np.sqrt(b * b + 4 * noise**2) - b) / 2  # the risk of the best linear predictor
    needed = (1 - u) * (1 + (star / mu1) ** 2 / u)  # ψ₁*, the width that needs no ridge
    spare = (mu1 * noise) ** 2 - star**2
    positive = (spare > 0) & (features > needed)
    expected = np.where(positive, spare * (1 - needed / features) / samples, 0.0)
    best = dt.optimal_ridge(problem, math.inf)
    np.testing.assert_allclose(best.ridge, expected, rtol=1e-11, atol=1e-12)
    risk = np.broadcast_to(u, expected.shape)
    np.testing.assert_allclose(np.asarray(best.error.total)[positive], risk[positive], rtol=1e-13)
    assert positive.any()
    kernel = replace(problem, features_per_dim=math.inf)  # the number of members does not matter
    one = np.asarray(dt.optimal_ridge(kernel).ridge)
    np.testing.assert_allclose(one[..., 0], expected[..., -1], rtol=1e-11, atol=1e-12)


def test_optimal_ridge_without_signal_is_infinite() -> None:
    for problem in (dt.Problem(signal=0.0), dt.Problem(activation="abs")):
        best = dt.optimal_ridge(problem)
        assert best.ridge == math.inf
        assert best.error.total == best.error.bias


def test_optimal_ridge_of_a_noiseless_linear_network_is_zero() -> None:
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=2.0, noise=0.0, activation="linear")
    best = dt.optimal_ridge(problem)
    assert best.ridge == 0.0
    assert best.error.total == 0.0


def random_problem(count: int) -> dt.Problem:
    rng = np.random.default_rng(3)
    features, samples = 10 ** rng.uniform(-2, 2, (2, count))
    features[:5] = samples[:5]
    return dt.Problem(
        features_per_dim=features,
        samples_per_dim=samples,
        noise=10 ** rng.uniform(-3, 1, count),
        nonlinear_signal=rng.choice([0.0, 0.3], count),
        activation="tanh",
    )


def measured_problem(count: int) -> dt.SpectralProblem:
    rng, modes = np.random.default_rng(4), np.arange(1.0, 31.0)
    return dt.SpectralProblem(
        eigenvalues=modes**-1.5,
        target_powers=modes**-2.0,
        tail=0.05,
        n_features=10 ** rng.uniform(0, 3, count),
        n_samples=10 ** rng.uniform(0, 3, count),
        noise=10 ** rng.uniform(-3, 0.5, count),
        nonlinear_signal=rng.choice([0.0, 0.3], count),
    )


@pytest.mark.parametrize("name", supported("optimal_ridge"))
@pytest.mark.parametrize("measured", [False, True])
def test_optimal_ridge_equals_brute_force(name: str, *, measured: bool) -> None:
    """No ridge of a dense grid is better, and the derivative changes its sign at the optimum."""
    n = 30 if measured else 60
    problem: Any = measured_problem(n) if measured else random_problem(n)
    rng = np.random.default_rng(5)
    members = ensemble(
        name, problem, rng.choice([1.0, 2.0, 10.0, 1000.0, math.inf], n), rng.uniform(0.2, 1, n)
    )

    best = dt.optimal_ridge(problem, members)
    name = "gram_ridge" if measured else "ridge"
    assert getattr(best, "ridge" if measured else "gram_ridge") is None

    def total(ridge: Any) -> Any:
        return np.asarray(dt.exact_error(replace(problem, **{name: ridge}), members).total)

    ridge, least = np.asarray(getattr(best, name)), np.asarray(best.error.total)
    assert np.shape(ridge) == (n,)
    np.testing.assert_array_equal(least, total(ridge))
    tried = total(np.concatenate([[0.0], np.geomspace(1e-10, 1e7, 341), [math.inf]])[:, None])
    assert np.all(least <= tried.min(axis=0) * (1 + 1e-9))
    assert np.all(least >= tried.min(axis=0) * (1 - 5e-3))  # the grid is dense
    inside = (ridge > 0) & (ridge < np.inf)
    assert inside.sum() > n / 4
    step = 0.01

    def falls(ridge: Any) -> Any:
        return (total(ridge * math.exp(step)) - total(ridge * math.exp(-step)))[inside]

    ridge = np.where(inside, ridge, 1.0)
    noise = 1e-12 * least[inside]  # of the difference: at the flattest minima it has no sign
    assert np.all(falls(ridge * math.exp(-0.1)) < noise)
    assert np.all(falls(ridge * math.exp(0.1)) > -noise)


@pytest.mark.parametrize("members", [1, 3, math.inf])
@pytest.mark.parametrize("measured", [False, True])
def test_schemes_have_the_optimal_ridge_of_their_limits(members: float, *, measured: bool) -> None:
    problem: Any = measured_problem(15) if measured else random_problem(30)
    size, width = ("n_bank", "n_features") if measured else ("bank_per_dim", "features_per_dim")
    known, one = dt.optimal_ridge(problem, members), dt.optimal_ridge(problem)
    ridge_of = operator.attrgetter("gram_ridge" if measured else "ridge")
    whole: Any = {size: getattr(problem, width)}
    infinite: Any = {size: math.inf}
    for result, expected in (
        (dt.optimal_ridge(problem, dt.Subsample(members, fraction=1.0)), known),
        (dt.optimal_ridge(problem, dt.FeatureBank(members, **infinite)), known),
        (dt.optimal_ridge(problem, dt.FeatureBank(members, **whole)), one),
    ):
        ridge, known_ridge = (ridge_of(one) for one in (result, expected))
        np.testing.assert_allclose(ridge, known_ridge, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(result.error.total, expected.error.total, rtol=1e-12)


def test_best_error_does_not_depend_on_the_fraction() -> None:
    """Infinitely many members have the same error where the best ridge is positive."""
    problem = dt.Problem(features_per_dim=50.0, samples_per_dim=2.0, noise=2.0)
    fractions = np.array([0.3, 0.6, 1.0])
    best = dt.optimal_ridge(problem, dt.Subsample(math.inf, fraction=fractions))
    assert np.all(np.diff(best.ridge) != 0)
    assert np.all(np.asarray(best.ridge) > 0)
    np.testing.assert_allclose(best.error.total, np.asarray(best.error.total)[2], rtol=1e-12)


def test_finite_ensembles_need_a_ridge_at_the_peak() -> None:
    problem = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, noise=0.1)
    ridges = [dt.optimal_ridge(problem, k).ridge for k in (1, 10, 1000, 10**9)]
    assert all(a > b > 0 for a, b in itertools.pairwise(ridges))
    assert dt.optimal_ridge(problem, math.inf).ridge == 0.0


def test_one_wide_model_is_better_than_many_narrow_ones() -> None:
    """At the best ridge and a fixed number P·K of features, K = 1 is best."""
    features = np.geomspace(0.2, 20, 9)
    one = dt.optimal_ridge(dt.Problem(features_per_dim=4 * features)).error.total
    four = dt.optimal_ridge(dt.Problem(features_per_dim=features), 4).error.total
    assert np.all(one < four)


def test_best_of_ensemble_and_ridge_depends_on_the_noise() -> None:
    """K → ∞ beats one well-regularized model at SNR 10, not at SNR 1."""
    problem = dt.Problem(features_per_dim=10.0, samples_per_dim=1.0, ridge=1e-5, noise=0.1)
    loud = replace(problem, noise=1.0)
    assert dt.exact_error(problem, math.inf).total < dt.optimal_ridge(problem).error.total
    assert dt.exact_error(loud, math.inf).total > dt.optimal_ridge(loud).error.total
    assert dt.optimal_ridge(loud).error.total == pytest.approx(0.6661, abs=5e-5)


def test_optimal_ridge_is_the_global_minimum() -> None:
    """Spectra with separate scales have several local minima."""
    counts = [46, 15, 11, 16]
    problem = dt.SpectralProblem(
        eigenvalues=np.repeat([7e-5, 6e-3, 7e-3, 5e-2], counts),
        target_powers=np.repeat([0.043 * 0.915, 0.045, 0.015, 0.014], counts),
        tail=0.01,
        n_features=77,
        n_samples=115,
    )
    best = dt.optimal_ridge(problem, 3)
    grid = np.geomspace(1e-4, 10, 2001)
    tried = np.asarray(dt.exact_error(replace(problem, gram_ridge=grid), 3).total)
    falls = np.diff(tried) < 0
    assert np.count_nonzero(falls[:-1] & ~falls[1:]) == 2
    assert best.error.total <= tried.min()
    assert best.gram_ridge == pytest.approx(grid[np.argmin(tried)], rel=0.01)


def test_optimal_ridge_of_a_spectrum_equals_brute_force() -> None:
    problem = dt.SpectralProblem(
        eigenvalues=1 / np.arange(1, 120) ** 1.5,
        target_powers=1 / np.arange(1, 120) ** 2.0,
        tail=0.05,
        n_features=np.array([20, 50, 500, math.inf]),
        n_samples=50,
        noise=0.3,
    )
    best = dt.optimal_ridge(problem, 2)
    grid = np.geomspace(1e-6, 1e3, 1001)[:, None]
    tried = np.asarray(dt.exact_error(replace(problem, gram_ridge=grid), 2).total).min(axis=0)
    assert np.all(best.error.total <= tried * (1 + 1e-13))
    assert np.all(best.error.total >= tried * (1 - 1e-4))
