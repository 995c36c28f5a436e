"""The store: one SQLite file with a row for every finished cell and every specification.

SQLite alone judges the file: opening a store reads the application, the format and the names of
the tables through an ordinary connection, which takes the `-wal` beside the file into account.
The content is checked row by row when it is read, by a checksum, and as a whole by
`Store.verify`.

Every commit survives a killed process. It is also synced to the disk, unless another was synced
within the last tenth of a second: a power cut loses no more than the cells that finished in rapid
succession. Rows that are done never change. WAL mode allows several readers and writers; writers
wait for each other.
"""

import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from doubletrouble.errors import StoreError
from doubletrouble.runs._cells import FAILED, Cell, CellOutcome, canonical

APPLICATION = 0x64547263  # "dTrc", in the header of the file
FORMAT = 3

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
# counting the cells then reads no page of the results
INDEX = "CREATE INDEX cells_by_status ON cells (status, key)"

_SYNC_INTERVAL = 0.1  # seconds

_INSERT = f"""INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
    status = excluded.status, message = excluded.message, result = excluded.result,
    seconds = excluded.seconds, finished = excluded.finished, checksum = excluded.checksum
    WHERE cells.status = '{FAILED}'"""


class Store:
    """An open store; `Store.open` for writing, `Store.read` for reading.

    >>> cell = Cell.of("example", 1, {"x": 3})
    >>> with TemporaryDirectory() as folder, Store.open(f"{folder}/store.sqlite") as store:
    ...     store.put(cell, CellOutcome(status="done", result=b"9"))
    ...     store.status(cell.key), store.counts(), store.verify()
    ('done', {'done': 1}, 1)
    """

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path, self._database = path, database
        self._file, self._synced = path.stat(), -math.inf

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a store for writing; a new one is made if there is no such file."""
        path = _file(path)
        if not path.exists():
            _create(path)
        _check_file(path)
        if not _writable(path):
            raise StoreError(f"store must be writable, got {path}, which is read-only")
        return cls(path, _opened(path, "mode=rw"))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open a store for reading."""
        path = _file(path)
        _check_file(path)
        if _writable(path):
            return cls(path, _opened(path, "mode=rw"))
        wal = path.with_name(path.name + "-wal")
        alone = not wal.exists() or wal.stat().st_size == 0
        return cls(path, _opened(path, "mode=ro&immutable=1" if alone else "mode=ro"))

    def close(self) -> None:
        """Close the store; the last process to close it leaves one file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- writing ---

    def add_sweep(self, name: str, specification: str) -> None:
        """Add a specification under its hash, unless it is there already."""
        row = (name, specification, _now())
        with _store_errors(self.path):
            self._database.execute(
                "INSERT INTO sweeps VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
                (*row, _checksum(*row)),
            )

    def put(self, cell: Cell, outcome: CellOutcome) -> None:
        """Store the outcome of a cell, unless the cell is done already."""
        self.put_all([(cell, outcome)])

    def put_all(self, outcomes: Iterable[tuple[Cell, CellOutcome]]) -> None:
        """Store several outcomes in one transaction."""
        rows = []
        for cell, o in outcomes:
            row = (cell.key, canonical(cell.parameters), o.status, o.message, o.result, o.seconds)
            rows.append((*row, now := _now(), _checksum(*row, now)))
        with _store_errors(self.path):
            self._check_unmoved()
            sync = time.monotonic() - self._synced > _SYNC_INTERVAL
            self._database.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany(_INSERT, rows)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            if sync:
                self._synced = time.monotonic()

    def _check_unmoved(self) -> None:
        """Raise if the file was deleted or replaced: rows written from now on would be lost."""
        if not (self.path.exists() and os.path.samestat(self._file, self.path.stat())):
            raise StoreError(f"store {self.path} was moved, deleted or replaced while in use")

    # --- reading ---

    def sweeps(self) -> dict[str, str]:
        """Every specification by its hash, the oldest first."""
        query = "SELECT * FROM sweeps ORDER BY created, hash"
        return {row[0]: row[1] for row in self._rows("sweeps", query)}

    def status(self, key: str) -> str | None:
        """The status of one cell, or None."""
        with _store_errors(self.path):
            query = "SELECT status FROM cells WHERE key = ?"
            row = self._database.execute(query, (key,)).fetchone()
        return row[0] if row else None

    def statuses(self) -> dict[str, str]:
        """The status of every cell by its key."""
        with _store_errors(self.path):
            return dict(self._database.execute("SELECT key, status FROM cells"))

    def counts(self) -> dict[str, int]:
        """The number of cells of every status."""
        with _store_errors(self.path):
            query = "SELECT status, count(*) FROM cells GROUP BY status"
            return dict(self._database.execute(query))

    def outcome(self, key: str) -> CellOutcome | None:
        """The outcome of one cell, or None."""
        return next((outcome for _, outcome in self.outcomes([key])), None)

    def outcomes(self, keys: Iterable[str]) -> Iterator[tuple[str, CellOutcome]]:
        """The outcomes of those cells that are stored, with their keys and in this order."""
        query = "SELECT * FROM cells WHERE key = ?"
        for key in keys:
            for _, _, status, message, result, seconds, _ in self._rows("cells", query, key):
                yield (
                    key,
                    CellOutcome(status=status, message=message, result=result, seconds=seconds),
                )

    def verify(self) -> int:
        """Check the whole content, and return the number of cells.

        SQLite checks its pages (`PRAGMA integrity_check`), and every row is compared with its
        checksum. The first damaged row raises StoreError with its key.
        """
        with _store_errors(self.path):
            result = _pragma(self._database, "integrity_check(1)")
        if result != "ok":
            raise _damaged(self.path, f"SQLite reports “{' '.join(str(result).split())}”")
        count = 0
        for table in TABLES:
            count = sum(1 for _ in self._rows(table, f"SELECT * FROM {table}"))
        return count

    def _rows(self, table: str, query: str, *arguments: str) -> Iterator[tuple[Any, ...]]:
        """Rows without their checksums, which are compared with the content."""
        with _store_errors(self.path):
            for *row, stored in self._database.execute(query, arguments):
                if _checksum(*row) != stored:
                    raise _damaged(self.path, f"the content of row {row[0]} of {table} has changed")
                yield tuple(row)


def _create(path: Path) -> None:
    """Make a complete store at once, and never over a file that is there already."""
    with (
        _store_errors(path),
        TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder,
    ):
        new = Path(folder) / "new"
        with closing(_connect(new, "mode=rwc")) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in (*TABLES.values(), INDEX):
                database.execute(statement)
        try:
            os.link(new, path)
        except FileExistsError:
            return  # another process was first
        except OSError:  # a file system without links
            try:
                with path.open("xb") as file:
                    file.write(new.read_bytes())
            except FileExistsError:
                return


def _check_file(path: Path) -> None:
    """Raise StoreError unless the path is a file with content."""
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "is not a file"
        raise _foreign(path, kind if path.exists() else "does not exist")
    if path.stat().st_size == 0:  # SQLite takes an empty file for a new database
        raise _foreign(path, "is empty")


def _opened(path: Path, options: str) -> sqlite3.Connection:
    """A connection to a store of ours."""
    with _store_errors(path):
        database = _connect(path, options)
        try:
            application, version, tables = _identity(path, database)
            if application != APPLICATION:
                raise _foreign(path, "is a database of another program")
            if version != FORMAT:
                raise _foreign(path, f"has format {version}; this version reads {FORMAT}")
            if not tables >= set(TABLES):
                raise _damaged(path, "a table is missing")
        except BaseException:
            database.close()
            raise
    return database


def _identity(path: Path, database: sqlite3.Connection) -> tuple[int, int, set[str]]:
    """The application, the format and the tables of a database."""
    try:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        tables = {name for (name,) in names}
        return _pragma(database, "application_id"), _pragma(database, "user_version"), tables
    except sqlite3.OperationalError:  # locked, read-only, or without space: not its content
        raise
    except sqlite3.DatabaseError as error:
        raise _foreign(path, f"SQLite cannot read ({error})") from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=60, isolation_level=None)


def _pragma(database: sqlite3.Connection, name: str) -> Any:
    return database.execute(f"PRAGMA {name}").fetchone()[0]


def _checksum(*row: str | bytes | float) -> bytes:
    """A checksum of everything in a row: SQLite has none of its own."""
    hashed = blake2b(digest_size=16)
    for value in row:
        content = value if isinstance(value, bytes) else str(value).encode()
        hashed.update(b"%d:" % len(content) + content)
    return hashed.digest()


def store_path(store: str | Path | None) -> Path | None:
    """The path of a store, or TypeError; None for none."""
    return None if store is None else _file(store)


def _file(store: str | Path) -> Path:
    if not (isinstance(store, str | Path) and str(store)):
        raise TypeError(f"store must be the path of a file, got {store!r}")
    return Path(store)


def _writable(path: Path) -> bool:
    """Whether the file may be written; a read-only one is not written by root either."""
    writable = bool(path.stat().st_mode & 0o222)
    return writable and os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _foreign(path: Path, why: str) -> StoreError:
    return StoreError(f"store must be a file made by a sweep, got {path}, which {why}")


def _damaged(path: Path, what: object) -> StoreError:
    return StoreError(
        f"store must be undamaged, got {path}: {what}; the file is unchanged: "
        "restore a copy, or run again with another store"
    )


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    """Raise errors of the file system and of SQLite as StoreError with the path."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"store {path} cannot be used: SQLite reports “{error}”") from error
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from error
    except OSError as error:
        raise StoreError(f"store {path} cannot be used: {error.strerror or error}") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
