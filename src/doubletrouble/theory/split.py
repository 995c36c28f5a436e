r"""From the balance to the parts of the error: one set of formulas for every spectrum.

Take two learners, with c_P = 1/P if they have the same features and 0 if fresh ones, and likewise
c_N = 1/N or 0 for their samples. With L_i, z, Q of `balance`, e = z - Q, the target's power missed
ρ = Σ v_i² (1 - L_i)² and χ = Σ v_i² L_i (1 - L_i), the average product of their errors is

    (M + σ² c_N T)/(1 - c_N T),    T = Q + c_P e²/(1 - c_P Q),    M = ρ + χ c_P e/(1 - c_P Q)

for label noise σ² (two deterministic equivalents in turn, over samples, then over features; at
c_P = 1/P, c_N = 1/N it is the risk of [defilippis2024] and [simon2023]). Taking the differences of
the four cases by hand leaves sums of positive terms only. With A, B the unused fractions of
features and samples, and a unit of label noise,

    features alone        V_P   = χ (e/P)/(A + e/P)
    noise, shared         R_s   = (Q/N)/(B + e/N)                        same data, fresh features
    noise, own            R_o   = (e/P)(e/N) / ((AB + B e/P + A e/N)(B + e/N))
    data alone            V_X   = ρ R_s
    features and data     V_PX  = (ρ + V_P) R_o + V_P R_s

A component the features cannot express (L = 0: the nonlinear teacher) only enters ρ: its power
is bias, and it is responded to as if it were noise drawn with the inputs.

At ridge 0 some of these are 0/0 (a linear network at P = N = D, say). There the equation is
solved in the asymptotic regime instead, 250 decades away, where a finite limit is exact to
rounding and everything else is far enough out to be told from 0 or inf.
"""

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.modes import BoolArray, Modes

_VANISHING = 1e-250
NO_SAMPLES = 1e-150  # only data divided among very many learners are so few
_TINY_RIDGE = 1e-305  # below this a saturated learner's y would overflow
_NEGLIGIBLE = 1e-70  # sizes reach 1e±50, and limits approached are beyond 1e±83


class Split(NamedTuple):
    """Parts of the error for a target of unit power and label noise of unit variance."""

    overlap: FloatArray  # Σ v² L: what the mean student has of the teacher
    square: FloatArray  # Σ v² L²: the power of the mean student
    missed: FloatArray  # ρ: the squared bias
    features: FloatArray  # V_P
    data: FloatArray  # V_X
    features_data: FloatArray  # V_PX
    noise_shared: FloatArray  # label noise two learners on one data set have in common
    noise_own: FloatArray  # label noise each fits through its own features
    unused_samples: FloatArray  # the square root of training over test error


def split(balance: Balance, modes: Modes, joint: FloatArray | None = None) -> Split:
    """Evaluate the formulas above (also on complex numbers, for derivatives).

    `joint` is AB + B e/P + A e/N, where it is known better than by adding up.
    """
    L, M, A, B, e_P, e_N, Q_N = balance
    missed = modes.weigh(M * M)
    rest = B + e_N
    features = modes.weigh(L * M) * (e_P / (A + e_P))
    shared = Q_N / rest
    joint = A * B + B * e_P + A * e_N if joint is None else joint
    own = e_P / joint * (e_N / rest)  # in this order: no underflow
    return Split(
        overlap=modes.weigh(L),
        square=modes.weigh(L * L),
        missed=missed,
        features=features,
        data=missed * shared,
        features_data=(missed + features) * own + features * shared,
        noise_shared=shared,
        noise_own=own,
        unused_samples=B,
    )


def split_at(
    modes: Modes, features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray
) -> Split:
    """Solve the balance equation at ridge r, limits included, and split; `spare` is P - N."""
    samples, ridge, limit = solvable(modes, features, samples, ridge)
    parts = split(modes.solve(features, samples, spare, ridge), modes)
    if not np.any(limit):
        return parts
    return Split(*(np.where(limit, settled(value), value) for value in parts))


def solvable(
    modes: Modes, features: FloatArray, samples: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """N and r at which to solve instead, and where that is, since the limit itself is 0/0."""
    high, empty = ridge > 1 / _VANISHING, samples < NO_SAMPLES
    low = complete(modes, features, samples, ridge)
    limit = high | low | empty
    if np.any(limit):
        ridge = np.where(high, 1 / _VANISHING, np.where(low, _VANISHING, ridge))
        samples = np.where(empty, _VANISHING, samples)
    return samples, ridge, limit


def complete(
    modes: Modes, features: FloatArray, samples: FloatArray, ridge: FloatArray
) -> BoolArray:
    """Where every mode is learned in full: there is enough of everything, and no ridge."""
    return np.asarray(modes.saturated(features, samples) & (ridge < _TINY_RIDGE))


def settled(value: FloatArray) -> FloatArray:
    """What a value 250 decades out says of the limit: 0, inf or itself."""
    near = np.where(np.abs(value) < _NEGLIGIBLE, 0.0, value)
    return np.where(np.abs(near) > 1 / _NEGLIGIBLE, np.copysign(np.inf, near), near)
