"""What the server refuses before it looks at it: foreign names, and requests that are too long."""

import re
from typing import Any

# The browser fetches nothing from elsewhere, whatever the page asks it to.
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; "  # for Dash, and for tools of a browser
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def guarded(server: Any, hosts: tuple[str, ...], most_bytes: int) -> None:
    """Answer only to the loopback's names and those given, and to requests of some bytes.

    A page elsewhere may point a name of its own at this machine, or send requests to its address:
    the former have that name, the latter that page's origin.
    """
    from flask import abort, request

    server.config["MAX_CONTENT_LENGTH"] = most_bytes
    known = {*_LOOPBACK, *hosts}

    @server.after_request
    def keep_to_itself(response: Any) -> Any:
        response.headers["Content-Security-Policy"] = _POLICY
        return response

    @server.before_request
    def refuse_strangers() -> None:
        name = re.sub(r":\d+$", "", request.host)
        own = "*" in known or name in known
        origin = request.headers.get("Origin")
        if not own or (origin and origin.partition("://")[2] != request.host):
            abort(403, "This server answers to its own pages only.")
