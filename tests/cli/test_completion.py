"""Completion of commands, flags and names in shells."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "doubletrouble"]


def completed(words: str) -> list[str]:
    """The completions of bash at the end of these words."""
    position = str(len(words.split(" ")) - 1)
    request = {
        "COMP_WORDS": words,
        "COMP_CWORD": position,
        "_DOUBLETROUBLE_COMPLETE": "complete_bash",
    }
    done = subprocess.run(
        PROGRAM,
        env={**os.environ, **request},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("doubletrouble exact --activation re", ["relu"]),
        ("doubletrouble activation ta", ["tanh"]),
        ("doubletrouble optimum --scheme d", ["divide"]),
        ("doubletrouble exact --scheme s", ["subsample"]),
        ("doubletrouble flow --clock half", ["half_mean", "half_sum"]),
        ("doubletrouble committee --sharing b", ["both"]),
        ("doubletrouble simulate --scheme ensemble,d", ["ensemble,divide"]),
        ("doubletrouble simulate --model g", ["gaussian"]),
        ("doubletrouble lazy --data f", ["fashion-mnist"]),
        ("doubletrouble lazy --loss squared", ["squared_hinge", "squared"]),
        ("doubletrouble lazy --optimizer s", ["sgd"]),
        ("doubletrouble lazy-split --dtype t", ["tf32"]),
        ("doubletrouble la", ["lazy", "lazy-split"]),
        ("doubletrouble si", ["simulate"]),
        ("doubletrouble sweep st", ["status"]),
        ("doubletrouble exact --features", ["--features-per-dim"]),
    ],
)
def test_words_are_completed(words: str, offered: list[str]) -> None:
    assert completed(words) == offered


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o default -F _doubletrouble_completion doubletrouble"),
        ("zsh", "compdef _doubletrouble_completion doubletrouble"),
        ("fish", "complete --command doubletrouble"),
    ],
)
def test_a_script_is_made_for_each_shell(shell: str, line: str) -> None:
    done = subprocess.run(
        PROGRAM,
        env={**os.environ, "_DOUBLETROUBLE_COMPLETE": f"source_{shell}"},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert line in done.stdout


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
        timeout=60,
    )
    assert done.stdout.startswith("relu\nbash completion installed in")
    assert (tmp_path / ".bash_completions" / "doubletrouble.sh").exists()
