"""The page served by the command, in its own process, and by a plain file server."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from doubletrouble.page._declarations import STATIC

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


class _QuietHandler(SimpleHTTPRequestHandler):
    """A plain file server, without a log."""

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def file_server() -> Iterator[str]:
    """The address of the static files on a plain file server."""
    handler = partial(_QuietHandler, directory=str(STATIC))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
