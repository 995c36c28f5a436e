"""The value of one more sample, and of one more feature."""

import math

import pytest

import doubletrouble as dt
from doubletrouble.advice import MarginalValue, marginal_value
from doubletrouble.theory import error_slopes

INF = math.inf


def test_marginal_values_are_derivatives() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.01)
    marginal, slopes = marginal_value(problem, 2), error_slopes(problem, 2)
    assert marginal.sample == -slopes.by_n_samples
    assert marginal.feature == -slopes.by_n_features
    h, best = 1e-4, []
    for P, N in ((1.5 + h, 1.0), (1.5 - h, 1.0), (1.5, 1.0 + h), (1.5, 1.0 - h)):
        there = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=0.01)
        best.append(float(dt.optimal_ridge(there, 2).error.total))
    feature, sample = ((b - a) / (2 * h) for a, b in (best[:2], best[2:]))
    assert marginal.feature_at_best_ridge == pytest.approx(feature, rel=1e-5)
    assert marginal.sample_at_best_ridge == pytest.approx(sample, rel=1e-5)
    assert marginal.features_per_sample == pytest.approx(sample / feature, rel=1e-5)
    assert marginal.sample != pytest.approx(sample, rel=1e-2)  # the control: a fixed ridge


def test_features_per_sample_has_limits() -> None:
    for sample, feature, expected in (
        (0.6, 0.2, 3.0),
        (0.0, 0.2, 0.0),
        (0.6, 0.0, INF),
        (INF, INF, 1.0),
    ):
        value = MarginalValue(
            sample=0.0, feature=0.0, sample_at_best_ridge=sample, feature_at_best_ridge=feature
        )
        assert value.features_per_sample == pytest.approx(expected), (sample, feature)


def test_features_have_no_value_in_the_kernel_limit() -> None:
    marginal = marginal_value(dt.Problem(features_per_dim=INF, ridge=0.01))
    assert marginal.feature == marginal.feature_at_best_ridge == 0
    assert marginal.features_per_sample == INF
    assert "the value of ∞ features" in str(marginal)


def test_advice_has_the_values_of_one_count() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.01)
    value, facts = marginal_value(problem), dt.advice.advise_problem(problem, dim=20).facts
    assert facts["marginal"]["sample"] == pytest.approx(value.sample / 20)
    assert facts["marginal"]["features_per_sample"] == value.features_per_sample
