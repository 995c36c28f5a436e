"""A simulation from a real browser: started, watched, cancelled, and laid over the curves."""

import pytest
from playwright.sync_api import expect

import doubletrouble as dt
from doubletrouble.page import fields
from doubletrouble.page.curves import EFFECTS
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import N_INIT, request
from doubletrouble.palette import LABELS
from tests.page.browser.shown import PATIENCE, PLOT, Shown

pytestmark = pytest.mark.xdist_group("browser")


def test_points_with_error_bars_are_laid_over_the_curves(shown: Shown) -> None:
    shown.go("dim=10&draws=2")
    wanted = request(PageView(dim=10.0, draws=2.0), PageSetting())
    count = len(wanted.places)
    expect(shown.by_id("cancel")).to_be_hidden()
    expect(shown.by_id("progress")).to_be_hidden()
    shown.by_id("simulate").click()
    done = f"Simulated {count} points at D = 10."
    expect(shown.by_id("status")).to_contain_text(done, timeout=60_000)
    expect(shown.by_id("cancel")).to_be_hidden()
    expect(shown.by_id("progress")).to_be_hidden()
    names = ["total", "noise", "initialization", "sampling", "bias"]
    shown.page.wait_for_function(
        f"""document.querySelector("{PLOT}").data.filter(t => t.error_y && t.x.length == {count})
          .length == 5""",
        timeout=PATIENCE,
    )
    measured = shown.points()
    assert [t["name"] for t in measured] == [f"{n.capitalize()}, simulated" for n in names]
    run = dt.simulate(
        PageSetting().problem_along("width", wanted.places[3]), dim=10, n_data=2, n_init=N_INIT,
        progress=False,
    )  # fmt: skip
    for name, trace in zip(names, measured, strict=True):
        expected = getattr(run.error(), name)
        assert trace["y"][3] == expected.value
        assert trace["error_y"]["array"][3] == 2 * expected.standard_error
    assert shown.page.locator("#plot .errorbar").count() >= 5
    shown.says("script", f"dt.simulate( problem(x), dim=10, n_data=2, n_init={N_INIT},")

    # of the same draws, the symmetric split
    shown.choose(fields.SPLIT, "effects")
    shown.shows(PageView(dim=10.0, draws=2.0, split="effects"), settled=True)
    assert {t["name"] for t in shown.points()} == {
        f"{LABELS[name]}, simulated" for name in ("total", *EFFECTS)
    }
    shown.page.go_back()
    shown.shows(PageView(dim=10.0, draws=2.0), settled=True)

    # they go with the setting, and come back with it
    shown.type("ridge", "0.5")
    shown.shows(PageView(first=PageSetting(ridge=0.5), dim=10.0, draws=2.0), settled=True)
    assert not shown.points()
    expect(shown.by_id("status")).to_have_text("")
    shown.page.go_back()
    shown.shows(PageView(dim=10.0, draws=2.0), settled=True)
    assert len(shown.points()) == 5
    expect(shown.by_id("status")).to_contain_text(f"Simulated {count} points")


@pytest.mark.full
def test_a_simulation_is_cancelled_and_started_again(shown: Shown) -> None:
    shown.go("dim=60&draws=100&members=3")
    shown.by_id("simulate").click()
    expect(shown.by_id("status")).to_contain_text("Simulating: ", timeout=PATIENCE)
    expect(shown.by_id("progress")).to_be_visible()
    expect(shown.by_id("status")).not_to_contain_text(" 0 of", timeout=PATIENCE)  # it goes on
    assert float(shown.by_id("progress").get_attribute("value") or 0) > 0
    shown.by_id("cancel").click()
    expect(shown.by_id("status")).to_contain_text("Cancelled after ")
    expect(shown.by_id("cancel")).to_be_hidden()
    expect(shown.by_id("progress")).to_be_hidden()
    shown.by_id("simulate").click()
    expect(shown.by_id("status")).to_contain_text("Simulating: ", timeout=PATIENCE)
    shown.by_id("cancel").click()
    expect(shown.by_id("status")).to_contain_text("Cancelled after ")


def test_curves_move_while_a_simulation_runs(shown: Shown) -> None:
    shown.go("dim=60&draws=100&members=2")
    shown.by_id("simulate").click()
    expect(shown.by_id("cancel")).to_be_visible()
    shown.type("snr", "5")
    shown.shows(
        PageView(first=PageSetting(members=2.0, snr=5.0), dim=60.0, draws=100.0), settled=True
    )
    shown.page.go_back()
    shown.shows(PageView(first=PageSetting(members=2.0), dim=60.0, draws=100.0), settled=True)
    expect(shown.by_id("cancel")).to_be_visible()
    shown.by_id("cancel").click()
    expect(shown.by_id("status")).to_contain_text("Cancelled after ")


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "text", "shown_", "said"),
    [
        ("dim", "401", "400", "D must be a whole number in [10, 400], got '401'; 400 is shown."),
        ("draws", "1000", "200", "draws must be a whole number in [2, 200], got '1000'"),
        ("points", "2001", "2000", "points must be a whole number in [2, 2000], got '2001'"),
        ("dim", "ten", "60", "D must be a whole number in [10, 400], got 'ten'; 60 is shown."),
    ],
)
def test_more_than_the_limits_is_refused(
    name: str, text: str, shown_: str, said: str, shown: Shown
) -> None:
    shown.type(name, text)
    shown.says("notes", said)
    expect(shown.by_id(f"box-{name}")).to_have_value(shown_)


@pytest.mark.full
def test_too_long_a_simulation_is_refused(shown: Shown) -> None:
    shown.go("dim=400&draws=200&samples=5")
    shown.by_id("simulate").click()
    shown.says("status", "must take at most")
    expect(shown.by_id("cancel")).to_be_hidden()
