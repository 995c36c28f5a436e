"""The symmetric split: main effects and interactions, for every scheme."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.parameters import declarations
from tests.schemes import ensemble, supported

MEMBERS = np.array([1, 2, 7, math.inf])[:, None]


def random_problem(count: int = 300) -> dt.Problem:
    """Points over the typical ranges, and the peak."""
    rng = np.random.default_rng(5)
    fields: dict[str, Any] = {
        name: rng.uniform(*spec.typical, count) for name, spec in declarations(dt.Problem).items()
    }
    fields["features_per_dim"][:20] = fields["samples_per_dim"][:20]
    fields["ridge"][:40:2] = 0.0
    fields["flips"] = 0.0  # labels of classes only
    return dt.Problem(**fields)


@pytest.mark.parametrize("name", supported("anova"))
@pytest.mark.parametrize("measured", [False, True])
def test_effects_sum_to_the_causes(name: str, *, measured: bool) -> None:
    problem: Any = random_problem(60 if measured else 300)
    if measured:
        problem = dt.SpectralProblem.from_problem(replace(problem, signal=1.3), dim=5)
    members = ensemble(name, problem, MEMBERS)
    cause, effect = dt.exact_error(problem, members), dt.anova(problem, members)
    together: dict[str, Any] = {
        "bias": effect.bias,
        "sampling": effect.sampling,
        "initialization": effect.initialization + effect.initialization_sampling,
        "noise": effect.noise_sampling + effect.noise_initialization_sampling,
        "resampling": effect.resampling,
        "bayes": effect.bayes,
        "total": effect.total,
    }
    assert (effect.resampling is None) == (cause.resampling is None)
    for part, value in together.items():
        if value is None:
            continue
        np.testing.assert_allclose(
            value, getattr(cause, part), rtol=1e-12, atol=1e-300, err_msg=part
        )
    np.testing.assert_allclose(
        sum(effect.parts.values()), cause.total, rtol=1e-12, err_msg="all parts"
    )


def test_members_on_one_data_set_average_feature_effects_only() -> None:
    problem = dt.Problem(features_per_dim=2.0, ridge=1e-3, nonlinear_signal=0.4, test_noise=0.3)
    one, five = dt.anova(problem), dt.anova(problem, 5)
    for part, value in one.parts.items():
        shared = 1 if "initialization" not in part else 5
        assert value == pytest.approx(shared * five.parts[part])


def test_divided_data_average_every_variance() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=3.0, ridge=1e-3)
    alone = dt.anova(replace(problem, samples_per_dim=1.0))
    divided = dt.anova(problem, dt.Divide(3))
    for part, value in alone.parts.items():
        averaged = 1 if part in ("bias", "bayes") else 3
        assert value == pytest.approx(averaged * divided.parts[part])
    assert dt.anova(problem, 3) != divided  # the control: one data set for all


def test_infinitely_many_models_have_no_peak() -> None:
    at_peak = dt.Problem(features_per_dim=[1.0], ridge=0.0)
    assert np.isinf(dt.anova(at_peak).total).all()
    many = dt.anova(at_peak, math.inf)
    assert np.isfinite(many.total).all()
    assert many.initialization_sampling == many.noise_initialization_sampling == 0
