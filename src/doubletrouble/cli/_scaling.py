"""The command on spectra given by a law: scaling exponents, and the frontier of compute."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Annotated, Any

import numpy as np
import typer

from doubletrouble import glossary, theory
from doubletrouble.advice import ScalingFrontier, scaling_frontier
from doubletrouble.cli._flags import AxisValues, as_written, declared, grouped, option, was_given
from doubletrouble.cli._output import brief, table
from doubletrouble.cli._report import ERROR, Form, Report, cells
from doubletrouble.costs import Cost
from doubletrouble.parameters import Parameter, declarations
from doubletrouble.problems import SpectralProblem
from doubletrouble.spectra import ExponentialLaw, PowerLaw, SpectralLaw, TwoPowerLaw
from doubletrouble.theory import Exponents, PartExponents

LAWS: dict[str, type[SpectralLaw]] = {
    "power": PowerLaw,
    "exponential": ExponentialLaw,
    "two-power": TwoPowerLaw,
}
_LAW_SPECS: dict[str, Parameter] = {
    name: spec for law in LAWS.values() for name, spec in declarations(law).items()
}
_AXES: dict[str, Parameter] = {
    "n_features": glossary.N_FEATURES,
    "n_samples": glossary.N_SAMPLES,
    "ridge": glossary.GRAM_RIDGE,
    "noise": glossary.NOISE,
    "n_members": glossary.N_MEMBERS,
}
# defaults as text, which flags parse
_USUAL: dict[str, Any] = dict(zip(_AXES, ("1e6", "1e9", "0", "0.1", "1"), strict=True))
_COSTS = declarations(Cost)
_DIRECTIONS = {"by_samples": "N", "by_features": "P", "by_members": "K"}
_UNUSED = ("n_features", "n_samples", "ridge", "n_members", "best_ridge")  # with a budget
_LIMITS = {"max_samples": glossary.MAX_SAMPLES, "max_members": glossary.MAX_MEMBERS}
_FRONTIER_ONLY = (*_COSTS, *_LIMITS)


def _law_flag(name: str, law: str = "") -> Any:
    note = f"; for --law {law}" if law else ""
    return declared(name, _LAW_SPECS[name], several=False, note=note)


def _axis(name: str) -> Any:
    return declared(name, _AXES[name])


def _frontier_flag(name: str, spec: Parameter) -> Any:
    return declared(name, spec, several=False, note="; with --compute")


@grouped
def scaling(
    *,
    context: typer.Context,
    law: Annotated[
        str,
        option(
            "'power': eigenvalues i^-α; 'exponential': exp(-i/s); 'two-power': i^-α up to a rank, "
            "then another exponent; the target has the power l^(2r)/i on mode i",
            choices=LAWS,
        ),
    ] = "power",
    capacity: Annotated[float, _law_flag("capacity", "power or two-power")] = 1.5,
    source: Annotated[float, _law_flag("source")] = 0.8,
    n_modes: Annotated[float, _law_flag("n_modes")] = math.inf,
    scale: Annotated[float | None, _law_flag("scale", "exponential")] = None,
    later_capacity: Annotated[float | None, _law_flag("later_capacity", "two-power")] = None,
    knee: Annotated[float | None, _law_flag("knee", "two-power")] = None,
    n_features: Annotated[AxisValues, _axis("n_features")] = _USUAL["n_features"],
    n_samples: Annotated[AxisValues, _axis("n_samples")] = _USUAL["n_samples"],
    ridge: Annotated[AxisValues, _axis("ridge")] = _USUAL["ridge"],
    noise: Annotated[AxisValues, _axis("noise")] = _USUAL["noise"],
    n_members: Annotated[AxisValues, _axis("n_members")] = _USUAL["n_members"],
    best_ridge: Annotated[
        bool, typer.Option("--best-ridge", help="The best ridge at all sizes, not --ridge.")
    ] = False,
    compute: Annotated[
        AxisValues | None,
        declared("compute", glossary.COMPUTE, note="; prints the frontier in place of exponents"),
    ] = None,
    steps: Annotated[float, _frontier_flag("steps", _COSTS["steps"])] = 0,
    predictions: Annotated[float, _frontier_flag("predictions", _COSTS["predictions"])] = 0,
    sample_price: Annotated[float, _frontier_flag("sample_price", _COSTS["sample_price"])] = 0,
    workers: Annotated[float, _frontier_flag("workers", _COSTS["workers"])] = 1,
    max_samples: Annotated[float, _frontier_flag("max_samples", _LIMITS["max_samples"])] = math.inf,
    max_members: Annotated[float, _frontier_flag("max_members", _LIMITS["max_members"])] = math.inf,
    form: Form,
) -> None:
    """Print the scaling exponents of the test error by cause on data with a law for the spectrum.

    The exponents are d log(part)/d log(size) by the numbers of samples N, features P and models K;
    those of the asymptotic law, where one is known, are in brackets. The ridge δ is on the Gram
    matrix of features/√P.

    With --compute the command prints the best P, N, K and ridge for each budget of operations, and
    the error of one model beside it. A model takes N P min(N, P) operations, or T N P with an
    iterative solver (--steps), and P for each prediction.
    """
    given = {
        "capacity": capacity,
        "later_capacity": later_capacity,
        "knee": knee,
        "scale": scale,
        "source": source,
        "n_modes": n_modes,
    }
    parameters = _law_parameters(context, law, given)
    spectrum = LAWS[law](**parameters)
    heading = [f"law={law}"]
    heading += [f"{_symbol(name)}={brief(value)}" for name, value in parameters.items()]
    shared: dict[str, Any] = {"law": law, **parameters}
    if compute is None:
        _refuse(context, _FRONTIER_ONLY, "without compute")
        axes = {
            "n_samples": n_samples,
            "n_features": n_features,
            "ridge": ridge,
            "noise": noise,
            "n_members": n_members,
        }
        if best_ridge:
            _refuse(context, ("ridge",), "with best_ridge")
            del axes["ridge"]
        _show_exponents(form, spectrum, axes, heading, shared, best=best_ridge)
        return
    _refuse(context, _UNUSED, "with compute")
    if len(noise) > 1:
        raise ValueError(f"noise must be one number with compute, got {noise}")
    cost = Cost(steps=steps, predictions=predictions, sample_price=sample_price, workers=workers)
    problem = SpectralProblem.from_law(spectrum, n_features=1.0, n_samples=1.0, noise=noise[0])
    result = scaling_frontier(
        problem, list(compute), cost=cost, max_samples=max_samples, max_members=max_members
    )
    others = {"noise": noise[0], **{name: getattr(cost, name) for name in _COSTS}}
    others |= {"max_samples": max_samples, "max_members": max_members}
    shown = {name: value for name, value in others.items() if was_given(context, name)}
    for name, value in ({"noise": noise[0]} | shown).items():
        heading.append(f"{_symbol(name)}{'≤' if name in _LIMITS else '='}{brief(value)}")
    _show_frontier(form, result, heading, {**shared, **others})


def _law_parameters(context: typer.Context, law: str, given: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a law; ValueError for those of other laws, and for missing ones."""
    if law not in LAWS:
        raise ValueError(f"law must be one of {', '.join(LAWS)}, got {law!r}")
    own = [f.name for f in fields(LAWS[law])]
    _refuse(context, [name for name in given if name not in own], f"for law {law!r}")
    for name in own:
        if given[name] is None:
            raise ValueError(f"{name} must be given for law {law!r}")
    return {name: given[name] for name in given if name in own}


