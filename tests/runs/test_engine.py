"""The engine: failures, killed workers, and equal bits on every executor."""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.errors import ExecutorError, MissingExtraError, SweepInterrupted, require
from doubletrouble.runs import Cell, Store, Work, decode, run_cells
from doubletrouble.runs._engine import MOST_DEATHS
from tests.runs import work as w

pytestmark = pytest.mark.xdist_group("processes")


def run(path: Path, cells: list[Cell], work: Work, **options: Any) -> dict[str, w.Row]:
    with Store.open(path) as store:
        for _ in run_cells(cells, work, store, progress=False, **options):
            pass
    return w.rows(path)


class Crowded(w.AtOnce):
    """Counts the cells submitted; another process finishes some before the first."""

    def __init__(self, path: Path, others: list[Cell]) -> None:
        self.path, self.others, self.submitted = path, others, 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        if not self.submitted:
            run(self.path, self.others, w.odd_ones_fail, executor=w.AtOnce())
        self.submitted += 1
        return super().submit(function, *arguments, **options)


# --- failures ---


def test_errors_are_recorded_and_other_cells_computed(tmp_path: Path) -> None:
    stored = run(tmp_path / "s", w.cells(5), w.odd_ones_fail, executor=w.AtOnce())
    outcomes = [(status, message) for _, status, message, _ in (stored[c.key] for c in w.cells(5))]
    done = ("done", "")
    assert outcomes == [
        done,
        ("failed", "ArithmeticError: 1 is odd"),
        done,
        ("failed", "ArithmeticError: 3 is odd"),
        done,
    ]


def test_failed_cells_are_computed_again_with_retry_only(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    cells = w.cells(3, flag=str(flag))
    first = run(tmp_path / "s", cells, w.fails_without_a_flag, executor=w.AtOnce())
    assert first[cells[1].key][1:3] == ("failed", "OSError: not yet")
    flag.touch()
    assert run(tmp_path / "s", cells, w.fails_without_a_flag, executor=w.AtOnce()) == first
    again = run(tmp_path / "s", cells, w.fails_without_a_flag, executor=w.AtOnce(), retry=True)
    assert again[cells[1].key][1:3] == ("done", "")


def test_sys_exit_is_a_failure_of_the_cell(tmp_path: Path) -> None:
    stored = run(tmp_path / "s", w.cells(2), w.leaves, workers=1)
    assert [row[2] for row in stored.values()] == [f"SystemExit: leaving at {x}" for x in (0, 1)]


def test_cells_finished_by_another_process_are_skipped(tmp_path: Path) -> None:
    crowded = Crowded(tmp_path / "s", w.cells(8)[2:])
    stored = run(tmp_path / "s", w.cells(8), w.odd_ones_fail, executor=crowded)
    assert len(stored) == 8
    assert crowded.submitted == 2


# --- killed workers ---


def test_cells_of_a_killed_worker_are_computed_again(tmp_path: Path) -> None:
    cells = w.cells(8, flag=str(tmp_path / "flag"))
    stored = run(tmp_path / "s", cells, w.second_dies_once, workers=2)
    assert {row[1] for row in stored.values()} == {"done"}
    assert len(stored) == 8


def test_a_cell_that_kills_its_workers_fails(tmp_path: Path) -> None:
    cells = w.cells(5)
    stored = run(tmp_path / "s", cells, w.second_always_dies, workers=2)
    assert [stored[c.key][1] for c in cells] == ["done", "failed", "done", "done", "done"]
    assert stored[cells[1].key][2] == (
        "3 worker processes died while computing this cell, killed or out of memory"
    )


def test_workers_killed_from_outside_fail_no_cell(tmp_path: Path) -> None:
    cells, stop = w.cells(40, seconds=0.05), threading.Event()

    def kill() -> None:
        for _ in range(MOST_DEATHS - 1):
            if stop.wait(0.5):
                return
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, 9)

    killer = threading.Thread(target=kill)
    killer.start()
    stored = run(tmp_path / "s", cells, w.slow, workers=2)
    stop.set()
    killer.join()
    assert [stored[c.key][1] for c in cells] == ["done"] * 40


def test_a_worker_killed_while_it_sends_is_replaced(tmp_path: Path) -> None:
    cells = w.cells(3, flag=str(tmp_path / "flag"))
    stored = run(tmp_path / "s", cells, w.dies_while_sending, workers=2)
    assert {row[1] for row in stored.values()} == {"done"}


