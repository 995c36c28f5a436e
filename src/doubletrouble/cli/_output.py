"""The output of commands: results on stdout as a table, JSON or CSV; messages on stderr."""

import csv as csv_format
import json as json_format
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_NARROWEST = 20  # columns of a paragraph, on any terminal
_WIDEST = 10_000  # columns of a table; it takes as many as it needs
_DIGITS = 4  # significant digits of the largest number of a column
_FEWEST = 3  # and of the smallest
_DECADES = 2  # a column that spans more is not aligned
_LARGEST, _SMALLEST = 1e5, 1e-4

ERROR = "error_"
"""Prefix of the columns of results, as in tables of sweeps: `noise` is a parameter."""

PSI = {
    "psi1": "Ψ₁",
    "psi2_vanilla": "Ψ₂ᵛ",
    "psi3_vanilla": "Ψ₃ᵛ",
    "psi2_ensemble": "Ψ₂ᵉ",
    "psi3_ensemble": "Ψ₃ᵉ",
    "psi2_divide": "Ψ₂ᵈ",
    "psi2_features": "Ψ₂ᵖ",
}
"""The symbols of the terms of the theory, as in the paper."""

_SYMBOLS = {
    "activation": "σ",
    "n_train": "N",
    "time": "t",
    "best_ridge": "best λ",
    "best_ridge_total": "total\nthere",
    "training_error": "training\nerror",
    **PSI,
}


