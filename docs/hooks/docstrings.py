"""An extension of mkdocstrings: comments behind fields, declared parameters, and citations.

The fields of a dataclass are explained by the comment behind them, and parameters by their
declaration in `doubletrouble.glossary`; both become docstrings. Citations are linked.
"""

import re
import runpy
from pathlib import Path
from typing import Any

import griffe

from doubletrouble import glossary

_DECLARED = re.compile(r"parameter\(glossary\.(\w+)(?:, ([^,)=]+)(?=[,)]))?.*\)", re.DOTALL)
_COMMENT = re.compile(r"  # (?:type: ignore\S*  # )?(.*)$")
_linked = runpy.run_path(str(Path(__file__).with_name("citations.py")))["linked"]


class OurDocstrings(griffe.Extension):
    """Complete the docstrings of a package while it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Link the citations of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _linked(obj.docstring.value)

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


def punctuated(comment: str) -> str:
    """A comment with a capital letter and a full stop; a leading ratio such as m/N is unchanged.

    >>> punctuated("label noise"), punctuated("m/N: share")
    ('Label noise.', 'm/N: share.')
    """
    first = comment[0] if comment[1:2] == "/" else comment[0].upper()
    return f"{first}{comment[1:]}."
