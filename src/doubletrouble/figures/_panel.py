"""A panel: curves along one axis, simulated points, and the table of both.

The axes are checked here: the values of P/N along which curves are drawn, and ranges from options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.ensembles import Ensemble, Scheme
from doubletrouble.parameters import FloatArray, Numeric, checked, declarations
from doubletrouble.problems import Problem, noise_at
from doubletrouble.results import Estimate

KINDS = ("simulated", "standard_error", "extrapolated", "extrapolated_error")
"""The columns of a table for each simulated quantity."""


class Line(NamedTuple):
    """One curve: its label, and y at every x."""

    label: str
    x: FloatArray
    y: FloatArray


class Table(NamedTuple):
    """The numbers behind a figure: column names, and one tuple of floats a row."""

    columns: tuple[str, ...]
    rows: list[tuple[float, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Simulated values with standard errors, the theory there, and values without the 1/D term."""

    label: str
    x: FloatArray
    value: FloatArray
    standard_error: FloatArray  # of `value`
    theory: FloatArray
    limit: FloatArray  # 2 × (at D) - (at D/2)
    limit_error: FloatArray
    dim: int
    n_data: int

    @classmethod
    def extrapolated(
        cls, theory: Line, at: Estimate, half: Estimate, *, dim: int, n_data: int
    ) -> "Points":
        """Points of a simulation at D, with the limit from a second one at D/2."""
        value, error = np.asarray(at.value), np.asarray(at.standard_error)
        return cls(
            label=theory.label,
            x=theory.x,
            value=value,
            standard_error=error,
            theory=theory.y,
            limit=2 * value - np.asarray(half.value),
            limit_error=np.hypot(2 * error, np.asarray(half.standard_error)),
            dim=dim,
            n_data=n_data,
        )

    @property
    def measured(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The columns of a table: values and extrapolated values with their standard errors."""
        return self.value, self.standard_error, self.limit, self.limit_error

    @property
    def z(self) -> FloatArray:
        """Standard errors between simulation and theory, finite size included."""
        return np.abs(self.value - self.theory) / self.standard_error

    @property
    def limit_z(self) -> FloatArray:
        """Standard errors between simulation and theory, the 1/D term removed."""
        return np.abs(self.limit - self.theory) / self.limit_error


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One panel; all its lines have the same x."""

    axis: str  # the table's name for x
    problem: Problem  # along x, as far as the curves share it
    lines: tuple[Line, ...]
    keys: Mapping[str, float]  # parameters that differ from panel to panel
    points: tuple[Points, ...] = ()
    ensemble: Scheme = Ensemble(1)

    @property
    def x(self) -> FloatArray:
        """The values along the axis."""
        return self.lines[0].x

    @property
    def n_members(self) -> float:
        """The number of models K."""
        return float(np.asarray(self.ensemble.n_members))

    @property
    def snr(self) -> float:
        """The ratio F/τ."""
        noise = self.constant("noise")
        return self.constant("signal") / noise if noise else np.inf

    @property
    def rows(self) -> list[tuple[float, ...]]:
        """Every x, with the value of each line there."""
        columns = (self.x, *(line.y for line in self.lines))
        return [tuple(map(float, row)) for row in zip(*columns, strict=True)]

    def line(self, label: str) -> Line:
        """Return the line with this label."""
        return {line.label: line for line in self.lines}[label]

    def constant(self, name: str) -> float:
        """A parameter of the problem that does not change along x."""
        return float(np.asarray(getattr(self.problem, name)))


def table(panels: Panel | Sequence[Panel]) -> Table:
    """Return the numbers drawn: a row for each x of each panel, then for each simulated point.

    Where nothing was simulated, the columns of the simulation are NaN.
    """
    panels = [panels] if isinstance(panels, Panel) else panels
    first = panels[0]
    labels = [line.label for line in first.lines]
    simulated = [f"{kind}_{points.label}" for points in first.points for kind in KINDS]
    rows: list[tuple[float, ...]] = []
    for panel in panels:
        keys = tuple(map(float, panel.keys.values()))
        rows += [(*keys, *row, *(np.nan,) * len(simulated)) for row in panel.rows]
        theory = {p.label: p.theory for p in panel.points}
        for i, x in enumerate(panel.points[0].x if panel.points else ()):
            lines = [float(theory[label][i]) if label in theory else np.nan for label in labels]
            measured = [float(values[i]) for p in panel.points for values in p.measured]
            rows.append((*keys, float(x), *lines, *measured))
    return Table((*first.keys, first.axis, *labels, *simulated), rows)


def default_ratios() -> FloatArray:
    """P/N from 0.1 to 100, evenly spaced in log and ten times denser around P = N, which is in it.

    >>> bool(1.0 in default_ratios())
    True
    """
    wide, close = np.linspace(-1, 2, 241), np.linspace(-0.1, 0.1, 161)
    exponents = np.unique(np.round(np.concatenate([wide, close]), 9))
    ratios: FloatArray = 10.0**exponents
    return ratios


def axis_values(name: str, values: Numeric, parameter: str) -> FloatArray:
    """Values along an axis, in the domain of a parameter of `Problem`."""
    axis = np.atleast_1d(checked(name, values, declarations(Problem)[parameter]))
    if axis.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {axis.shape}")
    return axis


def along_ratios(problem: Problem, ratios: Numeric | None) -> tuple[FloatArray, Problem]:
    """P/N as an array, and the problem along it."""
    grid = default_ratios() if ratios is None else ratios
    ratio = axis_values("ratios", grid, "features_per_dim")
    return ratio, at_ratio(problem, ratio)


def at_ratio(problem: Problem, ratio: Numeric) -> Problem:
    """The problem with this P/N."""
    return replace(problem, features_per_dim=ratio * np.asarray(problem.samples_per_dim))


def with_snr(problem: Problem, snr: float) -> Problem:
    """The problem with the label noise of this F/τ."""
    return replace(problem, noise=noise_at(snr, float(np.asarray(problem.signal))))


def number_list(name: str, values: Any) -> list[float]:
    """A list with at least one number: an option with a curve or panel for each of them."""
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise ValueError(f"{name} must be a list with at least one number, got {values!r}")
    return [float(value) for value in values]


def log_grid(bounds: tuple[float, float, int], name: str = "simulated_ratios") -> FloatArray:
    """Values evenly spaced in log, given the first, the last and their number.

    >>> log_grid((0.1, 10, 3))
    array([ 0.1,  1. , 10. ])
    """
    expected = f"{name} must be two positive numbers and a number of values, got {bounds}"
    if np.shape(bounds) != (3,):
        raise ValueError(expected)
    low, high, count = bounds
    if not 0 < low <= high < np.inf or count != int(count) or count < 1:
        raise ValueError(expected)
    grid: FloatArray = np.geomspace(low, high, int(count))
    return grid
