"""Parts are not NaN, not negative, and add up: over the whole declared domain, for every scheme.

Sizes, ridges and amplitudes are drawn over all the decades that `parameters` declares, with the
limits (0, inf, P = N, P = D) drawn often: as arrays, and as single points.
"""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.parameters import FloatArray, declarations, declared
from doubletrouble.results import AnovaTerms
from doubletrouble.theory import effective_ridge, psi_terms
from tests.schemes import ensemble, supported
from tests.selection import full_beyond

TINIEST = 5e-324
SIZE, AMPLITUDE = declarations(dt.Problem)["samples_per_dim"], declarations(dt.Problem)["signal"]
ROUNDING = 1e-12
# sums of subnormal numbers are only exact to the spacing of those
SUBNORMAL = 100 * TINIEST
COUNT = 1000  # points of each activation
KINDS = ("relu", "tanh", "linear", "abs")  # general, odd, without nonlinear part, without linear

Rng = np.random.Generator


# --- points --------------------------------------------------------------------------------------


def decades(rng: Rng, low: float, high: float, count: int) -> FloatArray:
    """Log-uniform numbers from `low` to `high`."""
    exponents = rng.uniform(math.log10(low), math.log10(high), count)
    return np.asarray(np.clip(10.0**exponents, low, high))


def mixed(rng: Rng, *kinds: FloatArray) -> FloatArray:
    """Each number from one of several kinds."""
    return np.asarray(np.choose(rng.integers(len(kinds), size=kinds[0].size), kinds))


def random_sizes(rng: Rng, count: int) -> FloatArray:
    near_one = 1 + rng.choice([-1, 1], count) * 10 ** rng.uniform(-16, -1, count)
    special = rng.choice([SIZE.low, 0.5, 1.0, 2.0, SIZE.high], count)
    typical, any_size = (
        decades(rng, *ends, count) for ends in (SIZE.typical, (SIZE.low, SIZE.high))
    )
    return mixed(rng, special, near_one, typical, any_size)


def random_ridges(rng: Rng, count: int) -> FloatArray:
    special = rng.choice([0.0, math.inf, TINIEST, 1e308], count)
    return mixed(rng, special, decades(rng, TINIEST, 1e308, count), decades(rng, 1e-8, 1e4, count))


def random_amplitudes(rng: Rng, count: int) -> FloatArray:
    special = rng.choice([0.0, 1.0, AMPLITUDE.high], count)
    typical = rng.uniform(*AMPLITUDE.typical, count)
    return mixed(rng, special, typical, decades(rng, TINIEST, AMPLITUDE.high, count))


def random_members(rng: Rng, count: int) -> FloatArray:
    special = rng.choice([1.0, 2.0, math.inf], count)
    few, many = (rng.integers(1, most, count).astype(float) for most in (20, 10**9))
    return mixed(rng, special, few, many)


def random_shares(rng: Rng, count: int) -> FloatArray:
    return mixed(rng, rng.choice([1.0, 0.5, 1e-50, 1 - 1e-12], count), rng.uniform(1e-9, 1, count))


def random_problem(rng: Rng, activation: str, count: int = COUNT, *, mild: bool = False) -> Any:
    """Some at the peak of one member, or of two with divided data; some in the kernel limit.

    With `mild`, sizes and amplitudes differ by 24 decades at most.
    """
    size, amplitude = random_sizes, random_amplitudes
    if mild:

        def size(rng: Rng, count: int) -> FloatArray:
            near_one = 1 + rng.choice([-1, 1], count) * 10 ** rng.uniform(-16, -1, count)
            special = rng.choice([0.5, 1.0, 2.0], count)
            return mixed(rng, special, near_one, decades(rng, 1e-12, 1e12, count))

        def amplitude(rng: Rng, count: int) -> FloatArray:
            return mixed(rng, rng.choice([0.0, 1.0], count), decades(rng, 1e-12, 1e12, count))

    samples = size(rng, count)
    peaks = mixed(rng, samples, np.maximum(samples / 2, SIZE.low), np.full(count, math.inf))
    names = ("signal", "noise", "nonlinear_signal", "test_noise")
    powers: dict[str, Any] = {name: amplitude(rng, count) for name in names}
    return dt.Problem(
        features_per_dim=mixed(rng, size(rng, count), size(rng, count), peaks),
        samples_per_dim=samples,
        ridge=random_ridges(rng, count),
        activation=activation,
        **powers,
    )


def random_spectrum(rng: Rng, count: int = 40) -> dt.SpectralProblem:
    modes = int(rng.integers(1, 6))

    def weights(size: int) -> FloatArray:
        return mixed(rng, rng.choice([0.0, 1.0], size), decades(rng, 1e-30, 1e30, size))

    def numbers() -> FloatArray:
        few = rng.integers(1, 9, count).astype(float)
        return mixed(rng, few, decades(rng, 1e-20, 1e20, count), np.full(count, float(modes)))

    samples = numbers()
    names = ("noise", "nonlinear_signal", "test_noise")
    powers: dict[str, Any] = {name: random_amplitudes(rng, count) for name in names}
    return dt.SpectralProblem(
        eigenvalues=weights(modes),
        target_powers=weights(modes),
        tail=float(weights(1)[0]),
        n_features=mixed(rng, numbers(), samples, np.full(count, math.inf)),
        n_samples=samples,
        gram_ridge=random_ridges(rng, count),
        **powers,
    )


