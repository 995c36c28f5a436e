"""Commands of experiments: simulations of finite models, and lazy networks.

The flags do not need torch, which is imported when training starts.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble.cli._app import help_without_command
from doubletrouble.cli._flags import (
    SIZES,
    AxisValues,
    FlagError,
    ProblemGrid,
    Quiet,
    declared,
    given,
    grouped,
    option,
    problem_flags,
    switch,
)
from doubletrouble.cli._output import Form, note, show
from doubletrouble.data import NAMES, PARITY, SCALINGS, load_data
from doubletrouble.ensembles import Ensemble
from doubletrouble.errors import require
from doubletrouble.glossary import WHOLE_DIM
from doubletrouble.losses import CLASSIFIER_LOSSES
from doubletrouble.networks import DEFAULTS, LAPTOP, OPTIMIZERS, Training
from doubletrouble.networks import DTYPES as NETWORK_DTYPES
from doubletrouble.parameters import declarations
from doubletrouble.problems import Problem
from doubletrouble.simulation import DTYPES, MODELS, TESTS
from doubletrouble.simulation import simulate as run_simulation
from doubletrouble.theory import exact_error, gradient_flow

if TYPE_CHECKING:
    from doubletrouble.networks import LazyRun
    from doubletrouble.sweep import Sweep, SweepResult


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


# --- simulate ------------------------------------------------------------------------------------

_SIMULATION = _defaults(run_simulation)
_MODEL = (
    "'features': random features; 'gaussian': Gaussian covariates; 'kernel': infinitely many "
    "features"
)


def _simulated(name: str, text: str, metavar: str = "NAME", choices: tuple[str, ...] = ()) -> Any:
    return option(text, metavar, choices=choices, default=_SIMULATION[name])


@dataclass(frozen=True, kw_only=True)
class _SimulationFlags:
    """Arguments of `simulate`, besides the problem."""

    dim: Annotated[int, declared("dim", WHOLE_DIM, several=False)]
    times: Annotated[AxisValues | None, declared("times")] = None
    model: Annotated[
        str | None,
        _simulated("model", _MODEL, choices=MODELS),
    ] = None
    n_data: Annotated[
        int | None, _simulated("n_data", "independent draws, of two data sets each", "INTEGER")
    ] = None
    n_init: Annotated[
        int | None, _simulated("n_init", "sets of random features in a draw", "INTEGER")
    ] = None
    seed: Annotated[int | None, _simulated("seed", "seed of the random numbers", "INTEGER")] = None
    device: Annotated[
        str | None,
        _simulated(
            "device",
            "'auto', 'cpu', 'torch', or a device of torch",
            choices=("auto", "cpu", "torch", "cuda"),
        ),
    ] = None
    dtype: Annotated[str | None, _simulated("dtype", " or ".join(DTYPES), choices=DTYPES)] = None
    test: Annotated[
        str | None,
        _simulated(
            "test",
            "average over test points: 'exact' by closed forms, 'sample' at sampled points, 'auto' "
            "the cheaper",
            choices=TESTS,
        ),
    ] = None
    center: Annotated[
        bool | None, switch("Subtract the mean of the activation, or not.", "--center/--no-center")
    ] = None


@grouped
def simulate(
    *,
    grid: Annotated[
        ProblemGrid,
        problem_flags("simulate", without=SIZES, ranges=(*declarations(Problem), "n_members")),
    ],
    settings: _SimulationFlags,
    theory: Annotated[
        bool,
        switch(
            "Each part beside the exact error, or the simulation alone.", "--theory/--no-theory"
        ),
    ] = True,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Simulate models of finite size, and print each part of the error with its standard error.

    P and N are rounded to whole numbers. The fields of the problem may be ranges; all values of
    --features-per-dim, --ridge and --times come from the same draws. With --times, training is
    gradient flow, stopped at each of them (see the command flow), instead of ridge regression. The
    theory is that of infinite size, with deviations of the order 1/D; z is the difference in
    standard errors.
    """
    ensemble = grid.ensemble()
    if theory and settings.times is not None:
        try:
            grid.ensemble("gradient_flow")
        except ValueError as error:
            raise ValueError(f"{error}; --no-theory leaves the theory out") from None
    if np.ndim(ensemble.n_members) and not ensemble.any_size:
        name = ensemble.name
        raise ValueError(f"n_members must be one number for scheme {name!r}, got a range")
    if np.ndim(ensemble.n_members) and settings.times is not None:  # times are the last axis
        ensemble = replace(ensemble, n_members=np.expand_dims(ensemble.n_members, -1))
    drawn = replace(ensemble, n_members=float(np.ravel(ensemble.n_members)[0]))
    run = run_simulation(
        grid.problem,
        ensembles=[] if isinstance(ensemble, Ensemble) else [drawn],
        progress=not quiet,
        **given(settings),
    )
    if not theory:
        form.show(run.error(ensemble))
        return
    realized = run.realized(ensemble)
    if run.times is None:
        form.show(run.compare(exact_error(run.problem, realized), ensemble))
    else:
        form.show(run.compare(gradient_flow(run.problem, run.times, realized), ensemble))


