"""The store: opening, appending, exporting, and states left by interrupted checkpoints."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import doubletrouble as dt
from benchmarks.timing import best_time
from doubletrouble.runs import DONE, Cell, CellOutcome, Store, encode
from doubletrouble.simulation import simulate_cell

ROWS = 100_000
STATES = 200
PAGE = 4096

EXPORT = r"""
import re, sys, time
import doubletrouble as dt
store, out = sys.argv[1:]
start = time.perf_counter(), time.process_time()
dt.Sweep.from_store(store).results(store).export(out)
wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
peak = re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]  # of this process alone
print(wall, cpu, int(peak) / 1024)
"""


def filled(path: Path, sweep: dt.Sweep) -> None:
    """A store with every cell of a sweep; cells that differ in their seed share a result."""
    results: dict[float, bytes] = {}
    with Store.open(path) as store:
        store.add_sweep(sweep.hash, sweep.specification)
        cells = sweep.cells()
        for start in range(0, len(cells), 5000):
            batch = []
            for cell in cells[start : start + 5000]:
                ridge = cell.parameters["ridge"]
                if ridge not in results:
                    results[ridge] = encode(simulate_cell(cell.parameters))
                batch.append((cell, CellOutcome(status=DONE, result=results[ridge])))
            store.put_all(batch)


def opening(path: Path) -> None:
    def count() -> None:
        with Store.read(path) as store:
            assert store.counts() == {DONE: ROWS}

    megabytes = path.stat().st_size / 1e6
    seconds = best_time(count)
    print(f"open and count {ROWS} rows ({megabytes:.0f} MB): {seconds * 1e3:.1f} ms (bar 50)")
    seconds = best_time(lambda: Store.read(path).verify(), repeats=1)
    print(f"verify them: {seconds:.1f} s")


def appending(path: Path) -> None:
    cells = [Cell.of("speed", 1, {"x": x}) for x in range(2000)]
    outcome = CellOutcome(status=DONE, result=b"x" * 1000)
    with Store.open(path) as store:
        start = time.perf_counter()
        for cell in cells:
            store.put(cell, outcome)
        each = len(cells) / (time.perf_counter() - start)
    with Store.open(path.with_name("groups")) as store:
        start = time.perf_counter()
        for k in range(0, len(cells), 10):
            store.put_all([(cell, outcome) for cell in cells[k : k + 10]])
        groups = len(cells) / (time.perf_counter() - start)
    print(f"append rows of 1 kB: {each:.0f} a second, {groups:.0f} in groups of 10 (bar 500)")


def exporting(path: Path) -> None:
    words = [sys.executable, "-c", EXPORT, str(path), str(path.with_suffix(".csv"))]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    wall, cpu, megabytes = map(float, done.stdout.split())
    print(
        f"export {ROWS} rows to CSV: {wall:.1f} s, {cpu:.1f} s of the processor (bar 5), "
        f"peak {megabytes:.0f} MB (bar 200)"
    )


def interrupted_checkpoints(folder: Path) -> None:
    """Copies of a store within a checkpoint: none is refused, and every row is read."""
    rng, path = random.Random(3), folder / "live"
    cells = [Cell.of("speed", 1, {"x": x}) for x in range(1000)]
    outcome = CellOutcome(status=DONE, result=os.urandom(3000))
    read = 0
    with Store.open(path) as store, closing(sqlite3.connect(path)) as other:
        store.put_all([(cell, outcome) for cell in cells[:100]])
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.execute("BEGIN").execute("SELECT count(*) FROM cells").fetchall()
        for cell in cells[100:]:
            store.put(cell, outcome)
        before = {suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    after = path.read_bytes()
    assert len(before["-wal"]) > len(before[""])
    for state in range(STATES):
        copy = folder / "copy"
        main = bytearray(before[""])
        copied = rng.randrange(0, len(after))  # bytes; a page may be written in part
        main[:copied] = after[:copied]
        if state % 3 == 0:  # pages in any order
            for _ in range(20):
                start = PAGE * rng.randrange(len(main) // PAGE)
                main[start : start + PAGE] = after[start : start + PAGE]
        copy.write_bytes(main)
        Path(f"{copy}-wal").write_bytes(before["-wal"])
        if state % 2:
            Path(f"{copy}-shm").write_bytes(before["-shm"])
        with Store.open(copy) as opened:
            read += opened.verify() == len(cells)
        for file in folder.glob("copy*"):
            file.unlink()
    print(f"states within a checkpoint: all rows read in {read} of {STATES}")


def full_disk(folder: Path) -> None:
    """A small file system that fills up, and is given more space."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        print("full disk: not measured, as no file system may be mounted")
        return
    try:
        written, path = 0, small / "s"
        outcome = CellOutcome(status=DONE, result=os.urandom(3000))
        cells = [Cell.of("speed", 1, {"x": x}) for x in range(1000)]
        try:
            with Store.open(path) as store:
                for cell in cells:
                    store.put(cell, outcome)
                    written += 1
        except ValueError as error:
            print(f"full disk after {written} rows: {error}")
        more = ["mount", "-o", "remount,size=20m", str(small)]
        subprocess.run(more, check=True)
        with Store.open(path) as store:
            read = store.verify()
            store.put_all([(cell, outcome) for cell in cells])
            print(f"with more space: {read} rows, then {store.verify()} of {len(cells)}")
    finally:
        subprocess.run(["umount", str(small)], check=False)


def reading_beside_a_writer(path: Path) -> None:
    code = (
        "import sys; from doubletrouble.runs import *\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    for x in range(10**6):\n"
        "        store.put(Cell.of('speed', 1, {'x': x}), CellOutcome(status=DONE, result=b'x'))\n"
    )
    Store.open(path).close()
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as writer:
        reads, end = 0, time.monotonic() + 10
        while time.monotonic() < end:
            with Store.read(path) as store:
                store.counts()
            reads += 1
        writer.kill()
    with Store.read(path) as store:
        print(f"beside a writer: {reads} reads without an error, {store.verify()} rows")


def main() -> None:
    shared = Path("/dev/shm")
    problem = dt.Problem(ridge=[0.1, 1.0])
    sweep = dt.Sweep(problem, dim=20, n_data=10, n_init=2, seed=range(ROWS // 8))
    single = dt.Sweep(problem, dim=20, n_data=10, n_init=2, seed=range(ROWS // 2), ensembles=1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        filled(folder / "cells.sqlite", single)
        opening(folder / "cells.sqlite")
        (folder / "cells.sqlite").unlink()
        appending(folder / "append")
        filled(folder / "table.sqlite", sweep)
        exporting(folder / "table.sqlite")
        interrupted_checkpoints(folder)
        full_disk(folder)
    with TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        reading_beside_a_writer(Path(name) / "s")


if __name__ == "__main__":
    main()
