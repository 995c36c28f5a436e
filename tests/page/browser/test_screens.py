"""Narrow and wide, light and dark, by keyboard and by ear."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from doubletrouble.page import fields
from doubletrouble.page.layout import controls
from doubletrouble.page.setting import PageSetting, PageView
from tests.page.browser.shown import PLOT, Shown

pytestmark = pytest.mark.xdist_group("browser")

READABLE = 4.5  # contrast of words: WCAG 2.2, level AA
_NAMES = """() => [...document.querySelectorAll("input, select, button, progress")]
  .filter(e => !e.hidden && e.checkVisibility({visibilityProperty: true}))
  .filter(e => e.getAttribute("aria-hidden") !== "true")
  .map(e => [e.id || e.name || e.className, (e.getAttribute("aria-label") || "")
     + [...(e.labels || [])].map(l => l.innerText).join(" ")
     + (e.getAttribute("aria-labelledby") || "").split(" ")
        .map(i => document.getElementById(i)?.innerText || "").join(" ")
     + (e.tagName === "BUTTON" && !e.getAttribute("aria-labelledby") ? e.innerText : "")])"""


def test_it_works_on_a_telephone(telephone: Shown) -> None:
    _check_size(telephone, 360)
    seen = telephone.page.locator(PLOT).bounding_box()  # the plot stays in sight of the hand
    assert seen is not None
    assert seen["y"] < 100


@pytest.mark.full
def test_on_a_telephone_nothing_covers_the_curves(telephone: Shown) -> None:
    _check_uncovered(telephone, 120)
    telephone.by_id("compare").click()
    telephone.shows(PageView(second=PageSetting()))
    _check_uncovered(telephone, 75)


def _check_uncovered(shown: Shown, height: float) -> None:
    shown.rests()
    shown.page.evaluate("new Promise(requestAnimationFrame)")  # Plotly fits its legend in
    legend = shown.page.locator("#plot .legend").first.bounding_box()
    areas = shown.page.locator("#plot .nsewdrag")
    assert legend is not None
    for place in range(areas.count()):
        area = areas.nth(place).bounding_box()
        assert area is not None
        assert area["height"] >= height
        assert legend["y"] + legend["height"] <= area["y"] + 2


def test_it_works_on_a_wide_screen(shown: Shown) -> None:
    _check_size(shown, 1600)


@pytest.mark.full
def test_nothing_overflows_in_between(shown: Shown) -> None:
    try:
        for width in (320, 701, 1024, 1300, 2560):
            shown.page.set_viewport_size({"width": width, "height": 800})
            shown.go(f"second.ridge=0.1&budget={width}")
            assert not _overflows(shown), width
    finally:
        shown.page.set_viewport_size({"width": 1600, "height": 1000})


def _check_size(shown: Shown, width: int) -> None:
    shown.shows(PageView(), settled=True)
    assert not _overflows(shown)
    shown.page.evaluate("window.scrollTo(0, 0)")
    box = shown.page.locator(PLOT).bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["width"] > 0.6 * min(width, 1000)
    assert 0 <= box["y"] < 400  # seen without scrolling
    assert box["height"] >= 240
    shown.by_id("compare").click()
    shown.shows(PageView(second=PageSetting()))
    assert not _overflows(shown)
    for query in ("split=effects&form=areas&y=linear", "nonsense=" + "x" * 300, "along=time",
                  "scheme=bootstrap&second.scheme=subsample", "along=members"):  # fmt: skip
        shown.go(query)
        assert not _overflows(shown)
    slider = shown.by_id("slider-ridge")
    slider.scroll_into_view_if_needed()
    place = slider.bounding_box()
    assert place is not None
    assert place["width"] > 100
    slider.click(position={"x": place["width"] / 2, "y": place["height"] / 2})
    expect(slider).not_to_have_value("1")
    stop = fields.RIDGE.stops[int(slider.input_value())]
    shown.shows(PageView(first=PageSetting(ridge=stop), along="members"))


def _overflows(shown: Shown) -> bool:
    found: bool = shown.page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return found


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest, shown: Shown) -> Iterator[str]:
    """The colours that the system asks for; the page follows without being loaded."""
    shown.page.emulate_media(color_scheme=request.param)
    shown.page.wait_for_function(
        """([plot, dark]) =>
          (document.querySelector(plot)._fullLayout.paper_bgcolor < "#888") == dark""",
        arg=[PLOT, request.param == "dark"],
    )
    yield request.param
    shown.page.emulate_media(color_scheme="light")


def test_words_can_be_read_in_light_and_dark(scheme: str, shown: Shown) -> None:
    shown.go("nonsense=1&second.ridge=0.1")
    shown.says("notes", "nothing called")
    shown.says("advice", "Change")
    dark = scheme == "dark"
    paper = shown.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (_luminance(paper) < 0.05) == dark
    for element, ink, behind in _inks(shown):
        assert _contrast(ink, behind) >= READABLE, element
    plot = shown.figure("_fullLayout.font.color"), shown.figure("_fullLayout.paper_bgcolor")
    assert _contrast(*plot) >= READABLE
    assert (_luminance(plot[1]) < 0.05) == dark
    for trace in shown.lines():
        assert _contrast(trace["line"]["color"], plot[1]) >= 2.8, trace["name"]


def _inks(shown: Shown) -> Iterator[tuple[str, str, str]]:
    """Every element with words of its own, its colour and that behind it."""
    found = shown.page.evaluate(
        """() => [...document.querySelectorAll(".page *")]
          .filter(e => e.checkVisibility() && !e.closest("svg, .unseen, #plot")
             && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
          .map(e => {
            let paper = e;
            const seen = e => !/, 0\\)|transparent/.test(getComputedStyle(e).backgroundColor);
            while (paper && !seen(paper)) paper = paper.parentElement;
            return [e.outerHTML.slice(0, 120), getComputedStyle(e).color,
                    paper ? getComputedStyle(paper).backgroundColor : "rgb(255, 255, 255)"];
          })"""
    )
    assert len(found) > 50
    yield from found


def _luminance(color: str) -> float:
    """Of a colour as CSS writes it: WCAG 2.2."""
    if color.startswith("#"):
        rgb = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    else:
        rgb = [int(float(c)) for c in re.findall(r"[\d.]+", color)[:3]]
    parts = [c / 255 for c in rgb]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


# --- without eyes, without a mouse ---------------------------------------------------------------


def test_everything_has_a_name(shown: Shown) -> None:
    found = shown.page.evaluate(_NAMES)
    assert len(found) > 30
    assert [element for element, name in found if not name.strip()] == []


def test_lists_that_open_are_named_for_what_they_set(shown: Shown) -> None:
    expect(shown.by_id("choice-activation")).to_have_accessible_name(re.compile("Activation"))
    expect(shown.by_id("choice-scheme")).to_have_accessible_name(re.compile("Scheme"))
    expect(shown.by_id("preset")).to_have_accessible_name(re.compile("As in figure"))


def test_choices_are_named_for_what_they_set(shown: Shown) -> None:
    for field in (fields.PER, fields.ALONG, fields.SPLIT, fields.FORM):
        group = shown.page.get_by_role("group", name=field.label, exact=True)
        expect(group).to_have_count(1)
        expect(group.locator("input[type=radio]")).to_have_count(len(field.choices))


def test_sliders_say_their_value(shown: Shown) -> None:
    shown.type("members", "inf")
    shown.shows(PageView(first=PageSetting(members=float("inf"))))
    expect(shown.by_id("slider-members")).to_have_attribute("aria-valuetext", "K = ∞")
    expect(shown.by_id("slider-ridge")).to_have_attribute("aria-valuetext", "λ = 1e-05")
    expect(shown.by_id("slider-ridge")).to_have_accessible_name(re.compile("^λ.*ridge penalty"))
    expect(shown.by_id("box-ridge")).to_have_accessible_name("λ, exact value")
    expect(shown.by_id("slider-time")).to_have_attribute("aria-valuetext", "t = ∞")
    expect(shown.by_id("slider-time")).to_have_accessible_name(re.compile("^t.*training time"))
    shown.go("scheme=subsample&fraction=0.3")
    expect(shown.by_id("slider-fraction")).to_have_attribute("aria-valuetext", "η = 0.3")
    expect(shown.by_id("slider-fraction")).to_have_accessible_name(re.compile("^η.*share of"))
    shown.go("scheme=feature_bank&bank=3")
    expect(shown.by_id("slider-bank")).to_have_attribute("aria-valuetext", "B/P = 3")
    expect(shown.by_id("box-bank")).to_have_accessible_name("B/P, exact value")


def test_the_plot_is_told_in_words(shown: Shown) -> None:
    plot = shown.by_id("plot")
    expect(plot).to_have_attribute("role", "figure")
    said = plot.get_attribute("aria-label") or ""
    assert said.startswith("Test error and its parts against P/N: at P/N = 2 the total is ")
    shown.choose(fields.ALONG, "ridge")
    expect(plot).to_have_attribute("aria-label", re.compile(r"against λ: at λ = 1e-05 "))


def test_the_page_has_headings_and_a_language(shown: Shown) -> None:
    assert shown.page.title().startswith("doubletrouble")
    assert shown.page.locator("h1").count() == 1
    assert shown.page.locator("main").count() == 1
    assert shown.page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.full
def test_tab_reaches_every_control_in_order(shown: Shown) -> None:
    shown.page.locator("h1").evaluate("e => { e.tabIndex = -1; e.focus(); }")
    reached: list[str] = []
    for _ in range(120):
        shown.page.keyboard.press("Tab")
        found = shown.page.evaluate(
            """() => { const e = document.activeElement;
              return e === document.body ? "" : e.id || e.name
                || e.parentElement.querySelector("button[id]")?.id || e.className }"""
        )
        if not found:
            break
        reached += [found] * (found not in reached)
    hidden = {f"{kind}-{name}" for kind in ("slider", "box") for name in ("fraction", "bank")}
    assert not hidden & set(reached)
    expected = [*(name for name in controls() if name not in hidden), "preset",
                "choice-activation", "choice-scheme", "compare", "simulate", "csv", "png",
                "python"]  # fmt: skip
    assert set(expected) <= set(reached)
    in_document = shown.page.evaluate(
        "[...document.querySelectorAll('input, select, button')].map(e => e.id || e.name)"
    )
    order = [name for name in reached if name in expected]
    assert order == [name for name in dict.fromkeys(in_document) if name in expected]


@pytest.mark.full
def test_focus_is_seen(shown: Shown) -> None:
    shown.by_id("slider-ridge").focus()
    shown.page.keyboard.press("Tab")
    outlines = shown.page.evaluate(
        """[document.activeElement, document.activeElement.parentElement]
          .map(e => getComputedStyle(e).outlineStyle)"""
    )
    assert "solid" in outlines
