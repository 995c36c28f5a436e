"""Test averages in closed form, against quadrature in two dimensions."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad
from scipy.special import erf, erfc
from scipy.stats import norm

from doubletrouble import activation
from doubletrouble.activations import NAMES
from doubletrouble.kernels import closed_form
from doubletrouble.simulation._draws import slope_by_power

_REACH = 9.0  # the Gaussian beyond is below 1e-18
CLOSED = [name for name in NAMES if closed_form(activation(name)) is not None]


def by_quadrature(name: str, a: float, b: float, c: float) -> float:
    """E σ(u) σ(v), with v given u integrated first; the kinks and jumps are where u or v is 0."""
    sigma = activation(name).function
    assert sigma is not None
    spread = math.sqrt(b - c * c / a)

    def value(v: float) -> float:
        return float(np.asarray(sigma(np.array([v])))[0])

    def inner(u: float) -> float:
        mean = c / a * u
        cut = min(max(-mean / spread, -_REACH), _REACH)
        return sum(
            quad(lambda z: value(mean + spread * z) * norm.pdf(z), *ends, epsabs=1e-11)[0]
            for ends in ((-_REACH, cut), (cut, _REACH))
        )

    root = math.sqrt(a)
    halves = ((-_REACH, 0.0), (0.0, _REACH))
    z, weights = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for low, high in halves:
        points = 0.5 * (high - low) * z + 0.5 * (high + low)
        values = [value(root * p) * inner(root * p) * norm.pdf(p) for p in points]
        total += 0.5 * (high - low) * float(weights @ np.array(values))
    return total


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 1.0, 0.3), (1.4, 0.7, -0.6)])
def test_overlap(name: str, a: float, b: float, c: float) -> None:
    known = closed_form(activation(name))
    assert known is not None
    got = float(known.overlap(*map(np.asarray, (a, b, c))))
    assert got == pytest.approx(by_quadrature(name, a, b, c), abs=1e-9)


@pytest.mark.parametrize("name", CLOSED)
def test_limits(name: str) -> None:
    """Independent: a product of means. Identical: the second moment, and μ₁ for unit variance."""
    known, moments = closed_form(activation(name)), activation(name)
    assert known is not None
    a, b, zero = (np.asarray(v) for v in (1.3, 0.6, 0.0))
    assert float(known.overlap(a, b, zero)) == pytest.approx(
        float(known.mean(a) * known.mean(b)), abs=1e-15
    )
    one = np.asarray(1.0)
    power = moments.mean**2 + moments.linear**2 + moments.nonlinear**2
    assert float(known.overlap(one, one, one)) == pytest.approx(power, rel=1e-12)
    assert float(known.mean(one)) == pytest.approx(moments.mean, abs=1e-15)
    assert float(known.slope(one)) == pytest.approx(moments.linear, abs=1e-15)


def test_interpolated_slope() -> None:
    """Erf as a plain function takes the interpolation; its slope is known."""
    slope = slope_by_power(activation(lambda z: erf(z)), 100)
    a = np.linspace(0.4, 1.9, 7)
    np.testing.assert_allclose(slope(a), 2 / np.sqrt(np.pi * (1 + 2 * a)), rtol=1e-10)


def test_a_namesake_is_not_taken_for_the_real_thing() -> None:
    def relu(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.maximum(z - 0.5, 0.0)

    bent = activation(relu)
    assert bent.name == "relu"
    assert closed_form(bent) is None
    # E σ'(u) = P(u > 1/2)
    a = np.array([0.7, 1.0, 1.4])
    expected = 0.5 * erfc(0.5 / np.sqrt(2 * a))
    np.testing.assert_allclose(slope_by_power(bent, 100)(a), expected, rtol=1e-9)
