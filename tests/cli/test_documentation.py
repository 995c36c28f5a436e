"""Every command line of the documentation runs, and every command and flag is explained."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doubletrouble import glossary
from doubletrouble.cli import main
from doubletrouble.cli._app import COMMANDS, load
from doubletrouble.parameters import declared
from doubletrouble.problems import Problem

ROOT = Path(__file__).parents[2]
PAGES = ("docs/cli.md", "docs/sweeps.md")  # the README is run by tests/test_readme.py
GRID = "ridge = [0.1, 1.0]\ndim = 12\nn_data = 2\nn_init = 2\n"

ELSEWHERE = {
    "doubletrouble reproduce --preset laptop --out out": "slow; test_figure runs one figure",
    "doubletrouble page --no-browser": "goes on until Ctrl-C; run by tests/page",
    "doubletrouble --install-completion": "changes the files of the user; run by test_completion",
}
REFUSED = {
    "doubletrouble exact --ridge -1",
    "doubletrouble advise --scheme bootstrap --n-members 10",
}


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def examples(text: str) -> list[tuple[str, str]]:
    """Blocks of command lines, each with what is shown right below it."""
    return re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, flags=re.DOTALL)


def lines(block: str) -> list[str]:
    bare = (line.partition("  #")[0].strip() for line in block.splitlines())
    return [line for line in bare if line.startswith("doubletrouble ")]


def run(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a line prints; `> FILE` is understood."""
    command, _, file = line.partition(" > ")
    assert main(shlex.split(command)[1:]) == (2 if line in REFUSED else 0), line
    out, error = capsys.readouterr()
    if file:
        Path(file).write_text(out, encoding="utf-8")
    return error if line in REFUSED else out


def rounded(text: str) -> str:
    """The same with long numbers cut short, and without the list of schemes in help texts.

    Other machines may round differently; the list is made from the classes.
    """
    text = re.sub(r"(--scheme NAME).*?\[default: ensemble\]", r"\1", text, flags=re.DOTALL)
    return re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.9g}", text)


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize("name", PAGES)
def test_every_command_line_runs_and_prints_the_output_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = page(name)
    # docs/sweeps.md has a larger grid, which tests/sweep runs
    grid = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL) if name == "docs/cli.md" else []
    Path("grid.toml").write_text("".join(grid) or GRID, encoding="utf-8")
    if name == "docs/cli.md":  # files that commands read are made by the Python shown
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            exec(block, {})
    ran = 0
    for block, shown in examples(text):
        printed = ""
        for line in lines(block):
            if line not in ELSEWHERE:
                printed, ran = run(line, capsys), ran + 1
        if shown:
            assert rounded(printed) == rounded(shown)
    assert ran > 2


def test_lines_that_run_elsewhere_are_still_shown() -> None:
    shown = "".join(page(name) for name in PAGES)
    assert [line for line in ELSEWHERE if line not in shown] == []


# --- help ----------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its full name."""
    for name in COMMANDS:
        result = load(name)
        below = getattr(result, "commands", {})
        yield from ((f"{name} {one}", below[one]) for one in below) if below else [(name, result)]


@pytest.mark.parametrize(("name", "command"), [pytest.param(n, c, id=n) for n, c in commands()])
def test_every_command_and_flag_has_help_and_is_in_the_guide(name: str, command: Any) -> None:
    assert command.help
    assert [p.name for p in command.params if not getattr(p, "help", None)] == []
    assert f"doubletrouble {name}" in page("docs/cli.md")


def test_help_has_the_declarations() -> None:
    flags = {param.opts[0]: param.help for param in load("exact").params}
    for field, spec in declared(Problem):
        text = flags[f"--{field.name.replace('_', '-')}"]
        assert text.startswith(f"{spec.symbol}: {spec.meaning.replace('`math.inf`', 'inf')}")
        assert spec.domain in text
        assert text.endswith(f"[default: {field.default:g}]")


def test_help_explains_the_symbols(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    words = set(re.split(r"[\s.,;]+", capsys.readouterr().out))
    specs = (
        glossary.N_FEATURES,
        glossary.N_SAMPLES,
        glossary.DIM,
        glossary.RIDGE,
        glossary.NOISE,
        glossary.SIGNAL,
        glossary.N_MEMBERS,
    )
    assert {spec.symbol for spec in specs} <= words
