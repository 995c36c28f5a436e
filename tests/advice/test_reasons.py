"""What is said, where it used to be wrong or empty: sentences that the table bears out."""

import math
import re
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.advice import said
from doubletrouble.ensembles import as_ensemble, named_ensemble

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
    found = advice(fields, ensemble=members)
    assert (found["many"].total < found.choice.total) == short
    assert ("of the single changes short of K → ∞, " in found.reasons[0]) == short
    assert ("of the single changes, " in found.reasons[0]) != short


def test_nor_where_nothing_else_is_worth_it() -> None:
    """Noise on the test labels such that of all changes this one alone takes 1 % away."""
    plain = advice({})
    gains = [plain.now.total - plain[name].total for name in ("regularize", "many")]
    found = advice({"test_noise": math.sqrt(100 * sum(gains) / 2 - plain.now.total)})
    assert found.reasons[0] == (
        "Leave it: no single change short of K → ∞ takes as much as 1 % of the error of "
        f"{said(found.now.total, 4)} away."
    )
    vast = advice({"test_noise": 1e4})  # the control
    assert vast.reasons[0] == (
        "Leave it: no single change takes as much as 1 % of the error of 1e+08 away."
    )


@pytest.mark.parametrize("N", [1e-4, 1e-3, 3e-3, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_to_leave_it_is_said_where_nothing_is_gained(N: float, noise: float) -> None:
    found = advice({"samples_per_dim": N, "noise": noise})
    names = ("widen", "ensemble", "divide", "regularize", "collect")
    least = min(found[name].total for name in names)
    left = found.reasons[0].startswith("Leave it")
    assert left == (least > 0.99 * found.now.total)
    assert "below" not in found.reasons[0]
    if left and "short of" not in found.reasons[0]:
        assert found["many"].total > 0.99 * found.now.total


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
        ({}, {"ensemble": INF}),
        ({}, {"ensemble": dt.Divide(INF)}),
        ({"features_per_dim": INF}, {"ensemble": dt.Divide(3)}),
    ],
)
def test_there_are_no_twice_infinitely_many_features(
    fields: dict[str, Any], asked: dict[str, Any]
) -> None:
    assert "wice the features" not in advice(fields, **asked).reason
    finite = {"ensemble": type(as_ensemble(asked.get("ensemble", 1)))(1)}
    assert "wice the features" in advice({**fields, "features_per_dim": 1.5}, **finite).reason


def test_values_that_are_rounding_are_none() -> None:
    nothing = "At the best λ one more sample helps, and one more feature is worth nothing."
    assert advice({"features_per_dim": 1e8}).reasons[-1] == nothing
    assert advice({}, ensemble=INF).reasons[-1] == nothing
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
    near = ("little is better", "nothing is seen to be better")
    told = [f"With λ as it is, {what} than to predict zero, with an error of " for what in near]
    if zero is None:
        assert "predict zero" not in found.reason
        assert "each on all data, would be best" in found.reason
    else:
        assert any(f"{what}{said(zero)}" in found.reason for what in told)
        assert found.best_at_this_ridge.total < zero


def test_nothing_is_said_to_be_best_only_where_it_is() -> None:
    """The sentence, and the row that it stands below."""
    told = "than to predict zero, with an error of "
    for scheme in ("ensemble", "divide"):
        found = advice({}, ensemble=named_ensemble(scheme))
        assert told not in found.reason
        assert found.best_at_this_ridge.total < 0.83
    for noise in (1.0, 10.0, 100.0, 1e3, 1e6):
        for N in (1e-6, 1e-3, 1.0):
            found = advice({"noise": noise, "samples_per_dim": N})
            if "nothing is better than to predict zero" in found.reason:
                assert found.best_at_this_ridge.total >= 1
            if "nothing is seen to be better than to predict zero" in found.reason:
                assert said(found.best_at_this_ridge.total, 4) == "1"


# --- what a change costs --------------------------------------------------------------------------


def test_the_training_is_said_where_it_is_not_the_features() -> None:
    found = advice({}, ensemble=dt.Divide(100))
    assert found.choice.name == "ensemble"
    assert found.reasons[0].endswith("for twice the features and 20000 times the training.")
    assert "K → 2K, all data each gives 0.734 (training ×20000), P → 2P" in found.reason
    same = advice({"features_per_dim": 5.0, "noise": 0.1, "ridge": 0.0}, ensemble=2)
    assert "P → 2P gives" in same.reason


@pytest.mark.parametrize(
    ("fields", "asked", "price"),
    [
        ({}, {}, "which costs nothing."),
        ({"noise": 0.1, "ridge": 0.0}, {}, "for twice the features and twice the training."),
        ({"noise": 0.0, "features_per_dim": 50.0}, {}, "for twice the data and 4 times the"),
        ({"features_per_dim": INF, "noise": 0.0}, {}, "for twice the data."),
    ],
)
def test_every_choice_has_its_price(
    fields: dict[str, Any], asked: dict[str, Any], price: str
) -> None:
    assert price in advice(fields, **asked).reasons[0]


# --- what acts as noise ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "nonlinear", "told"),
    [
        (1.0, 0.0, "labels are so noisy that narrowness helps, τ²/F² = 1 > μ⋆²/μ₁²"),
        (0.1, 0.0, "labels are clean enough, τ²/F² = 0.01 ≤ μ⋆²/μ₁²"),
        (0.0, 3.0, "best with fewer features than samples, P/D = 0.128 (9.91): the nonlinear part "
         "of the teacher, which acts as noise, is so strong that narrowness helps, F⋆²/F² = 9 >"),
        (0.0, 0.1, "the nonlinear part of the teacher, which acts as noise, is weak enough, "
         "F⋆²/F² = 0.01 ≤"),
        (1.0, 2.0, "label noise and the nonlinear part of the teacher, which acts as noise, too, "
         "are so strong that narrowness helps, (τ² + F⋆²)/F² = 5 >"),
    ],
)  # fmt: skip
def test_what_acts_as_noise_is_named(noise: float, nonlinear: float, told: str) -> None:
    found = advice({"noise": noise, "nonlinear_signal": nonlinear, "ridge": 0.0})
    assert told in found.reason
    assert "σ" not in found.reason


def test_huge_numbers_are_short() -> None:
    for members in (2.0**40, 1e300):
        for scheme in ("ensemble", "divide"):
            found = advice({"ridge": 0.0}, ensemble=named_ensemble(scheme, members))
            assert not re.search(r"\d{8}", str(found) + found.bars())
            assert "e+" in found.table()
    assert '"n_members": 1e+300' in advice({}, ensemble=1e300).to_json()
    assert "123456" in advice({}, ensemble=61728).table()  # the control
