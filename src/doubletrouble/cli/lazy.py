"""Ensembles of lazy networks: their test errors, and the parts of these.

Names and defaults of the flags do not need torch, which is imported when training starts.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import typer

from doubletrouble import glossary
from doubletrouble.cli.digits import aligned, measured
from doubletrouble.cli.flags import FORMS, ensemble_flags, explained, flag, takes
from doubletrouble.cli.output import note
from doubletrouble.cli.question import has_snr, one_ensemble
from doubletrouble.cli.report import ERROR, Report, one_form
from doubletrouble.data import NAMES, PARITY, SCALINGS, Data, load_data
from doubletrouble.ensembles import as_ensemble
from doubletrouble.errors import require
from doubletrouble.networks import DTYPES, LAPTOP, LOSSES, OPTIMIZERS, STATUSES, Training
from doubletrouble.parameters import number
from doubletrouble.problems import noise_at
from doubletrouble.ranges import number_axis, whole_axis

if TYPE_CHECKING:
    from doubletrouble.networks import LazySplit

_SMALL_RUN = {
    "n_train": f"{LAPTOP['n_train']}",
    "width": ",".join(f"{width}" for width in LAPTOP["widths"]),
    "laziness": ",".join(f"{alpha:g}" for alpha in LAPTOP["laziness"]),
    "n_members": LAPTOP["ensemble"],
    **{name: LAPTOP[name] for name in ("loss", "learning_rate", "max_steps")},
}


def _words(given: Mapping[str, Any]) -> str:
    """Options as command-line flags."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())


DEFAULTS: dict[str, Any] = {
    "width": 30, "depth": 5, "laziness": 100.0, "ensemble": 20, "seed": 0, "device": "auto",
    "dtype": "float32", "n_data": 5, "n_init": 5, "n_noise": 2, "noise": 0.0, "flips": 0.0,
}  # fmt: skip
"""Those of `train_lazy` and `lazy_split`; a test compares them."""

LOST = 1  # exit code when nothing is left of an ensemble

_LOADED = {name: p.default for name, p in inspect.signature(load_data).parameters.items()}
_TRAINED: dict[str, Any] = {f.name: f.default for f in fields(Training)}
_ALL = "all"
_SMALL = 200  # samples of each of the data sets that the digits are cut into
_SPLIT_LOSS = "squared"
_COMMON = ("depth", "seed", "device", "dtype", "memory")
_SPLIT = ("width", "laziness", "n_data", "n_init", "n_noise", "noise", "flips")


def _number(name: str, kind: type) -> inspect.Parameter:
    """The flag of one declared number."""
    default = {**DEFAULTS, **_TRAINED}[name]
    return flag(name, kind, explained(name), default, metavar="NUMBER")


def _data_flags(n_train: int) -> tuple[inspect.Parameter, ...]:
    return (
        flag("data", str, f"{', '.join(NAMES)}, or the path of a stored projection, an .npz file",
             _LOADED["name"], choices=NAMES, metavar="NAME"),
        flag("folder", str, "where the files of the data are, or are downloaded to; the cache if "
             "left out", metavar="FOLDER"),
        flag("pca", str, f"D: directions on which images are projected, or '{_ALL}' their pixels",
             str(_LOADED["pca"]), metavar="COUNT"),
        flag("labels", str, f"'{PARITY}': even classes against odd ones; A,B: class A against B",
             PARITY, choices=(PARITY,), metavar="NAME"),
        flag("n_train", str, f"N: {glossary.N_SAMPLES.meaning}, or '{_ALL}'", str(n_train),
             metavar="COUNT"),
        flag("n_test", str, f"test samples, or '{_ALL}'", _ALL, metavar="COUNT"),
        flag("scaling", str, "'authors': as in the code of the paper; 'whiten': unit covariance",
             _LOADED["scaling"], choices=SCALINGS, metavar="NAME"),
        flag("download", bool, "Fetch files that are not there, or not.", True),
    )  # fmt: skip


def _training_flags(loss: str) -> tuple[inspect.Parameter, ...]:
    return (
        flag("loss", str, ", ".join(LOSSES), loss, choices=LOSSES, metavar="NAME"),
        flag("optimizer", str, "'adam' or 'gd' on all samples, 'sgd' on --batch-size of them, "
             "'exact' for α = inf with squared loss; 'auto': exact where it can be, else adam",
             _TRAINED["optimizer"], choices=OPTIMIZERS, metavar="NAME"),
        flag("learning_rate", float, f"{explained('learning_rate')} [default: 0.1 min(1, α) for "
             "adam; for the others, what the curvature allows]",
             metavar="NUMBER"),
        flag("max_steps", int, "steps after which training ends", _TRAINED["max_steps"]),
        flag("patience", int, "steps that the rule of convergence averages over; as many as "
             "--max-steps switch it off [default: a tenth of --max-steps, at least 100]"),
        _number("tolerance", float),
        flag("batch_size", int, "samples in a step of sgd"),
    )  # fmt: skip


