"""The page in Chromium: curves, controls, history, layout and exports."""

import csv
import json
import math
import random
import re
import runpy
from pathlib import Path
from typing import Any, Literal

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

import doubletrouble as dt
from doubletrouble.errors import require
from doubletrouble.page._declarations import FILE, SETTING, STATIC, NumberControl
from tests.page.conftest import Opener, visit

pytestmark = pytest.mark.xdist_group("browser")

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
DECLARED = json.loads(FILE.read_text(encoding="utf-8"))
BASIC = ("features_per_sample", "n_members", "ridge", "snr")
STEPS = (
    *("fit", "peak", "causes", "averaging", "ridge"),
    *("features-or-models", "divide", "under-or-over", "claims"),
)


def slider(page: Page, name: str, which: str = "first") -> Any:
    return page.locator(f"#set-{which}-{name}-slider")


def box(page: Page, name: str, which: str = "first") -> Any:
    return page.locator(f"#set-{which}-{name}-box")


def settle(page: Page) -> None:
    """Wait for two frames: what a change draws is drawn."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def values(page: Page) -> dict[str, str]:
    """The table of values at the setting."""
    settle(page)
    rows = page.locator("table.values tbody tr").all_inner_texts()
    cells = [re.split(r"[\n\t]+", row.strip()) for row in rows]
    return {label: error for label, _, error, *_ in cells}


# --- the story -----------------------------------------------------------------------------------


def test_steps_have_a_live_figure_a_sentence_and_an_animation_or_verdicts(opened: Opener) -> None:
    page = opened()
    for step in STEPS[:-1]:
        section = page.locator(f"#step-{step}")
        section.scroll_into_view_if_needed()
        expect(section.locator("svg path").first).to_be_attached()
        before = section.locator(".step-sentence").inner_text()
        assert re.search(r"\d", before), step
        moved = section.locator("input[type=range]").first
        moved.focus()
        moved.press("End")
        settle(page)
        assert section.locator(".step-sentence").inner_text() != before, step
        assert section.get_by_role("button", name="Show me").count() == 1
        assert section.get_by_role("link", name=re.compile("paper")).count() >= 1, step
    page.locator("#step-claims summary").click()
    rows = page.locator("#step-claims tbody tr").all_inner_texts()
    assert len(rows) == len(DECLARED["claims"])
    for claim, verdict in DECLARED["claims"].items():
        (row,) = (row for row in rows if claim in row)
        assert row.lower().startswith(f"{verdict}\t"), row


def test_show_me_moves_the_sliders_and_can_be_stopped(opened: Opener) -> None:
    page = opened(reduced_motion="no-preference")
    section = page.locator("#step-averaging")
    section.scroll_into_view_if_needed()
    first = section.locator("input[type=range]").first.input_value()
    section.get_by_role("button", name="Show me").click()
    stop = section.get_by_role("button", name=re.compile("Stop"))
    expect(stop).to_be_visible()
    page.wait_for_function(
        "([id, value]) => document.querySelector(`#${id} input[type=range]`).value !== value",
        arg=["step-averaging", first],
    )
    stop.click()
    expect(section.get_by_role("button", name="Show me")).to_be_visible()
    section.get_by_role("button", name="Show me").click()
    section.get_by_role("link", name="Open in explore").click()
    settle(page)
    expect(page.locator("#explore")).to_be_visible()
    assert "step=" not in page.url


def test_averaging_lowers_the_peak_on_a_fixed_axis(opened: Opener) -> None:
    page = opened("embed=averaging")

    def ticks() -> list[str]:
        return [text for text in page.locator("svg text").all_text_contents() if text.isdecimal()]

    def top() -> float:
        """The distance of the total from the top of the picture, in pixels."""
        area = page.locator(".plot-lines path").last.bounding_box()
        assert area is not None
        return area["y"]

    before, peak = ticks(), top()
    assert len(before) > 3
    members = page.locator("input[type=range]").first
    members.focus()
    members.press("End")
    settle(page)
    assert ticks() == before
    assert top() > peak + 50


def test_embedded_step_has_the_values_of_its_address(opened: Opener) -> None:
    """Also those that are defaults of Explore, but not of the step."""
    page = opened("embed=causes&snr=1&ridge=0.1")
    for name, value in (("snr", "1"), ("ridge", "0.1")):
        assert page.locator(f"#story-causes-first-{name}-box").input_value() == value


def test_steps_can_be_embedded(opened: Opener) -> None:
    page = opened(None, viewport={"width": 640, "height": 480})
    for step in STEPS:
        visit(page, f"embed={step}")
        assert page.locator("html.embedded").count() == 1
        assert not page.locator("header.top nav").is_visible()
        assert page.locator(f"#step-{step}").is_visible()
        assert page.locator(".step").count() == 1, step
        assert page.evaluate("document.documentElement.scrollWidth") <= 640, step
        if step != "claims":
            slider = page.locator(".slider").first
            assert slider.evaluate("one => one.getBoundingClientRect().bottom") <= 480, step


# --- exact values --------------------------------------------------------------------------------


SETTINGS: dict[str, tuple[dt.Problem, Any]] = {
    "ridge=0.1": (dt.Problem(features_per_dim=2.0, ridge=0.1), 1),
    "features_per_dim=3&samples_per_dim=2&snr=inf&n_members=inf&scheme=divide&"
    "nonlinear_signal=0.5": (
        dt.Problem(
            features_per_dim=3.0,
            samples_per_dim=2.0,
            ridge=1e-5,
            noise=0.0,
            nonlinear_signal=0.5,
        ),
        dt.Divide(math.inf),
    ),
    "scheme=bootstrap&n_members=4&activation=tanh&ridge=0.01": (
        dt.Problem(features_per_dim=2.0, ridge=0.01, activation="tanh"),
        dt.Bootstrap(4),
    ),
    "scheme=feature_bank&bank_per_feature=5&n_members=4": (
        dt.Problem(features_per_dim=2.0, ridge=1e-5),
        dt.FeatureBank(4, bank_per_dim=10.0),
    ),
}


def test_values_are_those_of_the_library(opened: Opener) -> None:
    page = opened(None)
    for query, setting in SETTINGS.items():
        visit(page, f"view=explore&{query}")
        shown = values(page)
        error = dt.exact_error(*setting)
        for name, value in {**error.parts, "total": error.total}.items():
            if name != "bayes":
                text = shown[name]
                number = math.inf if text == "∞" else float(text)
                assert number == pytest.approx(float(value), rel=6e-6, abs=1e-300), (query, name)


def test_divergence_is_drawn_and_named(opened: Opener) -> None:
    page = opened("view=explore&features_per_sample=1&ridge=0")
    shown = values(page)
    assert "∞" in "".join(page.locator(".plots svg text").all_text_contents())
    assert (shown["noise"], shown["total"]) == ("∞", "∞")
    assert float(shown["bias"]) == pytest.approx(0.20062, abs=1e-5)


def downloaded(page: Page, button: str, file: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    download.value.save_as(file)
    return file


def curves(page: Page, file: Path) -> list[list[dict[str, str]]]:
    """The rows of the CSV of a page, for each setting."""
    rows = list(csv.DictReader(downloaded(page, "CSV", file).read_text().splitlines()))
    return [[row for row in rows if row["setting"] == number] for number in ("1", "2")]


def test_csv_has_the_exact_curve(opened: Opener, tmp_path: Path) -> None:
    page = opened("view=explore&scheme=subsample&n_members=10&second.scheme=ensemble")
    ensembles = (dt.Subsample(10, fraction=0.5), dt.Ensemble(10))
    for rows, ensemble in zip(curves(page, tmp_path / "page.csv"), ensembles, strict=True):
        ratios = [float(row["features_per_sample"]) for row in rows]
        assert len(ratios) > 100
        problem = dt.Problem(features_per_dim=ratios, samples_per_dim=1.0, ridge=1e-5)
        error = dt.exact_error(problem, ensemble)
        for name in ("total", *(name for name in error.parts if name != "bayes")):
            column = [float(row[name]) for row in rows]
            np.testing.assert_allclose(column, getattr(error, name), rtol=1e-11, err_msg=name)


def test_python_lines_give_the_curves_of_the_page(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grids differ, but for their ends."""
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    page = opened(None)
    for query in (
        "scheme=subsample&n_members=10&second.scheme=ensemble",
        "along=time&features_per_sample=1&ridge=0&second.n_members=inf",
        "split=effects&form=areas",
        "form=areas&second.n_members=10",
        "along=n_members&scheme=folds&training=1",
    ):
        visit(page, f"view=explore&{query}")
        first, second = curves(page, tmp_path / "page.csv")
        script = downloaded(page, "Python", tmp_path / "page.py")
        result = runpy.run_path(str(script))
        if second and "areas" in query:
            assert len(result["left"].lines) == 4  # two totals and their thresholds
        require("matplotlib.pyplot", "figures").close("all")
        assert ("resampling" in first[0]) == ("resampling" in result["parts"]), query
        for k in (0, -1):
            row = (second or first)[k]
            for name, value in result["parts"].items():
                if row.get(name):
                    assert float(row[name]) == pytest.approx(value[k], rel=1e-9), (query, name)


