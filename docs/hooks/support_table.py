"""Put two tables that are generated from the code into docs/ensembles.md.

One lists the overlaps of the members of each scheme, the other the schemes that each function
supports. The site generates them when it is built; `python docs/hooks/support_table.py` writes
them into the page.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from doubletrouble.ensembles import SCHEMES, Ensemble
from doubletrouble.parameters import declarations

PAGE = Path(__file__).parents[1] / "ensembles.md"
_MARKED = re.compile(r"(<!-- (shares|support) table -->\n).*?(\n<!-- end of table -->)", re.DOTALL)


def shares_table() -> str:
    """The members of each scheme and their overlaps, as a table in Markdown."""
    lines = [_row("scheme", "members", "m/N", "n/m", "k/P"), _row(*["---"] * 5)]
    for kind in SCHEMES.values():
        members = (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")
        lines.append(_row(f"`{_call(kind)}`", members, *getattr(kind, "shares", ("…",) * 3)))
    return "\n".join(lines)


def support_table() -> str:
    """The schemes that each function supports, as a table in Markdown."""
    names = [f"`{kind.__name__}`" for kind in SCHEMES.values()]
    lines = [_row("function", *names), _row("---", *(":-:" for _ in names))]
    for function in Ensemble.functions():  # of which other schemes have a part
        marks = ("yes" if function in kind.functions() else "no" for kind in SCHEMES.values())
        name = function if "." in function else f"dt.{function}"
        lines.append(_row(f"`{name}`", *marks))
    return "\n".join(lines)


def _call(kind: type) -> str:
    """The code of a scheme; of alternative options, the first."""
    options = [(name, spec) for name, spec in declarations(kind).items() if name != "n_members"]
    return f"dt.{kind.__name__}(K{''.join(f', {n}={spec.symbol}' for n, spec in options[:1])})"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables between their marks; called by mkdocs for every page."""
    tables = {"shares": shares_table, "support": support_table}
    return _MARKED.sub(lambda match: f"{match[1]}\n{tables[match[2]]()}\n{match[3]}", markdown)


if __name__ == "__main__":
    PAGE.write_text(on_page_markdown(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
