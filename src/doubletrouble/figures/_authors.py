"""The authors' values, and evaluations to 60 digits, as tables in the folder `reference`.

Its README.md describes the tables and their provenance.
"""

import csv
from pathlib import Path

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem

FOLDER = Path(__file__).parent / "reference"


def stored(file: str) -> list[dict[str, str]]:
    """The rows of a table; none of an empty name."""
    if not file:
        return []
    with (FOLDER / file).open(encoding="utf-8", newline="") as handle:
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