def test_svg_and_png_have_the_caption(opened: Opener, tmp_path: Path) -> None:
    page = opened("view=explore&ridge=0.25")
    assert "λ = 0.25" in downloaded(page, "SVG", tmp_path / "page.svg").read_text()
    assert downloaded(page, "PNG", tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    page.evaluate("() => { HTMLCanvasElement.prototype.toBlob = (done) => done(null); }")
    page.get_by_role("button", name="PNG", exact=True).click()
    expect(page.get_by_text("PNG failed")).to_be_visible()


# --- controls and state --------------------------------------------------------------------------


def test_every_declared_control_is_there(opened: Opener) -> None:
    page = opened("view=explore")
    for name, control in SETTING.items():
        found = page.locator(f'.controls [data-control="{name}"]').first
        assert found.count() == 1, name
        if isinstance(control, NumberControl):
            assert control.meaning in (found.text_content() or ""), name
    assert page.get_by_text("doubletrouble page").count() >= 1  # how to start a server
    page.get_by_role("link", name="Your data").click()
    expect(page.locator("#data").get_by_text("doubletrouble page")).to_be_visible()


def test_sliders_reach_both_ends_by_keyboard(opened: Opener) -> None:
    page = opened("view=explore")
    for name in BASIC:
        control = SETTING[name]
        assert isinstance(control, NumberControl)
        low, high = control.spec.typical
        for key, end in (
            ("Home", 0.0 if control.zero else low),
            ("End", math.inf if control.infinity else high),
        ):
            slider(page, name).press(key)
            settle(page)
            text = box(page, name).input_value()
            assert (math.inf if text == "∞" else float(text)) == end, name


def typed_numbers(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        f"{math.exp(rng.uniform(math.log(1e-3), math.log(1e3))):.{rng.randrange(1, 7)}g}"
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [3, pytest.param(1000, marks=pytest.mark.full)])
def test_typed_numbers_arrive_as_typed_on_a_slow_machine(count: int, opened: Opener) -> None:
    page = opened("view=explore")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    for text in typed_numbers(count, 1):
        box(page, "features_per_sample").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type(text)
        assert box(page, "features_per_sample").input_value() == text
        page.keyboard.press("Enter")
        found = page.evaluate("new URLSearchParams(location.search).get('features_per_sample')")
        assert float(found or 2) == float(text)


def test_invalid_numbers_are_replaced_with_a_message(opened: Opener) -> None:
    page = opened("view=explore&ridge=-1&colour=red&scheme=committee")
    text = page.locator(".messages").inner_text()
    assert "λ must be" in text
    assert "colour" in text
    assert box(page, "ridge").input_value() == "0"
    box(page, "features_per_sample").fill("wide")
    box(page, "features_per_sample").press("Enter")
    settle(page)
    assert "P/N must be" in page.locator(".messages").inner_text()
    assert box(page, "features_per_sample").input_value() == "2"
    wrong = {
        "map=1&time=3": "map of K and λ",
        "training=1": "training error",
        "top=1e-320": "Top of the vertical axis must be",
        "fraction=0.3": "no η",
        "ridge=0,5": "decimal point",
        "step=nowhere": "Step must be",
    }
    visit(page, f"view=explore&{'&'.join(wrong)}")
    for text in wrong.values():
        expect(page.locator(".messages")).to_contain_text(text)
    visit(page, "view=explore&features_per_sample=100000&samples_per_dim=1000")
    page.locator("#set-view-ratio").evaluate(
        "list => { list.value = 'features_per_dim'; list.dispatchEvent(new Event('change')); }"
    )
    expect(page.locator(".messages")).to_contain_text("P/D must be")
    visit(page, "embed=nothing&step=nowhere")
    expect(page.locator("#notes")).to_have_text(re.compile("Figure must be.*Step must be"))
    for query in ("step=causes&ridge=-5", "embed=causes&ridge=-5"):
        visit(page, query)
        expect(page.locator("#step-causes .step-message")).to_contain_text("λ must be")


def test_features_have_one_ratio(opened: Opener) -> None:
    page = opened("view=explore&samples_per_dim=2&second.ridge=1")
    parameters = "Object.fromEntries(new URLSearchParams(location.search))"
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    axis = page.locator("#set-view-along")
    axis.select_option("features_per_dim")  # of the same number of features
    settle(page)
    found = page.evaluate(parameters)
    assert (found["along"], found["features_per_dim"]) == ("features_per_dim", "4")
    assert "features_per_sample" not in found
    for setting in ("first", "second"):
        assert page.locator(f"#set-{setting}-features_per_dim-box").input_value() == "4"
        assert page.locator(f"#set-{setting}-features_per_sample-box").is_hidden()
    page.locator("#set-view-ratio").select_option("features_per_sample")
    settle(page)
    assert axis.input_value() == "features_per_sample"
    assert "features_per_dim" not in page.evaluate(parameters)
    visit(page, "view=explore&features_per_dim=3&second.features_per_sample=1")
    settle(page)
    assert axis.input_value() == "features_per_dim"
    assert page.locator("#set-second-features_per_dim-box").input_value() == "1"
    visit(page, "view=explore&features_per_dim=3&features_per_sample=1")
    expect(page.locator(".messages")).to_contain_text("features_per_sample must be left out")
    page.get_by_role("link", name="Story").click()
    page.locator("#story-causes-first-features_per_sample-box").fill("3")
    page.locator("#story-causes-first-features_per_sample-box").press("Enter")
    settle(page)
    assert page.evaluate(parameters)["features_per_sample"] == "3"


def test_typed_text_is_never_executed(opened: Opener) -> None:
    hostile = "%3Cimg src=x onerror=window.hacked=1%3E"
    page = opened(
        f"view=explore&features_per_sample={hostile}&{hostile}=1&step={hostile}&second.activation={hostile}"
    )
    box(page, "ridge").fill("<script>window.hacked=1</script>")
    box(page, "ridge").press("Enter")
    settle(page)
    assert page.locator("[onerror], body script").count() == 0
    assert page.evaluate("window.hacked") is None


def state(page: Page) -> tuple[str, dict[str, str], list[Any]]:
    """What the page shows: its address, the table of values and all controls."""
    shown = page.locator(".controls :is(input, select)").evaluate_all(
        "all => all.map(one => one.type === 'checkbox' ? one.checked : one.value)"
    )
    return page.url.partition("?")[2], values(page), shown


def act(page: Page, rng: random.Random) -> None:
    """One of the things that a reader does."""
    action = rng.randrange(6)
    if action == 0:
        move = page.go_back if rng.random() < 0.5 else page.go_forward
        move()
        if page.url == "about:blank":  # before the first page
            page.go_forward()
        page.wait_for_selector("html.ready")
    elif action == 1:
        name = rng.choice(BASIC)
        box(page, name).fill(rng.choice(["0.5", "1", "3", "inf", "300/120", "x", "1e-3"]))
        box(page, name).press("Enter")
    elif action == 2:
        slider(page, rng.choice(BASIC)).focus()
        page.keyboard.press(rng.choice(["Home", "End", "PageUp", "ArrowLeft"]))
    elif action == 3:
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.locator("#set-view-along").select_option(
            rng.choice(["features_per_sample", "ridge", "n_members", "samples_per_dim"])
        )
        page.locator("#set-first-scheme").select_option(rng.choice(["ensemble", "divide", "folds"]))
    elif action == 4:
        button = page.get_by_role(
            "button", name=rng.choice(["Compare", "Swap", "Remove", "Reset", "Fit the axis"])
        )
        if button.first.is_visible():
            button.first.click()
    else:
        page.reload()
        page.wait_for_selector("html.ready")
    settle(page)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in range(1, 100))]
)
def test_random_sequences_end_in_the_state_of_a_fresh_load(seed: int, opened: Opener) -> None:
    """In two tabs by turns; the addresses are then opened by another reader."""
    rng = random.Random(seed)
    page = opened("view=explore")
    tabs = (page, page.context.new_page())
    visit(tabs[1], "view=explore")
    last = {}
    for tab in tabs * 2:
        tab.bring_to_front()
        for _ in range(3):
            act(tab, rng)
        last[tab] = state(tab)
    other = opened("view=explore")
    for tab, before in last.items():
        tab.bring_to_front()
        assert tab.locator("#explore").is_visible()
        assert state(tab) == before  # whatever happened in the other tab
        visit(other, before[0])
        assert state(other) == before
        tab.reload()
        tab.wait_for_selector("html.ready")
        assert state(tab) == before


