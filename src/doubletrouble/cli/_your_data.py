"""Commands of your data: predictions in a file, and learners on a table."""

import json
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_args
from zipfile import is_zipfile

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble._numbers import CONFIDENCE
from doubletrouble.activations import NAMES
from doubletrouble.cli._flags import (
    AxisValues,
    Quiet,
    arrays,
    declared,
    given,
    grouped,
    option,
    switch,
    whole_option,
)
from doubletrouble.cli._output import Form
from doubletrouble.costs import COSTS
from doubletrouble.errors import require
from doubletrouble.forecasting import DEFAULT_RIDGE
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import check_level
from doubletrouble.tables import Columns, TableRows, left_out, listed, read_table

_CONFIDENCE = option("Confidence level of the intervals.", "NUMBER", default=CONFIDENCE)

# --- decompose -----------------------------------------------------------------------------------

_KEYS = ("predictions", "truth", "y_test")


@grouped
def decompose(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            help="Predictions [data, noise, init, test], or with a fifth axis of classes, as .npy; "
            "or .npz with the arrays predictions, truth and y_test, of which the last two may be "
            "absent."
        ),
    ],
    truth: Annotated[
        Path | None,
        option("The target at the test points without noise, as .npy.", "FILE"),
    ] = None,
    y_test: Annotated[
        Path | None,
        option("The labels there, which may be noisy, as .npy.", "FILE"),
    ] = None,
    label_noise: Annotated[
        float | None,
        option("Standard deviation of the noise in --y-test.", "NUMBER"),
    ] = None,
    measure: Annotated[
        str,
        option(
            "Of probabilities of classes: 'squared', the Brier score; 'log', the cross-entropy; or "
            "'zero_one', the error rate.",
            choices=get_args(LearnerMeasure),
            default="squared",
        ),
    ] = "squared",
    confidence: Annotated[float, _CONFIDENCE] = CONFIDENCE,
    fresh: Annotated[bool, switch("Data sets do not share initializations.", "--fresh")] = False,
    form: Form,
) -> None:
    """Print the error of a learner by cause, given its predictions.

    The parts are noise (that of the training labels), initialization (the variance over seeds),
    sampling (the variance over training inputs) and bias (the error of the mean predictor), each ±
    its standard error; and the error of K averaged re-initializations. The error is the squared
    one, or another --measure for a classifier.
    """
    check_level("confidence", confidence)
    from doubletrouble.learners import decompose_predictions

    arrays = _arrays(file)
    for name, path in (("truth", truth), ("y_test", y_test)):
        if path is not None:
            arrays[name] = _array(path, name)
    try:
        split = decompose_predictions(
            **arrays,
            label_noise=label_noise,
            crossed=not fresh,
            measure=cast("LearnerMeasure", measure),
            confidence=confidence,
        )
    except TypeError as refused:  # arrays of something else than numbers
        raise ValueError(str(refused)) from refused
    form.show(split)


def _arrays(file: Path) -> dict[str, Any]:
    """The arrays of the file, by the names of arguments."""
    loaded = _loaded(file)
    if isinstance(loaded, np.ndarray):
        return {"predictions": loaded}
    with loaded:
        if "predictions" not in loaded:
            raise ValueError(
                f"file must have an array 'predictions', got {', '.join(loaded.files) or 'none'}"
            )
        return {name: loaded[name] for name in _KEYS if name in loaded}


def _array(file: Path, name: str) -> Any:
    loaded = _loaded(file, name)
    if isinstance(loaded, np.ndarray):
        return loaded
    loaded.close()
    raise ValueError(f"{name} must be one array, as .npy, got the archive {file}")


def _loaded(file: Path, name: str = "file") -> Any:
    """An array or an archive of arrays; nothing is unpickled."""
    try:
        with file.open("rb") as opened:
            signature = opened.read(2)
        if signature == b"PK" and not is_zipfile(file):  # NumPy would not close it
            raise ValueError("a truncated archive")
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = "which is neither" if file.exists() else "which does not exist"
        raise ValueError(
            f"{name} must be an array as .npy or .npz, got {file}, {reason}"
        ) from error


