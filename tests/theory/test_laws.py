"""Multiplicities, laws and compressed lists against explicit lists of modes."""

import copy
import itertools
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import zeta

import doubletrouble as dt
from doubletrouble import spectra
from doubletrouble.parameters import FloatArray
from doubletrouble.spectra import ExponentialLaw, PowerLaw, SpectralLaw, TwoPowerLaw

SCHEMES: tuple[Any, ...] = (
    1,
    7,
    math.inf,
    dt.Divide(4),
    dt.Subsample(4, fraction=0.5),
    dt.Bootstrap(5),
    dt.FeatureBank(3, n_bank=5e3),
    dt.Folds(5),
)
# P, N and δ: above and below P = N, at it, and without ridge
SIZES = (
    np.array([30.0, 1e3, 3e3, 500.0, 20.0]),
    np.array([100.0, 3e2, 3e3, 500.0, 5e3]),
    np.array([0.0, 1e-3, 1e-2, 1e-8, 1e2]),
)


def at_sizes(**spectrum: Any) -> dt.SpectralProblem:
    P, N, ridge = SIZES
    return dt.SpectralProblem(n_features=P, n_samples=N, gram_ridge=ridge, noise=0.1, **spectrum)


def listed(law: SpectralLaw) -> dt.SpectralProblem:
    """The explicit list of a law with finitely many modes."""
    ranks = np.arange(1.0, law.n_modes + 1)
    return at_sizes(eigenvalues=law.eigenvalue(ranks), target_powers=law.target_power(ranks))


def parts(problem: dt.SpectralProblem, scheme: Any) -> FloatArray:
    error = dt.exact_error(problem, scheme)
    return np.array([error.noise, error.initialization, error.sampling, error.bias])