_PLACE = (
    flag("seed", int, "seed of everything random", DEFAULTS["seed"]),
    flag("device", str, "'auto': a GPU where there is one; 'cpu', 'cuda', or a device of torch",
         DEFAULTS["device"], choices=("auto", "cpu", "cuda"), metavar="NAME"),
    flag("dtype", str, "'tf32': coarser matrix products on a GPU, and faster ones",
         DEFAULTS["dtype"], choices=DTYPES, metavar="NAME"),
    flag("memory", float, f"{glossary.MEMORY.symbol}: {glossary.MEMORY.meaning} [default: all that "
         "is free]", metavar="NUMBER"),
)  # fmt: skip
_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
_QUIET = flag("quiet", bool, "No progress bar.", False)


@takes(
    *_data_flags(_LOADED["n_train"]),
    flag("width", str, f"{explained('width')} [default: the small experiment "
         f"{_words(_SMALL_RUN)}]", metavar="RANGE"),
    _number("depth", int),
    flag("laziness", str, explained("laziness"), f"{DEFAULTS['laziness']:g}", metavar="RANGE"),
    *ensemble_flags(several=False, default=f"{DEFAULTS['ensemble']}"),
    *_training_flags(_TRAINED["loss"]), *_PLACE,
    flag("store", str, "an SQLite file for what is finished; the same command goes on from there",
         metavar="FILE"),
    _QUIET, *FORMS, _CONTEXT,
)  # fmt: skip
def lazy(**given: Any) -> int:
    """Train ensembles of lazy networks on images of two classes, and print their test errors.

    A network f of L layers is trained as F = α (f - f₀), f₀ being f at initialization. Networks of
    all values of --width and --laziness are trained together. Errors are shares of misclassified
    test images: of one network (± the standard deviation over the members), of the mean of K
    networks, and of their vote. A network stops at zero loss, when its loss has converged, after
    --max-steps, or when it diverges; those that diverged are left out of the errors.

    Without --width, a small experiment is run that shows the peak and its suppression in about a
    minute; other flags change it.
    """
    given = _laptop(given)
    widths = whole_axis("width", given["width"], glossary.WIDTH)
    alphas = number_axis("laziness", given["laziness"], glossary.LAZINESS)
    training = _training(given)
    ensemble = as_ensemble(one_ensemble(given, DEFAULTS["ensemble"]), "train_lazy")
    require("torch", "networks")
    from doubletrouble import lazy_curve

    data, options = _data(given), _some(given, *_COMMON)
    curve = lazy_curve(
        data, widths=widths, laziness=alphas, ensemble=ensemble, store=given["store"],
        progress=not given["quiet"], **options, **asdict(training),
    )  # fmt: skip
    rows = curve.table()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    report = Report(
        title="Test error of lazy networks", columns=columns, cells=_cells(columns),
        parameters=_of_data(given, data) | {"n_members": curve.runs[0].n_members} | options
        | asdict(training) | {"patience": training.window},
    )  # fmt: skip
    report.show(json=given["json"], csv=given["csv"])
    if lost := sum(columns["diverged"]):
        note(f"{lost} of {sum(columns['n_members'])} networks diverged; a smaller --learning-rate "
             "may help")  # fmt: skip
    return LOST if any(map(math.isnan, columns["single_error"])) else 0


@takes(
    *_data_flags(_SMALL), _number("width", int), _number("depth", int), _number("laziness", float),
    flag("n_data", int, "disjoint data sets of N samples", DEFAULTS["n_data"]),
    flag("n_init", int, "initializations, the same for every data set", DEFAULTS["n_init"]),
    flag("n_noise", int, "draws of the label noise of each data set, where there is any",
         DEFAULTS["n_noise"]),
    _number("noise", float),
    flag("snr", float, f"{explained('snr')}; in place of --noise, F being 1 for labels ±1",
         metavar="NUMBER"),
    _number("flips", float), *_training_flags(_SPLIT_LOSS), *_PLACE,
    flag("store", str, "a file from which the same command goes on when it was stopped",
         metavar="FILE"),
    _QUIET, *FORMS, _CONTEXT,
)  # fmt: skip
def lazy_split(**given: Any) -> None:
    """Train lazy networks on several data sets, and print their squared test error by cause.

    The parts are noise (that of the training labels), initialization (the variance over initial
    weights), sampling (the variance over training images) and bias (what is left when everything
    is averaged), each ± its standard error.
    """
    given = _with_noise(given)
    training = _training(given)
    require("torch", "networks")
    from doubletrouble import lazy_split as split

    data, options = _data(given), _some(given, *_SPLIT, *_COMMON)
    found = split(
        data, store=given["store"], progress=not given["quiet"], **options,
        **asdict(training),
    )  # fmt: skip
    report = Report(
        title="Squared test error of lazy networks", columns=_parts(found),
        parameters=_of_data(given, data) | options | asdict(training)
        | {"patience": training.window, "n_noise": found.predictions.shape[1]},
        summary=str(found),
    )  # fmt: skip
    report.show(json=given["json"], csv=given["csv"])


