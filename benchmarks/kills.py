"""Sweeps under random SIGKILLs of the parent, of a worker, or of all processes at once.

After every kill each row that was stored before is still there, and in the end all rows are equal,
bit for bit, to those of a run without kills.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from doubletrouble.runs import Store

FLAGS = (
    *("--features-per-dim", "0.2:5:log:10", "--ridge", "1e-3:10:log:6", "--dim", "30"),
    *("--n-data", "6", "--n-init", "3", "--scheme", "ensemble,divide", "-K", "1,2", "--quiet"),
)
SMALL = (*FLAGS, "--seed", "0,1")
LARGE = (*FLAGS, "--seed", "0:39:linear:40")
N_SMALL, N_LARGE = 120, 2400
"""Cells of the sweeps."""

VICTIMS = ("parent", "worker", "all")

Rows = dict[str, tuple[str, str, bytes]]


def rows(store: Path) -> Rows:
    """The columns that are equal in every run."""
    if not store.exists():
        return {}
    with closing(sqlite3.connect(store, timeout=60)) as database:
        query = "SELECT key, status, message, result FROM cells"
        return {key: tuple(row) for key, *row in database.execute(query)}


def n_rows(store: Path) -> int:
    """The number of rows so far."""
    if not store.exists():
        return 0
    with Store.read(store) as opened:
        return sum(opened.counts().values())


def start(store: Path, flags: Sequence[str]) -> subprocess.Popen[str]:
    """A sweep with two workers, in a process group of its own."""
    command = [sys.executable, "-m", "doubletrouble", "sweep", "run", str(store)]
    return subprocess.Popen(
        [*command, "--workers", "2", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def workers_of(parent: int) -> list[int]:
    """The process ids of the workers of a sweep."""
    words = ["pgrep", "-P", str(parent), "-f", "popen_loky"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(number) for number in done.stdout.split()]


def kill(sweep: subprocess.Popen[str], victim: str) -> bool:
    """Kill one process of a sweep, or all; whether there was one."""
    if victim == "worker":
        workers = workers_of(sweep.pid)
        for worker in workers[:1]:
            os.kill(worker, signal.SIGKILL)
        return bool(workers)
    if sweep.poll() is not None:
        return False
    os.killpg(sweep.pid, signal.SIGKILL) if victim == "all" else sweep.kill()
    return True


def kill_at_random(
    store: Path, flags: Sequence[str], total: int, kills: int, seed: int
) -> dict[str, int]:
    """Run a sweep of `total` cells, kill it again and again, and let it finish: kills by victim.

    A kill comes some rows after the one before, at random, so that the sweep lasts for all kills.
    """
    rng, done = random.Random(seed), dict.fromkeys(VICTIMS, 0)
    rows_per_kill = total // (kills + 1)
    stored: Rows = {}
    while (count := sum(done.values())) < kills:
        with start(store, flags) as sweep:
            while sweep.poll() is None and count < kills:
                wanted = len(stored) + rng.randrange(rows_per_kill)
                while sweep.poll() is None and n_rows(store) < wanted:
                    time.sleep(0.02)
                time.sleep(rng.uniform(0.0, 0.2))
                victim = VICTIMS[count % len(VICTIMS)]
                done[victim] += kill(sweep, victim)
                if victim != "worker":
                    break
                time.sleep(0.1)  # until a killed worker is noticed
                count = sum(done.values())
            sweep.kill()
            sweep.communicate()
        now = rows(store)
        assert stored.items() <= now.items(), "a stored row was lost or changed"
        if len(now) == len(stored) == total:  # finished before all kills
            break
        stored = now
    with start(store, flags) as sweep:
        _, message = sweep.communicate()
    assert sweep.returncode == 0, message
    return done


def main(kills: int = 100) -> None:
    with TemporaryDirectory() as folder:
        store, undisturbed = Path(folder) / "s.sqlite", Path(folder) / "undisturbed.sqlite"
        begin = time.perf_counter()
        done = kill_at_random(store, LARGE, N_LARGE, kills, seed=7)
        seconds = time.perf_counter() - begin
        with start(undisturbed, LARGE) as sweep:
            _, message = sweep.communicate()
        assert sweep.returncode == 0, message
        expected, result = rows(undisturbed), rows(store)
        with Store.read(store) as opened:
            sound = opened.verify()
    equal = sum(result.get(key) == row for key, row in expected.items())
    print(f"kills: {', '.join(f'{n} {victim}' for victim, n in done.items())}, in {seconds:.0f} s")
    print(f"rows equal to those without kills: {equal} of {len(expected)}; sound: {sound}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
