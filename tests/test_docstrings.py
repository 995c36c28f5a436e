"""Docstrings of public names in numpydoc form: their sections, and the names of parameters."""

import inspect
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.parameters import Declared

griffe = pytest.importorskip("griffe")

SECTIONS = ("parameters", "returns", "raises", "examples")
MODULES = {"losses", "replica", "__version__"}
FUNCTIONS = [
    *(name for name in dt.__all__ if name[0].islower() and name not in MODULES),
    "losses.loss",
    "replica.psi_terms",
    "replica.saddle_point",
]
CLASSES = [name for name in dt.__all__ if name[0].isupper()]


def parsed(found: Any) -> dict[str, Any]:
    """The sections of a docstring by name."""
    text = griffe.Docstring(inspect.getdoc(found) or "")
    return {part.kind.value: part.value for part in text.parse("numpy", warnings=False)}


def check_parameters(name: str, found: Any, entries: Any) -> None:
    """The entries are the names of the signature, each with a type and a description."""
    empty = [one.name for one in entries if not (one.annotation and one.description)]
    assert empty == [], f"{name} has parameters without type or description"
    signature = [key for key in inspect.signature(found).parameters if key != "self"]
    assert [one.name.lstrip("*") for one in entries] == signature, f"{name} has other parameters"


def methods(name: str) -> Iterator[tuple[str, Any]]:
    """A class, and its public methods that are defined in the package."""
    kind = getattr(dt, name)
    yield name, kind
    for key, member in inspect.getmembers_static(kind):
        function = getattr(member, "__func__", member)
        ours = inspect.isfunction(function) and function.__module__.startswith("doubletrouble")
        if ours and not key.startswith("_"):
            yield f"{name}.{key}", getattr(kind, key)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_all_sections_and_parameters(name: str) -> None:
    found = attrgetter(name)(dt)
    if found.__module__ == "doubletrouble":
        pytest.skip(found.__doc__)  # an extra is not installed
    sections = parsed(found)
    lacking = [section for section in SECTIONS if section not in sections]
    assert lacking == [], f"{name} lacks sections"
    check_parameters(name, found, sections["parameters"])
    for section in ("returns", "raises"):
        empty = [one for one in sections[section] if not (one.annotation and one.description)]
        assert empty == [], f"{name} has {section} without type or description"


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_classes_and_methods_are_those_of_signatures(name: str) -> None:
    for path, found in methods(name):
        sections = parsed(found)
        if inspect.isclass(found) and issubclass(found, Declared):
            assert "parameters" in sections, f"{path} lacks parameters"
        if "parameters" in sections:
            check_parameters(path, found, sections["parameters"])
