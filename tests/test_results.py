"""Results: parts that add up, and a table a person can read."""

import math
from dataclasses import FrozenInstanceError, asdict, fields
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt

TERMS = dt.ErrorTerms(noise=1.0, initialization=0.5, sampling=0.25, bias=0.25, bayes=0.0)
SPLIT = dt.AnovaTerms(
    bias=0.25, initialization=0.125, sampling=0.25, initialization_sampling=0.375,
    noise_sampling=0.5, noise_initialization_sampling=0.5, bayes=0.0,
)  # fmt: skip


def test_parts_are_the_documented_ones() -> None:
    assert [f.name for f in fields(dt.ErrorTerms)] == [
        "noise", "initialization", "sampling", "bias", "bayes",
    ]  # fmt: skip
    assert [f.name for f in fields(dt.AnovaTerms)] == [
        "bias", "initialization", "sampling", "initialization_sampling", "noise_sampling",
        "noise_initialization_sampling", "bayes",
    ]  # fmt: skip
    assert [f.name for f in fields(dt.PsiTerms)] == [
        "psi1", "psi2_vanilla", "psi3_vanilla", "psi2_ensemble", "psi3_ensemble", "psi2_divide",
        "psi2_features",
    ]  # fmt: skip
    assert [f.name for f in fields(dt.OptimalRidge)] == ["ridge", "error"]


@pytest.mark.parametrize("terms", [TERMS, SPLIT], ids=["error", "anova"])
def test_total_is_the_sum_of_all_parts(terms: dt.ErrorTerms | dt.AnovaTerms) -> None:
    assert terms.total == 2.0
    assert type(terms.total) is float


def test_total_of_arrays_keeps_their_shape() -> None:
    ones = np.ones((2, 3))
    terms = dt.ErrorTerms(noise=ones, initialization=ones, sampling=0.5, bias=2 * ones, bayes=0.0)
    assert np.array_equal(terms.total, np.full((2, 3), 4.5))


def test_total_overflows_to_inf_without_a_warning() -> None:
    big = np.array([1e308])
    terms = dt.ErrorTerms(noise=big, initialization=big, sampling=0.0, bias=0.0, bayes=0.0)
    assert np.array_equal(terms.total, [math.inf])
    peak = dt.exact_error(dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0))
    assert (peak.noise, peak.total) == (math.inf, math.inf)
    assert math.isfinite(float(peak.bias + peak.sampling))


def test_table_of_numbers() -> None:
    assert str(TERMS) == "\n".join(
        [
            "noise                         1   50.0%",
            "initialization              0.5   25.0%",
            "sampling                   0.25   12.5%",
            "bias                       0.25   12.5%",
            "bayes                         0    0.0%",
            "total                         2",
        ]
    )


def test_interactions_read_as_products() -> None:
    lines = str(SPLIT).splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "bias", "initialization", "sampling", "initialization × sampling", "noise × sampling",
        "noise × initialization × sampling", "bayes", "total",
    ]  # fmt: skip
    assert lines[3].split()[-2:] == ["0.375", "18.8%"]
    assert len({len(line) for line in lines[:-1]}) == 1  # the columns line up


def test_shares_of_a_table_add_up() -> None:
    error = dt.exact_error(dt.Problem(test_noise=0.5), n_members=3)
    shares = [float(line.split()[-1].rstrip("%")) for line in str(error).splitlines()[:-1]]
    assert sum(shares) == pytest.approx(100.0, abs=0.3)  # five shares rounded to 0.1


@pytest.mark.parametrize("noise", [0.0, math.inf])
def test_no_shares_of_nothing_or_of_infinity(noise: float) -> None:
    terms = dt.ErrorTerms(noise=noise, initialization=0.0, sampling=0.0, bias=0.0, bayes=0.0)
    text = str(terms)
    assert "%" not in text
    assert "nan" not in text
    assert text.splitlines()[-1].split() == ["total", f"{noise:g}"]


def test_arrays_print_as_their_repr() -> None:
    terms = dt.exact_error(dt.Problem(ridge=[0.1, 0.2]))
    assert str(terms) == repr(terms)
    assert str(terms).startswith("ErrorTerms(noise=array([")


def test_results_are_frozen_and_named() -> None:
    with pytest.raises(FrozenInstanceError):
        TERMS.noise = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        dt.ErrorTerms(1.0, 0.5, 0.25, 0.25, 0.0)  # type: ignore[call-arg]


def test_scalars_in_python_floats_out() -> None:
    problem = dt.Problem(ridge=0.1)
    best = dt.optimal_ridge(problem)
    values = [
        *asdict(dt.exact_error(problem)).values(), *asdict(dt.anova(problem)).values(),
        *asdict(dt.psi_terms(problem)).values(), *asdict(best.error).values(),
        dt.training_error(problem), best.ridge, best.error.total,
    ]  # fmt: skip
    assert {type(value) for value in values} == {float}


def test_arrays_in_arrays_out() -> None:
    problem = dt.Problem(ridge=[[0.1], [0.2]], noise=[0.0, 1.0, 2.0])
    best = dt.optimal_ridge(problem)
    results: list[Any] = [dt.exact_error(problem), dt.anova(problem), best.error]
    values = [value for terms in results for value in asdict(terms).values()]
    assert {np.shape(value) for value in [*values, dt.training_error(problem), best.ridge]} == {
        (2, 3)
    }


def test_each_point_of_an_array_is_the_scalar_result() -> None:
    ridges = [0.0, 1e-3, 10.0, math.inf]
    many = asdict(dt.exact_error(dt.Problem(ridge=ridges), n_members=2, scheme="divide"))
    for i, ridge in enumerate(ridges):
        one = asdict(dt.exact_error(dt.Problem(ridge=ridge), n_members=2, scheme="divide"))
        assert {name: values[i] for name, values in many.items()} == pytest.approx(one, rel=1e-14)
