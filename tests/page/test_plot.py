"""The figure as Plotly reads it."""

import json
import math
from base64 import b64decode
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubletrouble.page.curves import Curves, curves
from doubletrouble.page.plot import Measured, figure
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.palette import LABELS
from doubletrouble.parameters import FloatArray
from tests.page.views import patient, views


def drawn(view: PageView, **screen: Any) -> tuple[list[Curves], dict[str, Any]]:
    found = [curves(view, setting) for setting in view.settings]
    return found, figure(view, found, Screen(**screen), [()] * len(found))


def decoded(array: dict[str, str]) -> FloatArray:
    assert array["dtype"] == "f8"
    return np.frombuffer(b64decode(array["bdata"]), dtype="<f8")


def lines(made: dict[str, Any], place: int = 0) -> dict[str, dict[str, Any]]:
    axis = ("x", "x2")[place]
    return {
        trace["name"]: trace
        for trace in made["data"]
        if trace["xaxis"] == axis and trace["mode"].startswith("lines")
    }


@patient
@given(views, st.booleans(), st.booleans())
def test_a_figure_is_strict_json(view: PageView, dark: bool, narrow: bool) -> None:
    _, made = drawn(view, dark=dark, narrow=narrow)
    text = import_module("plotly.io.json").to_json_plotly(made)  # as Dash writes it
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))


@patient
@given(views)
def test_the_lines_hold_the_curves_to_the_last_bit(view: PageView) -> None:
    found, made = drawn(view)
    for place, one in enumerate(found):
        traces = lines(made, place)
        for name, values in {"total": one.total, **one.parts}.items():
            trace = traces[LABELS[name]]
            assert decoded(trace["x"]).tolist() == one.x.tolist()
            assert decoded(trace["customdata"]).tolist() == values.tolist()
            if view.form == "lines" or name == "total":
                y = decoded(trace["y"])
                cut = y < values
                assert y[~cut].tolist() == values[~cut].tolist()
                assert np.all(np.isfinite(y))


@patient
@given(views)
def test_the_axes_hold_the_curve(view: PageView) -> None:
    found, made = drawn(view)
    x, y = made["layout"]["xaxis"], made["layout"]["yaxis"]
    ends = [10**v if x["type"] == "log" else v for v in x["range"]]
    assert ends == pytest.approx(list(view.range()))
    low, high = [10**v if y["type"] == "log" else v for v in y["range"]]
    assert 0 <= low < high < math.inf
    totals = np.concatenate([one.total for one in found])
    some = totals[np.isfinite(totals) & (totals > 0)]
    if some.size:
        assert low <= np.median(some) * (1 + 1e-9)
        assert np.median(some) <= high * (1 + 1e-9)


def test_an_infinite_peak_is_cut_off_and_told() -> None:
    view = PageView(first=PageSetting(ridge=0.0, width=1.0))
    (found,), made = drawn(view)
    total = lines(made)["Total"]
    assert math.isinf(found.total.max())
    assert math.isinf(decoded(total["customdata"]).max())
    high = 10 ** made["layout"]["yaxis"]["range"][1]
    assert high < decoded(total["y"]).max() < math.inf  # it leaves the axis, as it should
    ring = made["data"][-1]
    assert ring["x"] == [1.0]
    assert ring["y"] == [pytest.approx(high)]  # an arrow at the edge
    assert ring["marker"]["symbol"] == "triangle-up"


@pytest.mark.parametrize(
    ("view", "symbol"),
    [
        (PageView(), "circle-open"),
        (PageView(along="ridge", first=PageSetting(ridge=0.0)), "triangle-left"),
        (PageView(first=PageSetting(width=math.inf)), "triangle-right"),
        (PageView(along="members", first=PageSetting(members=math.inf)), "triangle-right"),
        (PageView(along="time"), "triangle-right"),
        (PageView(along="time", first=PageSetting(time=0.0)), "triangle-left"),
    ],
)
def test_beyond_the_axes_an_arrow_says_where_the_sliders_stand(view: PageView, symbol: str) -> None:
    ring = drawn(view)[1]["data"][-1]
    assert ring["marker"]["symbol"] == symbol
    assert view.range()[0] <= ring["x"][0] <= view.range()[1]