def difference(one: Any, other: Any) -> float:
    """The largest difference, relative to the value, or to 1e-12 of the largest one."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    scale = np.maximum(np.abs(other), 1e-12 * np.max(np.abs(other)))
    return float(np.max(np.where(one == other, 0.0, np.abs(one - other) / scale)))


# --- multiplicities ------------------------------------------------------------------------------

COUNTS = np.array([1, 3, 20, 7, 200])
LEVELS: dict[str, Any] = {
    "eigenvalues": np.array([2.0, 0.5, 0.1, 0.03, 1e-3]),
    "target_powers": np.array([1.0, 0.0, 0.02, 0.1, 1e-3]),
}
POINT: dict[str, Any] = {"n_features": 60.0, "n_samples": 40.0, "gram_ridge": 1e-2, "noise": 0.2}
GROUPED = dt.SpectralProblem(**LEVELS, multiplicities=COUNTS, tail=0.05, **POINT)
REPEATED = dt.SpectralProblem(
    eigenvalues=np.repeat(LEVELS["eigenvalues"], COUNTS),
    target_powers=np.repeat(LEVELS["target_powers"], COUNTS),
    tail=0.05,
    **POINT,
)

Results = dict[str, Any]


def results(problem: dt.SpectralProblem) -> Results:
    """Values of every function that takes a spectral problem."""
    two = [problem, replace(problem, n_features=30.0, n_samples=20.0)]
    optimum, advice = dt.optimal_ridge(problem, 3), dt.advise(problem, 3)
    return {
        "parts": [parts(problem, scheme) for scheme in SCHEMES],
        "anova": [v for scheme in SCHEMES for v in dt.anova(problem, scheme).parts.values()],
        "training": [dt.training_error(problem, scheme) for scheme in SCHEMES],
        "optimum": [optimum.ridge, optimum.error.total],
        "flow": dt.gradient_flow(problem, [0.1, 10.0, 1e4], 3).total,
        "stopping": dt.best_stopping_time(problem).error.total,
        "advice": [option.total for option in advice.options],
        "committee": dt.committee(two, weights="optimal").pair_errors,
        "pair": dt.pair_error(two[0], two[1], shared_samples=10.0).total,
    }


def assert_same(one: Results, other: Results, tolerance: float) -> None:
    differences = {name: difference(value, other[name]) for name, value in one.items()}
    assert max(differences.values()) < tolerance, differences


def test_multiplicities_equal_repeated_modes() -> None:
    assert_same(results(GROUPED), results(REPEATED), 1e-10)
    control = replace(GROUPED, multiplicities=COUNTS + np.array([0, 0, 0, 0, 1]))
    assert difference(parts(control, 1), parts(REPEATED, 1)) > 1e-4


def test_saturated_levels_with_fractional_multiplicities() -> None:
    """Without ridge and tail, P and N at the number of modes are limits, as for a list."""
    shares = np.array([0.1, 0.2, 0.3, 0.4]) * 10.0
    spectrum: dict[str, Any] = {"target_powers": np.ones(4), "multiplicities": shares}
    problem = dt.SpectralProblem(
        eigenvalues=[1.0, 0.5, 0.2, 0.1], n_features=10.0, n_samples=[10.0, 12.0], **spectrum
    )
    noisy = replace(problem, noise=1.0)
    assert np.array_equal(dt.exact_error(problem).bias, [0.0, 0.0])
    np.testing.assert_allclose(dt.exact_error(noisy).noise, [np.inf, 10 / 2], rtol=1e-12)


def test_isotropic_problem_is_one_level() -> None:
    problem = dt.Problem(features_per_dim=[0.5, 1.0, 3.0], samples_per_dim=1.3, noise=0.5)
    flat = dt.SpectralProblem.from_problem(problem, dim=10**7)
    assert np.shape(flat.eigenvalues) == (1,)
    assert difference(dt.exact_error(flat, 3).total, dt.exact_error(problem, 3).total) < 1e-12


# --- laws ----------------------------------------------------------------------------------------


def laws(n_modes: float) -> list[SpectralLaw]:
    return [
        *(
            PowerLaw(capacity=capacity, source=source, n_modes=n_modes)
            for capacity in (0.5, 1.01, 1.5, 10.0)
            for source in (0.05, 0.8, 3.0)
        ),
        *(
            ExponentialLaw(scale=scale, source=source, n_modes=n_modes)
            for scale in (0.5, 30.0, 1000.0)
            for source in (0.05, 0.8)
        ),
        *(
            TwoPowerLaw(
                capacity=early, later_capacity=later, knee=knee, source=0.5, n_modes=n_modes
            )
            for early, later in ((1.0, 2.5), (2.0, 0.7))
            for knee in (1.0, 5.0, 300.5, 3000.0)
        ),
    ]


@pytest.mark.parametrize("law", laws(1e4), ids=str)
def test_law_of_finitely_many_modes_equals_its_list(law: SpectralLaw) -> None:
    short, long = at_sizes(eigenvalues=0.0, target_powers=0.0, law=law), listed(law)
    assert np.size(short.eigenvalues) < 2500
    for scheme in SCHEMES:
        assert difference(parts(short, scheme), parts(long, scheme)) < 3e-11, scheme


@pytest.mark.full
@pytest.mark.parametrize("law", laws(1e6)[::3], ids=str)
def test_law_equals_a_list_of_a_million_modes(law: SpectralLaw) -> None:
    short, long = at_sizes(eigenvalues=0.0, target_powers=0.0, law=law), listed(law)
    for scheme in SCHEMES:
        assert difference(parts(short, scheme), parts(long, scheme)) < 1e-10, scheme


def test_infinite_power_law_equals_a_list_with_a_zeta_tail() -> None:
    """Beyond 10⁵ modes L is linear up to 1e-10, and the sums are Hurwitz's zeta functions."""
    capacity, source, count = 2.0, 0.4, 100_000
    law = PowerLaw(capacity=capacity, source=source)
    ranks = np.arange(1.0, count + 1)
    small: dict[str, Any] = {"n_features": [3.0, 20.0, 9.0], "n_samples": 9.0, "noise": 0.1}
    long = dt.SpectralProblem(
        eigenvalues=np.append(law.eigenvalue(ranks), 0.0),
        target_powers=np.append(
            law.target_power(ranks), zeta(1 + 2 * capacity * source, count + 1)
        ),
        tail=zeta(capacity, count + 1),
        gram_ridge=1e-3,
        **small,
    )
    short = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=capacity, source=source), gram_ridge=1e-3, **small
    )
    assert difference(parts(short, 3), parts(long, 3)) < 1e-10
    wrong = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=capacity, source=source, n_modes=1e3), gram_ridge=1e-3, **small
    )
    assert difference(parts(wrong, 3), parts(long, 3)) > 1e-6


