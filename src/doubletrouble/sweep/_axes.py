"""The values along an axis of a grid: one value, a sequence, or a range written as text."""

import itertools
from collections.abc import Iterable, Mapping
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
from doubletrouble.ranges import distinct, listed, number_axis
from doubletrouble.simulation import single_ensemble

EnsembleAxis: TypeAlias = (
    float | str | Scheme | Mapping[str, Any] | Iterable[float | str | Scheme | Mapping[str, Any]]
)
"""What a user may give for ensembles: numbers, schemes, and both as TOML files write them."""


def activation_axis(name: str, value: Any) -> tuple[str, ...]:
    """Activations by name: a function has no name to be stored under."""
    names = []
    for given in listed(name, value):
        if not isinstance(given, str):
            raise TypeError(f"{name} must be a name in a sweep, got {given!r}")
        names.append(activation(given).name)
    return distinct(name, tuple(names))


def ensemble_axis(name: str, value: EnsembleAxis) -> tuple[Scheme, ...]:
    """Ensembles: numbers of models, ranges of them, schemes, and tables as TOML files have them.

    >>> ensemble_axis("ensembles", [1, {"scheme": "subsample", "n_members": 10, "fraction": 0.6}])
    (Ensemble(1), Subsample(10, fraction=0.6))
    """
    found: list[Scheme] = []
    for item in listed(name, value):
        if isinstance(item, Mapping):
            found += _tabled(name, item)
        elif isinstance(item, str):
            found += map(Ensemble, number_axis(name, item, glossary.N_MEMBERS))
        else:
            found.append(single_ensemble(name, item, "Sweep"))
    return distinct(name, tuple(found))


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
