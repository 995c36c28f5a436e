"""What is seen: curves, marks, the second setting, the words, and what can be taken away."""

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

import doubletrouble as dt
from doubletrouble.page import fields, files
from doubletrouble.page.curves import curves
from doubletrouble.page.explanation import explanation
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.stops import Stops
from tests.page.browser.shown import PLOT, Shown

pytestmark = pytest.mark.xdist_group("browser")


def test_two_settings_beside_each_other(shown: Shown) -> None:
    swap, single = shown.by_id("swap"), shown.by_id("single")
    expect(swap).to_be_hidden()
    expect(single).to_be_hidden()
    shown.type("ridge", "0.1")
    shown.by_id("compare").click()
    first = PageSetting(ridge=0.1)
    shown.shows(PageView(first=first, second=first))
    shown.type("members", "5")  # the sliders are those of the first
    other = PageSetting(ridge=0.1, members=5.0)
    shown.shows(PageView(first=other, second=first), settled=True)
    assert shown.query == "ridge=0.1&members=5&second.members=1"
    titles = [note["text"] for note in shown.figure("layout.annotations")]
    assert "K = 5" in titles
    assert "K = 1" in titles
    shown.says("readout", "Second setting")
    swap.click()
    shown.shows(PageView(first=first, second=other))
    expect(shown.by_id("box-members")).to_have_value("1")
    single.click()
    shown.shows(PageView(first=first), settled=True)
    expect(swap).to_be_hidden()
    expect(single).to_be_hidden()


@pytest.mark.full
def test_the_scales_of_the_axes(shown: Shown) -> None:
    for field in (fields.X_SCALE, fields.Y_SCALE):
        shown.choose(field, "linear")
    shown.shows(PageView(x="linear", y="linear"), settled=True)
    assert shown.figure("_fullLayout.xaxis.type") == "linear"
    assert shown.figure("_fullLayout.yaxis.type") == "linear"
    assert shown.figure("_fullLayout.xaxis.range") == list(PageView(x="linear").range())
    assert (
        PageView(x="linear").range()[1] < PageView().range()[1]
    )  # or the peak would be at the edge


@pytest.mark.full
def test_areas_are_stacked_to_the_total(shown: Shown) -> None:
    shown.choose(fields.FORM, "areas")
    shown.shows(PageView(form="areas", y="linear"))
    top = shown.figure("calcdata.map(c => c.map(p => p.y))")
    names = [trace["name"] for trace in shown.lines()]
    assert names == ["Bias", "Sampling", "Initialization", "Noise", "Total"]
    for below, above in pairwise(top[:5]):
        assert all(low <= high * (1 + 1e-12) for low, high in zip(below, above, strict=True))
    assert top[3] == pytest.approx(top[4], rel=1e-12)
    assert shown.page.locator("#plot .fills path.js-fill").count() >= 4


def test_where_p_is_n_is_marked(shown: Shown) -> None:
    expect(shown.page.locator("#plot .annotation")).to_have_text("P = N")
    shown.type("members", "4")
    shown.choose(fields.SCHEME, "divide")
    expect(shown.page.locator("#plot .annotation")).to_have_text("P = N/K")
    dotted = [s for s in shown.figure("layout.shapes") if s["line"]["dash"] == "dot"]
    assert [s["x0"] for s in dotted] == [0.25]
    shown.choose(fields.ALONG, "ridge")
    expect(shown.page.locator("#plot .annotation")).to_have_count(0)


def test_the_mark_stands_where_the_slider_does(shown: Shown) -> None:
    shown.type("width", "5")
    shown.shows(PageView(first=PageSetting(width=5.0)))
    ring = shown.rings()[0]
    total = dt.exact_error(PageSetting(width=5.0).problem).total
    assert ring["x"] == [5.0]
    assert ring["y"] == [total]
    shown.says("readout", f"{total:.6g}")


def test_hovering_tells_exact_values(shown: Shown) -> None:
    x = float(PageView().grid(PageSetting())[300])
    shown.page.evaluate("window.scrollTo(0, 0)")
    place = shown.page.evaluate(
        f"""x => {{ const plot = document.querySelector("{PLOT}"), axis = plot._fullLayout.xaxis;
          return plot.getBoundingClientRect().x + axis._offset + axis.l2p(Math.log10(x)) }}""",
        x,
    )
    box = shown.page.locator("#plot .nsewdrag").first.bounding_box()
    assert box is not None
    layer = shown.page.locator("#plot .hoverlayer")
    for near in (3, 0) * 20:  # a busy browser may leave a move out
        shown.page.mouse.move(place - near, box["y"] + box["height"] / 2)
        if near == 0 and "Total" in (layer.text_content() or ""):
            break
    exact = dt.exact_error(PageSetting(width=x).problem)
    for part in ("total", "noise", "initialization", "sampling", "bias"):
        expect(layer).to_contain_text(_shown(getattr(exact, part)))
    shown.page.mouse.move(5, 5)


