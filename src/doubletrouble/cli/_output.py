"""The output of commands: results on stdout as text, JSON or CSV; messages on stderr."""

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doubletrouble.errors import file_errors

if TYPE_CHECKING:
    from doubletrouble._display import Shown

_CHARTS = (".png", ".pdf", ".svg")


def show(text: str) -> None:
    """Print a line of results."""
    with file_errors("stdout"):
        sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a message that is not a result."""
    sys.stderr.write(f"{message}\n")


def _show_document(document: str) -> None:
    """Print a JSON document; characters are escaped where stdout may not be able to encode them."""
    if (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
        document = json_format.dumps(json_format.loads(document), indent=2)
    show(document)


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form in which a command prints its result: `str`, `to_json` or `to_frame`, and `plot`."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON, at full precision.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, at full precision.")] = False
    chart: Annotated[
        Path | None,
        typer.Option(help="Write a chart to this file, too: .png, .pdf or .svg.", metavar="FILE"),
    ] = None

    def __post_init__(self) -> None:
        if self.json and self.csv:
            raise ValueError("json must be left out where csv is given, got both")
        if self.chart is not None and self.chart.suffix.lower() not in _CHARTS:
            raise ValueError(f"chart must end in {', '.join(_CHARTS)}, got {str(self.chart)!r}")
        if self.chart is not None and not self.chart.parent.is_dir():
            raise ValueError(f"chart must be in a folder that exists, got {str(self.chart)!r}")

    def show(self, result: "Shown") -> None:
        """Print a result, and write its plot."""
        if self.json:
            _show_document(result.to_json())
        elif self.csv:
            frame = result.to_frame()
            with file_errors("stdout"):
                frame.to_csv(sys.stdout, index=False, lineterminator="\n")
        else:
            show(str(result))
        if self.chart is not None:  # last: a result that cannot be drawn is printed
            figure: Any = result.plot().figure
            with file_errors(self.chart):
                figure.savefig(self.chart, dpi=200)
            note(f"{self.chart} written")
