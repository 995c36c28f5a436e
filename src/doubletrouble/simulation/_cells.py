"""Simulations as cells of a store: parameters, ensembles and results as plain values.

A cell is computed by `simulate_cell` from its stored parameters: every field of the problem, and
the options of `simulate`. The result is a record of every field of the `Simulation`, from which
`from_record` makes it again.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from doubletrouble.activations import NAMES
from doubletrouble.ensembles import Ensemble, Scheme, named_ensemble
from doubletrouble.parameters import declarations, shown
from doubletrouble.problems import Problem
from doubletrouble.runs import Record
from doubletrouble.simulation._pairs import SimulatedTerms
from doubletrouble.simulation._result import DrawnEnsemble, Simulation
from doubletrouble.simulation._simulate import simulate

KIND = "simulation"
REVISION = 4  # of the definition of the numbers; increased when `simulate` draws otherwise

PROBLEM = tuple(f.name for f in fields(Problem))
"""The parameters of a cell that are fields of the problem."""


def simulate_cell(parameters: Mapping[str, Any]) -> Record:
    """Simulate one cell; every parameter is passed to `Problem` or to `simulate`."""
    options = {name: value for name, value in parameters.items() if name not in PROBLEM}
    if "ensembles" in options:
        options["ensembles"] = [ensemble_of(one) for one in options["ensembles"]]
    problem = Problem(**{name: parameters[name] for name in PROBLEM if name in parameters})
    return to_record(simulate(problem, progress=False, **options))


def to_record(simulation: Simulation) -> Record:
    """Every field of a simulation; the problem and the ensembles by their own fields."""
    record = {f.name: getattr(simulation, f.name) for f in fields(simulation)}
    record["draws"] = _stored_terms(simulation.draws)
    record["problem"] = {name: getattr(simulation.problem, name) for name in PROBLEM}
    record["drawn"] = [
        {
            "requested": stored_ensemble(one.requested),
            "realized": stored_ensemble(one.realized),
            "terms": _stored_terms(one.terms),
        }
        for one in simulation.drawn
    ]
    return record


def from_record(record: Record) -> Simulation:
    """The simulation of a record."""
    drawn = [
        DrawnEnsemble(
            requested=ensemble_of(one["requested"]),
            realized=ensemble_of(one["realized"]),
            terms=_terms_of(one["terms"]),
        )
        for one in record["drawn"]
    ]
    read = {
        "problem": Problem(**record["problem"]),
        "draws": _terms_of(record["draws"]),
        "drawn": tuple(drawn),
    }
    return Simulation(**{**record, **read})


def _stored_terms(terms: SimulatedTerms) -> Record:
    return {"origins": list(terms.origins), "values": terms.values}


def _terms_of(record: Record) -> SimulatedTerms:
    return SimulatedTerms(origins=tuple(record["origins"]), values=record["values"])


def stored_problem(problem: Problem) -> dict[str, Any]:
    """The fields of a problem as plain values, arrays as lists.

    Raise ValueError for a function as activation, a mixture, or a loss of the user: they have no
    name to be stored under.

    >>> stored_problem(Problem(ridge=[0.1, 1.0]))["ridge"]
    [0.1, 1.0]
    """
    values = {}
    for name in PROBLEM:
        value = getattr(problem, name)
        values[name] = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(values[name], str | float | list):
            known = getattr(value, "name", None)
            instead = f"; pass {known!r}" if known in NAMES else ""
            raise ValueError(
                f"{name} must be numbers or a name to be stored, got {shown(value)}{instead}"
            )
    return values


def problem_of(stored: Mapping[str, Any]) -> Problem:
    """The problem of plain values; infinities in JSON are text.

    >>> problem_of({"ridge": 0.1, "features_per_dim": [1.0, "inf"]}).features_per_dim
    array([ 1., inf])
    """
    values = dict(stored)
    for name in declarations(Problem):
        if name in values:
            values[name] = np.asarray(values[name], dtype=float)
    return Problem(**values)


def stored_ensemble(ensemble: Scheme) -> float | dict[str, Any]:
    """An ensemble as plain values; K stands for `Ensemble(K)`.

    >>> from doubletrouble.ensembles import Divide
    >>> stored_ensemble(Ensemble(2)), stored_ensemble(Divide(2))
    (2.0, {'scheme': 'divide', 'n_members': 2.0})
    """
    members = float(np.asarray(ensemble.n_members))
    if isinstance(ensemble, Ensemble):
        return members
    return {"scheme": ensemble.name, "n_members": members, **ensemble.options}


def ensemble_of(stored: float | str | Mapping[str, Any]) -> Scheme:
    """The ensemble of plain values; infinities in JSON are text.

    >>> ensemble_of({"scheme": "subsample", "n_members": "inf", "fraction": 0.6})
    Subsample(inf, fraction=0.6)
    """
    if not isinstance(stored, Mapping):
        return Ensemble(float(stored))
    options = {name: float(value) for name, value in stored.items() if name != "scheme"}
    return named_ensemble(stored["scheme"], **options)
