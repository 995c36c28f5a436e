"""Gaussian moments of activations: against 40 digits, closed forms, and invalid slopes."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.parameters import FloatArray
from tests.messages import message_of
from tests.selection import full_beyond
from tests.theory import oracle

MOMENTS = ("mean", "linear", "nonlinear")
ULP = 2.0**-52


@cache
def exact(name: str) -> dict[str, Any]:
    """μ₀, μ₁, μ⋆ to 40 digits; rounding errors of an exact zero are set to zero."""
    mean, linear, power = oracle.moments(name)
    values = (mean, linear, mpmath.sqrt(power))
    return {m: v if abs(v) > 1e-19 else mpf(0) for m, v in zip(MOMENTS, values, strict=True)}


def assert_close(result: dt.Activation, expected: dict[str, Any], relative: float) -> None:
    for name in MOMENTS:
        assert abs(getattr(result, name) - expected[name]) <= relative * abs(expected[name]), name


def from_power(mean: Any, linear: Any, power: Any) -> dict[str, Any]:
    """The three moments from E σ, E z σ and E σ², all in high precision."""
    rest = mpmath.sqrt(power - mean**2 - linear**2)
    return {"mean": mean, "linear": linear, "nonlinear": rest}


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_named_moments_have_full_precision(name: str) -> None:
    assert_close(dt.activation(name), exact(name), 2 * ULP)


def test_named_activations_have_their_functions() -> None:
    z = np.linspace(-3.0, 3.0, 7)
    textbook: dict[str, Callable[[float], float]] = {
        "relu": lambda x: max(x, 0.0),
        "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
        "tanh": math.tanh,
        "erf": math.erf,
        "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "sign": lambda x: float((x > 0) - (x < 0)),
        "abs": abs,
        "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
        "softplus": lambda x: math.log1p(math.exp(x)),
        "sin": math.sin,
        "cos": math.cos,
        "linear": lambda x: x,
        "quadratic": lambda x: x**2 - 1,
    }
    assert set(textbook) == set(NAMES)
    for name, known in textbook.items():
        function: Any = dt.activation(name).function
        expected = [known(float(x)) for x in z]
        np.testing.assert_allclose(function(z), expected, rtol=1e-14, atol=1e-16, err_msg=name)


def test_names_ignore_case_and_separators() -> None:
    for spelling in ("Leaky ReLU", "leaky-relu", " LEAKY_RELU "):
        assert dt.activation(spelling) == dt.activation("leaky_relu")


def test_leaky_relu_equals_the_closed_form_at_any_slope() -> None:
    for slope in (0.0, 0.2, 2.0, -0.5):
        a = mpf(slope)
        with mpmath.workdps(40):
            expected = from_power((1 - a) * mpmath.npdf(0), (1 + a) / 2, (1 + a**2) / 2)
        result = dt.activation("leaky_relu", slope=slope)
        assert_close(result, expected, 4 * ULP)
        assert result.function is not None
        assert np.asarray(result.function(np.array([-2.0, 3.0]))).tolist() == [-2.0 * slope, 3.0]


def test_leaky_relu_has_the_limits_relu_linear_and_abs() -> None:
    relu, linear, absolute = (dt.activation(n) for n in ("relu", "linear", "abs"))
    for slope, limit in ((0, relu), (1, linear), (-1, absolute)):
        leaky = dt.activation("leaky_relu", slope=slope)
        assert [getattr(leaky, m) for m in MOMENTS] == pytest.approx(
            [getattr(limit, m) for m in MOMENTS], rel=2 * ULP, abs=0
        )


def test_slope_requires_leaky_relu() -> None:
    for spec in ("relu", np.tanh, dt.activation("tanh")):
        with pytest.raises(ValueError, match=r"^slope must"):
            dt.activation(spec, slope=0.2)


def test_slope_must_be_a_finite_number() -> None:
    slopes: list[Any] = [math.inf, math.nan, "steep", True, [0.1], 1j]
    for slope in slopes:
        message = message_of(dt.activation, "leaky_relu", slope=slope)
        assert message.startswith("slope must ")
        assert repr(slope) in message


# --- Activation ----------------------------------------------------------------------------------


def test_activation_is_returned_unchanged() -> None:
    mine = dt.Activation(name="mine", mean=0, linear=0.5, nonlinear=np.float64(0.25))
    assert dt.activation(mine) is mine
    assert type(mine.mean) is float
    assert type(mine.nonlinear) is float
    assert dt.Problem(activation=mine).moments is mine


def test_error_depends_on_the_moments_only() -> None:
    relu = dt.activation("relu")
    copy = dt.Activation(name="copy", mean=7.0, linear=relu.linear, nonlinear=relu.nonlinear)
    assert dt.exact_error(dt.Problem(activation=copy)) == dt.exact_error(dt.Problem())


# --- any callable --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", full_beyond({"relu", "sign", "cos", "gelu"}, NAMES))
def test_callables_equal_the_closed_forms(name: str) -> None:
    function = dt.activation(name).function
    assert function is not None
    result = dt.activation(lambda z: function(z))
    for moment, expected in exact(name).items():
        tolerance = 1e-14 * abs(expected) if expected else 1e-15
        assert abs(getattr(result, moment) - expected) <= tolerance, moment


KINKS = (0.3, -0.3, 1 / 3, 1.0, -1.7, math.pi / 2, 2.9, -2.9, 3.7, 4.0, 5.0)
KINKS_OF_EVERY_RUN = (1 / 3, -2.9, 5.0)


@pytest.mark.parametrize("at", full_beyond(KINKS_OF_EVERY_RUN, [*KINKS, -6.0]))
def test_moments_of_a_jump_equal_the_closed_form(at: float) -> None:
    with mpmath.workdps(40):
        c = mpf(at)
        above = mpmath.ncdf(-c)
        expected = from_power(above, mpmath.npdf(c), above)
    assert_close(dt.activation(lambda z: z > at), expected, 1e-12)


@pytest.mark.parametrize("at", full_beyond(KINKS_OF_EVERY_RUN, KINKS))
def test_moments_of_a_kink_equal_the_closed_form(at: float) -> None:
    with mpmath.workdps(40):
        c = mpf(at)
        above, density = mpmath.ncdf(-c), mpmath.npdf(c)
        expected = from_power(density - c * above, above, (1 + c**2) * above - c * density)
    assert_close(dt.activation(lambda z: np.maximum(z - at, 0.0)), expected, 1e-12)


@pytest.mark.parametrize("at", full_beyond({2.3}, [0.5, 1.0, 2.3]))
def test_moments_of_clipping_equal_the_closed_form(at: float) -> None:
    with mpmath.workdps(40):
        c = mpf(at)
        inside, density = 2 * mpmath.ncdf(c) - 1, mpmath.npdf(c)
        power = inside - 2 * c * density + 2 * c**2 * mpmath.ncdf(-c)
        expected = from_power(mpf(0), inside, power)
    assert_close(dt.activation(lambda z: np.clip(z, -at, at)), expected, 1e-12)


BOXES = [(-0.7, 1.3), (0.1, 0.2), (-2.1, -2.05), (0.31, 0.32)]


@pytest.mark.parametrize("box", full_beyond(BOXES[:1] + BOXES[3:], BOXES))
def test_moments_of_a_box_equal_the_closed_form(box: tuple[float, float]) -> None:
    low, high = box
    with mpmath.workdps(40):
        a, b = mpf(low), mpf(high)
        inside = mpmath.ncdf(b) - mpmath.ncdf(a)
        expected = from_power(inside, mpmath.npdf(a) - mpmath.npdf(b), inside)
    result = dt.activation(lambda z: ((z > low) & (z < high)).astype(float))
    assert_close(result, expected, 1e-12)


def test_moments_of_many_jumps_equal_their_sum() -> None:
    # E z floor(z) = Σ_k φ(k), E floor(z)² by the tails: both are sums over the jumps
    with mpmath.workdps(40):
        steps = range(1, 40)
        linear = mpmath.fsum(mpmath.npdf(k) for k in range(-39, 40))
        power = mpmath.fsum(
            (2 * k - 1) * mpmath.ncdf(-k) + (2 * k - 1) * mpmath.ncdf(1 - k) for k in steps
        )
        expected = from_power(mpf(-1) / 2, linear, power)
    assert_close(dt.activation(np.floor), expected, 1e-12)


def test_parity_is_exact() -> None:
    """Even functions have no linear part, odd functions no mean."""
    for even in (np.abs, np.cosh, lambda z: np.abs(z) > 1.3):
        assert dt.activation(even).linear == 0.0
    for odd in (np.sin, np.arctan, lambda z: z * z * z):
        assert dt.activation(odd).mean == 0.0


def test_functions_of_scalars_lists_or_integers_are_accepted() -> None:
    functions: list[tuple[Any, str]] = [
        (math.tanh, "tanh"),
        (lambda z: max(z, 0), "relu"),
        (lambda z: [math.tanh(v) for v in z], "tanh"),
        (lambda z: np.sign(z).astype(int), "sign"),
    ]
    for function, name in functions:
        assert_close(dt.activation(function), exact(name), 1e-14)


@pytest.mark.parametrize(
    "scale", full_beyond({1e-200, 1e140}, [1e-200, 1e-160, 1e-30, 1e30, 1e140])
)
def test_moments_scale_with_the_function(scale: float) -> None:
    expected = {name: value * mpf(scale) for name, value in exact("relu").items()}
    assert_close(dt.activation(lambda z: scale * np.maximum(z, 0.0)), expected, 1e-12)


def test_constant_function_has_no_linear_or_nonlinear_part() -> None:
    result = dt.activation(lambda z: np.full_like(z, -0.1))
    assert result.mean == pytest.approx(-0.1, rel=1e-14)
    assert (result.linear, result.nonlinear) == (0.0, 0.0)


def test_zero_activation_predicts_zero() -> None:
    dead = dt.activation(lambda z: 0.0 * z)
    assert [getattr(dead, name) for name in MOMENTS] == [0.0, 0.0, 0.0]
    error = dt.exact_error(dt.Problem(activation=dead, signal=2.0, test_noise=0.5))
    assert (error.bias, error.bayes, error.total) == (4.0, 0.25, 4.25)


def test_affine_function_is_a_linear_network() -> None:
    result = dt.activation(lambda z: 0.3 * z + 0.7)
    assert result.nonlinear == 0.0
    assert [result.mean, result.linear] == pytest.approx([0.7, 0.3], rel=1e-14)


def test_problem_stores_the_moments_of_its_callable() -> None:
    problem = dt.Problem(activation=np.tanh)
    assert problem.moments.name == "tanh"
    named = dt.exact_error(dt.Problem(activation="tanh")).total
    assert dt.exact_error(problem).total == pytest.approx(named, rel=1e-13)


def test_in_place_functions_are_evaluated_on_a_copy() -> None:
    def in_place(z: FloatArray) -> FloatArray:
        np.maximum(z, 0.0, out=z)
        return z

    assert_close(dt.activation(in_place), exact("relu"), 1e-12)
