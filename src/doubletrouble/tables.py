"""Tables of the user: CSV and Parquet as pandas reads them, and the rows that a learner gets.

A column has numbers if pandas reads it so and none is infinite, with true and false as 1 and 0. Any
other has text, dates included, whose different values are classes. A learner gets the numbers that
vary and do not number the rows, and text by choice, encoded. Nothing is filled in. The index of a
frame has the place of each row in its file.
"""

import csv
import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from doubletrouble._display import as_json
from doubletrouble.errors import require

FORMATS = (".csv", ".parquet", ".json")
"""The files that `write_frames` writes."""

_SEPARATORS = "\t;,"  # the comma last: between others it is part of numbers
_IDENTIFIER = re.compile(r"(.*[ _.-])?(id|index|nr|row)|unnamed: 0", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*")
_MOST_CLASSES = 0.5  # largest share of different values among the rows of an encoded column


class TableRows(NamedTuple):
    """The rows of a table as data of pandas."""

    inputs: Any  # (n, D)
    labels: Any  # (n,), or (n, T) for several targets
    groups: Any  # (n,), or None
    notes: tuple[str, ...]


def read_table(file: Path) -> Any:
    """A frame of floats and texts from a file, CSV or Parquet by its name."""
    try:
        if file.suffix.lower() not in (".parquet", ".pq"):
            return read_csv(file.read_bytes())
        require("pyarrow", "tables")
        frame = require("pandas", "tables").read_parquet(file, dtype_backend="numpy_nullable")
        return _frame(frame, [f"row {k + 1}" for k in range(len(frame))])
    except (ValueError, OSError) as error:
        raise ValueError(f"file must be a table, .csv or .parquet, got {file}: {error}") from error


def read_csv(content: bytes, most_columns: float = np.inf) -> Any:
    """The same from CSV; the options with which pandas reads it are the `attrs` of the frame."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"other bytes in line {line}; export a workbook as CSV"
        raise ValueError(f"file must be text in UTF-8, got {found}") from None
    head = text.split("\n", 20)[:20]
    separator = max(_SEPARATORS, key=lambda one: _separates(one, head))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:  # pandas accepts short rows
        names = next(filter(None, reader), [])
        rows = [(f"line {reader.line_num}", len(row)) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} must be CSV, got {error}") from None
    _check_names(names, most_columns)
    if not rows:
        raise ValueError("file must have rows below the first line, got none")
    for place, count in rows:
        if count != len(names):
            expected = f"{len(names)} values, as the first line has"
            raise ValueError(f"{place} must have {expected}, got {count}")
    read, frames = require("pandas", "tables").read_csv, []
    for decimal in "." if separator == "," else ".,":
        options = {"sep": separator, "decimal": decimal}
        frame = read(io.StringIO(text), **options, low_memory=False, dtype_backend="numpy_nullable")
        frames.append(_frame(frame, [place for place, _ in rows]))
        frames[-1].attrs = options
    return max(frames, key=lambda frame: frame.select_dtypes("number").shape[1])


def first_text(values: Any) -> str:
    """The first value of a column that is no number, and its place; empty of numbers."""
    known = values.dropna()
    if values.dtype == float or known.empty:
        return ""
    numbers = require("pandas", "tables").to_numeric(known.str.replace(",", "."), errors="coerce")
    place = known.index[np.isfinite(numbers.to_numpy(float)).argmin()]
    return f"{known[place]!r:.60} in {place}"


def check_numbers(name: str, values: Any) -> None:
    """ValueError with the `name` of an argument if its column has text."""
    if text := first_text(values):
        raise ValueError(f"{name} must be numbers, got {text} of {values.name!r:.60}")


def has_few_classes(values: Any) -> bool:
    """Whether a column has text that can be encoded."""
    return bool(first_text(values)) and 1 < values.nunique() <= _MOST_CLASSES * len(values)


def left_out(values: Any) -> str:
    """Why a column is no input by default, though it may have numbers; empty if it is one."""
    known = values.dropna()
    if known.nunique() < 2:
        return "constant" if len(known) else "empty"
    if values.dtype != float or len(known) < 3 or (known % 1 != 0).any():
        return ""
    gaps = np.diff(np.sort(known))
    is_identifier = _IDENTIFIER.fullmatch(values.name.strip()) and (gaps > 0).all()
    return "numbers the rows" if is_identifier or (gaps == 1).all() else ""


def table_rows(
    table: Any,
    inputs: Sequence[str],
    targets: Sequence[str],
    groups: str | None = None,
    *,
    missing_inputs: bool = False,
    drop_missing: bool = False,
    remedy: str = "leave out the columns, or the rows",
) -> TableRows:
    """The rows with columns as inputs, targets and groups.

    Missing values are an error with a `remedy`, unless `drop_missing` leaves out their rows; with
    `missing_inputs`, those of inputs are NaN, or a class.
    """
    texts = [name for name in inputs if first_text(table[name])]
    for name in texts:
        if not has_few_classes(table[name]):
            found = f"{table[name].nunique()} different values in {len(table)} rows of {name!r:.60}"
            raise ValueError(f"inputs must have numbers or few classes, got {found}")
    complete = [*targets, *([] if groups is None else [groups])]
    complete = [*([] if missing_inputs and not drop_missing else inputs), *complete]
    holes = table[complete].isna()
    kept, notes = table[~holes.any(axis=1)].reset_index(drop=True), []
    if count := len(table) - len(kept):
        rows = f"{count} {'row' if count == 1 else 'rows'} with"
        if not drop_missing:
            places = [
                f"{one.sum()} in column {name!r:.60} (first in {one.idxmax()})"
                for name, one in holes.items()
                if one.any()
            ]
            found = f"{rows} {listed(places)}"
            raise ValueError(f"values must not be missing, got {found}: {remedy}")
        notes.append(f"{rows} missing values {'is' if count == 1 else 'are'} left out.")
    X = kept[list(inputs)].fillna(dict.fromkeys(texts, "nan"))
    X = require("pandas", "tables").get_dummies(X, columns=texts, dtype=float)
    if texts:
        found = f"as {X.shape[1] - len(inputs) + len(texts)}: {listed(map(repr, texts))}"
        notes.append(f"Columns that are not numbers are one-hot encoded, {found}.")
    y = kept[targets[0]] if len(targets) == 1 else kept[list(targets)]
    return TableRows(X, y, None if groups is None else kept[groups], tuple(notes))


def listed(texts: Iterable[str], most: int = 5) -> str:
    """The first of some texts, and their number."""
    every = list(texts)
    more = [f"... ({len(every)} in all)"] * (len(every) > most)
    return ", ".join(every[:most] + more)


def _separates(separator: str, lines: list[str]) -> tuple[bool, bool]:
    """Whether the first lines have several values by a separator, and as many in each."""
    widths = {0}
    with suppress(csv.Error):  # a value is too long
        widths = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
    return max(widths, default=0) > 1, len(widths) == 1


def _check_names(names: list[str], most: float) -> None:
    if len(names) < 2:
        expected = "2 columns or more, separated by a comma, semicolon or tab"
        raise ValueError(f"the first line must name {expected}, got {len(names)}")
    if len(names) > most:
        raise ValueError(f"columns must be at most {most} on this page, got {len(names)}")
    if all(_NUMBER.fullmatch(name) for name in names):
        raise ValueError("the first line must have the names of the columns, got numbers")
    if repeated := [name for name, count in Counter(filter(None, names)).items() if count > 1]:
        raise ValueError(f"columns must have different names, got {repeated[0]!r:.60} twice")


def _frame(read: Any, places: list[str]) -> Any:
    columns = {str(name): _floats_or_texts(values) for name, values in read.items()}
    return require("pandas", "tables").DataFrame(columns, index=places)


def _floats_or_texts(values: Any) -> Any:
    if values.dtype != "string":
        with suppress(TypeError, ValueError):  # dates and others
            numbers = values.astype(float).to_numpy()
            if not np.isinf(numbers).any():
                return numbers
    return values.astype("string").to_numpy(object, na_value=np.nan)


# --- writing --------------------------------------------------------------------------------------


def write_frames(frames: Iterable[Any], path: str | Path) -> Path:
    """Write DataFrames with the same columns as one .csv, .parquet or .json, or nothing.

    CSV and Parquet are written frame by frame. JSON is a list of rows, and strict: infinities are
    "inf" and "-inf", NaN is null.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
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
