"""File formats: idx (MNIST), the binary and the pickled batches of CIFAR-10, and .npz.

Sizes are limited, and every invalid file raises `DataError` with its path. Archives are read in
place, without extraction.
"""

import gzip
import math
import pickletools
import struct
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import DoubleTroubleError

Bytes: TypeAlias = npt.NDArray[np.uint8]
ImageBatch: TypeAlias = tuple[Bytes, Bytes]
"""Images, one a row, and their classes."""

CIFAR_PIXELS = 3 * 32 * 32

_LARGEST_FILE = 2**28  # bytes of an unpacked file: several times the published ones
_LARGEST_ARRAY = 2**32  # bytes of an array in an .npz file
_MOST_OPCODES = 10**6  # of a pickled batch: thirty times the published ones
_PIECE = 2**22


class DataError(DoubleTroubleError, ValueError):
    """A data set cannot be read or downloaded."""


def _line(error: Exception) -> str:
    """An error on one line of bounded length: messages may contain parts of a file."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]


def read_content(path: Path) -> bytes:
    """The content of a file, decompressed where its name ends in .gz."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is truncated or damaged: {error}; replace it") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > _LARGEST_FILE:
        raise DataError(f"{path} must have at most {_LARGEST_FILE} bytes, got more")
    return content


def parse_idx(content: bytes, axes: int, where: object) -> Bytes:
    """The array of an idx file: two zero bytes, type 8, the number of axes, lengths, numbers.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), 1, "a file")
    array([7, 9], dtype=uint8)
    """
    magic, start = bytes([0, 0, 8, axes]), 4 * (1 + axes)
    if content[:4] != magic or len(content) < start:
        raise DataError(
            f"{where} must begin with the bytes {magic.hex()} and {axes} lengths of an idx file, "
            f"got {content[:start].hex() or 'nothing'}"
        )
    shape = struct.unpack(f">{axes}I", content[4:start])
    if math.prod(shape) != len(content) - start or not math.prod(shape):
        raise DataError(
            f"{where} must have {math.prod(shape)} bytes after its header for shape {shape}, got "
            f"{len(content) - start}: it is truncated or damaged"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def binary_batch(content: bytes, where: object) -> ImageBatch:
    """Images and classes of a batch of the binary version: a class and 3072 pixels per image.

    >>> images, classes = binary_batch(bytes([3]) + bytes(CIFAR_PIXELS), "a file")
    >>> images.shape, classes
    ((1, 3072), array([3], dtype=uint8))
    """
    if not content or len(content) % (1 + CIFAR_PIXELS):
        raise DataError(
            f"{where} must have {1 + CIFAR_PIXELS} bytes for every image of CIFAR-10, got "
            f"{len(content)} bytes: it is truncated or damaged"
        )
    rows = np.frombuffer(content, dtype=np.uint8).reshape(-1, 1 + CIFAR_PIXELS)
    return rows[:, 1:], rows[:, 0]


def pickled_batch(content: bytes, where: object) -> ImageBatch:
    """Images and classes of a batch of the Python version.

    Only the published format is read: pickles of Python 2, in protocol 2. Nothing in the file is
    executed: calls are recorded, and only the record of a matrix of bytes is used.
    """
    try:
        batch = _pickled_dictionary(content)
        images, classes = _recorded_matrix(batch["data"]), batch["labels"]
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise DataError(f"{where} is not a pickled batch of CIFAR-10: {_line(error)}") from error
    valid = isinstance(classes, list) and images.shape == (len(classes), CIFAR_PIXELS)
    if not valid or not all(type(c) is int and 0 <= c <= 9 for c in classes):
        raise DataError(
            f"{where} must have images of {CIFAR_PIXELS} bytes, and classes from 0 to 9"
        )
    return images, np.array(classes, dtype=np.uint8)


@dataclass
class _Call:
    """A recorded call of a pickle, and the state set on its result."""

    name: Any
    arguments: Any
    state: Any = None


_CONSTANTS = {"NONE": None, "NEWFALSE": False, "NEWTRUE": True}
_LITERALS = {"BININT", "BININT1", "BININT2", "BINSTRING", "SHORT_BINSTRING", "GLOBAL"}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def _pickled_dictionary(content: bytes) -> dict[str, Any]:
    """Interpret a pickle of containers, literals and recorded calls."""
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    mark = object()

    def popped(count: int | None = None) -> list[Any]:
        """The last values: a given number, or those after the last mark."""
        items: list[Any] = []
        while len(items) != count:
            item = stack.pop()
            if item is mark:
                if count is None:
                    break
                raise ValueError("a mark in place of a value")
            items.append(item)
        return items[::-1]

    for number, (opcode, argument, _) in enumerate(pickletools.genops(content)):
        if number > _MOST_OPCODES:
            raise ValueError("too many opcodes")
        name = opcode.name
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _LITERALS:
            stack.append(argument)
        elif name in _TUPLES:
            stack.append(tuple(popped(_TUPLES[name])))
        elif name == "TUPLE":
            stack.append(tuple(popped()))
        elif name == "MARK":
            stack.append(mark)
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name in ("APPEND", "APPENDS"):
            items = popped(1 if name == "APPEND" else None)
            stack[-1].extend(items)
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name in ("SETITEM", "SETITEMS"):
            items = popped(2 if name == "SETITEM" else None)
            stack[-1].update(zip(items[::2], items[1::2], strict=True))
        elif name == "REDUCE":
            stack.append(_Call(*popped(2)))
        elif name == "BUILD":
            (state,) = popped(1)
            stack[-1].state = state
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name not in ("PROTO", "STOP"):
            raise ValueError(f"opcode {name} does not occur in a batch")
    (batch,) = stack
    if not isinstance(batch, dict):
        raise TypeError(f"a dictionary is expected, got {type(batch).__name__}")
    return batch


def _recorded_matrix(value: Any) -> Bytes:
    """The matrix of bytes in the record of a NumPy array."""
    match value:
        case _Call(
            name="numpy.core.multiarray _reconstruct",
            state=(1, (int(n), int(d)), _Call(arguments=("u1", _, _)), bool(columns), str(raw)),
        ):
            order: Any = "F" if columns else "C"
            pixels = np.frombuffer(raw.encode("latin1"), dtype=np.uint8)
            return pixels.reshape((n, d), order=order)
    raise ValueError("data is not a matrix of bytes")


@dataclass(frozen=True, kw_only=True)
class CifarVersion:
    """A published version of CIFAR-10: the names of its files, and its format."""

    folder: str
    archive: str
    batches: tuple[str, ...]  # five to train on, one to test on
    decode: Callable[[bytes, object], ImageBatch]

    def is_complete(self, folder: Path) -> bool:
        """Whether a folder has every batch."""
        return all((folder / name).is_file() for name in self.batches)

    def contents(self, path: Path) -> Iterator[tuple[str, bytes, str]]:
        """Name, content and location of every batch in a folder or in an archive."""
        if path.is_dir():
            for name in self.batches:
                yield name, read_content(path / name), str(path / name)
            return
        wanted = {PurePosixPath(self.folder, name): name for name in self.batches}
        try:
            with gzip.open(path) as unpacked:
                with tarfile.open(fileobj=unpacked, mode="r|") as archive:
                    for member in archive:
                        batch = wanted.get(PurePosixPath(member.name))
                        file = archive.extractfile(member) if batch and member.isreg() else None
                        if batch is None or file is None:
                            continue
                        if member.size > _LARGEST_FILE:
                            raise DataError(f"{batch} in {path} is too large: {member.size} bytes")
                        yield batch, file.read(), f"{batch} in {path}"
                while unpacked.read(_PIECE):  # to the checksum at the end
                    pass
        except (EOFError, OSError, zlib.error, tarfile.TarError) as error:
            raise DataError(f"{path} is truncated or damaged: {error}") from error


BINARY = CifarVersion(
    folder="cifar-10-batches-bin",
    archive="cifar-10-binary.tar.gz",
    batches=(*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"),
    decode=binary_batch,
)
PYTHON = CifarVersion(
    folder="cifar-10-batches-py",
    archive="cifar-10-python.tar.gz",
    batches=(*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"),
    decode=pickled_batch,
)


def read_npz(path: Path, names: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """Some of the arrays of an .npz file, those that it has."""
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in names:
                if f"{name}.npy" not in archive.namelist():
                    continue
                info = archive.getinfo(f"{name}.npy")
                if info.file_size > _LARGEST_ARRAY:
                    raise DataError(f"{name} in {path} is too large: {info.file_size} bytes")
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise DataError(f"{name} in {path} must be stored or deflated")
                with archive.open(info) as file:
                    arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (
        *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, SyntaxError),
        *(EOFError, MemoryError, RuntimeError, RecursionError),
        *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
    ) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{path} is damaged, or not an .npz file of numbers: {_line(error)}"
        ) from error
    return arrays
