"""Declared parameters: accepted values, conversion, and messages for invalid values."""

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.parameters import (
    Numeric,
    Parameter,
    Value,
    checked,
    common_shape,
    declarations,
)

PENALTY = Parameter(symbol="λ", meaning="penalty", typical=(0.0, 1.0))
SIZE = Parameter(symbol="N", meaning="a size", typical=(1.0, 2.0), low=1e-50, high=1e50)
OR_INF = Parameter(symbol="P", meaning="a size", typical=(1.0, 2.0), high=5.0, or_inf=True)
NAN = float("nan")


def array_of(value: Value) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert isinstance(value, np.ndarray)
    return value


# --- accepted values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0),
        (0.25, 0.25),
        (math.inf, math.inf),
        (5e-324, 5e-324),
        (10**300, 1e300),
        (Fraction(1, 3), 1 / 3),
        (np.float64(0.25), 0.25),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3.0),
        (np.uint64(2**63), 2.0**63),
        (np.array(3), 3.0),
        (np.array(0.5, dtype=np.float32), 0.5),
    ],
    ids=repr,
)
def test_one_number_becomes_a_python_float(value: Any, expected: float) -> None:
    number = checked("ridge", value, PENALTY)
    assert type(number) is float
    assert number == expected


@pytest.mark.parametrize(
    "value",
    [
        [0, 1, 2],
        (0.0, 1.0, 2.0),
        range(3),
        np.arange(3),
        np.arange(3, dtype=np.float32),
        np.arange(6)[::2] / 2,
        [Fraction(0), Fraction(1), 2],
        [np.float64(0.0), 1, np.int16(2)],
        np.array([0, 1, 2], dtype=object),
    ],
    ids=repr,
)
def test_many_numbers_become_a_read_only_float64_array(value: Any) -> None:
    array = array_of(checked("ridge", value, PENALTY))
    assert array.dtype == np.float64
    assert array.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1.0


def test_shape_of_an_array_is_preserved() -> None:
    assert array_of(checked("ridge", np.zeros((2, 1, 3)), PENALTY)).shape == (2, 1, 3)
    assert array_of(checked("ridge", [0.5], PENALTY)).shape == (1,)


def test_input_array_is_copied_and_stays_writeable() -> None:
    mine = np.array([0.1, 0.2])
    problem = dt.Problem(ridge=mine)
    before = dt.exact_error(problem).total
    mine[:] = 7.0
    assert np.asarray(problem.ridge).tolist() == [0.1, 0.2]
    assert np.array_equal(dt.exact_error(problem).total, before)
    assert mine.flags.writeable


def test_ends_of_the_domain_are_allowed() -> None:
    assert checked("n", [1e-50, 1e50], SIZE) is not None
    assert checked("n", 5.0, OR_INF) == 5.0
    assert checked("n", math.inf, OR_INF) == math.inf


def test_zero_has_no_sign() -> None:
    assert math.copysign(1.0, float(checked("ridge", -0.0, PENALTY))) == 1.0
    assert not np.signbit(checked("ridge", [-0.0, 1.0], PENALTY)).any()


# --- invalid values ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1, -5e-324, -math.inf, NAN, -(10**30)], ids=repr)
def test_a_number_outside_its_domain_is_named(value: float) -> None:
    with pytest.raises(ValueError, match=r"^ridge must be in \[0, inf\], got ") as caught:
        checked("ridge", value, PENALTY)
    assert str(caught.value).endswith(f"got {value!r}")


@pytest.mark.parametrize(
    ("value", "ending"),
    [
        ([0.0, -1.0], "got -1.0 at index 1"),
        ([0.0, 1.0, NAN, -1.0], "got nan at index 2"),
        ([[0.0, 1.0, 2.0], [3.0, 4.0, -5.5]], "got -5.5 at index (1, 2)"),
        ([[0, 1], [-2, -3]], "got -2.0 at index (1, 0)"),
        (np.array([[[-0.5]]]), "got -0.5 at index (0, 0, 0)"),
        ([Fraction(-1, 2)], "got -0.5 at index 0"),
        (np.array(-1.0), "got -1.0"),
        (Fraction(-1, 2), "got -0.5"),
        (np.int64(-3), "got -3.0"),
    ],
    ids=repr,
)
def test_the_first_bad_element_is_named_with_its_index(value: Any, ending: str) -> None:
    with pytest.raises(ValueError, match=r"^ridge must be in \[0, inf\], got ") as caught:
        checked("ridge", value, PENALTY)
    assert str(caught.value).endswith(ending)


@pytest.mark.parametrize("value", [5.5, [1.0, 5.5], -math.inf], ids=repr)
def test_values_between_the_domain_and_inf_raise(value: Numeric) -> None:
    with pytest.raises(ValueError, match=r"^n must be in \[0, 5\] or inf, got "):
        checked("n", value, OR_INF)


@pytest.mark.parametrize(
    "value",
    [
        True,
        None,
        "1.5",
        "many",
        b"1",
        1j,
        {},
        {1: 2},
        np.True_,
        [True],
        [None],
        [1.0, None],
        ["1"],
        [1.0, "two"],
        [1j, 2],
        np.array(["a"]),
        np.array([1j]),
        np.array([True, False]),
        np.datetime64("2020-01-01"),
        [Fraction(1, 2), True],
    ],
    ids=repr,
)
def test_non_numbers_raise_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^ridge must be a number or an array of numbers, got "):
        checked("ridge", value, PENALTY)


def test_booleans_among_numbers_raise() -> None:
    with pytest.raises(TypeError, match=r"^ridge must be a number"):
        checked("ridge", [True, 1.0], PENALTY)


