"""The comparison and exit code of `python -m conformance`."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import conformance.__main__ as command
from conformance.compare import Row, agree, largest, noticed
from conformance.page import TITLES, parts, write
from conformance.report import Report

ROW = Row(
    ratio=1.0,
    scheme="ensemble",
    members=1.0,
    part="total",
    theory=1.0,
    means=(1.0, 1.0, 1.0),
    errors=(0.1, 0.1, 0.1),
    value=1.1,
    error=0.1,
    freedom=30.0,
)


@pytest.mark.parametrize("theory", [0.0, 0.25])
def test_without_spread_only_equal_numbers_agree(theory: float) -> None:
    exact = replace(ROW, value=theory, theory=theory, error=0.0)
    assert exact.t == exact.z == 0
    assert replace(exact, value=theory + 1e-16).t == math.inf
    assert replace(exact, value=theory - 1e-3).t == -math.inf
    assert not agree([replace(exact, value=theory + 1e-3)])


def test_nan_disagrees() -> None:
    rows = [ROW, replace(ROW, error=math.nan), ROW]
    assert agree([ROW])
    assert not agree(rows)
    assert math.isnan(largest(rows))
    assert not noticed(rows)


@pytest.mark.parametrize(
    ("agrees", "seen", "code"), [(True, True, 0), (False, True, 1), (True, False, 1)]
)
def test_exit_code_is_zero_if_theory_agrees_and_controls_do_not(
    agrees: bool,
    seen: bool,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def made(*_: Any) -> Report:
        return Report("", 1.0, agrees, seen)

    monkeypatch.setattr(command, "_made", made)
    assert command.main(["--out", str(tmp_path / "page.md")]) == code
    assert ("unnoticed" in capsys.readouterr().out) is not seen


def test_writing_a_part_of_the_page_leaves_the_others(tmp_path: Path) -> None:
    page, titles = tmp_path / "page.md", {"curves": "# Theory", **TITLES}
    assert list(titles) == list(command.PARTS)
    for name in ("losses", "curves", "beyond", "losses"):
        write(page, name, f"{titles[name]}\n\ntext of {name}\n")
    assert parts(page) == {name: f"{title}\n\ntext of {name}\n" for name, title in titles.items()}


def test_the_page_of_the_documentation_has_every_part() -> None:
    page = parts(Path(__file__).parents[2] / "docs" / "conformance.md")
    assert all("Verdict." in text and ": yes, " in " ".join(text.split()) for text in page.values())