def test_back_and_forward_step_through_settings(opened: Opener) -> None:
    page = opened("view=explore")
    for value in ("0.1", "1"):
        box(page, "ridge").fill(value)
        box(page, "ridge").press("Enter")
    page.go_back()
    settle(page)
    assert box(page, "ridge").input_value() == "0.1"
    page.go_back()
    settle(page)
    assert float(box(page, "ridge").input_value()) == 1e-5
    page.go_forward()
    settle(page)
    assert box(page, "ridge").input_value() == "0.1"
    box(page, "ridge").press_sequentially("5")  # and without Enter
    page.wait_for_url("**ridge=0.15**")
    page.go_back()
    settle(page)
    box(page, "features_per_sample").focus()
    settle(page)
    assert box(page, "ridge").input_value() == "0.1"


def test_fragments_and_refused_addresses_keep_the_view(opened: Opener) -> None:
    page = opened("view=explore")
    page.evaluate(
        "() => { history.pushState = () => { delete history.pushState; throw Error(); }; }"
    )
    box(page, "ridge").fill("0.1")
    box(page, "ridge").press("Enter")
    page.wait_for_url("**ridge=0.1")  # after a second
    ghosts = page.locator(".plots .plot-ghosts path")
    expect(ghosts).to_have_count(1)
    page.evaluate("location.hash = 'content'")
    page.wait_for_url("**#content")
    settle(page)
    expect(ghosts).to_have_count(1)


