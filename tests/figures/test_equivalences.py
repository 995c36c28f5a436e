"""The figure on equivalences: one effective ridge for width, samples and penalty."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from doubletrouble.ensembles import Bootstrap
from doubletrouble.figures import _equivalences
from doubletrouble.figures._equivalences import Equivalences, effective_ridges, linear_error
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

equivalences_data = _equivalences.FIGURE.compute
TINY: dict[str, Any] = {"dim": 40, "n_data": 2, "seed": 3}


@pytest.fixture(scope="module")
def paths() -> Equivalences:
    return equivalences_data(
        ratio_range=(0.1, 10.0, 21),
        ridge_range=(1e-3, 10.0, 21),
        fraction_range=(0.1, 1.0, 11),
        **TINY,
    )


def off_the_curve(problem: Problem, rho: FloatArray, error: FloatArray) -> float:
    return float(np.max(np.abs(error / linear_error(problem, rho) - 1)))


def test_all_settings_lie_on_the_curve_of_linear_ridge_regression(paths: Equivalences) -> None:
    for result in (*paths.planes, *paths.paths):
        assert off_the_curve(paths.problem, result.effective, result.total) < 1e-12


def test_nonlinear_teacher_does_not_change_the_effective_ridge(paths: Equivalences) -> None:
    at = replace(paths.problem, nonlinear_signal=0.7)
    linear, bent = (
        effective_ridges(one, "any", 2.0, [0.4, 0.9], 0.1) for one in (paths.problem, at)
    )
    np.testing.assert_array_equal(linear.effective, bent.effective)
    assert off_the_curve(at, bent.effective, bent.total) < 1e-12
    assert np.all(bent.total > linear.total + 0.4)


def test_bootstrap_lies_on_the_curve(paths: Equivalences) -> None:
    at = replace(paths.problem, features_per_dim=np.array([0.5, 2.0, np.inf]), ridge=0.01)
    result = exact_error(at, Bootstrap(math.inf))
    u = np.sqrt(result.bias)
    assert off_the_curve(at, u / (1 - u) - u, np.asarray(result.total)) < 1e-12


def test_finitely_many_members_do_not_lie_on_the_curve(paths: Equivalences) -> None:
    at = replace(paths.problem, features_per_dim=np.array([0.5, 2.0]), ridge=0.01)
    few = exact_error(at, 10)
    u = np.sqrt(few.bias)
    assert off_the_curve(at, u / (1 - u) - u, np.asarray(few.total)) > 0.01
    many = exact_error(at, math.inf)
    assert off_the_curve(at, u / (1 - u), np.asarray(many.total)) > 0.01  # another ridge


@pytest.mark.parametrize(
    ("ratio", "fraction", "ridge"),
    [(0.606547, 1.0, 0.0), (math.inf, 0.606547, 0.0), (math.inf, 1.0, 0.1591549431)],
)
def test_each_setting_reaches_the_best_linear_predictor(
    ratio: float, fraction: float, ridge: float
) -> None:
    result = effective_ridges(Problem(), "any", ratio, fraction, ridge)
    assert float(result.effective) == pytest.approx(1.0, abs=2e-6)
    assert float(result.total) == pytest.approx(0.618034, abs=1e-6)


def test_without_a_penalty_the_smaller_of_features_and_samples_counts() -> None:
    for ratio, fraction in ((0.4, 0.7), (0.4, 1.0), (math.inf, 0.4), (3.0, 0.4)):
        result = effective_ridges(Problem(), "any", ratio, fraction, 0.0)
        assert float(result.effective) == pytest.approx(
            float(effective_ridges(Problem(), "any", 0.4, 1.0, 0.0).effective), rel=1e-12
        )


def test_simulations_are_near_the_curve(paths: Equivalences) -> None:
    for points in paths.points:
        np.testing.assert_allclose(points.value, points.theory, rtol=0.2)
        assert off_the_curve(paths.problem, points.x, points.theory) < 1e-12
