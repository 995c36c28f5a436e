"""What mkdocstrings cannot know of our docstrings: doctests, comments and declared parameters.

Markdown would take >>> for quotations, so doctests are put between fences. The fields of a
dataclass are explained by the comment behind them, and parameters by their declaration in
`doubletrouble.glossary`; both become docstrings.
"""

import re
from typing import Any

import griffe

from doubletrouble import glossary

_DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
_DECLARED = re.compile(r"parameter\(glossary\.(\w+)(?:, ([^,)=]+)(?=[,)]))?.*\)", re.DOTALL)
_COMMENT = re.compile(r"  # (.*)$")


class OurDocstrings(griffe.Extension):
    """Complete the docstrings of a package while it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put the doctests of one object between fences."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Say what a field of a class is for."""
        if attr.docstring is not None or attr.parent is None or not attr.parent.is_class:
            return
        declared = _DECLARED.fullmatch(str(attr.value or ""))
        if declared:
            spec = getattr(glossary, declared[1])
            attr.docstring = griffe.Docstring(f"{spec.symbol}: {spec.meaning}.", parent=attr)
            attr.value = declared[2]
        elif comment := _COMMENT.search(attr.source):
            text = comment[1][0].upper() + comment[1][1:]
            attr.docstring = griffe.Docstring(f"{text}.", parent=attr)


def fenced(text: str) -> str:
    """The text with each doctest, up to the next empty line, as a block of code."""
    return _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
