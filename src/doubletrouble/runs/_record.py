"""Results as bytes: a line of JSON, then the raw numbers of every array, bit for bit.

Arrays, tuples and dictionaries with other keys than strings are written as {"$array": ...} and so
on; everything else is JSON. No pickle: reading a store runs nobody's code.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

Record: TypeAlias = Mapping[str, Any]
"""Nested dictionaries, lists and tuples of arrays, numbers, strings, booleans and None."""

_KINDS = "biufc"  # arrays of objects would need pickle


def encode(record: Record) -> bytes:
    """Write a record as bytes.

    >>> decode(encode({"draws": {"psi1": np.array([0.1, 0.2])}, "seed": 3}))
    {'draws': {'psi1': array([0.1, 0.2])}, 'seed': 3}
    """
    chunks: list[bytes] = []
    header = json.dumps(_written(record, chunks), ensure_ascii=False, separators=(",", ":"))
    return b"".join([header.encode(), b"\n", *chunks])


def decode(content: bytes) -> dict[str, Any]:
    """Read back what `encode` wrote."""
    end = content.index(b"\n")
    record: dict[str, Any] = _read(json.loads(content[:end]), memoryview(content)[end + 1 :])
    return record


def _written(value: Any, chunks: list[bytes]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _KINDS:
            raise TypeError(f"a record must hold arrays of numbers, got one of {value.dtype}")
        start = sum(map(len, chunks))
        little = value.astype(value.dtype.newbyteorder("<"))  # lowest byte first, everywhere
        chunks.append(little.tobytes())
        return {"$array": [little.dtype.str, list(value.shape), start]}
    if isinstance(value, tuple):
        return {"$tuple": [_written(item, chunks) for item in value]}
    if isinstance(value, list):
        return [_written(item, chunks) for item in value]
    if isinstance(value, Mapping):
        items = [(key, _written(item, chunks)) for key, item in value.items()]
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in items):
            return dict(items)
        return {"$map": [[_written(key, chunks), item] for key, item in items]}
    raise TypeError(f"a record must hold arrays and plain values, got {type(value).__name__}")


def _read(value: Any, chunks: memoryview) -> Any:
    if isinstance(value, list):
        return [_read(item, chunks) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$array": [kind, shape, start]}:
            dtype = np.dtype(kind)
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(chunks, dtype, count, start) if count else np.empty(0, dtype)
            return array.astype(dtype.newbyteorder("=")).reshape(shape)  # a copy, aligned
        case {"$tuple": items}:
            return tuple(_read(item, chunks) for item in items)
        case {"$map": items}:
            return {_read(key, chunks): _read(item, chunks) for key, item in items}
    return {key: _read(item, chunks) for key, item in value.items()}
