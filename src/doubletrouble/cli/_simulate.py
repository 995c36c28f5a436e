"""Commands of finite models: simulations with the theory, and sweeps over grids of them."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from doubletrouble._display import Column, Content, Entries, Table, as_text, point_table
from doubletrouble.cli._app import help_without_command
from doubletrouble.cli._flags import (
    PROBLEM_SPECS,
    SCHEME_OPTIONS,
    SPECS,
    AxisValues,
    ProblemGrid,
    Quiet,
    as_written,
    declared,
    ensembles,
    grid_flags,
    grouped,
    option,
)
from doubletrouble.cli._output import note, show, show_json
from doubletrouble.cli._report import Display, Form
from doubletrouble.ensembles import SCHEMES, Ensemble, Scheme
from doubletrouble.glossary import WHOLE_DIM
from doubletrouble.palette import printed_name
from doubletrouble.parameters import declarations
from doubletrouble.problems import Problem
from doubletrouble.ranges import choice_axis
from doubletrouble.results import ErrorTerms
from doubletrouble.simulation import DTYPES, MODELS, TESTS, Simulation
from doubletrouble.simulation import simulate as run_simulation
from doubletrouble.theory import exact_error, gradient_flow

if TYPE_CHECKING:
    from doubletrouble.networks import LazyRun
    from doubletrouble.sweep import Sweep, SweepResult

# --- simulate ------------------------------------------------------------------------------------

_DEFAULT = {name: p.default for name, p in inspect.signature(run_simulation).parameters.items()}
_CURVES = ("features_per_dim", "ridge")  # a whole curve from the same draws


_MODEL = (
    "'features': random features; 'gaussian': Gaussian covariates; 'kernel': infinitely many "
    "features"
)


@dataclass(frozen=True, kw_only=True)
class _SimulationFlags:
    """Arguments of the simulation, besides the problem."""

    dim: Annotated[int, declared("dim", WHOLE_DIM, several=False)]
    model: Annotated[str, option(_MODEL, choices=MODELS)] = _DEFAULT["model"]
    n_data: Annotated[int, option("independent draws, of two data sets each", "INTEGER")] = (
        _DEFAULT["n_data"]
    )
    n_init: Annotated[int, option("sets of random features in a draw", "INTEGER")] = _DEFAULT[
        "n_init"
    ]
    seed: Annotated[int, option("seed of the random numbers", "INTEGER")] = _DEFAULT["seed"]
    device: Annotated[
        str,
        option(
            "'auto', 'cpu', 'torch', or a device of torch", choices=("auto", "cpu", "torch", "cuda")
        ),
    ] = _DEFAULT["device"]
    dtype: Annotated[str, option(" or ".join(DTYPES), choices=DTYPES)] = _DEFAULT["dtype"]
    test: Annotated[
        str,
        option(
            "average over test points: 'exact' by closed forms, 'sample' at sampled points, 'auto' "
            "the cheaper",
            choices=TESTS,
        ),
    ] = _DEFAULT["test"]
    center: Annotated[
        bool,
        typer.Option(help="Subtract the mean of the activation, or not.", show_default=False),
    ] = _DEFAULT["center"]


@dataclass(frozen=True, kw_only=True)
class _SweepFlags(_SimulationFlags):
    """The same of a sweep, several of which may have several values."""

    dim: Annotated[AxisValues, declared("dim", WHOLE_DIM)]  # type: ignore[assignment]
    model: Annotated[str, option(f"{_MODEL}; or several, separated by commas", choices=MODELS)] = (
        _DEFAULT["model"]
    )
    seed: Annotated[str, option("seeds of the random numbers", "RANGE")] = str(_DEFAULT["seed"])  # type: ignore[assignment]


_GRID = grid_flags(
    PROBLEM_SPECS,
    "simulate",
    ranges=(*_CURVES, "n_members"),
    members="1,2,10,inf",
    schemes=True,
)


@grouped
def simulate(
    *,
    grid: Annotated[ProblemGrid, _GRID],
    settings: _SimulationFlags,
    times: Annotated[AxisValues | None, declared("times")] = None,
    theory: Annotated[
        bool,
        typer.Option(
            help="Add the exact error to each part, and the difference z in standard errors.",
            show_default=False,
        ),
    ] = True,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Simulate models of finite size, and print each part of the error with its standard error.

    P and N are rounded to whole numbers. All values of --features-per-dim, --ridge and --times come
    from the same draws. With --times, training is gradient flow, stopped at each of them (see the
    command flow), instead of ridge regression. The theory is that of infinite size, with deviations
    of the order 1/D.
    """
    schemes = choice_axis("scheme", _words(grid.names["scheme"]), tuple(SCHEMES))
    members = grid.axes["n_members"]
    every = _ensembles(schemes, grid, flow=theory and times is not None)
    at: dict[str, Any] = {
        name: values[0] for name, values in grid.axes.items() if name in declarations(Problem)
    }
    at |= {} if grid.noise is None else {"noise": grid.noise}
    curves = {name: np.asarray(v) for name, v in grid.varying.items() if name in _CURVES}
    if len(curves) == 2:  # ridges are the next axis
        curves["features_per_dim"] = curves["features_per_dim"][:, None]
    simulation = run_simulation(
        Problem(**{**at, **curves}, **grid.choices),
        ensembles=_drawn(every),
        times=times,
        progress=not quiet,
        **asdict(settings),
    )
    problem = simulation.problem
    realized = {name: getattr(problem, name) for name in at}
    fixed: dict[str, Any] = {n: float(value) for n, value in realized.items() if not np.ndim(value)}
    fixed |= {"snr": grid.axes["snr"][0]} if "snr" in grid.axes else {}
    for one in every:
        fixed |= simulation.realized(one).options
    names = {name: value for name, value in grid.names.items() if name != "scheme"}
    fixed |= {**names, **asdict(settings), "test": simulation.test}
    keys: dict[str, Any] = {
        "n_members": as_written(SPECS["n_members"], members),
        "scheme": schemes,
        "time": times or (),
    }
    fixed |= {name: values[0] for name, values in keys.items() if len(values) == 1}
    table = _simulation_table(simulation, every, theory=theory)
    columns = [
        replace(one, exported=False, printed=False) if one.name in fixed else one
        for one in table.columns
    ]
    content = Content(tables=[replace(table, columns=columns)])
    form.show(Display(content), "Simulated test error", fixed)


