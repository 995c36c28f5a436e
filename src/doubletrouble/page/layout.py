"""What is on the page, before anything is moved: every control is made from its declaration."""

from collections.abc import Mapping
from typing import Any

from dash import dcc, html

from doubletrouble.advice.words import MEANINGS
from doubletrouble.page import fields
from doubletrouble.page.curves import CAUSES
from doubletrouble.page.fields import BOX, CHOICE, SLIDER, ChoiceField, Field, NumberField
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.setting import Setting, View

GROUPS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    ("The model", (fields.WIDTH["N"], fields.PER, fields.RIDGE, fields.ACTIVATION)),
    ("The data", (fields.SAMPLES, fields.SNR, fields.NONLINEAR)),
    ("The ensemble", (fields.MEMBERS, fields.SCHEME)),
    ("The plot", (fields.ALONG, fields.SPLIT, fields.FORM, fields.X_SCALE, fields.Y_SCALE)),
)
SIMULATED = (fields.DIM, fields.DRAWS)
ADVISED = (fields.BUDGET, fields.COST)
OTHERS = (fields.POINTS,)

ORDERS = ("simulate", "cancel", "csv", "python", "png")
"""Buttons that wait until the page shows what was set."""
STORES = ("asked", "answered", "settled", "order", "obeyed", "picture", "job")
"""What the browser and the server tell each other; see assets/page.js."""

_FEW = 4  # choices that fit beside each other; more are a list to open
_GRAPH: dict[str, Any] = {
    "displaylogo": False,
    "plotlyServerURL": "",  # a plot is sent nowhere
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "toImage", "sendChartToCloud"],
}


def controls() -> list[str]:
    """The identifiers of everything that Dash hears of when it is moved."""
    found: list[str] = []
    shown = (*(field for _, group in GROUPS for field in group), *SIMULATED, *ADVISED, *OTHERS)
    for field in shown:
        if isinstance(field, ChoiceField):
            found += [CHOICE + field.name] * (len(field.choices) <= _FEW)
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
            html.H2("Simulate it"),
            html.P(
                "The same models at a finite size: points with two standard errors are laid over "
                "the curves, which are the limit of large D."
            ),
            html.Div(
                [
                    *(_control(field) for field in SIMULATED),
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
        html.Fieldset(
            [html.Legend(title), *(_control(field) for field in group)], className="group"
        )
        for title, group in GROUPS
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


def _control(field: Field) -> Any:
    return _choice(field) if isinstance(field, ChoiceField) else _number(field)


def _number(field: NumberField) -> Any:
    value = getattr(Setting(), field.name, getattr(View(), field.name, field.default))
    box = dcc.Input(
        id=BOX + field.name, type="text", value=field.write(value), debounce=True,
        className="box", inputMode="decimal", autoComplete="off", spellCheck=False,
    )  # fmt: skip
    name = html.Span(field.label, id=f"label-{field.name}", className="symbol")
    if not field.slider:
        words = [name, html.Span(field.meaning, className="meaning-of")]
        return html.Div([html.Label(words, htmlFor=box.id), box], className="control short")
    slider = dcc.Input(
        id=SLIDER + field.name, type="range", min=0, max=len(field.stops) - 1, step=1,
        value=field.nearest_stop(value), className="slider",
    )  # fmt: skip
    exact = html.Label(f"{field.label}, exact value", htmlFor=box.id, className="unseen")
    means = html.Span(field.meaning, id=f"meaning-{field.name}", className="meaning-of")
    return html.Div(
        [html.Label([name, means], htmlFor=slider.id), slider, exact, box], className="control"
    )


def _choice(field: ChoiceField) -> Any:
    name = CHOICE + field.name
    if len(field.choices) > _FEW:
        label = html.Label(field.label, htmlFor=name, title=field.meaning)
        said = html.P(id=f"said-{field.name}", className="said")
        chosen = _select(name, field.choices, field.default)
        return html.Div([label, chosen, said], className="control choice")
    options = [{"label": label, "value": value} for value, label in field.choices.items()]
    radios = dcc.RadioItems(
        id=name, options=options, value=field.default, inline=True, className="radios"
    )
    legend = html.Legend(field.label, title=field.meaning, id=f"legend-{field.name}")
    return html.Fieldset([legend, radios], className="control choice")


def _select(name: str, choices: Mapping[str, str], chosen: str) -> Any:
    """The browser's own list to open: Dash hears of it through assets/page.js."""
    options = [
        html.Option(label, value=value, selected=value == chosen)
        for value, label in choices.items()
    ]
    return html.Select(options, id=name, className="select")


def _below() -> list[Any]:
    return [
        html.Div(
            [
                html.H2("What should I change?"),
                html.Div([_control(field) for field in ADVISED], className="row"),
                html.Div(id="advice", **{"aria-live": "polite"}),
            ],
            className="panel",
        ),
        html.Div(
            [
                html.H2("Take it with you"),
                html.P("The address of this page holds the whole setting: share it, or go back."),
                html.Div(
                    [
                        html.Button("CSV", id="csv", n_clicks=0),
                        html.Button("PNG", id="png", n_clicks=0),
                        html.Button("Python", id="python", n_clicks=0),
                    ],
                    className="buttons",
                ),
                html.Div([_control(field) for field in OTHERS], className="row"),
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
    causes = "; ".join(f"{name}, {words}" for name, words in MEANINGS.items() if name in CAUSES)
    return html.Footer(
        html.P(
            "After d’Ascoli, Refinetti, Biroli and Krzakala, “Double Trouble in Double Descent: "
            f"Bias and Variance(s) in the Lazy Regime” (2020). The parts of the error: {causes}."
        )
    )