def _refuse(context: typer.Context, names: Sequence[str], where: str) -> None:
    for name in names:
        if was_given(context, name):
            got = context.params[name]
            raise ValueError(f"{name} must be left out {where}, got {got}")


def _symbol(name: str) -> str:
    return {**_LAW_SPECS, **_AXES, **_COSTS, **_LIMITS}[name].symbol


def _show_exponents(
    form: Form,
    law: SpectralLaw,
    axes: Mapping[str, AxisValues],
    heading: Sequence[str],
    parameters: Mapping[str, Any],
    *,
    best: bool,
) -> None:
    """Print the exponents at every combination of sizes, or their table if there is only one."""
    written = {name: as_written(_AXES[name], values) for name, values in axes.items()}
    points = list(product(*written.values()))
    columns = {name: [point[k] for point in points] for k, name in enumerate(written)}
    varying = [name for name in written if len(written[name]) > 1]
    values = {name: np.array(columns[name], dtype=float) for name in columns}
    if not varying:
        values = {name: v[0] for name, v in values.items()}
    members = values.pop("n_members")
    problem = SpectralProblem.from_law(law, **values)
    result = theory.exponents(problem, members, ridge="best" if best else "fixed")
    fixed = {name: written[name][0] for name in written if name not in varying}
    rows: dict[str, Sequence[Any]] = {name: columns[name] for name in varying}
    if result.regime is not None:
        rows["regime"] = np.atleast_1d(result.regime).tolist()
    for prefix, tables in (("", result), ("asymptotic_", result.asymptotic)):
        rows |= _columns(prefix, tables)
    given = [f"{_symbol(name)}={brief(value)}" for name, value in fixed.items()]
    title = f"Scaling exponents: {', '.join([*heading, *given, *(['best ridge'] * best)])}"
    text = f"\n{result}" if not varying else _exponents_table(varying, rows)
    report = Report(title=title, columns=rows, text=text)
    numbers = {**parameters, **fixed, **({"ridge": "best"} if best else {})}
    document = Report(parameters=numbers, columns=rows).document
    form.show(report, document)