def show(text: str) -> None:
    """Print a line of results."""
    sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a message that is not a result."""
    sys.stderr.write(f"{message}\n")


def show_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print strict JSON: infinities are "inf" and "-inf", NaN is null."""
    text = json_format.dumps(_strict(value), indent=2, ensure_ascii=False, allow_nan=False)
    if printable(text) != text:
        text = json_format.dumps(_strict(value), indent=2, allow_nan=False)
    show(text)


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _strict(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def printable(text: str) -> str:
    """Text with the replacements of characters that stdout cannot encode."""
    encoding, errors = sys.stdout.encoding or "utf-8", sys.stdout.errors or "strict"
    return text.encode(encoding, errors).decode(encoding, errors)


def paragraph(text: str) -> str:
    """Break text between words at the width of the terminal."""
    from rich.text import Text  # not markup: names of files may have brackets

    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    return _rendered(Text(printable(text)), width)


def table(title: str, columns: Mapping[str, Sequence[object]]) -> str:
    """A table with numbers aligned to the right, at its full width."""
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    line = printable("─")
    blank = "    \n"
    box = Box(f"{blank * 2} {line * 2} \n{blank * 5}", ascii=line.isascii())  # a line below heads
    grid = Table(box=box, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for name, cells in columns.items():
        grid.add_column(
            Text(printable(name)),
            justify="right" if all(map(_is_number, cells)) else "left",
            no_wrap=True,
            vertical="bottom",
        )
    for row in zip(*columns.values(), strict=True):
        grid.add_row(*(Text(printable(str(cell))) for cell in row))
    lines = _rendered(grid, _WIDEST)
    return f"{paragraph(title)}\n{lines}" if title else lines


def _rendered(content: Any, width: int) -> str:
    from rich.console import Console

    console = Console(file=sys.stdout, width=width, highlight=False)
    with console.capture() as captured:
        console.print(content)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _is_number(cell: object) -> bool:
    try:
        float(str(cell).split(" ")[0])
    except ValueError:
        return False
    return True


# --- digits --------------------------------------------------------------------------------------


def brief(value: object) -> str:
    """A parameter in a title.

    >>> brief(2.0), brief(1e-05), brief(True), brief("relu")
    ('2', '1e-05', 'yes', 'relu')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def aligned(values: Sequence[float]) -> list[str]:
    """A column with the same number of decimals, as far as its range allows; an exact 0 is "0".

    >>> aligned([0.1, 0.31623, 1.0]), aligned([0.5, 1.0, 0.0])
    (['0.100', '0.316', '1.000'], ['0.5', '1.0', '0'])
    >>> aligned([1, 10, math.inf]), aligned([1e-5, 0.1])
    (['1', '10', 'inf'], ['1e-05', '0.1'])
    """
    form = _form([abs(value) for value in values if value and math.isfinite(value)])
    return [f"{value:{form}}" if value else "0" for value in values]


def _form(sizes: Sequence[float]) -> str:
    if not sizes:
        return ".0f"
    low, high = _decade(min(sizes)), _decade(max(sizes))
    most = max(_DIGITS - 1 - high, _FEWEST - 1 - low, 0)
    # fewer if they are exact: 0.5, not 0.500
    exact = (p for p in range(most) if all(round(size, p) == size for size in sizes))
    decimals = next(exact, most)
    if max(sizes) >= _LARGEST or min(sizes) < _SMALLEST or (decimals and high - low > _DECADES):
        return f".{_DIGITS}g"
    return f".{decimals}f"


def measured(value: float, standard_error: float, *others: float) -> list[str]:
    """A value, its standard error and more of the same kind, to two digits of the error.

    >>> measured(1.23456, 0.0789, 1.2)
    ['1.235', '0.079', '1.200']
    >>> measured(0.5, 0.0, 0.5)
    ['0.5', '0', '0.5']
    """
    numbers = (value, standard_error, *others)
    known = 0 < standard_error < math.inf
    decimals = 1 - _decade(standard_error) if known else 0
    if not known or not 0 <= decimals <= 8 or abs(value) >= _LARGEST:
        return [f"{number:.{_DIGITS}g}" for number in numbers]
    return [f"{number:.{decimals}f}" for number in numbers]


def _decade(size: float) -> int:
    """The power of ten of the first digit."""
    return math.floor(math.log10(size))


# --- reports -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Report:
    """Columns of equal length, and the parameters that are the same for every row."""

    title: str
    parameters: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]
    summary: str = ""  # in place of a table with one row; before `cells`
    cells: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the table, if not `columns`
    notes: Sequence[str] = ()
    document: Mapping[str, Any] | None = None  # the JSON, if not parameters and rows
    warning: str = ""  # on stderr
    exit_code: int = 0

    def show(self, *, json: bool, csv: bool) -> None:
        """Print the report in one of its forms."""
        if json:
            show_json(self.document or self._document())
        elif csv:
            writer = csv_format.writer(sys.stdout, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self._rows())
        else:
            show(self._text())
        if self.warning:
            note(self.warning)

    def _rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values(), strict=True))

    def _document(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self._rows()]
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {"parameters": dict(self.parameters), "rows": rows, **notes}

    def _text(self) -> str:
        blocks = [paragraph(self._heading())] if self.title else []
        if self.summary:
            blocks += ["", self.summary] if blocks else [self.summary]
        if self.cells:
            blocks += ["", table("", self.cells)] if self.summary else [table("", self.cells)]
        elif not self.summary:
            zero = [name for name, values in self.columns.items() if not any(values)]
            shown = {n: values for n, values in self.columns.items() if n not in zero}
            blocks.append(table("", {heading(n): cells(values) for n, values in shown.items()}))
            if zero:
                blocks.append(paragraph(f"{', '.join(map(_plain, zero))}: 0 everywhere"))
        return "\n".join([*blocks, *self.notes])

    def _heading(self) -> str:
        given = {name: value for name, value in self.parameters.items() if value is not None}
        fixed = (f"{symbol(name)}={brief(value)}" for name, value in given.items())
        return f"{self.title}: {', '.join(fixed)}" if given else self.title


def symbol(name: str) -> str:
    """The symbol of a parameter or a result, or its name."""
    from doubletrouble.cli._flags import SPECS  # not for --help

    return SPECS[name].symbol if name in SPECS else _SYMBOLS.get(name, name)


def heading(name: str) -> str:
    """The heading of a column: a symbol, or a name broken into lines."""
    short = _plain(name).replace("initialization", "init.")
    known = symbol(name)
    return known if known != name else short.replace(" × ", "\n× ")


def _plain(name: str) -> str:
    """The name of a column within a line of text.

    >>> _plain("error_noise_sampling"), _plain("psi1")
    ('noise × sampling', 'Ψ₁')
    """
    return PSI.get(name) or name.removeprefix(ERROR).replace("_", " × ")


def cells(values: Sequence[Any]) -> list[str]:
    """The cells of a column."""
    numbers = all(isinstance(value, int | float) for value in values)
    return aligned(values) if numbers else [str(value) for value in values]
