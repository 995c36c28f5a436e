"""Run grids of simulations, look at them, and take their numbers out."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doubletrouble.cli.output import note, show, show_json, show_table

if TYPE_CHECKING:
    from doubletrouble.sweep.outcome import Status, SweepResult

INCOMPLETE = 1  # exit code when cells have failed

SHOWN = 12  # characters of a hash

_MOST_MESSAGES = 10

group = typer.Typer(help="Run grids of simulations.", no_args_is_help=True)

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
    from doubletrouble.sweep.grid import Sweep

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
    from doubletrouble.sweep.grid import Sweep

    grid = Sweep.from_store(store, sweep)
    return _finish(
        grid.retry(store, workers=workers, scheduler=scheduler, progress=not quiet), json
    )


@group.command()
def status(store: StorePath, sweep: Hash = None, json: Json = False) -> None:
    """Tell how many cells are done, failed and missing; of every sweep, if there are several."""
    from doubletrouble.sweep.grid import Sweep

    grids = Sweep.all_from_store(store) if sweep is None else []
    if len(grids) < 2:
        _report(Sweep.from_store(store, sweep).results(store), json)
        return
    counts = [(grid, grid.status(store)) for grid in grids]
    if json:
        show_json([_counts(store, grid.hash, count) for grid, count in counts])
        return
    rows = [(*_numbers(grid.hash, count), grid.summary) for grid, count in counts]
    show_table(str(store), (*_COLUMNS, "grid"), rows)


@group.command()
def export(
    store: StorePath,
    out: Annotated[Path, typer.Argument(help="The table to write: .csv or .parquet.")],
    sweep: Hash = None,
) -> None:
    """Write what is finished as a table: a row for every cell, scheme and number of members."""
    from doubletrouble.sweep.grid import Sweep

    result = Sweep.from_store(store, sweep).results(store)
    result.export(out)
    show(str(out))
    if result.status.missing:
        note(f"{result.status.missing} of {result.status.total} cells are missing; run the sweep")


def _finish(result: "SweepResult", json: bool) -> int:
    """Report on a run, and on failures how to go on."""
    _report(result, json)
    failed, name = result.status.failed, result.sweep.hash[:SHOWN]
    if not failed:
        return 0
    note(
        f"{failed} of {result.status.total} cells failed; "
        f"to try them again: doubletrouble sweep retry {result.store} --sweep {name}"
    )
    return INCOMPLETE


def _report(result: "SweepResult", json: bool) -> None:
    count, name = result.status, result.sweep.hash
    messages = Counter(row.message for row in result if row.message) if count.failed else Counter()
    if json:
        show_json(_counts(result.store, name, count) | {"messages": dict(messages)})
        return
    show_table(str(result.store), _COLUMNS, [_numbers(name, count)])
    if messages:
        shown = [(n, message) for message, n in messages.most_common(_MOST_MESSAGES)]
        show_table("why cells failed", ("cells", "message"), shown)


_COLUMNS = ("sweep", "cells", "done", "failed", "missing")


def _numbers(name: str, count: "Status") -> tuple[object, ...]:
    return (name[:SHOWN], count.total, count.done, count.failed, count.missing)


def _counts(store: Path, name: str, count: "Status") -> dict[str, object]:
    return {
        "store": str(store),
        "sweep": name,
        "total": count.total,
        "done": count.done,
        "failed": count.failed,
        "missing": count.missing,
    }