def test_compare_never_overwrites_the_second_setting(opened: Opener) -> None:
    page = opened("view=explore")
    page.get_by_role("button", name="Compare").click()
    box(page, "ridge", "second").fill("0.5")
    box(page, "ridge", "second").press("Enter")
    box(page, "ridge").fill("0.01")
    box(page, "ridge").press("Enter")
    settle(page)
    assert box(page, "ridge", "second").input_value() == "0.5"
    assert not page.get_by_role("button", name="Compare").is_visible()
    page.get_by_role("button", name="Swap").click()
    settle(page)
    assert (box(page, "ridge").input_value(), box(page, "ridge", "second").input_value()) == (
        "0.5",
        "0.01",
    )


def test_old_addresses_of_presets_open(opened: Opener) -> None:
    page = opened("view=explore")
    for preset in DECLARED["presets"]:
        page.locator("#preset").select_option(preset["query"])
        settle(page)
        assert page.locator(".messages").inner_text() == "", preset["query"]


# --- layout and access ---------------------------------------------------------------------------


def violations(page: Page) -> list[str]:
    """What axe-core finds in light, and of the colours in dark."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
        options = {"resultTypes": ["violations"], **rules}
        for one in page.evaluate("all => axe.run(all).then(one => one.violations)", options):
            found += [f"{scheme}, {one['id']}: {node['html'][:120]}" for node in one["nodes"]]
    return found


def unfold(page: Page) -> None:
    """Draw and open everything, explain a word, and read a value."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for step in page.locator(".step").all():
        step.scroll_into_view_if_needed()
        settle(page)
    for kind in (".plot", ".word"):
        for one in page.locator(f"{kind}:visible").all()[:1]:
            one.hover()
            settle(page)


