"""Tables of the user: CSV and Parquet as pandas reads them, and the use of their columns.

A column has numbers if pandas reads it so and none is infinite, with true and false as 1 and 0. Any
other has text, dates included, whose different values are classes. Nothing is filled in. The index
of a frame has the place of each row in its file.
"""

import bz2
import csv
import gzip
import io
import lzma
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.errors import require

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SEPARATORS = "\t;|, "  # the comma late: between others it is part of numbers
_IDENTIFIER = re.compile(r"(?i:(.*[ _.-])?(id|index|nr|row|rownames)|unnamed: 0)|.*[a-z](Id|ID)")
_NUMBER = re.compile(r"\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*")
_MOST_CLASSES = 0.5  # largest share of different values among the rows of an encoded column


def read_table(file: Path) -> Any:
    """A frame of floats and texts from a file, CSV or Parquet by its name."""
    try:
        if file.suffix.lower() not in (".parquet", ".pq"):
            with _COMPRESSED.get(file.suffix.lower(), open)(file, "rb") as opened:
                return read_csv(opened.read())
        require("pyarrow", "tables")
        frame = require("pandas", "tables").read_parquet(file, dtype_backend="numpy_nullable")
        return _frame(frame, [f"row {k + 1}" for k in range(len(frame))])
    except (ValueError, OSError, EOFError, lzma.LZMAError) as error:
        raise ValueError(f"file must be a table, .csv or .parquet, got {file}: {error}") from error


def read_csv(content: bytes, most_columns: float = np.inf) -> Any:
    """The same from CSV; the options with which pandas reads it are the `attrs` of the frame."""
    text = _text(content)
    head = text.split("\n", 20)[:20]
    separator = max(_SEPARATORS, key=lambda one: _separates(one, head))
    spaces = separator == " "
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=spaces, strict=True
    )
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
        options = {"sep": r"\s+" if spaces else separator, "decimal": decimal}
        if "?" in text:  # a missing value, as in files of UCI
            options["na_values"] = "?"
        frame = read(io.StringIO(text), **options, low_memory=False, dtype_backend="numpy_nullable")
        frames.append(_frame(frame, [place for place, _ in rows]))
        frames[-1].attrs = options
    return max(frames, key=lambda frame: frame.select_dtypes("number").shape[1])


def first_text(values: Any) -> str:
    """The first value of a column that is no number, its place, and how many there are, if any."""
    known = values.dropna()
    if values.dtype == float or known.empty:
        return ""
    numbers = require("pandas", "tables").to_numeric(known.str.replace(",", "."), errors="coerce")
    is_number = np.isfinite(numbers.to_numpy(float))
    places = known.index if is_number.all() else known.index[~is_number]
    hint = ""
    if is_number.all():  # which of the two separates decimals is not certain
        hint = ", with a decimal comma: write points, or separate columns by semicolons"
    elif is_number.any():
        hint = f", {len(places)} of {len(known)} values"
    return f"{known[places[0]]!r:.60} in {places[0]}{hint}"


def has_few_classes(values: Any) -> bool:
    """Whether a column can be encoded."""
    return bool(1 < values.nunique() <= _MOST_CLASSES * len(values))


def left_out(values: Any) -> str:
    """Why a column is no input by default, though it may have numbers; empty if it is one."""
    known = values.dropna()
    if known.nunique() < 2:
        return "constant" if len(known) else "empty"
    counts = values.dtype == float and known.is_unique and (known % 1 == 0).all()
    return "numbers the rows" if counts and _IDENTIFIER.fullmatch(values.name.strip()) else ""


