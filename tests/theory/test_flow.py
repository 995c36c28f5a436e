"""Gradient flow: limits, convergence in the poles, an independent method, filters, stopping."""

import math
import tracemalloc
from typing import Any

import mpmath
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import named_ensemble
from doubletrouble.theory import psi_terms
from doubletrouble.theory._flow import talbot_poles
from tests import pair_oracle
from tests.messages import message_of
from tests.schemes import ensemble, supported
from tests.selection import full_beyond

PARTS = ("noise", "initialization", "sampling", "bias", "bayes", "total")
POWERS: dict[str, Any] = {"signal": 1.2, "noise": 0.5, "nonlinear_signal": 0.3, "test_noise": 0.2}
TIMES = np.geomspace(1e-3, 1e8, 23)


def problem(width: Any = 2.0, samples: Any = 1.0, ridge: Any = 0.0, **others: Any) -> dt.Problem:
    return dt.Problem(
        features_per_dim=width, samples_per_dim=samples, ridge=ridge, **{**POWERS, **others}
    )


def test_talbot_poles_approximate_the_exponential() -> None:
    x = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 1000)])
    for count, bound in ((20, 1e-11), (40, 1e-12)):
        poles = talbot_poles(count)
        shares = poles.weights * (x[:, None] / (x[:, None] + poles.ridges))
        learned = 2 * np.sum(shares, axis=1).real
        assert np.max(np.abs(learned - (1 - np.exp(-x)))) < bound
    assert np.max(np.abs(np.angle(talbot_poles(20).ridges))) < np.pi


@pytest.mark.parametrize(
    ("width", "samples", "ridge", "time"),
    [(2.0, 1.0, 0.0, 30.0), (1.0, 1.0, 0.0, 1e3), (0.5, 1.5, 0.05, 4.0)],
)
@pytest.mark.parametrize("members", [1, math.inf])
def test_flow_equals_another_contour_with_another_solver(
    width: float, samples: float, ridge: float, time: float, members: float
) -> None:
    other = pair_oracle.Point(
        psi1=width, psi2=samples, ridge=ridge, name="relu", signal=1.2, noise=0.5
    )
    at = problem(width, samples, ridge, nonlinear_signal=0.0, test_noise=0.0)
    result, known = dt.gradient_flow(at, time, members), other.flow(time, members)
    for name in ("noise", "initialization", "sampling", "bias", "total"):
        assert getattr(result, name) == pytest.approx(known[name], rel=1e-9, abs=1e-10), name


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_flow_ends_are_zero_predictor_and_ridge_fit(members: float) -> None:
    at = problem(np.array([0.5, 0.9, 2.0, 10.0]), ridge=np.array([0.0, 1e-3, 1.0])[:, None])
    fitted = dt.exact_error(at, members)
    for time in (1e7, 1e12, math.inf):
        result = dt.gradient_flow(at, time, members)
        for name in PARTS:
            assert getattr(result, name) == pytest.approx(getattr(fitted, name), abs=1e-8)
    for time in (0.0, 1e-12, 1e-300):
        result = dt.gradient_flow(at, time, members)
        np.testing.assert_allclose(result.bias, 1.44 + 0.09, rtol=1e-11)
        np.testing.assert_allclose(result.total, 1.44 + 0.09 + 0.04, rtol=1e-11)


@pytest.mark.parametrize("activation", full_beyond({"relu", "linear"}, ["relu", "tanh", "linear"]))
@pytest.mark.parametrize("samples", full_beyond({1 + 1e-9, 4.0}, [0.3, 1.0, 1 + 1e-9, 4.0]))
def test_flow_is_converged_in_the_number_of_poles(activation: str, samples: float) -> None:
    widths = np.array([0.1, 0.5, 0.99, 1.0, 1.01, 3.0])[:, None]
    at = problem(
        widths * samples, samples, np.array([0.0, 1e-6, 0.1])[:, None, None], activation=activation
    )
    few, many = (dt.gradient_flow(at, TIMES, n_poles=n) for n in (20, 40))
    for name in PARTS:
        a, b = np.asarray(getattr(few, name)), np.asarray(getattr(many, name))
        assert np.all(np.abs(a - b) <= 1e-8 * np.maximum(np.abs(np.asarray(many.total)), 1.0))
        assert np.all(a >= -1e-11 * np.asarray(many.total))


