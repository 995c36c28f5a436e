"""The output of commands: results on stdout as a table, JSON or CSV; messages on stderr."""

import json as json_format
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doubletrouble.errors import file_errors, require


def show(text: str) -> None:
    """Print a line of results."""
    sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a message that is not a result."""
    sys.stderr.write(f"{message}\n")


def show_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print strict JSON: infinities are "inf" and "-inf", NaN is null."""
    from doubletrouble._display import strict_json  # not for --help

    strict = strict_json(value)
    text = json_format.dumps(strict, indent=2, ensure_ascii=False, allow_nan=False)
    show(text if printable(text) == text else json_format.dumps(strict, indent=2))


def printable(text: str) -> str:
    """Text with the replacements of characters that stdout cannot encode."""
    encoding, errors = sys.stdout.encoding or "utf-8", sys.stdout.errors or "strict"
    return text.encode(encoding, errors).decode(encoding, errors)


# --- charts --------------------------------------------------------------------------------------

_CHARTS = (".png", ".pdf", ".svg")


def check_chart(file: Path | None) -> None:
    """Raise ValueError for a chart in a format that is not written."""
    if file is not None and file.suffix.lower() not in _CHARTS:
        raise ValueError(f"chart must end in {', '.join(_CHARTS)}, got {str(file)!r}")


def new_chart(*, height: float) -> Any:
    """An empty matplotlib figure."""
    make = require("matplotlib.figure", "figures").Figure
    return make(figsize=(7.5, height), layout="constrained")


def write_chart(figure: Any, file: Path) -> None:
    """Write a chart, and print the name of its file."""
    with file_errors(file):
        figure.savefig(file, dpi=200)
    note(f"{file} written")


# TRANSITION: deleted with the commands that import them

_WIDEST = 10_000
_DIGITS, _FEWEST, _DECADES = 4, 3, 2
_LARGEST, _SMALLEST = 1e5, 1e-4


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
    return f"{printable(title)}\n{lines}" if title else lines


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
