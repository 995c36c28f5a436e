"""Simulations at many points and settings, stored cell by cell, and their results in a store.

A cell is one point of a problem with one dimension, model and seed. Every value is checked when the
sweep is made, and every parameter is passed to `simulate`.
"""

from __future__ import annotations  # help() then shows Axis, not its definition

import itertools
import json
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from doubletrouble import _plots, _sweep_table, glossary
from doubletrouble._display import ROWS, Column, Content, DataFrame, Shown, Table
from doubletrouble._sweep_table import SweepRow
from doubletrouble.ensembles import Ensemble, Scheme
from doubletrouble.errors import StoreError, require
from doubletrouble.parameters import check_flag, whole_number
from doubletrouble.problems import Problem
from doubletrouble.ranges import (
    Axis,
    choice_axis,
    distinct,
    listed,
    number_axis,
    seed_axis,
    whole_axis,
)
from doubletrouble.runs import (
    DONE,
    FAILED,
    Cell,
    CellOutcome,
    Executor,
    Store,
    backend,
    canonical,
    decode,
    digest,
    run_cells,
)
from doubletrouble.simulation import (
    KIND,
    MODELS,
    PROBLEM,
    REVISION,
    Dtype,
    Ensembles,
    Model,
    TestAverage,
    device_named,
    ensemble_of,
    from_record,
    plan,
    problem_of,
    simulate,
    simulate_cell,
    single_ensemble,
    stored_ensemble,
    stored_problem,
)

AXES = ("dim", "model", "seed")
"""The settings that may have several values."""

ENSEMBLES = tuple(map(Ensemble, (1, 2, 10, math.inf)))
"""The default of `Sweep.ensembles`."""
DEVICE = "cpu"
"""The default of `Sweep.device`, on which cells have the same bits wherever they are computed."""

_FEW_ROWS = 1000  # of which the least error is given
_HASH_SHOWN = 12  # characters; any beginning that is unique chooses a sweep
_DEFAULTS: dict[str, Any] = {
    **(simulate.__kwdefaults__ or {}),
    "ensembles": ENSEMBLES,
    "device": DEVICE,
}


