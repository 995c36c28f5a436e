"""Download a file: whole, verified and under its own name, or not at all.

What arrives goes to a temporary file beside its destination, is compared with the size and the
checksum published, and only then gets its name, in one step. Whatever happens before that, a full
disk or Ctrl-C included, the temporary file is removed, and so are folders made for it. A process
that is killed cannot do that; the next download of the file does. It tells what is left over from
what another process is writing by a lock, which ends with whoever holds it.
"""

import http.client
import os
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from tqdm import tqdm

from doubletrouble.data._errors import DataError
from doubletrouble.data._packed import ENOUGH, instead_of_gzip
from doubletrouble.data._sources import Original

if sys.platform != "win32":
    import fcntl

TIMEOUT = 30.0  # seconds without a sign of the server

_PIECE = 2**16
_TEMPORARY = ".{}-{}.part"


def download(url: str, original: Original, folder: Path) -> Path:
    """Fetch a file into a folder, with a progress bar; raise `DataError` if it is not available."""
    path = folder / original.name
    with _answer(url) as answer, _arriving(path) as new, new.open("wb") as file:
        size, digest = 0, sha256()
        with tqdm(
            total=original.size, desc=original.name, unit="B", unit_scale=True, unit_divisor=1024,
            dynamic_ncols=True, mininterval=0.5,
        ) as bar:  # fmt: skip
            for piece in _pieces(answer, url):
                instead = None if size else instead_of_gzip(piece[:ENOUGH])
                if instead and path.suffix == ".gz":
                    raise DataError(f"{url} {instead}; try again later")
                size += len(piece)
                if size > original.size:
                    break
                digest.update(piece)
                file.write(piece)
                bar.update(len(piece))
        if size != original.size:
            got = "more" if size > original.size else f"{size}, so it is truncated"
            raise DataError(f"{url} must have {original.size} bytes, got {got}; try again later")
        if digest.hexdigest() != original.sha256:
            raise DataError(
                f"{url} must have the SHA-256 checksum {original.sha256}, "
                f"got {digest.hexdigest()}; nothing of it is kept"
            )
        file.flush()
        os.fsync(file.fileno())
    return path


@contextmanager
def _answer(url: str) -> Iterator[http.client.HTTPResponse]:
    try:
        answer = urllib.request.urlopen(url, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(
            f"cannot download {url}: the server answers {error.code} {error.reason}"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise _offline(url, error) from error
    with answer:
        yield answer


def _pieces(answer: http.client.HTTPResponse, url: str) -> Iterator[bytes]:
    while True:
        try:
            piece = answer.read(_PIECE)
        except http.client.IncompleteRead as error:
            piece = error.partial
        except (OSError, http.client.HTTPException) as error:
            raise _offline(url, error) from error
        if not piece:
            return
        yield piece


def _offline(url: str, error: Exception) -> DataError:
    reason = getattr(error, "reason", error)  # a URLError wraps what happened
    said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return DataError(f"cannot download {url}: no network, or no server there ({said})")


@contextmanager
def _arriving(path: Path) -> Iterator[Path]:
    """A path to write to that gets its own name at the end, or leaves nothing behind."""
    made = [folder for folder in path.parents if not folder.exists()]
    new = path.with_name(_TEMPORARY.format(path.name, secrets.token_hex(4)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        with _locked(new):
            yield new
            os.replace(new, path)
    except BaseException as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"stopped; nothing is left of {path.name}") from None
        if isinstance(error, OSError):  # those of the network are DataErrors already
            raise DataError(f"cannot write {path}: {error.strerror or error}") from error
        raise


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make a file that other processes leave alone for as long as this one lives."""
    if sys.platform == "win32":  # files that are open cannot be removed there
        yield
        return
    while True:
        with path.open("xb") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():  # not removed in between
                yield
                return


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes have left of this file."""
    for part in path.parent.glob(_TEMPORARY.format(path.name, "*")):
        with suppress(OSError):  # somebody is writing it
            if sys.platform == "win32":
                part.unlink()
                continue
            with part.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
