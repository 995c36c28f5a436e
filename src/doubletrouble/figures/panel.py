"""A panel: curves along one axis, simulated points beside them, and the numbers of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from doubletrouble.figures.simulated import Points, TwoSizes
from doubletrouble.figures.spec import Line, Table
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate
from doubletrouble.simulation import Simulation


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One panel; all its lines have the same x."""

    axis: str  # the table's name for x
    keys: Mapping[str, float]  # parameters that differ from panel to panel
    problem: Problem  # along x, as far as the curves share it
    lines: tuple[Line, ...]
    points: tuple[Points, ...] = ()

    def line(self, label: str) -> Line:
        """Return the line with this label."""
        return {line.label: line for line in self.lines}[label]

    def constant(self, name: str) -> float:
        """A parameter of the problem that does not change along x."""
        return float(np.asarray(getattr(self.problem, name)))

    @property
    def rows(self) -> list[tuple[float, ...]]:
        """Every x, with the value of each line there."""
        columns = (self.lines[0].x, *(line.y for line in self.lines))
        return [tuple(map(float, row)) for row in zip(*columns, strict=True)]

    @property
    def snr(self) -> float:
        """The ratio F/τ."""
        noise = self.constant("noise")
        return self.constant("signal") / noise if noise else np.inf


def beside_simulation(
    ratio: FloatArray,
    problem: Problem,
    runs: TwoSizes,
    *,
    theory: Callable[[Problem], Mapping[str, FloatArray]],
    measured: Mapping[str, Callable[[Simulation], Estimate]],
) -> Panel:
    """Quantities of the theory along `ratio` = P/N, by label, and each as it was simulated."""
    x = np.asarray(runs.problem.features_per_dim) / np.asarray(problem.samples_per_dim)
    return Panel(
        axis="P_over_N",
        keys={},
        problem=problem,
        lines=tuple(Line(label, ratio, y) for label, y in theory(problem).items()),
        points=tuple(
            runs.points(Line(label, x, y), measured[label])
            for label, y in theory(runs.problem).items()
        ),
    )


def table(drawn: Panel | Sequence[Panel]) -> Table:
    """Return the numbers drawn: a row for each x of each panel, then for each simulated point.

    Where nothing was simulated, the columns of the simulation are NaN.
    """
    panels = [drawn] if isinstance(drawn, Panel) else drawn
    first = panels[0]
    labels = [line.label for line in first.lines]
    measured = [p.label for p in first.points]
    columns = (
        *first.keys, first.axis, *labels,
        *(f"{kind}_{label}" for label in measured for kind in KINDS),
    )  # fmt: skip
    rows: list[tuple[float, ...]] = []
    for panel in panels:
        keys = tuple(map(float, panel.keys.values()))
        blank = (np.nan,) * (len(KINDS) * len(measured))
        rows += [(*keys, *row, *blank) for row in panel.rows]
        theory = {p.label: p.theory for p in panel.points}
        for i, x in enumerate(panel.points[0].x if panel.points else ()):
            lines = [float(theory[label][i]) if label in theory else np.nan for label in labels]
            found = [
                float(v[i])
                for p in panel.points
                for v in (p.value, p.standard_error, p.limit, p.limit_error)
            ]
            rows.append((*keys, float(x), *lines, *found))
    return Table(columns, rows)


KINDS = ("simulated", "standard_error", "extrapolated", "extrapolated_error")
