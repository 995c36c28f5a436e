r"""Gaussian moments of a function: μ₀ = E σ(z), μ₁ = E z σ(z), μ⋆² = E (σ(z) - μ₀ - μ₁ z)².

Functions analytic near the real line take the trapezoidal rule; any other takes adaptive
quadrature, started from pieces that isolate the jumps and kinks seen on a fine grid. μ⋆² is
integrated as a square, not as E σ² - μ₀² - μ₁², which would cancel.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Function: TypeAlias = Callable[[FloatArray], npt.ArrayLike]

ROOT_2PI = math.sqrt(2 * math.pi)
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
    """Moments of any function with a finite second one, to 12 digits; `name` is for messages.

    >>> jump = any_moments(lambda z: (z > 0.3).astype(float), "jump")
    >>> abs(jump.mean - 0.5 * math.erfc(0.3 / math.sqrt(2))) < 1e-14
    True
    """
    size, precision, pieces = _survey(function, name)
    if size == 0:
        return Moments(0.0, 0.0, 0.0)

    def both(z: float) -> tuple[float, float]:
        right, left = values(function, np.array([z, -z]), name) / size
        return right, left

    def mean_and_linear(z: float) -> FloatArray:
        right, left = both(z)
        # even and odd parts apart: an even function has μ₁ = 0 exactly, an odd one μ₀ = 0
        return np.array([right + left, z * (right - left)])

    mean, linear = _integral(mean_and_linear, pieces, 50 * precision, name)

    def rest(z: float) -> FloatArray:
        right, left = both(z)
        return np.array([(right - mean - linear * z) ** 2 + (left - mean + linear * z) ** 2])

    # rounding of σ, of relative size `precision`, is what limits a small remainder
    z = np.linspace(0.0, 8.0, 4001)
    rough = float(np.mean([rest(v)[0] * math.exp(-0.5 * v * v) for v in z])) * 8 / ROOT_2PI
    floor = precision * (math.sqrt(rough) + 10 * precision)
    (power,) = _integral(rest, pieces, floor, name)
    # below: rounding of a linear function
    nonlinear = math.sqrt(power) if power > (100 * precision) ** 2 else 0.0
    return Moments(float(mean) * size, float(linear) * size, nonlinear * size)


def values(function: Function, z: FloatArray, name: str) -> FloatArray:
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

    The size is that of σ(z) under the root of the Gaussian; the cuts of z > 0 are coarse, and close
    around every bend. Functions without a second moment raise ValueError.
    """
    far = np.linspace(16.0, _EDGE, 1000)
    near = np.arange(-16.0, 16.0, _FINE)
    z = np.concatenate([-far[::-1], near, far])
    seen = values(function, z, name) * np.exp(-0.25 * z * z)
    size = float(np.abs(seen).max())
    if np.abs(seen[[0, -1]]).sum() > 1e-6 * size:
        raise ValueError(
            "activation must have a finite second moment under a Gaussian, got "
            f"{name}, which grows too fast"
        )
    inner = seen[far.size : -far.size]
    bend = np.abs(inner[2:] - 2 * inner[1:-1] + inner[:-2])
    around = np.maximum(np.roll(bend, 3), np.roll(bend, -3))  # a smooth function bends there, too
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
    low, high = values(function, np.array(cuts), name)
    while (middle := 0.5 * (left + right)) not in (left, right):
        (value,) = values(function, np.array([middle]), name)
        if abs(value - low) > abs(value - high):
            right, high = middle, value
        else:
            left, low = middle, value
    if abs(high - low) > 1e-9 * (abs(high) + abs(low)):
        return [*cuts, left, right]
    kink, half = 0.5 * sum(cuts), _FINE
    for _ in range(3):  # intersection of the lines from both sides, iterated
        z = kink + half * np.array([-2.0, -1.0, 1.0, 2.0])
        f0, f1, f2, f3 = values(function, z, name)
        if f1 - f0 == f3 - f2:
            break
        rise = (f2 - f1) - (f1 - f0) - (f3 - f2)  # of the middle, beyond both slopes
        kink += half * float(np.clip(rise / ((f1 - f0) - (f3 - f2)), -1, 1))
        half /= 64
    return [*cuts, kink]


def _integral(
    integrand: Callable[[float], FloatArray], pieces: list[float], tolerance: float, name: str
) -> FloatArray:
    """∫₀^∞ integrand(z) φ(z) dz for a vector of integrands, to 12 digits or `tolerance`."""
    from scipy.integrate import quad_vec

    integrate: Any = quad_vec
    result, error = integrate(
        lambda z: integrand(z) * (math.exp(-0.5 * z * z) / ROOT_2PI),
        0.0, _EDGE, epsabs=tolerance, epsrel=5e-14, norm="max", limit=5_000, quadrature="gk21",
        points=pieces,
    )  # fmt: skip
    if error > max(100 * tolerance, 1e-12 * float(np.max(np.abs(result)))):
        raise ValueError(
            f"activation must be integrable to 12 digits, got {name}, for which adaptive "
            f"quadrature left an error of {error:.1e}"
        )
    return np.asarray(result)
