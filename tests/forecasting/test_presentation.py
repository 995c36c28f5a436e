"""Forecasts as text, tables and plots; what is extrapolated is marked everywhere."""

import pickle

import numpy as np
import pytest

from doubletrouble.results import Forecast
from tests.forecasting.datasets import forecast

WIDTHS = [20.0, 60.0, 200.0, 2000.0]
BEYOND = {"n_features": WIDTHS, "ridge": 1e-6, "n_samples": 600}  # in part extrapolated


def test_print_of_a_forecast_has_the_noise_the_limit_and_the_checks() -> None:
    f = forecast(check=True)
    text = str(f)
    assert text == repr(f)
    assert "120 rows in 6 dimensions" in text
    for word in ("label noise", "too fine for 120 rows", "best ridge", "bias", "noise floor"):
        assert word in text
    for check in f.checks.values():
        assert str(check) in text
    assert str(f.checks) == "\n".join(map(str, f.checks.values()))
    assert f._repr_html_().startswith("<pre>")
    assert str(forecast().checks) == "no checks were run"


def test_extrapolated_points_are_marked() -> None:
    error = forecast().error(**BEYOND)
    assert error.extrapolated.tolist() == [False, False, True, True]
    lines = str(error).splitlines()
    assert [line.endswith("extrapolated") for line in lines[1:5]] == [False, False, True, True]
    assert error.to_frame()["extrapolated"].tolist() == [False, False, True, True]
    assert error._repr_html_().count("<td>extrapolated</td>") == 2
    single = forecast().error(**{**BEYOND, "n_features": 2000})
    assert single.extrapolated is True
    assert "extrapolated" in str(single)
    assert "extrapolated" not in str(forecast().error(20))
    assert forecast().error(20).extrapolated is False


def test_marks_of_a_long_table_are_those_of_its_rows() -> None:
    widths = np.geomspace(10, 5000, 40)
    error = forecast().error(**{**BEYOND, "n_features": widths})
    lines = [line for line in str(error).splitlines()[1:13] if "…" not in line]
    shown = [*range(6), *range(35, 40)]
    assert [line.endswith("extrapolated") for line in lines] == error.extrapolated[shown].tolist()


def test_frames_have_a_row_for_each_point() -> None:
    f = forecast()
    frame = f.to_frame(**BEYOND)
    assert frame["n_features"].tolist() == WIDTHS
    assert frame["total"].to_numpy() == pytest.approx(f.error(**BEYOND).total.value)
    assert {"bias_standard_error", "extrapolated"} <= set(frame)
    assert len(f.to_frame()) == 81
    assert len(f.to_frame(ridge=1.0, n_samples=240)) == 81
    checks = forecast(check=True).checks.to_frame()
    assert checks["name"].tolist() == ["spectrum", "features", "loo_over_gcv", "back_test"]


def test_advice_prints_and_is_a_frame() -> None:
    advice = forecast().advise(60, 1e-3)
    text = str(advice)
    assert text == repr(advice)
    assert advice.summary in text
    for option in advice.options:
        assert option.name in text
    frame = advice.to_frame()
    assert frame["option"].tolist() == [option.name for option in advice.options]
    assert np.all(frame["gain_low"][1:] <= frame["gain_high"][1:])
    assert advice._repr_html_().startswith("<pre>")
    huge = forecast().advise(2000, 1e-6, n_samples=600)
    assert any(line.endswith("extrapolated") for line in str(huge).splitlines())


def test_plot_is_dashed_where_extrapolated() -> None:
    axes = forecast().plot(**BEYOND)
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert {"total", "total, K = ∞", "bias"} <= set(lines)
    y = lines["total"].get_ydata()
    assert np.isfinite(y).tolist() == [True, True, False, False]
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert dashed
    for line in dashed:
        assert np.isfinite(line.get_ydata()).tolist() == [False, True, True, True]
    assert "extrapolated" in axes.get_title(loc="right")


def test_plot_of_a_family_is_dashed_where_extrapolated() -> None:
    axes = forecast().plot(n_features=WIDTHS, ridge=1e-6, n_samples=[[120], [600]])
    assert [line.get_linestyle() for line in axes.get_lines()] == ["-", "-", "--"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "n_samples = 120",
        "n_samples = 600",
    ]


def test_plots_by_default_and_of_one_point() -> None:
    axes = forecast().plot()
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="right") == ""
    bars = forecast().error(50).plot()
    assert len(bars.patches) == 6


def test_forecast_survives_a_pickle() -> None:
    f = forecast()
    copy = pickle.loads(pickle.dumps(f))
    one, two = f.error(50).total, copy.error(50).total
    assert one == two
    assert float((one - two).standard_error) == pytest.approx(0, abs=1e-12)
    assert isinstance(copy, Forecast)
