"""Comparison of a figure with stored reference values and with simulations.

The folder `reference` has the authors' values and evaluations to 60 digits; its README.md describes
the tables and their provenance.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from doubletrouble._numbers import plain
from doubletrouble.figures._panel import Points
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem

FOLDER = Path(__file__).parent / "reference"
_AUTHORS: dict[str, Any] = {
    "ridge": 1e-5,
    "samples_per_dim": 1.0,
    "signal": 1.0,
    "noise": 1.0,
    "activation": "relu",
}

AUTHORS = "The authors' stored values"
STANDARD_ERRORS = "standard errors"


@dataclass(frozen=True)
class Agreement:
    """The largest deviation of a figure from a reference."""

    reference: str
    largest: float
    count: int  # of the values compared
    unit: str

    @classmethod
    def of(cls, reference: str, deviation: FloatArray, *, unit: str = "relative") -> Self:
        """The largest of some deviations."""
        return cls(reference, float(np.max(deviation, initial=0.0)), deviation.size, unit)

    def __str__(self) -> str:
        """One statement.

        >>> print(Agreement("Simulation", 2.345, 12, "standard errors"))
        Simulation: at most 2.3 apart (standard errors), 12 values.
        """
        most = f"at most {plain(self.largest, 2)} apart ({self.unit})"
        return f"{self.reference}: {most}, {self.count} values."


def stored_rows(file: str | Path) -> list[dict[str, str]]:
    """The rows of a table, relative to the folder; an empty list for an empty name."""
    if not file:
        return []
    with (FOLDER / file).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def column(rows: list[dict[str, str]], name: str) -> FloatArray:
    """One column as numbers; missing entries are NaN."""
    return np.array([float(row[name] or "nan") for row in rows])


def stored_curve(
    file: str, axis: str = "log10_P_over_N"
) -> tuple[FloatArray, list[dict[str, str]]]:
    """The values of a logarithmic axis, 10 to its entries, and all rows."""
    rows = stored_rows(file)
    return 10.0 ** column(rows, axis), rows


def has_constants(problem: Problem, **others: Numeric) -> bool:
    """Whether a problem has the constants of the authors' tables, or `others` in their place."""
    expected = {**_AUTHORS, **others}
    return all(np.all(getattr(problem, name) == value) for name, value in expected.items())


def with_simulation(points: Sequence[Points]) -> tuple[Agreement, ...]:
    """Theory against simulation, with and without the O(1/D) deviation of finite sizes."""
    first = points[0]
    z = np.concatenate([p.z for p in points])
    limit_z = np.concatenate([p.limit_z for p in points])
    size = f"at D = {first.dim} with {first.n_data} draws"
    extrapolated = f"Simulation {size}, without its O(1/D) deviation by a second at D/2"
    return (
        Agreement.of(extrapolated, limit_z, unit=STANDARD_ERRORS),
        Agreement.of(f"Simulation {size}, that deviation included", z, unit=STANDARD_ERRORS),
    )


def with_authors(
    pairs: Iterable[tuple[FloatArray, FloatArray]], *, scale: FloatArray | None = None, at: str = ""
) -> Agreement:
    """Our values against the authors' stored ones, which may be missing.

    Deviations are relative to each value, or to `scale`, such as the total error.

    >>> print(with_authors([(np.array([1.0, 2.0]), np.array([1.0, 2.002]))]))
    The authors' stored values: at most 0.0010 apart (relative), 2 values.
    """
    parts = [
        (np.abs(value - authors) / np.abs(authors if scale is None else scale))[
            np.isfinite(authors)
        ]
        for value, authors in pairs
    ]
    unit = "relative" if scale is None else "relative to the total error"
    return Agreement.of(AUTHORS + at, np.concatenate([np.empty(0), *parts]), unit=unit)
