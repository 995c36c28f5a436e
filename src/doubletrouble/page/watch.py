"""What the server refuses before it looks at it: foreign names, what is too long, and nonsense."""

import re
from collections.abc import Mapping
from typing import Any

# The browser fetches nothing from elsewhere, whatever the page asks it to.
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; "  # for Dash, and for tools of a browser
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
UPDATE = "/_dash-update-component"
"""Where Dash is asked."""

_PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def guarded(app: Any, hosts: tuple[str, ...], most_bytes: int) -> None:
    """Answer only to the loopback's names and those given, and to requests of some bytes.

    A page elsewhere may point a name of its own at this machine, or send requests to its address:
    the former have that name, the latter that page's origin. What is posted to Dash must be what
    its own part in the browser posts: of anything else it would make a page of complaints.
    """
    from dash.exceptions import DependencyException
    from flask import abort, request

    server = app.server
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

    @server.before_request
    def refuse_nonsense() -> None:
        if request.method == "POST" and request.path == UPDATE:
            body = request.get_json(force=True, silent=True)
            if not request.is_json or not is_question(body, app.callback_map):
                abort(400, "What is posted here must be what the page asks, in JSON.")

    @server.errorhandler(RecursionError)
    def too_deep(_: RecursionError) -> Any:
        return "JSON must not be nested this deep.", 400, _PLAIN

    @server.errorhandler(DependencyException)
    def not_served(_: Exception) -> Any:
        return "There is no such file here.", 404, _PLAIN


def is_question(body: Any, callbacks: Mapping[str, Any]) -> bool:
    """Whether something is what Dash's own part in a browser would post."""
    output = body.get("output") if isinstance(body, dict) else None
    known = callbacks.get(output) if isinstance(output, str) else None
    if output is None or not known or "callback" not in known:  # others run in the browser
        return False
    outputs, changed = body.get("outputs"), body.get("changedPropIds")
    written = _names(outputs if isinstance(outputs, list) else [outputs])
    return (
        written == output.strip(".").split("...")
        and isinstance(outputs, list) == output.startswith("..")
        and _names(body.get("inputs")) == _names(known["inputs"])
        and _names(body.get("state", [])) == _names(known["state"])
        and isinstance(changed, list)
        and all(isinstance(name, str) for name in changed)
    )


def _names(given: Any) -> list[str] | None:
    """Properties of elements by name, if that is what they are."""
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return None
    return [f"{one.get('id')}.{one.get('property')}" for one in given]
