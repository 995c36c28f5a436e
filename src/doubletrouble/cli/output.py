"""What commands print: results on stdout as a table or as JSON, messages on stderr."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDEST = 10_000  # columns of a table; it takes as many as it needs


def show(text: str) -> None:
    """Print a line of results."""
    sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a message that is not a result."""
    sys.stderr.write(f"{message}\n")


def show_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print a result for programs, as strict JSON: infinities are "inf" and "-inf", NaN is null."""
    show(json.dumps(_strict(value), indent=2, ensure_ascii=False, allow_nan=False))


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _strict(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def show_lines(text: str) -> None:
    """Print a paragraph for people, broken between words."""
    from rich.text import Text  # not markup: names of files may have brackets

    _print(Text(text), _console().width)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a result for people; numbers are aligned to the right, and nothing is cut off."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    if title:
        show_lines(title)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        numbers = all(map(_is_number, cells))
        table.add_column(
            Text(column), justify="right" if numbers else "left", no_wrap=True, vertical="bottom"
        )
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    _print(table, _WIDEST)


def _print(thing: Any, width: int) -> None:
    console = _console(width)
    with console.capture() as captured:
        console.print(thing)
    for line in captured.get().splitlines():
        show(line.rstrip())


def _console(width: int | None = None) -> "Console":
    from rich.console import Console

    return Console(file=sys.stdout, width=width, highlight=False)


def _is_number(cell: object) -> bool:
    try:
        float(str(cell).split(" ")[0])
    except ValueError:
        return False
    return True
