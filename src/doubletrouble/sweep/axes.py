"""The values along an axis of a grid: one value, a sequence, or a range written as text."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import activation
from doubletrouble.ensembles import (
    Ensemble,
    Scheme,
    as_ensemble,
    named_ensemble,
    scheme_options,
)
from doubletrouble.parameters import MOST_SEEDS, Numeric, Parameter, number, whole_number
from doubletrouble.ranges import numbers
from doubletrouble.simulation.shares import single_ensemble

Axis: TypeAlias = Numeric | str | Sequence[float | str]
"""What a user may give for an axis of numbers; "0.1:10:log:50" is a range."""

EnsembleAxis: TypeAlias = (
    float | str | Scheme | Mapping[str, Any] | Iterable[float | str | Scheme | Mapping[str, Any]]
)
"""What a user may give for ensembles: numbers, schemes, and both as TOML files write them."""


def number_axis(name: str, value: Axis, spec: Parameter) -> tuple[float, ...]:
    """Numbers in the domain of a parameter; a range of whole ones is rounded to them.

    >>> from doubletrouble.glossary import RIDGE, WIDTH
    >>> number_axis("ridge", [0, "0.1:10:log:3"], RIDGE)
    (0.0, 0.1, 1.0, 10.0)
    >>> number_axis("width", "2:9:log:3", WIDTH)
    (2.0, 4.0, 9.0)
    """
    if not spec.whole:
        return _distinct(name, tuple(number(name, item, spec) for item in _numbers(name, value)))
    given = _whole_numbers(name, value)
    found = _distinct(name, tuple(_plain(number(name, item, spec)) for item in given))
    return tuple(map(float, found))


def whole_axis(name: str, value: Axis, spec: Parameter) -> tuple[int, ...]:
    """Whole numbers in the domain of a parameter."""
    return tuple(int(number) for number in number_axis(name, value, spec))


def seed_axis(name: str, value: Axis) -> tuple[int, ...]:
    """Seeds, as `simulate` takes them."""
    seeds = _whole_numbers(name, value)
    return _distinct(name, tuple(whole_number(name, seed, 0, MOST_SEEDS) for seed in seeds))


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


def ensemble_axis(name: str, value: EnsembleAxis) -> tuple[Scheme, ...]:
    """Ensembles: numbers of models, ranges of them, schemes, and tables as TOML files have them.

    >>> ensemble_axis("ensembles", [1, {"scheme": "subsample", "n_members": 10, "fraction": 0.6}])
    (Ensemble(1), Subsample(10, fraction=0.6))
    """
    found: list[Scheme] = []
    for item in _listed(name, value):
        if isinstance(item, Mapping):
            found += _tabled(name, item)
        elif isinstance(item, str):
            found += map(Ensemble, number_axis(name, item, glossary.N_MEMBERS))
        else:
            found.append(single_ensemble(name, item, "Sweep"))
    return _distinct(name, tuple(found))


def _tabled(name: str, table: Mapping[str, Any]) -> list[Scheme]:
    """The ensembles of a table; several values, or a range, stand for an ensemble each."""
    if not isinstance(table.get("scheme"), str):
        raise ValueError(f"{name} must have the name of a scheme in every table, got {dict(table)}")
    known = scheme_options() | {"n_members": glossary.N_MEMBERS}
    values = {key: item for key, item in table.items() if key != "scheme"}
    along = [
        number_axis(key, item, known[key]) if key in known else (item,)
        for key, item in values.items()
    ]
    points = (dict(zip(values, point, strict=True)) for point in itertools.product(*along))
    return [as_ensemble(named_ensemble(table["scheme"], **point), "Sweep") for point in points]


def stored_ensemble(ensemble: Scheme) -> float | dict[str, Any]:
    """An ensemble as TOML files and stores have it; K stands for `Ensemble(K)`.

    >>> from doubletrouble.ensembles import Divide
    >>> stored_ensemble(Ensemble(2)), stored_ensemble(Divide(2))
    (2.0, {'scheme': 'divide', 'n_members': 2.0})
    """
    members = float(np.asarray(ensemble.n_members))
    if isinstance(ensemble, Ensemble):
        return members
    return {"scheme": ensemble.name, "n_members": members, **ensemble.options}


def _numbers(name: str, value: Any) -> list[Any]:
    found: list[Any] = []
    for item in _listed(name, value):
        found += numbers(name, item) if isinstance(item, str) else [item]
    return found


def _whole_numbers(name: str, value: Any) -> list[Any]:
    """The same; what lies between the ends of a range is rounded, and named once."""
    found: list[Any] = []
    for item in _listed(name, value):
        for part in item.split(",") if isinstance(item, str) else [item]:
            values = _numbers(name, part)
            if len(values) > 1:  # a range
                values = list(dict.fromkeys([values[0], *map(round, values[1:-1]), values[-1]]))
            found += map(_plain, values)
    return found


def _plain(value: Any) -> Any:
    """A whole number as an int, which is written without a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(name: str, value: Any) -> list[Any]:
    """The values of an axis, which is never empty."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise ValueError(f"{name} must be one value or a sequence, got shape {value.shape}")
        value = value.tolist()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return [value]
    if not (items := list(value)):
        raise ValueError(f"{name} must not be empty")
    return items


def _distinct(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        value = next(v for k, v in enumerate(values) if v in values[:k])
        raise ValueError(f"{name} must hold every value once, got {value!r} twice")
    return values
