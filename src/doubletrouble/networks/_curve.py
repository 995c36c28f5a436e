"""Ensembles of lazy networks for several widths and α: training, storage and tables.

A cell of the store is one ensemble. All ensembles that the store does not hold are trained
together; each is stored when its last member has stopped, and the networks in training are saved in
a checkpoint next to the store. Reading a store does not need torch.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

import itertools
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble import _plots, glossary
from doubletrouble._display import Column, Content, Entries, Shown, Table, point_table
from doubletrouble._numbers import plain, whole
from doubletrouble.data import Data, as_data
from doubletrouble.ensembles import EnsembleLike, Vote
from doubletrouble.errors import SweepInterrupted
from doubletrouble.losses import measure_name
from doubletrouble.networks._result import LazyRun, ensemble_size
from doubletrouble.networks._settings import (
    DEFAULTS,
    REVISION,
    STATUSES,
    DTypeName,
    Training,
    TrainingOutcome,
)
from doubletrouble.parameters import MOST_SEEDS, number, whole_number
from doubletrouble.ranges import Axis, number_axis, whole_axis
from doubletrouble.runs import DONE, Cell, CellOutcome, Record, Store, decode, digest, encode

if TYPE_CHECKING:
    from doubletrouble.networks._network import NetworkMember
    from doubletrouble.networks._training import TrainingTask

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
"""Widths of the figure in the paper."""

_PRINTED = {  # the headings of columns
    "single_error": "one network",
    "single_std": "± sd",
    "ensemble_error": "mean",
    "vote_error": "vote",
    "train_error": "training",
}
_COLUMNS = {"max_steps": "most_steps"}  # the column max_steps counts networks with that status


@dataclass(frozen=True, kw_only=True, repr=False)
class LazyCurve(Shown):
    """Ensembles for every α and width, in that order.

    `to_frame` has a row for each: the error rates of one member
    (`single_error`, with the standard deviation over members, `single_std`), by the mean of all
    (`ensemble_error`) and by their vote (`vote_error`), the training error and loss, and the
    numbers of members by status; then the settings, with the value of `max_steps` as `most_steps`.
    Members that diverged are left out.

    Examples
    --------
    >>> import doubletrouble as dt, math
    >>> digits = dt.load_data("digits", n_samples=50)
    >>> curve = dt.lazy_curve(
    ...     digits, widths=[2, 4], laziness=math.inf, ensemble=2, loss="squared", device="cpu"
    ... )
    >>> [run.width for run in curve.runs], curve.run(4, math.inf).n_members
    ([2, 4], 2)
    """

    runs: tuple[LazyRun, ...]

    def run(self, width: int, laziness: float) -> LazyRun:
        """Return one of the ensembles.

        Parameters
        ----------
        width : int
            The nodes of every hidden layer.
        laziness : float
            α.

        Returns
        -------
        LazyRun
            The ensemble.

        Raises
        ------
        ValueError
            If the curve has no ensemble of this width and α.
        """
        for run in self.runs:
            if (run.width, run.laziness) == (width, laziness):
                return run
        known = ", ".join(f"({run.width}, {run.laziness:g})" for run in self.runs)
        raise ValueError(
            f"width and laziness must be a pair of the curve, {known}, got ({width}, {laziness:g})"
        )

    def _content(self) -> Content:
        rows = [table_row(run) for run in self.runs]
        known = [
            (row[name], name, row)
            for row in rows
            for name in ("single_error", "ensemble_error", "vote_error")
            if not np.isnan(row[name])
        ]
        verdict = "All networks diverged."
        if known:
            least, name, best = min(known, key=lambda one: one[0])
            count = best["n_members"] - best["diverged"]
            averaged = {"ensemble_error": "The mean", "vote_error": "The vote"}
            of = f"{averaged[name]} of {count} networks" if name in averaged else "A single network"
            verdict = (
                f"{of} has the least error, {plain(least)}, "
                f"at width {best['width']} and α = {whole(best['laziness'])}."
            )
        title = "Error rate"
        return Content(title=title, tables=[_table(self.runs)], verdict=verdict)

    def _picture(self) -> _plots.Curves:
        """The errors along the width, or along α for a single width."""
        rows = [table_row(run) for run in self.runs]
        name, other = "width", "laziness"
        if len({row["width"] for row in rows}) == 1:
            name, other = other, name
        x = sorted({row[name] for row in rows})
        lines = []
        colors = itertools.cycle(_plots.CYCLE)
        for level, color in zip(dict.fromkeys(row[other] for row in rows), colors, strict=False):
            at = {row[name]: row for row in rows if row[other] == level}
            where = f", {glossary.symbol(other)} = {whole(level)}" if len(at) < len(rows) else ""
            for column, label in (("single_error", "one network"), ("ensemble_error", "mean")):
                y = np.array([at[value][column] if value in at else np.nan for value in x])
                single = column == "single_error"
                line = _plots.Curve(label=f"{label}{where}", y=y, color=color, dotted=single)
                lines.append(replace(line, points=not single, joined=not single))
        return _plots.Curves(
            x=x,
            xlabel="nodes per hidden layer" if name == "width" else "laziness α",
            lines=lines,
            ylabel=measure_name("zero_one"),
            logx=True,
            logy=False,
        )


def lazy_curve(
    data: Data,
    *,
    widths: Axis = WIDTHS,
    laziness: Axis = DEFAULTS["laziness"],
    ensemble: EnsembleLike = DEFAULTS["ensemble"],
    depth: int = DEFAULTS["depth"],
    seed: int = 0,
    device: str = "auto",
    dtype: DTypeName = "float32",
    memory: float | None = None,
    store: str | Path | None = None,
    progress: bool = True,
    **training: Any,
) -> LazyCurve:
    """Train an ensemble for every α in `laziness` and width in `widths`, all together.

    Parameters
    ----------
    data : Data
        The training and test set.
    widths : int or sequence or range, default: (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
        Nodes of every hidden layer, in [1, 100000], each once; a range is a text such as
        "2:64:log:6".
    laziness : float or sequence or range, default: 100.0
        α, the scale of a network's output, in [1e-6, 1e6]; `math.inf` trains the network linearized
        at initialization.
    ensemble : int or Ensemble, default: 20
        The number of networks of each, or `Ensemble(K)`.
    depth : int, default: 5
        Linear layers of a network, in [2, 100].
    seed : int, default: 0
        The seed of the initial weights, in [0, 2³²).
    device : str, default: "auto"
        "auto" (a GPU if there is one), "cpu", "cuda" ...
    dtype : "float32" or "tf32" or "float64", default: "float32"
        The precision; "tf32" has faster and coarser matrix products on a GPU.
    memory : float or None, default: None
        The most bytes of the batches in training; None for the free memory.
    store : str or path or None, default: None
        A file in which complete ensembles are stored: they are not trained again, and an
        interrupted call continues when it is repeated.
    progress : bool, default: True
        Whether progress is shown on stderr.
    **training : object
        Options of `train_lazy`: loss, optimizer, learning_rate, max_steps, patience, tolerance,
        batch_size.

    Returns
    -------
    LazyCurve
        An ensemble for every α and width.

    Raises
    ------
    ValueError
        If an option is not one of those listed, out of range, or not available on the device.
    TypeError
        If `data` is not a `Data`, or an option of training is unknown.
    StoreError
        If `store` is not a valid store, or cannot be used.
    MemoryError
        If a network, or the tangent kernel of "exact", does not fit into memory.
    MissingExtraError
        If torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> digits = dt.load_data("digits", n_samples=50)
    >>> curve = dt.lazy_curve(digits, widths=[2, 4], ensemble=3, max_steps=5, device="cpu")
    >>> curve.to_frame()[["width", "max_steps"]].values.tolist()
    [[2, 3], [4, 3]]
    """
    from doubletrouble.networks._device import TorchDevice  # needs torch
    from doubletrouble.networks._network import NetworkMember
    from doubletrouble.networks._training import TrainingTask

    as_data(data)
    alphas = number_axis("laziness", laziness, glossary.LAZINESS)
    sizes = whole_axis("widths", widths, glossary.WIDTH)
    count = ensemble_size(ensemble, "lazy_curve")
    root = whole_number("seed", seed, 0, MOST_SEEDS)
    if memory is not None:
        number("memory", memory, glossary.MEMORY)
    task = TrainingTask(
        members=[
            NetworkMember(width=width, laziness=alpha, number=k, seed=root)
            for alpha in alphas
            for width in sizes
            for k in range(count)
        ],
        x=data.x_train[None],
        y=data.y_train[None],
        x_test=data.x_test,
        depth=int(number("depth", depth, glossary.DEPTH)),
        training=Training.of(**training),
        device=TorchDevice.of(device, dtype),
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lazy.sqlite" if store is None else Path(store)
        return _read_or_train(task, data, count, path, memory=memory, progress=progress)


def _read_or_train(
    task: TrainingTask,
    data: Data,
    count: int,
    path: Path,
    *,
    memory: float | None,
    progress: bool,
) -> LazyCurve:
    """Read ensembles of `count` members from a store; train and store those it does not hold."""
    from doubletrouble.networks._training import train_members

    firsts = task.members[::count]  # one member of each ensemble
    cells = [_cell(task, data, count, member) for member in firsts]
    name = digest([cell.key for cell in cells])[:12]
    checkpoint = path.with_name(f"{path.name}.{name}.training")
    runs = _stored(path, cells) if path.exists() else {}
    known = {k * count + i: o for k, run in runs.items() for i, o in enumerate(run.members)}
    outcomes, start = dict(known), time.perf_counter()

    def done(index: int, outcome: TrainingOutcome) -> None:
        outcomes[index] = outcome
        k = index // count
        indices = range(k * count, (k + 1) * count)
        if k not in runs and all(i in outcomes for i in indices):
            runs[k] = task.ensemble(firsts[k], [outcomes[i] for i in indices], data)
            record = {f.name: getattr(runs[k], f.name) for f in fields(LazyRun)}
            result, seconds = encode(record), time.perf_counter() - start
            store.put(cells[k], CellOutcome(status=DONE, result=result, seconds=seconds))

    if len(runs) < len(cells):  # a complete store may be read-only
        with Store.open(path) as store:
            try:
                train_members(
                    task,
                    memory=memory,
                    store=checkpoint,
                    known=known,
                    progress=progress,
                    done=done,
                )
            except KeyboardInterrupt:
                raise SweepInterrupted(
                    f"interrupted with {len(runs)} of {len(cells)} ensembles stored in {path}; "
                    "repeat the call to continue"
                ) from None
    with suppress(OSError):
        checkpoint.unlink(missing_ok=True)
    return LazyCurve(runs=tuple(runs[k] for k in range(len(cells))))


def _cell(task: TrainingTask, data: Data, count: int, member: NetworkMember) -> Cell:
    """Return everything an ensemble depends on, by the names in all stores."""
    parameters = {
        "data": data.fingerprint,
        "width": member.width,
        "laziness": member.laziness,
        "dtype": task.device.dtype,
        "depth": task.depth,
        "seed": member.seed,
        "n_members": count,
        **asdict(task.training),
        "patience": task.training.window,
    }
    return Cell.of("lazy", REVISION, parameters)


# --- stores --------------------------------------------------------------------------------------


def stored_curve(store: str | Path) -> LazyCurve:
    """Return every ensemble in a store, by α and width. Does not need torch."""
    with Store.read(store) as opened:
        outcomes = [outcome for _, outcome in opened.outcomes(opened.statuses())]
    records = [decode(outcome.result) for outcome in outcomes if outcome.result]
    runs = [run_of_record(record) for record in records if "laziness" in record]
    if not runs:
        raise ValueError(f"store must hold ensembles of networks, got {store}, which holds none")
    return LazyCurve(runs=tuple(sorted(runs, key=lambda run: (run.laziness, run.width))))


def _stored(path: Path, cells: Sequence[Cell]) -> dict[int, LazyRun]:
    """Return the ensembles of some cells that a store holds, by the index of the cell."""
    with Store.read(path) as store:
        stored = [store.outcome(cell.key) for cell in cells]
    return {k: run_of_record(decode(o.result)) for k, o in enumerate(stored) if o}


def run_of_record(record: Record) -> LazyRun:
    """Return the ensemble of a stored record."""
    return LazyRun(**{**record, "status": tuple(record["status"])})


# --- tables --------------------------------------------------------------------------------------


def table_row(run: LazyRun) -> dict[str, Any]:
    """Return the errors of an ensemble; members that diverged are counted and left out."""
    counts = Counter(run.status)
    left = run.n_members - counts["diverged"]
    valid = run.without_diverged() if left else None
    nan = float("nan")
    single = valid.by_group(1, measure="zero_one") if valid else np.array([nan])
    return {
        "laziness": run.laziness,
        "width": run.width,
        "n_members": run.n_members,
        "single_error": float(single.mean()),
        "single_std": float(single.std(ddof=1)) if left > 1 else nan,
        "ensemble_error": float(valid.error(left, measure="zero_one").total) if valid else nan,
        "vote_error": float(valid.error(Vote(left), measure="zero_one").total) if valid else nan,
        "train_error": float(valid.train_error.mean()) if valid else nan,
        "train_loss": float(valid.train_loss.mean()) if valid else nan,
        "interpolating": int(run.interpolates.sum()),
        **{name: counts[name] for name in STATUSES},
        "median_steps": float(np.median(valid.steps)) if valid else nan,
        "mean_distance": float(valid.distance.mean()) if valid else nan,
    }


def _table(runs: Sequence[LazyRun]) -> Table:
    """A row for each ensemble; of its settings, those that differ are printed."""
    rows = [table_row(run) for run in runs]
    varying = {name: [row[name] for row in rows] for name in ("laziness", "width")}
    columns: list[tuple[Column, Entries]] = [
        (
            Column(name=name, heading=_PRINTED.get(name), printed=name in _PRINTED),
            [row[name] for row in rows],
        )
        for name in rows[0]
        if name not in varying
    ]
    for name in dict.fromkeys(name for run in runs for name in run.settings):
        values = [run.settings.get(name) for run in runs]
        differ = any(value != values[0] for value in values)
        column = Column(name=_COLUMNS.get(name, name), form="words", printed=differ)
        columns.append((column, values))
    ends = [", ".join(f"{row[name]} {name}" for name in STATUSES if row[name]) for row in rows]
    columns.append((Column(name="stopped", form="words", exported=False), ends))
    return point_table("runs", (len(rows),), varying, columns)