@dataclass(frozen=True)
class Sweep:
    """Simulations at every point of a problem, for every dimension, model and seed.

    The arrays of the problem broadcast, as in `exact_error` and `simulate`: for a grid of two
    fields, one is a column, such as `np.array(values)[:, None]`. The cells are all points of the
    problem, times all values of `dim`, `model` and `seed`; the other arguments are settings of
    `simulate`, and hold for every cell. With the default device cells have the same bits wherever
    they are computed; another device changes their keys.

    Parameters
    ----------
    problem : Problem or sequence of Problem
        The problem, whose fields may be arrays; or several, such as one for each loss.
    dim : int or sequence or range
        D: input dimensions, in [1, 1e7]; a range is text such as "20:80:log:3".
    model : str or sequence of str, default: "features"
        "features", "gaussian" or "kernel", as in `simulate`.
    seed : int or sequence or range, default: 0
        Seeds of the random numbers, in [0, 2³²).
    n_data : int, default: 10
        Independent draws of every cell, at least 2.
    n_init : int, default: 10
        Sets of features in each draw, at least 2.
    ensembles : Scheme or float or sequence of them, default: (1, 2, 10, inf)
        Ensembles of every cell; numbers are models averaged.
    times : float or sequence or range or None, default: None
        t: time of training by gradient flow, in [0, 1e150] or inf, which is the end. Every cell has
        all of them; None for ridge regression.
    test : "auto" or "exact" or "sample", default: "auto"
        How the average over test points is taken.
    center : bool, default: True
        Whether the mean of the activation is subtracted.
    dtype : "float64" or "float32", default: "float64"
        The precision.
    device : str, default: "cpu"
        "cpu" (NumPy), "torch", or a device of torch such as "cuda"; "auto" is the one of them that
        `simulate` chooses on this machine.

    Raises
    ------
    ValueError
        If a value is outside its domain, a name is unknown, a field of the problem cannot be
        stored, or a cell cannot be simulated.
    TypeError
        If an argument is not of the type above.

    Examples
    --------
    >>> import numpy as np
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=[[0.1], [1.0], [10.0]], ridge=[0.01, 1.0])
    >>> sweep = dt.Sweep(problem, dim=40, seed=range(5))
    >>> problem.shape, len(sweep.cells())
    ((3, 2), 30)
    """

    problem: Problem | Sequence[Problem]
    _: KW_ONLY
    dim: Axis
    model: Model | Sequence[Model] = _DEFAULTS["model"]
    seed: Axis = _DEFAULTS["seed"]
    n_data: int = _DEFAULTS["n_data"]
    n_init: int = _DEFAULTS["n_init"]
    ensembles: Ensembles = ENSEMBLES
    times: Axis | None = _DEFAULTS["times"]
    test: TestAverage = _DEFAULTS["test"]
    center: bool = _DEFAULTS["center"]
    dtype: Dtype = _DEFAULTS["dtype"]
    device: str = DEVICE

    def __post_init__(self) -> None:
        problems = listed("problem", self.problem)
        for problem in problems:
            if not isinstance(problem, Problem):
                raise TypeError(f"problem must be a Problem or several, got {problem!r}")
            stored_problem(problem)
        self._set("problem", problems[0] if len(problems) == 1 else tuple(problems))
        self._set("dim", whole_axis("dim", self.dim, glossary.WHOLE_DIM))
        self._set("model", choice_axis("model", self.model, MODELS))
        self._set("seed", seed_axis("seed", self.seed))
        if self.times is not None:
            self._set("times", number_axis("times", self.times, glossary.TIME))
        for name in ("n_data", "n_init"):
            self._set(name, whole_number(name, getattr(self, name), 2))
        given = listed("ensembles", self.ensembles)
        schemes = tuple(single_ensemble("ensembles", one, "Sweep") for one in given)
        self._set("ensembles", distinct("ensembles", schemes))
        self._set("device", device_named(self.device))
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        del settings["problem"], settings["device"]  # which the machine of the cell must have
        dims, models, (settings["seed"], *_) = (settings.pop(name) for name in AXES)
        for problem, dim, model in itertools.product(problems, dims, models):
            plan(problem, dim=dim, model=model, **settings)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # --- cells ---

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem."""
        return (self.problem,) if isinstance(self.problem, Problem) else tuple(self.problem)

    def cells(self) -> list[Cell]:
        """Every cell with its key.

        Returns
        -------
        list of Cell
            The cells: the points of all problems, for each of them the dimensions, models and
            seeds, the last of which changes fastest.
        """
        return list(self._cells)

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        settings = self._values()
        del settings["problem"]
        axes = [settings.pop(name) for name in AXES]
        cells = (
            Cell.of(KIND, REVISION, {**point, **dict(zip(AXES, values, strict=True)), **settings})
            for problem in self.problems
            for point in _points(problem)
            for values in itertools.product(*axes)
        )
        return tuple({cell.key: cell for cell in cells}.values())

    @cached_property
    def _levels(self) -> dict[str, list[Any]]:
        """The values of every parameter in which cells may differ."""
        return {
            name: list(dict.fromkeys(cell.parameters[name] for cell in self._cells))
            for name in (*PROBLEM, *AXES)
        }

    def _values(self) -> dict[str, Any]:
        """Every field as plain values, as in stores."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["problem"] = [stored_problem(problem) for problem in self.problems]
        values["ensembles"] = [stored_ensemble(one) for one in values["ensembles"]]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @property
    def summary(self) -> str:
        """The parameters that differ from their defaults, in one line.

        Examples
        --------
        >>> Sweep(Problem(ridge=[0.1, 1.0]), dim=20, seed=range(5), center=False).summary
        '2 x ridge, dim 20, 5 x seed, center False'
        """
        usual = _DEFAULTS | stored_problem(Problem(task=self.problems[0].task))
        others = [f.name for f in fields(self) if f.name not in ("problem", *AXES)]
        words = []
        for name, value in {**self._levels, **{n: getattr(self, n) for n in others}}.items():
            several = isinstance(value, list | tuple)
            if several and len(value) > 1 and value != usual.get(name):
                words.append(f"{len(value)} x {name}")
            elif value not in (usual.get(name), [usual.get(name)]):
                words.append(f"{name} {value[0] if several else value}")
        return ", ".join(words)

    # --- in a store ---

    @property
    def specification(self) -> str:
        """The sweep as text, as stores hold it."""
        return canonical({"kind": KIND, "revision": REVISION, "fields": self._values()})

    @cached_property
    def hash(self) -> str:
        """The name of the sweep in a store; any change of the sweep changes it."""
        return digest(self.specification)

    @staticmethod
    def from_store(store: str | Path, hash: str | None = None) -> Sweep:
        """Take a sweep from a store.

        Parameters
        ----------
        store : str or path
            The file of the store.
        hash : str or None, default: None
            The hash of the sweep, or its beginning, which chooses one of several.

        Returns
        -------
        Sweep
            The sweep.

        Raises
        ------
        StoreError
            If the file is not a valid store, or holds no sweep of this revision.
        ValueError
            If the store holds several sweeps and `hash` is not given, or chooses not exactly one.
        """
        with Store.read(store) as opened:
            stored, cells = opened.sweeps(), sum(opened.counts().values())
        if not stored:
            instead = f"holds {cells} results of another kind" if cells else "holds none yet"
            raise StoreError(
                f"store must hold a sweep of simulations, got {store}, which {instead}"
            )
        matching = [name for name in stored if name.startswith(hash or "")]
        if len(matching) == 1:
            return _specified(stored[matching[0]])
        names = ", ".join(name[:_HASH_SHOWN] for name in stored)
        if hash is None:
            raise ValueError(
                f"sweep must be chosen by its hash (--sweep HASH), as {store} holds several: "
                f"{names}"
            )
        raise ValueError(f"sweep must be the hash of one in {store} ({names}), got {hash!r}")

    def run(
        self,
        store: str | Path,
        *,
        retry: bool = False,
        executor: Executor | None = None,
        workers: int | None = None,
        scheduler: Any = None,
        progress: bool = True,
    ) -> SweepResult:
        """Compute every cell that the store does not hold yet, or those that failed once more.

        The numbers do not depend on how cells are computed; give at most one of `executor`,
        `workers` and `scheduler`.

        Parameters
        ----------
        store : str or path
            The file of the store, made if it does not exist.
        retry : bool, default: False
            Whether the cells that failed are computed once more, and no others.
        executor : object or None, default: None
            Any object with a method `submit`, on which cells are computed.
        workers : int or None, default: None
            The number of worker processes; 1 is this process, None as many as there are processors:
            unlike fits of a learner, cells can be sent to any process.
        scheduler : str or None, default: None
            The address of a Dask scheduler, such as "tcp://host:8786".
        progress : bool, default: True
            Whether progress is shown on stderr.

        Returns
        -------
        SweepResult
            The results; cells that failed have a message.

        Raises
        ------
        StoreError
            If the file is not a valid store, cannot be used, or does not exist for a `retry`.
        ValueError
            If options of the executor are incompatible.
        TypeError
            If `executor` has no method `submit`.
        DoubleTroubleError
            If the executor breaks, or the scheduler cannot be reached.
        MissingExtraError
            If the packages of worker processes or of Dask are not installed.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> from tempfile import TemporaryDirectory
        >>> sweep = dt.Sweep(dt.Problem(ridge=[0.1, 1.0]), dim=10, n_data=2, n_init=2)
        >>> with TemporaryDirectory() as folder:
        ...     result = sweep.run(f"{folder}/grid.sqlite", workers=1)
        >>> result.done, result.failed, result.missing
        (2, 0, 0)
        """
        check_flag("retry", retry)
        check_flag("progress", progress)
        start = backend(executor, workers, scheduler)
        if retry and not Path(store).exists():
            raise StoreError(f"store must hold cells to retry, got {store}, which does not exist")
        with Store.open(store) as opened:
            opened.add_sweep(self.hash, self.specification)
            cells = self.cells()
            if retry:
                statuses = opened.statuses()
                cells = [cell for cell in cells if statuses.get(cell.key) == FAILED]
            finished = run_cells(
                cells,
                simulate_cell,
                opened,
                start,
                retry=retry,
                progress=progress,
                steps=self.n_data,
            )
            deque(finished, maxlen=0)
        return self.results(store)

    def results(self, store: str | Path) -> SweepResult:
        """The results of this sweep in a store.

        Parameters
        ----------
        store : str or path
            The file of the store.

        Returns
        -------
        SweepResult
            The finished cells, in the order of the sweep.

        Raises
        ------
        StoreError
            If the file is not a valid store.
        """
        with Store.read(store) as opened:
            stored = opened.statuses()
        statuses = [stored.get(cell.key) for cell in self._cells]
        done, failed, missing = map(statuses.count, (DONE, FAILED, None))
        return SweepResult(sweep=self, store=Path(store), done=done, failed=failed, missing=missing)


