"""Synthetic data for the tests of forecasts."""

from functools import cache

import numpy as np

import doubletrouble as dt
from doubletrouble.parameters import FloatArray

DIM = 6
NOISE = 0.3


def draw(
    n: int, rng: np.random.Generator, *, noise: float = NOISE, offset: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Rows with a smooth target and label noise."""
    x = rng.standard_normal((n, DIM))
    y = np.tanh(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + offset
    return x, y + noise * rng.standard_normal(n)


@cache
def forecast(n: int = 120, *, check: bool = False) -> dt.Forecast:
    """A forecast from n rows, with its checks or without."""
    return dt.forecast(*draw(n, np.random.default_rng(0)), check=check)