EVERYTHING = "view=explore&training=1&map=1&n_members=4"
WRONG = "&ridge=-1&colour=red"
STATES = {
    "story": [""],
    "explore": [f"{EVERYTHING}{WRONG}&second.ridge=0.1&second.scheme=divide"],
    "embedded": ["embed=causes"],
    "steps": [f"step={step}&n_members=inf&snr=inf" for step in STEPS[:-1]],
    "embedded steps": [f"embed={step}&n_members=5&ridge=-1" for step in STEPS],
    "explore, one by one": [
        *("view=explore", "view=explore&form=areas&split=effects", "view=explore&split=effects"),
        *(
            "view=explore&features_per_sample=1&ridge=0",
            "view=explore&along=time&features_per_sample=1",
        ),
        "view=explore&scheme=folds&n_members=1&time=3&second.scheme=bootstrap&top=1",
        *(f"{EVERYTHING}&second.n_members=inf&compare={kind}" for kind in ("overlay", "beside")),
    ],
}
DEFAULT = [("story", (1280, 900)), ("explore", (1280, 900)), ("explore", (320, 256))]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(name, size, marks=[] if (name, size) in DEFAULT else pytest.mark.full)
        for name in STATES
        for size in ((1280, 900), (360, 740), (320, 256))
    ],
    ids=str,
)
def test_no_violation_of_accessibility(name: str, size: tuple[int, int], opened: Opener) -> None:
    viewport = {"width": size[0], "height": size[1]}
    page = opened(None, viewport=viewport, reduced_motion="reduce")
    for query in STATES[name]:
        visit(page, query)
        unfold(page)
        assert violations(page) == [], query


