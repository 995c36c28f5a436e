"""Misclassification of one member, of an ensemble and of a vote."""

import numpy as np
import pytest

from doubletrouble.networks._misclassification import (
    ensemble_error,
    error_rate,
    grouped,
    vote_error,
)

LABELS = np.array([1, -1, 1, -1])
SCORES = np.array(
    [
        [1.0, 1.0, 0.0, -3.0],
        [2.0, -5.0, 1.0, 1.0],
        [-4.0, 1.0, -1.0, 1.0],
    ]
)


def test_ties_count_half() -> None:
    np.testing.assert_array_equal(error_rate(SCORES, LABELS), [1.5 / 4, 1 / 4, 1.0])
    # the means are -1/3, -1, 0, -1/3; the votes +1, +1, 0, +1
    assert ensemble_error(SCORES, LABELS) == 1.5 / 4
    assert vote_error(SCORES, LABELS) == 2.5 / 4


def test_one_member_is_its_own_ensemble_and_vote() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(5, 1, 20)), rng.choice([-1, 1], size=20)
    rates = error_rate(scores, labels)
    assert rates.shape == (5, 1)
    np.testing.assert_array_equal(ensemble_error(scores, labels), rates[:, 0])
    np.testing.assert_array_equal(vote_error(scores, labels), rates[:, 0])


def test_rates_are_those_of_counting_one_by_one() -> None:
    rng = np.random.default_rng(1)
    scores = rng.integers(-2, 3, size=(2, 4, 30))  # zeros and ties are frequent
    labels = rng.choice([-1, 1], size=30)
    cost = {1: 0.0, 0: 0.5, -1: 1.0}
    for i in range(2):
        mean = [np.sign(scores[i, :, t].sum()) * labels[t] for t in range(30)]
        vote = [np.sign(np.sign(scores[i, :, t]).sum()) * labels[t] for t in range(30)]
        result = np.asarray(ensemble_error(scores, labels))[i]
        assert result == pytest.approx(np.mean([cost[int(m)] for m in mean]))
        result = np.asarray(vote_error(scores, labels))[i]
        assert result == pytest.approx(np.mean([cost[int(v)] for v in vote]))


def test_groups_are_disjoint_and_in_order() -> None:
    scores = np.arange(2 * 7 * 3).reshape(2, 7, 3)
    groups = grouped(scores, 3)
    assert groups.shape == (2, 2, 3, 3)
    np.testing.assert_array_equal(groups[:, 1], scores[:, 3:6])
    np.testing.assert_array_equal(grouped(scores, 7)[:, 0], scores)
    assert np.shape(ensemble_error(groups, [1, 1, -1])) == (2, 2)


def test_group_sizes_are_checked() -> None:
    for bad in (0, -1, 4):
        with pytest.raises(ValueError, match=r"^ensemble must"):
            grouped(SCORES, bad)
