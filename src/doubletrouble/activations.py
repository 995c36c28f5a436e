r"""Activation functions and their Gaussian moments.

For z ~ N(0, 1), an activation σ enters the high-dimensional limit only through

    μ₀ = E σ(z),    μ₁ = E z σ(z),    μ⋆² = E (σ(z) - μ₀ - μ₁ z)²

[dascoli2020] App. B, Assumption 1. μ₁ weights the linear part of the features, μ⋆ the nonlinear
part, which acts as noise. The theory centres the activation (μ₀ is subtracted), as the paper does.

Named activations use closed forms where they exist; any callable is integrated (`moments`).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, is_array_api_obj

from doubletrouble.moments import ROOT_2PI, FloatArray, Function, any_moments, smooth_moments


@dataclass(frozen=True, kw_only=True)
class Activation:
    """An activation and its Gaussian moments: `mean` μ₀, `linear` μ₁, `nonlinear` μ⋆.

    >>> from doubletrouble import activation
    >>> relu = activation("relu")
    >>> round(relu.mean, 6), relu.linear, round(relu.nonlinear, 6)
    (0.398942, 0.5, 0.301405)
    """

    name: str
    mean: float
    linear: float
    nonlinear: float
    function: Function | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("mean", "linear", "nonlinear"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        if self.nonlinear < 0:
            raise ValueError(f"nonlinear must be in [0, inf), got {self.nonlinear!r}")


def activation(spec: str | Activation | Function, *, slope: float | None = None) -> Activation:
    """Return the activation for a name, an `Activation` or any callable on arrays.

    `slope` is the slope of "leaky_relu" below zero (0.01 unless given).

    >>> activation("erf").linear == 2 / math.sqrt(3 * math.pi)
    True
    >>> bent = activation(lambda z: np.maximum(z, 0.0))  # a kink, found by adaptive quadrature
    >>> abs(bent.nonlinear - activation("relu").nonlinear) < 1e-13
    True
    """
    if isinstance(spec, str):
        name = spec.strip().lower().replace(" ", "_").replace("-", "_")
        if name not in NAMES:
            raise ValueError(f"activation must be one of {', '.join(NAMES)}, got {spec!r}")
        if name == "leaky_relu":
            return _leaky_relu(0.01 if slope is None else slope)
    if slope is not None:
        raise ValueError(f"slope must be left out unless activation is 'leaky_relu', got {slope!r}")
    if isinstance(spec, Activation):
        return spec
    if isinstance(spec, str):
        return _named(name)
    if callable(spec):
        return _from_callable(spec)
    raise TypeError(f"activation must be a name, an Activation or a callable, got {spec!r}")


def is_named(spec: Activation) -> bool:
    """Whether an activation is the built-in one of its name, not a user's function of that name."""
    return spec.name in NAMES and spec == activation(spec.name)


def is_smooth(spec: Activation) -> bool:
    """Whether a named activation is analytic near the real line (trapezoidal rule)."""
    return spec.name in _SMOOTH and is_named(spec)


@lru_cache(maxsize=256)
def correlation(a: Activation, b: Activation) -> float:
    """Correlation of the nonlinear parts of two activations: E σ_a⊥ σ_b⊥/(μ⋆a μ⋆b).

    >>> round(correlation(activation("relu"), activation("abs")), 12)
    1.0
    >>> abs(correlation(activation("relu"), activation("tanh"))) < 1e-12  # even and odd
    True
    """
    if not a.nonlinear * b.nonlinear:
        return 0.0
    for one in (a, b):
        if one.function is None:
            raise ValueError(
                f"activation must have a function to be compared with another, got {one!r}"
            )

    def both(z: FloatArray) -> FloatArray:
        assert a.function is not None
        assert b.function is not None
        return np.asarray(a.function(z)) / a.nonlinear + np.asarray(b.function(z)) * (
            2 / b.nonlinear
        )

    smooth = is_smooth(a) and is_smooth(b)
    found = smooth_moments(both) if smooth else any_moments(both, f"{a.name} + {b.name}")
    # |a + 2b|² = 5 + 4 ⟨a, b⟩ of unit vectors, which never vanishes
    return max(-1.0, min(1.0, (found.nonlinear**2 - 5) / 4))


