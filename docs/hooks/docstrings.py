"""An extension of mkdocstrings: comments behind fields, and citations.

Fields that are not parameters are explained by the comment behind them. Citations are linked.
"""

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import griffe

_DEFAULT = re.compile(r"parameter\(glossary\.\w+(?:, ([^,)=]+)(?=[,)]))?.*\)", re.DOTALL)
_PARAMETER = re.compile(r"^(\w[\w, ]*) : ", re.MULTILINE)
_COMMENT = re.compile(r"  # (?:type: ignore\S*  # )?(.*)$")
_linked = runpy.run_path(str(Path(__file__).with_name("citations.py")))["linked"]


class CompletedDocstrings(griffe.Extension):
    """Complete the docstrings of a package while it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Link the citations of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _linked(inspect.cleandoc(obj.docstring.value))

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Document a field of a class by its comment, and show its default."""
        if attr.parent is None or not attr.parent.is_class:
            return
        if default := _DEFAULT.fullmatch(str(attr.value or "")):
            attr.value = default[1]
        elif attr.docstring is None and (comment := _COMMENT.search(attr.source)):
            attr.docstring = griffe.Docstring(punctuated(comment[1]), parent=attr)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Parameters of a class are not listed again as its fields."""
        if cls.docstring is None:
            return
        _, _, section = cls.docstring.value.partition("Parameters\n----------\n")
        for names in _PARAMETER.findall(section.partition("\n-----")[0]):
            for name in names.split(", "):
                if name in cls.members and cls.members[name].is_attribute:
                    cls.members[name].docstring = None


def punctuated(comment: str) -> str:
    """A comment with a capital letter and a full stop; a leading ratio such as m/N is unchanged.

    >>> punctuated("label noise"), punctuated("m/N: share")
    ('Label noise.', 'm/N: share.')
    """
    first = comment[0] if comment[1:2] == "/" else comment[0].upper()
    return f"{first}{comment[1:]}."
