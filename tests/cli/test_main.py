"""The entry point: exit codes, a light start, completion, and unusable standard streams."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

import pytest

import doubletrouble as dt
from doubletrouble import theory
from doubletrouble.cli import main
from tests.cli.results import Capture, check_errors, error_message, lines

PROGRAM = [sys.executable, "-m", "doubletrouble"]
TIMEOUT = 300


def test_version_and_entry_point(capsys: Capture) -> None:
    assert lines("--version", capsys) == [dt.__version__]
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert resolve_name(project["scripts"]["doubletrouble"]) is main


def test_without_a_command_help_is_shown(capsys: Capture) -> None:
    for words in ("", "sweep"):
        assert lines(words, capsys, code=2)[0].startswith("Usage: doubletrouble")


def test_unknown_words_are_named(capsys: Capture) -> None:
    cases = [
        ("exat", "No such command 'exat'. Did you mean 'exact'?"),
        ("exact 3", "Got unexpected extra argument"),
        ("exact --rigde 1", "No such option: --rigde"),
    ]
    check_errors(cases, capsys)


def test_debug_shows_the_traceback(capsys: Capture) -> None:
    cases = {
        "--debug exact --ridge x": "ridge must",
        "exact --ridge x --debug": "ridge must",
        "decompose none.npy --debug": "FileNotFoundError",
    }
    for words, name in cases.items():
        assert main(words.split()) == 2
        message = capsys.readouterr().err
        assert message.startswith("Traceback")
        assert name in message
    check_errors([("figure anova --set --debug", "--set must")], capsys)  # a value


def test_a_programming_error_is_not_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "exact_error", lambda: None)
    with pytest.raises(TypeError):
        main(["exact"])


def test_signals_end_a_command_with_their_code(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        kill = partial(os.kill, os.getpid(), number)
        monkeypatch.setattr(theory, "exact_error", lambda *_, kill=kill: kill())
        assert main(["exact"]) == code
        assert capsys.readouterr() == ("", "stopped\n")
    assert signal.getsignal(signal.SIGTERM) is before


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    message = error_message(["exact"], capsys)
    assert message == "typer is needed: pip install 'doubletrouble[cli]'\n"


def test_help_and_flags_need_no_heavy_module() -> None:
    code = """
