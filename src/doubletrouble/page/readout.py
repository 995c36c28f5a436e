"""What is said of a view beside its plot: numbers, meaning, and a summary for the ear."""

from typing import Any

from dash import html

from doubletrouble.advice.meaning import meaning
from doubletrouble.advice.words import said
from doubletrouble.page.answer import Answer
from doubletrouble.page.plot import LABELS
from doubletrouble.page.setting import Setting, View


def meaning_of(view: View) -> str:
    """What dominates, and what would remove it; always by cause."""
    setting = view.first
    words = meaning(setting.problem, setting.members, setting.scheme)
    return f"By cause: {words}" if view.split == "effects" else words


def moments(setting: Setting) -> str:
    """The moments of the activation."""
    sigma = setting.problem.moments
    return f"μ₁ = {sigma.linear:.4g}, μ⋆ = {sigma.nonlinear:.4g}, μ₀ = {sigma.mean:.4g} (centred)"


def summary(found: Answer) -> str:
    """The plot in words, for a screen reader."""
    axis = found.view.axis()
    here = "; ".join(
        f"at {axis.label} = {axis.shown(curves.mark)} the total is {said(curves.here['total'], 4)}"
        for curves in found.drawn
    )
    return f"Test error and its parts against {axis.label}: {here}."


def table(found: Answer) -> Any:
    """The numbers where the sliders stand."""
    names = list(found.drawn[0].here)
    settings = ("This setting", "Second setting") if len(found.drawn) > 1 else ("Error",)
    heads = [html.Th(words, scope="col", colSpan=2) for words in settings]
    rows = [
        html.Tr(
            [
                html.Th(LABELS[name], scope="row"),
                *(cell for curves in found.drawn for cell in _cells(curves.here, name)),
            ]
        )
        for name in names
    ]
    top = html.Thead(html.Tr([html.Th("Here", scope="col"), *heads]))
    return html.Table([top, html.Tbody(rows)])


def _cells(here: dict[str, float], name: str) -> tuple[Any, Any]:
    total, value = here["total"], here[name]
    share = f"{value / total:.1%}" if 0 < total < float("inf") else ""
    return html.Td(said(value, 6)), html.Td(share)


def sentence(error: Exception) -> str:
    """An error as a sentence of its own."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
