"""Advice of a forecast: gains, their standard errors, ranking, budgets."""

import math

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.costs import CostName, cost_of
from tests.forecasting.datasets import draw, forecast, forecast_of
from tests.messages import message_of


def test_gains_are_ratios_of_errors() -> None:
    f = forecast()
    advice = f.advise(n_features=60, ridge=1e-4, ensemble=2)
    now = f.error(n_features=60, ridge=1e-4, ensemble=2).total
    settings = {
        "2x features": (120, 1e-4, 2, 120),
        "2x models": (60, 1e-4, 4, 120),
        "∞ models": (60, 1e-4, math.inf, 120),
        "best ridge": (60, f.best_ridge(60, ensemble=2), 2, 120),
        "2x data": (60, 1e-4, 2, 240),
    }
    assert [option.name for option in advice.changes] == list(settings)
    assert list(advice.now.setting) == ["n_features", "ridge", "n_members", "n_samples"]
    cost = {"features": 1, "data": 2, "training": 2}
    assert list(advice["2x data"].cost.items()) == list(cost.items())
    for name, setting in settings.items():
        P, ridge, K, N = setting
        option = advice[name]
        total = f.error(n_features=P, ridge=ridge, ensemble=K, n_samples=N).total
        assert tuple(option.setting.values()) == setting
        assert float(option.gain) == pytest.approx(1 - float(total) / float(now), rel=1e-12)


def test_choice_of_the_rows_cancels_in_gains() -> None:
    advice = forecast().advise(n_features=60, ridge=1e-3)
    now = advice.now.error.total
    relative = float(now.standard_error) / float(now)
    for name in ("2x features", "2x models", "∞ models", "best ridge"):
        gain = advice[name].gain
        assert 0 < float(gain.standard_error) < 0.6 * relative


def test_intervals_of_gains_end_at_the_whole_error() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5))
    advice = dt.forecast(X, X[:, 0]).advise(n_features=math.inf, ridge=1e-4)
    gain = advice["2x data"].gain
    assert isinstance(gain, dt.Estimate)
    assert gain.confidence_interval(0.9).high > 1
    assert advice["2x data"].interval is not None
    row = advice.to_frame().set_index("option").loc["2x data"]
    assert row["gain"] < row["gain_high"] == advice["2x data"].interval.high == 1.0


def test_choice_is_the_least_error_of_sure_and_finite_changes() -> None:
    advice = forecast().advise(n_features=60, ridge=1e-5)
    sure = [one for one in advice.changes if one.is_sure and one.is_finite]
    assert advice.choice.total <= 1.01 * min(option.total for option in sure)
    assert all(one.interval is not None and one.interval.low >= 0.01 for one in sure)
    assert advice.choice.name in advice.verdict


def test_changes_that_change_nothing_are_left_out() -> None:
    f = forecast()
    assert [one.name for one in f.advise()] == ["best ridge", "2x data", "best allocation"]
    assert f.advise().now.total == float(f.error().total)
    assert [one.name for one in f.advise(n_features=50, ensemble=math.inf).changes] == [
        "2x features",
        "best ridge",
        "2x data",
    ]


def test_nothing_is_recommended_where_no_change_reduces_the_error() -> None:
    f = forecast()
    settled = f.advise(n_features=math.inf, ridge=f.best_ridge(n_samples=10**9), n_samples=10**9)
    assert settled.choice is settled.now
    assert settled.verdict.startswith("No single change reduces")


@pytest.mark.parametrize("cost", ["features", "training"])
@pytest.mark.parametrize("share", [None, 0.3, 5.0])
def test_best_allocation_respects_the_budget(cost: CostName, share: float | None) -> None:
    f = forecast()
    budget = None if share is None else share * cost_of(77, 120, 6, "ensemble", cost)
    advice = f.advise(n_features=77, ridge=1e-3, ensemble=6, budget=budget, cost=cost)
    best, present = advice["best allocation"], {"features": 77 * 6, "training": 6 * 120 * 77 * 77}
    P, _, K, N = best.setting.values()
    paid = cost_of(P, N, K, "ensemble", cost)
    assert paid <= advice.facts["budget"] * (1 + 1e-12)
    assert best.cost[cost] == pytest.approx(paid / present[cost])
    if share is None or share > 1:
        assert best.total <= f.error(n_features=77, ridge=1e-3, ensemble=6).total.value


