"""Figures from the command line."""

import json
from pathlib import Path

import pytest

from doubletrouble.cli import figure
from doubletrouble.cli.main import main
from doubletrouble.figures.gallery import write_gallery
from doubletrouble.figures.registry import FIGURES
from tests.cli.answers import refusal


def test_a_figure_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figure", "anova", "--out", str(tmp_path), "--json"]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert [Path(file).suffix for file in made["files"]] == [".png", ".pdf", ".svg", ".csv"]
    assert all(Path(file).stat().st_size > 0 for file in made["files"])
    before = [Path(file).stat().st_mtime_ns for file in made["files"]]
    assert main(words[:-1]) == 0
    out, error = capsys.readouterr()
    assert [line for line in out.splitlines() if line in made["files"]] == made["files"]
    assert error == "the files were up to date\n"
    assert [Path(file).stat().st_mtime_ns for file in made["files"]] == before


def test_a_parameter_is_set(tmp_path: Path) -> None:
    words = ["--set", "ridges=[0.5]", "--set", "activation=tanh", "--set", "ratios=[0.5, 2]"]
    assert main(["figure", "decomposition", "--out", str(tmp_path), *words]) == 0
    header, *rows = (tmp_path / "decomposition.csv").read_text().splitlines()
    assert header.startswith("ridge,P_over_N")
    assert [row.split(",")[:2] for row in rows] == [["0.5", "0.5"], ["0.5", "2.0"]]


def test_the_gallery_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"rf-single": FIGURES["rf-single"]}
    monkeypatch.setattr(
        figure, "write_gallery", lambda folder, **others: write_gallery(folder, one, **others)
    )
    assert main(["reproduce", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'index.html'}\n"
    assert "rf-single.svg" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "figure must be one of rf-single, "),
        (["anova", "--preset", "huge"], "preset must be one of laptop, paper, got 'huge'"),
        (["anova", "--set", "ridge"], "--set must be NAME=VALUE, got 'ridge'"),
        (["anova", "--set", "colour=1"], "options of anova must be among "),
    ],
)
def test_bad_words(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(["figure", *words, "--out", str(tmp_path)], capsys).startswith(said)
