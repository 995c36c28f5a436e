"""The checks of a forecast: what they pass, what they fail, and the functions beyond the rows."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.parameters import FloatArray
from tests.forecasting.datasets import draw
from tests.forecasting.datasets import forecast_of as raw_forecast


def common(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.standard_normal((n, 20))


def rare(rng: np.random.Generator, n: int) -> FloatArray:
    """Half of the columns differ from zero in one row of a hundred, with unit variance."""
    x = rng.standard_normal((n, 40))
    x[:, 20:] *= 10 * (rng.random((n, 20)) < 0.01)
    return x


def forecast_of(inputs: FloatArray, rng: np.random.Generator, *, check: bool = True) -> Any:
    y = np.tanh(inputs[:, 0]) + 0.2 * rng.standard_normal(len(inputs))
    return raw_forecast(inputs, y, check=check)


@pytest.mark.parametrize("seed", range(3))
def test_spectrum_check_separates_rare_directions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ordinary = forecast_of(common(rng, 120), rng).checks
    unusual = forecast_of(rare(rng, 120), rng).checks
    assert ordinary["spectrum"].passed
    assert not unusual["spectrum"].passed
    assert unusual["spectrum"].value > 2 * ordinary["spectrum"].value
    assert ordinary["features"].passed
    assert unusual["spectrum"] in unusual.failed


@pytest.mark.parametrize("dim", [2, 3])
def test_checks_pass_for_few_ordinary_columns(dim: int) -> None:
    """Near g_min, decades below every useful ridge, the spectrum is that of a few outer rows."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((250, dim))
    y = np.tanh(2 * x[:, 0]) + 0.5 * x[:, 1] + 0.3 * rng.standard_normal(250)
    checks = raw_forecast(x, y, fit_intercept=True).checks
    assert checks["spectrum"].passed
    assert checks["back_test"].passed


def test_spectrum_check_fails_for_rare_directions_and_labels_of_noise() -> None:
    """The best ridge is large then, and a small one is compared nevertheless."""
    rng = np.random.default_rng(0)
    checks = raw_forecast(rare(rng, 120), rng.standard_normal(120)).checks
    assert not checks["spectrum"].passed


def test_feature_check_detects_labels_far_from_zero() -> None:
    """Without an intercept, the constant is learned by features whose mean is not Gaussian."""
    x, y = draw(120, np.random.default_rng(0), offset=20.0)
    assert not raw_forecast(x, y).checks["features"].passed
    assert raw_forecast(x, y, fit_intercept=True).checks["features"].passed


def test_standard_error_is_continuous_at_the_number_of_rows() -> None:
    rng = np.random.default_rng(1)
    f = forecast_of(common(rng, 120), rng)
    e = f.error(n_features=np.inf, ridge=1.0, n_samples=[120, 121, 480]).total
    own, next_to_it, four_times = np.asarray(e.standard_error) / np.asarray(e.value)
    assert next_to_it == pytest.approx(own, rel=0.1)
    assert four_times > own