def test_best_allocation_keeps_a_better_ridge() -> None:
    """A model that is best where it is stays, whatever the grid of the search."""
    f = forecast()
    best = f.advise(n_features=77, ridge=f.best_ridge(77, ensemble=6), ensemble=6)[
        "best allocation"
    ]
    assert (
        best.total
        <= f.error(n_features=77, ridge=f.best_ridge(77, ensemble=6), ensemble=6).total.value
    )


def test_infinite_budget_is_kernel_ridge_regression() -> None:
    f = forecast()
    for advice in (
        f.advise(n_features=50, ridge=1e-3, budget=math.inf),
        f.advise(n_features=math.inf, ridge=1e-3),
    ):
        best = advice["best allocation"]
        assert best.setting["n_features"] == math.inf
        assert best.total == pytest.approx(
            f.error(n_features=math.inf, ridge=f.best_ridge()).total.value, rel=1e-3
        )


def test_best_ridge_is_the_least_error() -> None:
    f = forecast()
    best = f.best_ridge(100, ensemble=2, n_samples=60)
    around = np.asarray(
        f.error(
            n_features=100, ridge=best * np.geomspace(0.3, 3, 41), ensemble=2, n_samples=60
        ).total.value
    )
    assert f.error(
        n_features=100, ridge=best, ensemble=2, n_samples=60
    ).total.value <= around.min() * (1 + 1e-4)


def test_finite_changes_of_an_infinite_error_remove_all_of_it() -> None:
    advice = forecast().advise(n_features=120, ridge=0.0)
    assert float(advice["best ridge"].gain) == 1.0
    assert advice["2x models"].gain is None
    assert advice.choice.is_finite
    assert math.isfinite(advice.choice.total)
    assert advice.choice.name in str(advice)


def test_error_of_predicting_the_mean_is_the_variance() -> None:
    x, y = draw(120, np.random.default_rng(0))
    f = forecast_of(x, np.column_stack([y, 2 * y]), check=False)
    assert f.baseline == pytest.approx(5 * y.var())
    assert f"{1 - float(f.error(n_features=20).total) / f.baseline:.2f}" in str(
        f.advise(n_features=20)
    )
    worse = f.advise(n_features=120, ridge=1e-9)
    assert worse.now.total > f.baseline
    assert str(worse).startswith("Worse than predicting the mean")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("n_features", {"n_features": 0}),
        ("n_features", {"n_features": [10, 20]}),
        ("ridge", {"ridge": -1}),
        ("ensemble", {"ensemble": 0}),
        ("n_samples", {"n_samples": 2}),
        ("budget", {"budget": 0}),
        ("budget", {"budget": 0.5}),
        ("budget", {"budget": 100, "cost": "training"}),
        ("budget", {"budget": math.nan}),
        ("cost", {"cost": "money"}),
        ("cost", {"cost": 3}),
    ],
)
def test_bad_arguments_are_named(name: str, arguments: dict[str, object]) -> None:
    message = message_of(forecast().advise, **{"n_features": 50, **arguments})
    assert message.startswith(f"{name} must")


def test_unknown_option_is_named() -> None:
    with pytest.raises(KeyError, match="best ridge"):
        forecast().advise(n_features=50)["more money"]


def test_best_allocation_is_the_least_error_of_all_widths() -> None:
    f = forecast()
    for ridges in (np.array([1e-6]), np.array([1e-3, 1.0])):  # the first has its best before a peak
        best = f.best_allocation(100, n_members=[1], ridges=ridges)
        every = np.asarray(f.error(n_features=np.arange(1, 101)[:, None], ridge=ridges).total.value)
        here = f.error(n_features=best.setting["n_features"], ridge=best.setting["ridge"]).total
        assert here.value == pytest.approx(every.min(), rel=1e-12)
        assert best.total == here.value
    few = f.best_allocation(300, n_samples=60, n_members=[3]).setting
    assert (few["n_members"], few["n_samples"]) == (3, 60)
    assert few["n_features"] <= 100