def _ensembles(schemes: Sequence[str], grid: ProblemGrid, *, flow: bool) -> list[Scheme]:
    """The ensembles of all sizes; with `flow`, the theory of gradient flow must support them."""
    options = {name: grid.axes[name][0] for name in SCHEME_OPTIONS if name in grid.axes}
    every = [
        one for K in grid.axes["n_members"] for one in ensembles(schemes, K, options, grid.function)
    ]
    if flow:
        try:
            ensembles(schemes, grid.axes["n_members"][0], options, "gradient_flow")
        except ValueError as error:
            raise ValueError(f"{error}; --no-theory leaves the theory out") from None
    return every


def _drawn(every: Sequence[Scheme]) -> list[Scheme]:
    """The ensembles to be drawn: all sizes of most schemes follow from one of them."""
    drawn: dict[Any, Scheme] = {}
    for one in every:
        if not isinstance(one, Ensemble):
            drawn.setdefault(type(one) if one.any_size else one, one)
    return list(drawn.values())


def _simulation_table(simulation: Simulation, every: Sequence[Scheme], *, theory: bool) -> Table:
    """A row for every P, ridge, time, number of members, scheme and part of the error."""
    problem, times = simulation.problem, simulation.times
    curves = {name: getattr(problem, name) for name in _CURVES} | {"time": times}
    varying: dict[str, Any] = {name: v for name, v in curves.items() if np.size(v) > 1}
    shape = np.broadcast_shapes(problem.shape, np.shape(times) if times is not None else ())
    tables = []
    for one in every:
        error, exact = simulation.error(one), _exact(simulation, one) if theory else None
        for part, estimate in {**error.parts, "total": error.total}.items():
            columns: list[tuple[Column, Entries]] = [
                (Column(name="n_members", form="count"), one.n_members),
                (Column(name="scheme", form="words"), one.name),
                (Column(name="part", form="words", printed=False), part),
                (
                    Column(name="label", heading="part", form="words", exported=False),
                    printed_name(part),
                ),
                (Column(name="error", heading="simulated"), estimate),
            ]
            if exact is not None:
                value = getattr(exact, part)
                columns += [(Column(name="theory"), value)]
                columns += [(Column(name="z"), estimate.z_score(value))]
            tables.append(point_table("errors", shape, varying, columns))
    rows = [row for rows in zip(*(table.rows for table in tables), strict=True) for row in rows]
    keys = len(varying) + 4  # up to the part
    return replace(tables[0], rows=rows, omitted="", keys=keys)


def _exact(simulation: Simulation, ensemble: Scheme) -> ErrorTerms[Any]:
    """The theory at the sizes realized."""
    problem, realized = simulation.problem, simulation.realized(ensemble)
    if simulation.times is not None:
        return gradient_flow(problem, simulation.times, realized)
    return exact_error(problem, realized)


# --- sweep ---------------------------------------------------------------------------------------

_INCOMPLETE = 1  # exit code if cells failed
_HASH_LENGTH = 12  # characters of a hash in tables
_MOST_MESSAGES = 10
_NETWORK_GROUP = ("depth", "data", "loss", "seed", "dtype")

sweep = typer.Typer(
    help="Run grids of simulations.",
    callback=help_without_command,
    invoke_without_command=True,
    rich_markup_mode=None,
)

