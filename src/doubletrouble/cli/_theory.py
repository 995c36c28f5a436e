"""Commands of the exact theory: errors by cause, optima, training time, committees and advice."""

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import numpy as np
import typer

from doubletrouble import activations, theory
from doubletrouble._display import Column, Content, Shown, Table, point_table
from doubletrouble.advice import advise_problem
from doubletrouble.cli._flags import (
    PROBLEM,
    RATIOS,
    SIZES,
    SPECS,
    AxisValues,
    FlagGroup,
    ProblemGrid,
    completion,
    declared,
    grid_flags,
    grouped,
    noise_is_replaced,
    option,
)
from doubletrouble.cli._output import check_chart, write_chart
from doubletrouble.cli._report import Display, Form
from doubletrouble.conventions import TIME_UNITS, TimeUnit, convert_time
from doubletrouble.costs import COSTS, most_features
from doubletrouble.ensembles import SHARINGS, Ensemble, Vote
from doubletrouble.kernels import closed_form
from doubletrouble.losses import MEASURES
from doubletrouble.parameters import Value, declarations, number
from doubletrouble.problems import USUAL, Member, noise_at
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
    form: Form,
) -> None:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the variance over random features),
    sampling (the variance over training inputs), bias (the error of the mean predictor) and the
    noise floor (noise on the test labels; bayes in JSON and CSV). Models that draw samples or
    features from a common set have resampling as well: the variance over these draws.

    For classification the parts are differences of the error along the chain of scores averaged
    over the noise, the initialization and the sampling in turn, and depend on this order.
    """
    ensemble = grid.ensemble
    if vote:
        if not isinstance(ensemble, Ensemble):
            raise ValueError(f"scheme must be ensemble for a vote, got {ensemble.name!r}")
        ensemble = Vote(ensemble.n_members)
    error = theory.exact_error(grid.problem, ensemble, cast(Any, measure))
    others = _measured(grid, measure) | ({"vote": "yes"} if vote else {})
    _show(form, "Test error", grid, _at(grid, error), others)


@grouped
def anova(grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "anova")], form: Form) -> None:
    """Print the symmetric split of the test error: main effects and interactions.

    Only the interactions with the initialization diverge at P = N.
    """
    terms = theory.anova(grid.problem, grid.ensemble)
    _show(form, "Symmetric split of the test error", grid, _at(grid, terms))


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


@grouped
def training(
    grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "training_error", without="test_noise")],
    *,
    mean_loss: Annotated[
        bool,
        typer.Option("--mean-loss", help="The mean of the loss itself, not the error."),
    ] = False,
    form: Form,
) -> None:
    """Print the training error: the mean squared error on the training labels, noise included.

    The average of the models is evaluated on the whole data set, also if each is trained on a part.
    For classification it is the share of the training labels on the wrong side. With other losses
    than the squared loss it is that of one model.
    """
    value = theory.training_error(grid.problem, grid.ensemble, mean_loss=mean_loss)
    name = "loss" if mean_loss else "error"
    numbers = _numbers(grid, {f"training_{name}": value})
    _show(form, f"Training {name}", grid, numbers)


_LABELS = ("features_per_dim", "signal", "noise", "snr", "flips")
_CLASSES = (*_LABELS[:1], "samples_per_dim", "ridge", *_LABELS[1:], *SIZES)


@grouped
def separability(
    grid: Annotated[ProblemGrid, grid_flags(_LABELS, tasks=("classification",), loss="")],
    form: Form,
) -> None:
    """Print N⋆/P: fewer than N⋆ samples of two classes are linearly separable in feature space.

    The threshold of margin losses (logistic, hinge, squared_hinge) without ridge, where their error
    peaks, is at P/N = P/N⋆. Labels that do not depend on the inputs have N⋆ = 2P.
    """
    from doubletrouble.convex import separability as threshold  # with scipy.special: 0.1 s

    ratio = threshold(grid.problem)
    numbers = _numbers(grid, {"separability": ratio, "threshold": 1 / np.asarray(ratio)})
    _show(form, "Linear separability", grid, numbers)


@grouped
def calibration(
    grid: Annotated[
        ProblemGrid,
        grid_flags(_CLASSES, "calibration", tasks=("classification",), loss="logistic"),
    ],
    form: Form,
) -> None:
    """Print the calibration of the mean score of classifiers, read as log-odds.

    The slope is the factor of the score with the least cross-entropy: below 1 for overconfident
    scores. The calibration error is the mean distance of the predicted probability from the actual
    one.
    """
    result = theory.calibration(grid.problem, grid.ensemble)
    _show(form, "Calibration", grid, replace(result, coordinates=grid.coordinates))


@grouped
def psi(
    grid: Annotated[ProblemGrid, grid_flags((*RATIOS, "ridge", *SIZES), loss="")], form: Form
) -> None:
    """Print the terms Ψ of the theory, which determine every error of the paper.

    They are dimensionless, without the powers of signal and noise. Ψ₂ᵖ is not in the paper.
    """
    terms = theory.psi_terms(grid.problem)
    _show(form, "Terms of the theory", grid, Display(terms._content(grid.coordinates)))


def _measured(grid: ProblemGrid, measure: str | None) -> dict[str, str]:
    """The measure of an error of classification."""
    classes = grid.names.get("task") == "classification"
    return {"measure": measure or MEASURES[0]} if classes else {}


def _at(grid: ProblemGrid, error: Terms) -> Terms:
    """An error with the parameters that are given, in place of those that follow from them."""
    return replace(error, coordinates=grid.coordinates)


def _numbers(grid: ProblemGrid, numbers: Mapping[str, Value]) -> Display:
    """Numbers of every combination of parameters."""
    columns = [(Column(name=name), value) for name, value in numbers.items()]
    table = point_table("points", grid.shape, grid.coordinates, columns)
    return Display(Content(tables=[table]))


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


@grouped
def stopping(
    *,
    grid: Annotated[ProblemGrid, grid_flags(PROBLEM, "best_stopping_time")],
    time_unit: Annotated[str | None, _TIME_UNIT] = None,
    form: Form,
) -> None:
    """Print the best time t to stop training, the error there, and that of the best ridge.

    Time is that of the command flow: da/dt = (Φᵀ (y - Φ a) - alpha a)/D with alpha = N P λ/D. Both
    0 (do not train) and inf (train to the end) are possible results. The best ridge is trained to
    the end.
    """
    best = theory.best_stopping_time(grid.problem, grid.ensemble)
    best = replace(best, error=_at(grid, best.error))
    if time_unit:
        sizes = _time_sizes(grid, time_unit)
        time = convert_time(best.time, "flow", cast(TimeUnit, time_unit), **sizes)
        best = replace(best, time=time)
    others = {"time_unit": time_unit} if time_unit else {}
    _show(form, "Test error at the best time to stop", grid, best, others)


def _time_sizes(grid: ProblemGrid, time_unit: str) -> dict[str, Any]:
    """N and D, as far as a unit of time needs them."""
    if time_unit not in _TIME_UNITS:
        raise ValueError(f"time_unit must be one of {', '.join(_TIME_UNITS)}, got {time_unit!r}")
    if "dim" in grid.axes:
        return {name: grid.values(name) for name in ("n_samples", "dim")}
    if time_unit not in _RATIO_UNITS:
        raise ValueError(
            f"time_unit must be {' or '.join(_RATIO_UNITS)} where n_features, n_samples and dim "
            f"are not given, got {time_unit!r}"
        )
    return {"n_samples": grid.values("samples_per_dim"), "dim": 1.0}


# --- committees ----------------------------------------------------------------------------------

_WEIGHTS = ("equal", "optimal")
_MEMBER_SPECS = declarations(Member)
_MEMBER_NAMES = {
    **{f.name: f.name for f in fields(Member)},
    **{spec.symbol: name for name, spec in _MEMBER_SPECS.items()},
    "σ": "activation",
}


@grouped
def committee(
    *,
    context: typer.Context,
    member: Annotated[
        list[str],
        option(
            "One member, as NAME=VALUE words: P/D, N/D, ridge (or λ) and activation (or σ); "
            "the default problem has the others. Once for each member.",
            "WORDS",
        ),
    ],
    sharing: Annotated[
        str,
        option(
            "What members have in common: 'samples' (one data set, independent features), "
            "'features', 'both' or 'nothing'; or the overlap of every two, per dimension, as "
            "features=0.3,samples=0.8",
            choices=SHARINGS,
        ),
    ] = SHARINGS[0],
    weights: Annotated[
        str,
        option(
            "'equal', 'optimal' (the best, which may be negative), or one for each member, as "
            "0.3,0.7, that add up to 1",
            choices=_WEIGHTS,
        ),
    ] = _WEIGHTS[0],
    signal: Annotated[float, declared("signal", several=False)] = USUAL["signal"],
    noise: Annotated[float, declared("noise", several=False)] = USUAL["noise"],
    nonlinear_signal: Annotated[float, declared("nonlinear_signal", several=False)] = USUAL[
        "nonlinear_signal"
    ],
    snr: Annotated[
        float | None, declared("snr", several=False, note="; in place of --noise")
    ] = None,
    form: Form,
) -> None:
    """Print the exact test error of different members averaged with weights, split by cause.

    A member is written as "P/D=2 N/D=1 ridge=1e-3 activation=relu". A row for each member has its
    weight and its own squared error; in JSON and CSV also E (f⋆ - f_a)(f⋆ - f_b), the average
    product of its error and that of every member.
    """
    members = [_member(text) for text in member]
    if snr is not None and noise_is_replaced(context):
        noise = noise_at(snr, signal)
    powers = {"signal": signal, "noise": noise, "nonlinear_signal": nonlinear_signal}
    result = theory.committee(
        members, sharing=_sharing(sharing), weights=_weights(weights), **powers
    )
    names = {"snr": snr, "sharing": sharing, "weights": weights}
    parameters = {**powers, **names, "members": [asdict(one) for one in members]}
    form.show(result, "Test error of a committee", parameters)


def _member(text: str) -> Member:
    """Read a member.

    >>> _member("P/D=0.5 λ=0.1 σ=tanh").activation
    'tanh'
    >>> _member("P/D=0.5 features-per-dim=1")
    Traceback (most recent call last):
    ValueError: member must have every NAME once, got 'features-per-dim=1' as well
    """
    values: dict[str, Any] = _pairs("member", text, _MEMBER_NAMES)
    sizes = {name: _one(name, values[name]) for name in _MEMBER_SPECS if name in values}
    return Member(**values | sizes)


def _sharing(text: str) -> str | Mapping[str, float]:
    if "=" not in text:
        return text.strip()
    amounts = _pairs("sharing", text, {"features": "features", "samples": "samples"})
    return {name: _one(f"shared {name}", value) for name, value in amounts.items()}


def _pairs(what: str, text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Read NAME=VALUE words; `known` maps every spelling of a name to the name."""
    values: dict[str, str] = {}
    for piece in text.replace(",", " ").split():
        spelling, _, value = piece.partition("=")
        name = known.get(spelling.replace("-", "_"))
        if name is None or not value:
            names = ", ".join(sorted(known, key=len))
            raise ValueError(f"{what} must be NAME=VALUE words, NAME one of {names}, got {piece!r}")
        if name in values:
            raise ValueError(f"{what} must have every NAME once, got {piece!r} as well")
        values[name] = value
    return values


