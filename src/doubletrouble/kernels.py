r"""The kernel of infinitely many random features, and averages of features over Gaussian inputs.

In the limit P → ∞ ridge regression on random features is kernel ridge regression with

    K(x, x') = E_θ σ(θ·x/√D) σ(θ·x'/√D),        θ ~ N(0, 1_D)          [dascoli2020] Sec. 2.2

(in the paper θ is uniform on the sphere of radius √D, which is the same for D → ∞). It depends on
a = |x|²/D, b = |x'|²/D and c = x·x'/D alone: θ·x/√D and θ·x'/√D are Gaussian with these variances
and this covariance. By symmetry the same functions are the averages over a Gaussian test point x of
two features with weights θ, θ':

    mean(a) = E σ(u),    slope(a) = E σ'(u),    overlap(a, b, c) = E σ(u) σ(v).

Closed forms are known for many activations: the overlap of ReLU features is the arc-cosine kernel
[cho2009]; that of erf features is in [williams1998].

**Other activations.** With normalized Hermite polynomials h_k and the correlation ρ = c/√(ab),

    K = Σ_k c_k(a) c_k(b) ρᵏ,        c_k(a) = E σ(√a z) h_k(z)          (Mehler)

The series is truncated when Σ_k c_k(a)² is E σ(√a z)² to 1e-14 for every row; or after a thousand
terms, and then the remainders of the even and of the odd terms at ρ = ±1 are added to the next two
powers, so that the kernel is exact at ρ = ±1 however slowly the coefficients of a kink decay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from doubletrouble.activations import Activation, Function, activation_values, is_named
from doubletrouble.activations import activation as known_activation
from doubletrouble.parameters import Array, FloatArray, check_flag

_REACH, _SPACING = 12.0, 0.005  # of the nodes in z: the density outside is below rounding
_ORDERS = 1024  # the largest number of Hermite polynomials
_CHUNK = 64  # polynomials per check of convergence
_CONVERGED = 1e-14
_CACHED = 2**15  # entries of a block of rows: it stays in the cache


def kernel(
    activation: str | Activation | Function,
    X: npt.ArrayLike,
    X2: npt.ArrayLike | None = None,
    *,
    center: bool = False,
) -> FloatArray:
    """Return the kernel K(x, x') of infinitely many random features with an activation.

    Parameters
    ----------
    activation : str or Activation or callable
        A name, an `Activation` or a function of an array.
    X : array_like
        Inputs, (n, D), finite.
    X2 : array_like or None, default: None
        Other inputs, (m, D); `X` unless given.
    center : bool, default: False
        Subtract the mean μ₀ of the activation first, as the theory does.

    Returns
    -------
    numpy.ndarray
        The matrix (n, m): E σ(θ·x/√D) σ(θ·x'/√D) over Gaussian θ. It is exact where a closed form
        is known (relu, leaky_relu, abs, linear, sign, erf, sin, cos, quadratic), 1e-12 for other
        smooth activations, and about 1e-6 for functions with kinks.

    Raises
    ------
    ValueError
        For an unknown activation or one without a function, inputs that are not finite or not
        two-dimensional, or a different number of columns.
    TypeError
        If inputs are not arrays of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> X = [[1.0, 1.0], [1.0, -1.0]]
    >>> dt.kernel("relu", X).round(4)
    array([[0.5   , 0.1592],
           [0.1592, 0.5   ]])
    """
    sigma = known_activation(activation)
    check_flag("center", center)
    x = _inputs("X", X)
    other = x if X2 is None else _inputs("X2", X2)
    if x.shape[1] != other.shape[1]:
        raise ValueError(f"X2 must have {x.shape[1]} columns like X, got shape {other.shape}")
    dim = x.shape[1]
    c: FloatArray = x @ other.T / dim
    if X2 is None:  # same rounding, so that the correlation of a row with itself is 1
        a = b = np.diagonal(c).copy()
    else:
        a, b = (np.einsum("nd,nd->n", v, v) / dim for v in (x, other))
    known = closed_form(sigma)
    mean = sigma.mean if center else 0.0
    if known is None:
        return _series(sigma, mean, a, b, c)
    step = max(1, _CACHED // len(b))
    for rows in (slice(start, start + step) for start in range(0, len(a), step)):  # in place
        c[rows] = known.overlap(a[rows, None], b[None, :], c[rows])
        if mean:
            c[rows] -= mean * (known.mean(a[rows])[:, None] + known.mean(b)[None, :]) - mean**2
    return c


def _inputs(name: str, values: npt.ArrayLike) -> FloatArray:
    try:
        inputs = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers, got {values!r}") from None
    if inputs.ndim != 2 or not inputs.size:
        raise ValueError(f"{name} must have a row for each input, got shape {inputs.shape}")
    if not np.isfinite(inputs).all():
        raise ValueError(f"{name} must be finite, got {inputs[~np.isfinite(inputs)][0]!r}")
    return inputs


def _series(
    sigma: Activation, mean: float, a: FloatArray, b: FloatArray, c: FloatArray
) -> FloatArray:
    """The kernel of any activation by its Hermite coefficients."""
    if sigma.function is None:
        raise ValueError(f"activation must have a function to have a kernel, got {sigma!r}")
    # not np.arange(-_REACH, _REACH, _SPACING), whose spacing is off by 2e-13 of itself
    half = round(_REACH / _SPACING)
    z = np.arange(-half, half + 1) * _SPACING  # (Q,)
    density = np.exp(-0.5 * z * z) * (_SPACING / math.sqrt(2 * math.pi))
    n, both = a.size, a if b is a else np.concatenate([a, b])
    values = activation_values(sigma.function, np.sqrt(both)[:, None] * z, sigma.name) - mean
    coefs = np.empty((0, both.size))  # c_k of each row
    power = (values * values) @ density  # Σ_k c_k²
    rest = power  # of the orders that are not yet in `coefs`
    even = odd = np.zeros((n, 1))
    for polynomials in _hermite(z):
        chunk = (polynomials * density) @ values.T
        coefs, rest = np.vstack([coefs, chunk]), rest - np.sum(chunk**2, axis=0)
        if np.all(np.abs(rest) <= _CONVERGED * power):
            break
    else:
        left, right = values[:n] * density, values[-b.size :]
        signs = (-1.0) ** np.arange(_ORDERS)[:, None]
        plus, minus = (
            left @ side.T - coefs[:, :n].T @ (sign * coefs[:, -b.size :])  # at ρ = 1 and -1
            for side, sign in ((right, 1.0), (right[:, ::-1], signs))
        )
        even, odd = (plus + minus) / 2, (plus - minus) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.nan_to_num(c / np.sqrt(np.outer(a, b)))
    rho = np.clip(rho, -1.0, 1.0)
    total = np.empty_like(c)
    step = max(_CACHED // b.size, 1)
    for rows in (slice(start, start + step) for start in range(0, a.size, step)):
        r, value = rho[rows], even[rows] + odd[rows] * rho[rows]
        term = np.empty_like(value)
        for c_k in coefs[::-1]:  # Horner's rule
            value *= r
            value += np.multiply(c_k[:n][rows, None], c_k[-b.size :], out=term)
        total[rows] = value
    return total


def _hermite(z: npt.NDArray[np.floating]) -> Iterator[FloatArray]:
    """Normalized Hermite polynomials at z, (_CHUNK, Q) at a time, up to order _ORDERS."""
    before, now = np.zeros_like(z), np.ones_like(z)  # h_{k-1} and h_k
    for start in range(0, _ORDERS, _CHUNK):
        chunk = np.empty((_CHUNK, z.size))
        for k in range(start, start + _CHUNK):
            chunk[k - start] = now
            before, now = now, (z * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        yield chunk


@dataclass(frozen=True, kw_only=True)
class GaussianAverages:
    """Test averages of one activation; arguments are arrays of one library, and broadcast."""

    mean: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    overlap: Callable[[Array, Array, Array], Array]


def closed_form(activation: Activation) -> GaussianAverages | None:
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
    """The correlation of u and v, clipped to [-1, 1]; 0 where a variance is 0."""
    xp = array_namespace(a, b, c)
    size = xp.sqrt(a * b)
    return xp.clip(c / xp.where(size > 0, size, xp.ones_like(size)), -1.0, 1.0)


def _relu(a: Array, b: Array, c: Array) -> Array:
    xp = array_namespace(a, b, c)
    cosine = _cosine(a, b, c)
    sine = xp.sqrt(1.0 - cosine * cosine)
    return (xp.sqrt(a * b) * sine + c * (math.pi - xp.acos(cosine))) / (2 * math.pi)


def _sign(a: Array, b: Array, c: Array) -> Array:
    xp, cosine = array_namespace(a, b, c), _cosine(a, b, c)
    # asin would turn a rounding of 1e-16 at ±1 into 1e-8
    parallel = 1.0 - xp.abs(cosine) < 8 * xp.finfo(cosine.dtype).eps
    return xp.asin(xp.where(parallel, xp.sign(cosine), cosine)) * (2 / math.pi)


def _erf(a: Array, b: Array, c: Array) -> Array:
    xp = array_namespace(a, b, c)
    return xp.asin(2 * c / xp.sqrt((1 + 2 * a) * (1 + 2 * b))) * (2 / math.pi)


def _root_mean(a: Array) -> Array:
    """E max(u, 0) = √(a/2π)."""
    return array_namespace(a).sqrt(a / (2 * math.pi))


def _exp(a: Array) -> Array:
    return array_namespace(a).exp(-0.5 * a)


def _cos(a: Array, b: Array, c: Array) -> Array:
    """e^{-(a+b)/2} cosh c, in exponentials that do not overflow, since |c| ≤ (a+b)/2."""
    xp, half = array_namespace(a, b, c), 0.5 * (a + b)
    return 0.5 * (xp.exp(c - half) + xp.exp(-c - half))


def _sin(a: Array, b: Array, c: Array) -> Array:
    """e^{-(a+b)/2} sinh c, without overflow and without cancellation for small c."""
    xp = array_namespace(a, b, c)
    size = xp.abs(c)
    return -0.5 * xp.sign(c) * xp.exp(size - 0.5 * (a + b)) * xp.expm1(-2 * size)


def _leaky(slope: float) -> GaussianAverages:
    """σ(z) = s z + (1-s) max(z, 0)."""
    rest = 1 - slope
    return GaussianAverages(
        mean=lambda a: rest * _root_mean(a),
        slope=lambda a: 0 * a + (1 + slope) / 2,
        overlap=lambda a, b, c: slope * c + rest**2 * _relu(a, b, c),
    )


_FORMS: dict[str, GaussianAverages] = {
    "relu": _leaky(0.0),
    "leaky_relu": _leaky(0.01),
    "abs": GaussianAverages(
        mean=lambda a: 2 * _root_mean(a),
        slope=lambda a: 0 * a,
        overlap=lambda a, b, c: 4 * _relu(a, b, c) - c,
    ),
    "linear": GaussianAverages(
        mean=lambda a: 0 * a, slope=lambda a: 0 * a + 1, overlap=lambda a, b, c: c + 0 * a + 0 * b
    ),
    "sign": GaussianAverages(
        mean=lambda a: 0 * a,
        slope=lambda a: 1 / array_namespace(a).sqrt(a * (math.pi / 2)),
        overlap=_sign,
    ),
    "erf": GaussianAverages(
        mean=lambda a: 0 * a,
        slope=lambda a: 2 / array_namespace(a).sqrt(math.pi * (1 + 2 * a)),
        overlap=_erf,
    ),
    "sin": GaussianAverages(
        mean=lambda a: 0 * a,
        slope=_exp,
        overlap=_sin,
    ),
    "cos": GaussianAverages(
        mean=_exp,
        slope=lambda a: 0 * a,
        overlap=_cos,
    ),
    "quadratic": GaussianAverages(  # z² - 1
        mean=lambda a: a - 1,
        slope=lambda a: 0 * a,
        overlap=lambda a, b, c: (a - 1) * (b - 1) + 2 * c * c,
    ),
}

CLOSED = tuple(_FORMS)
"""Names of the activations with closed forms."""
