"""The README typed from top to bottom: its blocks run in order, and print the output shown."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import run, same

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
NEEDS_A_SCHEDULER = "doubletrouble sweep run grid.toml --scheduler tcp://host:8786"


def test_blocks_run_in_order_and_print_the_output_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert NEEDS_A_SCHEDULER in README
    steps = list(run(README.replace(NEEDS_A_SCHEDULER, "")))
    shown = [step for step in steps if step.block.language == "python" and step.shown is not None]
    assert [step.block.code for step in shown if not same(step.printed, step.shown or "")] == []
    assert len(shown) == 2
    assert {"sweep.csv", "grid.parquet"} <= {path.name for path in tmp_path.iterdir()}


def test_links_exist() -> None:
    root = Path(__file__).parents[1]
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [t for t in targets if not (root / t).exists()] == []


def test_every_parameter_is_documented() -> None:
    from doubletrouble import Problem
    from doubletrouble.parameters import declarations

    for name, spec in declarations(Problem).items():
        assert f"| {spec.symbol} | `{name}` | {spec.meaning} |" in README


def test_every_activation_is_documented() -> None:
    from doubletrouble.activations import NAMES

    (names,) = re.findall(r"Activations by name: (.*?)\.", README, flags=re.DOTALL)
    assert sorted(re.split(r",\s+", names)) == sorted(NAMES)
