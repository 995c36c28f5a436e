"""Flags of a table in a file: which columns are targets, groups and inputs."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from doubletrouble.cli._flags import option
from doubletrouble.tables import (
    TableRows,
    check_numbers,
    first_text,
    has_few_classes,
    left_out,
    listed,
    read_table,
    table_rows,
)

_REMEDY = "leave out the columns with --drop, or the rows with --drop-missing"
_LISTED = 20  # columns that are refused


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """A table and the roles of its columns."""

    file: Annotated[Path, typer.Argument(help="The table, .csv or .parquet, with named columns.")]
    target: Annotated[
        list[str], option("The column to predict; or several, separated by commas.", "COLUMNS")
    ]
    groups: Annotated[
        str | None, option("A column of groups, which stay together; it is not an input.", "COLUMN")
    ] = None
    drop: Annotated[
        list[str] | None, option("Columns that are not inputs, separated by commas.", "COLUMNS")
    ] = None
    one_hot: Annotated[
        list[str] | None,
        option("Columns of text to encode as indicators of their classes.", "COLUMNS"),
    ] = None
    keep: Annotated[
        list[str] | None,
        option("Columns to use although they number the rows or are constant.", "COLUMNS"),
    ] = None
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
    ] = False

    @cached_property
    def targets(self) -> list[str]:
        """The names of the targets."""
        return self._columns("target", self.target)

    def rows(self, *, missing_inputs: bool = False, text_targets: bool = False) -> TableRows:
        """The rows; `missing_inputs` may be NaN, and targets may have text with `text_targets`."""
        table, targets = self._table, self.targets
        for name in () if text_targets else targets:
            check_numbers("target", table[name])
        if self.groups is not None:
            self._check("groups", self.groups)
        if self.groups in targets:
            raise ValueError(f"groups must be another column than the target, got {self.groups!r}")
        without = {*targets, self.groups, *self._columns("drop", self.drop)}
        encoded = self._columns("one_hot", self.one_hot)
        kept = self._columns("keep", self.keep)
        for flag, columns in (("one_hot", encoded), ("keep", kept)):
            if others := [repr(name) for name in columns if name in without]:
                raise ValueError(f"{flag} must be columns of inputs, got {listed(others)}")
        candidates = [name for name in table if name not in without]
        self._refuse_text([name for name in candidates if name not in encoded])
        remarks = {
            name: remark
            for name in candidates
            if name not in (*encoded, *kept) and (remark := left_out(table[name]))
        }
        inputs = [name for name in candidates if name not in remarks]
        shown = ", ".join(f"{name!r} ({remark})" for name, remark in remarks.items())
        if not inputs:
            raise ValueError(f"file must have columns of inputs that vary, got {shown or 'none'}")
        rows = table_rows(
            table,
            inputs,
            targets,
            self.groups,
            missing_inputs=missing_inputs,
            drop_missing=self.drop_missing,
            remedy=_REMEDY,
        )
        if not remarks:
            return rows
        note = f"Columns are left out unless --keep names them: {shown}."
        return rows._replace(notes=(note, *rows.notes))

    @cached_property
    def _table(self) -> Any:
        return read_table(self.file)

    def _refuse_text(self, columns: list[str]) -> None:
        """ValueError that lists all columns that are not numbers."""
        texts = {
            name: text
            for name in columns
            if (text := first_text(self._table[name])) and not left_out(self._table[name])
        }
        if not texts:
            return
        shown = [
            f"{name!r} ({text}, {self._table[name].nunique()} classes)"
            for name, text in texts.items()
        ]
        few = ",".join(name for name in texts if has_few_classes(self._table[name]))
        encode = f", or encode classes with --one-hot {few!r}" if few else ""
        raise ValueError(
            f"inputs must be numbers, got {listed(shown, _LISTED)}: "
            f"leave them out with --drop {','.join(texts)!r}{encode}"
        )

    def _columns(self, flag: str, given: list[str] | None) -> list[str]:
        """The columns of a flag; a comma separates names unless it is in one."""
        names = [
            one.strip()
            for text in given or ()
            for one in ([text] if text in self._table else text.split(","))
        ]
        for name in names:
            self._check(flag, name)
        return list(dict.fromkeys(names))

    def _check(self, flag: str, name: str) -> None:
        if name not in self._table:
            known = listed(map(repr, self._table))
            raise ValueError(f"{flag} must be one of the columns {known}, got {name!r}")
