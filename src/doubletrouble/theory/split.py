r"""From the balance to the parts of the error of one learner, at every limit.

A learner meets itself (`meeting`): the error has a part ρ that is bias, V_P that the features alone
cause, V_X the data alone, V_PX both together, and per unit of label noise R_s that learners on one
data set share, R_o that each has of its own.

A component the features cannot express (L = 0: the nonlinear teacher) only enters ρ: its power
is bias, and it is responded to as if it were noise drawn with the inputs.

At ridge 0 some of these are 0/0 (a linear network at P = N = D, say). There the equation is
solved in the asymptotic regime instead, 250 decades away, where a finite limit is exact to
rounding and everything else is far enough out to be told from 0 or inf.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.meeting import alone, parts
from doubletrouble.theory.modes import BoolArray, Modes

_VANISHING = 1e-250
NO_SAMPLES = 1e-150  # only data divided among very many learners are so few
_TINY_RIDGE = 1e-305  # below this a saturated learner's y would overflow
_NEGLIGIBLE = 1e-70  # sizes reach 1e±50, and limits approached are beyond 1e±83


class Split(NamedTuple):
    """Parts of the error for a target of unit power and label noise of unit variance."""

    overlap: FloatArray  # Σ v² L: what the mean student has of the teacher
    square: FloatArray  # Σ v² L²: the power of the mean student
    unused_samples: FloatArray  # the square root of training over test error
    missed: FloatArray  # ρ: the squared bias
    features: FloatArray  # V_P
    data: FloatArray  # V_X
    features_data: FloatArray  # V_PX
    noise_shared: FloatArray  # label noise two learners on one data set have in common
    noise_own: FloatArray  # label noise each fits through its own features


def split(balance: Balance, modes: Modes, joint: FloatArray | None = None) -> Split:
    """The parts of one learner's error (also on complex numbers, for derivatives).

    `joint` is AB + B e/P + A e/N, where it is known better than by adding up.
    """
    L = balance.learned
    return Split(
        modes.weigh(L),
        modes.weigh(L * L),
        balance.unused_samples,
        *parts(alone(balance, modes, joint)),
    )


def split_at(
    modes: Modes, features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray
) -> Split:
    """Solve the balance equation at ridge r, limits included, and split; `spare` is P - N."""
    samples, ridge, limit = solvable(modes, features, samples, ridge)
    found = split(modes.solve(features, samples, spare, ridge), modes)
    return Split(*at_limits(found, limit))


def at_limits(values: Iterable[FloatArray], limit: BoolArray) -> Iterable[FloatArray]:
    """The values, with those that were found 250 decades out replaced by what they say."""
    if not np.any(limit):
        return values
    return [np.where(limit, settled(value), value) for value in values]


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
