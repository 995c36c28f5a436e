"""Sweeps: their cells, checks of their values, results, and stores."""

import inspect
import json
import math
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl  # noqa: TID251 (the plot is tested)
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import StoreError
from doubletrouble.losses import Squared
from doubletrouble.runs import decode, encode
from doubletrouble.simulation import PROBLEM, Simulation, from_record, simulate_cell
from doubletrouble.simulation import _cells as simulated
from doubletrouble.simulation._cells import to_record
from tests.messages import message_of
from tests.runs.work import AtOnce, rows

SMALL: dict[str, Any] = {"dim": 12, "n_data": 3, "n_init": 2}
OTHER_PROBLEM: dict[str, Any] = {  # other values than the defaults
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
}
OTHER: dict[str, Any] = {
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


def sweep_of(**given: Any) -> dt.Sweep:
    """A sweep, by the fields of its problem and the settings of its cells."""
    problem = dt.Problem(**{name: given.pop(name) for name in PROBLEM if name in given})
    return dt.Sweep(problem, **given)


# --- cells ---


def test_sweep_has_every_setting_of_a_simulation() -> None:
    others = {"progress", "sharing", "signal", "noise"}  # those of members
    assert {f.name for f in fields(dt.Sweep)} == set(
        inspect.signature(dt.simulate).parameters
    ) - others


def test_every_parameter_reaches_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def spy(problem: dt.Problem, **options: Any) -> Simulation:
        seen.update({f.name: getattr(problem, f.name) for f in fields(problem)}, **options)
        return dt.simulate(problem, dim=10, n_data=2, n_init=2, progress=False)

    monkeypatch.setattr(simulated, "simulate", spy)
    (cell,) = sweep_of(**OTHER_PROBLEM, **OTHER).cells()
    simulate_cell(cell.parameters)
    assert seen.pop("progress") is False
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in seen.items()}
    assert lists == OTHER_PROBLEM | OTHER


def test_every_parameter_changes_the_key_and_the_hash() -> None:
    given: dict[str, Any] = {"dim": 20, "ridge": 0.1}  # large enough for float32
    plain = sweep_of(**given)
    others = OTHER_PROBLEM | OTHER | {"model": "gaussian", "loss": "huber:0.7"}
    others |= {"task": "classification", "flips": 0.1}
    for name, value in others.items():
        task = {"task": "classification"} if name == "flips" else {}
        other = sweep_of(**(given | task | {name: value}))
        base = sweep_of(**(given | task))
        assert base.cells()[0].key != other.cells()[0].key, name
        assert base.hash != other.hash != plain.hash, name


def test_a_cell_has_one_key_in_every_sweep() -> None:
    ridge = dt.Problem(ridge=[0.1, 1.0])
    sweep = dt.Sweep(ridge, **SMALL)
    both = dt.Sweep([ridge, dt.Problem(ridge=[0.1, 1.0], loss="huber")], **SMALL)
    keys = [cell.key for cell in both.cells() if cell.parameters["loss"] == "squared"]
    assert keys == [cell.key for cell in sweep.cells()]
    assert sweep.cells()[0].parameters["task"] == "regression"
    overlapping = dt.Sweep([ridge, dt.Problem(ridge=[1.0, 10.0])], **SMALL)
    assert [cell.parameters["ridge"] for cell in overlapping.cells()] == [0.1, 1.0, 10.0]


def test_several_problems_are_stored_and_resumed(tmp_path: Path) -> None:
    store = tmp_path / "s"
    classes = [
        dt.Problem(loss=loss, task="classification", flips=0.1) for loss in ("squared", "hinge")
    ]
    sweep = dt.Sweep(classes, **SMALL)
    assert [cell.parameters["loss"] for cell in sweep.cells()] == ["squared", "hinge"]
    assert "2 x loss" in sweep.summary
    assert "noise" not in sweep.summary
    first = run(dt.Sweep(classes[1], **SMALL), store)
    assert first.failed == 0
    assert sweep.results(store).done == 1
    result = run(sweep, store)
    assert dt.Sweep.from_store(store, sweep.hash) == sweep
    for row, problem in zip(result, classes, strict=True):
        direct = dt.simulate(problem, progress=False, **SMALL)
        assert row.simulation.problem == direct.problem
        assert row.simulation.error(3) == direct.error(3)