def _specified(specification: str) -> Sweep:
    """The sweep of a specification."""
    content = json.loads(specification)
    if (content["kind"], content["revision"]) != (KIND, REVISION):
        raise StoreError(
            f"sweep must be of {KIND}s of revision {REVISION}, got {content['kind']}s of revision "
            f"{content['revision']}: their numbers have another definition; use the release that "
            "made them, or run it again"
        )
    values = content["fields"]
    values["problem"] = [problem_of(one) for one in values["problem"]]
    values["ensembles"] = [ensemble_of(one) for one in values["ensembles"]]
    return Sweep(**values)


def _points(problem: Problem) -> Iterator[dict[str, float | str]]:
    """The fields of a problem as plain values at every point."""
    size = math.prod(problem.shape)
    columns = []
    for value in (getattr(problem, name) for name in PROBLEM):
        names = isinstance(value, str)
        columns.append(
            [value] * size if names else np.broadcast_to(value, problem.shape).ravel().tolist()
        )
    for values in zip(*columns, strict=True):
        yield dict(zip(PROBLEM, values, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SweepResult(Shown):
    """The results of a sweep in a store; iterate for its rows, in the order of the sweep.

    `done`, `failed` and `missing` are numbers of cells. Tables have a row for every cell, ensemble
    and time.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> from tempfile import TemporaryDirectory
    >>> sweep = dt.Sweep(dt.Problem(ridge=[0.1, 1.0]), dim=10, n_data=2, n_init=2)
    >>> with TemporaryDirectory() as folder:
    ...     result = sweep.run(f"{folder}/grid.sqlite", workers=1)
    ...     errors = {row.parameters["ridge"]: row.simulation.error().total.value for row in result}
    >>> sorted(errors)
    [0.1, 1.0]
    """

    sweep: Sweep
    store: Path
    done: int
    failed: int
    missing: int

    @property
    def n_cells(self) -> int:
        """The number of cells of the sweep."""
        return self.done + self.failed + self.missing

    @cached_property
    def rows(self) -> tuple[SweepRow, ...]:
        """Every finished cell, including those that failed."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[SweepRow]:
        for cell, outcome in self._outcomes():
            yield SweepRow(
                key=cell.key,
                parameters=cell.parameters,
                status=outcome.status,
                message=outcome.message,
                seconds=outcome.seconds,
                simulation=from_record(decode(outcome.result)) if outcome.result else None,
            )

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def messages(self) -> list[str]:
        """The message of every failed cell."""
        if not self.failed:
            return []
        return [outcome.message for _, outcome in self._outcomes() if outcome.status == FAILED]

    def _content(self) -> Content:
        axes, ensembles, times = self._varying()
        verdict = f"{self.done} of {self.n_cells} cells done, {self.failed} failed"
        count = self.done * len(ensembles) * len(times or [0])
        few = count <= _FEW_ROWS
        cells = self.rows if few else itertools.islice(self._rows(), ROWS)
        table = _sweep_table.totals(cells, axes, ensembles, times)
        tables = [table if few else replace(table, rows=table.rows[:ROWS])] if self.done else []
        counts = {name: getattr(self, name) for name in ("done", "failed", "missing")}
        return Content(
            title=f"{verdict}, in {self.store}",
            tables=[*tables, *([_sweep_table.failures(self.messages)] if self.failed else [])],
            lines=[] if few else [f"the first of {count:,} rows; to_frame() has all of them"],
            verdict=_sweep_table.least(table) if few and self.done else verdict,
            facts={"sweep": self.sweep.hash, "store": str(self.store), **counts},
        )

    def _varying(self) -> tuple[dict[str, list[Any]], Sequence[Scheme], Sequence[float] | None]:
        """The parameters with several values, the ensembles and the times."""
        levels = {name: values for name, values in self.sweep._levels.items() if len(values) > 1}
        ensembles: Any = self.sweep.ensembles
        times: Any = self.sweep.times
        return levels, ensembles, times

    def _tables(self) -> tuple[Table, ...]:
        columns = [Column(name=name) for name in _sweep_table.COLUMNS]
        return (Table(name="rows", columns=columns, rows=self.to_frame().to_numpy().tolist()),)

    def _picture(self) -> _plots.Curves:
        return _sweep_table.curves(self._rows(), *self._varying())

    def _frame(self) -> DataFrame:
        """A row for every cell, ensemble and time."""
        frames = list(_sweep_table.frames(self._outcomes()))
        return require("pandas", "tables").concat(frames, ignore_index=True)

    def export(self, path: str | Path) -> Path:
        """Write the rows to a file.

        Parameters
        ----------
        path : str or path
            The file to write, which ends in .csv, .parquet or .json.

        Returns
        -------
        pathlib.Path
            The file written.

        Raises
        ------
        ValueError
            If `path` has another ending, or its folder does not exist.
        StoreError
            If the store cannot be read.
        MissingExtraError
            If pandas, or pyarrow for .csv and .parquet, is not installed.
        """
        return _sweep_table.write_frames(_sweep_table.frames(self._outcomes()), path)

    def _outcomes(self) -> Iterator[tuple[Cell, CellOutcome]]:
        cells = {cell.key: cell for cell in self.sweep._cells}
        with Store.read(self.store) as opened:
            for key, outcome in opened.outcomes(cells):
                yield cells[key], outcome


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StoredSweeps(Shown):
    """The sweeps of a store, the oldest first, with the numbers of their cells."""

    store: Path
    results: Sequence[SweepResult]

    @classmethod
    def of(cls, store: str | Path) -> Self:
        """Read the sweeps of a store."""
        with Store.read(store) as opened:
            sweeps = [_specified(text) for text in opened.sweeps().values()]
        return cls(store=Path(store), results=[sweep.results(store) for sweep in sweeps])

    def _content(self) -> Content:
        columns = (
            Column(name="sweep", form="words"),
            *(Column(name=name, form="count") for name in ("cells", "done", "failed", "missing")),
            Column(name="grid", form="words"),
        )
        rows = [
            [
                one.sweep.hash[:_HASH_SHOWN],
                *(one.n_cells, one.done, one.failed, one.missing),
                one.sweep.summary,
            ]
            for one in self.results
        ]
        return Content(
            title=str(self.store),
            tables=[Table(name="sweeps", columns=columns, rows=rows)],
            facts={"store": str(self.store)},
        )
