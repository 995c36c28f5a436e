"""What members may share: overlaps that fit together, and sentences for those that do not."""

import math

import numpy as np
import pytest

from doubletrouble.ensembles import overlaps


def test_nested_sets() -> None:
    found = overlaps([2.0, 0.5, math.inf], [1.0, 1.0, 3.0], "both")
    assert found.features.tolist() == [[2.0, 0.5, 2.0], [0.5, 0.5, 0.5], [2.0, 0.5, math.inf]]
    assert found.samples.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 3.0]]
    nothing = overlaps([2.0, 0.5], [1.0, 1.0], "nothing")
    assert nothing.features.tolist() == [[2.0, 0.0], [0.0, 0.5]]


@pytest.mark.parametrize(
    ("first", "second", "third", "possible"),
    [(0.7, 0.7, 0.4, True), (0.7, 0.7, 0.0, False), (0.5, 0.5, 0.0, True), (1.0, 1.0, 0.9, False)],
)
def test_three_sets(first: float, second: float, third: float, possible: bool) -> None:
    """Two disjoint sets cannot each cover 70 % of a third."""
    matrix = np.array([[1.0, first, second], [first, 1.0, third], [second, third, 1.0]])
    if possible:
        assert overlaps([1.0] * 3, [1.0] * 3, (matrix, 0.0)).features.tolist() == matrix.tolist()
    else:
        with pytest.raises(ValueError, match="shared features must be possible for all members"):
            overlaps([1.0] * 3, [1.0] * 3, (matrix, 0.0))


def test_many_members_that_share_a_part() -> None:
    """One number for every two is possible if it is all of them, or few enough of each."""
    assert overlaps([1.0] * 50, [1.0] * 50, (0.5, 1.0)).samples.min() == 1.0
    assert overlaps([1.0] * 50, [1.0] * 50, (0.5, 1.0)).features.max() == 1.0
