"""The result of a command: its JSON, its rows, or its error message."""

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

import pytest

from doubletrouble._display import Shown
from doubletrouble.cli import main

Capture = pytest.CaptureFixture[str]


class CalledError(Exception):
    """A library function was called with these arguments; the rest of the command does not run."""


def stop(*arguments: Any, **options: Any) -> None:
    """Replace a library function."""
    raise CalledError(*arguments, *([options] if options else []))


def json_result(words: str | list[str], capsys: Capture) -> dict[str, Any]:
    """The JSON that a command prints, which must be strict."""
    assert main([*(words.split() if isinstance(words, str) else words), "--json"]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    result: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    return result


def check_forms(words: str, result: Shown, capsys: Capture) -> None:
    """A command prints the text of a result, its JSON, and its table as CSV."""
    for form, expected in (
        ("", str(result)),
        ("--json", result.to_json()),
        ("--csv", result.to_frame().to_csv(index=False, lineterminator="\n").rstrip("\n")),
    ):
        assert main([*words.split(), *form.split()]) == 0
        assert capsys.readouterr() == (f"{expected}\n", ""), f"{words} {form}"


def parts_of(words: str | list[str], capsys: Capture) -> dict[str, Any]:
    """The parts of one error, and its total, in the JSON that a command prints."""
    return {row["part"]: row["error"] for row in json_result(words, capsys)["parts"]}


def csv_rows(words: str | list[str], capsys: Capture) -> list[dict[str, str]]:
    """The rows of CSV that a command prints."""
    assert main([*(words.split() if isinstance(words, str) else words), "--csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def lines(words: str, capsys: Capture, code: int = 0) -> list[str]:
    """The lines that a command prints."""
    assert main(words.split()) == code
    return capsys.readouterr().out.splitlines()


def error_message(words: list[str], capsys: Capture) -> str:
    """The one line on stderr of a command that ends with exit code 2."""
    assert main(words) == 2, words
    out, error = capsys.readouterr()
    assert out == "", words
    assert error.count("\n") == 1, words
    return error


def check_errors(cases: Iterable[tuple[str | list[str], str]], capsys: Capture) -> None:
    """Every command ends with one line that starts with the name of an argument."""
    for words, name in cases:
        message = error_message(words.split() if isinstance(words, str) else words, capsys)
        assert message.startswith(name), f"{words}: {message}"