def test_too_few_poles_are_detectable() -> None:
    """Negative control: too few poles change the error."""
    few, many = (dt.gradient_flow(problem(1.0), TIMES, n_poles=n).total for n in (8, 20))
    assert np.max(np.abs(np.asarray(few) / np.asarray(many) - 1)) > 1e-6


def test_linear_network_equals_marchenko_pastur_integral() -> None:
    """Infinitely many models, one data set: shrinkage by 1 - e⁻ᵗˣ under Marchenko-Pastur's law.

    With P → ∞ and a time t/P the features are exact; E over x of e⁻²ᵗˣ + τ²(1 - e⁻ᵗˣ)²/x.
    """
    samples, width, noise = 2.0, 1e9, 0.5
    at = dt.Problem(
        features_per_dim=width, samples_per_dim=samples, ridge=0.0, noise=noise, activation="linear"
    )
    low, high = (1 - math.sqrt(samples)) ** 2, (1 + math.sqrt(samples)) ** 2
    for time in (0.1, 1.0, 5.0):

        def density(x: Any) -> Any:
            return mpmath.sqrt((high - x) * (x - low)) / (2 * mpmath.pi * x)

        def risk(x: Any, t: float = time) -> Any:
            decay = mpmath.exp(-t * x)
            return (decay**2 + noise**2 * (1 - decay) ** 2 / x) * density(x)

        known = mpmath.quad(risk, [low, (low + high) / 2, high])
        result = dt.gradient_flow(at, time / width)
        assert result.total == pytest.approx(float(known), rel=1e-7)


def test_flow_of_a_flat_spectrum_equals_the_isotropic_one() -> None:
    at = problem(2.0, 1.0, 1e-3)
    spectrum = dt.SpectralProblem.from_problem(at, dim=6)
    for time in (0.3, 10.0, 1e4):
        counted = dt.convert_time(time, "flow", "gram", n_features=12, n_samples=6, dim=6)
        flat, result = dt.gradient_flow(at, time, 2), dt.gradient_flow(spectrum, counted, 2)
        for name in PARTS:
            assert getattr(result, name) == pytest.approx(getattr(flat, name), rel=1e-9)


def test_flow_of_a_spectrum_converges_to_the_fit() -> None:
    spectrum = dt.SpectralProblem(
        eigenvalues=np.arange(1, 40.0) ** -2,
        target_powers=np.arange(1, 40.0) ** -1.5,
        tail=0.01,
        n_features=20,
        n_samples=np.array([[10.0], [20.0], [300.0]]),
        noise=0.3,
    )
    few, many = (dt.gradient_flow(spectrum, TIMES, n_poles=n).total for n in (20, 40))
    assert np.max(np.abs(np.asarray(few) / np.asarray(many) - 1)) < 1e-8
    late = np.asarray(dt.gradient_flow(spectrum, 1e14).total)
    fitted = np.asarray(dt.exact_error(spectrum).total)
    assert late[[0, 2]] == pytest.approx(fitted[[0, 2]], rel=1e-8)


@pytest.mark.parametrize("activation", ["relu", "tanh", "linear", "abs"])
def test_flow_is_finite_at_every_time(activation: str) -> None:
    rng, count = np.random.default_rng(8), 150
    N, times = 10 ** rng.uniform(-3, 3, count), 10 ** rng.uniform(-8, 14, count)
    P = N * (1 + rng.choice([0.0, 1e-12, -1e-9, 1e-3], count))
    P[::3] = 10 ** rng.uniform(-3, 3, count)[::3]
    ridge = rng.choice([0.0, 1.0], count) * 10 ** rng.uniform(-12, 3, count)
    at = problem(P, N, ridge, activation=activation)
    result, more = dt.gradient_flow(at, times), dt.gradient_flow(at, times, n_poles=28)
    np.testing.assert_allclose(result.total, more.total, rtol=1e-8)
    ensemble = dt.gradient_flow(at, times, math.inf)
    assert np.all(np.asarray(ensemble.initialization) == 0)
    assert np.all(np.asarray(ensemble.total) <= np.asarray(result.total) * (1 + 1e-9))


