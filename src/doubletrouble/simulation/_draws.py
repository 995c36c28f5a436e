r"""Random draws: data sets, test points, random features, and a quadratic teacher.

*features* is the true model, φ_h(x) = σ(θ_h·x/√D) - μ₀; *gaussian* its equivalent
φ_h(x) = μ₁ θ_h·x/√D + μ⋆ w_h with fresh Gaussian w for every sample ([dascoli2020] App. C).

At a Gaussian test point the features have a linear part V x, V = E_x φ(x) xᵀ, and a remainder ρ.
The test average of a product is V V'ᵀ + E_x ρ ρ'ᵀ. The first is exact. The second is known in the
Gaussian model, sampled at test points, or factorized where `kernels` has it in closed form.

**Without centring** (`center=False`) μ₀ is not subtracted: every feature has the mean μ₀, so that Φ
is a random matrix plus μ₀ times the matrix of ones. The Gram matrix Φ Φᵀ then has one eigenvalue
near μ₀² N P, of order D² where all others are of order D, whose direction is that of constant
labels. Constants are fitted as by an intercept, which uses one of N degrees of freedom: terms
change by O(1/D).

**A nonlinear teacher** is a random quadratic form of the inputs,
g(x) = Σ_ij B_ij (x_i x_j - δ_ij)/√(D² + D) with independent Gaussian B. It has unit power, no
linear part, and the covariance

    E_B g(x) g(x') = ((x·x')² - |x|² - |x'|² + D)/(D² + D)

over its draws. Its average is therefore a trace, like that of the linear teacher. With N of order D
it cannot be learned and acts as noise [mei2019]; the simulation does not assume this.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

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
from doubletrouble.kernels import GaussianAverages, closed_form
from doubletrouble.parameters import Array, FloatArray
from doubletrouble.problems import Mixture, Problem
from doubletrouble.runs import progress_bar
from doubletrouble.simulation._devices import ArrayDevice, Result
from doubletrouble.simulation._plan import SimulationPlan

if TYPE_CHECKING:
    from numpy.polynomial import Chebyshev

Slope = Callable[[FloatArray], FloatArray]
Item = TypeVar("Item")

PAIRS = ((0, 0), (1, 1), (0, 1))
"""Pairs of the two data sets of a draw."""

N_HELD_OUT = 1000
"""Test points of each draw at which errors are counted, for other losses than the squared loss."""


def all_draws(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    device: ArrayDevice | None = None,
    progress: bool,
) -> list[Result]:
    """The result of every draw, with a progress bar."""
    results = []
    with progress_bar(len(items), unit="draw", description="simulate", progress=progress) as bar:
        for result in (device or ArrayDevice()).map(work, items):
            results.append(result)
            bar.update()
    return results


# --- data and teacher ----------------------------------------------------------------------------


class QuadraticTeacher(NamedTuple):
    """Covariances of the quadratic teacher's labels."""

    blocks: dict[tuple[int, int], Array]  # (N, N) for each of `PAIRS`
    to_test: tuple[Array, Array] | None  # (N, T), with test points; None: none are sampled

    @classmethod
    def at(cls, inputs: tuple[Array, Array], test: Array | None) -> "QuadraticTeacher":
        """The teacher on two data sets, and at test points."""
        blocks = {(i, k): _quadratic_covariance(inputs[i], inputs[k]) for i, k in PAIRS}
        if test is None:
            return cls(blocks, None)
        first, second = (_quadratic_covariance(x, test) for x in inputs)
        return cls(blocks, (first, second))

    def rows(self, parts: Sequence[slice]) -> "QuadraticTeacher":
        """A part of the labels of each data set."""
        blocks = {(i, k): block[parts[i], parts[k]] for (i, k), block in self.blocks.items()}
        if self.to_test is None:
            return QuadraticTeacher(blocks, None)
        first, second = (block[part] for block, part in zip(self.to_test, parts, strict=True))
        return QuadraticTeacher(blocks, (first, second))


def _quadratic_covariance(x: Array, z: Array) -> Array:
    xp, dim = array_namespace(x), x.shape[1]
    a, b = xp.sum(x * x, axis=1)[:, None], xp.sum(z * z, axis=1)[None, :]
    return ((x @ z.T) ** 2 - a - b + dim) / (dim**2 + dim)


class DataPair(NamedTuple):
    """Two data sets: inputs, and the quadratic teacher's labels where there is such a teacher."""

    inputs: tuple[Array, Array]  # (N, D) each
    quadratic: QuadraticTeacher | None

    def rows(self, parts: Sequence[slice]) -> "DataPair":
        """A part of each data set."""
        first, second = (x[part, :] for x, part in zip(self.inputs, parts, strict=True))
        return DataPair((first, second), self.quadratic and self.quadratic.rows(parts))


