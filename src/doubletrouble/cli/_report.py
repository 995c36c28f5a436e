"""The results of commands as text, JSON or CSV."""

import csv as csv_format
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from doubletrouble import glossary
from doubletrouble._display import (
    Content,
    Shown,
    as_text,
    content_of,
    document_of,
    records_of,
    settings_text,
)
from doubletrouble.cli._output import show, show_json
from doubletrouble.errors import file_errors


def at(parameters: Mapping[str, Any]) -> str:
    """Parameters in a title, with their symbols.

    >>> " ".join(at({"n_members": 2, "activation": "relu", "n_data": 4}).split())
    'K = 2, σ = relu, n data = 4'
    """
    shown = {k: v for k, v in parameters.items() if not isinstance(v, list | None)}
    return settings_text({glossary.symbol(k): v for k, v in shown.items()})


@dataclass(frozen=True)
class Display(Shown):
    """A result that has no class of its own."""

    content: Content

    def _content(self) -> Content:
        return self.content


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form in which a command prints its result."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON, at full precision.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, at full precision.")] = False

    def __post_init__(self) -> None:
        if self.json and self.csv:
            raise ValueError("json must be left out where csv is given, got both")

    def show(
        self, result: Shown, title: str = "", parameters: Mapping[str, Any] | None = None
    ) -> None:
        """Print a result, with all of its rows, under a title with the parameters."""
        content = content_of(result)
        tables = [replace(table, omitted="") for table in content.tables]
        if parameters is not None:
            title = f"{title}: {at(parameters)}"
        title = "\n".join(filter(None, (title, content.title)))
        given = {} if parameters is None else {"parameters": parameters}
        content = replace(content, title=title, tables=tables)
        self.write([content], given | document_of(result), records_of(result))

    def write(
        self,
        contents: Sequence[Content],
        document: Mapping[str, Any],
        records: Sequence[Mapping[str, Any]],
    ) -> None:
        """Print contents as text, a document as JSON, or records as CSV."""
        if self.json:
            show_json(document)
        elif self.csv:
            names = dict.fromkeys(name for record in records for name in record)
            writer = csv_format.DictWriter(sys.stdout, names, lineterminator="\n")
            with file_errors("stdout"):
                writer.writeheader()
                for record in records:  # NaN, which is unequal to itself, is an empty cell
                    writer.writerow({name: v for name, v in record.items() if v == v})
        else:
            show("\n\n".join(as_text(content) for content in contents))
