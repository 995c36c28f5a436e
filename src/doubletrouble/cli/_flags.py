"""Flags from the declarations of parameters: symbol, meaning, domain and default.

A command takes them as keywords (`takes`) and returns a report. Numbers stay text until
`doubletrouble.cli._grid` reads them as ranges.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from doubletrouble.activations import NAMES
from doubletrouble.cli._grid import DEFAULTS, PROBLEM_SPECS, SCHEME_OPTIONS, SIZES, SPECS
from doubletrouble.cli._output import Report
from doubletrouble.ensembles import SCHEMES, Ensemble
from doubletrouble.parameters import declarations
from doubletrouble.problems import Problem

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
