"""A cell: the parameters of one computation, and the key they are stored under.

The key is a hash of everything the numbers depend on: the kind of computation, the revision of
its meaning, and every parameter with the seed. Equal keys mean equal numbers, bit for bit.
"""

import json
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
    """JSON that is the same for equal values: sorted keys, every digit of a float."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: object) -> str:
    """A hash of a JSON value, in hexadecimal."""
    return sha256(canonical(value).encode()).hexdigest()
