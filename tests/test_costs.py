"""Costs of models: hand-computed operations."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt


def test_operations_are_those_computed_by_hand() -> None:
    P, N, K = 10, 100, 7
    assert dt.Cost()(P, N, K) == 7 * 100 * 10 * 10
    assert dt.Cost()(N, P, K) == 7 * 10 * 100 * 10
    assert dt.Cost(steps=3)(P, N, K) == 7 * 3 * 100 * 10
    assert dt.Cost(predictions=5)(P, N, K) == 7 * (100 * 10 * 10 + 5 * 10)
    assert dt.Cost(sample_price=2)(P, N, K) == 7 * 10_000 + 2 * 100
    assert dt.Cost(workers=4)(P, N, K) == 2 * 10_000  # two rounds
    assert dt.Cost(workers=math.inf, sample_price=2)(P, N, math.inf) == 10_000 + 200
    np.testing.assert_array_equal(dt.Cost(workers=2)(P, N, np.array([1, 2, 3])) / 1e4, [1, 1, 2])


def test_bad_costs_are_named() -> None:
    with pytest.raises(ValueError, match="workers must be a whole number"):
        dt.Cost(workers=1.5)
    steps: Any = [1.0, 2.0]
    with pytest.raises(ValueError, match="Cost must be numbers"):
        dt.Cost(steps=steps)
