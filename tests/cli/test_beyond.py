"""What docs/beyond.md states is shown by its own lines, by the command line and by Python."""

import re
from pathlib import Path

import pytest

from doubletrouble.cli._app import COMMANDS
from doubletrouble.figures import FIGURES
from tests.docs.pages import commands, run, same, text_of

PAGE = text_of("beyond.md")


def test_every_block_runs_and_prints_the_output_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    compared = 0
    for step in run(PAGE):
        if step.shown is not None:
            assert same(step.printed, step.shown), step.block.code
            compared += 1
    assert compared == PAGE.count("```text") > 20
    assert list(tmp_path.iterdir()) == []


def test_every_statement_has_lines_that_show_it() -> None:
    statements = PAGE[PAGE.index("## Sub-bagging moves") : PAGE.index("## Rigour")]
    for section in statements.split("\n## "):
        assert "```text" in section, section


def test_the_figures_named_exist() -> None:
    (line,) = re.findall(r"^Four figures (.*?)\n\n", PAGE, flags=re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"`([a-z-]+)`", line))
    assert len(named) == 4
    assert named <= set(FIGURES)


def test_the_commands_it_is_about_are_used() -> None:
    used = {line.split()[1] for line in commands(PAGE)}
    assert {"exact", "flow", "stopping", "committee"} <= used <= set(COMMANDS)
