"""The page as a Dash application: the layout, and what happens when something is moved."""

from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.dependencies import ClientsideFunction

from doubletrouble.advice.meaning import meaning
from doubletrouble.page import address, advisor, files, layout
from doubletrouble.page.answer import Answer, answer
from doubletrouble.page.jobs import Job, Jobs
from doubletrouble.page.plot import LABELS
from doubletrouble.page.preview import preview
from doubletrouble.page.setting import Setting, View
from doubletrouble.page.simulation import request
from doubletrouble.page.watch import guarded

_MOST_BYTES = 64 * 1024  # of a request
_NAME = "doubletrouble"
_PLOTLY = '<script src="/_dash-component-suites/plotly/package_data/plotly.min.js"></script>'


class _Page(Dash):
    """Dash, with the curves in the document itself until it has started."""

    def interpolate_index(self, **parts: Any) -> str:
        """The document, with the curves of the address asked for."""
        from flask import request

        view, _ = address.read(request.query_string.decode("ascii", "replace"))
        parts["app_entry"] += preview(view)
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
    app.index_string = app.index_string.replace("{%scripts%}", f"{_PLOTLY}{{%scripts%}}")
    guarded(app.server, hosts, _MOST_BYTES)
    _move(app)
    _redraw(app, jobs)
    _simulate(app, jobs)
    _advise(app)
    _take(app, jobs)
    return app


def _move(app: Dash) -> None:
    """What the browser does by itself (assets/page.js)."""

    def at_once(function: str, *handled: Output | Input) -> None:
        app.clientside_callback(ClientsideFunction("page", function), *handled)

    moved = [Input(name, "value") for name in layout.controls()]
    pressed = [Input(name, "n_clicks") for name in layout.BUTTONS]
    at_once("moved", Output("asked", "data"), *moved, *pressed)
    at_once("answered", Input("answered", "data"))
    at_once("simulated", Input("job", "data"))
    at_once("picture", Input("png", "n_clicks"))


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
            _meaning(first),
            _readout(found),
            [html.P(note) for note in found.notes],
            _moments(first),
            width.label,
            width.meaning,
            single,
            single,
            {
                "query": found.query,
                "controls": found.controls,
                "spoken": found.spoken,
                "summary": _summary(found),
            },
        )


def _meaning(setting: Setting) -> str:
    return meaning(setting.problem, setting.members, setting.scheme)


def _moments(setting: Setting) -> str:
    sigma = setting.problem.moments
    return f"μ₁ = {sigma.linear:.4g}, μ⋆ = {sigma.nonlinear:.4g}, μ₀ = {sigma.mean:.4g} (centred)"


def _summary(found: Answer) -> str:
    """The plot in words, for a screen reader."""
    axis = found.view.axis()
    said = "; ".join(
        f"at {axis.label} = {axis.shown(curves.mark)} the total is {curves.here['total']:.4g}"
        for curves in found.drawn
    )
    return f"Test error and its parts against {axis.label}: {said}."


def _readout(found: Answer) -> Any:
    """The numbers where the sliders stand."""
    names = list(found.drawn[0].here)
    heads = [html.Th("Here", scope="col")] + [
        html.Th(words, scope="col", colSpan=2)
        for words in (("This setting", "Second setting") if len(found.drawn) > 1 else ("Error",))
    ]
    rows = [
        html.Tr(
            [
                html.Th(LABELS[name], scope="row"),
                *(cell for curves in found.drawn for cell in _cells(curves.here, name)),
            ]
        )
        for name in names
    ]
    return html.Table([html.Thead(html.Tr(heads)), html.Tbody(rows)])


def _cells(here: dict[str, float], name: str) -> tuple[Any, Any]:
    total, value = here["total"], here[name]
    share = f"{value / total:.1%}" if 0 < total < float("inf") else ""
    return html.Td(f"{value:.6g}".replace("inf", "∞")), html.Td(share)


def _simulate(app: Dash, jobs: Jobs) -> None:
    @app.callback(
        Output("job", "data"),
        Output("status", "children"),
        Output("progress", "value"),
        Output("progress", "hidden"),
        Output("cancel", "hidden"),
        Output("clock", "disabled"),
        Input("simulate", "n_clicks"),
        Input("cancel", "n_clicks"),
        Input("clock", "n_intervals"),
        Input("settled", "data"),
        State("answered", "data"),
        State("job", "data"),
        prevent_initial_call=True,
    )
    def watch(
        start: int, stop: int, _: int, __: Any, answered: Any, before: Any
    ) -> tuple[Any, ...]:
        from dash import ctx

        view = _view(answered)
        quiet = (no_update, "", "0", True, True, True)
        try:
            asked = [request(view, setting) for setting in view.settings]
            if ctx.triggered_id == "simulate":
                running = jobs.start(asked)
            else:
                running = [job for r in asked if (job := jobs.find(r))]
        except (ValueError, RuntimeError) as error:
            return quiet if ctx.triggered_id != "simulate" else (no_update, str(error), *quiet[2:])
        if ctx.triggered_id == "cancel":
            for job in running:
                jobs.cancel(job)
        return _progress(running, before) if running else quiet


def _progress(running: list[Job], before: Any) -> tuple[Any, ...]:
    """How far the simulations of a view are."""
    done = [job.finished for job in running]
    share = sum(done) / sum(len(job.request.places) for job in running)
    ended = all(job.ended for job in running)
    words = " ".join(dict.fromkeys(job.status for job in running))
    fresh = not isinstance(before, dict) or before.get("done") != done
    return {"done": done, "fresh": fresh}, words, f"{share:.3f}", ended, ended, ended


def _advise(app: Dash) -> None:
    @app.callback(
        Output("advice", "children"),
        Input("settled", "data"),
        State("asked", "data"),
        prevent_initial_call=True,
    )
    def advise(settled: Any, asked: Any) -> Any:
        dark = bool(asked.get("dark")) if isinstance(asked, dict) else False
        return advisor.panel(_view({"query": settled}), dark=dark)


def _take(app: Dash, jobs: Jobs) -> None:
    @app.callback(Output("script", "children"), Input("settled", "data"), prevent_initial_call=True)
    def script(settled: Any) -> str:
        return files.script(_view({"query": settled}))

    @app.callback(
        Output("download", "data"),
        Input("csv", "n_clicks"),
        Input("python", "n_clicks"),
        State("answered", "data"),
        prevent_initial_call=True,
    )
    def download(_: int, __: int, answered: Any) -> Any:
        from dash import ctx

        view = _view(answered)
        if ctx.triggered_id == "python":
            return dcc.send_string(files.script(view), f"{_NAME}.py")
        found = answer(answered, jobs)
        return dcc.send_string(files.table(view, found.drawn, found.measured), f"{_NAME}.csv")


def _view(answered: Any) -> View:
    """The view of a browser, as it was last told."""
    query = answered.get("query") if isinstance(answered, dict) else ""
    return address.read(query if isinstance(query, str) else "")[0]
