r"""Learners of different width, ridge, activation or data, averaged with any weights.

With R the matrix of the products of errors of every two members (`pair`), the weights w, which add
up to one, leave the error wᵀ R w. It is least at

    w = R⁻¹ 1/(1ᵀ R⁻¹ 1),        where it is 1/(1ᵀ R⁻¹ 1).

Weights may be negative: a member that errs like another, only more so, is subtracted. A member of
infinite error (P = N without ridge) gets no weight; members that are the same share theirs.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Learner, SpectralProblem
from doubletrouble.results import Committee, ErrorTerms
from doubletrouble.sharing import Sharing, checked_members, checked_weights, overlaps
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.pair import (
    AnyLearner,
    Powers,
    Student,
    activations_differ,
    bayes_of,
    checked_learners,
    covariances,
    kinship_of,
    modes_of_learner,
    pair_parts,
    sizes,
)

_RANK = 1e-13  # of the largest: a smaller eigenvalue of scaled errors is zero but for rounding


def committee(
    learners: Sequence[AnyLearner], *, sharing: Sharing = "samples",
    weights: str | npt.ArrayLike = "equal", signal: Numeric | None = None,
    noise: Numeric | None = None, nonlinear_signal: Numeric | None = None,
) -> Committee:  # fmt: skip
    """Return the exact test error of learners that vote with weights.

    `sharing` says what members have in common: "samples" (all train on one data set, of which
    those with fewer samples see a part; features are their own), "features" (of one set, wider
    members see those of narrower ones and more), "both" or "nothing"; or how much every two have
    in common, as (features, samples) or {"features": …, "samples": …}, each a number or a
    matrix, counted as in `pair_error`. `weights` add up to one; "optimal" are the best. The noise
    of test labels, where a `SpectralProblem` has it, is in the error, not in `pair_errors`.

    >>> from doubletrouble import Learner
    >>> narrow, wide = Learner(features_per_dim=0.5), Learner(features_per_dim=4.0)
    >>> best = committee([narrow, wide], weights="optimal", noise=0.5)
    >>> best.weights.round(3), round(best.error, 4)
    (array([0.15, 0.85]), 0.5996)
    """
    members = checked_learners(checked_members(learners, (Learner, SpectralProblem)))
    powers = Powers.of(members, signal, noise, nonlinear_signal)
    for name, value in powers._asdict().items():
        if np.ndim(value):
            raise ValueError(f"{name} must be one number here, got shape {np.shape(value)}")
    size = [tuple(map(float, sizes(one))) for one in members]
    common = overlaps([p for p, _ in size], [n for _, n in size], sharing)
    parts = _pair_terms(members, np.array(size), common.features, common.samples, powers)
    errors = np.asarray(parts.sum(axis=0))
    chosen = _weights(weights, errors)
    noise_, initialization, sampling, bias = (_quadratic(chosen, part) for part in parts)
    found = ErrorTerms(
        noise=noise_, initialization=initialization, sampling=sampling, bias=bias,
        bayes=bayes_of(members[0]),
    )  # fmt: skip
    return Committee(
        error=float(found.total),
        weights=chosen,
        pair_errors=errors,
        terms=found,
        shared_features=common.features,
        shared_samples=common.samples,
    )


def _quadratic(weights: FloatArray, part: FloatArray) -> float:
    """wᵀ V w; what is infinite of a member that has a weight is infinite of the whole."""
    used = weights != 0
    if np.any(np.isinf(np.diag(part)) & used):
        return math.inf
    return float(weights[used] @ part[np.ix_(used, used)] @ weights[used])


def _pair_terms(
    members: Sequence[AnyLearner], size: FloatArray, features: FloatArray, samples: FloatArray,
    powers: Powers,
) -> FloatArray:  # fmt: skip
    """Noise, initialization, sampling and bias of every product: (4, K, K)."""
    modes = [modes_of_learner(one) for one in members]
    first, second = np.triu_indices(len(members))
    with np.errstate(all="ignore"):
        together = _stacked([
            Student.of(seen, *np.array([[p], [n], [one.ridge]], dtype=np.float64))
            for seen, one, (p, n) in zip(modes, members, size, strict=True)
        ])  # fmt: skip
        kinship = _kinships(members, first, second, features)
        a, b = together.take(first), together.take(second)
        amounts = (features[first, second], samples[first, second])
        parts = pair_parts(a, b, modes[0], *amounts, kinship)
        found = np.empty((4, len(members), len(members)))
        same = np.ones(first.size)
        values = covariances(parts, *(float(v) * same for v in powers))
        found[:, first, second] = found[:, second, first] = values
    return found


def _stacked(students: Sequence[Student]) -> Student:
    """Several students as one, along the last axis."""
    balances = zip(*(one.balance for one in students), strict=True)
    return Student(
        features=np.concatenate([one.features for one in students]),
        samples=np.concatenate([one.samples for one in students]),
        balance=Balance(*(np.concatenate(values, axis=-1) for values in balances)),
        limit=np.concatenate([np.atleast_1d(one.limit) for one in students]),
    )


def _kinships(
    members: Sequence[AnyLearner], first: npt.NDArray[np.int_], second: npt.NDArray[np.int_],
    features: FloatArray,
) -> FloatArray | None:  # fmt: skip
    """The kinship of every two members; None where all have one activation."""
    if not any(activations_differ(members[0], one) for one in members):
        return None
    found = []
    for i, j in zip(first, second, strict=True):
        unlike = activations_differ(members[i], members[j])
        seen = kinship_of(members[i], members[j]) if unlike and features[i, j] else 0.0
        found.append(seen if unlike else 1.0)
    return np.array(found)


def _weights(wanted: str | npt.ArrayLike, errors: FloatArray) -> FloatArray:
    """The weights asked for, or the best."""
    count = errors.shape[0]
    if isinstance(wanted, str):
        if wanted not in ("equal", "optimal"):
            raise ValueError(f"weights must be equal, optimal or an array, got {wanted!r}")
        return np.full(count, 1 / count) if wanted == "equal" else _best(errors)
    return checked_weights(wanted, count)


def _best(errors: FloatArray) -> FloatArray:
    """The weights of least error, the smallest of them where several do."""
    own = np.diag(errors)
    sound = np.isfinite(own)
    if not sound.any():  # all are hopeless
        return np.full(own.size, 1 / own.size)
    if np.any(own == 0):  # some are perfect
        return np.where(own == 0, 1.0, 0.0) / np.count_nonzero(own == 0)
    scale = 1 / np.sqrt(own[sound])
    # members' errors may differ by many decades: of unit size, their products are well conditioned
    values, vectors = np.linalg.eigh(errors[np.ix_(sound, sound)] * np.outer(scale, scale))
    kept = values > _RANK * values[-1]  # the others are zero but for rounding
    seen = (vectors.T @ scale)[kept]
    found = scale * (vectors[:, kept] @ (seen / values[kept]))
    best = np.zeros(own.size)
    best[sound] = found / found.sum()
    return best