def test_infinitely_many_features_converge_at_once() -> None:
    at = problem(math.inf, ridge=1e-3)
    assert dt.gradient_flow(at, 1e-3).total == dt.exact_error(at).total
    assert dt.gradient_flow(at, 0.0).total == pytest.approx(1.57)
    rich = dt.Problem(features_per_dim=math.inf, samples_per_dim=1e40, ridge=0.0)
    assert dt.gradient_flow(rich, 1.0) == dt.exact_error(rich)  # a bias of 1e-80


def test_epoch_wise_peak_vanishes_for_infinitely_many_models() -> None:
    at = problem(1.0)
    late = np.array([1e2, 1e4, 1e6])
    single, many = dt.gradient_flow(at, late), dt.gradient_flow(at, late, math.inf)
    assert np.all(np.diff(single.total) > 1)
    assert np.ptp(np.asarray(many.total)) < 0.1
    assert dt.gradient_flow(at, math.inf).total == math.inf


def test_arrays_broadcast() -> None:
    widths = np.array([0.5, 1.0, 2.0])[:, None]
    result = dt.gradient_flow(problem(widths), TIMES)
    assert np.shape(result.total) == (3, TIMES.size)
    one = dt.gradient_flow(problem(2.0), float(TIMES[3]))
    assert isinstance(one.total, float)
    assert np.asarray(result.total)[2, 3] == pytest.approx(one.total, rel=1e-12)


def test_arguments_of_the_flow_are_validated() -> None:
    for name, value in (
        ("times", -1.0),
        ("times", [1.0, math.nan]),
        ("times", []),
        ("n_poles", 7),  # odd
        ("n_poles", 2),
        ("ensemble", 0),
    ):
        arguments: dict[str, Any] = {"times": 1.0, name: value}
        with pytest.raises(ValueError, match=f"^{name} must"):
            dt.gradient_flow(problem(), **arguments)


# --- filters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_one_pole_adds_to_the_ridge(members: float) -> None:
    """The filter of one pole is a fit with 1/t added to the ridge, at every time."""
    time = np.array([0.1, 50.0, 400.0, 510.0, 600.0, 1e5, 1e12, math.inf])
    ridge = np.array([0.0, 1e-6, 0.1])[:, None]
    one = dt.Filter(ridges=[1.0], weights=[1.0])
    result = dt.gradient_flow(problem(2.0, 0.8, ridge), time, members, filter=one)
    known = dt.exact_error(problem(2.0, 0.8, ridge + 1 / (time * 2.0 * 0.8)), members)
    for name in PARTS:
        assert getattr(result, name) == pytest.approx(getattr(known, name), rel=1e-11)


def test_real_poles_equal_a_committee() -> None:
    """The members share features and data, and each has its own ridge."""
    weights, poles = [1.7, -0.4, -0.3], [1.0, 5.0, 0.1]
    at = problem(1.5, 0.8, nonlinear_signal=0.0, test_noise=0.0)
    result = dt.gradient_flow(at, 2.0, filter=dt.Filter(ridges=poles, weights=weights))
    members = [
        dt.Member(features_per_dim=1.5, samples_per_dim=0.8, ridge=z / (2.0 * 1.5 * 0.8))
        for z in poles
    ]
    known = dt.committee(members, sharing="both", weights=weights, signal=1.2, noise=0.5)
    assert result.total == pytest.approx(known.error.total, rel=1e-11)


