"""The output of commands: results on stdout as a table, JSON or CSV; messages on stderr."""

import json as json_format
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doubletrouble.errors import file_errors, require


def show(text: str) -> None:
    """Print a line of results."""
    with file_errors("stdout"):
        sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a message that is not a result."""
    sys.stderr.write(f"{message}\n")


def show_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print strict JSON: infinities are "inf" and "-inf", NaN is null.

    Characters are escaped where stdout may not be able to encode them.
    """
    from doubletrouble._display import strict_json  # not for --help

    escaped = (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    strict = strict_json(value)
    show(json_format.dumps(strict, indent=2, ensure_ascii=escaped, allow_nan=False))


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
