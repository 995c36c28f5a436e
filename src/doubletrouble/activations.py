r"""Activation functions and the three numbers the theory needs of them.

For z ~ N(0, 1), an activation σ enters the high-dimensional limit only through

    μ₀ = E σ(z),    μ₁ = E z σ(z),    μ⋆² = E (σ(z) - μ₀ - μ₁ z)²

[dascoli2020] App. B, Assumption 1. μ₁ is what the features see of the linear teacher, μ⋆ the
part that acts as noise. The theory centres the activation (μ₀ is subtracted), as the paper does.

Named activations use closed forms where they exist; any callable is integrated adaptively.
μ⋆² is integrated as a square, not as E σ² - μ₀² - μ₁², which would cancel.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Function: TypeAlias = Callable[[FloatArray], npt.ArrayLike]

# The Gaussian density underflows beyond this point.
_EDGE = 38.5
# Smooth functions are integrated by the trapezoidal rule, which converges geometrically on the
# line: with this step the error of tanh (poles at ±iπ/2) is exp(-2π·(π/2)·32) < 1e-130.
_STEP = 1 / 32


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
            value = getattr(self, name)
            if not isinstance(value, int | float | np.floating) or isinstance(value, bool):
                raise TypeError(f"{name} must be a number, got {value!r}")
            if not math.isfinite(value) or (name == "nonlinear" and value < 0):
                domain = "in [0, inf)" if name == "nonlinear" else "finite"
                raise ValueError(f"{name} must be {domain}, got {value!r}")
            object.__setattr__(self, name, float(value))


def activation(spec: "str | Activation | Function", *, slope: float | None = None) -> Activation:
    """Return the activation for a name, an `Activation` or any callable on arrays.

    `slope` is the slope of "leaky_relu" below zero (0.01 unless given).

    >>> activation("erf").linear == 2 / math.sqrt(3 * math.pi)
    True
    >>> bent = activation(lambda z: np.maximum(z, 0.0))  # a kink, found by adaptive quadrature
    >>> abs(bent.nonlinear - activation("relu").nonlinear) < 1e-13
    True
    """
    if isinstance(spec, Activation):
        return spec
    if isinstance(spec, str):
        name = spec.strip().lower().replace(" ", "_").replace("-", "_")
        if name not in _NAMED:
            raise ValueError(f"activation must be one of {', '.join(_NAMED)}, got {spec!r}")
        if slope is not None and name != "leaky_relu":
            raise ValueError(
                f"slope must be left out unless activation is leaky_relu, got {slope!r}"
            )
        return (
            _leaky_relu(0.01 if slope is None else slope) if name == "leaky_relu" else _named(name)
        )
    if callable(spec):
        return _from_callable(spec)
    raise TypeError(f"activation must be a name, an Activation or a callable, got {spec!r}")


# --- named activations -------------------------------------------------------------------------

_ROOT_2PI = math.sqrt(2 * math.pi)
_RELU_NONLINEAR = math.sqrt(0.25 - 0.5 / math.pi)


def _erf(z: FloatArray) -> npt.ArrayLike:
    from scipy.special import erf

    return erf(z)


def _gelu(z: FloatArray) -> npt.ArrayLike:
    from scipy.special import ndtr

    return z * ndtr(z)


def _softplus(z: FloatArray) -> npt.ArrayLike:
    return np.logaddexp(0.0, z)


def _sigmoid(z: FloatArray) -> npt.ArrayLike:
    return 0.5 + 0.5 * np.tanh(0.5 * z)


# name: (function, (μ₀, μ₁, μ⋆²)), or None where only quadrature gives the moments.
_NAMED: dict[str, tuple[Function, tuple[float, float, float] | None]] = {
    "relu": (lambda z: np.maximum(z, 0.0), (1 / _ROOT_2PI, 0.5, 0.25 - 0.5 / math.pi)),
    "leaky_relu": (lambda z: np.maximum(z, 0.01 * z), None),  # see _leaky_relu
    "tanh": (np.tanh, None),
    # E erf(z)² = (2/π) asin(2/3)
    "erf": (
        _erf,
        (0.0, 2 / math.sqrt(3 * math.pi), (2 * math.asin(2 / 3) - 4 / 3) / math.pi),
    ),
    "sigmoid": (_sigmoid, None),
    "sign": (np.sign, (0.0, 2 / _ROOT_2PI, 1 - 2 / math.pi)),
    "abs": (np.abs, (2 / _ROOT_2PI, 0.0, 1 - 2 / math.pi)),
    # σ = z Φ(z): E σ² = 1/3 + 1/(2π√3), by Stein's identity twice
    "gelu": (
        _gelu,
        (0.5 / math.sqrt(math.pi), 0.5, 1 / 12 + (2 / math.sqrt(3) - 1) / (4 * math.pi)),
    ),
    "softplus": (_softplus, None),
    "sin": (np.sin, (0.0, math.exp(-0.5), math.exp(-1) * (math.sinh(1) - 1))),
    "cos": (np.cos, (math.exp(-0.5), 0.0, math.exp(-1) * (math.cosh(1) - 1))),
    "linear": (lambda z: np.asarray(z), (0.0, 1.0, 0.0)),
    "quadratic": (lambda z: z * z - 1.0, (0.0, 0.0, 2.0)),  # He₂
}


@cache
def _named(name: str) -> Activation:
    function, moments = _NAMED[name]
    mean, linear, power = moments or _smooth_moments(function)
    return Activation(
        name=name, mean=mean, linear=linear, nonlinear=math.sqrt(power), function=function
    )


def _leaky_relu(slope: float) -> Activation:
    """σ(z) = a z + (1-a) relu(z)."""
    if isinstance(slope, bool) or not isinstance(slope, int | float) or not math.isfinite(slope):
        raise ValueError(f"slope must be a finite number, got {slope!r}")
    return Activation(
        name="leaky_relu" if slope == 0.01 else f"leaky_relu({slope:g})",
        mean=(1 - slope) / _ROOT_2PI,
        linear=(1 + slope) / 2,
        nonlinear=abs(1 - slope) * _RELU_NONLINEAR,
        function=lambda z: np.where(z > 0, z, slope * z),
    )


def _smooth_moments(function: Function) -> tuple[float, float, float]:
    """Moments of a function analytic near the real line, by the trapezoidal rule."""
    z = np.arange(0.5 * _STEP, _EDGE, _STEP)
    weight = np.exp(-0.5 * z * z) * (_STEP / _ROOT_2PI)
    right, left = np.asarray(function(z)), np.asarray(function(-z))
    mean = float(weight @ (right + left))
    linear = float(weight @ (z * (right - left)))
    rest = (right - mean - linear * z) ** 2 + (left - mean + linear * z) ** 2
    return mean, linear, float(weight @ rest)


# --- any callable ------------------------------------------------------------------------------


def _from_callable(function: Callable[..., Any]) -> Activation:
    """Moments of a user's function; kinks and jumps are found by bisection."""
    name = getattr(function, "__name__", type(function).__name__)
    sigma = _vectorized(function)
    scale = _second_moment_scale(sigma, name)

    def mean_and_linear(z: FloatArray) -> FloatArray:
        right, left = _values(sigma, z, name), _values(sigma, -z, name)
        # even and odd parts apart: an even function has μ₁ = 0 exactly, an odd one μ₀ = 0
        return np.stack([right + left, z * (right - left)], axis=-1)

    mean, linear = (float(v) for v in _gaussian_integral(mean_and_linear, scale, name))

    def rest(z: FloatArray) -> FloatArray:
        right, left = _values(sigma, z, name), _values(sigma, -z, name)
        return ((right - mean - linear * z) ** 2 + (left - mean + linear * z) ** 2)[..., None]

    power = float(_gaussian_integral(rest, scale**2, name)[0])
    if power <= (1e-14 * scale) ** 2:  # rounding of a function that is linear
        power = 0.0
    return Activation(
        name=name, mean=mean, linear=linear, nonlinear=math.sqrt(power), function=sigma
    )