def point(problem: Any, index: int) -> Any:
    """One point of a problem of arrays."""
    fields = {f.name: getattr(problem, f.name) for f, _ in declared(problem)}
    vectors = {f.name for f, _ in declared(problem) if f.metadata["vector"]}
    arrays = {k: v for k, v in fields.items() if np.ndim(v) and k not in vectors}
    return replace(problem, **{name: value[index] for name, value in arrays.items()})


# --- properties ----------------------------------------------------------------------------------


def assert_numbers(values: dict[str, Any]) -> None:
    for name, value in values.items():
        assert np.all(np.asarray(value) >= 0), name  # false for NaN


def assert_adds_up(terms: dt.ErrorTerms[Any] | AnovaTerms[Any]) -> None:
    assert_numbers(terms.parts)
    parts = np.stack(np.broadcast_arrays(*terms.parts.values()))
    with np.errstate(over="ignore"):
        assert_same(terms.total, parts.sum(axis=0, dtype=np.longdouble).astype(np.float64))


def assert_same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=ROUNDING, atol=SUBNORMAL)


def assert_at_most(a: Any, b: Any, name: str = "") -> None:
    with np.errstate(over="ignore"):
        assert np.all(np.asarray(a) <= np.asarray(b) * (1 + ROUNDING) + SUBNORMAL), name


# --- the isotropic problem -----------------------------------------------------------------------


@pytest.mark.parametrize("activation", full_beyond(KINDS, NAMES))
def test_psi_terms_are_ordered(activation: str) -> None:
    psi = psi_terms(random_problem(np.random.default_rng(1), activation))
    assert_numbers(psi.by_name)
    assert_at_most(psi.psi2_divide, psi.psi1)
    assert_at_most(psi.psi1, 1.0)
    assert_at_most(psi.psi2_divide, psi.psi2_ensemble)
    assert_at_most(psi.psi2_ensemble, psi.psi2_vanilla)
    assert_at_most(psi.psi2_divide, psi.psi2_features)
    assert_at_most(psi.psi3_ensemble, psi.psi3_vanilla)
    assert_numbers({"ridge": effective_ridge(random_problem(np.random.default_rng(2), "relu"))})


def assert_errors_add_up(rng: Rng, problem: Any, name: str) -> None:
    (count,) = problem.shape
    members = ensemble(name, problem, random_members(rng, count), random_shares(rng, count))
    error, split = dt.exact_error(problem, members), dt.anova(problem, members)
    assert_adds_up(error)
    assert_adds_up(split)
    assert_same(split.total, error.total)
    assert_numbers({"training": dt.training_error(problem, members)})


