"""No NaN, nothing negative, parts that add up: over the whole declared domain.

Each example is one problem, evaluated as scalars. Sizes, ridges and amplitudes are drawn over
all the decades that `parameters` declares, with the limits (0, inf, P = N, P = D) drawn often.
"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.parameters import declarations

TINIEST = 5e-324
SIZE, AMPLITUDE = declarations(dt.Problem)["samples_per_dim"], declarations(dt.Problem)["signal"]
ROUNDING = 1e-12
# sums of subnormal numbers are only exact to the spacing of those
SUBNORMAL = 100 * TINIEST

Strategy = st.SearchStrategy[float]


def decades(low: float, high: float) -> Strategy:
    """Numbers from `low` to `high`, any order of magnitude as likely as another."""
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda e: min(max(10.0**e, low), high))


def settings_for(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


near_one = st.builds(lambda e, s: 1 + s * 10.0**e, st.floats(-16, -1), st.sampled_from((-1, 1)))
sizes = st.one_of(
    st.sampled_from((SIZE.low, 0.5, 1.0, 2.0, SIZE.high)),
    near_one,
    decades(*SIZE.typical),
    decades(SIZE.low, SIZE.high),
)
ridges = st.one_of(
    st.sampled_from((0.0, math.inf, TINIEST, 1e308)), decades(TINIEST, 1e308), decades(1e-8, 1e4)
)
amplitudes = st.one_of(
    st.sampled_from((0.0, 1.0, AMPLITUDE.high)),
    st.floats(*AMPLITUDE.typical),
    decades(TINIEST, AMPLITUDE.high),
)
members = st.one_of(
    st.sampled_from((1.0, 2.0, math.inf)),
    st.integers(1, 20).map(float),
    st.integers(1, 10**9).map(float),
)
schemes = st.sampled_from(("ensemble", "divide"))


@st.composite
def problems(
    draw: st.DrawFn, sizes: Strategy = sizes, amplitudes: Strategy = amplitudes
) -> dt.Problem:
    samples = draw(sizes)
    # on the peak of one member, or of two that divide the data; the kernel limit; or anywhere
    peaks = st.sampled_from((samples, max(samples / 2, SIZE.low), math.inf))
    features = draw(st.one_of(sizes, sizes, peaks))
    fields: dict[str, Any] = {
        name: draw(amplitudes) for name in ("signal", "noise", "nonlinear_signal", "test_noise")
    }
    return dt.Problem(
        features_per_dim=features, samples_per_dim=samples, ridge=draw(ridges),
        activation=draw(st.sampled_from(NAMES)), **fields,
    )  # fmt: skip


@st.composite
def spectra(draw: st.DrawFn) -> dt.SpectralProblem:
    count = draw(st.integers(1, 5))
    weights = st.one_of(st.sampled_from((0.0, 1.0)), decades(1e-30, 1e30))
    numbers = st.one_of(st.integers(1, 8).map(float), decades(1e-20, 1e20), st.just(float(count)))
    samples = draw(numbers)
    return dt.SpectralProblem(
        eigenvalues=draw(st.lists(weights, min_size=count, max_size=count)),
        target_powers=draw(st.lists(weights, min_size=count, max_size=count)),
        tail=draw(weights),
        n_features=draw(st.one_of(numbers, st.just(samples), st.just(math.inf))),
        n_samples=samples, ridge=draw(ridges),
        **{name: draw(amplitudes) for name in ("noise", "nonlinear_signal", "test_noise")},
    )  # fmt: skip


def assert_numbers(values: dict[str, Any]) -> None:
    for name, value in values.items():
        assert type(value) is float, name
        assert value >= 0, name  # false for NaN


def assert_adds_up(terms: dt.ErrorTerms | dt.AnovaTerms) -> None:
    parts = asdict(terms)
    assert_numbers(parts)
    total = float(np.asarray(terms.total))
    try:
        expected = math.fsum(parts.values())
    except OverflowError:
        expected = math.inf
    assert same(total, expected)


def same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= ROUNDING * abs(b) + SUBNORMAL


def number(value: Any) -> float:
    assert type(value) is float
    return value


# --- the isotropic problem: 3 × 3500 examples ----------------------------------------------------


@settings_for(3500)
@given(problems())
def test_psi_terms_are_ordered_numbers(problem: dt.Problem) -> None:
    psi = dt.psi_terms(problem)
    assert_numbers(asdict(psi))
    overlap, square, shared = (number(v) for v in (psi.psi1, psi.psi2_divide, psi.psi2_ensemble))
    assert square <= overlap * (1 + ROUNDING)
    assert overlap <= 1
    assert square <= shared <= number(psi.psi2_vanilla)
    assert square <= number(psi.psi2_features)
    assert number(psi.psi3_ensemble) <= number(psi.psi3_vanilla)


@settings_for(3500)
@given(problems(), members, schemes)
def test_errors_add_up(problem: dt.Problem, n_members: float, scheme: str) -> None:
    error = dt.exact_error(problem, n_members, scheme)
    assert_adds_up(error)
    assert_numbers({"training": dt.training_error(problem, n_members, scheme)})
    split, single = dt.anova(problem), dt.exact_error(problem)
    assert_adds_up(split)
    assert same(number(split.total), number(single.total))


@settings_for(3500)
@given(problems(), members, members)
def test_more_members_never_hurt(problem: dt.Problem, one: float, other: float) -> None:
    few, many = sorted((one, other))
    before, after = dt.exact_error(problem, few), dt.exact_error(problem, many)
    for name, value in asdict(after).items():
        assert value <= getattr(before, name) * (1 + ROUNDING) + SUBNORMAL, name
    assert number(after.total) <= number(before.total) * (1 + ROUNDING) + SUBNORMAL
    fit, better = dt.training_error(problem, few), dt.training_error(problem, many)
    assert number(better) <= number(fit) * (1 + ROUNDING) + SUBNORMAL


# --- the optimum ---------------------------------------------------------------------------------

WIDE = decades(1e-12, 1e12)
OTHERS = (0.0, 1e-50, 1e-8, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e12, 1e100, math.inf)


@settings_for(300)
@given(
    problems(
        sizes=st.one_of(st.sampled_from((0.5, 1.0, 2.0)), near_one, WIDE),
        amplitudes=st.one_of(st.sampled_from((0.0, 1.0)), WIDE),
    ),
    members,
    schemes,
)
def test_no_other_ridge_is_better(problem: dt.Problem, n_members: float, scheme: str) -> None:
    best = dt.optimal_ridge(problem, n_members, scheme)
    assert_numbers({"ridge": best.ridge})
    assert_adds_up(best.error)
    assert best.error == dt.exact_error(replace(problem, ridge=best.ridge), n_members, scheme)
    least = number(best.error.total)
    for ridge in (
        *OTHERS,
        problem.ridge,
        np.multiply(best.ridge, 0.9),
        np.multiply(best.ridge, 1.1),
    ):
        other = dt.exact_error(replace(problem, ridge=ridge), n_members, scheme)
        assert least <= number(other.total) * (1 + ROUNDING)


# --- measured spectra ----------------------------------------------------------------------------


@settings_for(500)
@given(spectra(), members, schemes)
def test_spectra_add_up(problem: dt.SpectralProblem, n_members: float, scheme: str) -> None:
    assert_adds_up(dt.exact_error(problem, n_members, scheme))
    assert_numbers({"training": dt.training_error(problem, n_members, scheme)})
    split, single = dt.anova(problem), dt.exact_error(problem)
    assert_adds_up(split)
    assert same(number(split.total), number(single.total))
    more = dt.exact_error(problem, n_members)
    assert number(more.total) <= number(single.total) * (1 + ROUNDING) + SUBNORMAL


# --- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", NAMES)
@pytest.mark.parametrize("scheme", ["ensemble", "divide"])
def test_a_grid_of_all_limits(activation: str, scheme: str) -> None:
    edges = np.array([1e-50, 0.5, 1.0, 2.0, 1e50])
    grid = dt.Problem(
        features_per_dim=np.append(edges, math.inf).reshape(-1, 1, 1, 1),
        samples_per_dim=edges.reshape(-1, 1, 1),
        ridge=np.array([0.0, TINIEST, 1e-5, 1.0, 1e308, math.inf]).reshape(-1, 1),
        signal=[0.0, 0.0, 1.0, 1.0, 1e150], noise=[0.0, 1.0, 0.0, 1.0, 1e150],
        nonlinear_signal=[1.0, 0.0, 0.0, 1.0, 1e150], activation=activation,
    )  # fmt: skip
    for n_members in (1, 2, math.inf):
        terms = asdict(dt.exact_error(grid, n_members, scheme))
        for values in (*terms.values(), dt.training_error(grid, n_members, scheme)):
            assert np.shape(values) == grid.shape
            assert np.all(values >= 0)
