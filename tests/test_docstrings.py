"""Docstrings of public names in numpydoc form: their sections, and the names of parameters."""

import inspect
import pydoc
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import griffe
import pytest

import doubletrouble as dt
from doubletrouble.parameters import Declared, declarations

SECTIONS = ("parameters", "returns", "raises", "examples")
FUNCTIONS = [
    *(name for name in dt.__all__ if inspect.isfunction(getattr(dt, name))),
    "convex.order_parameters",
    "losses.loss",
    "theory.effective_ridge",
    "theory.psi_terms",
]
LOSSES: list[type] = [dt.losses.Loss, *dt.losses.LOSSES.values()]
CLASSES = [
    *(name for name in dt.__all__ if name[0].isupper()),
    *(f"results.{name}" for name in dir(dt.results) if name not in dt.__all__),
    *(f"losses.{kind.__name__}" for kind in LOSSES),
]


def parsed(found: Any) -> dict[str, Any]:
    """The sections of a docstring by name."""
    text = griffe.Docstring(inspect.getdoc(found) or "")
    return {part.kind.value: part.value for part in text.parse("numpy", warnings=False)}


def check_parameters(name: str, found: Any, entries: Any) -> None:
    """The entries are the names of the signature, each with a type and a description."""
    empty = [one.name for one in entries if not (one.annotation and one.description)]
    assert empty == [], f"{name} has parameters without type or description"
    # griffe takes a list for a tuple, and the first of a set for the default
    listed = [
        str(one.annotation) for one in entries if re.match(r"[^\[(]*, |\{", str(one.annotation))
    ]
    assert listed == [], f"{name} has types that are not joined by or"
    signature = {k: v for k, v in inspect.signature(found).parameters.items() if k != "self"}
    names = [one.name.lstrip("*") for one in entries]
    assert names == list(signature), f"{name} has other parameters"
    for one, declared in zip(entries, signature.values(), strict=True):
        is_none = declared.default is None
        assert (one.default == "None") == is_none, f"{name}: {one.name} has another default"


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class that are defined in the package, by name."""
    for key, member in inspect.getmembers_static(kind):
        function = getattr(member, "__func__", member)
        ours = inspect.isfunction(function) and function.__module__.startswith("doubletrouble")
        if ours and not key.startswith("_"):
            yield key, getattr(kind, key)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_help_shows_the_names_of_types(name: str) -> None:
    text = pydoc.plain(pydoc.render_doc(attrgetter(name)(dt)))
    for definition in ("_NestedSequence", "numpy.ndarray["):
        assert definition not in text, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_all_sections_and_parameters(name: str) -> None:
    found = attrgetter(name)(dt)
    sections = parsed(found)
    lacking = [section for section in SECTIONS if section not in sections]
    assert lacking == [], f"{name} lacks sections"
    check_parameters(name, found, sections["parameters"])
    for section in ("returns", "raises"):
        empty = [one for one in sections[section] if not (one.annotation and one.description)]
        assert empty == [], f"{name} has {section} without type or description"


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_classes_are_those_of_signatures(name: str) -> None:
    found = attrgetter(name)(dt)
    sections = parsed(found)
    if issubclass(found, Declared):
        texts = {one.name: one.description for one in sections["parameters"]}
        for key, spec in declarations(found).items():
            words = " ".join(texts[key].split())
            assert words.startswith(f"{spec.symbol}: {spec.meaning}."), f"{name}.{key}"
            assert f"Must be {spec.domain}." in words, f"{name}.{key}"
    if "parameters" in sections:
        check_parameters(name, found, sections["parameters"])


@pytest.mark.parametrize("name", CLASSES)
def test_methods_have_parameters_and_returns(name: str) -> None:
    for key, found in methods(attrgetter(name)(dt)):
        path, sections, signature = f"{name}.{key}", parsed(found), inspect.signature(found)
        if signature.parameters.keys() - {"self"}:
            assert "parameters" in sections, f"{path} lacks parameters"
            check_parameters(path, found, sections["parameters"])
        if signature.return_annotation not in (None, "None"):
            assert "returns" in sections, f"{path} lacks returns"