@pytest.mark.parametrize("activation", full_beyond(KINDS, NAMES))
def test_errors_add_up(activation: str) -> None:
    for name in supported():
        rng = np.random.default_rng(3)
        assert_errors_add_up(rng, random_problem(rng, activation, COUNT // 2), name)


@pytest.mark.parametrize("activation", full_beyond(KINDS, NAMES))
def test_more_members_do_not_increase_any_part(activation: str) -> None:
    rng = np.random.default_rng(4)
    problem = random_problem(rng, activation)
    few, many = np.sort([random_members(rng, COUNT), random_members(rng, COUNT)], axis=0)
    before, after = dt.exact_error(problem, few), dt.exact_error(problem, many)
    for name, value in after.parts.items():
        assert_at_most(value, before.parts[name], name)
    assert_at_most(after.total, before.total)
    assert_at_most(dt.training_error(problem, many), dt.training_error(problem, few))


# --- the optimum ---------------------------------------------------------------------------------

OTHERS = (0.0, 1e-50, 1e-8, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e12, 1e100, math.inf)


@pytest.mark.parametrize("name", supported("optimal_ridge"))
@pytest.mark.parametrize("activation", full_beyond({"relu", "linear"}, KINDS))
def test_optimal_ridge_has_the_least_error(activation: str, name: str) -> None:
    rng = np.random.default_rng(5)
    count = 100
    problem = random_problem(rng, activation, count, mild=True)
    members = ensemble(name, problem, random_members(rng, count), random_shares(rng, count))
    best = dt.optimal_ridge(problem, members)
    assert_numbers({"ridge": best.ridge})
    assert_adds_up(best.error)
    assert best.error == dt.exact_error(replace(problem, ridge=best.ridge), members)
    ridge = np.asarray(best.ridge)
    for other in (*OTHERS, problem.ridge, ridge * 0.9, ridge * 1.1):
        tried = dt.exact_error(replace(problem, ridge=other), members)
        assert_at_most(best.error.total, tried.total)


# --- measured spectra ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", full_beyond(range(3), range(12)))
def test_errors_of_spectra_add_up(seed: int) -> None:
    for name in supported():
        rng = np.random.default_rng([6, seed])
        assert_errors_add_up(rng, random_spectrum(rng), name)


# --- single points -------------------------------------------------------------------------------


def settings_for(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.full
@settings_for(300)
@given(
    st.sampled_from(supported()), st.sampled_from(NAMES), st.integers(0, 99), st.integers(0, 2**20)
)
def test_single_points_are_floats(name: str, activation: str, index: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = point(random_problem(rng, activation, 100), index)
    share, count = float(random_shares(rng, 1)[0]), float(random_members(rng, 1)[0])
    members = ensemble(name, problem, count, share)
    for terms in (dt.exact_error(problem, members), dt.anova(problem, members)):
        assert all(type(value) is float for value in terms.parts.values())
        assert_adds_up(terms)
    assert type(dt.training_error(problem, members)) is float


# --- a grid of limits ----------------------------------------------------------------------------


@pytest.mark.parametrize("activation", full_beyond(KINDS, NAMES))
def test_errors_at_all_limits_are_not_nan(activation: str) -> None:
    edges = np.array([1e-50, 0.5, 1.0, 2.0, 1e50])
    grid = dt.Problem(
        features_per_dim=np.append(edges, math.inf).reshape(-1, 1, 1, 1),
        samples_per_dim=edges.reshape(-1, 1, 1),
        ridge=np.array([0.0, TINIEST, 1e-5, 1.0, 1e308, math.inf]).reshape(-1, 1),
        signal=[0.0, 0.0, 1.0, 1.0, 1e150],
        noise=[0.0, 1.0, 0.0, 1.0, 1e150],
        nonlinear_signal=[1.0, 0.0, 0.0, 1.0, 1e150],
        activation=activation,
    )
    for name, count in itertools.product(supported(), (1, 2, math.inf)):
        members = ensemble(name, grid, count, 0.5)
        values = dt.exact_error(grid, members).parts
        values["training"] = dt.training_error(grid, members)
        assert_numbers(values)
        assert {np.shape(value) for value in values.values()} == {grid.shape}


# --- gradient flow and pairs ---------------------------------------------------------------------


def random_times(rng: Rng, count: int) -> FloatArray:
    special = rng.choice([0.0, 1.0, math.inf, 5e-324, 1e150], count)
    return mixed(rng, special, decades(rng, 1e-307, 1e150, count), decades(rng, 1e-6, 1e12, count))


def assert_flow_adds_up(rng: Rng, problem: Any, name: str) -> None:
    (count,) = problem.shape
    members = ensemble(name, problem, random_members(rng, count), random_shares(rng, count))
    assert_adds_up(dt.gradient_flow(problem, random_times(rng, count), members))


@pytest.mark.parametrize("activation", full_beyond(KINDS, NAMES))
def test_flow_errors_add_up(activation: str) -> None:
    for name in supported("gradient_flow"):
        rng = np.random.default_rng(7)
        assert_flow_adds_up(rng, random_problem(rng, activation, 150), name)


@pytest.mark.parametrize("seed", full_beyond({0}, range(5)))
def test_flow_errors_of_spectra_add_up(seed: int) -> None:
    for name in supported("gradient_flow"):
        rng = np.random.default_rng([8, seed])
        assert_flow_adds_up(rng, random_spectrum(rng), name)


def random_member(rng: Rng, activation: str, count: int) -> dt.Member:
    width = mixed(rng, random_sizes(rng, count), random_sizes(rng, count), np.full(count, math.inf))
    return dt.Member(
        features_per_dim=width,
        samples_per_dim=random_sizes(rng, count),
        ridge=random_ridges(rng, count),
        activation=activation,
    )


@pytest.mark.parametrize("first", full_beyond(KINDS, NAMES))
def test_errors_of_pairs_are_not_nan(first: str) -> None:
    rng, count = np.random.default_rng(9), 150
    following = NAMES[(NAMES.index(first) + 1) % len(NAMES)]
    for second in (first, following, "tanh"):
        a, b = random_member(rng, first, count), random_member(rng, second, count)
        share = mixed(rng, np.zeros(count), rng.uniform(0, 1, count), np.ones(count))
        with np.errstate(invalid="ignore"):
            common: Any = np.minimum(a.features_per_dim, b.features_per_dim)
            k = np.where(share == 0, 0.0, share * common)
        n = rng.uniform(0, 1, count) * np.minimum(a.samples_per_dim, b.samples_per_dim)
        result = dt.pair_error(a, b, shared_features=k, shared_samples=n)
        assert not np.isnan(result.total).any()
        assert np.all(np.asarray(result.bias) >= 0)
        if first == second:  # different tails may have a negative covariance
            assert_adds_up(result)
