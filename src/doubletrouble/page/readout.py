"""What is said of a view beside its plot: numbers, meaning, and a summary for the ear."""

from typing import Any

from dash import html

from doubletrouble.advice import rounded
from doubletrouble.page.answer import Answer
from doubletrouble.page.fields import SCHEME, TIME
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.palette import LABELS


def moments(setting: PageSetting) -> str:
    """The moments of the activation."""
    sigma = setting.problem.moments
    return f"μ₁ = {sigma.linear:.4g}, μ⋆ = {sigma.nonlinear:.4g}, μ₀ = {sigma.mean:.4g} (centred)"


def summary(found: Answer) -> str:
    """The plot in words, for a screen reader."""
    axis = found.view.axis()
    totals = ((axis.shown(curves.mark), curves.here["total"]) for curves in found.drawn)
    here = "; ".join(
        f"at {axis.label} = {mark} the total is {rounded(total, 4)}" for mark, total in totals
    )
    return f"Test error and its parts against {axis.label}: {here}."


def table(found: Answer) -> Any:
    """The numbers where the sliders stand."""
    names = max((list(curves.here) for curves in found.drawn), key=len)
    settings = ("This setting", "Second setting") if len(found.drawn) > 1 else ("Error",)
    digits = 6 if len(found.drawn) == 1 else 5
    heads = [html.Th(words, scope="col", colSpan=2) for words in settings]
    rows = [
        html.Tr(
            [
                html.Th(LABELS[name], scope="row"),
                *(cell for curves in found.drawn for cell in _cells(curves.here, name, digits)),
            ]
        )
        for name in names
    ]
    top = html.Thead(html.Tr([html.Th("Here", scope="col"), *heads]))
    return html.Table([top, html.Tbody(rows)])


def _cells(here: dict[str, float], name: str, digits: int) -> tuple[Any, Any]:
    if name not in here:
        return html.Td("–"), html.Td("")
    total, value = here["total"], here[name]
    share = f"{value / total:.1%}" if 0 < total < float("inf") else ""
    return html.Td(rounded(value, digits)), html.Td(share)


def cautions(view: PageView) -> list[str]:
    """What could be taken for something else."""
    if view.form == "areas" and view.y == "log":
        return [
            "On a logarithmic axis the height of an area is not its share of the error: lower "
            "areas look larger than they are. Choose a linear vertical axis to compare them."
        ]
    return []


def of_split(view: PageView) -> str:
    """Why there is one split only, if there is."""
    if view.has_effects:
        return ""
    return "The symmetric split is known for ensembles and divided data, trained to the end."


def of_scheme(view: PageView) -> str:
    """What else the scheme decides."""
    if view.along != "time" and view.first.is_trained:
        return ""
    others = [name.replace("_", " ") for name in SCHEME.choices if name not in TIME.schemes]
    if not others:
        return ""
    return f"Training in time is not known for {', '.join(others)}: there it goes to its end."


def sentence(error: Exception) -> str:
    """An error as a sentence of its own."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
