"""Tables of the user, CSV or Parquet: columns as numbers, and as inputs, labels and groups.

CSV is read strictly: every row must have a value for each column, and messages have the line. The
separator is a comma, semicolon or tab; decimals may have commas where the separator has none.
pandas accepts short rows, and has no line numbers for messages; it reads Parquet.

A column has numbers if all its values are numbers, or all are true or false (1 and 0), or missing;
others, with dates, have classes. By default the inputs are the columns of numbers that vary and do
not number the rows. A column of classes is an input by choice, one-hot encoded. Nothing is filled
in, and rows with missing values are left out by choice.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from doubletrouble.errors import require
from doubletrouble.parameters import FloatArray

_FEWEST_COLUMNS = 2
_AT_ONCE = 2000  # rows whose texts are held
_SEPARATORS = (",", ";", "\t")
_MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}  # as in pandas
_TRUTH = {
    **dict.fromkeys(("True", "TRUE", "true"), 1.0),
    **dict.fromkeys(("False", "FALSE", "false"), 0.0),
}  # as in pandas
_COMMA_DECIMAL = re.compile(r"[+-]?\d*,\d+")
_IDENTIFIER = re.compile(r"(.*[ _.-])?(id|index|nr|row)|unnamed: 0", re.IGNORECASE)
_MOST_CLASSES = 0.5  # largest share of different values among the rows of an encoded column
_SHOWN = 40  # characters of a value in a message
_LISTED = 5  # columns in a message
_PARQUET = (".parquet", ".pq")


def standardized(columns: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1; those that are constant become 0.

    >>> standardized(np.array([[0.0, 0.1], [2.0, 0.1]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    spread = columns.std(axis=0)  # of a constant column it may be its rounding
    varies = (np.ptp(columns, axis=0) > 0) & (spread > 0)
    return np.where(varies, columns - columns.mean(axis=0), 0.0) / np.where(varies, spread, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataColumn:
    """A column: its numbers, or the indices of its classes."""

    name: str
    values: FloatArray  # NaN where missing
    classes: tuple[str, ...] = ()  # sorted; none of a column of numbers
    not_a_number: str = ""  # the first value that is none, and its line
    missing: int = 0
    first_missing: str = ""  # its line

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers."""
        return not self.not_a_number

    @property
    def is_encodable(self) -> bool:
        """Whether it has classes few enough for one-hot encoding."""
        return 1 < len(self.classes) <= _MOST_CLASSES * len(self.values)

    @property
    def remark(self) -> str:
        """Why it is not an input by default; empty if it is one."""
        known = self.values[~np.isnan(self.values)]
        if not known.size:
            return "empty"
        if np.ptp(known) == 0:
            return "constant"
        if not self.is_numeric:
            return f"not numbers: {self.not_a_number}"
        return "numbers the rows" if _numbers_rows(self.name, known) else ""

    def one_hot(self, rows: Any) -> list[tuple[str, FloatArray]]:
        """The indicators of its classes in some rows, by name; missing values are a class."""
        values = self.values[rows]
        shown = [(f"{self.name}_{text}", values == k) for k, text in enumerate(self.classes)]
        if np.isnan(values).any():
            shown.append((f"{self.name}_nan", np.isnan(values)))
        return [(name, one.astype(float)) for name, one in shown]

    def to_json(self) -> dict[str, Any]:
        """What the page shows of it."""
        return {
            "name": self.name,
            "numeric": self.is_numeric,
            "classes": len(self.classes) if self.is_encodable else 0,
            "remark": self.remark,
            "missing": self.missing,
            "first_missing": self.first_missing,
        }