def _vectorized(function: Callable[..., Any]) -> Function:
    """Accept functions of one number as well (math.tanh, or `lambda z: max(z, 0)`)."""
    try:
        function(np.array([-1.0, 0.5]))
    except (TypeError, ValueError):
        try:
            function(0.5)
        except Exception:  # noqa: BLE001 - the error that matters is the one on an array
            return function
        return lambda z: np.array([function(float(v)) for v in z.ravel()]).reshape(z.shape)
    return function


def _values(function: Function, z: FloatArray, name: str) -> FloatArray:
    """Evaluate a user's function and check what comes back."""
    raw = np.asarray(function(z))
    if raw.shape != z.shape:
        raise ValueError(
            f"activation must return an array of the shape it is given, {name} got {z.shape} "
            f"and returned {raw.shape}"
        )
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"activation must return real numbers, got {raw.dtype} from {name}")
    values = raw.astype(np.float64)
    if not np.isfinite(values).all():
        at = z[~np.isfinite(values)].ravel()[0]
        bad = values[~np.isfinite(values)].ravel()[0]
        raise ValueError(f"activation must return finite numbers, got {bad} from {name}({at:.6g})")
    return values


def _second_moment_scale(function: Function, name: str) -> float:
    """Root of a rough E σ²: the yardstick of the tolerances; refuses functions without one."""
    z = np.linspace(-_EDGE, _EDGE, 2311)
    with np.errstate(over="ignore"):
        mass = _values(function, z, name) ** 2 * np.exp(-0.5 * z * z)
    power = float(mass.sum())
    if not math.isfinite(power) or mass[0] + mass[-1] > 1e-12 * power:
        raise ValueError(
            f"activation must have a finite second moment under a Gaussian, got {name}, which "
            "grows too fast"
        )
    return math.sqrt(power * (z[1] - z[0]) / _ROOT_2PI)


def _gaussian_integral(
    integrand: Callable[[FloatArray], FloatArray], scale: float, name: str
) -> FloatArray:
    """∫₀^∞ integrand(z) φ(z) dz, elementwise over the last axis, to about 13 digits."""
    from scipy.integrate import cubature

    def weighted(points: FloatArray) -> FloatArray:
        z = points[:, 0]
        return integrand(z) * (np.exp(-0.5 * z * z) / _ROOT_2PI)[:, None]

    pieces = [[v] for v in (1.0, 2.0, 4.0, 8.0, 16.0)]
    result = cubature(
        weighted, [0.0], [_EDGE], rule="gk21", rtol=2e-14, atol=2e-15 * scale,
        max_subdivisions=4000, points=pieces,
    )  # fmt: skip
    if float(np.max(np.abs(result.error))) > 1e-11 * scale:
        raise ValueError(
            f"activation must be integrable to 12 digits, got {name}, for which adaptive "
            f"quadrature left an error of {float(np.max(np.abs(result.error))):.1e}"
        )
    return np.asarray(result.estimate)
