"""Curves of lazy networks: the store, continuation after an interruption, and tables."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._numbers import plain
from doubletrouble.errors import StoreError
from doubletrouble.networks import (
    LazyCurve,
    LazyRun,
    lazy_curve,
    stored_curve,
    train_lazy,
)
from doubletrouble.networks._curve import table_row
from doubletrouble.networks._program import Program
from doubletrouble.networks._settings import settings_used
from doubletrouble.runs import DONE, Cell, Store
from tests.networks.literal import small_data
from tests.selection import full_beyond

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, Any] = {
    "widths": [3, 6],
    "laziness": [2.0, math.inf],
    "ensemble": 3,
    "depth": 3,
    "max_steps": 60,
    "patience": 10,
    "tolerance": 0.0,
    "loss": "logistic",
    "dtype": "float64",
    "device": "cpu",
    "progress": False,
}
POINTS = [(2.0, 3), (2.0, 6), (math.inf, 3), (math.inf, 6)]
DATA = small_data(10)


def curve(**changed: Any) -> LazyCurve:
    return lazy_curve(DATA, **{**OPTIONS, **changed})


def identical(a: LazyCurve, b: LazyCurve) -> None:
    """Bit for bit."""
    assert len(a.runs) == len(b.runs)
    for one, other in zip(a.runs, b.runs, strict=True):
        for f in fields(one):
            np.testing.assert_array_equal(getattr(one, f.name), getattr(other, f.name), f.name)


def counted(patch: pytest.MonkeyPatch, act: Callable[[int], None] = lambda _: None) -> list[int]:
    """The number of networks in every step."""
    seen: list[int] = []
    original = Program._update

    def update(self: Program, running: Any) -> None:
        seen.append(len(self.members))
        act(len(seen))
        original(self, running)

    patch.setattr(Program, "_update", update)
    return seen


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- the store -----------------------------------------------------------------------------------


def test_store_holds_every_ensemble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, expected = tmp_path / "lazy.sqlite", curve()
    identical(curve(store=path), expected)
    assert files(tmp_path) == ["lazy.sqlite"]
    with Store.read(path) as store:
        assert list(store.statuses().values()) == [DONE] * 4
    steps = counted(monkeypatch)
    identical(curve(store=path), expected)
    assert not steps
    turned = curve(store=path, laziness=[math.inf, 2.0], widths=[6])
    identical(turned, LazyCurve(runs=(expected.runs[3], expected.runs[1])))
    assert not steps
    more = curve(store=path, widths=[3, 6, 4])
    assert len(more.runs) == 6
    assert sum(steps) <= 2 * 3 * 60  # the new width only, at two α
    assert files(tmp_path) == ["lazy.sqlite"]


def test_other_data_and_settings_are_other_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "store", counted(monkeypatch)
    small: dict[str, Any] = {"widths": [3], "laziness": [2.0], "max_steps": 10, "store": path}
    for changed in (
        {},
        {"seed": 1},
        {"ensemble": 2},
        {"depth": 4},
        {"loss": "hinge"},
        {"max_steps": 9},
        {"dtype": "float32"},
        {"learning_rate": 0.2},
    ):
        before = len(steps)
        curve(**{**small, **changed})
        assert len(steps) > before, changed
    before = len(steps)
    curve(**small)
    assert len(steps) == before  # the control: the first cell is stored
    lazy_curve(small_data(10, seed=1), **{**OPTIONS, **small})
    assert len(steps) > before


def test_stored_ensembles_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "store"
    expected = curve(store=path, laziness=[math.inf, 2.0], widths=[6, 3])
    result = stored_curve(path)
    assert [(run.laziness, run.width) for run in result.runs] == POINTS
    identical(result, LazyCurve(runs=expected.runs[::-1]))
    assert list(result.to_frame()["most_steps"]) == [60] * 4


def test_memory_and_device_are_not_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve(store=tmp_path / "store")
    steps = counted(monkeypatch)
    curve(store=tmp_path / "store", memory=1e4, device="auto", progress=True)
    assert not steps


# --- continuation ----------------------------------------------------------------------


def interrupted(at: int, **options: Any) -> None:
    def act(count: int) -> None:
        if count == at:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        counted(patch, act)
        with pytest.raises(KeyboardInterrupt):
            curve(**options)


@pytest.mark.usefixtures("save_always")
@pytest.mark.parametrize("at", full_beyond([85], [25, 85, 115]))
def test_interrupted_curve_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        all_steps = counted(patch)
        expected = curve()
    path = tmp_path / "lazy.sqlite"
    interrupted(at, store=path)
    with Store.read(path) as store:
        assert len(store.statuses()) < 4
    assert len(files(tmp_path)) == 2
    steps = counted(monkeypatch)
    identical(curve(store=path), expected)
    # from the last complete window of each of the two batches in training
    assert len(steps) <= len(all_steps) - (at - 1) // 10 * 10 + 10
    assert files(tmp_path) == ["lazy.sqlite"]


KILLED = """
import os, signal, sys
from doubletrouble.networks import _checkpoint as checkpoint
from tests.networks.test_curve import curve

