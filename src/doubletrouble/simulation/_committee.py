r"""Committees of unequal members at finite size, with standard errors.

Of the samples of member a, the last are the first of b; likewise the features, as weight vectors θ:
each member applies its own activation to them. With responses W (`_learners`) to y = Xβ + ε,

    E (f* - f_a)(f* - f_b) = F² (1 - tr X_aᵀ W_a/D - tr X_bᵀ W_b/D + tr (X_aᵀ W_a)(X_bᵀ W_b)ᵀ/D)
                             + τ² Σ_common tr W_a W_bᵀ,

averaged over the noise, the teacher's direction and the linear part of the test point exactly. The
remainders ρ_a and ρ_b are evaluated at common test points.

**Gaussian covariates.** φ = μ₁ θ·x/√D + μ⋆ w. At a weight that both share, w_a and w_b of one
sample have the correlation r = μ⋆ab²/(μ⋆a μ⋆b), μ⋆ab² = E σ_a σ_b - μ₀a μ₀b - μ₁a μ₁b.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import correlation
from doubletrouble.parameters import (
    MOST_SEEDS,
    Array,
    FloatArray,
    Numeric,
    check_choice,
    number,
    whole_number,
)
from doubletrouble.problems import USUAL, Member
from doubletrouble.simulation._devices import ArrayDevice
from doubletrouble.simulation._draws import (
    activate,
    all_draws,
    draw_weights,
    sampled_outputs,
    slope_by_power,
)
from doubletrouble.simulation._learners import feature_learner
from doubletrouble.simulation._pairs import OutputLayout
from doubletrouble.simulation._plan import RidgeFit, n_test_points, refuse_empty, required_ridge
from doubletrouble.simulation._result import CommitteeSimulation
from doubletrouble.theory import Sharing, checked_members, overlaps

MODELS = ("features", "gaussian")

_DEVICE = ArrayDevice()


def simulate_members(
    members: Sequence[Member],
    *,
    sharing: Sharing,
    signal: float | None,
    noise: float | None,
    dim: int,
    n_data: int,
    seed: int,
    model: str,
    progress: bool,
) -> CommitteeSimulation:
    """Simulate members at dimension `dim`: every two of them have `n_data` draws of their own.

    P, N and overlaps are rounded to whole numbers; the result has those realized.
    """
    given: tuple[Member, ...] = checked_members(members, (Member,))
    for one in given:
        for name in ("features_per_dim", "ridge"):
            if math.isinf(value := _as_float(getattr(one, name))):
                raise ValueError(f"{name} must be finite to be simulated, got {value!r}")
    strength, noise_sd = (
        number(name, USUAL[name] if value is None else value, spec)
        for name, value, spec in (
            ("signal", signal, glossary.SIGNAL),
            ("noise", noise, glossary.NOISE),
        )
    )
    check_choice("model", model, MODELS)
    whole_number("n_data", n_data, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    wanted = overlaps(
        [_as_float(one.features_per_dim) for one in given],
        [_as_float(one.samples_per_dim) for one in given],
        sharing,
    )
    sizes = [_sizes(one, D) for one in given]
    shared_features = _whole_overlaps(wanted.features, [size.n_features for size in sizes], D)
    shared_samples = _whole_overlaps(wanted.samples, [size.n_samples for size in sizes], D)
    pairs = [
        MemberPair(
            members=(given[a], given[b]),
            sizes=(sizes[a], sizes[b]),
            equal=a == b,
            shared=LearnerSize(int(shared_features[a, b]), int(shared_samples[a, b])),
            dim=D,
            signal=strength,
            noise=noise_sd,
            gaussian=model == "gaussian",
        )
        for a, b in combinations_with_replacement(range(len(given)), 2)
    ]
    rngs = np.random.default_rng([seed, 10 + MODELS.index(model)]).spawn(n_data)
    products = all_draws(partial(_draw, pairs), rngs, progress=progress)
    draws = np.empty((n_data, len(given), len(given)))
    first, second = np.triu_indices(len(given))
    draws[:, first, second] = draws[:, second, first] = products
    return CommitteeSimulation(
        members=tuple(
            replace(one, features_per_dim=size.n_features / D, samples_per_dim=size.n_samples / D)
            for one, size in zip(given, sizes, strict=True)
        ),
        shared_features=shared_features / D,
        shared_samples=shared_samples / D,
        signal=strength,
        noise=noise_sd,
        dim=D,
        model=model,
        seed=seed,
        draws=draws,
    )


class LearnerSize(NamedTuple):
    """Whole numbers of features and samples."""

    n_features: int
    n_samples: int


def _sizes(one: Member, dim: int) -> LearnerSize:
    P, N = (round(_as_float(ratio) * dim) for ratio in (one.features_per_dim, one.samples_per_dim))
    refuse_empty("features_per_dim", one.features_per_dim, P, dim)
    refuse_empty("samples_per_dim", one.samples_per_dim, N, dim)
    ridge = _as_float(one.ridge)
    if wanted := required_ridge(P, ridge, [N]):
        raise ValueError(f"ridge must be {wanted}, got {ridge!r}")
    return LearnerSize(P, N)


def _whole_overlaps(wanted: FloatArray, sizes: Sequence[int], dim: int) -> FloatArray:
    """Overlaps in whole numbers, at most all that both have; the sizes on the diagonal."""
    rounded = np.minimum(np.rint(wanted * dim), np.minimum.outer(sizes, sizes))
    np.fill_diagonal(rounded, sizes)
    return rounded


def _as_float(value: Numeric) -> float:
    return float(np.asarray(value))


# --- one draw ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MemberPair:
    """Two members, and the features and samples that they share; or one and the same member."""

    members: tuple[Member, Member]
    sizes: tuple[LearnerSize, LearnerSize]
    equal: bool
    shared: LearnerSize
    dim: int
    signal: float
    noise: float
    gaussian: bool  # Gaussian covariates in place of true features

    @property
    def correlation(self) -> float:
        """The correlation of the Gaussian parts of the features at a common weight."""
        if self.equal:
            return 1.0
        if not self.shared.n_features:
            return 0.0
        first, second = (one.moments for one in self.members)
        return 1.0 if first == second else correlation(first, second)


def _draw(pairs: Sequence[MemberPair], rng: np.random.Generator) -> list[float]:
    """The mean product of every pair; the draws of one pair do not depend on the others."""
    return [_pair_draw(pair, own) for pair, own in zip(pairs, rng.spawn(len(pairs)), strict=True)]


def _pair_draw(pair: MemberPair, rng: np.random.Generator) -> float:
    """One draw of the mean product of the errors of two members."""
    (a, b), (first, second), shared = pair.members, pair.sizes, pair.shared
    dim, gaussian = pair.dim, pair.gaussian
    x = _DEVICE.normals(rng, (first.n_samples + second.n_samples - shared.n_samples, dim))
    n_weights = first.n_features + second.n_features - shared.n_features
    theta = draw_weights(rng, n_weights, dim, _DEVICE)
    n_test = 0 if gaussian else n_test_points(max(first.n_samples, second.n_samples))
    test = _DEVICE.normals(rng, (n_test, dim)) if n_test else None
    fresh = rng.standard_normal((first.n_samples, first.n_features)) if gaussian else None
    x_a, x_b = x[: first.n_samples], x[x.shape[0] - second.n_samples :]
    left = right = _response(a, x_a, theta[: first.n_features], test, fresh)  # (N, R)
    if not pair.equal:
        if fresh is not None:
            fresh = _correlated(fresh, second, shared, pair.correlation, rng)
        right = _response(b, x_b, theta[n_weights - second.n_features :], test, fresh)
    projected_a, projected_b = x_a.T @ left, x_b.T @ right  # (D, R), by the teacher's directions
    layout = OutputLayout(dim, dim + n_test)

    def product(one: Array, other: Array) -> float:
        common, own = layout.products(one, other, n_features=shared.n_features)
        return common + pair.correlation * own

    overlap = (layout.overlap(projected_a) + layout.overlap(projected_b)) / dim
    power = product(projected_a, projected_b) / dim
    common = first.n_samples - shared.n_samples
    noise = product(left[common:], right[: shared.n_samples])
    return pair.signal**2 * (1 - overlap + power) + pair.noise**2 * noise


def _response(
    member: Member, x: Array, theta: Array, test: Array | None, fresh: FloatArray | None
) -> Array:
    """The response of one member: with Gaussian covariates given `fresh` ones, else features."""
    sigma, dim = member.moments, x.shape[1]
    if fresh is not None:
        outputs, own = sigma.linear * theta, sigma.nonlinear
        phi = x @ outputs.T + own * fresh
    else:
        assert test is not None
        slope = slope_by_power(sigma, dim)
        outputs, own = sampled_outputs(sigma, theta, slope, test, sigma.mean, _DEVICE), 0.0
        phi = activate(sigma, x @ theta.T, _DEVICE) - sigma.mean
    fit = RidgeFit(phi.shape[0] * phi.shape[1] * _as_float(member.ridge) / dim)
    return feature_learner(phi, outputs, own, [fit])(0)


def _correlated(
    fresh: FloatArray, size: LearnerSize, shared: LearnerSize, r: float, rng: np.random.Generator
) -> FloatArray:
    """The Gaussian part of the features of the second member, given that of the first."""
    values = rng.standard_normal((size.n_samples, size.n_features))
    rows, columns = shared.n_samples, shared.n_features
    if rows and columns:
        first = fresh[fresh.shape[0] - rows :, fresh.shape[1] - columns :]
        own = values[:rows, :columns]
        values[:rows, :columns] = r * first + math.sqrt(max(0.0, 1 - r**2)) * own
    return values
