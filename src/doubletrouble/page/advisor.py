"""The advisor's panel: what each change would do here, as bars and in words."""

import math
from typing import Any

from dash import html

from doubletrouble.advice.advise import advise
from doubletrouble.advice.option import Option
from doubletrouble.advice.result import Advice
from doubletrouble.page.curves import CAUSES
from doubletrouble.page.plot import LABELS
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import View

_LONGEST = 1.6  # a bar, in units of the error now: what is worse ends with an arrow


def panel(view: View, *, dark: bool) -> Any:
    """What helps most, why, and the error after each change."""
    setting = view.first
    try:
        advice = advise(
            setting.problem, view.budget or None, n_members=setting.members,
            scheme=setting.scheme, cost=view.cost,
        )  # fmt: skip
    except ValueError as error:
        return html.P(f"{str(error)[:1].upper()}{str(error)[1:]}.")
    first, *others = advice.reasons
    return [
        html.P(html.Strong(first)),
        html.Div(_table(advice, Screen(dark=dark)), className="wide", tabIndex=0),
        html.Ul([html.Li(reason) for reason in others], className="reasons"),
    ]


def _table(advice: Advice, screen: Screen) -> Any:
    """One row an option, with a bar made of the parts."""
    heads = ("Change", "Error", "", "Features", "Training")
    reach = _LONGEST * _finite(advice.now.total, min(o.total for o in advice.options))
    rows = [
        html.Tr(
            [
                html.Th(option.label, scope="row"),
                html.Td(_shown(option.total)),
                html.Td(_bar(option, reach, screen)),
                html.Td(_times(option.features, advice.now.features)),
                html.Td(_times(option.training, advice.now.training)),
            ],
            className="chosen" if option is advice.choice else "",
        )
        for option in advice.options
    ]
    top = html.Thead(html.Tr([html.Th(head, scope="col") for head in heads]))
    return html.Table([top, html.Tbody(rows)], className="advice")


def _bar(option: Option, reach: float, screen: Screen) -> Any:
    """The parts of an error end to end; read aloud as shares."""
    total = option.total
    if not 0 < total < math.inf or reach <= 0:
        return "▶" if total == math.inf else ""
    shares = {name: float(getattr(option.error, name)) / total for name in CAUSES}
    spoken = ", ".join(f"{LABELS[name].lower()} {share:.0%}" for name, share in shares.items())
    length = min(total / reach, 1.0)
    pieces = [
        html.Span(
            className=f"piece {name}",
            style={"width": f"{share * length:.2%}", "background": screen.colors()[name]},
        )
        for name, share in shares.items()
    ]
    arrow = ["▶"] * (total > reach)
    return html.Div([*pieces, *arrow], className="bar", role="img", title=spoken,
                    **{"aria-label": spoken})  # fmt: skip


def _finite(value: float, otherwise: float) -> float:
    return value if math.isfinite(value) else otherwise


def _shown(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _times(value: float, now: float) -> str:
    """A cost in units of the cost now."""
    if math.isinf(value):
        return "∞" if math.isinf(now) is False else "×1"
    return f"×{value / now:.3g}" if now else ""
