"""How a packed file begins: with gzip's two bytes, or it is something else, such as a web page."""

from pathlib import Path

from doubletrouble.data._errors import REPLACE, DataError

_MAGIC = b"\x1f\x8b"
ENOUGH = 64  # bytes


def instead_of_gzip(start: bytes) -> str | None:
    """The end of a message about the first bytes of a file; None for gzip, or an empty file.

    >>> instead_of_gzip(b"<!DOCTYPE html>")
    'is not the expected file: it must be packed by gzip, got a web page'
    >>> instead_of_gzip(b"PK\\3\\4")
    'is not the expected file: it must be packed by gzip, got the bytes 504b0304 first'
    """
    if start[:2] == _MAGIC[: len(start)]:
        return None
    page = start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    got = "a web page" if page else f"the bytes {start[:4].hex()} first"
    return f"is not the expected file: it must be packed by gzip, got {got}"


def check_packed(path: Path) -> None:
    """Refuse a file that is no gzip file at all; a broken one is for gzip to find."""
    with path.open("rb") as file:
        instead = instead_of_gzip(file.read(ENOUGH))
    if instead:
        raise DataError(f"{path} {instead}; {REPLACE}")
