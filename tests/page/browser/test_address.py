"""The address in a real browser: links, the back button, and nonsense."""

from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from doubletrouble.page import address, fields
from doubletrouble.page.kinds import NumberField
from doubletrouble.page.setting import PageSetting, PageView
from tests.page.browser.conftest import Opener
from tests.page.browser.shown import PATIENCE, Shown

pytestmark = pytest.mark.xdist_group("browser")

LINK = (
    "per=D&width=1.5&samples=2&ridge=0.01&snr=inf&nonlinear=0.5&members=3&scheme=divide&fraction=0.3&bank=4"
    "&activation=tanh&along=samples&split=effects&form=areas&x=linear&y=linear&points=99&dim=40"
    "&draws=4&cost=training&budget=50&second.ridge=0.5&second.members=inf"
)


@pytest.mark.full
def test_a_link_shows_the_same_to_another_reader(opened: Opener) -> None:
    view, notes = address.read(LINK)
    assert notes == ()
    shown = opened(LINK)
    shown.shows(view, settled=True)
    assert address.read(shown.query) == (view, ())
    for field in (*view.first.fields, *view.fields):
        owner = view.first if hasattr(view.first, field.name) else view
        if isinstance(field, NumberField):
            expected = field.write(getattr(owner, field.name))
            expect(shown.by_id(f"box-{field.name}")).to_have_value(expected)
    expect(shown.by_id("choice-activation")).to_have_value("tanh")
    expect(shown.by_id("choice-scheme")).to_have_value("divide")
    for name in ("per", "along", "split", "form", "x", "y", "cost"):
        owner = view.first if hasattr(view.first, name) else view
        checked = shown.by_id(f"choice-{name}").locator("input:checked")
        expect(checked).to_have_attribute("value", getattr(owner, name))
    shown.page.reload()
    shown.shows(view)


def test_the_back_button_goes_back(shown: Shown) -> None:
    seen = [
        PageView(),
        PageView(first=PageSetting(ridge=0.5)),
        PageView(first=PageSetting(ridge=0.5, members=4.0)),
    ]
    shown.shows(seen[0], settled=True)
    for name, text, view in (("ridge", "0.5", seen[1]), ("members", "4", seen[2])):
        shown.type(name, text)
        shown.shows(view, settled=True)
    for view in (seen[1], seen[0]):
        shown.page.go_back()
        shown.shows(view, settled=True)
        expect(shown.by_id("box-ridge")).to_have_value(fields.RIDGE.write(view.first.ridge))
        place = fields.RIDGE.nearest_stop(view.first.ridge)
        expect(shown.by_id("slider-ridge")).to_have_value(str(place))
        expect(shown.by_id("box-members")).to_have_value("1")
    for view in seen[1:]:
        shown.page.go_forward()
        shown.shows(view, settled=True)
    expect(shown.by_id("box-members")).to_have_value("4")


@pytest.mark.full
def test_a_drag_is_one_step_of_the_history(shown: Shown) -> None:
    before = shown.page.evaluate("history.length")
    shown.slide("snr", [*range(10, 40)])
    shown.shows(PageView(first=PageSetting(snr=fields.SNR.stops[39])), settled=True)
    assert shown.page.evaluate("history.length") - before in (0, 1)  # it holds fifty


@pytest.mark.full
@pytest.mark.parametrize(
    ("query", "view", "said"),
    [
        (
            "ridge=-1",
            PageView(first=PageSetting(ridge=0.0)),
            "λ must be a number in [0, 1e+06] or inf, got '-1'",
        ),
        (
            "members=2.4",
            PageView(first=PageSetting(members=2.0)),
            "K must be a whole number in [1, ",
        ),
        ("snr=nan", PageView(), "F/τ must be a number in "),
        ("activation=rleu", PageView(), "Activation σ must be one of "),
        ("along=sample", PageView(along="samples"), "Plot against must be one of width, ridge, "),
        ("points=1e9", PageView(points=2000.0), "points must be a whole number in [2, 2000]"),
        ("dim=100000", PageView(dim=400.0), "D must be a whole number in [10, 400], got '100000'"),
        ("draws=1e6", PageView(draws=200.0), "draws must be a whole number in [2, 200], got '1e6'"),
        ("width=1e400", PageView(first=PageSetting(width=1e5)), "got '1e400'; 100000 is shown."),
        (
            "width=2&width=3",
            PageView(first=PageSetting(width=3.0)),
            "'width' must be given once, got 2",
        ),
        (
            "time=-3",
            PageView(first=PageSetting(time=0.0)),
            "t must be a number in [0, 1e+12] or inf",
        ),
        (
            "fraction=2&scheme=subsampl",
            PageView(first=PageSetting(scheme="subsample", fraction=1.0)),
            "η must",
        ),
        (
            "bank=0",
            PageView(first=PageSetting(bank=1.0)),
            "B/P must be a number in [1, 100000] or inf",
        ),
        (
            "scheme=bootstrap&time=5",
            PageView(first=PageSetting(scheme="bootstrap")),
            "t = ∞ is shown.",
        ),
        (
            "along=time&scheme=bootstrap",
            PageView(first=PageSetting(scheme="bootstrap")),
            "the width is along.",
        ),
        ("split=effects&along=time", PageView(along="time"), "the split by cause is shown."),
        ("colour=red", PageView(), "There is nothing called 'colour' to set."),
        ("second.ridge=x", PageView(second=PageSetting()), "Second setting: λ must be a number"),
        ("%FF%00&&=&a=%", PageView(), "There is nothing called "),
    ],
)
def test_nonsense_is_told_and_the_nearest_shown(
    query: str, view: PageView, said: str, shown: Shown
) -> None:
    shown.go(query)
    shown.shows(view, settled=True)
    shown.says("notes", said)


