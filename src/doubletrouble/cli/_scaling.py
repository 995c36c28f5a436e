"""The command on spectra given by a law: scaling exponents, and the frontier of compute."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

import numpy as np
import typer

from doubletrouble import glossary, theory
from doubletrouble.advice import scaling_frontier
from doubletrouble.cli._flags import AxisValues, as_written, declared, grouped, option, was_given
from doubletrouble.cli._report import Form
from doubletrouble.costs import Cost
from doubletrouble.parameters import Parameter, check_choice, declarations
from doubletrouble.problems import SpectralProblem
from doubletrouble.spectra import ExponentialLaw, PowerLaw, SpectralLaw, TwoPowerLaw

LAWS: dict[str, type[SpectralLaw]] = {
    "power": PowerLaw,
    "exponential": ExponentialLaw,
    "two-power": TwoPowerLaw,
}
_LAW_SPECS: dict[str, Parameter] = {
    name: spec for law in LAWS.values() for name, spec in declarations(law).items()
}
_AXES: dict[str, Parameter] = {
    "n_samples": glossary.N_SAMPLES,
    "n_features": glossary.N_FEATURES,
    "gram_ridge": glossary.GRAM_RIDGE,
    "noise": glossary.NOISE,
    "n_members": glossary.N_MEMBERS,
}
_COSTS = declarations(Cost)
_LIMITS = {"max_n_samples": glossary.MAX_SAMPLES, "max_n_members": glossary.MAX_MEMBERS}


# --- flags ---------------------------------------------------------------------------------------


def _law_flag(name: str, law: str = "") -> Any:
    note = f"; for --law {law}" if law else ""
    return declared(name, _LAW_SPECS[name], several=False, note=note)


def _axis(name: str) -> Any:
    return declared(name, _AXES[name])


def _budget_flag(name: str) -> Any:
    return declared(name, {**_COSTS, **_LIMITS}[name], several=False, note="; with --compute")


def _usual(text: str) -> Any:
    """A default as text, which the flag parses."""
    return text


@dataclass(frozen=True, kw_only=True)
class _LawFlags:
    """The law of the spectrum, with the numbers of every law, and the label noise."""

    law: Annotated[
        str,
        option(
            "'power': eigenvalues i^-α; 'exponential': exp(-i/s); 'two-power': i^-α up to a rank, "
            "then another exponent; the target has the power l^(2r)/i on mode i",
            choices=LAWS,
        ),
    ] = "power"
    capacity: Annotated[float, _law_flag("capacity", "power or two-power")] = 1.5
    source: Annotated[float, _law_flag("source")] = 0.8
    n_modes: Annotated[float, _law_flag("n_modes")] = math.inf
    scale: Annotated[float | None, _law_flag("scale", "exponential")] = None
    later_capacity: Annotated[float | None, _law_flag("later_capacity", "two-power")] = None
    knee: Annotated[float | None, _law_flag("knee", "two-power")] = None
    noise: Annotated[AxisValues, _axis("noise")] = _usual("0.1")

    def check(self, context: typer.Context) -> None:
        """Raise ValueError for numbers of other laws, and for missing ones."""
        check_choice("law", self.law, LAWS)
        own = {f.name for f in fields(LAWS[self.law])}
        _refuse(context, [name for name in _LAW_SPECS if name not in own], f"for law {self.law!r}")
        for name, value in self.numbers.items():
            if value is None:
                raise ValueError(f"{name} must be given for law {self.law!r}, got None")

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the law."""
        own = {f.name for f in fields(LAWS[self.law])}
        return {name: getattr(self, name) for name in _LAW_SPECS if name in own}

    @property
    def spectrum(self) -> SpectralLaw:
        """The law itself."""
        return LAWS[self.law](**self.numbers)


