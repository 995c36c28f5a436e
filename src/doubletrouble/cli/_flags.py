"""Flags from the declarations of parameters.

A command is a function of typed flags: `declared` is the option of a declared number, which is
read in its domain, `option` any other. Typer has no groups of flags, which most commands share:
`grouped` replaces a parameter whose type is a dataclass by flags for its fields, and a
`ProblemGrid` by those of a problem and an ensemble.
"""

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble.activations import NAMES, activation
from doubletrouble.ensembles import SCHEMES, SUPPORT, Ensemble, Scheme, named_ensemble
from doubletrouble.ensembles import scheme_options as all_scheme_options
from doubletrouble.errors import DoubleTroubleError
from doubletrouble.losses import LOSSES, TASKS
from doubletrouble.parameters import Numeric, Parameter, Value, as_value, declarations
from doubletrouble.problems import USUAL, Mixture, Problem, noise_at
from doubletrouble.ranges import number_axis, numbers

# --- declarations --------------------------------------------------------------------------------

SCHEME_OPTIONS = {
    name: spec
    for name, spec in all_scheme_options().items()
    if name != "n_bank"  # for measured spectra, which have no flags
}
SIZES = {
    "n_features": glossary.N_FEATURES,
    "n_samples": glossary.N_SAMPLES,
    "dim": glossary.DIM,
}
RATIOS = ("features_per_dim", "samples_per_dim")
PROBLEM_SPECS: dict[str, Parameter] = {}
for _name, _spec in declarations(Problem).items():
    PROBLEM_SPECS[_name] = _spec
    if _name == "noise":
        PROBLEM_SPECS["snr"] = glossary.SNR  # F/τ, in place of τ
SPECS: dict[str, Parameter] = {
    **SIZES,
    **PROBLEM_SPECS,
    "n_members": glossary.N_MEMBERS,
    **SCHEME_OPTIONS,
    "times": glossary.TIME,
    "laziness": glossary.LAZINESS,
    "width": glossary.WIDTH,
    "depth": glossary.DEPTH,
    "learning_rate": glossary.LEARNING_RATE,
    "tolerance": glossary.TOLERANCE,
    "budget": glossary.BUDGET,
}
"""Every number of a problem or a network, in the order of the columns of a table."""


# --- flags ---------------------------------------------------------------------------------------

_RANGE = "RANGE"
_RANGES = (
    "A RANGE is a number, a list such as 0,0.1,1, or START:STOP:log:COUNT or "
    "START:STOP:linear:COUNT with both ends. Several make a table of all combinations."
)


class AxisValues(tuple[float, ...]):
    """The values of a flag that takes a range."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(f"{value:g}" for value in self)


class FlagError(DoubleTroubleError):
    """Invalid text of a flag. Typer would add to the message of a ValueError."""


def declared(
    name: str,
    spec: Parameter | None = None,
    *,
    several: bool = True,
    note: str = "",
    show_default: bool | str = True,
) -> Any:
    """Return the option of a declared number: `AxisValues`, or one number without `several`."""
    spec = spec or SPECS[name]
    meaning = spec.meaning.replace("`math.inf`", "inf").replace("`", "")

    def parse(value: Any) -> Any:
        try:
            values = number_axis(name, value, spec)
        except ValueError as error:
            raise FlagError(str(error)) from error
        if several:
            return AxisValues(values)
        if len(values) > 1:
            raise FlagError(f"{name} must be one number here, got {value!r}")
        return as_written(spec, values)[0]

    return typer.Option(
        f"--{name.replace('_', '-')}",
        *(["-K"] if name == "n_members" else []),
        parser=parse,
        metavar=_RANGE if several else "INTEGER" if spec.whole else "NUMBER",
        help=f"{spec.symbol}: {meaning}; {spec.domain}{note}",
        show_default=show_default,
    )


def option(
    text: str, metavar: str = "NAME", *, choices: Collection[str] = (), **others: Any
) -> Any:
    """Return another option, which completes to one of `choices`."""
    complete = completion(choices) if choices else None
    return typer.Option(help=text, metavar=metavar, autocompletion=complete, **others)


def completion(choices: Collection[str]) -> Callable[[str], list[str]]:
    """Completion in a shell: the choices, after each comma again."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices]

    return complete


