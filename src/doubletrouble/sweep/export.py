"""Finished cells as a table: a row for every cell, scheme and number of members.

First what was asked for, then the sizes that were realized, then every part of the error and
every Ψ term with its standard error. Failed cells are rows, too, with their message and no numbers.
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

from doubletrouble.errors import require
from doubletrouble.results import Estimate, PsiTerms
from doubletrouble.simulation.result import ErrorEstimates, Simulation
from doubletrouble.sweep.simulated import PROBLEM

if TYPE_CHECKING:
    from doubletrouble.sweep.outcome import SweepRow

FORMATS = (".csv", ".parquet", ".json")

Columns = Mapping[str, list[Any]]

_FLOATS = tuple(name for name in PROBLEM if name != "activation")
_SETTINGS = ("dim", "model", "seed", "n_data", "n_init", "test", "center", "dtype", "device")
_REALIZED = ("n_features", "n_samples", "realized_features_per_dim", "realized_samples_per_dim")
_PARTS = tuple(f.name for f in fields(ErrorEstimates))
_PSI = tuple(f.name for f in fields(PsiTerms))

KINDS: dict[str, type] = {
    "key": str,
    "status": str,
    "message": str,
    "scheme": str,
    "n_members": float,
    **dict.fromkeys(_FLOATS, float),
    "activation": str,
    **dict.fromkeys(_SETTINGS, str),
    **dict.fromkeys(("dim", "seed", "n_data", "n_init"), int),
    "center": bool,
    "test_used": str,
    **dict.fromkeys(_REALIZED, float),
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
        for scheme in row.parameters["schemes"]:
            for members in row.parameters["n_members"]:
                asked = {name: row.parameters[name] for name in (*PROBLEM, *_SETTINGS)}
                line: dict[str, Any] = {
                    **{"key": row.key, "status": row.status, "message": row.message},
                    **asked,
                    **{"scheme": scheme, "n_members": members},
                }
                if row.simulation is not None:
                    line |= _numbers(row.simulation, scheme, members)
                for name, kind in KINDS.items():
                    columns[name].append(line.get(name, math.nan if kind is float else ""))
    return columns


def _numbers(simulation: Simulation, scheme: str, members: float) -> dict[str, Any]:
    """What was simulated, at which sizes; Ψ terms are of the data each learner has."""
    problem, dim = simulation.problem, simulation.dim
    ratios = [float(r) for r in (problem.features_per_dim, problem.samples_per_dim)]  # type: ignore[arg-type]
    draws = simulation.divided[members] if scheme == "divide" else simulation.draws
    error = simulation.error(members, scheme)
    estimates = {f"error_{part}": getattr(error, part) for part in _PARTS}
    estimates |= {name: Estimate.of(draws[name]) for name in _PSI}
    line: dict[str, Any] = {"test_used": simulation.test}
    line |= dict(zip(_REALIZED, (*(_whole(r * dim) for r in ratios), *ratios), strict=True))
    for name, estimate in estimates.items():
        line[name] = float(estimate.value)
        line[f"{name}_standard_error"] = float(estimate.standard_error)
    return line


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