SEEN = """([sliders, figure]) => [...document.querySelectorAll(sliders)].map(slider => {
  const plot = slider.closest(".step, .workbench").querySelector(figure);
  slider.focus();
  const [moved, area] = [slider, plot].map(one => one.getBoundingClientRect());
  const seen = (Math.min(area.bottom, innerHeight) - Math.max(area.top, 0)) / area.height;
  const apart = Math.max(
    moved.top - area.bottom, moved.left - area.right, area.left - moved.right,
  );
  const inside = moved.top >= -1 && moved.bottom <= innerHeight + 1;
  return [slider.id, inside && apart >= -1 ? seen : 0];
})"""


def test_plot_is_visible_while_main_controls_move(opened: Opener) -> None:
    page = opened(None, reduced_motion="reduce")
    for query, sliders, figure, least in (
        ("view=explore", ".basic input[type=range]", ".plots", 0.99),
        ("", ".step input[type=range]", ".step-figure", 0.8),  # of two plots, one above another
    ):
        page.set_viewport_size({"width": 320, "height": 256})
        visit(page, query)
        for width, height in ((320, 256), (360, 740), (740, 360), (768, 1024), (1600, 1000)):
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            seen = dict(page.evaluate(SEEN, [sliders, figure]))
            assert len(seen) >= len(BASIC)
            hidden = [slider for slider, share in seen.items() if share < least]
            assert hidden == [], (width, height)