def as_written(spec: Parameter, values: Sequence[float]) -> list[float]:
    """Whole numbers without a decimal point."""
    return [int(v) if spec.whole and math.isfinite(v) else v for v in values]


def was_given(context: typer.Context, name: str) -> bool:
    """Return whether a flag is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def noise_is_replaced(context: typer.Context) -> bool:
    """Return whether the signal-to-noise ratio, or a mixture, is given instead of the noise."""
    given = [name for name in ("snr", "noise_mixture") if context.params.get(name) is not None]
    given += ["noise"] if was_given(context, "noise") else []
    if len(given) > 1:
        first, second = given[-1], given[0]
        raise ValueError(f"{first} must not be given with {second}, got {context.params[first]}")
    return given not in ([], ["noise"])


def mixture(text: str) -> Mixture:
    """Read a mixture of Gaussians: WEIGHT:SD of each component, separated by commas.

    >>> mixture("0.9:0.5,0.1:4").components
    ((0.9, 0.5), (0.1, 4.0))
    """
    pairs = [part.split(":") for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"noise_mixture must be WEIGHT:SD,WEIGHT:SD,..., got {text!r}")
    read = [tuple(numbers("noise_mixture", one)[0] for one in pair) for pair in pairs]
    return Mixture(read)  # type: ignore[arg-type]


Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


# --- groups of flags -----------------------------------------------------------------------------


@dataclass(frozen=True)
class FlagGroup:
    """Flags from which one argument of a command is made."""

    flags: Sequence[inspect.Parameter]
    make: Callable[[typer.Context, Mapping[str, Any]], Any]


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameters of a command that stand for groups by the flags of the groups."""
    groups: dict[str, FlagGroup] = {}
    flags: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        if is_dataclass(one.annotation):
            groups[one.name] = _fields_group(one.annotation)
        for group in getattr(one.annotation, "__metadata__", ()):
            if isinstance(group, FlagGroup):
                groups[one.name] = group
        flags += groups[one.name].flags if one.name in groups else [one]
    own = [one.name for one in flags if one.annotation is not typer.Context]

    @wraps(command)
    def run(context: typer.Context, **values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group.make(context, {f.name: values.pop(f.name) for f in group.flags})
        if len(own) < len(flags):
            values["context"] = context
        return command(**values)

    first = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    options = [one.replace(kind=one.KEYWORD_ONLY) for one in flags if one.name in own]
    run.__dict__["__signature__"] = inspect.Signature([first, *options])
    if any(getattr(o, "metavar", "") == _RANGE for f in options for o in f.annotation.__metadata__):
        run.__doc__ = f"{inspect.getdoc(command)}\n\n{_RANGES}"
    return run


def _fields_group(kind: Any) -> FlagGroup:
    hints = get_type_hints(kind, include_extras=True)
    flags = [
        _flag(f.name, hints[f.name], inspect.Parameter.empty if f.default is MISSING else f.default)
        for f in fields(kind)
    ]
    return FlagGroup(flags, lambda _, values: kind(**values))


def _flag(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


# --- the flags of a problem ----------------------------------------------------------------------

PROBLEM = (*PROBLEM_SPECS, *SIZES)
"""The numbers of a problem; counts may replace the ratios."""


def grid_flags(
    names: Iterable[str],
    function: str,
    *,
    without: str = "",
    ranges: Collection[str] = SPECS,
    members: str = f"{Ensemble.n_members:g}",
    schemes: bool = False,
) -> FlagGroup:
    """The flags of a `ProblemGrid`, with those of an ensemble that a `function` supports.

    Numbers in `ranges` may have several values; with `schemes`, several schemes are allowed.
    """
    usual = {name: f"{USUAL[name]:g}" for name in declarations(Problem)} | {"n_members": members}

    def number(name: str, note: str = "") -> inspect.Parameter:
        shown = f"{usual[name]}; 0 for classification" if name == "noise" else True
        several = declared(name, several=name in ranges, note=note, show_default=shown)
        return _flag(name, Annotated[AxisValues | None, several], usual.get(name))

    names = [name for name in names if name != without]
    flags = [number(name, "; in place of --noise" if name == "snr" else "") for name in names]
    sigma = option(f"σ: {', '.join(NAMES)}", choices=NAMES)
    flags.append(_flag("activation", Annotated[str, sigma], Problem.activation))
    some = [f"{name}:NUMBER" if fields(kind) else name for name, kind in LOSSES.items()]
    loss = option(f"loss that is minimized: {', '.join(some)}", choices=LOSSES)
    task = option(f"{' or '.join(TASKS)}, of the sign of the target", choices=TASKS)
    pairs = option(
        "label noise of regression as a mixture of Gaussians, WEIGHT:SD of each; in place of "
        "--noise",
        "PAIRS",
    )
    flags += [
        _flag("loss", Annotated[str, loss], "squared"),
        _flag("task", Annotated[str, task], TASKS[0]),
        _flag("noise_mixture", Annotated[str | None, pairs], None),
    ]
    kinds = {name: kind for name, kind in SCHEMES.items() if SUPPORT[function](kind)}
    text = "; ".join(f"'{name}': {_first_line(kind)}" for name, kind in kinds.items())
    text += "; or several, separated by commas" if schemes else ""
    scheme = option(text, "NAMES" if schemes else "NAME", choices=SCHEMES)
    flags += [number("n_members"), _flag("scheme", Annotated[str, scheme], Ensemble.name)]
    for name in SCHEME_OPTIONS:
        if owners := [one for one, kind in kinds.items() if name in declarations(kind)]:
            flags.append(number(name, f"; for --scheme {' or '.join(owners)}"))
    return FlagGroup(flags, partial(ProblemGrid.of, function=function))


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")


# --- values --------------------------------------------------------------------------------------

_MOST_ROWS = 1_000_000  # of a table
_NOISE_AT = np.vectorize(noise_at, otypes=[np.float64])


def ensembles(
    names: Sequence[str],
    n_members: Numeric,
    options: Mapping[str, Numeric | None],
    function: str,
) -> list[Scheme]:
    """Return the ensembles of some schemes, each with its own options.

    Raise ValueError for schemes that `function` of the library does not support.

    >>> ensembles(["divide", "subsample"], 4, {"fraction": 0.6}, "exact_error")
    [Divide(4), Subsample(4, fraction=0.6)]
    >>> ensembles(["divide"], 4, {"fraction": 0.6}, "exact_error")
    Traceback (most recent call last):
    ValueError: fraction must be left out for scheme 'divide', got 0.6
    >>> ensembles(["bootstrap"], 4, {}, "advise")
    Traceback (most recent call last):
    ValueError: scheme must be one of ensemble, divide for advise, got 'bootstrap'
    """
    owned = {name: declarations(SCHEMES[name]) for name in names if name in SCHEMES}
    without_scheme = {name for name in options if not any(name in own for own in owned.values())}
    schemes = []
    for name in names:
        if name in SCHEMES and not SUPPORT[function](SCHEMES[name]):
            known = ", ".join(one for one, kind in SCHEMES.items() if SUPPORT[function](kind))
            raise ValueError(f"scheme must be one of {known} for {function}, got {name!r}")
        own = {*owned.get(name, ()), *without_scheme}  # the first scheme raises for options of none
        given = {option: value for option, value in options.items() if option in own}
        schemes.append(named_ensemble(name, n_members, **given))
    return schemes


@dataclass(frozen=True, kw_only=True)
class ProblemGrid:
    """A problem at every combination of the given values, with an array axis for each range."""

    axes: Mapping[str, Sequence[float]]  # in the order of the columns of a table
    names: Mapping[str, str]  # activation and scheme; other losses: task and loss, and a mixture
    function: str  # of the library, which must support the scheme

    def __post_init__(self) -> None:
        if (rows := math.prod(map(len, self.axes.values()))) > _MOST_ROWS:
            raise ValueError(f"ranges must have at most {_MOST_ROWS} combinations, got {rows}")

    @classmethod
    def of(
        cls,
        context: typer.Context,
        values: Mapping[str, Any],
        function: str,
    ) -> "ProblemGrid":
        """Return the grid of the flags of a command: ratios, or the counts P, N and D.

        The defaults are those of the task, and fields that it does not have are left out.
        """
        if (task := values["task"]) not in TASKS:
            raise ValueError(f"task must be {' or '.join(TASKS)}, got {task!r}")
        usual = Problem(task=task, loss=values["loss"])
        dropped = {name for name in usual.excluded if not was_given(context, name)}
        if usual.task == "classification" and values.get("noise_mixture") is not None:
            given = values["noise_mixture"]
            raise ValueError(f"noise_mixture must be left out for classification, got {given!r}")
        if noise_is_replaced(context):
            dropped.add("noise")
        elif not was_given(context, "noise") and values.get("noise") is not None:
            noise: Any = usual.noise
            values = {**values, "noise": AxisValues([noise])}
        if counts := [name for name in SIZES if values.get(name) is not None]:
            if len(counts) < len(SIZES):
                raise ValueError(
                    f"{', '.join(SIZES)} must be given together, got only {' and '.join(counts)}"
                )
            for name in RATIOS:
                if was_given(context, name):
                    raise ValueError(
                        f"{name} must be left out if counts are given, got {values[name]}"
                    )
            dropped |= set(RATIOS)
        numbers = {n: values[n] for n in SPECS if values.get(n) is not None and n not in dropped}
        names = {"activation": activation(values["activation"]).name}
        if not usual.is_ridge_regression:
            names |= {"task": usual.task, "loss": str(usual.loss)}
        others = ("noise_mixture", "scheme")
        names |= {name: values[name] for name in others if values.get(name) is not None}
        return cls(
            axes={n: v if isinstance(v, AxisValues) else (v,) for n, v in numbers.items()},
            names=names,
            function=function,
        )

    @property
    def varying(self) -> dict[str, Sequence[float]]:
        """The parameters with several values."""
        return {name: values for name, values in self.axes.items() if len(values) > 1}

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values along each axis."""
        return tuple(map(len, self.varying.values()))

    @property
    def coordinates(self) -> dict[str, Any]:
        """The parameters with several values, as arrays, and the noise that follows from them."""
        values = {_column(name): self.values(name) for name in self.varying}
        return values | ({"noise": self.noise} if isinstance(self.noise, np.ndarray) else {})

    @property
    def constants(self) -> dict[str, float]:
        """The parameters with one value, in the order of the columns of a table."""
        values = {n: as_written(SPECS[n], v)[0] for n, v in self.axes.items() if len(v) == 1}
        values |= {"noise": self.noise} if isinstance(self.noise, float) else {}
        return {_column(name): values[name] for name in SPECS if name in values}

    @property
    def problem(self) -> Problem:
        """The problem at all combinations."""
        names = {*SIZES, *declarations(Problem)}
        values: dict[str, Any] = {name: self.values(name) for name in self.axes if name in names}
        if self.noise is not None:
            values["noise"] = self.noise
        make = Problem.from_sizes if "dim" in values else Problem
        return make(**values, **self.choices)

    @property
    def choices(self) -> dict[str, Any]:
        """The fields of the problem that are not numbers."""
        names = ("activation", "task", "loss")
        chosen: dict[str, Any] = {name: self.names[name] for name in names if name in self.names}
        if "noise_mixture" in self.names:
            chosen["noise"] = mixture(self.names["noise_mixture"])
        return chosen

    @property
    def ensemble(self) -> Scheme:
        """The ensemble at all combinations."""
        options = {name: self.values(name) for name in SCHEME_OPTIONS if name in self.axes}
        size = self.values("n_members")
        (ensemble,) = ensembles([self.names["scheme"]], size, options, self.function)
        return ensemble

    @property
    def noise(self) -> Value | None:
        """τ = F/SNR, if the signal-to-noise ratio is given."""
        if "snr" not in self.axes:
            return None
        noise = _NOISE_AT(self.values("snr"), self.values("signal"))
        return as_value(noise)

    def values(self, name: str) -> Numeric:
        """One number, or an array along the axis of a parameter."""
        values = self.axes[name]
        shape = [-1 if axis == name else 1 for axis in self.varying]
        return np.reshape(values, shape) if len(values) > 1 else values[0]


def _column(flag: str) -> str:
    return "time" if flag == "times" else flag
