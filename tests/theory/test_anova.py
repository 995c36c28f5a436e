"""The symmetric split of K averaged models, and of divided data."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.parameters import declared

problems = st.builds(
    dt.Problem, **{f.name: st.floats(*spec.typical) for f, spec in declared(dt.Problem)}
)
MEMBERS = (1, 2, 7, math.inf)
SCHEMES = ("ensemble", "divide")


@given(st.sampled_from(SCHEMES), st.sampled_from(MEMBERS), problems)
def test_effects_add_up_to_the_causes(scheme: str, members: float, problem: dt.Problem) -> None:
    cause, effect = dt.exact_error(problem, members, scheme), dt.anova(problem, members, scheme)
    together = {
        "bias": effect.bias,
        "sampling": effect.sampling,
        "initialization": effect.initialization + effect.initialization_sampling,
        "noise": effect.noise_sampling + effect.noise_initialization_sampling,
        "total": effect.total,
    }
    for name, value in together.items():
        assert value == pytest.approx(getattr(cause, name), rel=1e-12, abs=1e-300)


def test_each_model_brings_its_own_features_and_shares_the_data() -> None:
    problem = dt.Problem(features_per_dim=2.0, ridge=1e-3, nonlinear_signal=0.4, test_noise=0.3)
    one, five = dt.anova(problem), dt.anova(problem, 5)
    for part in fields(one):
        shared = 1 if "initialization" not in part.name else 5
        assert getattr(one, part.name) == pytest.approx(shared * getattr(five, part.name))


def test_divided_data_are_fewer_and_every_fluctuation_is_averaged() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=3.0, ridge=1e-3)
    alone = dt.anova(replace(problem, samples_per_dim=1.0))
    divided = dt.anova(problem, 3, "divide")
    for part in fields(alone):
        averaged = 1 if part.name in ("bias", "bayes") else 3
        assert getattr(alone, part.name) == pytest.approx(averaged * getattr(divided, part.name))
    assert dt.anova(problem, 3) != divided  # the control: not dividing is something else


def test_infinitely_many_models_have_no_peak() -> None:
    at_peak = dt.Problem(features_per_dim=[1.0], ridge=0.0)
    assert np.isinf(dt.anova(at_peak).total).all()
    many = dt.anova(at_peak, math.inf)
    assert np.isfinite(many.total).all()
    assert many.initialization_sampling == many.noise_initialization_sampling == 0


def test_bad_schemes_and_numbers_of_models_are_refused() -> None:
    with pytest.raises(ValueError, match="scheme must be one of ensemble, divide, got 'bag'"):
        dt.anova(dt.Problem(), 2, "bag")
    with pytest.raises(ValueError, match="n_members must be a whole number"):
        dt.anova(dt.Problem(), 1.5)
