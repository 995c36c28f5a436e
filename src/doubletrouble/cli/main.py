"""The entry point: run a command, and turn errors into one line and an exit code.

0 is success, 1 that something asked for did not succeed, 2 bad input or a file that cannot be
used; 130 and 143 follow Ctrl-C and SIGTERM, 141 that the reader of a pipe has left.
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from doubletrouble.errors import DoubleTroubleError, require

BAD_INPUT = 2
DEBUG = "--debug"


class Stopped(KeyboardInterrupt):
    """SIGTERM, as an exception that stops work the way Ctrl-C does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in words
    try:
        with _sigterm_as_exception() as signals:
            require("typer", "cli")
            require("rich", "cli")
            from doubletrouble.cli.app import run

            code = run([word for word in words if word != DEBUG])
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt as error:
        _say(error, "stopped")
        return 128 + (signals[0] if signals else signal.SIGINT)
    except (DoubleTroubleError, ValueError, TypeError, OSError, MemoryError) as error:
        if debug:
            traceback.print_exc()
        else:
            _say(error, type(error).__name__)
        return BAD_INPUT


def _say(error: BaseException, otherwise: str) -> None:
    """One line on stderr, whatever the error holds."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    with suppress(OSError):
        sys.stderr.write(f"{' '.join(text.split()) or otherwise}\n")


@contextmanager
def _sigterm_as_exception() -> Iterator[list[int]]:
    """Stop at SIGTERM as at Ctrl-C; yields the list of signals that came."""
    came: list[int] = []

    def stop(number: int, _: object) -> None:
        came.append(number)
        raise Stopped

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield came
        return
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
