"""Cells on executors: failures, killed workers, and equal bits on every executor."""

import multiprocessing
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from doubletrouble.errors import ExecutorError, MissingExtraError, SweepInterrupted, require
from doubletrouble.runs import (
    Cell,
    Start,
    Store,
    ThisProcess,
    Work,
    _executors,
    backend,
    decode,
    run_cells,
)
from doubletrouble.runs._executors import (
    MAX_CRASHES,
    Backend,
    WorkerProcesses,
    _outcome_in_file,
    attempt,
)
from tests.runs import work as w

pytestmark = pytest.mark.xdist_group("processes")


def run(
    path: Path,
    cells: list[Cell],
    work: Work,
    start: Start | None = None,
    *,
    executor: Any = None,
    workers: int | None = 1,
    scheduler: Any = None,
    retry: bool = False,
) -> dict[str, w.Row]:
    start = start or backend(executor, workers, scheduler)
    with Store.open(path) as store:
        for _ in run_cells(cells, work, store, start, retry=retry, progress=False):
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
    """A cell whose worker is killed three times fails."""
    cells = w.cells(6, flag=str(tmp_path / "flag"))
    stored = run(tmp_path / "s", cells, w.third_always_dies, workers=2)
    assert [stored[c.key][1] for c in cells] == ["done", "done", "failed", *["done"] * 3]
    assert stored[cells[2].key][2].startswith(f"{MAX_CRASHES} worker processes died")


