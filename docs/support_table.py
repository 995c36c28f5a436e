"""Put two tables that are generated from the code into docs/ensembles.md.

One has what the members of each scheme share, the other which function supports which scheme. The
site has them as the code is when it is built; `python docs/support_table.py` writes them into the
page, so that it reads well in the repository, too.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from doubletrouble.ensembles import SCHEMES, SUPPORT
from doubletrouble.parameters import declarations

PAGE = Path(__file__).parent / "ensembles.md"
_MARKED = re.compile(r"(<!-- (shares|support) table -->\n).*?(\n<!-- end of table -->)", re.DOTALL)


def shares_table() -> str:
    """What the members of each scheme are, and what two of them share, as a table in Markdown."""
    lines = [_row("scheme", "members", "m/N", "n/m", "k/P"), _row(*["---"] * 5)]
    for kind in SCHEMES.values():
        members = (inspect.getdoc(kind) or "").partition("\n")[0].rstrip(".")
        lines.append(_row(f"`{_call(kind)}`", members, *getattr(kind, "shares", ("…",) * 3)))
    return "\n".join(lines)


def support_table() -> str:
    """Which function supports which scheme, as a table in Markdown."""
    names = [f"`{kind.__name__}`" for kind in SCHEMES.values()]
    lines = [_row("function", *names), _row("---", *(":-:" for _ in names))]
    for function, supports in SUPPORT.items():
        marks = ("yes" if supports(kind) else "no" for kind in SCHEMES.values())
        name = function if "." in function else f"dt.{function}"
        lines.append(_row(f"`{name}`", *marks))
    return "\n".join(lines)


def _call(kind: type) -> str:
    """A scheme as it is written in code; of options that exclude each other, the first."""
    options = [(name, spec) for name, spec in declarations(kind).items() if name != "n_members"]
    return f"dt.{kind.__name__}(K{''.join(f', {n}={spec.symbol}' for n, spec in options[:1])})"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables between their marks; called by mkdocs for every page."""
    tables = {"shares": shares_table, "support": support_table}
    return _MARKED.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", markdown)


if __name__ == "__main__":
    PAGE.write_text(on_page_markdown(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
