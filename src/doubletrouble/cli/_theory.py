"""Commands of the exact theory: errors by cause, optima, training time and advice."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import numpy as np
import typer

from doubletrouble import theory
from doubletrouble._display import Column, Content, Shown, point_table
from doubletrouble.advice import advise_problem
from doubletrouble.cli._flags import (
    PROBLEM,
    SIZES,
    SPECS,
    AxisValues,
    FlagGroup,
    ProblemGrid,
    declared,
    grid_flags,
    grouped,
    option,
)
from doubletrouble.cli._output import check_chart, write_chart
from doubletrouble.cli._report import Display, Form
from doubletrouble.conventions import TIME_UNITS, TimeUnit, convert_time
from doubletrouble.costs import COSTS, most_features
from doubletrouble.ensembles import Ensemble, Vote
from doubletrouble.losses import MEASURES
from doubletrouble.parameters import check_choice, number
from doubletrouble.ranges import numbers
from doubletrouble.results import AnovaTerms, ErrorTerms

Terms = TypeVar("Terms", ErrorTerms[Any], AnovaTerms[Any])

# --- the error by cause --------------------------------------------------------------------------

_MEASURE = option(
    "the error of classification: 'zero_one' or 'squared' against the sign of the "
    "target, 'zero_one_noisy' or 'log' against labels with noise and flips",
    choices=MEASURES,
    show_default="zero_one; squared for regression",
)


@grouped
def exact(
    *,
    grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "exact_error")],
    measure: Annotated[str | None, _MEASURE] = None,
    vote: Annotated[
        bool,
        typer.Option("--vote", help="Majority vote of K classifiers, not their mean score."),
    ] = False,
    anova: Annotated[
        bool,
        typer.Option("--anova", help="Main effects and interactions instead of the causes."),
    ] = False,
    training: Annotated[
        bool,
        typer.Option("--training", help="The error on the training labels, with their noise."),
    ] = False,
    form: Form,
) -> None:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the variance over random features),
    sampling (the variance over training inputs), bias (the error of the mean predictor) and the
    noise floor (noise on the test labels; bayes in JSON and CSV). Models that draw samples or
    features from a common set have resampling as well: the variance over these draws.

    For classification the parts are differences of the error along the chain of scores averaged
    over the noise, the initialization and the sampling in turn, and depend on this order.

    With --anova the split is symmetric, and only the interactions with the initialization diverge
    at P = N. The training error is that of the averaged models on the whole data set, also if each
    is trained on a part.
    """
    given = {"anova": anova, "training": training, "vote": vote, "measure": measure}
    kinds = [name for name, value in given.items() if value]
    if len(kinds) > 1 and kinds != ["vote", "measure"]:
        raise ValueError(f"{kinds[1]} must be left out with {kinds[0]}, got {given[kinds[1]]}")
    if anova:
        grid = replace(grid, function="anova")
        terms = theory.anova(grid.problem, grid.ensemble)
        _show(form, "Symmetric split of the test error", grid, _at(grid, terms))
        return
    if training:
        grid = replace(grid, function="training_error")
        value = theory.training_error(grid.problem, grid.ensemble)
        columns = [(Column(name="training_error"), value)]
        table = point_table("points", grid.shape, grid.coordinates, columns)
        _show(form, "Training error", grid, Display(Content(tables=[table])))
        return
    ensemble = grid.ensemble
    if vote:
        if not isinstance(ensemble, Ensemble):
            raise ValueError(f"scheme must be ensemble for a vote, got {ensemble.name!r}")
        ensemble = Vote(ensemble.n_members)
    error = theory.exact_error(grid.problem, ensemble, cast(Any, measure))
    others = _measured(grid, measure) | ({"vote": "yes"} if vote else {})
    _show(form, "Test error", grid, _at(grid, error), others)


