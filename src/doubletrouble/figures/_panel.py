"""A panel: curves along one axis, simulated points, and the table of both.

The axes are checked here: the values of P/N along which curves are drawn, and ranges from options.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from doubletrouble.ensembles import Ensemble, Scheme
from doubletrouble.estimates import Estimate
from doubletrouble.figures._settings import GridBounds
from doubletrouble.parameters import FloatArray, Numeric, checked, declarations
from doubletrouble.problems import Problem, noise_at

Columns: TypeAlias = Mapping[str, Any]
"""Some columns of a table, by name; their values are broadcast against each other."""


class Line(NamedTuple):
    """One curve: its label, y at every x, and K where the curves differ in it."""

    label: str
    x: FloatArray
    y: FloatArray
    n_members: float = 1.0


def members_name(n_members: float) -> str:
    """The name of K models in columns.

    >>> members_name(1), members_name(10), members_name(math.inf)
    ('one_model', '10_models', 'infinitely_many_models')
    """
    if n_members == 1:
        return "one_model"
    count = "infinitely_many" if math.isinf(n_members) else f"{n_members:g}"
    return f"{count}_models"


class PanelTable(NamedTuple):
    """The numbers behind a figure: column names, and one tuple of floats a row."""

    columns: tuple[str, ...]
    rows: list[tuple[float, ...]]

    @classmethod
    def stack(cls, *blocks: Columns, columns: Sequence[str] = ()) -> "PanelTable":
        """Blocks of rows below each other, with NaN in the columns that a block does not have.

        `columns` come first; by default columns are in the order of their first block.

        >>> PanelTable.stack({"x": [1.0, 2.0], "y": 3.0}, {"x": 4.0})
        PanelTable(columns=('x', 'y'), rows=[(1.0, 3.0), (2.0, 3.0), (4.0, nan)])
        """
        names = tuple(dict.fromkeys([*columns, *(name for block in blocks for name in block)]))
        rows: list[tuple[float, ...]] = []
        for block in blocks:
            values = np.broadcast_arrays(*(block.get(name, np.nan) for name in names))
            rows += zip(*(np.asarray(v, dtype=float).ravel().tolist() for v in values), strict=True)
        return cls(names, rows)


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
        value, error = np.ravel(at.value), np.ravel(at.standard_error)
        return cls(
            label=theory.label,
            x=theory.x,
            value=value,
            standard_error=error,
            theory=theory.y,
            limit=2 * value - np.ravel(half.value),
            limit_error=np.hypot(2 * error, np.ravel(half.standard_error)),
            dim=dim,
            n_data=n_data,
        )

    @property
    def measured(self) -> dict[str, FloatArray]:
        """Values and extrapolated values with their standard errors, as columns of a table."""
        return {
            "simulated": self.value,
            "standard_error": self.standard_error,
            "extrapolated": self.limit,
            "extrapolated_error": self.limit_error,
        }

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
    keys: Columns = field(default_factory=dict)  # of the table, constant in the panel
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
    def ratio(self) -> float:
        """The ratio P/N, where it does not change along x."""
        return self.constant("features_per_dim") / self.constant("samples_per_dim")

    @property
    def blocks(self) -> Sequence[Columns]:
        """The rows of a table: lines at every x, then simulated points beside the theory."""
        blocks = [{**self.keys, self.axis: self.x, **{line.label: line.y for line in self.lines}}]
        if self.points:
            theory = {points.label: points.theory for points in self.points}
            simulated = {
                f"{kind}_{points.label}": values
                for points in self.points
                for kind, values in points.measured.items()
            }
            blocks.append({**self.keys, self.axis: self.points[0].x, **theory, **simulated})
        return blocks

    def line(self, label: str) -> Line:
        """Return the line with this label."""
        return {line.label: line for line in self.lines}[label]

    def constant(self, name: str) -> float:
        """A parameter of the problem that does not change along x."""
        return float(np.asarray(getattr(self.problem, name)))


def table(panels: Panel | Sequence[Panel]) -> PanelTable:
    """Return the numbers drawn: a row for each x of each panel, then for each simulated point.

    Where nothing was simulated, the columns of the simulation are NaN.
    """
    panels = [panels] if isinstance(panels, Panel) else panels
    return PanelTable.stack(*(block for panel in panels for block in panel.blocks))


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


def log_grid(bounds: GridBounds, name: str = "simulated_ratios") -> FloatArray:
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
