"""Tables that the browser sends: CSV, read strictly.

Every row must have a value for each column. A column is one of numbers if all its values are, or
are missing; nothing is converted, filled in or dropped here. The separator is a comma, semicolon or
tab; decimals may have commas where the separator has none. pandas, with which the command line
reads tables, accepts short rows, and has no line numbers for messages.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np

from doubletrouble.parameters import FloatArray

MOST_BYTES = 20_000_000
_MOST_COLUMNS = 2000
_FEWEST_COLUMNS = 2
_AT_ONCE = 2000  # rows whose texts are held
_SEPARATORS = (",", ";", "\t")
_MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}  # as in pandas
_COMMA_DECIMAL = re.compile(r"[+-]?\d*,\d+")
_SHOWN = 40  # characters of a value in a message


@dataclass(frozen=True, kw_only=True, eq=False)
class CsvColumn:
    """A column: its numbers, or why it has none."""

    name: str
    values: FloatArray | None  # NaN where missing
    not_a_number: str = ""  # the first value that is none, and its line
    missing: int = 0
    first_missing: int = 0  # its line

    @property
    def remark(self) -> str:
        """Why it is not an input by default; empty if it is one."""
        if self.values is None:
            return f"not numbers: {self.not_a_number}"
        known = self.values[np.isfinite(self.values)]
        if not known.size or np.ptp(known) == 0:
            return "constant"
        if known.size > 2 and np.array_equal(np.diff(known), np.ones(known.size - 1)):
            return "numbers the rows"
        return ""

    def to_json(self) -> dict[str, Any]:
        """What the browser shows of it."""
        return {
            "name": self.name,
            "numeric": self.values is not None,
            "remark": self.remark,
            "missing": self.missing,
            "first_missing": self.first_missing,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class CsvTable:
    """The columns of a file."""

    columns: tuple[CsvColumn, ...]
    n_rows: int
    separator: str
    decimal: str

    @classmethod
    def from_csv(cls, content: bytes) -> Self:
        """Read a file; ValueError names the line, and the column, of what is wrong."""
        text = _text(content)
        separator = max(_SEPARATORS, key=lambda one: _width(text, one))
        records = _records(text, separator)
        _, names = next(records, (0, []))
        names = [name or f"Unnamed: {i}" for i, name in enumerate(names)]  # as in pandas
        _check_names(names)
        block = list(islice(records, _AT_ONCE))
        decimal = "."
        if separator != "," and any(_COMMA_DECIMAL.fullmatch(c) for _, row in block for c in row):
            decimal = ","
        builders = [_Builder(name, decimal) for name in names]
        n_rows = 0
        while block:
            _check_lengths(block, len(names))
            lines = [line for line, _ in block]
            by_column = zip(*(row for _, row in block), strict=True)
            for builder, cells in zip(builders, by_column, strict=True):
                builder.add(cells, lines)
            n_rows += len(block)
            block = list(islice(records, _AT_ONCE))
        return cls(
            columns=tuple(builder.column() for builder in builders),
            n_rows=n_rows,
            separator=separator,
            decimal=decimal,
        )

    @property
    def default_target(self) -> int | None:
        """The last column of numbers that differ."""
        suitable = [k for k, column in enumerate(self.columns) if not column.remark]
        return suitable[-1] if suitable else None

    def to_json(self) -> dict[str, Any]:
        """What the browser shows of it."""
        return {
            "rows": self.n_rows,
            "columns": [column.to_json() for column in self.columns],
            "target": self.default_target,
        }


class _Builder:
    """A column while it is read."""

    def __init__(self, name: str, decimal: str) -> None:
        self._name, self._decimal = name, decimal
        self._blocks: list[FloatArray] = []
        self._not_a_number = ""
        self._missing = self._first_missing = 0

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        """Add the values of some lines."""
        try:  # all are plain numbers, as a rule
            values = np.fromiter(map(float, cells), float, len(cells))
            odd = "_" in "".join(cells) or self._decimal == ","
            plain = not odd and bool(np.isfinite(values).all())
        except ValueError:
            values, plain = np.empty(len(cells)), False
        for k, cell in enumerate(() if plain else cells):
            if cell in _MISSING:
                values[k] = math.nan
                self._first_missing = self._first_missing or lines[k]
                self._missing += 1
            elif not self._not_a_number:
                values[k] = number = self._number(cell)
                if not math.isfinite(number):
                    shown = cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}…"
                    self._not_a_number = f"'{shown}' in line {lines[k]}"
        self._blocks.append(values)

    def _number(self, cell: str) -> float:
        """The number that a text means; NaN if it means none."""
        if self._decimal == ",":
            cell = "" if "." in cell else cell.replace(",", ".")
        try:
            return math.nan if "_" in cell else float(cell)
        except ValueError:
            return math.nan

    def column(self) -> CsvColumn:
        """The whole column."""
        values = np.concatenate([*self._blocks, np.empty(0)])
        return CsvColumn(
            name=self._name,
            values=None if self._not_a_number else values,
            not_a_number=self._not_a_number,
            missing=self._missing,
            first_missing=self._first_missing,
        )


def _text(content: bytes) -> str:
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise ValueError("the file must be CSV, got a workbook or an archive: export it as CSV")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"the file must be text in UTF-8, got other bytes in line {line}"
        ) from None
    if "\0" in text:
        raise ValueError("the file must be text in UTF-8, got a zero byte")
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
            raise ValueError(f"line {reader.line_num} must be CSV: {error}") from None
        if row:
            yield reader.line_num, row


def _check_lengths(block: list[tuple[int, list[str]]], length: int) -> None:
    for line, row in block:
        if len(row) != length:
            raise ValueError(
                f"line {line} must have {length} values, as the first line has, got {len(row)}"
            )


def _check_names(names: list[str]) -> None:
    if len(names) < _FEWEST_COLUMNS:
        raise ValueError(
            f"the first line must name {_FEWEST_COLUMNS} columns or more, separated by a comma, "
            f"semicolon or tab, got {len(names)}"
        )
    if len(names) > _MOST_COLUMNS:
        raise ValueError(f"columns must be at most {_MOST_COLUMNS} on this page, got {len(names)}")
    if all(_is_number(name) for name in names):
        raise ValueError("the first line must have the names of the columns, got numbers")
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"columns must have different names, got {name[:_SHOWN]!r} twice")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False
