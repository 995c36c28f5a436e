import math
from pathlib import Path

import pytest

import doubletrouble as dt

FLAT = """
features_per_dim = "0.1:10:log:3"
ridge = [0.01, "0.1:1:linear:2"]
dim = 20
seed = "0:3:linear:4"
ensembles = [1, "2:3:linear:2,inf", {scheme = "divide", n_members = [2, 5]}]
center = false
"""
TABLES = """
[problem]
features_per_dim = [0.1, 1, 10]
ridge = [1e-2, 0.1, 1]
[simulation]
dim = 20
seed = [0, 1, 2, 3]
ensembles = [1, 2, 3, inf, {scheme = "divide", n_members = 2}, {n_members = 5, scheme = "divide"}]
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
        ensembles=[1, 2, 3, math.inf, dt.Divide(2), dt.Divide(5)], center=False,
    )  # fmt: skip


def test_a_grid_written_is_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep.from_toml(write(tmp_path, FLAT))
    assert dt.Sweep.from_toml(write(tmp_path, sweep.to_toml())) == sweep


def test_every_scheme_and_times_are_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        dim=20, times=[0.5, math.inf],
        ensembles=[
            3, dt.Divide(math.inf), dt.Subsample(10, fraction=0.6), dt.Bootstrap(math.inf),
            dt.FeatureBank(2, bank_per_dim=math.inf),
        ],
    )  # fmt: skip
    text = sweep.to_toml()
    assert '{scheme = "subsample", n_members = 10.0, fraction = 0.6}' in text
    assert "times = [0.5, inf]" in text
    assert dt.Sweep.from_toml(write(tmp_path, text)) == sweep
    assert "times" not in dt.Sweep(dim=20).to_toml()


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
        ("dim = 20\nensembles = [{n_members = 2}]", "ensembles must have the name of a scheme"),
        ("dim = 20\nensembles = {scheme = 'bag'}", "scheme must be one of ensemble, divide, "),
        ("dim = 20\nensembles = {scheme = 'subsample'}", "fraction must be given for scheme"),
        (
            "dim = 20\nensembles = {scheme = 'divide', fraction = 0.5}",
            "fraction must be left out for scheme 'divide', got 0.5",
        ),
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