def _columns(prefix: str, tables: Exponents | None) -> dict[str, list[float]]:
    """A column for each part and size."""
    if tables is None:
        return {}
    return {
        f"{prefix}{f.name}_{direction}": np.atleast_1d(
            getattr(getattr(tables, direction), f.name)
        ).tolist()
        for direction in _DIRECTIONS
        for f in fields(PartExponents)
    }


def _exponents_table(varying: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> str:
    """The exponents of the total, with those of the law in brackets."""
    shown: dict[str, Sequence[str]] = {_symbol(name): cells(rows[name]) for name in varying}
    if "regime" in rows:
        shown["limited by"] = [str(name) for name in rows["regime"]]
    for direction, size in _DIRECTIONS.items():
        name = f"total_{direction}"
        found = [f"{value:z.4f}" for value in rows[name]]
        if "regime" in rows:
            laws = rows[f"asymptotic_{name}"]
            found = [f"{a} ({b:z.4g})" for a, b in zip(found, laws, strict=True)]
        shown[f"d log total\n/d log {size}"] = found
    return table("", shown)


def _show_frontier(
    form: Form,
    result: ScalingFrontier,
    heading: Sequence[str],
    parameters: Mapping[str, Any],
) -> None:
    """Print the best sizes, the error there by cause, and that of one model."""
    assert result.one_model is not None
    values: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("compute", "n_features", "n_samples", "n_members", "ridge")
    }
    values |= {f"{ERROR}{name}": part for name, part in result.error.parts.items()}
    values[f"{ERROR}total"] = result.error.total
    values["one_model_total"] = result.one_model.error.total
    columns = {name: np.asarray(value).tolist() for name, value in values.items()}
    title = f"Frontier of compute: {', '.join(heading)}"
    document = Report(parameters=parameters, columns=columns).document
    if result.asymptotic is not None:
        document["exponents"] = {
            f.name: getattr(result.asymptotic, f.name) for f in fields(result.asymptotic)
        }
    form.show(Report(title=title, columns=columns, text=f"\n{result}"), document)
