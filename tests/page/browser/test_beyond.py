"""Training in time, and members that draw their samples or features, in a real browser."""

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import expect

import doubletrouble as dt
from doubletrouble.page import address, fields
from doubletrouble.page.curves import curves
from doubletrouble.page.explanation import UNADVISED, explanation
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import request
from doubletrouble.page.stops import Stops
from tests.page.browser.shown import PATIENCE, PLOT, Shown

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.full]


def test_the_axis_of_time_has_the_end_and_the_best_stop(shown: Shown) -> None:
    shown.type("width", "1")
    shown.choose(fields.ALONG, "time")
    view = PageView(first=PageSetting(width=1.0), along="time")
    shown.shows(view, settled=True)
    best = dt.best_stopping_time(view.first.problem)
    label = shown.page.locator("#plot .annotation", has_text=f"best t = {best.time:.3g}")
    expect(label).to_be_visible(timeout=PATIENCE)
    dashed = [s["x0"] for s in shown.figure("layout.shapes") if s["line"]["dash"] == "dash"]
    assert dashed == [best.time]
    names = [trace["name"] for trace in shown.lines()]
    assert names == ["Noise", "Initialization", "Sampling", "Bias", "Total, t → ∞", "Total"]
    shown.says("meaning", explanation(view, Stops()))
    shown.says("advice", "Change")  # it is trained to the end

    shown.type("time", "10")
    timed = PageView(first=PageSetting(width=1.0, time=10.0), along="time")
    shown.shows(timed, settled=True)
    shown.says("meaning", "At t = 10, ")
    shown.says("advice", UNADVISED)
    total = dt.gradient_flow(timed.first.problem, 10.0).total
    shown.says("readout", f"{total:.6g}")
    expect(label).to_be_visible()  # wherever the slider stands
    said = shown.by_id("plot").get_attribute("aria-label") or ""
    assert said.startswith("Test error and its parts against t: at t = 10 the total is ")


def test_curves_are_seen_at_a_finite_time(shown: Shown) -> None:
    shown.type("time", "3")
    view = PageView(first=PageSetting(time=3.0))
    shown.shows(view, settled=True)
    exact = dt.gradient_flow(view.first.problem_along("width", shown.curve("total", "x")), 3.0)
    assert shown.curve("noise") == pytest.approx(exact.noise, rel=1e-12)
    shown.says("said-scheme", "Training in time is not known for bootstrap")


def test_the_symmetric_split_cannot_be_chosen_where_there_is_none(shown: Shown) -> None:
    symmetric = shown.by_id("choice-split").locator("input[value=effects]")
    expect(symmetric).to_be_enabled()
    assert shown.text("said-split") == ""
    for query in ("scheme=subsample", "time=3", "along=time", "second.scheme=bootstrap"):
        shown.go(query)
        expect(symmetric).to_be_disabled()
        shown.says("said-split", "The symmetric split is known for ensembles and divided data")
    shown.go("split=effects")
    shown.choose(fields.SCHEME, "bootstrap")
    shown.says("notes", "the split by cause is shown.")
    shown.shows(PageView(first=PageSetting(scheme="bootstrap")), settled=True)
    shown.choose(fields.SCHEME, "divide")
    shown.shows(PageView(first=PageSetting(scheme="divide")))
    expect(symmetric).to_be_enabled()
    expect(shown.by_id("said-split")).to_have_text("")


def test_what_is_chosen_last_is_shown_and_what_it_changes_is_told(shown: Shown) -> None:
    shown.go("along=time&time=5")
    shown.choose(fields.SCHEME, "bootstrap")
    shown.shows(PageView(first=PageSetting(scheme="bootstrap")), settled=True)
    shown.says("notes", "t = ∞ is shown.")
    shown.says("notes", "the width is along.")
    shown.choose(fields.ALONG, "time")
    shown.shows(PageView(along="time"), settled=True)
    shown.says("notes", "ensembles on all samples are shown.")
    expect(shown.by_id("choice-scheme")).to_have_value("ensemble")
    label = shown.page.locator("#plot .annotation", has_text="best t = ")
    expect(label).to_be_visible(timeout=PATIENCE)
    shown.rests()
    shown.says("notes", "ensembles on all samples are shown.")  # still


