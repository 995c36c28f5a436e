"""What the page can set is what the package declares."""

import dataclasses
import re
from pathlib import Path

from doubletrouble.advice import COSTS
from doubletrouble.ensembles import SCHEMES, SUPPORT
from doubletrouble.page import fields, layout
from doubletrouble.page.address import read, write
from doubletrouble.page.kinds import NumberField
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.problems import Problem

GUIDE = Path(__file__).parents[2] / "docs" / "page.md"


def test_choices_are_those_of_the_library() -> None:
    assert tuple(fields.SCHEME.choices) == tuple(SCHEMES)
    assert fields.TIME.schemes == tuple(
        name for name, kind in SCHEMES.items() if SUPPORT["gradient_flow"](kind)
    )
    assert fields.FRACTION.schemes == ("subsample",)
    assert fields.BANK.schemes == ("feature_bank",)
    assert tuple(fields.COST.choices) == COSTS


def test_a_setting_and_a_view_have_what_is_declared() -> None:
    for owner, declared in ((PageSetting, fields.SETTING), (PageView, fields.LOOK)):
        plain = owner()
        names = {field.name for field in dataclasses.fields(owner)} - {"first", "second"}
        assert names == {field.name for field in declared}
        for field in declared:
            assert getattr(plain, field.name) == field.default


def test_every_field_has_a_place_on_the_page() -> None:
    beside = (fields.SIMULATION, fields.ADVICE, fields.FILES)
    placed = [field for group in (*layout.GROUPS, *beside) for field in fields.of(group)]
    assert placed == [*fields.SETTING, *fields.LOOK]
    text = str(layout.layout())
    assert all(f"-{field.name}'" in text for field in placed)


def test_the_axes_are_fields_of_a_setting() -> None:
    numbers = {field.name for field in fields.SETTING if isinstance(field, NumberField)}
    assert {"width", "samples", "ridge", "members", "time"} <= set(fields.ALONG.choices) <= numbers


def test_the_defaults_are_those_of_a_problem() -> None:
    plain = Problem()
    assert PageSetting().problem == plain
    assert (PageSetting().members, PageSetting().scheme) == (1, "ensemble")


def test_the_guide_has_every_name_of_an_address() -> None:
    table = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    view = PageView()
    assert named >= {field.name for field in (*view.first.fields, *view.fields)}


def test_a_width_counted_anew_is_one_that_can_be_shown() -> None:
    for query in ("samples=1000&width=100000&per=D", "per=D&width=0.001&samples=1000&per=N"):
        view, _ = read(query)
        assert read(write(view)) == (view, ())
    far, _ = read("samples=1000&width=100000")
    moved = far.first.changed({"per": "D"})
    assert moved.width in fields.WIDTH["D"]
    told = read("samples=1000&width=100000&second.per=D")[1]
    assert len(told) == 1
    assert "P/D must be a number in" in told[0]
