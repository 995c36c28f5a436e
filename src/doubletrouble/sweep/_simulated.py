"""Simulations as the work of a sweep: parameters in, a record out, and back again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from doubletrouble.problems import Problem
from doubletrouble.runs import Record
from doubletrouble.simulation import DrawnEnsemble, SimulatedTerms, Simulation, plan, simulate
from doubletrouble.sweep._axes import ensemble_axis, stored_ensemble

KIND = "simulation"
REVISION = 2  # of what the numbers mean; count up when `simulate` draws or defines otherwise

PROBLEM = tuple(f.name for f in fields(Problem))


def simulate_cell(parameters: Mapping[str, Any]) -> Record:
    """Simulate one cell; every parameter goes to `Problem` or to `simulate`."""
    problem, others = _arguments(parameters)
    return to_record(simulate(problem, progress=False, **others))


def _arguments(parameters: Mapping[str, Any]) -> tuple[Problem, dict[str, Any]]:
    """The problem of a cell, and the arguments of `simulate`.

    Ensembles are as stored. A list of values of P/D or λ is a curve, for `simulate`.
    """
    of_problem = {name: parameters[name] for name in PROBLEM}
    others = {name: value for name, value in parameters.items() if name not in PROBLEM}
    for name in ("features_per_dim", "ridge"):
        if isinstance(of_problem[name], list | tuple):
            others[name] = of_problem[name]
            of_problem[name] = of_problem[name][0]
    if others.get("ensembles"):
        others["ensembles"] = ensemble_axis("ensembles", others["ensembles"])
    return Problem(**of_problem), others


def to_record(simulation: Simulation) -> Record:
    """Every field of a simulation; the problem and the ensembles by their own fields."""
    record = {f.name: getattr(simulation, f.name) for f in fields(simulation)}
    record["draws"] = simulation.draws.named()
    record["problem"] = {name: getattr(simulation.problem, name) for name in PROBLEM}
    record["drawn"] = [
        {
            "requested": stored_ensemble(one.requested),
            "realized": stored_ensemble(one.realized),
            "terms": one.terms.named(),
        }
        for one in simulation.drawn
    ]
    return record


def from_record(record: Record) -> Simulation:
    """Make a simulation from its fields again."""
    drawn = []
    for one in record["drawn"]:
        (requested,) = ensemble_axis("ensembles", one["requested"])
        (realized,) = ensemble_axis("ensembles", one["realized"])
        terms = SimulatedTerms.from_named(one["terms"])
        drawn.append(DrawnEnsemble(requested=requested, realized=realized, terms=terms))
    read = {
        "problem": Problem(**record["problem"]),
        "draws": SimulatedTerms.from_named(record["draws"]),
        "drawn": tuple(drawn),
    }
    return Simulation(**{**record, **read})


def check_cell(parameters: Mapping[str, Any]) -> None:
    """Refuse what is allowed field by field, but cannot be simulated together.

    The device is checked by the machine that computes the cell.
    """
    problem, others = _arguments(parameters)
    del others["device"]
    plan(problem, **others)
