"""Misclassification by the sign of scores, for one member and for many.

Scores are arrays [..., init, test], labels ±1, one for each test point. A score of zero, or a tied
vote, counts as half an error.
"""

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray, Value


def error_rate(scores: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
    """The fraction of test points that each member gets wrong, an array [..., init].

    >>> error_rate([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])
    array([0.5 , 0.25])
    """
    members = _as_scores(scores)
    return np.asarray(_wrong(members, _as_labels(labels, members.shape[-1])))


def ensemble_error(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Value:
    """The fraction of test points that the mean score of all members gets wrong, [...].

    >>> ensemble_error([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])
    0.5
    """
    members = _as_scores(scores)
    return _wrong(members.mean(axis=-2), _as_labels(labels, members.shape[-1]))


def vote_error(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Value:
    """The fraction of test points that the majority of members gets wrong, [...].

    >>> vote_error([[0.3, -2.0], [0.0, 1.0]], labels=[1, 1])  # the second point is a tie
    0.25
    """
    members = _as_scores(scores)
    return _wrong(np.sign(members).sum(axis=-2), _as_labels(labels, members.shape[-1]))


def grouped(scores: npt.ArrayLike, size: int) -> FloatArray:
    """Disjoint groups of K members, [..., group, K, test]; remaining members are dropped.

    >>> grouped(np.zeros((7, 100)), size=3).shape
    (2, 3, 100)
    """
    members = _as_scores(scores)
    *before, count, n_test = members.shape
    if not 1 <= size <= count:
        raise ValueError(f"ensemble must be in [1, {count}], the number of members, got {size}")
    n_groups = count // size
    used = members[..., : n_groups * size, :]
    return used.reshape(*before, n_groups, size, n_test)


def _wrong(scores: FloatArray, labels: FloatArray) -> Value:
    """The mean over test points of 0 for the right sign, 1 for the wrong one, 1/2 for none."""
    error: FloatArray = (1 - np.sign(scores) * labels).mean(axis=-1) / 2
    return error if error.ndim else float(error)


def _as_scores(value: npt.ArrayLike) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"scores must be an array of numbers, got an array of {array.dtype}")
    if array.ndim < 2 or not array.size:
        raise ValueError(
            "scores must be an array [..., init, test] with every axis of length 1 or more, "
            f"got shape {array.shape}"
        )
    scores = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(scores)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"scores must be finite, got {float(scores[where])!r} at index {where}")
    return scores


def _as_labels(value: npt.ArrayLike, n_test: int) -> FloatArray:
    labels = np.asarray(value)
    if labels.shape != (n_test,):
        raise ValueError(
            f"labels must have one entry for each of {n_test} test points, got shape {labels.shape}"
        )
    bad = ~np.isin(labels, (-1, 1))
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        raise ValueError(f"labels must be -1 or 1, got {labels[index].item()!r} at index {index}")
    return labels.astype(np.float64)
