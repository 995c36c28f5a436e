"""Finite models, with standard errors, beside the theory."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np

from doubletrouble.cli.digits import measured
from doubletrouble.cli.flags import ACTIVATION, FORMS, PROBLEM_FLAGS, flag, number, takes
from doubletrouble.cli.question import axes, written
from doubletrouble.cli.report import Report, heading, words
from doubletrouble.glossary import WHOLE_DIM
from doubletrouble.problems import Problem
from doubletrouble.simulation.place import DTYPES
from doubletrouble.simulation.plan import MODELS, SCHEMES, TESTS
from doubletrouble.simulation.result import ErrorEstimates, Simulation
from doubletrouble.simulation.simulate import simulate as run
from doubletrouble.theory.error import exact_error

_DEFAULT = {name: p.default for name, p in inspect.signature(run).parameters.items()}
_CURVES = {"features_per_dim": "widths", "ridge": "ridges"}  # a whole curve from the same draws
_PARTS = tuple(f.name for f in fields(ErrorEstimates))
_THEORY = ("theory", "z")
_ORDER = (*_CURVES, "n_members", "scheme", "part", "value", "standard_error", *_THEORY)
_SETTINGS = (
    flag("dim", int, f"D: {WHOLE_DIM.meaning}; {WHOLE_DIM.domain}", required=True),
    flag("model", str, "'features': true random features; 'gaussian': Gaussian covariates; "
         "'kernel': infinitely many features", _DEFAULT["model"], choices=MODELS, metavar="NAME"),
    flag("n_data", int, "independent draws, of two data sets each", _DEFAULT["n_data"]),
    flag("n_init", int, "sets of random features in a draw", _DEFAULT["n_init"]),
    flag("seed", int, "seed of everything random", _DEFAULT["seed"]),
    flag("device", str, "'cpu', 'torch', or a device of torch", _DEFAULT["device"],
         choices=("cpu", "torch", "cuda"), metavar="NAME"),
    flag("dtype", str, " or ".join(DTYPES), _DEFAULT["dtype"], choices=DTYPES, metavar="NAME"),
    flag("test", str, "average over test points: 'exact' by closed forms, 'sample' at sampled "
         "points, 'auto' the cheaper", _DEFAULT["test"], choices=TESTS, metavar="NAME"),
    flag("center", bool, "Subtract the mean of the activation, or not.", _DEFAULT["center"]),
)  # fmt: skip


@takes(
    *(number(f.name, several=f.name in _CURVES) for f in PROBLEM_FLAGS), ACTIVATION, *_SETTINGS,
    number("n_members", default=",".join(f"{k:g}" for k in _DEFAULT["n_members"])),
    flag("schemes", str, f"{' and '.join(SCHEMES)}, separated by a comma",
         ",".join(_DEFAULT["schemes"]), choices=SCHEMES, metavar="NAMES"),
    flag("theory", bool, "Put the exact error beside each part, and by how many standard errors z "
         "the two differ.", True),
    flag("quiet", bool, "No progress bar.", False),
    *FORMS,
)  # fmt: skip
def simulate(**given: Any) -> None:
    """Simulate models of finite size, and print each part of the error with its standard error.

    P and N are rounded to whole numbers. All values of --features-per-dim and --ridge come from
    the same draws. The theory is that of infinite size: expect deviations of the order 1/D.
    """
    if given["n_members"] is None:
        given["n_members"] = list(_DEFAULT["n_members"])
    asked = axes({name: text for name, text in given.items() if name != "dim"})
    members = asked.pop("n_members")
    schemes = [scheme.strip() for scheme in given["schemes"].split(",")]
    for name, values in asked.items():
        if len(values) > 1 and name not in _CURVES:
            raise ValueError(
                f"{name} must be one number here, got {given[name]!r}; sweeps run any grid"
            )
    settings = {f.name: given[f.name] for f in _SETTINGS}
    curves: dict[str, Any] = {
        axis: asked[name] for name, axis in _CURVES.items() if len(asked[name]) > 1
    }
    simulation = run(
        Problem(**{name: v[0] for name, v in asked.items()}, activation=given["activation"]),
        n_members=members, schemes=schemes, progress=not given["quiet"], **settings, **curves,
    )  # fmt: skip
    columns = _columns(simulation, members, schemes)
    keys = {"n_members": written("n_members", members), "scheme": schemes}
    at = {name: getattr(simulation.problem, name) for name in asked}
    fixed = {name: value for name, value in at.items() if not np.ndim(value)}
    fixed |= {"activation": simulation.problem.activation, **settings, "test": simulation.test}
    fixed |= {name: values[0] for name, values in keys.items() if len(values) == 1}
    dropped = {*fixed} if given["theory"] else {*fixed, *_THEORY}
    columns = {name: values for name, values in columns.items() if name not in dropped}
    report = Report(
        title="Simulated test error", parameters=fixed, columns=columns, cells=_cells(columns)
    )
    report.show(json=given["json"], csv=given["csv"])


def _columns(
    simulation: Simulation, members: Sequence[float], schemes: Sequence[str]
) -> dict[str, list[Any]]:
    """A row for every width, ridge, number of members, scheme and part of the error."""
    problem = simulation.problem
    errors = {
        key: (simulation.error(*key), exact_error(problem, *key))
        for key in product(members, schemes)
    }
    rows: list[dict[str, Any]] = []
    for at, key, part in product(np.ndindex(problem.shape), errors, _PARTS):
        found, theory = (getattr(side, part) for side in errors[key])
        numbers = {name: getattr(problem, name) for name in _CURVES}
        numbers |= {"value": found.value, "standard_error": found.standard_error}
        numbers |= dict(zip(_THEORY, (theory, found.z_score(theory)), strict=True))
        here = {name: float(np.broadcast_to(v, problem.shape)[at]) for name, v in numbers.items()}
        rows.append(here | {"n_members": key[0], "scheme": key[1], "part": part})
    columns = {name: [row[name] for row in rows] for name in _ORDER}
    return columns | {"n_members": written("n_members", columns["n_members"])}


def _cells(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """For people: the value with its standard error in one column; without parts that are 0."""
    parts = columns["part"]
    some = {part for part, value in zip(parts, columns["value"], strict=True) if value}
    shown = {
        name: [v for v, part in zip(values, parts, strict=True) if part in {*some, "total"}]
        for name, values in columns.items()
    }
    theory = shown.get("theory", shown["value"])
    numbers = [
        measured(*line)
        for line in zip(shown["value"], shown["standard_error"], theory, strict=True)
    ]
    cells = {
        heading(name): words(shown[name])
        for name in _ORDER[: _ORDER.index("value")]
        if name in shown
    }
    cells["simulated"] = [f"{value} ± {spread}" for value, spread, _ in numbers]
    if "z" in shown:
        cells |= {"theory": [line[2] for line in numbers], "z": [f"{z:+.1f}" for z in shown["z"]]}
    return cells
