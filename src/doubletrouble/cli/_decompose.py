"""The command decompose: the error of any learner by cause, from its predictions."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args
from zipfile import is_zipfile

import numpy as np
import typer

from doubletrouble._display import content_of, document_of, records_of
from doubletrouble._numbers import CONFIDENCE
from doubletrouble.cli._flags import AxisValues, declared, grouped, option
from doubletrouble.cli._report import Display, Form
from doubletrouble.learners import Decomposition
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import check_level

_MEMBERS = AxisValues((1, 5, math.inf))
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
        ),
    ] = "squared",
    n_members: Annotated[AxisValues, declared("n_members")] = _MEMBERS,
    confidence: Annotated[
        float, option("Confidence level of the intervals.", "NUMBER")
    ] = CONFIDENCE,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Data sets do not share initializations.")
    ] = False,
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
    averaged = split._averaged_table(_averaged_sizes(split, n_members))
    content = content_of(split)
    shown = Display(replace(content, tables=[content.tables[0], averaged]))
    form.write([shown.content], document_of(split) | document_of(shown), records_of(shown))


def _averaged_sizes(split: Decomposition, n_members: AxisValues) -> list[float]:
    """The numbers of members; by default, of other measures than the squared one, those at hand."""
    most = split.design.n_init
    if not split.design.targets or most < 2:  # or else the design does not identify it
        return []
    every = split.measure == "squared" or n_members != _MEMBERS
    return [K for K in n_members if every or most >= K or math.isinf(K)]


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
