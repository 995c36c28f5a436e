"""Metadata of the pages: the version in the header, descriptions, and weights of the search."""

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig

from doubletrouble import __version__

_PARAGRAPH = re.compile(r"^(?![#\[!<`|:-])\S.+?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|[`*$\\]")
_LONGEST = 160  # characters of a description that search engines show
_REFERENCE = 0.5  # weight of the API, whose words are those of the guides
_FIRST = ("which.md", "diagnose.md", "forecast.md", "mathematics.md")  # of twice the usual weight


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the version that the theme shows."""
    config.extra["release"] = __version__
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> None:
    """Describe a page by its first paragraph, and set its weight in the search."""
    if paragraph := _PARAGRAPH.search(markdown):
        words = " ".join(_MARKUP.sub(r"\1", paragraph[0]).split())
        short = words if len(words) <= _LONGEST else words[:_LONGEST].rsplit(" ", 1)[0] + " …"
        page.meta.setdefault("description", short)
    if page.file.src_uri.startswith("api/"):
        page.meta.setdefault("search", {"boost": _REFERENCE})
    elif page.file.src_uri in _FIRST:
        page.meta.setdefault("search", {"boost": 2})
    elif page.file.src_uri == "conformance.md":  # thousands of numbers
        page.meta.setdefault("search", {"exclude": True})
