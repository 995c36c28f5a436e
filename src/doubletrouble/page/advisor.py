"""The advisor's panel: what each change would do here, as bars and in words."""

from typing import Any

from dash import html

from doubletrouble.advice import (
    Advice,
    AdviceOption,
    advise,
    check_cost,
    is_cut,
    lengths,
    longest,
    ratio,
    said,
)
from doubletrouble.page.curves import CAUSES
from doubletrouble.page.explanation import UNADVISED, is_advised
from doubletrouble.page.readout import sentence
from doubletrouble.page.screen import PART
from doubletrouble.page.setting import PageView


def panel(view: PageView) -> Any:
    """What helps most, why, and the error after each change."""
    setting = view.first
    if not is_advised(setting):
        return html.P(UNADVISED)
    try:
        problem = setting.problem
        advice = advise(
            problem, view.budget or None, setting.ensemble(problem), cost=check_cost(view.cost)
        )
    except ValueError as error:
        return html.P(sentence(error))
    first, *others = advice.reasons
    return [
        html.P(html.Strong(first)),
        html.Div(_table(advice), className="wide", tabIndex=0),
        html.P(_legend(), className="parts", **{"aria-hidden": "true"}),
        html.Ul([html.Li(reason) for reason in others], className="reasons"),
    ]


def _table(advice: Advice) -> Any:
    """One row an option, with a bar made of the parts."""
    heads = ("Change", "Error", "", "Features", "Training")
    most = longest(advice)
    rows = [
        html.Tr(
            [
                html.Th(option.label, scope="row"),
                html.Td(said(option.total, 4)),
                html.Td(_bar(option, most)),
                html.Td(_times(option.features, advice.now.features)),
                html.Td(_times(option.training, advice.now.training)),
            ],
            className="chosen" if option is advice.choice else "",
        )
        for option in advice.options
    ]
    top = html.Thead(html.Tr([html.Th(head, scope="col") for head in heads]))
    return html.Table([top, html.Tbody(rows)], className="advice")


def _legend() -> list[Any]:
    """What the pieces of the bars are; who does not see them is told with each bar."""
    return [html.Span([html.Span(className=f"key {PART}{name}"), name]) for name in CAUSES]


def _bar(option: AdviceOption, most: float) -> Any:
    """The parts of an error end to end; read aloud as shares."""
    parts = lengths(option, most)
    whole = sum(parts.values())
    if whole == 0:
        return ""
    spoken = ", ".join(f"{name} {length / whole:.0%}" for name, length in parts.items() if length)
    pieces = [
        html.Span(className=f"piece {PART}{name}", style={"width": f"{length / most:.2%}"})
        for name, length in parts.items()
        if length
    ]
    arrow = ["▶"] * is_cut(option, most)
    return html.Div([*pieces, *arrow], className="bar", role="img", title=spoken,
                    **{"aria-label": spoken})  # fmt: skip


def _times(value: float, now: float) -> str:
    """A cost in units of the cost now."""
    return f"×{said(ratio(value, now))}"
