"""The files and the page: complete, self-contained, the same bytes every time."""

import base64
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

import pytest

from doubletrouble.ensembles import Subsample
from doubletrouble.figures import FIGURES, __main__, make_figure, style, write_gallery
from doubletrouble.figures.__main__ import main
from doubletrouble.figures.decomposition import decomposition_data
from doubletrouble.figures.panel import table
from doubletrouble.figures.save import FORMATS
from doubletrouble.figures.spec import FigureSpec, Table

VOID = {"meta", "img"}
ONE = {"decomposition": FIGURES["decomposition"]}
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
    assert write_gallery(place, ONE) == str(place / "index.html")
    return place


@pytest.fixture(scope="module")
def index(folder: Path) -> Page:
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.open == []
    return page


def test_every_file_is_written(folder: Path) -> None:
    expected = {f"decomposition.{suffix}" for suffix in (*FORMATS, "json")} | {"index.html"}
    assert {path.name for path in folder.iterdir()} == expected
    assert (folder / "decomposition.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "decomposition.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (folder / "decomposition.svg").read_text(encoding="utf-8")


def test_numbers_read_back_exactly(folder: Path) -> None:
    header, *rows = (folder / "decomposition.csv").read_text(encoding="utf-8").splitlines()
    columns, expected = table(decomposition_data())
    assert tuple(header.split(",")) == columns
    assert [tuple(map(float, row.split(","))) for row in rows] == expected


def test_page_holds_its_pictures_and_links_to_its_neighbours_only(
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


def test_page_is_for_everyone(folder: Path, index: Page) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert len(index.alts) == 1
    assert all(len(alt) > 100 for alt in index.alts)
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    for cell in ("<td>λ</td><td>1e-05, 0.1</td>", "<td>N/D</td><td>1</td>", "<td>K</td>"):
        assert cell in text


def test_lines_on_the_page_remake_the_figure(
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
    # the reader's own settings must not show
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nsvg.hashsalt: mine\n")
    code = (
        "from doubletrouble.figures import FIGURES, write_gallery\n"
        'only = {"decomposition": FIGURES["decomposition"]}\n'
        'print(write_gallery("./there/", only, progress=True))'
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "./there/index.html\n"
    assert "figures: 100%" in run.stderr
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


def test_stopping_by_hand_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "write_gallery", stopped)
    assert main(["--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("the same command goes on where it was\n")


def tiny_data(*, noise: float = 1.0) -> float:
    return noise


TINY: FigureSpec[float] = FigureSpec(
    name="tiny",
    title="",
    caption="",
    alt="",
    data=tiny_data,
    plot=lambda _: style.blank(height=1.0),
    table=lambda noise: Table(("noise",), [(noise,)]),
    agreement=lambda noise: [f"noise is {noise}"],
)
make_tiny = partial(make_figure, "tiny", figures={"tiny": TINY})


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_finished_figure_is_not_made_again(tmp_path: Path) -> None:
    assert make_tiny(tmp_path).remade
    again = make_tiny(tmp_path)
    assert not again.remade
    assert again.agreement == ("noise is 1.0",)
    other = make_tiny(tmp_path, options={"noise": 0.5})
    assert other.remade
    assert other.agreement == ("noise is 0.5",)
    assert make_tiny(tmp_path).remade


@pytest.mark.parametrize(
    "disturb",
    [
        lambda place: (place / "tiny.pdf").unlink(),
        lambda place: (place / "tiny.csv").write_text("1"),
        lambda place: (place / "tiny.json").write_text("[]"),
        lambda place: (place / "tiny.json").unlink(),
        lambda place: rewrite(place / "tiny.json", lambda c: c.update(inputs="old")),
    ],
)
def test_what_is_unfinished_or_altered_is_made_again(
    tmp_path: Path, disturb: Callable[[Path], object]
) -> None:
    files = [*make_tiny(tmp_path).files, tmp_path / "tiny.json"]
    before = [path.read_bytes() for path in files]
    disturb(tmp_path)
    assert make_tiny(tmp_path).remade
    assert [path.read_bytes() for path in files] == before


def broken(_: float) -> NoReturn:
    raise ZeroDivisionError


def test_a_failure_leaves_no_note(tmp_path: Path) -> None:
    make_tiny(tmp_path)
    with pytest.raises(ZeroDivisionError):
        make_figure(
            "tiny",
            tmp_path,
            figures={"tiny": replace(TINY, plot=broken)},
            options={"noise": 2.0},
        )
    assert not (tmp_path / "tiny.json").exists()


def test_source_of_another_ensemble_runs() -> None:
    spec = ONE["decomposition"]
    ensemble = Subsample(math.inf, fraction=0.5)
    source = spec.source({"ratios": [1.0, 2.0], "ensemble": ensemble})
    names: dict[str, Any] = {}
    exec(source.rpartition("save(")[0], names)
    (weak, _) = names["data"]
    assert repr(weak.ensemble) == repr(ensemble)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ({"name": "nothing"}, "figure must be one of .*decomposition.*, got 'nothing'"),
        ({"preset": "huge"}, "preset must be one of laptop, paper, got 'huge'"),
        ({"options": {"colour": 1}}, "options of decomposition must be among .*, got 'colour'"),
    ],
)
def test_bad_calls_get_a_sentence(tmp_path: Path, call: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_figure(**{"name": "decomposition", "folder": tmp_path, **call})


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


def test_a_write_that_fails_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(__main__, "write_gallery", partial(write_gallery, figures=ONE))
    (tmp_path / "decomposition.png").mkdir()
    assert main(["--out", str(tmp_path)]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"cannot write to {tmp_path}: Is a directory"


def test_picture_of_the_readme_is_light_and_wide() -> None:
    data = PICTURE.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 1600
    assert len(data) < 200_000
