"""What is said, where it used to be wrong or empty: sentences that the table bears out."""

import math
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.advice.words import said

INF = math.inf


def advice(fields: dict[str, Any], **asked: Any) -> dt.Advice:
    return dt.advise(dt.Problem(**fields), **asked)


@pytest.mark.parametrize(
    ("fields", "members", "short"),
    [
        ({"features_per_dim": 1.2}, 1, True),
        ({"noise": 0.1}, 1, True),
        ({"features_per_dim": INF}, 1, False),
        ({}, INF, False),
    ],
)
def test_infinitely_many_models_are_not_passed_over(
    fields: dict[str, Any], members: float, *, short: bool
) -> None:
    found = advice(fields, n_members=members)
    assert (found["many"].total < found.choice.total) == short
    assert ("of the single changes short of K → ∞, " in found.reasons[0]) == short
    assert ("of the single changes, " in found.reasons[0]) != short


def test_nor_where_nothing_else_is_seen_to_help() -> None:
    """Noise on the test labels such that of all changes this one alone changes the third digit."""
    plain = advice({})
    halfway = (plain["regularize"].total + plain["many"].total) / 2
    found = advice({"test_noise": math.sqrt(1005 - halfway)})
    assert found.reasons[0] == (
        "Leave it: no single change short of K → ∞ takes the error below 1010."
    )
    vast = advice({"test_noise": 1e4})  # the control
    assert vast.reasons[0] == "Leave it: no single change takes the error below 1e+08."


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"features_per_dim": 1.2},
         "noise falls from 2.93 to 0.491, while bias rises from 0.201 to 0.456."),
        ({"features_per_dim": 1.2, "noise": 0.0, "nonlinear_signal": 1.0},
         "initialization falls from 3.61 to 0.598, while bias rises from 1.2 to 1.46."),
        ({"features_per_dim": 1.0, "ridge": 0.0},
         "noise falls from ∞ to 0.634, while bias rises from 0.201 to 0.456."),
    ],
)  # fmt: skip
def test_dividing_is_for_what_really_falls(fields: dict[str, Any], told: str) -> None:
    found = advice(fields)
    whole, parts = found["ensemble"].error, found["divide"].error
    names = ("noise", "initialization", "sampling", "bias")
    before, after = ([float(getattr(e, n)) for n in names] for e in (whole, parts))
    name = told.split()[0]
    drops = {n: b - a for n, b, a in zip(names, before, after, strict=True)}
    assert max(drops, key=lambda n: drops[n]) == name
    assert f"with parts of the data in place of all of it, {told}" in found.reason


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"features_per_dim": INF}, {}),
        ({"features_per_dim": INF, "noise": 3.0}, {}),
        ({}, {"n_members": INF}),
        ({}, {"n_members": INF, "scheme": "divide"}),
        ({"features_per_dim": INF}, {"n_members": 3, "scheme": "divide"}),
    ],
)
def test_there_are_no_twice_infinitely_many_features(
    fields: dict[str, Any], asked: dict[str, Any]
) -> None:
    assert "wice the features" not in advice(fields, **asked).reason
    finite = {**asked, "n_members": 1}
    assert "wice the features" in advice({**fields, "features_per_dim": 1.5}, **finite).reason


def test_values_that_are_rounding_are_none() -> None:
    nothing = "At the best λ one more sample helps, and one more feature is worth nothing."
    assert advice({"features_per_dim": 1e8}).reasons[-1] == nothing
    assert advice({}, n_members=INF).reasons[-1] == nothing
    assert "one more sample is worth" in advice({"features_per_dim": 1e3}).reasons[-1]
    few = advice({"features_per_dim": 1e-3, "samples_per_dim": 1e8}).reasons[-1]
    assert few == "At the best λ one more feature helps, and one more sample is worth nothing."
    learned = {"signal": 0.0, "noise": 0.0}
    assert "one more" not in advice(learned).reason
    assert "worth" not in advice(learned).reason


def test_budgets_in_words() -> None:
    one = advice({}, budget=1.0).reason
    assert "Under a budget of 1 feature per dimension in all, one model of" in one
    training = advice({}, budget=2.0, cost="training").reason
    assert "Under a training cost of 2 (per D³) at most, " in training
    assert "Whatever it costs, one model of P/D = ∞" in advice({}, budget=INF).reason


@pytest.mark.parametrize(
    ("fields", "zero"),
    [
        ({"noise": 100.0}, 1.0),
        ({"noise": 100.0, "nonlinear_signal": 0.5, "test_noise": 2.0}, 5.25),
        ({"noise": 3.0}, None),
        ({"test_noise": 100.0}, None),  # what is learned is not to be measured by this
    ],
)
def test_models_next_to_nothing_predict_zero(fields: dict[str, Any], zero: float | None) -> None:
    found = advice({"ridge": 1e-3, **fields}, budget=1000.0)
    told = "With λ as it is nothing is better than to predict zero, with an error of "
    if zero is None:
        assert told not in found.reason
        assert "each would be best" in found.reason
    else:
        assert f"{told}{said(zero)}." in found.reason
        assert "each would be best" not in found.reason
