"""The overview of the public names, and links from their mentions to their description.

In the text of every page, `dt.exact_error` in code links to the page that describes it.
"""

import re
from functools import cache
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

import doubletrouble as dt

_DESCRIBED = re.compile(r"^::: doubletrouble\.([\w.]+)$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_MARK = "<!-- table of names -->"
_UNLINKED = re.compile(
    r"^ *```.*?^ *```$|^#[^\n]*$|\[[^\]\n]*\]\([^)\n]*\)", re.MULTILINE | re.DOTALL
)
_MENTION = re.compile(r"`dt\.([\w.]+)(?:\([^`\n]*)?`")
_tables: list[str] = []
_described: set[str] = set()


@cache
def package() -> griffe.Object | griffe.Alias:
    """The package, read and not imported: a page of networks is made without torch."""
    return griffe.load("doubletrouble", search_paths=["src"])


def summary(name: str) -> str:
    """The first paragraph of the description of a public name."""
    described = package()[name].docstring
    return described.value.partition("\n\n")[0].replace("\n", " ").replace("|", r"\|")


def shown(name: str) -> str:
    """The name as users import it: results are in `doubletrouble.results`."""
    home, _, last = name.rpartition(".")
    return f"results.{last}" if home and is_result(last) else name


def is_result(name: str) -> bool:
    """Whether a name is in `doubletrouble.results`, with or without its extra."""
    try:
        return hasattr(dt.results, name)
    except dt.MissingExtraError:
        return True


def on_nav(nav: Any, *, files: Files, config: MkDocsConfig) -> None:
    """Collect the names and make their tables, in the order of the navigation."""
    _tables.clear()
    _described.clear()
    for page in nav.pages:
        path = page.file.src_uri
        if names := _DESCRIBED.findall(page.file.content_string):
            _described.update(names)
            heading = _TITLE.search(page.file.content_string)
            rows = [
                f"| [`{shown(name)}`][doubletrouble.{name}] | {summary(name)} |" for name in names
            ]
            title = f"## [{heading[1] if heading else path}]({path.removeprefix('api/')})"
            _tables.append("\n".join([title, "", "| name | summary |", "|---|---|", *rows]))


def linked(markdown: str) -> str:
    """Link the mentions of public names outside of blocks of code, headings and links."""

    def link(match: re.Match[str]) -> str:
        candidates = (match[1], match[1].partition(".")[0])  # a method links to its class
        name = next((each for each in candidates if each in _described), None)
        return f"[{match[0]}][doubletrouble.{name}]" if name else match[0]

    end, parts = 0, []
    for kept in _UNLINKED.finditer(markdown):
        parts += [_MENTION.sub(link, markdown[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*parts, _MENTION.sub(link, markdown[end:])])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert the tables of names, and link the names."""
    return linked(markdown).replace(_MARK, "\n\n".join(_tables))
