r"""Random features drawn for one draw: on two training sets, and what they are at a test point.

*features* is the true model, φ_h(x) = σ(θ_h·x/√D) - μ₀; *gaussian* its equivalent
φ_h(x) = μ₁ θ_h·x/√D + μ⋆ w_h with fresh Gaussian w for every sample ([dascoli2020] App. C).

At a Gaussian test point the features have a linear part V x, V = E_x φ(x) xᵀ, and a remainder ρ.
The test average of a product is V V'ᵀ + E_x ρ ρ'ᵀ. The first is exact. The second is known in the
Gaussian model, sampled at test points, or factorized where `kernels` has it in closed form.

**Without centring** (`center=False`) μ₀ is left in: every feature has the mean μ₀, so that Φ is a
random matrix plus μ₀ times the matrix of ones. The Gram matrix Φ Φᵀ then has one eigenvalue near
μ₀² N P, of order D² where all others are of order D, whose direction is that of constant labels.
The learner fits constants almost for free and loses one of N degrees of freedom: terms move by
O(1/D).
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.activations import (
    Activation,
    Function,
    any_moments,
    is_named,
    is_smooth,
    smooth_moments,
)
from doubletrouble.kernels import Array, GaussianAverages, closed_form
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation._place import ArrayDevice

if TYPE_CHECKING:
    from numpy.polynomial import Chebyshev

Slope = Callable[[FloatArray], FloatArray]


class Features(NamedTuple):
    """One set of features: on both training sets, and at a test point as a set of outputs."""

    train: tuple[Array, Array]  # (N, P) each
    outputs: Array  # (P, R): V, then ρ where it is correlated between feature sets
    own: float  # what each feature has at a test point for itself alone


def gaussian_features(
    activation: Activation, data: Sequence[Array], n_features: int, center: bool,
    rng: np.random.Generator, place: ArrayDevice,
) -> Features:  # fmt: skip
    """One set of features of the Gaussian model."""
    n, dim = data[0].shape
    linear = activation.linear * drawn_weights(rng, n_features, dim, place)
    mean = 0.0 if center else activation.mean
    train = [
        x @ linear.T + activation.nonlinear * place.normals(rng, (n, n_features)) + mean
        for x in data
    ]
    if mean:  # the same at every test point: one more output
        xp = array_namespace(linear)
        linear = xp.concat([linear, 0 * linear[:, :1] + mean], axis=1)
    return Features((train[0], train[1]), linear, activation.nonlinear)


def true_features(
    activation: Activation, data: Sequence[Array], test: Array | None, n_features: int,
    n_init: int, slope: Slope, center: bool, rng: np.random.Generator, place: ArrayDevice,
) -> list[Features]:  # fmt: skip
    """All sets of true random features; their remainder at `test` points, or exact if None."""
    dim = data[0].shape[1]
    thetas = [drawn_weights(rng, n_features, dim, place) for _ in range(n_init)]
    linears = [linear_part(theta, slope, place) for theta in thetas]
    mean = activation.mean if center else 0.0

    def phi(x: Array, theta: Array) -> Array:
        return evaluated(activation, x @ theta.T, place) - mean

    if test is None:
        rests = _exact_rests(activation, thetas, linears, mean)
    else:
        root = math.sqrt(test.shape[0])
        rests = [
            (phi(test, theta) - test @ linear.T).T / root
            for theta, linear in zip(thetas, linears, strict=True)
        ]
    found = []
    for theta, linear, rest in zip(thetas, linears, rests, strict=True):
        first, second = (phi(x, theta) for x in data)
        xp = array_namespace(linear)
        found.append(Features((first, second), xp.concat([linear, rest], axis=1), 0.0))
    return found


def drawn_weights(rng: np.random.Generator, n_features: int, dim: int, place: ArrayDevice) -> Array:
    """θ/√D of every feature."""
    return place.normals(rng, (n_features, dim)) / math.sqrt(dim)


def linear_part(theta: Array, slope: Slope, place: ArrayDevice) -> Array:
    """V = E_x φ(x) xᵀ."""
    xp = array_namespace(theta)
    return place.put(slope(place.take(xp.sum(theta * theta, axis=1))))[:, None] * theta


def evaluated(activation: Activation, values: Array, place: ArrayDevice) -> Array:
    """σ of an array; a user's own function is evaluated by NumPy."""
    sigma = activation.function
    assert sigma is not None  # slope_by_power has asked
    if place.device == "cpu" or is_named(activation):
        return sigma(values)
    return place.put(np.asarray(sigma(place.take(values))))


