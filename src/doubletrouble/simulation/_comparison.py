"""A simulated error beside the exact one, part by part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Entries, Shown, Table, point_table
from doubletrouble._numbers import number_in
from doubletrouble._plots import varying_parameters
from doubletrouble.estimates import Estimate
from doubletrouble.palette import printed_name
from doubletrouble.parameters import Value, shown
from doubletrouble.results import ErrorTerms, common_coordinates

_SIMULATED = "points: simulation; lines: theory"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TheoryComparison(Shown):
    """A simulated error beside the exact one, part by part, and z, the difference.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> run = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=4, n_init=2)
    >>> found = run.compare(dt.exact_error(run.problem))
    >>> found.z["total"] == run.error().total.z_score(found.theory.total)
    True
    """

    simulated: ErrorTerms[Estimate]
    theory: ErrorTerms[Any]
    _about: Content  # of the simulation: its title and settings

    def __post_init__(self) -> None:
        simulated, theory = self.simulated, self.theory
        given: object = theory
        if not isinstance(given, ErrorTerms):
            wanted = "theory must be an ErrorTerms, as of exact_error(sim.problem)"
            raise TypeError(f"{wanted}, got {shown(given)}")
        if theory.shape != simulated.shape:
            raise ValueError(
                "theory must be of the points of the simulation, got shapes "
                f"{theory.shape} and {simulated.shape}"
            )
        common_coordinates("theory and simulation", theory.coordinates, simulated.coordinates)

    @property
    def z(self) -> dict[str, Value]:
        """The differences of all parts and of the total, in standard errors."""
        both = [*(self.simulated.parts.keys() & self.theory.parts.keys()), "total"]
        return {
            name: getattr(self.simulated, name).z_score(getattr(self.theory, name))
            for name in (*self.simulated.names(), "total")
            if name in both
        }

    # --- shown ---

    def _content(self) -> Content:
        table, every = self._table(), np.concatenate([np.ravel(z) for z in self.z.values()])
        most = float(np.max(np.abs(every[np.isfinite(every)]), initial=0.0))
        verdict = f"Simulation and theory differ by at most {most:.1f} standard errors."
        return replace(self._about, lead="", tables=[table], lines=(), notes=(), verdict=verdict)

    def _table(self) -> Table:
        """A row for every point and part."""
        at = varying_parameters(self.simulated, None)
        tables = []
        for part, z in self.z.items():
            columns: list[tuple[Column, Entries]] = [
                (Column(name="part", form="words", printed=False), part),
                (
                    Column(name="label", heading="part", form="words", exported=False),
                    printed_name(part),
                ),
                (Column(name="error", heading="simulated"), getattr(self.simulated, part)),
                (Column(name="theory"), getattr(self.theory, part)),
                (Column(name="z"), z),
            ]
            tables.append(point_table("errors", self.simulated.shape, at, columns))
        rows = [row for rows in zip(*(one.rows for one in tables), strict=True) for row in rows]
        return replace(tables[0], rows=rows, omitted="rows", keys=tables[0].keys + 2)

    def _picture(self) -> _plots.Picture:
        """The simulation as points, or bars, and the theory as lines, or bars below."""
        picture = _plots.error_picture(self.simulated)
        other = _plots.error_picture(self.theory)
        if isinstance(picture, _plots.CurveFamily):
            lines = np.asarray(number_in(self.theory.total))
            return replace(picture, lines=lines, note=f"{picture.note}; {_SIMULATED}")
        if isinstance(picture, _plots.Curves) and isinstance(other, _plots.Curves):
            points = [replace(line, points=True) for line in picture.lines]
            exact = [replace(line, label="") for line in other.lines]
            return replace(picture, lines=[*exact, *points], note=f"{picture.note}; {_SIMULATED}")
        assert isinstance(picture, _plots.Bars)
        assert isinstance(other, _plots.Bars)
        bars = {bar.part: replace(bar, label="theory") for bar in other.rows}
        pairs = [(bar, bars[bar.part]) for bar in picture.rows if bar.part in bars]
        return replace(
            picture,
            rows=[bar for pair in pairs if any(number_in(b.value) for b in pair) for bar in pair],
        )
