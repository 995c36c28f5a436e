"""The page served by the command, in its own process."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WAIT = 120  # seconds, far more than an idle machine needs
_ADDRESS = re.compile(r"the page is at (http://\S+) until Ctrl-C")


def start(*words: str) -> "subprocess.Popen[str]":
    """Run `doubletrouble page` with some words."""
    return subprocess.Popen(
        [sys.executable, "-m", "doubletrouble", "page", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def address(process: "subprocess.Popen[str]") -> str:
    """The address that a started page prints."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        if match := _ADDRESS.match(line):
            return match[1]
        lines.append(line)
    raise AssertionError(f"the page printed no address but {lines}")


def stop(process: "subprocess.Popen[str]", number: int = signal.SIGINT) -> tuple[str, str]:
    """Stop a page by a signal; return its output."""
    process.send_signal(number)
    try:
        return process.communicate(timeout=WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


@contextmanager
def served(*words: str) -> Iterator[str]:
    """The address of a page on a free port."""
    process = start("--no-browser", "--port", "0", *words)
    try:
        yield address(process)
    finally:
        stop(process, signal.SIGTERM)
