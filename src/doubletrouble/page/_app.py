"""The server's application: the static page, simulations, advice, losses and forecasts of tables.

Requests must have the name of this machine in `Host`, and come from its own pages: a page elsewhere
may resolve its own name to this address, or send requests to it. Numbers and names are validated;
nothing is executed or used as a path but the names of the static files.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, abort, jsonify, request, send_from_directory
from werkzeug.exceptions import HTTPException

from doubletrouble._display import Json, content_of, printed_json, strict_json
from doubletrouble.advice import advise_problem
from doubletrouble.errors import DoubleTroubleError
from doubletrouble.page._declarations import STATIC, served_declarations
from doubletrouble.page._forecasts import MOST_BYTES as _MOST_BYTES_OF_TABLE
from doubletrouble.page._forecasts import Forecasts
from doubletrouble.page._losses import LossRequest, loss_curve
from doubletrouble.page._settings import PageSetting, view_value
from doubletrouble.page._simulations import SimulationRequest, Simulations
from doubletrouble.parameters import check_choice

_SERVED = STATIC.with_name("served")  # files that need the server
_MOST_BYTES = 64 * 1024  # of a request other than a table
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ADDITIONS = {  # to the static page
    "<head>": '<head>\n<meta name="doubletrouble-server" content="1">',
    "</nav>": '<a href="?view=losses" data-view="losses">Losses</a>\n</nav>',
    '<section id="fallback"': '<section id="losses" hidden aria-label="Losses"></section>\n'
    '<section id="fallback"',
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def application(
    simulations: Simulations, forecasts: Forecasts, hosts: tuple[str, ...] = ()
) -> Flask:
    """Make the application; `hosts` are names it answers to besides the loopback, "*" is any."""
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MOST_BYTES_OF_TABLE
    served = {file.name for file in _SERVED.iterdir()}
    known = {*_LOOPBACK, *hosts}

    @app.before_request
    def refuse_foreign_requests() -> None:
        name = re.sub(r":\d+$", "", request.host).lower()
        origin = request.headers.get("Origin")
        foreign = origin is not None and origin != f"{request.scheme}://{request.host.lower()}"
        if foreign or not ("*" in known or name in known):
            abort(403, "this server answers to its own pages only")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(_HEADERS)
        framed = "" if not request.path.startswith("/api/") else "; frame-ancestors 'none'"
        response.headers["Content-Security-Policy"] = _POLICY + framed
        return response

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> tuple[Response, int]:
        return jsonify(message=error.description), error.code or 500

    @app.errorhandler(ValueError)
    @app.errorhandler(DoubleTroubleError)
    def invalid_value(error: Exception) -> tuple[Response, int]:
        return jsonify(message=str(error)), 400

    @app.get("/")
    @app.get("/index.html")
    def index() -> Response:
        page = (STATIC / "index.html").read_text(encoding="utf-8")
        for mark, addition in _ADDITIONS.items():
            page = page.replace(mark, addition, 1)
        return Response(page, mimetype="text/html")

    @app.get("/declarations.json")
    def declarations() -> Response:
        return _json(served_declarations())

    @app.get("/<path:name>")
    def static_file(name: str) -> Response:
        return send_from_directory(_SERVED if name in served else STATIC, name)

    @app.post("/api/simulations")
    def simulate() -> Response:
        """Start, cancel or report the simulations of one or two settings."""
        given = _body()
        action = given.get("action")
        check_choice("action", action, ("start", "cancel", "status"))
        settings = given.get("settings")
        if not isinstance(settings, list) or len(settings) not in (1, 2):
            raise ValueError(f"settings must be a list of one or two, got {settings!r:.60}")
        requests = [SimulationRequest.from_json(setting, given) for setting in settings]
        if action == "start":
            simulations.start(*requests)
        elif action == "cancel":
            simulations.cancel(*requests)
        return _json({"settings": [simulations.status(one) for one in requests]})

    @app.post("/api/advice")
    def advice() -> Response:
        """Return the advice for a setting under a budget."""
        given = _body()
        setting = PageSetting.from_json(given.get("setting"))
        if not setting.is_trained:
            raise ValueError(f"time must be inf for advice, got {setting.time:g}")
        problem = setting.problem()
        budget = view_value("budget", given)
        result = advise_problem(
            problem,
            setting.ensemble(problem),
            budget=budget or None,
            cost=view_value("cost", given),
        )
        return _json(printed_json(content_of(result)))

    @app.post("/api/losses")
    def losses() -> Response:
        """Return the error along P/N with any convex loss."""
        return _json(loss_curve(LossRequest.from_json(_body())))

    @app.post("/api/data")
    def load() -> Response:
        """Read a table in CSV."""
        return _json(forecasts.load(request.get_data()))

    @app.post("/api/forecast")
    def forecast() -> Response:
        """Start, cancel or report the forecast of a table, answer questions, or forget both."""
        given = _body()
        data, setting = given.get("data"), given.get("setting")
        actions: dict[str, Callable[[], Json]] = {
            "start": lambda: forecasts.start(data, given.get("choice")),
            "status": lambda: forecasts.status(data),
            "cancel": lambda: forecasts.cancel(data),
            "release": lambda: forecasts.release(data),
            "error": lambda: forecasts.ask(data, "error", setting),
            "advice": lambda: forecasts.ask(data, "advice", setting),
            "python": lambda: forecasts.script(data, setting, given.get("file")),
        }
        action = given.get("action")
        check_choice("action", action, actions)
        return _json(actions[str(action)]())

    return app


def _body() -> Json:
    """The JSON object of a request."""
    if (request.content_length or 0) > _MOST_BYTES:
        abort(413, f"a request must have at most {_MOST_BYTES} bytes")
    try:
        given = request.get_json(force=True)
    except RecursionError:
        abort(400, "JSON must not be nested this deep")
    if not isinstance(given, dict):
        raise ValueError(f"the body must be an object in JSON, got {given!r:.60}")
    return given


def _json(value: Any) -> Response:
    """A response in strict JSON."""
    return Response(json.dumps(strict_json(value), allow_nan=False), mimetype="application/json")
