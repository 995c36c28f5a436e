"""One setting in a sentence: it names the largest part, and a remedy that works."""

import itertools
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.advice._meaning import _Remedy, meaning
from doubletrouble.advice._words import MEANINGS, largest
from doubletrouble.ensembles import named_ensemble


@pytest.mark.parametrize(
    ("fields", "members", "scheme", "said"),
    [
        ({}, 1, "ensemble", "The best ridge, λ = 0.509, would take the error to 0.788."),
        ({"features_per_dim": 1.0}, 1, "ensemble",
         "is noise: label noise that is fitted. The best ridge, λ = 0.923, would take the error"),
        ({"noise": 1e6}, 1, "ensemble", "The best ridge, λ = 4.82e+11, would take the error to 1."),
        ({"signal": 0.0}, 1, "ensemble", "Predicting zero would take the error to 0."),
        ({"features_per_dim": 50.0, "ridge": 1.0, "noise": 0.1}, 1, "ensemble",
         "is bias: what no average removes. No ridge at all would take the error to 0.302."),
        ({"ridge": 10.0}, 1, "ensemble", "is bias: what no average removes. The best ridge, λ = "),
        # neither features nor data make this bias smaller and the error, too
        ({"features_per_dim": 0.1}, 1, "ensemble",
         "is bias: what no average removes. It is not the part to begin with: averaging 10 models "
         "would take the error to 0.898."),
        ({"test_noise": 0.9, "noise": 0.2}, 1, "ensemble",
         "which nothing removes. It is not the part to begin with: 10 times the features would"),
        ({"features_per_dim": 50.0, "samples_per_dim": 0.9, "noise": 0.0, "activation": "tanh"}, 5,
         "ensemble", "is sampling: the luck of the training inputs. 10 times the data would take"),
        ({"noise": 0.1}, math.inf, "divide", "All data for each model would take the error to"),
        ({"noise": 0.1, "features_per_dim": 1.5}, 1, "ensemble",
         "is initialization: the luck of the random features. 10 times the features would take"),
        ({"noise": 1.0, "features_per_dim": 0.6}, 1, "ensemble", "Averaging 10 models would take"),
        ({"noise": 0.1}, 7, "divide", "All data for each model would take the error to"),
        ({"features_per_dim": 1.0, "ridge": 0.0}, 1, "ensemble", "The error is infinite"),
        ({"signal": 0.0, "noise": 0.0}, 1, "ensemble", "The error is 0"),
        ({"ridge": math.inf}, 1, "ensemble", "With λ = ∞ the models predict zero"),
        ({"test_noise": 10.0}, 2, "ensemble", "No change within reach"),
        ({"noise": 0.1, "features_per_dim": math.inf, "samples_per_dim": 5.0}, math.inf, "ensemble",
         "10 times the data would take the error to"),
    ],
)  # fmt: skip
def test_what_is_said(fields: dict[str, Any], members: float, scheme: str, said: str) -> None:
    assert said in meaning(dt.Problem(**fields), named_ensemble(scheme, members))


@settings(max_examples=60, deadline=None)
@given(
    P=st.floats(1e-2, 1e2), N=st.floats(1e-2, 1e2), ridge=st.floats(0, 10),
    noise=st.floats(0, 5), members=st.sampled_from([1, 2, 30, math.inf]),
    scheme=st.sampled_from(["ensemble", "divide"]),
)  # fmt: skip
def test_it_names_the_largest_part_and_promises_less(
    P: float, N: float, ridge: float, noise: float, members: float, scheme: str
) -> None:
    problem = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, noise=noise)
    now = dt.exact_error(problem, named_ensemble(scheme, members))
    said = meaning(problem, named_ensemble(scheme, members))
    if math.isfinite(float(np.asarray(now.total))):
        assert MEANINGS[largest(now)] in said
    promise = re.search(r"would take the error to ([\d.e+-]+)\.$", said)
    if promise:
        assert float(promise[1]) <= 0.91 * float(np.asarray(now.total))
    else:
        assert said.endswith("takes a tenth of it away.")
    if "is bias" in said and "begin with" not in said:
        assert "Averaging" not in said
    ridge_said = re.search(r"best ridge, λ = ([\d.e+-]+),", said)
    if ridge_said:
        best = float(np.asarray(dt.optimal_ridge(problem, named_ensemble(scheme, members)).ridge))
        assert float(ridge_said[1]) == pytest.approx(best, rel=0.01)


FACTORS = np.geomspace(1.0, 10.0, 61)


def within_reach(problem: dt.Problem, members: float, scheme: str) -> float:
    """The least error after any change that is named: on a grid of its own, and fine."""

    def least(K: Any, scheme: str, **changes: Any) -> float:
        ensemble = named_ensemble(scheme, K)
        return float(np.min(dt.exact_error(replace(problem, **changes), ensemble).total))

    P, N = (np.asarray(v) for v in (problem.features_per_dim, problem.samples_per_dim))
    return min(
        least(members, scheme, features_per_dim=P * FACTORS),
        least(members, scheme, samples_per_dim=N * FACTORS),
        least(np.rint(members * FACTORS), "ensemble"),
        least(np.rint(members * FACTORS), "divide"),
        float(np.asarray(dt.optimal_ridge(problem, named_ensemble(scheme, members)).error.total)),
    )


