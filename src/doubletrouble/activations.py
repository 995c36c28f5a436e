r"""Activation functions and their Gaussian moments.

For z ~ N(0, 1), an activation σ enters the high-dimensional limit only through

    μ₀ = E σ(z),    μ₁ = E z σ(z),    μ⋆² = E (σ(z) - μ₀ - μ₁ z)²

[dascoli2020] App. B, Assumption 1. μ₁ weights the linear part of the features, μ⋆ the nonlinear
part, which acts as noise. The theory centres the activation (μ₀ is subtracted), as the paper does.

Named activations use closed forms where they exist. Other functions that are analytic near the real
line take the trapezoidal rule; any other callable takes adaptive quadrature, started from pieces
that isolate the jumps and kinks detected on a fine grid. μ⋆² is integrated as a square, not as
E σ² - μ₀² - μ₁², which would cancel.
"""

from __future__ import annotations  # help() then shows the alias Function

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, is_array_api_obj

from doubletrouble.parameters import Array, FloatArray

Function: TypeAlias = Callable[[FloatArray], npt.ArrayLike]

ROOT_2PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True, kw_only=True)
class Activation:
    """An activation and its Gaussian moments; `activation` makes one.

    Parameters
    ----------
    name : str
        The name, for messages and printed problems.
    mean : float
        μ₀ = E σ(z).
    linear : float
        μ₁ = E z σ(z).
    nonlinear : float
        μ⋆, the root of E (σ(z) - μ₀ - μ₁ z)²; at least 0.
    function : callable or None, default: None
        σ itself, on arrays. Without it the theory applies, but no simulation and no kernel.

    Raises
    ------
    ValueError
        If a moment is not finite, or `nonlinear` is negative.
    TypeError
        If a moment is not a number.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> relu = dt.activation("relu")
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

    Parameters
    ----------
    spec : str or Activation or callable
        A name: "relu", "leaky_relu", "erf", "sign", "abs", "gelu", "sin", "cos", "linear",
        "quadratic", "tanh", "sigmoid" or "softplus"; or a function of an array (or of a number),
        whose moments are integrated to 12 digits. An `Activation` is returned as it is.
    slope : float or None, default: None
        The slope of "leaky_relu" below zero, 0.01 unless given.

    Returns
    -------
    Activation
        The activation with its moments μ₀, μ₁ and μ⋆.

    Raises
    ------
    ValueError
        For an unknown name, a `slope` of another activation, or a function that fails, returns
        other shapes or numbers that are not finite, or has no finite second moment.
    TypeError
        If `spec` is none of these, or the function raises it or does not return real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import doubletrouble as dt
    >>> round(dt.activation("erf").linear, 6)
    0.65147
    >>> bent = dt.activation(lambda z: np.maximum(z, 0.0))  # a kink: adaptive quadrature
    >>> abs(bent.nonlinear - dt.activation("relu").nonlinear) < 1e-13
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
    """Whether an activation is built in, not a user's function of the same name."""
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
    moments = smooth_moments(both) if smooth else any_moments(both, f"{a.name} + {b.name}")
    # for unit vectors |a + 2b|² = 5 + 4 ⟨a, b⟩, which never vanishes
    return max(-1.0, min(1.0, (moments.nonlinear**2 - 5) / 4))


def _finite(name: str, value: object) -> float:
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


# For NumPy arrays and torch tensors: simulations evaluate them on either.


def _library(z: Array) -> Any:
    return array_namespace(z) if is_array_api_obj(z) else np


def _standard(z: Array, name: str) -> Array:
    """A function of the array API standard, by name."""
    return getattr(_library(z), name)(z)


def _special(z: Array, name: str) -> Array:
    """A special function of torch, or of SciPy for NumPy arrays."""
    xp = _library(z)
    if not hasattr(xp, name):
        import scipy.special as xp
    return getattr(xp, name)(z)


def _relu(z: Array) -> Array:
    return _library(z).clip(z, 0.0, None)


def _leaky(z: Array, slope: float) -> Array:
    return _library(z).where(z > 0, z, slope * z)


def _gelu(z: Array) -> Array:
    return 0.5 * z * _special(z * -math.sqrt(0.5), "erfc")


def _softplus(z: Array) -> Array:
    return _library(z).logaddexp(z, 0 * z)


def _sigmoid(z: Array) -> Array:
    return 0.5 + 0.5 * _standard(0.5 * z, "tanh")


