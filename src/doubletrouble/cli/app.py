"""All commands; a new group is one module and one line here."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from doubletrouble.cli import sweep
from doubletrouble.cli.output import show

UsageError: type[Any] = typer.BadParameter.__bases__[0]  # click's, or typer's own copy of it

app = typer.Typer(
    help="Where does a learner's test error come from, and what fixes it?",
    no_args_is_help=True, add_completion=False, rich_markup_mode=None,
)  # fmt: skip
app.add_typer(sweep.group, name="sweep")


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Options of every command; `main` has read them already."""


@app.command()
def version() -> None:
    """Print the version."""
    from doubletrouble import __version__

    show(__version__)


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    command = typer.main.get_command(app)
    try:  # not `app(...)`, which has its own way with Ctrl-C
        with command.make_context("doubletrouble", list(words)) as context:
            code = command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            show(error.format_message())
            return 2
        raise ValueError(f"{error.format_message().rstrip('.')}; try --help") from error
    return code if isinstance(code, int) else 0
