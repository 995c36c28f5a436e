"""Advice: the choice, the verdict, text, JSON, frames and plots."""

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice import advise_problem
from doubletrouble.errors import require
from doubletrouble.options import (
    BEST_AT_THIS_RIDGE,
    DATA,
    DIVIDED,
    FEATURES,
    MANY_AT_BEST,
    MODELS,
    RIDGE,
    Advice,
    Option,
)
from doubletrouble.palette import WITHHELD
from doubletrouble.results import unsplit_error

INF = math.inf
CHANGES = (RIDGE, FEATURES, "slightly more features", MODELS, DIVIDED, DATA)


@pytest.fixture(autouse=True)
def _closed_figures() -> Any:
    require("matplotlib", "figures").use("Agg")
    yield
    require("matplotlib.pyplot", "figures").close("all")


def advice(*arguments: Any, **fields: Any) -> Advice:
    return dt.advise(dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields}), *arguments)


def estimated(*gains: float, reach: float = 0.05) -> Advice:
    """Options of estimated gains, of which one is withheld."""

    def terms(total: float) -> Any:
        known = dt.Estimate(value=total, standard_error=total / 50, n_draws=40)
        return dt.ErrorTerms(noise=0.4 * known, bias=0.6 * known)

    now = Option(name="now", error=terms(4820.0), status="measured")
    changes = [
        Option(
            name=f"change {k}",
            error=terms(4820 * (1 - gain)),
            gain=dt.Estimate(value=gain, standard_error=reach / 2, n_draws=40),
            interval=dt.results.ConfidenceInterval(gain - reach, gain + reach),
            status="measured, paired",
            cost={"fits": k + 1},
        )
        for k, gain in enumerate(gains)
    ]
    withheld = Option(name=DATA, error=None, status=WITHHELD, cost={"data": 2}, reason="few rows")
    return Advice(now=now, changes=(*changes, withheld), confidence=0.9)


# --- choice and verdict --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("N", "noise"), [(1e-4, 1.0), (1e-3, 10.0), (3e-3, 0.1), (1e-2, 1.0), (0.1, 10.0), (1.0, 1.0)]
)
def test_choice_is_the_best_finite_change_worth_one_per_cent(N: float, noise: float) -> None:
    result = advice(samples_per_dim=N, noise=noise)
    least = min(result[name].total for name in CHANGES)
    if least > 0.99 * result.now.total:
        assert result.choice is result.now
        assert result.verdict.startswith("No finite single change reduces the squared error of")
    else:
        assert result.choice.total == least


def test_an_estimated_choice_is_sure_of_one_per_cent() -> None:
    assert estimated(0.1, 0.3, 0.2).choice.name == "change 1"
    assert estimated(0.1, 0.3, 0.2, reach=0.25).choice.name == "change 1"
    unsure = estimated(0.1, 0.3, 0.2, reach=0.295)
    assert unsure.choice is unsure.now
    assert unsure.verdict == (
        "No single change reduces the squared error of 4,820 by 1% or more with 90% confidence."
    )


def test_verdict_of_estimates_has_the_interval() -> None:
    assert estimated(0.1, 0.3).verdict == (
        "Best change: change 1, which reduces the squared error from 4,820 to 3,374 by 30% "
        "(90% interval 25% to 35%, measured, paired), for 2 times the fits."
    )


@pytest.mark.parametrize(
    ("fields", "ensemble", "costs"),
    [
        ({"ridge": 1e-5}, 1, {}),
        ({"noise": 0.1, "ridge": 0.0}, 1, {"features": "2", "training": "2"}),
        ({"noise": 0.0, "features_per_dim": 50.0}, 1, {"data": "2", "training": "4"}),
        ({"noise": 0.0, "features_per_dim": INF}, 1, {"data": "2"}),
        ({"ridge": 1e-5}, dt.Divide(100), {"features": "2", "training": "20,000"}),
    ],
)
def test_verdict_has_name_errors_gain_and_costs(
    fields: dict[str, Any], ensemble: Any, costs: dict[str, str]
) -> None:
    result = advice(ensemble, **fields)
    choice, verdict = result.choice, result.verdict
    gain = f"by {100 * float(choice.gain or 0):.0f}%"
    assert all(part in verdict for part in (choice.name, gain))
    assert ("at no cost" in verdict) == (not costs)
    assert {name: x for x, name in re.findall(r"([\d.,]*\d) times the (\w+)", verdict)} == costs


def test_zero_and_infinite_errors_have_advice() -> None:
    zero = advice(signal=0.0, noise=0.0)
    assert zero.choice is zero.now
    peak = advice(features_per_dim=1.0, ridge=0.0)
    assert "from ∞ to" in peak.verdict
    assert "inf" not in str(peak) + repr(peak)
    assert Option(name="wide", error=peak.now.error, gain=-INF).total == INF


# --- text ----------------------------------------------------------------------------------------


