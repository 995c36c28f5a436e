"""Commands of the exact theory: errors by cause, optima, training time, advice and exponents."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, cast

import numpy as np

from doubletrouble import glossary, theory
from doubletrouble.advice import advise_problem, scaling_frontier
from doubletrouble.cli._flags import (
    SPECS,
    AxisValues,
    ProblemGrid,
    arrays,
    declared,
    given,
    grouped,
    option,
    problem_flags,
    switch,
)
from doubletrouble.cli._output import Form
from doubletrouble.conventions import TIME_UNITS, TimeUnit, convert_time
from doubletrouble.costs import COSTS, Cost
from doubletrouble.ensembles import Ensemble, Vote
from doubletrouble.losses import MEASURES
from doubletrouble.parameters import Parameter, check_choice, declarations
from doubletrouble.problems import USUAL, SpectralProblem
from doubletrouble.ranges import numbers
from doubletrouble.results import unsplit_error
from doubletrouble.spectra import ExponentialLaw, PowerLaw, SpectralLaw, TwoPowerLaw

# --- the error by cause --------------------------------------------------------------------------

_MEASURE = option(
    "the error of classification: 'zero_one' or 'squared' against the sign of the "
    "target, 'zero_one_noisy' or 'log' against labels with noise and flips",
    choices=MEASURES,
    default="zero_one; squared for regression",
)


@grouped
def exact(
    *,
    grid: Annotated[ProblemGrid, problem_flags("exact_error")],
    measure: Annotated[str | None, _MEASURE] = None,
    vote: Annotated[
        bool, switch("Majority vote of K classifiers, not their mean score.", "--vote")
    ] = False,
    anova: Annotated[
        bool, switch("Main effects and interactions instead of the causes.", "--anova")
    ] = False,
    training: Annotated[
        bool, switch("The error on the training labels, with their noise.", "--training")
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
    kinds = {"anova": anova, "training": training, "vote": vote, "measure": measure}
    chosen = [name for name, value in kinds.items() if value]
    if len(chosen) > 1 and chosen != ["vote", "measure"]:
        first, second = chosen[:2]
        raise ValueError(f"{second} must be left out with {first}, got {kinds[second]}")
    if anova:
        form.show(theory.anova(grid.problem, grid.ensemble("anova")))
        return
    if training:
        error = theory.training_error(grid.problem, grid.ensemble("training_error"))
        varying = {name: value for name, value in grid.values.items() if np.ndim(value)}
        form.show(unsplit_error(error, "", coordinates=varying, label="training error"))
        return
    ensemble = grid.ensemble()
    if vote:
        if not isinstance(ensemble, Ensemble):
            raise ValueError(f"scheme must be ensemble for a vote, got {ensemble.name!r}")
        ensemble = Vote(ensemble.n_members)
    form.show(theory.exact_error(grid.problem, ensemble, cast(Any, measure)))


@grouped
def optimum(
    *,
    grid: Annotated[ProblemGrid, problem_flags("optimal_ridge", without=["ridge"])],
    measure: Annotated[str | None, _MEASURE] = None,
    form: Form,
) -> None:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (minimum norm) and inf (predict zero) are possible results.
    """
    form.show(theory.optimal_ridge(grid.problem, grid.ensemble(), cast(Any, measure)))


# --- training time -------------------------------------------------------------------------------

_TIMES = "{:g}:{:g}:log:9".format(*SPECS["times"].typical)
_TIME_UNITS = tuple(unit for unit in TIME_UNITS if unit not in ("flow", "gram"))  # the losses
_RATIO_UNITS = ("mean", "half_mean")  # determined by N/D


@grouped
def flow(
    *,
    grid: Annotated[ProblemGrid, problem_flags("gradient_flow", more={"times": _TIMES})],
    time_unit: Annotated[
        str | None,
        option(
            "time is steps × learning rate on this loss: 'mean', 'half_mean', 'sum' or 'half_sum' "
            "of the squared errors",
            choices=_TIME_UNITS,
            default="the time of gradient flow, described above",
        ),
    ] = None,
    form: Form,
) -> None:
    """Print the exact test error at each time of training, split by cause.

    Models start at zero weights a and descend the squared loss by gradient flow, da/dt = (Φᵀ (y -
    Φ a) - alpha a)/D with alpha = N P λ/D, for N samples of P features Φ. The residual along an
    eigenvalue x of Φᵀ Φ/D decays as exp(-t x). The time 0 is the start, and inf the ridge fit.
    """
    times = AxisValues(numbers("times", _TIMES))
    grid = replace(cast(Any, grid), times=given(grid).get("times", times))
    values = grid.values
    time = values["times"]
    if time_unit:
        time = convert_time(time, cast(TimeUnit, time_unit), "flow", **_sizes(values, time_unit))
    error = theory.gradient_flow(grid.problem, time, grid.ensemble())
    as_given = {"time": values["times"]} if "time" in error.coordinates else {}
    form.show(replace(error, coordinates={**error.coordinates, **as_given}))


