"""The result of a command: its JSON, or its error message."""

import json
from typing import Any

import pytest

from doubletrouble.cli import main

Capture = pytest.CaptureFixture[str]


def json_result(words: str, capsys: Capture) -> dict[str, Any]:
    """The JSON that a command prints, which must be strict."""
    assert main([*words.split(), "--json"]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    result: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    return result


def error_message(words: list[str], capsys: Capture) -> str:
    """The one line on stderr of a command that ends with exit code 2."""
    assert main(words) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    return error
