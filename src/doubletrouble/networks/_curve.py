"""Ensembles of lazy networks of several widths and α, trained together and stored one by one.

A cell is one ensemble. All that the store does not hold yet are trained as one program; each is
stored when its last member has stopped, and what is on its way is kept in a file beside the store,
from which a killed run goes on.
"""

from __future__ import annotations  # help() then shows names, not what they stand for

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from doubletrouble import glossary
from doubletrouble.data import Data, as_data
from doubletrouble.ensembles import EnsembleLike
from doubletrouble.errors import SweepInterrupted
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._result import LazyRun, ensemble_size
from doubletrouble.networks._rows import KIND, from_record, row_of, to_record
from doubletrouble.networks._settings import DTypeName, Training
from doubletrouble.networks._train import REVISION, network_members, train_all
from doubletrouble.networks._training import Done
from doubletrouble.parameters import MOST_SEEDS, number, whole_number
from doubletrouble.ranges import Axis, number_axis, whole_axis
from doubletrouble.runs import DONE, Cell, CellOutcome, Store, decode, digest, encode

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
"""Those of the paper's figure."""


@dataclass(frozen=True, kw_only=True)
class LazyCurve:
    """Ensembles for every α and width, in that order; `table` has their errors."""

    runs: tuple[LazyRun, ...]

    def run(self, width: int, laziness: float) -> LazyRun:
        """One of the ensembles."""
        for run in self.runs:
            if (run.width, run.laziness) == (width, laziness):
                return run
        known = ", ".join(f"({run.width}, {run.laziness:g})" for run in self.runs)
        raise ValueError(
            f"width and laziness must be a pair of the curve, {known}, got ({width}, {laziness:g})"
        )

    def table(self) -> list[dict[str, Any]]:
        """A row for each ensemble: errors of one member, of all averaged and of their vote."""
        return [row_of(run) for run in self.runs]