def _quadratic(z: Array) -> Array:
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
        _gelu,
        0.5 / math.sqrt(math.pi),
        0.5,
        1 / 12 + (2 / math.sqrt(3) - 1) / (4 * math.pi),
    ),
    "sin": (_SIN, 0.0, math.exp(-0.5), math.exp(-1) * (math.sinh(1) - 1)),
    "cos": (_COS, math.exp(-0.5), 0.0, math.exp(-1) * (math.cosh(1) - 1)),
    "linear": (_POSITIVE, 0.0, 1.0, 0.0),
    "quadratic": (_quadratic, 0.0, 0.0, 2.0),
}

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


def _leaky_relu(slope: object) -> Activation:
    """σ(z) = a z + (1-a) relu(z)."""
    a = _finite("slope", slope)
    return Activation(
        name="leaky_relu" if a == 0.01 else f"leaky_relu({a:g})",
        mean=(1 - a) / ROOT_2PI,
        linear=(1 + a) / 2,
        nonlinear=abs(1 - a) * _RELU_NONLINEAR,
        function=partial(_leaky, slope=a),
    )


# --- any callable ------------------------------------------------------------------------------


def _from_callable(function: Function) -> Activation:
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


# --- Gaussian moments ----------------------------------------------------------------------------

# The Gaussian density underflows beyond this point.
_EDGE = 38.5
# With this step the error of the trapezoidal rule for tanh (poles at ±iπ/2) is below 1e-130.
_STEP = 1 / 32
# Spacing of the grid for jumps and kinks, and their threshold relative to the function's size.
_FINE = 1 / 1024
_BEND = 1e-5
_MOST_BENDS = 5000
_EPS = float(np.finfo(np.float64).eps)


class Moments(NamedTuple):
    """μ₀, μ₁ and μ⋆."""

    mean: float
    linear: float
    nonlinear: float


def smooth_moments(function: Function) -> Moments:
    """Moments of a function analytic near the real line.

    >>> mean, linear, nonlinear = smooth_moments(np.tanh)
    >>> mean, round(linear, 10), round(nonlinear, 10)
    (0.0, 0.6057055096, 0.1655757411)
    """
    z = np.arange(0.5 * _STEP, _EDGE, _STEP)
    weight = np.exp(-0.5 * z * z) * (_STEP / ROOT_2PI)
    right, left = np.asarray(function(z)), np.asarray(function(-z))
    mean = float(weight @ (right + left))
    linear = float(weight @ (z * (right - left)))
    rest = (right - mean - linear * z) ** 2 + (left - mean + linear * z) ** 2
    return Moments(mean, linear, math.sqrt(float(weight @ rest)))


def any_moments(function: Function, name: str) -> Moments:
    """Moments of any function with a finite second moment, to 12 digits.

    `name` is the name of the function in messages.


    >>> jump = any_moments(lambda z: (z > 0.3).astype(float), "jump")
    >>> abs(jump.mean - 0.5 * math.erfc(0.3 / math.sqrt(2))) < 1e-14
    True
    """
    size, precision, pieces = _survey(function, name)
    if size == 0:
        return Moments(0.0, 0.0, 0.0)

    def both(z: float) -> tuple[float, float]:
        right, left = activation_values(function, np.array([z, -z]), name) / size
        return right, left

    def mean_and_linear(z: float) -> FloatArray:
        right, left = both(z)
        # even and odd parts are separate: μ₁ of an even function and μ₀ of an odd one are exactly 0
        return np.array([right + left, z * (right - left)])

    mean, linear = _integral(mean_and_linear, pieces, 50 * precision, name)

    def rest(z: float) -> FloatArray:
        right, left = both(z)
        return np.array([(right - mean - linear * z) ** 2 + (left - mean + linear * z) ** 2])

    # rounding of σ, of relative size `precision`, limits the accuracy of a small remainder
    z = np.linspace(0.0, 8.0, 4001)
    rough = float(np.mean([rest(v)[0] * math.exp(-0.5 * v * v) for v in z])) * 8 / ROOT_2PI
    floor = precision * (math.sqrt(rough) + 10 * precision)
    (power,) = _integral(rest, pieces, floor, name)
    # smaller values are rounding errors of a linear function
    nonlinear = math.sqrt(power) if power > (100 * precision) ** 2 else 0.0
    return Moments(float(mean) * size, float(linear) * size, nonlinear * size)


