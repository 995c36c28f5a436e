"""Roots, minima and limits at many points."""

from typing import Any

import numpy as np
import pytest

from doubletrouble._numerics import crossings
from doubletrouble.errors import ConvergenceError


def test_roots_do_not_depend_on_the_scale_of_functions() -> None:
    roots = np.array([-3.0, 1e-9, 2.0, 600.0])
    scales = np.array([1e-200, 1.0, 1e200, 1.0])

    def values(x: Any, i: Any) -> Any:
        return scales[i] * np.expm1(np.clip(x - roots[i], -50, 50))

    every = np.arange(4)
    low, high = np.full(4, -700.0), np.full(4, 690.0)
    result = crossings(values, low, high, values(low, every), values(high, every))
    assert result == pytest.approx(roots, abs=1e-12)


def test_small_value_at_a_bracket_end_is_not_a_root() -> None:
    def values(x: Any, i: Any) -> Any:
        return np.where(x < 5, 1e-16, 5 - x)

    ends = np.array([0.0]), np.array([16.0])
    result = crossings(values, *ends, values(ends[0], 0), values(ends[1], 0))
    assert result == pytest.approx([5.0], abs=1e-12)


def test_missing_sign_change_raises() -> None:
    ends = np.array([-1.0]), np.array([2.0])
    with pytest.raises(ConvergenceError, match="sign"):
        crossings(lambda x, i: x * x + 1, *ends, np.array([2.0]), np.array([5.0]))