# --- sweep ---------------------------------------------------------------------------------------

_INCOMPLETE = 1  # exit code if cells failed
_HASH_LENGTH = 12  # characters of a hash in tables
_MOST_MESSAGES = 10
_COUNTS = ("done", "failed", "missing")
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


@dataclass(frozen=True, kw_only=True)
class _SweepFlags(_SimulationFlags):
    """The same of a sweep, several of which may have several values."""

    dim: Annotated[Any, declared("dim", WHOLE_DIM)]
    model: Annotated[Any, _simulated("model", f"{_MODEL}; or several", choices=MODELS)] = None
    seed: Annotated[Any, _simulated("seed", "seeds of the random numbers", "RANGE")] = None


@sweep.command()
@grouped
def run(
    store: StorePath,
    *,
    grid: Annotated[
        ProblemGrid,
        problem_flags(
            "simulate",
            without=SIZES,
            ranges=(*declarations(Problem), "snr", "n_members"),
            members="1,2,10,inf",
        ),
    ],
    settings: _SweepFlags,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Simulate every combination of the values given, and store each cell as it finishes.

    Cells that the store holds are not computed again. Several schemes or models are separated by
    commas.
    """
    from doubletrouble.sweep import ENSEMBLES, Sweep

    problem = replace(cast(Any, grid), n_members=None).problem
    options = given(settings)
    if settings.model is not None:
        options["model"] = [name.strip() for name in settings.model.split(",")]
    every = grid.ensembles([one.n_members for one in ENSEMBLES])
    cells = Sweep(problem, ensembles=every, **options)
    return _finish(cells.run(store, workers=workers, scheduler=scheduler, progress=not quiet), json)


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
    Form(json=json).show(_StoreStatus(store=store, results=results, networks=networks))


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
        from doubletrouble._sweep_table import write_frames
        from doubletrouble.errors import require
        from doubletrouble.networks import runs_table

        pandas = require("pandas", "tables")
        write_frames([pandas.DataFrame(runs_table(runs))], out)
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
    Form(json=json).show(_StoreStatus(store=result.store, results=[result]))
    failed, name = result.failed, result.sweep.hash[:_HASH_LENGTH]
    if not failed:
        return 0
    note(
        f"{failed} of {result.n_cells} cells failed; "
        f"to try them again: doubletrouble sweep retry {result.store} --sweep {name}"
    )
    return _INCOMPLETE


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _StoreStatus(Shown):
    """The sweeps of a store with counts of their cells, and its ensembles of networks."""

    store: Path
    results: "Sequence[SweepResult]"
    networks: Sequence[Mapping[str, object]] = ()

    def _content(self) -> Content:
        sweeps, networks = self._tables()
        tables = [replace(sweeps, title=str(self.store))] if self.results else []
        if len(self.results) == 1 and self.results[0].failed:
            tables.append(_failures(self.results[0]))
        if self.networks:
            title = "and" if tables else f"{self.store}:"
            tables.append(replace(networks, title=f"{title} ensembles of networks"))
        return Content(tables=tables, facts={"store": str(self.store)})

    def _tables(self) -> tuple[Table, Table]:
        columns = (
            Column(name="sweep", form="words", printed=False),
            Column(name="hash", heading="sweep", form="words", exported=False),
            Column(name="n_cells", heading="cells", form="count"),
            *(Column(name=name, form="count") for name in _COUNTS),
            Column(name="grid", form="words", exported=False, printed=len(self.results) > 1),
            Column(name="messages", form="words", printed=False),
        )
        rows = [
            [
                one.sweep.hash,
                one.sweep.hash[:_HASH_LENGTH],
                one.n_cells,
                *(getattr(one, name) for name in _COUNTS),
                one.sweep.summary,
                dict(Counter(one.messages)),
            ]
            for one in self.results
        ]
        return Table(name="sweeps", columns=columns, rows=rows), self._network_table()

    def _network_table(self) -> Table:
        names = list(self.networks[0]) if self.networks else []
        exported = [Column(name=name, form="words", printed=False) for name in names]
        printed = [Column(name=name, form="words", exported=False) for name in names]
        rows = [[*one.values(), *map(_listed, one.values())] for one in self.networks]
        return Table(name="networks", columns=[*exported, *printed], rows=rows)


def _failures(result: "SweepResult") -> Table:
    """The messages of the cells that failed, the most frequent first."""
    columns = (Column(name="cells", form="count"), Column(name="message", form="words"))
    most = Counter(result.messages).most_common(_MOST_MESSAGES)
    rows = [[count, message] for message, count in most]
    return Table(name="failures", title="why cells failed", columns=columns, rows=rows)


# --- lazy networks -------------------------------------------------------------------------------

DIVERGED = 1
"""Exit code if all networks of an ensemble diverged."""

_ALL = "all"
_DATA = _defaults(load_data)
_N_MEMBERS = replace(glossary.N_MEMBERS, meaning="networks averaged", high=1e6)
_SMALL = " ".join(
    f"--{name.replace('_', '-')} {value}"
    for name, value in {
        "n_samples": LAPTOP["n_samples"],
        "width": ",".join(map(str, LAPTOP["widths"])),
        "laziness": ",".join(f"{value:g}" for value in LAPTOP["laziness"]),
        "n_members": LAPTOP["ensemble"],
        "loss": LAPTOP["loss"],
        "learning_rate": LAPTOP["learning_rate"],
        "max_steps": LAPTOP["max_steps"],
    }.items()
)


def _count(name: str, text: str, default: object) -> Any:
    """An option of a whole number, or of all there are."""

    def parse(value: Any) -> int | str:
        try:
            return _ALL if value == _ALL else int(value)
        except ValueError:
            message = f"{name} must be a whole number or '{_ALL}', got {value!r}"
            raise FlagError(message) from None

    return option(text, "COUNT", parser=parse, default=default)


@dataclass(frozen=True, kw_only=True)
class _DataFlags:
    """Arguments of `load_data`."""

    data: Annotated[
        str | None,
        option(
            f"{', '.join(NAMES)}, or the path of an .npz file", choices=NAMES, default=_DATA["name"]
        ),
    ] = None
    folder: Annotated[
        str | None,
        option(
            "where the files of the data are, or are downloaded to; scikit-learn's if left out",
            "FOLDER",
        ),
    ] = None
    pca: Annotated[
        Any,
        _count(
            "pca",
            f"D: directions on which images are projected, or '{_ALL}' their pixels",
            _DATA["pca"],
        ),
    ] = None
    labels: Annotated[
        str | None,
        option(
            f"'{PARITY}': even classes against odd ones; A,B: class A against B",
            choices=(PARITY,),
            default=PARITY,
        ),
    ] = None
    n_samples: Annotated[
        Any,
        _count(
            "n_samples",
            f"N: {glossary.N_SAMPLES.meaning}, or '{_ALL}'",
            _DATA["n_samples"],
        ),
    ] = None
    n_test: Annotated[Any, _count("n_test", f"test samples, or '{_ALL}'", _ALL)] = None
    scaling: Annotated[
        str | None,
        option(
            "'authors': as in the code of the paper; 'whiten': unit covariance",
            choices=SCALINGS,
            default=_DATA["scaling"],
        ),
    ] = None
    download: Annotated[
        bool | None,
        switch("Read sets without files from OpenML, or not.", "--download/--no-download"),
    ] = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that are given."""
        values = {k: None if v == _ALL else v for k, v in given(self).items()}
        if "data" in values:
            values["name"] = values.pop("data")
        with suppress(ValueError):  # two classes, or a name, which the library validates
            if "labels" in values:
                values["labels"] = tuple(int(word) for word in str(self.labels).split(","))
        return values


@dataclass(frozen=True, kw_only=True)
class _NetworkFlags:
    """Arguments of `lazy_curve`."""

    width: Annotated[
        AxisValues | None, declared("width", default=f"the small experiment {_SMALL}")
    ] = None
    depth: Annotated[int | None, declared("depth", several=False, default=DEFAULTS["depth"])] = None
    laziness: Annotated[AxisValues | None, declared("laziness", default=DEFAULTS["laziness"])] = (
        None
    )
    n_members: Annotated[
        int | None,
        declared("n_members", _N_MEMBERS, several=False, default=DEFAULTS["ensemble"]),
    ] = None
    loss: Annotated[
        str | None,
        option(", ".join(CLASSIFIER_LOSSES), choices=CLASSIFIER_LOSSES, default=Training.loss),
    ] = None
    optimizer: Annotated[
        str | None,
        option(
            "'adam' or 'gd' on all samples, 'sgd' on --batch-size of them, 'exact' for α = inf "
            "with squared loss; 'auto': exact where it can be, else adam",
            choices=OPTIMIZERS,
            default=Training.optimizer,
        ),
    ] = None
    learning_rate: Annotated[
        float | None,
        declared(
            "learning_rate",
            several=False,
            default="0.1 min(1, α) for adam; for the others, from the curvature",
        ),
    ] = None
    max_steps: Annotated[
        int | None,
        option("steps after which training ends", "INTEGER", default=Training.max_steps),
    ] = None
    patience: Annotated[
        int | None,
        option(
            "steps that the rule of convergence averages over; as many as --max-steps switch "
            "it off",
            "INTEGER",
            default="a tenth of --max-steps, at least 100",
        ),
    ] = None
    tolerance: Annotated[
        float | None, declared("tolerance", several=False, default=Training.tolerance)
    ] = None
    batch_size: Annotated[int | None, option("samples in a step of sgd", "INTEGER")] = None
    seed: Annotated[int | None, option("seed of the random numbers", "INTEGER", default=0)] = None
    device: Annotated[
        str | None,
        option(
            "'auto': a GPU where there is one; 'cpu', 'cuda', or a device of torch",
            choices=("auto", "cpu", "cuda"),
            default="auto",
        ),
    ] = None
    dtype: Annotated[
        str | None,
        option(
            "'tf32': coarser matrix products on a GPU, and faster ones",
            choices=NETWORK_DTYPES,
            default=NETWORK_DTYPES[0],
        ),
    ] = None
    memory: Annotated[
        float | None,
        declared("memory", glossary.MEMORY, several=False, default="all that is free"),
    ] = None
    store: Annotated[
        str | None,
        option("an SQLite file of finished ensembles, from which the same command resumes", "FILE"),
    ] = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that are given."""
        values = given(self)
        for flag, name in {"width": "widths", "n_members": "ensemble"}.items():
            if flag in values:
                values[name] = values.pop(flag)
        if "widths" in values:
            values["widths"] = tuple(map(int, values["widths"]))
        return values


@grouped
def lazy(*, images: _DataFlags, networks: _NetworkFlags, quiet: Quiet = False, form: Form) -> int:
    """Train ensembles of lazy networks on images of two classes, and print their test errors.

    A network f of L layers is trained as F = α (f - f₀), f₀ being f at initialization. Networks of
    all values of --width and --laziness are trained together. Errors are error rates of test
    images: of one network (± the standard deviation over the members), of the mean of K
    networks, and of their vote. A network stops at zero loss, when its loss has converged, after
    --max-steps, or when it diverges; those that diverged are left out of the errors.

    Without --width, a small experiment is run that shows the peak and its suppression in about a
    minute; other flags change it.
    """
    small = {} if networks.width else LAPTOP
    options = {name: value for name, value in small.items() if name != "n_samples"}
    options |= networks.arguments
    Training(**{name: options[name] for name in options if name in Training.__dataclass_fields__})
    require("torch", "networks")
    from doubletrouble import lazy_curve

    sizes = {name: small[name] for name in ("n_samples",) if name in small}
    data = load_data(**(sizes | images.arguments))
    curve = lazy_curve(data, progress=not quiet, **options)
    form.show(curve)
    lost = [(int(one.diverged.sum()), one.n_members) for one in curve.runs]
    if diverged := sum(count for count, _ in lost):
        total = sum(count for _, count in lost)
        note(f"{diverged} of {total} networks diverged; a smaller --learning-rate may help")
    return DIVERGED if any(count == total for count, total in lost) else 0
