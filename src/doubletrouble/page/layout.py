"""What is on the page, before anything is moved: every control is made from its declaration."""

from collections.abc import Mapping
from typing import Any

from dash import dcc, html

from doubletrouble.page import fields
from doubletrouble.page.explanation import MEANINGS
from doubletrouble.page.kinds import BOX, CHOICE, SLIDER, ChoiceField, Field, Group, NumberField
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.setting import PageSetting, PageView

CONTROL = "control-"
"""How the identifiers of what holds a control begin."""
GROUPS = (fields.MODEL, fields.DATA, fields.ENSEMBLE, fields.PLOT)
"""Those beside the plot; the others stand with what they are for."""
ORDERS = ("simulate", "cancel", "csv", "python", "png")
"""Buttons that wait until the page shows what was set."""
STORES = ("settled", "order", "obeyed", "picture", "job", "stops")
"""What the browser and the server tell each other; see assets/page.js."""

_GRAPH: dict[str, Any] = {
    "displaylogo": False,
    "plotlyServerURL": "",  # a plot is sent nowhere
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "toImage", "sendChartToCloud"],
}


def controls() -> list[str]:
    """The identifiers of everything that Dash hears of when it is moved."""
    found: list[str] = []
    for field in (*fields.SETTING, *fields.LOOK):
        if isinstance(field, ChoiceField):
            found += [CHOICE + field.name] * (not field.opens)
        else:
            found += [SLIDER + field.name] * field.slider + [BOX + field.name]
    return found


def layout() -> Any:
    """The whole page."""
    return html.Div(
        className="page",
        children=[
            *(dcc.Store(id=name) for name in STORES),
            dcc.Interval(id="clock", interval=400, disabled=True),
            dcc.Download(id="download"),
            _header(),
            html.Main(
                className="main",
                children=[
                    html.Section(_plot(), className="view", **{"aria-label": "Plot"}),
                    html.Section(_words(), className="words"),
                    html.Section(_controls(), className="controls", **{"aria-label": "Settings"}),
                    html.Section(_below(), className="below"),
                ],
            ),
            _footer(),
        ],
    )


def _header() -> Any:
    return html.Header(
        [
            html.Div(
                [
                    html.H1("Where does the test error come from?"),
                    html.P(
                        "P random features are fitted to N samples of D input dimensions, and K "
                        "such models are averaged. Move a slider: the curves are exact in the "
                        "limit of large P, N and D."
                    ),
                ]
            ),
            html.Div(
                [
                    html.Label("As in figure", htmlFor="preset"),
                    _select(
                        "preset",
                        {"": "choose a figure"}
                        | {name: f"{name}: {preset.title}" for name, preset in PRESETS.items()},
                        "",
                    ),
                ],
                className="preset",
            ),
        ]
    )


def _plot() -> Any:
    return dcc.Graph(id="plot", config=_GRAPH, className="graph", responsive=True)


def _words() -> list[Any]:
    meaning = html.P(id="meaning", **{"aria-live": "polite"})
    return [
        html.Div(id="notes", className="notes", role="status"),
        html.Div([html.H2("What does this mean?"), meaning], className="meaning"),
        html.Div(id="readout", className="readout"),
        _simulation(),
    ]


def _simulation() -> Any:
    progress = html.Progress(
        id="progress", max="1", value="0", hidden=True,
        **{"aria-label": "Progress of the simulation"},
    )  # fmt: skip
    return html.Div(
        [
            html.H2(fields.SIMULATION.title),
            html.P(
                "The same models at a finite size: points with two standard errors are laid over "
                "the curves, which are the limit of large D."
            ),
            html.Div(
                [
                    *_controls_of(fields.SIMULATION),
                    html.Button("Simulate", id="simulate", n_clicks=0),
                    html.Button("Cancel", id="cancel", n_clicks=0, hidden=True),
                ],
                className="row",
            ),
            progress,
            html.P(id="status", role="status"),
        ],
        className="simulation",
    )