def _sizes(values: dict[str, Any], time_unit: str) -> dict[str, Any]:
    """N and D, as far as a unit of time needs them."""
    check_choice("time_unit", time_unit, _TIME_UNITS)
    if "dim" in values:
        return {name: values[name] for name in ("n_samples", "dim") if name in values}
    if time_unit not in _RATIO_UNITS:
        raise ValueError(
            f"time_unit must be {' or '.join(_RATIO_UNITS)} where n_features, n_samples and dim "
            f"are not given, got {time_unit!r}"
        )
    return {"n_samples": values.get("samples_per_dim", USUAL["samples_per_dim"]), "dim": 1.0}


# --- advice --------------------------------------------------------------------------------------


@grouped
def advise(
    *,
    grid: Annotated[ProblemGrid, problem_flags("advise", ranges=())],
    budget: Annotated[
        float | None,
        declared(
            "budget",
            several=False,
            note="; per D and D³, or counts where P, N and D are",
            default="the present cost",
        ),
    ] = None,
    measure: Annotated[str | None, _MEASURE] = None,
    cost: Annotated[
        str,
        option(
            "'features': P·K; 'training': K·n·P·min(n, P), each on n samples",
            choices=COSTS,
            default=COSTS[0],
        ),
    ] = COSTS[0],
    form: Form,
) -> None:
    """Print the error after each change: of the features, models, ridge or data.

    Prints a table of the exact error, the gain and the cost of every single change and of the best
    P, K and λ under a budget, and the best change.
    """
    dim, problem = grid.values.get("dim"), grid.problem
    if budget is not None and dim is not None:
        budget /= dim if cost == "features" else dim**3
    others: dict[str, Any] = {"budget": budget, "cost": cost, "dim": dim, "measure": measure}
    form.show(advise_problem(problem, grid.ensemble(), **others))


# --- spectra given by a law ----------------------------------------------------------------------

LAWS: dict[str, type[SpectralLaw]] = {
    "power": PowerLaw,
    "exponential": ExponentialLaw,
    "two-power": TwoPowerLaw,
}
_LAW: dict[str, Parameter] = {
    name: spec for law in LAWS.values() for name, spec in declarations(law).items()
}
_USUAL_LAW = {"capacity": 1.5, "source": 0.8}
_USUAL_SIZES = {"n_samples": 1e9, "n_features": 1e6, "n_members": 1.0, "gram_ridge": 0.0}
_USUAL_NOISE = 0.1
_COSTS = declarations(Cost)
_LIMITS = {"max_n_samples": glossary.MAX_SAMPLES, "max_n_members": glossary.MAX_MEMBERS}


def _law_flag(name: str, law: str = "") -> Any:
    note = f"; for --law {law}" if law else ""
    return declared(name, _LAW[name], several=False, note=note, default=_USUAL_LAW.get(name))


def _size_flag(name: str, spec: Parameter) -> Any:
    return declared(name, spec, default=_USUAL_SIZES[name])


def _cost_flag(name: str) -> Any:
    return declared(name, {**_COSTS, **_LIMITS}[name], several=False, note="; with --compute")


@dataclass(frozen=True, kw_only=True)
class _LawFlags:
    """The numbers of every law."""

    capacity: Annotated[float | None, _law_flag("capacity", "power or two-power")] = None
    source: Annotated[float | None, _law_flag("source")] = None
    n_modes: Annotated[float | None, _law_flag("n_modes")] = None
    scale: Annotated[float | None, _law_flag("scale", "exponential")] = None
    later_capacity: Annotated[float | None, _law_flag("later_capacity", "two-power")] = None
    knee: Annotated[float | None, _law_flag("knee", "two-power")] = None

    def law(self, name: str) -> SpectralLaw:
        """The law itself; ValueError for numbers of other laws, and for missing ones."""
        check_choice("law", name, LAWS)
        known = {f.name for f in fields(LAWS[name])}
        _refuse({k: v for k, v in given(self).items() if k not in known}, f"for law {name!r}")
        values = {k: v for k, v in (_USUAL_LAW | given(self)).items() if k in known}
        for missing in (k for k in declarations(LAWS[name]) if k not in {**values, "n_modes": 0}):
            raise ValueError(f"{missing} must be given for law {name!r}, got None")
        return LAWS[name](**values)


