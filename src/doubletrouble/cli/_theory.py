"""Commands of the exact theory: errors by cause, optima, training time, committees and advice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble import activations, glossary, theory
from doubletrouble.cli._flags import (
    ACTIVATION,
    ENSEMBLE,
    PROBLEM,
    RATIOS,
    SIZES,
    SPECS,
    ProblemGrid,
    argument,
    as_written,
    choice,
    ensemble_flags,
    explained,
    flag,
    has_snr,
    number,
    one_number,
    problem_flags,
    takes,
    without,
)
from doubletrouble.cli._output import (
    ERROR,
    PSI,
    Report,
    aligned,
    cells,
    heading,
    note,
    paragraph,
    printable,
)
from doubletrouble.conventions import CLOCKS, time_from, time_to
from doubletrouble.ensembles import SHARINGS
from doubletrouble.errors import require
from doubletrouble.kernels import closed_form
from doubletrouble.parameters import Value, declarations
from doubletrouble.parameters import number as single_number
from doubletrouble.problems import USUAL, Member, noise_at
from doubletrouble.ranges import numbers
from doubletrouble.results import AnovaTerms, Committee, ErrorTerms, PsiTerms

# --- the error by cause --------------------------------------------------------------------------


@takes(*PROBLEM, *ENSEMBLE)
def exact(**given: Any) -> Report:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the variance over random features),
    sampling (the variance over training inputs), bias (the error of the mean predictor) and bayes
    (noise on the test labels). Models that draw samples or features from a common set have
    resampling as well: the variance over these draws.
    """
    grid = ProblemGrid.of(given)
    error = theory.exact_error(grid.problem, grid.ensemble("exact_error"))
    return _grid_report(grid, "Test error", _parts(error), str(error))


@takes(*PROBLEM, *ENSEMBLE)
def anova(**given: Any) -> Report:
    """Print the symmetric split of the test error: main effects and interactions.

    Only the interactions with the initialization diverge at P = N.
    """
    grid = ProblemGrid.of(given)
    terms = theory.anova(grid.problem, grid.ensemble("anova"))
    title = "Symmetric split of the test error"
    return _grid_report(grid, title, _parts(terms), str(terms))


