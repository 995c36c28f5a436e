"""The entry point: run a command; turn errors into one line on stderr and an exit code.

0 is success, 1 a failure of part of the work, 2 invalid input or a file that cannot be used; 130
and 143 follow Ctrl-C and SIGTERM, 141 a pipe closed by its reader.

Standard streams may be closed, full, or unable to encode the symbols of the paper: results that
cannot be written are an error, messages that cannot be written are dropped, and characters outside
the encoding are written as "?".
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import RawIOBase, TextIOWrapper

from doubletrouble.errors import DoubleTroubleError, file_errors, require

BAD_INPUT = 2


class TerminationSignal(KeyboardInterrupt):
    """SIGTERM, as an exception that stops work like Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    settings = {"debug": False}
    _prepare_streams()
    try:
        with _sigterm_as_exception() as signals:
            require("typer", "cli")
            from doubletrouble.cli._app import run

            code = run(sys.argv[1:] if arguments is None else arguments, settings)
            with file_errors("stdout"):
                sys.stdout.flush()
            return code
    except BrokenPipeError:
        _discard_unwritable_results()
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt as error:
        _report(error, "stopped")
        return 128 + (signals[0] if signals else signal.SIGINT)
    except (DoubleTroubleError, ValueError, OSError, MemoryError) as error:
        _discard_unwritable_results()
        if settings["debug"]:
            with suppress(OSError):
                traceback.print_exc()
        else:
            _report(error, type(error).__name__)
        return BAD_INPUT


def _prepare_streams() -> None:
    """Open closed standard streams; characters outside the encoding of one become "?".

    An unbuffered stdout, as by PYTHONUNBUFFERED, ignores what a full disk or a closed pipe did not
    take of a large result; a buffer reports it.
    """
    if sys.stdout is None:  # closed by >&-; writing to this one fails when it is flushed
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(getattr(sys.stdout, "buffer", None), RawIOBase):
        sys.stdout = open(  # noqa: SIM115
            sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_unwritable_results() -> None:
    """Discard results that stdout cannot take; the interpreter would write them again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: BaseException, otherwise: str) -> None:
    """Write one line on stderr."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    with suppress(OSError):
        sys.stderr.write(f"{' '.join(text.split()) or otherwise}\n")
        sys.stderr.flush()


@contextmanager
def _sigterm_as_exception() -> Iterator[list[int]]:
    """Stop at SIGTERM as at Ctrl-C; yield the list of received signals."""
    received: list[int] = []

    def stop(number: int, _: object) -> None:
        received.append(number)
        raise TerminationSignal

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield received
        return
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)
