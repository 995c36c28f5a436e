"""CIFAR-10's Python batches, read without running anything they might contain.

A pickle is a program that may call whatever it names. These files name three things, and those
written by a newer Python a fourth; each is answered by a stand-in below that only takes notes, and
every other name is refused. Not even NumPy is called with the contents of a file.
"""

import io
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.data._errors import DataError


class _Noted:
    """Stands for a NumPy array or its type; keeps the state it is given."""

    state: tuple[Any, ...] = ()

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, tuple) else ()


class _Type(_Noted):
    """Stands for numpy.dtype."""


class _Array(_Noted):
    """Stands for numpy.ndarray, and for what makes one."""


class _Encoded:
    """Stands for _codecs.encode: bytes as Python 3 writes them for Python 2."""

    __slots__ = ()

    def __call__(self, text: Any, encoding: Any) -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
            raise pickle.UnpicklingError("bytes are written in an unknown way")
        return text.encode("latin1")

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it would change what reads it")


_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _Encoded(),
}


class _Reader(pickle.Unpickler):
    """Resolves the admitted names and no others."""

    def find_class(self, module: str, name: str) -> Any:
        """Answer with a stand-in."""
        if (module, name) not in _ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch needs")
        return _ADMITTED[module, name]


def read_pickle(content: bytes, where: str) -> dict[str, Any]:
    """Return what a pickled dictionary holds, arrays of bytes as such, or refuse it.

    >>> batch = {"data": np.zeros((1, 2), np.uint8), "labels": [3]}
    >>> read_pickle(pickle.dumps(batch, protocol=2), "a file")
    {'data': array([[0, 0]], dtype=uint8), 'labels': [3]}
    >>> read_pickle(pickle.dumps(print), "a file")
    Traceback (most recent call last):
    doubletrouble.data._errors.DataError: a file is refused: it asks for builtins.print, which ...
    """
    try:
        found = _Reader(io.BytesIO(content), encoding="bytes").load()
    except pickle.UnpicklingError as error:
        raise DataError(f"{where} is refused: {' '.join(str(error).split())}") from error
    except (
        EOFError, ValueError, TypeError, AttributeError, LookupError, ImportError, ArithmeticError,
        MemoryError, RecursionError, NotImplementedError,
    ) as error:  # fmt: skip
        raise DataError(f"{where} is truncated or no pickle: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"{where} must hold a dictionary, got {type(found).__name__}")
    named = ((_text(key), value) for key, value in found.items())
    return {name: _array(value, where) for name, value in named if name is not None}


def _text(key: Any) -> str | None:
    """Python 2 wrote the names as bytes."""
    if isinstance(key, bytes):
        return key.decode("latin1")
    return key if isinstance(key, str) else None


def _array(value: Any, where: str) -> Any:
    """The array that a stand-in has taken notes of; anything else as it is."""
    if not isinstance(value, _Array):
        return value
    match value.state:
        case (1, (int(), int()) as shape, _Type(arguments=(code, *_)), bool(by_column), bytes(raw)):
            if code in (b"u1", "u1") and min(shape) > 0 and shape[0] * shape[1] == len(raw):
                return _bytes(raw, shape, by_column)
    raise DataError(f"{where} must hold a matrix of bytes, got another array")


def _bytes(raw: bytes, shape: tuple[int, int], by_column: bool) -> npt.NDArray[np.uint8]:
    return np.frombuffer(raw, dtype=np.uint8).reshape(shape, order="F" if by_column else "C")
