"""Compute cells in this process, worker processes, Dask or an executor of the user, and store each.

Only this process writes to the store. A bounded number of cells is pending. When a worker process
dies, its pool is replaced, and the cells that were pending are computed at the end, one at a time:
a cell that kills its worker three times is then identified, and recorded as failed.

Every cell is computed with one thread of linear algebra: with more threads, sums are taken in
another order, and the last bits would depend on the machine and on the number of workers.
"""

import importlib.util
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, Protocol, Self, TypeAlias

from tqdm import tqdm

from doubletrouble.errors import ExecutorError, SweepInterrupted, require
from doubletrouble.parameters import whole_number
from doubletrouble.runs._cells import DONE, FAILED, Cell, CellOutcome, Record, encode
from doubletrouble.runs._progress import progress_bar
from doubletrouble.runs._store import Store

MAX_CRASHES = 3  # of the worker processes of one cell

Work: TypeAlias = Callable[[Mapping[str, Any]], Record]
"""The computation of a cell: a function of its parameters."""

Finished: TypeAlias = tuple[Cell, CellOutcome]


class Executor(Protocol):
    """An object on which calls run, as of `concurrent.futures`, loky or Dask."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any) -> Any:
        """Start a call, and return its future."""


_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_WAIT = 0.5  # seconds between two checks of the executor
_CONNECT = 20.0  # seconds to reach a scheduler
_MOST_STARTS = 3
_WORK = "work"  # the file of the computation


def run_cells(
    cells: Sequence[Cell],
    work: Work,
    store: Store | None,
    start: "Start | None" = None,
    *,
    retry: bool = False,
    progress: bool = True,
    unit: str = "draw",
    steps: int = 1,
) -> Iterator[Finished]:
    """Compute cells, and yield each with its outcome as it finishes.

    They are computed in this process, or by the backend that `start` makes (see `backend`). Cells
    that are stored already are yielded first, from the store; others are stored before they are
    yielded. What `work` raises becomes the message of a failed cell; with `retry`, cells that are
    stored as failed are computed once more. The progress has `steps` units for each cell.

    >>> cells = [Cell.of("example", 1, {"x": x}) for x in range(3)]
    >>> for cell, outcome in run_cells(cells, dict, None):
    ...     print(cell.parameters["x"], outcome.status)
    0 done
    1 done
    2 done
    """
    require("safetensors", "runs")
    run = _Run(cells, store, retry=retry)

    def finished() -> Iterator[Finished]:
        try:
            yield from run.stored()
            if not run.left:
                return
            bar = progress_bar(
                steps * len(cells),
                unit=unit,
                progress=progress,
                initial=steps * (len(cells) - run.left),
            )
            with bar, (start or ThisProcess)(work) as pool:
                for one in run.computed(pool):
                    bar.update(steps)
                    yield one
        except KeyboardInterrupt:
            raise SweepInterrupted(run.stopped()) from None

    return finished()


class _Run:
    """The state of one run of cells."""

    def __init__(self, cells: Sequence[Cell], store: Store | None, *, retry: bool) -> None:
        self._cells, self._store, self._retry = cells, store, retry
        self._final = {DONE} if retry else {DONE, FAILED}
        statuses = store.statuses() if store else {}
        self._stored = [cell for cell in cells if statuses.get(cell.key) in self._final]
        self._waiting = deque(c for c in cells if statuses.get(c.key) not in self._final)
        self._pending: dict[Any, Cell] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._unstored: list[Finished] = []
        self._broken = self._reversed = False
        self._suspects: deque[Cell] = deque()  # pending when a worker died
        self._alone: Cell | None = None  # the suspect pending
        self._crashes: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """The number of cells without an outcome."""
        return len(self._waiting) + len(self._suspects) + len(self._pending)

    def stopped(self) -> str:
        """The number of finished cells, and how to continue."""
        total = len(self._cells)
        if self._store is None:
            return f"stopped with {total - self.left} of {total} cells computed, and none stored"
        go_on = "retry" if self._retry else "run the same sweep"
        return (
            f"stopped with {total - self.left} of {total} cells stored in {self._store.path}; "
            f"{go_on} again to go on"
        )

    def stored(self) -> Iterator[Finished]:
        """The cells that were stored before, with their outcomes."""
        for cell in self._stored:
            yield from self._from_store(cell)

    def _from_store(self, cell: Cell) -> Iterator[Finished]:
        outcome = self._store.outcome(cell.key) if self._store else None
        if outcome is not None:
            yield cell, outcome

    def computed(self, backend: "Backend") -> Iterator[Finished]:
        """The other cells with their outcomes, as they finish."""
        try:
            while self.left:
                yield from self._submit(backend)
                yield from self._collect(backend)
        except KeyboardInterrupt:
            self._store_finished(backend)
            raise
        except ExecutorError as error:
            self._store_finished(backend)
            raise ExecutorError(f"{error}; {self.stopped()}") from error
        finally:
            backend.cancel(self._pending)

    def _submit(self, backend: "Backend") -> Iterator[Finished]:
        """Submit cells while there is room and none has finished."""
        if self._broken:
            if self._pending:  # the other futures of a broken pool finish next
                return
            yield from self._restart(backend)
        while (cells := self._waiting or self._suspects) and not self._alone:
            suspect = cells is self._suspects
            if len(self._pending) >= (1 if suspect else backend.room) or not self._done.empty():
                return
            cell = cells[0]
            if self._store and self._store.status(cell.key) in self._final:  # by another process
                cells.popleft()
                if not self._reversed:  # go on from the other end, towards that process
                    self._waiting.reverse()
                    self._reversed = True
                yield from self._from_store(cell)
                continue
            try:
                future = backend.submit(dict(cell.parameters))
            except BrokenExecutor:
                self._broken = True
                return
            except (OSError, RuntimeError) as error:
                raise ExecutorError(f"the executor takes no cells: {error}") from error
            self._alone = cell if suspect else None
            self._pending[future] = cells.popleft()
            future.add_done_callback(self._done.put)

    def _restart(self, backend: "Backend") -> Iterator[Finished]:
        """Replace a broken executor; the cell that was alone in it has killed its worker."""
        backend.restart()
        self._broken = False
        cell, self._alone = self._alone, None
        if cell is not None:
            self._crashes[cell.key] += 1
            if self._crashes[cell.key] == MAX_CRASHES:
                self._suspects.remove(cell)
                self._unstored.append((cell, _failed(f"{MAX_CRASHES} worker processes died")))
                yield from self._put()

    def _collect(self, backend: "Backend") -> Iterator[Finished]:
        """Wait until a cell finishes; store all that have finished in one transaction."""
        if not self._pending:
            return
        try:
            futures = [self._done.get(timeout=_WAIT)]
        except queue.Empty:
            backend.check()
            return
        while not self._done.empty():
            futures.append(self._done.get())
        for future in futures:
            self._unstored += self._result_of(future, backend)
            del self._pending[future]
        yield from self._put()

    def _result_of(self, future: Any, backend: "Backend") -> list[Finished]:
        """The outcome of a future; none, if the cell has to be computed again."""
        cell = self._pending[future]
        error = None if future.cancelled() else future.exception()
        if isinstance(error, KeyboardInterrupt):  # Ctrl-C also reaches the user's workers
            raise error
        if isinstance(error, BrokenExecutor):
            self._broken = True
            self._suspects.append(cell)
            return []
        if error is not None or future.cancelled():
            if self._alone is not cell:  # lost with a worker, perhaps that of another cell
                self._suspects.append(cell)
                return []
            if type(error).__name__ != "KilledWorker":  # of Dask
                what = f"raised {type(error).__name__}: {error}" if error else "dropped a cell"
                raise ExecutorError(f"the executor {what}")
            self._alone = None
            return [(cell, _failed("several Dask workers died"))]
        self._alone = None
        return [(cell, backend.result(future))]

    def _put(self) -> list[Finished]:
        """Store the outcomes that are not stored yet, and return them."""
        if self._store is not None and self._unstored:
            self._store.put_all(self._unstored)
        finished, self._unstored = self._unstored, []
        return finished

    def _store_finished(self, backend: "Backend") -> None:
        """Store cells that finished before an interruption."""
        for future, cell in list(self._pending.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._unstored.append((cell, backend.result(future)))
                del self._pending[future]
        self._put()


def _failed(why: str) -> CellOutcome:
    message = f"{why} while computing this cell, killed or out of memory"
    return CellOutcome(status=FAILED, message=message)


# --- executors -----------------------------------------------------------------------------------


def backend(executor: Executor | None, workers: int | None, scheduler: Any) -> "Start":
    """Where cells are computed: an executor of the user, a Dask cluster, or worker processes.

    One worker is this process; None are as many as there are processors.

    >>> backend(None, 1, None)
    <class 'doubletrouble.runs._executors.ThisProcess'>
    """
    if workers is not None:
        whole_number("workers", workers, 1)
    options = {
        "executor": executor,
        "workers": None if workers == 1 else workers,
        "scheduler": scheduler,
    }
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        got = options[given[-1]]
        raise ValueError(f"{given[-1]} must be left out when {given[0]} is given, got {got!r}")
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"executor must have a method submit, got {type(executor).__name__}")
        return partial(Backend, executor=executor)
    if scheduler is not None:
        return partial(DaskCluster, scheduler=scheduler)
    if workers != 1:
        loky = require("loky", "runs")
        workers = workers or int(loky.cpu_count())
    return ThisProcess if workers == 1 else partial(WorkerProcesses, workers=workers)


class Backend:
    """An executor of one computation, here of the user, who starts and stops it."""

    room = 1024  # cells pending: of an executor of unknown size, enough for a cluster to grow

    def __init__(self, work: Work, executor: Any = None) -> None:
        if hasattr(executor, "get_executor"):  # a Dask client
            executor = executor.get_executor(pure=False)
        self._work, self._executor = work, executor

    def submit(self, parameters: Mapping[str, Any]) -> Any:
        """Start the computation of a cell; returns a future."""
        return self._executor.submit(attempt, self._work, parameters)

    def result(self, future: Any) -> CellOutcome:
        """The outcome of a finished cell."""
        outcome: CellOutcome = future.result()
        return outcome

    def restart(self) -> None:
        """Replace an executor that is broken, or raise ExecutorError."""
        raise ExecutorError("the executor broke, as when one of its workers is killed")

    def check(self) -> None:
        """Raise ExecutorError if futures can no longer finish."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.close(now=error is not None)

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel calls that have not begun."""
        for future in futures:
            future.cancel()

    def close(self, *, now: bool) -> None:
        """Stop what was started; with `now`, calls in progress too."""


Start: TypeAlias = Callable[[Work], Backend]
"""Starts a backend for one computation."""


class ThisProcess(Backend):
    """Cells one after the other in this process."""

    room = 1

    def submit(self, parameters: Mapping[str, Any]) -> Future[CellOutcome]:
        """Compute a cell at once."""
        future: Future[CellOutcome] = Future()
        future.set_result(attempt(self._work, parameters))
        return future


class WorkerProcesses(Backend):
    """Processes of loky with one thread each; a pool with a killed worker is replaced.

    The computation is sent once, as a file: it may hold a large data set. Results come back as
    files: of 24 workers of loky 3.7 that were killed near the end of 50 MB results, 2 left a part
    of a message in the pipe of the pool, for whose rest it waits without end. Messages of at most
    PIPE_BUF bytes are written as a whole or not at all.
    """

    def __init__(self, work: Work, workers: int) -> None:
        super().__init__(work)
        self.room, self._workers = 2 * workers, workers
        try:
            content = require("cloudpickle", "runs").dumps(work)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ExecutorError(f"worker processes cannot receive the work: {error}") from error
        self._folder = TemporaryDirectory(prefix="doubletrouble-", ignore_cleanup_errors=True)
        Path(self._folder.name, _WORK).write_bytes(content)
        self._start()

    def _start(self) -> None:
        self._pool = require("loky", "runs").ProcessPoolExecutor(
            self._workers,
            initializer=_start_worker,
            initargs=(os.getpid(), self._folder.name),
            env=_ONE_THREAD,
        )

    def submit(self, parameters: Mapping[str, Any]) -> Any:
        """Start the computation of a cell in one of the processes."""
        return self._pool.submit(_outcome_in_file, self._folder.name, parameters)

    def result(self, future: Any) -> CellOutcome:
        """The outcome of a finished cell, from its file, which is deleted."""
        file = Path(future.result())
        outcome: CellOutcome = pickle.loads(file.read_bytes())
        file.unlink()
        return outcome

    def cancel(self, futures: Iterable[Any]) -> None:
        """Leave futures to `close`: loky fails on those that were cancelled meanwhile."""

    def restart(self) -> None:
        """Start a new pool, and wait until one of its workers answers."""
        for _ in range(_MOST_STARTS):
            self._pool.shutdown(wait=True, kill_workers=True)
            self._start()
            try:
                self._pool.submit(os.getpid).result()
            except BrokenExecutor:
                continue
            return
        raise ExecutorError("worker processes do not start; their messages are above")

    def close(self, *, now: bool) -> None:
        """End the processes."""
        self._pool.shutdown(wait=True, kill_workers=now)
        self._folder.cleanup()


def _outcome_in_file(folder: str, parameters: Mapping[str, Any]) -> str:
    """The name of a file with the pickled outcome of a cell."""
    content = pickle.dumps(attempt(_received_work(folder), parameters))
    with NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(content)
    return file.name


@lru_cache(maxsize=1)
def _received_work(folder: str) -> Work:
    """The computation that the parent process has written."""
    work: Work = pickle.loads(Path(folder, _WORK).read_bytes())
    return work


def _start_worker(parent: int, folder: str) -> None:
    """Prepare a worker process: Ctrl-C is for the parent, and the worker ends with its parent."""
    global _threads_limited
    _threads_limited = True  # by the environment, before any library was loaded
    _ignore_ctrl_c()
    tqdm.set_lock(threading.RLock())  # its default is a semaphore, which a kill would leak
    threading.Thread(target=_end_with_parent, args=(parent, folder), daemon=True).start()


def _ignore_ctrl_c() -> None:
    """A terminal sends SIGINT to all processes; the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_with_parent(parent: int, folder: str) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