# --- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """A table and the roles of its columns."""

    file: Annotated[Path, typer.Argument(help="The table, .csv or .parquet, with named columns.")]
    target: Annotated[
        list[str], option("The column to predict; or several, separated by commas.", "COLUMNS")
    ]
    groups: Annotated[
        str | None, option("A column of groups, which stay together; it is not an input.", "COLUMN")
    ] = None
    drop: Annotated[
        list[str] | None, option("Columns that are not inputs, separated by commas.", "COLUMNS")
    ] = None
    one_hot: Annotated[
        list[str] | None,
        option("Columns of classes to encode as indicators.", "COLUMNS"),
    ] = None
    keep: Annotated[
        list[str] | None,
        option("Columns to use although they number the rows or are constant.", "COLUMNS"),
    ] = None
    drop_missing: Annotated[
        bool, switch("Leave out rows with missing values.", "--drop-missing")
    ] = False

    @cached_property
    def targets(self) -> list[str]:
        """The names of the targets."""
        return self._columns("target", self.target)

    def rows(self, *, missing_inputs: bool = False, text_targets: bool = False) -> TableRows:
        """The rows; `missing_inputs` may be NaN, and targets may have text with `text_targets`."""
        table, targets = self._table, self.targets
        if self.groups is not None:
            self._check("groups", self.groups)
        dropped = self._columns("drop", self.drop)
        encoded = self._columns("one_hot", self.one_hot)
        kept = self._columns("keep", self.keep)
        without = {*targets, self.groups, *dropped}
        for flag, named, others in (
            ("drop", dropped, set(targets)),
            ("one_hot", encoded, without),
            ("keep", kept, without),
        ):
            if found := [repr(name) for name in named if name in others]:
                raise ValueError(f"{flag} must be columns of inputs, got {listed(found)}")
        remarks = {
            name: remark
            for name in table
            if name not in {*without, *encoded, *kept} and (remark := left_out(table[name]))
        }
        inputs = [name for name in table if name not in without | remarks.keys()]
        shown = ", ".join(f"{name!r} ({remark})" for name, remark in remarks.items())
        if not inputs:
            raise ValueError(f"file must have columns of inputs that vary, got {shown or 'none'}")
        columns = Columns(
            table=table,
            targets=targets,
            inputs=inputs,
            groups=self.groups,
            encoded=encoded,
            text_targets=text_targets,
        )
        rows = columns.rows(
            missing_inputs=missing_inputs,
            drop_missing=self.drop_missing,
            remedy="leave out the columns with --drop, or the rows with --drop-missing",
        )
        if not remarks:
            return rows
        note = f"Columns are left out unless --keep names them: {shown}."
        return rows._replace(notes=(note, *rows.notes))

    @cached_property
    def _table(self) -> Any:
        return read_table(self.file)

    def _columns(self, flag: str, given: list[str] | None) -> list[str]:
        """The columns of a flag; a comma separates names unless it is in one."""
        names = [
            one.strip()
            for text in given or ()
            for one in ([text] if text in self._table else text.split(","))
        ]
        for name in names:
            self._check(flag, name)
        return list(dict.fromkeys(names))

    def _check(self, flag: str, name: str) -> None:
        if name not in self._table:
            known = listed(map(repr, self._table))
            raise ValueError(f"{flag} must be one of the columns {known}, got {name!r}")


# --- diagnose ------------------------------------------------------------------------------------


