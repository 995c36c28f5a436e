"""The table of commands, imported when they are called: `--help` and completion start fast."""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from doubletrouble.cli._output import show

PROGRAM = "doubletrouble"
_NO_COMMAND = 2


COMMANDS = {
    "exact": ("_theory", "The exact test error, by cause."),
    "optimum": ("_theory", "The best ridge, and the error there."),
    "flow": ("_theory", "The exact test error along training time, by cause."),
    "advise": ("_theory", "What to change: features, models, ridge or data."),
    "scaling": ("_theory", "Scaling exponents by cause, and the best use of compute."),
    "simulate": ("_experiments", "The test error of finite models, and the theory."),
    "lazy": ("_experiments", "The test error of ensembles of lazy networks."),
    "decompose": ("_your_data", "The error of your predictions, by cause."),
    "diagnose": ("_your_data", "The error of an estimator on your data, and what reduces it."),
    "forecast": ("_your_data", "The error of random features on your data, before training."),
    "sweep": ("_experiments", "Grids of simulations: run, status, export, retry, verify."),
    "figure": ("_figures", "One figure of the paper."),
    "reproduce": ("_figures", "Every figure of the paper, and a gallery in HTML."),
    "page": ("_figures", "A live page with sliders, simulation and advice."),
}
"""The module of each command, which has its name there, and its line in the help."""

_HELP = """Where does a learner's test error come from, and what fixes it?

P random features are fitted to N samples of D input dimensions with ridge penalty λ; the labels are
a linear signal of strength F with noise of strength τ, and the predictions of K models are
averaged. Only the ratios P/D and N/D matter when all three are large.
"""


class _LazyGroup(TyperGroup):
    """Commands that are imported when they are called; until then, their names and help lines."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {n: TyperCommand(n, help=line) for n, (_, line) in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import a command."""
        name, _, others = super().resolve_command(ctx, args)
        return name, None if name is None else load(name), others


app = typer.Typer(cls=_LazyGroup, help=_HELP, rich_markup_mode=None)


def _print_version(value: bool) -> None:
    if value:
        from doubletrouble import __version__

        show(__version__)
        raise typer.Exit


def _show_traceback(context: typer.Context, value: bool) -> None:
    if value:
        context.obj["debug"] = True


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            callback=_print_version,
            expose_value=False,
            is_eager=True,
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Show the traceback of an error.",
            callback=_show_traceback,
            expose_value=False,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Print the help if there is no command."""
    help_without_command(context)


def help_without_command(context: typer.Context) -> None:
    """Print the help of a group that is called without a command, with exit code 2."""
    if context.invoked_subcommand is None:
        show(context.get_help())
        raise typer.Exit(_NO_COMMAND)


def load(name: str) -> Any:
    """Import a command."""
    module, _ = COMMANDS[name]
    command = getattr(import_module(f"doubletrouble.cli.{module}"), name)
    if not isinstance(command, typer.Typer):
        function, command = command, typer.Typer(rich_markup_mode=None, add_completion=False)
        command.command(name)(function)
    loaded: Any = typer.main.get_command(command)
    loaded.name = name
    (debug,) = (one for one in typer.main.get_command(app).params if one.name == "debug")
    for one in getattr(loaded, "commands", {"": loaded}).values():
        one.params.append(debug)
    return loaded


def run(words: Sequence[str], settings: dict[str, Any]) -> int:
    """Run one command, which may change the settings; return its exit code."""
    command: Any = typer.main.get_command(app)
    try:  # not `app(...)`, which handles Ctrl-C and broken pipes itself
        if f"_{PROGRAM.upper()}_COMPLETE" in os.environ:  # a shell requests completions
            command.main(list(words), prog_name=PROGRAM, obj=settings)
        with command.make_context(PROGRAM, list(words), obj=settings) as context:
            code = command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except SystemExit as end:  # the end of a completion
        return int(end.code or 0)
    except typer.TyperException as error:
        raise ValueError(error.format_message()) from error
    return code if isinstance(code, int) else 0
