"""The grid of simulations: its cells, values that are refused, and results."""

import inspect
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import StoreError
from doubletrouble.runs import decode, encode
from doubletrouble.simulation import Simulation
from doubletrouble.sweep import _simulated as simulated
from doubletrouble.sweep._simulated import from_record, simulate_cell, to_record
from doubletrouble.sweep._sweep import AXES
from tests.runs.work import AtOnce, rows

SMALL: dict[str, Any] = {"dim": 12, "n_data": 3, "n_init": 2}
OTHER: dict[str, Any] = {  # other values than the defaults
    "features_per_dim": 3.0,
    "samples_per_dim": 2.0,
    "ridge": 0.3,
    "signal": 1.5,
    "noise": 0.7,
    "nonlinear_signal": 0.4,
    "test_noise": 0.2,
    "activation": "tanh",
    "dim": 10,
    "model": "features",
    "seed": 5,
    "n_data": 4,
    "n_init": 3,
    "ensembles": (
        dt.Ensemble(1),
        dt.Divide(3),
        dt.Subsample(4, fraction=0.5),
        dt.Bootstrap(4),
        dt.FeatureBank(4, bank_per_dim=5.0),
    ),
    "times": (2.0, math.inf),
    "test": "sample",
    "center": False,
    "dtype": "float32",
    "device": "torch",
}


def run(sweep: dt.Sweep, store: Path) -> Any:
    return sweep.run(store, executor=AtOnce(), progress=False)


# --- cells ---


def test_a_sweep_has_every_parameter_of_a_simulation() -> None:
    of_problem = {f.name for f in fields(dt.Problem)}
    of_simulate = set(inspect.signature(dt.simulate).parameters)
    assert {f.name for f in fields(dt.Sweep)} == of_problem | of_simulate - {"problem", "progress"}


def test_every_parameter_reaches_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def spy(problem: dt.Problem, **options: Any) -> Simulation:
        seen.update({f.name: getattr(problem, f.name) for f in fields(problem)}, **options)
        return dt.simulate(problem, dim=10, n_data=2, n_init=2, progress=False)

    monkeypatch.setattr(simulated, "simulate", spy)
    (cell,) = dt.Sweep(**OTHER).cells()
    simulate_cell(cell.parameters)
    assert seen.pop("progress") is False
    assert {k: tuple(v) if isinstance(v, list) else v for k, v in seen.items()} == OTHER


@pytest.mark.parametrize("name", sorted(OTHER))
def test_every_parameter_changes_the_key_and_the_hash(name: str) -> None:
    value = "gaussian" if name == "model" else OTHER[name]
    given: dict[str, Any] = {"dim": 20, "ridge": 0.1}  # large enough for float32
    plain, other = dt.Sweep(**given), dt.Sweep(**{**given, name: value})
    assert plain.cells()[0].key != other.cells()[0].key
    assert plain.hash != other.hash


def test_a_new_revision_shares_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dt.Sweep(**SMALL)
    key, name = before.cells()[0].key, before.hash
    monkeypatch.setattr("doubletrouble.sweep._sweep.REVISION", 99)
    assert dt.Sweep(**SMALL).cells()[0].key != key
    assert dt.Sweep(**SMALL).hash != name


def test_cells_are_the_product_in_the_order_of_the_fields() -> None:
    sweep = dt.Sweep(ridge=[0.1, 1], noise=(0, 1), seed=range(2), dim=np.array([10, 20]))
    points = [
        tuple(c.parameters[n] for n in ("ridge", "noise", "dim", "seed")) for c in sweep.cells()
    ]
    expected = [(r, n, d, s) for r in (0.1, 1) for n in (0, 1) for d in (10, 20) for s in (0, 1)]
    assert points == expected
    assert [f.name for f in fields(sweep)][: len(AXES)] == list(AXES)


