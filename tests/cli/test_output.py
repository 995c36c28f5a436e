"""Tables, JSON and help on terminals of any width and encoding."""

import io
import json
import math
import re
import sys
from collections.abc import Callable

import pytest

from doubletrouble.cli import main
from doubletrouble.cli._app import COMMANDS
from doubletrouble.cli._output import show_json, table
from tests.cli.results import Capture, lines

WIDE = "anova --features-per-dim 0.5,2 --samples-per-dim 0.3,1 --ridge 1e-5,1 --noise 0.1,1"


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


def test_json_is_strict(capsys: Capture) -> None:
    show_json({"a": [math.inf, -math.inf, math.nan, 1.5], "b": {"c": (True, "λ")}})
    result = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert result == {"a": ["inf", "-inf", None, 1.5], "b": {"c": [True, "λ"]}}


def test_json_is_lossless_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    show_json({"λ": "τ"})
    stream.flush()
    assert json.loads(stream.buffer.getvalue()) == {"λ": "τ"}


def test_numbers_are_aligned_to_the_right() -> None:
    text = table("[a] title", {"name": ["a", "[b]"], "value": [1, 100]})
    assert text == "[a] title\nname  value\n───────────\na         1\n[b]     100"


def test_tables_fit_a_terminal(capsys: Capture) -> None:
    for words in ("anova --ridge 1e-5:10:log:7", "exact --ridge 0:1:linear:3"):
        assert max(map(len, lines(words, capsys))) <= 80


def test_a_narrow_terminal_has_whole_words_and_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for columns in ("0", "1", "40"):
        monkeypatch.setenv("COLUMNS", columns)
        words = " ".join(lines("exact", capsys)).split()
        assert {"P/D=2,", "scheme=ensemble", "initialization"} <= set(words)
        assert "Usage: doubletrouble [OPTIONS]" in "\n".join(lines("--help", capsys))
        text = lines(WIDE, capsys)
        end = next(k for k, line in enumerate(text) if line.startswith("noise floor"))
        last = text[end - 1]
        assert "\x1b" not in last  # no colour
        assert "…" not in last
        assert len(last.split()) == 4 + 7
        assert " ".join(text[end:]) == "noise floor: 0 everywhere"


def test_columns_are_aligned_in_every_encoding(printed: Callable[[str, str], str]) -> None:
    for encoding in ("ascii", "cp1252", "utf-8"):
        *_, head, rule, first, second, _ = printed("exact --ridge 0,1", encoding).splitlines()
        assert len(head) == len(rule) == len(first) == len(second), encoding
        simulated = printed("simulate --dim 5 --n-data 2 --n-init 2 -K 1 --quiet", encoding)
        assert len({len(line) for line in simulated.splitlines()[-7:]}) == 1, encoding
        terms = printed("psi", encoding).splitlines()[2:]
        assert {len(line.partition("   overlap")[0]) for line in terms if "overlap" in line} == {17}
        options, bars, _ = printed("advise", encoding).split("\n\n")
        assert len({len(line) for line in options.splitlines()}) == 1, encoding
        starts = re.findall(r"^.+?  (?=[nisb]+)", bars, flags=re.MULTILINE)
        assert len(set(map(len, starts))) == 1, encoding
        *_, ridge, total = printed("stopping --ridge 0", encoding).splitlines()
        assert len(ridge) == len(total) == 29, encoding
    assert "lambda" in printed("exact --ridge 0,1", "ascii")


def test_help_is_in_the_encoding_of_stdout(printed: Callable[[str, str], str]) -> None:
    for name in ("", *COMMANDS):
        text = printed(f"{name} --help", "ascii")
        assert max(map(len, text.splitlines())) <= 80, name
        assert "?" not in text.replace("what fixes it?", ""), name  # every symbol has a name
    assert "lambda" in printed("--help", "ascii")
    assert "λ" in printed("--help", "utf-8")
