"""Intervals, tables and plots of a decomposition."""

import json
import math
from typing import Any

import matplotlib as mpl  # noqa: TID251 (the plot is tested)
import numpy as np
import pytest

from doubletrouble.decomposition import Decomposition, decompose_predictions
from doubletrouble.errors import require
from tests.decomposition.random_effects import Effects, label, rows

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
    frame = result.to_frame().set_index(["view", "part"])
    for name, part in rows(result).items():
        low, high = part.confidence_interval(0.8)
        assert (frame.low["sequential", name], frame.high["sequential", name]) == (low, high)
        wide = part.confidence_interval()
        assert wide.low < low < part.value < high < wide.high


# --- tables --------------------------------------------------------------------------------------


def test_frames_have_parts_shares_and_intervals() -> None:
    result = split()
    frame = result.to_frame()
    assert list(frame.columns) == [
        "view",
        "part",
        "value",
        "standard_error",
        "low",
        "high",
        "share",
        "includes",
    ]
    table = frame[frame.view == "sequential"].set_index("part")
    assert list(table.index) == NAMES
    assert table.share["total"] == 1
    assert table.share[NAMES[:-1]].sum() == pytest.approx(1)
    for name, part in rows(result).items():
        assert table.value[name] == part.value
        assert (table.low[name], table.high[name]) == tuple(part.confidence_interval())
    symmetric = frame[frame.view == "anova"]
    assert set(symmetric.part) == set(result.anova().parts)
    assert set(frame.includes) == {""}


def test_frames_have_the_included_causes() -> None:
    frame = split(8, 1, 4, truth=None, y_test=np.zeros(T)).to_frame()
    result = frame.set_index(["view", "part"]).includes
    assert result["sequential", "sampling"] == result["anova", "sampling"] == "label noise"
    assert result["sequential", "bias"] == "noise floor"
    assert result["sequential", "initialization"] == "label noise"
    assert result["anova", "initialization_sampling"] == "label noise"
    assert result["anova", "initialization"] == ""  # of the initialization alone


def test_without_a_target_there_are_no_shares() -> None:
    frame = split(truth=None).to_frame()
    assert frame.share.isna().all()
    assert "total" not in set(frame.part)


def test_tables_have_the_included_causes() -> None:
    table = str(split(8, 1, 4, truth=None, y_test=np.zeros(T))).splitlines()
    assert table[0].startswith("initialization + label noise ")
    assert table[1].startswith("sampling + label noise ")
    assert table[2].startswith("bias + noise floor ")


def test_json_has_the_table() -> None:
    result = split(8, 1, 4, truth=None, y_test=np.zeros(T))
    content = json.loads(result.to_json())
    assert content["design"]["n_data"] == 8
    assert [part["value"] for part in content["parts"]] == list(result.to_frame().value)
    assert [row["n_members"] for row in content["averaged"]] == [5, "inf"]
    assert content["notes"] == list(result.notes)
    few = json.loads(split(1, 2, 3).to_json())  # infinite errors
    assert few["parts"][0]["standard_error"] is None


def test_html_has_the_table_and_the_notes() -> None:
    html = split(8, 1, 3)._repr_html_()
    assert html.startswith("<table>")
    assert "K = 5 averaged" in html
    assert "One noise draw" in html


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


def test_parts_and_averages_are_drawn_as_bars_with_intervals(pyplot: Any) -> None:
    result = split()
    axes = result.plot()
    assert labels(axes) == [*NAMES, "K = 5 averaged", "K = ∞ averaged"]
    widths = [bar.get_width() for bar in axes.patches]
    expected = [rows(result)[name].value for name in NAMES]
    assert widths[:5] == pytest.approx(expected)
    averaged = [float(result.error(K).total) for K in (5, math.inf)]
    assert widths[5:] == pytest.approx(averaged)
    whiskers = [
        c.lines[2][0].get_segments()[0][:, 0] for c in axes.containers if hasattr(c, "lines")
    ]
    assert tuple(whiskers[0]) == pytest.approx(tuple(result.error().noise.confidence_interval()))
    axes.figure.canvas.draw()


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
    axes = result.plot()
    assert labels(axes)[: len(rows(result))] == [label(result, name) for name in rows(result)]
    axes.figure.canvas.draw()