def test_text_has_a_line_per_option_and_ends_with_the_verdict() -> None:
    result = advice()
    title, _, head, *lines = str(result).splitlines()
    assert title == "Squared error, exact; now P/D = 1.5, N/D = 1, K = 1, λ = 0.01"
    assert head.split() == ["option", "error", "gain", "cost"]
    text = "\n".join(lines)
    for option in result.options:
        assert re.search(rf"^{option.name} ", text, re.M)
    assert " ".join(str(result).split()).endswith(result.verdict)


def test_counts_have_all_digits_and_large_numbers_are_short() -> None:
    problem = dt.Problem.from_sizes(n_features=1234, n_samples=1000, dim=1000)
    assert "P = 1,234" in str(advise_problem(problem, dim=1000))
    for ensemble in (dt.Ensemble(2.0**40), dt.Divide(1e300)):
        assert not re.search(r"\d{8}", str(advice(ensemble, ridge=0.0)))


def test_each_reason_stands_once() -> None:
    result = estimated(0.1)
    more = Option(name="4x data", error=None, status=WITHHELD, reason="few rows")
    both = Advice(now=result.now, changes=(*result.changes, more), confidence=0.9)
    assert "Withheld: 2x data, 4x data (few rows)." in str(both)
    assert str(more).splitlines()[-1] == "4x data: withheld, because few rows."


def test_one_option_shows_its_error_by_cause() -> None:
    wide = advice()[FEATURES]
    text = str(wide)
    assert all(name in text for name in ("noise", "initialization", "sampling", "bias"))
    verdict = wide.verdict
    assert " ".join(text.split()).endswith(verdict)
    assert verdict.startswith("2x features: error ")
    assert verdict.endswith(f"{100 * float(wide.gain or 0):.0f}% less than now.")
    assert "more than now" in str(estimated(-0.5)["change 0"])


def test_one_estimated_option_shows_its_interval_and_how_it_is_known() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    f = dt.forecast(X, X[:, 0] + 0.3 * rng.normal(size=60), check=False)
    more = f.advise(n_features=50)[DATA]
    assert more.confidence == 0.9
    assert "90% interval" in str(more)
    assert "how it is known" in str(more)
    assert more.verdict.endswith(f"{more.status}).")


# --- JSON and frames -----------------------------------------------------------------------------


def test_json_is_strict_and_complete() -> None:
    result = advice(features_per_dim=1.0, ridge=0.0)
    read = json.loads(result.to_json(), parse_constant=lambda name: pytest.fail(name))
    rows = {row["option"]: row for row in read["options"]}
    assert rows["now"]["error"] == "inf"
    assert rows["∞ models"]["n_members"] == "inf"
    assert rows[FEATURES]["error"] == result[FEATURES].total
    assert (
        rows[FEATURES]["error_bias"]
        == dt.exact_error(dt.Problem(features_per_dim=2.0, ridge=0.0)).bias
    )
    assert (rows[FEATURES]["cost_features"], rows[FEATURES]["gain"]) == (2, 1)
    assert read["marginal"]["sample"] == "inf"
    assert read["choice"] == RIDGE
    assert read["verdict"] == result.verdict
    assert '"n_members": 1e+300' in advice(1e300).to_json()


def test_frame_and_notebook_have_every_option() -> None:
    result = advice()
    frame = result.to_frame()
    assert list(frame["error"]) == [option.total for option in result.options]
    parts = [f"error_{name}" for name in ("noise", "initialization", "sampling", "bias", "bayes")]
    np.testing.assert_allclose(frame[parts].sum(axis=1), frame["error"])
    assert all(option.name in result._repr_html_() for option in result.options)
    measured = estimated(0.1, 0.3).to_frame()
    assert list(measured["gain_low"])[1:3] == pytest.approx([0.05, 0.25])
    assert list(measured["cost_fits"])[1:3] == [1, 2]


def test_columns_of_frames_do_not_depend_on_what_is_known() -> None:
    known = estimated(0.1, 0.3)
    unknown = replace(known, changes=known.changes[-1:])
    assert unknown.changes[0].error is None
    alone = unknown.changes[0].to_frame()
    costs = {"cost_fits", "cost_data"}
    assert set(unknown.to_frame()) - costs == set(known.to_frame()) - costs
    assert set(alone) - costs == set(known.changes[0].to_frame()) - costs
    for name in ("gain_standard_error", "error_noise_standard_error", "error_bayes_high"):
        assert np.isnan(unknown.to_frame()[name]).tolist()[1:] == [True]
        assert np.isnan(alone[name]).all()
    parts = {"error_noise", "error_initialization", "error_sampling", "error_bias", "error_bayes"}
    assert parts < set(advice().to_frame()) & set(known.to_frame())


def test_json_of_counts_has_the_optimum_over_ratios() -> None:
    problem = dt.Problem.from_sizes(n_features=240, n_samples=200, dim=200)
    result = advise_problem(problem, budget=41.5 / 200, dim=200)
    ideal = result.facts["ideal"][BEST_AT_THIS_RIDGE]
    ratios = dt.best_allocation(problem, 41.5 / 200, ridge="fixed")
    assert result.facts["budget"] == pytest.approx(41.5)
    assert ideal["n_features"] == pytest.approx(ratios.setting["features_per_dim"] * 200)
    assert ideal["n_members"] == ratios.setting["n_members"]
    assert ideal["error"] == ratios.total < result[BEST_AT_THIS_RIDGE].total


