"""Processes in which the server computes: they answer on standard output, a line of JSON each.

A process runs a module of this package (`python -m module`), which calls `run`. It is killed when
the server has no use for it, and exits when its standard input is closed, also if the server is
killed.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Any

from doubletrouble._display import Json, strict_json

# --- in the server -------------------------------------------------------------------------------


class Worker:
    """A process of a module that waits for its standard input; OSError if none starts."""

    def __init__(self, module: str, threads: int) -> None:
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
        self._errors = TemporaryFile()  # noqa: SIM115
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **limits},
                start_new_session=True,  # Ctrl-C is for the server
            )
        except OSError:
            self._errors.close()
            raise

    def send(self, request: Mapping[str, Any], *arrays: bytes) -> None:
        """Write a line of JSON, and bytes; OSError or ValueError if the process has ended."""
        assert self.process.stdin is not None
        for content in (json.dumps(request).encode(), b"\n", *arrays):
            self.process.stdin.write(content)
        self.process.stdin.flush()

    def answers(self) -> Iterator[Json]:
        """The answers until the process ends; ValueError if one is not JSON."""
        for line in self.process.stdout or ():
            if not line.endswith(b"\n"):  # cut off by the end of the process
                return
            yield json.loads(line)

    def close(self) -> str:
        """Close the pipes, by which the process ends; return how it ended."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was to be written has no reader
                pipe.close()
        code = self.process.wait()
        with self._errors:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        return ": ".join(filter(None, (f"the process ended with exit code {code}", last)))


# --- in the process ------------------------------------------------------------------------------


def run(main: Callable[[IO[bytes]], None]) -> None:
    """Call a function of the standard input, and exit at once: a thread may still read."""
    code = 1
    try:
        main(sys.stdin.buffer)
        code = 0
    except BrokenPipeError:  # the pipes are closed: nobody reads the answers
        os._exit(0)
    finally:
        if code:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        os._exit(code)


def exit_when_closed(given: IO[bytes], receive: Callable[[Any], None] = lambda _: None) -> None:
    """Receive requests in a thread of its own, and exit at their end."""

    def follow() -> None:
        for line in given:
            receive(json.loads(line))
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()


def write(answer: Mapping[str, Any]) -> None:
    """Write an answer as strict JSON."""
    sys.stdout.write(json.dumps(strict_json(answer), allow_nan=False) + "\n")
    sys.stdout.flush()
