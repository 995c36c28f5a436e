"""Cells: the parameters of one computation, its key in a store, and its outcome as bytes.

The key of a cell is a hash of everything its numbers depend on: the kind of computation, the
revision of its definition, and every parameter including the seed. Equal keys mean equal numbers,
bit for bit.

A result is a file of safetensors: every array has the name of its path in the record, and the array
`record` is the JSON of the record itself, with a reference in place of each array. Nothing is
pickled, and equal records are equal bytes.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble.errors import require

DONE, FAILED = "done", "failed"

Record: TypeAlias = Mapping[str, Any]
"""Nested dictionaries and lists of arrays, numbers, strings, booleans and None."""

_KEY_SHOWN = 12  # characters
_RECORD = "record"
_ARRAY = "$array"  # the key of a reference
_NUMERIC = "biuf"  # kinds of arrays
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, kw_only=True, repr=False)
class Cell(Shown):
    """One computation.

    `Cell.of` makes one from its parameters.

    Parameters
    ----------
    key : str
        The name of the cell in a store, a hash of everything its numbers depend on.
    parameters : mapping of str to object
        The parameters of the computation.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> cell = dt.results.Cell.of("simulation", 1, {"ridge": 0.1, "seed": 0})
    >>> cell.key == dt.results.Cell.of("simulation", 1, {"seed": 0, "ridge": 0.1}).key
    True
    >>> cell.key == dt.results.Cell.of("simulation", 2, {"ridge": 0.1, "seed": 0}).key
    False
    """

    key: str
    parameters: Mapping[str, Any]

    def _content(self) -> Content:
        columns = (Column(name="parameter", form="words"), Column(name="value", form="words"))
        rows = [[name, value] for name, value in self.parameters.items()]
        return Content(
            title=f"Cell {self.key[:_KEY_SHOWN]}",
            tables=[Table(name="parameters", columns=columns, rows=rows)],
            facts={"key": self.key},
        )

    @classmethod
    def of(cls, kind: str, revision: int, parameters: Mapping[str, Any]) -> Self:
        """The cell of these parameters.

        Parameters
        ----------
        kind : str
            The kind of computation.
        revision : int
            The revision of its definition.
        parameters : mapping of str to object
            Its parameters: numbers, strings, booleans, None, and lists and mappings of them.

        Returns
        -------
        Cell
            The parameters with their key.

        Raises
        ------
        TypeError
            If a parameter cannot be written as JSON.
        """
        return cls(key=digest([kind, revision, parameters]), parameters=parameters)


@dataclass(frozen=True, kw_only=True)
class CellOutcome:
    """The result of a cell as bytes (see `encode`), or the message of its failure."""

    status: str
    message: str = ""
    result: bytes = b""
    seconds: float = 0.0


def canonical(value: object) -> str:
    """JSON that is equal for equal values: sorted keys, every digit of a float, inf as text.

    >>> canonical({"n_members": [1.0, float("inf")]})
    '{"n_members":[1.0,"inf"]}'
    """
    return _JSON.encode(_finite(value))


def _finite(value: object) -> object:
    """The value with infinities and NaN as text, which `float` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def digest(value: object) -> str:
    """The SHA-256 of a JSON value, in hexadecimal."""
    return sha256(canonical(value).encode()).hexdigest()


# --- records as bytes ---


def encode(record: Record) -> bytes:
    """Write a record as bytes; tuples are read as lists.

    >>> decode(encode({"draws": {"psi1": np.array([0.1, 0.2])}, "seed": 3}))
    {'draws': {'psi1': array([0.1, 0.2])}, 'seed': 3}
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    structure = _to_json(record, _RECORD, arrays)
    text = json.dumps(structure, ensure_ascii=False, separators=(",", ":"))
    arrays[_RECORD] = np.frombuffer(text.encode(), np.uint8)
    content: bytes = require("safetensors.numpy", "runs").save(arrays)
    return content


def decode(content: bytes) -> dict[str, Any]:
    """Read a record that `encode` wrote."""
    arrays = require("safetensors.numpy", "runs").load(content)

    def read(value: dict[str, Any]) -> Any:
        return arrays[value[_ARRAY]] if _ARRAY in value else value

    record: dict[str, Any] = json.loads(arrays[_RECORD].tobytes(), object_hook=read)
    return record


def _to_json(value: Any, path: str, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """The value as JSON; its arrays are added to `arrays` under names made of their paths."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _NUMERIC:
            raise TypeError(f"a record must hold arrays of real numbers, got one of {value.dtype}")
        name = path
        while name in arrays or name == _RECORD:
            name += "_"
        arrays[name] = np.array(value, value.dtype.newbyteorder("="), order="C")
        return {_ARRAY: name}
    if isinstance(value, list | tuple):
        return [_to_json(item, f"{path}.{k}", arrays) for k, item in enumerate(value)]
    if isinstance(value, Mapping):
        if wrong := [key for key in value if not isinstance(key, str) or key == _ARRAY]:
            raise TypeError(f"a record must have names as keys, got {wrong[0]!r}")
        return {key: _to_json(item, f"{path}.{key}", arrays) for key, item in value.items()}
    raise TypeError(f"a record must hold arrays and plain values, got {type(value).__name__}")
