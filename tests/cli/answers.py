"""What a command says: an answer as JSON, or one sentence that refuses."""

import json
from typing import Any

import pytest

from doubletrouble.cli import main

Capture = pytest.CaptureFixture[str]


def answer(words: str, capsys: Capture) -> dict[str, Any]:
    """The JSON that a command prints, which must be strict."""
    assert main([*words.split(), "--json"]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    found: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    return found


def refusal(words: list[str], capsys: Capture) -> str:
    """The one sentence that comes with exit code 2."""
    assert main(words) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    return error
