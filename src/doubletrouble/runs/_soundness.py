"""Is a file a sound store of ours? Answered without changing a byte, or leaving one beside it.

SQLite in WAL mode keeps what was written last in `STORE-wal`, with `STORE-shm` as an index that
the processes using the store share. Even a reader would make these two files, so we look first:

- nobody uses the store (no -wal): open it as immutable, which makes no file;
- a process uses it, or was killed (-wal and -shm): read along with it;
- it was copied without its -shm: look at a copy.

The file is never opened but by SQLite: closing it elsewhere would drop SQLite's own locks.
"""

import shutil
import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from doubletrouble.errors import StoreError

APPLICATION = 0x64547263  # "dTrc", in the header of the file
FORMAT = 1  # of the tables and of the records in them; every change counts it up

TABLES = {
    "sweeps": """CREATE TABLE sweeps (
    hash TEXT PRIMARY KEY NOT NULL,
    specification TEXT NOT NULL,
    created TEXT NOT NULL,
    checksum BLOB NOT NULL
)""",
    "cells": """CREATE TABLE cells (
    key TEXT PRIMARY KEY NOT NULL,
    parameters TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL,
    result BLOB NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL,
    checksum BLOB NOT NULL
)""",
}


def checksum(*row: str | bytes | float) -> bytes:
    """A checksum of everything in a row: SQLite has none of its own."""
    found = blake2b(digest_size=16)
    for value in row:
        content = value if isinstance(value, bytes) else str(value).encode()
        found.update(b"%d:" % len(content) + content)
    return found.digest()


def check(path: Path) -> None:
    """Raise a sentence unless the file is a sound store of this format."""
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not a file" if path.exists() else "missing"
        raise StoreError(f"store must be a file made by a sweep, got {path}, which is {what}")
    while True:
        before = _situation(path)
        try:
            _look(path)
            return
        except StoreError:
            if _situation(path) == before:  # or else: another process was writing
                raise


def _situation(path: Path) -> tuple[object, ...]:
    """What changes when another process begins to use a store, moves its rows, or stops."""
    wal, shm = beside(path)
    file = path.stat()
    return file.st_size, file.st_mtime_ns, _holds(wal), shm.exists()


def _look(path: Path) -> None:
    if path.stat().st_size == 0:
        raise _foreign(path, "is empty")
    _check_header(path)
    wal, shm = beside(path)
    if not _holds(wal):
        _check_content(path, _uri(path, "mode=ro&immutable=1"))
    elif shm.exists():
        _check_content(path, _uri(path, "mode=ro"))
    else:
        with TemporaryDirectory(prefix="doubletrouble-") as folder:
            copy = Path(folder) / "store"
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, beside(copy)[0])
            _check_content(path, _uri(copy, "mode=rw"))


def beside(path: Path) -> tuple[Path, Path]:
    """The two files SQLite keeps beside a store in use."""
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def connect(path: Path, options: str) -> sqlite3.Connection:
    """Open a store that has been checked; every statement is a transaction of its own."""
    return sqlite3.connect(_uri(path, options), uri=True, timeout=60, isolation_level=None)


def _holds(wal: Path) -> bool:
    return wal.exists() and wal.stat().st_size > 0


def _uri(path: Path, options: str) -> str:
    return f"{path.absolute().as_uri()}?{options}"


def _foreign(path: Path, why: str) -> StoreError:
    return StoreError(f"store must be a file made by a sweep, got {path}, which {why}")


def _damaged(path: Path, what: object) -> StoreError:
    return StoreError(
        f"store must be undamaged, got {path}, where {what}; it is left as it is: "
        "restore a copy, or choose another name and run again"
    )


def _check_header(path: Path) -> None:
    try:
        with closing(sqlite3.connect(_uri(path, "mode=ro&immutable=1"), uri=True)) as database:
            application, form = (_pragma(database, p) for p in ("application_id", "user_version"))
    except sqlite3.Error as error:
        raise _foreign(path, f"SQLite cannot read ({error})") from error
    if application != APPLICATION:
        raise _foreign(path, "is a database of another program")
    if form != FORMAT:
        raise _foreign(path, f"has format {form}, while this version reads format {FORMAT}")


def _check_content(path: Path, uri: str) -> None:
    """SQLite's own check of its pages, then the tables and every row's checksum."""
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=60)) as database:
            found = _pragma(database, "integrity_check(1)")
            if found != "ok":
                raise _damaged(path, f"SQLite finds “{' '.join(str(found).split())}”")
            tables = dict(
                database.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
            )
            if tables != TABLES:
                raise _damaged(path, "the tables are not those of a sweep")
            for table in TABLES:
                for *row, stored in database.execute(f"SELECT * FROM {table}"):
                    if checksum(*row) != stored:
                        raise _damaged(path, f"row {row[0]} of {table} has changed")
    except StoreError:
        raise
    except (sqlite3.Error, ValueError) as error:  # ValueError: text that is not UTF-8
        raise _damaged(path, f"SQLite finds “{error}”") from error


def _pragma(database: sqlite3.Connection, name: str) -> Any:
    return database.execute(f"PRAGMA {name}").fetchone()[0]
