"""Comparison of a figure with stored reference values and with simulations, as statements.

The folder `reference` has the authors' values and evaluations to 60 digits; its README.md describes
the tables and their provenance.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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


def with_simulation(points: Sequence[Points]) -> str:
    """Theory against simulation, with and without the O(1/D) deviation of finite sizes."""
    z = np.concatenate([p.z for p in points])
    limit_z = np.concatenate([p.limit_z for p in points])
    deviation = np.concatenate([np.abs(p.value / p.theory - 1) for p in points])
    first = points[0]
    return (
        f"Theory and simulation: largest |z| = {np.max(limit_z):.1f} of {limit_z.size} values "
        f"(root mean square {np.sqrt(np.mean(limit_z**2)):.1f}), after removing the O(1/D) "
        f"deviation of finite sizes with a second simulation at D = {first.dim // 2}. As simulated "
        f"at D = {first.dim} with {first.n_data} draws, that deviation included: largest "
        f"|z| = {np.max(z):.1f}, median deviation {np.median(deviation):.1%}."
    )


def with_authors(
    pairs: Iterable[tuple[FloatArray, FloatArray]], *, scale: FloatArray | None = None
) -> tuple[str, ...]:
    """Our values against the authors' stored ones; empty where there are none.

    Deviations are relative to each value, or to `scale`, such as the total error.

    >>> with_authors([(np.array([1.0, 2.0]), np.array([1.0, 2.002]))])
    ("Theory and the authors' stored values: at most 1.0e-03 apart (relative), 2 values.",)
    """
    parts = [
        (np.abs(value - authors) / np.abs(authors if scale is None else scale))[
            np.isfinite(authors)
        ]
        for value, authors in pairs
    ]
    deviation = np.concatenate(parts) if parts else np.empty(0)
    if deviation.size == 0:
        return ()
    unit = "relative" if scale is None else "relative to the total error"
    return (
        f"Theory and the authors' stored values: at most {np.max(deviation):.1e} apart ({unit}), "
        f"{deviation.size} values.",
    )
