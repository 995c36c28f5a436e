"""Filters at every time and ridge, and the root finder."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import ConvergenceError
from doubletrouble.theory._filters import talbot_poles
from doubletrouble.theory._roots import crossings
from tests.theory.test_flow import PARTS, TIMES, problem


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
        ([1 + 1j], [1.0], "ridges must come with their conjugates"),
        ([1.0], [1j], "weights must be real"),
        ([math.nan], [1.0], "ridges must be finite"),
        ("abc", [1.0], "ridges"),
    ]
    for ridges, weights, words in invalid:
        with pytest.raises((ValueError, TypeError), match=f"^{words}"):
            dt.Filter(ridges=ridges, weights=weights)
    with pytest.raises(TypeError, match=r"^filter must"):
        dt.gradient_flow(problem(), 1.0, filter="momentum")  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [2.0, math.inf])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_incomplete_filter_is_continuous_at_infinite_time(ridge: float, width: float) -> None:
    """The weights sum to 1/2: the limit is half of the predictor."""
    half, at = dt.Filter(ridges=[1.0], weights=[0.5]), problem(width, 0.8, ridge)
    whole, psi = dt.exact_error(at), dt.psi_terms(at)
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


# --- roots ---------------------------------------------------------------------------------------


def test_roots_do_not_depend_on_the_scale_of_functions() -> None:
    roots = np.array([-3.0, 1e-9, 2.0, 600.0])
    scales = np.array([1e-200, 1.0, 1e200, 1.0])

    def values(x: Any, i: Any) -> Any:
        return scales[i] * np.expm1(np.clip(x - roots[i], -50, 50))

    every = np.arange(4)
    low, high = np.full(4, -700.0), np.full(4, 690.0)
    result = crossings(values, low, high, values(low, every), values(high, every))
    assert result == pytest.approx(roots, abs=1e-12)


def test_small_value_at_a_bracket_end_is_not_a_root() -> None:
    def values(x: Any, i: Any) -> Any:
        return np.where(x < 5, 1e-16, 5 - x)

    ends = np.array([0.0]), np.array([16.0])
    result = crossings(values, *ends, values(ends[0], 0), values(ends[1], 0))
    assert result == pytest.approx([5.0], abs=1e-12)


def test_missing_sign_change_raises() -> None:
    ends = np.array([-1.0]), np.array([2.0])
    with pytest.raises(ConvergenceError, match="must change sign between the ends"):
        crossings(lambda x, i: x * x + 1, *ends, np.array([2.0]), np.array([5.0]))
