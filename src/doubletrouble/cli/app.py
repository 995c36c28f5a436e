"""All commands; a new one is a module, and a line here.

Nothing is imported for a command before it is called: `--help` starts fast, and completion, too.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from doubletrouble.cli.output import show

PROGRAM = "doubletrouble"

COMMANDS = {
    "exact": ("theory:exact", "The exact test error, by cause."),
    "anova": ("theory:anova", "Its symmetric split: main effects and interactions."),
    "optimum": ("theory:optimum", "The best ridge, and the error there."),
    "training": ("theory:training", "The error on the training labels."),
    "psi": ("theory:psi", "The terms Ψ of the theory."),
    "flow": ("flow:flow", "The exact test error along training time, by cause."),
    "stopping": ("flow:stopping", "When to stop training, against the best ridge."),
    "committee": ("committee:committee", "Different learners, averaged with weights."),
    "advise": ("advise:advise", "What to change: width, models, ridge or data."),
    "simulate": ("simulate:simulate", "The test error of finite models, beside the theory."),
    "lazy": ("lazy:lazy", "The test error of ensembles of lazy networks."),
    "lazy-split": ("lazy:lazy_split", "The test error of lazy networks, by cause."),
    "decompose": ("decompose:decompose", "The squared error of your predictions, by cause."),
    "sweep": ("sweep:group", "Grids of simulations: run, status, export, retry."),
    "figure": ("figure:figure", "One figure of the paper."),
    "reproduce": ("figure:reproduce", "Every figure of the paper, and a page to open."),
    "page": ("page:page", "A live page with sliders, simulation and advice."),
    "activation": ("activation:activation", "Activations and their moments."),
    "version": ("version:version", "Print the version."),
}
"""Where each command is, MODULE:NAME (a function or a Typer of several), and what it is for."""

_HELP = """Where does a learner's test error come from, and what fixes it?

P random features are fitted to N samples of D input dimensions with ridge penalty λ; the labels are
a linear signal of strength F with noise of strength τ, and the predictions of K models are
averaged. Only the ratios P/D and N/D matter when all three are large.
"""

_USAGE_ERROR: type[Any] = typer.BadParameter.__bases__[0]  # click's, or typer's own copy of it


class _OnDemand(TyperGroup):
    """Commands that are imported when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the name and help line of a command by the command itself."""
        name, found, others = super().resolve_command(ctx, args)
        return name, found if name is None else load(name), others


app = typer.Typer(cls=_OnDemand, help=_HELP, no_args_is_help=True, rich_markup_mode=None)
for _name, (_, _sentence) in COMMANDS.items():
    app.command(_name, help=_sentence)(lambda: None)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Options of every command; `main` has read them already."""


def load(name: str) -> Any:
    """Import a command."""
    module, attribute = COMMANDS[name][0].split(":")
    found = getattr(import_module(f"doubletrouble.cli.{module}"), attribute)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return typer.main.get_group(holder).commands[name]


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    command = typer.main.get_command(app)
    try:  # not `app(...)`, which has its own way with Ctrl-C
        if f"_{PROGRAM.upper()}_COMPLETE" in os.environ:  # a shell requests completions
            command.main(list(words), prog_name=PROGRAM)
        with command.make_context(PROGRAM, list(words)) as context:
            code = command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except SystemExit as done:  # how completion ends
        return int(done.code or 0)
    except _USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            show(error.format_message())
            return 2
        sentence = error.format_message().replace(". Did you mean", "; did you mean")
        hint = "" if sentence.endswith("?") else "; try --help"
        raise ValueError(sentence.rstrip(".") + hint) from error
    return code if isinstance(code, int) else 0
