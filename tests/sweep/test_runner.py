"""The runner with work of any kind: failures, deaths, and the same bits wherever it runs."""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.errors import ExecutorError, SweepInterrupted, require
from doubletrouble.runs import Cell, Store, Work, decode, run_cells
from doubletrouble.runs._engine import MOST_DEATHS
from tests.sweep import work as w

pytestmark = pytest.mark.xdist_group("processes")


def run(path: Path, cells: list[Cell], work: Work, **options: Any) -> dict[str, w.Row]:
    with Store.open(path) as store:
        for _ in run_cells(cells, work, store, progress=False, **options):
            pass
    return w.rows(path)


class AtOnce(Executor):
    """The simplest executor there is: it computes in `submit`."""

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **options))
        return future


class Crowded(AtOnce):
    """Notes how many cells it has been handed; another process has finished some before it."""

    def __init__(self, path: Path, others: list[Cell]) -> None:
        self.path, self.others, self.handed = path, others, 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        if not self.handed:
            run(self.path, self.others, w.odd_ones_fail, executor=AtOnce())
        self.handed += 1
        return super().submit(function, *arguments, **options)


# --- failures ------------------------------------------------------------------------------------


def test_a_cell_that_raises_is_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = run(tmp_path / "s", w.cells(5), w.odd_ones_fail, executor=AtOnce())
    said = [(status, message) for _, status, message, _ in (found[c.key] for c in w.cells(5))]
    done = ("done", "")
    assert said == [
        done, ("failed", "ArithmeticError: 1 is odd"), done,
        ("failed", "ArithmeticError: 3 is odd"), done,
    ]  # fmt: skip


def test_failed_cells_stay_so_until_they_are_tried_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    cells = w.cells(3, flag=str(flag))
    first = run(tmp_path / "s", cells, w.fails_until_told, executor=AtOnce())
    assert first[cells[1].key][1:3] == ("failed", "OSError: not yet")
    flag.touch()
    assert run(tmp_path / "s", cells, w.fails_until_told, executor=AtOnce()) == first
    again = run(tmp_path / "s", cells, w.fails_until_told, executor=AtOnce(), retry=True)
    assert again[cells[1].key][1:3] == ("done", "")


def test_leaving_the_process_is_a_failure_of_the_cell(tmp_path: Path) -> None:
    found = run(tmp_path / "s", w.cells(2), w.leaves, workers=1)
    assert [row[2] for row in found.values()] == [f"SystemExit: leaving at {x}" for x in (0, 1)]


def test_cells_finished_by_another_process_are_skipped(tmp_path: Path) -> None:
    crowded = Crowded(tmp_path / "s", w.cells(8)[2:])
    found = run(tmp_path / "s", w.cells(8), w.odd_ones_fail, executor=crowded)
    assert len(found) == 8
    assert crowded.handed == 2


# --- deaths --------------------------------------------------------------------------------------


def test_a_killed_worker_costs_time_not_data(tmp_path: Path) -> None:
    cells = w.cells(8, flag=str(tmp_path / "flag"))
    found = run(tmp_path / "s", cells, w.second_dies_once, workers=2)
    assert {row[1] for row in found.values()} == {"done"}
    assert len(found) == 8


def test_a_cell_that_kills_every_worker_is_found_out(tmp_path: Path) -> None:
    cells = w.cells(5)
    found = run(tmp_path / "s", cells, w.second_always_dies, workers=2)
    assert [found[c.key][1] for c in cells] == ["done", "failed", "done", "done", "done"]
    assert found[cells[1].key][2] == (
        "3 worker processes died while computing this cell, killed or out of memory"
    )


def test_workers_killed_from_outside_blame_nobody(tmp_path: Path) -> None:
    cells, stop = w.cells(40, seconds=0.05), threading.Event()

    def kill() -> None:
        for _ in range(MOST_DEATHS - 1):
            if stop.wait(0.5):
                return
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, 9)

    killer = threading.Thread(target=kill)
    killer.start()
    found = run(tmp_path / "s", cells, w.slow, workers=2)
    stop.set()
    killer.join()
    assert [found[c.key][1] for c in cells] == ["done"] * 40


def test_a_worker_killed_while_it_sends_is_noticed(tmp_path: Path) -> None:
    cells = w.cells(3, flag=str(tmp_path / "flag"))
    found = run(tmp_path / "s", cells, w.dies_while_sending, workers=2)
    assert {row[1] for row in found.values()} == {"done"}


