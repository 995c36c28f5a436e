"""Reports: the results of a command as text, JSON or CSV, with symbols for headings."""

import csv as csv_format
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import typer

from doubletrouble._display import Column, Content, Table, as_text
from doubletrouble._numbers import whole
from doubletrouble.cli._flags import SPECS
from doubletrouble.cli._output import printable, show, show_json
from doubletrouble.results import NOISE_FLOOR, PsiTerms

ERROR = "error_"
"""Prefix of the columns of results, as in tables of sweeps: `noise` is a parameter."""

_PSI: dict[str, str] = {f.name: f.metadata["symbol"] for f in fields(PsiTerms)}
_SYMBOLS: dict[str, str] = {
    **{name: spec.symbol for name, spec in SPECS.items()},
    "activation": "σ",
    "time": "t",
    "best_ridge": "best λ",
    "best_ridge_total": "total there",
    "separability": "N⋆/P",
    "threshold": "P/N⋆",
    f"{ERROR}bayes": NOISE_FLOOR,
    "score_sd": "sd of the score",
    **{"mean": "μ₀", "linear": "μ₁", "nonlinear": "μ⋆"},
    **_PSI,
}


def heading(name: str) -> str:
    """The heading of a column: a symbol, or a name in words.

    >>> heading("error_noise_sampling"), heading("psi1"), heading("training_error")
    ('noise × sampling', 'Ψ₁', 'training error')
    """
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name.startswith(ERROR):
        return name.removeprefix(ERROR).replace("_", " × ")
    return name.replace("_", " ")


def in_title(value: object) -> str:
    """A parameter in a title.

    >>> in_title(2.0), in_title(1e-05), in_title(True), in_title("relu")
    ('2', '1e-05', 'yes', 'relu')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return whole(value) if isinstance(value, int | float) else str(value)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Columns of equal length, and the parameters that are the same for every row."""

    title: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Sequence[Any]]
    content: Content | Sequence[Content] = ()  # below the title, in place of a table of the columns
    keys: int = 1  # columns of parameters
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
        fixed = ", ".join(f"{heading(name)}={in_title(value)}" for name, value in given.items())
        title = f"{self.title}: {fixed}" if given else self.title
        content = self.content or self._table()
        shown = [content] if isinstance(content, Content) else content
        body = "\n\n".join(as_text(one, printable) for one in shown)
        head, foot = (
            as_text(x, printable) for x in (Content(title=title), Content(notes=self.notes))
        )
        # a line between the title and several blocks
        return ("\n\n" if "\n\n" in body else "\n").join(x for x in (head, body, foot) if x)

    def _table(self) -> Content:
        """The columns as a table, those of zeros below it."""
        zero = [name for name, values in self.columns.items() if not any(values)]
        shown = {name: values for name, values in self.columns.items() if name not in zero}
        names = list(self.columns)[: self.keys]
        columns = [
            Column(name=name, heading=heading(name), form=_form(values, name in names))
            for name, values in shown.items()
        ]
        rows = [
            [in_title(cell) if isinstance(cell, bool) else cell for cell in row]
            for row in zip(*shown.values(), strict=True)
        ]
        keys = sum(name in names for name in shown)
        below = f"{', '.join(map(heading, zero))}: 0 everywhere" if zero else ""
        table = Table(name="rows", columns=columns, rows=rows, keys=keys)
        return Content(tables=[table], verdict=below)


def _form(values: Sequence[Any], is_parameter: bool) -> Any:
    """How the cells of a column are printed."""
    if any(isinstance(value, str | bool) for value in values):
        return "words"
    return "count" if is_parameter else "number"


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