def test_equal_values_are_equal_grids_however_written() -> None:
    one = dt.Sweep(ridge="0.1:10:log:3", dim=20, activation="ReLU", seed=np.arange(3))
    other = dt.Sweep(ridge=[0.1, 1, 10], dim=[20.0], activation=["relu"], seed="0:2:linear:3")
    assert one == other
    assert one.hash == other.hash
    assert [c.key for c in one.cells()] == [c.key for c in other.cells()]


def test_ranges_of_whole_numbers_are_rounded() -> None:
    sweep = dt.Sweep(dim="20:90:log:3", seed="0:5:linear:3", ensembles="1:9:log:4,inf")
    assert sweep.dim == (20, 42, 90)
    assert sweep.seed == (0, 2, 5)
    assert sweep.ensembles == tuple(map(dt.Ensemble, (1, 2, 4, 9, math.inf)))
    assert dt.Sweep(dim="20:25:log:90").dim == (20, 21, 22, 23, 24, 25)  # each of them once


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dim": "0:4:linear:5"}, "dim must be a whole number in [1, 1e+07], got 0"),
        ({"dim": [20, 20.0]}, "dim must hold every value once, got 20 twice"),
        ({"ridge": [0.1, -1]}, "ridge must be in [0, inf], got -1"),
        ({"ridge": []}, "ridge must not be empty"),
        ({"ridge": [0.1, 0.1]}, "ridge must hold every value once, got 0.1 twice"),
        ({"ridge": "1:2:3"}, "ridge must be a number or START:STOP:log|linear:COUNT, got '1:2:3'"),
        ({"ridge": [True]}, "ridge must be a number or an array of numbers, got True"),
        ({"ridge": {"a": 1}}, "ridge must be a number or an array of numbers, got {'a': 1}"),
        ({"ridge": math.inf}, "ridge must be finite to be simulated, got inf"),
        ({"ridge": np.ones((2, 2))}, "ridge must be one value or a sequence, got shape (2, 2)"),
        ({"activation": np.tanh}, "activation must be a name in a sweep, got <ufunc 'tanh'>"),
        ({"activation": "rleu"}, "activation must be one of"),
        ({"dim": 10.5}, "dim must be a whole number in [1, 1e+07], got 10.5"),
        ({"dim": 0}, "dim must be a whole number in [1, 1e+07], got 0"),
        ({"model": "deep"}, "model must be among features, gaussian, kernel, got 'deep'"),
        ({"model": "kernel"}, "features_per_dim must be inf for model 'kernel', got 2.0"),
        ({"features_per_dim": math.inf}, "features_per_dim must be finite for model 'features'"),
        ({"features_per_dim": 1e-3}, "dim must be large enough for a feature and a sample, got 12"),
        ({"model": "gaussian", "test": "sample"}, "test must be 'exact' or 'auto' for model"),
        ({"activation": "tanh", "test": "exact"}, "activation must have a closed form"),
        ({"seed": -1}, "seed must be a whole number of at least 0 and below 4294967296, got -1"),
        ({"seed": 0.5}, "seed must be a whole number of at least 0 and below 4294967296, got 0.5"),
        ({"n_data": 1}, "n_data must be a whole number of at least 2, got 1"),
        ({"n_init": 2.5}, "n_init must be a whole number of at least 2, got 2.5"),
        ({"ensembles": [0]}, "ensembles must be a whole number in [1, inf], got 0"),
        ({"ensembles": []}, "ensembles must not be empty"),
        ({"ensembles": [2, dt.Ensemble(2)]}, "ensembles must hold every value once, got Ensemble"),
        ({"ensembles": dt.Divide([2, 3])}, "ensembles must have numbers, not arrays, got Divide"),
        ({"ensembles": dt.Divide(50)}, "n_members must be at most N = 12 to divide"),
        ({"ensembles": dt.FeatureBank(bank_per_dim=1.0)}, "bank_per_dim must be at least the"),
        ({"ensembles": None}, "ensembles must be a number of models or one of Ensemble, Divide"),
        ({"ensembles": [dt.Divide]}, "ensembles must be a number of models or one of Ensemble"),
        ({"ensembles": "bag"}, "ensembles must be a number or START:STOP:log|linear:COUNT"),
        ({"times": [-1.0]}, "times must be in [0, 1e+150] or inf, got -1"),
        ({"times": []}, "times must not be empty"),
        ({"test": "some"}, "test must be one of auto, exact, sample, got 'some'"),
        ({"dtype": "int"}, "dtype must be one of float64, float32, got 'int'"),
        ({"center": 1}, "center must be true or false, got 1"),
        ({"device": 3}, "device must be 'auto', 'cpu', 'torch' or of torch, got 3"),
        ({"device": "abacus"}, "device must be 'auto', 'cpu', 'torch' or of torch, got 'abacus'"),
        ({"ridge": b"0.1"}, "ridge must be a number"),
        ({"ridge": [[0.1, 1.0]]}, "ridge must be one number, got [0.1, 1.0]"),
    ],
)
def test_bad_values_are_refused_at_once(given: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        dt.Sweep(**(SMALL | given))
    assert str(caught.value).startswith(message)


# --- results ---


def test_a_simulation_comes_back_bit_for_bit() -> None:
    sweep = dt.Sweep(**(OTHER | {"device": "cpu"}))
    (cell,) = sweep.cells()
    back = from_record(decode(encode(simulate_cell(cell.parameters))))
    problem = dt.Problem(**{f.name: OTHER[f.name] for f in fields(dt.Problem)})
    others = {n: v for n, v in OTHER.items() if n not in {f.name for f in fields(dt.Problem)}}
    direct = dt.simulate(problem, progress=False, **(others | {"device": "cpu"}))
    assert encode(to_record(back)) == encode(to_record(direct))
    assert back.problem == direct.problem
    assert back.ensembles == direct.ensembles == OTHER["ensembles"][1:]
    for ensemble in OTHER["ensembles"]:
        assert back.error(ensemble) == direct.error(ensemble)
        assert back.realized(ensemble) == direct.realized(ensemble)
    assert back.psi == direct.psi


def test_results_are_of_this_grid_in_its_order(tmp_path: Path) -> None:
    store = tmp_path / "s"
    first, second = dt.Sweep(ridge=[0.1, 1.0], **SMALL), dt.Sweep(ridge=[1.0, 10.0], **SMALL)
    run(first, store)
    once = rows(store)
    assert second.status(store).done == 1  # one cell is in both
    assert [row.parameters["ridge"] for row in second.results(store)] == [1.0]
    result = run(second, store)
    assert str(result) == f"2 of 2 cells done, 0 failed, in {store}"
    assert [row.parameters["ridge"] for row in result] == [1.0, 10.0]
    assert [row.simulation.problem.ridge for row in result] == [1.0, 10.0]
    assert {key: rows(store)[key] for key in once} == once
    assert len(rows(store)) == 3


def test_a_changed_setting_does_not_mix_with_old_rows(tmp_path: Path) -> None:
    store = tmp_path / "s"
    run(dt.Sweep(**SMALL), store)
    changed = dt.Sweep(**(SMALL | {"n_data": 4}))
    assert changed.status(store).missing == 1
    assert len(changed.results(store)) == 0
    (row,) = run(changed, store)
    assert row.simulation.psi.psi1.n_draws == 4


def test_status_before_the_first_run(tmp_path: Path) -> None:
    status = dt.Sweep(seed=range(4), **SMALL).status(tmp_path / "none")
    assert (status.done, status.failed, status.missing, status.total) == (0, 0, 4, 4)
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="does not exist"):
        dt.Sweep(**SMALL).results(tmp_path / "none")


