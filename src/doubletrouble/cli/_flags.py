"""Flags from the declarations of parameters.

A command is a function of typed flags: `declared` is the option of a declared number, which is
read in its domain, `option` any other. Flags that several commands share are the fields of a
dataclass, by which `grouped` replaces them. A flag that is left out is None: the library has the
default, and the help shows it.
"""

import inspect
import math
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import fields, is_dataclass, make_dataclass
from functools import wraps
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from doubletrouble import glossary
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import (
    SCHEMES,
    Ensemble,
    Scheme,
    named_ensemble,
    scheme_options,
)
from doubletrouble.errors import DoubleTroubleError
from doubletrouble.losses import LOSSES, TASKS
from doubletrouble.parameters import Numeric, Parameter, declarations
from doubletrouble.problems import USUAL, Mixture, Problem
from doubletrouble.ranges import choice_axis, number_axis, numbers

# --- declarations --------------------------------------------------------------------------------

SCHEME_OPTIONS = {
    name: spec
    for name, spec in scheme_options().items()
    if name != "n_bank"  # for measured spectra, which have no flags
}
SIZES = {
    "n_features": glossary.N_FEATURES,
    "n_samples": glossary.N_SAMPLES,
    "dim": glossary.DIM,
}
SPECS: dict[str, Parameter] = {
    **SIZES,
    **declarations(Problem),
    "snr": glossary.SNR,
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
"""The declarations of numbers, unless a command has its own."""


# --- flags ---------------------------------------------------------------------------------------

_RANGE = "RANGE"
_RANGES = (
    "A RANGE is a number, a list such as 0,0.1,1, or START:STOP:log:COUNT or "
    "START:STOP:linear:COUNT with both ends. Several make a table of all combinations."
)
_MOST_ROWS = 1_000_000  # of a table


class AxisValues(tuple[float, ...]):
    """The values of a flag that takes a range."""

    __slots__ = ()


class FlagError(DoubleTroubleError):
    """Invalid text of a flag. Typer would add to the message of a ValueError."""


def declared(
    name: str,
    spec: Parameter | None = None,
    *,
    several: bool = True,
    note: str = "",
    default: object = None,
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
        return int(values[0]) if spec.whole and math.isfinite(values[0]) else values[0]

    return option(
        f"{spec.symbol}: {meaning}; {spec.domain}{note}",
        _RANGE if several else "INTEGER" if spec.whole else "NUMBER",
        names=(f"--{name.replace('_', '-')}", *(["-K"] if name == "n_members" else [])),
        default=default,
        parser=parse,
    )


def whole_option(name: str, text: str, *, default: object = None, word: str = "") -> Any:
    """Return the option of a whole number, or of a word, whose domain the library checks."""

    def parse(value: Any) -> int | str:
        try:
            return word if word and value == word else int(value)
        except ValueError:
            wanted = f"a whole number or {word!r}" if word else "a whole number"
            raise FlagError(f"{name} must be {wanted}, got {value!r}") from None

    return option(text, "INTEGER", parser=parse, default=default)


def option(
    text: str,
    metavar: str = "NAME",
    *,
    names: Collection[str] = (),
    choices: Collection[str] = (),
    default: object = None,
    **others: Any,
) -> Any:
    """Return an option with its default in the help, which completes to one of `choices`."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices]

    shown = f"{default:g}" if isinstance(default, float) else default
    return typer.Option(
        *names,
        help=text if default is None else f"{text}  [default: {shown}]",
        metavar=metavar,
        autocompletion=complete if choices else None,
        show_default=False,
        **others,
    )


def switch(text: str, *names: str) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, help=text, show_default=False)


Quiet = Annotated[bool, switch("No progress bar.", "--quiet")]


# --- groups of flags -----------------------------------------------------------------------------


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace parameters of a command that are dataclasses by a flag for each of their fields."""
    groups: dict[str, Any] = {}
    flags: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        kinds = [one.annotation, *getattr(one.annotation, "__metadata__", ())]
        group: Any = next((kind for kind in kinds if is_dataclass(kind)), None)
        if group:
            groups[one.name] = group
        flags += inspect.signature(group).parameters.values() if group else [one]

    @wraps(command)
    def run(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
        return command(**values)

    run.__dict__["__signature__"] = inspect.Signature(flags)
    options = [one for flag in flags for one in getattr(flag.annotation, "__metadata__", ())]
    if any(getattr(one, "metavar", "") == _RANGE for one in options):
        run.__doc__ = f"{inspect.getdoc(command)}\n\n{_RANGES}"
    return run


def given(flags: Any) -> dict[str, Any]:
    """The flags of a group that are not left out."""
    values = {f.name: getattr(flags, f.name) for f in fields(flags)}
    return {name: value for name, value in values.items() if value is not None}


def arrays(values: Mapping[str, Any]) -> dict[str, Any]:
    """Each range as an array along an axis of its own, and other values as they are."""
    ranges = [name for name, v in values.items() if isinstance(v, AxisValues) and len(v) > 1]
    if (rows := math.prod(len(values[name]) for name in ranges)) > _MOST_ROWS:
        raise ValueError(f"ranges must have at most {_MOST_ROWS} combinations, got {rows}")

    def value(name: str) -> Any:
        if not isinstance(values[name], AxisValues):
            return values[name]
        if name not in ranges:
            return values[name][0]
        return np.reshape(values[name], [-1 if one == name else 1 for one in ranges])

    return {name: value(name) for name in values}


# --- the flags of a problem ----------------------------------------------------------------------


class ProblemGrid:
    """A problem and an ensemble at every combination of the values of flags."""

    function: ClassVar[str]  # of the library, which must support the scheme

    @property
    def values(self) -> dict[str, Any]:
        """The flags that are given, with an array axis for each range."""
        return arrays(given(self))

    @property
    def problem(self) -> Problem:
        """The problem at all combinations: of ratios, or of the counts P, N and D."""
        values = self.values
        noises = [name for name in ("noise", "snr", "noise_mixture") if name in values]
        if len(noises) > 1:
            raise ValueError(
                f"{noises[1]} must not be given with {noises[0]}, got {values[noises[1]]}"
            )
        chosen = {name: values[name] for name in USUAL if name in values}
        if "snr" in values:
            chosen["noise"] = chosen.get("signal", USUAL["signal"]) / values["snr"]
        if mixed := values.get("noise_mixture"):
            if values.get("task") == "classification":
                raise ValueError(
                    f"noise_mixture must be left out for classification, got {mixed!r}"
                )
            chosen["noise"] = mixture(mixed)
        counts = {name: values[name] for name in SIZES if name in values}
        if not counts:
            return Problem(**chosen)
        if len(counts) < len(SIZES):
            known, got = ", ".join(SIZES), " and ".join(counts)
            raise ValueError(f"{known} must be given together, got only {got}")
        for name in ("features_per_dim", "samples_per_dim"):
            if name in chosen:
                raise ValueError(f"{name} must be left out if counts are given, got {chosen[name]}")
        return Problem.from_sizes(**counts, **chosen)

    def ensemble(self, function: str = "") -> Scheme:
        """The ensemble at all combinations; ValueError if `function` does not support it."""
        function, values = function or self.function, self.values
        name = values.get("scheme", Ensemble.name)
        known = [one for one, kind in SCHEMES.items() if function in kind.functions()]
        if name in SCHEMES and name not in known:
            raise ValueError(
                f"scheme must be one of {', '.join(known)} for {function}, got {name!r}"
            )
        options = {option: values.get(option) for option in SCHEME_OPTIONS}
        return named_ensemble(name, values.get("n_members", Ensemble.n_members), **options)

    def ensembles(self, usual: Sequence[Numeric]) -> list[Scheme]:
        """Each of several schemes, with its own options, at each number of members.

        The numbers are the `usual` ones if none are given.
        """
        flags = given(self)
        words = flags.get("scheme", Ensemble.name).split(",")
        names = choice_axis("scheme", [word.strip() for word in words], tuple(SCHEMES))
        own = {name: declarations(SCHEMES[name]) for name in names}
        options = {
            option: value for option, value in self.values.items() if option in SCHEME_OPTIONS
        }
        for option in options:
            if not any(option in known for known in own.values()):
                raise ValueError(f"{option} must be left out for scheme {names[0]!r}")
        return [
            named_ensemble(name, K, **{o: value for o, value in options.items() if o in own[name]})
            for K in flags.get("n_members", usual)
            for name in names
        ]


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


def problem_flags(
    function: str,
    *,
    without: Collection[str] = (),
    more: Mapping[str, object] | None = None,
    ranges: Container[str] = SPECS,
    members: object = Ensemble.n_members,
) -> type[ProblemGrid]:
    """Return the flags of a problem, and of an ensemble that a function of the library supports.

    Numbers in `ranges` may have several values; `more` numbers follow, with their defaults.
    """
    kinds = {name: kind for name, kind in SCHEMES.items() if function in kind.functions()}
    losses = [f"{name}:NUMBER" if fields(kind) else name for name, kind in LOSSES.items()]
    schemes = "; ".join(f"'{name}': {_first_line(kind)}" for name, kind in kinds.items())
    flags: dict[str, Any] = {}

    def add(name: str, default: object = None, note: str = "") -> None:
        several = name in ranges
        found = declared(name, several=several, note=note, default=default)
        flags[name] = Annotated[(AxisValues if several else float) | None, found]

    for name in declarations(Problem):
        add(name, "1; 0 for classification" if name == "noise" else USUAL[name])
    add("snr", note="; in place of --noise")
    for name in SIZES:
        add(name)
    texts = {
        "activation": option(f"σ: {', '.join(NAMES)}", choices=NAMES, default=Problem.activation),
        "loss": option(
            f"loss that is minimized: {', '.join(losses)}", choices=LOSSES, default=Problem.loss
        ),
        "task": option(
            f"{' or '.join(TASKS)}, of the sign of the target", choices=TASKS, default=TASKS[0]
        ),
        "noise_mixture": option(
            "label noise of regression as a mixture of Gaussians, WEIGHT:SD of each; in place of "
            "--noise",
            "PAIRS",
        ),
        "scheme": option(schemes, choices=SCHEMES, default=Ensemble.name),
    }
    scheme = texts.pop("scheme")
    flags |= {name: Annotated[str | None, text] for name, text in texts.items()}
    add("n_members", members)
    flags["scheme"] = Annotated[str | None, scheme]
    for name in SCHEME_OPTIONS:
        if owners := [one for one, kind in kinds.items() if name in declarations(kind)]:
            add(name, note=f"; for --scheme {' or '.join(owners)}")
    for name, default in (more or {}).items():
        add(name, default)
    return make_dataclass(
        "ProblemFlags",
        [(name, kind, None) for name, kind in flags.items() if name not in without],
        bases=(ProblemGrid,),
        namespace={"function": function},
        frozen=True,
        kw_only=True,
    )


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")