def lazy_curve(
    data: Data, *, widths: Axis = WIDTHS, laziness: Axis = (100.0,),
    ensemble: EnsembleLike = 20, depth: int = 5, seed: int = 0, device: str = "auto",
    dtype: DTypeName = "float32",
    memory: float | None = None, store: str | Path | None = None, progress: bool = True,
    **training: Any,
) -> LazyCurve:  # fmt: skip
    """Train an ensemble for every α in `laziness` and width in `widths`, all as one program.

    `ensemble` is the number of networks of each, or `Ensemble(K)`; `training` are the options of
    `train_lazy`: loss, optimizer, learning_rate, max_steps, patience, tolerance, batch_size. With a
    `store`, finished ensembles are kept there and never trained again, and an interrupted run
    continues where it was.

    >>> from doubletrouble.data._load import load_data
    >>> digits = load_data("digits", n_train=100)
    >>> curve = lazy_curve(digits, widths=[2, 4], ensemble=3, max_steps=20, device="cpu")
    >>> [(row["width"], row["max_steps"]) for row in curve.table()]
    [(2, 3), (4, 3)]
    """
    as_data(data)
    alphas = number_axis("laziness", laziness, glossary.LAZINESS)
    sizes = whole_axis("widths", widths, glossary.WIDTH)
    how, torch_device = Training.of(**training), TorchDevice.of(device, dtype)
    for alpha in alphas:  # what cannot be is said before there is a store
        how.solves(alpha)
        torch_device.refuse_too_lazy(alpha)
    work = _Work(
        data=data, depth=int(number("depth", depth, glossary.DEPTH)),
        seed=whole_number("seed", seed, 0, MOST_SEEDS),
        n_members=ensemble_size(ensemble, "lazy_curve"), training=how, device=torch_device,
        progress=progress,
        memory=None if memory is None else number("memory", memory, glossary.MEMORY),
    )  # fmt: skip
    points = [(alpha, width) for alpha in alphas for width in sizes]
    if store is None:
        with TemporaryDirectory() as folder:
            return LazyCurve(runs=tuple(work.run(points, Path(folder) / "lazy.sqlite")))
    return LazyCurve(runs=tuple(work.run(points, Path(store))))


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is the same for all ensembles of a curve."""

    data: Data
    depth: int
    seed: int
    n_members: int
    training: Training
    device: TorchDevice
    memory: float | None
    progress: bool

    def cell(self, laziness: float, width: int) -> Cell:
        """Everything that the numbers of one ensemble depend on, by the names of all stores."""
        options = {"depth": self.depth, "seed": self.seed, "n_members": self.n_members}
        parameters = {
            "data": self.data.fingerprint, "width": width, "laziness": laziness,
            "precision": self.device.dtype, **options, **asdict(self.training),
            "patience": self.training.window,
        }  # fmt: skip
        return Cell.of(KIND, REVISION, parameters)

    def run(self, points: Sequence[tuple[float, int]], path: Path) -> Iterable[LazyRun]:
        """Every ensemble: from the store, or trained and stored with its last member."""
        cells = [self.cell(*point) for point in points]
        name = digest([cell.key for cell in cells])[:12]
        file = path.with_name(f"{path.name}.{name}.training")
        found = _stored(path, cells) if path.exists() else {}
        if len(found) < len(cells):  # or else nothing is written: the store may be read-only
            with Store.open(path) as store:
                self._complete(found, points, cells, store, file)
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return [found[k] for k in range(len(cells))]

    def _complete(
        self, found: dict[int, LazyRun], points: Sequence[tuple[float, int]],
        cells: Sequence[Cell], store: Store, file: Path,
    ) -> None:  # fmt: skip
        """Train what is not found yet."""
        count, start = self.n_members, time.perf_counter()
        known = {k * count + i: o for k, run in found.items() for i, o in enumerate(run.members)}
        outcomes = dict(known)

        def done(index: int, outcome: TrainingOutcome) -> None:
            outcomes[index], k = outcome, index // count
            mine = range(k * count, (k + 1) * count)
            if k not in found and all(i in outcomes for i in mine):
                alpha, width = points[k]
                found[k] = self._put_together([outcomes[i] for i in mine], width, alpha)
                result, seconds = encode(to_record(found[k])), time.perf_counter() - start
                store.put(cells[k], CellOutcome(status=DONE, result=result, seconds=seconds))

        try:
            self._train(points, known, file, done)
        except KeyboardInterrupt:
            raise SweepInterrupted(
                f"stopped with {len(found)} of {len(cells)} ensembles stored in {store.path}; "
                "run the same again to go on"
            ) from None

    def _train(
        self, points: Sequence[tuple[float, int]], known: Mapping[int, TrainingOutcome], file: Path,
        done: Done,
    ) -> None:  # fmt: skip
        """Train all members of all ensembles but those that are known."""
        members = [m for a, w in points for m in network_members(w, a, self.n_members, self.seed)]
        train_all(
            members, self.data.x_train[None], self.data.y_train[None], self.data.x_test,
            depth=self.depth, training=self.training, device=self.device, memory=self.memory,
            store=file, known=known, progress=self.progress, done=done,
        )  # fmt: skip

    def _put_together(
        self, outcomes: Sequence[TrainingOutcome], width: int, laziness: float
    ) -> LazyRun:
        settings = {
            "depth": self.depth, "seed": self.seed, "dtype": self.device.dtype,
            "data": self.data.name, **asdict(self.training),
        }  # fmt: skip
        make = partial(LazyRun.of, outcomes, self.data.y_test, settings=settings)
        return make(width=width, laziness=laziness)


def _stored(path: Path, cells: Sequence[Cell]) -> dict[int, LazyRun]:
    """What a store holds of some cells, by their index."""
    with Store.read(path) as store:
        stored = [store.outcome(cell.key) for cell in cells]
    return {k: from_record(decode(o.result)) for k, o in enumerate(stored) if o}
