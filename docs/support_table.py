"""Put the table of supported schemes, generated from the code, into docs/ensembles.md."""

from typing import Any

from doubletrouble.ensembles import SCHEMES, SUPPORT

MARK = "<!-- support table -->"


def support_table() -> str:
    """Which function supports which scheme, as a table in Markdown."""
    names = [f"`{kind.__name__}`" for kind in SCHEMES.values()]
    lines = [_row("function", *names), _row("---", *(":-:" for _ in names))]
    for function, supports in SUPPORT.items():
        marks = ("yes" if supports(kind) else "no" for kind in SCHEMES.values())
        name = function if "." in function else f"dt.{function}"
        lines.append(_row(f"`{name}`", *marks))
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark by the table; called by mkdocs for every page."""
    return markdown.replace(MARK, support_table())
