"""Tables that can be read on a terminal, and in a pipe."""

import json
import math
import os
import subprocess
import sys

import pytest

from doubletrouble.cli import main
from doubletrouble.cli._output import show_json, table

PROGRAM = [sys.executable, "-m", "doubletrouble"]
WIDE = "anova --features-per-dim 0.5,2 --samples-per-dim 0.3,1 --ridge 1e-5,1 --noise 0.1,1"


def test_json_is_strict(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"a": [math.inf, -math.inf, math.nan, 1.5], "b": {"c": (True, "λ")}})
    result = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert result == {"a": ["inf", "-inf", None, 1.5], "b": {"c": [True, "λ"]}}


def test_numbers_are_aligned_to_the_right() -> None:
    text = table("[a] title", {"name": ["a", "[b]"], "value": [1, 100]})
    assert text == "[a] title\nname  value\n───────────\na         1\n[b]     100"


@pytest.mark.parametrize("words", ["anova --ridge 1e-5:10:log:7", "exact --ridge 0:1:linear:3"])
def test_tables_fit_a_terminal(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_pipe_gets_everything_and_no_colour() -> None:
    done = subprocess.run(
        [*PROGRAM, *WIDE.split()],
        env={**os.environ, "COLUMNS": "40", "TERM": "xterm-256color"},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "\x1b" not in done.stdout
    assert "…" not in done.stdout
    *_, last, zero = done.stdout.splitlines()
    assert len(last.split()) == 4 + 7
    assert zero == "bayes: 0 everywhere"
