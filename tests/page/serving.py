"""The page served as users serve it: by the command, in a process of its own."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

COMMAND = (sys.executable, "-m", "doubletrouble")
_SAID = re.compile(r"the page is at (http://\S+) until Ctrl-C")


def start(*words: str, **environment: str) -> "subprocess.Popen[str]":
    """Run `doubletrouble page` with some words."""
    return subprocess.Popen(
        [*COMMAND, "page", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip


def address(process: "subprocess.Popen[str]") -> str:
    """Where a started page says that it is."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if found := _SAID.match(line):
            return found[1]
        said.append(line)
    raise AssertionError(f"the page did not say its address but {said}")


def stop(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """End a page as Ctrl-C does; what it still says."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


@contextmanager
def served(*words: str) -> Iterator[str]:
    """The address of a page that runs meanwhile."""
    process = start("--no-browser", *words)
    try:
        yield address(process)
    finally:
        process.terminate()  # Ctrl-C is ignored by what a shell runs in the background
        process.communicate(timeout=20)
