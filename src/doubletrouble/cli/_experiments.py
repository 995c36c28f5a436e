"""Commands of experiments: simulations of finite models, and lazy networks.

The flags do not need torch, which is imported when training starts.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble.cli._app import help_without_command
from doubletrouble.cli._flags import (
    SIZES,
    AxisValues,
    ProblemGrid,
    Quiet,
    declared,
    given,
    grouped,
    option,
    problem_flags,
    switch,
    whole_option,
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
    from doubletrouble.sweep import SweepResult


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


# --- simulate ------------------------------------------------------------------------------------

_SIMULATION = _defaults(run_simulation)
DEVICES = ("auto", "cpu", "torch", "cuda")
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
        int | None,
        whole_option(
            "n_data", "independent draws, of two data sets each", default=_SIMULATION["n_data"]
        ),
    ] = None
    n_init: Annotated[
        int | None,
        whole_option("n_init", "sets of random features in a draw", default=_SIMULATION["n_init"]),
    ] = None
    seed: Annotated[
        int | None, whole_option("seed", "seed of the random numbers", default=_SIMULATION["seed"])
    ] = None
    device: Annotated[
        str | None,
        _simulated(
            "device",
            "'auto', 'cpu', 'torch', or a device of torch",
            choices=DEVICES,
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
_HASH_LENGTH = 12  # characters of a hash in messages

sweep = typer.Typer(
    help="Run grids of simulations.",
    callback=help_without_command,
    invoke_without_command=True,
    rich_markup_mode=None,
)

StorePath = Annotated[Path, typer.Argument(help="The store, an SQLite file.")]
Workers = Annotated[
    int | None,
    whole_option("workers", "Processes; 1 is this one, as many as processors if left out."),
]
Scheduler = Annotated[
    str | None,
    option("A Dask scheduler, tcp://host:port.", "ADDRESS"),
]
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
    device: Annotated[
        str | None,
        option(
            "'cpu', 'torch', or a device of torch; other devices give other cells",
            choices=DEVICES,
            default="cpu",
        ),
    ] = None


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
    form: Form,
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
    result = cells.run(store, workers=workers, scheduler=scheduler, progress=not quiet)
    return _finish(result, form)


@sweep.command()
@grouped
def retry(
    store: StorePath,
    *,
    sweep: Hash = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    form: Form,
) -> int:
    """Compute the cells that failed again."""
    from doubletrouble.sweep import Sweep

    result = Sweep.from_store(store, sweep).run(
        store, retry=True, workers=workers, scheduler=scheduler, progress=not quiet
    )
    return _finish(result, form)


@sweep.command()
@grouped
def status(store: StorePath, *, sweep: Hash = None, form: Form) -> None:
    """Print the results of a sweep; of several in a store, the numbers of their cells."""
    from doubletrouble.sweep import StoredSweeps, Sweep

    if sweep is None and len((several := StoredSweeps.of(store)).results) > 1:
        form.show(several)
    else:
        form.show(Sweep.from_store(store, sweep).results(store))


@sweep.command()
def export(
    store: StorePath,
    out: Annotated[Path, typer.Argument(help="The table to write: .csv, .parquet or .json.")],
    sweep: Hash = None,
) -> None:
    """Write finished cells as a table: a row for every cell, scheme and number of members."""
    from doubletrouble.sweep import Sweep

    result = Sweep.from_store(store, sweep).results(store)
    show(str(result.export(out)))
    if result.missing:
        note(f"{result.missing} of {result.n_cells} cells are missing; run the sweep")


@sweep.command()
def verify(store: StorePath) -> None:
    """Check the whole content of a store, and print the number of undamaged rows."""
    from doubletrouble.runs import Store

    with Store.read(store) as opened:
        show(f"{opened.verify()} rows of {store} are undamaged")


def _finish(result: "SweepResult", form: Form) -> int:
    """Print the result of a run, and the command that retries failed cells."""
    form.show(result)
    if not result.failed:
        return 0
    note(
        f"{result.failed} of {result.n_cells} cells failed; to try them again: "
        f"doubletrouble sweep retry {result.store} --sweep {result.sweep.hash[:_HASH_LENGTH]}"
    )
    return _INCOMPLETE


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
        whole_option(
            "pca",
            f"D: directions on which images are projected, or '{_ALL}' their pixels",
            default=_DATA["pca"],
            word=_ALL,
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
        whole_option(
            "n_samples",
            f"N: {glossary.N_SAMPLES.meaning}, or '{_ALL}'",
            default=_DATA["n_samples"],
            word=_ALL,
        ),
    ] = None
    n_test: Annotated[
        Any, whole_option("n_test", f"test samples, or '{_ALL}'", default=_ALL, word=_ALL)
    ] = None
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
        whole_option("max_steps", "steps after which training ends", default=Training.max_steps),
    ] = None
    patience: Annotated[
        int | None,
        whole_option(
            "patience",
            "steps that the rule of convergence averages over; as many as --max-steps switch "
            "it off",
            default="a tenth of --max-steps, at least 100",
        ),
    ] = None
    tolerance: Annotated[
        float | None, declared("tolerance", several=False, default=Training.tolerance)
    ] = None
    batch_size: Annotated[int | None, whole_option("batch_size", "samples in a step of sgd")] = None
    seed: Annotated[int | None, whole_option("seed", "seed of the random numbers", default=0)] = (
        None
    )
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
def lazy(
    *,
    images: _DataFlags,
    networks: _NetworkFlags,
    stored: Annotated[
        Path | None,
        option("Print the ensembles in this file, and train none; no other flag.", "FILE"),
    ] = None,
    quiet: Quiet = False,
    form: Form,
) -> int:
    """Train ensembles of lazy networks on images of two classes, and print their test errors.

    A network f of L layers is trained as F = α (f - f₀), f₀ being f at initialization. Networks of
    all values of --width and --laziness are trained together. Errors are error rates of test
    images: of one network (± the standard deviation over the members), of the mean of K
    networks, and of their vote. A network stops at zero loss, when its loss has converged, after
    --max-steps, or when it diverges; those that diverged are left out of the errors.

    Without --width, a small experiment is run that shows the peak and its suppression in about a
    minute; other flags change it.
    """
    if stored is not None:
        if others := {**given(images), **given(networks)}:
            raise ValueError(f"stored must be given without {next(iter(others))}, got {stored}")
        from doubletrouble.networks import stored_curve

        form.show(stored_curve(stored))
        return 0
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
