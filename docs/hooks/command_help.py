"""Put the help of every command at the end of its section of docs/cli.md."""

import contextlib
import io
import os
import re
from typing import Any

from doubletrouble.cli import main
from doubletrouble.cli._app import COMMANDS, load

_SECTION = re.compile(r"^## ([a-z-]+)\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
os.environ["COLUMNS"] = "80"


def help_of(words: str) -> str:
    """The help of a command, as it is printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([*words.split(), "--help"])
    return printed.getvalue()


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Complete the sections of commands; called by mkdocs for every page."""
    if page.file.src_uri != "cli.md":
        return markdown

    def completed(section: re.Match[str]) -> str:
        name = section[1]
        if name not in COMMANDS:
            return section[0]
        inner = getattr(load(name), "commands", {})
        helps = (help_of(f"{name} {one}".strip()) for one in inner or [""])
        return f"{section[0]}### Flags of {name}\n\n```text\n{''.join(helps)}```\n\n"

    return _SECTION.sub(completed, markdown)