checkpoint._INTERVAL, checkpoint._SHARE = 0.0, 1e9
write, writes = checkpoint.Checkpoint._write, []

def die(self, *args):
    write(self, *args)
    writes.append(args)
    if len(writes) == 9:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.Checkpoint._write = die
curve(store=sys.argv[1])
"""


@pytest.mark.full
def test_killed_process_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lazy.sqlite"
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(path)],
        cwd=ROOT,
        check=False,
        env={**os.environ, **one},
    )
    assert done.returncode == -signal.SIGKILL
    assert len([name for name in files(tmp_path) if name.endswith(".training")]) == 1
    with Store.read(path) as store:
        assert len(store.statuses()) < 4
    steps = counted(monkeypatch)
    result = curve(store=path)
    before = len(steps)
    expected = curve()
    assert 0 < before < len(steps) - before
    for one_run, other in zip(result.runs, expected.runs, strict=True):
        np.testing.assert_allclose(one_run.predictions, other.predictions, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(one_run.steps, other.steps)
    assert files(tmp_path) == ["lazy.sqlite"]


@pytest.mark.usefixtures("save_always")
def test_checkpoint_of_a_complete_store_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "lazy.sqlite"
    interrupted(25, store=path)
    (left,) = [name for name in files(tmp_path) if name.endswith(".training")]
    content = (tmp_path / left).read_bytes()
    curve(store=path)
    (tmp_path / left).write_bytes(content)
    curve(store=path)
    assert files(tmp_path) == ["lazy.sqlite"]


@pytest.mark.usefixtures("save_always")
def test_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lazy.sqlite"
    interrupted(85, store=path)
    (left,) = [name for name in files(tmp_path) if name.endswith(".training")]
    (tmp_path / left).write_bytes(b"damaged")
    with pytest.raises(StoreError, match=rf"^store must be a complete checkpoint.*{left}"):
        curve(store=path)
    assert (tmp_path / left).read_bytes() == b"damaged"
    (tmp_path / left).unlink()
    identical(curve(store=path), curve())


# --- results and tables -------------------------------------------------------------------------


def test_ensembles_are_those_of_train_lazy() -> None:
    result = curve()
    assert [(run.laziness, run.width) for run in result.runs] == POINTS
    given = {name: value for name, value in OPTIONS.items() if name not in ("widths", "laziness")}
    for run in result.runs:
        alone = train_lazy(DATA, width=run.width, laziness=run.laziness, **given)
        np.testing.assert_allclose(run.predictions, alone.predictions, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(run.steps, alone.steps)
        assert (run.status, dict(run.settings)) == (alone.status, dict(alone.settings))
        assert result.run(run.width, run.laziness) is run
    with pytest.raises(ValueError, match=r"^width and laziness must"):
        result.run(4, 2.0)


def test_rows_of_the_table_are_the_errors_of_the_runs() -> None:
    result = curve(loss="squared", max_steps=20)
    rows = result.to_frame().to_dict("records")
    for run, row in zip(result.runs, rows, strict=True):
        assert (row["laziness"], row["width"], row["n_members"]) == (run.laziness, run.width, 3)
        assert row["single_error"] == float(run.error(1, measure="zero_one").total)
        assert row["single_std"] == pytest.approx(run.by_group(1, measure="zero_one").std(ddof=1))
        assert row["ensemble_error"] == float(run.error(3, measure="zero_one").total)
        assert row["vote_error"] == float(run.error(dt.Vote(3), measure="zero_one").total)
        assert row["mean_distance"] == run.distance.mean()
        assert row["train_loss"] == run.train_loss.mean()
        counts = [row[name] for name in ("zero", "converged", "exact", "max_steps", "diverged")]
        assert sum(counts) == 3
    assert [row["exact"] for row in rows] == [0, 0, 3, 3]  # squared loss at α = ∞ is solved
    assert math.isnan(table_row(curve(ensemble=1, max_steps=5).runs[0])["single_std"])


def test_the_table_is_printed_and_drawn() -> None:
    mpl.use("Agg")
    result = curve(loss="squared", max_steps=20)
    rows = result.to_frame().to_dict("records")
    names = ("single_error", "ensemble_error", "vote_error")
    best = min(rows, key=lambda row: min(row[name] for name in names))
    least = min(best[name] for name in names)
    text = str(result)
    assert max(map(len, text.splitlines())) <= 80
    assert f"least error, {plain(least)}, at width {best['width']}" in text
    assert "3 exact" in text
    axes: Any = result.plot()
    means = [row["ensemble_error"] for row in rows if row["laziness"] == rows[0]["laziness"]]
    assert any(list(line.get_ydata()) == means for line in axes.lines)
    axes.figure.canvas.draw()


def test_diverged_members_are_counted_and_left_out(tmp_path: Path) -> None:
    wild: dict[str, Any] = {
        "loss": "squared",
        "optimizer": "gd",
        "learning_rate": 1e4,
        "laziness": [2.0],
    }
    result = curve(**wild, store=tmp_path / "store")
    identical(curve(**wild, store=tmp_path / "store"), result)
    for row in result.to_frame().to_dict("records"):
        assert row["diverged"] == 3
        assert math.isnan(row["single_error"])
    assert str(result).endswith("All networks diverged.")
    sound = curve(**{**wild, "learning_rate": 0.1}).runs[0]
    mixed = LazyRun._of(
        [sound.members[0], result.runs[0].members[1], sound.members[2]],
        DATA.y_test,
        width=3,
        laziness=2.0,
        settings={},
    )
    row = table_row(mixed)
    assert (row["n_members"], row["diverged"], row["max_steps"]) == (3, 1, 2)
    left = mixed.without_diverged()
    expected = [float(left.error(K, measure="zero_one").total) for K in (1, 2)]
    assert [row["single_error"], row["ensemble_error"]] == expected
    assert row["mean_distance"] == left.distance.mean()
    assert row["median_steps"] == 60


def test_interpolation_is_zero_squared_loss_or_no_misclassified_sample() -> None:
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


def test_settings_have_defaults_resolved() -> None:
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
    assert settings_used(exact.settings, math.inf) == exact.settings


def test_keys_are_those_of_the_options_as_given(tmp_path: Path) -> None:
    curve(widths=[3], laziness=[2.0], ensemble=1, patience=None, store=tmp_path / "store")
    with Store.read(tmp_path / "store") as store:
        (key,) = store.statuses()
    parameters = {
        "data": DATA.fingerprint,
        "width": 3,
        "laziness": 2.0,
        "dtype": "float64",
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


def test_whole_floats_are_accepted() -> None:
    identical(curve(max_steps=6e1, patience=1e1, widths="3:6:log:2"), curve())
    with pytest.raises(ValueError, match="max_steps must be a whole number"):
        curve(max_steps=2.5)


def test_invalid_stores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^store .* cannot be used"):
        curve(store=tmp_path / "no" / "store")
    (tmp_path / "text").write_text("no store")
    with pytest.raises(StoreError):
        curve(store=tmp_path / "text")
    assert files(tmp_path) == ["text"]
    assert (tmp_path / "text").read_text() == "no store"
