"""Finished cells as a table: a row for every cell, ensemble and time of training.

First what was requested, then the sizes that were realized, then every part of the error and
every Ψ term with its standard error. Options that a scheme does not have are NaN, and so are Ψ
terms that are not defined for it. Without times of training, the time is inf: ridge regression is
the end of training. Failed cells are rows, too, with their message and no numbers.
"""

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble.ensembles import Scheme, scheme_options
from doubletrouble.errors import require
from doubletrouble.results import ErrorTerms, Estimate, PsiTerms
from doubletrouble.simulation import Simulation
from doubletrouble.sweep._axes import ensemble_axis
from doubletrouble.sweep._simulated import PROBLEM

if TYPE_CHECKING:
    from doubletrouble.sweep._outcome import SweepRow

FORMATS = (".csv", ".parquet", ".json")

Columns = Mapping[str, list[Any]]

_FLOATS = tuple(name for name in PROBLEM if name != "activation")
_SETTINGS = ("dim", "model", "seed", "n_data", "n_init", "test", "center", "dtype", "device")
_REALIZED = ("n_features", "n_samples", "realized_features_per_dim", "realized_samples_per_dim")
_OPTIONS = tuple(name for name in scheme_options() if name != "n_bank")  # that of a spectrum
_PARTS = (*ErrorTerms.names(), "total")
_PSI = tuple(f.name for f in fields(PsiTerms))

KINDS: dict[str, type] = {
    "key": str,
    "status": str,
    "message": str,
    "scheme": str,
    "n_members": float,
    **dict.fromkeys(_OPTIONS, float),
    "time": float,
    **dict.fromkeys(_FLOATS, float),
    "activation": str,
    **dict.fromkeys(_SETTINGS, str),
    **dict.fromkeys(("dim", "seed", "n_data", "n_init"), int),
    "center": bool,
    "test_used": str,
    **dict.fromkeys(_REALIZED, float),
    **{f"realized_{name}": float for name in _OPTIONS},
    **{
        name: float
        for part in (*(f"error_{part}" for part in _PARTS), *_PSI)
        for name in (part, f"{part}_standard_error")
    },
}
"""Every column with the type of its values."""


def table(rows: Iterable["SweepRow"]) -> dict[str, list[Any]]:
    """The columns of the table; numbers of failed cells are NaN."""
    columns: dict[str, list[Any]] = {name: [] for name in KINDS}
    for row in rows:
        requested = {name: row.parameters[name] for name in (*PROBLEM, *_SETTINGS)}
        requested |= {"key": row.key, "status": row.status, "message": row.message}
        for ensemble in ensemble_axis("ensembles", row.parameters["ensembles"]):
            of_scheme = {"scheme": ensemble.name, "n_members": ensemble.n_members}
            of_scheme |= ensemble.options
            times = row.parameters["times"]
            found = {} if row.simulation is None else _numbers(row.simulation, ensemble)
            for k, time in enumerate([math.inf] if times is None else times):
                line = requested | of_scheme | {"time": time}
                line |= {name: _at(value, k) for name, value in found.items()}
                for name, kind in KINDS.items():
                    columns[name].append(line.get(name, math.nan if kind is float else ""))
    return columns


def _numbers(simulation: Simulation, ensemble: Scheme) -> dict[str, Any]:
    """The sizes realized and the results; Ψ terms are of the data that each member has."""
    problem, dim = simulation.problem, simulation.dim
    ratios = [float(np.asarray(r)) for r in (problem.features_per_dim, problem.samples_per_dim)]
    error, draws = simulation.error(ensemble), simulation.terms_of(ensemble).named()
    estimates = {f"error_{part}": getattr(error, part) for part in _PARTS}
    estimates |= {name: simulation.estimate(draws[name]) for name in _PSI if name in draws}
    line: dict[str, Any] = {"test_used": simulation.test}
    line |= dict(zip(_REALIZED, (*(_whole(r * dim) for r in ratios), *ratios), strict=True))
    for name, value in simulation.realized(ensemble).options.items():
        line[f"realized_{name}"] = value
    for name, estimate in estimates.items():
        known = isinstance(estimate, Estimate)  # a part that the scheme does not have is 0.0
        line[name] = estimate.value if known else estimate
        line[f"{name}_standard_error"] = estimate.standard_error if known else 0.0
    return line


def _at(value: Any, k: int) -> Any:
    """The value at the k-th time, where it depends on time."""
    if np.ndim(value):
        return float(value[k])
    return value if isinstance(value, str) else float(value)


def _whole(size: float) -> float:
    """P and N back from their ratios to D; P may be infinite."""
    return float(round(size)) if math.isfinite(size) else size


def to_frame(rows: Iterable["SweepRow"]) -> Any:
    """The table for pandas."""
    pandas = require("pandas", "tables")
    columns = table(rows)
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=KINDS[name]) for name, values in columns.items()}
    )


def export(rows: Sequence["SweepRow"], path: str | Path) -> Path:
    """Write the table by the suffix of the path, whole or not at all."""
    return write(lambda: table(rows), path, KINDS)


def write(
    columns: Callable[[], Columns], path: str | Path, kinds: Mapping[str, type] | None = None
) -> Path:
    """Write any table so; `columns` is asked for once the path is found to be good."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise ValueError(f"path must end in {known}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
    found = columns()
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        new = Path(folder) / path.name
        if suffix == ".csv":
            _write_csv(found, new)
        elif suffix == ".json":
            _write_json(found, new)
        else:
            _write_parquet(found, new, kinds)
        os.replace(new, path)
    return path


def _write_csv(columns: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for line in zip(*columns.values(), strict=True):
            writer.writerow("" if value != value else value for value in line)  # NaN: nothing


def _write_json(columns: Columns, path: Path) -> None:
    """A list of rows, as strict JSON: infinities are "inf" and "-inf", NaN is null."""
    rows = [
        {name: _strict(value) for name, value in zip(columns, line, strict=True)}
        for line in zip(*columns.values(), strict=True)
    ]
    text = json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _strict(value: Any) -> Any:
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _write_parquet(columns: Columns, path: Path, kinds: Mapping[str, type] | None) -> None:
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    types = {str: arrow.string(), float: arrow.float64(), int: arrow.int64(), bool: arrow.bool_()}
    schema = kinds and arrow.schema([(name, types[kind]) for name, kind in kinds.items()])
    parquet.write_table(arrow.table(dict(columns), schema=schema or None), path)