class TableRows(NamedTuple):
    """The rows of a table as data of pandas."""

    inputs: Any  # (n, D)
    labels: Any  # (n,), or (n, T) for several targets
    groups: Any  # (n,), or None
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table by their use, validated."""

    table: Any
    targets: Sequence[str]
    inputs: Sequence[str]
    groups: str | None = None
    encoded: Sequence[str] = ()  # inputs that are one-hot encoded
    text_targets: bool = False  # whether targets may have text

    def __post_init__(self) -> None:
        table = self.table
        for name in () if self.text_targets else self.targets:
            if text := first_text(table[name]):
                raise ValueError(f"target must be numbers, got {name!r:.60} ({text})")
        if self.groups in self.targets:
            found = f"{self.groups!r:.60}"
            raise ValueError(f"groups must be another column than the target, got {found}")
        for name in self.inputs:
            if name in self.targets or name == self.groups:
                use = "groups" if name == self.groups else "target"
                raise ValueError(f"inputs must not have the {use}, got {name!r:.60}")
            if name in self.encoded and not has_few_classes(table[name]):
                found = f"{table[name].nunique()} different values in {len(table)} rows"
                raise ValueError(
                    f"inputs must have numbers or few classes, got {found} of {name!r:.60}"
                )
        texts = {name: first_text(table[name]) for name in self.inputs if name not in self.encoded}
        if texts := {name: text for name, text in texts.items() if text}:
            few = [name for name in texts if has_few_classes(table[name])]
            shown = [
                f"{name!r} ({text}{f', {table[name].nunique()} classes' * (name in few)})"
                for name, text in texts.items()
            ]
            encode = f", or encode classes with --one-hot {','.join(few)!r}" if few else ""
            raise ValueError(
                f"inputs must be numbers, got {listed(shown, most=20)}: "
                f"leave them out with --drop {','.join(texts)!r}{encode}"
            )

    @property
    def complete(self) -> list[str]:
        """The targets and the groups."""
        return [*self.targets, *([] if self.groups is None else [self.groups])]

    def rows(
        self,
        *,
        missing_inputs: bool = False,
        drop_missing: bool = False,
        remedy: str = "leave out the columns, or the rows",
    ) -> TableRows:
        """The rows of the table.

        Missing values are an error with a `remedy`, unless `drop_missing` leaves out their rows;
        with `missing_inputs`, those of inputs are NaN, or a class.
        """
        table, inputs, encoded = self.table, list(self.inputs), list(self.encoded)
        free = missing_inputs and not drop_missing
        holes = table[[*([] if free else inputs), *self.complete]].isna()
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
        X = kept[inputs].astype(dict.fromkeys(encoded, object))
        X[encoded] = X[encoded].map(lambda one: f"{one:g}" if isinstance(one, float) else one)
        X = require("pandas", "tables").get_dummies(X, columns=encoded, dtype=float)
        if encoded:
            found = f"as {X.shape[1] - len(inputs) + len(encoded)}: {listed(map(repr, encoded))}"
            notes.append(f"Columns of classes are one-hot encoded, {found}.")
        y = kept[self.targets[0]] if len(self.targets) == 1 else kept[list(self.targets)]
        return TableRows(X, y, None if self.groups is None else kept[self.groups], tuple(notes))


def listed(texts: Iterable[str], most: int = 5) -> str:
    """The first of some texts, and their number."""
    every = list(texts)
    more = [f"... ({len(every)} in all)"] * (len(every) > most)
    return ", ".join(every[:most] + more)


def _text(content: bytes) -> str:
    """CSV as text."""
    try:
        text, end = content.decode("utf-8-sig"), content.find(b"\0")
    except UnicodeDecodeError as error:
        end = error.start
    if end < 0:
        return text
    workbook = content.startswith((b"PK", b"\xd0\xcf"))  # .xlsx and .ods, .xls
    remedy = "export the workbook as CSV" if workbook else "save the file as UTF-8"
    line = content.count(b"\n", 0, end) + 1
    raise ValueError(f"file must be text in UTF-8, got other bytes in line {line}: {remedy}")


def _separates(separator: str, lines: list[str]) -> tuple[bool, bool]:
    """Whether the first lines have several values by a separator, and as many in each."""
    widths = {0}
    with suppress(csv.Error):  # a value is too long
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
        widths = {len(row) for row in rows if row}
    return max(widths, default=0) > 1, len(widths) == 1


def _check_names(names: list[str], most: float) -> None:
    if len(names) < 2:
        expected = "2 columns or more, separated by commas, semicolons, tabs, | or spaces"
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
