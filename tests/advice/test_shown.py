"""What an advice looks like: reasons, table, bars, JSON and picture."""

import json
import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice._table import LETTERS, is_cut, lengths, longest
from doubletrouble.ensembles import named_ensemble
from doubletrouble.errors import require

INF = math.inf


def problem(**fields: Any) -> dt.Problem:
    return dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields})


def test_the_first_reason_names_the_choice() -> None:
    for noise, features in ((1.0, 1.2), (0.1, 2.0), (3.0, 1.1), (0.0, 0.2)):
        found = dt.advise(problem(noise=noise, features_per_dim=features))
        assert found.reasons[0].lower().startswith(found.choice.name)
        assert found.reason == " ".join(found.reasons)
        assert str(found) == "\n".join([found.table(), "", *found.reasons])


def test_the_table_has_every_option() -> None:
    found = dt.advise(problem())
    lines = found.table().splitlines()
    assert lines[0].split() == [
        "option", "error", "P/D", "N/D", "K", "λ", "features", "training",
    ]  # fmt: skip
    assert len(lines) == 1 + len(found.options) == 12
    for line, option in zip(lines[1:], found.options, strict=True):
        assert line.startswith(option.label)
        assert f"{option.total:.4g}" in line


def test_infinite_errors_are_shown_as_such() -> None:
    found = dt.advise(problem(features_per_dim=1.0, ridge=0.0))
    assert found.table().splitlines()[1].split()[1] == "∞"
    assert found.bars().splitlines()[0].endswith("… ∞")
    assert "inf" not in found.table() + found.bars() + repr(found)


def test_a_gain_that_does_not_show_is_none() -> None:
    """λ* takes 4e-7 of an error that is nearly all noise on the test labels."""
    found = dt.advise(problem(ridge=INF, test_noise=1e3))
    assert found["regularize"].total < found.now.total  # there is a gain
    assert found.choice is found.now
    assert found.reasons[0] == (
        "Leave it: no single change takes as much as 1 % of the error of 1e+06 away."
    )
    shown = dt.advise(problem(ridge=INF))  # the control
    assert shown.choice is shown["regularize"]


@pytest.mark.parametrize(
    ("fields", "decides"),
    [
        ({"ridge": 0.0}, True),
        ({"ridge": 1e-6}, True),
        ({"ridge": 0.0, "noise": 0.2}, True),
        ({"ridge": 1e-5, "noise": 0.2}, True),
        ({"ridge": 3.0, "noise": 0.3}, False),
        ({"ridge": 3.0}, False),
    ],
)
def test_the_rule_without_ridge_is_a_reason_there_alone(
    fields: dict[str, Any], *, decides: bool
) -> None:
    assert ("μ⋆²/μ₁²" in dt.advise(problem(**fields)).reason) == decides


@pytest.mark.parametrize(
    ("P", "N", "members", "scheme"), [(3.0, 1.0, 1, "ensemble"), (0.6, 10.0, 4, "divide")]
)
def test_what_widening_is_compared_with(P: float, N: float, members: int, scheme: str) -> None:
    asked = problem(features_per_dim=P, samples_per_dim=N, noise=0.1)
    found = dt.advise(asked, ensemble=named_ensemble(scheme, members))
    assert found["widen"].total < min(found["ensemble"].total, found["divide"].total)
    assert "wider models are better than twice as many" in found.reason


def test_json_is_strict_and_complete() -> None:
    found = dt.advise(problem(features_per_dim=1.0, ridge=0.0))
    read = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert read == found.to_dict()
    rows = {row["name"]: row for row in read["options"]}
    assert rows["now"]["error_total"] == "inf"
    assert rows["many"]["n_members"] == "inf"
    assert rows["widen"]["error_total"] == found["widen"].total
    assert read["marginal"]["sample"] == "inf"
    assert read["choice"] == "regularize"
    assert read["reasons"] == list(found.reasons)


def test_bars_are_cut_off_in_proportion() -> None:
    found = dt.advise(problem(features_per_dim=1.05, ridge=1e-5))
    most = longest(found)
    assert found.now.total > most
    assert is_cut(found.now, most)
    assert not is_cut(found.best, most)
    parts = lengths(found.now, most)
    assert sum(parts.values()) == pytest.approx(most)
    error = found.now.error
    shares = {name: float(np.asarray(getattr(error, name))) / found.now.total for name in LETTERS}
    assert {name: part / most for name, part in parts.items()} == pytest.approx(shares)
    lines = found.bars().splitlines()
    assert "…" in lines[0]
    assert "…" not in lines[-2]
    assert lines[-1] == "n noise, i initialization, s sampling, b bias"


def test_the_picture_has_the_errors() -> None:
    require("matplotlib", "figures").use("Agg")
    pyplot = require("matplotlib.pyplot", "figures")
    found = dt.advise(problem())
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        option.label for option in found.options
    ]
    assert {text.get_text().strip() for text in axes.texts} >= {
        f"{option.total:.3g}" for option in found.options if option.total <= longest(found)
    }
    ends: dict[int, float] = {}
    for patch in axes.patches:
        place = round(patch.get_y() + patch.get_height() / 2)
        ends[place] = max(ends.get(place, 0.0), patch.get_x() + patch.get_width())
    assert ends[5] == pytest.approx(found.options[5].total)
    again = found.plot(axes)
    assert again is axes
    dt.advise(problem(features_per_dim=1.0, ridge=0.0)).plot(pyplot.figure().add_subplot())
    pyplot.close("all")
