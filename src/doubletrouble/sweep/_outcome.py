"""A grid and a store together: run what is missing, count, and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doubletrouble.errors import StoreError
from doubletrouble.runs import DONE, FAILED, Store, Work, check_executor, decode, run_cells
from doubletrouble.simulation import Simulation
from doubletrouble.sweep._simulated import from_record

if TYPE_CHECKING:
    from doubletrouble.sweep._grid import Sweep


@dataclass(frozen=True, kw_only=True)
class SweepStatus:
    """How many cells of a grid are done, failed and missing."""

    done: int
    failed: int
    missing: int

    @property
    def total(self) -> int:
        """The cells of the grid."""
        return self.done + self.failed + self.missing

    def __str__(self) -> str:
        return f"{self.done} of {self.total} cells done, {self.failed} failed"


@dataclass(frozen=True, kw_only=True, eq=False)
class SweepRow:
    """A finished cell: what was asked for, and the simulation or the message of a failure."""

    key: str
    parameters: Mapping[str, Any]
    status: str
    message: str
    seconds: float
    simulation: Simulation | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SweepResult:
    """What a store holds of a grid; iterate for its rows, in the order of the grid."""

    sweep: Sweep
    store: Path
    status: SweepStatus

    @cached_property
    def rows(self) -> tuple[SweepRow, ...]:
        """Every finished cell, failed ones too."""
        return tuple(_rows(self.sweep, self.store))

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> Any:
        """The rows as a pandas table; see `Sweep.export`."""
        from doubletrouble.sweep._export import to_frame

        return to_frame(self.rows)

    def export(self, path: str | Path) -> Path:
        """Write the rows to a .csv, .parquet or .json file."""
        from doubletrouble.sweep._export import export

        return export(self.rows, path)

    def __str__(self) -> str:
        return f"{self.status}, in {self.store}"


def run_grid(
    sweep: Sweep, store: str | Path, work: Work, *, again: bool, progress: bool, **where: Any
) -> SweepResult:
    """Note the grid in the store and compute what is missing, or `again` what failed."""
    check_executor(**where)
    if again and not Path(store).exists():
        raise StoreError(f"store must hold cells to retry, got {store}, which does not exist")
    with Store.open(store) as opened:
        opened.add_sweep(sweep.hash, sweep.specification)
        cells = sweep.cells()
        if again:
            statuses = opened.statuses()
            cells = [cell for cell in cells if statuses.get(cell.key) == FAILED]
        for _ in run_cells(cells, work, opened, retry=again, progress=progress, **where):
            pass
        counts = _counts(sweep, opened)
    return SweepResult(sweep=sweep, store=Path(store), status=counts)


def status(sweep: Sweep, store: str | Path) -> SweepStatus:
    """Count; before the first run, everything is missing."""
    if not Path(store).exists():
        return SweepStatus(done=0, failed=0, missing=len(sweep.cells()))
    with Store.read(store) as opened:
        return _counts(sweep, opened)


def results(sweep: Sweep, store: str | Path) -> SweepResult:
    """What there is so far."""
    with Store.read(store) as opened:
        counts = _counts(sweep, opened)
    return SweepResult(sweep=sweep, store=Path(store), status=counts)


def _counts(sweep: Sweep, store: Store) -> SweepStatus:
    stored, cells = store.statuses(), sweep.cells()
    found = [stored.get(cell.key) for cell in cells]
    done, failed = found.count(DONE), found.count(FAILED)
    return SweepStatus(done=done, failed=failed, missing=len(cells) - done - failed)


def _rows(sweep: Sweep, store: Path) -> Iterator[SweepRow]:
    with Store.read(store) as opened:
        for cell in sweep.cells():
            if (found := opened.outcome(cell.key)) is not None:
                yield SweepRow(
                    key=cell.key,
                    parameters=cell.parameters,
                    status=found.status,
                    message=found.message,
                    seconds=found.seconds,
                    simulation=from_record(decode(found.result)) if found.result else None,
                )
