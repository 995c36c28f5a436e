"""Add the live page to the site, under explore/, and its figures to the pages that discuss them.

A paragraph `[Live figure: title](explore/index.html?embed=NAME)` becomes a frame with this step of
the live page.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation
from mkdocs.utils import get_relative_url

from doubletrouble.page import write_static

_EMBEDDED = re.compile(
    r"^\[Live figure: ([^\]]+)\]\((explore/index\.html)\?embed=([\w-]+)\)$", re.MULTILINE
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the static page; its links lead to the pages of the site."""
    with TemporaryDirectory() as folder:
        write_static(folder, docs="../")
        for path in sorted(Path(folder).iterdir()):
            content = path.read_bytes()
            files.append(File.generated(config, f"explore/{path.name}", content=content))
    return files


def on_nav(nav: Navigation, **_: Any) -> Navigation:
    """Put the live page into the navigation, after the start page."""
    nav.items.insert(1, Link("Explore", "explore/index.html"))
    return nav


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the links to live figures by frames."""

    def frame(match: re.Match[str]) -> str:
        title, path, step = match.groups()
        address = get_relative_url(path, page.url)
        return (
            '<figure class="live">\n'
            f'<iframe src="{address}?embed={step}" title="{title}" loading="lazy"></iframe>\n'
            f"<figcaption>Live: {title}. "
            f'<a href="{address}?step={step}">Open it in the story</a></figcaption>\n'
            "</figure>"
        )

    return _EMBEDDED.sub(frame, markdown)
