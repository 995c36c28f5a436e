"""Flags from the declarations of parameters, and values from their text.

A command takes flags as keywords (`takes`) and returns a report. Numbers stay text until they are
read as ranges (`axes`), whose combinations are the points of a problem (`ProblemGrid`).
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble.activations import NAMES, activation
from doubletrouble.cli._output import Report
from doubletrouble.ensembles import SCHEMES, SUPPORT, Ensemble, Scheme, named_ensemble
from doubletrouble.ensembles import scheme_options as all_scheme_options
from doubletrouble.parameters import Numeric, Parameter, Value, declarations, declared
from doubletrouble.problems import Problem, noise_at
from doubletrouble.ranges import number_axis

# --- declarations --------------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {
    **{f.name: f.default for f, _ in declared(Problem)},
    "n_members": Ensemble.n_members,
}
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
for _field, _spec in declared(Problem):
    PROBLEM_SPECS[_field.name] = _spec
    if _field.name == "noise":
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
    "flips": glossary.LABEL_FLIPS,
    "budget": glossary.BUDGET,
}
"""Every number of a problem or a network, in the order of the columns of a table."""


# --- flags ---------------------------------------------------------------------------------------

Command = Callable[..., Report]

_SHORT = {"n_members": ["-K"]}
_RANGE = "RANGE"
_RANGES = (
    "A RANGE is a number, a list such as 0,0.1,1, or START:STOP:log:COUNT or "
    "START:STOP:linear:COUNT with both ends. Several make a table of all combinations."
)


def flag(
    name: str,
    kind: Any,
    text: str,
    default: Any = None,
    *,
    choices: Iterable[str] = (),
    metavar: str | None = None,
    required: bool = False,
) -> inspect.Parameter:
    """Make a flag `--name`, which completes to one of `choices`."""
    word = name.replace("_", "-")
    written = [f"--{word}/--no-{word}"] if kind is bool and default else [f"--{word}"]
    option = typer.Option(
        *written,
        *_SHORT.get(name, []),
        help=text,
        metavar="INTEGER" if kind is int else metavar,
        show_default=default is not None and kind is not bool,
        autocompletion=_completion(tuple(choices)) if choices else None,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[kind if required or default is not None else kind | None, option],
    )


def argument(
    name: str, kind: Any, text: str, *, choices: Iterable[str] = (), required: bool = True
) -> inspect.Parameter:
    """Make a positional argument, which completes to one of `choices`."""
    option = typer.Argument(
        help=text, autocompletion=_completion(tuple(choices)) if choices else None
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[kind if required else kind | None, option],
    )


def choice(
    name: str, text: str, default: Any, choices: Iterable[str], *, metavar: str = "NAME"
) -> inspect.Parameter:
    """Make a flag whose value is a name; the library validates it."""
    return flag(name, str, text, default, choices=choices, metavar=metavar)


def number(name: str, *, several: bool = True, default: str = "") -> inspect.Parameter:
    """Make the flag of a declared parameter; its value is None if it is not given."""
    if not default and name in DEFAULTS:
        default = f"{DEFAULTS[name]:g}"
    text = explained(name) + (f" [default: {default}]" if default else "")
    if name == "snr":
        text += "; in place of --noise"
    return flag(name, str, text, metavar=_RANGE if several else "NUMBER")


def explained(name: str) -> str:
    """Symbol, meaning and domain of a parameter."""
    spec = SPECS[name]
    meaning = spec.meaning.replace("`math.inf`", "inf").replace("`", "")
    return f"{spec.symbol}: {meaning}; {spec.domain}"


def without(flags: Iterable[inspect.Parameter], *names: str) -> tuple[inspect.Parameter, ...]:
    """All flags but some."""
    return tuple(one for one in flags if one.name not in names)


def takes(*flags: inspect.Parameter) -> Callable[[Command], Callable[..., int]]:
    """Give a command these flags, with --json and --csv; print its report, return its exit code."""
    options = (option for one in flags for option in one.annotation.__metadata__)
    ranges = f"\n\n{_RANGES}" if any(option.metavar == _RANGE for option in options) else ""

    def decorate(command: Command) -> Callable[..., int]:
        @wraps(command)
        def run(*, json: bool, csv: bool, **given: Any) -> int:
            if json and csv:
                raise ValueError("json must be left out where csv is given, got both")
            report = command(**given)
            report.show(json=json, csv=csv)
            return report.exit_code

        run.__doc__ = f"{inspect.getdoc(command)}{ranges}"
        run.__dict__["__signature__"] = inspect.Signature((*flags, *_FORMS))
        return run

    return decorate


def _completion(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Completion in a shell: the choices, after each comma again."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices]

    return complete


def ensemble_flags(
    *, several: bool = True, default: str = "", schemes: bool = False
) -> tuple[inspect.Parameter, ...]:
    """The flags of an ensemble: its size, its scheme, and the options of all schemes.

    `default` is the default size; with `schemes`, several schemes are allowed.
    """
    kinds = (f"'{name}': {_first_line(kind)}" for name, kind in SCHEMES.items())
    text = "; ".join(kinds) + ("; or several, separated by commas" if schemes else "")
    return (
        number("n_members", several=several, default=default),
        choice("scheme", text, Ensemble.name, SCHEMES, metavar="NAMES" if schemes else "NAME"),
        *(_scheme_option(name, several=several and not schemes) for name in SCHEME_OPTIONS),
    )


def _scheme_option(name: str, *, several: bool) -> inspect.Parameter:
    owners = (scheme for scheme, kind in SCHEMES.items() if name in declarations(kind))
    text = f"{explained(name)}; for --scheme {' or '.join(owners)}"
    return flag(name, str, text, metavar=_RANGE if several else "NUMBER")


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")


def problem_flags(*, several: bool = True) -> tuple[inspect.Parameter, ...]:
    """The flags of a problem: its numbers, counts in place of ratios, and the activation."""
    names = (*PROBLEM_SPECS, *SIZES)
    return (*(number(name, several=several) for name in names), ACTIVATION)


ACTIVATION = choice("activation", f"σ: {', '.join(NAMES)}", Problem.activation, NAMES)
PROBLEM = problem_flags()
ENSEMBLE = ensemble_flags()
_FORMS = (
    flag("json", bool, "Print JSON, at full precision.", False),
    flag("csv", bool, "Print CSV, at full precision.", False),
)


# --- values --------------------------------------------------------------------------------------

Axes = dict[str, tuple[float, ...]]
_MOST_ROWS = 1_000_000  # of a table
_NOISE_AT = np.vectorize(noise_at, otypes=[np.float64])


def axes(given: Mapping[str, Any]) -> Axes:
    """Return the values of every parameter of a command, in the order of the columns.

    >>> axes({"ridge": "0,0.1", "noise": None})
    {'ridge': (0.0, 0.1), 'noise': (1.0,)}
    """
    dropped = "noise" if has_snr(given) else "snr"
    texts = {name: given[name] for name in SPECS if name in given and name != dropped}
    texts = {name: DEFAULTS.get(name) if text is None else text for name, text in texts.items()}
    values = {n: number_axis(n, text, SPECS[n]) for n, text in texts.items() if text is not None}
    if (rows := math.prod(map(len, values.values()))) > _MOST_ROWS:
        raise ValueError(f"ranges must have at most {_MOST_ROWS} combinations, got {rows}")
    return values


def has_snr(given: Mapping[str, Any]) -> bool:
    """Return whether the signal-to-noise ratio is given instead of the noise."""
    if given.get("snr") is None:
        return False
    if given["noise"] is not None:
        raise ValueError(f"noise must not be given with snr, got {given['noise']!r}")
    return True


def one_number(name: str, value: Any, spec: Parameter) -> float | None:
    """Return the value of a flag with a single number; None if it is not given."""
    if value is None:
        return None
    values = number_axis(name, value, spec)
    if len(values) > 1:
        raise ValueError(f"{name} must be one number here, got {value!r}")
    return values[0]


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
    orphans = {name for name in options if not any(name in own for own in owned.values())}
    schemes = []
    for name in names:
        own = {*owned.get(name, ()), *orphans}  # the first scheme raises for options of none
        given = {option: value for option, value in options.items() if option in own}
        scheme = named_ensemble(name, n_members, **given)
        if not SUPPORT[function](type(scheme)):
            known = ", ".join(one for one, kind in SCHEMES.items() if SUPPORT[function](kind))
            raise ValueError(f"scheme must be one of {known} for {function}, got {name!r}")
        schemes.append(scheme)
    return schemes


@dataclass(frozen=True, kw_only=True)
class ProblemGrid:
    """A problem at every combination of the given values, with an array axis for each range."""

    axes: Axes
    names: Mapping[str, str]  # activation, scheme and clock

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "ProblemGrid":
        """Read the flags of a command: ratios, or the counts P, N and D."""
        counts = [name for name in SIZES if given[name] is not None]
        dropped = RATIOS if counts else tuple(SIZES)
        if counts and len(counts) < len(SIZES):
            raise ValueError(
                f"{', '.join(SIZES)} must be given together, got only {' and '.join(counts)}"
            )
        for name in RATIOS:
            if counts and given[name] is not None:
                raise ValueError(
                    f"{name} must be left out if counts are given, got {given[name]!r}"
                )
        return cls(
            axes=axes({name: text for name, text in given.items() if name not in dropped}),
            names={
                "activation": activation(given["activation"]).name,
                **{name: given[name] for name in ("scheme", "clock") if given.get(name)},
            },
        )

    @property
    def varying(self) -> Axes:
        """The parameters with several values."""
        return {name: values for name, values in self.axes.items() if len(values) > 1}

    @property
    def problem(self) -> Problem:
        """The problem at all combinations."""
        names = {*SIZES, *declarations(Problem)}
        values: dict[str, Any] = {name: self.values(name) for name in self.axes if name in names}
        if self.noise is not None:
            values["noise"] = self.noise
        make = Problem.from_sizes if "dim" in values else Problem
        return make(**values, activation=self.names["activation"])

    def ensemble(self, function: str) -> Scheme:
        """The ensemble at all combinations, of a scheme that `function` supports."""
        options = {name: self.values(name) for name in SCHEME_OPTIONS if name in self.axes}
        size = self.values("n_members")
        (ensemble,) = ensembles([self.names["scheme"]], size, options, function)
        return ensemble

    @property
    def noise(self) -> Value | None:
        """τ = F/SNR, if the signal-to-noise ratio is given."""
        if "snr" not in self.axes:
            return None
        noise = _NOISE_AT(self.values("snr"), self.values("signal"))
        return noise if np.ndim(noise) else float(noise)

    def values(self, name: str) -> Numeric:
        """One number, or an array along the axis of a parameter."""
        values = self.axes[name]
        shape = [-1 if axis == name else 1 for axis in self.varying]
        return np.reshape(values, shape) if len(values) > 1 else values[0]


def as_written(name: str, values: Sequence[float]) -> list[float]:
    """Whole numbers without a decimal point."""
    return [int(v) if SPECS[name].whole and math.isfinite(v) else v for v in values]
