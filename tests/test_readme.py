"""The README's lines work as typed, and print what it says they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_blocks_print_the_output_below_them() -> None:
    pairs = re.findall(r"```python\n([^`]*)```\n\n```text\n([^`]*)```", README)
    assert len(pairs) == 2
    assert len(pairs[0][0].strip().splitlines()) <= 10
    namespace: dict[str, object] = {}
    exec("import numpy as np\nimport doubletrouble as dt", namespace)
    for code, shown in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), namespace)
        assert printed.getvalue() == shown


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for code in blocks("python")[1:]:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "README.md", "exec"), namespace)
    assert "spectrum" in namespace
    assert (tmp_path / "sweep.csv").stat().st_size > 0


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
