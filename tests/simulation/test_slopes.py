"""E σ'(u) of activations without a closed form, as a function of the variance of u."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import erf, erfc

from doubletrouble import activation
from doubletrouble.kernels import closed_form
from doubletrouble.simulation._draws import slope_by_power


def relu(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Another function than the activation of this name."""
    return np.maximum(z - 0.5, 0.0)


def test_interpolated_slope_of_a_smooth_activation_equals_quadrature() -> None:
    z, weights = np.polynomial.hermite_e.hermegauss(200)
    a = np.linspace(0.4, 1.9, 7)
    slopes = np.cosh(np.sqrt(a)[:, None] * z) ** -2.0
    expected = slopes @ weights / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(slope_by_power(activation("tanh"), 100)(a), expected, rtol=1e-8)


@pytest.mark.full
def test_interpolated_slope_of_a_function_equals_the_closed_form_of_erf() -> None:
    slope = slope_by_power(activation(lambda z: erf(z)), 100)
    a = np.linspace(0.4, 1.9, 7)
    np.testing.assert_allclose(slope(a), 2 / np.sqrt(np.pi * (1 + 2 * a)), rtol=1e-10)


@pytest.mark.full
def test_interpolated_slope_of_a_kink_equals_the_closed_form() -> None:
    """E σ'(u) = P(u > 1/2)."""
    a = np.array([0.7, 1.0, 1.4])
    expected = 0.5 * erfc(0.5 / np.sqrt(2 * a))
    np.testing.assert_allclose(slope_by_power(activation(relu), 100)(a), expected, rtol=1e-9)


def test_user_function_named_relu_has_no_closed_form() -> None:
    assert activation(relu).name == "relu"
    assert closed_form(activation(relu)) is None