@grouped
def diagnose(
    *,
    data: TableFlags,
    model: Annotated[
        str,
        option("An estimator class, such as sklearn.ensemble.RandomForestRegressor.", "CLASS"),
    ],
    params: Annotated[
        str, option("Its arguments, a JSON object such as '{\"n_estimators\": 50}'.", "JSON")
    ] = "{}",
    alternative: Annotated[
        list[str] | None,
        option(
            "A learner to compare with: NAME=CLASS, 'NAME=CLASS JSON' with its arguments, or "
            "'NAME=JSON', the same class with other arguments. May be repeated.",
            "NAME=CLASS",
        ),
    ] = None,
    measure: Annotated[
        str,
        option(
            "Of a classifier: 'squared', the Brier score by cause; 'log', the cross-entropy; or "
            "'zero_one', the error rate.",
            choices=get_args(LearnerMeasure),
            default="squared",
        ),
    ] = "squared",
    noise: Annotated[
        float | None, option("Standard deviation of the noise of the target, if known.", "NUMBER")
    ] = None,
    seed: Annotated[
        int, whole_option("seed", "Of the order of the rows and of the learner.", default=0)
    ] = 0,
    confidence: Annotated[float, _CONFIDENCE] = CONFIDENCE,
    store: Annotated[
        Path | None, option("Store every fit in this SQLite file, and resume from it.", "FILE")
    ] = None,
    workers: Annotated[int, whole_option("workers", "Processes; 1 is this one.", default=1)] = 1,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Print the test error of an estimator by cause, and the gain of each option.

    The error is that of the estimator trained on all rows of the table, from 120 fits: the squared
    error, or the Brier score of a classifier. The options are averaged seeds, bags, the
    alternatives, and more data.
    """
    check_level("confidence", confidence)
    learner = _Class.of("model", model).estimator("params", _json_object("params", params))
    others: dict[str, Any] = {}
    for text in alternative or ():
        name, other = _alternative(text, learner)
        if name in others:
            raise ValueError(f"alternative must have a name of its own, got {name!r} twice")
        others[name] = other
    is_classifier = require("sklearn.base", "estimators").is_classifier(learner)
    accepted = all(_accepts_missing(one) for one in (learner, *others.values()))
    rows = data.rows(missing_inputs=accepted, text_targets=is_classifier)

    from doubletrouble.learners import diagnose as run_diagnosis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings of fits are in the notes
        result = run_diagnosis(
            learner,
            rows.inputs,
            rows.labels,
            alternatives=others,
            groups=rows.groups,
            noise=noise,
            measure=cast("LearnerMeasure", measure),
            seed=seed,
            store=store,
            workers=workers,
            confidence=confidence,
            progress=not quiet,
        )
    result = replace(result, notes=(*result.notes, *rows.notes))
    form.show(result)


# --- estimators --------------------------------------------------------------------------------


class _Class(NamedTuple):
    """An estimator class and its import path."""

    path: str
    kind: Any

    @classmethod
    def of(cls, name: str, path: str) -> "_Class":
        """Import a class with `fit` and `get_params`."""
        module, dot, attribute = path.strip().rpartition(".")
        if not (module and dot and attribute.isidentifier()):
            raise ValueError(f"{name} must be the import path of a class, got {path!r}")
        try:
            kind = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"{name} must be importable, got {path!r}: {error}") from error
        if not (isinstance(kind, type) and all(hasattr(kind, n) for n in ("fit", "get_params"))):
            raise ValueError(
                f"{name} must be an estimator class, with fit and get_params, got {path!r}"
            )
        return cls(path, kind)

    def estimator(self, name: str, arguments: dict[str, Any]) -> Any:
        """An estimator with some arguments."""
        try:
            return self.kind(**arguments)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} must be arguments of {self.kind.__name__}, got {arguments}: {error}"
            ) from error


def _alternative(text: str, learner: Any) -> tuple[str, Any]:
    """The name and the learner of NAME=CLASS, NAME=CLASS JSON or NAME=JSON."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    path, brace, arguments = rest.partition("{")
    if not (name and equals and rest):
        raise ValueError(f"alternative must be NAME=CLASS or NAME=JSON, got {text!r}")
    given = _json_object("alternative", brace + arguments) if brace else {}
    if path:
        return name, _Class.of("alternative", path).estimator("alternative", given)
    return name, _Class("", type(learner)).estimator(
        "alternative", learner.get_params(deep=False) | given
    )


def _json_object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name} must be a JSON object, got {text!r}: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r}")
    return value


