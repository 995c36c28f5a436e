"""docs/learners.md: its blocks run and print the output shown, its table is the benchmark's."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import doubletrouble as dt
from tests.docs.pages import ROOT, compared, numbers, text_of

PAGE = "learners.md"
COMPARED = re.compile(r"^\| (0\.632|1) \| (variance|bias²) \|(.*)\|$", re.MULTILINE)


def test_every_block_runs_and_prints_the_output_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared(PAGE) == 11
    assert [path.name for path in tmp_path.iterdir()] == ["fits.sqlite"]


@pytest.mark.parametrize("source", [dt.GeneratorSource, dt.PoolSource])
def test_every_argument_of_a_source_is_documented(source: type) -> None:
    text = text_of(PAGE)
    names = [f.name for f in fields(source) if f.name not in ("X", "y", "classes")]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []
    assert "bootstrap" in text


def test_every_argument_of_decompose_is_documented() -> None:
    names = set(inspect.signature(dt.decompose).parameters) - {"model", "seed", "progress"}
    text = text_of(PAGE)
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_the_table_of_the_bootstrap_is_that_of_the_benchmark() -> None:
    """And `decompose` is five times closer to the truth there."""
    benchmark = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    rows = {(ratio, what): numbers(cells) for ratio, what, cells in COMPARED.findall(text_of(PAGE))}
    known = {(ratio, what): numbers(cells) for ratio, what, cells in COMPARED.findall(benchmark)}
    assert len(rows) == 4
    for index, row in rows.items():
        assert known[index][:5] == row
        _, _, ours, _, theirs = map(float, row)
        assert theirs > 5 * ours