def _controls() -> list[Any]:
    return [
        html.Fieldset([html.Legend(group.title), *_controls_of(group)], className="group")
        for group in GROUPS
    ] + [
        html.Div(
            [
                html.Button("Compare: keep this setting beside", id="compare", n_clicks=0),
                html.Button("Swap the two", id="swap", n_clicks=0, hidden=True),
                html.Button("Stop comparing", id="single", n_clicks=0, hidden=True),
            ],
            className="buttons",
        ),
    ]


def _controls_of(group: Group) -> list[Any]:
    return [_control(field) for field in fields.of(group)]


def _control(field: Field) -> Any:
    return _choice(field) if isinstance(field, ChoiceField) else _number(field)


def _number(field: NumberField) -> Any:
    value = getattr(PageSetting(), field.name, getattr(PageView(), field.name, field.default))
    box = dcc.Input(
        id=BOX + field.name, type="text", value=field.write(value), debounce=True,
        className="box", inputMode="decimal", autoComplete="off", spellCheck=False,
    )  # fmt: skip
    name = html.Span(field.label, id=f"label-{field.name}", className="symbol")
    if not field.slider:
        words = [name, html.Span(field.meaning, className="meaning-of")]
        label = html.Label(words, htmlFor=box.id)
        return html.Div([label, box], className="control short", id=CONTROL + field.name)
    slider = dcc.Input(
        id=SLIDER + field.name, type="range", min=0, max=len(field.stops) - 1, step=1,
        value=field.nearest_stop(value), className="slider",
    )  # fmt: skip
    exact = html.Label(f"{field.label}, exact value", htmlFor=box.id, className="unseen")
    means = html.Span(field.meaning, id=f"meaning-{field.name}", className="meaning-of")
    return html.Div(
        [html.Label([name, means], htmlFor=slider.id), slider, exact, box], className="control",
        id=CONTROL + field.name, hidden=not PageSetting().uses(field),
    )  # fmt: skip


def _choice(field: ChoiceField) -> Any:
    name = CHOICE + field.name
    said = html.P(id=f"said-{field.name}", className="said")
    if field.opens:
        label = html.Label(field.label, htmlFor=name, title=field.meaning)
        chosen = _select(name, field.choices, field.default)
        return html.Div([label, chosen, said], className="control choice")
    radios = dcc.RadioItems(
        id=name, options=options(field), value=field.default, inline=True, className="radios"
    )
    legend = html.Legend(field.label, title=field.meaning, id=f"legend-{field.name}")
    return html.Fieldset([legend, radios, said], className="control choice")


def options(field: ChoiceField, *without: str) -> list[dict[str, Any]]:
    """What can be chosen, and what cannot be now."""
    return [
        {"label": label, "value": value, "disabled": value in without}
        for value, label in field.choices.items()
    ]


def _select(name: str, choices: Mapping[str, str], chosen: str) -> Any:
    """The browser's own list to open: Dash hears of it through assets/page.js."""
    listed = [
        html.Option(label, value=value, selected=value == chosen)
        for value, label in choices.items()
    ]
    return html.Select(listed, id=name, className="select")


def _below() -> list[Any]:
    return [
        html.Div(
            [
                html.H2(fields.ADVICE.title),
                html.Div(_controls_of(fields.ADVICE), className="row"),
                html.Div(id="advice", **{"aria-live": "polite"}),
            ],
            className="panel",
        ),
        html.Div(
            [
                html.H2(fields.FILES.title),
                html.P("The address of this page holds the whole setting: share it, or go back."),
                html.Div(
                    [
                        html.Button("CSV", id="csv", n_clicks=0),
                        html.Button("PNG", id="png", n_clicks=0),
                        html.Button("Python", id="python", n_clicks=0),
                    ],
                    className="buttons",
                ),
                html.Div(_controls_of(fields.FILES), className="row"),
                html.Details(
                    [
                        html.Summary("The Python lines that remake the plot"),
                        html.Pre(html.Code(id="script"), tabIndex=0),
                    ]
                ),
            ],
            className="panel",
        ),
    ]


def _footer() -> Any:
    causes = "; ".join(f"{name}, {words}" for name, words in MEANINGS.items())
    return html.Footer(
        html.P(
            "After d’Ascoli, Refinetti, Biroli and Krzakala, “Double Trouble in Double Descent: "
            f"Bias and Variance(s) in the Lazy Regime” (2020). The parts of the error: {causes}."
        )
    )
