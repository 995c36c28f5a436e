"""Which version this is."""

from doubletrouble import __version__
from doubletrouble.cli.output import show


def version() -> None:
    """Print the version."""
    show(__version__)