def test_nothing_helps_where_that_is_said() -> None:
    """All kinds of settings; where something is named instead (the control), it often does."""
    told = 0
    settings = itertools.product(
        (0.1, 1.0), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0), (1, 5), ("ensemble", "divide"),
        (0.5, 3.0, 10.0), (0.0, 1e-5, 0.1),
    )  # fmt: skip
    for N, ratio, members, scheme, snr, ridge in settings:
        problem = dt.Problem(
            features_per_dim=ratio * N, samples_per_dim=N, noise=1 / snr, ridge=ridge
        )
        if "No change within reach" not in meaning(problem, named_ensemble(scheme, members)):
            continue
        told += 1
        now = float(np.asarray(dt.exact_error(problem, named_ensemble(scheme, members)).total))
        assert within_reach(problem, members, scheme) > 0.9 * now, (problem, members, scheme)
    assert 30 < told < 300


@pytest.mark.parametrize(
    ("fields", "members", "scheme", "said"),
    [
        # ten times the features lead to P = N/K, and ten times the data to P = N
        ({"features_per_dim": 2.0}, 5, "divide", "times the data would take the error to"),
        ({"features_per_dim": 0.1, "noise": 0.1, "ridge": 0.0}, 5, "ensemble",
         "times the features would take the error to"),
        ({"features_per_dim": 0.1, "noise": 0.1, "ridge": 0.0}, 1, "divide",
         "averaging 10 models, each on all data, would take the error to"),
    ],
)  # fmt: skip
def test_what_helps_is_found_between_here_and_the_peak(
    fields: dict[str, Any], members: int, scheme: str, said: str
) -> None:
    problem = dt.Problem(**fields)
    words = meaning(problem, named_ensemble(scheme, members))
    assert said in words
    assert within_reach(problem, members, scheme) < 0.9 * float(
        np.asarray(dt.exact_error(problem, named_ensemble(scheme, members)).total)
    )


@pytest.mark.parametrize("part", ["noise", "initialization", "sampling", "bias"])
def test_what_is_named_for_a_part_makes_it_smaller(part: str) -> None:
    """Ten times the data leave the bias of P/D = 0.1 where it is, and are not named for it."""
    now = dt.exact_error(dt.Problem(features_per_dim=0.1))
    rich = _Remedy("data", "", dt.exact_error(dt.Problem(features_per_dim=0.1, samples_per_dim=10)))
    assert rich.total < 0.9 * float(np.asarray(now.total))
    assert rich.lowers(part, now) == (part == "sampling")


def test_a_measured_spectrum_has_a_meaning() -> None:
    spectrum = dt.SpectralProblem(
        eigenvalues=[1.0, 0.1], target_powers=[1.0, 1.0], tail=0.1, n_features=5, n_samples=5,
        noise=1.0,
    )  # fmt: skip
    assert "infinite" in meaning(spectrum)


@pytest.mark.parametrize(
    ("problem", "members", "scheme", "cause"),
    [
        (dt.Problem(features_per_dim=1.0, ridge=0.0), 1, "ensemble",
         "the model has as many features as samples"),
        (dt.Problem(features_per_dim=0.5, ridge=0.0), 2, "divide",
         "each model has as many features as samples"),
        (dt.Problem(features_per_dim=3.0, ridge=0.0, activation="linear"), 1, "ensemble",
         "the model is linear and has as many samples as inputs have dimensions"),
        (dt.Problem(features_per_dim=0.5, samples_per_dim=0.5, ridge=0.0, activation="linear"), 1,
         "ensemble", "the model has as many features as samples"),
        (dt.Problem(features_per_dim=3.0, samples_per_dim=2.0, ridge=0.0, activation="linear"), 2,
         "divide", "each model is linear and has as many samples as inputs have dimensions"),
        (dt.SpectralProblem(eigenvalues=[1.0, 0.5], target_powers=[1.0, 1.0], n_features=9,
                            n_samples=2, noise=1.0), 3, "ensemble",
         "each model has as many samples as the kernel has eigenvalues above 0"),
    ],
)  # fmt: skip
def test_an_infinite_error_has_its_cause(
    problem: dt.Problem | dt.SpectralProblem, members: int, scheme: str, cause: str
) -> None:
    told = f"error is infinite: {cause}, and there is no ridge."
    assert told in meaning(problem, named_ensemble(scheme, members))
    assert told in dt.advise(problem, ensemble=named_ensemble(scheme, members)).reason
    finite = replace(problem, ridge=0.1)  # the control
    assert "infinite:" not in meaning(finite, named_ensemble(scheme, members))


def test_an_error_too_large_to_hold_is_not_called_a_peak() -> None:
    vast = dt.Problem(features_per_dim=1.0, ridge=1e-30, noise=1e150)
    assert "largest number there is" in meaning(vast)
