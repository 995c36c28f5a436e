"""figure, reproduce and page: files and options."""

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from doubletrouble.cli import _figures, main
from doubletrouble.figures import FIGURES
from tests.cli.results import CalledError, Capture, check_errors, lines, stop

pytestmark = pytest.mark.xdist_group("processes")


def test_files_of_a_figure_are_written_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    options = "--set ridges=[0.5] --set activation=tanh --set 'ratios=[0.5, 2]'"
    words = shlex.split(f"figure decomposition --out {tmp_path} {options}")
    assert main(words) == 0
    source, *files = capsys.readouterr().out.splitlines()[:5]
    assert source == FIGURES["decomposition"].source
    assert [Path(file).suffix for file in files] == [".png", ".pdf", ".svg", ".csv"]
    assert all(Path(file).stat().st_size > 0 for file in files)
    header, *rows = (tmp_path / "decomposition.csv").read_text().splitlines()
    assert header.startswith("ridge,features_per_sample")
    assert [row.split(",")[:2] for row in rows] == [["0.5", "0.5"], ["0.5", "2.0"]]

    spec = FIGURES["decomposition"]
    made = SimpleNamespace(spec=spec, files=files, agreement=["agreement"])
    monkeypatch.setattr(_figures, "make_figure", lambda *_, **__: made)
    (tmp_path / "index.html").touch()
    assert main(words) == 0
    out, error = capsys.readouterr()
    assert out.splitlines() == [spec.source, *files, "agreement"]
    assert "index.html" in error  # the gallery shows other parameters


def test_figures_are_listed_with_their_number(capsys: Capture) -> None:
    text = lines("figure", capsys)
    assert [line.split()[0] for line in text] == list(FIGURES)
    assert "Fig. 1 " in text[0]
    assert "beyond" in text[-1]


def test_reproduce_writes_the_gallery(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def write(out: Path, **options: Any) -> Path:
        assert options == {"preset": "paper", "progress": True}
        return out / "index.html"

    monkeypatch.setattr(_figures, "write_gallery", write)
    text = lines("reproduce --out folder --preset paper", capsys)
    assert text == [str(Path("folder") / "index.html")]


def test_flags_of_the_page_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_figures, "serve", stop)
    cases = {
        "page": {"host": "127.0.0.1", "port": 8050, "browser": True},
        "page --no-browser --port 80 --host ::": {"host": "::", "port": 80, "browser": False},
    }
    for words, options in cases.items():
        with pytest.raises(CalledError) as called:
            main(words.split())
        assert called.value.args[0].items() >= options.items()


def test_errors_name_the_argument(tmp_path: Path, capsys: Capture) -> None:
    cases = [
        ("figure nope", "figure must"),
        (f"figure anova --preset huge --out {tmp_path}", "preset must"),
        (f"figure anova --set ridge --out {tmp_path}", "--set must"),
        (f"figure anova --set colour=1 --out {tmp_path}", "options of anova must"),
        (f"figure anova --set ridge=true --out {tmp_path}", "ridge must"),
        ("page --no-browser --port 70000", "Invalid value for '--port'"),
        ("page --no-browser --port 0 --host 999.1.2.3", "host must"),
        ("page --no-browser --colour", "No such option"),
    ]
    check_errors(cases, capsys)
