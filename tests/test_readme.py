"""The README: its blocks run in order, print the output shown, and name every parameter."""

import re
from pathlib import Path

import pytest

from doubletrouble import Problem
from doubletrouble.activations import NAMES
from doubletrouble.parameters import declarations
from tests.docs.pages import run, same

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALLER = {
    "sweep run grid.toml --scheduler tcp://host:8786": "sweep status grid.sqlite",
    "double-descent  ": "double-descent --set ratios=[1] --set simulated_ratios=[1,1,1]  ",
    "--width 8,64 --n-members 5 --max-steps 200": "--width 8,64 --n-members 2 --max-steps 2",
    "dim=100, n_data=10, n_init=3": "dim=20, n_data=2, n_init=2",
    "dim=100, n_data=5, n_init=2": "dim=20, n_data=2, n_init=2",
    "ensemble=10)": "ensemble=5, max_steps=20)",
    "n_data=15)": "n_data=3)",
    "sklearn.ensemble.RandomForestRegressor": "sklearn.tree.ExtraTreeRegressor",
    "ratios = np.geomspace(0.1, 100, 500)": "ratios = np.geomspace(0.1, 100, 5)",
    "dt.Problem(ridge=0.1))  # the same by": "dt.Problem(ridge=1.0))  # the same by",
    "workers=2": "workers=1",
    "sweep run grid.toml  ": "sweep run grid.toml --workers 1  ",
}
"""The same commands with fewer steps, draws and processes."""


def run_readme(text: str, folder: Path) -> None:
    steps = list(run(text))
    shown = [step for step in steps if step.block.language == "python" and step.shown is not None]
    assert [step.block.code for step in shown if not same(step.printed, step.shown or "")] == []
    assert len(shown) == 2
    assert {"sweep.csv", "grid.parquet"} <= {path.name for path in folder.iterdir()}


@pytest.mark.xdist_group("processes")
def test_blocks_run_in_order_and_print_the_output_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = README
    for line, smaller in SMALLER.items():
        assert line in text, line
        text = text.replace(line, smaller)
    run_readme(text, tmp_path)


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_blocks_run_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scheduler = "sweep run grid.toml --scheduler tcp://host:8786"
    run_readme(README.replace(scheduler, SMALLER[scheduler]), tmp_path)


def test_links_exist() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_parameter_and_activation_is_documented() -> None:
    for name, spec in declarations(Problem).items():
        assert f"| {spec.symbol} | `{name}` | {spec.meaning} |" in README
    (names,) = re.findall(r"Activations by name: (.*?)\.", README, flags=re.DOTALL)
    assert sorted(re.split(r",\s+", names)) == sorted(NAMES)