def _shown(value: float) -> str:
    """Six digits, as d3 writes them."""
    return f"{value:#.6g}".replace("e-0", "e-").replace("-", "−")


@pytest.mark.full
def test_no_button_of_the_plot_sends_it_away(shown: Shown) -> None:
    buttons = shown.page.locator("#plot .modebar-btn")
    assert buttons.count() > 0
    allowed = {"Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"}
    assert {buttons.nth(k).get_attribute("data-title") for k in range(buttons.count())} <= allowed


def test_an_infinite_peak_is_drawn(shown: Shown) -> None:
    shown.type("width", "1")
    shown.type("ridge", "0")
    view = PageView(first=PageSetting(width=1.0, ridge=0.0))
    shown.shows(view, settled=True)
    assert shown.curve("total").max() == float("inf")
    low, high = shown.figure("_fullLayout.yaxis.range")
    assert -10 < low < high < 10
    shown.says("readout", "∞")
    shown.says("meaning", "infinite")


@pytest.mark.full
def test_the_sentence_changes_with_the_setting(shown: Shown) -> None:
    said = set()
    for width, ridge in (("0.3", "1e-5"), ("1", "1e-5"), ("30", "1e-5"), ("30", "10")):
        shown.type("width", width)
        shown.type("ridge", ridge)
        setting = PageSetting(width=float(width), ridge=float(ridge))
        view = PageView(first=setting)
        shown.shows(view)
        shown.says("meaning", explanation(view, Stops()))
        said.add(shown.text("meaning"))
    assert len(said) == 4
    assert shown.by_id("meaning").get_attribute("aria-live") == "polite"


def test_the_advisor_answers_to_the_budget(shown: Shown) -> None:
    shown.says("advice", "Change")
    rows = shown.page.locator("#advice tbody tr")
    advice = dt.advise(PageSetting().problem)
    assert rows.count() == len(advice.options)
    expect(shown.page.locator("#advice .chosen")).to_contain_text(advice.choice.label)
    before = shown.text("advice")
    shown.type("budget", "40")
    shown.shows(PageView(budget=40.0), settled=True)
    expect(shown.by_id("advice")).not_to_have_text(before)
    shown.choose(fields.COST, "training")
    shown.shows(PageView(budget=40.0, cost="training"), settled=True)


@pytest.mark.full
def test_the_bars_of_the_advisor_are_told_apart_without_colour(shown: Shown) -> None:
    shown.says("advice", "Change")
    looks = shown.page.evaluate(
        """["noise", "initialization", "sampling", "bias"].map(name =>
          [".piece", ".key"].map(kind => {
            const style = getComputedStyle(document.querySelector(`#advice ${kind}.part-${name}`));
            return [style.backgroundImage, style.backgroundColor];
          }))"""
    )
    assert all(piece == key for piece, key in looks)
    assert len({hatching for (hatching, _), _ in looks}) == 4
    assert len({color for (_, color), _ in looks}) == 4


# --- what can be taken away ----------------------------------------------------------------------


def downloaded(shown: Shown, button: str) -> tuple[str, bytes]:
    with shown.page.expect_download() as waiting:
        shown.by_id(button).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize("query", ["", "along=members&split=effects&second.ridge=0.1"])
def test_the_numbers_are_downloaded(query: str, shown: Shown) -> None:
    from doubletrouble.page import address

    shown.go(query)
    view, _ = address.read(query)
    name, data = downloaded(shown, "csv")
    assert name == "doubletrouble.csv"
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    for place, setting in enumerate(view.settings):
        own = [row for row in rows if row["setting"] == str(place + 1)]
        found = curves(view, setting)
        assert [float(row[view.along]) for row in own] == found.x.tolist()
        assert [float(row["total"]) for row in own] == found.total.tolist()


def test_the_lines_are_downloaded_and_shown(shown: Shown) -> None:
    shown.type("ridge", "0.25")
    view = PageView(first=PageSetting(ridge=0.25))
    shown.shows(view, settled=True)
    name, data = downloaded(shown, "python")
    assert name == "doubletrouble.py"
    assert data.decode() == files.script(view)
    shown.page.get_by_text("The Python lines that remake the plot").click()
    expect(shown.by_id("script")).to_have_text(files.script(view))
    shown.page.get_by_text("The Python lines that remake the plot").click()


def test_the_picture_is_downloaded(shown: Shown) -> None:
    name, data = downloaded(shown, "png")
    assert name == "doubletrouble.png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
    assert (width, height) == (
        2 * shown.figure("clientWidth"),
        2 * shown.figure("clientHeight"),
    )
    assert len(data) > 20_000
