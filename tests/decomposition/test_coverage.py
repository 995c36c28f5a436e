"""Intervals on random features, below, at and beyond the peak, where tails are heavy."""

import math
from functools import cache

import numpy as np
import pytest

from doubletrouble.decomposition import Decomposition, decompose_predictions
from doubletrouble.results import Estimate
from tests.decomposition.random_effects import rows
from tests.decomposition.random_features import predictions

DIM, SHAPE, REPEATS = 40, (20, 2, 5, 150), 200
RATIOS = (0.5, 1.0, 2.0)  # P/N


@cache
def repeated(ratio: float) -> list[tuple[Decomposition, Decomposition]]:
    """With the same data for both: as it is, and with shared initializations taken for fresh."""
    rng = np.random.default_rng([7, round(10 * ratio)])
    found = []
    for _ in range(REPEATS):
        f, truth = predictions(rng, dim=DIM, width=round(ratio * DIM), shape=SHAPE)
        found.append(
            (
                decompose_predictions(f, truth),
                decompose_predictions(f, truth, crossed=False, include_test=False),
            )
        )
    return found


def answers(found: Decomposition) -> dict[str, Estimate]:
    return rows(found) | {"K = 5": found.error(5).total, "K = inf": found.error(math.inf).total}


def coverage(ratio: float, which: int) -> dict[str, float]:
    """How often intervals of nominally 95 % hold the mean of all (unbiased) estimates."""
    draws = [answers(pair[which]) for pair in repeated(ratio)]
    right = [answers(pair[0]) for pair in repeated(ratio)]
    found = {}
    for name in draws[0]:
        truth = float(np.mean([draw[name].value for draw in right]))
        intervals = [draw[name].confidence_interval() for draw in draws]
        found[name] = float(np.mean([bool(low <= truth <= high) for low, high in intervals]))
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", RATIOS)
def test_intervals_cover(ratio: float) -> None:
    found = coverage(ratio, 0)
    assert min(found.values()) > 0.90, found  # 0.92 to 0.98, and the error of 200 repeats
    assert max(found.values()) < 0.99, found


@pytest.mark.statistical
def test_intervals_cover_on_average() -> None:
    found = [share for ratio in RATIOS for share in coverage(ratio, 0).values()]
    assert 0.93 < np.mean(found) < 0.97


@pytest.mark.statistical
def test_what_is_shared_must_be_counted() -> None:
    """The negative control: initializations and test points as if drawn anew for every fit."""
    found = coverage(0.5, 1)
    assert found["bias"] < 0.85
    assert found["sampling"] < 0.85
