"""The effective ridge: infinitely many models are a kernel regression with it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.theory import effective_ridge

COUNT = 400


def random_problem(activation: str) -> dt.Problem:
    """Widths over six decades (some at P = N), ridges over twelve (some zero)."""
    rng = np.random.default_rng(11)
    features, samples = 10 ** rng.uniform(-3, 3, COUNT), 10 ** rng.uniform(-2, 2, COUNT)
    ridge = 10 ** rng.uniform(-10, 2, COUNT)
    features[:40] = samples[:40]
    ridge[::5] = 0.0
    return dt.Problem(
        features_per_dim=features,
        samples_per_dim=samples,
        ridge=ridge,
        activation=activation,
        noise=0.7,
        nonlinear_signal=0.3,
    )


@pytest.mark.parametrize("activation", ["relu", "tanh", "sign"])
def test_infinitely_many_models_are_a_kernel_regression(activation: str) -> None:
    problem = random_problem(activation)
    effective = np.asarray(effective_ridge(problem))
    ensemble = dt.exact_error(problem, math.inf)
    kernel = dt.exact_error(replace(problem, features_per_dim=math.inf, ridge=effective))
    for name, value in ensemble.parts.items():
        np.testing.assert_allclose(getattr(kernel, name), value, rtol=1e-12, atol=1e-300)
    assert np.all(effective >= np.asarray(problem.ridge) * (1 - 1e-15))
    control = dt.exact_error(replace(problem, features_per_dim=math.inf))  # λ itself is not it
    assert np.max(np.abs(np.asarray(control.total) / np.asarray(ensemble.total) - 1)) > 0.1


def test_effective_ridge_equals_the_published_value() -> None:
    narrow = dt.Problem(features_per_dim=0.5, samples_per_dim=1.0, ridge=1e-5)
    assert effective_ridge(narrow) == pytest.approx(0.259612, abs=5e-7)


def test_effective_ridge_has_its_known_limits() -> None:
    def at(**changes: Any) -> Any:
        return effective_ridge(
            dt.Problem(**{"features_per_dim": 2.0, "samples_per_dim": 1.0, **changes})
        )

    for ridge in (0.0, 1e-300, 0.3, 1e300, math.inf):
        assert at(features_per_dim=math.inf, ridge=ridge) == ridge
    assert at(ridge=math.inf) == math.inf
    assert at(ridge=0.0) == 0.0  # features suffice to interpolate
    assert at(features_per_dim=1.0, ridge=0.0) == 0.0
    assert at(ridge=1e-9) == pytest.approx(2e-9, rel=1e-6)  # λ/(1 - N/P)
    assert at(features_per_dim=1.0, ridge=1e-12) == pytest.approx(
        at(features_per_dim=1.0, ridge=1e-14) * 10, rel=1e-4
    )  # √λ at P = N
    narrow = [at(features_per_dim=width, ridge=0.0) for width in (0.5, 0.05, 0.005)]
    assert narrow[0] < narrow[1] < narrow[2]
    total = dt.activation("relu").linear ** 2 + dt.activation("relu").nonlinear ** 2
    assert narrow[2] * 0.005 == pytest.approx(total, rel=0.02)  # 1/y with z = P: (μ₁² + μ⋆²)/P
