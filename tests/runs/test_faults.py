"""Sweeps that are killed, interrupted or run twice at once have the rows of one run."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import doubletrouble as dt
from benchmarks.kills import GRID, Rows, kill_at_random, rows, start, workers_of

pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture(scope="module")
def undisturbed(grid: Path) -> Rows:
    store = grid.with_name("undisturbed.sqlite")
    result = dt.Sweep.from_toml(grid).run(store, workers=2, progress=False)
    assert result.status.done == 120
    return rows(store)


def wait_for_rows(store: Path, count: int) -> None:
    give_up = time.monotonic() + 60
    while len(rows(store)) < count:
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_five_random_kills_change_nothing(grid: Path, undisturbed: Rows, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    kill_at_random(grid, store, 5, seed=1)
    assert rows(store) == undisturbed
    assert [p.name for p in tmp_path.glob("s.sqlite*")] == ["s.sqlite"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_with_a_message(
    number: signal.Signals, code: int, grid: Path, undisturbed: Rows, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as sweep:
        wait_for_rows(store, 3)
        if number == signal.SIGINT:
            os.killpg(sweep.pid, number)  # as a terminal does: to all processes
        else:
            sweep.send_signal(number)
        out, message = sweep.communicate(timeout=60)
    stored = rows(store)
    assert sweep.returncode == code
    assert message == (
        f"stopped with {len(stored)} of 120 cells stored in {store}; "
        "run the same sweep again to go on\n"
    )
    assert out == ""
    assert 3 <= len(stored) < 120
    assert stored.items() <= undisturbed.items()


def test_two_processes_share_a_store(grid: Path, undisturbed: Rows, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with start(grid, store, "--quiet") as one, start(grid, store, "--quiet") as other:
        messages = [one.communicate(timeout=120), other.communicate(timeout=120)]
    assert [one.returncode, other.returncode] == [0, 0], messages
    assert rows(store) == undisturbed


def test_rows_do_not_depend_on_the_number_of_workers(
    grid: Path, undisturbed: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dt.Sweep.from_toml(grid).run(tmp_path / "s", workers=1)
    assert rows(tmp_path / "s") == undisturbed
    assert re.fullmatch(r"(\d+/720 draws \(\d+ %\), .*left\n)*", capsys.readouterr().err)


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
        workers = workers_of(sweep.pid)
        sweep.kill()
        sweep.communicate(timeout=30)  # returns when no process holds the pipes any more
    assert len(workers) == 2
