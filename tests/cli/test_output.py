"""Tables, JSON and help on terminals of any width and encoding."""

import io
import json
import re
import sys
from collections.abc import Callable

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.cli._app import COMMANDS
from doubletrouble.cli._output import Form
from tests.cli.results import Capture, lines

WIDE = "exact --anova --features-per-dim 0.5,2 --samples-per-dim 0.3,1 --ridge 1e-5,1 --noise 0.1,1"


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """The output of a command in an encoding."""

    def run(words: str, encoding: str) -> str:
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(words.split()) == 0, words
        stream.flush()
        content = stream.buffer.getvalue()
        return str(content.decode(encoding))

    return run


def test_json_is_lossless_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    Form(json=True).show(dt.advise(dt.Problem()))
    stream.flush()
    document = json.loads(stream.buffer.getvalue())
    assert "∞ models" in [option["option"] for option in document["options"]]


def test_tables_fit_a_terminal(capsys: Capture) -> None:
    for words in ("exact --anova --ridge 1e-5:10:log:7", "exact --ridge 0:1:linear:3"):
        assert max(map(len, lines(words, capsys))) <= 80


def test_wide_tables_continue_below_with_their_parameters(capsys: Capture) -> None:
    text = lines(WIDE, capsys)
    assert max(map(len, text)) <= 80
    assert "The least total is" in " ".join(text[-2:])
    rows = [line.split() for line in text if re.match(r" *\d[\d.e-]* +\d", line)]
    panels = len(rows) // 12
    assert panels > 1
    for k in range(12):
        starts = [tuple(rows[k + 12 * panel][:4]) for panel in range(panels)]
        assert len(set(starts)) == 1
    assert sum(len(rows[12 * panel]) - 4 for panel in range(panels)) == 8


def test_columns_are_aligned_in_every_encoding(printed: Callable[[str, str], str]) -> None:
    for encoding in ("ascii", "cp1252", "utf-8"):
        for words in ("exact --ridge 0,1 --n-members 1,inf", "exact --anova", "advise"):
            text = printed(words, encoding)
            assert "\N{NO-BREAK SPACE}" not in text
            assert max(map(len, text.splitlines())) <= 80
        *_, head, first, second, third, fourth, _ = printed(
            "exact --ridge 0,1 --n-members 1,inf", encoding
        ).splitlines()
        ends = [len(line) for line in (head, first, second, third, fourth)]
        assert max(ends) - min(ends) <= 4, encoding  # digits behind the point
    assert "λ" in printed("exact --ridge 0,1", "utf-8")


def test_help_is_in_the_encoding_of_stdout(printed: Callable[[str, str], str]) -> None:
    for name in ("", *COMMANDS):
        text = printed(f"{name} --help", "cp1252")
        assert max(map(len, text.splitlines())) <= 80, name
    assert "λ" in printed("--help", "utf-8")
