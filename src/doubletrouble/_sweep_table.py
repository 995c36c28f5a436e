"""Finished cells as a table: a row for every cell, ensemble and time of training.

The columns are the parameters requested, the sizes realized, and every part of the error and every
Ψ term with its standard error. As in other tables of errors, the parameter `noise` is `noise_sd`,
beside the part of that name. Options that a scheme does not have are NaN, and so are Ψ terms
that are not defined for it. Without times of training, the time is inf: ridge regression is the
end of training. Failed cells have a message and no numbers.

Tables are made of a thousand cells at a time, so that their memory is bounded. Cells that differ in
seed, sizes or λ alone are stacked, and evaluated at once as a curve is.
"""

import itertools
import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from doubletrouble._display import Column, DataFrame, Table, as_json, settings_text
from doubletrouble._numbers import whole
from doubletrouble._plots import CYCLE, Curve, Curves
from doubletrouble.ensembles import Divide, Ensemble, Scheme, scheme_options, scheme_words
from doubletrouble.errors import require
from doubletrouble.estimates import Estimate
from doubletrouble.glossary import axis_label, symbol
from doubletrouble.parameters import Value
from doubletrouble.results import ErrorTerms, PsiTerms
from doubletrouble.runs import DONE, Cell, CellOutcome, Record, decode
from doubletrouble.simulation import PROBLEM, Simulation, ensemble_of, from_record

_CELLS_AT_ONCE = 1000

_NAMES = ("activation", "loss", "task")
_OF_LABELS = ("flips", "loss", "task")
_AMPLITUDES = ("signal", "nonlinear_signal", "noise", "test_noise")
_SETTINGS = ("dim", "model", "seed", "n_data", "n_init", "test", "center", "dtype", "device")
_REALIZED = ("n_features", "n_samples", "realized_features_per_dim", "realized_samples_per_dim")
_OPTIONS = tuple(name for name in scheme_options() if name != "n_bank")  # that of a spectrum
_PARTS = (*ErrorTerms.names(), "total")
_PSI = tuple(PsiTerms.symbols())


def _column(name: str) -> str:
    """The column of a parameter."""
    return "noise_sd" if name == "noise" else name


