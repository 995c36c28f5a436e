"""A cell: the parameters of one computation, and the key they are stored under.

The key is a hash of everything the numbers depend on: the kind of computation, the revision of
its meaning, and every parameter with the seed. Equal keys mean equal numbers, bit for bit.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One computation to do.

    >>> cell = Cell.of("simulation", 1, {"ridge": 0.1, "seed": 0})
    >>> cell.key == Cell.of("simulation", 1, {"seed": 0, "ridge": 0.1}).key
    True
    >>> cell.key == Cell.of("simulation", 2, {"ridge": 0.1, "seed": 0}).key
    False
    """

    key: str
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, revision: int, parameters: Mapping[str, Any]) -> Self:
        """The cell of these parameters."""
        return cls(key=digest([kind, revision, parameters]), parameters=parameters)


def canonical(value: object) -> str:
    """JSON that is the same for equal values: sorted keys, every digit of a float, inf as text.

    >>> canonical({"n_members": [1.0, float("inf")]})
    '{"n_members":[1.0,"inf"]}'
    """
    return json.dumps(
        _strict(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _strict(value: object) -> object:
    """What JSON has no word for, as the text that `float` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _strict(item) for key, item in value.items()}
    return [_strict(item) for item in value] if isinstance(value, list | tuple) else value


def digest(value: object) -> str:
    """A hash of a JSON value, in hexadecimal."""
    return sha256(canonical(value).encode()).hexdigest()
