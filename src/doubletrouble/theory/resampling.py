r"""Members that draw their samples, or their features, from a set they have in common.

Two members of a bag see part of each other's samples: each has m of the N, drawn without
replacement, and m²/N of them are the other's as well. In the formula of `meeting` nothing changes
but c_N, which is 1/N between members and 1/m within one: smaller by c = m/N = η. Bootstrap samples
have a c of their own (`bootstrap`). With R the response to label noise of one member, averaged over
its features,

    R_× = c R/(1 + (1-c) R),        R - R_× = (1-c) R (1+R)/(1 + (1-c) R)

are what two members have in common of it, and what the choice of samples adds. Of a bank, each
member uses P features, the share c = P/P_bank: c_P is c/P between members and 1/P within one. Then
α = (1-c) + c A, p = c e/P, J_× = (1-c)(B + e/N) + c J, with A, B the unused fractions, and

    R_o - R_o× = (1-c) (e/P)(e/N)/(J J_×),
    V_P - V_P× = (1-c) χ (e/P)/((A + e/P)(α + p)).

At c = 1 both are zero, exactly; at c = 0 members have nothing in common but the teacher and
(of a bank) the data.
"""

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.bootstrap import DISTINCT, LARGEST_RIDGE, bootstrap_balance
from doubletrouble.theory.evaluate import Product, Weights, zero_wins
from doubletrouble.theory.meeting import Parts, alone, parts
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import Point
from doubletrouble.theory.split import at_limits, solvable


class Resampled(NamedTuple):
    """Parts of unit power: what all members share, and what each has beyond that."""

    missed: FloatArray  # ρ
    data: FloatArray  # R_s between members: times ρ, the variance by the data
    features: FloatArray  # between members: V_P + V_PX
    noise: FloatArray  # between members: R_o
    own_choice: FloatArray  # of the noise-free error, what the choice adds to a member
    own_choice_noise: FloatArray  # of the response to noise, what the choice adds to a member
    own_features: FloatArray  # what a member's own features add, of the noise-free error
    own_features_noise: FloatArray  # and of the response to noise


def resampled_there(modes: Modes, point: Point, scheme: str, ridge: FloatArray) -> Resampled:
    """Solve at every point, limits included."""
    features, samples, spare = point.each(scheme)
    weighed = scheme == "bootstrap" and modes.rank > 0  # features that see nothing learn nothing
    full = samples * DISTINCT if weighed else samples
    solved, r, limit = solvable(modes, features, full, ridge)
    if weighed:
        limit = limit | (ridge == 0) | (r > LARGEST_RIDGE)  # which are approached
        r = np.minimum(r, LARGEST_RIDGE)
        balance, c = bootstrap_balance(modes, features, solved / DISTINCT, r)
    else:
        balance, c = modes.solve(features, solved, spare, r), point.portion
    found = (banked if scheme == "feature_bank" else bagged)(balance, modes, c)
    return Resampled(*at_limits(found, np.asarray(limit)))


def bagged(balance: Balance, modes: Modes, c: FloatArray) -> Resampled:
    """Members with features of their own, on samples drawn from one data set."""
    one: Parts = parts(alone(balance, modes))
    rest = balance.unused_samples + balance.partial_samples  # R = (Q/N)/rest
    common = (1 - c) + c * rest
    own = zero_wins(1 - c, balance.squared_samples / common / rest)
    zero = np.zeros_like(own)
    return Resampled(
        missed=one.missed,
        data=c * balance.squared_samples / common,
        features=zero,
        noise=zero,
        own_choice=one.missed * own,
        own_choice_noise=own,
        own_features=one.features + one.features_data,
        own_features_noise=one.noise_own,
    )


def banked(balance: Balance, modes: Modes, c: FloatArray) -> Resampled:
    """Members on one data set, with features drawn from one bank."""
    m = alone(balance, modes)
    one = parts(m)
    rest, full = m.spare_samples + m.partial_samples, m.spare_features + m.partial_features
    joint = (1 - c) * rest + c * m.joint
    common = (1 - c) + c * full
    noise = c * m.partial_features / joint * (m.partial_samples / rest)
    # at P = N without ridge and c = 1 there is no choice: 0, not 0/0
    left = 1 - c
    own_noise = zero_wins(left, (m.partial_features / m.joint) * (m.partial_samples / joint))
    features = m.crossed * (c * m.partial_features / common)
    own = zero_wins(left, m.crossed * (m.partial_features / full) / common)
    zero = np.zeros_like(noise)
    return Resampled(
        missed=one.missed,
        data=one.noise_shared,
        features=zero_wins(features, 1 + one.noise_shared + noise) + zero_wins(one.missed, noise),
        noise=noise,
        own_choice=zero_wins(own, 1 + one.noise_shared + one.noise_own)
        + zero_wins(own_noise, one.missed + features),
        own_choice_noise=own_noise,
        own_features=zero,
        own_features_noise=zero,
    )


def resampled_causes(p: Resampled, w: Weights, times: Product) -> tuple[FloatArray, ...]:
    """Noise, initialization, sampling, bias and resampling.

    The nonlinear teacher is missed in full and responded to as noise that comes with the inputs.
    """
    return (
        times(
            w.noise,
            (p.data + p.noise) + times(w.member, p.own_choice_noise + p.own_features_noise),
        ),
        times(w.signal, p.features)
        + times(w.nonlinear, p.noise)
        + times(
            w.member,
            times(w.signal, p.own_features) + times(w.nonlinear, p.own_features_noise),
        ),
        times(w.signal * p.missed + w.nonlinear, p.data),
        w.signal * p.missed + w.nonlinear,
        times(
            w.member,
            times(w.signal, p.own_choice) + times(w.nonlinear, p.own_choice_noise),
        ),
    )
