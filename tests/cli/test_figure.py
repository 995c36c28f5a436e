"""Figures from the command line."""

import json
from functools import partial
from pathlib import Path

import pytest

from doubletrouble.cli import _figures, main
from doubletrouble.figures import FIGURES, write_gallery
from tests.cli.results import error_message


def test_files_are_written_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figure", "anova", "--out", str(tmp_path), "--json"]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["source"] == FIGURES["anova"].source
    assert [Path(file).suffix for file in made["files"]] == [".png", ".pdf", ".svg", ".csv"]
    assert all(Path(file).stat().st_size > 0 for file in made["files"])
    assert main(words[:-1]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [*made["files"], *made["agreement"]]


def test_figures_are_listed_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figure"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert "Fig. 1 " in lines[0]
    assert "beyond" in lines[-1]


def test_a_parameter_is_set(tmp_path: Path) -> None:
    words = ["--set", "ridges=[0.5]", "--set", "activation=tanh", "--set", "ratios=[0.5, 2]"]
    assert main(["figure", "decomposition", "--out", str(tmp_path), *words]) == 0
    header, *rows = (tmp_path / "decomposition.csv").read_text().splitlines()
    assert header.startswith("ridge,P_over_N")
    assert [row.split(",")[:2] for row in rows] == [["0.5", "0.5"], ["0.5", "2.0"]]


def test_the_gallery_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = partial(write_gallery, figures=["rf-single"])
    monkeypatch.setattr(_figures, "write_gallery", one)
    assert main(["reproduce", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'index.html'}\n"
    assert "rf-single.svg" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "figure must be one of "),
        (["anova", "--preset", "huge"], "preset must be one of "),
        (["anova", "--set", "ridge"], "--set must be NAME=VALUE"),
        (["anova", "--set", "colour=1"], "options of anova must be among "),
    ],
)
def test_invalid_arguments_are_named(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_message(["figure", *words, "--out", str(tmp_path)], capsys).startswith(message)
