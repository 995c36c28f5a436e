"""The grid of simulations: its cells, checks of its values, results, and files."""

import inspect
import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import matplotlib as mpl  # noqa: TID251 (the plot is tested)
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import StoreError
from doubletrouble.runs import decode, encode
from doubletrouble.simulation import Simulation
from doubletrouble.sweep import _simulated as simulated
from doubletrouble.sweep._simulated import from_record, simulate_cell, to_record
from doubletrouble.sweep._sweep import AXES
from tests.messages import message_of
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
    "flips": 0.0,  # of classification
    "activation": "tanh",
    "loss": "squared",
    "task": "regression",
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


def test_sweep_has_every_parameter_of_a_simulation() -> None:
    of_problem = {f.name for f in fields(dt.Problem)}
    of_simulate = set(inspect.signature(dt.simulate).parameters)
    assert {f.name for f in fields(dt.Sweep)} == of_problem | of_simulate - {
        "problem",
        "progress",
        "sharing",
    }


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


def test_every_parameter_changes_the_key_and_the_hash() -> None:
    given: dict[str, Any] = {"dim": 20, "ridge": 0.1}  # large enough for float32
    plain = dt.Sweep(**given)
    others = OTHER | {"model": "gaussian", "loss": "huber:0.7", "task": "classification"}
    others["flips"] = 0.1
    for name, value in others.items():
        task = {"task": "classification"} if name == "flips" else {}
        other = dt.Sweep(**(given | task | {name: value}))
        base = dt.Sweep(**(given | task))
        assert base.cells()[0].key != other.cells()[0].key, name
        assert base.hash != other.hash != plain.hash, name


def test_a_cell_has_one_key_in_every_grid() -> None:
    sweep = dt.Sweep(ridge=[0.1, 1.0], dim=12, n_data=3, n_init=2)
    both = dt.Sweep(ridge=[0.1, 1.0], dim=12, n_data=3, n_init=2, loss=["squared", "huber"])
    keys = [cell.key for cell in both.cells() if cell.parameters["loss"] == "squared"]
    assert keys == [cell.key for cell in sweep.cells()]
    assert sweep.cells()[0].parameters["task"] == "regression"


def test_losses_are_axes_that_are_stored_and_resumed(tmp_path: Path) -> None:
    store = tmp_path / "s"
    sweep = dt.Sweep(loss=["squared", "hinge"], task="classification", flips=0.1, **SMALL)
    assert [cell.parameters["loss"] for cell in sweep.cells()] == ["squared", "hinge"]
    assert sweep.noise == (0.0,)
    assert sweep.summary.startswith("flips 0.1, 2 x loss, task classification")
    first = run(dt.Sweep(loss="hinge", task="classification", flips=0.1, **SMALL), store)
    assert first.status.failed == 0
    assert sweep.status(store).done == 1
    result = run(sweep, store)
    assert dt.Sweep.from_store(store, sweep.hash) == sweep
    assert dt.Sweep.from_toml(sweep.to_toml()) == sweep
    for row in result:
        problem = dt.Problem(task="classification", loss=row.parameters["loss"], flips=0.1)
        direct = dt.simulate(problem, progress=False, **SMALL)
        assert row.simulation.problem == direct.problem
        assert row.simulation.error(3) == direct.error(3)


def test_values_that_do_not_go_with_a_task_are_refused() -> None:
    for given, word in (
        ({"task": ["regression", "classification"]}, "noise must be given"),
        ({"loss": "hinge"}, "loss must"),
        ({"flips": 0.1}, "flips must"),
        ({"task": "ranking"}, "task must"),
        ({"noise": dt.Mixture([(1.0, 1.0)])}, "noise must"),
    ):
        assert message_of(dt.Sweep, dim=10, **given).startswith(word)


def test_new_revision_has_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_grids_of_equal_values_are_equal() -> None:
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


