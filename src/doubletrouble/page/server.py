"""Serve the page from this machine until Ctrl-C."""

import errno
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address

from doubletrouble.errors import require

LOOPBACK = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")


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
    _check_free(host, port)
    name = LOOPBACK if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    app = application(jobs, ("*",) if host in EVERYWHERE else (name,))
    server = make_server(host, port, app.server, threaded=True)
    address = f"http://{name}:{server.port}/"
    if not _is_loopback(host):
        tell(f"warning: anyone who reaches {host} can use this page and its processor time")
    if host in EVERYWHERE:
        tell(f"others reach it at http://{socket.gethostname()}:{server.port}/")
    tell(f"the page is at {address} until Ctrl-C")
    if browser:
        threading.Timer(0.3, webbrowser.open, [address]).start()  # when it is being served
    try:
        server.serve_forever()  # Ctrl-C ends it
    finally:
        jobs.close()
    tell("stopped")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _check_free(host: str, port: int) -> None:
    """Refuse what cannot be had, with a sentence: the server itself would print a page of them."""
    if not host:
        raise ValueError("host must be an address of this machine, got ''")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
                raise ValueError(f"host must be an address of this machine, got {host!r}") from None
            raise ValueError(f"port must be free on {host}, got {port}: {error.strerror}") from None