def test_filter_of_half_weight_ends_at_half_of_the_fit() -> None:
    at = problem(math.inf, 1.0, nonlinear_signal=0.0, test_noise=0.0, activation="linear")
    half = dt.Filter(ridges=[1.0], weights=[0.5])
    spectrum = dt.SpectralProblem(
        eigenvalues=[1.0], target_powers=[1.0], n_features=1e9, n_samples=1e9
    )
    assert dt.gradient_flow(spectrum, 1e9, filter=half).total == pytest.approx(0.25, rel=1e-6)
    assert dt.gradient_flow(at, 0.0, filter=half).total == pytest.approx(1.44)


def test_talbot_poles_as_a_filter_equal_gradient_flow() -> None:
    poles = talbot_poles(20)
    ridges, weights = poles.ridges, poles.weights
    given = dt.Filter(
        ridges=np.concatenate([ridges, ridges.conj()]),
        weights=np.concatenate([weights, weights.conj()]),
    )
    at = problem(np.array([0.5, 1.0, 2.0])[:, None], ridge=1e-3)
    result, known = dt.gradient_flow(at, TIMES, filter=given), dt.gradient_flow(at, TIMES)
    assert result.total == pytest.approx(known.total, rel=1e-10)
    assert given.learned(2.0) == pytest.approx(1 - math.exp(-2))


def test_poles_of_a_filter_are_validated() -> None:
    invalid: list[tuple[Any, Any, str]] = [
        ([1.0], [1.0, 2.0], "weights"),
        ([-1.0], [1.0], "ridges"),
        ([0.0], [1.0], "ridges"),
        ([1 + 1j], [1.0], "ridges"),
        ([1.0], [1j], "weights"),
        ([math.nan], [1.0], "ridges"),
        ("abc", [1.0], "ridges"),
    ]
    for ridges, weights, name in invalid:
        assert message_of(dt.Filter, ridges=ridges, weights=weights).startswith(f"{name} must")
    assert message_of(dt.gradient_flow, problem(), 1.0, filter="momentum").startswith("filter must")


@pytest.mark.parametrize("width", [2.0, math.inf])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_incomplete_filter_is_continuous_at_infinite_time(ridge: float, width: float) -> None:
    """The weights sum to 1/2: the limit is half of the predictor."""
    half, at = dt.Filter(ridges=[1.0], weights=[0.5]), problem(width, 0.8, ridge)
    whole, psi = dt.exact_error(at), psi_terms(at)
    end = dt.gradient_flow(at, math.inf, filter=half)
    late = dt.gradient_flow(at, 1e13, filter=half)
    assert end.bias == pytest.approx(1.44 * (1 - psi.psi1 + psi.psi2_divide / 4) + 0.09, rel=1e-12)
    assert end.noise == pytest.approx(whole.noise / 4, rel=1e-12)
    assert end.sampling == pytest.approx(whole.sampling / 4, rel=1e-12)
    for name in PARTS:
        assert getattr(late, name) == pytest.approx(getattr(end, name), rel=1e-9)


def test_flow_is_continuous_where_it_is_replaced_by_the_fit() -> None:
    """At a ridge, the distance to the fit falls as e⁻ᵗ."""
    at = problem(2.0, 0.8, 0.1)
    times = 100 / (0.1 * 2.0 * 0.8) * np.array([0.99, 1.01])
    before, after = np.asarray(dt.gradient_flow(at, times).total)
    assert before == pytest.approx(after, rel=1e-13)


# --- schemes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("members", [1, 4])
@pytest.mark.parametrize(
    ("scheme", "options"),
    [("divide", {}), ("subsample", {"fraction": 0.6}), ("feature_bank", {"bank_per_dim": 5.0})],
)
def test_flow_of_schemes_equals_another_contour(
    scheme: str, options: dict[str, float], members: float
) -> None:
    for width, samples, ridge, time in ((2.0, 1.0, 0.0, 30.0), (0.7, 1.5, 0.05, 4.0)):
        other = pair_oracle.Point(
            psi1=width, psi2=samples, ridge=ridge, name="relu", signal=1.2, noise=0.5
        )
        at = problem(width, samples, ridge, nonlinear_signal=0.0, test_noise=0.0)
        result = dt.gradient_flow(at, time, named_ensemble(scheme, members, **options))
        known = other.flow(time, members, scheme, **options)
        for name in (*PARTS[:4], "resampling", "total"):
            value = getattr(result, name) or 0.0  # divided data do not resample: None
            assert value == pytest.approx(known[name], rel=1e-8, abs=1e-10), name


