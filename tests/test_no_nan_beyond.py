"""No NaN and nothing negative beyond the paper, too: over the whole declared domain."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.activations import NAMES
from tests.test_no_nan import (
    assert_adds_up,
    decades,
    members,
    problems,
    ridges,
    settings_for,
    sizes,
    spectra,
)

shares = st.one_of(st.sampled_from((1.0, 0.5, 1e-50, 1 - 1e-12)), st.floats(1e-9, 1.0))
times = st.one_of(
    st.sampled_from((0.0, 1.0, math.inf, 5e-324, 1e150)),
    decades(1e-307, 1e150),
    decades(1e-6, 1e12),
)


@settings_for(400)
@given(problems(), members, shares)
def test_bags(problem: dt.Problem, n_members: float, share: float) -> None:
    assert_adds_up(dt.exact_error(problem, n_members, "subbag", fraction=share))
    assert_adds_up(dt.exact_error(problem, n_members, "bootstrap"))


@settings_for(400)
@given(problems(), members, shares)
def test_banks(problem: dt.Problem, n_members: float, share: float) -> None:
    width = float(np.asarray(problem.features_per_dim))
    bank = max(width, min(width / share, 1e50))
    assert_adds_up(dt.exact_error(problem, n_members, "feature_bank", bank_per_dim=bank))


@settings_for(400)
@given(problems(), members, times)
def test_times(problem: dt.Problem, n_members: float, time: float) -> None:
    assert_adds_up(dt.gradient_flow(problem, time, n_members))


@settings_for(60)
@given(spectra(), members, times, shares)
def test_measured_spectra(
    spectrum: dt.SpectralProblem, n_members: float, time: float, share: float
) -> None:
    assert_adds_up(dt.gradient_flow(spectrum, time, n_members))
    assert_adds_up(dt.exact_error(spectrum, n_members, "subbag", fraction=share))
    assert_adds_up(dt.exact_error(spectrum, n_members, "bootstrap"))


learners = st.builds(
    dt.Learner,
    features_per_dim=st.one_of(sizes, st.just(math.inf)),
    samples_per_dim=sizes,
    ridge=ridges,
    activation=st.sampled_from(NAMES),
)


@settings_for(400)
@given(learners, learners, st.floats(0, 1), st.floats(0, 1))
def test_pairs(a: dt.Learner, b: dt.Learner, features: float, samples: float) -> None:
    k = features * min(a.features_per_dim, b.features_per_dim) if features else 0.0  # type: ignore[type-var,operator]
    n = samples * min(a.samples_per_dim, b.samples_per_dim)  # type: ignore[type-var,operator]
    found = dt.pair_terms(a, b, shared_features=k, shared_samples=n)
    assert not math.isnan(float(np.asarray(found.total)))
    assert float(np.asarray(found.bias)) >= 0
    if a.activation == b.activation:  # tails that differ may covary negatively
        assert_adds_up(found)
