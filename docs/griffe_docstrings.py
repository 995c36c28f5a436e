"""Extensions of mkdocstrings for doctests, comments behind fields, and declared parameters.

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
_COMMENT = re.compile(r"  # (?:type: ignore\S*  # )?(.*)$")


class OurDocstrings(griffe.Extension):
    """Complete the docstrings of a package while it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put the doctests of one object between fences."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Document a field of a class."""
        if attr.docstring is not None or attr.parent is None or not attr.parent.is_class:
            return
        declared = _DECLARED.fullmatch(str(attr.value or ""))
        if declared:
            spec = getattr(glossary, declared[1])
            attr.docstring = griffe.Docstring(f"{spec.symbol}: {spec.meaning}.", parent=attr)
            attr.value = declared[2]
        elif comment := _COMMENT.search(attr.source):
            attr.docstring = griffe.Docstring(punctuated(comment[1]), parent=attr)


def fenced(text: str) -> str:
    """The text with each doctest, up to the next empty line, as a block of code."""
    return _DOCTEST.sub(lambda match: f"```pycon\n{match[0]}\n```", text)


def punctuated(comment: str) -> str:
    """A comment with a capital letter and a full stop; a leading ratio such as m/N is unchanged.

    >>> punctuated("label noise"), punctuated("m/N: share")
    ('Label noise.', 'm/N: share.')
    """
    first = comment[0] if comment[1:2] == "/" else comment[0].upper()
    return f"{first}{comment[1:]}."
