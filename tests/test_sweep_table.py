"""Tables: CSV, Parquet and pandas agree with each other and with the simulations."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._sweep_table import COLUMNS
from doubletrouble.errors import require
from tests.runs.work import AtOnce

pd = require("pandas", "tables")

K = (1, 2, math.inf)
SWEEP = dt.Sweep(
    dt.Problem(ridge=[0.1, 1.0]),
    dim=[11, 10_000_000],
    n_data=3,
    n_init=2,
    ensembles=[
        *K,
        *map(dt.Divide, K),
        dt.Subsample(4, fraction=0.6),
        dt.Bootstrap(4),
        dt.FeatureBank(4, bank_per_dim=5.03),
    ],
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "s"
    SWEEP.run(path, executor=AtOnce(), progress=False)
    return path


@pytest.fixture(scope="module")
def frame(store: Path) -> Any:
    return SWEEP.results(store).to_frame()


def test_table_has_a_row_for_every_cell_and_ensemble(frame: Any) -> None:
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 2 * 2 * 9
    assert frame.groupby("status").size().to_dict() == {"done": 18, "failed": 18}
    assert (frame.time == math.inf).all()
    keys = ["ridge", "dim", "scheme", "n_members"]
    assert not frame.duplicated(keys).any()


def test_failed_cells_have_a_message_and_no_numbers(frame: Any, store: Path) -> None:
    failed = frame[frame.status == "failed"]
    assert failed.message.str.startswith("MemoryError").all()
    assert failed.total.isna().all()
    assert (frame[frame.status == "done"].message == "").all()
    text = str(SWEEP.results(store))
    assert "\n18 rows\n" in text
    assert "Cells that failed\ncells  message\n    2  MemoryError" in text


def test_exported_failures_have_no_numbers(tmp_path: Path) -> None:
    sweep = dt.Sweep(dt.Problem(), dim=10_000_000, n_data=2, n_init=2, ensembles=1)
    sweep.run(tmp_path / "s", executor=AtOnce(), progress=False)
    (row,) = json.loads(sweep.results(tmp_path / "s").export(tmp_path / "t.json").read_text())
    assert row["status"] == "failed"
    assert row["total"] is None
    assert row["test_used"] == ""


def test_rows_hold_the_estimates_of_the_simulation(frame: Any, store: Path) -> None:
    row = SWEEP.results(store).rows[0]
    assert row.simulation is not None
    ensembles: Any = SWEEP.ensembles
    for ensemble in ensembles:
        chosen = (frame.key == row.key) & (frame.scheme == ensemble.name)
        line = frame[chosen & (frame.n_members == ensemble.n_members)].iloc[0]
        error = row.simulation.error(ensemble)
        for name, estimate in (*error.parts.items(), ("total", error.total)):
            assert line[name] == estimate.value
            assert line[f"{name}_standard_error"] == estimate.standard_error
        assert ("resampling" in error.parts) == (line.resampling > 0)
        for option in ("fraction", "bank_per_dim"):
            requested = ensemble.options.get(option, math.nan)
            assert line[option] == pytest.approx(requested, nan_ok=True)
            realized = row.simulation.realized(ensemble).options.get(option, math.nan)
            assert line[f"realized_{option}"] == pytest.approx(realized, nan_ok=True)
        assert math.isnan(line.psi2_vanilla) == ("resampling" in error.parts)
        assert (line.n_features, line.n_samples, line.dim) == (22.0, 11.0, 11)
        assert line.noise_sd == 1.0
    vanilla = frame[(frame.key == row.key) & (frame.scheme == "ensemble")].iloc[0]
    psi: Any = row.simulation.psi
    assert vanilla.psi1 == psi.psi1.value


def test_table_has_a_row_for_every_time(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        dt.Problem(ridge=0.1),
        dim=10,
        n_data=3,
        n_init=2,
        times=[1.0, 5.0],
        ensembles=[2, dt.Bootstrap(2)],
    )
    (row,) = sweep.run(tmp_path / "s", executor=AtOnce(), progress=False)
    assert row.simulation is not None
    frame = sweep.results(tmp_path / "s").to_frame()
    assert frame.scheme.tolist() == ["ensemble"] * 2 + ["bootstrap"] * 2
    assert frame.time.tolist() == [1.0, 5.0] * 2
    for name, ensemble in (("ensemble", dt.Ensemble(2)), ("bootstrap", dt.Bootstrap(2))):
        lines = frame[frame.scheme == name]
        total = row.simulation.error(ensemble).total
        assert lines.total.tolist() == np.asarray(total.value).tolist()
    psi: Any = row.simulation.psi
    assert frame.psi1[:2].tolist() == np.asarray(psi.psi1.value).tolist()


def test_csv_parquet_json_and_pandas_agree(frame: Any, store: Path, tmp_path: Path) -> None:
    parquet = pd.read_parquet(SWEEP.results(store).export(tmp_path / "t.parquet"))
    pd.testing.assert_frame_equal(parquet, frame, check_exact=True)
    path = SWEEP.results(store).export(tmp_path / "t.csv")
    text = pd.read_csv(path, keep_default_na=False, na_values=[""], engine="pyarrow")
    text["message"] = text.message.fillna("")
    text["test_used"] = text.test_used.fillna("")
    pd.testing.assert_frame_equal(text, frame, check_exact=True, check_dtype=False)
    rows = json.loads(SWEEP.results(store).export(tmp_path / "t.json").read_text())
    assert [row["key"] for row in rows] == list(frame.key)
    totals = [math.nan if row["total"] is None else row["total"] for row in rows]
    assert frame.total.equals(pd.Series(totals, name="total"))
    assert {row["n_members"] for row in rows} == {1.0, 2.0, 4.0, "inf"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.csv", "t.json", "t.parquet"]


def test_kernel_has_infinitely_many_features(tmp_path: Path) -> None:
    problem = dt.Problem(features_per_dim=math.inf)
    sweep = dt.Sweep(problem, model="kernel", dim=10, n_data=2, n_init=2)
    sweep.run(tmp_path / "s", executor=AtOnce(), progress=False)
    path = sweep.results(tmp_path / "s").export(tmp_path / "t.csv")
    with path.open(newline="") as file:
        assert {row["n_features"] for row in csv.DictReader(file)} == {"inf"}


def test_table_of_an_unfinished_sweep_is_empty(tmp_path: Path) -> None:
    store = tmp_path / "s"
    dt.Sweep(dt.Problem(), dim=10, n_data=2, n_init=2).run(store, executor=AtOnce(), progress=False)
    empty = dt.Sweep(dt.Problem(), dim=11).results(store)
    assert list(empty.to_frame().columns) == list(COLUMNS)
    path = empty.export(tmp_path / "t.parquet")
    assert len(pd.read_parquet(path)) == 0


def test_path_of_a_table_is_checked(store: Path, tmp_path: Path) -> None:
    for name in ("t.xlsx", "none/t.csv"):
        with pytest.raises(ValueError, match=r"^path must"):
            SWEEP.results(store).export(tmp_path / name)


def test_other_losses_have_their_rows(tmp_path: Path) -> None:
    sweep = dt.Sweep(
        [
            dt.Problem(loss=loss, task="classification", flips=[0.0, 0.1], ridge=0.1)
            for loss in ("squared", "hinge")
        ],
        dim=11,
        n_data=3,
        n_init=2,
        ensembles=[1, dt.Divide(2)],
    )
    result = sweep.run(tmp_path / "s", executor=AtOnce(), progress=False)
    frame = result.to_frame()
    assert frame.dtypes["loss"] == frame.dtypes["activation"]
    assert frame.psi1.isna().all()
    read = pd.read_csv(result.export(tmp_path / "t.csv"), engine="pyarrow")
    for row in result:
        assert row.simulation is not None
        chosen = (read.loss == row.parameters["loss"]) & (read.flips == row.parameters["flips"])
        for ensemble in (dt.Ensemble(1), dt.Divide(2)):
            (total,) = read[chosen & (read.scheme == ensemble.name)].total
            assert total == row.simulation.error(ensemble).total.value
