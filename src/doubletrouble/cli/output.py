"""What commands print: results on stdout as a table or as JSON, sentences on stderr."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def show(text: str) -> None:
    """Print a line of results."""
    sys.stdout.write(f"{text}\n")


def note(sentence: str) -> None:
    """Say something that is not a result."""
    sys.stderr.write(f"{sentence}\n")


def show_json(value: Mapping[str, Any]) -> None:
    """Print a result for programs."""
    show(json.dumps(value, indent=2, ensure_ascii=False))


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a result for people."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # not markup: names of files may have brackets

    table = Table(title=Text(title), title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row))
    Console(file=sys.stdout).print(table)
