"""Numbers as text: three significant digits, and values with errors of matching digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from doubletrouble.parameters import Value

_LEAST, _MOST = 1e-4, 1e7  # plain notation in between
_EXACT = 1e-15  # relative error of a number without doubtful digits
_SMALL_SHARE = 0.0005


CONFIDENCE = 0.9
"""The level of the intervals that are printed and drawn, unless given."""


@runtime_checkable
class Uncertain(Protocol):
    """A number with its uncertainty, as an `Estimate`."""

    @property
    def value(self) -> Value:
        """The number."""

    @property
    def standard_error(self) -> Value:
        """Its standard error."""

    def confidence_interval(self, confidence: float = ...) -> tuple[Value, Value]:
        """The ends of its interval."""


Cell: TypeAlias = Value | Uncertain
"""A number or an array, exact or with its uncertainty."""


def number_in(cell: Any) -> Value:
    """A number without its uncertainty."""
    value: Value = getattr(cell, "value", cell)
    return value


def interval_of(cell: object, confidence: float | None) -> tuple[Value, Value]:
    """The ends of an interval, one standard error on each side where there is no confidence.

    They are NaN for a number that is not uncertain.
    """
    if not isinstance(cell, Uncertain):
        return math.nan, math.nan
    if confidence is None:
        return cell.value - cell.standard_error, cell.value + cell.standard_error
    return cell.confidence_interval(confidence)


def plain(value: float, digits: int = 3) -> str:
    """A number with some significant digits, in plain notation from 1e-4 to 1e7.

    >>> plain(4816.2), plain(0.5), plain(1.23456e-9), plain(1e9), plain(0.0)
    ('4,820', '0.500', '1.23e-09', '1.00e+09', '0')
    >>> plain(-0.00012345), plain(float("inf")), plain(float("nan"))
    ('-0.000123', '∞', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    near = float(f"{value:.{digits - 1}e}")
    if not _LEAST <= abs(near) < _MOST:
        return f"{value:.{digits - 1}e}"
    place = _first_place(near) - digits + 1  # of the last digit shown
    return f"{round(near, -place):,.{max(0, -place)}f}"


def range_of(values: Any) -> str:
    """The least and the largest of several numbers; one number with all its digits.

    >>> range_of(0.1 + 0.2), range_of([2.17, 0.809, math.nan]), range_of([1.0, 1.0])
    ('0.30000000000000004', '0.809 to 2.17', '1.00')
    """
    if not np.ndim(values):
        return repr(values)
    known = [x for x in np.ravel(values).tolist() if not math.isnan(x)]
    ends = dict.fromkeys(map(plain, (min(known), max(known)))) if known else ["–"]
    return " to ".join(ends)


def whole(value: float) -> str:
    """A parameter: a whole number with all its digits, another one with three.

    >>> whole(2.0), whole(12345), whole(0.0153784), whole(2.5), whole(1e-5), whole(math.inf)
    ('2', '12,345', '0.0154', '2.5', '1e-05', '∞')
    """
    if math.isfinite(value) and abs(value) < _MOST and value == round(value):
        return f"{round(value):,}"
    if not math.isfinite(value):
        return plain(value)
    text = f"{value:.3g}"
    near = float(text)
    return text if "e" in text and not _LEAST <= abs(near) < _MOST else f"{near:,.10g}"


def power(exponent: float) -> str:
    """An exponent with three decimals.

    >>> power(-0.38123), power(-1e-9), power(-math.inf)
    ('-0.381', '0.000', '-∞')
    """
    return f"{exponent:z.3f}" if math.isfinite(exponent) else plain(exponent)


def with_error(value: float, error: float, digits: int = 0) -> str:
    """A value and its standard error, rounded to the same decimal place.

    The error has two digits, or one where `digits` leaves fewer to the value.

    >>> with_error(3453.12, 183.0), with_error(32.5, 950.0), with_error(0.012345, 0.00167, 2)
    ('3,450 ± 180', '30 ± 950', '0.012 ± 0.002')
    >>> with_error(4.82e-9, 3.1e-10), with_error(1.5, 0.0), with_error(1.5, math.inf)
    ('4.82e-09 ± 0.31e-09', '1.50 ± 0', '1.50 ± ∞')
    >>> with_error(0.01, 1e-18)  # rounding
    '0.0100 ± 0'
    """
    largest = max(abs(value), error)
    if error <= abs(value) * _EXACT:
        error = 0.0
    if not error or not 1e-300 < largest < math.inf:
        return f"{plain(value, digits or 3)} ± {plain(error, 2)}"
    first = _first_place(float(f"{error:.1e}"))
    place = first - 1  # of the last digit shown
    if digits and value:
        place = min(max(place, _first_place(value) - digits + 1), first)
    return " ± ".join(_at_place((value, error), place))


def between(low: float, high: float, error: float = 0.0) -> str:
    """An interval, rounded as its number is beside its error; else to two digits of its half width.

    >>> between(38.7, 741.2), between(3123.0, 3871.0), between(-0.0312, 0.4)
    ('40 to 740', '3,120 to 3,870', '-0.03 to 0.40')
    >>> between(38.7, 741.2, 96.0), between(1.0, 1.0), between(0.5, math.inf)
    ('39 to 741', '1.00 to 1.00', '0.500 to ∞')
    """
    largest = max(abs(low), abs(high))
    spread = error if 0 < error < math.inf else (high - low) / 2
    if not spread > largest * _EXACT or not 1e-300 < largest < math.inf:
        return f"{plain(low)} to {plain(high)}"
    place = _first_place(float(f"{spread:.1e}")) - 1  # of the second digit
    return " to ".join(_at_place((low, high), place))


def alone(number: Any) -> str:
    """A number as it stands without its error: with the digits that its error leaves it.

    >>> alone(283.1)
    '283'
    """
    if not isinstance(number, Uncertain):
        return plain(float(number))
    return with_error(float(number.value), float(number.standard_error)).partition(" ± ")[0]


def percent(share: float, sign: str = "", decimals: int | None = None) -> str:
    """A share in percent; below 1% with one decimal, unless a number of decimals is given.

    >>> percent(0.478), percent(0.004), percent(0.0001), percent(0.0), percent(-24.2, "+")
    ('48%', '0.4%', '<0.1%', '0%', '-2,420%')
    >>> percent(0.2, "+"), percent(0.0, "+"), percent(0.9999), percent(-0.001, "+", 0)
    ('+20%', '0%', '100%', '0%')
    """
    if not math.isfinite(share):
        return "–" if math.isnan(share) else f"{plain(share)}%"
    if decimals is not None and abs(share) < 10:
        text = f"{100 * share:{sign}.{decimals}f}%"
        return text if text.strip("+-0.%") else f"{0:.{decimals}f}%"
    if share == 0:
        return "0%"
    if abs(share) < _SMALL_SHARE:
        return "<0.1%" if not sign else "0%"
    if abs(share) < 0.00995:
        return f"{100 * share:{sign}.1f}%"
    if abs(share) >= _MOST / 100:
        return f"{'+' if sign and share > 0 else ''}{plain(100 * share)}%"
    near = float(f"{100 * share:.2e}") if abs(share) >= 10 else 100 * share
    return f"{near:{sign},.0f}%"


def percents_between(
    low: float, high: float, *, value: float = math.nan, sign: str = ""
) -> tuple[str, str, str]:
    """The ends of an interval in percent, and a value in it, with one number of decimals.

    >>> percents_between(0.008, 0.012, value=0.01, sign="+")
    ('+0.8%', '+1.2%', '+1.0%')
    >>> percents_between(-0.001, 0.08, value=0.04), percents_between(0.0, 0.0, value=0.0)
    (('0%', '8%', '4%'), ('0%', '0%', '0%'))
    """
    narrow = high - low < 0.02 and max(abs(low), abs(high)) < 0.0995
    decimals = int(narrow) if low < high else None
    shown = [percent(share, sign, decimals) for share in (low, high, value)]
    return shown[0], shown[1], shown[2]


def percents(shares: Any) -> str:
    """The least and the largest of several shares in percent.

    >>> percents(0.478), percents([0.2, 0.004, 0.3]), percents([0.5, 0.5])
    ('48%', '0.4% to 30%', '50%')
    """
    known = np.ravel(shares).tolist()
    return " to ".join(dict.fromkeys(map(percent, (min(known), max(known)))))


def skill_text(share: float) -> str:
    """An R² or a skill, with two decimals.

    >>> skill_text(0.4812), skill_text(-0.001), skill_text(-1234.0)
    ('0.48', '0.00', '-1,230')
    """
    return f"{share:z.2f}" if abs(share) < 10 else plain(share)


def level(confidence: float) -> str:
    """A confidence level in percent, with all its digits.

    >>> level(0.9), level(0.955), level(0.999)
    ('90%', '95.5%', '99.9%')
    """
    return f"{100 * confidence:.10g}%"


def _first_place(number: float) -> int:
    """The decimal place of the first digit."""
    return math.floor(math.log10(abs(number)))


def _at_place(numbers: Sequence[float], place: int) -> list[str]:
    """Numbers rounded to one decimal place, in one notation."""
    largest = max(map(abs, numbers))
    near = round(largest, -place)
    if _LEAST <= near < _MOST:
        return [f"{round(x, -place) + 0.0:,.{max(0, -place)}f}" for x in numbers]
    power = _first_place(near or largest)
    scale, decimals = 10.0**-power, max(0, power - place)
    return [f"{round(x * scale, decimals) + 0.0:.{decimals}f}e{power:+03d}" for x in numbers]
