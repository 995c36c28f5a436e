"""E σ'(u) of activations without a closed form, as a function of the variance of u."""

import numpy as np
import numpy.typing as npt
from scipy.special import erf, erfc

from doubletrouble import activation
from doubletrouble.kernels import closed_form
from doubletrouble.simulation._draws import slope_by_power


def test_interpolated_slope_equals_the_closed_form_of_erf() -> None:
    """Erf as a plain function is interpolated; its slope has a closed form."""
    slope = slope_by_power(activation(lambda z: erf(z)), 100)
    a = np.linspace(0.4, 1.9, 7)
    np.testing.assert_allclose(slope(a), 2 / np.sqrt(np.pi * (1 + 2 * a)), rtol=1e-10)


def test_user_function_named_relu_has_no_closed_form() -> None:
    def relu(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.maximum(z - 0.5, 0.0)

    bent = activation(relu)
    assert bent.name == "relu"
    assert closed_form(bent) is None
    # E σ'(u) = P(u > 1/2)
    a = np.array([0.7, 1.0, 1.4])
    expected = 0.5 * erfc(0.5 / np.sqrt(2 * a))
    np.testing.assert_allclose(slope_by_power(bent, 100)(a), expected, rtol=1e-9)
