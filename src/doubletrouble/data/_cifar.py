"""CIFAR-10 as it is published: five batches to train on and one to test on, in two versions.

The binary version has a byte of class and 3072 of pixels for every image; the Python version is
pickled. Both are read from a folder or, in place, from the archive: nothing is ever extracted.
"""

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.data._errors import DataError
from doubletrouble.data._packed import check_packed
from doubletrouble.data._pickles import read_pickle

PIXELS = 3 * 32 * 32

_MOST = 2**28  # bytes in a batch, eight times the known ones
_PIECE = 2**22

Bytes: TypeAlias = npt.NDArray[np.uint8]
ImageBatch: TypeAlias = tuple[Bytes, Bytes]
"""Images, one a row, and their classes."""
Look: TypeAlias = Callable[[str, bytes, str], None]
"""Is shown the name of a batch, what the file holds, and where it is."""


def binary_batch(content: bytes, where: str) -> ImageBatch:
    """Decode a batch of the binary version.

    >>> images, classes = binary_batch(bytes([3]) + bytes(PIXELS), "a file")
    >>> images.shape, classes
    ((1, 3072), array([3], dtype=uint8))
    """
    if not content or len(content) % (1 + PIXELS):
        raise DataError(
            f"{where} is truncated or no batch of CIFAR-10: it must hold {1 + PIXELS} bytes for "
            f"every image, got {len(content)} bytes"
        )
    rows = np.frombuffer(content, dtype=np.uint8).reshape(-1, 1 + PIXELS)
    return rows[:, 1:], rows[:, 0]


def python_batch(content: bytes, where: str) -> ImageBatch:
    """Decode a batch of the Python version, without running what it may contain."""
    found = read_pickle(content, where)
    images, classes = found.get("data"), found.get("labels")
    good = (
        isinstance(images, np.ndarray)
        and isinstance(classes, list)
        and images.shape == (len(classes), PIXELS)
        and all(type(c) is int and 0 <= c <= 9 for c in classes)
    )
    if not good:
        raise DataError(f"{where} must hold images of {PIXELS} bytes as data and classes as labels")
    return np.asarray(images), np.array(classes, dtype=np.uint8)


@dataclass(frozen=True, kw_only=True)
class Version:
    """One of the two versions: its names and its decoder."""

    folder: str
    archive: str
    train: tuple[str, ...]
    test: str
    decode: Callable[[bytes, str], ImageBatch]

    @property
    def names(self) -> tuple[str, ...]:
        """Every batch."""
        return (*self.train, self.test)


BINARY = Version(
    folder="cifar-10-batches-bin", archive="cifar-10-binary.tar.gz",
    train=tuple(f"data_batch_{i}.bin" for i in range(1, 6)), test="test_batch.bin",
    decode=binary_batch,
)  # fmt: skip
PYTHON = Version(
    folder="cifar-10-batches-py", archive="cifar-10-python.tar.gz",
    train=tuple(f"data_batch_{i}" for i in range(1, 6)), test="test_batch", decode=python_batch,
)  # fmt: skip


def read_cifar(
    version: Version, path: Path, look: Look = lambda name, content, where: None
) -> tuple[ImageBatch, ImageBatch]:
    """Read the batches in a folder or in an archive: those to train on as one, and the test's.

    `look` sees every batch before it is decoded.
    """
    pieces = _in_folder(version, path) if path.is_dir() else _in_archive(version, path)
    batches = {}
    for name, content, where in pieces:
        look(name, content, where)
        batches[name] = version.decode(content, where)
    missing = [name for name in version.names if name not in batches]
    if missing:
        raise DataError(f"{path} must hold every batch of CIFAR-10, got no {', '.join(missing)}")
    images, classes = zip(*(batches[name] for name in version.train), strict=True)
    return (np.concatenate(images), np.concatenate(classes)), batches[version.test]


def _in_folder(version: Version, folder: Path) -> Iterator[tuple[str, bytes, str]]:
    for name in version.names:
        path = folder / name
        try:
            yield name, path.read_bytes(), str(path)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def _in_archive(version: Version, path: Path) -> Iterator[tuple[str, bytes, str]]:
    wanted = {PurePosixPath(version.folder, name): name for name in version.names}
    try:
        check_packed(path)
        with gzip.open(path) as whole:
            with tarfile.open(fileobj=whole, mode="r|") as archive:
                for member in archive:
                    name = wanted.get(PurePosixPath(member.name))
                    file = archive.extractfile(member) if name and member.isreg() else None
                    if name and file:
                        if member.size > _MOST:
                            raise DataError(f"{name} in {path} is too large: {member.size} bytes")
                        yield name, file.read(), f"{name} in {path}"
            while whole.read(_PIECE):  # to the end, where gzip has its checksum
                pass
    except EOFError:
        raise DataError(f"{path} is truncated: the compressed data end too early") from None
    except (OSError, zlib.error, tarfile.TarError) as error:
        raise DataError(f"{path} is truncated or damaged: {error}") from error
