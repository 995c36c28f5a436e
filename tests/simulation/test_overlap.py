"""Test averages in closed form, against quadrature in two dimensions."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import erf, erfc

from doubletrouble import activation
from doubletrouble.activations import NAMES
from doubletrouble.simulation.features import slope_by_power
from doubletrouble.simulation.overlap import closed_form

CLOSED = [name for name in NAMES if closed_form(activation(name)) is not None]


def by_quadrature(name: str, a: float, b: float, c: float) -> float:
    """E σ(u) σ(v) with u = √a z₁ and v = (c/√a) z₁ + √(b - c²/a) z₂.

    The inner average over z₂ is smooth in z₁ but for kinks at 0: integrate each half apart.
    """
    sigma = activation(name).function
    assert sigma is not None
    z = (np.arange(-9600, 9600) + 0.5) / 960  # midpoints: a kink or jump at 0 falls between
    weight = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / 960
    u = math.sqrt(a) * z
    spread = math.sqrt(b - c * c / a)
    total = 0.0
    for block in np.array_split(np.arange(z.size), 24):
        v = (c / math.sqrt(a)) * z[block, None] + spread * z[None, ::8]
        inner = np.asarray(sigma(v)) @ (8 * weight[::8])
        total += float((weight[block] * np.asarray(sigma(u[block]))) @ inner)
    return total


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 1.0, 0.3), (1.4, 0.7, -0.6), (0.5, 2.0, 0.9)])
def test_overlap(name: str, a: float, b: float, c: float) -> None:
    known = closed_form(activation(name))
    assert known is not None
    got = float(known.overlap(*map(np.asarray, (a, b, c))))
    # jumps leave the plain rule an error of a grid step, kinks of its square
    tolerance = 5e-3 if name == "sign" else 2e-5
    assert got == pytest.approx(by_quadrature(name, a, b, c), abs=tolerance)


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