@pytest.mark.parametrize("capacity", [1.01, 1.5])
@pytest.mark.parametrize("knee", [3.0, 1e30])
def test_two_equal_capacities_are_one_power_law(capacity: float, knee: float) -> None:
    """The knee lies before or beyond the start of the tail."""
    at: dict[str, Any] = {"n_features": [30.0, 1e6], "n_samples": 1e6, "gram_ridge": 1.0}
    one = dt.SpectralProblem.from_law(dt.PowerLaw(capacity=capacity, source=0.3), **at)
    two = dt.SpectralProblem.from_law(
        dt.TwoPowerLaw(capacity=capacity, later_capacity=capacity, knee=knee, source=0.3), **at
    )
    assert two.tail == pytest.approx(one.tail, rel=1e-12)
    assert difference(parts(two, 3), parts(one, 3)) < 1e-11


@pytest.mark.parametrize("rank", [7.0, 1e3])
@pytest.mark.parametrize(
    "law",
    [
        PowerLaw(capacity=1.3, source=0.4),
        ExponentialLaw(scale=40.0, source=0.3),
        TwoPowerLaw(capacity=1.2, later_capacity=2.0, knee=50.0, source=0.3),
        TwoPowerLaw(capacity=1.0, later_capacity=1.4, knee=50.0, source=0.3),
    ],
    ids=str,
)
def test_weights_beyond_a_rank_are_integrals_of_the_law(law: SpectralLaw, rank: float) -> None:
    def integral(value: Callable[[float], float]) -> float:
        ends = [math.log(rank), *(math.log(knee) for knee in law._knees if knee > rank), 150.0]
        steps = [
            quad(lambda u: value(math.exp(u)) * math.exp(u), *end, epsabs=0, limit=500)[0]
            for end in itertools.pairwise(ends)
        ]
        return math.fsum(steps)

    expected = integral(law.eigenvalue), integral(law.target_power)
    np.testing.assert_allclose(law._beyond(rank), expected, rtol=1e-8)


def test_every_function_takes_a_law() -> None:
    law = PowerLaw(capacity=1.4, source=0.6, n_modes=600)
    ranks = np.arange(1.0, 601)
    short = dt.SpectralProblem.from_law(law, **POINT)
    long = dt.SpectralProblem(
        eigenvalues=law.eigenvalue(ranks), target_powers=law.target_power(ranks), **POINT
    )
    assert_same(results(short), results(long), 1e-9)


def test_levels_follow_the_sizes() -> None:
    small = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.5, source=0.8), n_features=10, n_samples=10
    )
    large = replace(small, n_features=1e12, n_samples=1e11)
    assert large == dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.5, source=0.8), n_features=1e12, n_samples=1e11
    )
    assert np.size(large.eigenvalues) > np.size(small.eigenvalues)
    members = [small, replace(large, gram_ridge=1.0)]
    products = dt.committee(members).pair_errors
    own = np.array([dt.exact_error(one).total for one in members])
    np.testing.assert_allclose(np.diag(products), own, rtol=1e-10)


EXTREMES = [
    PowerLaw(capacity=1.01, source=0.05),
    PowerLaw(capacity=10.0, source=3.0),
    PowerLaw(capacity=0.1, source=0.5, n_modes=1e40),
    PowerLaw(capacity=1.5, source=0.5, n_modes=300),
    ExponentialLaw(scale=0.05, source=1.0),
    ExponentialLaw(scale=1e6, source=0.05),
    TwoPowerLaw(capacity=3.0, later_capacity=1.2, knee=1e30, source=0.05),
]


