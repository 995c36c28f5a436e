"""One bad element among many is named with its index, and shown on one line."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.parameters import Parameter, checked

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
def test_an_element_of_the_wrong_kind_is_named_with_its_index(value: Any, ending: str) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^ridge must be ") as caught:
        checked("ridge", value, PENALTY)
    assert ending in str(caught.value)
    assert len(str(caught.value)) < 200


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^ridge must be .* got masked_array"):
        checked("ridge", np.ma.array([0.1, 5.0], mask=[False, True]), PENALTY)
