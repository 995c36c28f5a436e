"""The values along an axis of a grid: one value, a sequence, or a range written as text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from doubletrouble.activations import activation
from doubletrouble.parameters import Numeric, Parameter, checked
from doubletrouble.ranges import numbers

Axis: TypeAlias = Numeric | str | Sequence[float | str]
"""What a user may give for an axis of numbers; "0.1:10:log:50" is a range."""

_LARGEST_SEED = 2**63 - 1  # what tables hold


def number_axis(name: str, value: Axis, spec: Parameter) -> tuple[float, ...]:
    """Numbers in the domain of a parameter.

    >>> from doubletrouble.glossary import RIDGE
    >>> number_axis("ridge", [0, "0.1:10:log:3"], RIDGE)
    (0.0, 0.1, 1.0, 10.0)
    """
    found = [checked(name, number, spec) for number in _numbers(name, value)]
    return _distinct(name, tuple(float(number) for number in found))


def whole_axis(name: str, value: Axis, spec: Parameter) -> tuple[int, ...]:
    """Whole numbers in the domain of a parameter."""
    return tuple(int(number) for number in number_axis(name, value, spec))


def seed_axis(name: str, value: Axis) -> tuple[int, ...]:
    """Seeds: whole numbers of any size a table holds."""
    seeds = []
    for number in _numbers(name, value):
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not (whole or (isinstance(number, float) and number.is_integer())):
            raise ValueError(f"{name} must be a whole number, got {number!r}")
        if not 0 <= number <= _LARGEST_SEED:
            raise ValueError(f"{name} must be in [0, {_LARGEST_SEED}], got {number!r}")
        seeds.append(int(number))
    return _distinct(name, tuple(seeds))


def choice_axis(name: str, value: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Names out of a list."""
    for choice in (chosen := tuple(_listed(name, value))):
        if choice not in known:
            raise ValueError(f"{name} must be among {', '.join(known)}, got {choice!r}")
    return _distinct(name, chosen)


def activation_axis(name: str, value: Any) -> tuple[str, ...]:
    """Activations by name: a function has no name to be stored under."""
    names = []
    for given in _listed(name, value):
        if not isinstance(given, str):
            raise TypeError(f"{name} must be a name in a sweep, got {given!r}")
        names.append(activation(given).name)
    return _distinct(name, tuple(names))


def _numbers(name: str, value: Any) -> list[Any]:
    found: list[Any] = []
    for item in _listed(name, value):
        found += numbers(name, item) if isinstance(item, str) else [item]
    return found


def _listed(name: str, value: Any) -> list[Any]:
    """The values of an axis, which is never empty."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise ValueError(f"{name} must be one value or a sequence, got shape {value.shape}")
        value = value.tolist()
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return [value]
    if not (items := list(value)):
        raise ValueError(f"{name} must not be empty")
    return items


def _distinct(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        value = next(v for k, v in enumerate(values) if v in values[:k])
        raise ValueError(f"{name} must hold every value once, got {value!r} twice")
    return values


def count(name: str, value: Any) -> int:
    """A number of draws: with fewer than two there is no standard error."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 2:
        raise ValueError(f"{name} must be a whole number of at least 2, got {value!r}")
    return int(value)
