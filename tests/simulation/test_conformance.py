"""The comparison and exit code of `python -m conformance`."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import conformance.__main__ as command
from conformance.compare import Row, agree, largest, noticed
from conformance.page import PARTS, page, part, write
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
    assert command.main(["--out", str(tmp_path)]) == code
    assert ("unnoticed" in capsys.readouterr().out) is not seen


def test_the_page_has_the_tables_that_were_written(tmp_path: Path) -> None:
    one = "### A, B\n\nSeed 0.\n\n| P/N | z |\n|---|---|\n| 0.1 | +1.00 |\n| 1 | -2.00 |\n"
    other = "### C\n\nSeed 0.\n\n| z | p |\n|---|---|\n| +3.00 | 0.01 |\n"
    text = f"## Theory\n\n### Summary\n\n| z |\n|---|\n| 2 |\n\n{one}\n{other}"
    write("curves", text, tmp_path)
    assert part("curves", tmp_path) == text
    table = (tmp_path / "curves.csv").read_text()
    assert table == 'case,P/N,z,p\n"A, B",0.1,+1.00,\n,1,-2.00,\nC,,+3.00,0.01\n'


def test_theory_and_simulation_agree_in_every_part() -> None:
    assert list(command.PARTS) == list(PARTS)
    for name in PARTS:
        text = part(name)
        assert "Verdict." in text
        assert ": yes, " in " ".join(text.split())
        assert text in page()
