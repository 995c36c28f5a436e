"""Simulations as the work of a sweep: parameters in, a record out, and back again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from doubletrouble.problems import Problem
from doubletrouble.simulation.plan import plan
from doubletrouble.simulation.result import Simulation
from doubletrouble.simulation.simulate import simulate
from doubletrouble.sweep.record import Record

KIND = "simulation"
REVISION = 1  # of what the numbers mean; count up when `simulate` draws or defines otherwise

PROBLEM = tuple(f.name for f in fields(Problem))


def simulate_cell(parameters: Mapping[str, Any]) -> Record:
    """Simulate one cell; every parameter goes to `Problem` or to `simulate`."""
    problem = Problem(**{name: parameters[name] for name in PROBLEM})
    others = {name: value for name, value in parameters.items() if name not in PROBLEM}
    return to_record(simulate(problem, progress=False, **others))


def to_record(simulation: Simulation) -> Record:
    """Every field of a simulation; the problem by its own fields."""
    record = {f.name: getattr(simulation, f.name) for f in fields(simulation)}
    return record | {"problem": {name: getattr(simulation.problem, name) for name in PROBLEM}}


def from_record(record: Record) -> Simulation:
    """Make a simulation from its fields again."""
    return Simulation(**{**record, "problem": Problem(**record["problem"])})


def check_cell(parameters: Mapping[str, Any]) -> None:
    """Refuse what is allowed field by field, but cannot be simulated together.

    Only the device is left to the machine that computes the cell.
    """
    problem = Problem(**{name: parameters[name] for name in PROBLEM})
    others = {k: v for k, v in parameters.items() if k not in (*PROBLEM, "device")}
    plan(problem, **others)