REFUSED: list[tuple[str, Any]] = [
    *(("dim", value) for value in ("0:4:linear:5", [20, 20.0], 10.5, 0)),
    *(("ridge", value) for value in ([0.1, -1], [], [0.1, 0.1], "1:2:3", [True], {"a": 1})),
    *(("ridge", value) for value in (math.inf, np.ones((2, 2)), b"0.1", [[0.1, 1.0]])),
    *(("activation", value) for value in (np.tanh, "rleu")),
    ("model", "deep"),
    ("features_per_dim", math.inf),
    *(("seed", value) for value in (-1, 0.5)),
    ("n_data", 1),
    ("n_init", 2.5),
    *(("ensembles", value) for value in ([0], [], [2, dt.Ensemble(2)], dt.Divide([2, 3]))),
    *(("ensembles", value) for value in (None, [dt.Divide], "bag")),
    *(("times", value) for value in ([-1.0], [])),
    ("test", "some"),
    ("dtype", "int"),
    ("center", 1),
    *(("device", value) for value in (3, "abacus")),
]
REFUSED_TOGETHER: list[tuple[str, dict[str, Any]]] = [
    ("features_per_dim", {"model": "kernel"}),
    ("features_per_dim", {"features_per_dim": 1e-3}),
    ("test", {"model": "gaussian", "test": "sample"}),
    ("activation", {"activation": "tanh", "test": "exact"}),
    ("n_members", {"ensembles": dt.Divide(50)}),
    ("bank_per_dim", {"ensembles": dt.FeatureBank(bank_per_dim=1.0)}),
]


def test_values_are_checked_when_the_sweep_is_made() -> None:
    """The message begins with the name of the argument."""
    alone = [(name, {name: value}) for name, value in REFUSED]
    for name, given in (*alone, *REFUSED_TOGETHER):
        message = message_of(dt.Sweep, **(SMALL | given))
        assert message.startswith(f"{name} must"), (given, message)


# --- results ---


def test_decoded_simulation_is_equal_bit_for_bit() -> None:
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
    text = " ".join(str(result).split())
    assert text.startswith(f"2 of 2 cells done, 0 failed, in {store}")
    total = result.rows[1].simulation.error(1).total
    assert f" 10 1 model {total} " in text
    assert [row.parameters["ridge"] for row in result] == [1.0, 10.0]
    assert [row.simulation.problem.ridge for row in result] == [1.0, 10.0]
    assert {key: rows(store)[key] for key in once} == once
    assert len(rows(store)) == 3


def test_results_are_shown_and_drawn(tmp_path: Path, monkeypatch: Any) -> None:
    mpl.use("Agg")
    sweep = dt.Sweep(ridge=[0.1, 1.0, 10.0], seed=[0, 1, 2, 3, 4], **(SMALL | {"ensembles": [1]}))
    result = run(sweep, tmp_path / "s")
    assert "\n15 rows\n" in str(result)
    least = min((row.simulation.error(1).total for row in result), key=float)
    assert f"The least total is {least}, at λ = " in str(result)
    monkeypatch.setattr("doubletrouble.sweep._sweep._FEW_ROWS", 14)
    assert "the first of 15 rows" in str(result)
    content = json.loads(result.to_json())
    assert [row["key"] for row in content["rows"]] == [row.key for row in result]
    assert (content["sweep"], content["done"]) == (sweep.hash, 15)
    axes = result.plot()
    found = [row.simulation.error(1).total.value for row in result if row.parameters["seed"] == 2]
    by_ridge = [line.get_xdata() for line in axes.lines if list(line.get_ydata()) == found]
    assert not by_ridge  # the axis with the most values is that of the plot
    ridge = [row.simulation.error(1).total.value for row in result if row.parameters["ridge"] == 1]
    assert any(list(line.get_ydata()) == ridge for line in axes.lines)
    assert json.loads(result.status.to_json())["cells"] == [{"done": 15, "failed": 0, "missing": 0}]


def test_curves_of_a_plot_are_distinguishable(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        ridge=[0.1, 1.0, 10.0],
        noise=[0.0, 1.0],
        **(SMALL | {"ensembles": [1, 2, 5, np.inf]}),
    )
    legend = run(sweep, tmp_path / "s").plot().get_legend()
    looks = {(line.get_color(), line.get_marker()) for line in legend.legend_handles}
    assert len(looks) == len(legend.get_texts()) == 8
    assert len({color for color, _ in looks}) == 4


def test_rows_of_other_settings_are_not_results(tmp_path: Path) -> None:
    store = tmp_path / "s"
    run(dt.Sweep(**SMALL), store)
    changed = dt.Sweep(**(SMALL | {"n_data": 4}))
    assert changed.status(store).missing == 1
    assert len(changed.results(store)) == 0
    (row,) = run(changed, store)
    assert row.simulation.psi.psi1.n_draws == 4


def test_status_before_the_first_run_creates_no_store(tmp_path: Path) -> None:
    status = dt.Sweep(seed=range(4), **SMALL).status(tmp_path / "none")
    assert (status.done, status.failed, status.missing, status.n_cells) == (0, 0, 4, 4)
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="does not exist"):
        dt.Sweep(**SMALL).results(tmp_path / "none")


