"""Numbers and ranges of numbers as text."""

import numpy as np
import pytest

from doubletrouble.ranges import numbers


def test_linear_ranges_are_correctly_rounded() -> None:
    assert numbers("x", "0:1:linear:11") == tuple(k / 10 for k in range(11))
    assert numbers("x", "5:1:linear:3") == (5.0, 3.0, 1.0)


def test_log_ranges_contain_the_decades() -> None:
    assert numbers("x", "1e-5:10:log:7") == (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
    assert len(numbers("x", "0.1:10:log:50")) == 50


def test_ranges_agree_with_numpy() -> None:
    for text in ("1e-300:1e300:log:101", "0.1:10:log:50", "-3:7.5:linear:22"):
        start, stop, spacing, count = text.split(":")
        space = np.geomspace if spacing == "log" else np.linspace
        expected = space(float(start), float(stop), int(count))
        assert numbers("x", text) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_numbers_and_ranges_may_be_listed() -> None:
    assert numbers("x", "0, inf ,1:2:linear:2") == (0.0, float("inf"), 1.0, 2.0)


def test_invalid_ranges_raise() -> None:
    for text, word in (
        ("", "START:STOP"),
        ("10,", "START:STOP"),
        ("abc", "START:STOP"),
        ("1:2", "START:STOP"),
        ("1:2:cubic:3", "START:STOP"),
        ("1:2:log:x", "START:STOP"),
        ("1:x:log:3", "START:STOP"),
        ("1:2:log:-3", "START:STOP"),
        ("1:2:log:1", "COUNT of at least 2"),
        ("1:2:log:1000001", "COUNT of at most 1000000"),
        ("0:2:log:3", "above 0"),
        ("1:1:linear:3", "different"),
        ("1:inf:log:3", "finite"),
        ("nan:1:linear:3", "finite"),
    ):
        with pytest.raises(ValueError, match=r"^ridge must ") as caught:
            numbers("ridge", text)
        assert word in str(caught.value)
        assert repr(text) in str(caught.value)