def test_new_revision_has_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dt.Sweep(dt.Problem(), **SMALL)
    key, name = before.cells()[0].key, before.hash
    monkeypatch.setattr("doubletrouble.sweep.REVISION", 99)
    assert dt.Sweep(dt.Problem(), **SMALL).cells()[0].key != key
    assert dt.Sweep(dt.Problem(), **SMALL).hash != name


def test_cells_are_the_points_times_the_settings() -> None:
    problem = dt.Problem(ridge=[[0.1], [1.0]], noise=[0.0, 1.0])
    sweep = dt.Sweep(problem, seed=range(2), dim=np.array([10, 20]))
    points = [
        tuple(c.parameters[n] for n in ("ridge", "noise", "dim", "seed")) for c in sweep.cells()
    ]
    expected = [(r, n, d, s) for r in (0.1, 1) for n in (0, 1) for d in (10, 20) for s in (0, 1)]
    assert points == expected
    one = dt.Problem(ridge=[0.1, 1.0], noise=[0.0, 1.0])  # arrays broadcast: two points, not four
    assert [c.parameters["noise"] for c in dt.Sweep(one, dim=10).cells()] == [0.0, 1.0]


def test_sweeps_of_equal_values_are_equal() -> None:
    ranges = dt.Sweep(dt.Problem(activation="ReLU"), dim=20, seed=np.arange(3))
    other = dt.Sweep([dt.Problem(activation="relu")], dim=[20.0], seed="0:2:linear:3")
    assert ranges == other
    assert ranges.hash == other.hash
    assert [c.key for c in ranges.cells()] == [c.key for c in other.cells()]


def test_ranges_of_whole_numbers_are_rounded() -> None:
    sweep = dt.Sweep(dt.Problem(), dim="20:90:log:3", seed="0:5:linear:3")
    assert sweep.dim == (20, 42, 90)
    assert sweep.seed == (0, 2, 5)
    # each of them once
    assert dt.Sweep(dt.Problem(), dim="20:25:log:90").dim == (20, 21, 22, 23, 24, 25)


class Nameless(Squared):
    """A loss that cannot be stored."""

    name = ""


REFUSED: list[tuple[str, Any]] = [
    *(("problem", value) for value in (None, 3, [dt.Problem(), "ridge"], [])),
    ("activation", dt.Problem(activation=np.tanh)),
    ("loss", dt.Problem(loss=Nameless())),
    ("noise", dt.Problem(noise=dt.Mixture([(1.0, 1.0)]))),
    *(("dim", value) for value in ("0:4:linear:5", [20, 20.0], 10.5, 0)),
    ("ridge", dt.Problem(ridge=[0.1, math.inf])),
    ("model", "deep"),
    ("features_per_dim", dt.Problem(features_per_dim=[1.0, math.inf])),
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
    ("features_per_dim", {"features_per_dim": [1.0, 1e-3]}),
    ("test", {"model": "gaussian", "test": "sample"}),
    ("activation", {"activation": "tanh", "test": "exact"}),
    ("n_members", {"ensembles": dt.Divide(50)}),
    ("bank_per_dim", {"ensembles": dt.FeatureBank(bank_per_dim=1.0)}),
]


def test_values_are_checked_when_the_sweep_is_made() -> None:
    """The message begins with the name of the argument, or of the field of the problem."""
    for name, value in REFUSED:
        field = isinstance(value, dt.Problem) or name == "problem"
        given = {"problem": value} if field else {"problem": dt.Problem(), name: value}
        message = message_of(dt.Sweep, **(SMALL | given))
        assert message.startswith(f"{name} must"), (given, message)
    for name, together in REFUSED_TOGETHER:
        message = message_of(sweep_of, **(SMALL | together))
        assert message.startswith(f"{name} must"), (together, message)


