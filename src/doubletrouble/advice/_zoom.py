"""Minimize many functions of one variable at once, by finer and finer grids."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from doubletrouble.advice._equality import SAME
from doubletrouble.parameters import FloatArray

_POINTS = 9  # of a grid, both ends included: each is four times finer than the last
STAGES = 5  # a thousand times finer: an error of the sixth digit of its curvature, at a minimum


def zoom(
    values: Callable[[npt.NDArray[np.int_], FloatArray], FloatArray],
    low: FloatArray, high: FloatArray, at: FloatArray, least: FloatArray, stages: int = STAGES,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Look between `low` and `high`, on a logarithmic scale, for less than `least`, found at `at`.

    `values(i, x)` are those of functions i at the points x. What was found before stays where
    hardly anything better is seen: an end (0 or inf, say) remains exact, and so does the cheapest
    point of a plateau.
    """
    low, high = np.log(low), np.log(high)
    first, before = at, least
    at, least = at.copy(), least.copy()
    index = np.repeat(np.arange(at.size), _POINTS).reshape(at.size, _POINTS)
    rows, steps = np.arange(at.size), np.linspace(0.0, 1.0, _POINTS)
    for _ in range(stages):
        grid = low[:, None] + (high - low)[:, None] * steps
        found = values(index.ravel(), np.exp(grid).ravel()).reshape(grid.shape)
        place = np.argmin(found, axis=1)
        better = found[rows, place] < least
        at[better] = np.exp(grid[rows, place])[better]
        least[better] = found[rows, place][better]
        low, high = (
            grid[rows, np.maximum(place - 1, 0)],
            grid[rows, np.minimum(place + 1, _POINTS - 1)],
        )
    worth = least < before * (1 - SAME)
    return np.where(worth, at, first), np.where(worth, least, before)
