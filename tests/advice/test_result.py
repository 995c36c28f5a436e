"""The result of `advise`: choice, summary, table, bars, JSON and plot."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice import Advice, MarginalValue
from doubletrouble.advice._options import n_features_of, rounded
from doubletrouble.advice._result import bar_lengths, bar_limit
from doubletrouble.errors import require
from doubletrouble.theory import error_slopes

INF = math.inf


def advice(*arguments: Any, **fields: Any) -> Advice:
    return dt.advise(dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields}), *arguments)


# --- marginal values -----------------------------------------------------------------------------


def test_marginal_values_are_derivatives() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.01)
    marginal, slopes = dt.advise(problem, 2).marginal, error_slopes(problem, 2)
    assert marginal.sample == -slopes.by_n_samples
    assert marginal.feature == -slopes.by_n_features
    h, best = 1e-4, []
    for P, N in ((1.5 + h, 1.0), (1.5 - h, 1.0), (1.5, 1.0 + h), (1.5, 1.0 - h)):
        there = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=0.01)
        best.append(float(dt.optimal_ridge(there, 2).error.total))
    feature, sample = ((b - a) / (2 * h) for a, b in (best[:2], best[2:]))
    assert marginal.feature_at_best_ridge == pytest.approx(feature, rel=1e-5)
    assert marginal.sample_at_best_ridge == pytest.approx(sample, rel=1e-5)
    assert marginal.features_per_sample == pytest.approx(sample / feature, rel=1e-5)
    assert marginal.sample != pytest.approx(sample, rel=1e-2)  # the control: a fixed ridge


def test_features_per_sample_has_limits() -> None:
    for sample, feature, expected in (
        (0.6, 0.2, 3.0),
        (0.0, 0.2, 0.0),
        (0.6, 0.0, INF),
        (INF, INF, 1.0),
    ):
        value = MarginalValue(
            sample=0.0, feature=0.0, sample_at_best_ridge=sample, feature_at_best_ridge=feature
        )
        assert value.features_per_sample == pytest.approx(expected), (sample, feature)


def test_features_have_no_value_in_the_kernel_limit() -> None:
    marginal = advice(features_per_dim=INF).marginal
    assert marginal.feature == marginal.feature_at_best_ridge == 0
    assert marginal.features_per_sample == INF


# --- choice and summary --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("N", "noise"), [(1e-4, 1.0), (1e-3, 10.0), (3e-3, 0.1), (1e-2, 1.0), (0.1, 10.0), (1.0, 1.0)]
)
def test_choice_is_the_best_finite_change_worth_one_per_cent(N: float, noise: float) -> None:
    result = advice(samples_per_dim=N, noise=noise)
    names = ("2x features", "2x models", "divided data", "best ridge", "2x data")
    least = min(result[name].total for name in names)
    if least > 0.99 * result.now.total:
        assert result.choice is result.now
        assert rounded(result.now.total) in result.summary
    else:
        assert result.choice.total == least


@pytest.mark.parametrize(
    ("fields", "ensemble", "costs"),
    [
        ({"ridge": 1e-5}, 1, {}),
        ({"noise": 0.1, "ridge": 0.0}, 1, {"features": "2", "training": "2"}),
        ({"noise": 0.0, "features_per_dim": 50.0}, 1, {"samples": "2", "training": "4"}),
        ({"noise": 0.0, "features_per_dim": INF}, 1, {"samples": "2"}),
        ({"ridge": 1e-5}, dt.Divide(100), {"features": "2", "training": "20000"}),
    ],
)
def test_summary_has_name_errors_and_costs(
    fields: dict[str, Any], ensemble: Any, costs: dict[str, str]
) -> None:
    result = advice(ensemble, **fields)
    errors = rounded(result.now.total), rounded(result.choice.total)
    assert all(part in result.summary for part in (result.choice.name, *errors))
    assert dict(re.findall(r"(\w+) ×([\d.]+)", result.summary)) == costs


def test_zero_error_is_not_changed() -> None:
    result = advice(signal=0.0, noise=0.0)
    assert result.choice is result.now
    assert result.bars()


# --- table and bars ------------------------------------------------------------------------------


def test_table_has_a_line_per_option() -> None:
    result = advice()
    lines = result.table().splitlines()
    names = ["option", "error", "P/D", "N/D", "K", "λ", "features", "training"]
    assert lines[0].split() == names
    assert len(lines) == 1 + len(result.options) == 12
    for line, option in zip(lines[1:], result.options, strict=True):
        assert line.startswith(option.name)
        assert f"{option.total:.4g}" in line
    assert str(result) == f"{result.table()}\n\n{result.summary}"


def test_counts_have_all_digits() -> None:
    problem = dt.Problem.from_sizes(n_features=1234, n_samples=1000, dim=1000)
    assert " 1234 " in dt.advise(problem, dim=1000).table()


def test_infinite_errors_are_shown_by_a_symbol() -> None:
    result = advice(features_per_dim=1.0, ridge=0.0)
    assert result.table().splitlines()[1].split()[1] == "∞"
    assert result.bars().splitlines()[0].endswith("… ∞")
    assert "inf" not in str(result) + result.bars() + repr(result)


def test_large_numbers_are_short() -> None:
    for ensemble in (dt.Ensemble(2.0**40), dt.Divide(1e300)):
        result = advice(ensemble, ridge=0.0)
        assert not re.search(r"\d{8}", str(result) + result.bars())
    assert "123456" in advice(61728).table()  # the control


@pytest.mark.parametrize("features_per_dim", [1.0, 1.05])
def test_bars_are_cut_at_the_limit(features_per_dim: float) -> None:
    result = advice(features_per_dim=features_per_dim, ridge=0.0)
    limit = bar_limit(result)
    assert result.now.total > limit
    assert sum(bar_lengths(result.now, limit).values()) == pytest.approx(limit)
    for name, length in bar_lengths(result.best, limit).items():  # the control
        assert length == pytest.approx(float(getattr(result.best.error, name)))
    lines = result.bars().splitlines()
    assert "…" in lines[0]
    assert "…" not in lines[-2]
    assert lines[-1] == "n noise, i initialization, s sampling, b bias"


@pytest.mark.parametrize("features_per_dim", [1.0, 3.0])
def test_bars_of_the_plot_end_at_the_error_or_at_the_limit(features_per_dim: float) -> None:
    require("matplotlib", "figures").use("Agg")
    pyplot = require("matplotlib.pyplot", "figures")
    rectangle = require("matplotlib.patches", "figures").Rectangle
    result = advice(features_per_dim=features_per_dim, ridge=1e-5)
    limit, axes = bar_limit(result), result.plot()
    bars = [patch for patch in axes.patches if isinstance(patch, rectangle)]
    totals = np.array([option.total for option in result.options])
    ends = np.zeros(len(totals))
    for bar in bars:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends[row], bar.get_x() + bar.get_width())
    np.testing.assert_allclose(ends, np.minimum(totals, limit), rtol=1e-12)
    gaps = len(axes.patches) - len(bars)
    assert gaps == (totals > limit).sum()
    assert ("cut" in axes.get_xlabel()) == (gaps > 0)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [option.name for option in result.options]
    assert [float(text.get_text()) for text in axes.texts] == pytest.approx(totals, rel=5e-3)
    assert result.plot(axes) is axes
    pyplot.close("all")


def test_infinite_error_has_a_plot() -> None:
    axes = advice(features_per_dim=1.0, ridge=0.0).plot()
    assert axes.texts[0].get_text() == " ∞"
    require("matplotlib.pyplot", "figures").close("all")


# --- JSON ----------------------------------------------------------------------------------------


def test_json_is_strict_and_complete() -> None:
    result = advice(features_per_dim=1.0, ridge=0.0)
    read = json.loads(result.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert read == result.to_dict()
    rows = {row["option"]: row for row in read["options"]}
    assert rows["now"]["error_total"] == "inf"
    assert rows["∞ models"]["n_members"] == "inf"
    assert rows["2x features"]["error_total"] == result["2x features"].total
    assert rows["2x features"]["relative_features"] == 2
    assert read["marginal"]["sample"] == "inf"
    assert read["choice"] == "best ridge"
    assert read["summary"] == result.summary
    assert '"n_members": 1e+300' in advice(1e300).to_json()


def test_frame_and_notebook_have_every_option() -> None:
    advice = dt.advise(dt.Problem(features_per_dim=1.2))
    frame = advice.to_frame()
    assert list(frame["error_total"]) == [option.total for option in advice.options]
    assert all(option.name in advice._repr_html_() for option in advice.options)


def test_json_of_counts_has_the_optimum_over_ratios() -> None:
    problem = dt.Problem.from_sizes(n_features=240, n_samples=200, dim=200)
    result = dt.advise(problem, budget=41.5 / 200, dim=200).to_dict()
    rows = {row["option"]: row for row in result["options"]}
    row = rows["best at this ridge"]
    ratios = dt.advise(problem, budget=41.5 / 200).best_at_this_ridge
    assert result["budget"] == pytest.approx(41.5)
    assert row["ideal_n_features"] == pytest.approx(n_features_of(ratios.problem) * 200)
    assert row["ideal_n_members"] == ratios.n_members
    assert row["ideal_error_total"] == ratios.total < row["error_total"]
    assert rows["now"]["ideal_n_features"] == rows["now"]["n_features"]


def test_ratios_and_counts_have_their_own_names() -> None:
    problem = dt.Problem(features_per_dim=1.5)
    now = dt.advise(problem).to_dict()["options"][0]
    assert (now["features_per_dim"], now["samples_per_dim"], now["ideal_features_per_dim"]) == (
        (1.5, 1.0, 1.5)
    )
    assert not {"n_features", "n_samples", "ideal_n_features"} & now.keys()
    counted = dt.advise(problem, dim=20).to_dict()["options"][0]
    assert (counted["n_features"], counted["n_samples"]) == (30, 20)


def test_unknown_option_is_refused() -> None:
    with pytest.raises(KeyError, match="option must be one of"):
        advice()["wide"]