def test_somebody_elses_executor_that_breaks_stops_the_run(tmp_path: Path) -> None:
    cells = w.cells(6, flag=str(tmp_path / "flag"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(ExecutorError, match=r"of 6 cells stored in .*/s; run the same sweep"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
        with pytest.raises(ExecutorError, match="the executor broke"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
    assert len(run(tmp_path / "s", cells, w.second_dies_once, executor=AtOnce())) == 6


def test_an_executor_that_was_shut_down_stops_the_run(tmp_path: Path) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorError, match="takes no cells: cannot schedule new futures"):
        run(tmp_path / "s", w.cells(2), w.square, executor=pool)


def test_work_that_cannot_be_sent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="work must be a function processes can import"):
        run(tmp_path / "s", w.cells(2), lambda parameters: parameters, workers=1)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    class Impatient(AtOnce):
        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            if arguments[1]["x"] == 3:
                raise KeyboardInterrupt
            return super().submit(function, *arguments, **options)

    with pytest.raises(SweepInterrupted) as caught:
        run(tmp_path / "s", w.cells(9), w.odd_ones_fail, executor=Impatient())
    assert str(caught.value) == (
        f"stopped with 3 of 9 cells stored in {tmp_path / 's'}; run the same sweep again to go on"
    )
    assert len(w.rows(tmp_path / "s")) == 3


# --- where it runs -------------------------------------------------------------------------------


@contextmanager
def dask_cluster() -> Iterator[Any]:
    LocalCluster = require("distributed", "cluster").LocalCluster
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**size) as cluster:
        yield cluster


def test_the_same_bits_wherever_it_runs(tmp_path: Path) -> None:
    """A large matrix product is added up in another order when BLAS has more threads."""
    cells = w.cells(12)
    one = run(tmp_path / "one", cells, w.square, workers=1)
    assert len(one) == 12
    assert run(tmp_path / "two", cells, w.square, workers=2) == one
    assert run(tmp_path / "four", cells, w.square, workers=4) == one
    with ThreadPoolExecutor(3) as threads:
        assert run(tmp_path / "threads", cells, w.square, executor=threads) == one
    assert run(tmp_path / "local", cells, w.square, scheduler="local", workers=2) == one


def test_a_killed_dask_worker_costs_time_not_data(tmp_path: Path) -> None:
    Client = require("distributed", "cluster").Client
    cells = w.cells(30, seconds=0.1)
    with dask_cluster() as cluster:

        def kill() -> None:
            while len(w.rows(tmp_path / "s")) < 5:
                time.sleep(0.05)
            os.kill(next(iter(cluster.workers.values())).pid, 9)

        Store.open(tmp_path / "s").close()
        killer = threading.Thread(target=kill)
        killer.start()
        found = run(tmp_path / "s", cells, w.slow, scheduler=cluster.scheduler_address)
        killer.join()
        assert {row[1] for row in found.values()} == {"done"}
        with Client(cluster, set_as_default=False) as client:
            for number, executor in enumerate((client, client.get_executor())):
                assert (
                    len(run(tmp_path / f"{number}", w.cells(3), w.square, executor=executor)) == 3
                )
    assert found == run(tmp_path / "undisturbed", cells, w.slow, executor=AtOnce())


def test_a_cell_that_kills_dask_workers_is_found_out(tmp_path: Path) -> None:
    cells = w.cells(4)
    found = run(tmp_path / "s", cells, w.second_always_dies, scheduler="local", workers=2)
    assert [found[c.key][1] for c in cells] == ["done", "failed", "done", "done"]
    assert found[cells[1].key][2].startswith("several Dask workers died while computing this cell")


def test_workers_have_one_thread_and_the_parent_keeps_its_own(tmp_path: Path) -> None:
    before, main = dict(os.environ), sys.modules["__main__"]
    ((_, _, _, result),) = run(tmp_path / "s", w.cells(1), w.environment, workers=1).values()
    found = decode(result)
    assert found["threads"] == ["1", "1", "1"]
    assert found["pid"] != os.getpid()
    assert dict(os.environ) == before
    assert sys.modules["__main__"] is main
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
        ({"workers": 2.5}, "workers must be a whole number of at least 1, got 2.5"),
        ({"executor": 3}, "executor must have a method submit, got int"),
        ({"executor": AtOnce(), "workers": 2}, "workers must be left out when executor is given"),
        ({"scheduler": "tcp://a:1", "workers": 2}, "scheduler must be left out when workers is"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "scheduler must be 'local' or the address of a"),
        ({"scheduler": "nonsense:x"}, "scheduler must be 'local' or the address of a"),
    ],
)
def test_bad_places_are_refused(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError, ExecutorError)) as caught:
        run(tmp_path / "s", w.cells(1), w.square, **options)
    assert str(caught.value).startswith(said)