@pytest.mark.parametrize("law", EXTREMES, ids=str)
def test_laws_at_extreme_sizes(law: SpectralLaw) -> None:
    """No NaN, no overflow; and levels for the largest size hold at a small one."""
    P = np.array([1e-50, 0.3, 30.0, 1e9, 1e50, np.inf])[:, None, None]
    N = np.array([1e-50, 1.0, 1e4, 1e9, 1e50])[:, None]
    ridge = np.array([0.0, 1e-300, 1e-10, 1.0, np.inf])
    if law.last_mode < 1e50:  # small ridges are refused beyond it
        ridge = np.array([1e-150, 1e-100, 1e-10, 1.0, np.inf])
    problem = dt.SpectralProblem.from_law(
        law, n_features=P, n_samples=N, gram_ridge=ridge, noise=0.1
    )
    for scheme in (1, 1e9, dt.Divide(1e9), dt.Bootstrap(10)):
        total = dt.exact_error(problem, scheme).total
        assert np.all(np.asarray(total) >= 0), scheme
    alone = dt.SpectralProblem.from_law(
        law, n_features=30.0, n_samples=1e4, gram_ridge=1e-10, noise=0.1
    )
    assert difference(parts(problem, 3)[:, 2, 2, 2], parts(alone, 3)) < 1e-10


def test_modes_too_small_for_floats_are_refused_without_ridge() -> None:
    """The noise of the minimum norm is τ² (N/s - 1) as far as the modes reach."""
    sizes: dict[str, Any] = {"n_features": math.inf, "noise": 1.0}
    law = dt.ExponentialLaw(scale=10.0, source=0.5)
    few = dt.SpectralProblem.from_law(law, n_samples=5000.0, **sizes)
    assert dt.exact_error(few).noise == pytest.approx(499, rel=1e-9)
    with pytest.raises(ValueError, match="where P and N exceed 5757"):
        dt.SpectralProblem.from_law(law, n_samples=[10.0, 7000.0], **sizes)
    dt.SpectralProblem.from_law(law, n_samples=7000.0, gram_ridge=1e-100, **sizes)


def test_error_falls_as_the_power_of_the_law() -> None:
    """Without noise and P → ∞ the error is ~ N^(-2α min(r, 1))."""
    capacity, source = 1.5, 0.4
    problem = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=capacity, source=source), n_features=math.inf, n_samples=[1e10, 1e12]
    )
    first, last = np.log(dt.exact_error(problem).total)
    assert (last - first) / math.log(100) == pytest.approx(-2 * capacity * source, abs=1e-3)


# --- bounds --------------------------------------------------------------------------------------


def sum_error(
    levels: spectra.Levels, values: FloatArray, powers: FloatArray, largest: float = 1e6
) -> float:
    """The largest relative error of sums over modes, against a list in extended precision."""
    y: Any = np.geomspace(1e-2, largest, 12).astype(np.longdouble)
    exact = spectra.Levels(
        eigenvalues=values.astype(np.longdouble),
        target_powers=powers.astype(np.longdouble),
        multiplicities=np.ones(values.size, dtype=np.longdouble),
        tail=0.0,
        level_error=0.0,
    )
    sums = spectra._sums(exact, y)
    return float(np.max(np.abs(spectra._sums(levels, y.astype(np.float64)) / sums - 1)))


@pytest.mark.parametrize("law", laws(1e4)[::4], ids=str)
def test_level_error_of_a_law_is_not_below_the_error(law: SpectralLaw) -> None:
    ranks = np.arange(1.0, law.n_modes + 1)
    exact = law.eigenvalue(ranks), law.target_power(ranks)
    levels = spectra.levels_of(law, 1e4)
    assert sum_error(levels, *exact) <= levels.level_error + 1e-14
    assert levels.level_error < 1e-10