import sys
from doubletrouble.cli import main
main(["--help"])
heavy = {"scipy", "sqlite3", "pandas", "pyarrow", "dask", "distributed", "matplotlib", "torch"}
own = {name for name in sys.modules if name.startswith("doubletrouble.cli.")}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert own == {f"doubletrouble.cli.{name}" for name in ("_main", "_app", "_output")}, own
main(["lazy", "--help"])
main(["lazy", "--loss", "l1"])
heavy = {"torch", "sklearn", "matplotlib", "scipy.optimize"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr


# --- completion ----------------------------------------------------------------------------------


def test_words_are_completed(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    cases = {
        "exact --activation re": ["relu"],
        "optimum --scheme d": ["divide"],
        "flow --time-unit half": ["half_mean", "half_sum"],
        "simulate --scheme ensemble,d": ["ensemble,divide"],
        "simulate --model g": ["gaussian"],
        "lazy --data f": ["fashion-mnist"],
        "lazy --dtype t": ["tf32"],
        "figure anov": ["anova"],
        "s": ["scaling", "simulate", "sweep"],
        "sweep st": ["status"],
        "exact --features": ["--features-per-dim"],
    }
    monkeypatch.setenv("_DOUBLETROUBLE_COMPLETE", "complete_bash")
    for text, offered in cases.items():
        words = f"doubletrouble {text}"
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        assert main([]) == 0
        assert capsys.readouterr().out.split() == offered, text


def test_a_script_is_made_for_each_shell(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    scripts = {
        "bash": "complete -o default -F _doubletrouble_completion doubletrouble",
        "zsh": "compdef _doubletrouble_completion doubletrouble",
        "fish": "complete --command doubletrouble",
    }
    for name, line in scripts.items():
        monkeypatch.setenv("_DOUBLETROUBLE_COMPLETE", f"source_{name}")
        assert main([]) == 0
        assert line in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_shown_script(tmp_path: Path) -> None:
    program = tmp_path / "doubletrouble"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    home = {**os.environ, "HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = (
        'eval "$(doubletrouble --show-completion)"\n'
        "COMP_WORDS=(doubletrouble exact --activation re) COMP_CWORD=3\n"
        "_doubletrouble_completion doubletrouble\n"
        'echo "${COMPREPLY[@]}"\n'
        "doubletrouble --install-completion\n"
        ":\n"  # bash becomes its last command, and would not be detected as the shell
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=home,
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.stdout.startswith("relu\nbash completion installed in")
    assert (tmp_path / ".bash_completions" / "doubletrouble.sh").exists()


# --- standard streams ----------------------------------------------------------------------------


def shell(words: str, before: str = "", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in a shell, which redirects its streams."""
    return subprocess.run(
        ["bash", "-c", f"{before} {shlex.join(PROGRAM)} {words}"],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )


FULL, CLOSED = b"No space left on device\n", b"Bad file descriptor\n"


@pytest.mark.parametrize(
    ("words", "message", "buffered"),
    [
        ("--help > /dev/full", FULL, True),
        ("exact --csv > /dev/full", FULL, False),
        ("--help >&-", CLOSED, True),
        pytest.param("exact --help > /dev/full", FULL, False, marks=pytest.mark.full),
        pytest.param("exact --ridge 1:2:log:3000 > /dev/full", FULL, True, marks=pytest.mark.full),
        pytest.param("exact --json >&-", CLOSED, False, marks=pytest.mark.full),
    ],
)
def test_results_that_cannot_be_written_are_one_line_and_code_two(
    words: str, message: bytes, buffered: bool
) -> None:
    done = shell(words, PYTHONUNBUFFERED="" if buffered else "1")
    assert (done.returncode, done.stderr.removeprefix(b"stdout: ")) == (2, message)


@pytest.mark.parametrize("stream", ["2>&-", pytest.param("2> /dev/full", marks=pytest.mark.full)])
def test_messages_that_cannot_be_written_are_dropped(stream: str) -> None:
    done = shell(f"--version {stream}")
    assert (done.returncode, done.stdout) == (0, f"{dt.__version__}\n".encode())
    done = shell(f"exat {stream}")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_a_pipe_closed_by_its_reader_is_code_141() -> None:
    done = shell("exact --ridge 1:2:log:3000 --csv | head -1; echo ${PIPESTATUS[0]}")
    header, code = done.stdout.decode().splitlines()
    assert header.startswith("ridge,")
    assert (code, done.stderr) == ("141", b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_large_document_is_written_in_full_or_refused(tmp_path: Path, unbuffered: str) -> None:
    file = tmp_path / "part.json"
    words = f"exact --ridge 1:2:log:2000 --json > {file}; echo $? >&2"
    done = shell(words, PYTHONUNBUFFERED=unbuffered, before="trap '' XFSZ; ulimit -f 100;")
    assert file.stat().st_size <= 102_400
    assert done.stderr.decode().splitlines() == ["stdout: File too large", "2"]


def test_a_chart_without_a_folder_is_refused_before_the_work(
    tmp_path: Path, capsys: Capture
) -> None:
    check_errors([(f"exact --chart {tmp_path}/none/a.png", "chart must be in a folder")], capsys)


def test_a_result_that_cannot_be_drawn_is_printed(tmp_path: Path, capsys: Capture) -> None:
    axes = "--ridge 1,2 --noise 0,1 --features-per-dim 1,2"
    assert main(["exact", *axes.split(), "--csv", "--chart", str(tmp_path / "a.png")]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 9
    assert "at most two axes" in shown.err
