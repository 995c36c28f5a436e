"""The store: its rows, its locks, faults of processes and disks, damage, and other files."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.errors import StoreError
from doubletrouble.runs import DONE, FAILED, CellOutcome, Store
from tests.runs.work import cells, rows

GOOD = CellOutcome(status=DONE, result=b"\x00\xff numbers", seconds=0.5)
BAD = CellOutcome(status=FAILED, message="ValueError: no \x00 😀")

# rows are written until the process is killed, or a file may not grow any more
WRITER = """
import itertools, resource, sys
from doubletrouble.runs import DONE, Cell, CellOutcome, Store
if limit := int(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with Store.open(sys.argv[1]) as opened:
    for x in itertools.count():
        cell = Cell.of("written", 1, {"x": x})
        opened.put(cell, CellOutcome(status=DONE, result=b"x" * 500))
        print(cell.key, flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add_sweep("abc", "{}")
        opened.put_all([(cell, GOOD) for cell in cells(60)])
    return path


def folder(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(path.parent.iterdir()) if p.is_file()}


def writer(store: Path, limit: int = 0) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(store), str(limit)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def verify(store: Path) -> int:
    with Store.read(store) as opened:
        return opened.verify()


# --- rows ---


def test_rows_are_read_back(store: Path) -> None:
    first, *_ = cells(1)
    with Store.read(store) as opened:
        assert opened.outcome(first.key) == GOOD
        assert opened.outcome("missing") is None
        assert opened.status(first.key) == DONE
        assert len(opened.statuses()) == 60
        assert opened.counts() == {DONE: 60}
        assert opened.sweeps() == {"abc": "{}"}
        keys = ["missing", *(cell.key for cell in cells(3))]
        assert list(opened.outcomes(keys)) == [(key, GOOD) for key in keys[1:]]
        assert opened.verify() == 60


def test_closed_store_is_one_file_in_wal_mode(store: Path) -> None:
    assert list(folder(store)) == [store.name]
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_counting_reads_no_results(store: Path) -> None:
    with closing(sqlite3.connect(store)) as database:
        query = "EXPLAIN QUERY PLAN SELECT status, count(*) FROM cells GROUP BY status"
        assert "COVERING INDEX" in str(database.execute(query).fetchall())


def test_failed_cells_are_replaced_and_done_cells_are_not(tmp_path: Path) -> None:
    (cell,) = cells(1)
    with Store.open(tmp_path / "s") as opened:
        opened.put(cell, BAD)
        assert opened.outcome(cell.key) == BAD
        opened.put(cell, GOOD)
        opened.put(cell, BAD)
        assert opened.outcome(cell.key) == GOOD


def test_rows_are_committed_at_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as opened:
        for number, cell in enumerate(cells(3), start=1):
            opened.put(cell, GOOD)
            assert len(rows(tmp_path / "s")) == number


def test_stores_need_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    with Store.open(tmp_path / "s") as opened:
        opened.put(cells(1)[0], GOOD)
    assert len(rows(tmp_path / "s")) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        Store.open(tmp_path / "nowhere" / "s")


# --- faults ---


def test_two_processes_write_to_one_store(store: Path) -> None:
    """Rows of a killed process remain, and readers see all rows so far."""
    ours, counts = cells(260)[60:], []
    with writer(store) as process, Store.open(store) as opened:
        assert process.stdout is not None
        written = [process.stdout.readline().strip()]
        for cell in ours:
            opened.put(cell, GOOD)
            written.append(process.stdout.readline().strip())
            with Store.read(store) as reader:
                counts.append(sum(reader.counts().values()))
                assert reader.outcome(cell.key) == GOOD
        process.kill()
    assert counts == sorted(counts)
    with Store.read(store) as opened:
        assert {*written, *(cell.key for cell in ours)} <= set(opened.statuses())
        assert opened.verify() >= counts[-1] > 400
    assert list(folder(store)) == [store.name]


def test_writer_waits_for_the_lock_of_another(store: Path) -> None:
    *_, cell = cells(61)

    def put() -> None:
        with Store.open(store) as opened:
            opened.put(cell, GOOD)

    with closing(sqlite3.connect(store)) as other, ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN IMMEDIATE")
        future = pool.submit(put)
        with pytest.raises(TimeoutError):  # neither stored nor an error
            future.result(timeout=0.2)
        assert len(rows(store)) == 60
        other.execute("ROLLBACK")
        future.result(timeout=300)
    assert len(rows(store)) == 61


def test_full_disk_loses_no_row_and_the_store_is_continued(store: Path) -> None:
    with writer(store, limit=2_000_000) as process:
        output, message = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "StoreError" in message
    written = set(output.split())
    assert len(written) > 100
    with Store.open(store) as opened:
        assert written <= set(opened.statuses())
        opened.put(cells(61)[-1], GOOD)
        assert opened.verify() >= len(written)


@pytest.mark.parametrize("with_shm", [True, False])
def test_store_copied_within_a_checkpoint_is_read(store: Path, *, with_shm: bool) -> None:
    """A checkpoint copies pages from the -wal to the file in the order of their numbers."""
    with Store.open(store) as opened, closing(sqlite3.connect(store)) as other:
        other.execute("SELECT count(*) FROM cells").fetchall()  # the -wal is not truncated
        opened.put_all([(cell, GOOD) for cell in cells(300)])
        before = {suffix: Path(f"{store}{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    after, page = store.read_bytes(), 4096
    assert before["-wal"]
    for copied in range(0, len(after) + page, 5 * page // 2):
        copy = store.with_name("copy")
        copy.write_bytes(after[:copied] + before[""][copied:])
        Path(f"{copy}-wal").write_bytes(before["-wal"])
        Path(f"{copy}-shm").unlink(missing_ok=True)
        if with_shm:
            Path(f"{copy}-shm").write_bytes(before["-shm"])
        with Store.open(copy) as opened:
            assert opened.verify() == 300


def test_store_is_usable_after_a_failed_transaction(store: Path) -> None:
    bad, good = cells(62)[60:]
    impossible: Any = object()  # SQLite has no type for it
    with Store.open(store) as opened:
        with pytest.raises(StoreError, match="SQLite"):
            opened.put(bad, CellOutcome(status=DONE, result=impossible))
        opened.put(good, CellOutcome(status=DONE, result=b"1"))
        assert opened.status(bad.key) is None
        assert opened.status(good.key) == DONE


def test_deleted_or_replaced_store_is_not_written(store: Path) -> None:
    with Store.open(store) as opened:
        copy = store.with_name("copy")
        shutil.copyfile(store, copy)
        copy.replace(store)
        with pytest.raises(StoreError, match="replaced"):
            opened.put(cells(61)[-1], GOOD)
        store.unlink()
        with pytest.raises(StoreError, match="replaced"):
            opened.put(cells(61)[-1], GOOD)


# --- other files, and damage ---


def make_text(path: Path) -> None:
    path.write_text("text of another program\n" * 100)


def make_empty(path: Path) -> None:
    path.touch()


def make_folder(path: Path) -> None:
    path.mkdir()


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE cells (key TEXT)")


def make_later_format(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 999")


def make_without_a_table(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE sweeps")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (make_text, "file is not a database"),
        (make_empty, "which is empty"),
        (make_folder, "which is a folder"),
        (make_foreign, "which is a database of another program"),
        (make_later_format, "which has format 999"),
        (make_without_a_table, "a table is missing"),
    ],
)
def test_other_files_are_not_changed(
    make: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.sqlite"
    make(path)
    before = folder(path)
    for opened in (Store.open, Store.read):
        with pytest.raises(StoreError, match=message):
            opened(path)
    assert folder(path) == before


def test_truncated_store_is_reported(store: Path) -> None:
    content = store.read_bytes()
    for size in (1, 99, 100, 4096, 5000, len(content) // 2, len(content) - 100):
        store.write_bytes(content[:size])
        with pytest.raises(StoreError):
            verify(store)


def test_changed_row_is_reported_when_it_is_read(store: Path) -> None:
    content = store.read_bytes()
    position = content.index(GOOD.result)
    store.write_bytes(content[:position] + b"\x01" + content[position + 1 :])
    with Store.read(store) as opened:
        damaged = []
        for key in opened.statuses():
            try:
                assert opened.outcome(key) == GOOD
            except StoreError:
                damaged.append(key)
        assert len(damaged) == 1
        with pytest.raises(StoreError, match=f"undamaged.* row {damaged[0]}"):
            opened.verify()


def test_verify_reports_every_change_of_a_row(store: Path) -> None:
    content, expected = store.read_bytes(), rows(store)
    rng, reported = random.Random(0), 0
    for position in sorted(rng.sample(range(len(content)), 60)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.randrange(8)
        store.write_bytes(damaged)
        try:
            verify(store)
        except StoreError:
            reported += 1
        else:
            assert rows(store) == expected
    assert reported > 20


def test_read_only_store_is_read_but_not_written(store: Path) -> None:
    os.chmod(store, 0o444)
    before = folder(store)
    with pytest.raises(StoreError, match="read-only"):
        Store.open(store)
    assert verify(store) == 60
    assert folder(store) == before