@pytest.mark.parametrize("value", [[1, [2]], [[1, 2], [3]], [1.0, [2.0, 3.0]]], ids=repr)
def test_ragged_lists_raise(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^ridge must be a number or an array of numbers, got \["):
        checked("ridge", value, PENALTY)


@pytest.mark.parametrize("value", [[], (), np.array([]), np.empty((3, 0)), [[]]], ids=repr)
def test_empty_arrays_raise_with_their_shape(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^ridge must not be empty, got an array of shape ") as c:
        checked("ridge", value, PENALTY)
    assert str(c.value).endswith(str(np.shape(value)))


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), [1, 10**400], Fraction(10**400)],
    ids=["above", "below", "in a list", "fraction"],
)
def test_integers_beyond_the_floats_raise(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^ridge must be "):
        checked("ridge", value, PENALTY)


def test_a_message_about_a_matrix_stays_on_one_line() -> None:
    with pytest.raises(TypeError, match=r"^ridge must be a number") as caught:
        checked("ridge", np.array([["a", "b"], ["c", "d"]]), PENALTY)
    assert "\n" not in str(caught.value)


# --- whole numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, 7, 1e9, 2.0**60, math.inf, np.int64(3)], ids=repr)
def test_whole_numbers_and_inf_are_members(value: float) -> None:
    assert checked("n_members", value, N_MEMBERS) == float(value)


@pytest.mark.parametrize("value", [0, -1, 1.5, 1 + 2**-52, NAN, -math.inf], ids=repr)
def test_fractional_numbers_of_members_raise(value: float) -> None:
    message = r"^n_members must be a whole number in \[1, inf\], got "
    with pytest.raises(ValueError, match=message) as alone:
        checked("n_members", value, N_MEMBERS)
    with pytest.raises(ValueError, match=message) as among:
        checked("n_members", [1.0, math.inf, value], N_MEMBERS)
    assert str(alone.value).endswith(f"got {value!r}")
    assert str(among.value).endswith(f"got {float(value)!r} at index 2")


# --- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "domain"),
    [
        (PENALTY, "in [0, inf]"),
        (SIZE, "in [1e-50, 1e+50]"),
        (OR_INF, "in [0, 5] or inf"),
        (N_MEMBERS, "a whole number in [1, inf]"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_domain_as_text(spec: Parameter, domain: str) -> None:
    assert spec.domain == domain


@pytest.mark.parametrize("spec", [PENALTY, SIZE, OR_INF, N_MEMBERS], ids=lambda spec: spec.domain)
def test_scalars_and_arrays_have_the_same_domain(spec: Parameter) -> None:
    values = [-math.inf, -1.0, 0.0, 5e-324, 1e-50, 0.5, 1.0, 1.5, 5.0, 1e50, 1e51, math.inf, NAN]
    outside = spec.outside(np.array(values))
    for value, bad in zip(values, outside, strict=True):
        if bad:
            with pytest.raises(ValueError, match=r"^size must be "):
                checked("size", value, spec)
        else:
            assert checked("size", value, spec) == value
    assert outside[-1]


@pytest.mark.parametrize("kind", [dt.Problem, dt.SpectralProblem, dt.Member, *SCHEMES.values()])
def test_every_numeric_field_is_declared(kind: Any) -> None:
    declared = declarations(kind)
    names = [f.name for f in fields(kind)]
    assert list(declared) == [name for name in names if name != "activation"]
    for spec in declared.values():
        assert spec.symbol
        assert spec.meaning
        low, high = spec.typical
        assert low < high
        assert not spec.outside(np.array(spec.typical)).any()
    assert len({spec.symbol for spec in declared.values()}) == len(declared)


def test_declarations_of_a_class_and_of_its_instance_agree() -> None:
    assert declarations(dt.Problem()) == declarations(dt.Problem)
    assert declarations(dt.Problem)["ridge"].symbol == "λ"


# --- shapes --------------------------------------------------------------------------------------


def test_common_shape_broadcasts() -> None:
    assert common_shape({}) == ()
    assert common_shape({"a": 1.0, "b": 2.0}) == ()
    assert common_shape({"a": np.zeros((3, 1)), "b": 2.0, "c": np.zeros(4)}) == (3, 4)
    assert common_shape({"a": np.zeros(1), "b": np.zeros((2, 5))}) == (2, 5)


def test_common_shape_names_the_mismatched_argument() -> None:
    values: dict[str, Value] = {
        "first": np.zeros((2, 3)),
        "number": 1.0,
        "second": np.zeros(3),
        "third": np.zeros(4),
    }
    with pytest.raises(ValueError, match="broadcast") as caught:
        common_shape(values)
    assert str(caught.value) == (
        "third must broadcast with first and second of shape (2, 3), got shape (4,)"
    )


PENALTY = Parameter(symbol="λ", meaning="penalty", typical=(0.0, 1.0))


@pytest.mark.parametrize(
    ("value", "ending"),
    [
        ([1.0] * 500 + [None] + [1.0] * 10, "got None at index 500"),
        ([0.0, "0.1"], "got '0.1' at index 1"),
        ([[0.0, 1.0], [True, 1.0]], "got True at index (1, 0)"),
        ([1, 10**400], "…"),
    ],
    ids=["None", "string", "bool", "huge"],
)
def test_invalid_element_is_named_with_its_index(value: Any, ending: str) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^ridge must be ") as caught:
        checked("ridge", value, PENALTY)
    assert ending in str(caught.value)
    assert len(str(caught.value)) < 200


def test_masked_arrays_raise() -> None:
    with pytest.raises(TypeError, match=r"^ridge must not have masked elements"):
        checked("ridge", np.ma.array([0.1, 5.0], mask=[False, True]), PENALTY)