def _finite(name: str, value: Any) -> float:
    """Return a finite number as a float, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


# --- named activations -------------------------------------------------------------------------

_RELU_NONLINEAR = math.sqrt(0.25 - 0.5 / math.pi)


# Written for NumPy arrays and torch tensors alike: simulations evaluate them on either.


def _library(z: Any) -> Any:
    return array_namespace(z) if is_array_api_obj(z) else np


def _standard(z: Any, name: str) -> Any:
    """A function that every array library has under the same name."""
    return getattr(_library(z), name)(z)


def _special(z: Any, name: str) -> Any:
    """A special function: torch has its own, NumPy's are SciPy's."""
    xp = _library(z)
    if not hasattr(xp, name):
        import scipy.special as xp
    return getattr(xp, name)(z)


def _relu(z: Any) -> Any:
    return _library(z).clip(z, 0.0, None)


def _leaky(z: Any, slope: float) -> Any:
    return _library(z).where(z > 0, z, slope * z)


def _gelu(z: Any) -> Any:
    return 0.5 * z * _special(z * -math.sqrt(0.5), "erfc")


def _softplus(z: Any) -> Any:
    return _library(z).logaddexp(z, 0 * z)


def _sigmoid(z: Any) -> Any:
    return 0.5 + 0.5 * _standard(0.5 * z, "tanh")


def _quadratic(z: Any) -> Any:
    """The second Hermite polynomial."""
    return z * z - 1.0


_TANH, _SIGN, _ABS, _SIN, _COS, _POSITIVE = (
    partial(_standard, name=name) for name in ("tanh", "sign", "abs", "sin", "cos", "positive")
)
_ERF = partial(_special, name="erf")

# Analytic near the real line, without closed moments.
_SMOOTH: dict[str, Function] = {"tanh": _TANH, "sigmoid": _sigmoid, "softplus": _softplus}

# Function, μ₀, μ₁, μ⋆².
_CLOSED: dict[str, tuple[Function, float, float, float]] = {
    "relu": (_relu, 1 / ROOT_2PI, 0.5, 0.25 - 0.5 / math.pi),
    # E erf(z)² = (2/π) asin(2/3)
    "erf": (_ERF, 0.0, 2 / math.sqrt(3 * math.pi), (2 * math.asin(2 / 3) - 4 / 3) / math.pi),
    "sign": (_SIGN, 0.0, 2 / ROOT_2PI, 1 - 2 / math.pi),
    "abs": (_ABS, 2 / ROOT_2PI, 0.0, 1 - 2 / math.pi),
    # σ = z Φ(z): E σ² = 1/3 + 1/(2π√3), by Stein's identity twice
    "gelu": (
        _gelu, 0.5 / math.sqrt(math.pi), 0.5, 1 / 12 + (2 / math.sqrt(3) - 1) / (4 * math.pi),
    ),
    "sin": (_SIN, 0.0, math.exp(-0.5), math.exp(-1) * (math.sinh(1) - 1)),
    "cos": (_COS, math.exp(-0.5), 0.0, math.exp(-1) * (math.cosh(1) - 1)),
    "linear": (_POSITIVE, 0.0, 1.0, 0.0),
    "quadratic": (_quadratic, 0.0, 0.0, 2.0),
}  # fmt: skip

NAMES = ("leaky_relu", *_CLOSED, *_SMOOTH)
"""Names of the built-in activations."""


@cache
def _named(name: str) -> Activation:
    if name in _SMOOTH:
        function = _SMOOTH[name]
        mean, linear, nonlinear = smooth_moments(function)
    else:
        function, mean, linear, power = _CLOSED[name]
        nonlinear = math.sqrt(power)
    return Activation(name=name, mean=mean, linear=linear, nonlinear=nonlinear, function=function)


def _leaky_relu(slope: Any) -> Activation:
    """σ(z) = a z + (1-a) relu(z)."""
    slope = _finite("slope", slope)
    return Activation(
        name="leaky_relu" if slope == 0.01 else f"leaky_relu({slope:g})",
        mean=(1 - slope) / ROOT_2PI,
        linear=(1 + slope) / 2,
        nonlinear=abs(1 - slope) * _RELU_NONLINEAR,
        function=partial(_leaky, slope=slope),
    )


# --- any callable ------------------------------------------------------------------------------


def _from_callable(function: Callable[..., Any]) -> Activation:
    name = getattr(function, "__name__", type(function).__name__)
    sigma = _vectorized(function, name)
    mean, linear, nonlinear = any_moments(sigma, name)
    return Activation(name=name, mean=mean, linear=linear, nonlinear=nonlinear, function=sigma)


def _vectorized(function: Callable[..., Any], name: str) -> Function:
    """Accept functions of one number as well (math.tanh, or `lambda z: max(z, 0)`)."""
    with np.errstate(all="ignore"):
        try:
            function(np.array([-1.0, 0.5]))
        except (TypeError, ValueError) as error:
            try:
                function(-1.0), function(0.5)
            except (TypeError, ValueError):
                raise type(error)(
                    f"activation must be a function of one array, got {name}, which raised: {error}"
                ) from error
            return partial(_one_by_one, function)
    return function


def _one_by_one(function: Callable[[float], float], z: FloatArray) -> npt.ArrayLike:
    return np.array([function(float(v)) for v in z.ravel()]).reshape(z.shape)
