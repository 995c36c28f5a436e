"""A grid of simulations, stored cell by cell, and its results in a store.

The cells are the product of all axes in the order of the fields, the last changing fastest. Every
value is checked when the grid is made, and every parameter is passed to `simulate`.
"""

from __future__ import annotations  # help() then shows Axis, not its definition

import itertools
import json
import math
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from doubletrouble import _plots, glossary
from doubletrouble._display import ROWS, Column, Content, DataFrame, Shown, Table
from doubletrouble.ensembles import Ensemble
from doubletrouble.errors import StoreError, require
from doubletrouble.losses import TASKS, LossLike, Task
from doubletrouble.parameters import check_flag, declarations, parameter, whole_number
from doubletrouble.problems import Problem
from doubletrouble.ranges import Axis, choice_axis, number_axis, seed_axis, whole_axis
from doubletrouble.runs import (
    DONE,
    FAILED,
    Cell,
    CellOutcome,
    Executor,
    Store,
    canonical,
    check_executor,
    decode,
    digest,
    run_cells,
)
from doubletrouble.simulation import (
    MODELS,
    Dtype,
    Model,
    TestAverage,
    is_device,
    simulate,
)
from doubletrouble.sweep import _table
from doubletrouble.sweep._simulated import (
    KIND,
    PROBLEM,
    REVISION,
    EnsembleAxis,
    activation_axis,
    check_cell,
    ensemble_axis,
    from_record,
    loss_axis,
    simulate_cell,
    stored_ensemble,
)
from doubletrouble.sweep._table import SweepRow

AXES = (*PROBLEM, "dim", "model", "seed")
"""The fields that may have several values."""

ENSEMBLES = tuple(map(Ensemble, (1, 2, 10, math.inf)))
"""The default of `Sweep.ensembles`."""

_FEW_ROWS = 1000  # of which the least error is given
_HASH_SHOWN = 12  # characters; any beginning that is unique chooses a sweep

_DEFAULTS: dict[str, Any] = {
    **(simulate.__kwdefaults__ or {}),
    **{f.name: f.default for f in fields(Problem)},
}


