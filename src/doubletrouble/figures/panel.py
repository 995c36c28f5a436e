"""A panel: curves along one axis, simulated points beside them, and the numbers of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from doubletrouble.figures.simulated import Points
from doubletrouble.figures.spec import Line, Table
from doubletrouble.problems import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One panel; all its lines have the same x."""

    axis: str  # the table's name for x
    keys: Mapping[str, float]  # what tells this panel from the others
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
    def snr(self) -> float:
        """The ratio F/τ."""
        noise = self.constant("noise")
        return self.constant("signal") / noise if noise else np.inf


def table(panels: Sequence[Panel]) -> Table:
    """Return the numbers drawn: a row for each x of each panel, then for each simulated point.

    Where nothing was simulated, the columns of the simulation are NaN.
    """
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
        for x, *values in zip(panel.lines[0].x, *(line.y for line in panel.lines), strict=True):
            rows.append((*keys, float(x), *map(float, values), *blank))
        theory = {p.label: p.theory for p in panel.points}
        for i, x in enumerate(panel.points[0].x if panel.points else ()):
            lines = [float(theory[label][i]) if label in theory else np.nan for label in labels]
            found = [
                float(v[i])
                for p in panel.points
                for v in (p.value, p.error, p.limit, p.limit_error)
            ]
            rows.append((*keys, float(x), *lines, *found))
    return Table(columns, rows)


KINDS = ("simulated", "standard_error", "extrapolated", "extrapolated_error")