def test_what_a_reader_zoomed_into_stays() -> None:
    near = Screen(zoom={"x": (-0.5, 0.5)})
    view = PageView(second=PageSetting(ridge=0.1))
    layout = figure(view, [curves(view, one) for one in view.settings], near, [(), ()])["layout"]
    assert layout["xaxis"]["range"] == layout["xaxis2"]["range"] == [-0.5, 0.5]
    assert layout["yaxis"]["range"] != [-0.5, 0.5]


def test_areas_are_stacked() -> None:
    (found,), made = drawn(PageView(form="areas", y="linear", first=PageSetting(ridge=0.1)))
    stacked = np.zeros_like(found.total)
    for name in reversed(found.parts):
        stacked = stacked + found.parts[name]
        trace = lines(made)[LABELS[name]]
        assert decoded(trace["y"]).tolist() == stacked.tolist()
        assert trace["fill"] in ("tozeroy", "tonexty")
    assert stacked == pytest.approx(found.total, rel=1e-12)


def test_the_threshold_is_marked() -> None:
    _, made = drawn(PageView())
    assert [note["text"] for note in made["layout"]["annotations"]] == ["P = N"]
    _, made = drawn(PageView(along="ridge"))
    assert made["layout"]["annotations"] == []
    _, made = drawn(PageView(first=PageSetting(members=2.0, scheme="divide")))
    assert made["layout"]["annotations"][0]["text"] == "P = N/K"
    assert 10 ** made["layout"]["annotations"][0]["x"] == pytest.approx(0.5)


def test_two_settings_are_told_apart_by_what_differs() -> None:
    _, made = drawn(PageView(second=PageSetting(ridge=0.1)))
    words = [note["text"] for note in made["layout"]["annotations"]]
    assert "λ = 1e-05" in words
    assert "λ = 0.1" in words
    assert made["layout"]["xaxis2"]["type"] == "log"
    assert [t["name"] for t in made["data"] if t["showlegend"]] == [*lines(made)]


def test_on_a_narrow_screen_they_are_below_each_other() -> None:
    _, made = drawn(PageView(second=PageSetting(ridge=0.1)), narrow=True)
    upper, lower = made["layout"]["yaxis"]["domain"], made["layout"]["yaxis2"]["domain"]
    assert lower[1] < upper[0]


def test_points_have_error_bars() -> None:
    view = PageView()
    found = curves(view, view.first)
    points = Measured(
        name="noise", at=[1.0, 2.0], x=[1.0, 2.0], value=[3.0, 4.0], standard_error=[0.1, 0.2]
    )
    made = figure(view, [found], Screen(), [[points]])
    (trace,) = [trace for trace in made["data"] if "error_y" in trace]
    assert trace["y"] == [3.0, 4.0]
    assert trace["error_y"]["array"] == [0.2, 0.4]  # two standard errors
    color = lines(made)["Noise"]["line"]["color"]
    assert trace["marker"]["color"] == trace["error_y"]["color"] == color


def test_points_of_every_part_look_different() -> None:
    view = PageView(split="effects")
    found = curves(view, view.first)
    points = [Measured(name=name, at=[1.0], x=[1.0], value=[3.0], standard_error=[0.1])
              for name in ("total", *found.parts)]  # fmt: skip
    made = figure(view, [found], Screen(), [points])
    symbols = [trace["marker"]["symbol"] for trace in made["data"] if "error_y" in trace]
    assert len(set(symbols)) == len(points)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("split", ["causes", "effects"])
def test_no_two_lines_look_the_same_without_colour(split: str, dark: bool) -> None:
    _, made = drawn(PageView(split=split), dark=dark)
    looks = [(t["line"].get("dash"), t["line"]["width"]) for t in lines(made).values()]
    assert len(set(looks)) == len(looks)
    colors = [t["line"]["color"] for t in lines(made).values()]
    assert len(set(colors)) == len(colors)
