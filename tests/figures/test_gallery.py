"""The files of a figure and the gallery page: complete, self-contained, reproducible bytes."""

import base64
import os
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

import pytest

from doubletrouble.figures import __main__, make_figure, write_gallery
from doubletrouble.figures.__main__ import main
from doubletrouble.figures._decomposition import decomposition_data
from doubletrouble.figures._figure import FORMATS
from doubletrouble.figures._panel import table

VOID = {"meta", "img"}
ONE = ("decomposition",)
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "decomposition.png"


class Page(HTMLParser):
    """The references and code of a page; checks that its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.alts: list[str] = []
        self.code: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.references += [str(given[key]) for key in ("href", "src") if key in given]
        if tag == "img":
            self.alts.append(str(given.get("alt", "")))
        if tag == "code":
            self.code.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "code":
            self.code[-1] += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gallery") / "new" / "out"
    assert write_gallery(out, ONE) == str(out / "index.html")
    return out


@pytest.fixture(scope="module")
def index(folder: Path) -> Page:
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.open == []
    return page


def test_every_file_is_written(folder: Path) -> None:
    expected = {f"decomposition.{suffix}" for suffix in FORMATS} | {"index.html"}
    assert {path.name for path in folder.iterdir()} == expected
    assert (folder / "decomposition.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "decomposition.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (folder / "decomposition.svg").read_text(encoding="utf-8")


def test_numbers_read_back_exactly(folder: Path) -> None:
    header, *rows = (folder / "decomposition.csv").read_text(encoding="utf-8").splitlines()
    columns, expected = table(decomposition_data())
    assert tuple(header.split(",")) == columns
    assert [tuple(map(float, row.split(","))) for row in rows] == expected


def test_page_contains_its_pictures_and_links_only_to_files_in_its_folder(
    folder: Path, index: Page
) -> None:
    assert {f"decomposition.{suffix}" for suffix in FORMATS} <= set(index.references)
    anchors = {reference for reference in index.references if reference.startswith("#")}
    assert anchors == {"#decomposition"}
    start = "data:image/svg+xml;base64,"
    (picture,) = (reference for reference in index.references if reference.startswith(start))
    svg = (folder / "decomposition.svg").read_bytes()
    assert base64.b64decode(picture.removeprefix(start)) == svg
    for reference in set(index.references) - anchors - {picture}:
        assert (folder / reference).is_file()
    text = (folder / "index.html").read_text(encoding="utf-8").replace(picture, "")
    assert not re.search(r"https?:|//|@import|url\(", text)
    assert str(folder) not in text


def test_page_is_accessible(folder: Path, index: Page) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert len(index.alts) == 1
    assert all(len(alt) > 100 for alt in index.alts)
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    for cell in ("<td>λ</td><td>1e-05, 0.1</td>", "<td>N/D</td><td>1</td>", "<td>K</td>"):
        assert cell in text


def test_page_names_the_figure_of_the_paper(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "Figure 3 of d’Ascoli et al. (2020)" in text


def test_commands_on_the_page_write_the_figure(
    folder: Path, index: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything, command, source = index.code
    assert everything == "doubletrouble reproduce --preset laptop --out out"
    assert command == "doubletrouble figure decomposition --preset laptop --out out"
    monkeypatch.chdir(tmp_path)
    exec(source, {})
    for suffix in FORMATS:
        name = f"decomposition.{suffix}"
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()


def test_command_in_a_fresh_process_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    # a matplotlibrc of the user has no effect
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: mine\n")
    code = (
        "from doubletrouble.figures import write_gallery\n"
        'print(write_gallery("./there/", ["decomposition"], progress=True))'
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "./there/index.html\n"
    for path in folder.iterdir():
        assert (tmp_path / "there" / path.name).read_bytes() == path.read_bytes(), path.name


def test_module_as_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "write_gallery", partial(write_gallery, figures=ONE))
    assert main(["--out", str(tmp_path), "--preset", "paper"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'index.html'}\n"
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "doubletrouble figure decomposition --preset paper --out out" in text


def test_interrupt_exits_with_130(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "write_gallery", stopped)
    assert main(["--out", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_options_replace_arguments(tmp_path: Path) -> None:
    made = make_figure("decomposition", tmp_path, options={"ridges": [0.5], "ratios": [1.0, 2.0]})
    assert made.arguments["ridges"] == [0.5]
    _, *rows = (tmp_path / "decomposition.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[:2] for row in rows] == [["0.5", "1.0"], ["0.5", "2.0"]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"figure": "nothing"}, "figure must be one of"),
        ({"preset": "huge"}, "preset must be one of"),
        ({"options": {"colour": 1}}, "options of decomposition must be among"),
        ({"options": {"store": "x"}}, "options must not contain 'store'"),
    ],
)
def test_bad_arguments_are_refused(tmp_path: Path, call: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_figure(**{"figure": "decomposition", "folder": tmp_path, **call})


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of exit code 2."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_output_folder_must_not_be_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "taken"
    file.write_text("mine")
    for folder in (file, file / "deeper"):
        assert str(folder) in refusal(["--out", str(folder)], capsys)
    assert file.read_text() == "mine"


def test_output_folder_must_be_writable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert f"writable, got {tmp_path}" in refusal(["--out", str(tmp_path)], capsys)


def test_output_folder_must_have_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert "output folder" in refusal(["--out", ""], capsys)


def test_failed_write_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "write_gallery", partial(write_gallery, figures=ONE))
    (tmp_path / "decomposition.png").mkdir()
    assert main(["--out", str(tmp_path)]) == 2
    assert f"cannot write to {tmp_path}" in capsys.readouterr().err.splitlines()[-1]


def test_picture_of_the_readme_is_small_and_wide() -> None:
    data = PICTURE.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 1600
    assert len(data) < 200_000
