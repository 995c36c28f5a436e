"""The command line: exit codes, one line for an error, and a light start."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.runs import Store
from tests.cli.results import error_message

GRID = "ridge = [0.1, 1.0]\ndim = 12\nn_data = 2\nn_init = 2\n"


@pytest.fixture
def grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"{dt.__version__}\n"


def test_the_declared_entry_point_exists() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert resolve_name(project["scripts"]["doubletrouble"]) is main


def test_help_starts_without_heavy_modules() -> None:
    heavy = ("scipy", "sqlite3", "pandas", "pyarrow", "dask", "distributed", "matplotlib", "torch")
    code = (
        "import sys; from doubletrouble.cli import main; main(['--help'])\n"
        f"sys.exit(str([m for m in {heavy!r} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == "[]\n"


def test_help_imports_no_command() -> None:
    code = (
        "import sys; from doubletrouble.cli import main; main(['--help'])\n"
        "sys.exit(' '.join(sorted(m for m in sys.modules if m.startswith('doubletrouble.cli.'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    ours = {name.removeprefix("doubletrouble.cli.") for name in done.stderr.split()}
    assert ours == {"_main", "_app", "_output"}


def test_importing_the_library_needs_no_part_of_a_sweep() -> None:
    heavy = ("sqlite3", "pandas", "pyarrow", "dask", "distributed", "typer", "rich")
    code = f"import sys, doubletrouble; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_extra_is_named(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from doubletrouble.cli import main; sys.exit(main(['version']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == f"{missing} is needed: pip install 'doubletrouble[cli]'\n"


@pytest.mark.parametrize("words", [[], ["sweep"]])
def test_without_a_command_help_is_shown(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().out.startswith("Usage: doubletrouble")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sweep run", "Missing argument"),
        ("sweep go", "No such command 'go'"),
        ("sweep run none.toml", "none.toml: No such file or directory"),
        ("sweep run grid.toml --workers 0", "workers must be a whole number of at least 1, got 0"),
        ("sweep run grid.toml --workers x", "Invalid value for"),
        ("sweep run grid.toml --scheduler tcp://127.0.0.1:1", "scheduler must be 'local' or"),
        ("sweep run grid.toml --store grid.toml", "store must be a file made by a sweep, got"),
        ("sweep status none.sqlite", "store must be a file made by a sweep, got none.sqlite"),
        ("sweep status empty.sqlite", "store must hold a sweep of simulations, got empty.sqlite"),
        ("sweep export none.sqlite out.csv", "store must be a file made by a sweep, got"),
        ("sweep retry none.sqlite", "store must be a file made by a sweep, got none.sqlite"),
    ],
)
def test_an_error_is_one_line_and_code_two(
    words: str, message: str, grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store.open("empty.sqlite").close()
    assert error_message(words.split(), capsys).startswith(message)
    assert grid.read_text() == GRID


def test_debug_shows_the_traceback(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "run", "none.toml", "--debug"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Traceback")
    assert "FileNotFoundError" in message


# --- sweep ---------------------------------------------------------------------------------------

processes = pytest.mark.xdist_group("processes")


@processes
def test_run_status_and_export(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "run", "grid.toml", "--workers", "1"]) == 0
    out, error = capsys.readouterr()
    assert re.search(r"\n\w{12} +2 +2 +0 +0\n", out)
    assert error == ""  # shorter than the two seconds after which progress is shown
    assert main(["sweep", "status", "grid.sqlite", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    expected = {"total": 2, "done": 2, "failed": 0, "missing": 0, "messages": {}}
    assert result == expected | {
        "store": "grid.sqlite",
        "sweep": dt.Sweep.from_toml(grid).hash,
    }
    for name in ("out.csv", "out.parquet"):
        assert main(["sweep", "export", "grid.sqlite", name]) == 0
        assert capsys.readouterr().out == f"{name}\n"
        assert Path(name).stat().st_size > 0


def test_verify_checks_every_row(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "run", str(grid), "--workers", "1", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["sweep", "verify", "grid.sqlite"]) == 0
    assert capsys.readouterr().out == "2 rows of grid.sqlite are undamaged\n"
    content = Path("grid.sqlite").read_bytes()
    position = content.index(b"record.json")
    Path("grid.sqlite").write_bytes(content[:position] + b"R" + content[position + 1 :])
    assert main(["sweep", "verify", "grid.sqlite"]) == 2
    assert "row" in capsys.readouterr().err


@processes
def test_failed_cells_are_reported_and_tried_again(
    grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid.write_text("dim = [12, 10_000_000]\nn_data = 2\nn_init = 2\n")
    name = dt.Sweep.from_toml(grid).hash[:12]
    run = ["sweep", "run", "grid.toml", "--workers", "1", "--quiet"]
    retry = ["sweep", "retry", "grid.sqlite", "--workers", "1", "--quiet"]
    for words in (run, retry):
        assert main(words) == 1
        out, error = capsys.readouterr()
        assert "MemoryError: Unable to allocate" in out
        assert error == (
            "1 of 2 cells failed; to try them again: "
            f"doubletrouble sweep retry grid.sqlite --sweep {name}\n"
        )


@processes
def test_a_store_of_several_sweeps_needs_a_hash(
    grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = []
    for text in ("dim = 10", "dim = 11"):
        grid.write_text(f"{text}\nn_data = 2\nn_init = 2\n")
        names.append(dt.Sweep.from_toml(grid).hash[:12])
        assert main(["sweep", "run", "grid.toml", "--workers", "1", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["sweep", "status", "grid.sqlite"]) == 0  # all of them, and what they are
    message = capsys.readouterr().out
    assert all(name in message for name in names)
    assert "dim 10" in message
    assert "dim 11" in message
    assert main(["sweep", "status", "grid.sqlite", "--json"]) == 0
    assert [row["sweep"][:12] for row in json.loads(capsys.readouterr().out)] == names
    for words in (
        ["retry", "grid.sqlite"],
        ["export", "grid.sqlite", "a.csv"],
    ):
        assert main(["sweep", *words]) == 2
        assert capsys.readouterr().err == (
            "sweep must be chosen by its hash (--sweep HASH), as grid.sqlite holds several: "
            f"{', '.join(names)}\n"
        )
    assert main(["sweep", "status", "grid.sqlite", "--sweep", names[1][:6]]) == 0
    assert names[1] in capsys.readouterr().out