def test_level_error_states_too_few_nodes() -> None:
    """Control: with few nodes the error is large, and the estimate is not below it."""
    law = PowerLaw(capacity=1.5, source=0.4, n_modes=1e4)
    ranks = np.arange(1.0, law.n_modes + 1)
    coarse = spectra._Rule(explicit=30, nodes=2, panel=3.0)
    levels = spectra._resolved(law, 1e4, coarse)
    error = sum_error(levels, law.eigenvalue(ranks), law.target_power(ranks))
    finer = spectra._resolved(law, 1e4, coarse.finer())
    assert 1e-6 < error <= spectra._difference(levels, finer, law, 1e4)


def test_level_error_states_an_early_cut() -> None:
    """Control: with a tail that begins too early, the estimate is not below the error."""
    law = PowerLaw(capacity=1.5, source=0.4, n_modes=1e4)
    ranks, size = np.arange(1.0, law.n_modes + 1), 100.0
    early = spectra._Rule(linear=math.log(1e-2))
    levels = spectra._resolved(law, size, early)
    values = law.eigenvalue(ranks), law.target_power(ranks)
    error = sum_error(levels, *values, largest=1 / law.eigenvalue(2 * size))
    finer = spectra._resolved(law, size, early.finer())
    assert 1e-5 < error <= spectra._difference(levels, finer, law, size)


@pytest.mark.parametrize(
    "law",
    [
        PowerLaw(capacity=1.01, source=0.05),
        PowerLaw(capacity=0.3, source=0.5, n_modes=1e30),
        ExponentialLaw(scale=0.5, source=0.05),
    ],
    ids=str,
)
def test_modes_of_the_tail_are_linear(law: SpectralLaw) -> None:
    """A later start of the tail does not change sums, at the largest y that sizes allow."""
    size, rule = 10.0, spectra._Rule()
    y = np.array([1 / law.eigenvalue(2 * size)])
    later = spectra._resolved(law, size, replace(rule, linear=math.log(1e-40)))
    sums = spectra._sums(spectra._resolved(law, size, rule), y)
    np.testing.assert_allclose(sums, spectra._sums(later, y), rtol=1e-13)


def test_estimate_is_twice_the_difference() -> None:
    law = PowerLaw(capacity=1.5, source=0.4)
    levels = spectra.levels_of(law, 100.0)
    more = replace(levels, multiplicities=1.001 * levels.multiplicities, tail=1.001 * levels.tail)
    assert spectra._difference(levels, more, law, 100.0) == pytest.approx(2e-3 / 1.001, rel=1e-9)


def test_coarse_rules_are_refined() -> None:
    law = PowerLaw(capacity=1.5, source=0.4, n_modes=1e4)
    ranks = np.arange(1.0, law.n_modes + 1)
    levels = spectra._refined(law, 1e4, spectra._Rule(explicit=100, nodes=6, panel=2.0))
    error = sum_error(levels, law.eigenvalue(ranks), law.target_power(ranks))
    assert error <= levels.level_error < 1e-11


def lists() -> list[tuple[FloatArray, FloatArray]]:
    """A power law; random eigenvalues and powers; and zeros, with power on few modes."""
    rng = np.random.default_rng(0)
    ranks = np.arange(1.0, 20_001)
    noisy: FloatArray = ranks**-1.1 * rng.exponential(size=ranks.size)
    return [
        (ranks**-1.5, ranks**-2.2),
        (np.exp(3 * rng.normal(size=ranks.size)), rng.exponential(size=ranks.size)),
        (
            np.where(rng.random(ranks.size) < 0.2, 0.0, noisy),
            np.where(rng.random(ranks.size) < 1e-3, 1.0, 0.0),
        ),
    ]