@takes(*without(PROBLEM, "ridge"), *ENSEMBLE)
def optimum(**given: Any) -> Report:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (minimum norm) and inf (predict zero) are possible results.
    """
    grid = ProblemGrid.of(given)
    best = theory.optimal_ridge(grid.problem, grid.ensemble("optimal_ridge"))
    results = {"ridge": best.ridge} | _parts(best.error)
    summary = "" if grid.varying else f"{_line('best λ', best.ridge)}\n{best.error}"
    return _grid_report(grid, "Test error at the best ridge", results, summary)


@takes(*without(PROBLEM, "test_noise"), *ENSEMBLE)
def training(**given: Any) -> Report:
    """Print the training error: the mean squared error on the training labels, noise included.

    The average of the models is evaluated on the whole data set, also if each is trained on a part.
    """
    grid = ProblemGrid.of(given)
    error = theory.training_error(grid.problem, grid.ensemble("training_error"))
    summary = "" if grid.varying else _line("training error", error)
    return _grid_report(grid, "Training error", {"training_error": error}, summary)


_PSI_MEANING = {
    "psi1": "overlap of teacher and student",
    "psi2_vanilla": "power of the noise-free student",
    "psi3_vanilla": "response to label noise",
    "psi2_ensemble": "overlap of two students: same data, fresh features",
    "psi3_ensemble": "overlap of their responses to label noise",
    "psi2_divide": "overlap of two students: fresh data, fresh features",
    "psi2_features": "overlap of two students: fresh data, same features",
}


@takes(*(number(name) for name in (*RATIOS, "ridge", *SIZES)), ACTIVATION)
def psi(**given: Any) -> Report:
    """Print the terms Ψ of the theory, which determine every error of the paper.

    They are dimensionless, without the powers of signal and noise. Ψ₂ᵖ is not in the paper.
    """
    grid = ProblemGrid.of(given)
    result = theory.psi_terms(grid.problem)
    terms = {f.name: getattr(result, f.name) for f in fields(PsiTerms)}
    lines = (
        f"{_line(PSI[name], value, 17)}   {_PSI_MEANING[name]}"
        for name, value in terms.items()
        if not grid.varying
    )
    return _grid_report(grid, "Terms of the theory", terms, "\n".join(lines))


def _line(name: str, value: Any, width: int = 29) -> str:
    """A name and a number, which ends where the numbers of an error end."""
    name = printable(name)
    return f"{name}{value:{width - len(name)}.6g}"


def _parts(error: ErrorTerms[Any] | AnovaTerms[Any]) -> dict[str, Value]:
    """The columns of an error by cause."""
    return {
        f"{ERROR}{name}": value for name, value in (error.parts | {"total": error.total}).items()
    }


def _grid_report(
    grid: ProblemGrid, title: str, results: Mapping[str, Value], summary: str
) -> Report:
    """A row for each combination of parameters, or the summary if there is only one."""
    varying = grid.varying
    shape = tuple(map(len, varying.values()))
    exact = {name: as_written(name, values) for name, values in grid.axes.items()}
    combinations = list(product(*(exact[name] for name in varying)))
    columns = {_column(n): [row[k] for row in combinations] for k, n in enumerate(varying)}
    fixed = {name: values[0] for name, values in exact.items() if name not in varying}
    if isinstance(grid.noise, float):
        fixed["noise"] = grid.noise
    elif grid.noise is not None:
        columns["noise"] = np.broadcast_to(grid.noise, shape).ravel().tolist()
    for name, values in results.items():
        columns[name] = np.broadcast_to(values, shape).ravel().tolist()
    fixed = {_column(name): fixed[name] for name in SPECS if name in fixed}
    return Report(
        title=title,
        parameters={**fixed, **grid.names},
        columns=columns,
        summary="" if varying else summary,
    )


def _column(name: str) -> str:
    return "time" if name == "times" else name


# --- training time -------------------------------------------------------------------------------

_TIMES = "{:g}:{:g}:log:9".format(*SPECS["times"].typical)
_CLOCKS = tuple(clock for clock in CLOCKS if clock != "gram")  # that of a measured spectrum
_RATIO_CLOCKS = ("mean", "half_mean")  # determined by N/D
_CLOCK = choice(
    "clock",
    "time is steps × learning rate on this loss: 'mean', 'half_mean', 'sum' or 'half_sum' of the "
    "squared errors [default: the time of gradient flow, described above]",
    None,
    _CLOCKS,
)


@takes(*PROBLEM, *ENSEMBLE, number("times", default=_TIMES), _CLOCK)
def flow(**given: Any) -> Report:
    """Print the exact test error at each time of training, split by cause.

    Models start at zero weights a and descend the squared loss by gradient flow, da/dt = (Φᵀ (y -
    Φ a) - alpha a)/D with alpha = N P λ/D, for N samples of P features Φ. The residual along an
    eigenvalue x of Φᵀ Φ/D decays as exp(-t x). The time 0 is the start, and inf the ridge fit.
    """
    grid = ProblemGrid.of({**given, "times": given["times"] or _TIMES})
    times: Any = grid.values("times")
    if given["clock"]:
        times = time_from(given["clock"], times, **_clock_sizes(grid, given["clock"]))
    error = theory.gradient_flow(grid.problem, times, grid.ensemble("gradient_flow"))
    title = "Test error along gradient flow"
    return _grid_report(grid, title, _parts(error), str(error))


@takes(*PROBLEM, *ENSEMBLE, _CLOCK)
def stopping(**given: Any) -> Report:
    """Print the best time t to stop training, the error there, and that of the best ridge.

    Time is that of the command flow: da/dt = (Φᵀ (y - Φ a) - alpha a)/D with alpha = N P λ/D. Both
    0 (do not train) and inf (train to the end) are possible results. The best ridge is trained to
    the end.
    """
    grid = ProblemGrid.of(given)
    best = theory.best_stopping_time(grid.problem, grid.ensemble("best_stopping_time"))
    time, ridge = best.time, best.optimal_ridge
    if given["clock"]:
        time = time_to(given["clock"], time, **_clock_sizes(grid, given["clock"]))
    lines = (
        ()
        if grid.varying
        else (
            _line("best time t", time),
            str(best.error),
            "",
            _line("best λ instead", ridge.ridge),
            _line("total there", ridge.error.total),
        )
    )
    results = {"time": time} | _parts(best.error)
    results |= {"best_ridge": ridge.ridge, "best_ridge_total": ridge.error.total}
    return _grid_report(grid, "Test error at the best time to stop", results, "\n".join(lines))


def _clock_sizes(grid: ProblemGrid, clock: str) -> Mapping[str, Any]:
    """N and D, as far as a clock needs them."""
    if clock not in _CLOCKS:
        raise ValueError(f"clock must be one of {', '.join(_CLOCKS)}, got {clock!r}")
    if "dim" in grid.axes:
        return {name: grid.values(name) for name in ("n_samples", "dim")}
    if clock not in _RATIO_CLOCKS:
        raise ValueError(
            f"clock must be {' or '.join(_RATIO_CLOCKS)} where n_features, n_samples and dim are "
            f"not given, got {clock!r}"
        )
    return {"n_samples": grid.values("samples_per_dim"), "dim": 1.0}


# --- committees ----------------------------------------------------------------------------------

_WEIGHTS = ("equal", "optimal")
_POWERS = ("signal", "noise", "nonlinear_signal")
_MEMBER_SPECS = declarations(Member)
_MEMBER_NAMES = {
    **{f.name: f.name for f in fields(Member)},
    **{spec.symbol: name for name, spec in _MEMBER_SPECS.items()},
    "σ": "activation",
}


@takes(
    flag(
        "member",
        list[str],
        "One member, as NAME=VALUE words: P/D, N/D, ridge (or λ) and activation (or σ); the "
        "default problem has the others. Once for each member.",
        metavar="WORDS",
        required=True,
    ),
    choice(
        "sharing",
        "What members have in common: 'samples' (one data set, independent features), 'features', "
        "'both' or 'nothing'; or the overlap of every two, per dimension, as "
        "features=0.3,samples=0.8",
        SHARINGS[0],
        SHARINGS,
    ),
    choice(
        "weights",
        "'equal', 'optimal' (the best, which may be negative), or one for each member, as "
        "0.3,0.7, that add up to 1",
        _WEIGHTS[0],
        _WEIGHTS,
    ),
    *(number(name, several=False) for name in (*_POWERS, "snr")),
)
def committee(**given: Any) -> Report:
    """Print the exact test error of different members averaged with weights, split by cause.

    A member is written as "P/D=2 N/D=1 ridge=1e-3 activation=relu". A row for each member has its
    weight w, and E (f⋆ - f_a)(f⋆ - f_b), the average product of its error and that of every member:
    its own squared error is on the diagonal.
    """
    members = [_member(text) for text in given["member"]]
    powers = {name: _one(name, given[name]) for name in _POWERS if given[name] is not None}
    ratio = {}
    if has_snr(given):
        ratio["snr"] = single_number("snr", _one("snr", given["snr"]), glossary.SNR)
        powers["noise"] = noise_at(ratio["snr"], powers.get("signal", USUAL["signal"]))
    result = theory.committee(
        members, sharing=_sharing(given["sharing"]), weights=_weights(given["weights"]), **powers
    )
    usual = {name: USUAL[name] for name in _POWERS}
    names = {name: given[name] for name in ("sharing", "weights")}
    columns = _member_columns(members, result)
    return Report(
        title="Test error of a committee",
        parameters={**usual, **powers, **ratio, **names},
        columns=columns | {n: [v] * len(members) for n, v in _parts(result.error).items()},
        summary=str(result.error),
        cells={_member_heading(name): cells(values) for name, values in columns.items()},
    )


def _member_columns(members: Sequence[Member], result: Committee) -> dict[str, list[Any]]:
    """A row for each member: its parameters, its weight, and its error with every other."""
    columns: dict[str, list[Any]] = {"member": [*range(1, len(members) + 1)]}
    columns |= {f.name: [getattr(one, f.name) for one in members] for f in fields(Member)}
    columns["weight"] = result.weights.tolist()
    return columns | {
        f"pair_error_{k}": row for k, row in enumerate(result.pair_errors.tolist(), start=1)
    }


def _member_heading(name: str) -> str:
    if name.startswith("pair_error_"):
        return f"with {name.removeprefix('pair_error_')}"
    return heading(name) if name in (*RATIOS, "ridge", "activation") else name


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


@takes(
    argument(
        "name",
        str,
        "The name of an activation; all if left out.",
        choices=activations.NAMES,
        required=False,
    )
)
def activation(name: str | None) -> Report:
    """Print the Gaussian moments of activations, which determine their errors in the theory.

    μ₀ is the mean, which is subtracted; μ₁ the linear part, which can learn; μ⋆ the rest, which
    acts as noise. With a closed form, simulations average over test points exactly (--test exact)
    and have the kernel of infinitely many features (--model kernel).
    """
    names = activations.NAMES if name is None else (name,)
    chosen = [activations.activation(one) for one in names]
    columns: dict[str, list[Any]] = {
        "activation": [one.name for one in chosen],
        "mean": [one.mean for one in chosen],
        "linear": [one.linear for one in chosen],
        "nonlinear": [one.nonlinear for one in chosen],
        "closed_form": [closed_form(one) is not None for one in chosen],
    }
    return Report(
        title="Gaussian moments",
        parameters={},
        columns=columns,
        cells={
            "activation": columns["activation"],
            "μ₀": aligned(columns["mean"]),
            "μ₁": aligned(columns["linear"]),
            "μ⋆": aligned(columns["nonlinear"]),
            "closed form": ["yes" if known else "no" for known in columns["closed_form"]],
        },
    )


# --- advice --------------------------------------------------------------------------------------

_ROUNDING = 1e-12
_CHARTS = (".png", ".pdf", ".svg")
_COSTS = ("features", "training")


@takes(
    *problem_flags(several=False),
    *ensemble_flags(several=False),
    flag(
        "budget",
        str,
        f"{explained('budget')}; per D and D³, or counts where P, N and D are "
        "[default: the present cost]",
        metavar="NUMBER",
    ),
    choice(
        "cost",
        "'features': P·K; 'training': K·n·P·min(n, P), each on n samples",
        _COSTS[0],
        _COSTS,
    ),
    flag("chart", Path, "Write the bars to this file, too: .png, .pdf or .svg.", metavar="FILE"),
)
def advise(**given: Any) -> Report:
    """Print the error after each change: widen, ensemble, regularize, divide, or collect.

    Prints a table of the exact error and the cost of every single change and of the best P, K and λ
    under a budget, the errors as bars (a letter for each cause), and the best change.

    With --n-samples, --dim and --budget alone, the present setting is one that spends the whole
    budget: --n-features is then as large as the budget allows.
    """
    chart = given["chart"]
    if chart is not None and chart.suffix.lower() not in _CHARTS:
        raise ValueError(f"chart must end in {', '.join(_CHARTS)}, got {str(chart)!r}")
    advice = _advice(given)
    if chart is not None:
        _write_chart(advice, chart)
    document = advice.to_dict()
    rows = document["options"]
    return Report(
        title="",
        parameters={},
        columns={name: [row[name] for row in rows] for name in rows[0]},
        summary="\n\n".join(
            [advice.table(printable), advice.bars(printable), paragraph(advice.summary)]
        ),
        document=document,
    )


def _advice(given: Mapping[str, Any]) -> Any:
    """Call the library; for counts P, N and D the budget is a count, too."""
    from doubletrouble.advice import advise

    cost = given["cost"]
    budget = one_number("budget", given["budget"], glossary.BUDGET)
    flags = {name: text for name, text in given.items() if name != "budget"}
    grid = ProblemGrid.of(_with_features(flags, budget))
    if grid.varying:
        name = next(iter(grid.varying))
        raise ValueError(f"{name} must be one number here, got {given[name]!r}")
    (dim,) = grid.axes.get("dim", (None,))
    if budget is not None and dim is not None:
        budget /= dim if cost == "features" else dim**3
    return advise(grid.problem, grid.ensemble("advise"), budget=budget, cost=cost, dim=dim)


def _with_features(given: Mapping[str, Any], budget: float | None) -> Mapping[str, Any]:
    """Add the largest P within the budget where N, D and a budget are given without P."""
    from doubletrouble.advice import widest

    if budget is None or given["n_features"] is not None:
        return given
    N, D = (one_number(name, given[name], SIZES[name]) for name in ("n_samples", "dim"))
    if N is None or D is None:
        return given
    K = one_number("n_members", given["n_members"], glossary.N_MEMBERS) or 1.0
    if math.isinf(K):
        raise ValueError("n_features must be given for n_members inf, got a budget only")
    (P,) = widest(budget, N, np.array([K]), given["scheme"], given["cost"]).tolist()
    most = float(math.floor(P * (1 + _ROUNDING))) if 1 <= P < math.inf else P
    return {**given, "n_features": repr(most)}


def _write_chart(advice: Any, chart: Path) -> None:
    make = require("matplotlib.figure", "figures").Figure
    figure = make(figsize=(7.5, 4.4), layout="constrained")
    advice.plot(figure.add_subplot())
    figure.savefig(chart, dpi=200)
    note(f"{chart} written")
