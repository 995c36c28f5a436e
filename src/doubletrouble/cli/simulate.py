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
from doubletrouble.results import ErrorTerms
from doubletrouble.simulation.place import DTYPES
from doubletrouble.simulation.plan import MODELS, SCHEMES, TESTS
from doubletrouble.simulation.result import RESAMPLED, ErrorEstimates, Simulation
from doubletrouble.simulation.simulate import simulate as run
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.flow import gradient_flow

_DEFAULT = {name: p.default for name, p in inspect.signature(run).parameters.items()}
_CURVES = {"features_per_dim": "widths", "ridge": "ridges"}  # a whole curve from the same draws
_EVERY = (*SCHEMES, *RESAMPLED)
_DRAWN = {"fraction": "subbag", "bank_per_dim": "feature_bank"}
_THEORY = ("theory", "z")
_ORDER = (*_CURVES, "time", "n_members", "scheme", "part", "value", "standard_error", *_THEORY)
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
    flag("schemes", str, f"some of {', '.join(_EVERY)}, separated by a comma",
         ",".join(_DEFAULT["schemes"]), choices=_EVERY, metavar="NAMES"),
    *(number(name, several=False) for name in _DRAWN), number("times"),
    flag("theory", bool, "Put the exact error beside each part, and by how many standard errors z "
         "the two differ.", True),
    flag("quiet", bool, "No progress bar.", False),
    *FORMS,
)  # fmt: skip
def simulate(**given: Any) -> None:
    """Simulate models of finite size, and print each part of the error with its standard error.

    P and N are rounded to whole numbers. All values of --features-per-dim, --ridge and --times come
    from the same draws. With --times, training is gradient flow, stopped at each of them (see the
    command flow), in the place of ridge regression. The theory is that of infinite size: expect
    deviations of the order 1/D.
    """
    if given["n_members"] is None:
        given["n_members"] = list(_DEFAULT["n_members"])
    asked = axes({name: text for name, text in given.items() if name != "dim"})
    members, times = asked.pop("n_members"), asked.pop("times", None)
    schemes = [scheme.strip() for scheme in given["schemes"].split(",")]
    if times is not None and given["theory"] and schemes != ["ensemble"]:
        raise ValueError(
            f"schemes must be 'ensemble' to have a theory at times, got {given['schemes']!r}; "
            "--no-theory leaves it out"
        )
    for name, values in asked.items():
        if len(values) > 1 and name not in _CURVES:
            raise ValueError(
                f"{name} must be one number here, got {given[name]!r}; sweeps run any grid"
            )
    settings = {f.name: given[f.name] for f in _SETTINGS}
    curves: dict[str, Any] = {
        axis: asked[name] for name, axis in _CURVES.items() if len(asked[name]) > 1
    }
    drawn: dict[str, Any] = {name: asked.pop(name)[0] for name in _DRAWN if name in asked}
    simulation = run(
        Problem(**{name: v[0] for name, v in asked.items()}, activation=given["activation"]),
        n_members=members, schemes=schemes, times=times, progress=not given["quiet"], **settings,
        **curves, **drawn,
    )  # fmt: skip
    columns = _columns(simulation, members, schemes, theory=given["theory"])
    keys: dict[str, Any] = {"n_members": written("n_members", members), "scheme": schemes}
    keys |= {} if times is None else {"time": times}
    at = {name: getattr(simulation.problem, name) for name in asked}
    fixed: dict[str, Any] = {n: float(value) for n, value in at.items() if np.size(value) == 1}
    fixed |= {name: getattr(simulation, name) for name in drawn}
    fixed |= {"activation": simulation.problem.activation, **settings, "test": simulation.test}
    fixed |= {name: values[0] for name, values in keys.items() if len(values) == 1}
    columns = {name: values for name, values in columns.items() if name not in fixed}
    report = Report(
        title="Simulated test error", parameters=fixed, columns=columns, cells=_cells(columns)
    )
    report.show(json=given["json"], csv=given["csv"])


def _columns(
    simulation: Simulation, members: Sequence[float], schemes: Sequence[str], *, theory: bool
) -> dict[str, list[Any]]:
    """A row for every width, ridge, time, number of members, scheme and part of the error."""
    problem, keys = simulation.problem, list(product(members, schemes))
    times: Any = simulation.times
    curves = {name: getattr(problem, name) for name in _CURVES} | {"time": times}
    shape = np.broadcast_shapes(problem.shape, np.shape(times) if times is not None else ())
    absent = {"time"} if times is None else set()
    shown = [name for name in _ORDER if name not in absent and (theory or name not in _THEORY)]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for j, key in enumerate(keys):
        found, exact = simulation.error(*key), _exact(simulation, *key) if theory else None
        for k, part in enumerate(_parts(found)):
            estimate = getattr(found, part)
            numbers = curves | {"value": estimate.value, "standard_error": estimate.standard_error}
            if exact is not None:
                value = getattr(exact, part)
                numbers |= {"theory": value, "z": estimate.z_score(value)}
            for at in np.ndindex(shape):
                here = {n: _at(v, shape, at) for n, v in numbers.items()}
                rows[at, j, k] = here | {"n_members": key[0], "scheme": key[1], "part": part}
    columns = {name: [rows[place][name] for place in sorted(rows)] for name in shown}
    return columns | {"n_members": written("n_members", columns["n_members"])}


def _parts(found: ErrorEstimates) -> list[str]:
    """The names of the parts, the total last."""
    return [*(f.name for f in fields(found) if f.name != "total"), "total"]


def _exact(simulation: Simulation, n_members: float, scheme: str) -> ErrorTerms:
    """The theory at the sizes realized."""
    problem = simulation.problem
    if simulation.times is not None:
        return gradient_flow(problem, simulation.times, n_members)
    drawn: dict[str, Any] = {
        name: getattr(simulation, name) for name, of in _DRAWN.items() if of == scheme
    }
    return exact_error(problem, n_members, scheme, **drawn)


def _at(values: Any, shape: tuple[int, ...], at: tuple[int, ...]) -> float | None:
    return None if values is None else float(np.broadcast_to(values, shape)[at])


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
