"""Ranges of numbers, written as text: START:STOP:log:COUNT or START:STOP:linear:COUNT.

Both ends are included. The numbers between are computed in decimal and rounded once: the fourth of
0:1:linear:11 is 0.3, a log range goes through its decades exactly, and every machine reads the
same floats, however its mathematical library rounds.
"""

import math
from typing import Literal, TypeAlias, get_args

SpacingName: TypeAlias = Literal["log", "linear"]
SPACINGS: tuple[SpacingName, ...] = get_args(SpacingName)

_FORM = "a number or START:STOP:log|linear:COUNT"
_MOST = 1_000_000
_DIGITS = 40


def numbers(name: str, text: str) -> tuple[float, ...]:
    """Read numbers and ranges, separated by commas.

    >>> numbers("ridge", "0, 0.1:10:log:3")
    (0.0, 0.1, 1.0, 10.0)
    >>> numbers("ridge", "0.1:10:log:1")
    Traceback (most recent call last):
    ValueError: ridge must have a COUNT of at least 2 in a range, got '0.1:10:log:1'
    """
    found: list[float] = []
    for part in (part.strip() for part in text.split(",")):
        found += _range(name, part) if ":" in part else [_number(name, part, part)]
    return tuple(found)


def _range(name: str, text: str) -> list[float]:
    """Both ends, and what lies between them at equal distances or ratios."""
    pieces = [piece.strip() for piece in text.split(":")]
    if len(pieces) != 4 or pieces[2] not in SPACINGS or not pieces[3].isdecimal():
        raise ValueError(f"{name} must be {_FORM}, got {text!r}")
    first, last, spacing, count = *pieces[:3], int(pieces[3])
    start, stop = (_number(name, piece, text) for piece in (first, last))
    if count < 2:
        raise ValueError(f"{name} must have a COUNT of at least 2 in a range, got {text!r}")
    if count > _MOST:
        raise ValueError(f"{name} must have a COUNT of at most {_MOST} in a range, got {text!r}")
    if not (math.isfinite(start) and math.isfinite(stop)) or start == stop:
        raise ValueError(f"{name} must have two different finite ends in a range, got {text!r}")
    if spacing == "log" and min(start, stop) <= 0:
        raise ValueError(f"{name} must have ends above 0 in a log range, got {text!r}")
    return [start, *_between(first, last, spacing, count), stop]


def _between(first: str, last: str, spacing: str, count: int) -> list[float]:
    from decimal import Context, Decimal

    exact, steps = Context(prec=_DIGITS), Decimal(count - 1)
    start, stop = (Decimal(end) for end in (first, last))
    if spacing == "log":
        start, stop = exact.ln(start), exact.ln(stop)
    values = (
        exact.divide(exact.add(exact.multiply(start, steps - k), exact.multiply(stop, k)), steps)
        for k in map(Decimal, range(1, count - 1))
    )
    return [float(exact.exp(value) if spacing == "log" else value) for value in values]


def _number(name: str, piece: str, text: str) -> float:
    try:
        return float(piece)
    except ValueError:
        raise ValueError(f"{name} must be {_FORM}, got {text!r}") from None
