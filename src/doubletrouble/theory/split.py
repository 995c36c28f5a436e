r"""From the balance to the parts of the error: one set of formulas for every spectrum.

Two learners that share features, samples, both or none have the overlap of their errors
R = (N + σ² c₂ T)/(1 - c₂ T), with T and N built from L_i, z and Q of `balance`. Taking the
differences by hand leaves sums of positive terms only. Write ρ for the target's power missed,
Σ v_i² (1 - L_i)², and χ = Σ v_i² L_i (1 - L_i); with A, B the unused fractions of features and
samples, e = z - Q, and a unit of label noise,

    features alone        V_P   = χ (e/P)/(A + e/P)
    noise, shared         N_s   = (Q/N)/(B + e/N)                        same data, fresh features
    noise, own            N_o   = (e/P)(e/N) / ((AB + B e/P + A e/N)(B + e/N))
    data alone            V_X   = ρ N_s
    features and data     V_PX  = (ρ + V_P) N_o + V_P N_s

A component the features cannot express (L = 0: the nonlinear teacher) only enters ρ: its power
is bias, and it is responded to as if it were noise drawn with the inputs.

At ridge 0 some of these are 0/0 (a linear network at P = N = D, say). There the equation is
solved in the asymptotic regime instead, 250 decades away, where a finite limit is exact to
rounding and everything else is far enough out to be told from 0 or inf.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory.balance import Balance, balance_levels, balance_one_level

_VANISHING = 1e-250
_TINY_RIDGE = 1e-305  # below this a saturated learner's y would overflow
_NEGLIGIBLE = 1e-40


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


def split(balance: Balance, overlap: FloatArray, square: FloatArray, missed: FloatArray,
          cross: FloatArray) -> Split:  # fmt: skip
    """Evaluate the formulas above; `cross` is χ, the target power half learned."""
    _, _, A, B, e_P, e_N, Q_N = balance
    rest = B + e_N
    features = cross * (e_P / (A + e_P))
    shared = Q_N / rest
    own = e_P / (A * B + B * e_P + A * e_N) * (e_N / rest)  # in this order: no underflow
    return Split(
        overlap=overlap,
        square=square,
        missed=missed,
        features=features,
        data=missed * shared,
        features_data=(missed + features) * own + features * shared,
        noise_shared=shared,
        noise_own=own,
        unused_samples=B,
    )


def isotropic_split(
    problem: Problem, features: FloatArray, samples: FloatArray, ridge: FloatArray
) -> Split:
    """The split of the isotropic problem, at the given P/D, N/D and λ."""
    moments = problem.moments
    scale = math.hypot(moments.linear, moments.nonlinear) or 1.0
    level, tail = ((m / scale) ** 2 for m in (moments.linear, moments.nonlinear))
    saturated = np.minimum(features, samples) >= (level > 0) if tail < _VANISHING else False

    def evaluate(features: FloatArray, samples: FloatArray, ridge: FloatArray) -> Split:
        balance = balance_one_level(features, samples, ridge, level, tail)
        s, u = balance.learned, balance.missed
        return split(balance, s, s * s, u * u, s * u)

    return _with_limits(evaluate, features, samples, ridge / scale / scale, saturated)


def spectral_split(
    problem: SpectralProblem, features: FloatArray, samples: FloatArray, ridge: FloatArray,
    tail: FloatArray,
) -> Split:  # fmt: skip
    """The split for a measured spectrum, at the given P, N, δ and tail (all of one shape)."""
    levels, powers = np.asarray(problem.eigenvalues), np.asarray(problem.target_powers)
    scale = levels.sum() + float(np.max(tail)) or 1.0
    levels, tail = levels / scale, tail / scale
    # divided by the largest first: the sum of large powers could overflow
    weights = powers / powers.max() if powers.any() else np.ones_like(powers)
    weights = weights / weights.sum()
    saturated = (tail < _VANISHING) & (np.minimum(features, samples) >= np.sum(levels > 0))

    def evaluate(features: FloatArray, samples: FloatArray, ridge: FloatArray) -> Split:
        balance = balance_levels(features, samples, ridge, levels, tail)
        L, M = balance.learned, balance.missed
        return split(balance, weights @ L, weights @ L**2, weights @ M**2, weights @ (L * M))

    per_sample = ridge / scale / np.where(samples == 0, 1.0, samples)
    return _with_limits(evaluate, features, samples, per_sample, saturated)


def _with_limits(
    evaluate: Callable[..., Split], features: FloatArray, samples: FloatArray, ridge: FloatArray,
    saturated: FloatArray | bool,
) -> Split:  # fmt: skip
    """Evaluate, with 0 and inf replaced by values deep in the asymptotic regime where needed.

    `saturated` tells where every mode can be learned in full: there ridge 0 is a limit, too.
    """
    high, empty = ridge > 1 / _VANISHING, samples == 0
    low = saturated & (ridge < _TINY_RIDGE)
    limit = high | low | empty
    if not np.any(limit):
        return evaluate(features, samples, ridge)
    ridge = np.where(high, 1 / _VANISHING, np.where(low, _VANISHING, ridge))
    parts = evaluate(features, np.where(empty, _VANISHING, samples), ridge)

    def settle(value: FloatArray) -> FloatArray:
        low = np.where(value < _NEGLIGIBLE, 0.0, value)
        return np.where(limit, np.where(low > 1 / _NEGLIGIBLE, np.inf, low), value)

    return Split(*(settle(value) for value in parts))
