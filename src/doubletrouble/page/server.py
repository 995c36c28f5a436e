"""Serve the page from this machine until Ctrl-C."""

import errno
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable

from doubletrouble.errors import require

LOOPBACK = "127.0.0.1"


def serve(
    *, host: str = LOOPBACK, port: int = 0, browser: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> None:  # fmt: skip
    """Serve the page; `port` 0 is any that is free, and `tell` is given what users should know."""
    require("dash", "page")
    from werkzeug.serving import make_server

    from doubletrouble.page.app import application
    from doubletrouble.page.jobs import Jobs

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line for each request
    jobs = Jobs()
    app = application(jobs, () if _is_loopback(host) else ("*",))
    server = make_server(host, _free(host, port), app.server, threaded=True)
    name = LOOPBACK if host in ("", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{server.port}/"
    if not _is_loopback(host):
        tell(f"warning: anyone who reaches {host} can use this page and its processor time")
    tell(f"the page is at {address} until Ctrl-C")
    if browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()
    try:
        server.serve_forever()  # Ctrl-C ends it
    finally:
        jobs.close()
    tell("stopped")


def _is_loopback(host: str) -> bool:
    return host in (LOOPBACK, "localhost", "::1")


def _free(host: str, port: int) -> int:
    """The port, if it can be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
                raise ValueError(f"host must be an address of this machine, got {host!r}") from None
            raise ValueError(f"port must be free on {host}, got {port}: {error.strerror}") from None
        return port