class TableRows(NamedTuple):
    """The rows of a table as data."""

    inputs: FloatArray  # (n, D)
    names: tuple[str, ...]  # of the D inputs
    labels: FloatArray  # (n,), or (n, T) for several targets; indices of classes
    groups: FloatArray | None  # (n,)
    notes: tuple[str, ...]

    def sampled(self, rows: Any) -> Self:
        """Some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return self._replace(inputs=self.inputs[rows], labels=self.labels[rows], groups=groups)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataTable:
    """The columns of a file."""

    columns: tuple[DataColumn, ...]
    n_rows: int
    separator: str = ","
    decimal: str = "."

    @classmethod
    def from_file(cls, file: Path) -> Self:
        """Read a file, CSV or Parquet by its name."""
        if not file.is_file():
            raise ValueError(f"file must be a table, .csv or .parquet, got {file}, which is none")
        try:
            if file.suffix.lower() in _PARQUET:
                return cls._from_parquet(file)
            return cls.from_csv(file.read_bytes())
        except (ValueError, OSError) as error:
            raise ValueError(f"file must be a table, got {file}: {error}") from error

    @classmethod
    def from_csv(cls, content: bytes, most_columns: float = math.inf) -> Self:
        """Read CSV; ValueError names the line, and the column, of what is wrong."""
        text = _text(content)
        separator = max(_SEPARATORS, key=lambda one: _width(text, one))
        records = _records(text, separator)
        _, names = next(records, (0, []))
        names = [name or f"Unnamed: {i}" for i, name in enumerate(names)]  # as in pandas
        _check_names(names, most_columns)
        block = list(islice(records, _AT_ONCE))
        decimal = "."
        if separator != "," and any(_COMMA_DECIMAL.fullmatch(c) for _, row in block for c in row):
            decimal = ","
        numbers = [_Numbers(decimal) for _ in names]
        n_rows = 0
        while block:
            _check_lengths(block, len(names))
            lines = [f"line {line}" for line, _ in block]
            by_column = zip(*(row for _, row in block), strict=True)
            for one, cells in zip(numbers, by_column, strict=True):
                one.add(cells, lines)
            n_rows += len(block)
            block = list(islice(records, _AT_ONCE))
        if not n_rows:
            raise ValueError("file must have rows below the first line, got none")
        texts = [k for k, one in enumerate(numbers) if one.not_a_number]
        classes = {k: _ClassCodes() for k in texts}
        for _, row in islice(_records(text, separator), 1, None) if texts else ():
            for k, found in classes.items():
                found.add(row[k])
        columns = (
            one.column(name, classes.get(k))
            for k, (name, one) in enumerate(zip(names, numbers, strict=True))
        )
        return cls(columns=tuple(columns), n_rows=n_rows, separator=separator, decimal=decimal)

    @classmethod
    def _from_parquet(cls, file: Path) -> Self:
        pandas, types = require("pandas", "tables"), require("pandas.api.types", "tables")
        require("pyarrow", "tables")
        frame = pandas.read_parquet(file)
        places = [f"row {row}" for row in range(1, len(frame) + 1)]
        columns = []
        for name in frame.columns:
            one, numbers, classes = frame[name], _Numbers("."), _ClassCodes()
            if types.is_numeric_dtype(one):  # with true and false
                one = one.astype("Float64")
            cells = ["" if missing else str(v) for v, missing in zip(one, one.isna(), strict=True)]
            numbers.add(cells, places)
            for cell in cells if numbers.not_a_number else ():
                classes.add(cell)
            columns.append(numbers.column(str(name), classes))
        return cls(columns=tuple(columns), n_rows=len(frame))

    @property
    def default_target(self) -> int | None:
        """The last column of numbers that differ."""
        suitable = [k for k, column in enumerate(self.columns) if not column.remark]
        return suitable[-1] if suitable else None

    def index(self, name: str, column: str) -> int:
        """The index of a column by its name; `name` is that of the argument, for a message."""
        names = [one.name for one in self.columns]
        if column not in names:
            raise ValueError(f"{name} must be one of the columns {listed(names)}, got {column!r}")
        return names.index(column)

    def check_numeric(self, name: str, column: int) -> None:
        """ValueError if a column is not one of numbers."""
        one = self.columns[column]
        if not one.is_numeric:
            raise ValueError(f"{name} must be numbers, got {one.not_a_number} of {one.name!r:.60}")

    def check_encodable(self, name: str, columns: Iterable[int]) -> None:
        """ValueError if columns have neither numbers nor classes few enough to encode."""
        wrong = [
            f"{len(one.classes)} different values in {self.n_rows} rows of {one.name!r:.60}"
            for one in (self.columns[k] for k in columns)
            if not (one.is_numeric or one.is_encodable)
        ]
        if wrong:
            raise ValueError(
                f"{name} must have numbers or few classes, got {', '.join(wrong[:_LISTED])}"
            )

    def incomplete_rows(self, columns: Iterable[int]) -> Any:
        """Whether each row has a missing value in some columns."""
        values = [self.columns[k].values for k in columns]
        return np.isnan(values).any(axis=0) if values else np.zeros(self.n_rows, dtype=bool)

    def rows(
        self,
        *,
        inputs: Sequence[int],
        targets: Sequence[int],
        groups: int | None = None,
        drop_missing: bool = False,
        missing_inputs: bool = False,
        remedy: str = "leave out the columns, or the rows",
    ) -> TableRows:
        """The rows with columns as inputs, targets and groups.

        Missing values are an error with a `remedy`, unless `drop_missing` leaves out their rows;
        with `missing_inputs`, those of inputs stay NaN.
        """
        others = [*targets, *([] if groups is None else [groups])]
        complete = [*([] if missing_inputs and not drop_missing else inputs), *others]
        incomplete = self.incomplete_rows(complete)
        kept = ~incomplete
        notes = []
        if count := int(incomplete.sum()):
            rows = f"{count} {'row' if count == 1 else 'rows'}"
            if not drop_missing:
                columns = [self.columns[k] for k in complete if self.columns[k].missing]
                places = [
                    f"{one.missing} in column {one.name!r:.60} (first in {one.first_missing})"
                    for one in columns
                ]
                more = f" and {len(places) - _LISTED} more columns" * (len(places) > _LISTED)
                raise ValueError(
                    f"values must not be missing, got {rows} with {', '.join(places[:_LISTED])}"
                    f"{more}: {remedy}"
                )
            notes.append(f"{rows} with missing values {'is' if count == 1 else 'are'} left out.")
        self.check_encodable("inputs", inputs)
        used = [self.columns[k] for k in inputs]
        encoded = [one for one in used if not one.is_numeric]
        numbers = [(one.name, one.values[kept]) for one in used if one.is_numeric]
        indicators = [pair for one in encoded for pair in one.one_hot(kept)]
        if encoded:
            texts = listed([one.name for one in encoded])
            notes.append(
                f"Columns that are not numbers are one-hot encoded, as {len(indicators)}: {texts}."
            )
        names, arrays = zip(*numbers, *indicators, strict=True)
        labels = [self.columns[k].values[kept] for k in targets]
        return TableRows(
            inputs=np.stack(arrays, axis=1),
            names=names,
            labels=labels[0] if len(labels) == 1 else np.stack(labels, axis=1),
            groups=None if groups is None else self.columns[groups].values[kept],
            notes=tuple(notes),
        )

    def to_json(self) -> dict[str, Any]:
        """What the page shows of it."""
        return {
            "rows": self.n_rows,
            "columns": [column.to_json() for column in self.columns],
            "target": self.default_target,
        }


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """The first names of a list, and their number."""
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown


# --- columns while they are read -----------------------------------------------------------------


class _Numbers:
    """The numbers of a column, until one is none."""

    def __init__(self, decimal: str) -> None:
        self._decimal = decimal
        self._blocks: list[FloatArray] = []
        self._missing, self._first_missing = 0, ""
        self._rows = self._truths = 0
        self._first_truth = self._not_a_number = ""

    def add(self, cells: Sequence[str], places: Sequence[str]) -> None:
        """Add some values."""
        self._rows += len(cells)
        try:  # all are plain numbers, as a rule
            values = np.fromiter(map(float, cells), float, len(cells))
            odd = "_" in "".join(cells) or self._decimal == ","
            plain = not odd and bool(np.isfinite(values).all())
        except ValueError:
            values, plain = np.empty(len(cells)), False
        for k, cell in enumerate(() if plain else cells):
            if cell in _MISSING:
                values[k] = math.nan
                self._first_missing = self._first_missing or places[k]
                self._missing += 1
            elif not self._not_a_number:
                values[k] = number = self._number(cell)
                if not math.isfinite(number):
                    self._not_a_number = _shown(cell, places[k])
                elif cell in _TRUTH:
                    self._truths += 1
                    self._first_truth = self._first_truth or _shown(cell, places[k])
        self._blocks.append(values)

    def _number(self, cell: str) -> float:
        """The number that a text means; NaN if it means none."""
        if cell in _TRUTH:
            return _TRUTH[cell]
        if self._decimal == ",":
            cell = "" if "." in cell else cell.replace(",", ".")
        try:
            return math.nan if "_" in cell else float(cell)
        except ValueError:
            return math.nan

    @property
    def not_a_number(self) -> str:
        """The first value that is no number and its place; also true or false among numbers."""
        mixed = self._truths not in (0, self._rows - self._missing)
        return self._not_a_number or (self._first_truth if mixed else "")

    def column(self, name: str, classes: "_ClassCodes | None") -> DataColumn:
        """The whole column."""
        values = np.concatenate([*self._blocks, np.empty(0)])
        texts: tuple[str, ...] = ()
        if self.not_a_number:
            assert classes is not None
            texts, values = classes.sorted()
        return DataColumn(
            name=name,
            values=values,
            classes=texts,
            not_a_number=self.not_a_number,
            missing=self._missing,
            first_missing=self._first_missing,
        )


def _shown(cell: str, place: str) -> str:
    text = cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}…"
    return f"'{text}' in {place}"


class _ClassCodes:
    """The different texts of a column, and the index of each row's."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._indices: list[float] = []

    def add(self, cell: str) -> None:
        """Add a value."""
        missing = cell in _MISSING
        self._indices.append(
            math.nan if missing else self._known.setdefault(cell, len(self._known))
        )

    def sorted(self) -> tuple[tuple[str, ...], FloatArray]:
        """The texts in order, and their indices."""
        texts = tuple(sorted(self._known))
        order = np.empty(len(texts) + 1)
        order[-1] = math.nan
        order[[self._known[text] for text in texts]] = np.arange(len(texts))
        indices = np.array(self._indices)
        return texts, order[np.where(np.isnan(indices), -1, indices).astype(int)]


