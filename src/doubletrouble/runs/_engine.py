"""Compute cells on an executor, and store each as it finishes.

Only this process writes to the store. A bounded number of cells is pending. When a worker
process dies, its pool is replaced, and the cells that were pending are computed at the end, one
at a time: a cell that kills its worker three times is then identified, and recorded as failed.
"""

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from doubletrouble.errors import ExecutorError, SweepInterrupted, require
from doubletrouble.runs._cells import DONE, FAILED, Cell, CellOutcome
from doubletrouble.runs._executors import Backend, Executor, Work, check_executor, open_backend
from doubletrouble.runs._progress import ProgressBar, progress_bar
from doubletrouble.runs._store import Store

MAX_CRASHES = 3  # of the worker processes of one cell

_WAIT = 0.5  # seconds between two checks of the executor

Finished = tuple[Cell, CellOutcome]


def run_cells(
    cells: Sequence[Cell],
    work: Work,
    store: Store | None,
    *,
    retry: bool = False,
    executor: Executor | None = None,
    workers: int | None = None,
    scheduler: Any = None,
    progress: bool = True,
    unit: str = "draw",
    steps: Callable[[Cell], int] | None = None,
) -> Iterator[Finished]:
    """Compute cells, and yield each with its outcome as it finishes.

    Parameters
    ----------
    cells : sequence of Cell
        The computations.
    work : callable
        A function of the parameters of a cell that returns a record (see `encode`). What it raises
        becomes the message of a failed cell.
    store : Store or None
        Cells that are stored already are yielded first, from the store; others are stored before
        they are yielded.
    retry : bool
        Compute cells once more that are stored as failed.
    executor, workers, scheduler
        Any object with a method `submit`; a number of worker processes, of which one means this
        process; or the address of a Dask scheduler. At most one of them; by default, as many
        processes as there are processors.
    progress : bool
        Show the progress on stderr.
    unit : str
        The unit of the progress.
    steps : callable
        The number of units of a cell; by default 1.

    Yields
    ------
    cell, outcome
        In the order in which the cells finish.

    Examples
    --------
    >>> cells = [Cell.of("example", 1, {"x": x}) for x in range(3)]
    >>> for cell, outcome in run_cells(cells, dict, None, workers=1):
    ...     print(cell.parameters["x"], outcome.status)
    0 done
    1 done
    2 done
    """
    check_executor(executor, workers, scheduler)
    require("safetensors", "runs")
    run = _Run(cells, store, retry=retry)
    count = steps or (lambda cell: 1)
    return run.finished(
        lambda: open_backend(executor, workers, scheduler, work),
        lambda initial: progress_bar(
            sum(map(count, cells)), unit=unit, progress=progress, initial=initial
        ),
        count,
    )


class _Run:
    """The state of one run of cells."""

    def __init__(self, cells: Sequence[Cell], store: Store | None, *, retry: bool) -> None:
        self._cells, self._store, self._retry = cells, store, retry
        self._final = {DONE} if retry else {DONE, FAILED}
        stored = store.statuses() if store else {}
        self._stored = [cell for cell in cells if stored.get(cell.key) in self._final]
        self._waiting = deque(c for c in cells if stored.get(c.key) not in self._final)
        self._pending: dict[Any, Cell] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._broken = self._reversed = False
        self._suspects: deque[Cell] = deque()  # pending when a worker died
        self._alone: Cell | None = None  # the suspect pending
        self._crashes: Counter[str] = Counter()

    def finished(
        self,
        backend: Callable[[], Any],
        bar: Callable[[int], ProgressBar],
        steps: Callable[[Cell], int],
    ) -> Iterator[Finished]:
        """Every cell with its outcome: first those that are stored already."""
        try:
            for cell in self._stored:
                yield from self._from_store(cell)
            if not self._left:
                return
            with bar(sum(map(steps, self._stored))) as progress, backend() as opened:
                for cell, outcome in self._computed(opened):
                    progress.update(steps(cell))
                    yield cell, outcome
        except KeyboardInterrupt:
            raise SweepInterrupted(self._stopped()) from None

    @property
    def _left(self) -> int:
        return len(self._waiting) + len(self._suspects) + len(self._pending)

    def _stopped(self) -> str:
        """The number of finished cells, and how to continue."""
        total = len(self._cells)
        if self._store is None:
            return f"stopped with {total - self._left} of {total} cells computed, and none stored"
        go_on = "retry" if self._retry else "run the same sweep"
        return (
            f"stopped with {total - self._left} of {total} cells stored in {self._store.path}; "
            f"{go_on} again to go on"
        )

    def _from_store(self, cell: Cell) -> Iterator[Finished]:
        outcome = self._store.outcome(cell.key) if self._store else None
        if outcome is not None:
            yield cell, outcome

    def _computed(self, backend: Backend) -> Iterator[Finished]:
        try:
            while self._left:
                yield from self._submit(backend)
                yield from self._collect(backend)
        except KeyboardInterrupt:
            self._store_finished(backend)
            raise
        except ExecutorError as error:
            self._store_finished(backend)
            raise ExecutorError(f"{error}; {self._stopped()}") from error
        finally:
            backend.cancel(self._pending)

    def _submit(self, backend: Backend) -> Iterator[Finished]:
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

    def _restart(self, backend: Backend) -> Iterator[Finished]:
        """Replace a broken executor; the cell that was alone in it has killed its worker."""
        backend.restart()
        self._broken = False
        cell, self._alone = self._alone, None
        if cell is not None:
            self._crashes[cell.key] += 1
            if self._crashes[cell.key] == MAX_CRASHES:
                self._suspects.remove(cell)
                results = [(cell, _failed(f"{MAX_CRASHES} worker processes died"))]
                self._put(results)
                yield from results

    def _collect(self, backend: Backend) -> Iterator[Finished]:
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
        results: list[Finished] = []
        collected = []
        try:
            for future in futures:
                results += self._result_of(future, backend)
                collected.append(future)
        finally:  # also those that finished before an error
            self._put(results)
            for future in collected:  # after storing: an interruption in between loses no cell
                del self._pending[future]
                backend.release(future)
        yield from results

    def _result_of(self, future: Any, backend: Backend) -> list[Finished]:
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

    def _put(self, results: Sequence[Finished]) -> None:
        if self._store is not None and results:
            self._store.put_all(results)

    def _store_finished(self, backend: Backend) -> None:
        """Store cells that finished before an interruption."""
        done = {
            future: cell
            for future, cell in self._pending.items()
            if future.done() and not future.cancelled() and future.exception() is None
        }
        self._put([(cell, backend.result(future)) for future, cell in done.items()])
        for future in done:
            del self._pending[future]


def _failed(why: str) -> CellOutcome:
    message = f"{why} while computing this cell, killed or out of memory"
    return CellOutcome(status=FAILED, message=message)