def draw_data(plan: SimulationPlan, rng: np.random.Generator) -> tuple[DataPair, Array | None]:
    """Two data sets, and test points where they are sampled."""
    normals, shape = plan.device.normals, (plan.n_samples, plan.dim)
    inputs = (normals(rng, shape), normals(rng, shape))
    test = normals(rng, (plan.n_test, plan.dim)) if plan.n_test else None
    teacher = QuadraticTeacher.at(inputs, test) if plan.problem.nonlinear_signal else None
    return DataPair(inputs, teacher), test


def draw_labels(
    problem: Problem, teacher: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Labels for outputs of the teacher, (N,), with two draws of the noise; one without noise."""
    noise, flips = problem.noise, float(np.asarray(problem.flips))
    count = 2 if np.any(problem.noise_sd) or flips else 1
    uninformative = not np.any(problem.signal) and not np.any(problem.noise_sd)
    labels = []
    for _ in range(count):
        normal = rng.standard_normal(teacher.shape)
        if isinstance(noise, Mixture):
            weights, sds = np.transpose(noise.components)
            noisy = teacher + normal * sds[rng.choice(len(sds), size=teacher.shape, p=weights)]
        else:
            noisy = teacher + normal * np.asarray(noise)
        if problem.task == "classification":
            wrong = rng.random(teacher.shape) < flips
            noisy = normal if uninformative else noisy  # the sign of 0 is drawn
            noisy = np.where((noisy > 0) != wrong, 1.0, -1.0)
        labels.append(noisy)
    return tuple(labels)


# --- random features -----------------------------------------------------------------------------


class FeatureSet(NamedTuple):
    """One set of features: on the training sets, and at a test point as a set of outputs."""

    train: tuple[Array, ...]  # (N, P) each
    outputs: Array  # (P, R): V, then ρ where it is correlated between feature sets
    own: float  # standard deviation of the part of ρ that is independent for each feature


def draw_features(
    plan: SimulationPlan,
    inputs: Sequence[Array],
    test: Array | None,
    n_features: int,
    rng: np.random.Generator,
) -> list[FeatureSet]:
    """All sets of P features, on several sets of inputs."""
    sigma, device, mean, sets = plan.problem.moments, plan.device, plan.mean, range(plan.n_init)
    if plan.model == "gaussian":
        every = []
        for _ in sets:
            theta = draw_weights(rng, n_features, plan.dim, device)
            w = (device.normals(rng, (x.shape[0], n_features)) for x in inputs)
            every.append(gaussian_features(sigma, theta, inputs, w, mean))
        return every
    thetas = [draw_weights(rng, n_features, plan.dim, device) for _ in sets]
    slope = slope_by_power(sigma, plan.dim)
    if test is not None:
        return [true_features(sigma, theta, slope, inputs, test, mean, device) for theta in thetas]
    outputs = _exact_outputs(sigma, thetas, [linear_part(t, slope, device) for t in thetas], mean)
    return [
        FeatureSet(_on_inputs(sigma, theta, inputs, mean, device), there, 0.0)
        for theta, there in zip(thetas, outputs, strict=True)
    ]


def gaussian_features(
    activation: Activation, theta: Array, inputs: Sequence[Array], w: Iterable[Array], mean: float
) -> FeatureSet:
    """Gaussian covariates with the fresh numbers w, (N, P) for each set of inputs."""
    linear, rest = activation.linear * theta, activation.mean - mean
    train = tuple(
        x @ linear.T + activation.nonlinear * own + rest for x, own in zip(inputs, w, strict=True)
    )
    if rest:  # the same at every test point: one more output
        xp = array_namespace(linear)
        linear = xp.concat([linear, 0 * linear[:, :1] + rest], axis=1)
    return FeatureSet(train, linear, activation.nonlinear)


def true_features(
    activation: Activation,
    theta: Array,
    slope: Slope,
    inputs: Sequence[Array],
    test: Array,
    mean: float,
    device: ArrayDevice,
) -> FeatureSet:
    """Features of the activation; outputs are V, and ρ at T test points, divided by √T."""
    xp = array_namespace(theta)
    linear = linear_part(theta, slope, device)
    *train, values = _on_inputs(activation, theta, [*inputs, test], mean, device)
    rest = (values - test @ linear.T).T / math.sqrt(test.shape[0])
    return FeatureSet(tuple(train), xp.concat([linear, rest], axis=1), 0.0)


def _on_inputs(
    activation: Activation,
    theta: Array,
    inputs: Sequence[Array],
    mean: float,
    device: ArrayDevice,
) -> tuple[Array, ...]:
    """φ(x) = σ(θ·x/√D) - mean, (N, P) for each set of inputs."""
    return tuple(activate(activation, x @ theta.T, device) - mean for x in inputs)


def draw_weights(rng: np.random.Generator, n_features: int, dim: int, device: ArrayDevice) -> Array:
    """θ/√D of every feature."""
    return device.normals(rng, (n_features, dim)) / math.sqrt(dim)


def activate(activation: Activation, values: Array, device: ArrayDevice) -> Array:
    """σ of an array; functions of the user are evaluated by NumPy."""
    sigma = activation.function
    assert sigma is not None  # slope_by_power raises for None
    if device.device == "cpu" or is_named(activation):
        return sigma(values)
    return device.asarray(np.asarray(sigma(device.to_numpy(values))))


def linear_part(theta: Array, slope: Slope, device: ArrayDevice) -> Array:
    """V = E_x φ(x) xᵀ."""
    xp = array_namespace(theta)
    return device.asarray(slope(device.to_numpy(xp.sum(theta * theta, axis=1))))[:, None] * theta


def _exact_outputs(
    activation: Activation, thetas: Sequence[Array], linears: Sequence[Array], mean: float
) -> list[Array]:
    """V, and a factor F of the remainder's covariance over all feature sets: F Fᵀ = E ρ ρᵀ."""
    known = closed_form(activation)
    assert known is not None  # checked by the plan
    xp = array_namespace(thetas[0])
    theta, linear = xp.concat(list(thetas), axis=0), xp.concat(list(linears), axis=0)
    overlap = centred_overlap(known, theta, theta, mean)
    count, precision = overlap.shape[0], xp.finfo(overlap.dtype)
    # covariances of low rank (quadratic) or none (linear) are negative by rounding
    lift = 10 * count * precision.eps * float(xp.max(xp.linalg.diagonal(overlap)))
    eye = xp.eye(count, dtype=overlap.dtype, device=overlap.device)
    factor = xp.linalg.cholesky(overlap - linear @ linear.T + lift * eye)
    size = count // len(thetas)
    return [
        xp.concat([linear, factor[size * j : size * (j + 1), :]], axis=1)
        for j, linear in enumerate(linears)
    ]


def centred_overlap(known: GaussianAverages, x: Array, z: Array, mean: float) -> Array:
    """E (σ(u) - mean)(σ(v) - mean) for u, v with the scalar products of the rows of x and z."""
    xp = array_namespace(x, z)
    a, b, c = xp.sum(x * x, axis=1)[:, None], xp.sum(z * z, axis=1)[None, :], x @ z.T
    if z is x:  # exactly: an angle of zero is sensitive to rounding
        eye = xp.eye(c.shape[0], dtype=c.dtype, device=c.device)
        c = c + eye * (a - c)
    raw = known.overlap(a, b, c)
    return raw - mean * (known.mean(a) + known.mean(b)) + mean**2


def slope_by_power(activation: Activation, dim: int) -> Slope:
    """E σ'(u) as a function of the variance a = |θ|²/D of u, so that E_x φ(x) xᵀ = slope(a) θ/√D.

    In closed form, or interpolated between exact integrals over the range of |θ|²: smooth in a
    even where σ has kinks.

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
    nodes = _interpolated_slope(sigma, activation.name, is_smooth(activation), dim)
    low, high = (float(end) for end in nodes.domain)
    return lambda a: np.asarray(nodes(np.clip(np.log(a), low, high)) / np.sqrt(a))


@lru_cache(maxsize=64)
def _interpolated_slope(sigma: Function, name: str, smooth: bool, dim: int) -> "Chebyshev":
    """E z σ(√a z), which stays bounded where the slope may not, as a function of log a."""
    from numpy.polynomial import Chebyshev
    from scipy.special import gammainccinv, gammaincinv

    def moment(log_a: float) -> float:
        root = math.exp(0.5 * log_a)

        def scaled(z: FloatArray) -> FloatArray:
            return np.asarray(sigma(root * z))

        return (smooth_moments(scaled) if smooth else any_moments(scaled, name)).linear

    # |θ|² is a chi-square variable, outside of these ends with probability 2e-13
    low = max(1e-6, 2 * gammaincinv(dim / 2, 1e-13) / dim)
    domain = [math.log(low), math.log(2 * gammainccinv(dim / 2, 1e-13) / dim)]
    wanted = f"activation must vary more slowly to be simulated at dim = {dim}, got {name!r}"
    for degree in (32, 64):
        try:
            nodes = Chebyshev.interpolate(np.vectorize(moment), degree, domain=domain)
        except ValueError as error:
            raise ValueError(f"{wanted}; try a larger dim") from error
        size = np.abs(nodes.coef)
        if size[-4:].max() < 1e-9 * size.max():
            return nodes
    raise ValueError(f"{wanted}; try a larger dim")
