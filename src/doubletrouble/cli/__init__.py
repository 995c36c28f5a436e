"""The command line: `doubletrouble`, or `python -m doubletrouble`."""

from doubletrouble.cli._main import main as main
