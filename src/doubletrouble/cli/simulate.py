"""Finite models, with standard errors, beside the theory."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from doubletrouble.cli.digits import measured
from doubletrouble.cli.flags import (
    ACTIVATION,
    FORMS,
    PROBLEM_FLAGS,
    SCHEME_OPTIONS,
    ensemble_flags,
    flag,
    number,
    takes,
)
from doubletrouble.cli.question import axes, ensembles, written
from doubletrouble.cli.report import Report, heading, words
from doubletrouble.ensembles import SCHEMES, Ensemble, Scheme, as_ensemble
from doubletrouble.glossary import WHOLE_DIM
from doubletrouble.problems import Problem, noise_at
from doubletrouble.ranges import choice_axis
from doubletrouble.results import ErrorTerms
from doubletrouble.simulation import DTYPES, MODELS, TESTS, Simulation
from doubletrouble.simulation import simulate as run
from doubletrouble.theory import exact_error, gradient_flow

_DEFAULT = {name: p.default for name, p in inspect.signature(run).parameters.items()}
_MEMBERS = "1,2,10,inf"
_CURVES = ("features_per_dim", "ridge")  # a whole curve from the same draws
_THEORY = ("theory", "z")
_ORDER = (*_CURVES, "time", "n_members", "scheme", "part", "value", "standard_error", *_THEORY)
_SETTINGS = (
    flag("dim", int, f"D: {WHOLE_DIM.meaning}; {WHOLE_DIM.domain}", required=True),
    flag("model", str, "'features': true random features; 'gaussian': Gaussian covariates; "
         "'kernel': infinitely many features", _DEFAULT["model"], choices=MODELS, metavar="NAME"),
    flag("n_data", int, "independent draws, of two data sets each", _DEFAULT["n_data"]),
    flag("n_init", int, "sets of random features in a draw", _DEFAULT["n_init"]),
    flag("seed", int, "seed of everything random", _DEFAULT["seed"]),
    flag("device", str, "'auto', 'cpu', 'torch', or a device of torch", _DEFAULT["device"],
         choices=("auto", "cpu", "torch", "cuda"), metavar="NAME"),
    flag("dtype", str, " or ".join(DTYPES), _DEFAULT["dtype"], choices=DTYPES, metavar="NAME"),
    flag("test", str, "average over test points: 'exact' by closed forms, 'sample' at sampled "
         "points, 'auto' the cheaper", _DEFAULT["test"], choices=TESTS, metavar="NAME"),
    flag("center", bool, "Subtract the mean of the activation, or not.", _DEFAULT["center"]),
)  # fmt: skip


@takes(
    *(number(f.name, several=f.name in _CURVES) for f in PROBLEM_FLAGS), ACTIVATION, *_SETTINGS,
    *ensemble_flags(default=_MEMBERS, schemes=True), number("times"),
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
    asked = axes({name: text for name, text in given.items() if name not in ("dim", "n_members")})
    members = axes({"n_members": given["n_members"] or _MEMBERS})["n_members"]
    times = asked.pop("times", None)
    for name, values in asked.items():
        if len(values) > 1 and name not in _CURVES:
            raise ValueError(
                f"{name} must be one number here, got {given[name]!r}; sweeps run any grid"
            )
    options = {name: asked.pop(name)[0] for name in SCHEME_OPTIONS if name in asked}
    schemes = choice_axis("scheme", _words(given["scheme"]), tuple(SCHEMES))
    every = [one for K in members for one in ensembles(schemes, K, options)]
    if times is not None and given["theory"]:
        _check_theory_at_times(every)
    settings = {f.name: given[f.name] for f in _SETTINGS}
    curves: dict[str, Any] = {name: asked[name] for name in _CURVES if len(asked[name]) > 1}
    ratio = asked.pop("snr", None)
    point = {name: values[0] for name, values in asked.items()}
    if ratio is not None:
        point["noise"] = noise_at(ratio[0], point["signal"])
    simulation = run(
        Problem(**point, activation=given["activation"]), ensembles=_drawn(every), times=times,
        progress=not given["quiet"], **settings, **curves,
    )  # fmt: skip
    columns = _columns(simulation, every, theory=given["theory"])
    keys: dict[str, Any] = {"n_members": written("n_members", members), "scheme": schemes}
    keys |= {} if times is None else {"time": times}
    at = {name: getattr(simulation.problem, name) for name in point}
    fixed: dict[str, Any] = {n: float(value) for n, value in at.items() if np.size(value) == 1}
    fixed |= {} if ratio is None else {"snr": ratio[0]}
    for one in every:
        fixed |= simulation.realized(one).options
    fixed |= {"activation": simulation.problem.activation, **settings, "test": simulation.test}
    fixed |= {name: values[0] for name, values in keys.items() if len(values) == 1}
    columns = {name: values for name, values in columns.items() if name not in fixed}
    report = Report(
        title="Simulated test error", parameters=fixed, columns=columns, cells=_cells(columns)
    )
    report.show(json=given["json"], csv=given["csv"])


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _check_theory_at_times(every: Sequence[Scheme]) -> None:
    """Raise ValueError for schemes without a theory of training, before the simulation."""
    for one in every:
        try:
            as_ensemble(one, "gradient_flow")
        except ValueError as error:
            raise ValueError(f"{error}; --no-theory leaves the theory out") from None


def _drawn(every: Sequence[Scheme]) -> list[Scheme]:
    """The ensembles to be drawn: all sizes of most schemes follow from one of them."""
    found: dict[Any, Scheme] = {}
    for one in every:
        if not isinstance(one, Ensemble):
            found.setdefault(type(one) if one.any_size else one, one)
    return list(found.values())


def _columns(
    simulation: Simulation, every: Sequence[Scheme], *, theory: bool
) -> dict[str, list[Any]]:
    """A row for every width, ridge, time, number of members, scheme and part of the error."""
    problem = simulation.problem
    times: Any = simulation.times
    curves = {name: getattr(problem, name) for name in _CURVES} | {"time": times}
    shape = np.broadcast_shapes(problem.shape, np.shape(times) if times is not None else ())
    absent = {"time"} if times is None else set()
    shown = [name for name in _ORDER if name not in absent and (theory or name not in _THEORY)]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for j, one in enumerate(every):
        found, exact = simulation.error(one), _exact(simulation, one) if theory else None
        own = {"n_members": one.n_members, "scheme": one.name}
        for k, (part, estimate) in enumerate({**found.parts, "total": found.total}.items()):
            numbers = curves | {"value": estimate.value, "standard_error": estimate.standard_error}
            if exact is not None:
                value = getattr(exact, part)
                numbers |= {"theory": value, "z": estimate.z_score(value)}
            for at in np.ndindex(shape):
                here = {n: _at(v, shape, at) for n, v in numbers.items()}
                rows[at, j, k] = here | own | {"part": part}
    columns = {name: [rows[place][name] for place in sorted(rows)] for name in shown}
    return columns | {"n_members": written("n_members", columns["n_members"])}


def _exact(simulation: Simulation, ensemble: Scheme) -> ErrorTerms[Any]:
    """The theory at the sizes realized."""
    problem, realized = simulation.problem, simulation.realized(ensemble)
    if simulation.times is not None:
        return gradient_flow(problem, simulation.times, realized)
    return exact_error(problem, realized)


def _at(values: Any, shape: tuple[int, ...], at: tuple[int, ...]) -> float | None:
    return None if values is None else float(np.broadcast_to(values, shape)[at])


def _cells(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """As text: value ± standard error in one column; without parts that are 0."""
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