@pytest.mark.parametrize("index", range(3))
def test_level_error_of_a_binned_list_bounds_the_error(index: int) -> None:
    values, powers = lists()[index]
    bounds = []
    for most in (60, 120, 250, 500):
        levels = spectra.binned_levels(values, powers, most)
        assert levels.eigenvalues.size <= most
        assert sum_error(levels, values, powers) <= levels.level_error
        bounds.append(levels.level_error)
    assert 1e-8 < bounds[0] < 1
    assert bounds[-1] < 1e-11
    assert levels.multiplicities.sum() == pytest.approx(values.size, rel=1e-13)


@pytest.mark.parametrize(
    ("nodes", "half"), [(3, 0.1), (4, 0.1), (3, 0.6), (4, 0.6), (6, 0.6), (6, 1.0), (8, 1.0)]
)
def test_bound_of_a_bin_is_close_to_the_worst_error(nodes: int, half: float) -> None:
    """For every term of the sums, wherever the bin lies, and the measure of Chebyshev points."""
    x = np.cos(np.linspace(0.0, math.pi, nodes + 1))
    at, weights = spectra._gauss(x, np.ones_like(x), nodes)
    y = np.exp(np.linspace(-9.0, 9.0, 200))

    def terms(points: FloatArray) -> FloatArray:
        ly = np.exp(half * points)[:, None] * y
        L, M = ly / (1 + ly), 1 / (1 + ly)
        return np.array([L, L * M, L * L, L * L * M, M * M, L * M * M])

    rule = np.einsum("i,kij->kj", weights, terms(at))
    error = np.max(np.abs(rule / terms(x).sum(axis=1) - 1))
    assert error <= spectra._gauss_error(half, nodes) < 20 * error


def test_too_few_levels_for_a_bound_are_refused() -> None:
    values = np.exp(-np.linspace(0.0, 600.0, 3000))
    with pytest.raises(ValueError, match=r"^levels must be at least \d+ for .* got 200$") as error:
        dt.SpectralProblem.binned(values, values, levels=200)
    fewest = int(str(error.value).split()[5])
    assert dt.SpectralProblem.binned(values, values, levels=fewest).level_error < 1


@pytest.mark.parametrize("index", range(3))
def test_binned_list_has_the_errors_of_the_list(index: int) -> None:
    values, powers = lists()[index]
    P, N, ridge = SIZES
    short = dt.SpectralProblem.binned(
        values, powers, n_features=P, n_samples=N, gram_ridge=ridge, noise=0.1
    )
    long = at_sizes(eigenvalues=values, target_powers=powers)
    for scheme in SCHEMES:
        assert difference(parts(short, scheme), parts(long, scheme)) < 1e-10, scheme
    assert replace(short, noise=0.5).level_error == short.level_error


def test_short_lists_are_kept() -> None:
    values = np.array([0.1, 0.0, 1.0])
    short = dt.SpectralProblem.binned(values, values**2)
    assert np.array_equal(short.eigenvalues, [1.0, 0.1, 0.0])
    assert short.level_error == 0.0
    assert short.n_samples == 3


def test_long_list_is_summed_in_chunks() -> None:
    """The start from fewer levels and the chunks do not change the result."""
    values = np.repeat(np.geomspace(1.0, 1e-6, 100), 300)
    problem = at_sizes(eigenvalues=values, target_powers=values)
    grouped = at_sizes(
        eigenvalues=values[::300], target_powers=values[::300], multiplicities=np.full(100, 300.0)
    )
    for scheme in SCHEMES:
        assert difference(parts(problem, scheme), parts(grouped, scheme)) < 1e-11


# --- the levels of a law as fields ---------------------------------------------------------------