def test_a_failed_cell_is_recorded_and_tried_again_on_request(tmp_path: Path) -> None:
    sweep = dt.Sweep(**(SMALL | {"dim": [12, 10_000_000]}))  # the second needs 728 TiB
    result = run(sweep, tmp_path / "s")
    assert (result.status.done, result.status.failed) == (1, 1)
    good, bad = result
    assert bad.simulation is None
    assert bad.message.startswith("MemoryError: Unable to allocate")
    assert good.simulation.dim == 12
    again = sweep.retry(tmp_path / "s", executor=AtOnce(), progress=False)
    assert again.status == result.status


def test_a_grid_is_read_from_its_store(tmp_path: Path) -> None:
    store, first = tmp_path / "s", dt.Sweep(**SMALL)
    run(first, store)
    assert dt.Sweep.from_store(store) == first
    second = dt.Sweep(**(SMALL | {"seed": 1}))
    run(second, store)
    assert dt.Sweep.from_store(store, second.hash[:8]) == second
    with pytest.raises(ValueError, match=f"several: {first.hash[:12]}, {second.hash[:12]}"):
        dt.Sweep.from_store(store)
    with pytest.raises(ValueError, match="got 'xyz'"):
        dt.Sweep.from_store(store, "xyz")


def test_every_scheme_and_times_come_back_from_a_store(tmp_path: Path) -> None:
    sweep = dt.Sweep(**(OTHER | {"device": "cpu", "activation": "relu"}))
    (row,) = run(sweep, tmp_path / "s")
    assert row.status == "done"
    assert dt.Sweep.from_store(tmp_path / "s") == sweep
    stored: Any
    (stored,) = dt.Sweep.from_store(tmp_path / "s").results(tmp_path / "s")
    for ensemble in OTHER["ensembles"]:
        assert stored.simulation.error(ensemble) == row.simulation.error(ensemble)
        assert np.shape(stored.simulation.error(ensemble).total.value) == (2,)


