"""Write a figure as PNG, PDF and SVG, and its numbers as CSV; the same input, the same bytes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from doubletrouble.figures.spec import Table
from doubletrouble.figures.style import journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg", "csv")
PIXELS = 1600  # width of a PNG

# Left to itself, matplotlib notes the date and its version.
_ANONYMOUS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


def save(stem: str | Path, figure: "Figure", table: Table) -> list[Path]:
    """Write `stem`.png, .pdf, .svg and .csv, making the folder if need be; return the paths."""
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in FORMATS]
    *pictures, numbers = paths
    with journal():
        for path in pictures:
            suffix = path.suffix.removeprefix(".")
            dpi = PIXELS / figure.get_figwidth() if suffix == "png" else "figure"
            figure.savefig(path, format=suffix, dpi=dpi, metadata=_ANONYMOUS[suffix])
    numbers.write_text(csv_text(table), encoding="utf-8", newline="\n")
    return paths


def csv_text(table: Table) -> str:
    """Write the table as comma-separated values that read back as the same floats.

    >>> csv_text(Table(("x", "y"), [(0.1, 1 / 3)]))
    'x,y\\n0.1,0.3333333333333333\\n'
    """
    rows = [",".join(repr(float(value)) for value in row) for row in table.rows]
    return "\n".join([",".join(table.columns), *rows, ""])
