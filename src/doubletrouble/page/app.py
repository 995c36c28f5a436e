"""The page as a Dash application: the layout, and what happens when something is moved."""

from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.dependencies import ClientsideFunction

from doubletrouble.page import address, advisor, files, layout, readout
from doubletrouble.page.answer import BUTTONS, answer
from doubletrouble.page.frame import frame
from doubletrouble.page.jobs import Job, Jobs
from doubletrouble.page.preview import preview
from doubletrouble.page.screen import style
from doubletrouble.page.setting import View
from doubletrouble.page.simulation import request
from doubletrouble.page.watch import guarded

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
    guarded(app.server, hosts, _MOST_BYTES)
    _move(app)
    _redraw(app, jobs)
    _simulate(app, jobs)
    _settle(app)
    _take(app, jobs)
    return app


def _move(app: Dash) -> None:
    """What the browser does by itself (assets/page.js)."""

    def at_once(function: str, *handled: Output | Input) -> None:
        app.clientside_callback(ClientsideFunction("page", function), *handled)

    moved = [Input(name, "value") for name in layout.controls()]
    pressed = [Input(name, "n_clicks") for name in BUTTONS]
    at_once("moved", Output("asked", "data"), *moved, *pressed)
    at_once("answered", Input("answered", "data"))
    at_once("simulated", Input("job", "data"))
    at_once("ordered", *(Input(name, "n_clicks") for name in layout.ORDERS))
    at_once("picture", Input("picture", "data"))


def _redraw(app: Dash, jobs: Jobs) -> None:
    @app.callback(
        Output("plot", "figure"),
        Output("meaning", "children"),
        Output("readout", "children"),
        Output("notes", "children"),
        Output("said-activation", "children"),
        Output("label-width", "children"),
        Output("meaning-width", "children"),
        Output("swap", "hidden"),
        Output("single", "hidden"),
        Output("answered", "data"),
        Input("asked", "data"),
        prevent_initial_call=True,
    )
    def redraw(asked: Any) -> tuple[Any, ...]:
        found = answer(asked, jobs)
        first, width = found.view.first, found.view.first.field("width")
        single = found.view.second is None
        return (
            found.figure,
            readout.meaning_of(found.view),
            readout.table(found),
            [html.P(note) for note in found.notes],
            readout.moments(first),
            width.label,
            width.meaning,
            single,
            single,
            {
                "frame": frame(found.view),
                "number": asked.get("number") if isinstance(asked, dict) else None,
                "query": found.query,
                "controls": found.controls,
                "spoken": found.spoken,
                "summary": readout.summary(found),
                "forms": {"two": not single, "effects": found.view.split == "effects"},
            },
        )


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
        Input("obeyed", "data"),
        Input("clock", "n_intervals"),
        Input("settled", "data"),
        State("job", "data"),
        prevent_initial_call=True,
    )
    def watch(obeyed: Any, _: int, settled: Any, before: Any) -> tuple[Any, ...]:
        query = _query({"query": settled})
        if isinstance(obeyed, dict) and obeyed.get("said") and _query(obeyed) == query:
            return _quiet(str(obeyed["said"]))
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


def _settle(app: Dash) -> None:
    """What takes longer than a slider should: done when nothing has been moved for a while."""

    @app.callback(
        Output("advice", "children"),
        Output("script", "children"),
        Input("settled", "data"),
        prevent_initial_call=True,
    )
    def settle(settled: Any) -> tuple[Any, ...]:
        view = _view({"query": settled})
        return advisor.panel(view), files.script(view)


def _take(app: Dash, jobs: Jobs) -> None:
    @app.callback(Output("download", "data"), Input("order", "data"), prevent_initial_call=True)
    def download(order: Any) -> Any:
        if _what(order) == "python":
            return dcc.send_string(files.script(_view(order)), f"{_NAME}.py")
        if _what(order) == "csv":
            found = answer({"query": _query(order)}, jobs)
            table = files.table(found.view, found.drawn, found.measured)
            return dcc.send_string(table, f"{_NAME}.csv")
        return no_update


def _what(order: Any) -> str:
    """What the browser orders, among what there is."""
    what = order.get("what") if isinstance(order, dict) else ""
    return what if what in layout.ORDERS else ""


def _query(told: Any) -> str:
    query = told.get("query") if isinstance(told, dict) else ""
    return query if isinstance(query, str) else ""


def _view(told: Any) -> View:
    """The view of a browser, as it was last told."""
    return address.read(_query(told))[0]
