r"""Random features drawn for one simulation draw, on two training sets and at test points.

Everything random is drawn by NumPy, in an order that does not depend on where the arithmetic is
done; `convert` then hands the arrays to NumPy or torch.

*features* is the true model, φ_h(x) = σ(θ_h·x/√D) - μ₀; *gaussian* its equivalent
φ_h(x) = μ₁ θ_h·x/√D + μ⋆ w_h with fresh Gaussian w for every sample ([dascoli2020] App. C).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from doubletrouble.activations import Activation, is_named
from doubletrouble.moments import any_moments, smooth_moments
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation.overlap import closed_form
from doubletrouble.simulation.terms import Array, Features

Convert = Callable[[FloatArray], Array]
Slope = Callable[[FloatArray], FloatArray]


def gaussian_features(
    activation: Activation, data: Sequence[FloatArray], n_features: int,
    rng: np.random.Generator, convert: Convert,
) -> Features:  # fmt: skip
    """One set of features of the Gaussian model."""
    n, dim = data[0].shape
    theta = convert(rng.standard_normal((n_features, dim)) / math.sqrt(dim))
    noise = [convert(rng.standard_normal((n, n_features))) for _ in data]
    mu1, star = activation.linear, activation.nonlinear
    train = [mu1 * (convert(x) @ theta.T) + star * w for x, w in zip(data, noise, strict=True)]
    return Features((train[0], train[1]), mu1 * theta, None, star)


def true_features(
    activation: Activation, data: Sequence[FloatArray], test: FloatArray, n_features: int,
    slope: Slope, rng: np.random.Generator, convert: Convert,
) -> Features:  # fmt: skip
    """One set of true random features; what is beyond their linear part is sampled at `test`."""
    sigma = activation.function
    assert sigma is not None  # slope_by_power has asked
    dim = data[0].shape[1]
    theta = rng.standard_normal((n_features, dim)) / math.sqrt(dim)

    def phi(x: FloatArray) -> FloatArray:
        return np.asarray(sigma(x @ theta.T)) - activation.mean

    linear = slope(np.sum(theta * theta, axis=1))[:, None] * theta
    residual = (phi(test) - test @ linear.T) / math.sqrt(test.shape[0])
    train = [convert(phi(x)) for x in data]
    return Features((train[0], train[1]), convert(linear), convert(residual), 0.0)


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
    from numpy.polynomial import Chebyshev

    def one(log_a: float) -> float:
        root = math.exp(0.5 * log_a)
        scaled = lambda z: np.asarray(sigma(root * z))  # noqa: E731
        smooth = is_named(activation)
        found = smooth_moments(scaled) if smooth else any_moments(scaled, activation.name)
        return found.linear / root

    reach = 10 * math.sqrt(2 / dim)
    domain = [math.log(max(0.05, 1 - reach)), math.log(1 + reach)]
    nodes = Chebyshev.interpolate(np.vectorize(one), 24, domain=domain)
    return lambda a: np.asarray(nodes(np.clip(np.log(a), domain[0], domain[1])))