def test_a_broken_executor_of_the_user_stops_the_run(tmp_path: Path) -> None:
    cells = w.cells(6, flag=str(tmp_path / "flag"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(ExecutorError, match=r"of 6 cells stored in .*/s; run the same sweep"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
        with pytest.raises(ExecutorError, match="the executor broke"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
    assert len(run(tmp_path / "s", cells, w.second_dies_once, executor=w.AtOnce())) == 6


def test_an_executor_that_was_shut_down_stops_the_run(tmp_path: Path) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorError, match="takes no cells: cannot schedule new futures"):
        run(tmp_path / "s", w.cells(2), w.square, executor=pool)


def test_functions_defined_interactively_are_sent_to_workers() -> None:
    finished = run_cells(w.cells(2), lambda p: {"y": p["x"] + 1}, None, workers=2, progress=False)
    assert sorted(decode(outcome.result)["y"] for _, outcome in finished) == [1, 2]


def test_work_that_cannot_be_pickled_is_reported(tmp_path: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(ExecutorError, match="pickle"):
        run(tmp_path / "s", w.cells(2), lambda p: {"lock": lock}, workers=2)


def test_a_run_without_a_store_yields_every_outcome() -> None:
    finished = list(run_cells(w.cells(4), w.odd_ones_fail, None, workers=1, progress=False))
    assert [cell.parameters["x"] for cell, _ in finished] == [0, 1, 2, 3]
    assert [outcome.status for _, outcome in finished] == ["done", "failed"] * 2


def test_outcomes_are_yielded_as_they_finish(tmp_path: Path) -> None:
    cells = w.cells(6)
    run(tmp_path / "s", cells[3:], w.odd_ones_fail, workers=1)
    with Store.open(tmp_path / "s") as store:
        finished = run_cells(cells, w.odd_ones_fail, store, workers=1, progress=False)
        assert [next(finished)[0] for _ in range(3)] == cells[3:]  # those that are stored
        cell, outcome = next(finished)
        assert (cell, store.outcome(cell.key)) == (cells[0], outcome)
        finished.close()  # type: ignore[attr-defined]
        assert store.status(cells[1].key) is None


def test_loky_is_needed_for_several_workers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "loky", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"doubletrouble\[runs\]"):
        run_cells(w.cells(2), w.odd_ones_fail, None, workers=2)
    finished = run_cells(w.cells(2), w.odd_ones_fail, None, progress=False)
    with pytest.warns(UserWarning, match="loky is not installed"):
        assert len(list(finished)) == 2


def test_ctrl_c_keeps_finished_cells(tmp_path: Path) -> None:
    class Impatient(w.AtOnce):
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


def test_an_interrupted_cell_loses_no_other(tmp_path: Path) -> None:
    """Cells that finish together with the one that is interrupted are stored."""

    class Late(w.AtOnce):
        def __init__(self) -> None:
            self.futures: list[Future[Any]] = []

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            self.futures.append(Future())
            if len(self.futures) == 5:
                threading.Timer(0.2, self.finish, (function, arguments)).start()
            return self.futures[-1]

        def finish(self, function: Any, arguments: Any) -> None:
            for future in self.futures[:4]:
                future.set_result(function(*arguments))
            self.futures[4].set_exception(KeyboardInterrupt())

    with pytest.raises(SweepInterrupted, match="stopped with 4 of 5 cells"):
        run(tmp_path / "s", w.cells(5), w.odd_ones_fail, executor=Late())
    assert len(w.rows(tmp_path / "s")) == 4


# --- executors ---


@contextmanager
def dask_cluster() -> Iterator[Any]:
    LocalCluster = require("distributed", "cluster").LocalCluster
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**size) as cluster:
        yield cluster


def test_results_are_equal_bit_for_bit_on_every_executor(tmp_path: Path) -> None:
    """A large matrix product is added up in another order when BLAS has more threads."""
    cells = w.cells(12)
    one = run(tmp_path / "one", cells, w.square, workers=1)
    assert len(one) == 12
    assert run(tmp_path / "three", cells, w.square, workers=3) == one
    with ThreadPoolExecutor(3) as threads:
        assert run(tmp_path / "threads", cells, w.square, executor=threads) == one
    assert run(tmp_path / "local", cells, w.square, scheduler="local", workers=2) == one


def test_cells_of_a_killed_dask_worker_are_computed_again(tmp_path: Path) -> None:
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
        stored = run(tmp_path / "s", cells, w.slow, scheduler=cluster.scheduler_address)
        killer.join()
        assert {row[1] for row in stored.values()} == {"done"}
        with Client(cluster, set_as_default=False) as client:
            for number, executor in enumerate((client, client.get_executor())):
                assert (
                    len(run(tmp_path / f"{number}", w.cells(3), w.square, executor=executor)) == 3
                )
    assert stored == run(tmp_path / "undisturbed", cells, w.slow, executor=w.AtOnce())


def test_a_cell_that_kills_dask_workers_fails(tmp_path: Path) -> None:
    cells = w.cells(4)
    stored = run(tmp_path / "s", cells, w.second_always_dies, scheduler="local", workers=2)
    assert [stored[c.key][1] for c in cells] == ["done", "failed", "done", "done"]
    assert stored[cells[1].key][2].startswith("several Dask workers died while computing this cell")


def test_workers_have_one_thread_and_end_with_the_run(tmp_path: Path) -> None:
    before = dict(os.environ)
    stored = run(tmp_path / "s", w.cells(4), w.environment, workers=2)
    records = [decode(result) for *_, result in stored.values()]
    assert all(record["threads"] == ["1", "1", "1"] for record in records)
    assert os.getpid() not in {record["pid"] for record in records}
    assert dict(os.environ) == before
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
        ({"workers": 2.5}, "workers must be a whole number of at least 1, got 2.5"),
        ({"executor": 3}, "executor must have a method submit, got int"),
        ({"executor": w.AtOnce(), "workers": 2}, "workers must be left out when executor is given"),
        ({"scheduler": "tcp://a:1", "workers": 2}, "scheduler must be left out when workers is"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "scheduler must be 'local' or the address of a"),
        ({"scheduler": "nonsense:x"}, "scheduler must be 'local' or the address of a"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises((ValueError, TypeError, ExecutorError)) as caught:
        run(tmp_path / "s", w.cells(1), w.square, **options)
    assert str(caught.value).startswith(message)