@pytest.mark.full
def test_an_emptied_box_is_told_and_shows_what_was_there(shown: Shown) -> None:
    shown.go("width=5")
    shown.type("width", "")
    shown.says("notes", "P/N must be a number in [0.001, 100000] or inf, got ''; 5 is shown.")
    expect(shown.by_id("box-width")).to_have_value("5")
    shown.shows(PageView(first=PageSetting(width=5.0)), settled=True)


@pytest.mark.full
def test_the_address_is_there_before_the_page_is_at_rest(shown: Shown) -> None:
    shown.rests()
    shown.by_id("slider-members").press("ArrowRight")
    shown.page.wait_for_function(
        "location.search === '?members=2' && document.body.classList.contains('moving')",
        polling="raf", timeout=PATIENCE,
    )  # fmt: skip
    shown.rests()
    assert shown.query == "members=2"


@pytest.mark.full
def test_a_very_long_address_is_not_read(shown: Shown) -> None:
    shown.go("ridge=" + "1" * 5000)
    shown.shows(PageView(), settled=True)
    shown.says("notes", "An address must have at most ")


EVIL = (
    "__import__('os').system('touch owned')",
    "../../../../etc/passwd",
    "<img src=x onerror='window.owned=1'>",
    "<script>window.owned=1</script>",
    "${window.owned=1}{{7*7}}",
    "'; DROP TABLE curves; --",
    "javascript:window.owned=1",
)


def test_what_is_typed_is_only_text(shown: Shown) -> None:
    for text in EVIL:
        shown.type("ridge", text)
        shown.says("notes", text[:30])
        shown.says("notes", "λ must be a number")
        shown.shows(PageView())
        assert shown.page.evaluate("window.owned") is None
        assert shown.page.locator("#notes *:not(p)").count() == 0
        expect(shown.by_id("box-ridge")).to_have_value("1e-05")
        assert not Path("owned").exists()


def test_what_an_address_holds_is_only_text(shown: Shown) -> None:
    given = dict(zip(("ridge", "activation", "<b>name</b>", "second.snr"), EVIL, strict=False))
    shown.go(urlencode(given))
    shown.shows(PageView(second=PageSetting()), settled=True)
    shown.says("notes", "There is nothing called '<b>name</b>' to set.")
    shown.says("notes", "__import__")
    assert shown.page.evaluate("window.owned") is None
    assert shown.page.locator("#notes *:not(p)").count() == 0
    assert not Path("owned").exists()


@pytest.mark.full
def test_plot_controls_and_address_agree_whatever_came_fast(shown: Shown) -> None:
    rng = np.random.default_rng(0)
    for snr in range(2, 16):  # enough to go back to
        shown.page.evaluate(f"history.pushState(null, '', '/?snr={snr}')")
    for _ in range(12):
        move = rng.integers(5)
        if move == 0:
            shown.slide("ridge", rng.integers(0, 120, size=5).tolist())
        elif move == 1:
            shown.slide("members", rng.integers(0, 40, size=5).tolist())
        elif move == 2:
            shown.page.evaluate("history.back()")
        elif move == 3:
            shown.by_id(str(rng.choice(["compare", "single", "swap"]))).evaluate("e => e.click()")
        else:
            shown.by_id("preset").select_option(index=int(rng.integers(1, 8)))
    shown.rests()
    view, notes = address.read(shown.query)
    assert notes == ()
    shown.shows(view, settled=True)
    for field in view.first.fields:
        if isinstance(field, NumberField):
            expected = field.write(getattr(view.first, field.name))
            expect(shown.by_id(f"box-{field.name}")).to_have_value(expected)
            place = field.nearest_stop(getattr(view.first, field.name))
            expect(shown.by_id(f"slider-{field.name}")).to_have_value(str(place))
