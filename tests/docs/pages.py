"""Run a page of the documentation as a reader would: block by block, from top to bottom."""

import contextlib
import io
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from doubletrouble.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r'^( *)```(\w+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_ROUNDING = 2  # units of the last digit shown


class Block(NamedTuple):
    """A fenced block: its language, the file it is for, and what is in it."""

    language: str
    title: str
    code: str


class Step(NamedTuple):
    """A block that was run: what it printed, and what the page shows below it."""

    block: Block
    printed: str
    shown: str | None


def text_of(page: str) -> str:
    """The Markdown of a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """The fenced blocks of some Markdown, in its order."""
    return [
        Block(language, title, textwrap.dedent(code))
        for _, language, title, code in _FENCE.findall(text)
    ]


def commands(code: str) -> list[str]:
    """The lines of a shell block that call doubletrouble."""
    bare = (line.partition("  #")[0].strip() for line in code.splitlines())
    return [line for line in bare if line.startswith("doubletrouble ")]


def run(text: str, names: dict[str, Any] | None = None) -> Iterator[Step]:
    """Run the blocks in the current folder, all Python in one namespace."""
    namespace = {"__name__": "__main__"} if names is None else names
    found = blocks(text)
    for place, block in enumerate(found):
        printed = io.StringIO()
        if block.language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, f"block {place}", "exec"), namespace)
        elif block.language == "sh":
            for line in commands(block.code):
                with contextlib.redirect_stdout(printed):
                    assert main(shlex.split(line)[1:]) == 0, line
        elif block.language == "toml":
            Path(block.title).write_text(block.code, encoding="utf-8")
            continue
        else:
            continue
        below = found[place + 1] if place + 1 < len(found) else None
        shown = below.code if below is not None and below.language == "text" else None
        yield Step(block, printed.getvalue(), shown)


def compared(page: str) -> int:
    """Run a page of which every block shows what it prints; how many were compared."""
    count = 0
    for step in run(text_of(page)):
        assert step.shown is not None, step.block.code
        assert same(step.printed, step.shown), step.printed
        count += 1
    return count


def same(printed: str, shown: str) -> bool:
    """Whether two texts have the same words, and numbers that differ in the last digit at most."""
    if _words(printed) != _words(shown):
        return False
    pairs = zip(_NUMBER.findall(printed), _NUMBER.findall(shown), strict=True)
    return all(
        abs(float(a) - float(b)) <= max(_ROUNDING * unit(b), 1e-9 * abs(float(b))) for a, b in pairs
    )


def numbers(text: str) -> list[str]:
    """Every number in a text, as it is written."""
    return _NUMBER.findall(text)


def _words(text: str) -> list[str]:
    return re.sub(r"[─\s]+", " ", _NUMBER.sub("#", text)).split()


def unit(written: str) -> float:
    """The last digit of a number: 0.01 for 1.25; nothing for a whole number."""
    digits, _, power = written.partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals else 0.0
