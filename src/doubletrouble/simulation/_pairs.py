r"""The mean product of the errors of two unequal learners, at finite size.

Of the samples of a, the last are the first of b; likewise the features, as weight vectors θ: each
learner applies its own activation to them. With maps W (`learner`) of the labels y = Xβ + ε,

    E (f* - f_a)(f* - f_b) = F² (1 - tr X_aᵀ W_a/D - tr X_bᵀ W_b/D + tr (X_aᵀ W_a)(X_bᵀ W_b)ᵀ/D)
                             + τ² Σ_common tr W_a W_bᵀ,

averaged over the noise, the teacher's direction and the linear part of the test point exactly. What
is beyond the linear part, ρ_a and ρ_b, is evaluated at common test points.

**Gaussian covariates.** φ = μ₁ θ·x/√D + μ⋆ w. At a weight that both share, w_a and w_b of one
sample have the correlation r = μ⋆ab²/(μ⋆a μ⋆b), μ⋆ab² = E σ_a σ_b - μ₀a μ₀b - μ₁a μ₁b.
"""

import math
from typing import NamedTuple

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.kernels import Array
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation._features import Slope, drawn_weights, evaluated, linear_part
from doubletrouble.simulation._learner import Fit, learner
from doubletrouble.simulation._place import ArrayDevice
from doubletrouble.simulation._terms import dot

_PLACE = ArrayDevice()


class Sized(NamedTuple):
    """A learner in whole numbers."""

    n_features: int
    n_samples: int
    ridge: float
    activation: Activation
    slope: Slope | None  # of the true features; None: Gaussian covariates


class Common(NamedTuple):
    """What two learners share."""

    n_features: int
    n_samples: int
    correlation: float  # of what is Gaussian in the features of a common weight


class _Fitted(NamedTuple):
    """A learner after its fit."""

    response: Array  # (N, D + R): what each output makes of each label
    teacher: Array  # (D, D + R): and of each direction of the teacher


def pair_draw(
    a: Sized, b: Sized | None, common: Common, *, dim: int, signal: float, noise: float,
    n_test: int, rng: np.random.Generator,
) -> float:  # fmt: skip
    """One draw of the mean product; without b, the mean square of a."""
    other = b or a
    x = _PLACE.normals(rng, (a.n_samples + other.n_samples - common.n_samples, dim))
    theta = drawn_weights(rng, a.n_features + other.n_features - common.n_features, dim, _PLACE)
    test = _PLACE.normals(rng, (n_test, dim)) if n_test else None
    fresh = rng.standard_normal((a.n_samples, a.n_features)) if test is None else None
    first = _fitted(a, x[: a.n_samples], theta[: a.n_features], test, fresh)
    second = first
    if b is not None:
        if fresh is not None:
            fresh = _correlated(fresh, (b.n_samples, b.n_features), common, rng)
        rows, features = x.shape[0] - b.n_samples, theta.shape[0] - b.n_features
        second = _fitted(b, x[rows:], theta[features:], test, fresh)
    overlap = sum(float(np.trace(one.teacher[:, :dim])) for one in (first, second)) / dim
    count = common.n_samples
    power = _product(first.teacher, second.teacher, common, dim, n_test) / dim
    seen = (
        _product(
            first.response[a.n_samples - count :], second.response[:count], common, dim, n_test
        )
        if count
        else 0.0
    )
    return signal**2 * (1 - overlap + power) + noise**2 * seen


def _fitted(
    one: Sized, x: Array, theta: Array, test: Array | None, fresh: FloatArray | None
) -> _Fitted:
    dim, sigma = x.shape[1], one.activation
    fit = Fit(one.n_samples * one.n_features * one.ridge / dim)
    if fresh is not None:
        outputs, own = sigma.linear * theta, sigma.nonlinear
        phi = x @ outputs.T + own * fresh
    else:
        assert one.slope is not None
        assert test is not None
        linear, own = linear_part(theta, one.slope, _PLACE), 0.0
        phi, there = (evaluated(sigma, z @ theta.T, _PLACE) - sigma.mean for z in (x, test))
        beyond = (there - test @ linear.T).T / math.sqrt(test.shape[0])
        outputs = np.concatenate([linear, beyond], axis=1)
    response = learner(phi, outputs, own, [fit]).respond(fit)
    return _Fitted(response, x.T @ response)


def _correlated(
    fresh: FloatArray, shape: tuple[int, int], common: Common, rng: np.random.Generator
) -> FloatArray:
    """What is Gaussian in the features of b, given that of a."""
    rows, columns, r = common.n_samples, common.n_features, common.correlation
    found = rng.standard_normal(shape)
    if rows and columns:
        theirs = fresh[fresh.shape[0] - rows :, fresh.shape[1] - columns :]
        ours = found[:rows, :columns]
        found[:rows, :columns] = r * theirs + math.sqrt(max(0.0, 1 - r**2)) * ours
    return found


def _product(left: Array, right: Array, common: Common, dim: int, n_test: int) -> float:
    """The mean product of two maps over test points."""
    known = dim + n_test  # outputs that mean the same for both
    found = dot(left[:, :known], right[:, :known])
    count = common.n_features
    if count and min(left.shape[1], right.shape[1]) > known:  # common features, each w of its own
        ours = left[:, left.shape[1] - count :]
        found += common.correlation * dot(ours, right[:, known : known + count])
    return found
