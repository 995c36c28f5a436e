"""Worker processes of our own, with one thread each, replaced when they die.

Processes are spawned, not forked: a fork copies the locks of BLAS threads in whatever state they
are. `ProcessPoolExecutor` does the work; we decide what a new process sees.
"""

import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from tqdm import tqdm

from doubletrouble.errors import ExecutorError
from doubletrouble.runs._attempt import THREADS, Work

_MOST_STARTS = 3
_one_at_a_time = threading.Lock()  # what a new process inherits belongs to the whole process
_PATIENCE = 2.0  # seconds for a pool to notice a death, or a process to obey


class Processes:
    """Worker processes on this machine; `repair` brings new ones after a death."""

    def __init__(self, workers: int, work: Work) -> None:
        try:
            pickled = pickle.dumps(work)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(f"work must be a function processes can import: {error}") from error
        self._workers, self._failed_starts = workers, 0
        self._import_main = b"__main__" in pickled  # it is from the user's script, or holds such
        if self._import_main and not os.path.exists(
            getattr(sys.modules["__main__"], "__file__", "")
        ):
            raise TypeError(
                "work must be a function processes can import, got one that was typed in: put it "
                "into a file, and import it from there"
            )
        self._start()

    def _start(self) -> None:
        self._context = _Context(import_main=self._import_main)
        # no Event, which has a lock: a process that is killed with it would hold it for ever
        self._ready, self._death = self._context.RawValue("b", 0), math.inf
        self._pool = ProcessPoolExecutor(
            self._workers, self._context, initializer=_begin, initargs=(self._ready,)
        )

    @property
    def room(self) -> int:
        """One cell to compute and one to follow, for every process."""
        if self._context.a_worker_died():
            self._death = min(self._death, time.monotonic())
            if time.monotonic() - self._death > _PATIENCE:
                self._end_of_file()
        return 2 * self._workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a call to a process."""
        return self._pool.submit(function, *arguments)

    def repair(self) -> bool:
        """Start anew after a process has died; tell whether processes had come to work at all."""
        started = bool(self._ready.value)
        self._failed_starts = 0 if started else self._failed_starts + 1
        self.close(now=True)
        if self._failed_starts == _MOST_STARTS:
            guard = "; a script needs if __name__ == '__main__'" if self._import_main else ""
            raise ExecutorError(f"worker processes do not start; see what they print above{guard}")
        self._start()
        return started

    def drop(self, futures: Iterable[Any]) -> None:
        """Nothing to do: `close` ends the processes, and their cells with them."""

    def close(self, *, now: bool) -> None:
        """Stop the processes, those at work too if it must be `now`."""
        if now:
            self._context.terminate()
            self._end_of_file()
        self._pool.shutdown(wait=True)

    def _end_of_file(self) -> None:
        """Wake the pool where it waits for the rest of what a dead process was sending."""
        queue = getattr(self._pool, "_result_queue", None)
        if queue is not None and not queue._writer.closed:
            queue._writer.close()


class _Worker(SpawnProcess):
    import_main = False

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802 (multiprocessing's name)
        import_main = getattr(process_obj, "import_main", False)
        with _one_at_a_time, _surroundings(import_main=import_main):
            return SpawnProcess._Popen(process_obj)


class _Context(SpawnContext):
    """Spawned processes, remembered so that they can be stopped at work."""

    def __init__(self, *, import_main: bool) -> None:
        super().__init__()
        self._import_main = import_main
        self._workers: list[_Worker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override] # noqa: N802
        worker = _Worker(*args, **kwargs)
        worker.import_main = self._import_main
        self._workers.append(worker)
        return worker

    def a_worker_died(self) -> bool:
        started = [worker.sentinel for worker in self._workers if worker.pid is not None]
        return bool(started and wait(started, timeout=0))

    def terminate(self) -> None:
        for worker in self._workers:
            if worker.pid is not None:
                worker.terminate()
                worker.join(_PATIENCE)
                worker.kill()


@contextmanager
def _surroundings(*, import_main: bool) -> Iterator[None]:
    """What a new process inherits: one thread for BLAS, no Ctrl-C, and no script to run.

    A spawned process imports the script that started it, and one without `if __name__ ==
    "__main__"` would start its sweep again in every worker; ours need nothing from the script.
    """
    main, environment = sys.modules["__main__"], {name: os.environ.get(name) for name in THREADS}
    masked = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else set()
    try:
        os.environ.update(dict.fromkeys(THREADS, "1"))
        if not import_main:
            sys.modules["__main__"] = ModuleType("__main__")
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _begin(ready: Any) -> None:
    """Begin as a worker: Ctrl-C is for the parent to handle, and nobody outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tqdm.set_lock(threading.RLock())  # its own would outlive a killed process
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    ready.value = 1


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
