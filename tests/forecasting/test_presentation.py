"""Forecasts as text, tables and plots; what is extrapolated is marked everywhere."""

import json
import pickle
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.results import Forecast, ForecastCheck, ForecastChecks
from tests.forecasting.datasets import draw, forecast, forecast_of

WIDTHS = [20.0, 60.0, 200.0, 2000.0]
BEYOND = {"n_features": WIDTHS, "ridge": 1e-6, "n_samples": 600}  # in part extrapolated


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_print_of_a_forecast_has_the_noise_the_limit_and_the_checks() -> None:
    f = forecast(check=True)
    text = str(f)
    flat = " ".join(text.split())
    assert "120 rows in 6 dimensions" in flat
    for word in ("Label noise", "too fine for 120 rows", "best ridge", "bias", "Predicting the"):
        assert word in flat
    assert f.checks.verdict in flat
    assert text.splitlines()[-1] == str(f).splitlines()[-1] != ""
    assert max(map(len, text.splitlines())) <= 80
    assert "90% interval" in text
    assert "±" not in text
    line = dt.forecast(np.linspace(-1, 1, 1200)[:, None], np.arange(1200.0), check=False)
    assert "1,200 rows in 1 dimension;" in str(line)
    assert "1,200 rows" in line.noise.verdict
    assert all(note.endswith(".") for note in line.notes)
    for check in f.checks.values():
        assert " ".join(check.meaning.split()[:3]) in flat
    assert str(forecast().checks) == "No checks were run."
    assert "\n" not in repr(f) + repr(f.noise) + repr(f.checks) + repr(f.checks["spectrum"])


def test_the_forecast_and_its_error_have_the_same_verdict() -> None:
    f = forecast()
    verdict = f.error(ridge=f.best_ridge())._content().verdict
    assert "label noise: " in verdict.lower()
    assert f._content().verdict.endswith(f". {verdict}")


def test_check_of_other_methods_does_not_fail() -> None:
    checks = {
        name: ForecastCheck(name=name, value=2.0, limit=1.0, meaning="", concerns_others=others)
        for name, others in {"spectrum": False, "loo_over_gcv": True}.items()
    }
    both = ForecastChecks(tuple(checks.values()))
    assert both.failed == (checks["spectrum"],)
    assert [check.verdict for check in both.values()] == ["FAILED", "differs"]
    assert "1 of 2 checks failed: spectrum." in str(both)
    alone = ForecastChecks((checks["loo_over_gcv"],))
    assert (alone.failed, alone["loo_over_gcv"].passed) == ((), False)
    assert "All checks of this forecast passed." in str(alone)
    assert list(both.to_frame()["passed"]) == [False, False]


def test_noise_that_is_given_has_no_bounds() -> None:
    x, y = draw(120, np.random.default_rng(0))
    noise = forecast_of(x, y, noise=0.25, check=False).noise
    assert noise.verdict == "Label noise: standard deviation 0.250, as given."
    assert json.loads(noise.to_json())["noise"][1] == {"bound": "low", "value": 0.25}


def test_noise_that_is_given_above_its_bound_is_the_bound() -> None:
    x, y = draw(120, np.random.default_rng(0))
    noise = forecast_of(x, y, noise=100.0, check=False).noise
    assert noise.estimate == noise.upper < 100.0
    assert "the largest that these rows allow; 100 was given" in noise.verdict


def test_extrapolated_points_are_marked() -> None:
    error = forecast().error(**BEYOND)
    assert error.extrapolated.tolist() == [False, False, True, True]
    assert str(error).count("extrapolated") == 2
    assert list(error.to_frame()["status"]) == ["forecast"] * 2 + ["extrapolated"] * 2
    single = forecast().error(**{**BEYOND, "n_features": 2000})
    assert single.extrapolated is True
    assert single.status["total"] == "extrapolated"
    assert "extrapolated" in str(single)
    assert "extrapolated" not in str(forecast().error(n_features=20))
    assert forecast().error(n_features=20).extrapolated is False


def test_json_of_a_forecast_has_everything_printed() -> None:
    f = forecast(check=True)
    found = json.loads(f.to_json())
    assert found["best_ridge"] == f.best_ridge()
    assert found["baseline"] == pytest.approx(f.baseline)
    assert [part["part"] for part in found["parts"]][-1] == "total"
    assert found["parts"][-1]["error"] == float(f.error(ridge=f.best_ridge()).total)
    assert [row["check"] for row in found["checks"]] == list(f.checks)
    assert found["noise"] == {"estimate": f.noise.estimate, "low": 0.0, "high": f.noise.upper}
    assert found["verdict"].startswith("At best")
    frame = f.to_frame()
    assert list(dict.fromkeys(frame["table"])) == ["parts", "checks"]


def test_advice_prints_and_is_a_frame() -> None:
    advice = forecast().advise(n_features=60, ridge=1e-3)
    assert str(advice).replace("\n", " ").endswith(advice.verdict)
    frame = advice.to_frame()
    assert frame["option"].tolist() == [option.name for option in advice.options]
    assert frame["n_samples"].tolist() == [120, 120, 120, 120, 120, 240, 120]
    assert np.all(frame["gain_low"][1:] <= frame["gain_high"][1:])
    huge = forecast().advise(n_features=2000, ridge=1e-6, n_samples=600)
    assert huge.now.status == "extrapolated"
    assert "extrapolated" in str(huge)


