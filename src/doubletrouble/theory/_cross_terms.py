r"""The mean product of two members' errors: one formula for every kind of ensemble.

Member a has P_a features, N_a samples and its own ridge, so its own fixed point; b likewise; k of
the features and n of the samples are the same. With c_P = k/(P_a P_b), c_N = n/(N_a N_b), and sums
over modes of the learnability L and of M = 1 - L,

    Q = Σ L_a L_b,    E² = (z_a - Q)(z_b - Q),    ρ = Σ v² M_a M_b,    χ = Σ v² √(L_a M_a L_b M_b),

the mean product of their errors, for label noise σ², is

    (S + σ² c_N T)/(1 - c_N T),    T = Q + c_P E²/(1 - c_P Q),    S = ρ + χ c_P E/(1 - c_P Q)

(a deterministic equivalent over samples, then one over features; for a = b it is the risk of
[defilippis2024] and [simon2023]). The self term is the case a = b, k = P, n = N; members of an
ensemble on one data set have k = 0, those on divided data k = n = 0, and the same features on fresh
data n = 0. Bootstrap samples, banks of features and members of unequal size are in between.

**Numerical form.** z_a = Q + y_a W and z_b = Q + y_b W for one W, so that no term is a
difference: with A, B the unused fractions of features and samples,

    1 - c_P Q = α + p,    α = (1 - f) + f A_a,    p = f (z_a - Q)/P_a,    f = k/P_b
    1 - c_N Q = β + q,    β = (1 - g) + g B_b,    q = g (z_b - Q)/N_b,    g = n/N_a
    (1 - c_P Q)(1 - c_N T) = J = α β + α q + β p

and the parts are the differences of its four cases, features and samples shared or not:

    V_P = χ c_P E/(α + p)        R_s = c_N Q/(β + q)        R_o = c_P c_N E²/(J (β + q))
    V_X = ρ R_s                  V_PX = (ρ + V_P) R_o + V_P R_s

**Two activations** σ_a, σ_b (isotropic data) on the same weights have tails that are different
functions. With τ = t y and κ = ± E σ_a⊥ σ_b⊥/(μ⋆a μ⋆b), the sign that of μ₁a μ₁b,

    E = √(u v) + κ √(τ_a τ_b),        u = L_a M_b,  v = L_b M_a

and J grows by c_P c_N times (z_a - Q)(z_b - Q) - E², again a sum of positive terms:

    (√(u τ_b) - √(v τ_a))² + 2 (1 - κ) √(u v τ_a τ_b) + (1 - κ²) τ_a τ_b.

**Equal members.** For two members of the same size and ridge, with U = A + e/P, W = B + e/N,
e = z - Q, U_f = (1-f) + f U, W_g = (1-g) + g W and J_fg = U_f W_g - f g (e/P)(e/N), the excess
of the square of one member over the product of two is, again without a subtraction,

    ΔV_P = (1-f) χ (e/P)/(U U_f)        ΔR_s = (1-g) (Q/N)/(W W_g)
    ΔR_o = (e/P)(e/N) [(1-f) W_g² + f (1-g) (U W_g + g (Q/N) J)]/(J W J_fg W_g).
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, TypeVar

import numpy as np

from doubletrouble._numerics import limit_value
from doubletrouble.ensembles import CrossTerms, MemberTerms
from doubletrouble.parameters import BoolArray, Numbers, Value
from doubletrouble.theory._fixed_point import FixedPoint, Spectrum, Sum

TERM_NAMES = tuple(f.name for f in fields(CrossTerms))


def product_or_zero(factor: Numbers | float, value: Numbers | float) -> Numbers:
    """Factor · value, with 0 · inf = 0: an absent cause does not contribute."""
    return np.where((factor == 0) | (value == 0), 0.0, factor * value)


Terms = TypeVar("Terms", CrossTerms, MemberTerms)


def at_limits(terms: Terms, limit: BoolArray | bool) -> Terms:
    """The terms, with those at a surrogate ridge replaced by their limits."""
    if limit is False or not np.any(limit):
        return terms
    return terms.map(lambda part: limit_value(part, limit))


def product_terms(
    *,
    bias: Numbers | float,
    crossed: Numbers,
    unused_features: Numbers,
    unused_samples: Numbers,
    gap_per_feature: Numbers,
    gap_per_sample: Numbers,
    second_per_sample: Numbers,
    joint: Numbers,
    coupled_feature: Numbers | None = None,
    coupled_sample: Numbers | None = None,
) -> CrossTerms:
    """Evaluate the formula by parts, given ρ, χ, α, β, p, q, c_N Q, J (also on complex numbers).

    `coupled_feature` and `coupled_sample` are c_P E and c_N E: p and q for one kernel.
    """
    coupled_feature = gap_per_feature if coupled_feature is None else coupled_feature
    coupled_sample = gap_per_sample if coupled_sample is None else coupled_sample
    rest = unused_samples + gap_per_sample
    features = crossed * (coupled_feature / (unused_features + gap_per_feature))
    shared = second_per_sample / rest
    own = coupled_feature / joint * (coupled_sample / rest)  # in this order: no underflow
    return CrossTerms(
        bias=bias,
        initialization=features,
        sampling=bias * shared,
        interaction=(bias + features) * own + features * shared,
        noise_sampling=shared,
        noise_interaction=own,
    )


class PairSums(NamedTuple):
    """Sums over the modes of two members."""

    first: Numbers  # Σ L_a M_b
    second: Numbers  # Σ L_b M_a
    both: Numbers  # Σ L_a L_b
    bias: Numbers  # Σ v² M_a M_b
    crossed: Numbers  # Σ v² L_b M_a


def pair_sums(
    count: Sum, weigh: Sum, a: tuple[Numbers, Numbers], b: tuple[Numbers, Numbers]
) -> PairSums:
    """The formula of the sums, for `Spectrum.sum_over`."""
    (L_a, M_a), (L_b, M_b) = a, b
    v = L_b * M_a
    return PairSums(
        first=count(L_a * M_b),
        second=count(v),
        both=count(L_a * L_b),
        bias=weigh(M_a * M_b),
        crossed=weigh(v),
    )


def cross_terms(
    a: FixedPoint,
    b: FixedPoint,
    spectrum: Spectrum,
    shared_features: Value,
    shared_samples: Value,
    correlation: Value | None = None,
) -> CrossTerms:
    """The product of two members that share k = f P_b features and n = g N_a samples.

    `correlation` is κ where their activations differ.
    """
    sums = PairSums(*spectrum.sum_over(pair_sums, a, b))
    return terms_of_pair(a, b, sums, shared_features, shared_samples, correlation)


def terms_of_pair(
    a: FixedPoint,
    b: FixedPoint,
    sums: PairSums,
    f: Value,
    g: Value,
    correlation: Value | None = None,
) -> CrossTerms:
    """The product of two members, given the sums over their modes."""
    P, N = a.features, b.samples
    rest_a, rest_b = sums.first + a.tail, sums.second + b.tail
    alpha, beta = (1 - f) + f * a.unused_features, (1 - g) + g * b.unused_samples
    p, q = f * (rest_a / P), g * (rest_b / N)
    joint = alpha * beta + alpha * q + beta * p
    crossed, coupled_feature, coupled_sample = sums.crossed, p, q
    if correlation is not None:  # one level: the sums are its own u and v
        u, v = sums.first, sums.second
        crossed, both = np.sqrt(u * v), np.sqrt(a.tail * b.tail)
        coupled = crossed + correlation * both
        coupled_feature, coupled_sample = f * (coupled / P), g * (coupled / N)
        unlike = (
            (np.sqrt(u * b.tail) - np.sqrt(v * a.tail)) ** 2
            + 2 * (1 - correlation) * crossed * both
            + (1 - correlation**2) * both**2
        )
        joint = joint + (f / P) * (g / N) * unlike
    return product_terms(
        bias=sums.bias,
        crossed=crossed,
        unused_features=alpha,
        unused_samples=beta,
        gap_per_feature=p,
        gap_per_sample=q,
        second_per_sample=g * (sums.both / N),
        joint=joint,
        coupled_feature=coupled_feature,
        coupled_sample=coupled_sample,
    )


def member_terms(
    point: FixedPoint,
    spectrum: Spectrum,
    shared_features: Value,
    shared_samples: Value,
    joint: Numbers | None = None,
) -> MemberTerms:
    """The terms of equal members that share f P features and g N samples, limits included.

    `joint` is J of the self term where a more accurate value than the sum is available.
    """
    f, g = shared_features, shared_samples
    A, B = point.unused_features, point.unused_samples
    p, q = point.gap_per_feature, point.gap_per_sample
    chi = point.crossed
    if joint is None:
        joint = A * B + B * p + A * q  # `point.joint`, inline for speed
    one = product_terms(  # the self term, a = b
        bias=point.bias,
        crossed=chi,
        unused_features=A,
        unused_samples=B,
        gap_per_feature=p,
        gap_per_sample=q,
        second_per_sample=point.second_per_sample,
        joint=joint,
    )
    if isinstance(f, float) and isinstance(g, float) and f == 0 and g in (0, 1):
        one = at_limits(one, point.limit)
        features = {
            "initialization": one.initialization,
            "interaction": one.interaction,
            "noise_interaction": one.noise_interaction,
        }
        data = {"sampling": one.sampling, "noise_sampling": one.noise_sampling}
        if g == 1:  # all members on the same data
            return MemberTerms(shared=CrossTerms(bias=one.bias, **data), own=CrossTerms(**features))
        return MemberTerms(shared=CrossTerms(bias=one.bias), own=CrossTerms(**data, **features))
    return at_limits(_partly_shared(point, one, joint, f, g), point.limit)


def _partly_shared(
    point: FixedPoint, one: CrossTerms, joint: Numbers, f: Value, g: Value
) -> MemberTerms:
    """The product of two equal members, and the excess of the square of one (`one`) over it."""
    A, B, Q = point.unused_features, point.unused_samples, point.second_per_sample
    p, q, chi, J = point.gap_per_feature, point.gap_per_sample, point.crossed, joint
    U, W = A + p, B + q
    U_f, W_g = (1 - f) + f * U, (1 - g) + g * W
    # U_f W_g - f g p q, without the subtraction
    J_fg = (1 - f) * W_g + f * ((1 - g) * U + g * J)
    shared = product_terms(
        bias=one.bias,
        crossed=chi,
        unused_features=(1 - f) + f * A,
        unused_samples=(1 - g) + g * B,
        gap_per_feature=f * p,
        gap_per_sample=g * q,
        second_per_sample=g * Q,
        joint=J_fg,
    )
    own_features = product_or_zero(1 - f, chi * (p / U) / U_f)
    own_shared = product_or_zero(1 - g, Q / W_g / W)
    # 0, not 0/0, where f = g = 1
    own_noise = product_or_zero(1 - f, (p / J) * (q / J_fg) * (W_g / W)) + product_or_zero(
        f * (1 - g), (p / J) * (q / J_fg) * (U / W + g * Q / W * (J / W_g))
    )
    rho, features = shared.bias, shared.initialization
    own = CrossTerms(
        initialization=own_features,
        sampling=rho * own_shared,
        interaction=product_or_zero(rho + features, own_noise)
        + product_or_zero(own_features, one.noise_interaction + one.noise_sampling)
        + product_or_zero(features, own_shared),
        noise_sampling=own_shared,
        noise_interaction=own_noise,
    )
    return MemberTerms(shared=shared, own=own)