def _accepts_missing(learner: Any) -> bool:
    """Whether an estimator declares that inputs may be NaN; scikit-learn 1.6 or newer."""
    tags = require("sklearn.utils", "estimators").get_tags(learner)
    return bool(tags.input_tags.allow_nan)


# --- forecast ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _ModelFlags:
    """Arguments of `Forecast.error`."""

    n_features: Annotated[
        AxisValues | None, declared("n_features", glossary.RANDOM_FEATURES, default="inf")
    ] = None
    ridge: Annotated[AxisValues | None, declared("ridge", default=DEFAULT_RIDGE)] = None
    n_members: Annotated[AxisValues | None, declared("n_members", default=1)] = None
    n_samples: Annotated[
        AxisValues | None, declared("n_samples", glossary.ROWS, default="all rows")
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that are given."""
        values = arrays(given(self))
        return {"ensemble" if name == "n_members" else name: v for name, v in values.items()}


@grouped
def forecast(
    *,
    data: TableFlags,
    model: _ModelFlags,
    advise: Annotated[
        bool, switch("The gain of each change of one model, and the best one.", "--advise")
    ] = False,
    budget: Annotated[
        float | None,
        declared(
            "budget",
            several=False,
            note="; of the best allocation, with --advise",
            default="the present cost",
        ),
    ] = None,
    cost: Annotated[
        Any,
        option("'features': P·K; 'training': K·N·P·min(N, P)", choices=COSTS, default=COSTS[0]),
    ] = COSTS[0],
    activation: Annotated[
        str, option(f"σ: {', '.join(NAMES)}", choices=NAMES, default="relu")
    ] = "relu",
    noise: Annotated[
        float | None, declared("noise", several=False, note="; estimated if left out")
    ] = None,
    scale: Annotated[
        bool, typer.Option(help="Scale each input to mean 0 and variance 1, or not.")
    ] = True,
    fit_intercept: Annotated[
        bool, typer.Option(help="Fit a constant that is not penalized, or not.")
    ] = True,
    seed: Annotated[
        int, whole_option("seed", "Of drawn features, splits and standard errors.", default=0)
    ] = 0,
    device: Annotated[
        str,
        option(
            "'auto', 'cpu', or a device of torch", choices=("auto", "cpu", "cuda"), default="auto"
        ),
    ] = "auto",
    confidence: Annotated[float, _CONFIDENCE] = CONFIDENCE,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Print the test error of random-features ridge regression on a table, by cause.

    No model is trained: the error at any number of features, ridge, number of averaged models and
    of training rows, more than the table has included, follows from one kernel matrix.

    Without the flags of a model, the forecast is printed: its best error, its checks and the label
    noise. With them it is the error of that model, or of several, and with --advise the gain of
    each change of one model.

    Errors are squared, in units of the target, summed over targets, and those of labels of new
    rows.
    """
    check_level("confidence", confidence)
    if budget is not None and not advise:
        raise ValueError(f"budget must be left out without advise, got {budget:g}")
    if several := [name for name, values in given(model).items() if len(values) > 1] * advise:
        raise ValueError(f"{several[0]} must be one number with advise, got several")
    rows = data.rows()

    from doubletrouble.forecasting import forecast as run_forecast

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # repeated rows are in the notes
        result = run_forecast(
            rows.inputs,
            rows.labels,
            scale=scale,
            fit_intercept=fit_intercept,
            activation=activation,
            noise=noise,
            groups=rows.groups,
            seed=seed,
            device=device,
            confidence=confidence,
            progress=not quiet,
        )
    names = listed(map(repr, data.targets))
    unit = f"Errors are in squared units of {names}{', summed' * (len(data.targets) > 1)}."
    result = replace(result, notes=(*result.notes, *rows.notes, unit))
    if advise:
        form.show(result.advise(**model.settings, budget=budget, cost=cost))
    elif model.settings:
        form.show(result.error(**model.settings))
    else:
        form.show(result)
