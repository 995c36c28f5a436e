"""Commands of finite models: simulations with the theory, and sweeps over grids of them."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from doubletrouble.cli._app import help_without_command
from doubletrouble.cli._flags import (
    ACTIVATION,
    PROBLEM_SPECS,
    SCHEME_OPTIONS,
    as_written,
    axes,
    choice,
    ensemble_flags,
    ensembles,
    flag,
    number,
    takes,
)
from doubletrouble.cli._output import (
    Report,
    cells,
    heading,
    measured,
    note,
    show,
    show_json,
    symbol,
    table,
)
from doubletrouble.ensembles import SCHEMES, Ensemble, Scheme
from doubletrouble.glossary import WHOLE_DIM
from doubletrouble.problems import Problem, noise_at
from doubletrouble.ranges import choice_axis
from doubletrouble.results import ErrorTerms
from doubletrouble.simulation import DTYPES, MODELS, TESTS, Simulation
from doubletrouble.simulation import simulate as run_simulation
from doubletrouble.theory import exact_error, gradient_flow

if TYPE_CHECKING:
    from doubletrouble.networks import LazyRun
    from doubletrouble.sweep import Sweep, SweepResult, SweepStatus

# --- simulate ------------------------------------------------------------------------------------

_DEFAULT = {name: p.default for name, p in inspect.signature(run_simulation).parameters.items()}
_MEMBERS = "1,2,10,inf"
_CURVES = ("features_per_dim", "ridge")  # a whole curve from the same draws
_THEORY = ("theory", "z")
_ORDER = (*_CURVES, "time", "n_members", "scheme", "part", "value", "standard_error", *_THEORY)
_SETTINGS = (
    flag("dim", int, f"D: {WHOLE_DIM.meaning}; {WHOLE_DIM.domain}", required=True),
    choice(
        "model",
        "'features': random features; 'gaussian': Gaussian covariates; 'kernel': infinitely many "
        "features",
        _DEFAULT["model"],
        MODELS,
    ),
    flag("n_data", int, "independent draws, of two data sets each", _DEFAULT["n_data"]),
    flag("n_init", int, "sets of random features in a draw", _DEFAULT["n_init"]),
    flag("seed", int, "seed of the random numbers", _DEFAULT["seed"]),
    choice(
        "device",
        "'auto', 'cpu', 'torch', or a device of torch",
        _DEFAULT["device"],
        ("auto", "cpu", "torch", "cuda"),
    ),
    choice("dtype", " or ".join(DTYPES), _DEFAULT["dtype"], DTYPES),
    choice(
        "test",
        "average over test points: 'exact' by closed forms, 'sample' at sampled points, 'auto' the "
        "cheaper",
        _DEFAULT["test"],
        TESTS,
    ),
    flag("center", bool, "Subtract the mean of the activation, or not.", _DEFAULT["center"]),
)


@takes(
    *(number(name, several=name in _CURVES) for name in PROBLEM_SPECS),
    ACTIVATION,
    *_SETTINGS,
    *ensemble_flags(default=_MEMBERS, schemes=True),
    number("times"),
    flag(
        "theory",
        bool,
        "Add the exact error to each part, and the difference z in standard errors.",
        True,
    ),
    flag("quiet", bool, "No progress bar.", False),
)
def simulate(**given: Any) -> Report:
    """Simulate models of finite size, and print each part of the error with its standard error.

    P and N are rounded to whole numbers. All values of --features-per-dim, --ridge and --times come
    from the same draws. With --times, training is gradient flow, stopped at each of them (see the
    command flow), instead of ridge regression. The theory is that of infinite size, with deviations
    of the order 1/D.
    """
    values = axes({name: text for name, text in given.items() if name not in ("dim", "n_members")})
    members = axes({"n_members": given["n_members"] or _MEMBERS})["n_members"]
    times = values.pop("times", None)
    for name, several in values.items():
        if len(several) > 1 and name not in _CURVES:
            raise ValueError(
                f"{name} must be one number here, got {given[name]!r}; sweeps run any grid"
            )
    options = {name: values.pop(name)[0] for name in SCHEME_OPTIONS if name in values}
    words = [word.strip() for word in given["scheme"].split(",")]
    schemes = choice_axis("scheme", words, tuple(SCHEMES))
    every = [one for K in members for one in _ensembles_of(schemes, K, options, times, given)]
    settings = {f.name: given[f.name] for f in _SETTINGS}
    curves: dict[str, Any] = {name: values[name] for name in _CURVES if len(values[name]) > 1}
    ratio = values.pop("snr", None)
    point = {name: several[0] for name, several in values.items()}
    if ratio is not None:
        point["noise"] = noise_at(ratio[0], point["signal"])
    simulation = run_simulation(
        Problem(**point, activation=given["activation"]),
        ensembles=_drawn(every),
        times=times,
        progress=not given["quiet"],
        **settings,
        **curves,
    )
    columns = _simulation_columns(simulation, every, theory=given["theory"])
    keys: dict[str, Any] = {"n_members": as_written("n_members", members), "scheme": schemes}
    keys |= {} if times is None else {"time": times}
    at = {name: getattr(simulation.problem, name) for name in point}
    fixed: dict[str, Any] = {n: float(value) for n, value in at.items() if np.size(value) == 1}
    fixed |= {} if ratio is None else {"snr": ratio[0]}
    for one in every:
        fixed |= simulation.realized(one).options
    fixed |= {"activation": simulation.problem.activation, **settings, "test": simulation.test}
    fixed |= {name: several[0] for name, several in keys.items() if len(several) == 1}
    columns = {name: column for name, column in columns.items() if name not in fixed}
    return Report(
        title="Simulated test error",
        parameters=fixed,
        columns=columns,
        cells=_simulation_cells(columns),
    )


def _ensembles_of(
    schemes: Sequence[str],
    n_members: float,
    options: Mapping[str, float],
    times: Sequence[float] | None,
    given: Mapping[str, Any],
) -> list[Scheme]:
    """The ensembles of one size; with times, the theory must support their schemes."""
    if times is None or not given["theory"]:
        return ensembles(schemes, n_members, options, "simulate")
    ensembles(schemes, n_members, options, "simulate")
    try:
        return ensembles(schemes, n_members, options, "gradient_flow")
    except ValueError as error:
        raise ValueError(f"{error}; --no-theory leaves the theory out") from None


def _drawn(every: Sequence[Scheme]) -> list[Scheme]:
    """The ensembles to be drawn: all sizes of most schemes follow from one of them."""
    drawn: dict[Any, Scheme] = {}
    for one in every:
        if not isinstance(one, Ensemble):
            drawn.setdefault(type(one) if one.any_size else one, one)
    return list(drawn.values())


def _simulation_columns(
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
        error, exact = simulation.error(one), _exact(simulation, one) if theory else None
        own = {"n_members": one.n_members, "scheme": one.name}
        for k, (part, estimate) in enumerate({**error.parts, "total": error.total}.items()):
            numbers = curves | {"value": estimate.value, "standard_error": estimate.standard_error}
            if exact is not None:
                value = getattr(exact, part)
                numbers |= {"theory": value, "z": estimate.z_score(value)}
            for at in np.ndindex(shape):
                here = {n: _at(v, shape, at) for n, v in numbers.items()}
                rows[at, j, k] = here | own | {"part": part}
    columns = {name: [rows[index][name] for index in sorted(rows)] for name in shown}
    return columns | {"n_members": as_written("n_members", columns["n_members"])}


def _exact(simulation: Simulation, ensemble: Scheme) -> ErrorTerms[Any]:
    """The theory at the sizes realized."""
    problem, realized = simulation.problem, simulation.realized(ensemble)
    if simulation.times is not None:
        return gradient_flow(problem, simulation.times, realized)
    return exact_error(problem, realized)


def _at(values: Any, shape: tuple[int, ...], at: tuple[int, ...]) -> float | None:
    return None if values is None else float(np.broadcast_to(values, shape)[at])


def _simulation_cells(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
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
    shown_cells = {
        heading(name): cells(shown[name])
        for name in _ORDER[: _ORDER.index("value")]
        if name in shown
    }
    shown_cells["simulated"] = [f"{value} ± {spread}" for value, spread, _ in numbers]
    if "z" in shown:
        shown_cells |= {
            "theory": [line[2] for line in numbers],
            "z": [f"{z:+.1f}" for z in shown["z"]],
        }
    return shown_cells


# --- sweep ---------------------------------------------------------------------------------------

_INCOMPLETE = 1  # exit code if cells failed
_HASH_LENGTH = 12  # characters of a hash in tables
_MOST_MESSAGES = 10
_NETWORK_GROUP = ("depth", "data", "loss", "seed", "dtype")

sweep = typer.Typer(
    help="Run grids of simulations.", callback=help_without_command, invoke_without_command=True
)

StorePath = Annotated[Path, typer.Argument(help="The store, an SQLite file.")]
Workers = Annotated[int | None, typer.Option(help="Processes; as many as processors if left out.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="A Dask scheduler, tcp://host:port, or 'local' to start one."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Hash = Annotated[
    str | None, typer.Option("--sweep", help="Which sweep, if the store holds several: its hash.")
]


@sweep.command()
def run(
    file: Annotated[Path, typer.Argument(help="The grid, a TOML file.")],
    store: Annotated[
        Path | None, typer.Option(help="The store; FILE with the suffix .sqlite if left out.")
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Compute every cell of a grid that the store does not hold yet."""
    from doubletrouble.sweep import Sweep

    grid, where = Sweep.from_toml(file), store or file.with_suffix(".sqlite")
    return _finish(grid.run(where, workers=workers, scheduler=scheduler, progress=not quiet), json)