@pytest.mark.parametrize("law", EXTREMES, ids=str)
@pytest.mark.parametrize("size", [3.0, 1e7, 1e50])
def test_sizes_of_a_law_can_be_replaced(law: SpectralLaw, size: float) -> None:
    """Of a problem, of a copy and of a stored one; the levels follow."""
    problem = dt.SpectralProblem.from_law(law, n_features=1e3, n_samples=1e4, gram_ridge=1.0)
    expected = dt.SpectralProblem.from_law(law, n_features=math.inf, n_samples=size, gram_ridge=1.0)
    copies = [problem, copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))]
    changes: dict[str, Any] = {"n_features": math.inf, "n_samples": size}
    assert [replace(one, **changes) for one in copies] == [expected] * 3
    assert replace(expected, n_features=1e3, n_samples=1e4) == problem


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tail", {"tail": 0.3}),
        ("tail", {"tail": 0.0}),
        ("eigenvalues", {"eigenvalues": [1.0], "target_powers": [1.0]}),
        ("eigenvalues", {"law": PowerLaw(capacity=2.0, source=1.0)}),
        ("target_powers", {"target_powers": 1.0}),
        ("multiplicities", {"multiplicities": None}),
        ("level_error", {"level_error": 0.5}),
        ("tail", {"eigenvalues": 0.0, "target_powers": 0.0, "multiplicities": None}),
    ],
)
def test_levels_beside_a_law_are_refused(name: str, changes: dict[str, Any]) -> None:
    problem = dt.SpectralProblem.from_law(dt.PowerLaw(capacity=1.5, source=0.8), **POINT)
    with pytest.raises(ValueError, match=f"^{name} must be left out where law is given"):
        replace(problem, **changes)


def test_repr_of_a_law_rebuilds_the_problem() -> None:
    problem = dt.SpectralProblem.from_law(dt.PowerLaw(capacity=1.5, source=0.8), **POINT)
    names = {"SpectralProblem": dt.SpectralProblem, "PowerLaw": PowerLaw, "inf": math.inf}
    assert eval(repr(problem), names) == problem
    assert len(repr(problem)) < 250
    assert repr(GROUPED).startswith("SpectralProblem(eigenvalues=array(")


def test_base_of_laws_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        SpectralLaw(source=1.0)  # type: ignore[abstract]


# --- invalid arguments ---------------------------------------------------------------------------

SQUARE = PowerLaw(capacity=2, source=1)
LEFT_OUT: dict[str, Any] = {"eigenvalues": 0.0, "target_powers": 0.0}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("capacity", lambda: PowerLaw(capacity=1.0, source=0.5)),
        ("capacity", lambda: PowerLaw(capacity=-1.0, source=0.5, n_modes=10)),
        ("later_capacity", lambda: TwoPowerLaw(capacity=2, later_capacity=1, knee=5, source=1)),
        ("source", lambda: ExponentialLaw(scale=1.0, source=0.0)),
        ("scale", lambda: ExponentialLaw(scale=0.0, source=1.0)),
        ("n_modes", lambda: PowerLaw(capacity=2.0, source=0.5, n_modes=2.5)),
        ("tail", lambda: dt.SpectralProblem(**LEFT_OUT, law=SQUARE, tail=1.0, **POINT)),
        (
            "n_samples",
            lambda: dt.SpectralProblem.from_law(SQUARE, n_features=1, n_samples=-1),
        ),
        ("multiplicities", lambda: dt.SpectralProblem(**LEVELS, multiplicities=[1, 2], **POINT)),
        ("multiplicities", lambda: dt.SpectralProblem(**LEVELS, multiplicities=0.0, **POINT)),
        ("levels", lambda: dt.SpectralProblem.binned([1.0], [1.0], levels=3)),
        ("target_powers", lambda: dt.SpectralProblem.binned([1.0, 2.0], [1.0])),
        ("eigenvalues", lambda: dt.SpectralProblem.binned([[1.0]], [[1.0]])),
    ],
)
def test_invalid_arguments_are_named(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        call()


def test_parameters_of_laws_are_numbers() -> None:
    with pytest.raises(TypeError, match="capacity must be one number"):
        PowerLaw(capacity=[1.5, 2.0], source=0.5)  # type: ignore[arg-type]


def test_law_must_be_a_law() -> None:
    with pytest.raises(TypeError, match="law must be a SpectralLaw, got str"):
        dt.SpectralProblem(**LEVELS, law="power", **POINT)  # type: ignore[arg-type]
