"""Run a page of the documentation as a reader would: block by block, from top to bottom."""

import contextlib
import io
import re
import shlex
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from doubletrouble.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?")
_ROUNDING = 2  # units of the last digit shown


class Block(NamedTuple):
    """A fenced block: its language and its content."""

    language: str
    code: str
    follows: bool
    """Whether it is in the section of the block above."""


class Step(NamedTuple):
    """A block, its output, and the output shown below it."""

    block: Block
    printed: str
    shown: str | None


def text_of(page: str) -> str:
    """The Markdown of a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """The fenced blocks of some Markdown, in its order."""
    found, end = [], 0
    for fence in _FENCE.finditer(text):
        _, language, code = fence.groups(default="")
        same_section = "\n#" not in text[end : fence.start()]
        found.append(Block(language, textwrap.dedent(code), same_section))
        end = fence.end()
    return found


def commands(code: str) -> list[str]:
    """The lines of a shell block that call doubletrouble."""
    bare = (line.partition("  #")[0].strip() for line in code.splitlines())
    return [line for line in bare if line.startswith("doubletrouble ")]


def run(
    text: str,
    names: dict[str, Any] | None = None,
    *,
    skipped: Collection[str] = (),
    invalid: Collection[str] = (),
) -> Iterator[Step]:
    """Run the blocks in the current folder, all Python in one namespace.

    Command lines that are `skipped` do not run, nor does Python that begins with such a line;
    command lines that are `invalid` end with code 2.
    """
    namespace = {"__name__": "__main__"} if names is None else names
    found = blocks(text)
    for index, block in enumerate(found):
        printed = io.StringIO()
        if block.code.partition("\n")[0] in skipped:
            continue
        if block.language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, f"block {index}", "exec"), namespace)
        elif block.language == "sh":
            for line in commands(block.code):
                if line not in skipped:
                    _command(line, printed, 2 if line in invalid else 0)
        else:
            continue
        below = [b.code for b in found[index + 1 : index + 2] if b.follows and b.language == "text"]
        yield Step(block, printed.getvalue(), below[0] if below else None)


def _command(line: str, printed: io.StringIO, code: int) -> None:
    """Run a command line, which may end with `> FILE`."""
    words, _, file = line.partition(" > ")
    out = io.StringIO()
    errors = contextlib.redirect_stderr(out) if code else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), errors:
        assert main(shlex.split(words)[1:]) == code, line
    if file:
        Path(file).write_text(out.getvalue(), encoding="utf-8")
    else:
        printed.write(out.getvalue())


def compared(page: str) -> int:
    """Run a page of which every block shows its output; return the number of blocks."""
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
        abs(value(a) - value(b)) <= max(_ROUNDING * unit(b), 1e-9 * abs(value(b))) for a, b in pairs
    )


def numbers(text: str) -> list[str]:
    """Every number in a text, as it is written."""
    return _NUMBER.findall(text)


def _words(text: str) -> list[str]:
    return re.sub(r"[─\s]+", " ", _NUMBER.sub("#", text)).split()


def value(written: str) -> float:
    """A number as it is written, with or without separators of thousands."""
    return float(written.replace(",", ""))


def unit(written: str) -> float:
    """The unit of the last digit: 0.01 for 1.25, 10 for 4,820; 0 for another whole number."""
    digits, _, power = written.partition("e")
    decimals = len(digits.partition(".")[2])
    if "," in digits and not decimals:  # rounded to three digits
        return 10.0 ** (len(digits.replace(",", "")) - 3)
    return 10.0 ** (int(power or 0) - decimals) if decimals else 0.0
