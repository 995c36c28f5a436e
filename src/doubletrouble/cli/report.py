"""A result as rows: a table for people; JSON and CSV, at full precision, for programs."""

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doubletrouble.cli.digits import aligned, brief
from doubletrouble.cli.flags import SPECS
from doubletrouble.cli.output import show, show_json, show_lines, show_table
from doubletrouble.ensembles import Scheme
from doubletrouble.parameters import Value
from doubletrouble.results import AnovaTerms, ErrorTerms

PSI = {
    "psi1": "Ψ₁", "psi2_vanilla": "Ψ₂ᵛ", "psi3_vanilla": "Ψ₃ᵛ", "psi2_ensemble": "Ψ₂ᵉ",
    "psi3_ensemble": "Ψ₃ᵉ", "psi2_divide": "Ψ₂ᵈ", "psi2_features": "Ψ₂ᵖ",
}  # fmt: skip
"""The symbols of the terms of the theory, as in the paper."""

_SYMBOLS = {name: spec.symbol for name, spec in SPECS.items()} | {
    "activation": "σ", "n_train": "N", "time": "t", "best_ridge": "best λ",
    "best_ridge_total": "total\nthere", "training_error": "training\nerror", **PSI,
}  # fmt: skip

ERROR = "error_"  # as in the tables of sweeps: `noise` is a parameter, `error_noise` a result


@dataclass(frozen=True, kw_only=True)
class Report:
    """Columns of equal length, and what is the same for every row."""

    title: str
    parameters: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]
    summary: str = ""  # in place of the table, where that would have one row; before `cells`
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the table, if not `columns`

    def show(self, *, json: bool, csv: bool) -> None:
        """Print it in one of its forms."""
        one_form(json=json, csv=csv)
        if json:
            rows = [dict(zip(self.columns, row, strict=True)) for row in self._rows()]
            show_json({"parameters": dict(self.parameters), "rows": rows})
        elif csv:
            self._show_csv()
        else:
            self._show_table()

    def _rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values(), strict=True))

    def _show_csv(self) -> None:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self._rows())

    def _show_table(self) -> None:
        given = {name: value for name, value in self.parameters.items() if value is not None}
        fixed = (f"{_SYMBOLS.get(name, name)}={brief(value)}" for name, value in given.items())
        show_lines(f"{self.title}: {', '.join(fixed)}" if given else self.title)
        if self.summary:
            show(f"\n{self.summary}" + ("\n" if self.cells else ""))
            if not self.cells:
                return
        zero = [name for name, values in self.columns.items() if not any(values)]
        shown = {n: values for n, values in self.columns.items() if n not in zero}
        cells = self.cells or {heading(n): words(values) for n, values in shown.items()}
        show_table("", list(cells), list(zip(*cells.values(), strict=True)))
        if zero and not self.cells:
            show_lines(f"{', '.join(map(_plain, zero))}: 0 everywhere")


def parts(
    found: ErrorTerms[Any] | AnovaTerms[Any], ensemble: Scheme | None = None
) -> dict[str, Value]:
    """The columns of an error by cause; of members that resample, that part even where it is 0."""
    columns = dict(found.parts)
    if ensemble is not None and ensemble.resamples is not None:
        columns["resampling"] = found.resampling
    columns["total"] = found.total
    return {f"{ERROR}{name}": value for name, value in columns.items()}


def one_form(*, json: bool, csv: bool) -> None:
    """Raise ValueError for two forms at once; long commands call it before they start."""
    if json and csv:
        raise ValueError("json must be left out where csv is given, got both")


def heading(name: str) -> str:
    """A symbol, or a name broken into lines."""
    short = _plain(name).replace("initialization", "init.")
    return _SYMBOLS.get(name) or short.replace(" × ", "\n× ")


def _plain(name: str) -> str:
    """The heading of a column: its name, or its symbol.

    >>> _plain("error_noise_sampling"), _plain("psi1")
    ('noise × sampling', 'Ψ₁')
    """
    if name in PSI:
        return PSI[name]
    return name.removeprefix(ERROR).replace("_", " × ")


def words(values: Sequence[Any]) -> list[str]:
    """The cells of a column."""
    numbers = all(isinstance(value, int | float) for value in values)
    return aligned(values) if numbers else [str(value) for value in values]
