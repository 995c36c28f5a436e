"""Synthetic data for the tests of forecasts."""

from functools import cache
from typing import Any

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


def forecast_of(X: Any, y: Any, **settings: Any) -> Any:
    """A forecast of inputs as they are, without an intercept unless given; of any types."""
    return dt.forecast(X, y, **{"scale": False, "fit_intercept": False, **settings})


@cache
def forecast(*, check: bool = False) -> Any:
    """A forecast from 120 rows, with its checks or without."""
    return forecast_of(*draw(120, np.random.default_rng(0)), check=check)
