r"""Averages over a Gaussian test point in closed form.

A test point x ~ N(0, 1_D) enters two features through u = θ·x/√D and v = θ'·x/√D, which are
Gaussian with variances a = |θ|²/D, b = |θ'|²/D and covariance c = θ·θ'/D. For many activations

    mean(a) = E σ(u),    slope(a) = E σ'(u),    overlap(a, b, c) = E σ(u) σ(v)

are known: then E_x φ(x) φ(x)ᵀ and E_x φ(x) xᵀ = slope(a) θ/√D need no sampling of test points. The
overlap of ReLU features is the arc-cosine kernel [cho2009], that of erf features [williams1998].
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from array_api_compat import array_namespace

from doubletrouble.activations import Activation, is_named
from doubletrouble.simulation.place import Array


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Test averages of one activation; arguments broadcast, and are arrays of one library."""

    mean: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    overlap: Callable[[Array, Array, Array], Array]


def closed_form(activation: Activation) -> Overlap | None:
    """Return the closed forms for an activation, or None where there are none.

    >>> import numpy as np
    >>> import doubletrouble as dt
    >>> one = np.asarray(1.0)
    >>> float(closed_form(dt.activation("relu")).overlap(one, one, one))  # E max(z, 0)²
    0.5
    >>> closed_form(dt.activation("tanh")) is None
    True
    """
    return _FORMS.get(activation.name) if is_named(activation) else None


def _cosine(a: Array, b: Array, c: Array) -> Array:
    """The correlation of u and v, kept within [-1, 1]."""
    xp = array_namespace(a, b, c)
    return xp.clip(c / xp.sqrt(a * b), -1.0, 1.0)


def _relu(a: Array, b: Array, c: Array) -> Array:
    xp = array_namespace(a, b, c)
    cosine = _cosine(a, b, c)
    sine = xp.sqrt(1.0 - cosine * cosine)
    return (xp.sqrt(a * b) * sine + c * (math.pi - xp.acos(cosine))) / (2 * math.pi)


def _sign(a: Array, b: Array, c: Array) -> Array:
    return array_namespace(a, b, c).asin(_cosine(a, b, c)) * (2 / math.pi)


def _erf(a: Array, b: Array, c: Array) -> Array:
    xp = array_namespace(a, b, c)
    return xp.asin(2 * c / xp.sqrt((1 + 2 * a) * (1 + 2 * b))) * (2 / math.pi)


def _root_mean(a: Array) -> Array:
    """E max(u, 0) = √(a/2π)."""
    return array_namespace(a).sqrt(a / (2 * math.pi))


def _exp(a: Array) -> Array:
    return array_namespace(a).exp(-0.5 * a)


def _leaky(slope: float) -> Overlap:
    """σ(z) = s z + (1-s) max(z, 0)."""
    rest = 1 - slope
    return Overlap(
        mean=lambda a: rest * _root_mean(a),
        slope=lambda a: 0 * a + (1 + slope) / 2,
        overlap=lambda a, b, c: slope * c + rest**2 * _relu(a, b, c),
    )


_FORMS: dict[str, Overlap] = {
    "relu": _leaky(0.0),
    "leaky_relu": _leaky(0.01),
    "abs": Overlap(
        mean=lambda a: 2 * _root_mean(a),
        slope=lambda a: 0 * a,
        overlap=lambda a, b, c: 4 * _relu(a, b, c) - c,
    ),
    "linear": Overlap(
        mean=lambda a: 0 * a, slope=lambda a: 0 * a + 1, overlap=lambda a, b, c: c + 0 * a + 0 * b
    ),
    "sign": Overlap(
        mean=lambda a: 0 * a,
        slope=lambda a: 1 / array_namespace(a).sqrt(a * (math.pi / 2)),
        overlap=_sign,
    ),
    "erf": Overlap(
        mean=lambda a: 0 * a,
        slope=lambda a: 2 / array_namespace(a).sqrt(math.pi * (1 + 2 * a)),
        overlap=_erf,
    ),
    "sin": Overlap(
        mean=lambda a: 0 * a,
        slope=_exp,
        overlap=lambda a, b, c: _exp(a + b) * array_namespace(c).sinh(c),
    ),
    "cos": Overlap(
        mean=_exp,
        slope=lambda a: 0 * a,
        overlap=lambda a, b, c: _exp(a + b) * array_namespace(c).cosh(c),
    ),
    "quadratic": Overlap(  # z² - 1
        mean=lambda a: a - 1,
        slope=lambda a: 0 * a,
        overlap=lambda a, b, c: (a - 1) * (b - 1) + 2 * c * c,
    ),
}

CLOSED = tuple(_FORMS)
"""The activations whose test averages are known."""
