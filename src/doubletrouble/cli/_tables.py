"""A table in a file as data: inputs, target and groups, for the commands on data of the user."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer

from doubletrouble.cli._flags import option
from doubletrouble.errors import require

_PARQUET = (".parquet", ".pq")
_SHOWN = 5  # columns in a message
_MOST_CLASSES = 0.5  # the largest share of different values in a column that is not of numbers

TableFile: TypeAlias = Annotated[
    Path, typer.Argument(help="The table, .csv or .parquet, with named columns.")
]
TargetColumn: TypeAlias = Annotated[str, option("The column to predict.", "COLUMN")]
GroupsColumn: TypeAlias = Annotated[
    str | None, option("A column of groups, which stay together; it is not an input.", "COLUMN")
]
DroppedColumns: TypeAlias = Annotated[
    list[str] | None, option("A column that is not an input. May be repeated.", "COLUMN")
]


class Columns(NamedTuple):
    """The inputs, the target and the groups of a table."""

    table: Any
    target: Any
    groups: Any

    @classmethod
    def of(
        cls, file: Path, target: str, groups: str | None, drop: Sequence[str] | None
    ) -> "Columns":
        """Take columns of the table in a file, all others of which are inputs."""
        table, drop = _table(file), drop or ()
        taken = [("target", target), *([] if groups is None else [("groups", groups)])]
        for name, column in [*taken, *(("drop", column) for column in drop)]:
            if column not in table.columns:
                shown = listed([str(one) for one in table.columns])
                raise ValueError(f"{name} must be one of the columns {shown}, got {column!r}")
        for name, column in taken:
            if count := int(table[column].isna().sum()):
                raise ValueError(
                    f"{name} must have no missing value, got {count} in column {column!r}"
                )
        inputs = table.drop(columns=list({*(column for _, column in taken), *drop}))
        if not inputs.shape[1]:
            raise ValueError(f"file must have columns besides {target!r}, got none")
        if groups is not None and groups == target:
            raise ValueError(f"groups must be another column than the target, got {groups!r}")
        return cls(inputs, table[target], None if groups is None else table[groups].to_numpy())

    def inputs(self, without_missing: Sequence[str]) -> tuple[Any, list[str]]:
        """The inputs as numbers, and a note on what is one-hot encoded.

        ValueError if values are missing and a model among `without_missing` is fitted.
        """
        pandas, types = require("pandas", "tables"), require("pandas.api.types", "tables")
        table = self.table
        incomplete = [str(one) for one in table.columns[table.isna().any()]]
        if incomplete and without_missing:
            raise ValueError(
                f"file must have no missing values for {without_missing[0]}, got some in "
                f"{listed(incomplete)}"
            )
        texts = [one for one in table.columns if not types.is_numeric_dtype(table[one])]
        for one in texts:
            if table[one].dtype.kind in "mM":
                raise ValueError(
                    f"file must have columns of numbers or classes, got {table[one].dtype} in "
                    f"{one!r}; leave it out with --drop"
                )
            count, rows = table[one].nunique(), len(table)
            if count > _MOST_CLASSES * rows:
                raise ValueError(
                    f"file must have columns of numbers or classes, got {count} different values "
                    f"in {rows} rows of {one!r}; leave it out with --drop"
                )
        numbers = table.drop(columns=texts).astype(float)
        if not texts:
            return numbers, []
        dummies = [
            pandas.get_dummies(table[[one]], dummy_na=bool(table[one].isna().any()), dtype=float)
            for one in texts
        ]
        encoded = pandas.concat([numbers, *dummies], axis=1)
        count = encoded.shape[1] - numbers.shape[1]
        names = listed([str(one) for one in texts])
        return encoded, [f"Columns that are not numbers are one-hot encoded, as {count}: {names}."]

    def numbers(self, model: str) -> Any:
        """The target, which must be numbers for a model."""
        if not require("pandas.api.types", "tables").is_numeric_dtype(self.target):
            raise ValueError(
                f"target must be a column of numbers for {model}, got {self.target.dtype} in "
                f"{self.target.name!r}"
            )
        return self.target.to_numpy(dtype=float)


def _table(file: Path) -> Any:
    """The table of a file, as a DataFrame."""
    pandas = require("pandas", "tables")
    if not file.is_file():
        raise ValueError(f"file must be a table, .csv or .parquet, got {file}, which is no file")
    try:
        if file.suffix.lower() in _PARQUET:
            require("pyarrow", "tables")
            return pandas.read_parquet(file)
        table = pandas.read_csv(file)
        if len(table.columns) == 1:  # another separator: semicolon or tab
            separators = [one for one in ";\t" if one in str(table.columns[0])]
            table = pandas.read_csv(file, sep=separators[0]) if separators else table
        return table
    except (ValueError, OSError) as error:  # errors of pandas and pyarrow are ValueErrors
        raise ValueError(f"file must be a table, got {file}: {error}") from error


def listed(names: list[str]) -> str:
    """The first names of a list, and their number."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > _SHOWN else shown
