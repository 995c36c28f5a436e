"""The format of MNIST: two zero bytes, a type, the number of axes, their lengths, the numbers.

Lengths are 32-bit and big-endian; the type of a byte is 8. Files may be compressed.
"""

import gzip
import io
import math
import struct
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doubletrouble.data._errors import REPLACE, DataError
from doubletrouble.data._packed import check_packed
from doubletrouble.data._sources import Original

_BYTE = 8  # the code of unsigned bytes
_MOST = 2**30  # bytes in a file; the largest of the known ones has 47 million
_PIECE = 2**22


def read_idx(path: Path, axes: int) -> npt.NDArray[np.uint8]:
    """Read the bytes of a file with this number of axes, or raise DataError."""
    try:
        if path.suffix == ".gz":
            check_packed(path)
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return _read(path, file, axes)
    except EOFError:
        raise DataError(f"{path} is truncated: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}; {REPLACE}") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def unpacked(name: str, numbers: npt.NDArray[np.uint8]) -> Original:
    """What a file with these numbers is when it is not compressed.

    >>> unpacked("labels", np.array([3, 8], dtype=np.uint8)).size
    10
    """
    header = _magic(numbers.ndim) + struct.pack(f">{numbers.ndim}I", *numbers.shape)
    digest = sha256(header)
    digest.update(np.ascontiguousarray(numbers).data)
    return Original(name=name, size=len(header) + numbers.size, sha256=digest.hexdigest())


def _read(path: Path, file: gzip.GzipFile | io.BufferedReader, axes: int) -> npt.NDArray[np.uint8]:
    header = file.read(4 * (1 + axes))
    magic = _magic(axes)
    if header[:4] != magic[: len(header)] or not header:
        raise DataError(
            f"{path} must begin with the bytes {magic.hex()} of an idx file, "
            f"got {header[:4].hex() or 'nothing'}"
        )
    if len(header) < 4 * (1 + axes):
        raise DataError(f"{path} is truncated: it ends within its header")
    shape = struct.unpack(f">{axes}I", header[4:])
    size = math.prod(shape)
    if not 0 < size <= _MOST:
        raise DataError(f"{path} must hold between 1 and {_MOST} bytes, got a header with {shape}")
    content = bytearray()
    while piece := file.read(min(_PIECE, size + 1 - len(content))):  # a header may lie
        content += piece
    if len(content) != size:
        found = "more" if len(content) > size else f"{len(content)}, so it is truncated"
        raise DataError(f"{path} must hold the {size} bytes its header tells of, got {found}")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _magic(axes: int) -> bytes:
    return bytes([0, 0, _BYTE, axes])
