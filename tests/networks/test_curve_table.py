"""What comes out of a curve of lazy networks."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.networks import LazyCurve, train_lazy
from doubletrouble.networks._curve import _record_of, run_of_record, table_row
from doubletrouble.networks._result import LazyRun, settings_used
from doubletrouble.runs import Cell, Store, decode, encode
from tests.networks.curves import DATA, OPTIONS, POINTS, curve, identical


def test_every_ensemble_is_that_of_train_lazy() -> None:
    found = curve()
    assert [(run.laziness, run.width) for run in found.runs] == POINTS
    given = {name: value for name, value in OPTIONS.items() if name not in ("widths", "laziness")}
    for run in found.runs:
        alone = train_lazy(DATA, width=run.width, laziness=run.laziness, **given)
        np.testing.assert_allclose(run.predictions, alone.predictions, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(run.steps, alone.steps)
        assert (run.status, dict(run.settings)) == (alone.status, dict(alone.settings))
        assert found.run(run.width, run.laziness) is run
    with pytest.raises(
        ValueError, match=r"^width and laziness must be a pair of the curve, \(3, 2"
    ):
        found.run(4, 2.0)


def test_rows_hold_the_errors() -> None:
    found = curve(loss="squared", max_steps=20)
    rows = found.table()
    for run, row in zip(found.runs, rows, strict=True):
        assert (row["laziness"], row["width"], row["n_members"]) == (run.laziness, run.width, 3)
        assert row["single_error"] == float(run.error(1).total)
        assert row["single_std"] == pytest.approx(run.errors(1).std(ddof=1))
        assert row["ensemble_error"] == float(run.error(3).total)
        assert row["vote_error"] == float(run.error(3, "vote").total)
        assert row["mean_distance"] == run.distance.mean()
        assert row["train_loss"] == run.train_loss.mean()
        counts = [row[name] for name in ("zero", "converged", "exact", "max_steps", "diverged")]
        assert sum(counts) == 3
    assert [row["exact"] for row in rows] == [0, 0, 3, 3]  # squared loss at α = ∞ is solved
    assert math.isnan(table_row(curve(ensemble=1, max_steps=5).runs[0])["single_std"])


def test_members_that_diverged_are_counted_and_left_out(tmp_path: Path) -> None:
    wild: dict[str, Any] = {
        "loss": "squared",
        "optimizer": "gd",
        "learning_rate": 1e4,
        "laziness": [2.0],
    }
    found = curve(**wild, store=tmp_path / "store")
    identical(curve(**wild, store=tmp_path / "store"), found)
    for row in found.table():
        assert row["diverged"] == 3
        assert math.isnan(row["single_error"])
    sound = curve(**{**wild, "learning_rate": 0.1}).runs[0]
    mixed = LazyRun.of(
        [sound.members[0], found.runs[0].members[1], sound.members[2]],
        DATA.y_test,
        width=3,
        laziness=2.0,
        settings={},
    )
    row = table_row(mixed)
    assert (row["n_members"], row["diverged"], row["max_steps"]) == (3, 1, 2)
    left = mixed.without_diverged()
    expected = [float(left.error(K).total) for K in (1, 2)]
    assert [row["single_error"], row["ensemble_error"]] == expected
    assert row["mean_distance"] == left.distance.mean()
    assert row["median_steps"] == 60


def test_networks_that_fit_all_samples_are_counted() -> None:
    """The squared loss must be zero but for rounding; for others, signs are enough."""
    squared = curve(loss="squared", widths=[2, 30], laziness=[math.inf]).runs
    assert [int(run.interpolates.sum()) for run in squared] == [0, 3]
    trained = curve(loss="squared", widths=[30], laziness=[2.0], max_steps=25).runs[0]
    assert trained.train_error.max() == 0
    assert not trained.interpolates.any()
    assert table_row(trained)["interpolating"] == 0
    hinge = curve(loss="hinge", widths=[30], laziness=[2.0]).runs[0]
    np.testing.assert_array_equal(hinge.interpolates, hinge.train_error == 0)
    coarse = replace(hinge, status=("zero",) * 3, train_error=np.full(3, 1e-4))
    assert coarse.interpolates.all()  # zero loss in coarser arithmetic than that of the error


def test_settings_say_what_wsettings_used() -> None:
    trained, linear = curve(widths=[3], patience=None, laziness=[0.5, math.inf]).runs
    used = {"optimizer": "adam", "patience": 100, "max_steps": 60, "seed": 0}
    assert trained.settings.items() >= (used | {"learning_rate": 0.05}).items()
    assert linear.settings.items() >= (used | {"learning_rate": 0.1}).items()
    given = curve(widths=[3], learning_rate=0.03, laziness=[math.inf]).runs[0]
    assert given.settings["learning_rate"] == 0.03
    (exact,) = curve(widths=[3], loss="squared", laziness=[math.inf]).runs
    assert (exact.settings["optimizer"], exact.settings["learning_rate"]) == ("exact", None)
    (descent,) = curve(widths=[3], optimizer="gd", laziness=[2.0]).runs
    assert (descent.settings["optimizer"], descent.settings["learning_rate"]) == ("gd", None)
    assert settings_used(exact.settings, math.inf) == exact.settings  # nothing is left to fill in


def test_what_wsettings_used_is_filled_in_for_older_stores() -> None:
    (run,) = curve(widths=[3], laziness=[2.0], max_steps=5).runs
    asked = {**run.settings, "optimizer": "auto", "learning_rate": None, "patience": None}
    asked["precision"] = asked.pop("dtype")
    again = run_of_record({**_record_of(run), "settings": asked})
    assert again.settings == {**run.settings, "patience": 100}


def test_keys_are_of_what_was_asked_for(tmp_path: Path) -> None:
    """Stores that are there already must go on being found."""
    curve(widths=[3], laziness=[2.0], ensemble=1, patience=None, store=tmp_path / "store")
    with Store.read(tmp_path / "store") as store:
        (key,) = store.statuses()
    parameters = {
        "data": DATA.fingerprint,
        "width": 3,
        "laziness": 2.0,
        "precision": "float64",
        "depth": 3,
        "seed": 0,
        "n_members": 1,
        "loss": "logistic",
        "optimizer": "auto",
        "learning_rate": None,
        "max_steps": 60,
        "patience": 100,
        "tolerance": 0.0,
        "batch_size": None,
    }
    assert key == Cell.of("lazy", 1, parameters).key


def test_whole_floats_are_whole_numbers() -> None:
    identical(curve(max_steps=6e1, patience=1e1, widths="3:6:log:2"), curve())
    with pytest.raises(ValueError, match="max_steps must be a whole number"):
        curve(max_steps=2.5)


def test_a_run_is_a_record() -> None:
    for run in curve(max_steps=5).runs:
        again = run_of_record(decode(encode(_record_of(run))))
        identical(LazyCurve(runs=(again,)), LazyCurve(runs=(run,)))
        assert isinstance(again.status, tuple)
        assert again.error(3).total == run.error(3).total
