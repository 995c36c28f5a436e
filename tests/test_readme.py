"""The README: its blocks run in order and print the output shown."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, run, same

README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALLER = {
    "dim=200, n_data=5, n_init=2": "dim=20, n_data=2, n_init=2",
    "double-descent  ": "double-descent --set ratios=[1] --set simulated_ratios=[1,1,1]  ",
}
"""The same blocks with fewer points and draws."""


def run_readme(text: str) -> None:
    steps = list(run(text))
    shown = [step for step in steps if step.block.language == "python" and step.shown is not None]
    assert [step.block.code for step in shown if not same(step.printed, step.shown or "")] == []
    assert len(shown) == 1


def test_blocks_run_in_order_and_print_the_output_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = README
    for line, smaller in SMALLER.items():
        assert line in text, line
        text = text.replace(line, smaller)
    run_readme(text)


@pytest.mark.full
def test_blocks_run_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_readme(README)
