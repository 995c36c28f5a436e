"""What was measured, in `measured/`, and the page that the site makes of it.

The parts of the page are the paper's settings, members beyond them, and other losses. Each is a
text, and the rows of its long tables: in the text, the line "Seed 0." is where the rows follow
whose case is the heading above. A row without a case belongs to the one before.
"""

import csv
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

MEASURED = Path(__file__).parent / "measured"
PARTS = ("curves", "beyond", "losses")
_SEED = re.compile(r"^Seed \d\.\n", re.MULTILINE)
_TABLE = re.compile(r"(?<=^Seed \d\.\n)\n(?:\|.*\n)+", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CASE = "case"


def write(name: str, markdown: str, folder: Path = MEASURED) -> None:
    """Write one part, from its Markdown with all tables."""
    rows = [row for match in _TABLE.finditer(markdown) for row in _rows(markdown, match)]
    columns = dict.fromkeys(itertools.chain([_CASE], *rows))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(_TABLE.sub("", markdown), encoding="utf-8")
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def page(folder: Path = MEASURED) -> str:
    """All parts as Markdown."""
    return "\n".join(part(name, folder) for name in PARTS)


def part(name: str, folder: Path = MEASURED) -> str:
    """One part, with its tables, as Markdown."""
    case, tables = "", dict[str, list[dict[str, str]]]()
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            case = row.pop(_CASE) or case
            tables.setdefault(case, []).append(row)
    text = (folder / f"{name}.md").read_text(encoding="utf-8")

    def completed(seed: re.Match[str]) -> str:
        return "\n".join([seed[0], *_lines(tables[_heading(text, seed)]), ""])

    return _SEED.sub(completed, text)


def _rows(markdown: str, table: re.Match[str]) -> Iterator[dict[str, str]]:
    """The rows of a table in Markdown, by the names of its columns; the first has the case."""
    names, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")]
                        for line in table[0].split("\n")[1:-1])  # fmt: skip
    for k, cells in enumerate(lines):
        named = dict(zip(names, cells, strict=True))
        yield named if k else {_CASE: _heading(markdown, table), **named}


def _lines(rows: list[dict[str, str]]) -> Iterator[str]:
    """The rows of one case as a table in Markdown, with the columns that they have."""
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for row in rows:
        yield f"| {' | '.join(row[name] for name in names)} |"


def _heading(text: str, found: re.Match[str]) -> str:
    """The last heading before a match."""
    headings: list[str] = _HEADING.findall(text[: found.start()])
    return headings[-1]