@pytest.mark.parametrize("name", supported("gradient_flow"))
@pytest.mark.parametrize("measured", [False, True])
def test_flow_of_schemes_ends_at_zero_predictor_and_fit(name: str, *, measured: bool) -> None:
    at: Any = problem(np.array([0.5, 0.9, 2.0, 10.0]), 1.0, np.array([0.0, 1e-3, 1.0])[:, None])
    if measured:
        at = dt.SpectralProblem.from_problem(at, dim=4)
    members = ensemble(name, at, np.array([1, 3, math.inf])[:, None, None])
    start, end = dt.gradient_flow(at, 0.0, members), dt.gradient_flow(at, math.inf, members)
    fitted = dt.exact_error(at, members)
    for part, value in fitted.parts.items():
        np.testing.assert_allclose(getattr(end, part), value, rtol=1e-11, atol=1e-14, err_msg=part)
        expected = {"bias": 1.44 + 0.09, "bayes": 0.04}.get(part, 0.0)
        np.testing.assert_allclose(getattr(start, part), expected, rtol=1e-12, err_msg=part)
    late = dt.gradient_flow(at, 1e9, members)  # no jump at the end, but at the peak
    at_end, before = np.asarray(end.total), np.asarray(late.total)
    finite = np.isfinite(at_end)
    assert finite.sum() >= 0.8 * finite.size
    np.testing.assert_allclose(before[finite], at_end[finite], rtol=1e-6)


def test_divided_members_are_independent() -> None:
    """Variances are those of one member with N/K samples, over K; the bias is that of one."""
    times, K = np.geomspace(0.1, 1e5, 9), 4
    at = problem(np.array([0.5, 1.0, 3.0])[:, None], 2.0, 1e-3)
    one = dt.gradient_flow(problem(np.array([0.5, 1.0, 3.0])[:, None], 2.0 / K, 1e-3), times)
    result = dt.gradient_flow(at, times, dt.Divide(K))
    for name in ("noise", "initialization", "sampling"):
        np.testing.assert_allclose(getattr(result, name), getattr(one, name) / K, rtol=1e-11)
    np.testing.assert_allclose(result.bias, one.bias, rtol=1e-12)
    shared = np.asarray(dt.gradient_flow(at, times, K).total)  # the control
    assert np.max(np.abs(shared / np.asarray(result.total) - 1)) > 0.1


@pytest.mark.parametrize("members", [1, 3, math.inf])
def test_schemes_reduce_to_ensembles_along_the_flow(members: float) -> None:
    at = problem(np.array([0.5, 1.0, 3.0])[:, None], 1.0, 1e-3)
    known, one = dt.gradient_flow(at, TIMES, members), dt.gradient_flow(at, TIMES)
    whole = dt.gradient_flow(at, TIMES, dt.Subsample(members, fraction=1.0))
    infinite = dt.gradient_flow(at, TIMES, dt.FeatureBank(members, bank_per_dim=math.inf))
    for result in (whole, infinite):
        np.testing.assert_allclose(result.total, known.total, rtol=1e-11)
        np.testing.assert_allclose(result.noise, known.noise, rtol=1e-9, atol=1e-13)
    assert np.all(np.abs(whole.resampling) < 1e-12)
    np.testing.assert_allclose(infinite.resampling, known.initialization, rtol=1e-7, atol=1e-13)
    bank = np.asarray(at.features_per_dim)
    same = dt.gradient_flow(at, TIMES, dt.FeatureBank(members, bank_per_dim=bank))
    for name in PARTS:
        np.testing.assert_allclose(getattr(same, name), getattr(one, name), rtol=1e-9, atol=1e-13)