def _weights(text: str) -> str | list[float]:
    word = text.strip()
    return word if word.isalpha() else list(numbers("weights", word))


def _one(name: str, text: str) -> float:
    values = numbers(name, text)
    if len(values) > 1:
        raise ValueError(f"{name} must be one number here, got {text!r}")
    return values[0]


# --- activations ---------------------------------------------------------------------------------


@grouped
def activation(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            help="The name of an activation; all if left out.",
            autocompletion=completion(activations.NAMES),
        ),
    ] = None,
    form: Form,
) -> None:
    """Print the Gaussian moments of activations, which determine their errors in the theory.

    μ₀ is the mean, which is subtracted; μ₁ the linear part, which can learn; μ⋆ the rest, which
    acts as noise. With a closed form, simulations average over test points exactly (--test exact)
    and have the kernel of infinitely many features (--model kernel).
    """
    names = activations.NAMES if name is None else (name,)
    chosen = [activations.activation(one) for one in names]
    columns = [
        Column(name="activation", form="words"),
        Column(name="mean", heading="μ₀"),
        Column(name="linear", heading="μ₁"),
        Column(name="nonlinear", heading="μ⋆"),
        Column(name="closed_form", form="words"),
    ]
    rows = [
        [one.name, one.mean, one.linear, one.nonlinear, closed_form(one) is not None]
        for one in chosen
    ]
    table = Table(name="activations", columns=columns, rows=rows)
    form.show(Display(Content(title="Gaussian moments", tables=[table])))


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
