"""The authors' stored values, where their tables lie beside the repository.

They are no part of the package: without them, figures are drawn all the same, and the gallery says
nothing of the authors' values.
"""

import csv
from hashlib import sha256
from pathlib import Path

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem

FOLDER = Path(__file__).resolve().parents[3].parent / "shared" / "reference"


def stored(file: str) -> list[dict[str, str]]:
    """The rows of a table, or none where there is no such file."""
    path = FOLDER / file
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def column(rows: list[dict[str, str]], name: str) -> FloatArray:
    """One column as numbers; what is missing is NaN."""
    return np.array([float(row[name] or "nan") for row in rows])


def along(file: str, axis: str = "log10_P_over_N") -> tuple[FloatArray, list[dict[str, str]]]:
    """The values of a logarithmic axis, 10 to its entries, and all rows."""
    rows = stored(file)
    return 10.0 ** column(rows, axis), rows


def constants(problem: Problem, **expected: float | str) -> bool:
    """Whether a problem has these constants, so that stored values are about it."""
    return all(np.all(getattr(problem, name) == value) for name, value in expected.items())


def fingerprint() -> str:
    """A hash of every table; the agreement said on the page depends on them."""
    found = sha256()
    for path in sorted(FOLDER.glob("*.csv")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()