@pytest.mark.parametrize(
    ("query", "mark"),
    [
        ("scheme=subsample&fraction=0.3&members=5", "P = ηN"),
        ("scheme=bootstrap&members=5", "P = (1 − 1/e) N"),
        ("scheme=feature_bank&members=5", "P = N"),
    ],
)
def test_what_drawing_adds_is_a_part_of_its_own(query: str, mark: str, shown: Shown) -> None:
    shown.go(query)
    setting = address.read(query)[0].first
    expect(shown.page.locator("#plot .annotation")).to_have_text(mark)
    names = [trace["name"] for trace in shown.lines()]
    assert names == ["Noise", "Initialization", "Resampling", "Sampling", "Bias", "Total"]
    error = dt.exact_error(setting.problem, setting.ensemble(setting.problem))
    shown.says("readout", f"Resampling{float(error.resampling):.6g}")
    shown.says("meaning", explanation(PageView(first=setting), Stops()))
    shown.says("advice", UNADVISED)
    shown.choose(fields.FORM, "areas")
    shown.shows(PageView(first=setting, form="areas", y="linear"))
    looks = [(t["fillpattern"]["shape"], t["fillcolor"]) for t in shown.lines() if "fill" in t]
    assert len({shape for shape, _ in looks}) == len({color for _, color in looks}) == 5
    legend = shown.page.locator("#plot .legend .legendtext").all_text_contents()
    assert "Resampling" in legend


def test_beside_an_ensemble_the_part_has_a_name_and_a_row(shown: Shown) -> None:
    shown.go("members=5&second.scheme=subsample")
    legend = shown.page.locator("#plot .legend .legendtext").all_text_contents()
    assert sorted(legend) == sorted(
        ["Noise", "Initialization", "Resampling", "Sampling", "Bias", "Total"]
    )
    shown.says("readout", "Resampling–")
    titles = [note["text"] for note in shown.figure("layout.annotations")]
    assert "scheme = subsample, η = 0.5" in titles


def test_what_is_nothing_has_no_name_in_the_legend(shown: Shown) -> None:
    shown.go("snr=inf&members=inf")
    legend = shown.page.locator("#plot .legend .legendtext")
    assert legend.all_text_contents() == ["Sampling", "Bias", "Total"]


def test_the_numbers_in_time_are_downloaded(shown: Shown) -> None:
    query = "along=time&points=30&second.members=inf"
    shown.go(query)
    with shown.page.expect_download() as waiting:
        shown.by_id("csv").click()
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))
    view = address.read(query)[0]
    for place, setting in enumerate(view.settings):
        found = curves(view, setting)
        own = [row for row in rows if row["setting"] == str(place + 1)]
        assert [float(row["time"]) for row in own] == found.x.tolist()
        assert [float(row["total"]) for row in own] == found.total.tolist()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("scheme=subsample&members=3&ridge=0.1", "Resampling, simulated"),
        ("scheme=bootstrap&members=3&ridge=0.1", "Resampling, simulated"),
        ("scheme=feature_bank&members=3&ridge=0.1", "Resampling, simulated"),
        ("along=time&width=1", "Bias, simulated"),
        ("time=5&along=ridge", "Bias, simulated"),
    ],
)
def test_what_is_new_is_simulated(query: str, names: str, shown: Shown) -> None:
    query = f"{query}&dim=10&draws=2"
    shown.go(query)
    view = address.read(query)[0]
    count = len(request(view, view.first).places)
    shown.by_id("simulate").click()
    expect(shown.by_id("status")).to_contain_text(
        f"Simulated {count} points at D = 10.", timeout=60_000
    )
    shown.page.wait_for_function(
        f"""name => document.querySelector("{PLOT}").data.some(
          t => t.error_y && t.name === name && t.x.length === {count})""",
        arg=names, timeout=PATIENCE,
    )  # fmt: skip
    assert len(shown.points()) == (6 if "Resampling" in names else 5)
    shown.says("script", "times=[" if view.along == "time" or "time" in query else "ensembles=[")


def test_infinitely_many_features_are_not_simulated_in_time(shown: Shown) -> None:
    shown.go("along=time&width=inf")
    shown.by_id("simulate").click()
    shown.says("status", "P/N must be finite to be simulated in time")
    expect(shown.by_id("cancel")).to_be_hidden()
