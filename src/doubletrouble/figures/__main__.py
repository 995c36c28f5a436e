"""Make every figure and the gallery: python -m doubletrouble.figures --out out."""

import argparse
import sys
from collections.abc import Sequence

from doubletrouble.errors import DoubleTroubleError
from doubletrouble.figures.gallery import write_gallery
from doubletrouble.figures.spec import PRESETS


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the gallery and name its page; return 0, or 2 after one message on stderr.

    After Ctrl-C it is 130.
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
        sys.stderr.write("\nstopped; the same command goes on where it was\n")
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