def test_a_list_of_widths_in_a_cell_is_a_curve() -> None:
    (cell,) = dt.Sweep(**SMALL).cells()
    curve = {"features_per_dim": [0.5, 2.0], "ridge": [0.1, 1.0]}
    curves = from_record(simulate_cell({**cell.parameters, **curve}))
    assert np.shape(curves.error().total.value) == (2, 2)


def test_numbers_of_another_revision_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(dt.Sweep(**SMALL), tmp_path / "s")
    monkeypatch.setattr("doubletrouble.sweep._sweep.REVISION", 99)
    with pytest.raises(StoreError, match="sweep must be of revision 99, got 2"):
        dt.Sweep.from_store(tmp_path / "s")


# --- TOML ---

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
def test_a_file_and_python_give_equal_grids(text: str, tmp_path: Path) -> None:
    assert dt.Sweep.from_toml(write(tmp_path, text)) == dt.Sweep(
        features_per_dim=[0.1, 1.0, 10.0],
        ridge=[0.01, 0.1, 1.0],
        dim=20,
        seed=range(4),
        ensembles=[1, 2, 3, math.inf, dt.Divide(2), dt.Divide(5)],
        center=False,
    )


def test_a_grid_written_is_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep.from_toml(write(tmp_path, FLAT))
    assert dt.Sweep.from_toml(write(tmp_path, sweep.to_toml())) == sweep


def test_every_scheme_and_times_are_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        dim=20,
        times=[0.5, math.inf],
        ensembles=[
            3,
            dt.Divide(math.inf),
            dt.Subsample(10, fraction=0.6),
            dt.Bootstrap(math.inf),
            dt.FeatureBank(2, bank_per_dim=math.inf),
        ],
    )
    text = sweep.to_toml()
    assert '{scheme = "subsample", n_members = 10.0, fraction = 0.6}' in text
    assert "times = [0.5, inf]" in text
    assert dt.Sweep.from_toml(write(tmp_path, text)) == sweep
    assert "times" not in dt.Sweep(dim=20).to_toml()


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_bad_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        dt.Sweep.from_toml(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="must be a TOML file"):
        dt.Sweep.from_toml(path)