@dataclass(frozen=True, kw_only=True)
class _SizeFlags:
    """The sizes at which exponents are printed."""

    n_samples: Annotated[AxisValues | None, _size_flag("n_samples", glossary.N_SAMPLES)] = None
    n_features: Annotated[AxisValues | None, _size_flag("n_features", glossary.N_FEATURES)] = None
    n_members: Annotated[AxisValues | None, _size_flag("n_members", glossary.N_MEMBERS)] = None
    gram_ridge: Annotated[AxisValues | None, _size_flag("gram_ridge", glossary.GRAM_RIDGE)] = None


@dataclass(frozen=True, kw_only=True)
class _CostFlags:
    """What an operation of a frontier is spent on, and limits."""

    steps: Annotated[float | None, _cost_flag("steps")] = None
    predictions: Annotated[float | None, _cost_flag("predictions")] = None
    sample_price: Annotated[float | None, _cost_flag("sample_price")] = None
    workers: Annotated[float | None, _cost_flag("workers")] = None
    max_n_samples: Annotated[float | None, _cost_flag("max_n_samples")] = None
    max_n_members: Annotated[float | None, _cost_flag("max_n_members")] = None


def _refuse(flags: dict[str, Any], where: str) -> None:
    for name, value in flags.items():
        raise ValueError(f"{name} must be left out {where}, got {value}")


@grouped
def scaling(
    *,
    law: Annotated[
        str,
        option(
            "'power': eigenvalues i^-α; 'exponential': exp(-i/s); 'two-power': i^-α up to a rank, "
            "then another exponent; the target has the power l^(2r)/i on mode i",
            choices=LAWS,
            default="power",
        ),
    ] = "power",
    spectrum: _LawFlags,
    noise: Annotated[
        AxisValues | None, declared("noise", glossary.NOISE, default=_USUAL_NOISE)
    ] = None,
    sizes: _SizeFlags,
    best_ridge: Annotated[
        bool, switch("The best ridge at all sizes, not --gram-ridge.", "--best-ridge")
    ] = False,
    compute: Annotated[
        AxisValues | None,
        declared("compute", glossary.COMPUTE, note="; prints the frontier in place of exponents"),
    ] = None,
    costs: _CostFlags,
    form: Form,
) -> None:
    """Print the scaling exponents of the test error by cause on data with a law for the spectrum.

    The exponents are d log(part)/d log(size) by the numbers of samples N, features P and models K;
    those of the asymptotic law, where one is known, are beside them. The ridge δ is on the Gram
    matrix of features/√P.

    With --compute the command prints the best P, N, K and ridge for each budget of operations, and
    the error of one model beside it. A model takes N P min(N, P) operations, or T N P with an
    iterative solver (--steps), and P for each prediction.
    """
    found = spectrum.law(law)
    noise = noise or AxisValues([_USUAL_NOISE])
    if compute is None:
        _refuse(given(costs), "without compute")
        if best_ridge and sizes.gram_ridge:
            _refuse({"gram_ridge": sizes.gram_ridge[0]}, "with best_ridge")
        at = arrays({**_USUAL_SIZES, **given(sizes), "noise": noise})
        members = at.pop("n_members")
        problem = SpectralProblem.from_law(found, **at)
        form.show(theory.exponents(problem, members, ridge="best" if best_ridge else "fixed"))
        return
    _refuse({**given(sizes), **({"best_ridge": True} if best_ridge else {})}, "with compute")
    if len(noise) > 1:
        raise ValueError(f"noise must be one number with compute, got {noise}")
    problem = SpectralProblem.from_law(found, n_features=1.0, n_samples=1.0, noise=noise[0])
    limits = {name: value for name, value in given(costs).items() if name in _LIMITS}
    prices = {name: value for name, value in given(costs).items() if name in _COSTS}
    form.show(scaling_frontier(problem, list(compute), cost=Cost(**prices), **limits))
