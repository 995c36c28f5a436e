"""Filters at every time and ridge: they end where they should, and only then."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import ConvergenceError
from doubletrouble.theory.crossing import crossings

PARTS = ("noise", "initialization", "sampling", "bias", "total")
POWERS: dict[str, Any] = {"signal": 1.2, "noise": 0.5, "nonlinear_signal": 0.3}


def problem(ridge: float, width: float = 2.0) -> dt.Problem:
    return dt.Problem(features_per_dim=width, samples_per_dim=0.8, ridge=ridge, **POWERS)


@pytest.mark.parametrize("time", [0.1, 50.0, 400.0, 510.0, 600.0, 1e5, 1e12, math.inf])
@pytest.mark.parametrize("ridge", [0.0, 1e-6, 0.1])
def test_one_pole_adds_to_the_ridge(ridge: float, time: float) -> None:
    found = dt.gradient_flow(problem(ridge), time, 3, filter=dt.Filter(ridges=[1.0], weights=[1.0]))
    known = dt.exact_error(problem(ridge + 1 / (time * 2.0 * 0.8)), 3)
    for name in PARTS:
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=1e-11)


@pytest.mark.parametrize("width", [2.0, math.inf])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_half_of_a_fit(ridge: float, width: float) -> None:
    """Weights that add up to one half end at half of the predictor, at infinity as just before."""
    half, at = dt.Filter(ridges=[1.0], weights=[0.5]), problem(ridge, width)
    whole, psi = dt.exact_error(at), dt.psi_terms(at)
    end = dt.gradient_flow(at, math.inf, filter=half)
    late = dt.gradient_flow(at, 1e13, filter=half)
    assert end.bias == pytest.approx(1.44 * (1 - psi.psi1 + psi.psi2_divide / 4) + 0.09, rel=1e-12)
    assert end.noise == pytest.approx(whole.noise / 4, rel=1e-12)
    assert end.sampling == pytest.approx(whole.sampling / 4, rel=1e-12)
    for name in PARTS:
        assert getattr(late, name) == pytest.approx(getattr(end, name), rel=1e-9)


def test_the_flow_ends_as_fast_as_it_may() -> None:
    """At a ridge, what is left to be learned falls as e⁻ᵗ; nothing jumps where it is cut off."""
    at = problem(0.1)
    times = 100 / (0.1 * 2.0 * 0.8) * np.array([0.99, 1.01])
    before, after = np.asarray(dt.gradient_flow(at, times).total)
    assert before == pytest.approx(after, rel=1e-13)


# --- roots ---------------------------------------------------------------------------------------


def test_roots_of_functions_of_all_sizes() -> None:
    roots = np.array([-3.0, 1e-9, 2.0, 600.0])
    scales = np.array([1e-200, 1.0, 1e200, 1.0])

    def values(x: Any, i: Any) -> Any:
        return scales[i] * np.expm1(np.clip(x - roots[i], -50, 50))

    every = np.arange(4)
    low, high = np.full(4, -700.0), np.full(4, 690.0)
    found = crossings(values, low, high, values(low, every), values(high, every))
    assert found == pytest.approx(roots, abs=1e-12)


def test_an_end_that_is_almost_zero_is_no_root() -> None:
    def values(x: Any, i: Any) -> Any:
        return np.where(x < 5, 1e-16, 5 - x)

    ends = np.array([0.0]), np.array([16.0])
    found = crossings(values, *ends, values(ends[0], 0), values(ends[1], 0))
    assert found == pytest.approx([5.0], abs=1e-12)


def test_what_has_no_root_is_said() -> None:
    ends = np.array([-1.0]), np.array([2.0])
    with pytest.raises(ConvergenceError, match="looked for where there is none"):
        crossings(lambda x, i: x * x + 1, *ends, np.array([2.0]), np.array([5.0]))
