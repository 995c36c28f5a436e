"""Intervals, tables and plots of a decomposition."""

import json
import math
from typing import Any

import matplotlib as mpl  # noqa: TID251 (the plot is tested)
import numpy as np
import pytest

from doubletrouble.errors import require
from doubletrouble.learners import Decomposition, decompose_predictions
from tests.learners.random_effects import Effects, label, rows

T = 20
NAMES = ["noise", "initialization", "sampling", "bias", "total"]


def split(*draws: int, **options: Any) -> Decomposition:
    D, N, K = draws or (8, 2, 4)
    f = Effects().draw((D, N, K, T), np.random.default_rng(0))
    return decompose_predictions(f, **({"truth": np.zeros(T)} | options))


# --- intervals -----------------------------------------------------------------------------------


def test_confidence_is_that_of_intervals_in_tables() -> None:
    result = split(confidence=0.8)
    assert result.confidence == 0.8
    table = result.to_frame().query("table == 'parts'").set_index("part")
    for name, part in rows(result).items():
        row, (low, high) = table.loc[name], part.confidence_interval(0.8)
        assert (row.error_low, row.error_high) == (low, high)
        wide = part.confidence_interval()
        assert wide.low < low < part.value < high < wide.high


# --- tables --------------------------------------------------------------------------------------


def test_frames_have_parts_shares_and_intervals() -> None:
    result = split()
    frame = result.to_frame()
    table = frame[frame.table == "parts"].set_index("part")
    assert list(table.index) == NAMES
    assert table.share[NAMES[:-1]].sum() == pytest.approx(1)
    for name, part in rows(result).items():
        assert table.error[name] == part.value
        assert table.error_standard_error[name] == part.standard_error
        assert (table.error_low[name], table.error_high[name]) == tuple(part.confidence_interval())
    symmetric = frame[frame.table == "anova"]
    assert set(symmetric.part) == {*result.anova().parts, "total"}
    assert set(frame.includes[frame.table != "averaged"]) == {""}
    averaged = frame[frame.table == "averaged"].set_index("n_members").error
    assert averaged.to_dict() == {K: result.error(K).total.value for K in (5, math.inf)}


def test_frames_have_the_included_causes() -> None:
    frame = split(8, 1, 4, truth=None, y_test=np.zeros(T)).to_frame()
    parts, anova = (frame[frame.table == t].set_index("part").includes for t in ("parts", "anova"))
    assert parts["sampling"] == anova["sampling"] == "label noise"
    assert parts["bias"] == "noise floor"
    assert parts["initialization"] == "label noise"
    assert anova["initialization_sampling"] == "label noise"
    assert anova["initialization"] == ""  # of the initialization alone


def test_without_a_target_there_are_no_shares() -> None:
    frame = split(truth=None).to_frame()
    assert frame.share.isna().all()
    assert "total" not in set(frame.part)
    assert "averaged" not in set(frame.table)


def test_text_has_the_draws_the_included_causes_and_the_verdict() -> None:
    result = split(8, 1, 4, truth=None, y_test=np.zeros(T))
    text = str(result)
    sizes = "8 training sets, 4 seeds, 20 test points"
    assert text.startswith(f"Squared error ± standard error\n{sizes}\n")
    labels = ("initialization + label noise", "sampling + label noise", "bias + noise floor")
    assert all(f"\n{label} " in text for label in labels)
    assert all(" ".join(note.split()) in " ".join(text.split()) for note in result.notes)
    total, many = (float(result.error(K).total) for K in (1, math.inf))
    assert f"removes {1 - many / total:.0%}" in " ".join(text.split()[-12:])
    assert "\n" not in repr(result)


def test_json_has_the_tables() -> None:
    result = split(8, 1, 4, truth=None, y_test=np.zeros(T))
    content = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert content["design"]["n_data"] == 8
    assert (content["confidence"], content["measure"]) == (0.9, "squared")
    rows = [row for name in ("parts", "anova", "averaged") for row in content[name]]
    assert [row["error"] for row in rows] == list(result.to_frame().error)
    assert [row["n_members"] for row in content["averaged"]] == [5, "inf"]
    assert content["notes"] == list(result.notes)
    few = json.loads(split(1, 2, 3).to_json())
    assert few["parts"][0]["error_standard_error"] == "inf"


def test_errors_of_equal_predictions_are_paired() -> None:
    same = split().error() - split().error()
    assert (same.total.value, same.total.standard_error) == (0, 0)
    other = split().error() - split(8, 2, 3).error()
    assert other.total.standard_error > 0


# --- plots ------------------------------------------------------------------------------------


@pytest.fixture
def pyplot() -> Any:
    mpl.use("Agg")
    plots = require("matplotlib.pyplot", "figures")
    yield plots
    plots.close("all")


def labels(axes: Any) -> list[str]:
    return [tick.get_text() for tick in axes.get_yticklabels()]


def test_parts_and_averages_are_drawn_as_bars(pyplot: Any) -> None:
    result = split()
    axes: Any = result.plot()
    assert labels(axes) == [*NAMES, "mean of 5 seeds", "mean of ∞ seeds"]
    widths = [bar.get_width() for bar in axes.patches]
    averaged = [float(result.error(K).total) for K in (5, math.inf)]
    assert widths == pytest.approx([*(rows(result)[name].value for name in NAMES), *averaged])


def test_given_axes_are_used(pyplot: Any) -> None:
    figure = pyplot.figure()
    left, right = figure.subfigures(1, 2)
    axes = right.add_subplot()
    assert split().plot(axes) is axes
    assert figure.get_layout_engine() is None
    assert not left.axes


@pytest.mark.parametrize(
    ("draws", "options"),
    [
        ((8, 1, 1), {}),
        ((1, 2, 3), {}),
        ((8, 2, 4), {"truth": None}),
        ((8, 2, 1), {"deterministic": True}),
    ],
)
def test_identified_parts_are_drawn(
    pyplot: Any, draws: tuple[int, ...], options: dict[str, Any]
) -> None:
    result = split(*draws, **options)
    axes: Any = result.plot()
    assert labels(axes)[: len(rows(result))] == [label(result, name) for name in rows(result)]
    axes.figure.canvas.draw()