def _axis(name: str) -> Any:
    """A field with the declaration and the default of that of `Problem`."""
    return parameter(declarations(Problem)[name], _DEFAULTS[name])


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A grid of simulations; fields of `Problem`, `dim`, `model` and `seed` are its axes.

    An axis is one value, a sequence, or a range such as "0.1:10:log:50" or "0:1:linear:11". The
    other fields are settings of `simulate` and hold for every cell. With `device="cpu"` cells have
    the same bits wherever they are computed.

    Parameters
    ----------
    features_per_dim : float or sequence or range, default: 2
        P/D: random features per input dimension; `math.inf` is the kernel limit.
        Must be in [1e-50, 1e+50] or inf.
    samples_per_dim : float or sequence or range, default: 1
        N/D: training samples per input dimension.
        Must be in [1e-50, 1e+50].
    ridge : float or sequence or range, default: 1e-05
        λ: ridge penalty; 0 is the minimum-norm limit, `math.inf` predicts zero.
        Must be in [0, inf].
    signal : float or sequence or range, default: 1
        F: norm of the linear teacher.
        Must be in [0, 1e+150].
    noise : float or sequence or range or None, default: None
        τ: standard deviation of the noise on training labels.
        Must be in [0, 1e+150]. The default is 1 for regression and 0 for classification.
    nonlinear_signal : float or sequence or range, default: 0
        F⋆: root power of the part of the teacher that cannot be learned.
        Must be in [0, 1e+150].
    test_noise : float or sequence or range, default: 0
        τ̃: standard deviation of the noise on test labels.
        Must be in [0, 1e+150].
    flips : float or sequence or range, default: 0
        p: probability that a training label of a class is flipped.
        Must be in [0, 0.5].
    activation : str or sequence of str, default: "relu"
        Names of activations.
    loss : str or losses.Loss or sequence of them, default: "squared"
        Training losses that have a name.
    task : str or sequence of str, default: "regression"
        "regression" or "classification".
    dim : int or sequence or range
        D: input dimensions.
        Must be a whole number in [1, 1e+07].
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
        t: time of training by gradient flow; `math.inf` is the end.
        Must be in [0, 1e+150] or inf. Every cell has all of them; None for ridge regression.
    test : {"auto", "exact", "sample"}, default: "auto"
        How the average over test points is taken.
    center : bool, default: True
        Whether the mean of the activation is subtracted.
    dtype : {"float64", "float32"}, default: "float64"
        The precision.
    device : str, default: "auto"
        "auto", "cpu" (NumPy), "torch", or a device of torch such as "cuda".

    Raises
    ------
    ValueError
        If a value is outside its domain, a name is unknown, or a cell cannot be simulated.
    TypeError
        If a field is not of the type above.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> sweep = dt.Sweep(features_per_dim="0.1:10:log:3", ridge=[0.01, 1.0], dim=40, seed=range(5))
    >>> len(sweep.cells())
    30
    >>> sweep.features_per_dim
    (0.1, 1.0, 10.0)
    """

    features_per_dim: Axis = _axis("features_per_dim")
    samples_per_dim: Axis = _axis("samples_per_dim")
    ridge: Axis = _axis("ridge")
    signal: Axis = _axis("signal")
    noise: Axis | None = _axis("noise")
    nonlinear_signal: Axis = _axis("nonlinear_signal")
    test_noise: Axis = _axis("test_noise")
    flips: Axis = _axis("flips")
    activation: str | Sequence[str] = _DEFAULTS["activation"]
    loss: LossLike | Sequence[LossLike] = _DEFAULTS["loss"]
    task: Task | Sequence[Task] = _DEFAULTS["task"]
    dim: Axis = parameter(glossary.WHOLE_DIM)
    model: Model | Sequence[Model] = _DEFAULTS["model"]
    seed: Axis = _DEFAULTS["seed"]

    n_data: int = _DEFAULTS["n_data"]
    n_init: int = _DEFAULTS["n_init"]
    ensembles: EnsembleAxis = ENSEMBLES
    times: Axis | None = parameter(glossary.TIME, _DEFAULTS["times"])
    test: TestAverage = _DEFAULTS["test"]
    center: bool = _DEFAULTS["center"]
    dtype: Dtype = _DEFAULTS["dtype"]
    device: str = _DEFAULTS["device"]

    def __post_init__(self) -> None:
        self._set("task", choice_axis("task", self.task, TASKS))
        self._set("loss", loss_axis("loss", self.loss))
        if self.noise is None:
            self._set("noise", self._usual_noise())
        for name, spec in declarations(Problem).items():
            self._set(name, number_axis(name, getattr(self, name), spec))
        self._set("activation", activation_axis("activation", self.activation))
        self._set("dim", whole_axis("dim", self.dim, glossary.WHOLE_DIM))
        self._set("model", choice_axis("model", self.model, MODELS))
        self._set("seed", seed_axis("seed", self.seed))
        self._set("ensembles", ensemble_axis("ensembles", self.ensembles))
        if self.times is not None:
            self._set("times", number_axis("times", self.times, glossary.TIME))
        for name in ("n_data", "n_init"):
            self._set(name, whole_number(name, getattr(self, name), 2))
        check_flag("center", self.center)
        if not is_device(self.device):
            raise ValueError(
                f"device must be 'auto', 'cpu', 'torch' or of torch, got {self.device!r}"
            )
        axes, others = self._axes()
        for name in ("noise", "signal", "test_noise", "seed"):  # any value can be simulated
            axes[name] = axes[name][:1]
        for point in itertools.product(*axes.values()):
            check_cell(dict(zip(axes, point, strict=True)) | others)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _usual_noise(self) -> object:
        """The default noise of the tasks."""
        values = {Problem(task=task).noise for task in self.task}  # type: ignore[arg-type]
        if len(values) > 1:
            raise ValueError(f"noise must be given for several tasks, got {self.task!r}")
        return values.pop()

    # --- as text ---

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        r"""Read a grid from a TOML file, or from its text: `field = value`, `[...]` or a range.

        Parameters
        ----------
        path : str or path
            The file; a string with several lines is the text itself.

        Returns
        -------
        Sweep
            The grid.

        Raises
        ------
        ValueError
            If the text is not TOML, has an unknown field or no `dim`, or a value is out of range.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> sweep = dt.Sweep.from_toml('dim = 20\nridge = "0.01:1:log:3"')
        >>> sweep.ridge
        (0.01, 0.1, 1.0)
        """
        return cls(**_read_toml(path, [f.name for f in fields(cls)]))

    def to_toml(self) -> str:
        """The grid as a TOML file, which `from_toml` reads.

        Returns
        -------
        str
            The text, with every value.
        """
        given = {name: value for name, value in self._values().items() if value is not None}
        return "\n".join(f"{name} = {_toml_value(value)}" for name, value in given.items())

    @classmethod
    def from_store(cls, store: str | Path, hash: str | None = None) -> Self:
        """Take a grid from a store.

        Parameters
        ----------
        store : str or path
            The file of the store.
        hash : str or None, default: None
            The hash of the grid, or its beginning, which chooses one of several.

        Returns
        -------
        Sweep
            The grid.

        Raises
        ------
        StoreError
            If the file is not a valid store, or holds no sweep of this revision.
        ValueError
            If the store holds several grids and `hash` is not given, or chooses not exactly one.
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
            return cls._from_specification(stored[matching[0]])
        names = ", ".join(name[:_HASH_SHOWN] for name in stored)
        if hash is None:
            raise ValueError(
                f"sweep must be chosen by its hash (--sweep HASH), as {store} holds several: "
                f"{names}"
            )
        raise ValueError(f"sweep must be the hash of one in {store} ({names}), got {hash!r}")

    @classmethod
    def all_from_store(cls, store: str | Path) -> list[Self]:
        """Take every grid from a store.

        Parameters
        ----------
        store : str or path
            The file of the store.

        Returns
        -------
        list of Sweep
            The grids, the oldest first.

        Raises
        ------
        StoreError
            If the file is not a valid store, or holds a sweep of another revision.
        """
        with Store.read(store) as opened:
            return [cls._from_specification(text) for text in opened.sweeps().values()]

    @classmethod
    def _from_specification(cls, text: str) -> Self:
        content = json.loads(text)
        if content["kind"] != KIND:
            raise StoreError(f"sweep must be of kind {KIND!r}, got {content['kind']!r}")
        if content["revision"] != REVISION:
            raise StoreError(
                f"sweep must be of revision {REVISION}, got {content['revision']}: its numbers "
                "have another definition; use the release that made them, or run it again"
            )
        return cls(**content["fields"])

    @property
    def summary(self) -> str:
        """The fields that differ from their defaults, in one line.

        Examples
        --------
        >>> Sweep(ridge=[0.1, 1.0], dim=20, seed=range(5), center=False).summary
        '2 x ridge, dim 20, 5 x seed, center False'
        """
        words = []
        noise = self._usual_noise() if len(self.task) == 1 else None
        for f in fields(self):
            value, default = getattr(self, f.name), noise if f.name == "noise" else f.default
            if value in (default, (default,)):
                continue
            if isinstance(value, tuple) and len(value) > 1:
                words.append(f"{len(value)} x {f.name}")
            else:
                words.append(f"{f.name} {value[0] if isinstance(value, tuple) else value}")
        return ", ".join(words)

    @property
    def specification(self) -> str:
        """The grid as text, as stores hold it."""
        return canonical({"kind": KIND, "revision": REVISION, "fields": self._values()})

    @cached_property
    def hash(self) -> str:
        """The name of the grid in a store; any change of the grid changes it."""
        return digest(self.specification)

    # --- with a store ---

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
            The number of worker processes; 1 is this process, None as many as there are processors.
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
        >>> sweep = dt.Sweep(ridge=[0.1, 1.0], dim=10, n_data=2, n_init=2)
        >>> with TemporaryDirectory() as folder:
        ...     result = sweep.run(f"{folder}/grid.sqlite", workers=1)
        >>> print(result.status)
        2 of 2 cells done, 0 failed
        """
        if retry and not Path(store).exists():
            raise StoreError(f"store must hold cells to retry, got {store}, which does not exist")
        options = {"executor": executor, "workers": workers, "scheduler": scheduler}
        check_executor(**options)
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
                retry=retry,
                progress=progress,
                steps=lambda cell: self.n_data,
                **options,
            )
            deque(finished, maxlen=0)
            return SweepResult(sweep=self, store=Path(store), status=self._counts(opened))

    def status(self, store: str | Path) -> SweepStatus:
        """Count the cells in a store.

        Parameters
        ----------
        store : str or path
            The file of the store, which need not exist.

        Returns
        -------
        SweepStatus
            The number of cells that are done, failed and missing.

        Raises
        ------
        StoreError
            If the file is not a valid store.
        """
        if not Path(store).exists():
            return SweepStatus(done=0, failed=0, missing=len(self.cells()))
        with Store.read(store) as opened:
            return self._counts(opened)

    def results(self, store: str | Path) -> SweepResult:
        """The results of this grid in a store.

        Parameters
        ----------
        store : str or path
            The file of the store.

        Returns
        -------
        SweepResult
            The finished cells, in the order of the grid.

        Raises
        ------
        StoreError
            If the file is not a valid store.
        """
        with Store.read(store) as opened:
            return SweepResult(sweep=self, store=Path(store), status=self._counts(opened))

    def _counts(self, store: Store) -> SweepStatus:
        stored, cells = store.statuses(), self.cells()
        statuses = [stored.get(cell.key) for cell in cells]
        done, failed = statuses.count(DONE), statuses.count(FAILED)
        return SweepStatus(done=done, failed=failed, missing=len(cells) - done - failed)

    # --- cells ---

    def cells(self) -> list[Cell]:
        """Every cell with its key.

        Returns
        -------
        list of Cell
            The cells, in the order of the grid.
        """
        axes, others = self._axes()
        return Cell.grid(KIND, REVISION, axes, others)

    def _values(self) -> dict[str, Any]:
        """Every field as plain values, as in TOML files and stores."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["ensembles"] = [stored_ensemble(one) for one in values["ensembles"]]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def _axes(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields with several values in the order of the grid, and the others."""
        values = self._values()
        return {name: values.pop(name) for name in AXES}, values


