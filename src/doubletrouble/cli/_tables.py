"""Flags of a table in a file: which columns are targets, groups and inputs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from doubletrouble.cli._flags import option
from doubletrouble.parameters import FloatArray
from doubletrouble.tables import DataTable, TableRows, listed

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
    def table(self) -> DataTable:
        """The table of the file."""
        return DataTable.from_file(self.file)

    @cached_property
    def targets(self) -> list[int]:
        """The indices of the targets."""
        return self._indices("target", self.target)

    @property
    def target_names(self) -> list[str]:
        """The names of the targets."""
        return [self.table.columns[k].name for k in self.targets]

    def rows(self, *, missing_inputs: bool = False, classes: bool = False) -> TableRows:
        """The rows; `missing_inputs` may be NaN, and a target may have text with `classes`."""
        table, targets = self.table, self.targets
        if not classes:
            for k in targets:
                table.check_numeric("target", k)
        groups = None if self.groups is None else table.index("groups", self.groups)
        if groups in targets:
            raise ValueError(f"groups must be another column than the target, got {self.groups!r}")
        without = {*targets, groups, *self._indices("drop", self.drop)}
        candidates = [k for k in range(len(table.columns)) if k not in without]
        encoded = self._indices("one_hot", self.one_hot)
        kept = self._indices("keep", self.keep)
        for name, columns in (("one_hot", encoded), ("keep", kept)):
            if others := [table.columns[k].name for k in columns if k in without]:
                raise ValueError(f"{name} must be columns of inputs, got {listed(others)}")
        self._refuse_text([k for k in candidates if k not in encoded])
        table.check_encodable("one_hot", encoded)
        chosen = {*encoded, *kept}
        inputs = [k for k in candidates if k in chosen or not table.columns[k].remark]
        left_out = [
            f"{table.columns[k].name!r} ({table.columns[k].remark})"
            for k in candidates
            if k not in inputs
        ]
        if not inputs:
            found = ", ".join(left_out) or "none"
            raise ValueError(f"file must have columns of inputs that vary, got {found}")
        rows = table.rows(
            inputs=inputs,
            targets=targets,
            groups=groups,
            drop_missing=self.drop_missing,
            missing_inputs=missing_inputs,
            remedy=_REMEDY,
        )
        if not left_out:
            return rows
        note = f"Columns are left out unless --keep names them: {', '.join(left_out)}."
        return rows._replace(notes=(note, *rows.notes))

    def class_labels(self, labels: FloatArray) -> Any:
        """The labels of `rows` with the texts of classes in place of their indices."""
        classes = self.table.columns[self.targets[0]].classes
        return np.array(classes)[labels.astype(int)] if classes and labels.ndim == 1 else labels

    def _refuse_text(self, columns: Iterable[int]) -> None:
        """ValueError that lists all columns that are not numbers."""
        found = [self.table.columns[k] for k in columns]
        texts = [one for one in found if not one.is_numeric and len(one.classes) > 1]
        if not texts:
            return
        shown = [
            f"{one.name!r} ({one.not_a_number}, {len(one.classes)} classes)"
            for one in texts[:_LISTED]
        ]
        if len(texts) > _LISTED:
            shown.append(f"... ({len(texts)} in all)")
        names = ",".join(one.name for one in texts)
        few = ",".join(one.name for one in texts if one.is_encodable)
        encode = f", or encode classes with --one-hot {few!r}" if few else ""
        raise ValueError(
            f"inputs must be numbers, got {', '.join(shown)}: "
            f"leave them out with --drop {names!r}{encode}"
        )

    def _indices(self, name: str, given: list[str] | None) -> list[int]:
        """The columns of a flag; a comma separates names unless it is in one."""
        known = {column.name for column in self.table.columns}
        names = [
            one.strip()
            for text in given or ()
            for one in ([text] if text in known else text.split(","))
        ]
        return list(dict.fromkeys(self.table.index(name, one) for one in names))