def activation_values(function: Function, z: FloatArray, name: str) -> FloatArray:
    """Evaluate a user's function on a copy of z, and validate the result."""
    with np.errstate(all="ignore"):
        try:
            returned = function(z.copy())
            raw = np.asarray(returned)
        except Exception as error:
            kind = type(error).__name__
            raise ValueError(
                f"activation must be a function of an array, got {name}, which failed at "
                f"z = {z.ravel()[0]:.6g} with {kind}: {error}"
            ) from error
    if isinstance(returned, np.ndarray) and np.any(getattr(returned, "mask", False)):
        raise ValueError(f"activation must return plain numbers, got masked ones from {name}")
    if raw.shape != z.shape:
        raise ValueError(
            f"activation must return an array of the shape it is given, {name} got {z.shape} "
            f"and returned {raw.shape}"
        )
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"activation must return real numbers, got {raw.dtype} from {name}")
    result = raw.astype(np.float64)
    if not np.isfinite(result).all():
        at, bad = (v[~np.isfinite(result)].ravel()[0] for v in (z, result))
        raise ValueError(f"activation must return finite numbers, got {bad} from {name}({at:.6g})")
    return result


def _survey(function: Function, name: str) -> tuple[float, float, list[float]]:
    """Evaluate the function on a fine grid: size, precision, and break points of the integral.

    The size is that of σ(z) times the root of the Gaussian; the break points of z > 0 are coarse,
    with closer ones around every jump and kink. Functions without a second moment raise ValueError.
    """
    far = np.linspace(16.0, _EDGE, 1000)
    near = np.arange(-16.0, 16.0, _FINE)
    z = np.concatenate([-far[::-1], near, far])
    seen = activation_values(function, z, name) * np.exp(-0.25 * z * z)
    size = float(np.abs(seen).max())
    if np.abs(seen[[0, -1]]).sum() > 1e-6 * size:
        raise ValueError(
            "activation must have a finite second moment under a Gaussian, got "
            f"{name}, which grows too fast"
        )
    inner = seen[far.size : -far.size]
    bend = np.abs(inner[2:] - 2 * inner[1:-1] + inner[:-2])
    around = np.maximum(np.roll(bend, 3), np.roll(bend, -3))  # curvature of a smooth function
    sharp = np.flatnonzero((bend > _BEND * size) & (bend > 4 * around))
    bends = near[1:-1][sharp[np.argsort(bend[sharp])[::-1][:_MOST_BENDS]]]
    sides = [_located(function, b - _FINE, b + _FINE, name) for b in bends]
    coarse = [*np.arange(0.5, 10, 0.5), 12, 16, 24]
    cuts = np.unique(np.abs(np.concatenate([coarse, *sides])))
    kind = np.asarray(function(z[:2].copy())).dtype
    precision = float(np.finfo(kind if kind.kind == "f" else np.float64).eps)
    return size, max(precision, _EPS), [float(c) for c in cuts if 0 < c < _EDGE]


def _located(function: Function, left: float, right: float, name: str) -> list[float]:
    """Break points around a bend: the two floats at a jump, the position of a kink."""
    cuts = [left, right]
    low, high = activation_values(function, np.array(cuts), name)
    while (middle := 0.5 * (left + right)) not in (left, right):
        (value,) = activation_values(function, np.array([middle]), name)
        if abs(value - low) > abs(value - high):
            right, high = middle, value
        else:
            left, low = middle, value
    if abs(high - low) > 1e-9 * (abs(high) + abs(low)):
        return [*cuts, left, right]
    kink, half = 0.5 * sum(cuts), _FINE
    for _ in range(3):  # intersection of the lines from both sides, iterated
        z = kink + half * np.array([-2.0, -1.0, 1.0, 2.0])
        f0, f1, f2, f3 = activation_values(function, z, name)
        if f1 - f0 == f3 - f2:
            break
        rise = (f2 - f1) - (f1 - f0) - (f3 - f2)  # of the middle, relative to both slopes
        kink += half * float(np.clip(rise / ((f1 - f0) - (f3 - f2)), -1, 1))
        half /= 64
    return [*cuts, kink]


def _integral(
    integrand: Callable[[float], FloatArray], pieces: list[float], tolerance: float, name: str
) -> FloatArray:
    """∫₀^∞ integrand(z) φ(z) dz for a vector of integrands, to 12 digits or `tolerance`."""
    from scipy.integrate import quad_vec

    integrate: Callable[..., tuple[FloatArray, float]] = quad_vec
    result, error = integrate(
        lambda z: integrand(z) * (math.exp(-0.5 * z * z) / ROOT_2PI),
        0.0,
        _EDGE,
        epsabs=tolerance,
        epsrel=5e-14,
        norm="max",
        limit=5_000,
        quadrature="gk21",
        points=pieces,
    )
    if error > max(100 * tolerance, 1e-12 * float(np.max(np.abs(result)))):
        raise ValueError(
            f"activation must be integrable to 12 digits, got {name}, for which adaptive "
            f"quadrature left an error of {error:.1e}"
        )
    return np.asarray(result)
