"""Flags, made from the declarations of the parameters: symbol, meaning, domain and default.

A command takes them as keywords (`takes`); numbers stay text here, to be read as ranges.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from doubletrouble import glossary
from doubletrouble.activations import NAMES
from doubletrouble.parameters import Parameter, declared
from doubletrouble.problems import Problem
from doubletrouble.sharing import RESAMPLED
from doubletrouble.simulation.plan import SCHEMES
from doubletrouble.theory.error import exact_error

Command = TypeVar("Command", bound=Callable[..., Any])

_ASKED = inspect.signature(exact_error).parameters

DEFAULTS: dict[str, Any] = {
    **{f.name: f.default for f, _ in declared(Problem)},
    "n_members": _ASKED["n_members"].default,
}
SIZES = {
    "n_features": glossary.N_FEATURES,
    "n_samples": glossary.N_SAMPLES,
    "dim": glossary.DIM,
}
RATIOS = ("features_per_dim", "samples_per_dim")
SPECS: dict[str, Parameter] = {
    **SIZES,
    **{f.name: spec for f, spec in declared(Problem)},
    "n_members": glossary.N_MEMBERS,
    "fraction": glossary.FRACTION,
    "bank_per_dim": glossary.BANK_PER_DIM,
    "times": glossary.TIME,
    "laziness": glossary.LAZINESS,
    "width": glossary.WIDTH,
    "depth": glossary.DEPTH,
    "learning_rate": glossary.LEARNING_RATE,
    "tolerance": glossary.TOLERANCE,
    "flips": glossary.LABEL_FLIPS,
    "snr": glossary.SNR,
    "budget": glossary.BUDGET,
}
"""Every number a problem or a network is made of, in the order of the columns of a table."""

_RANGE = "RANGE"
_RANGES = (
    "A RANGE is a number, a list such as 0,0.1,1, or START:STOP:log:COUNT or "
    "START:STOP:linear:COUNT with both ends. Several make a table of all combinations."
)


def flag(
    name: str, kind: Any, text: str, default: Any = None, *,
    choices: Iterable[str] = (), metavar: str | None = None, required: bool = False,
) -> inspect.Parameter:  # fmt: skip
    """Make a flag `--name`, which completes to one of `choices`."""
    word, metavar = name.replace("_", "-"), "INTEGER" if kind is int else metavar
    written = [f"--{word}/--no-{word}"] if kind is bool and default else [f"--{word}"]
    option = typer.Option(
        *written, help=text, metavar=metavar, show_default=default is not None and kind is not bool,
        autocompletion=_completing(tuple(choices)) if choices else None,
    )  # fmt: skip
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[kind if required or default is not None else kind | None, option],
    )


def number(name: str, *, several: bool = True, default: str = "") -> inspect.Parameter:
    """Make the flag of a declared parameter; where it is not given, the value is None."""
    if not default and name in DEFAULTS:
        default = f"{DEFAULTS[name]:g}"
    text = explained(name) + (f" [default: {default}]" if default else "")
    return flag(name, str, text, metavar=_RANGE if several else "NUMBER")


def explained(name: str) -> str:
    """What the declaration of a parameter says."""
    spec = SPECS[name]
    meaning = spec.meaning.replace("`math.inf`", "inf").replace("`", "")
    return f"{spec.symbol}: {meaning}; {spec.domain}"


def without(flags: Iterable[inspect.Parameter], *names: str) -> tuple[inspect.Parameter, ...]:
    """All flags but some."""
    return tuple(one for one in flags if one.name not in names)


def takes(*flags: inspect.Parameter) -> Callable[[Command], Command]:
    """Give a command these flags, in the place of its `**given`, and say what a RANGE is."""
    options = (option for one in flags for option in getattr(one.annotation, "__metadata__", ()))
    ranges = f"\n\n{_RANGES}" if any(option.metavar == _RANGE for option in options) else ""

    def give(command: Command) -> Command:
        command.__signature__ = inspect.Signature(flags)  # type: ignore[attr-defined]
        command.__doc__ = f"{inspect.getdoc(command)}{ranges}"
        return command

    return give


def _completing(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell offers: the choices, after each comma again."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices]

    return complete


SIZE_FLAGS = tuple(number(name) for name in SIZES)
PROBLEM_FLAGS = tuple(number(f.name) for f, _ in declared(Problem))
ACTIVATION = flag(
    "activation", str, f"σ: {', '.join(NAMES)}", Problem.activation, choices=NAMES, metavar="NAME"
)
PROBLEM = (*PROBLEM_FLAGS, *SIZE_FLAGS, ACTIVATION)
MEMBERS = number("n_members")
SCHEME = flag(
    "scheme", str, "'ensemble': every model sees all samples; 'divide': each its own N/K of them",
    _ASKED["scheme"].default, choices=SCHEMES, metavar="NAME",
)  # fmt: skip
DRAWN_SCHEME = flag(
    "scheme", str, f"{SCHEME.annotation.__metadata__[0].help}; 'subbag': each draws η of the N; "
    "'bootstrap': each draws N of them, with replacement; 'feature_bank': each draws its features "
    "from a bank of B", _ASKED["scheme"].default, choices=(*SCHEMES, *RESAMPLED), metavar="NAME",
)  # fmt: skip
DRAWN = (number("fraction"), number("bank_per_dim"))
FORMS = (
    flag("json", bool, "Print JSON, at full precision.", False),
    flag("csv", bool, "Print CSV, at full precision.", False),
)
