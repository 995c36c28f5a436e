"""Flags, made from the declarations of the parameters: symbol, meaning, domain and default.

A command takes them as keywords (`takes`); numbers stay text here, to be read as ranges.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from doubletrouble import glossary
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, Ensemble, scheme_options
from doubletrouble.parameters import Parameter, declarations, declared
from doubletrouble.problems import Problem

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULTS: dict[str, Any] = {
    **{f.name: f.default for f, _ in declared(Problem)},
    "n_members": Ensemble.n_members,
}
SCHEME_OPTIONS = {
    name: spec
    for name, spec in scheme_options().items()
    if name != "n_bank"  # of measured spectra, which are not given on the command line
}
SIZES = {
    "n_features": glossary.N_FEATURES,
    "n_samples": glossary.N_SAMPLES,
    "dim": glossary.DIM,
}
RATIOS = ("features_per_dim", "samples_per_dim")
_OF_PROBLEM: dict[str, Parameter] = {}
for _field, _spec in declared(Problem):
    _OF_PROBLEM[_field.name] = _spec
    if _field.name == "noise":
        _OF_PROBLEM["snr"] = glossary.SNR  # F/τ, in place of τ
SPECS: dict[str, Parameter] = {
    **SIZES,
    **_OF_PROBLEM,
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
"""Every number a problem or a network is made of, in the order of the columns of a table."""

_SHORT = {"n_members": ["-K"]}
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
    written += _SHORT.get(name, [])
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


def takes(*flags: inspect.Parameter) -> Callable[[Command], Command]:
    """Replace the `**given` of a command by these flags; document RANGE where one takes it."""
    options = (option for one in flags for option in getattr(one.annotation, "__metadata__", ()))
    ranges = f"\n\n{_RANGES}" if any(option.metavar == _RANGE for option in options) else ""

    def give(command: Command) -> Command:
        command.__dict__["__signature__"] = inspect.Signature(flags)
        command.__doc__ = f"{inspect.getdoc(command)}{ranges}"
        return command

    return give


def _completing(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Completion for a shell: the choices, after each comma again."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [f"{before}{comma}{choice}" for choice in choices]

    return complete


def ensemble_flags(
    *, several: bool = True, default: str = "", schemes: bool = False
) -> tuple[inspect.Parameter, ...]:
    """The flags of an ensemble: its size, its scheme, and the options of all schemes.

    `default` is the one of the size; with `schemes`, there may be several schemes, too.
    """
    kinds = (f"'{name}': {_first_line(kind)}" for name, kind in SCHEMES.items())
    text = "; ".join(kinds) + ("; or several, separated by commas" if schemes else "")
    scheme = flag(
        "scheme", str, text, Ensemble.name, choices=SCHEMES, metavar="NAMES" if schemes else "NAME"
    )  # fmt: skip
    options = (_option(name, several=several and not schemes) for name in SCHEME_OPTIONS)
    return (number("n_members", several=several, default=default), scheme, *options)


def _option(name: str, *, several: bool) -> inspect.Parameter:
    """The flag of an option that some schemes have."""
    owners = (scheme for scheme, kind in SCHEMES.items() if name in declarations(kind))
    text = f"{explained(name)}; for --scheme {' or '.join(owners)}"
    return flag(name, str, text, metavar=_RANGE if several else "NUMBER")


def _first_line(kind: type) -> str:
    """The first line of the docstring of a scheme."""
    return (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")


SIZE_FLAGS = tuple(number(name) for name in SIZES)
PROBLEM_FLAGS = tuple(number(name) for name in _OF_PROBLEM)
ACTIVATION = flag(
    "activation", str, f"σ: {', '.join(NAMES)}", Problem.activation, choices=NAMES, metavar="NAME"
)
PROBLEM = (*PROBLEM_FLAGS, *SIZE_FLAGS, ACTIVATION)
ENSEMBLE = ensemble_flags()
FORMS = (
    flag("json", bool, "Print JSON, at full precision.", False),
    flag("csv", bool, "Print CSV, at full precision.", False),
)