def _exact_rests(
    activation: Activation, thetas: Sequence[Array], linears: Sequence[Array], mean: float
) -> list[Array]:
    """A factor F of the remainder's covariance over all feature sets: F Fᵀ = E ρ ρᵀ."""
    known = closed_form(activation)
    assert known is not None  # asked at the door
    xp = array_namespace(thetas[0])
    theta, linear = xp.concat(list(thetas), axis=0), xp.concat(list(linears), axis=0)
    overlap = centred_overlap(known, theta, theta, mean)
    count, precision = overlap.shape[0], xp.finfo(overlap.dtype)
    # covariances of low rank (quadratic) or none (linear) are negative by rounding
    lift = 10 * count * precision.eps * float(xp.max(xp.linalg.diagonal(overlap)))
    eye = xp.eye(count, dtype=overlap.dtype, device=overlap.device)
    factor = xp.linalg.cholesky(overlap - linear @ linear.T + lift * eye)
    size = count // len(thetas)
    return [factor[size * j : size * (j + 1), :] for j in range(len(thetas))]


def centred_overlap(known: GaussianAverages, x: Array, z: Array, mean: float) -> Array:
    """E (σ(u) - mean)(σ(v) - mean) for u, v with the scalar products of the rows of x and z."""
    xp = array_namespace(x, z)
    a, b, c = xp.sum(x * x, axis=1)[:, None], xp.sum(z * z, axis=1)[None, :], x @ z.T
    if z is x:  # to the last bit: an angle of zero is sensitive
        eye = xp.eye(c.shape[0], dtype=c.dtype, device=c.device)
        c = c + eye * (a - c)
    raw = known.overlap(a, b, c)
    return raw - mean * (known.mean(a) + known.mean(b)) + mean**2


def slope_by_power(activation: Activation, dim: int) -> Slope:
    """E σ'(u) as a function of the variance a = |θ|²/D of u, so that E_x φ(x) xᵀ = slope(a) θ/√D.

    In closed form, or interpolated between exact integrals where |θ|² is bound to fall: smooth in
    a whatever the kinks of σ.

    >>> from doubletrouble import activation
    >>> slope = slope_by_power(activation("tanh"), 200)
    >>> abs(float(slope(np.array(1.0))) - activation("tanh").linear) < 1e-10
    True
    """
    sigma, known = activation.function, closed_form(activation)
    if sigma is None:
        raise ValueError(f"activation must have a function to be simulated, got {activation!r}")
    if known is not None:
        return lambda a: np.asarray(known.slope(a))
    nodes = _interpolated(sigma, activation.name, is_smooth(activation), dim)
    low, high = (float(end) for end in nodes.domain)
    return lambda a: np.asarray(nodes(np.clip(np.log(a), low, high)) / np.sqrt(a))


@lru_cache(maxsize=64)
def _interpolated(sigma: Function, name: str, smooth: bool, dim: int) -> "Chebyshev":
    """E z σ(√a z), which stays bounded where the slope may not, as a function of log a."""
    from numpy.polynomial import Chebyshev
    from scipy.special import gammainccinv, gammaincinv

    def one(log_a: float) -> float:
        root = math.exp(0.5 * log_a)
        scaled = lambda z: np.asarray(sigma(root * z))  # noqa: E731
        return (smooth_moments(scaled) if smooth else any_moments(scaled, name)).linear

    # |θ|² is a chi-square: almost nothing lies beyond these ends
    low = max(1e-6, 2 * gammaincinv(dim / 2, 1e-13) / dim)
    domain = [math.log(low), math.log(2 * gammainccinv(dim / 2, 1e-13) / dim)]
    wanted = f"activation must vary more slowly to be simulated at dim = {dim}, got {name!r}"
    for degree in (32, 64):
        try:
            nodes = Chebyshev.interpolate(np.vectorize(one), degree, domain=domain)
        except ValueError as error:
            raise ValueError(f"{wanted}; try a larger dim") from error
        size = np.abs(nodes.coef)
        if size[-4:].max() < 1e-9 * size.max():
            return nodes
    raise ValueError(f"{wanted}; try a larger dim")
