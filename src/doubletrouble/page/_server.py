"""Serve the page on this machine until Ctrl-C, or copy its static files to a folder."""

import errno
import logging
import os
import shutil
import socket
import threading
import webbrowser
from collections.abc import Callable
from html import escape
from ipaddress import ip_address
from pathlib import Path

from doubletrouble.errors import require
from doubletrouble.page._declarations import STATIC

LOOPBACK = "127.0.0.1"
PORT = 8050
_ALL_ADDRESSES = ("0.0.0.0", "::")
_TIMEOUT = 30  # seconds that a connection may be silent
_THREADS = 8


def write_static(folder: str | Path, *, docs: str = "") -> Path:
    """Copy the static page into a folder, for a file server or a site; return its index.html.

    Without the Python server it has everything but simulations, advice under a budget, forecasts of
    tables and other losses. `docs` is the address of the documentation, for links from the page.
    """
    shutil.copytree(STATIC, folder, dirs_exist_ok=True)
    index = Path(folder) / "index.html"
    if docs:
        address = escape(docs)
        mark = f'<head>\n<meta name="doubletrouble-docs" content="{address}">'
        link = f'<a href="{address}index.html">Docs</a>\n</nav>'
        page = index.read_text(encoding="utf-8").replace("<head>", mark, 1)
        index.write_text(page.replace("</nav>", link, 1), encoding="utf-8")
    return index


def serve(
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    browser: bool = True,
    report: Callable[[str], None] = lambda _: None,
    timeout: float = _TIMEOUT,
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    host : str
        The address to bind to; the default is reached from this machine only.
    port : int
        The port; 0 is any free one.
    browser : bool
        Open the page in a browser.
    report : callable
        Receives the address and warnings as text.
    timeout : float
        Seconds after which a silent connection is closed.
    """
    require("flask", "page")
    require("waitress", "page")
    from waitress.server import create_server

    from doubletrouble.page._app import application
    from doubletrouble.page._forecasts import MOST_BYTES, Forecasts
    from doubletrouble.page._simulations import Simulations

    listening = _listening_socket(host, port)
    port = listening.getsockname()[1]
    name = LOOPBACK if host in _ALL_ADDRESSES else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/"
    simulations, forecasts = Simulations(), Forecasts()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # else a line where requests wait
    server = create_server(
        application(simulations, forecasts, ("*",) if host in _ALL_ADDRESSES else (name,)),
        sockets=[listening],
        threads=_THREADS,
        channel_timeout=timeout,
        cleanup_interval=max(1, timeout // 2),
        connection_limit=200,
        max_request_header_size=32 * 1024,
        max_request_body_size=MOST_BYTES,
        ident=None,
    )
    if not _is_loopback(host):
        report(f"warning: anyone who reaches {host} can use this page and its processor time")
    if host in _ALL_ADDRESSES:
        report(f"others reach it at http://{socket.gethostname()}:{port}/")
    report(f"the page is at {address} until Ctrl-C")
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.run()
    finally:
        simulations.close()
        forecasts.close()
        server.close()
        listening.close()
    report("stopped")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _listening_socket(host: str, port: int) -> socket.socket:
    """A socket bound to the address, or ValueError with the reason."""
    if not host:
        raise ValueError("host must be an address of this machine, got ''")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise ValueError(f"host must be an address of this machine, got {host!r}") from None
        reason = os.strerror(error.errno)
        raise ValueError(f"port must be free on {host}, got {port}: {reason}") from None
