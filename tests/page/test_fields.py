"""Every field: its stops, its text, and the nearest valid value to nonsense."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubletrouble import glossary
from doubletrouble.page import fields
from doubletrouble.page.kinds import ChoiceField, Field, NumberField
from tests.page.views import FIELDS, patient, values

NUMBERS = [field for field in FIELDS if isinstance(field, NumberField)]
CHOICES = [field for field in FIELDS if isinstance(field, ChoiceField)]
SLIDERS = [field for field in NUMBERS if field.slider]


def name(field: Field) -> str:
    return f"{field.name}-{field.label}"


@pytest.mark.parametrize("field", SLIDERS, ids=name)
def test_every_stop_is_valid_and_found_again(field: NumberField) -> None:
    assert list(field.stops) == sorted(set(field.stops))
    for place, stop in enumerate(field.stops):
        assert stop in field
        assert field.nearest_stop(stop) == place
        assert field.read(field.write(stop)) == (stop, "")


@pytest.mark.parametrize("field", SLIDERS, ids=name)
def test_the_stops_span_the_declared_range(field: NumberField) -> None:
    low, high = field.spec.typical
    finite = [stop for stop in field.stops if 0 < stop < math.inf or stop == low]
    assert finite[0] == pytest.approx(low)
    assert finite[-1] == pytest.approx(high)
    assert len(finite) > 40
    steps = {b / a for a, b in pairwise(finite) if a > 10 and not field.linear}
    assert all(step < 1.2 for step in steps)


def test_zero_and_infinity_have_stops_of_their_own() -> None:
    assert fields.RIDGE.stops[0] == 0.0
    assert fields.NONLINEAR.stops[0] == 0.0
    for field in (*fields.WIDTH.values(), fields.SNR, fields.MEMBERS, fields.TIME, fields.BANK):
        assert field.stops[-1] == math.inf
    assert fields.MEMBERS.stops[:3] == (1.0, 2.0, 3.0)


def test_the_numbers_are_declared_in_the_glossary() -> None:
    declared = {
        fields.WIDTH["N"]: glossary.FEATURES_PER_SAMPLE,
        fields.WIDTH["D"]: glossary.FEATURES_PER_DIM,
        fields.SAMPLES: glossary.SAMPLES_PER_DIM,
        fields.RIDGE: glossary.RIDGE,
        fields.SNR: glossary.SNR,
        fields.NONLINEAR: glossary.NONLINEAR_SIGNAL,
        fields.MEMBERS: glossary.N_MEMBERS,
        fields.TIME: glossary.TIME,
        fields.FRACTION: glossary.FRACTION,
    }
    for field, spec in declared.items():
        assert field.label == spec.symbol
        assert field.spec.typical == spec.typical
        assert field.spec.low >= spec.low
        assert field.spec.high <= spec.high


@pytest.mark.parametrize("field", FIELDS, ids=name)
def test_the_default_is_valid(field: Field) -> None:
    assert field.read(field.write(field.default)) == (field.default, "")


@pytest.mark.parametrize("field", FIELDS, ids=name)
@patient
@given(data=st.data())
def test_what_is_written_is_read_again(field: Field, data: st.DataObject) -> None:
    value = data.draw(values(field))
    assert field.read(field.write(value)) == (value, "")
    assert field.shown(value)


@pytest.mark.parametrize("field", NUMBERS, ids=name)
@patient
@given(text=st.one_of(st.text(), st.floats().map(repr), st.integers().map(str)))
def test_any_text_gives_a_valid_number(field: NumberField, text: str) -> None:
    value, note = field.read(text)
    assert isinstance(value, float | int)
    assert value in field
    if note:
        assert note.startswith(f"{field.label} must be a")
        assert note.endswith(f"; {field.write(value) or 'nothing'} is shown.")
        assert len(note) < 300
    elif text.strip() or not field.blank:
        assert float(text.strip().replace("∞", "inf").replace("−", "-")) == value


@pytest.mark.parametrize("field", CHOICES, ids=name)
@patient
@given(text=st.text())
def test_any_text_gives_a_valid_choice(field: ChoiceField, text: str) -> None:
    value, note = field.read(text)
    assert value in field.choices
    assert (note == "") == (text in field.choices)


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        (fields.RIDGE, "-3", 0.0),
        (fields.RIDGE, "1e300", 1e6),
        (fields.SAMPLES, "0", 1e-3),
        (fields.SAMPLES, "inf", 1e3),
        (fields.MEMBERS, "2.6", 3.0),
        (fields.MEMBERS, "0", 1.0),
        (fields.MEMBERS, "nan", 1.0),
        (fields.DIM, "1e9", 400.0),
        (fields.DRAWS, "0", 2.0),
        (fields.POINTS, "-inf", 2.0),
        (fields.POINTS, "99999", 2000.0),
        (fields.SNR, "much", 1.0),
        (fields.ACTIVATION, "Tanhh", "tanh"),
        (fields.ACTIVATION, "qqq", "relu"),
        (fields.SCHEME, "divided", "divide"),
        (fields.SCHEME, "bootstrapping", "bootstrap"),
        (fields.WIDTH["N"], "1e400", 1e5),
        (fields.WIDTH["N"], "1e300/1e-300", 1e5),
        (fields.WIDTH["N"], "-1e400", 1e-3),
        (fields.RIDGE, "1e-400", 0.0),
        (fields.TIME, "1e400", 1e12),
        (fields.TIME, "-1", 0.0),
        (fields.FRACTION, "0", 1e-3),
        (fields.FRACTION, "1.5", 1.0),
        (fields.BANK, "0.5", 1.0),
    ],
)
def test_the_nearest_is_taken_and_told(field: Field, text: str, value: float | str) -> None:
    found, note = field.read(text)
    assert found == value
    assert f"got {text!r}; {field.write(value)} is shown." in note


def test_zero_is_read_as_it_is_written() -> None:
    for text in ("0", "0.0", "-0", "0e9", "0/7"):
        assert fields.RIDGE.read(text) == (0.0, "")


def test_long_text_is_cut_in_the_sentence() -> None:
    _, note = fields.RIDGE.read("x" * 10_000)
    assert len(note) < 150
    assert "…" in note


def test_infinity_and_minus_may_be_typed_as_readers_write_them() -> None:
    assert fields.MEMBERS.read("∞") == (math.inf, "")
    assert fields.RIDGE.read(" 1e−3 ") == (1e-3, "")
