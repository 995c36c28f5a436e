"""A view as the query of an address, and back."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from doubletrouble.page import address
from doubletrouble.page.setting import PageSetting, PageView
from tests.page.views import FIELDS, patient, views


@patient
@given(views)
@example(PageView(first=PageSetting(samples=3.0), second=PageSetting(samples=3.0, per="D")))
@example(PageView(first=PageSetting(per="D", samples=3.0), second=PageSetting(samples=5.0)))
@example(PageView(second=PageSetting()))
def test_every_view_has_an_address(view: PageView) -> None:
    assert address.read(address.write(view)) == (view, ())


@patient
@given(views)
def test_an_address_is_short_and_plain(view: PageView) -> None:
    query = address.write(view)
    assert len(query) < 1000
    assert query.isascii()
    assert not set(query) & set(" <>\"'#")


def test_only_what_differs_is_written() -> None:
    assert address.write(PageView()) == ""
    assert address.write(PageView(second=PageSetting())) == "second.per=N"
    both = PageView(
        first=PageSetting(ridge=0.1), second=PageSetting(ridge=0.1, members=2.0), along="ridge"
    )
    assert address.write(both) == "ridge=0.1&along=ridge&second.members=2"


@patient
@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    view, notes = address.read(text)
    assert address.read(address.write(view)) == (view, ())
    assert all(isinstance(note, str) and note.endswith(".") for note in notes)


names = st.sampled_from([f.name for f in FIELDS] + [f"second.{f.name}" for f in FIELDS] + ["x.y"])


@patient
@given(st.lists(st.tuples(names, st.text() | st.floats().map(str)), max_size=12))
def test_no_value_is_too_odd(items: list[tuple[str, str]]) -> None:
    from urllib.parse import urlencode

    view, notes = address.read(urlencode(items, errors="replace"))
    assert address.read(address.write(view)) == (view, ())
    assert len(notes) <= 7


def test_what_is_unknown_is_told() -> None:
    view, notes = address.read("colour=red&ridge=0.5&__class__=x&first=1&second=2")
    assert view == PageView(first=PageSetting(ridge=0.5))
    assert notes[0] == "There is nothing called 'colour' to set."
    assert len(notes) == 4


def test_many_faults_are_counted() -> None:
    _, notes = address.read("&".join(f"a{k}=1" for k in range(50)))
    assert len(notes) == 7
    assert notes[-1] == "There are 44 more such values."


@pytest.mark.parametrize("query", ["ridge=" + "9" * 10_000, "&".join(["a=1"] * 300)])
def test_what_is_too_long_is_not_read(query: str) -> None:
    view, notes = address.read(query)
    assert view == PageView()
    assert notes[0].startswith("An address must have at most ")


def test_a_width_stays_the_same_number_of_features() -> None:
    first = PageSetting(samples=4.0, width=0.5)
    assert first.changed({"per": "D"}) == replace(first, per="D", width=2.0)
    assert first.changed({"per": "D"}).changed({"per": "N"}) == first
    view, _ = address.read("samples=4&width=0.5&second.per=D&second.width=8")
    assert view.second == PageSetting(samples=4.0, width=2.0)  # one axis for both
    counted, _ = address.changed(view, {"per": "D"})
    assert counted.second == PageSetting(samples=4.0, width=8.0, per="D")


def test_a_name_with_two_values_is_told() -> None:
    view, notes = address.read("width=2&width=3&second.ridge=1&second.ridge=2&snr=4&snr=4")
    assert view == PageView(first=PageSetting(width=3.0, snr=4.0),
                        second=PageSetting(width=3.0, snr=4.0, ridge=2.0))  # fmt: skip
    assert notes == (
        "'width' must be given once, got 2 values; the last one is read.",
        "'second.ridge' must be given once, got 2 values; the last one is read.",
    )


@pytest.mark.parametrize(
    ("query", "view", "said"),
    [
        (
            "scheme=bootstrap&time=3",
            PageView(first=PageSetting(scheme="bootstrap")),
            "t = ∞ is shown",
        ),
        (
            "along=time&scheme=bootstrap",
            PageView(first=PageSetting(scheme="bootstrap")),
            "the width is along",
        ),
        (
            "along=time&second.scheme=bootstrap",
            PageView(second=PageSetting(scheme="bootstrap")),
            "the width is along",
        ),
        (
            "split=effects&scheme=bootstrap",
            PageView(first=PageSetting(scheme="bootstrap")),
            "the split by cause is shown",
        ),
        (
            "split=effects&time=3",
            PageView(first=PageSetting(time=3.0)),
            "the split by cause is shown",
        ),
        ("split=effects&along=time", PageView(along="time"), "the split by cause is shown"),
        (
            "split=effects&second.scheme=feature_bank",
            PageView(second=PageSetting(scheme="feature_bank")),
            "the split by cause is shown",
        ),
        (
            "second.scheme=bootstrap&second.time=3",
            PageView(second=PageSetting(scheme="bootstrap")),
            "Second setting: Training in time",
        ),
    ],
)
def test_what_does_not_go_together_is_told(query: str, view: PageView, said: str) -> None:
    found, notes = address.read(query)
    assert found == view
    assert len(notes) == 1
    assert said in notes[0]


def test_what_else_a_choice_changes_is_told() -> None:
    timed = PageView(first=PageSetting(time=3.0), along="time")
    view, notes = address.changed(timed, {"scheme": "bootstrap"})
    assert view == PageView(first=PageSetting(scheme="bootstrap"))
    assert len(notes) == 2
    view, notes = address.changed(timed, {"scheme": "divide"})
    assert view == PageView(first=PageSetting(scheme="divide", time=3.0), along="time")
    assert notes == []
    view, notes = address.changed(timed, {"scheme": "bootstrap", "along": "ridge", "time": "inf"})
    assert view == PageView(first=PageSetting(scheme="bootstrap"), along="ridge")
    assert notes == []
    view, notes = address.changed(PageView(split="effects"), {"scheme": "subsample"})
    assert view == PageView(first=PageSetting(scheme="subsample"))
    assert len(notes) == 1
