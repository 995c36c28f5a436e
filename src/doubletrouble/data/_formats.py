"""File formats: idx (MNIST), the binary and the pickled batches of CIFAR-10, and .npz.

Every invalid file raises `DataError` with its path. Archives are read in place, without extraction,
and the sizes of images are limited.
"""

import gzip
import io
import math
import pickle
import pickletools
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import DoubleTroubleError

Bytes: TypeAlias = npt.NDArray[np.uint8]
ImageBatch: TypeAlias = tuple[Bytes, Bytes]
"""Images, one a row, and their classes."""

CIFAR_PIXELS = 3 * 32 * 32

_LARGEST_FILE = 2**28  # bytes of an unpacked file: several times the published ones
_MOST_OPCODES = 10**6  # of a pickled batch: thirty times the published ones
_MOST_TUPLES = 16  # the published ones have 6
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
        _check_opcodes(content)
        batch = _RecordingUnpickler(io.BytesIO(content), encoding="bytes").load()
        images, classes = _recorded_matrix(batch[b"data"]), batch[b"labels"]
    except Exception as error:  # of an invalid pickle: many classes
        raise DataError(f"{where} is not a pickled batch of CIFAR-10: {_line(error)}") from error
    valid = isinstance(classes, list) and images.shape == (len(classes), CIFAR_PIXELS)
    if not valid or not all(type(c) is int and 0 <= c <= 9 for c in classes):
        raise DataError(
            f"{where} must have images of {CIFAR_PIXELS} bytes, and classes from 0 to 9"
        )
    return images, np.array(classes, dtype=np.uint8)


class _RecordedCall:
    """A call in a pickle that is recorded instead of made, and the state set on its result."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _RecordingUnpickler(pickle.Unpickler):
    """Unpickles containers and literals; arrays and dtypes of NumPy are recorded."""

    def find_class(self, module: str, name: str) -> type[_RecordedCall]:
        if (module, name) not in _RECORDED:
            raise ValueError(f"{module}.{name} does not occur in a batch")
        return _RecordedCall


_RECORDED = {("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")}
_STRINGS = {"BINSTRING", "SHORT_BINSTRING"}
_TUPLES = {"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
_PUTS = {"BINPUT", "LONG_BINPUT"}
_GETS = {"BINGET", "LONG_BINGET"}
_TO_MARK = {"TUPLE", "APPENDS", "SETITEMS"}
_OPCODES = {
    *("PROTO", "STOP", "MARK", "NONE", "NEWFALSE", "NEWTRUE", "BININT", "BININT1", "BININT2"),
    *("EMPTY_LIST", "APPEND", "EMPTY_DICT", "SETITEM", "GLOBAL", "REDUCE", "BUILD"),
    *(_STRINGS | _TUPLES | _PUTS | _GETS | _TO_MARK),
}


def _check_opcodes(content: bytes) -> None:
    """Raise ValueError for a pickle that is not like a batch, before it is unpickled.

    Opcodes that do not occur in a batch are errors, and so are many tuples, a large memo, and keys
    that are not strings: the hash of nested tuples may take unlimited time, or overflow the stack
    of the interpreter. To check the keys, the stack of the unpickler is followed, with the name of
    an opcode for each object and a list for each mark.
    """
    stacks: list[list[str]] = [[]]
    memo: dict[object, str] = {}
    tuples = 0
    for number, (opcode, argument, _) in enumerate(pickletools.genops(content)):
        name = opcode.name
        if name not in _OPCODES:
            raise ValueError(f"opcode {name} does not occur in a batch")
        tuples += name in _TUPLES
        memo_index = argument or 0 if name in _PUTS else 0
        if max(number, memo_index) > _MOST_OPCODES or tuples > _MOST_TUPLES:
            raise ValueError("too many opcodes, tuples, or entries of the memo")
        stack = stacks[-1]
        keys: list[str] = []
        if name in _PUTS:
            memo[argument] = stack[-1]
        elif name in _GETS:
            stack.append(memo[argument])
        elif name == "MARK":
            stacks.append([])
        elif name in _TO_MARK:
            stacks.pop()
            stacks[-1] += [name] * (name == "TUPLE")
            keys = stack[::2] if name == "SETITEMS" else keys
        else:
            keys = stack[-2:-1] if name == "SETITEM" else keys
            del stack[len(stack) - len(opcode.stack_before) :]
            stack += [name] * len(opcode.stack_after)
        if not _STRINGS.issuperset(keys):
            raise ValueError("keys must be strings")


def _recorded_matrix(value: Any) -> Bytes:
    """The matrix of bytes in the record of a NumPy array."""
    match value:
        case _RecordedCall(
            state=(
                1,
                (int(n), int(d)),
                _RecordedCall(arguments=(b"u1", _, _)),
                bool(columns),
                bytes(raw),
            )
        ):
            order: Literal["F", "C"] = "F" if columns else "C"
            return np.frombuffer(raw, dtype=np.uint8).reshape((n, d), order=order)
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
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: np.asarray(archive[name]) for name in names if name in archive}
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # zipfile and NumPy raise many classes
        raise DataError(
            f"{path} is damaged, or not an .npz file of numbers: {_line(error)}"
        ) from error