@dataclass(frozen=True, kw_only=True)
class _SizeFlags:
    """The sizes at which exponents are printed."""

    n_samples: Annotated[AxisValues, _axis("n_samples")] = _usual("1e9")
    n_features: Annotated[AxisValues, _axis("n_features")] = _usual("1e6")
    n_members: Annotated[AxisValues, _axis("n_members")] = _usual("1")
    gram_ridge: Annotated[AxisValues, _axis("gram_ridge")] = _usual("0")
    best_ridge: Annotated[
        bool, typer.Option("--best-ridge", help="The best ridge at all sizes, not --gram-ridge.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class _BudgetFlags:
    """The budgets of a frontier, what an operation is spent on, and limits."""

    compute: Annotated[
        AxisValues | None,
        declared("compute", glossary.COMPUTE, note="; prints the frontier in place of exponents"),
    ] = None
    steps: Annotated[float, _budget_flag("steps")] = 0
    predictions: Annotated[float, _budget_flag("predictions")] = 0
    sample_price: Annotated[float, _budget_flag("sample_price")] = 0
    workers: Annotated[float, _budget_flag("workers")] = 1
    max_n_samples: Annotated[float, _budget_flag("max_n_samples")] = math.inf
    max_n_members: Annotated[float, _budget_flag("max_n_members")] = math.inf


def _refuse(context: typer.Context, names: Iterable[str], where: str) -> None:
    for name in names:
        if was_given(context, name):
            raise ValueError(f"{name} must be left out {where}, got {context.params[name]}")


# --- the command ---------------------------------------------------------------------------------


@grouped
def scaling(
    *,
    context: typer.Context,
    data: _LawFlags,
    sizes: _SizeFlags,
    budget: _BudgetFlags,
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
    data.check(context)
    if budget.compute is None:
        _refuse(context, (*_COSTS, *_LIMITS), "without compute")
        _refuse(context, ["gram_ridge"] * sizes.best_ridge, "with best_ridge")
        _print_exponents(form, data, sizes)
        return
    _refuse(context, [f.name for f in fields(sizes)], "with compute")
    if len(data.noise) > 1:
        raise ValueError(f"noise must be one number with compute, got {data.noise}")
    _print_frontier(form, data, budget)


# --- exponents -----------------------------------------------------------------------------------


def _print_exponents(form: Form, data: _LawFlags, sizes: _SizeFlags) -> None:
    """Print the exponents at every combination of sizes."""
    axes = {name: getattr(data if name == "noise" else sizes, name) for name in _AXES}
    if sizes.best_ridge:
        del axes["gram_ridge"]
    varying = [name for name, values in axes.items() if len(values) > 1]
    fixed = {n: as_written(_AXES[n], v)[0] for n, v in axes.items() if n not in varying}
    grids = np.meshgrid(*(axes[name] for name in varying), indexing="ij")
    values = {**fixed, **dict(zip(varying, grids, strict=True))}
    members = values.pop("n_members")
    problem = SpectralProblem.from_law(data.spectrum, **values)
    result = theory.exponents(problem, members, ridge="best" if sizes.best_ridge else "fixed")
    parameters = {"law": data.law, **data.numbers, **fixed}
    parameters |= {"gram_ridge": "best"} if sizes.best_ridge else {}
    form.show(result, "Scaling exponents", parameters)


# --- the frontier of compute ---------------------------------------------------------------------


def _print_frontier(form: Form, data: _LawFlags, budget: _BudgetFlags) -> None:
    """Print the best sizes, the error there by cause, and that of one model."""
    (noise,) = data.noise
    given = asdict(budget)
    compute = given.pop("compute")
    limits = {name: given.pop(name) for name in _LIMITS}
    cost = Cost(**given)
    problem = SpectralProblem.from_law(data.spectrum, n_features=1.0, n_samples=1.0, noise=noise)
    result = scaling_frontier(problem, list(compute), cost=cost, **limits)
    parameters = {"law": data.law, **data.numbers, "noise": noise, **given, **limits}
    form.show(result, "Frontier of compute", parameters)
