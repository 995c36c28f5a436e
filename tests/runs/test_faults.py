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
from benchmarks.kills import (
    LARGE,
    N_LARGE,
    N_SMALL,
    SMALL,
    Rows,
    kill_at_random,
    rows,
    start,
    workers_of,
)
from doubletrouble.cli import main
from doubletrouble.runs import Store, run_cells
from doubletrouble.runs._executors import attempt
from doubletrouble.simulation import simulate_cell
from tests.runs import work as w

pytestmark = pytest.mark.xdist_group("processes")

# without a guard of the main module
SCRIPT = """
import sys
from doubletrouble.cli import main
from doubletrouble.runs import Store, backend, run_cells
from tests.runs import work as w
print("begin", flush=True)
with Store.open(sys.argv[1]) as store:
    cells = w.cells(8, flag=sys.argv[2])
    two = backend(None, 2, None)
    list(run_cells(cells, w.waits_from_the_fourth, store, two, progress=False))
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    store = tmp_path_factory.mktemp("faults") / "undisturbed.sqlite"
    with start(store, SMALL) as sweep:
        _, message = sweep.communicate(timeout=120)
    assert sweep.returncode == 0, message
    assert len(rows(store)) == N_SMALL
    return rows(store)


def wait_for_rows(store: Path, count: int) -> None:
    give_up = time.monotonic() + 120
    while len(rows(store)) < count:
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_killed_parent_loses_no_row_and_workers_end_with_it(tmp_path: Path) -> None:
    store, flag, script = (tmp_path / name for name in ("s.sqlite", "flag", "script.py"))
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, script, store, flag],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        wait_for_rows(store, 3)
        workers = workers_of(parent.pid)
        parent.kill()
        # returns when no process holds the pipes any more
        output, message = parent.communicate(timeout=120)
    assert len(workers) == 2, message
    assert output == "begin\n"
    before = rows(store)
    assert len(before) == 3
    flag.touch()
    cells = w.cells(8, flag=str(flag))
    for path in (store, tmp_path / "undisturbed"):
        with Store.open(path) as opened:
            work = w.waits_from_the_fourth
            assert len(list(run_cells(cells, work, opened, progress=False))) == 8
    assert before.items() <= rows(store).items()
    assert rows(store) == rows(tmp_path / "undisturbed")
    assert not list(tmp_path.glob("s.sqlite-*"))


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full)],
)
def test_signal_stops_a_sweep_with_its_exit_code(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with start(store, LARGE) as sweep:
        wait_for_rows(store, 3)
        if number == signal.SIGINT:
            os.killpg(sweep.pid, number)  # as a terminal does: to all processes
        else:
            sweep.send_signal(number)
        out, message = sweep.communicate(timeout=120)
    stored = rows(store)
    assert sweep.returncode == code
    assert message.startswith(f"stopped with {len(stored)} of {N_LARGE} cells stored in {store}")
    assert message.count("\n") == 1
    assert out == ""
    assert 3 <= len(stored) < N_LARGE
    cells = {cell.key: cell for cell in dt.Sweep.from_store(store).cells()}
    for key in list(stored)[:3]:
        assert stored[key] == ("done", "", attempt(simulate_cell, cells[key].parameters).result)


@pytest.mark.full
def test_random_kills_change_no_row(undisturbed: Rows, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    kill_at_random(store, SMALL, N_SMALL, 5, seed=1)
    assert rows(store) == undisturbed
    assert [p.name for p in tmp_path.glob("s.sqlite*")] == ["s.sqlite"]


@pytest.mark.full
def test_two_sweeps_share_a_store(undisturbed: Rows, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with start(store, SMALL) as one, start(store, SMALL) as other:
        messages = [one.communicate(timeout=120), other.communicate(timeout=120)]
    assert [one.returncode, other.returncode] == [0, 0], messages
    assert rows(store) == undisturbed


@pytest.mark.full
def test_rows_do_not_depend_on_the_number_of_workers(
    undisturbed: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for word in SMALL if word != "--quiet"]
    assert main(["sweep", "run", str(tmp_path / "s"), "--workers", "1", *words]) == 0
    assert rows(tmp_path / "s") == undisturbed
    assert re.fullmatch(r"(\d+/720 draws \(\d+%\), .*left\n)*", capsys.readouterr().err)


@pytest.mark.full
def test_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import doubletrouble as dt\n"
        "print('begin')\n"
        "sweep = dt.Sweep(dt.Problem(), seed=range(4), dim=10, n_data=2, n_init=2)\n"
        "print(sweep.run('s.sqlite', workers=2, progress=False))\n"
    )
    words = [sys.executable, str(script)]
    done = subprocess.run(
        words, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.startswith("begin\n4 of 4 cells done, 0 failed, in s.sqlite\n")
    assert done.stdout.count("begin") == 1
    assert done.stderr == ""