def test_failed_cell_is_computed_again_by_retry(tmp_path: Path) -> None:
    sweep = dt.Sweep(**(SMALL | {"dim": [12, 10_000_000]}))  # the second needs 728 TiB
    result = run(sweep, tmp_path / "s")
    assert (result.status.done, result.status.failed) == (1, 1)
    good, bad = result
    assert bad.simulation is None
    assert bad.message.startswith("MemoryError: Unable to allocate")
    assert good.simulation.dim == 12
    again = sweep.run(tmp_path / "s", retry=True, executor=AtOnce(), progress=False)
    assert again.status == result.status


def test_grid_is_read_from_its_store(tmp_path: Path) -> None:
    store, first = tmp_path / "s", dt.Sweep(**SMALL)
    run(first, store)
    assert dt.Sweep.from_store(store) == first
    second = dt.Sweep(**(SMALL | {"seed": 1}))
    run(second, store)
    assert dt.Sweep.from_store(store, second.hash[:8]) == second
    with pytest.raises(ValueError, match=f"{first.hash[:12]}, {second.hash[:12]}"):
        dt.Sweep.from_store(store)
    with pytest.raises(ValueError, match="xyz"):
        dt.Sweep.from_store(store, "xyz")


def test_schemes_and_times_are_read_from_a_store(tmp_path: Path) -> None:
    sweep = dt.Sweep(**(OTHER | {"device": "cpu", "activation": "relu"}))
    (row,) = run(sweep, tmp_path / "s")
    assert row.status == "done"
    assert dt.Sweep.from_store(tmp_path / "s") == sweep
    stored: Any
    (stored,) = dt.Sweep.from_store(tmp_path / "s").results(tmp_path / "s")
    for ensemble in OTHER["ensembles"]:
        assert stored.simulation.error(ensemble) == row.simulation.error(ensemble)
        assert np.shape(stored.simulation.error(ensemble).total.value) == (2,)


def test_lists_in_a_cell_are_arrays_of_the_problem() -> None:
    (cell,) = dt.Sweep(**SMALL).cells()
    curve = {"features_per_dim": [0.5, 2.0, 3.0], "ridge": [[0.1], [1.0]]}
    curves = from_record(simulate_cell({**cell.parameters, **curve}))
    assert np.shape(curves.error().total.value) == (2, 3)


def test_store_of_another_revision_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(dt.Sweep(**SMALL), tmp_path / "s")
    monkeypatch.setattr("doubletrouble.sweep._sweep.REVISION", 99)
    with pytest.raises(StoreError, match="revision 99"):
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
def test_grids_of_files_and_of_python_are_equal(text: str, tmp_path: Path) -> None:
    assert dt.Sweep.from_toml(write(tmp_path, text)) == dt.Sweep(
        features_per_dim=[0.1, 1.0, 10.0],
        ridge=[0.01, 0.1, 1.0],
        dim=20,
        seed=range(4),
        ensembles=[1, 2, 3, math.inf, dt.Divide(2), dt.Divide(5)],
        center=False,
    )


def test_written_grid_is_read_back(tmp_path: Path) -> None:
    sweep = dt.Sweep.from_toml(write(tmp_path, FLAT))
    assert dt.Sweep.from_toml(write(tmp_path, sweep.to_toml())) == sweep


def test_written_schemes_and_times_are_read_back(tmp_path: Path) -> None:
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


def test_files_are_checked(tmp_path: Path) -> None:
    """The message has the name of the key, or of the file."""
    for text, word in (
        ("rigde = 1", "'rigde'"),
        ("ridge = ", "grid.toml"),
        ("ridge = -1", "ridge must"),
        ("ridge = '1:2'", "ridge must"),
        ("ridge = 1979-05-27", "ridge must"),
        ("problem = 3", "problem must"),
        ("[simulation]\ndim = 30", "dim must"),
        ("[other]\nridge = 1", "'other'"),
        ("ensembles = [{n_members = 2}]", "ensembles must"),
        ("ensembles = {scheme = 'bag'}", "scheme must"),
        ("ensembles = {scheme = 'subsample'}", "fraction must"),
        ("ensembles = {scheme = 'divide', fraction = 0.5}", "fraction must"),
    ):
        message = message_of(dt.Sweep.from_toml, write(tmp_path, f"dim = 20\n{text}"))
        assert word in message, (text, message)
    assert "dim must" in message_of(dt.Sweep.from_toml, write(tmp_path, "ridge = 1"))
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "binary.toml" in message_of(dt.Sweep.from_toml, path)
