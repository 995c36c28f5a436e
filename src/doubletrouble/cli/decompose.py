"""The parts of the squared error of any learner, from a file with its predictions."""

import math
from pathlib import Path
from typing import Annotated, Any
from zipfile import is_zipfile

import numpy as np
import typer

from doubletrouble.cli.report import Report, one_form
from doubletrouble.ranges import numbers

_KEYS = ("predictions", "truth", "y_test")


def decompose(
    file: Annotated[
        Path,
        typer.Argument(
            help="Predictions [data, noise, init, test] as .npy, or .npz with the arrays "
            "predictions, truth and y_test, of which the last two may be absent."
        ),
    ],
    truth: Annotated[
        Path | None, typer.Option(help="The target at the test points without noise, as .npy.")
    ] = None,
    y_test: Annotated[
        Path | None, typer.Option("--y-test", help="Their labels, which may be noisy, as .npy.")
    ] = None,
    label_noise: Annotated[
        float | None,
        typer.Option("--label-noise", help="Standard deviation of the noise in --y-test."),
    ] = None,
    n_members: Annotated[
        str, typer.Option("--n-members", "-K", help="Averaged re-initializations, as 1,5,inf.")
    ] = "1,5,inf",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Every data set has initializations of its own."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, at full precision.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, at full precision.")] = False,
) -> None:
    """Print where the squared error of a learner comes from, given its predictions.

    The parts are noise (that of the training labels), initialization (the luck of the seed),
    sampling (the luck of the training inputs) and bias (what is left when everything is averaged),
    each ± its standard error; and the error of K averaged re-initializations.
    """
    one_form(json=json, csv=csv)
    from doubletrouble.decomposition.predictions import decompose_predictions

    given = _arrays(file) | {
        name: _array(path, name) for name, path in (("truth", truth), ("y_test", y_test)) if path
    }
    found = decompose_predictions(
        **given, label_noise=label_noise, crossed=not fresh, confidence=confidence
    )
    asked = numbers("n_members", n_members)
    members = {K: found.ensemble(K) for K in asked} if found.foretells_ensembles else {}
    rows = {**found.rows, **{f"K={K:g}": part for K, part in members.items()}}
    columns: dict[str, list[Any]] = {
        "part": list(rows),
        "value": [part.value for part in rows.values()],
        "standard_error": [part.standard_error for part in rows.values()],
        "low": [part.interval.low for part in rows.values()],
        "high": [part.interval.high for part in rows.values()],
    }
    design = found.design
    sizes = {name: getattr(design, name) for name in ("n_data", "n_noise", "n_init", "n_test")}
    averaged = [
        f"K = {'∞' if math.isinf(K) else f'{K:g}'} averaged: {part.value:.6g} ± "
        f"{part.standard_error:.2g}"
        for K, part in members.items()
    ]
    summary = "\n".join([found.table(), "", *averaged, *found.notes]).rstrip()
    report = Report(title="Squared error", parameters=sizes, columns=columns, summary=summary)
    report.show(json=json, csv=csv)


def _arrays(file: Path) -> dict[str, Any]:
    """What the file holds, by the names of arguments."""
    loaded = _loaded(file)
    if isinstance(loaded, np.ndarray):
        return {"predictions": loaded}
    with loaded:
        if "predictions" not in loaded:
            raise ValueError(
                f"file must hold an array 'predictions', got {', '.join(loaded.files) or 'none'}"
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
            begins = opened.read(2)
        if begins == b"PK" and not is_zipfile(file):  # NumPy would leave it open
            raise ValueError("an archive that was cut off")
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = "which is neither" if file.exists() else "which is not there"
        raise ValueError(
            f"{name} must be an array as .npy or .npz, got {file}, {reason}"
        ) from error
