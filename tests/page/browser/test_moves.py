"""Nothing that was moved is lost, whatever happens meanwhile."""

import pytest
from playwright.sync_api import Route, expect

from doubletrouble.page import fields
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import request
from tests.page.browser.shown import PATIENCE, Shown

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.full]

ASKED = "**/answer"


def test_a_button_does_what_was_typed_before_it(shown: Shown) -> None:
    """Without Enter: the box is left by pressing the button."""
    shown.go("members=4")
    shown.by_id("box-dim").fill("11")
    shown.by_id("box-draws").fill("2")
    shown.by_id("simulate").click()
    view = PageView(first=PageSetting(members=4.0), dim=11.0, draws=2.0)
    count = len(request(view, view.first).places)
    shown.says("status", f"Simulated {count} points at D = 11.")
    shown.addressed("members=4&dim=11&draws=2")


def test_a_file_has_what_was_typed_before_it(shown: Shown) -> None:
    shown.by_id("box-ridge").fill("0.25")
    with shown.page.expect_download() as got:
        shown.by_id("python").click()
    assert "ridge=0.25," in got.value.path().read_text()


def test_what_was_moved_while_the_server_was_away_is_sent_later(shown: Shown) -> None:
    shown.page.route(ASKED, lambda route: route.abort())
    shown.type("ridge", "0.5")
    shown.says("notes", "The server does not answer.")
    shown.page.unroute(ASKED)
    shown.type("members", "3")
    shown.shows(PageView(first=PageSetting(ridge=0.5, members=3.0)), settled=True)
    shown.complaints.clear()  # the browser's own, of what was not answered


def test_the_scheme_may_change_while_an_answer_is_on_its_way(shown: Shown) -> None:
    late: list[Route] = []
    held = True

    def hold(route: Route) -> None:
        if held:
            late.append(route)
        else:
            route.continue_()

    shown.page.route(ASKED, hold)
    shown.type("ridge", "0.5")
    while not late:
        shown.page.wait_for_timeout(5)
    shown.page.emulate_media(color_scheme="dark")
    held = False
    for route in late:
        route.continue_()
    shown.shows(PageView(first=PageSetting(ridge=0.5)))
    shown.page.wait_for_function(
        "document.querySelector('#plot .js-plotly-plot').layout.paper_bgcolor === '#16181c'",
        timeout=PATIENCE,
    )
    shown.page.unroute(ASKED)
    shown.page.emulate_media(color_scheme="light")


def test_buttons_are_pressed_in_the_order_they_were(shown: Shown) -> None:
    shown.go("ridge=0.5&second.ridge=0.1")
    for name in ("swap", "swap", "swap"):
        shown.by_id(name).evaluate("button => button.click()")
    shown.shows(PageView(first=PageSetting(ridge=0.1), second=PageSetting(ridge=0.5)), settled=True)
    expect(shown.by_id("box-ridge")).to_have_value("0.1")


def test_both_settings_share_an_axis(shown: Shown) -> None:
    shown.go("samples=3")
    shown.by_id("compare").click()
    shown.shows(PageView(first=PageSetting(samples=3.0), second=PageSetting(samples=3.0)))
    shown.choose(fields.PER, "D")
    counted = PageSetting(samples=3.0, per="D", width=6.0)
    shown.shows(PageView(first=counted, second=counted), settled=True)
    assert shown.figure("_fullLayout.xaxis2.title.text") == "P/D"


def test_a_zoom_stays_until_the_plot_is_another(shown: Shown) -> None:
    shown.page.evaluate("window.scrollTo(0, 0)")
    area = shown.page.locator("#plot .nsewdrag").first.bounding_box()
    assert area is not None
    mouse = shown.page.mouse
    mouse.move(area["x"] + 200, area["y"] + 100)
    mouse.down()
    mouse.move(area["x"] + 500, area["y"] + 300, steps=5)
    mouse.up()
    shown.page.wait_for_function(
        "Math.abs(document.querySelector('#plot .js-plotly-plot')._fullLayout.xaxis.range[0] + 1)"
        " > 0.01"
    )
    zoomed = shown.figure("_fullLayout.xaxis.range")
    shown.type("ridge", "0.5")
    shown.shows(PageView(first=PageSetting(ridge=0.5)))
    assert shown.figure("_fullLayout.xaxis.range") == pytest.approx(zoomed)
    shown.choose(fields.ALONG, "ridge")
    shown.shows(PageView(first=PageSetting(ridge=0.5), along="ridge"), settled=True)
    assert shown.figure("_fullLayout.xaxis.range") == pytest.approx([-5, 1])
