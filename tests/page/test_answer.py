"""What the server answers to whatever a browser sends."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.page import address, fields
from doubletrouble.page.answer import answer
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.kinds import ChoiceField, NumberField
from doubletrouble.page.layout import controls
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.stops import Stops
from tests.page.views import patient, views

FIELDS = (*fields.SETTING, *fields.LOOK)
garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
LISTED = ("preset", "choice-activation", "choice-scheme", "compare", "swap", "single")


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    found = Jobs()
    yield found
    found.close()


@patient
@given(asked=garbage)
def test_anything_gets_a_valid_answer(asked: Any, jobs: Jobs) -> None:
    found = answer(asked, jobs)
    assert address.read(found.query) == (found.view, ())


@patient
@given(
    query=st.text(max_size=40) | views.map(address.write) | garbage,
    changes=st.dictionaries(
        st.sampled_from([*controls(), *LISTED, "slider-", "box-__class__", "-"]) | st.text(),
        garbage, max_size=4,
    ),
    dark=garbage, narrow=garbage,
)  # fmt: skip
def test_so_does_any_move(query: Any, changes: Any, dark: Any, narrow: Any, jobs: Jobs) -> None:
    asked = {"query": query, "changes": changes, "dark": dark, "narrow": narrow}
    found = answer(asked, jobs)
    assert address.read(found.query) == (found.view, ())
    assert all(note.endswith(".") for note in found.notes)


def moved(jobs: Jobs, query: str = "", **changes: Any) -> PageView:
    renamed = {name.replace("_", "-", 1): value for name, value in changes.items()}
    found = answer({"query": query, "changes": renamed}, jobs)
    assert found.notes == ()
    return found.view


@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f.name)
def test_every_control_sets_what_it_says(field: Any, jobs: Jobs) -> None:
    if isinstance(field, ChoiceField):
        for value in field.choices:
            # two models, which every scheme has
            view = moved(jobs, query="members=2", **{f"choice_{field.name}": value})
            assert _of(view, field.name) == value
        return
    assert isinstance(field, NumberField)
    if field.slider:
        for place in (0, 1, len(field.stops) // 2, len(field.stops) - 1):
            view = moved(jobs, **{f"slider_{field.name}": str(place)})
            assert _of(view, field.name) == field.stops[place]
    typed = field.spec.typical[1]
    view = moved(jobs, **{f"box_{field.name}": field.write(typed)})
    assert _of(view, field.name) == typed
    emptied = answer({"query": "", "changes": {f"box-{field.name}": ""}}, jobs)
    assert emptied.view == PageView()
    assert (emptied.notes == ()) == field.blank


def _of(view: PageView, name: str) -> float | str:
    owner = view if hasattr(view, name) else view.first
    found: float | str = getattr(owner, name)
    return found


@patient
@given(view=views)
def test_the_controls_show_the_view(view: PageView, jobs: Jobs) -> None:
    found = answer({"query": address.write(view)}, jobs)
    shown = found.controls
    assert set(controls()) <= set(shown)
    for field in (*view.first.fields, *view.fields):
        value = _of(view, field.name)
        if isinstance(field, NumberField):
            assert field.read(str(shown[f"box-{field.name}"])) == (value, "")
        else:
            assert shown[f"choice-{field.name}"] == value
    for name, words in found.spoken.items():
        assert name in shown
        assert " = " in words


def test_a_slider_beyond_its_ends_stays_at_them(jobs: Jobs) -> None:
    assert moved(jobs, slider_ridge="-7").first.ridge == 0.0
    assert moved(jobs, slider_members="1e9").first.members == float("inf")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_address_and_is_known_again(name: str, jobs: Jobs) -> None:
    view = moved(jobs, query="dim=33&draws=5&ridge=0.7&second.snr=4", preset=name)
    expected, _ = address.read(PRESETS[name].query)
    assert view == replace(expected, dim=33.0, draws=5.0)
    assert answer({"query": address.write(view)}, jobs).controls["preset"] == name


def test_no_preset_is_shown_for_another_view(jobs: Jobs) -> None:
    assert answer({"query": "ridge=0.7"}, jobs).controls["preset"] == ""


def test_comparing(jobs: Jobs) -> None:
    first, other = PageSetting(ridge=0.5), PageSetting(ridge=0.5, members=3.0)
    both = moved(jobs, query="ridge=0.5", compare=1)
    assert both == PageView(first=first, second=first)
    both = moved(jobs, query=address.write(both), box_members="3")
    assert both == PageView(first=other, second=first)
    assert moved(jobs, query=address.write(both), swap=1) == PageView(first=first, second=other)
    assert moved(jobs, query=address.write(both), single=2) == PageView(first=other)
    assert moved(jobs, swap=1) == PageView()


@pytest.mark.parametrize("query", ["scheme=bootstrap", "scheme=divide&second.scheme=bootstrap"])
def test_the_axis_of_time_takes_ensembles(query: str, jobs: Jobs) -> None:
    found = answer({"query": query, "changes": [["choice-along", "time"]]}, jobs)
    assert found.view.along == "time"
    kept = ["divide"] * query.count("divide")
    assert [setting.scheme for setting in found.view.settings] == [*kept, "ensemble"]
    assert found.notes == (
        "Training in time is not known for this scheme: ensembles on all samples are shown.",
    )


def test_another_scheme_ends_training(jobs: Jobs) -> None:
    asked = {"query": "time=3", "changes": [["choice-scheme", "bootstrap"]]}
    found = answer(asked, jobs)
    assert found.view == PageView(first=PageSetting(scheme="bootstrap"))
    assert "t = ∞ is shown." in found.notes[0]


def test_the_best_time_is_drawn_when_it_is_known(jobs: Jobs) -> None:
    stops, asked = Stops(), {"query": "along=time&ridge=0.001&second.members=inf&time=20"}
    assert [one.stop for one in answer(asked, jobs, stops).drawn] == [None, None]
    for setting in answer(asked, jobs).view.settings:
        stops.best(setting)
    found = answer(asked, jobs, stops)
    for one, members in zip(found.drawn, (1.0, float("inf")), strict=True):
        assert one.stop is not None
        best = dt.best_stopping_time(one.setting.problem, members)
        assert one.stop.time == best.time
        words = [note["text"] for note in found.figure["layout"]["annotations"]]
        assert f"best t = {best.time:.3g}" in words
    assert all(one.stop is None for one in answer({"query": "ridge=0.001"}, jobs, stops).drawn)


def test_areas_are_on_a_linear_axis_and_lines_on_a_logarithmic_one(jobs: Jobs) -> None:
    areas = moved(jobs, choice_form="areas")
    assert (areas.form, areas.y) == ("areas", "linear")
    assert moved(jobs, query=address.write(areas), choice_form="lines") == PageView()
    assert moved(jobs, query="form=areas&y=linear", choice_y="log").y == "log"


def test_moves_are_made_one_after_the_other(jobs: Jobs) -> None:
    start = "ridge=0.5&second.ridge=0.1"

    def after(*moves: tuple[str, object]) -> PageView:
        return answer({"query": start, "changes": [list(move) for move in moves]}, jobs).view

    typed, swapped = ("box-ridge", "0.3"), ("swap", 1)
    first = after(typed, swapped)
    assert first.second is not None
    assert (first.first.ridge, first.second.ridge) == (0.1, 0.3)
    second = after(swapped, typed)
    assert second.second is not None
    assert (second.first.ridge, second.second.ridge) == (0.3, 0.5)
    assert after(swapped, ("swap", 2)) == after()
    assert after(typed, ("preset", "anova")).first == PageSetting()
    counted = after(("box-samples", "3"), ("choice-per", "D"))
    assert (counted.first.samples, counted.first.width) == (3.0, 6.0)
