"""Run grids of simulations, print their status, and export their results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from doubletrouble.cli.flags import SPECS
from doubletrouble.cli.output import note, show, show_json, show_table

if TYPE_CHECKING:
    from doubletrouble.networks import LazyRun
    from doubletrouble.sweep import Sweep, SweepResult, SweepStatus

INCOMPLETE = 1  # exit code when cells have failed

SHOWN = 12  # characters of a hash

_MOST_MESSAGES = 10

group = typer.Typer(help="Run grids of simulations.", no_args_is_help=True)

StorePath = Annotated[Path, typer.Argument(help="The store, an SQLite file.")]
Workers = Annotated[
    int | None, typer.Option(help="Worker processes; by default one per processor.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="A Dask scheduler, tcp://host:port, or 'local' to start one."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Hash = Annotated[
    str | None, typer.Option("--sweep", help="The hash of a sweep, if the store holds several.")
]


@group.command()
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

    sweep, where = Sweep.from_toml(file), store or file.with_suffix(".sqlite")
    return _finish(sweep.run(where, workers=workers, scheduler=scheduler, progress=not quiet), json)


@group.command()
def retry(
    store: StorePath,
    sweep: Hash = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Compute the cells that failed once more."""
    from doubletrouble.sweep import Sweep

    grid = Sweep.from_store(store, sweep)
    return _finish(
        grid.retry(store, workers=workers, scheduler=scheduler, progress=not quiet), json
    )


@group.command()
def status(store: StorePath, sweep: Hash = None, json: Json = False) -> None:
    """Print the contents of a store: of every sweep, how many cells are done, failed and missing.

    For ensembles of networks, which `lazy` stores: their number, with α and width.
    """
    from doubletrouble.sweep import Sweep

    grids = Sweep.all_from_store(store) if sweep is None else []
    networks = _groups(_ensembles(store, grids)) if sweep is None else []
    others: dict[str, object] = {"networks": networks} if networks else {}
    if len(grids) > 1:
        _report_all(store, grids, json, others)
    elif grids or not networks:
        _report(Sweep.from_store(store, sweep).results(store), json, others)
    elif json:
        show_json({"store": str(store), **others})
    if networks and not json:
        heads = [SPECS[name].symbol if name in SPECS else name for name in networks[0]]
        title = "and ensembles of networks" if grids else f"{store}: ensembles of networks"
        show_table(title, heads, [list(map(_listed, group.values())) for group in networks])


@group.command()
def export(
    store: StorePath,
    out: Annotated[Path, typer.Argument(help="The table to write: .csv, .parquet or .json.")],
    sweep: Hash = None,
    networks: Annotated[
        bool,
        typer.Option("--networks", help="Ensembles of networks of a store with sweeps."),
    ] = False,
) -> None:
    """Write finished cells as a table: a row for every cell, scheme and number of members.

    From a store of `lazy`, a row for every ensemble of networks.
    """
    from doubletrouble.sweep import Sweep

    if networks and sweep is not None:
        raise ValueError(f"sweep must be left out beside networks, got {sweep!r}")
    grids = Sweep.all_from_store(store) if sweep is None else []
    runs = _ensembles(store, grids) if sweep is None else []
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


@group.command()
def verify(store: StorePath) -> None:
    """Check the whole content of a store, and print how many rows are sound."""
    from doubletrouble.runs import Store

    with Store.read(store) as opened:
        show(f"{opened.verify()} rows of {store} are sound")


def _ensembles(store: Path, grids: "Sequence[Sweep]") -> "list[LazyRun]":
    """Ensembles of networks: the results that are not cells of a sweep."""
    from doubletrouble.networks import stored_runs

    return stored_runs(store, {cell.key for grid in grids for cell in grid.cells()})


def _groups(runs: "Sequence[LazyRun]") -> list[dict[str, object]]:
    """The number of ensembles with the same data and training, with their α and widths."""
    groups: dict[tuple[object, ...], list[LazyRun]] = {}
    for run in runs:
        alike = (run.n_members, *(run.settings.get(name) for name in _ALIKE))
        groups.setdefault(alike, []).append(run)
    return [
        {
            "ensembles": len(some),
            "laziness": sorted({run.laziness for run in some}),
            "width": sorted({run.width for run in some}),
            **dict(zip(("n_members", *_ALIKE), alike, strict=True)),
        }
        for alike, some in groups.items()
    ]


_ALIKE = ("depth", "data", "loss", "seed", "dtype")


def _listed(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    return " ".join(f"{number:g}" for number in value)


def _finish(result: "SweepResult", json: bool) -> int:
    """Print the status of a run, and after failures the command to retry them."""
    _report(result, json)
    failed, name = result.status.failed, result.sweep.hash[:SHOWN]
    if not failed:
        return 0
    note(
        f"{failed} of {result.status.total} cells failed; "
        f"to try them again: doubletrouble sweep retry {result.store} --sweep {name}"
    )
    return INCOMPLETE


def _report_all(
    store: Path, grids: "Sequence[Sweep]", json: bool, others: Mapping[str, object]
) -> None:
    counts = [(grid, grid.status(store)) for grid in grids]
    if json:
        more = [{"store": str(store), **others}] if others else []
        show_json([*(_counts(store, grid.hash, count) for grid, count in counts), *more])
        return
    rows = [(*_numbers(grid.hash, count), grid.summary) for grid, count in counts]
    show_table(str(store), (*_COLUMNS, "grid"), rows)


def _report(
    result: "SweepResult", json: bool, others: Mapping[str, object] = MappingProxyType({})
) -> None:
    count, name = result.status, result.sweep.hash
    messages = Counter(result.messages if count.failed else ())
    if json:
        show_json(_counts(result.store, name, count) | {"messages": dict(messages), **others})
        return
    show_table(str(result.store), _COLUMNS, [_numbers(name, count)])
    if messages:
        shown = [(n, message) for message, n in messages.most_common(_MOST_MESSAGES)]
        show_table("why cells failed", ("cells", "message"), shown)


_COLUMNS = ("sweep", "cells", "done", "failed", "missing")


def _numbers(name: str, count: "SweepStatus") -> tuple[object, ...]:
    return (name[:SHOWN], count.total, count.done, count.failed, count.missing)


def _counts(store: Path, name: str, count: "SweepStatus") -> dict[str, object]:
    return {
        "store": str(store),
        "sweep": name,
        "total": count.total,
        "done": count.done,
        "failed": count.failed,
        "missing": count.missing,
    }