class DaskCluster(Backend):
    """A running Dask cluster; when a worker dies, the scheduler gives its cells to others."""

    def __init__(self, work: Work, scheduler: Any) -> None:
        distributed = require("distributed", "cluster")
        try:
            if isinstance(scheduler, str):  # a client of an invalid address does not close
                distributed.comm.resolve_address(scheduler)
            self._client = distributed.Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                "scheduler must be the address of a running Dask scheduler such as "
                f"tcp://host:8786, got {scheduler!r}: {error}"
            ) from error
        super().__init__(work, self._client)

    def check(self) -> None:
        """Raise ExecutorError if the connection to the scheduler is lost."""
        if self._client.status != "running":
            raise ExecutorError("the connection to the Dask scheduler is lost")

    def close(self, *, now: bool) -> None:
        """Disconnect."""
        self._client.close()


# --- in a worker --------------------------------------------------------------------------------

_lock = threading.Lock()
_cells_running = 0
_threads_limited = False
_restore: Callable[[], object] | None = None


def attempt(work: Work, parameters: Mapping[str, Any]) -> CellOutcome:
    """Compute a cell; an error becomes the message of its outcome.

    >>> attempt(lambda p: {"half": 1 / p["x"]}, {"x": 0}).message
    'ZeroDivisionError: division by zero'
    """
    start = time.perf_counter()
    try:
        with one_thread():
            result = encode(work(parameters))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the next cell must run)
        message = f"{type(error).__name__}: {error}".encode(errors="replace").decode()
        return CellOutcome(status=FAILED, message=message, seconds=time.perf_counter() - start)
    return CellOutcome(status=DONE, result=result, seconds=time.perf_counter() - start)


@lru_cache(maxsize=1)
def _thread_controller(n_modules: int) -> Any:
    """The thread pools of all libraries; more modules may have loaded more libraries."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread, if threadpoolctl is installed.

    Cells may share a process: the first to enter sets the limit, the last to leave lifts it.
    """
    global _cells_running, _restore
    if _threads_limited or importlib.util.find_spec("threadpoolctl") is None:
        yield
        return
    with _lock:
        if _cells_running == 0:
            controller = _thread_controller(len(sys.modules))
            _restore = controller.limit(limits=1).restore_original_limits
        _cells_running += 1
    try:
        yield
    finally:
        with _lock:
            _cells_running -= 1
            if _cells_running == 0 and _restore is not None:
                _restore()
