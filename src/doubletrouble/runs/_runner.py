"""Run cells on a backend, and store each as it finishes.

Only this process writes to the store. A bounded number of cells is in flight. When a worker
process dies, its pool is started anew, and the cells that were in flight are tried at the end, one
at a time: the one that kills its worker again and again is then known, and recorded as failed.
"""

import queue
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from tqdm import tqdm

from doubletrouble.errors import ExecutorError, SweepInterrupted
from doubletrouble.runs._attempt import Work, attempt
from doubletrouble.runs._cell import Cell
from doubletrouble.runs._executors import Backend, backend
from doubletrouble.runs._store import DONE, FAILED, CellOutcome, Store

MOST_DEATHS = 3

_WAIT = 0.5  # seconds between looks for Ctrl-C where waiting cannot be interrupted


def run_cells(
    cells: Sequence[Cell], work: Work, store: Store, *, again: bool = False,
    executor: Any = None, workers: int | None = None, scheduler: str | None = None,
    progress: bool = True,
) -> None:  # fmt: skip
    """Compute and store every cell that is not stored yet; with `again`, those that failed, too."""
    runner = Runner(cells, work, store, again=again, progress=progress)
    if not runner.left:
        return
    try:
        with backend(executor, workers, scheduler, work) as chosen:
            runner.run(chosen)
    except SweepInterrupted:
        raise
    except KeyboardInterrupt:  # while workers were starting or stopping
        raise SweepInterrupted(runner.stopped()) from None


class Runner:
    """One run of cells; `run` returns when every cell is stored."""

    def __init__(
        self, cells: Sequence[Cell], work: Work, store: Store, *, again: bool, progress: bool
    ) -> None:
        self._cells, self._work, self._store, self._progress = cells, work, store, progress
        self._enough, self._again = {DONE} if again else {DONE, FAILED}, again
        stored = store.statuses()
        self._waiting = deque(c for c in cells if stored.get(c.key) not in self._enough)
        self._flying: dict[Any, Cell] = {}
        self._landed: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._broken, self._shared, self._failed = False, False, 0
        self._suspects: deque[Cell] = deque()  # in flight when a worker died
        self._alone: Cell | None = None  # the suspect in flight
        self._deaths: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """How many cells are still to be stored."""
        return len(self._waiting) + len(self._suspects) + len(self._flying)

    def stopped(self) -> str:
        """What is stored, and how to go on."""
        total = len(self._cells)
        go_on = "retry" if self._again else "run the same sweep"
        return (
            f"stopped with {total - self.left} of {total} cells stored in {self._store.path}; "
            f"{go_on} again to go on"
        )

    def run(self, backend: Backend) -> None:
        """Compute and store every cell."""
        total = len(self._cells)
        with tqdm(
            total=total, initial=total - self.left, unit="cell", disable=not self._progress,
            dynamic_ncols=True, smoothing=0.05, mininterval=0.5,
        ) as self._bar:  # fmt: skip
            try:
                while self.left:
                    self._fill(backend)
                    self._settle()
            except KeyboardInterrupt:
                self._keep_what_is_done()
                raise SweepInterrupted(self.stopped()) from None
            except ExecutorError as error:
                self._keep_what_is_done()
                raise ExecutorError(f"{error}; {self.stopped()}") from error
            finally:
                backend.drop(self._flying)

    def _fill(self, backend: Backend) -> None:
        """Hand over as many cells as there is room for."""
        if self._broken:
            if self._flying:  # the others of a broken pool are about to land
                return
            self._repair(backend)
        room = self._room(backend)
        while (cells := self._waiting or self._suspects) and not self._alone:
            suspect = cells is self._suspects
            if len(self._flying) >= (1 if suspect else room):
                return
            cell = cells[0]
            if self._store.status(cell.key) in self._enough:  # another process was faster
                cells.popleft()
                self._bar.update()
                self._share_with_others()
                continue
            try:
                future = backend.submit(attempt, self._work, dict(cell.parameters))
            except BrokenExecutor:
                self._broken = True
                return
            except (OSError, RuntimeError) as error:
                raise ExecutorError(f"the executor takes no cells: {error}") from error
            self._alone = cell if suspect else None
            self._flying[future] = cells.popleft()
            future.add_done_callback(self._landed.put)

    def _share_with_others(self) -> None:
        """Go on from the other end of the grid, towards the process that is ahead of us."""
        if not self._shared:
            self._waiting.reverse()
            self._shared = True

    def _room(self, backend: Backend) -> int:
        try:
            return max(1, backend.room)
        except (OSError, RuntimeError) as error:
            raise ExecutorError(f"the executor does not answer: {error}") from error

    def _repair(self, backend: Backend) -> None:
        died_at_work = backend.repair()
        self._broken = False
        if (cell := self._alone) is not None and died_at_work:
            self._deaths[cell.key] += 1
            if self._deaths[cell.key] == MOST_DEATHS:
                self._suspects.remove(cell)
                self._put(cell, _fatal(f"{MOST_DEATHS} worker processes died"))
        self._alone = None

    def _settle(self) -> None:
        """Wait for a cell to land, and store what came of it."""
        if not self._flying:
            return
        try:
            future = self._landed.get(timeout=_WAIT)
        except queue.Empty:
            return
        cell = self._flying[future]
        error = None if future.cancelled() else future.exception()
        if isinstance(error, KeyboardInterrupt):  # Ctrl-C reaches the workers of others, too
            raise error
        if isinstance(error, BrokenExecutor):
            self._broken = True
            self._suspects.append(cell)
        elif type(error).__name__ == "KilledWorker":  # Dask, which blames bystanders, too
            if self._alone is cell:
                self._put(cell, _fatal("several Dask workers died"))
                self._alone = None
            else:
                self._suspects.append(cell)
        elif error is not None or future.cancelled():
            what = f"raised {type(error).__name__}: {error}" if error else "dropped a cell"
            raise ExecutorError(f"the executor {what}")
        else:
            self._put(cell, future.result())
            self._alone = None
        del self._flying[future]

    def _put(self, cell: Cell, outcome: CellOutcome) -> None:
        self._store.put(cell, outcome)
        if outcome.status == FAILED:
            self._failed += 1
            self._bar.set_postfix(failed=self._failed, refresh=False)
        self._bar.update()

    def _keep_what_is_done(self) -> None:
        for future, cell in list(self._flying.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._store.put(cell, future.result())
                del self._flying[future]


def _fatal(what: str) -> CellOutcome:
    message = f"{what} while computing this cell, killed or out of memory"
    return CellOutcome(status=FAILED, message=message)
