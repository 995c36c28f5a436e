"""The code of the tutorial and the other guides runs as typed, and prints what is shown."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble import activations
from doubletrouble.ensembles import SCHEMES
from tests.docs.pages import blocks, commands, run, same, text_of

PAGES = {
    "index.md": 1, "tutorial.md": 10, "ensembles.md": 8, "advice.md": 8, "mathematics.md": 3,
    "extending.md": 8,
}  # fmt: skip


def run_page(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a page in an empty folder; return the names its code has defined."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    names: dict[str, Any] = {"__name__": "__main__"}
    compared = 0
    for step in run(text_of(name), names):
        if step.shown is not None:
            assert same(step.printed, step.shown), step.block.code
            compared += 1
    assert compared == PAGES[name]
    return names


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize("name", [name for name in PAGES if name != "extending.md"])
def test_every_block_runs_and_prints_the_output_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(name, tmp_path, monkeypatch)


def test_the_tutorial_runs_a_sweep_a_table_and_a_figure() -> None:
    found = blocks(text_of("tutorial.md"))
    assert [block.title for block in found if block.language == "toml"] == ["grid.toml"]
    lines = [line for block in found if block.language == "sh" for line in commands(block.code)]
    words = {tuple(line.split()[1:3]) for line in lines}
    assert {("sweep", "run"), ("sweep", "export"), ("figure", "decomposition")} <= words


@pytest.fixture
def own_schemes() -> Iterator[None]:
    """Leave out of the registry what a page has added to it."""
    known = dict(SCHEMES)
    yield
    SCHEMES.clear()
    SCHEMES.update(known)


@pytest.mark.usefixtures("own_schemes")
def test_the_examples_of_the_guide_to_extending_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = run_page("extending.md", tmp_path, monkeypatch)
    assert issubclass(SCHEMES["two_copies"], names["dt"].Scheme)
    assert {path.suffix for path in (tmp_path / "out").glob("training.*")} >= {".png", ".csv"}
    tests = [call for name, call in names.items() if name.startswith("test_")]
    assert len(tests) == 1
    for call in tests:
        call()

    # the line for a named activation, put where the guide says
    (entry,) = names["_CLOSED"].items()
    monkeypatch.setitem(activations._CLOSED, *entry)
    monkeypatch.setattr(activations, "NAMES", (*activations.NAMES, entry[0]))
    activations._named.cache_clear()
    try:
        named, known = activations.activation(entry[0]), names["known"]
    finally:
        activations._named.cache_clear()
    assert named.function is not None
    assert math.isclose(named.linear, known.linear, rel_tol=1e-14)
    assert math.isclose(named.nonlinear, known.nonlinear, rel_tol=1e-14)
    z = np.linspace(-2, 2, 9)
    np.testing.assert_array_equal(named.function(z), names["hard_tanh"](z))


def test_numbers_are_compared_to_their_last_digit() -> None:
    assert same("a 1.2345 b 2", "a 1.2344\n  b 2")
    assert not same("a 1.2345 b 2", "a 1.2335 b 2")
    assert not same("a 1.2345 b 3", "a 1.2345 b 2")
    assert not same("a 1.2345", "b 1.2345")
    assert not same("a -1.2345", "a 1.2345")
