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
    features, samples = overlaps(
        [_as_float(one.features_per_dim) for one in given],
        [_as_float(one.samples_per_dim) for one in given],
        sharing,
    )
    P = _whole_numbers("features_per_dim", features, D)
    N = _whole_numbers("samples_per_dim", samples, D)
    for k, one in enumerate(given):
        ridge = _as_float(one.ridge)
        if wanted := required_ridge(P[k, k], ridge, [N[k, k]]):
            raise ValueError(f"ridge must be {wanted}, got {ridge!r}")
    first, second = np.triu_indices(len(given))
    pairs = [
        MemberPair(
            members=(given[a], given[b]),
            equal=bool(a == b),
            n_features=(int(P[a, a]), int(P[b, b]), int(P[a, b])),
            n_samples=(int(N[a, a]), int(N[b, b]), int(N[a, b])),
            dim=D,
            gaussian=model == "gaussian",
        )
        for a, b in zip(first, second, strict=True)
    ]
    rngs = np.random.default_rng([seed, 10 + MODELS.index(model)]).spawn(n_data)
    terms = np.empty((2, n_data, len(given), len(given)))
    drawn = np.array(all_draws(partial(_draw, pairs), rngs, progress=progress))
    terms[:, :, first, second] = terms[:, :, second, first] = np.moveaxis(drawn, 2, 0)
    return CommitteeSimulation(
        members=tuple(
            replace(one, features_per_dim=P[k, k] / D, samples_per_dim=N[k, k] / D)
            for k, one in enumerate(given)
        ),
        shared_features=P / D,
        shared_samples=N / D,
        signal=strength,
        noise=noise_sd,
        dim=D,
        model=model,
        seed=seed,
        terms=terms,
    )


def _whole_numbers(name: str, overlap: FloatArray, dim: int) -> FloatArray:
    """Overlaps in whole numbers, at most all that both have; the sizes on the diagonal."""
    sizes = np.rint(np.diag(overlap) * dim)
    refuse_empty(name, np.diag(overlap), sizes, dim)
    rounded = np.minimum(np.rint(overlap * dim), np.minimum.outer(sizes, sizes))
    np.fill_diagonal(rounded, sizes)
    return rounded


def _as_float(value: Numeric) -> float:
    return float(np.asarray(value))


# --- one draw ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MemberPair:
    """Two members, and the features and samples that they share; or one and the same member."""

    members: tuple[Member, Member]
    equal: bool
    n_features: tuple[int, int, int]  # of the first, of the second, and of both
    n_samples: tuple[int, int, int]
    dim: int
    gaussian: bool  # Gaussian covariates in place of true features

    @property
    def correlation(self) -> float:
        """The correlation of the Gaussian parts of the features at a common weight."""
        if self.equal:
            return 1.0
        if not self.n_features[2]:
            return 0.0
        first, second = (one.moments for one in self.members)
        return 1.0 if first == second else correlation(first, second)


def _draw(pairs: Sequence[MemberPair], rng: np.random.Generator) -> list[tuple[float, float]]:
    """The mean products of every pair; the draws of one pair do not depend on the others."""
    return [_pair_draw(pair, own) for pair, own in zip(pairs, rng.spawn(len(pairs)), strict=True)]


def _pair_draw(pair: MemberPair, rng: np.random.Generator) -> tuple[float, float]:
    """One draw of the mean product of the errors of two members, for unit power and unit noise."""
    (a, b), dim, r = pair.members, pair.dim, pair.correlation
    (P_a, P_b, P_ab), (N_a, N_b, N_ab) = pair.n_features, pair.n_samples
    x = _DEVICE.normals(rng, (N_a + N_b - N_ab, dim))
    theta = draw_weights(rng, P_a + P_b - P_ab, dim, _DEVICE)
    n_test = 0 if pair.gaussian else n_test_points(max(N_a, N_b))
    test = _DEVICE.normals(rng, (n_test, dim)) if n_test else None
    fresh = rng.standard_normal((N_a, P_a)) if pair.gaussian else None
    x_a, x_b = x[:N_a], x[N_a - N_ab :]
    left = right = _response(a, x_a, theta[:P_a], test, fresh)  # (N, R)
    if not pair.equal:
        if fresh is not None:
            shared = fresh[N_a - N_ab :, P_a - P_ab :]
            fresh = rng.standard_normal((N_b, P_b))
            fresh[:N_ab, :P_ab] *= math.sqrt(max(0.0, 1 - r**2))
            fresh[:N_ab, :P_ab] += r * shared
        right = _response(b, x_b, theta[P_a - P_ab :], test, fresh)
    projected_a, projected_b = x_a.T @ left, x_b.T @ right  # (D, R), by the teacher's directions
    layout = OutputLayout(dim, dim + n_test)

    def product(one: Array, other: Array) -> float:
        common, own = layout.products(one, other, n_features=P_ab)
        return common + r * own

    overlap = (layout.overlap(projected_a) + layout.overlap(projected_b)) / dim
    power = product(projected_a, projected_b) / dim
    return 1 - overlap + power, product(left[N_a - N_ab :], right[:N_ab])


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
