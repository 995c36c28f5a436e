from pathlib import Path

import pytest

import doubletrouble as dt

FLAT = """
features_per_dim = "0.1:10:log:3"
ridge = [0.01, "0.1:1:linear:2"]
dim = 20
seed = "0:3:linear:4"
schemes = ["ensemble", "divide"]
n_members = [1, 2, inf]
center = false
"""
TABLES = """
[problem]
features_per_dim = [0.1, 1, 10]
ridge = [1e-2, 0.1, 1]
[simulation]
dim = 20
seed = [0, 1, 2, 3]
schemes = ["ensemble", "divide"]
n_members = [1, 2, inf]
center = false
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [FLAT, TABLES])
def test_a_file_means_what_python_means(text: str, tmp_path: Path) -> None:
    assert dt.Sweep.from_toml(write(tmp_path, text)) == dt.Sweep(
        features_per_dim=[0.1, 1.0, 10.0], ridge=[0.01, 0.1, 1.0], dim=20, seed=range(4),
        schemes=["ensemble", "divide"], n_members=[1, 2, float("inf")], center=False,
    )  # fmt: skip


def test_a_grid_written_is_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep.from_toml(write(tmp_path, FLAT))
    assert dt.Sweep.from_toml(write(tmp_path, sweep.to_toml())) == sweep


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dim = 20\nrigde = 1", "must be among features_per_dim, samples_per_dim, ridge,"),
        ("dim = 20\nrigde = 1", "got 'rigde'"),
        ("ridge = 1", "dim must be given in"),
        ("dim = ", "must be a TOML file: Invalid value"),
        ("dim = 20\nridge = -1", "ridge must be in [0, inf], got -1"),
        ("dim = 20\nproblem = 3", "problem must be a table, [problem], in"),
        ("dim = 20\n[simulation]\ndim = 30", "dim must be given once in"),
        ("dim = 20\n[other]\nridge = 1", "got 'other'"),
        ("dim = 20\nridge = '1:2'", "ridge must be a number or START:STOP:log|linear:COUNT"),
        ("dim = 20\nridge = 1979-05-27", "ridge must be a number or an array of numbers"),
    ],
)
def test_bad_files_are_refused_with_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        dt.Sweep.from_toml(write(tmp_path, text))
    assert said in str(caught.value)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="must be a TOML file"):
        dt.Sweep.from_toml(path)
