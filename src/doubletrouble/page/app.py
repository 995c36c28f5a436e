"""The page as a Dash application: the layout, and what happens when something is moved."""

from importlib import import_module
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.dependencies import ClientsideFunction

from doubletrouble.page import address, advisor, files, layout, readout
from doubletrouble.page.answer import BUTTONS, Answer, answer
from doubletrouble.page.explanation import explanation
from doubletrouble.page.fields import SPLIT
from doubletrouble.page.frame import frame
from doubletrouble.page.jobs import Job, Jobs
from doubletrouble.page.kinds import NumberField
from doubletrouble.page.preview import preview
from doubletrouble.page.screen import style
from doubletrouble.page.setting import PageView
from doubletrouble.page.simulation import request
from doubletrouble.page.stops import Stops
from doubletrouble.page.watch import guarded

ANSWER = "/answer"
"""Where the browser asks what to show; see assets/page.js."""

_MOST_BYTES = 64 * 1024  # of a request
_NAME = "doubletrouble"
# Dash would begin to load it when everything else is there, half a second later.
_PLOTLY = '<script src="/_dash-component-suites/plotly/package_data/plotly.min.js"></script>'


class _Page(Dash):
    """Dash, with the curves in the document itself until it has started."""

    def interpolate_index(self, **parts: Any) -> str:
        """The document, with the curves of the address asked for."""
        from flask import request

        view, _ = address.read(request.query_string.decode("ascii", "replace"))
        parts["app_entry"] += preview(view)
        parts["css"] = style() + parts["css"]
        parts["scripts"] = _PLOTLY + parts["scripts"]
        document: str = super().interpolate_index(**parts)
        return document.replace("<html>", '<html lang="en">', 1)


def application(jobs: Jobs, hosts: tuple[str, ...] = ()) -> Dash:
    """Make the application; `hosts` are names it may be called by, besides the loopback's."""
    app = _Page(
        __name__,
        title="doubletrouble: where does the test error come from?",
        update_title=None,
        assets_folder=str(Path(__file__).with_name("assets")),
    )
    app.layout = layout.layout
    guarded(app, hosts, _MOST_BYTES)
    stops = Stops()
    _move(app)
    _redraw(app, jobs, stops)
    _simulate(app, jobs)
    _settle(app, stops)
    _take(app, jobs)
    return app


def _move(app: Dash) -> None:
    """What the browser does by itself (assets/page.js)."""

    def at_once(function: str, *handled: Input) -> None:
        app.clientside_callback(ClientsideFunction("page", function), *handled)

    moved = [Input(name, "value") for name in layout.controls()]
    pressed = [Input(name, "n_clicks") for name in BUTTONS]
    at_once("moved", *moved, *pressed)
    at_once("found", Input("job", "data"))
    at_once("found", Input("stops", "data"))
    at_once("ordered", *(Input(name, "n_clicks") for name in layout.ORDERS))
    at_once("picture", Input("picture", "data"))


def _redraw(app: Dash, jobs: Jobs, stops: Stops) -> None:
    """What follows a slider, past Dash: it would take longer than to compute and draw it."""
    from flask import Response, abort
    from flask import request as got

    @app.server.post(ANSWER)
    def redraw() -> Any:
        asked = got.get_json(force=True, silent=True)
        if not isinstance(asked, dict):
            abort(400, "A question must be an object in JSON.")
        found = answer(asked, jobs, stops)
        return Response(_json(_told(asked, found)), mimetype="application/json")


def _told(asked: dict[Any, Any], found: Answer) -> dict[str, Any]:
    """What the browser is told: properties by element, and what its own part needs."""
    view, first = found.view, found.view.first
    width, single = first.field("width"), view.second is None
    return {
        "number": asked.get("number"),
        "query": found.query,
        "frame": frame(view),
        "controls": found.controls,
        "spoken": found.spoken,
        "summary": readout.summary(found),
        "forms": {"two": not single, "effects": view.split == "effects"},
        "shown": {
            "plot": {"figure": found.figure},
            "readout": {"children": readout.table(found)},
            "notes": {
                "children": [html.P(note) for note in (*found.notes, *readout.cautions(view))]
            },
            "said-activation": {"children": readout.moments(first)},
            "said-scheme": {"children": readout.of_scheme(view)},
            "said-split": {"children": readout.of_split(view)},
            "choice-split": {
                "options": layout.options(SPLIT, *["effects"] * (not view.has_effects))
            },
            "label-width": {"children": width.label},
            "meaning-width": {"children": width.meaning},
            "swap": {"hidden": single},
            "single": {"hidden": single},
            **{
                layout.CONTROL + field.name: {"hidden": not first.uses(field)}
                for field in first.fields
                if isinstance(field, NumberField) and field.schemes
            },
        },
    }


