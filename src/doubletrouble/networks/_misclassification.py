"""Misclassification by the sign of scores, for one member and for many.

Scores are arrays [..., init, test], labels ±1, one for each test point. A score of zero, or a tied
vote, counts as half an error.
"""

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray, Value, as_value


def error_rate(scores: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
    """The fraction of test points that each member gets wrong, an array [..., init].

    >>> error_rate([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])
    array([0.5 , 0.25])
    """
    return np.asarray(_wrong(np.asarray(scores, dtype=np.float64), labels))


def ensemble_error(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Value:
    """The fraction of test points that the mean score of all members gets wrong, [...].

    >>> ensemble_error([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])
    0.5
    """
    return _wrong(np.asarray(scores, dtype=np.float64).mean(axis=-2), labels)


def vote_error(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Value:
    """The fraction of test points that the majority of members gets wrong, [...].

    >>> vote_error([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])  # the second point is a tie
    0.25
    """
    return _wrong(np.sign(np.asarray(scores, dtype=np.float64)).sum(axis=-2), labels)


def grouped(scores: npt.ArrayLike, size: int) -> FloatArray:
    """Disjoint groups of K members, [..., group, K, test]; remaining members are dropped.

    >>> grouped(np.zeros((7, 100)), size=3).shape
    (2, 3, 100)
    """
    members = np.asarray(scores, dtype=np.float64)
    *before, count, n_test = members.shape
    if not 1 <= size <= count:
        raise ValueError(f"ensemble must be in [1, {count}], the number of members, got {size}")
    n_groups = count // size
    used = members[..., : n_groups * size, :]
    return used.reshape(*before, n_groups, size, n_test)


def _wrong(scores: FloatArray, labels: npt.ArrayLike) -> Value:
    """The mean over test points of 0 for the correct sign, 1 for the wrong one, 1/2 for a tie."""
    error: FloatArray = (1 - np.sign(scores) * np.asarray(labels)).mean(axis=-1) / 2
    return as_value(error)
