"""Commands of lazy networks: the test errors of ensembles, and their parts by cause.

The flags do not need torch, which is imported when training starts.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from doubletrouble import glossary
from doubletrouble.cli._flags import (
    SCHEME_OPTIONS,
    SPECS,
    choice,
    ensemble_flags,
    ensembles,
    explained,
    flag,
    has_snr,
    one_number,
    takes,
)
from doubletrouble.cli._output import ERROR, Report, aligned, measured
from doubletrouble.data import NAMES, PARITY, SCALINGS, Data, load_data
from doubletrouble.ensembles import Scheme
from doubletrouble.errors import require
from doubletrouble.networks import DTYPES, LAPTOP, LOSSES, OPTIMIZERS, STATUSES, Training
from doubletrouble.parameters import number
from doubletrouble.problems import noise_at
from doubletrouble.ranges import number_axis, whole_axis

if TYPE_CHECKING:
    from doubletrouble.networks import LazySplit

DIVERGED = 1
"""Exit code if all networks of an ensemble diverged."""

DEFAULTS: dict[str, Any] = {
    "width": 30,
    "depth": 5,
    "laziness": 100.0,
    "ensemble": 20,
    "seed": 0,
    "device": "auto",
    "dtype": "float32",
    "n_data": 5,
    "n_init": 5,
    "n_noise": 2,
    "noise": 0.0,
    "flips": 0.0,
}
"""Defaults of `train_lazy` and `lazy_split`, whose module needs torch; a test compares them."""

_DATA_DEFAULTS = {name: p.default for name, p in inspect.signature(load_data).parameters.items()}
_TRAINING_DEFAULTS: dict[str, Any] = {f.name: f.default for f in fields(Training)}

_LOSS = {"lazy": _TRAINING_DEFAULTS["loss"], "lazy-split": "squared"}
_SAMPLES = {"lazy": str(_DATA_DEFAULTS["n_train"]), "lazy-split": "200"}  # of each data set
_COMMON = ("depth", "seed", "device", "dtype", "memory")
_SPLIT = ("width", "laziness", "n_data", "n_init", "n_noise", "noise", "flips")
_ALL = "all"

_SMALL_RUN = {  # the flags of the experiment without --width
    "n_train": f"{LAPTOP['n_train']}",
    "width": ",".join(f"{width}" for width in LAPTOP["widths"]),
    "laziness": ",".join(f"{alpha:g}" for alpha in LAPTOP["laziness"]),
    "n_members": LAPTOP["ensemble"],
    "loss": LAPTOP["loss"],
    "learning_rate": LAPTOP["learning_rate"],
    "max_steps": LAPTOP["max_steps"],
}
_SMALL_WORDS = " ".join(f"--{n.replace('_', '-')} {value}" for n, value in _SMALL_RUN.items())


# --- flags ---------------------------------------------------------------------------------------


def _declared(name: str, kind: type) -> inspect.Parameter:
    """Return the flag of a declared number."""
    default = {**DEFAULTS, **_TRAINING_DEFAULTS}[name]
    return flag(name, kind, explained(name), default, metavar="NUMBER")


def _optional(name: str, kind: type, text: str, default: str, metavar: str) -> inspect.Parameter:
    """Return a flag that is None if it is not given; other flags may change its default."""
    return flag(name, kind, f"{text} [default: {default}]", metavar=metavar)


def _data_flags(n_train: str) -> tuple[inspect.Parameter, ...]:
    data = f"{', '.join(NAMES)}, or the path of a stored projection, an .npz file"
    folder = "where the files of the data are, or are downloaded to; the cache if left out"
    pca = f"D: directions on which images are projected, or '{_ALL}' their pixels"
    labels = f"'{PARITY}': even classes against odd ones; A,B: class A against B"
    scaling = "'authors': as in the code of the paper; 'whiten': unit covariance"
    samples = f"N: {glossary.N_SAMPLES.meaning}, or '{_ALL}'"
    return (
        choice("data", data, _DATA_DEFAULTS["name"], NAMES),
        flag("folder", str, folder, metavar="FOLDER"),
        flag("pca", str, pca, str(_DATA_DEFAULTS["pca"]), metavar="COUNT"),
        choice("labels", labels, PARITY, (PARITY,)),
        _optional("n_train", str, samples, n_train, "COUNT"),
        flag("n_test", str, f"test samples, or '{_ALL}'", _ALL, metavar="COUNT"),
        choice("scaling", scaling, _DATA_DEFAULTS["scaling"], SCALINGS),
        flag("download", bool, "Download missing files, or not.", True),
    )


def _training_flags(loss: str) -> tuple[inspect.Parameter, ...]:
    optimizer = (
        "'adam' or 'gd' on all samples, 'sgd' on --batch-size of them, 'exact' for α = inf with "
        "squared loss; 'auto': exact where it can be, else adam"
    )
    rate = (
        f"{explained('learning_rate')} [default: 0.1 min(1, α) for adam; for the others, from the "
        "curvature]"
    )
    patience = (
        "steps that the rule of convergence averages over; as many as --max-steps switch it off "
        "[default: a tenth of --max-steps, at least 100]"
    )
    steps = _TRAINING_DEFAULTS["max_steps"]
    return (
        choice("loss", f"{', '.join(LOSSES)} [default: {loss}]", None, LOSSES),
        choice("optimizer", optimizer, _TRAINING_DEFAULTS["optimizer"], OPTIMIZERS),
        flag("learning_rate", float, rate, metavar="NUMBER"),
        _optional("max_steps", int, "steps after which training ends", str(steps), "INTEGER"),
        flag("patience", int, patience),
        _declared("tolerance", float),
        flag("batch_size", int, "samples in a step of sgd"),
    )


def _run_flags(store: str) -> tuple[inspect.Parameter, ...]:
    device = "'auto': a GPU where there is one; 'cpu', 'cuda', or a device of torch"
    dtype = "'tf32': coarser matrix products on a GPU, and faster ones"
    memory = f"{glossary.MEMORY.symbol}: {glossary.MEMORY.meaning} [default: all that is free]"
    return (
        flag("seed", int, "seed of the random numbers", DEFAULTS["seed"]),
        choice("device", device, DEFAULTS["device"], ("auto", "cpu", "cuda")),
        choice("dtype", dtype, DEFAULTS["dtype"], DTYPES),
        flag("memory", float, memory, metavar="NUMBER"),
        flag("store", str, store, metavar="FILE"),
        flag("quiet", bool, "No progress bar.", False),
    )


# --- commands ------------------------------------------------------------------------------------


@takes(
    *_data_flags(_SAMPLES["lazy"]),
    flag(
        "width",
        str,
        f"{explained('width')} [default: the small experiment {_SMALL_WORDS}]",
        metavar="RANGE",
    ),
    _declared("depth", int),
    _optional("laziness", str, explained("laziness"), f"{DEFAULTS['laziness']:g}", "RANGE"),
    *ensemble_flags(several=False, default=f"{DEFAULTS['ensemble']}"),
    *_training_flags(_LOSS["lazy"]),
    *_run_flags("an SQLite file of finished ensembles, from which the same command resumes"),
)
def lazy(**given: Any) -> Report:
    """Train ensembles of lazy networks on images of two classes, and print their test errors.

    A network f of L layers is trained as F = α (f - f₀), f₀ being f at initialization. Networks of
    all values of --width and --laziness are trained together. Errors are shares of misclassified
    test images: of one network (± the standard deviation over the members), of the mean of K
    networks, and of their vote. A network stops at zero loss, when its loss has converged, after
    --max-steps, or when it diverges; those that diverged are left out of the errors.

    Without --width, a small experiment is run that shows the peak and its suppression in about a
    minute; other flags change it.
    """
    usual = {
        "n_train": _SAMPLES["lazy"],
        "laziness": DEFAULTS["laziness"],
        "n_members": DEFAULTS["ensemble"],
        "loss": _LOSS["lazy"],
        "max_steps": _TRAINING_DEFAULTS["max_steps"],
    }
    given = _with_defaults(given, _SMALL_RUN if given["width"] is None else usual)
    widths = whole_axis("width", given["width"], glossary.WIDTH)
    alphas = number_axis("laziness", given["laziness"], glossary.LAZINESS)
    training = Training(**{name: given[name] for name in _TRAINING_DEFAULTS})
    ensemble = _ensemble(given)
    require("torch", "networks")
    from doubletrouble import lazy_curve

    data, options = _data(given), {name: given[name] for name in _COMMON}
    curve = lazy_curve(
        data,
        widths=widths,
        laziness=alphas,
        ensemble=ensemble,
        store=given["store"],
        progress=not given["quiet"],
        **options,
        **asdict(training),
    )
    rows = curve.table()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    parameters = {**_data_parameters(given, data), "n_members": curve.runs[0].n_members, **options}
    diverged, total = sum(columns["diverged"]), sum(columns["n_members"])
    return Report(
        title="Test error of lazy networks",
        columns=columns,
        cells=_cells(columns),
        parameters={**parameters, **asdict(training), "patience": training.window},
        warning=f"{diverged} of {total} networks diverged; a smaller --learning-rate may help"
        if diverged
        else "",
        exit_code=DIVERGED if any(map(math.isnan, columns["single_error"])) else 0,
    )


@takes(
    *_data_flags(_SAMPLES["lazy-split"]),
    _declared("width", int),
    _declared("depth", int),
    _declared("laziness", float),
    flag("n_data", int, "disjoint data sets of N samples", DEFAULTS["n_data"]),
    flag("n_init", int, "initializations, the same for every data set", DEFAULTS["n_init"]),
    flag("n_noise", int, "draws of the label noise for each data set", DEFAULTS["n_noise"]),
    _optional("noise", float, explained("noise"), f"{DEFAULTS['noise']:g}", "NUMBER"),
    flag(
        "snr",
        float,
        f"{explained('snr')}; in place of --noise, F being 1 for labels ±1",
        metavar="NUMBER",
    ),
    _declared("flips", float),
    *_training_flags(_LOSS["lazy-split"]),
    *_run_flags("a file from which the same command resumes after an interruption"),
)
def lazy_split(**given: Any) -> Report:
    """Train lazy networks on several data sets, and print their squared test error by cause.

    The parts are noise (that of the training labels), initialization (the variance over initial
    weights), sampling (the variance over training images) and bias (the error of the mean
    predictor), each ± its standard error.
    """
    if has_snr(given):
        given["noise"] = noise_at(number("snr", given["snr"], glossary.SNR))
    usual = {
        "n_train": _SAMPLES["lazy-split"],
        "noise": DEFAULTS["noise"],
        "loss": _LOSS["lazy-split"],
        "max_steps": _TRAINING_DEFAULTS["max_steps"],
    }
    given = _with_defaults(given, usual)
    training = Training(**{name: given[name] for name in _TRAINING_DEFAULTS})
    require("torch", "networks")
    from doubletrouble import lazy_split as split

    data, options = _data(given), {name: given[name] for name in (*_SPLIT, *_COMMON)}
    result = split(
        data, store=given["store"], progress=not given["quiet"], **options, **asdict(training)
    )
    parameters = {**_data_parameters(given, data), **options, **asdict(training)}
    parameters |= {"patience": training.window, "n_noise": result.predictions.shape[1]}
    return Report(
        title="Squared test error of lazy networks",
        columns=_split_columns(result),
        parameters=parameters,
        summary=str(result),
    )


# --- from flags to arguments ---------------------------------------------------------------------


def _with_defaults(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, **{name: v for name, v in defaults.items() if given[name] is None}}


def _ensemble(given: Mapping[str, Any]) -> Scheme:
    size = one_number("n_members", given["n_members"], SPECS["n_members"])
    options = {name: one_number(name, given[name], SPECS[name]) for name in SCHEME_OPTIONS}
    if size is None or math.isinf(size):
        raise ValueError(f"n_members must be finite for networks, got {given['n_members']!r}")
    (ensemble,) = ensembles([given["scheme"]], size, options, "train_lazy")
    return ensemble


def _data(given: Mapping[str, Any]) -> Data:
    return load_data(
        given["data"],
        labels=_labels(given["labels"]),
        folder=given["folder"],
        scaling=given["scaling"],
        download=given["download"],
        pca=_count("pca", given["pca"]),
        n_train=_count("n_train", given["n_train"]),
        n_test=_count("n_test", given["n_test"]),
    )


def _count(name: str, text: str) -> int | None:
    """Return a number, or None for all."""
    if text == _ALL:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number or '{_ALL}', got {text!r}") from None


def _labels(text: str) -> Any:
    """Return two classes, or a name; validated by the library."""
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        return text


# --- results -------------------------------------------------------------------------------------


def _data_parameters(given: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """Return the name, the sizes, the labels and the scaling of the data."""
    n, dim = data.x_train.shape
    return {
        "data": data.name,
        "n_train": n,
        "n_test": len(data.y_test),
        "dim": dim,
        "labels": given["labels"],
        "scaling": given["scaling"],
    }


def _cells(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """Return the table as text: error ± standard deviation, statuses in one column."""
    single = zip(columns["single_error"], columns["single_std"], strict=True)
    counts = zip(*(columns[name] for name in STATUSES), strict=True)
    return {
        "α": aligned(columns["laziness"]),
        "w": [str(width) for width in columns["width"]],
        "one network": [_with_std(*pair) for pair in single],
        "averaged": aligned(columns["ensemble_error"]),
        "vote": aligned(columns["vote_error"]),
        "training": aligned(columns["train_error"]),
        "steps": aligned(columns["median_steps"]),
        "stopped": [
            ", ".join(f"{n} {status}" for n, status in zip(row, STATUSES, strict=True) if n)
            for row in counts
        ],
    }


def _with_std(error: float, std: float) -> str:
    """Return an error ± its standard deviation, which is NaN for a single member.

    >>> _with_std(0.42901, 0.0458), _with_std(0.4, math.nan)
    ('0.429 ± 0.046', '0.4')
    """
    value, spread = measured(error, std)
    return value if math.isnan(std) else f"{value} ± {spread}"


def _split_columns(split: "LazySplit") -> dict[str, list[float]]:
    """Return one row: the parts of the squared error, then the classification errors."""
    row: dict[str, float] = {}
    error = split.error()
    for name, part in {**error.parts, "total": error.total}.items():
        row[f"{ERROR}{name}"] = float(part.value)
        row[f"{ERROR}{name}_standard_error"] = float(part.standard_error)
    row["single_error"] = split.classification_error
    row["ensemble_error"] = split.ensemble_error
    row["vote_error"] = split.vote_error
    row["train_error"] = float(split.train_error.mean())
    return {name: [value] for name, value in row.items()}
