"""Every control in a real browser: it moves, and the curves follow."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

import doubletrouble as dt
from doubletrouble.page import address, fields
from doubletrouble.page.kinds import ChoiceField, NumberField
from doubletrouble.page.layout import controls
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.setting import PageSetting, PageView
from tests.page.browser.shown import Shown

pytestmark = pytest.mark.xdist_group("browser")

FIELDS = (*fields.SETTING, *fields.LOOK)
SLIDERS = [f for f in FIELDS if isinstance(f, NumberField) and f.slider]
BOXES = [f for f in FIELDS if isinstance(f, NumberField)]
CHOICES = [f for f in FIELDS if isinstance(f, ChoiceField) and not f.opens]
TYPED = {
    "width": "0.37", "samples": "2.5", "ridge": "0.0123", "snr": "3.3", "nonlinear": "0.7",
    "members": "7", "dim": "33", "draws": "5", "budget": "3", "points": "111", "time": "12.5",
    "fraction": "0.3", "bank": "3.5",
}  # fmt: skip
NEEDED = {"fraction": "scheme=subsample", "bank": "scheme=feature_bank"}
"""Where a control is seen that is not always."""


def with_(name: str, value: float | str, view: PageView | None = None) -> PageView:
    view = view or PageView()
    if name in {field.name for field in view.fields}:
        return replace(view, **{name: value})  # type: ignore[arg-type]
    return replace(view, first=view.first.changed({name: value}))


def test_these_are_all_the_controls() -> None:
    tested = {f"slider-{f.name}" for f in SLIDERS} | {f"box-{f.name}" for f in BOXES}
    tested |= {f"choice-{f.name}" for f in CHOICES}
    assert tested == set(controls())
    assert set(TYPED) == {f.name for f in BOXES}


def needed(field: NumberField, shown: Shown) -> PageView:
    """Go where a control is seen."""
    query = NEEDED.get(field.name, "")
    if query:
        shown.go(query)
    return address.read(query)[0]


@pytest.mark.full
@pytest.mark.parametrize("field", SLIDERS, ids=lambda f: f.name)
def test_a_slider_moves_by_the_keyboard(field: NumberField, shown: Shown) -> None:
    base = needed(field, shown)
    slider = shown.by_id(f"slider-{field.name}")
    after = min(field.nearest_stop(field.default) + 1, len(field.stops) - 1)
    slider.press("ArrowRight")
    shown.shows(with_(field.name, field.stops[after], base))
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    before = max(after - 2, 0)
    shown.shows(with_(field.name, field.stops[before], base))
    assert shown.by_id(f"box-{field.name}").input_value() == field.write(field.stops[before])
    spoken = f"{field.label} = {field.shown(field.stops[before])}"
    assert slider.get_attribute("aria-valuetext") == spoken


@pytest.mark.full
@pytest.mark.parametrize("field", SLIDERS, ids=lambda f: f.name)
def test_a_slider_reaches_both_ends(field: NumberField, shown: Shown) -> None:
    base = needed(field, shown)
    slider = shown.by_id(f"slider-{field.name}")
    for key, value in (("End", field.stops[-1]), ("Home", field.stops[0])):
        slider.press(key)
        shown.shows(with_(field.name, value, base))


@pytest.mark.full
@pytest.mark.parametrize("field", BOXES, ids=lambda f: f.name)
def test_a_number_is_typed(field: NumberField, shown: Shown) -> None:
    base = needed(field, shown)
    shown.type(field.name, TYPED[field.name])
    view = with_(field.name, float(TYPED[field.name]), base)
    shown.shows(view, settled=True)
    assert shown.query.split("&")[-1] == f"{field.name}={TYPED[field.name]}"
    if field.slider:
        place = field.nearest_stop(float(TYPED[field.name]))
        assert shown.by_id(f"slider-{field.name}").input_value() == str(place)
    assert shown.text("notes") == ""


@pytest.mark.full
@pytest.mark.parametrize("field", CHOICES, ids=lambda f: f.name)
def test_each_choice_is_taken(field: ChoiceField, shown: Shown) -> None:
    for value in [*field.choices][::-1]:  # the default is the first
        shown.choose(field, value)
        view = with_(field.name, value)
        if value == "areas":  # heights are shares on a linear axis only
            view = replace(view, y="linear")
        shown.shows(view)
        checked = shown.by_id(f"choice-{field.name}").locator("input:checked")
        assert checked.get_attribute("value") == value


@pytest.mark.full
def test_each_activation_is_taken(shown: Shown) -> None:
    for value, words in [*fields.ACTIVATION.choices.items()][::-1]:
        shown.open_list("choice-activation", words)
        shown.shows(with_("activation", value))
        sigma = dt.activation(value)
        shown.says("said-activation", f"μ₁ = {sigma.linear:.4g}, μ⋆ = {sigma.nonlinear:.4g}")


@pytest.mark.full
def test_each_scheme_is_taken_and_has_its_controls(shown: Shown) -> None:
    two = with_("members", 2.0)  # which every scheme has
    shown.type("members", "2")
    for value in [*fields.SCHEME.choices][::-1]:
        shown.choose(fields.SCHEME, value)
        shown.shows(with_("scheme", value, two))
        expect(shown.by_id("choice-scheme")).to_have_value(value)
        for field in (fields.TIME, fields.FRACTION, fields.BANK):
            for kind in ("slider", "box"):
                seen = expect(shown.by_id(f"{kind}-{field.name}"))
                if value in field.schemes:
                    seen.to_be_visible()
                else:
                    seen.to_be_hidden()
        for name in ("slider-members", "box-members", "slider-ridge"):
            expect(shown.by_id(name)).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_shown(name: str, shown: Shown) -> None:
    shown.open_list("preset", f"{name}: {PRESETS[name].title}")
    view, notes = address.read(PRESETS[name].query)
    assert notes == ()
    shown.shows(view, settled=True)
    assert address.read(shown.query) == (view, ())
    for field in view.first.fields:
        if isinstance(field, NumberField):
            expected = field.write(getattr(view.first, field.name))
            assert shown.by_id(f"box-{field.name}").input_value() == expected


def test_the_plot_is_that_of_the_library(shown: Shown) -> None:
    for name in ("width", "samples", "ridge", "snr", "nonlinear", "members"):
        shown.type(name, TYPED[name])
    shown.choose(fields.SCHEME, "divide")
    setting = PageSetting(
        **{name: float(TYPED[name]) for name in ("width", "samples", "ridge", "snr", "nonlinear",
                                                 "members")}, scheme="divide"  # type: ignore[arg-type]
    )  # fmt: skip
    shown.shows(PageView(first=setting), settled=True)
    x = shown.curve("total", "x")
    problem = dt.Problem(
        features_per_dim=x * 2.5, samples_per_dim=2.5, ridge=0.0123, noise=1 / 3.3,
        nonlinear_signal=0.7,
    )  # fmt: skip
    exact = dt.exact_error(problem, dt.Divide(7))
    for part in ("total", "noise", "initialization", "sampling", "bias"):
        assert shown.curve(part).tolist() == getattr(exact, part).tolist()


def test_a_fast_drag_ends_where_it_ends(shown: Shown) -> None:
    places = [*range(20, 80)]
    shown.slide("ridge", places)
    view = with_("ridge", fields.RIDGE.stops[79])
    shown.shows(view, settled=True)
    shown.rests()  # nothing comes late
    shown.shows(view)
    assert shown.by_id("slider-ridge").input_value() == "79"


def test_the_label_of_the_width_follows_what_it_is_counted_as(shown: Shown) -> None:
    shown.type("samples", "4")
    shown.choose(fields.PER, "D")
    setting = PageSetting(samples=4.0, per="D", width=8.0)  # as many features as before
    shown.shows(PageView(first=setting), settled=True)
    shown.says("label-width", "P/D")
    assert shown.by_id("box-width").input_value() == "8"