# --- when to stop --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "ridge", "members"), [(1.0, 0.0, 1), (3.0, 0.0, math.inf), (0.6, 1e-2, 1)]
)
def test_stopping_time_has_the_least_error(width: float, ridge: float, members: float) -> None:
    at = problem(width, ridge=ridge)
    result: Any = dt.best_stopping_time(at, members)
    fine = np.asarray(dt.gradient_flow(at, np.geomspace(1e-4, 1e10, 1000), members).total)
    assert result.error.total <= fine.min() + 1e-12
    assert result.error == dt.gradient_flow(at, result.time, members)
    assert result.optimal_ridge == dt.optimal_ridge(at, members)
    beside = dt.gradient_flow(at, [result.time / 1.5, result.time * 1.5], members).total
    assert np.all(np.asarray(beside) >= result.error.total)


@pytest.mark.parametrize("name", supported("best_stopping_time"))
def test_stopping_time_has_the_least_error_for_every_scheme(name: str) -> None:
    at = problem(np.array([0.6, 2.0]), 1.0, np.array([0.0, 1e-2]))
    members = ensemble(name, at, 3)
    result = dt.best_stopping_time(at, members)
    fine = dt.gradient_flow(at, np.geomspace(1e-4, 1e10, 400)[:, None], members)
    assert np.all(result.error.total <= np.asarray(fine.total).min(axis=0) * (1 + 1e-11))
    assert result.error == dt.gradient_flow(at, result.time, members)
    np.testing.assert_array_equal(
        result.optimal_ridge.error.total, dt.optimal_ridge(at, members).error.total
    )


def test_stopping_time_may_be_zero_or_infinite() -> None:
    silent = dt.best_stopping_time(dt.Problem(signal=0.0, ridge=0.0))
    assert silent.time == 0
    assert silent.error.total == 0
    clean = dt.Problem(features_per_dim=5.0, noise=0.1, ridge=0.0)
    end = dt.best_stopping_time(clean, math.inf)
    assert end.error.total == pytest.approx(dt.exact_error(clean, math.inf).total, rel=1e-9)
    assert end.time == math.inf
    assert np.isfinite(dt.best_stopping_time(clean).time)  # of one model, it helps to stop


def test_stopping_time_requires_finite_features() -> None:
    """They converge at once in this unit of time, but not in that of a spectrum."""
    for width in (math.inf, np.array([1.0, math.inf])):
        with pytest.raises(ValueError, match=r"^features_per_dim must be finite"):
            dt.best_stopping_time(problem(width))
    kernel = dt.SpectralProblem.from_problem(problem(math.inf, noise=3.0), dim=5)
    wide = dt.best_stopping_time(problem(1e12, noise=3.0))
    result = dt.best_stopping_time(kernel)
    assert result.error.total == pytest.approx(wide.error.total, rel=1e-9)
    assert 0 < result.time < math.inf


def test_pairs_of_poles_are_not_stored_for_one_level() -> None:
    """The sums of all pairs would take 36 MB."""
    times = np.geomspace(1e-2, 1e4, 4096)
    tracemalloc.start()
    try:
        dt.gradient_flow(problem(), times)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 18e6


def test_stopping_time_of_arrays_equals_scalars() -> None:
    widths = np.array([[0.5], [1.0], [2.0]])
    result = dt.best_stopping_time(problem(widths), np.array([1, 2]))
    assert np.shape(result.time) == np.shape(result.error.total) == (3, 2)
    one = dt.best_stopping_time(problem(1.0), 2)
    assert np.asarray(result.time)[1, 1] == pytest.approx(one.time, rel=1e-5)


@pytest.mark.parametrize("ensemble", [dt.Subsample(2, fraction=1e-140), dt.Divide(math.inf)])
def test_times_of_very_few_samples_stay_in_their_domain(ensemble: dt.Scheme) -> None:
    result = dt.best_stopping_time(problem(2.0), ensemble)
    assert result.time in (0.0, math.inf)  # without data or signal
    assert result.error.total == pytest.approx(
        dt.gradient_flow(problem(2.0), 0.0, ensemble).total, rel=1e-12
    )