def test_page_without_javascript_has_picture_and_text(browser: Browser, file_server: str) -> None:
    """Also where it is opened as a file: modules are then blocked, with errors on the console."""
    for address, script in ((file_server, False), ((STATIC / "index.html").as_uri(), True)):
        with browser.new_context(java_script_enabled=script) as context:
            page = context.new_page()
            devtools = context.new_cdp_session(page)
            devtools.send("Animation.enable")
            devtools.send("Animation.setPlaybackRate", {"playbackRate": 100})  # it appears late
            page.goto(address)
            expect(page.locator("#fallback img")).to_be_visible()
            expect(page.get_by_text("What removes it?")).to_be_visible()
            expect(page.get_by_text("python -m http.server")).to_be_visible()


def test_page_is_small() -> None:
    assert sum(file.stat().st_size for file in STATIC.iterdir()) <= 250_000


# --- with the server -----------------------------------------------------------------------------


HOSTILE = "<img src=x onerror=window.hacked=1>"


def table_file() -> FilePayload:
    """A CSV file of 60 rows: two inputs, a text, and a target with noise."""
    x = np.random.default_rng(0).standard_normal((60, 3)).tolist()
    rows = [
        f"{a},{b},{HOSTILE}{k % 2},{100 + 20 * math.tanh(a) + 5 * c}"
        for k, (a, b, c) in enumerate(x)
    ]
    content = "\n".join([f"{HOSTILE},second,text,height", *rows])
    return {"name": "table.csv", "mimeType": "text/csv", "buffer": content.encode()}


def test_table_is_forecast_by_the_server(opened: Opener, page_server: str, tmp_path: Path) -> None:
    page = opened("view=data", base=page_server, viewport={"width": 360, "height": 740})
    page.set_input_files("#data-file", table_file())
    expect(page.get_by_text("table.csv: 60 rows, 4 columns")).to_be_visible()
    for details in page.locator("#data summary").all():
        details.click()
    page.get_by_label("text (2 classes").check()
    page.get_by_label("label noise").fill("4")
    page.get_by_role("button", name="Forecast", exact=True).click()
    expect(page.get_by_text("standard deviation 4.00, as given")).to_be_visible()
    expect(page.get_by_text("encoded, as 2: 'text'")).to_be_visible()
    expect(
        page.get_by_text(re.compile("Best change|No (finite )?single change")).first
    ).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("window.hacked") is None
    assert violations(page) == []
    page.locator("#data-view-n_members-slider").press("End")
    expect(page.locator("#data .sentence")).to_contain_text("K = ∞")
    expect(page.locator("#data .stale")).to_have_count(0)  # no question is pending
    file = downloaded(page, "CSV", tmp_path / "forecast.csv")
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert len(rows) > 50
    totals, limits = (
        [float(row[f"total{kind}"]) for row in rows] for kind in ("", "_infinite_models")
    )
    assert totals == pytest.approx(limits, rel=1e-9)
    assert page.url == f"{page_server}?view=data"
    page.reload()
    expect(page.get_by_text("or drop it here")).to_be_visible()


def test_simulated_points_and_advice_come_from_the_server(opened: Opener, page_server: str) -> None:
    page = opened("view=explore&dim=10&n_data=2", base=page_server)
    page.get_by_role("button", name="Simulate").click()
    page.wait_for_function(
        "() => /(\\d+) of \\1 points/.test(document.querySelector('#explore').innerText)"
    )
    settle(page)
    assert page.locator(".plot-points path").count() > 10
    expect(page.get_by_text("Best change").first).to_be_visible()
    assert violations(page) == []
    page.goto(
        f"{page_server}index.html?view=explore&dim=10&n_data=2&split=effects&scheme=bootstrap"
    )
    page.get_by_role("button", name="Simulate").click()
    expect(page.locator(".messages")).to_contain_text("Main effects cannot be simulated")
    expect(page.get_by_text("Changes are compared for").first).to_be_visible()
    page.goto(f"{page_server}?view=explore&dim=60&n_data=200")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.get_by_role("link", name="Story", exact=True).click()
    page.evaluate("() => { window.fetch = () => Promise.reject(); }")  # as of a killed server
    page.go_back()
    expect(page.get_by_text("The server does not answer").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Go on"))).to_be_visible()
    assert not page.locator("progress").is_visible()
    page.reload()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    page.goto("about:blank")
