"""The examples of docs/sweeps.md run."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from tests.runs.work import rows

GUIDE = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_code_blocks_and_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(blocks("toml")[0], encoding="utf-8")
    printed, namespace = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        for line in "".join(blocks("sh")).splitlines():
            program, *words = shlex.split(line)
            assert program == "doubletrouble"
            assert main(words) == 0, line
        for code in blocks("python"):
            if "dask_jobqueue" not in code:
                exec(compile(code, "sweeps.md", "exec"), namespace)
    assert "28 of 28 cells done, 0 failed, in grid.sqlite\n" in printed.getvalue()
    assert dt.Sweep.from_toml("grid.toml") == namespace["sweep"]
    assert rows(Path("threads.sqlite")) == rows(Path("grid.sqlite"))
    assert Path("grid.csv").exists()
    assert Path("grid.parquet").exists()


def test_script_for_slurm_is_python() -> None:
    (code,) = (code for code in blocks("python") if "dask_jobqueue" in code)
    compile(code, "submit.py", "exec")


def test_every_command_is_documented() -> None:
    from doubletrouble.cli._simulate import sweep

    names = {c.name or c.callback.__name__ for c in sweep.registered_commands if c.callback}
    assert names == {"run", "status", "export", "retry", "verify"}
    assert all(f"doubletrouble sweep {name}" in GUIDE for name in names)
