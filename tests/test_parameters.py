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
    Parameter,
    Value,
    checked,
    common_shape,
    declarations,
)
from tests.messages import message_of

PENALTY = Parameter(symbol="λ", meaning="penalty", typical=(0.0, 1.0))
SIZE = Parameter(symbol="N", meaning="a size", typical=(1.0, 2.0), low=1e-50, high=1e50)
OR_INF = Parameter(symbol="P", meaning="a size", typical=(1.0, 2.0), high=5.0, or_inf=True)
NAN = float("nan")


def array_of(value: Value) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert isinstance(value, np.ndarray)
    return value


# --- accepted values -----------------------------------------------------------------------------


def test_one_number_becomes_a_python_float() -> None:
    values: list[tuple[Any, float]] = [
        (0, 0.0),
        (math.inf, math.inf),
        (5e-324, 5e-324),
        (10**300, 1e300),
        (Fraction(1, 3), 1 / 3),
        (np.float32(0.5), 0.5),
        (np.uint64(2**63), 2.0**63),
        (np.array(3), 3.0),
    ]
    for value, expected in values:
        number = checked("ridge", value, PENALTY)
        assert type(number) is float, value
        assert number == expected


def test_many_numbers_become_a_read_only_float64_array() -> None:
    values: list[Any] = [
        [0, 1, 2],
        (0.0, 1.0, 2.0),
        range(3),
        np.arange(3, dtype=np.float32),
        np.arange(6)[::2] / 2,
        [Fraction(0), Fraction(1), 2],
        [np.float64(0.0), 1, np.int16(2)],
        np.array([0, 1, 2], dtype=object),
    ]
    for value in values:
        array = array_of(checked("ridge", value, PENALTY))
        assert array.dtype == np.float64, value
        assert array.tolist() == [0.0, 1.0, 2.0]
        assert not array.flags.writeable


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
    for value in (1, 1e9, 2.0**60, math.inf, np.int64(3)):
        assert checked("n_members", value, N_MEMBERS) == float(value)


def test_zero_has_no_sign() -> None:
    assert math.copysign(1.0, float(checked("ridge", -0.0, PENALTY))) == 1.0
    assert not np.signbit(checked("ridge", [-0.0, 1.0], PENALTY)).any()


# --- invalid values ------------------------------------------------------------------------------


def refusal(raises: type[Exception], value: Any, spec: Parameter = PENALTY) -> str:
    """The message for an invalid value, which begins with the name."""
    message = message_of(checked, "ridge", value, spec, raises=raises)
    assert message.startswith("ridge must "), value
    return message


def test_numbers_outside_the_domain_raise_value_error() -> None:
    outside: list[tuple[Any, str]] = [
        (-1, "-1"),
        (-5e-324, "-5e-324"),
        (-math.inf, "-inf"),
        (NAN, "nan"),
        (-(10**30), str(-(10**30))),
        (np.array(-1.0), "-1.0"),
        (Fraction(-1, 2), "-0.5"),
        (np.int64(-3), "-3.0"),
    ]
    for value, shown in outside:
        assert refusal(ValueError, value).endswith(f"in [0, inf], got {shown}")
    for value in (5.5, [1.0, 5.5], -math.inf):
        assert "in [0, 5] or inf" in refusal(ValueError, value, OR_INF)
    for value in (10**400, -(10**400), [1, 10**400], Fraction(10**400)):
        refusal(ValueError, value)


def test_members_must_be_whole_numbers() -> None:
    for value in (0, -1, 1.5, 1 + 2**-52, NAN, -math.inf):
        assert refusal(ValueError, value, N_MEMBERS).endswith(f"got {value!r}")
        among = refusal(ValueError, [1.0, math.inf, value], N_MEMBERS)
        assert among.endswith(f"got {float(value)!r} at index 2")


def test_first_invalid_element_is_shown_with_its_index() -> None:
    outside: list[tuple[Any, str]] = [
        ([0.0, 1.0, NAN, -1.0], "nan at index 2"),
        ([[0.0, 1.0, 2.0], [3.0, 4.0, -5.5]], "-5.5 at index (1, 2)"),
        ([[0, 1], [-2, -3]], "-2.0 at index (1, 0)"),
        (np.array([[[-0.5]]]), "-0.5 at index (0, 0, 0)"),
        ([Fraction(-1, 2)], "-0.5 at index 0"),
    ]
    for value, shown in outside:
        assert refusal(ValueError, value).endswith(f"got {shown}")
    other: list[tuple[Any, str]] = [
        ([1.0] * 500 + [None] + [1.0] * 10, "None at index 500"),
        ([0.0, "0.1"], "'0.1' at index 1"),
        ([[0.0, 1.0], [True, 1.0]], "True at index (1, 0)"),
        ([1.0, [2.0]], "[2.0] at index 1"),
    ]
    for value, shown in other:
        assert shown in refusal(TypeError, value)


def test_values_that_are_not_numbers_raise_type_error() -> None:
    scalars: list[Any] = [True, None, "1.5", b"1", 1j, {}, {1: 2}, np.True_]
    for value in (
        *scalars,
        np.datetime64("2020-01-01"),
        *([scalar] for scalar in scalars),
        [True, 1.0],
        [Fraction(1, 2), True],
        np.array([["a", "b"], ["c", "d"]]),
        np.array([1j]),
        np.array([True, False]),
        [1, [2]],
        [[1, 2], [3]],
        np.ma.array([0.1, 5.0], mask=[False, True]),
    ):
        refusal(TypeError, value)


def test_empty_arrays_raise_with_their_shape() -> None:
    values: list[Any] = [[], (), np.empty((3, 0)), [[]]]
    for value in values:
        assert refusal(ValueError, value).endswith(str(np.shape(value)))


# --- declarations --------------------------------------------------------------------------------


def test_text_of_a_domain_has_its_ends() -> None:
    assert PENALTY.domain == "in [0, inf]"
    assert SIZE.domain == "in [1e-50, 1e+50]"
    assert OR_INF.domain == "in [0, 5] or inf"
    assert N_MEMBERS.domain == "a whole number in [1, inf]"


def test_scalars_and_arrays_have_the_same_domain() -> None:
    values = [-math.inf, -1.0, 0.0, 5e-324, 1e-50, 0.5, 1.0, 1.5, 5.0, 1e50, 1e51, math.inf, NAN]
    for spec in (PENALTY, SIZE, OR_INF, N_MEMBERS):
        outside = spec.outside(np.array(values))
        for value, bad in zip(values, outside, strict=True):
            if bad:
                refusal(ValueError, value, spec)
            else:
                assert checked("ridge", value, spec) == value
        assert outside[-1]


def test_every_numeric_field_is_declared() -> None:
    for kind in (dt.Problem, dt.SpectralProblem, dt.Member, *SCHEMES.values()):
        declared = declarations(kind)
        names = [f.name for f in fields(kind)]
        choices = ("activation", "loss", "task", "law")
        assert list(declared) == [name for name in names if name not in choices]
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
    for word in ("first", "second", "third", "(2, 3)", "(4,)"):
        assert word in str(caught.value)
    assert "number" not in str(caught.value)