COLUMNS: dict[str, type] = {
    "key": str,
    "status": str,
    "message": str,
    "scheme": str,
    "n_members": float,
    **dict.fromkeys(_OPTIONS, float),
    "time": float,
    **{_column(name): str if name in _NAMES else float for name in PROBLEM},
    **dict.fromkeys(_SETTINGS, str),
    **dict.fromkeys(("dim", "seed", "n_data", "n_init"), int),
    "center": bool,
    "test_used": str,
    **dict.fromkeys(_REALIZED, float),
    **{f"realized_{name}": float for name in _OPTIONS},
    **{name: float for part in (*_PARTS, *_PSI) for name in (part, f"{part}_standard_error")},
}
"""Every column with the type of its values."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _StoredCell:
    """A finished cell in a part of the table; a failed one has no record."""

    position: int
    cell: Cell
    outcome: CellOutcome
    record: Record | None

    @property
    def alike(self) -> str:
        """Equal for cells whose draws can be stacked."""
        requested: list[object] = [self.cell.parameters[name] for name in ("ensembles", "times")]
        if self.record is None:
            return repr(requested)
        drawn = [(one["requested"], one["realized"]) for one in self.record["drawn"]]
        terms = (self.record["draws"]["origins"], self.record["draws"]["values"].shape)
        amplitudes = [float(self.record["problem"][name]) for name in _AMPLITUDES]
        settings = [self.record[name] for name in ("model", "test", "n_init", "dtype")]
        settings += [self.record["problem"][name] for name in _OF_LABELS]
        return repr([*requested, drawn, terms, amplitudes, settings])


# --- the rows ---


def frames(outcomes: Iterable[tuple[Cell, CellOutcome]]) -> Iterator[DataFrame]:
    """The table in parts; the first is empty, and has the columns."""
    pandas = require("pandas", "tables")
    yield pandas.DataFrame({name: [] for name in COLUMNS}).astype(COLUMNS)
    iterator = iter(outcomes)
    while part := list(itertools.islice(iterator, _CELLS_AT_ONCE)):
        groups: dict[str, list[_StoredCell]] = {}
        for k, (cell, outcome) in enumerate(part):
            record = decode(outcome.result) if outcome.status == DONE else None
            one = _StoredCell(position=k, cell=cell, outcome=outcome, record=record)
            groups.setdefault(one.alike, []).append(one)
        frame = pandas.concat([pandas.DataFrame(_columns(group)) for group in groups.values()])
        frame = frame.sort_values("position", kind="stable", ignore_index=True)
        yield frame.reindex(columns=list(COLUMNS)).astype(COLUMNS)


def _columns(group: Sequence[_StoredCell]) -> dict[str, np.ndarray]:
    """The columns of cells that are alike, in the order of cells, ensembles and times."""
    first = group[0].cell.parameters
    ensembles = [ensemble_of(one) for one in first["ensembles"]]
    times = [math.inf] if first["times"] is None else first["times"]
    shape = (len(group), len(ensembles), len(times))

    def column(values: Sequence[object] | np.ndarray, axis: int) -> np.ndarray:
        array = np.array(values, dtype=object if isinstance(values[0], str) else None)
        along = [1, 1, 1]
        along[axis] = -1
        return np.broadcast_to(array.reshape(along), shape).ravel()

    columns = {
        "position": column([one.position for one in group], 0),
        "key": column([one.cell.key for one in group], 0),
        "status": column([one.outcome.status for one in group], 0),
        "message": column([one.outcome.message for one in group], 0),
        "scheme": column([one.name for one in ensembles], 1),
        "n_members": column([float(np.asarray(one.n_members)) for one in ensembles], 1),
        "time": column(times, 2),
    }
    for name in _OPTIONS:
        columns[name] = column([one.options.get(name, math.nan) for one in ensembles], 1)
    for name in (*PROBLEM, *_SETTINGS):
        columns[_column(name)] = column([one.cell.parameters[name] for one in group], 0)
    columns["test_used"] = column([one.record["test"] if one.record else "" for one in group], 0)
    records = [one.record for one in group if one.record is not None]
    if records:
        dims = np.array([record["dim"] for record in records])
        for name, size in (("features_per_dim", "n_features"), ("samples_per_dim", "n_samples")):
            ratios = np.array([float(record["problem"][name]) for record in records])
            columns[f"realized_{name}"] = column(ratios, 0)
            columns[size] = column(np.rint(ratios * dims), 0)
        columns |= _result_columns(records, ensembles, shape)
    return columns


def _result_columns(
    records: Sequence[Record], ensembles: Sequence[Scheme], shape: tuple[int, int, int]
) -> dict[str, np.ndarray]:
    """The columns of results; `shape` is the number of cells, of ensembles and of times."""
    simulation = from_record(_stacked(records))
    columns: dict[str, np.ndarray] = {}
    for k, ensemble in enumerate(ensembles):
        error, terms = simulation.error(ensemble), simulation.terms_of(ensemble)
        parts: dict[str, Any] = {"resampling": 0.0, **error.parts, "total": error.total}
        estimates = {part: parts.get(part, math.nan) for part in _PARTS}
        # Ψ terms are those of the data that each member has
        psi = terms.psi if simulation.problem.is_ridge_regression else {}
        if not isinstance(ensemble, Ensemble | Divide):
            psi = {name: draws for name, draws in psi.items() if name == "psi1"}
        estimates |= {name: simulation.estimate(draws) for name, draws in psi.items()}
        values: dict[str, Value] = {
            f"realized_{name}": value
            for name, value in simulation.realized(ensemble).options.items()
        }
        for name, estimate in estimates.items():
            known = isinstance(estimate, Estimate)  # else 0, or NaN where it is not identified
            values[name] = estimate.value if known else estimate
            values[f"{name}_standard_error"] = estimate.standard_error if known else estimate
        for name, value in values.items():
            if name in COLUMNS:
                along_time = np.reshape(value, (shape[0], -1)) if np.ndim(value) else value
                columns.setdefault(name, np.full(shape, math.nan))[:, k, :] = along_time
    return {name: values.ravel() for name, values in columns.items()}


def _stacked(records: Sequence[Record]) -> Record:
    """One record of several that are alike, with an axis for them after that of the draws."""

    def stack(terms: Sequence[Record]) -> Record:
        # a view: the draws of a cell stay together in memory, and their sums equal bit for bit
        values = np.moveaxis(np.stack([one["values"] for one in terms]), 0, 2)
        return {**terms[0], "values": values}

    drawn = [
        {**one, "terms": stack([record["drawn"][k]["terms"] for record in records])}
        for k, one in enumerate(records[0]["drawn"])
    ]
    return {**records[0], "draws": stack([r["draws"] for r in records]), "drawn": drawn}


# --- files ---

_FORMATS = (".csv", ".parquet", ".json")


def write_frames(frames: Iterable[DataFrame], path: str | Path) -> Path:
    """Write DataFrames with the same columns as one .csv, .parquet or .json, or nothing.

    CSV and Parquet are written frame by frame. JSON is a list of rows, and strict: infinities are
    "inf" and "-inf", NaN is null.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        known = f"{', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}"
        raise ValueError(f"path must end in {known}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        new, parts = Path(folder) / path.name, iter(frames)
        if suffix == ".json":
            rows = [row for frame in parts for row in frame.to_dict("records")]
            new.write_text(as_json(rows), encoding="utf-8")
        else:
            arrow = require("pyarrow", "tables")
            first = next(parts)
            schema = arrow.schema(
                (
                    field.name,
                    arrow.string() if field.type == arrow.null() else field.type,
                )  # of pandas 2
                for field in arrow.Schema.from_pandas(first, preserve_index=False)
            )
            if suffix == ".csv":  # fourteen times as fast as that of pandas
                writer = require("pyarrow.csv", "tables").CSVWriter
            else:
                writer = require("pyarrow.parquet", "tables").ParquetWriter
            with writer(new, schema) as file:
                for frame in itertools.chain([first], parts):
                    table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
                    file.write_table(table)
        os.replace(new, path)
    return path


# --- print and plots ---

_MOST_CURVES = 12
_MOST_MESSAGES = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class SweepRow:
    """A finished cell: its parameters, and the simulation or the message of its failure."""

    key: str
    parameters: Mapping[str, Any]
    status: str
    message: str
    seconds: float
    simulation: Simulation | None


def totals(
    cells: Iterable[SweepRow],
    axes: Collection[str],
    ensembles: Sequence[Scheme],
    times: Sequence[float] | None,
) -> Table:
    """The parameters that vary, and the total errors of all ensembles."""
    rows: list[list[Any]] = []
    for cell in cells:
        start = [cell.parameters[name] for name in axes]
        if cell.simulation is None:
            continue
        for scheme in ensembles:
            total = cell.simulation.error(scheme).total
            for k, time in enumerate([None] if times is None else times):
                rows.append(
                    [*start, scheme_words(scheme), time, total if time is None else total[k]]
                )
    words = (*_NAMES, "model")
    columns = [
        Column(name=_column(name), form="words" if name in words else "count") for name in axes
    ]
    columns += [
        Column(name="ensemble", form="words"),
        Column(name="time", form="count"),
        Column(name="total"),
    ]
    return Table(name="rows", columns=columns, rows=rows, omitted="rows")


def failures(messages: Iterable[str]) -> Table:
    """The messages of the cells that failed, the most frequent first."""
    columns = (Column(name="cells", form="count"), Column(name="message", form="words"))
    rows = [[count, message] for message, count in Counter(messages).most_common(_MOST_MESSAGES)]
    return Table(name="failures", title="Cells that failed", columns=columns, rows=rows)


def least(table: Table) -> str:
    """The row of least total error, as text."""
    names = [column.title for column in table.columns[:-1]]
    *where, total = min(table.rows, key=lambda row: float(row[-1]))
    at = {name: value for name, value in zip(names, where, strict=True) if value is not None}
    return f"The least total is {total}, at {settings_text(at)}."


def curves(
    cells: Iterable[SweepRow],
    axes: Mapping[str, Sequence[Any]],
    ensembles: Sequence[Scheme],
    times: Sequence[float] | None,
) -> Curves:
    """The totals along the longest axis of numbers, a curve for all other values.

    Seeds are repetitions, of which a curve is the mean.
    """
    levels = dict(axes) if times is None else {**axes, "time": times}
    numbers = {name: v for name, v in levels.items() if not isinstance(v[0], str)}
    if not numbers:
        raise ValueError("plot must be of a sweep with several values of a number, got none")
    along = max(numbers, key=lambda name: (name != "seed", len(numbers[name])))
    others = [name for name in levels if name not in (along, "seed")]
    totals: dict[tuple[Any, ...], dict[float, list[Estimate]]] = {}
    ylabel = "squared error"
    for cell in cells:
        if cell.simulation is None:
            continue
        for scheme in ensembles:
            terms = cell.simulation.error(scheme)
            total, ylabel = terms.total, terms.label
            for k, time in enumerate([math.inf] if times is None else times):
                at = {**cell.parameters, "time": time}
                key = (scheme_words(scheme), *(at[name] for name in others))
                point = totals.setdefault(key, {}).setdefault(at[along], [])
                point.append(total if times is None else total[k])
    if len(totals) > _MOST_CURVES:
        raise ValueError(
            f"plot must be of at most {_MOST_CURVES} curves, got {len(totals)}; to_frame() has all "
            "errors"
        )
    x = np.array(sorted(numbers[along]))
    lines = []
    for ((name, *values), found), look in zip(totals.items(), _looks(list(totals)), strict=True):
        given = [f"{symbol(k)} = {_word(v)}" for k, v in zip(others, values, strict=True)]
        known = [found.get(value, []) for value in x]
        y = np.array([np.mean([float(e) for e in seeds]) if seeds else math.nan for seeds in known])
        errors = [[float(e.standard_error) for e in seeds] for seeds in known]
        error = np.array([math.hypot(*seeds) / max(1, len(seeds)) for seeds in errors])
        label = ", ".join([*([name] if len(ensembles) > 1 else []), *given])
        total = Estimate(value=y, standard_error=error, n_draws=2)
        lines.append(Curve(label=label, y=total, points=True, joined=True, **look))
    return Curves(x=x, xlabel=axis_label(along), lines=lines, ylabel=ylabel)


def _looks(curves: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Colours by the variable with the most values, markers and dashes by all others."""
    values = [list(dict.fromkeys(column)) for column in zip(*curves, strict=True)]
    first = max(range(len(values)), key=lambda k: len(values[k]))
    others = list(dict.fromkeys((*one[:first], *one[first + 1 :]) for one in curves))
    looks = []
    for one in curves:
        turn, color = divmod(values[first].index(one[first]), len(CYCLE))
        style = others.index((*one[:first], *one[first + 1 :])) + turn * len(others)
        looks.append({"color": CYCLE[color], "style": style})
    return looks


def _word(value: Any) -> str:
    return value if isinstance(value, str) else whole(float(value))