@grouped
def optimum(
    *,
    grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "optimal_ridge", without="ridge")],
    measure: Annotated[str | None, _MEASURE] = None,
    form: Form,
) -> None:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (minimum norm) and inf (predict zero) are possible results.
    """
    best = theory.optimal_ridge(grid.problem, grid.ensemble, cast(Any, measure))
    best = replace(best, error=_at(grid, best.error))
    _show(form, "Test error at the best ridge", grid, best, _measured(grid, measure))


def _measured(grid: ProblemGrid, measure: str | None) -> dict[str, str]:
    """The measure of an error of classification."""
    classes = grid.names.get("task") == "classification"
    return {"measure": measure or MEASURES[0]} if classes else {}


def _at(grid: ProblemGrid, error: Terms) -> Terms:
    """An error with the parameters that are given, in place of those that follow from them."""
    return replace(error, coordinates=grid.coordinates)


def _show(
    form: Form,
    title: str,
    grid: ProblemGrid,
    result: Shown,
    others: Mapping[str, str] | None = None,
) -> None:
    """Print a result under the parameters that are the same for every row."""
    form.show(result, title, {**grid.constants, **grid.names, **(others or {})})


# --- training time -------------------------------------------------------------------------------

_TIMES = "{:g}:{:g}:log:9".format(*SPECS["times"].typical)
_DEFAULT_TIMES = AxisValues(numbers("times", _TIMES))
_TIME_UNITS = tuple(unit for unit in TIME_UNITS if unit not in ("flow", "gram"))  # the losses
_RATIO_UNITS = ("mean", "half_mean")  # determined by N/D
_TIME_UNIT = option(
    "time is steps × learning rate on this loss: 'mean', 'half_mean', 'sum' or 'half_sum' of the "
    "squared errors",
    choices=_TIME_UNITS,
    show_default="the time of gradient flow, described above",
)


@grouped
def flow(
    *,
    grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "gradient_flow")],
    times: Annotated[AxisValues, declared("times", show_default=_TIMES)] = _DEFAULT_TIMES,
    time_unit: Annotated[str | None, _TIME_UNIT] = None,
    form: Form,
) -> None:
    """Print the exact test error at each time of training, split by cause.

    Models start at zero weights a and descend the squared loss by gradient flow, da/dt = (Φᵀ (y -
    Φ a) - alpha a)/D with alpha = N P λ/D, for N samples of P features Φ. The residual along an
    eigenvalue x of Φᵀ Φ/D decays as exp(-t x). The time 0 is the start, and inf the ridge fit.
    """
    grid = replace(grid, axes={**grid.axes, "times": times})
    time: Any = grid.values("times")
    if time_unit:
        sizes = _time_sizes(grid, time_unit)
        time = convert_time(time, cast(TimeUnit, time_unit), "flow", **sizes)
    error = theory.gradient_flow(grid.problem, time, grid.ensemble)
    others = {"time_unit": time_unit} if time_unit else {}
    _show(form, "Test error along gradient flow", grid, _at(grid, error), others)


def _time_sizes(grid: ProblemGrid, time_unit: str) -> dict[str, Any]:
    """N and D, as far as a unit of time needs them."""
    check_choice("time_unit", time_unit, _TIME_UNITS)
    if "dim" in grid.axes:
        return {name: grid.values(name) for name in ("n_samples", "dim")}
    if time_unit not in _RATIO_UNITS:
        raise ValueError(
            f"time_unit must be {' or '.join(_RATIO_UNITS)} where n_features, n_samples and dim "
            f"are not given, got {time_unit!r}"
        )
    return {"n_samples": grid.values("samples_per_dim"), "dim": 1.0}


# --- advice --------------------------------------------------------------------------------------

_ROUNDING = 1e-12


def _with_features(context: typer.Context, values: Mapping[str, Any]) -> ProblemGrid:
    """The grid with the largest P within the budget where N, D and a budget are given without P."""
    budget, cost = context.params["budget"], context.params["cost"]
    N, D, K = values["n_samples"], values["dim"], values["n_members"]
    if budget is not None and N is not None and D is not None and values["n_features"] is None:
        if math.isinf(K):
            raise ValueError("n_features must be given for n_members inf, got a budget only")
        (P,) = most_features(budget, N, np.array([K]), values["scheme"], cost).tolist()
        most = float(math.floor(P * (1 + _ROUNDING))) if 1 <= P < math.inf else P
        values = {**values, "n_features": number("n_features", most, SIZES["n_features"])}
    return ProblemGrid.of(context, values, "advise")


_FLAGS = grid_flags(PROBLEM, "advise", ranges=())


@grouped
def advise(
    *,
    grid: Annotated[ProblemGrid, FlagGroup(_FLAGS.flags, _with_features)],
    budget: Annotated[
        float | None,
        declared(
            "budget",
            several=False,
            note="; per D and D³, or counts where P, N and D are",
            show_default="the present cost",
        ),
    ] = None,
    measure: Annotated[str | None, _MEASURE] = None,
    cost: Annotated[
        str,
        option("'features': P·K; 'training': K·n·P·min(n, P), each on n samples", choices=COSTS),
    ] = COSTS[0],
    chart: Annotated[
        Path | None,
        option("Write the bars to this file, too: .png, .pdf or .svg.", "FILE"),
    ] = None,
    form: Form,
) -> None:
    """Print the error after each change: of the features, models, ridge or data.

    Prints a table of the exact error, the gain and the cost of every single change and of the best
    P, K and λ under a budget, and the best change.

    With --n-samples, --dim and --budget alone, the present setting is one that spends the whole
    budget: --n-features is then as large as the budget allows.
    """
    check_chart(chart)
    (dim,) = grid.axes.get("dim", (None,))
    if budget is not None and dim is not None:
        budget /= dim if cost == "features" else dim**3
    options: dict[str, Any] = {"budget": budget, "cost": cost, "dim": dim, "measure": measure}
    advice = advise_problem(grid.problem, grid.ensemble, **options)
    if chart is not None:
        write_chart(advice.plot().figure, chart)
    form.show(advice)
