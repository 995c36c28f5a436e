"""Sweeps that are killed, interrupted or run twice at once end as if nothing had happened."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import doubletrouble as dt
from doubletrouble.errors import require
from tests.runs.work import Row, rows

pytestmark = pytest.mark.xdist_group("processes")

GRID = """
features_per_dim = "0.2:5:log:10"
ridge = "1e-3:10:log:6"
dim = 30
seed = [0, 1]
n_data = 6
n_init = 3
ensembles = [1, 2, {scheme = "divide", n_members = 2}]
"""
# Our workers have one thread each, whatever the machine is told.
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "2"}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(scope="module")
def undisturbed(grid: Path) -> dict[str, Row]:
    store = grid.with_name("undisturbed.sqlite")
    result = dt.Sweep.from_toml(grid).run(store, workers=2, progress=False)
    assert result.status.done == 120
    return rows(store)


def start(grid: Path, store: Path, *options: str) -> subprocess.Popen[str]:
    """A sweep with all its processes in a group of their own."""
    command = [sys.executable, "-m", "doubletrouble.cli.main", "sweep", "run", str(grid)]
    return subprocess.Popen(
        [*command, "--store", str(store), "--workers", "2", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=ENVIRONMENT,
    )  # fmt: skip


def wait_for_rows(store: Path, count: int) -> None:
    give_up = time.monotonic() + 60
    while not store.exists() or len(rows(store)) < count:
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_killed_at_ten_moments(grid: Path, undisturbed: dict[str, Row], tmp_path: Path) -> None:
    store, moment = tmp_path / "s.sqlite", random.Random(7)
    stored = [0]
    for number in range(10):
        sweep = start(grid, store, "--quiet")
        if number % 2:
            time.sleep(moment.uniform(0.0, 1.5))  # as likely as not before the first cell
        else:
            wait_for_rows(store, min(stored[-1] + 1, 120))
            time.sleep(moment.uniform(0.0, 0.3))
        os.killpg(sweep.pid, signal.SIGKILL)
        sweep.communicate()
        stored.append(len(rows(store)) if store.exists() else 0)
    assert stored == sorted(stored)  # nothing stored is lost
    assert any(0 < count < 120 for count in stored)
    with start(grid, store, "--quiet") as sweep:
        sweep.communicate()
    assert sweep.returncode == 0
    assert rows(store) == undisturbed
    assert [p.name for p in tmp_path.glob("s.sqlite*")] == ["s.sqlite"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal(
    number: signal.Signals, code: int, grid: Path, undisturbed: dict[str, Row], tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as sweep:
        wait_for_rows(store, 3)
        if number == signal.SIGINT:
            os.killpg(sweep.pid, number)  # as the terminal does: to everyone
        else:
            sweep.send_signal(number)
        out, said = sweep.communicate(timeout=60)
    kept = rows(store)
    assert sweep.returncode == code
    assert said == (
        f"stopped with {len(kept)} of 120 cells stored in {store}; "
        "run the same sweep again to go on\n"
    )
    assert out == ""
    assert 3 <= len(kept) < 120
    assert kept.items() <= undisturbed.items()


def test_two_processes_share_a_store(
    grid: Path, undisturbed: dict[str, Row], tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as one, start(grid, store, "--quiet") as other:
        said = [one.communicate(timeout=120), other.communicate(timeout=120)]
    assert [one.returncode, other.returncode] == [0, 0], said
    assert rows(store) == undisturbed
    assert dt.Sweep.from_toml(grid).status(store).done == 120


def test_progress_tells_the_time_left(grid: Path, tmp_path: Path) -> None:
    with start(grid, tmp_path / "s.sqlite") as sweep:
        out, said = sweep.communicate(timeout=120)
    assert re.search(r"\d+/120 \[\d\d:\d\d<\d\d:\d\d", said)  # so much done, so much time left
    assert "120/120 [" in said
    assert "%|" not in out


@pytest.mark.parametrize("workers", [1, 4])
def test_the_same_rows_with_any_number_of_workers(
    workers: int, grid: Path, undisturbed: dict[str, Row], tmp_path: Path
) -> None:
    dt.Sweep.from_toml(grid).run(tmp_path / "s", workers=workers, progress=False)
    assert rows(tmp_path / "s") == undisturbed


def test_the_same_rows_when_a_dask_worker_is_killed(
    grid: Path, undisturbed: dict[str, Row], tmp_path: Path
) -> None:
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with require("distributed", "cluster").LocalCluster(**size) as cluster:
        (worker, *_) = cluster.workers.values()

        def kill() -> None:
            wait_for_rows(tmp_path / "s", 5)
            os.kill(worker.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        sweep = dt.Sweep.from_toml(grid)
        sweep.run(tmp_path / "s", scheduler=cluster.scheduler_address, progress=False)
        killer.join()
    assert rows(tmp_path / "s") == undisturbed


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import doubletrouble as dt\n"
        "print('begin')\n"
        "sweep = dt.Sweep(seed=range(4), dim=10, n_data=2, n_init=2)\n"
        "print(sweep.run('s.sqlite', workers=2, progress=False))\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "begin\n4 of 4 cells done, 0 failed, in s.sqlite\n"
    assert done.stderr == ""


def test_workers_end_with_their_parent(grid: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as sweep:
        wait_for_rows(store, 1)
        sweep.kill()
        sweep.communicate(timeout=60)  # returns when nobody holds the pipes any more
    assert sweep.returncode == -signal.SIGKILL


def test_a_lost_wal_costs_nothing(grid: Path, undisturbed: dict[str, Row], tmp_path: Path) -> None:
    """What is stored lies in the file itself, whatever happens to the files beside it."""
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as sweep:
        wait_for_rows(store, 5)
        os.killpg(sweep.pid, signal.SIGKILL)
        sweep.communicate(timeout=60)
    before = len(rows(store))
    for beside in tmp_path.glob("s.sqlite-*"):
        beside.unlink()
    kept = rows(store)
    assert before - 1 <= len(kept) <= before
    assert kept.items() <= undisturbed.items()