@sweep.command()
def retry(
    store: StorePath,
    sweep: Hash = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Compute the cells that failed again."""
    from doubletrouble.sweep import Sweep

    grid = Sweep.from_store(store, sweep)
    return _finish(
        grid.retry(store, workers=workers, scheduler=scheduler, progress=not quiet), json
    )


@sweep.command()
def status(store: StorePath, sweep: Hash = None, json: Json = False) -> None:
    """Print the contents of a store: the cells of every sweep that are done, failed and missing.

    For ensembles of networks, which `lazy` stores: their number, α and widths.
    """
    from doubletrouble.sweep import Sweep

    grids = Sweep.all_from_store(store) if sweep is None else []
    networks = _network_groups(_stored_networks(store, grids)) if sweep is None else []
    others: dict[str, object] = {"networks": networks} if networks else {}
    if len(grids) > 1:
        _report_all(store, grids, json, others)
    elif grids or not networks:
        _report(Sweep.from_store(store, sweep).results(store), json, others)
    elif json:
        show_json({"store": str(store), **others})
    if networks and not json:
        title = "and ensembles of networks" if grids else f"{store}: ensembles of networks"
        columns = {symbol(name): [_listed(one[name]) for one in networks] for name in networks[0]}
        show(table(title, columns))


@sweep.command()
def export(
    store: StorePath,
    out: Annotated[Path, typer.Argument(help="The table to write: .csv, .parquet or .json.")],
    sweep: Hash = None,
    networks: Annotated[
        bool,
        typer.Option("--networks", help="Ensembles of networks, where there are sweeps as well."),
    ] = False,
) -> None:
    """Write finished cells as a table: a row for every cell, scheme and number of members.

    For a store of `lazy`, a row for every ensemble of networks.
    """
    from doubletrouble.sweep import Sweep

    if networks and sweep is not None:
        raise ValueError(f"sweep must not be given with networks, got {sweep!r}")
    grids = Sweep.all_from_store(store) if sweep is None else []
    runs = _stored_networks(store, grids) if sweep is None else []
    if networks and not runs:
        raise ValueError(f"store must hold ensembles of networks, got {store}, which holds none")
    if runs and (networks or not grids):
        from doubletrouble.errors import require
        from doubletrouble.networks import runs_table
        from doubletrouble.sweep import write

        pandas = require("pandas", "tables")
        write(lambda: [pandas.DataFrame(runs_table(runs))], out)
        show(str(out))
        return
    result = Sweep.from_store(store, sweep).results(store)
    result.export(out)
    show(str(out))
    if result.status.missing:
        note(f"{result.status.missing} of {result.status.total} cells are missing; run the sweep")
    if runs:
        note(f"{store} holds {len(runs)} ensembles of networks as well: --networks exports them")


@sweep.command()
def verify(store: StorePath) -> None:
    """Check the whole content of a store, and print the number of undamaged rows."""
    from doubletrouble.runs import Store

    with Store.read(store) as opened:
        show(f"{opened.verify()} rows of {store} are undamaged")


def _stored_networks(store: Path, grids: "Sequence[Sweep]") -> "list[LazyRun]":
    """Ensembles of networks: the rows that are no cell of a sweep."""
    from doubletrouble.networks import stored_runs

    return stored_runs(store, {cell.key for grid in grids for cell in grid.cells()})


def _network_groups(runs: "Sequence[LazyRun]") -> list[dict[str, object]]:
    """The number of ensembles with the same data and training, with their α and widths."""
    groups: dict[tuple[object, ...], list[LazyRun]] = {}
    for run in runs:
        settings = (run.n_members, *(run.settings.get(name) for name in _NETWORK_GROUP))
        groups.setdefault(settings, []).append(run)
    return [
        {
            "ensembles": len(group),
            "laziness": sorted({run.laziness for run in group}),
            "width": sorted({run.width for run in group}),
            **dict(zip(("n_members", *_NETWORK_GROUP), settings, strict=True)),
        }
        for settings, group in groups.items()
    ]


def _listed(value: object) -> str:
    return " ".join(f"{number:g}" for number in value) if isinstance(value, list) else str(value)


def _finish(result: "SweepResult", json: bool) -> int:
    """Report on a run, with the command that retries failed cells."""
    _report(result, json)
    failed, name = result.status.failed, result.sweep.hash[:_HASH_LENGTH]
    if not failed:
        return 0
    note(
        f"{failed} of {result.status.total} cells failed; "
        f"to try them again: doubletrouble sweep retry {result.store} --sweep {name}"
    )
    return _INCOMPLETE


def _report_all(
    store: Path, grids: "Sequence[Sweep]", json: bool, others: Mapping[str, object]
) -> None:
    counts = [grid.status(store) for grid in grids]
    if json:
        rows = [_counts(store, grid, count) for grid, count in zip(grids, counts, strict=True)]
        show_json([*rows, {"store": str(store), **others}] if others else rows)
    else:
        columns = _status_columns(grids, counts) | {"grid": [grid.summary for grid in grids]}
        show(table(str(store), columns))


def _report(
    result: "SweepResult", json: bool, others: Mapping[str, object] = MappingProxyType({})
) -> None:
    messages = Counter(result.messages if result.status.failed else ())
    if json:
        counts = _counts(result.store, result.sweep, result.status)
        show_json(counts | {"messages": dict(messages), **others})
        return
    show(table(str(result.store), _status_columns([result.sweep], [result.status])))
    if messages:
        most = dict(messages.most_common(_MOST_MESSAGES))
        show(table("why cells failed", {"cells": [*most.values()], "message": [*most]}))


def _status_columns(
    grids: "Sequence[Sweep]", counts: "Sequence[SweepStatus]"
) -> dict[str, list[Any]]:
    return {
        "sweep": [grid.hash[:_HASH_LENGTH] for grid in grids],
        "cells": [count.total for count in counts],
        "done": [count.done for count in counts],
        "failed": [count.failed for count in counts],
        "missing": [count.missing for count in counts],
    }


def _counts(store: Path, grid: "Sweep", count: "SweepStatus") -> dict[str, object]:
    return {
        "store": str(store),
        "sweep": grid.hash,
        "total": count.total,
        "done": count.done,
        "failed": count.failed,
        "missing": count.missing,
    }
