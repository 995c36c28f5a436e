"""Ranges of numbers, written as text: START:STOP:log:COUNT or START:STOP:linear:COUNT.

Both ends are included. The numbers between them are computed in decimal and rounded once: the
fourth of 0:1:linear:11 is 0.3, a log range contains its decades exactly, and the floats do not
depend on the mathematical library of the machine.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from doubletrouble.parameters import MOST_SEEDS, Numeric, Parameter, number, whole_number

SpacingName: TypeAlias = Literal["log", "linear"]
SPACINGS: tuple[SpacingName, ...] = get_args(SpacingName)

Axis: TypeAlias = Numeric | str | Sequence[float | str]
"""An axis of numbers: one number, a sequence, or text such as "0.1:10:log:50"."""

Item = TypeVar("Item")

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
    return tuple(itertools.chain.from_iterable(_parts(name, text)))


def _parts(name: str, text: str) -> list[list[float]]:
    """The numbers of every part of a list."""
    parts = [part.strip() for part in text.split(",")]
    return [_range(name, part) if ":" in part else [_number(name, part, text)] for part in parts]


def _range(name: str, text: str) -> list[float]:
    """Both ends, and numbers between them at equal distances or ratios."""
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


def number_axis(name: str, value: Axis, spec: Parameter) -> tuple[float, ...]:
    """Numbers in the domain of a parameter; a range of whole ones is rounded to them.

    >>> from doubletrouble.glossary import RIDGE, WIDTH
    >>> number_axis("ridge", [0, "0.1:10:log:3"], RIDGE)
    (0.0, 0.1, 1.0, 10.0)
    >>> number_axis("width", "2:9:log:3", WIDTH)
    (2.0, 4.0, 9.0)
    """
    if not spec.whole:
        return distinct(name, tuple(number(name, item, spec) for item in _numbers(name, value)))
    values = tuple(_as_int(number(name, item, spec)) for item in _whole_numbers(name, value))
    return tuple(map(float, distinct(name, values)))


def whole_axis(name: str, value: Axis, spec: Parameter) -> tuple[int, ...]:
    """Whole numbers in the domain of a parameter."""
    return tuple(int(number) for number in number_axis(name, value, spec))


def seed_axis(name: str, value: Axis) -> tuple[int, ...]:
    """Seeds in the domain of `simulate`."""
    seeds = _whole_numbers(name, value)
    return distinct(name, tuple(whole_number(name, seed, 0, MOST_SEEDS) for seed in seeds))


def choice_axis(name: str, value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Names from a list."""
    for choice in (chosen := tuple(listed(name, value))):
        if choice not in known:
            raise ValueError(f"{name} must be among {', '.join(known)}, got {choice!r}")
    return distinct(name, chosen)


def _numbers(name: str, value: object) -> list[Any]:
    values: list[Any] = []
    for item in listed(name, value):
        values += numbers(name, item) if isinstance(item, str) else [item]
    return values


def _whole_numbers(name: str, value: object) -> list[Any]:
    """The same; numbers between the ends of a range are rounded, and duplicates removed."""
    whole: list[Any] = []
    for item in listed(name, value):
        for values in _parts(name, item) if isinstance(item, str) else [[item]]:
            if len(values) > 1:  # a range
                values = list(dict.fromkeys([values[0], *map(round, values[1:-1]), values[-1]]))
            whole += map(_as_int, values)
    return whole


def _as_int(value: Any) -> Any:
    """A whole number as an int, which is printed without a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def listed(name: str, value: object) -> list[Any]:
    """The values of an axis as a list; an empty one raises ValueError."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise ValueError(f"{name} must be one value or a sequence, got shape {value.shape}")
        value = value.tolist()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return [value]
    if not (items := list(value)):
        raise ValueError(f"{name} must not be empty, got {value!r}")
    return items


def distinct(name: str, values: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the values; raise ValueError if one of them occurs twice."""
    if len(set(values)) < len(values):
        value = next(v for k, v in enumerate(values) if v in values[:k])
        raise ValueError(f"{name} must hold every value once, got {value!r} twice")
    return values
