"""All fits of a decomposition: here, one after the other, or on the executors of a sweep.

With a store every fit is a cell of its own, kept when it is done and never done again. Without one,
fits on executors go by data sets: what is drawn for one serves all of its fits.
"""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from doubletrouble.errors import ExecutorError, SweepInterrupted
from doubletrouble.learners._fits import REVISION, Failure, FitIndex, Fits
from doubletrouble.parameters import FloatArray
from doubletrouble.runs import DONE, Cell, Store, decode, run_cells

KIND = "fits"
_IN_MEMORY = 2**28  # bytes of predictions; more go to a file


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where fits run, and where they are kept."""

    executor: Any = None
    workers: int | None = None
    scheduler: str | None = None
    store: Path | None = None
    identity: str = ""  # of the learner and the source, for the store
    progress: bool = True

    @property
    def is_here(self) -> bool:
        """One after the other in this process, kept nowhere."""
        return self.store is None and not self.elsewhere

    @property
    def elsewhere(self) -> bool:
        """On workers."""
        return any(given is not None for given in (self.executor, self.workers, self.scheduler))


def run_fits(
    fits: Fits, n_data: int, n_init: int, where: Where
) -> tuple[FloatArray, list[Failure]]:
    """Predictions [data, noise, init, test(, output)] of all fits, and those that failed."""
    out = _room((n_data, fits.n_noise, n_init, *fits.shape))
    ranges = range(n_data), range(fits.n_noise), range(n_init)
    indices = [FitIndex(*index) for index in product(*ranges)]
    groups = [[index for index in indices if index.data == d] for d in range(n_data)]
    if where.is_here:
        return out, _run_here(fits, groups, out, progress=where.progress)
    if where.store is not None:
        try:
            return out, _run_cells(fits, [[index] for index in indices], out, where, where.store)
        except SweepInterrupted:
            raise SweepInterrupted(
                f"stopped; the fits that were done are in {where.store}: run the same to go on"
            ) from None
    try:
        with tempfile.TemporaryDirectory() as folder:
            return out, _run_cells(fits, groups, out, where, Path(folder) / "fits.sqlite")
    except ExecutorError as error:  # which speaks of a store that is gone
        raise ExecutorError(f"{error.__cause__ or error}; a store would keep fits") from error
    except SweepInterrupted:
        raise KeyboardInterrupt from None


def _room(shape: tuple[int, ...]) -> FloatArray:
    """An array for all predictions, in a nameless file if they are many."""
    if np.prod(shape) * 8 <= _IN_MEMORY:
        return np.full(shape, np.nan)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=shape)


def _run_here(
    fits: Fits, groups: Sequence[Sequence[FitIndex]], out: FloatArray, *, progress: bool
) -> list[Failure]:
    failures: list[Failure] = []
    with tqdm(
        total=sum(map(len, groups)), unit="fit", delay=2, mininterval=0.5,
        disable=None if progress else True,
    ) as bar:  # fmt: skip
        for group in groups:
            failures += fits.fit_all(group, out.__setitem__, bar.update)
    return failures


def _run_cells(
    fits: Fits, groups: Sequence[Sequence[FitIndex]], out: FloatArray, where: Where, path: Path
) -> list[Failure]:
    """By the runner of sweeps, which keeps every group that is done."""
    cells = [_cell(group, fits, where.identity) for group in groups]
    failures: list[Failure] = []
    with Store.open(path) as store, ThreadPoolExecutor(1) as one:
        executor = where.executor if where.elsewhere else one
        for _ in run_cells(
            cells, fits, store, retry=True, executor=executor, workers=where.workers,
            scheduler=where.scheduler, progress=where.progress,
        ):  # fmt: skip
            pass
        for group, cell in zip(groups, cells, strict=True):
            outcome = store.outcome(cell.key)
            if outcome is None or outcome.status != DONE:
                message = outcome.message if outcome else "it was not done"
                failures += [fits.failure(index, message) for index in group]
                for index in group:
                    out[index] = np.nan
                continue
            record = decode(outcome.result)
            for index, predictions in zip(group, record["predictions"], strict=True):
                out[index] = predictions
            failures += [fits.failure(FitIndex(*index), said) for index, said in record["failed"]]
    return failures


def _cell(group: Sequence[FitIndex], fits: Fits, identity: str) -> Cell:
    """The cell of fits on one data set; what more fits there are does not change its key."""
    parameters = {
        "identity": identity, "seed": fits.seed, "noisy": fits.n_noise > 1,
        "shape": list(fits.shape), "classification": fits.classes is not None,
        "data": group[0].data, "places": [[index.noise, index.init] for index in group],
    }  # fmt: skip
    return Cell.of(KIND, REVISION, parameters)
