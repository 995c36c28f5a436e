"""The store: one SQLite file with a row for every finished cell and every specification.

A cell is one statement, hence one transaction, synced to the disk before the next is taken up
(`synchronous = FULL`, some milliseconds beside a cell's seconds): neither a killed process nor a
power cut loses a finished cell. Rows that are done never change. WAL mode lets others read and
write meanwhile; writers wait for each other.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from doubletrouble.errors import StoreError
from doubletrouble.runs import _soundness as soundness
from doubletrouble.runs._cell import Cell, canonical
from doubletrouble.runs._soundness import checksum

DONE, FAILED = "done", "failed"


@dataclass(frozen=True, kw_only=True)
class CellOutcome:
    """What came of a cell: a result as bytes (see `record`), or a message."""

    status: str
    message: str = ""
    result: bytes = b""
    seconds: float = 0.0


class Store:
    """An open store; `Store.open` to write, `Store.read` to read."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path, self._database = path, database
        self._file = path.stat()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a store to write, and make it if there is no such file."""
        path = Path(path)
        if not path.exists():
            _create(path)
        soundness.check(path)
        if not _writable(path):
            raise StoreError(f"store must be writable, got {path}, which is read-only")
        return cls._opened(path, "mode=rw")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open a store to read; one that may not be written is read as it lies."""
        path = Path(path)
        soundness.check(path)
        if _writable(path):
            return cls._opened(path, "mode=rw")
        alone = not soundness.beside(path)[0].exists()
        return cls._opened(path, "mode=ro&immutable=1" if alone else "mode=ro")

    @classmethod
    def _opened(cls, path: Path, options: str) -> Self:
        with _sentences(path):
            database = soundness.connect(path, options)
            try:
                database.execute("PRAGMA synchronous = FULL")
                return cls(path, database)
            except BaseException:
                database.close()
                raise

    def close(self) -> None:
        """Close; the last process to close leaves one file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_sweep(self, name: str, specification: str) -> None:
        """Note a specification under its hash, once."""
        row = (name, specification, _now())
        with _sentences(self.path):
            self._database.execute(
                "INSERT INTO sweeps VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
                (*row, checksum(*row)),
            )

    def sweeps(self) -> dict[str, str]:
        """Every specification by its hash, the oldest first."""
        with _sentences(self.path):
            query = "SELECT hash, specification FROM sweeps ORDER BY created, hash"
            return dict(self._database.execute(query))

    def put(self, cell: Cell, outcome: CellOutcome) -> None:
        """Store what came of a cell, unless it is done already."""
        row = (
            cell.key, canonical(cell.parameters), outcome.status, outcome.message, outcome.result,
            outcome.seconds, _now(),
        )  # fmt: skip
        with _sentences(self.path):
            self._check_place()
            self._database.execute(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "status = excluded.status, message = excluded.message, result = excluded.result, "
                "seconds = excluded.seconds, finished = excluded.finished, "
                f"checksum = excluded.checksum WHERE cells.status = '{FAILED}'",
                (*row, checksum(*row)),
            )
            # at once into the file itself: what lies beside it is all too easily lost
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def status(self, key: str) -> str | None:
        """The status of one cell, or None."""
        with _sentences(self.path):
            query = "SELECT status FROM cells WHERE key = ?"
            row = self._database.execute(query, (key,)).fetchone()
        return row[0] if row else None

    def statuses(self) -> dict[str, str]:
        """The status of every cell by its key."""
        with _sentences(self.path):
            return dict(self._database.execute("SELECT key, status FROM cells"))

    def outcome(self, key: str) -> CellOutcome | None:
        """What came of one cell, or None."""
        with _sentences(self.path):
            query = "SELECT status, message, result, seconds FROM cells WHERE key = ?"
            row = self._database.execute(query, (key,)).fetchone()
        if row is None:
            return None
        names: tuple[Any, ...] = ("status", "message", "result", "seconds")
        return CellOutcome(**dict(zip(names, row, strict=True)))

    def _check_place(self) -> None:
        """A store deleted under our feet would swallow every row that follows."""
        if not (self.path.exists() and os.path.samestat(self._file, self.path.stat())):
            raise StoreError(f"store {self.path} was moved or deleted while it was in use")


def _create(path: Path) -> None:
    """Make a store: whole at once, and never over a file that is there already."""
    with _sentences(path), TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        new = Path(folder) / "new"
        with closing(soundness.connect(new, "mode=rwc")) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA application_id = {soundness.APPLICATION}")
            database.execute(f"PRAGMA user_version = {soundness.FORMAT}")
            for statement in soundness.TABLES.values():
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


def _writable(path: Path) -> bool:
    """Whether the file may be written; one marked read-only is left alone even by root."""
    marked = bool(path.stat().st_mode & 0o222)
    return marked and os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn what the file system or SQLite says into a sentence that names the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"store {path} cannot be used: SQLite says “{error}”") from error
    except OSError as error:
        raise StoreError(f"store {path} cannot be used: {error.strerror or error}") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
