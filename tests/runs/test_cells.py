from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from doubletrouble.runs import decode, encode

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
arrays = hnp.arrays(
    dtype=st.sampled_from(["<f8", ">f8", "<f4", "<i8", "|b1"]), shape=hnp.array_shapes(min_side=0)
)
values = st.recursive(
    plain | arrays,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def same(a: Any, b: Any) -> bool:
    """Equal in type and value; arrays in every bit."""
    if isinstance(a, np.ndarray):
        kind = a.dtype.newbyteorder("=")
        alike = a.shape == b.shape and b.dtype == kind
        return bool(alike and a.astype(kind).tobytes() == b.tobytes())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_decoded_records_equal_the_encoded(record: dict[str, Any]) -> None:
    assert same(record, decode(encode(record)))


def test_decoded_floats_are_equal_bit_for_bit() -> None:
    odd = np.array([np.nan, -0.0, np.inf, 5e-324, np.nextafter(1, 2)])
    back = decode(encode({"odd": odd, "one": np.float64(0.1), "inf": float("inf")}))
    assert back["odd"].tobytes() == odd.tobytes()
    assert back["one"] == 0.1
    assert back["inf"] == float("inf")


def test_tuples_are_read_as_lists() -> None:
    assert decode(encode({"pair": (1, (2, 3))})) == {"pair": [1, [2, 3]]}


def test_records_hold_arrays_of_numbers_and_plain_values() -> None:
    for value in (np.array(["a"], dtype=object), {1, 2}, object(), {1: 2}, {"$array": 0}):
        with pytest.raises(TypeError, match="a record must"):
            encode({"value": value})
