"""Where cells are computed: our own processes, Dask, or any executor a user hands in.

`backend` makes one of three things of the same shape, so that the runner knows none of them.
"""

import importlib.util
import logging
import os
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

from doubletrouble.errors import ExecutorError, require
from doubletrouble.parameters import whole_number
from doubletrouble.runs._attempt import Work
from doubletrouble.runs._processes import Processes

LOCAL = "local"

_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")

_ROOM = 1024  # cells in flight at least where others queue them: enough for a cluster to grow
_CONNECT = 20.0  # seconds to reach a scheduler
_LOOK = 5.0  # seconds between looks at the size of a cluster


class Backend(Protocol):
    """Something that computes cells."""

    @property
    def room(self) -> int:
        """How many cells it should hold at a time."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand over a call; returns a future."""

    def repair(self) -> bool:
        """Start anew after a death, or raise if it cannot; tell whether it died at work."""

    def drop(self, futures: Iterable[Any]) -> None:
        """Forget calls that have not finished."""

    def close(self, *, now: bool) -> None:
        """Give back what was started."""


@contextmanager
def backend(
    executor: Any, workers: int | None, scheduler: str | None, work: Work
) -> Iterator[Backend]:
    """The backend asked for; what we start, we stop, at once if the run is cut short."""
    chosen = _chosen(executor, workers, scheduler, work)
    try:
        yield chosen
    except BaseException:
        chosen.close(now=True)
        raise
    chosen.close(now=False)


def check_place(executor: Any, workers: int | None, scheduler: str | None) -> None:
    """Refuse options that do not go together, before anything is opened."""
    named = {"executor": executor, "workers": workers, "scheduler": scheduler}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1 and not (executor is None and scheduler == LOCAL):
        raise ValueError(f"{given[-1]} must be left out when {given[0]} is given")
    if workers is not None:
        whole_number("workers", workers, 1)
    if not (executor is None or callable(getattr(executor, "submit", None))):
        raise TypeError(f"executor must have a method submit, got {type(executor).__name__}")


def _chosen(executor: Any, workers: int | None, scheduler: str | None, work: Work) -> Backend:
    check_place(executor, workers, scheduler)
    if executor is not None:
        return Given(executor)
    if scheduler is not None:
        return Dask(_address(scheduler), int(workers or processors()))
    return Processes(int(workers or processors()), work)


def _address(scheduler: Any) -> str:
    """An address, or that of a Dask cluster handed in."""
    return str(getattr(scheduler, "scheduler_address", scheduler))


def processors() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Given:
    """An executor of the user's, who starts and stops it."""

    def __init__(self, executor: Any) -> None:
        if hasattr(executor, "get_executor"):  # a Dask client
            executor = executor.get_executor(pure=False)
        if importlib.util.find_spec("threadpoolctl") is None:
            warnings.warn(
                "threadpoolctl is not installed: cells on your executor may differ in the last "
                "digits from those of one thread; pip install 'doubletrouble[cluster]'",
                stacklevel=2,
            )
        self._executor = executor
        size = getattr(executor, "_max_workers", None)
        self.room = 2 * size if isinstance(size, int) else _ROOM

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand a call to the user's executor."""
        return self._executor.submit(function, *arguments)

    def repair(self) -> bool:
        """Refuse: it is not ours to start anew."""
        raise ExecutorError("the executor broke, as when one of its workers dies")

    def drop(self, futures: Iterable[Any]) -> None:
        """Cancel what has not begun; the rest comes to nothing."""
        for future in futures:
            future.cancel()

    def close(self, *, now: bool) -> None:
        """Leave it to its owner."""


def _reach(scheduler: str) -> None:
    """Refuse an address where nobody answers; Dask itself would try for minutes."""
    wanted = (
        "scheduler must be 'local' or the address of a running Dask scheduler such as "
        f"tcp://host:8786, got {scheduler!r}"
    )
    try:
        place = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
        if place.scheme not in _SCHEMES or (place.scheme != "inproc" and not place.port):
            raise ExecutorError(wanted)
        if place.scheme in ("tcp", "tls"):
            socket.create_connection((place.hostname, place.port or 0), _CONNECT).close()
    except (OSError, ValueError) as error:
        raise ExecutorError(f"{wanted}: {error}") from error


def _local_cluster(distributed: Any, workers: int) -> Any:
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # a free port; the usual one may be taken
        )
    except RuntimeError as error:
        raise ExecutorError(
            f"Dask starts no cluster here ({error}); a script needs if __name__ == '__main__'"
        ) from error


def _ignore_ctrl_c() -> None:
    """A terminal sends it to every process; it is for the first one to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Dask:
    """A Dask cluster: one on this machine for the time of a sweep, or a running one.

    When a worker dies, the scheduler hands its cells to others.
    """

    def __init__(self, scheduler: str, workers: int) -> None:
        distributed = require("distributed", "cluster")
        with ExitStack() as started:  # what was started before an error is stopped again
            cluster: Any = None
            if scheduler == LOCAL:
                cluster = started.enter_context(_local_cluster(distributed, workers))
            else:
                _reach(scheduler)
            self._client = started.enter_context(
                distributed.Client(cluster or scheduler, timeout=_CONNECT, set_as_default=False)
            )
            if cluster is not None:
                self._client.run(_ignore_ctrl_c)
            self._executor = self._client.get_executor(pure=False)
            self._started = started.pop_all()
        self._size, self._looked = 0, -_LOOK

    @property
    def room(self) -> int:
        """Two cells for every thread of a cluster, which may grow and shrink, or more."""
        if self._client.status != "running":
            raise OSError("the connection to the Dask scheduler is lost")
        if time.monotonic() - self._looked > _LOOK:
            self._size = sum(self._client.nthreads().values())
            self._looked = time.monotonic()
        return max(2 * self._size, _ROOM)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand a call to the scheduler."""
        return self._executor.submit(function, *arguments)

    def repair(self) -> bool:
        """Refuse: the scheduler is beyond our reach."""
        raise ExecutorError("the Dask cluster broke")

    def drop(self, futures: Iterable[Any]) -> None:
        """Nothing to do: `close` cancels what is left."""

    def close(self, *, now: bool) -> None:
        """Leave a running cluster as it is; stop our own."""
        logger = logging.getLogger("distributed")
        level = logger.level
        if now:  # calls cut short are no news
            logger.setLevel(logging.CRITICAL)
        try:
            self._executor.shutdown(wait=False)
            self._started.close()
        finally:
            logger.setLevel(level)