def _json(told: Any) -> str:
    """Strict JSON, of Dash's components, too."""
    text: str = import_module("plotly.io.json").to_json_plotly(told)
    return text


def _simulate(app: Dash, jobs: Jobs) -> None:
    """Orders are obeyed in one callback, and watched in another.

    Dash forgets the answer of a callback that is called again meanwhile: what is watched must be
    what is there, whoever asked for it.
    """

    @app.callback(Output("obeyed", "data"), Input("order", "data"), prevent_initial_call=True)
    def obey(order: Any) -> Any:
        what, view, said = _what(order), _view(order), ""
        if what not in ("simulate", "cancel"):
            return no_update
        try:
            asked = [request(view, setting) for setting in view.settings]
            if what == "simulate":
                jobs.start(asked)
            for job in [jobs.find(r) for r in asked] if what == "cancel" else []:
                if job:
                    jobs.cancel(job)
        except ValueError as error:  # beyond what this page simulates
            said = readout.sentence(error)
        return {"query": _query(order), "said": said}

    @app.callback(
        Output("job", "data"),
        Output("status", "children"),
        Output("progress", "value"),
        Output("progress", "hidden"),
        Output("cancel", "hidden"),
        Output("clock", "disabled"),
        Output("script", "children"),
        Input("obeyed", "data"),
        Input("clock", "n_intervals"),
        Input("settled", "data"),
        State("job", "data"),
        prevent_initial_call=True,
    )
    def watch(obeyed: Any, _: int, settled: Any, before: Any) -> tuple[Any, ...]:
        query = _query({"query": settled})
        said = obeyed.get("said") if isinstance(obeyed, dict) and _query(obeyed) == query else ""
        return *_watched(query, said, before, jobs), _script({"query": query}, jobs)


def _watched(query: str, said: Any, before: Any, jobs: Jobs) -> tuple[Any, ...]:
    """What is said of the simulations of a view; `said` is why there are none."""
    if said:
        return _quiet(str(said))
    view = _view({"query": query})
    try:
        known = [jobs.find(request(view, setting)) for setting in view.settings]
    except ValueError:
        return _quiet("")
    running = [job for job in known if job]
    return _progress(running, before) if running else _quiet("")


def _quiet(words: str) -> tuple[Any, ...]:
    """Nothing is being simulated."""
    return no_update, words, "0", True, True, True


def _progress(running: list[Job], before: Any) -> tuple[Any, ...]:
    """How far the simulations of a view are."""
    done = [job.finished for job in running]
    share = sum(done) / sum(len(job.request.places) for job in running)
    ended = all(job.ended for job in running)
    words = " ".join(dict.fromkeys(job.status for job in running))
    fresh = not isinstance(before, dict) or before.get("done") != done
    return {"done": done, "fresh": fresh}, words, f"{share:.3f}", ended, ended, ended


def _settle(app: Dash, stops: Stops) -> None:
    """What takes longer than a slider should: done when nothing has been moved for a while."""

    @app.callback(
        Output("meaning", "children"),
        Output("advice", "children"),
        Output("stops", "data"),
        Input("settled", "data"),
        State("stops", "data"),
        prevent_initial_call=True,
    )
    def explain(settled: Any, before: Any) -> tuple[Any, ...]:
        query = _query({"query": settled})
        view = _view({"query": query})
        for setting in view.settings if view.along == "time" else ():
            stops.best(setting)
        fresh = view.along == "time" and _query(before) != query  # then it is drawn
        return (
            explanation(view, stops),
            advisor.panel(view),
            {"query": query, "fresh": fresh},
        )


def _take(app: Dash, jobs: Jobs) -> None:
    @app.callback(Output("download", "data"), Input("order", "data"), prevent_initial_call=True)
    def download(order: Any) -> Any:
        if _what(order) == "python":
            return dcc.send_string(_script(order, jobs), f"{_NAME}.py")
        if _what(order) == "csv":
            found = answer({"query": _query(order)}, jobs)
            table = files.table(found.view, found.drawn, found.measured)
            return dcc.send_string(table, f"{_NAME}.csv")
        return no_update


def _script(told: Any, jobs: Jobs) -> str:
    """The Python lines for a view, with the points it has so far."""
    found = answer({"query": _query(told)}, jobs)
    return files.script(found.view, found.measured)


def _what(order: Any) -> str:
    """What the browser orders, among what there is."""
    what = order.get("what") if isinstance(order, dict) else ""
    return what if what in layout.ORDERS else ""


def _query(told: Any) -> str:
    query = told.get("query") if isinstance(told, dict) else ""
    return query if isinstance(query, str) else ""


def _view(told: Any) -> PageView:
    """The view of a browser, as it was last told."""
    return address.read(_query(told))[0]
