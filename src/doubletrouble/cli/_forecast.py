"""The command forecast: the error of random features on a table, before any model is trained."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble._display import content_of, document_of, table_by_point
from doubletrouble._numbers import CONFIDENCE
from doubletrouble.activations import NAMES
from doubletrouble.cli._flags import AxisValues, Quiet, declared, grouped, option
from doubletrouble.cli._output import check_chart, new_chart, write_chart
from doubletrouble.cli._report import Form, at
from doubletrouble.cli._tables import TableFlags
from doubletrouble.costs import COSTS
from doubletrouble.forecasting import DEFAULT_RIDGE, Forecast
from doubletrouble.forecasting import forecast as find_forecast
from doubletrouble.parameters import check_level
from doubletrouble.tables import listed

_RIDGE, _MEMBERS = AxisValues((DEFAULT_RIDGE,)), AxisValues((1,))
_SIZES = (0.1, 0.3, 1.0, 3.0, 10.0)  # P of the table, in multiples of the rows


@grouped
def forecast(
    *,
    data: TableFlags,
    n_features: Annotated[
        AxisValues | None,
        declared("n_features", glossary.RANDOM_FEATURES, show_default="0.1 to 10 times the rows"),
    ] = None,
    ridge: Annotated[AxisValues, declared("ridge")] = _RIDGE,
    n_members: Annotated[AxisValues, declared("n_members")] = _MEMBERS,
    n_samples: Annotated[
        AxisValues | None, declared("n_samples", glossary.ROWS, show_default="all rows")
    ] = None,
    activation: Annotated[str, option(f"σ: {', '.join(NAMES)}", choices=NAMES)] = "relu",
    noise: Annotated[
        float | None,
        declared("noise", several=False, note="; estimated if left out", show_default=False),
    ] = None,
    scale: Annotated[
        bool, typer.Option(help="Scale each input to mean 0 and variance 1, or not.")
    ] = True,
    fit_intercept: Annotated[
        bool, typer.Option(help="Fit a constant that is not penalized, or not.")
    ] = True,
    budget: Annotated[
        float | None,
        declared(
            "budget",
            several=False,
            note="; of the best allocation, for one model",
            show_default="the present cost",
        ),
    ] = None,
    cost: Annotated[
        Any,
        option("'features': P·K; 'training': K·N·P·min(N, P)", choices=COSTS),
    ] = COSTS[0],
    seed: Annotated[int, option("Of drawn features, splits and standard errors.", "INTEGER")] = 0,
    device: Annotated[
        str, option("'auto', 'cpu', or a device of torch", choices=("auto", "cpu", "cuda"))
    ] = "auto",
    confidence: Annotated[
        float, option("Confidence level of the intervals.", "NUMBER")
    ] = CONFIDENCE,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            help="Write the error along the range given, or along the number of features, to this "
            ".png, .pdf or .svg.",
        ),
    ] = None,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Print the test error of random-features ridge regression on a table, by cause.

    No model is trained: the error at any number of features, ridge, number of averaged models and
    of training rows, more than the table has included, follows from one kernel matrix. For a single
    model the gain of each change is printed, too.

    Errors are squared, in units of the target, summed over targets, and those of labels of new
    rows.
    """
    check_level("confidence", confidence)
    check_chart(chart)
    one = n_features is not None and all(
        values is None or len(values) == 1 for values in (n_features, ridge, n_members, n_samples)
    )
    if budget is not None and not one:
        raise ValueError(f"budget must be left out for several models, got {budget:g}")
    rows = data.rows()
    y, names = rows.labels, data.targets
    summed = ", summed" if len(names) > 1 else ""
    notes = (
        *rows.notes,
        f"Errors are in squared units of {listed(map(repr, names))}{summed}.",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # repeated rows are in the notes
        result = find_forecast(
            rows.inputs,
            y,
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
    result = replace(result, notes=(*result.notes, *notes))
    n = result.n_samples
    settings = _grid(
        {
            "n_features": tuple(round(n * share) for share in _SIZES)
            if n_features is None
            else n_features,
            "ridge": ridge,
            "n_members": n_members,
            "n_samples": (n,) if n_samples is None else n_samples,
        }
    )
    model = {"ensemble" if name == "n_members" else name: v for name, v in settings.items()}
    terms = result.error(**model)
    advice = result.advise(**model, budget=budget, cost=cost) if one else None
    if chart is not None:
        _draw(result, settings, chart, dense=one or (n_features is None and len(terms.shape) == 1))
    constants = {name: value for name, value in settings.items() if not np.ndim(value)}
    heading = f"Squared error at {at(constants)}" if constants else "Squared error"
    errors = [dict.fromkeys(settings) | constants | row for row in table_by_point(terms).records()]
    contents = [content_of(result), replace(content_of(terms), title=heading)]
    contents += [] if advice is None else [content_of(advice)]
    document = {
        "target": ", ".join(names),
        "forecast": document_of(result),
        "errors": errors,
        "advice": None if advice is None else document_of(advice),
    }
    form.write(contents, document, errors)


def _grid(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers, and an array along an axis of its own for each setting with several values."""
    ranges = [name for name, several in values.items() if len(several) > 1]
    return {
        name: np.reshape(several, [-1 if name == one else 1 for one in ranges])
        if name in ranges
        else several[0]
        for name, several in values.items()
    }


def _draw(result: Forecast, settings: Mapping[str, Any], file: Path, *, dense: bool) -> None:
    """Write the error along the ranges, or along many P if `dense`."""
    drawn = dict(settings)
    if np.any((K := drawn.pop("n_members")) != 1):
        drawn["ensemble"] = K  # or else the limit of many models is drawn, too
    if dense:
        del drawn["n_features"]
    figure = new_chart(height=4.0)
    result.plot(figure.add_subplot(), **drawn)
    write_chart(figure, file)
