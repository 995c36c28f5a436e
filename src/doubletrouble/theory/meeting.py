r"""Two learners and what they have in common: one formula for every kind of ensemble.

Learner a has P_a features, N_a samples and its own ridge, so its own balance (`balance`); b
likewise; k of the features and n of the samples are the same. With c_P = k/(P_a P_b),
c_N = n/(N_a N_b), and sums over modes of the fractions learned L and missed M,

    Q = Σ L_a L_b,    E² = (z_a - Q)(z_b - Q),    ρ = Σ v² M_a M_b,    χ = Σ v² √(L_a M_a L_b M_b),

the average product of their errors, for label noise σ², is

    (S + σ² c_N T)/(1 - c_N T),    T = Q + c_P E²/(1 - c_P Q),    S = ρ + χ c_P E/(1 - c_P Q)

(two deterministic equivalents in turn, over samples, then over features; for a = b it is the risk
of [defilippis2024] and [simon2023]). One learner is the case k = P, n = N of a = b; an ensemble has
k = 0, divided data k = n = 0, and the same features on fresh data n = 0. Everything in between is
what is new here: bags, banks of features, members of unequal size.

**Numerical form.** z_a = Q + y_a W and z_b = Q + y_b W for one W, so that nothing needs to be
subtracted: with A, B the unused fractions of features and samples,

    1 - c_P Q = α + p,    α = (1 - f) + f A_a,    p = f (z_a - Q)/P_a,    f = k/P_b
    1 - c_N Q = β + q,    β = (1 - g) + g B_b,    q = g (z_b - Q)/N_b,    g = n/N_a
    (1 - c_P Q)(1 - c_N T) = J = α β + α q + β p

**Two activations** σ_a, σ_b (isotropic data) that see the same weights have tails that are not the
same function. With τ = t y and κ = ± E σ_a⊥ σ_b⊥/(μ⋆a μ⋆b), the sign that of μ₁a μ₁b,

    E = √(u v) + κ √(τ_a τ_b),        u = L_a M_b,  v = L_b M_a

and J grows by c_P c_N times (z_a - Q)(z_b - Q) - E², again a sum of positive terms:

    (√(u τ_b) - √(v τ_a))² + 2 (1 - κ) √(u v τ_a τ_b) + (1 - κ²) τ_a τ_b.
"""

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.modes import Modes


class Meeting(NamedTuple):
    """What enters the product of two learners' errors, as above."""

    missed: FloatArray  # ρ
    crossed: FloatArray  # χ E = `crossed` times what `coupled` is made of
    spare_features: FloatArray  # α
    spare_samples: FloatArray  # β
    partial_features: FloatArray  # p
    partial_samples: FloatArray  # q
    squared_samples: FloatArray  # c_N Q
    coupled_features: FloatArray  # c_P E; p for one kernel
    coupled_samples: FloatArray  # c_N E; q for one kernel
    joint: FloatArray  # J


class Parts(NamedTuple):
    """Parts of the product, for a target of unit power and label noise of unit variance."""

    missed: FloatArray  # ρ: the squared bias
    features: FloatArray  # V_P
    data: FloatArray  # V_X
    features_data: FloatArray  # V_PX
    noise_shared: FloatArray  # label noise two learners on the same samples have in common
    noise_own: FloatArray  # label noise each fits through the features they share


class Shares(NamedTuple):
    """Sizes of two learners, and which part of each they have in common."""

    features: FloatArray  # P_a
    samples: FloatArray  # N_b
    of_features: FloatArray  # f = k/P_b
    of_samples: FloatArray  # g = n/N_a


def alone(balance: Balance, modes: Modes, joint: FloatArray | None = None) -> Meeting:
    """A learner meets itself; `joint` is J where it is known better than by adding up."""
    L, M, A, B, e_P, e_N, Q_N, _ = balance
    return Meeting(
        missed=modes.weigh(M * M),
        crossed=modes.weigh(L * M),
        spare_features=A,
        spare_samples=B,
        partial_features=e_P,
        partial_samples=e_N,
        squared_samples=Q_N,
        coupled_features=e_P,
        coupled_samples=e_N,
        joint=A * B + B * e_P + A * e_N if joint is None else joint,
    )


def meet(
    a: Balance, b: Balance, modes: Modes, shares: Shares, kinship: float | FloatArray | None = None
) -> Meeting:
    """Two learners meet; `kinship` is κ where their activations differ."""
    P, N, f, g = shares
    u, v = a.learned * b.missed, b.learned * a.missed
    rest_a, rest_b = modes.count(u) + a.tail, modes.count(v) + b.tail
    alpha, beta = (1 - f) + f * a.unused_features, (1 - g) + g * b.unused_samples
    p, q = f * (rest_a / P), g * (rest_b / N)
    joint = alpha * beta + alpha * q + beta * p
    crossed, coupled_p, coupled_q = modes.weigh(v), p, q
    if kinship is not None:
        crossed, both = np.sqrt(u * v), np.sqrt(a.tail * b.tail)
        coupled = crossed + kinship * both
        coupled_p, coupled_q = f * (coupled / P), g * (coupled / N)
        unlike = (
            (np.sqrt(u * b.tail) - np.sqrt(v * a.tail)) ** 2
            + 2 * (1 - kinship) * crossed * both
            + (1 - kinship**2) * both**2
        )
        joint = joint + (f / P) * (g / N) * unlike
    return Meeting(
        missed=modes.weigh(a.missed * b.missed),
        crossed=crossed,
        spare_features=alpha,
        spare_samples=beta,
        partial_features=p,
        partial_samples=q,
        squared_samples=g * (modes.count(a.learned * b.learned) / N),
        coupled_features=coupled_p,
        coupled_samples=coupled_q,
        joint=joint,
    )


def parts(m: Meeting) -> Parts:
    """Evaluate the formula above by parts (also on complex numbers).

    They are the differences of its four cases, features and samples shared or not, taken by hand:

        V_P = χ c_P E/(α + p)        R_s = c_N Q/(β + q)        R_o = c_P c_N E²/(J (β + q))
        V_X = ρ R_s                  V_PX = (ρ + V_P) R_o + V_P R_s
    """
    rest = m.spare_samples + m.partial_samples
    features = m.crossed * (m.coupled_features / (m.spare_features + m.partial_features))
    shared = m.squared_samples / rest
    own = m.coupled_features / m.joint * (m.coupled_samples / rest)  # in this order: no underflow
    return Parts(
        missed=m.missed,
        features=features,
        data=m.missed * shared,
        features_data=(m.missed + features) * own + features * shared,
        noise_shared=shared,
        noise_own=own,
    )
