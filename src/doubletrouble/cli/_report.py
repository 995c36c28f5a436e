"""Reports: the results of a command as a table, JSON or CSV, with symbols for headings."""

import csv as csv_format
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import typer

from doubletrouble.cli._flags import SPECS
from doubletrouble.cli._output import aligned, brief, paragraph, show, show_json, table
from doubletrouble.results import NOISE_FLOOR, PsiTerms

ERROR = "error_"
"""Prefix of the columns of results, as in tables of sweeps: `noise` is a parameter."""

_PSI: dict[str, str] = {f.name: f.metadata["symbol"] for f in fields(PsiTerms)}
_SYMBOLS: dict[str, str] = {
    **{name: spec.symbol for name, spec in SPECS.items()},
    "activation": "σ",
    "time": "t",
    "best_ridge": "best λ",
    "best_ridge_total": "total\nthere",
    "training_error": "training\nerror",
    "training_loss": "training\nloss",
    "separability": "N⋆/P",
    "threshold": "P/N⋆",
    "calibration_error": "calibration\nerror",
    f"{ERROR}bayes": "noise\nfloor",
    "score_sd": "sd of\nthe score",
    **_PSI,
}


def symbol(name: str) -> str:
    """The symbol of a parameter or a result, or its name."""
    return _SYMBOLS.get(name, name)


def heading(name: str) -> str:
    """The heading of a column: a symbol, or a name broken into lines."""
    short = _plain(name).replace("initialization", "init.")
    return _SYMBOLS.get(name) or short.replace(" × ", "\n× ")


def _plain(name: str) -> str:
    """The name of a column within a line of text.

    >>> _plain("error_noise_sampling"), _plain("psi1")
    ('noise × sampling', 'Ψ₁')
    """
    if name == f"{ERROR}bayes":
        return NOISE_FLOOR
    return _PSI.get(name) or name.removeprefix(ERROR).replace("_", " × ")


def cells(values: Sequence[Any]) -> list[str]:
    """The cells of a column."""
    numbers = all(isinstance(value, int | float) for value in values)
    return aligned(values) if numbers else [str(value) for value in values]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Columns of equal length, and the parameters that are the same for every row."""

    title: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Sequence[Any]]
    text: str = ""  # below the heading, in place of a table of the columns
    notes: Sequence[str] = ()

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of the columns."""
        return list(zip(*self.columns.values(), strict=True))

    @property
    def document(self) -> dict[str, Any]:
        """The content as JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {"parameters": dict(self.parameters), "rows": rows, **notes}

    def __str__(self) -> str:
        given = {name: value for name, value in self.parameters.items() if value is not None}
        fixed = ", ".join(f"{symbol(name)}={brief(value)}" for name, value in given.items())
        head = [paragraph(f"{self.title}: {fixed}" if given else self.title)] if self.title else []
        return "\n".join([*head, self.text or self._table(), *self.notes])

    def _table(self) -> str:
        zero = [name for name, values in self.columns.items() if not any(values)]
        shown = {heading(n): cells(v) for n, v in self.columns.items() if n not in zero}
        below = [paragraph(f"{', '.join(map(_plain, zero))}: 0 everywhere")] if zero else []
        return "\n".join([table("", shown), *below])


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form in which a command prints its report."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON, at full precision.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, at full precision.")] = False

    def __post_init__(self) -> None:
        if self.json and self.csv:
            raise ValueError("json must be left out where csv is given, got both")

    def show(self, report: Report, document: Mapping[str, Any] | None = None) -> None:
        """Print a report; `document` is its JSON, if not parameters and rows."""
        if self.json:
            show_json(document or report.document)
        elif self.csv:
            writer = csv_format.writer(sys.stdout, lineterminator="\n")
            writer.writerow(report.columns)
            writer.writerows(report.rows)
        else:
            show(str(report))
