"""The command decompose: the squared error of any learner by cause, from its predictions."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from doubletrouble.cli._flags import (
    SCHEME_OPTIONS,
    argument,
    axes,
    ensemble_flags,
    ensembles,
    flag,
    takes,
)
from doubletrouble.cli._output import Report
from doubletrouble.ensembles import Scheme
from doubletrouble.results import Estimate, check_level

_MEMBERS = "1,5,inf"
_KEYS = ("predictions", "truth", "y_test")
_SIZES = ("n_data", "n_noise", "n_init", "n_test")


@takes(
    argument(
        "file",
        Path,
        "Predictions [data, noise, init, test] as .npy, or .npz with the arrays predictions, "
        "truth and y_test, of which the last two may be absent.",
    ),
    flag("truth", Path, "The target at the test points without noise, as .npy.", metavar="FILE"),
    flag("y_test", Path, "The labels there, which may be noisy, as .npy.", metavar="FILE"),
    flag("label_noise", float, "Standard deviation of the noise in --y-test.", metavar="NUMBER"),
    *ensemble_flags(default=_MEMBERS),
    flag("confidence", float, "Confidence level of the intervals.", 0.95, metavar="NUMBER"),
    flag("fresh", bool, "Data sets do not share initializations.", False),
)
def decompose(**given: Any) -> Report:
    """Print the squared error of a learner by cause, given its predictions.

    The parts are noise (that of the training labels), initialization (the variance over seeds),
    sampling (the variance over training inputs) and bias (the error of the mean predictor), each ±
    its standard error; and the error of K averaged re-initializations.
    """
    level = given["confidence"]
    check_level("confidence", level)
    members = _ensembles(given)
    from doubletrouble.decomposition import decompose_predictions

    arrays = _arrays(given["file"])
    arrays |= {name: _array(given[name], name) for name in ("truth", "y_test") if given[name]}
    split = decompose_predictions(
        **arrays, label_noise=given["label_noise"], crossed=not given["fresh"]
    )
    error, sizes = split.error(), {name: getattr(split.design, name) for name in _SIZES}
    has_target = len(arrays) > 1
    averaged: dict[float, Estimate] = {}
    if has_target and sizes["n_init"] > 1:  # or else the design does not identify it
        averaged = {K: split.error(ensemble).total for K, ensemble in members.items()}
    rows = dict(error.parts)
    if has_target:
        rows["total"] = error.total
    rows |= {f"K={K:g}": part for K, part in averaged.items()}
    intervals = [part.confidence_interval(level) for part in rows.values()]
    columns: dict[str, list[Any]] = {
        "part": list(rows),
        "value": [part.value for part in rows.values()],
        "standard_error": [part.standard_error for part in rows.values()],
        "low": [interval.low for interval in intervals],
        "high": [interval.high for interval in intervals],
    }
    lines = [
        f"K = {'∞' if math.isinf(K) else f'{K:g}'} averaged: {part}" for K, part in averaged.items()
    ]
    return Report(
        title="Squared error",
        parameters=sizes,
        columns=columns,
        summary="\n".join([str(error), "", *lines] if lines else [str(error)]),
        notes=split.notes,
    )


def _ensembles(given: Mapping[str, Any]) -> dict[float, Scheme]:
    """The ensemble of each K, if a decomposition identifies it."""
    words = {name: given[name] for name in ("n_members", *SCHEME_OPTIONS)}
    values = axes(words | {"n_members": words["n_members"] or _MEMBERS})
    options = {name: values[name][0] for name in SCHEME_OPTIONS if name in values}
    function = "Decomposition.error"
    return {K: ensembles([given["scheme"]], K, options, function)[0] for K in values["n_members"]}


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
