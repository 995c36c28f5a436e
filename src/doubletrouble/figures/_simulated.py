"""Simulations at points of a theory curve, each stored as soon as it is finished.

The theory holds for infinite sizes, and a simulation at dimension D deviates from it by O(1/D).
A second simulation at D/2 measures that deviation: 2 × (at D) - (at D/2) has no 1/D term and is
compared with the theory in standard errors.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble.ensembles import Scheme
from doubletrouble.errors import DoubleTroubleError
from doubletrouble.estimates import Estimate
from doubletrouble.figures._panel import Line, Panel, Points
from doubletrouble.figures._settings import SimulationSettings
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.runs import DONE, Cell, Record, Store, Work, decode, run_cells
from doubletrouble.simulation import (
    KIND,
    REVISION,
    Simulation,
    from_record,
    simulate,
    simulate_cell,
    stored_ensemble,
    stored_problem,
)

MORE_DRAWS = 4  # factor at D/2, where draws are cheaper and vary more


@dataclass(frozen=True, kw_only=True)
class TwoSizes:
    """The same curve simulated at D and at D/2."""

    whole: Simulation
    half: Simulation
    n_data: int

    @property
    def problem(self) -> Problem:
        """The problem as realized, with every P/D."""
        return self.whole.problem

    def points(self, theory: Line, quantity: Callable[[Simulation], Estimate]) -> Points:
        """One quantity of the simulations, and the theory at the same points."""
        at, half = quantity(self.whole), quantity(self.half)
        return Points.extrapolated(theory, at, half, dim=self.whole.dim, n_data=self.n_data)


def two_sizes(
    problem: Problem,
    settings: SimulationSettings,
    *,
    ratios: Sequence[float] | FloatArray,
    **more: Any,
) -> TwoSizes:
    """Simulate along P/N near `ratios`, where P and N are whole numbers at D and at D/2."""
    dim, half = settings.dim, settings.dim // 2
    samples = float(np.asarray(problem.samples_per_dim))
    if dim % 2 or not (samples * half).is_integer() or half < 1:
        raise ValueError(
            f"dim must be even, with a whole number of samples at half of it (N/D = {samples:g}), "
            f"got {dim!r}"
        )
    counts = np.unique(np.maximum(1, np.round(np.asarray(ratios) * samples * half)))
    curve = replace(problem, features_per_dim=[float(count / half) for count in counts])
    return at_two_sizes(curve, settings, n_init=settings.n_init, **more)


def at_two_sizes(problem: Problem, settings: SimulationSettings, **more: Any) -> TwoSizes:
    """Simulate at D and at D/2."""
    more |= {"seed": settings.seed, "store": settings.store}
    draws = MORE_DRAWS * settings.n_data
    half = simulated(problem, dim=settings.dim // 2, n_data=draws, **more)
    whole = simulated(problem, dim=settings.dim, n_data=settings.n_data, **more)
    return TwoSizes(whole=whole, half=half, n_data=settings.n_data)


def simulated(
    problem: Problem,
    *,
    ensembles: Sequence[Scheme] = (),
    store: str | Path | None = None,
    **settings: Any,
) -> Simulation:
    """Simulate, or read a finished simulation with the same settings from `store`."""
    try:
        fields = stored_problem(problem)
    except ValueError:  # a function as activation, or a mixture, has no key in a store
        return simulate(problem, ensembles=ensembles, progress=False, **settings)
    drawn = [stored_ensemble(one) for one in ensembles]
    # equal keys are equal bits: on this device alone
    on = {"device": "cpu", **settings}
    cell = Cell.of(KIND, REVISION, {**fields, "ensembles": drawn, **on})
    return from_record(computed(cell, simulate_cell, store))


def computed(cell: Cell, work: Work, store: str | Path | None) -> Record:
    """The result of a cell, from `store` if it is finished; otherwise it is stored there."""
    with nullcontext() if store is None else Store.open(store) as opened:
        ((_, outcome),) = run_cells([cell], work, opened, retry=True, progress=False)
    if outcome.status != DONE:
        raise DoubleTroubleError(f"a simulation failed: {outcome.message}")
    return decode(outcome.result)


def with_simulated_points(
    ratio: FloatArray,
    problem: Problem,
    runs: TwoSizes,
    *,
    theory: Callable[[FloatArray, Problem], tuple[Line, ...]],
    measured: Callable[[Line, Simulation], Estimate],
) -> Panel:
    """Lines of the theory along `ratio` = P/N, and their simulated values."""
    x = np.asarray(runs.problem.features_per_dim) / np.asarray(problem.samples_per_dim)
    return Panel(
        axis="features_per_sample",
        problem=problem,
        lines=theory(ratio, problem),
        points=tuple(
            runs.points(line, partial(measured, line)) for line in theory(x, runs.problem)
        ),
    )