@dataclass(frozen=True, kw_only=True, repr=False)
class SweepStatus(Shown):
    """The number of cells of a grid that are done, failed and missing."""

    done: int
    failed: int
    missing: int

    @property
    def n_cells(self) -> int:
        """The number of cells of the grid."""
        return self.done + self.failed + self.missing

    @property
    def verdict(self) -> str:
        """The numbers in words."""
        return f"{self.done} of {self.n_cells} cells done, {self.failed} failed"

    def _content(self) -> Content:
        counts = {name: getattr(self, name) for name in (DONE, FAILED, "missing")}
        columns = [Column(name=name, form="count", printed=False) for name in counts]
        cells = Table(name="cells", columns=columns, rows=[list(counts.values())])
        return Content(tables=[cells], verdict=self.verdict)

    def _picture(self) -> _plots.Bars:
        bars = [_plots.Bar(label=n, value=getattr(self, n)) for n in (DONE, FAILED, "missing")]
        return _plots.Bars(rows=bars, xlabel=f"cells, of {self.n_cells:,}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SweepResult(Shown):
    """The results of a grid in a store; iterate for its rows, in the order of the grid.

    Tables have a row for every cell, ensemble and time.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> from tempfile import TemporaryDirectory
    >>> sweep = dt.Sweep(ridge=[0.1, 1.0], dim=10, n_data=2, n_init=2)
    >>> with TemporaryDirectory() as folder:
    ...     result = sweep.run(f"{folder}/grid.sqlite", workers=1)
    ...     errors = {row.parameters["ridge"]: row.simulation.error().total.value for row in result}
    >>> sorted(errors)
    [0.1, 1.0]
    """

    sweep: Sweep
    store: Path
    status: SweepStatus

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
        return [outcome.message for _, outcome in self._outcomes() if outcome.status == FAILED]

    def _content(self) -> Content:
        axes, ensembles, times = self._varying()
        status = self.status
        count = status.done * len(ensembles) * len(times or [0]) + status.failed
        few = count <= _FEW_ROWS
        cells = self.rows if few else itertools.islice(self._rows(), ROWS)
        table = _table.totals(cells, axes, ensembles, times)
        return Content(
            title=f"{status.verdict}, in {self.store}",
            tables=[table if few else replace(table, rows=table.rows[:ROWS])],
            lines=[] if few else [f"the first of {count:,} rows; to_frame() has all of them"],
            verdict=_table.least(table) if few and status.done else status.verdict,
            facts={"sweep": self.sweep.hash, "store": str(self.store), **asdict(status)},
        )

    def _varying(self) -> tuple[Any, ...]:
        """The parameters with several values, the ensembles and the times."""
        axes = {name: v for name, v in self.sweep._axes()[0].items() if len(v) > 1}
        return axes, self.sweep.ensembles, self.sweep.times

    def _tables(self) -> tuple[Table, ...]:
        columns = [Column(name=name) for name in _table.COLUMNS]
        return (Table(name="rows", columns=columns, rows=self.to_frame().to_numpy().tolist()),)

    def _picture(self) -> _plots.Curves:
        return _table.curves(self._rows(), *self._varying())

    def _frame(self) -> DataFrame:
        """A row for every cell, ensemble and time."""
        frames = list(_table.frames(self._outcomes()))
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
        return _table.write(lambda: _table.frames(self._outcomes()), path)

    def _outcomes(self) -> Iterator[tuple[Cell, CellOutcome]]:
        cells = {cell.key: cell for cell in self.sweep.cells()}
        with Store.read(self.store) as opened:
            for key, outcome in opened.outcomes(cells):
                yield cells[key], outcome


# --- TOML ---


def _read_toml(path: str | Path, known: Sequence[str]) -> dict[str, Any]:
    """The fields in a TOML file or text, flat or in the tables [problem] and [simulation]."""
    text = path if isinstance(path, str) and "\n" in path else ""
    path = "the text" if text else path
    try:
        content = tomllib.loads(text or Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # TOML or UTF-8
        raise ValueError(f"{path} must be a TOML file, got another: {error}") from error
    values: dict[str, Any] = {}
    tables = {name: content.pop(name, {}) for name in ("problem", "simulation")}
    for table, part in {**tables, "": content}.items():
        if not isinstance(part, dict):
            raise ValueError(f"{table} must be a table, [{table}], in {path}, got {part!r}")
        for name, value in part.items():
            if name in values:
                raise ValueError(f"{name} must be given once in {path}, got two values")
            if name not in known:
                among = ", ".join(known)
                raise ValueError(f"fields in {Path(path).name} must be among {among}, got {name!r}")
            values[name] = value
    if "dim" not in values:
        raise ValueError(f"dim must be given in {path}, got none")
    return values


def _toml_value(value: object) -> str:
    """A value as TOML.

    >>> _toml_value([{"K": 2.0, "center": True}, float("inf")])
    '[{K = 2.0, center = true}, inf]'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {_toml_value(item)}' for name, item in value.items())}}}"
    return json.dumps(value) if isinstance(value, str) else repr(value)
