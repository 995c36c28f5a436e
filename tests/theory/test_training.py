"""The training error of ensembles: limits of known value, for every scheme."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import poisson

import doubletrouble as dt
from tests import pair_oracle
from tests.schemes import ensemble, supported

GRID = dt.Problem(
    features_per_dim=np.array([0.3, 1.0, 2.5, math.inf])[:, None],
    samples_per_dim=1.2,
    ridge=np.array([0.0, 1e-6, 0.1, 10.0]),
    signal=1.3,
    noise=0.5,
    nonlinear_signal=0.3,
    test_noise=0.4,
)
POWER = 1.3**2 + 0.5**2 + 0.3**2  # of the labels
MEMBERS = np.array([1, 3, math.inf])[:, None, None]


def test_full_subsamples_and_infinite_banks_equal_ensembles() -> None:
    known = dt.training_error(GRID, MEMBERS)
    for same in (
        dt.Subsample(MEMBERS, fraction=1.0),
        dt.FeatureBank(MEMBERS, bank_per_dim=math.inf),
    ):
        np.testing.assert_allclose(dt.training_error(GRID, same), known, rtol=1e-12, atol=1e-300)


def test_bank_of_one_members_size_equals_one_model() -> None:
    bank = np.asarray(GRID.features_per_dim)
    result = dt.training_error(GRID, dt.FeatureBank(MEMBERS, bank_per_dim=bank))
    known = np.broadcast_to(dt.training_error(GRID), (3, 4, 4))
    np.testing.assert_allclose(result, known, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("fraction", [0.1, 0.7])
def test_training_error_of_a_subsample_mixes_train_and_test_error(fraction: float) -> None:
    """On the other samples the error is the test error plus the label noise."""
    fewer = replace(GRID, samples_per_dim=1.2 * fraction, test_noise=0.5)
    test, trained = np.asarray(dt.exact_error(fewer).total), np.asarray(dt.training_error(fewer))
    result = dt.training_error(GRID, dt.Subsample(1, fraction=fraction))
    np.testing.assert_allclose(result, fraction * trained + (1 - fraction) * test, rtol=1e-12)


def test_ridgeless_bootstrap_misses_one_sample_in_e() -> None:
    """Without ridge a wide model interpolates its distinct samples."""
    wide = replace(GRID, features_per_dim=[2.0, math.inf], ridge=0.0, test_noise=0.5)
    result = dt.training_error(wide, dt.Bootstrap(1))
    test = np.asarray(dt.exact_error(wide, dt.Bootstrap(1)).total)
    np.testing.assert_allclose(result, math.exp(-1) * test, rtol=1e-11)


def test_training_error_of_bootstrap_samples_equals_the_sum_over_weights() -> None:
    """A residual of weight w is 1/(1 + w V) of that on a fresh sample, with N E wV/(1 + wV) = z."""
    at = dt.Problem(features_per_dim=0.5, samples_per_dim=1.2, ridge=0.2, noise=0.5)
    eta = (at.moments.nonlinear / at.moments.linear) ** 2
    level, _ = pair_oracle.bootstrap(0.5, 1.2, 0.2, at.moments.linear, eta)
    z = float(level.s * (1 + eta / level.u))
    w = np.arange(60.0)
    chances = poisson.pmf(w, 1.0)
    V = brentq(lambda V: 1.2 * float(chances @ (w * V / (1 + w * V))) - z, 0, 1e6, xtol=1e-15)
    residual = 1 / (1 + w * V)
    one, many = (float(dt.exact_error(at, dt.Bootstrap(k)).total) for k in (1, math.inf))
    known = [
        float(chances @ residual**2) * (one + 0.25),
        float(chances @ residual) ** 2 * (many + 0.25),
    ]
    result = dt.training_error(at, dt.Bootstrap([1, math.inf]))
    np.testing.assert_allclose(result, known, rtol=1e-10)


@pytest.mark.parametrize("name", supported("training_error"))
def test_infinite_ridge_predicts_zero(name: str) -> None:
    flat = replace(GRID, ridge=math.inf)
    problems: list[Any] = [flat, dt.SpectralProblem.from_problem(flat, dim=3)]
    for problem in problems:
        result = dt.training_error(problem, ensemble(name, problem, 3))
        np.testing.assert_allclose(result, POWER, rtol=1e-14)


@pytest.mark.parametrize("name", supported("training_error"))
def test_flat_spectrum_equals_the_isotropic_problem(name: str) -> None:
    spectrum = dt.SpectralProblem.from_problem(GRID, dim=8)
    result = dt.training_error(spectrum, ensemble(name, spectrum, 3))
    known = dt.training_error(GRID, ensemble(name, GRID, 3))
    np.testing.assert_allclose(result, known, rtol=1e-10, atol=1e-300)
