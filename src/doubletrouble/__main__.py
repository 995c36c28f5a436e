"""The command line as `python -m doubletrouble`."""

import sys

from doubletrouble.cli import main

if __name__ == "__main__":
    sys.exit(main())
