"""The files and the page: complete, self-contained, the same bytes every time."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from doubletrouble.figures import FIGURES, write_gallery
from doubletrouble.figures.__main__ import main
from doubletrouble.figures.decomposition import decomposition_data, table
from doubletrouble.figures.save import FORMATS

VOID = {"meta", "img"}
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "decomposition.png"


class Page(HTMLParser):
    """Collect what the page refers to, and check that its tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.alts: list[str] = []
        self.code: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.references += [str(found[key]) for key in ("href", "src") if key in found]
        if tag == "img":
            self.alts.append(str(found.get("alt", "")))
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
    place = tmp_path_factory.mktemp("gallery") / "new" / "out"
    assert write_gallery(place) == str(place / "index.html")
    return place


@pytest.fixture(scope="module")
def index(folder: Path) -> Page:
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.open == []
    return page


def test_every_file_is_written(folder: Path) -> None:
    expected = {f"{name}.{suffix}" for name in FIGURES for suffix in FORMATS} | {"index.html"}
    assert {path.name for path in folder.iterdir()} == expected
    assert (folder / "decomposition.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "decomposition.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (folder / "decomposition.svg").read_text(encoding="utf-8")


def test_numbers_read_back_exactly(folder: Path) -> None:
    header, *rows = (folder / "decomposition.csv").read_text(encoding="utf-8").splitlines()
    columns, expected = table(decomposition_data())
    assert tuple(header.split(",")) == columns
    assert [tuple(map(float, row.split(","))) for row in rows] == expected


def test_page_refers_only_to_its_neighbours(folder: Path, index: Page) -> None:
    assert {f"decomposition.{suffix}" for suffix in FORMATS} <= set(index.references)
    for reference in index.references:
        assert (folder / reference).is_file()
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//|@import|url\(", text)
    assert str(folder) not in text


def test_page_is_for_everyone(folder: Path, index: Page) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert len(index.alts) == len(FIGURES)
    assert all(len(alt) > 100 for alt in index.alts)
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    for cell in ("<td>λ</td><td>1e-05, 0.1</td>", "<td>N/D</td><td>1</td>", "<td>K</td>"):
        assert cell in text


def test_lines_on_the_page_remake_the_figure(
    folder: Path, index: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, source = index.code
    assert command == "python -m doubletrouble.figures --out out"
    monkeypatch.chdir(tmp_path)
    exec(source, {})
    for suffix in FORMATS:
        name = f"decomposition.{suffix}"
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()


def test_command_in_a_fresh_process_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    # the reader's own settings must not show
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: mine\n")
    command = [sys.executable, "-m", "doubletrouble.figures", "--out", "./there/"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "./there/index.html\n"
    assert "figures: 100%" in run.stderr
    for path in folder.iterdir():
        assert (tmp_path / "there" / path.name).read_bytes() == path.read_bytes(), path.name


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that comes with exit code 2."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_file_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "taken"
    file.write_text("mine")
    assert refusal(["--out", str(file)], capsys) == (
        f"the output folder must be a folder, got the file {file}\n"
    )
    inside = refusal(["--out", str(file / "deeper")], capsys)
    assert inside == f"cannot make the output folder {file / 'deeper'}: Not a directory\n"
    assert file.read_text() == "mine"


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert refusal(["--out", str(tmp_path)], capsys) == (
        f"the output folder must be writable, got {tmp_path}\n"
    )


def test_an_empty_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(["--out", ""], capsys) == "the output folder must have a name, got ''\n"


def test_a_write_that_fails_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "decomposition.png").mkdir()
    assert main(["--out", str(tmp_path)]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"cannot write to {tmp_path}: Is a directory"


def test_picture_of_the_readme_is_light_and_wide() -> None:
    data = PICTURE.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 1600
    assert len(data) < 200_000
