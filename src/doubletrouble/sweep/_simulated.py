"""Simulations as cells of a sweep: parameters, ensembles and results as plain values.

A cell is computed by `simulate_cell` from its stored parameters; the result is a record of every
field of the `Simulation`, from which `from_record` makes it again.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import activation
from doubletrouble.ensembles import (
    Ensemble,
    Scheme,
    as_ensemble,
    named_ensemble,
    scheme_options,
)
from doubletrouble.losses import loss, name_or_loss
from doubletrouble.problems import Problem
from doubletrouble.ranges import distinct, listed, number_axis
from doubletrouble.runs import Record
from doubletrouble.simulation import (
    ConvexSimulation,
    DrawnEnsemble,
    OverlapDraws,
    SimulatedTerms,
    Simulation,
    plan,
    simulate,
    single_ensemble,
)

KIND = "simulation"
REVISION = 3  # of the definition of the numbers; increased when `simulate` draws otherwise

PROBLEM = tuple(f.name for f in fields(Problem))
EnsembleAxis: TypeAlias = (
    float | str | Scheme | Mapping[str, Any] | Iterable[float | str | Scheme | Mapping[str, Any]]
)
"""Ensembles of a sweep: numbers of models, ranges of them, schemes, and tables of a TOML file."""


def simulate_cell(parameters: Mapping[str, Any]) -> Record:
    """Simulate one cell; every parameter is passed to `Problem` or to `simulate`."""
    problem, options = _arguments(parameters)
    return to_record(simulate(problem, progress=False, **options))


def check_cell(parameters: Mapping[str, Any]) -> None:
    """Raise for values that are valid one by one, but cannot be simulated together.

    The device is checked by the machine that computes the cell.
    """
    problem, options = _arguments(parameters)
    del options["device"]
    plan(problem, **options)


def _arguments(parameters: Mapping[str, Any]) -> tuple[Problem, dict[str, Any]]:
    """The problem of a cell, and the options of `simulate`."""
    of_problem = {name: parameters[name] for name in PROBLEM if name in parameters}
    options = {name: value for name, value in parameters.items() if name not in PROBLEM}
    if options.get("ensembles"):
        options["ensembles"] = ensemble_axis("ensembles", options["ensembles"])
    return Problem(**of_problem), options


def to_record(simulation: Simulation) -> Record:
    """Every field of a simulation; the problem and the ensembles by their own fields."""
    record = {f.name: getattr(simulation, f.name) for f in fields(simulation)}
    record["draws"] = simulation.draws.named()
    problem = {name: getattr(simulation.problem, name) for name in PROBLEM}
    record["problem"] = problem | {"loss": str(simulation.problem.loss)}
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
    """The simulation of a record."""
    convex = "q" in record["draws"]  # overlaps, in place of Ψ terms
    kind: type[OverlapDraws | SimulatedTerms] = OverlapDraws if convex else SimulatedTerms
    drawn = []
    for one in record["drawn"]:
        (requested,) = ensemble_axis("ensembles", one["requested"])
        (realized,) = ensemble_axis("ensembles", one["realized"])
        terms = kind.from_named(one["terms"])
        drawn.append(DrawnEnsemble(requested=requested, realized=realized, terms=terms))
    read = {
        "problem": Problem(**record["problem"]),
        "draws": kind.from_named(record["draws"]),
        "drawn": tuple(drawn),
    }
    return (ConvexSimulation if convex else Simulation)(**{**record, **read})


# --- activations, losses and ensembles ---


def activation_axis(name: str, value: Any) -> tuple[str, ...]:
    """Activations by name; a function has no name to be stored under."""
    names = []
    for given in listed(name, value):
        if not isinstance(given, str):
            raise TypeError(f"{name} must be a name in a sweep, got {given!r}")
        names.append(activation(given).name)
    return distinct(name, tuple(names))


def loss_axis(name: str, value: Any) -> tuple[str, ...]:
    """Losses by their shorthand: those of one that `losses.loss` reads back."""
    names = []
    for given in listed(name, value):
        one = name_or_loss(loss(given))
        if not isinstance(one, str):
            raise ValueError(f"{name} must be a loss with a name in a sweep, got {given!r}")
        names.append(one)
    return distinct(name, tuple(names))


def ensemble_axis(name: str, value: EnsembleAxis) -> tuple[Scheme, ...]:
    """Ensembles from numbers of models, ranges of them, schemes, and tables of a TOML file.

    >>> ensemble_axis("ensembles", [1, {"scheme": "subsample", "n_members": 10, "fraction": 0.6}])
    (Ensemble(1), Subsample(10, fraction=0.6))
    """
    ensembles: list[Scheme] = []
    for item in listed(name, value):
        if isinstance(item, Mapping):
            ensembles += _from_table(name, item)
        elif isinstance(item, str):
            ensembles += map(Ensemble, number_axis(name, item, glossary.N_MEMBERS))
        else:
            ensembles.append(single_ensemble(name, item, "Sweep"))
    return distinct(name, tuple(ensembles))


def _from_table(name: str, table: Mapping[str, Any]) -> list[Scheme]:
    """The ensembles of a table, one for every combination of its values and ranges."""
    if not isinstance(table.get("scheme"), str):
        raise ValueError(f"{name} must have the name of a scheme in every table, got {dict(table)}")
    known = scheme_options() | {"n_members": glossary.N_MEMBERS}
    values = {key: item for key, item in table.items() if key != "scheme"}
    along = [
        number_axis(key, item, known[key]) if key in known else (item,)
        for key, item in values.items()
    ]
    points = (dict(zip(values, point, strict=True)) for point in itertools.product(*along))
    return [as_ensemble(named_ensemble(table["scheme"], **point), "Sweep") for point in points]


def stored_ensemble(ensemble: Scheme) -> float | dict[str, Any]:
    """An ensemble as plain values, as in TOML files and stores; K stands for `Ensemble(K)`.

    >>> from doubletrouble.ensembles import Divide
    >>> stored_ensemble(Ensemble(2)), stored_ensemble(Divide(2))
    (2.0, {'scheme': 'divide', 'n_members': 2.0})
    """
    members = float(np.asarray(ensemble.n_members))
    if isinstance(ensemble, Ensemble):
        return members
    return {"scheme": ensemble.name, "n_members": members, **ensemble.options}
