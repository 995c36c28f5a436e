"""The command of lazy networks: the test errors of ensembles.

The flags do not need torch, which is imported when training starts.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

import typer

from doubletrouble import glossary
from doubletrouble.cli._flags import (
    AxisValues,
    FlagError,
    Quiet,
    declared,
    grouped,
    option,
    was_given,
)
from doubletrouble.cli._output import note
from doubletrouble.cli._report import Form
from doubletrouble.data import NAMES, PARITY, SCALINGS, Data, load_data
from doubletrouble.errors import require
from doubletrouble.losses import CLASSIFIER_LOSSES
from doubletrouble.networks import (
    DEFAULTS,
    DTYPES,
    LAPTOP,
    OPTIMIZERS,
    Training,
)

DIVERGED = 1
"""Exit code if all networks of an ensemble diverged."""

_DATA_DEFAULTS = {name: p.default for name, p in inspect.signature(load_data).parameters.items()}
_ALL = "all"
_N_MEMBERS = replace(glossary.N_MEMBERS, meaning="networks averaged", high=1e6)
_LAZINESS = AxisValues((round(DEFAULTS["laziness"]),))
_SMALL_RUN = {  # the flags of the experiment without --width
    "n_samples": LAPTOP["n_samples"],
    "width": AxisValues(LAPTOP["widths"]),
    "laziness": AxisValues(LAPTOP["laziness"]),
    "n_members": LAPTOP["ensemble"],
    **{f.name: LAPTOP[f.name] for f in fields(Training) if f.name in LAPTOP},
}
_SMALL_WORDS = " ".join(f"--{n.replace('_', '-')} {value}" for n, value in _SMALL_RUN.items())


# --- flags ---------------------------------------------------------------------------------------


def _count(name: str) -> Callable[[Any], int | None]:
    """The parser of a number, or None for all."""

    def parse(value: Any) -> int | None:
        try:
            return None if value == _ALL else int(value)
        except ValueError:
            message = f"{name} must be a whole number or '{_ALL}', got {value!r}"
            raise FlagError(message) from None

    return parse


_N_SAMPLES = option(
    f"N: {glossary.N_SAMPLES.meaning}, or '{_ALL}'", "COUNT", parser=_count("n_samples")
)


@dataclass(frozen=True, kw_only=True)
class _DataFlags:
    """Arguments of `load_data`."""

    data: Annotated[
        str,
        option(f"{', '.join(NAMES)}, or the path of an .npz file", choices=NAMES),
    ] = _DATA_DEFAULTS["name"]
    folder: Annotated[
        str | None,
        option(
            "where the files of the data are, or are downloaded to; scikit-learn's if left out",
            "FOLDER",
        ),
    ] = None
    pca: Annotated[
        int | None,
        option(
            f"D: directions on which images are projected, or '{_ALL}' their pixels",
            "COUNT",
            parser=_count("pca"),
        ),
    ] = _DATA_DEFAULTS["pca"]
    labels: Annotated[
        str,
        option(
            f"'{PARITY}': even classes against odd ones; A,B: class A against B", choices=(PARITY,)
        ),
    ] = PARITY
    n_samples: Annotated[int | None, _N_SAMPLES] = _DATA_DEFAULTS["n_samples"]
    n_test: Annotated[
        int | None,
        option(f"test samples, or '{_ALL}'", "COUNT", parser=_count("n_test"), show_default=_ALL),
    ] = None
    scaling: Annotated[
        str,
        option(
            "'authors': as in the code of the paper; 'whiten': unit covariance", choices=SCALINGS
        ),
    ] = _DATA_DEFAULTS["scaling"]
    download: Annotated[
        bool, typer.Option(help="Read sets without files from OpenML, or not.", show_default=False)
    ] = True

    def load(self, **changes: Any) -> Data:
        """Load the images; `changes` replace arguments."""
        arguments: dict[str, Any] = asdict(self) | changes
        name, labels = arguments.pop("data"), arguments.pop("labels")
        with suppress(ValueError):  # two classes, or a name, which the library validates
            labels = tuple(int(word) for word in labels.split(","))
        return load_data(name, labels=labels, **arguments)

    def parameters(self, data: Data) -> dict[str, Any]:
        """The name, the sizes, the labels and the scaling of the data."""
        n, dim = data.x_train.shape
        return {
            "data": data.name,
            "n_samples": n,
            "n_test": len(data.y_test),
            "dim": dim,
            "labels": self.labels,
            "scaling": self.scaling,
        }


_LOSS = option(", ".join(CLASSIFIER_LOSSES), choices=CLASSIFIER_LOSSES)


@dataclass(frozen=True, kw_only=True)
class _TrainingFlags:
    """Arguments of `Training`."""

    loss: Annotated[str, _LOSS] = Training.loss
    optimizer: Annotated[
        str,
        option(
            "'adam' or 'gd' on all samples, 'sgd' on --batch-size of them, 'exact' for α = inf "
            "with squared loss; 'auto': exact where it can be, else adam",
            choices=OPTIMIZERS,
        ),
    ] = Training.optimizer
    learning_rate: Annotated[
        float | None,
        declared(
            "learning_rate",
            several=False,
            show_default="0.1 min(1, α) for adam; for the others, from the curvature",
        ),
    ] = None
    max_steps: Annotated[int, option("steps after which training ends", "INTEGER")] = (
        Training.max_steps
    )
    patience: Annotated[
        int | None,
        option(
            "steps that the rule of convergence averages over; as many as --max-steps switch "
            "it off",
            "INTEGER",
            show_default="a tenth of --max-steps, at least 100",
        ),
    ] = None
    tolerance: Annotated[float, declared("tolerance", several=False)] = Training.tolerance
    batch_size: Annotated[int | None, option("samples in a step of sgd", "INTEGER")] = None


_DEPTH = declared("depth", several=False)


@dataclass(frozen=True, kw_only=True)
class _RunFlags:
    """Where training runs, and its random numbers."""

    seed: Annotated[int, option("seed of the random numbers", "INTEGER")] = 0
    device: Annotated[
        str,
        option(
            "'auto': a GPU where there is one; 'cpu', 'cuda', or a device of torch",
            choices=("auto", "cpu", "cuda"),
        ),
    ] = "auto"
    dtype: Annotated[
        str, option("'tf32': coarser matrix products on a GPU, and faster ones", choices=DTYPES)
    ] = DTYPES[0]
    memory: Annotated[
        float | None,
        declared("memory", glossary.MEMORY, several=False, show_default="all that is free"),
    ] = None


# --- commands ------------------------------------------------------------------------------------


@grouped
def lazy(
    *,
    context: typer.Context,
    images: _DataFlags,
    width: Annotated[
        AxisValues | None, declared("width", show_default=f"the small experiment {_SMALL_WORDS}")
    ] = None,
    depth: Annotated[int, _DEPTH] = DEFAULTS["depth"],
    laziness: Annotated[AxisValues, declared("laziness")] = _LAZINESS,
    n_members: Annotated[int, declared("n_members", _N_MEMBERS, several=False)] = DEFAULTS[
        "ensemble"
    ],
    training: _TrainingFlags,
    run: _RunFlags,
    store: Annotated[
        str | None,
        option("an SQLite file of finished ensembles, from which the same command resumes", "FILE"),
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
    small = {} if width else {n: v for n, v in _SMALL_RUN.items() if not was_given(context, n)}
    options = asdict(training)
    rule = Training(**options | {name: small[name] for name in options if name in small})
    require("torch", "networks")
    from doubletrouble import lazy_curve

    data = images.load(**{name: small[name] for name in ("n_samples",) if name in small})
    curve = lazy_curve(
        data,
        widths=tuple(map(int, width or small["width"])),
        laziness=tuple(small.get("laziness", laziness)),
        ensemble=small.get("n_members", n_members),
        depth=depth,
        store=store,
        progress=not quiet,
        **asdict(run),
        **asdict(rule),
    )
    parameters = images.parameters(data)
    parameters |= {"n_members": curve.runs[0].n_members, "depth": depth, **asdict(run)}
    parameters |= {**asdict(rule), "patience": rule.window}
    form.show(curve, "Test error of lazy networks", parameters)
    lost = [int(one.diverged.sum()) for one in curve.runs]
    sizes = [one.n_members for one in curve.runs]
    if diverged := sum(lost):
        note(f"{diverged} of {sum(sizes)} networks diverged; a smaller --learning-rate may help")
    return DIVERGED if any(a == b for a, b in zip(lost, sizes, strict=True)) else 0