def test_name_of_a_known_activation_is_proposed() -> None:
    """A function has no name to be stored under."""
    message = message_of(dt.Sweep, dt.Problem(activation=np.tanh), **SMALL)
    assert message.endswith("; pass 'tanh'")
    message = message_of(dt.Sweep, dt.Problem(activation=lambda x: x**3), **SMALL)
    assert "pass" not in message


def test_text_of_a_list_is_shown_as_it_was_given() -> None:
    assert message_of(dt.Sweep, dt.Problem(), dim="10,").endswith("got '10,'")


def test_keys_have_the_device_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices differ in the last bits."""
    cpu = dt.Sweep(dt.Problem(), **SMALL)
    assert cpu.device == "cpu"
    assert dt.Sweep(dt.Problem(), **SMALL, device="auto").hash == cpu.hash
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert dt.Sweep(dt.Problem(), **SMALL).hash == cpu.hash
    cuda = dt.Sweep(dt.Problem(), **SMALL, device="auto")
    assert cuda.device == "cuda"
    assert cuda.cells()[0].key != cpu.cells()[0].key


def test_message_of_a_device_is_that_of_a_simulation() -> None:
    problem = dt.Problem()
    assert message_of(dt.Sweep, problem, **SMALL, device="abacus") == message_of(
        dt.simulate, problem, **SMALL, device="abacus"
    )


# --- results ---


def test_decoded_simulation_is_equal_bit_for_bit() -> None:
    problem, settings = dt.Problem(**OTHER_PROBLEM), OTHER | {"device": "cpu"}
    (cell,) = dt.Sweep(problem, **settings).cells()
    back = from_record(decode(encode(simulate_cell(cell.parameters))))
    direct = dt.simulate(problem, progress=False, **settings)
    assert encode(to_record(back)) == encode(to_record(direct))
    assert back.problem == direct.problem
    assert back.ensembles == direct.ensembles == OTHER["ensembles"][1:]
    for ensemble in OTHER["ensembles"]:
        assert back.error(ensemble) == direct.error(ensemble)
        assert back.realized(ensemble) == direct.realized(ensemble)
    assert back.psi == direct.psi


def test_results_are_of_this_grid_in_its_order(tmp_path: Path) -> None:
    store = tmp_path / "s"
    first = dt.Sweep(dt.Problem(ridge=[0.1, 1.0]), **SMALL)
    second = dt.Sweep(dt.Problem(ridge=[1.0, 10.0]), **SMALL)
    run(first, store)
    once = rows(store)
    assert second.results(store).done == 1  # one cell is in both
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
    problem = dt.Problem(ridge=[0.1, 1.0, 10.0])
    sweep = dt.Sweep(problem, seed=[0, 1, 2, 3, 4], ensembles=[1], **SMALL)
    result = run(sweep, tmp_path / "s")
    assert "\n15 rows\n" in str(result)
    least = min((row.simulation.error(1).total for row in result), key=float)
    assert f"The least total is {least}, at λ = " in str(result)
    monkeypatch.setattr("doubletrouble.sweep._FEW_ROWS", 14)
    assert "the first of 15 rows" in str(result)
    content = json.loads(result.to_json())
    assert [row["key"] for row in content["rows"]] == [row.key for row in result]
    assert (content["sweep"], content["done"]) == (sweep.hash, 15)
    axes = result.plot()
    line = next(line for line in axes.lines if len(line.get_xdata()) == 3)
    for ridge, shown in zip(line.get_xdata(), line.get_ydata(), strict=True):  # means over seeds
        seeds = [
            row.simulation.error(1).total for row in result if row.parameters["ridge"] == ridge
        ]
        assert shown == pytest.approx(np.mean([one.value for one in seeds]))
    assert (content["failed"], content["missing"]) == (0, 0)


def test_curves_of_a_plot_are_distinguishable(tmp_path: Path) -> None:
    problem = dt.Problem(ridge=[[0.1], [1.0], [10.0]], noise=[0.0, 1.0])
    sweep = dt.Sweep(problem, ensembles=[1, 2, 5, np.inf], **SMALL)
    legend = run(sweep, tmp_path / "s").plot().get_legend()
    looks = {(line.get_color(), line.get_marker()) for line in legend.legend_handles}
    assert len(looks) == len(legend.get_texts()) == 8
    assert len({color for color, _ in looks}) == 4


def test_rows_of_other_settings_are_not_results(tmp_path: Path) -> None:
    store = tmp_path / "s"
    run(dt.Sweep(dt.Problem(), **SMALL), store)
    changed = dt.Sweep(dt.Problem(), **(SMALL | {"n_data": 4}))
    assert changed.results(store).missing == 1
    assert len(changed.results(store)) == 0
    (row,) = run(changed, store)
    assert row.simulation.psi.psi1.n_draws == 4


def test_results_need_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        dt.Sweep(dt.Problem(), **SMALL).results(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_failed_cell_is_computed_again_by_retry(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        dt.Problem(), **(SMALL | {"dim": [12, 10_000_000]})
    )  # the second needs 728 TiB
    result = run(sweep, tmp_path / "s")
    assert (result.done, result.failed, result.missing, result.n_cells) == (1, 1, 0, 2)
    good, bad = result
    assert bad.simulation is None
    assert bad.message.startswith("MemoryError: Unable to allocate")
    assert good.simulation.dim == 12
    again = sweep.run(tmp_path / "s", retry=True, executor=AtOnce(), progress=False)
    assert (again.done, again.failed) == (1, 1)


def test_options_of_a_run_are_flags(tmp_path: Path) -> None:
    sweep = dt.Sweep(dt.Problem(), **SMALL)
    for name in ("retry", "progress"):
        message = message_of(sweep.run, tmp_path / "s", **{name: "no"})
        assert message.startswith(f"{name} must be True or False")
    assert not (tmp_path / "s").exists()


def test_grid_is_read_from_its_store(tmp_path: Path) -> None:
    store, first = tmp_path / "s", dt.Sweep(dt.Problem(), **SMALL)
    run(first, store)
    assert dt.Sweep.from_store(store) == first
    second = dt.Sweep(dt.Problem(), **(SMALL | {"seed": 1}))
    run(second, store)
    assert dt.Sweep.from_store(store, second.hash[:8]) == second
    with pytest.raises(ValueError, match=f"{first.hash[:12]}, {second.hash[:12]}"):
        dt.Sweep.from_store(store)
    with pytest.raises(ValueError, match="xyz"):
        dt.Sweep.from_store(store, "xyz")


def test_schemes_and_times_are_read_from_a_store(tmp_path: Path) -> None:
    problem = dt.Problem(**(OTHER_PROBLEM | {"activation": "relu"}))
    sweep = dt.Sweep(problem, **(OTHER | {"device": "cpu"}))
    (row,) = run(sweep, tmp_path / "s")
    assert row.status == "done"
    assert dt.Sweep.from_store(tmp_path / "s") == sweep
    stored: Any
    (stored,) = dt.Sweep.from_store(tmp_path / "s").results(tmp_path / "s")
    for ensemble in OTHER["ensembles"]:
        assert stored.simulation.error(ensemble) == row.simulation.error(ensemble)
        assert np.shape(stored.simulation.error(ensemble).total.value) == (2,)


def test_lists_in_a_cell_are_arrays_of_the_problem() -> None:
    (cell,) = dt.Sweep(dt.Problem(), **SMALL).cells()
    curve = {"features_per_dim": [0.5, 2.0, 3.0], "ridge": [[0.1], [1.0]]}
    curves = from_record(simulate_cell({**cell.parameters, **curve}))
    assert np.shape(curves.error().total.value) == (2, 3)


def test_store_of_another_revision_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(dt.Sweep(dt.Problem(), **SMALL), tmp_path / "s")
    monkeypatch.setattr("doubletrouble.sweep.REVISION", 99)
    with pytest.raises(StoreError, match="revision 99"):
        dt.Sweep.from_store(tmp_path / "s")
