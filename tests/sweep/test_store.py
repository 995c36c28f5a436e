"""The store: what it keeps, and which files it leaves alone."""

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from doubletrouble.errors import StoreError
from doubletrouble.runs import DONE, FAILED, CellOutcome, Store
from tests.sweep.work import cells, rows

GOOD = CellOutcome(status=DONE, result=b"\x00\xff numbers", seconds=0.5)
BAD = CellOutcome(status=FAILED, message="ValueError: no \x00 😀")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add_sweep("abc", "{}")
        for cell in cells(60):
            opened.put(cell, GOOD)
    return path


def folder(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(path.parent.iterdir()) if p.is_file()}


def refused(path: Path) -> str:
    """The sentence, after making sure that nothing was touched by reading or writing."""
    before = folder(path)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    with pytest.raises(StoreError):
        Store.read(path)
    assert folder(path) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what it keeps -------------------------------------------------------------------------------


def test_rows_come_back(store: Path) -> None:
    first, *_ = cells(1)
    with Store.read(store) as opened:
        assert opened.outcome(first.key) == GOOD
        assert opened.outcome("nothing") is None
        assert opened.status(first.key) == DONE
        assert len(opened.statuses()) == 60
        assert opened.sweeps() == {"abc": "{}"}


def test_a_closed_store_is_one_file_in_wal_mode(store: Path) -> None:
    assert list(folder(store)) == [store.name]
    with closing(sqlite3.connect(store)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_failure_may_be_replaced_but_never_what_is_done(tmp_path: Path) -> None:
    (cell,) = cells(1)
    with Store.open(tmp_path / "s") as opened:
        opened.put(cell, BAD)
        assert opened.outcome(cell.key) == BAD
        opened.put(cell, GOOD)
        opened.put(cell, BAD)
        assert opened.outcome(cell.key) == GOOD


def test_a_row_is_committed_at_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as opened:
        for number, cell in enumerate(cells(3), start=1):
            opened.put(cell, GOOD)
            assert len(rows(tmp_path / "s")) == number


def test_what_a_killed_process_wrote_is_there(store: Path) -> None:
    code = (
        "import os, sys; from doubletrouble.runs._store import *\n"
        "from tests.sweep.work import cells\n"
        "opened = Store.open(sys.argv[1])\n"
        "for cell in cells(100): opened.put(cell, CellOutcome(status=DONE))\n"
        "os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, store], check=False, timeout=60)
    assert killed.returncode == -9
    assert f"{store.name}-wal" in folder(store)
    with Store.read(store) as opened:
        assert len(opened.statuses()) == 100
    assert list(folder(store)) == [store.name]


def test_a_store_copied_with_its_wal_alone_is_read(store: Path) -> None:
    with Store.open(store) as opened:
        opened.put(cells(61)[-1], GOOD)
        copy = store.with_name("copy")
        for suffix in ("", "-wal"):
            Path(f"{copy}{suffix}").write_bytes(Path(f"{store}{suffix}").read_bytes())
    with Store.read(copy) as opened:
        assert len(opened.statuses()) == 61


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    with Store.open(tmp_path / "s") as opened:
        opened.put(cells(1)[0], GOOD)
    assert len(rows(tmp_path / "s")) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_a_store_deleted_in_use_takes_no_more(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as opened:
        (tmp_path / "s").unlink()
        with pytest.raises(StoreError, match="was moved or deleted"):
            opened.put(cells(1)[0], GOOD)


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used: No such file or directory"):
        Store.open(tmp_path / "nowhere" / "s")


# --- which files it leaves alone -----------------------------------------------------------------


def make_text(path: Path) -> None:
    path.write_text("my only copy of the thesis\n" * 100)


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


def make_other_tables(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (note TEXT)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (make_text, "which SQLite cannot read (file is not a database)"),
        (make_empty, "which is empty"),
        (make_folder, "which is a folder"),
        (make_foreign, "which is a database of another program"),
        (make_later_format, "which has format 999, while this version reads format 1"),
        (make_other_tables, "where the tables are not those of a sweep"),
    ],
)
def test_foreign_files_are_refused_and_untouched(
    make: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.sqlite"
    make(path)
    assert said in refused(path)


@pytest.mark.parametrize("keep", [1, 99, 100, 4096, 5000, 0.5, 0.99])
def test_a_truncated_store_is_refused(store: Path, keep: float) -> None:
    content = store.read_bytes()
    store.write_bytes(content[: int(keep if keep >= 1 else keep * len(content))])
    refused(store)


def test_a_changed_row_is_refused(store: Path) -> None:
    content = store.read_bytes()
    place = content.index(GOOD.result)
    store.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    said = refused(store)
    assert "of cells has changed" in said
    assert said.count("store must be undamaged") == 1


def test_damage_anywhere_is_refused_or_harmless(store: Path) -> None:
    """Every flipped bit is either noticed, or changes no row."""
    content, expected = store.read_bytes(), rows(store)
    rng, noticed = random.Random(0), 0
    for place in sorted(rng.sample(range(len(content)), 60)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        store.write_bytes(damaged)
        try:
            Store.read(store).close()
        except StoreError:
            noticed += 1
            assert store.read_bytes() == damaged
        else:
            assert rows(store) == expected
    assert noticed > 20


def test_damage_beside_a_wal_is_refused_and_untouched(store: Path) -> None:
    with Store.open(store) as opened:
        opened.put(cells(61)[-1], GOOD)
        content = {s: Path(f"{store}{s}").read_bytes() for s in ("", "-wal")}
    for suffix, half in content.items():
        Path(f"{store}{suffix}").write_bytes(half)
    place = content[""].index(GOOD.result)
    store.write_bytes(content[""][:place] + b"\x01" + content[""][place + 1 :])
    refused(store)


def test_a_read_only_store_is_read_but_not_written(store: Path) -> None:
    os.chmod(store, 0o444)
    before = folder(store)
    with pytest.raises(StoreError, match=r"store must be writable, got .*, which is read-only"):
        Store.open(store)
    with Store.read(store) as opened:
        assert len(opened.statuses()) == 60
    assert folder(store) == before