def curves(ax: Any) -> dict[str, Any]:
    """The lines of the legend, by their labels."""
    legend = ax.get_legend()
    names = (text.get_text() for text in legend.get_texts())
    return dict(zip(names, legend.legend_handles, strict=True))


def marks(ax: Any) -> dict[str, float]:
    """The labelled vertical lines."""
    return {text.get_text(): float(text.xy[0]) for text in ax.texts if hasattr(text, "xy")}


def test_plot_is_dashed_where_extrapolated() -> None:
    ax = forecast().plot(**BEYOND)
    assert {"total", "total, ∞ models", "bias"} <= set(curves(ax))
    shown = [line for line in ax.get_lines() if len(line.get_xdata()) == len(WIDTHS)]
    finite = [np.isfinite(np.asarray(line.get_ydata(), float)).tolist() for line in shown]
    assert [True, True, False, False] in finite
    assert [False, True, True, True] in finite
    assert any("extrapolated" in text.get_text() for text in ax.texts)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    high = forecast().error(**BEYOND).total.confidence_interval(0.9).high
    assert band.max() == pytest.approx(np.max(high))


@pytest.mark.parametrize(
    ("settings", "mark"),
    [
        ({}, 120),
        ({"n_features": [30.0, 100.0, 900.0], "n_samples": 480}, 480),
        ({"n_samples": [30.0, 60.0, 120.0], "n_features": 50}, 50),
        ({"n_samples": [30.0, 60.0, 120.0]}, None),
        ({"ridge": [1e-3, 1e-2, 1e-1], "n_features": 50}, None),
        ({"ensemble": [1, 2, 5], "n_features": 50}, None),
    ],
    ids=str,
)
def test_plot_is_along_any_axis_with_the_peak(settings: dict[str, Any], mark: float | None) -> None:
    ax = forecast().plot(**settings)
    peaks = {text: x for text, x in marks(ax).items() if text.startswith("P = N")}
    assert peaks == ({} if mark is None else {f"P = N = {mark}": mark})
    name = next((name for name, value in settings.items() if np.ndim(value)), "n_features")
    labels = {"n_features": "P", "ridge": "λ", "ensemble": "K", "n_samples": "N"}
    assert ax.get_xlabel().endswith(labels[name])
    (note,) = (one for one in texts(ax) if " = " in one[:4] and not one.startswith("P = N"))
    fixed = {"n_features": "∞", "ridge": "0.001", "ensemble": "1", "n_samples": "120", **settings}
    fixed |= {} if settings else {"ridge": f"{forecast().best_ridge():.3g}"}
    shown = [f"{labels[k]} = {v}" for k, v in fixed.items() if k != name and np.ndim(v) == 0]
    assert " ".join(note.split()).startswith(", ".join(shown))


def test_plots_of_two_axes_are_families_and_maps() -> None:
    f, ridges = forecast(), np.array([1e-3, 1e-2, 1e-1])
    family = f.plot(n_features=WIDTHS, ridge=1e-6, n_samples=[[120], [600]])
    *rows, baseline = curves(family)
    assert rows == ["N = 120", "N = 600"]
    assert baseline.startswith("predicting the mean")
    infinite = f.plot(n_features=[50, 500, np.inf], ridge=ridges[:, None])
    assert infinite.get_xlabel().endswith("(∞ not shown)")
    for settings in (
        {"n_features": WIDTHS, "ridge": ridges[:, None]},
        {"n_features": np.array(WIDTHS)[:, None], "ridge": ridges},
    ):
        ax = f.plot(**settings)
        (mesh,) = ax.collections[:1]
        drawn = np.asarray(mesh.get_array()).reshape(len(ridges), len(WIDTHS))
        expected = f.error(n_features=WIDTHS, ridge=ridges[:, None]).total.value
        np.testing.assert_allclose(drawn, expected)


def test_map_marks_the_present_and_the_best_model() -> None:
    f = forecast()
    ax = f.map(n_features=60, ridge=1e-4)
    labels = {text.get_text().split(":")[0] for text in ax.texts}
    best = f"best (P = ∞, λ = {f.best_ridge():.3g})"
    assert {"now", best} <= labels
    assert f"{best}: {f.error(ridge=f.best_ridge()).total.value:.3g}" in texts(ax)
    assert "K = 1, N = 120" in texts(ax)
    at = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in ax.get_lines()]
    assert any(point == pytest.approx((60, 1e-4)) for point in at)
    infinite = f.map()
    assert any("P = ∞" in text.get_text() for text in infinite.texts)
    assert any("best (P = ∞" in text.get_text() for text in infinite.texts)
    smooth = dt.forecast(np.linspace(-1, 1, 40)[:, None], np.arange(40.0), check=False)
    assert smooth.map(n_features=20, ridge=0.0).get_ylim()[0] > 0


def test_axes_that_are_given_are_drawn_on() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    f = forecast(check=True)
    for draw_on in (f.plot, f.map, f.checks.plot, f.noise.plot, f.advise(n_features=50).plot):
        ax = pyplot.figure().add_subplot()
        assert draw_on(ax=ax) is ax
        pyplot.close("all")
    assert len(f.plot(n_features=50).patches) == 6  # of one point, bars


def test_forecast_survives_a_pickle() -> None:
    f = forecast()
    copy = pickle.loads(pickle.dumps(f))
    one, two = f.error(n_features=50).total, copy.error(n_features=50).total
    assert one == two
    assert float((one - two).standard_error) == pytest.approx(0, abs=1e-12)
    assert isinstance(copy, Forecast)
