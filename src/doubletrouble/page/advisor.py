"""The panel of advice: the error after each change as a table with bars, and the summary."""

from typing import Any

from dash import html

from doubletrouble.advice import (
    Advice,
    AdviceOption,
    advise,
    bar_lengths,
    bar_limit,
    relative_cost,
    rounded,
)
from doubletrouble.page.curves import CAUSES
from doubletrouble.page.explanation import UNADVISED, is_advised
from doubletrouble.page.readout import sentence
from doubletrouble.page.screen import PART
from doubletrouble.page.setting import PageView


def panel(view: PageView) -> Any:
    """The summary, and the error after each change."""
    setting = view.first
    if not is_advised(setting):
        return html.P(UNADVISED)
    try:
        problem = setting.problem
        advice = advise(
            problem,
            setting.ensemble(problem),
            budget=view.budget or None,
            cost=view.cost,  # type: ignore[arg-type]
        )
    except ValueError as error:
        return html.P(sentence(error))
    return [
        html.P(html.Strong(advice.summary)),
        html.Div(_table(advice), className="wide", tabIndex=0),
        html.P(_legend(), className="parts", **{"aria-hidden": "true"}),
    ]


def _table(advice: Advice) -> Any:
    """One row an option, with a bar made of the parts."""
    heads = ("Change", "Error", "", "Features", "Training")
    limit = bar_limit(advice)
    rows = [
        html.Tr(
            [
                html.Th(option.label, scope="row"),
                html.Td(rounded(option.total, 4)),
                html.Td(_bar(option, limit)),
                html.Td(_times(option.total_features, advice.now.total_features)),
                html.Td(_times(option.training_cost, advice.now.training_cost)),
            ],
            className="chosen" if option is advice.choice else "",
        )
        for option in advice.options
    ]
    top = html.Thead(html.Tr([html.Th(head, scope="col") for head in heads]))
    return html.Table([top, html.Tbody(rows)], className="advice")


def _legend() -> list[Any]:
    """The legend of the bars, which have labels of their own for screen readers."""
    return [html.Span([html.Span(className=f"key {PART}{name}"), name]) for name in CAUSES]


def _bar(option: AdviceOption, limit: float) -> Any:
    """The parts of an error end to end, cut at the limit; the label has the values."""
    parts = {name: float(getattr(option.error, name)) for name in CAUSES}
    if option.total == 0:
        return ""
    label = ", ".join(f"{name} {rounded(part)}" for name, part in parts.items() if part)
    pieces = [
        html.Span(className=f"piece {PART}{name}", style={"width": f"{length / limit:.2%}"})
        for name, length in bar_lengths(option, limit).items()
        if length
    ]
    arrow = ["▶"] * (option.total > limit)
    return html.Div(
        [*pieces, *arrow], className="bar", role="img", title=label, **{"aria-label": label}
    )


def _times(value: float, now: float) -> str:
    """A cost in units of the cost now."""
    return f"×{rounded(relative_cost(value, now))}"
