"""Where cells are computed: this process, worker processes, Dask, or an executor of the user.

Every cell is computed with one thread of linear algebra: with more threads, sums are taken in
another order, and the last bits would depend on the machine and on the number of workers.
"""

import importlib.util
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, Protocol, TypeAlias

from tqdm import tqdm

from doubletrouble.errors import ExecutorError, require
from doubletrouble.parameters import whole_number
from doubletrouble.runs._cells import DONE, FAILED, CellOutcome, Record, encode

Work: TypeAlias = Callable[[Mapping[str, Any]], Record]
"""The computation of a cell: a function of its parameters."""


class Executor(Protocol):
    """An object on which calls run, as of `concurrent.futures`, loky or Dask."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any) -> Any:
        """Start a call, and return its future."""


_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_CONNECT = 20.0  # seconds to reach a scheduler
_MOST_STARTS = 3
_WORK = "work"  # the file of the computation


def check_executor(executor: Executor | None, workers: int | None, scheduler: Any) -> None:
    """Raise for incompatible options of an executor."""
    options = {"executor": executor, "workers": workers, "scheduler": scheduler}
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        got = options[given[-1]]
        raise ValueError(f"{given[-1]} must be left out when {given[0]} is given, got {got!r}")
    if workers is not None:
        whole_number("workers", workers, 1)
        if workers > 1:
            require("loky", "runs")
    if not (executor is None or callable(getattr(executor, "submit", None))):
        raise TypeError(f"executor must have a method submit, got {type(executor).__name__}")


@contextmanager
def open_backend(
    executor: Executor | None, workers: int | None, scheduler: Any, work: Work
) -> Iterator["Backend"]:
    """The backend of these options, closed at the end; at once, if the run is cut short."""
    backend = _backend(executor, workers, scheduler, work)
    try:
        yield backend
    except BaseException:
        backend.close(now=True)
        raise
    backend.close(now=False)


def _backend(
    executor: Executor | None, workers: int | None, scheduler: Any, work: Work
) -> "Backend":
    check_executor(executor, workers, scheduler)
    if executor is not None:
        return UserExecutor(executor, work)
    if scheduler is not None:
        address = str(getattr(scheduler, "scheduler_address", scheduler))  # of a cluster object
        return DaskCluster(address, work)
    if workers is None and importlib.util.find_spec("loky") is None:
        warnings.warn(
            "loky is not installed, so that cells are computed one after the other; "
            "pip install 'doubletrouble[runs]'",
            stacklevel=2,
        )
        workers = 1
    workers = int(workers or _processors())
    return ThisProcess(work) if workers == 1 else WorkerProcesses(workers, work)


def _processors() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Backend:
    """An executor of one computation, and how many cells it holds at a time."""

    room = 1024  # of an executor of unknown size: enough for a cluster to grow

    def __init__(self, work: Work, executor: Any = None) -> None:
        self._work, self._executor = work, executor

    def submit(self, parameters: Mapping[str, Any]) -> Any:
        """Start the computation of a cell; returns a future."""
        return self._executor.submit(attempt, self._work, parameters)

    def result(self, future: Any) -> CellOutcome:
        """The outcome of a finished cell."""
        outcome: CellOutcome = future.result()
        return outcome

    def release(self, future: Any) -> None:
        """Delete what `result` reads, once it is stored."""

    def restart(self) -> None:
        """Replace an executor that is broken, or raise ExecutorError."""
        raise ExecutorError("the executor broke, as when one of its workers is killed")

    def check(self) -> None:
        """Raise ExecutorError if futures can no longer finish."""

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel calls that have not begun."""
        for future in futures:
            future.cancel()

    def close(self, *, now: bool) -> None:
        """Stop what was started; with `now`, calls in progress too."""


class ThisProcess(Backend):
    """Cells one after the other in this process."""

    room = 1

    def submit(self, parameters: Mapping[str, Any]) -> Future[CellOutcome]:
        """Compute a cell at once."""
        future: Future[CellOutcome] = Future()
        future.set_result(attempt(self._work, parameters))
        return future


class UserExecutor(Backend):
    """An executor of the user, who starts and stops it."""

    def __init__(self, executor: Executor, work: Work) -> None:
        if hasattr(executor, "get_executor"):  # a Dask client
            executor = executor.get_executor(pure=False)
        if importlib.util.find_spec("threadpoolctl") is None:
            warnings.warn(
                "threadpoolctl is not installed: the last digits may depend on the number of "
                "threads of the executor; pip install 'doubletrouble[runs]'",
                stacklevel=2,
            )
        super().__init__(work, executor)


class WorkerProcesses(Backend):
    """Processes of loky with one thread each; a pool with a killed worker is replaced.

    The computation is sent once, as a file: it may hold a large data set.
    Results come back as files: a worker killed while it writes to the pipe of the pool would leave
    a part of a message there, for whose rest loky waits. Messages of at most PIPE_BUF bytes are
    written as a whole or not at all.
    """

    def __init__(self, workers: int, work: Work) -> None:
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
        """The outcome of a finished cell, from its file."""
        outcome: CellOutcome = pickle.loads(Path(future.result()).read_bytes())
        return outcome

    def release(self, future: Any) -> None:
        """Delete the file of a finished cell."""
        if future.exception() is None:
            Path(future.result()).unlink()

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


class DaskCluster(UserExecutor):
    """A running Dask cluster; when a worker dies, the scheduler gives its cells to others."""

    def __init__(self, scheduler: str, work: Work) -> None:
        Client = require("distributed", "cluster").Client
        try:
            self._client = Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                "scheduler must be the address of a running Dask scheduler such as "
                f"tcp://host:8786, got {scheduler!r}: {error}"
            ) from error
        super().__init__(self._client, work)

    def check(self) -> None:
        """Raise ExecutorError if the connection to the scheduler is lost."""
        if self._client.status != "running":
            raise ExecutorError("the connection to the Dask scheduler is lost")

    def close(self, *, now: bool) -> None:
        """Disconnect."""
        self._client.close()


# --- in a worker ---

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
