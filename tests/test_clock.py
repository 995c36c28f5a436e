"""Training time in steps times learning rate: against gradient descent itself."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.conventions import CLOCKS, ClockName
from doubletrouble.parameters import FloatArray

P, N, D, RIDGE = 7, 5, 3, 0.02


def descended(
    loss: ClockName, features: FloatArray, y: FloatArray, steps: int, rate: float
) -> FloatArray:
    """Weights after gradient descent on a loss, from zero."""
    alpha = N * P * RIDGE / D
    scale = {"mean": 2 / N, "half_mean": 1 / N, "sum": 2.0, "half_sum": 1.0}[loss]
    a = np.zeros(P)
    for _ in range(steps):
        a += rate * scale * (features.T @ (y - features @ a) - alpha * a)
    return a


@pytest.mark.parametrize("loss", ["mean", "half_mean", "sum", "half_sum"])
def test_small_steps_follow_the_flow(loss: ClockName) -> None:
    rng = np.random.default_rng(0)
    features, y = rng.standard_normal((N, P)), rng.standard_normal(N)
    alpha, time, steps = N * P * RIDGE / D, 0.8, 20_000
    values, vectors = np.linalg.eigh(features.T @ features)
    gains = -np.expm1(-time * (values + alpha) / D) / (values + alpha)
    flowed = vectors @ (gains * (vectors.T @ (features.T @ y)))
    rate = float(dt.time_to(loss, time, n_samples=N, dim=D)) / steps
    assert descended(loss, features, y, steps, rate) == pytest.approx(flowed, rel=1e-3)
    wrong = descended(loss, features, y, steps, 1.2 * rate)
    assert wrong != pytest.approx(flowed, rel=1e-3)


@pytest.mark.parametrize("clock", CLOCKS)
def test_there_and_back(clock: ClockName) -> None:
    sizes: dict[str, Any] = {"n_features": 20, "n_samples": 30, "dim": 10}
    time = np.array([0.0, 0.1, 1e6])
    back = dt.time_from(clock, dt.time_to(clock, time, **sizes), **sizes)
    assert back == pytest.approx(time)


def test_bad_input() -> None:
    unknown: Any = "epochs"
    with pytest.raises(ValueError, match=r"clock must be one of mean, half_mean, .*, got 'epochs'"):
        dt.time_to(unknown, 1.0, n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"time must be in \[0, 1e\+150\] or inf, got -1"):
        dt.time_to("mean", -1, n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"progress must be in \[0, 1e\+150\] or inf, got -1"):
        dt.time_from("mean", -1, n_samples=1, dim=1)
    with pytest.raises(ValueError, match="n_features must be given for clock 'gram', got None"):
        dt.time_to("gram", 1.0, n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"n_features must be finite to be converted.*, got inf"):
        dt.time_to("gram", 1.0, n_samples=1, dim=1, n_features=np.inf)
