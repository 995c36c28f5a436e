"""Make every figure and the gallery: python -m doubletrouble.figures --out out."""

import argparse
import sys
from collections.abc import Sequence

from doubletrouble.errors import DoubleTroubleError
from doubletrouble.figures._figure import PRESETS
from doubletrouble.figures._gallery import write_gallery


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the gallery and print the path of its page; return the exit code.

    The code is 0, 2 after an error (one message on stderr) and 130 after Ctrl-C.
    """
    parser = argparse.ArgumentParser(
        prog="python -m doubletrouble.figures", description="Make every figure and a gallery."
    )
    parser.add_argument("--out", default="out", help="folder to write into (default: out)")
    parser.add_argument(
        "--preset", default=PRESETS[0], choices=PRESETS, help="how large (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    try:
        index = write_gallery(options.out, preset=options.preset, progress=True)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command reuses the finished simulations\n")
        return 130
    except OSError as error:
        sys.stderr.write(f"cannot write to {options.out}: {error.strerror or error}\n")
        return 2
    except (DoubleTroubleError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    print(index)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
