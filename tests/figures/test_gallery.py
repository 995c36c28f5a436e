"""The files of a figure and the gallery page: complete, self-contained, reproducible bytes."""

import base64
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.errors import require
from doubletrouble.figures import FigureSpec, make_figure, write_gallery
from doubletrouble.figures._decomposition import decomposition_data
from doubletrouble.figures._figure import FORMATS
from doubletrouble.figures._panel import table

pytestmark = pytest.mark.xdist_group("gallery")
VOID = {"meta", "img"}
ONE = ("decomposition",)
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "decomposition.png"


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


def test_commands_on_the_page_write_the_same_bytes(
    folder: Path, index: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything, command, source = index.code
    assert everything == "doubletrouble reproduce --preset laptop --out out"
    assert command == "doubletrouble figure decomposition --preset laptop --out out"
    monkeypatch.chdir(tmp_path)
    # settings of the user have no effect
    with require("matplotlib", "figures").rc_context({"lines.linewidth": 9, "svg.hashsalt": "x"}):
        exec(source, {})
    for suffix in FORMATS:
        name = f"decomposition.{suffix}"
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.full
def test_another_process_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: mine\n")
    code = (
        "from doubletrouble.figures import write_gallery\n"
        'write_gallery("there", ["decomposition"], progress=True)'
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    for path in folder.iterdir():
        assert (tmp_path / "there" / path.name).read_bytes() == path.read_bytes(), path.name


def test_path_of_the_page_is_spelled_as_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_gallery("./there/", [], preset="paper", progress=True) == "./there/index.html"
    assert "--preset paper" in (tmp_path / "there" / "index.html").read_text(encoding="utf-8")


def test_options_replace_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FigureSpec, "_save_pictures", lambda *_: None)
    made = make_figure("rf-single", tmp_path, options={"inputs_shown": 1})
    assert made.arguments == {"inputs_shown": 1, "features_shown": 4}
    rows = (tmp_path / "rf-single.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 2 * 5 + 5  # a header, and every connection


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("figure", {"figure": "unknown"}),
        ("preset", {"preset": "huge"}),
        ("options of decomposition", {"options": {"colour": 1}}),
        ("store", {"options": {"store": "x"}}),
    ],
)
def test_invalid_arguments_are_named(tmp_path: Path, name: str, call: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{name} must"):
        make_figure(**{"figure": "decomposition", "folder": tmp_path, **call})
    assert not list(tmp_path.iterdir())


def test_output_folder_must_be_a_writable_folder_with_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "taken"
    file.write_text("mine")
    for folder in (file, file / "deeper", ""):
        with pytest.raises(ValueError, match=f"output folder .*{folder}"):
            write_gallery(folder)
    assert file.read_text() == "mine"
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(ValueError, match="must be writable"):
        write_gallery(tmp_path)


def test_picture_of_the_readme_is_small_and_wide() -> None:
    data = PICTURE.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 1600
    assert len(data) < 200_000