def _laptop(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without a width, replace the default of every flag by that of the small experiment."""
    if given["width"] is not None:
        return dict(given)
    source = given["context"].get_parameter_source
    absent = {name: value for name, value in _SMALL_RUN.items() if source(name).name == "DEFAULT"}
    return {**given, **absent}


def _with_noise(given: Mapping[str, Any]) -> dict[str, Any]:
    """Put τ = 1/SNR where the signal-to-noise ratio is given."""
    source = given["context"].get_parameter_source("noise").name
    if not has_snr({"snr": given["snr"], "noise": None if source == "DEFAULT" else given["noise"]}):
        return dict(given)
    return {**given, "noise": noise_at(number("snr", given["snr"], glossary.SNR))}


def _some(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names}


def _training(given: Mapping[str, Any]) -> Training:
    """Validate the options of training before data are loaded."""
    one_form(json=given["json"], csv=given["csv"])
    return Training(**_some(given, *_TRAINED))


def _data(given: Mapping[str, Any]) -> Data:
    counts: dict[str, Any] = {name: _count(name, given[name]) for name in _COUNTS}
    return load_data(
        given["data"], labels=_labels(given["labels"]), folder=given["folder"],
        scaling=given["scaling"], download=given["download"], **counts,
    )  # fmt: skip


_COUNTS = ("pca", "n_train", "n_test")


def _count(name: str, text: str) -> int | None:
    """A number, or None for all there are."""
    if text == _ALL:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number or '{_ALL}', got {text!r}") from None


def _labels(text: str) -> Any:
    """Two classes, or a name; validated by the library."""
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        return text


def _of_data(given: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """The data of a result: name, sizes, labels and scaling."""
    n, dim = data.x_train.shape
    sizes = {"n_train": n, "n_test": len(data.y_test), "dim": dim}
    return {"data": data.name, **sizes, **_some(given, "labels", "scaling")}


def _cells(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """As text: error ± standard deviation, and the statuses of the members in one column."""
    single = zip(columns["single_error"], columns["single_std"], strict=True)
    reasons = zip(*(columns[name] for name in STATUSES), strict=True)
    return {
        "α": aligned(columns["laziness"]),
        "w": [str(width) for width in columns["width"]],
        "one network": [_spread(*pair) for pair in single],
        "averaged": aligned(columns["ensemble_error"]),
        "vote": aligned(columns["vote_error"]),
        "training": aligned(columns["train_error"]),
        "steps": aligned(columns["median_steps"]),
        "stopped": [_counted(counts) for counts in reasons],
    }


def _spread(error: float, std: float) -> str:
    """An error and its standard deviation, which a single member does not have.

    >>> _spread(0.42901, 0.0458), _spread(0.4, math.nan)
    ('0.429 ± 0.046', '0.4')
    """
    value, spread = measured(error, std)
    return value if math.isnan(std) else f"{value} ± {spread}"


def _counted(counts: tuple[int, ...]) -> str:
    """The number of members by status."""
    reasons = zip(counts, STATUSES, strict=True)
    return ", ".join(f"{count} {reason}" for count, reason in reasons if count)


def _parts(found: "LazySplit") -> dict[str, list[float]]:
    """One row: the parts of the squared error as in the tables of sweeps, then the shares."""
    row: dict[str, float] = {}
    error = found.error()
    for name, part in {**error.parts, "total": error.total}.items():
        row[f"{ERROR}{name}"] = float(part.value)
        row[f"{ERROR}{name}_standard_error"] = float(part.standard_error)
    row |= {
        "single_error": found.classification_error, "ensemble_error": found.ensemble_error,
        "vote_error": found.vote_error, "train_error": float(found.train_error.mean()),
    }  # fmt: skip
    return {name: [value] for name, value in row.items()}