def test_ratios_and_counts_have_their_own_names() -> None:
    problem = dt.Problem(features_per_dim=1.5)
    now = dt.advise(problem).now.setting
    assert (now["features_per_dim"], now["samples_per_dim"]) == (1.5, 1.0)
    assert not {"n_features", "n_samples"} & now.keys()
    counted = advise_problem(problem, dim=20)
    assert (counted.now.setting["n_features"], counted.now.setting["n_samples"]) == (30, 20)
    assert (counted.facts["unit"], dt.advise(problem).facts["unit"]) == ("one", "dimension")


def test_unknown_option_is_refused() -> None:
    with pytest.raises(KeyError, match="option must be one of"):
        advice()["wide"]


# --- plots ---------------------------------------------------------------------------------------


def test_plot_has_a_bar_per_option() -> None:
    for result in (advice(), advice(features_per_dim=1.0, ridge=0.0), estimated(0.1, 0.3)):
        axes = result.plot()
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == [option.name for option in result.options]
        assert axes.get_xlabel().startswith(result.label)
    assert result[DATA].plot(axes) is axes


def test_waterfall_leads_from_the_present_error_to_that_of_an_option() -> None:
    result = advice(ridge=1e-5)
    for name in (None, DIVIDED, MANY_AT_BEST):
        axes: Any = result.waterfall(name)
        option = result.choice if name is None else result[name]
        labels = [label.get_text() for label in axes.get_yticklabels()]
        changes = [label.rsplit(" ", 1)[0] for label in labels[1:-1]]
        assert changes == ["noise", "initialization", "sampling", "bias"]
        assert all(label.rsplit(" ", 1)[1][0] in "+−" for label in labels[1:-1])
        assert labels[-1].startswith(option.name)
        bars = [patch for patch in axes.patches if hasattr(patch, "get_width")]
        by_row = {round(bar.get_y() + bar.get_height() / 2): bar for bar in bars}
        ends = [(by_row[k].get_x(), by_row[k].get_width()) for k in (0, len(labels) - 1)]
        assert ends[0] == pytest.approx((0, result.now.total))
        assert ends[1] == pytest.approx((0, option.total))
    assert result.waterfall(ax=axes) is axes
    with pytest.raises(ValueError, match="name must be of a change between finite errors"):
        advice(features_per_dim=1.0, ridge=0.0).waterfall()
    with pytest.raises(ValueError, match="few rows"):
        estimated(0.1).waterfall(DATA)


def test_waterfall_is_of_the_least_error_where_no_change_is_recommended() -> None:
    axes: Any = estimated(-0.5, 0.001).waterfall()
    assert axes.get_yticklabels()[-1].get_text() == "change 1"
    assert any("no change is recommended" in text.get_text() for text in axes.texts)


def test_plots_state_the_present_settings() -> None:
    result = advice(ridge=1e-5)
    for axes in (result.plot(), result.waterfall(DATA)):
        notes = [text.get_text() for text in axes.texts]
        assert any(note.startswith("now P/D = ") for note in notes)


def test_waterfall_without_common_parts_has_one_step() -> None:
    result = estimated(0.3)
    total = unsplit_error(
        dt.Estimate(value=3000.0, standard_error=1.0, n_draws=9), "measured as a whole"
    )
    bag = Option(name="bag of 10", error=total, gain=0.4)
    both = Advice(now=result.now, changes=(bag,), confidence=0.9)
    labels = [label.get_text() for label in both.waterfall("bag of 10").get_yticklabels()]
    assert labels[1].startswith("all causes −")
    assert labels[::2] == ["now", "bag of 10"]


def test_waterfall_has_a_step_for_a_total_that_is_estimated_apart() -> None:
    result = estimated(0.3)
    error = result["change 0"].error
    assert error is not None
    apart = replace(result["change 0"], error=replace(error, separate_total=3000.0))
    both = Advice(now=result.now, changes=(apart,), confidence=0.9)
    labels = [label.get_text() for label in both.waterfall("change 0").get_yticklabels()]
    changes = [label.rsplit(" ", 1)[0] for label in labels[1:-1]]
    assert changes == ["noise", "bias", "not by cause"]


def test_a_gain_ends_at_the_whole_error_with_its_interval() -> None:
    rng = np.random.default_rng(0)
    predictions = 2 * rng.normal(size=(12, 1, 20, 40))  # their mean is 0, as the truth
    option = dt.decompose_predictions(predictions, truth=np.zeros(40)).advise()["∞ models"]
    assert option.total < 0
    assert isinstance(option.gain, dt.Estimate)
    assert option.gain.value == 1
    assert option.interval is not None
    assert option.interval.high == 1