def test_cell_fails_after_three_deaths_alone(tmp_path: Path) -> None:
    """The first death, together with other cells, does not count."""
    deaths: list[int] = []

    class Breaking(Backend):
        def submit(self, parameters: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if parameters["x"] == 1:
                deaths.append(parameters["x"])
                future.set_exception(BrokenExecutor())
            else:
                future.set_result(attempt(self._work, parameters))
            return future

        def restart(self) -> None: ...

    cells = w.cells(3)
    stored = run(tmp_path / "s", cells, w.square, Breaking)
    assert [stored[c.key][1] for c in cells] == ["done", "failed", "done"]
    assert deaths == [1] * (1 + 3)


@pytest.mark.full
def test_no_cell_fails_when_workers_are_killed_from_outside(tmp_path: Path) -> None:
    cells, stop = w.cells(40, seconds=0.05), threading.Event()

    def kill() -> None:
        for _ in range(MAX_CRASHES - 1):
            if stop.wait(0.5):
                return
            for child in multiprocessing.active_children():
                with suppress(ProcessLookupError):
                    os.kill(child.pid or 0, 9)

    killer = threading.Thread(target=kill)
    killer.start()
    stored = run(tmp_path / "s", cells, w.slow, workers=2)
    stop.set()
    killer.join()
    assert [stored[c.key][1] for c in cells] == ["done"] * 40


@pytest.mark.full
def test_worker_killed_while_it_sends_is_replaced(tmp_path: Path) -> None:
    cells = w.cells(3, flag=str(tmp_path / "flag"))
    stored = run(tmp_path / "s", cells, w.dies_while_sending, workers=2)
    assert {row[1] for row in stored.values()} == {"done"}


def test_results_of_workers_are_written_to_files(tmp_path: Path) -> None:
    """The message in the pipe is short: it is sent as a whole, or not at all."""
    (tmp_path / "work").write_bytes(pickle.dumps(w.square))
    message = _outcome_in_file(str(tmp_path), {"x": 1})
    assert len(pickle.dumps(message)) < select.PIPE_BUF
    assert pickle.loads(Path(message).read_bytes()).status == "done"


class KilledWorker(Exception):  # noqa: N818
    """The name of the error of Dask."""


@pytest.mark.parametrize(
    ("error", "times", "status"),
    [
        (KilledWorker(), 100, "failed"),
        (KilledWorker(), 1, "done"),
        # of Dask, for a result that was lost with its worker
        (TypeError("a result was lost"), 1, "done"),
    ],
)
def test_cell_fails_after_two_deaths_of_dask_workers(
    error: Exception, times: int, status: str, tmp_path: Path
) -> None:
    class Dask(w.AtOnce):
        deaths = 0

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            if arguments[1]["x"] != 1 or self.deaths == times:
                return super().submit(function, *arguments, **options)
            self.deaths += 1
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    dask, cells = Dask(), w.cells(4, seconds=0.0)
    stored = run(tmp_path / "s", cells, w.slow, executor=dask)
    assert [stored[c.key][1] for c in cells] == ["done", status, "done", "done"]
    assert dask.deaths == min(times, 2)  # with others, and alone


def test_broken_executor_of_the_user_stops_the_run(tmp_path: Path) -> None:
    cells = w.cells(6, flag=str(tmp_path / "flag"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(ExecutorError, match="run the same sweep"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
        with pytest.raises(ExecutorError, match="the executor broke"):
            run(tmp_path / "s", cells, w.second_dies_once, executor=pool)
    assert len(run(tmp_path / "s", cells, w.second_dies_once, executor=w.AtOnce())) == 6


def test_executor_after_shutdown_stops_the_run(tmp_path: Path) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ExecutorError, match="takes no cells"):
        run(tmp_path / "s", w.cells(2), w.square, executor=pool)


def test_functions_defined_interactively_are_sent_to_workers() -> None:
    two = backend(None, 2, None)
    finished = run_cells(w.cells(2), lambda p: {"y": p["x"] + 1}, None, two, progress=False)
    assert sorted(decode(outcome.result)["y"] for _, outcome in finished) == [1, 2]


def test_work_that_cannot_be_pickled_is_reported(tmp_path: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(ExecutorError, match="pickle"):
        run(tmp_path / "s", w.cells(2), lambda p: {"lock": lock}, workers=2)


def test_run_without_a_store_yields_every_outcome() -> None:
    finished = list(run_cells(w.cells(4), w.odd_ones_fail, None, progress=False))
    assert [cell.parameters["x"] for cell, _ in finished] == [0, 1, 2, 3]
    assert [outcome.status for _, outcome in finished] == ["done", "failed"] * 2


def test_outcomes_are_yielded_as_they_finish(tmp_path: Path) -> None:
    cells = w.cells(6)
    run(tmp_path / "s", cells[3:], w.odd_ones_fail, workers=1)
    with Store.open(tmp_path / "s") as store:
        finished = run_cells(cells, w.odd_ones_fail, store, progress=False)
        assert [next(finished)[0] for _ in range(3)] == cells[3:]  # those that are stored
        cell, outcome = next(finished)
        assert (cell, store.outcome(cell.key)) == (cells[0], outcome)
        finished.close()  # type: ignore[attr-defined]
        assert store.status(cells[1].key) is None


def test_loky_is_needed_for_several_workers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "loky", None)
    for workers in (2, None):
        with pytest.raises(MissingExtraError, match=r"doubletrouble\[runs\]"):
            backend(None, workers, None)
    finished = run_cells(w.cells(2), w.odd_ones_fail, None, backend(None, 1, None), progress=False)
    assert len(list(finished)) == 2


def test_no_number_of_workers_is_all_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    loky = SimpleNamespace(cpu_count=lambda: 3)
    monkeypatch.setitem(sys.modules, "loky", loky)
    every: Any = backend(None, None, None)
    assert (every.func, every.keywords) == (WorkerProcesses, {"workers": 3})
    monkeypatch.setattr(loky, "cpu_count", lambda: 1)
    assert backend(None, None, None) is backend(None, 1, None) is ThisProcess


def test_finished_cells_are_stored_after_ctrl_c(tmp_path: Path) -> None:
    class Interrupted(w.AtOnce):
        def __init__(self) -> None:
            self.futures: list[Future[Any]] = []

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            if arguments[1]["x"] == 3:
                for future in self.futures:
                    future.set_result(function(*arguments))
                raise KeyboardInterrupt
            self.futures.append(Future())
            return self.futures[-1]

    with pytest.raises(SweepInterrupted, match=f"3 of 9 cells stored in {tmp_path / 's'}"):
        run(tmp_path / "s", w.cells(9), w.odd_ones_fail, executor=Interrupted())
    assert len(w.rows(tmp_path / "s")) == 3


def test_cells_that_finish_with_an_interrupted_one_are_stored(tmp_path: Path) -> None:
    class Together(w.AtOnce):
        def __init__(self) -> None:
            self.futures: list[Future[Any]] = []

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
            self.futures.append(Future())
            if len(self.futures) == 5:
                for future in self.futures[:4]:
                    future.set_result(function(*arguments))
                self.futures[4].set_exception(KeyboardInterrupt())
            return self.futures[-1]

    with pytest.raises(SweepInterrupted, match="4 of 5 cells"):
        run(tmp_path / "s", w.cells(5), w.odd_ones_fail, executor=Together())
    assert len(w.rows(tmp_path / "s")) == 4


def test_interruption_while_storing_loses_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_all, interrupted = Store.put_all, iter([True])

    def interrupted_once(store: Store, outcomes: Any) -> None:
        if next(interrupted, False):
            raise KeyboardInterrupt
        put_all(store, outcomes)

    monkeypatch.setattr(Store, "put_all", interrupted_once)
    with pytest.raises(SweepInterrupted) as stopped:
        run(tmp_path / "s", w.cells(9), w.square, workers=2)
    rows = w.rows(tmp_path / "s")
    assert rows
    assert f"stopped with {len(rows)} of 9 cells" in str(stopped.value)


# --- executors ---


@contextmanager
def dask_cluster() -> Iterator[Any]:
    LocalCluster = require("distributed", "cluster").LocalCluster
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**size) as cluster:
        yield cluster


def test_results_are_equal_bit_for_bit_on_every_executor(tmp_path: Path) -> None:
    """A large matrix product is added up in another order when BLAS has more threads."""
    cells = w.cells(6)
    one = run(tmp_path / "one", cells, w.square, workers=1)
    assert len(one) == 6
    assert run(tmp_path / "two", cells, w.square, workers=2) == one
    with ThreadPoolExecutor(3) as threads:
        assert run(tmp_path / "threads", cells, w.square, executor=threads) == one
    size = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with require("distributed", "cluster").LocalCluster(**size, processes=False) as cluster:
        assert run(tmp_path / "dask", cells, w.square, scheduler=cluster) == one


@pytest.mark.full
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


@pytest.mark.full
def test_cell_that_kills_dask_workers_fails(tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    cells = w.cells(4, flag=str(tmp_path / "flag"))
    with dask_cluster() as cluster:
        cluster.adapt(minimum=2)  # a worker that dies while it starts is not replaced otherwise
        stored = run(tmp_path / "s", cells, w.third_always_dies, scheduler=cluster)
    assert [stored[c.key][1] for c in cells] == ["done", "done", "failed", "done"]
    assert "Dask" in stored[cells[2].key][2]


def test_workers_have_one_thread_ignore_ctrl_c_and_end_with_the_run(tmp_path: Path) -> None:
    before = dict(os.environ)
    stored = run(tmp_path / "s", w.cells(4), w.environment, workers=2)
    records = [decode(result) for *_, result in stored.values()]
    assert all(record["threads"] == ["1", "1", "1"] for record in records)
    assert all(record["ignores_ctrl_c"] for record in records)
    assert os.getpid() not in {record["pid"] for record in records}
    assert dict(os.environ) == before
    assert not multiprocessing.active_children()


def test_last_cell_of_a_process_lifts_the_limit_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[Any] = []

    class Controller:
        def limit(self, limits: int) -> Any:
            events.append(limits)
            return SimpleNamespace(restore_original_limits=lambda: events.append(None))

    monkeypatch.setattr(_executors, "_thread_controller", lambda _: Controller())
    with _executors.one_thread():
        with _executors.one_thread():
            pass
        assert events == [1]
    assert events == [1, None]


def test_options_of_executors_are_checked(tmp_path: Path) -> None:
    """The message begins with the name of the option."""
    options: list[tuple[str, dict[str, Any]]] = [
        ("workers", {"workers": 0}),
        ("workers", {"workers": 2.5}),
        ("executor", {"executor": 3}),
        ("workers", {"executor": w.AtOnce(), "workers": 2}),
        ("scheduler", {"scheduler": "tcp://a:1", "workers": 2}),
        ("scheduler", {"scheduler": "tcp://127.0.0.1:1"}),
        ("scheduler", {"scheduler": "host:x"}),
        ("scheduler", {"scheduler": "tcp://"}),
    ]
    for name, wrong in options:
        with pytest.raises((ValueError, TypeError, ExecutorError), match=f"^{name} must"):
            run(tmp_path / "s", w.cells(1), w.square, **wrong)


def test_invalid_address_of_a_scheduler_is_refused_at_once(tmp_path: Path) -> None:
    """A client of Dask that was given one takes minutes to close."""
    code = "from doubletrouble.runs import *\nlist(run_cells([], dict, None))\n"
    code += "start = backend(None, 1, 'tcp://')\nstart(dict)"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert "scheduler must be the address of a running Dask scheduler" in done.stderr
    assert "Exception ignored" not in done.stderr
