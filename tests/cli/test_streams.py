"""Standard streams that are closed, full, narrow or without Greek letters."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = f"{sys.executable} -m doubletrouble"


def shell(words: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in a shell, which redirects its streams."""
    return subprocess.run(
        ["bash", "-c", f"{PROGRAM} {words}"],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("exact > /dev/full", b"No space left on device"),
        ("exact --ridge 1:2:log:3000 --csv > /dev/full", b"No space left on device"),
        ("--help > /dev/full", b"No space left on device"),
        ("exact >&-", b"Bad file descriptor"),
        ("--help >&-", b"Bad file descriptor"),
    ],
)
def test_results_that_cannot_be_written_are_one_line_and_code_two(
    words: str, message: bytes
) -> None:
    done = shell(words)
    assert done.returncode == 2
    assert done.stderr.rstrip(b"\n").endswith(message)
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("stream", ["2>&-", "2> /dev/full"])
def test_messages_that_cannot_be_written_are_dropped(stream: str) -> None:
    done = shell(f"exact {stream}")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines()[-1].startswith("total")
    done = shell(f"exact --ridge -1 {stream}")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_a_pipe_closed_by_its_reader_is_code_141() -> None:
    done = shell("exact --ridge 1:2:log:3000 --csv | head -1; echo ${PIPESTATUS[0]}")
    header, code = done.stdout.decode().splitlines()
    assert header.startswith("ridge,")
    assert (code, done.stderr) == ("141", b"")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_symbols_outside_the_encoding_are_written_in_ascii(encoding: str) -> None:
    done = shell("exact --ridge 0,1", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode("ascii").splitlines()
    assert lines[2].split() == ["lambda", "noise", "init.", "sampling", "bias", "total"]
    assert {len(line) for line in lines[2:6]} == {len(lines[2])}
    assert set(lines[3]) == {"-"}


def test_json_is_lossless_in_any_encoding() -> None:
    words = "committee --member σ=tanh --sharing λ --json"
    message = shell(words, PYTHONIOENCODING="ascii").stderr.decode("ascii")
    assert message.endswith("got 'lambda'\n")
    code = "from doubletrouble.cli._output import show_json; show_json({'λ': 'τ'})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "ascii:replace"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout.decode("ascii")) == {"λ": "τ"}


@pytest.mark.parametrize("columns", ["0", "1"])
def test_any_width_of_the_terminal_has_whole_words(columns: str) -> None:
    done = shell("exact", COLUMNS=columns)
    assert (done.returncode, done.stderr) == (0, b"")
    assert {"P/D=2,", "scheme=ensemble", "initialization"} <= set(done.stdout.decode().split())
    assert "Usage: doubletrouble [OPTIONS]" in shell("--help", COLUMNS=columns).stdout.decode()
