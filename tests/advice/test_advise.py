"""What `advise` returns: options and their costs, limits, words, JSON and bars."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.advice._cost import COSTS, Cost
from doubletrouble.theory import error_slopes

INF = math.inf
SPECTRUM = dt.SpectralProblem(
    eigenvalues=[1.0, 0.1, 0.01], target_powers=[1.0, 0.5, 0.1], tail=0.05, n_features=50,
    n_samples=20, ridge=0.1, noise=0.3,
)  # fmt: skip


def total(problem: Any, ensemble: float | dt.Scheme = 1) -> float:
    return float(np.asarray(dt.exact_error(problem, ensemble).total))


def problem(**fields: Any) -> dt.Problem:
    return dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields})


# --- the options ---------------------------------------------------------------------------------


def test_every_change_is_what_it_says() -> None:
    found = dt.advise(problem(), ensemble=3)
    expected = {
        "widen": total(problem(features_per_dim=3.0), 3),
        "widen_a_little": total(problem(features_per_dim=1.5 * 1.1), 3),
        "ensemble": total(problem(), 6),
        "divide": total(problem(), dt.Divide(6)),
        "collect": total(problem(samples_per_dim=2.0), 3),
        "many": total(problem(), INF),
        "regularize": float(np.asarray(dt.optimal_ridge(problem(), 3).error.total)),
    }
    assert {option.name: option.total for option in found.changes} == pytest.approx(expected)
    assert found.now.total == total(problem(), 3)
    assert found["now"] is found.now
    assert found["best"] is found.best
    assert found.choice.total == min(
        found[name].total for name in ("widen", "ensemble", "divide", "regularize", "collect")
    )


def test_changes_of_twice_the_features_cost_the_same() -> None:
    found = dt.advise(problem(), ensemble=3)
    assert {found[name].features for name in ("widen", "ensemble", "divide")} == {9.0}
    assert found["regularize"].features == found.now.features == 4.5
    assert found["regularize"].training == found.now.training == 3 * 1.5
    assert found["widen"].training == found["ensemble"].training == 2 * found.now.training
    assert found["collect"].training == 3 * 2 * 1.5 * 1.5
    assert found["divide"].training == 6 * (1 / 6) * 1.5 * (1 / 6)
    assert found["many"].features == INF


def test_divided_data_may_be_put_together_again() -> None:
    found = dt.advise(problem(), ensemble=dt.Divide(4))
    assert found["ensemble"].total == total(problem(), 8)
    assert found["divide"].total == total(problem(), dt.Divide(8))
    assert found["widen"].total == total(problem(features_per_dim=3.0), dt.Divide(4))


def test_a_measured_spectrum_is_counted() -> None:
    found = dt.advise(SPECTRUM, 100, ensemble=2)
    assert found["widen"].width == 100
    assert found.now.features == 100
    assert found.best.width == pytest.approx(100)
    assert "P = 100" in found.reason
    assert dt.advise(SPECTRUM, ensemble=2).budget == 100


def test_without_budget_it_is_the_present_cost() -> None:
    for cost, ensemble in ((c, e) for c in COSTS for e in (dt.Ensemble(2), dt.Divide(2))):
        found = dt.advise(problem(), ensemble=ensemble, cost=cost)
        assert found.budget == found.now.cost(cost)
        assert found.best.total <= found["regularize"].total
        assert found.best_at_this_ridge.total <= found.now.total


# --- limits --------------------------------------------------------------------------------------

LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"features_per_dim": INF, "ridge": 0.0}, {}),
    ({"features_per_dim": 1.0, "ridge": 0.0}, {}),
    ({"features_per_dim": 1.0, "ridge": 0.0}, {"ensemble": INF}),
    ({"features_per_dim": 1 + 1e-12, "ridge": 1e-300}, {}),
    ({"features_per_dim": 1 - 1e-12, "ridge": 0.0}, {"ensemble": 2}),
    ({"ridge": INF}, {"ensemble": dt.Divide(3)}),
    ({"ridge": INF}, {"ensemble": dt.Divide(INF), "cost": "training"}),
    ({"signal": 0.0}, {}),
    ({"noise": 0.0}, {"budget": INF}),
    ({"signal": 0.0, "noise": 0.0}, {"budget": INF, "ensemble": dt.Divide()}),
    ({"activation": "linear", "ridge": 0.0}, {}),
    ({"activation": "quadratic", "ridge": 0.0}, {}),
    ({"features_per_dim": 1e-50, "samples_per_dim": 1e-50}, {}),
    ({"features_per_dim": 1e50, "samples_per_dim": 1e50}, {}),
    ({"features_per_dim": 1e50, "samples_per_dim": 1e-50}, {"cost": "training"}),
    ({"noise": 1e150, "signal": 1e-100}, {}),
    ({"samples_per_dim": 1e49, "features_per_dim": INF}, {"budget": INF, "ensemble": dt.Divide()}),
    ({"activation": "linear", "ridge": 0.0, "noise": 1e100}, {"budget": INF, "cost": "training"}),
]


@pytest.mark.parametrize(("fields", "asked"), LIMITS)
def test_limits_are_exact_and_never_nan(fields: dict[str, Any], asked: dict[str, Any]) -> None:
    found = dt.advise(problem(**fields), **asked)
    text = found.to_json()
    assert "nan" not in text.lower().replace("dominan", "")
    json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found.best.total <= found.best_at_this_ridge.total * (1 + 1e-9)
    assert found.reason
    assert found.table()
    assert found.bars()


def test_doubling_what_is_infinite_changes_nothing() -> None:
    found = dt.advise(problem(features_per_dim=INF), ensemble=INF)
    for name in ("widen", "widen_a_little", "ensemble", "many"):
        assert found[name].total == found.now.total
        assert found[name].features == INF
    rows = {row["name"]: row for row in found.to_dict()["options"]}
    assert rows["widen"]["relative_features"] == 1


def test_the_peak_is_said_to_be_one() -> None:
    found = dt.advise(problem(features_per_dim=1.0, ridge=0.0))
    assert found.now.total == INF
    assert found.marginal.sample == found.marginal.feature == INF
    assert "infinite" in found.reason
    assert found["ensemble"].total == INF
    assert math.isfinite(found.best_at_this_ridge.total)


@settings(max_examples=40, deadline=None)
@given(
    P=st.floats(1e-3, 1e3), N=st.floats(1e-3, 1e3), ridge=st.sampled_from([0.0, 1e-300, 1e-3, 1.0]),
    noise=st.floats(0, 100), members=st.sampled_from([1, 3, 50]), budget=st.floats(1e-3, 1e3),
    kind=st.sampled_from([dt.Ensemble, dt.Divide]), cost=st.sampled_from(COSTS),
)  # fmt: skip
def test_best_is_best(
    P: float, N: float, ridge: float, noise: float, members: int, budget: float,
    kind: type[dt.Scheme], cost: Cost,
) -> None:  # fmt: skip
    asked = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, noise=noise)
    found = dt.advise(asked, budget, ensemble=kind(members), cost=cost)
    for option in (found.best, found.best_at_this_ridge):
        assert option.cost(cost) <= budget * (1 + 1e-12)
    for option in (found.now, *found.changes):
        kept = option.ridge == ridge and option.samples == N
        if kept and option.cost(cost) <= budget:
            assert found.best_at_this_ridge.total <= option.total * (1 + 1e-8)
    assert found.best.total <= found.best_at_this_ridge.total * (1 + 1e-8)
    assert found.many_at_best_width.total <= found["many"].total * (1 + 1e-8)


# --- one more sample, one more feature -----------------------------------------------------------


def test_the_marginal_values_are_derivatives() -> None:
    found = dt.advise(problem(), ensemble=2)
    slopes = error_slopes(problem(), 2)
    assert found.marginal.sample == -slopes.by_samples
    assert found.marginal.feature == -slopes.by_features
    h, best = 1e-4, []
    for P, N in ((1.5 + h, 1.0), (1.5 - h, 1.0), (1.5, 1.0 + h), (1.5, 1.0 - h)):
        there = problem(features_per_dim=P, samples_per_dim=N)
        best.append(float(np.asarray(dt.optimal_ridge(there, 2).error.total)))
    feature, sample = ((b - a) / (2 * h) for a, b in (best[:2], best[2:]))
    assert found.marginal.feature_at_best_ridge == pytest.approx(feature, rel=1e-5)
    assert found.marginal.sample_at_best_ridge == pytest.approx(sample, rel=1e-5)
    assert found.marginal.features_per_sample == pytest.approx(sample / feature, rel=1e-5)
    assert found.marginal.sample != pytest.approx(sample, rel=1e-2)  # the control: λ kept


def test_features_are_worth_nothing_in_the_kernel_limit() -> None:
    found = dt.advise(problem(features_per_dim=INF))
    assert found.marginal.feature == found.marginal.feature_at_best_ridge == 0
    assert found.marginal.features_per_sample == INF
    assert "worth nothing" in found.reason


# --- sentences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"problem": 3}, TypeError, "problem must be a Problem or a SpectralProblem, got int"),
        ({"problem": dt.Problem(ridge=[0.1, 1])}, TypeError,
         "problem must be a single one, got one of shape (2,)"),
        ({"budget": 0}, ValueError, "budget must be in [1e-40, inf], got 0"),
        ({"budget": -1.0}, ValueError, "budget must be in [1e-40, inf], got -1.0"),
        ({"budget": math.nan}, ValueError, "budget must be in [1e-40, inf], got nan"),
        ({"budget": [1.0, 2.0]}, TypeError, "budget must be one number, got [1.0, 2.0]"),
        ({"budget": "much"}, TypeError, "budget must be a number"),
        ({"ensemble": 1.5}, ValueError, "ensemble must be a whole number"),
        ({"ensemble": [1, 2]}, TypeError, "ensemble must be one number, got array([1., 2.])"),
        ({"ensemble": dt.Divide([1, 2])}, TypeError, "ensemble must be one number"),
        ({"ensemble": "both"}, TypeError, "ensemble must be a number of models or one of"),
        ({"ensemble": dt.Bootstrap(2)}, ValueError,
         "ensemble must be one of Ensemble, Divide for advise, got Bootstrap(2)"),
        ({"dim": 0}, ValueError, "dim must be in [1e-50, 1e+50], got 0"),
        ({"dim": 3, "problem": SPECTRUM}, ValueError,
         "dim must be left out beside a SpectralProblem, got 3"),
        ({"cost": "money"}, ValueError, "cost must be one of features, training, got 'money'"),
        ({"cost": None}, ValueError, "cost must be one of features, training, got None"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_sentence(
    arguments: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as caught:
        dt.advise(**{"problem": dt.Problem(), **arguments})
    assert str(caught.value).startswith(said)


def test_an_unknown_option_is_refused_with_a_sentence() -> None:
    with pytest.raises(KeyError, match=r"option must be one of now, widen, .*, got 'wide'"):
        dt.advise(dt.Problem())["wide"]
