"""What happens in a worker: compute one cell, and bring back its result or its message.

The order in which a linear algebra library adds up depends on its number of threads, and with it
the last bits. Every cell is therefore computed with one thread, wherever it runs.
"""

import importlib.util
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from doubletrouble.runs._record import Record, encode
from doubletrouble.runs._store import DONE, FAILED, CellOutcome

Work: TypeAlias = Callable[[Mapping[str, Any]], Record]
"""What is done in a cell: a function of its parameters that workers can import."""

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that processes need before they import NumPy."""

_lock = threading.Lock()
_cells_running = 0
_restore: Callable[[], object] | None = None


def attempt(work: Work, parameters: Mapping[str, Any]) -> CellOutcome:
    """Compute a cell; whatever it raises becomes its message.

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


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, as far as threadpoolctl is installed.

    Cells may share a process: the first to enter sets the limit, the last to leave lifts it.
    """
    global _cells_running, _restore
    if importlib.util.find_spec("threadpoolctl") is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    with _lock:
        if _cells_running == 0:
            _restore = threadpool_limits(1).restore_original_limits
        _cells_running += 1
    try:
        yield
    finally:
        with _lock:
            _cells_running -= 1
            if _cells_running == 0 and _restore is not None:
                _restore()