StorePath = Annotated[Path, typer.Argument(help="The store, an SQLite file.")]
Workers = Annotated[
    int | None,
    option("Processes; as many as processors if left out.", "INTEGER"),
]
Scheduler = Annotated[
    str | None,
    option("A Dask scheduler, tcp://host:port.", "ADDRESS"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Hash = Annotated[
    str | None,
    typer.Option(
        "--sweep", help="Which sweep, if the store holds several: its hash.", metavar="HASH"
    ),
]


_SWEEP_GRID = grid_flags(
    PROBLEM_SPECS,
    "simulate",
    ranges=(*PROBLEM_SPECS, "n_members"),
    members="1,2,10,inf",
    schemes=True,
)


@sweep.command()
@grouped
def run(
    store: StorePath,
    *,
    grid: Annotated[ProblemGrid, _SWEEP_GRID],
    settings: _SweepFlags,
    times: Annotated[AxisValues | None, declared("times")] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Simulate every combination of the values given, and store each cell as it finishes.

    Cells that the store holds are not computed again.
    """
    from doubletrouble.sweep import Sweep

    schemes = choice_axis("scheme", _words(grid.names["scheme"]), tuple(SCHEMES))
    every = _ensembles(schemes, grid, flow=False)
    numbers = {name: values for name, values in grid.axes.items() if name != "n_members"}
    problem = replace(grid, axes=numbers).problem
    others: dict[str, Any] = asdict(settings) | {"model": _words(settings.model)}
    cells = Sweep(problem, ensembles=every, times=times, **others)
    return _finish(cells.run(store, workers=workers, scheduler=scheduler, progress=not quiet), json)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


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
        grid.run(store, retry=True, workers=workers, scheduler=scheduler, progress=not quiet), json
    )


@sweep.command()
def status(store: StorePath, sweep: Hash = None, json: Json = False) -> None:
    """Print the contents of a store: the cells of every sweep that are done, failed and missing.

    For ensembles of networks, which `lazy` stores: their number, α and widths.
    """
    from doubletrouble.sweep import Sweep, stored_sweeps

    grids = stored_sweeps(store) if sweep is None else [Sweep.from_store(store, sweep)]
    networks = _network_groups(_stored_networks(store, grids)) if sweep is None else []
    if not grids and not networks:
        raise ValueError(f"store must hold a sweep or ensembles of networks, got {store}")
    results = [grid.results(store) for grid in grids]
    if json:
        sweeps = [_counts(result) for result in results]
        show_json({"store": str(store), "sweeps": sweeps, "networks": networks})
        return
    if results:
        _show_results(results)
    if networks:
        title = "and ensembles of networks" if grids else f"{store}: ensembles of networks"
        columns = {name: [_listed(one[name]) for one in networks] for name in networks[0]}
        _show_table(title, columns)


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
    from doubletrouble.sweep import Sweep, stored_sweeps

    if networks and sweep is not None:
        raise ValueError(f"sweep must not be given with networks, got {sweep!r}")
    grids = stored_sweeps(store) if sweep is None else []
    runs = _stored_networks(store, grids) if sweep is None else []
    if networks and not runs:
        raise ValueError(f"store must hold ensembles of networks, got {store}, which holds none")
    if runs and (networks or not grids):
        from doubletrouble.errors import require
        from doubletrouble.networks import runs_table
        from doubletrouble.tables import write_frames

        pandas = require("pandas", "tables")
        write_frames(lambda: [pandas.DataFrame(runs_table(runs))], out)
        show(str(out))
        return
    result = Sweep.from_store(store, sweep).results(store)
    result.export(out)
    show(str(out))
    if result.missing:
        note(f"{result.missing} of {result.n_cells} cells are missing; run the sweep")
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
    if json:
        show_json({"store": str(result.store), **_counts(result)})
    else:
        _show_results([result])
    failed, name = result.failed, result.sweep.hash[:_HASH_LENGTH]
    if not failed:
        return 0
    note(
        f"{failed} of {result.n_cells} cells failed; "
        f"to try them again: doubletrouble sweep retry {result.store} --sweep {name}"
    )
    return _INCOMPLETE


def _counts(result: "SweepResult") -> dict[str, object]:
    counts = {name: getattr(result, name) for name in ("n_cells", "done", "failed", "missing")}
    return {"sweep": result.sweep.hash, **counts, "messages": dict(Counter(result.messages))}


def _show_results(results: "Sequence[SweepResult]") -> None:
    """Print the counts of sweeps of a store: of several with their grids, of one with messages."""
    columns: dict[str, list[Any]] = {
        "sweep": [one.sweep.hash[:_HASH_LENGTH] for one in results],
        "cells": [one.n_cells for one in results],
        **{n: [getattr(one, n) for one in results] for n in ("done", "failed", "missing")},
    }
    if len(results) > 1:
        columns["grid"] = [one.sweep.summary for one in results]
    _show_table(str(results[0].store), columns)
    if len(results) == 1 and results[0].failed:
        most = dict(Counter(results[0].messages).most_common(_MOST_MESSAGES))
        _show_table("why cells failed", {"cells": [*most.values()], "message": [*most]})


def _show_table(title: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Print columns of counts and words."""
    head = [
        Column(name=name, form="words" if isinstance(values[0], str) else "count")
        for name, values in columns.items()
    ]
    rows = list(zip(*columns.values(), strict=True))
    content = Content(title=title, tables=[Table(name="rows", columns=head, rows=rows)])
    show(as_text(content))