def _numbers_rows(name: str, values: FloatArray) -> bool:
    """Whether values number the rows: consecutive whole numbers, or an id, in any order."""
    if values.size < 3 or np.any(values != np.floor(values)):
        return False
    gaps = np.diff(np.sort(values))
    return bool((gaps == 1).all() or ((gaps > 0).all() and _IDENTIFIER.fullmatch(name.strip())))


# --- CSV -----------------------------------------------------------------------------------------


def _text(content: bytes) -> str:
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise ValueError("file must be CSV, got a workbook or an archive: export it as CSV")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"file must be text in UTF-8, got other bytes in line {line}") from None
    if "\0" in text:
        raise ValueError("file must be text in UTF-8, got a zero byte")
    return text


def _width(text: str, separator: str) -> int:
    """Columns of the first line with a separator."""
    return len(next(_records(text, separator), (0, []))[1])


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row ends, and its values; blank lines are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"line {reader.line_num} must be CSV, got {error}") from None
        if row:
            yield reader.line_num, row


def _check_lengths(block: list[tuple[int, list[str]]], length: int) -> None:
    for line, row in block:
        if len(row) != length:
            raise ValueError(
                f"line {line} must have {length} values, as the first line has, got {len(row)}"
            )


def _check_names(names: list[str], most: float) -> None:
    if len(names) < _FEWEST_COLUMNS:
        raise ValueError(
            f"the first line must name {_FEWEST_COLUMNS} columns or more, separated by a comma, "
            f"semicolon or tab, got {len(names)}"
        )
    if len(names) > most:
        raise ValueError(f"columns must be at most {most} on this page, got {len(names)}")
    if all(_is_number(name) for name in names):
        raise ValueError("the first line must have the names of the columns, got numbers")
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"columns must have different names, got {name[:_SHOWN]!r} twice")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False
