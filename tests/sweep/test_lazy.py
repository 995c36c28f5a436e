"""Ensembles of several widths and α: one program, one store, and a run that was killed goes on."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.errors import StoreError
from doubletrouble.networks.program import Program
from doubletrouble.networks.result import LazyRun
from doubletrouble.networks.train import train_lazy
from doubletrouble.sweep.lazy import LazyCurve, from_record, lazy_curve, row_of, to_record
from doubletrouble.sweep.record import decode, encode
from doubletrouble.sweep.store import DONE, Store
from tests.networks.literal import small_data

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, Any] = {
    "widths": [3, 6], "laziness": [2.0, math.inf], "n_members": 3, "depth": 3, "max_steps": 60,
    "patience": 10, "tolerance": 0.0, "loss": "logistic", "precision": "float64", "device": "cpu",
    "progress": False,
}  # fmt: skip
POINTS = [(2.0, 3), (2.0, 6), (math.inf, 3), (math.inf, 6)]
DATA = small_data(10)


def curve(**changed: Any) -> LazyCurve:
    return lazy_curve(DATA, **{**OPTIONS, **changed})


def identical(a: LazyCurve, b: LazyCurve) -> None:
    """Bit for bit."""
    assert len(a.runs) == len(b.runs)
    for one, other in zip(a.runs, b.runs, strict=True):
        mine, theirs = to_record(one), to_record(other)
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)


def counted(patch: pytest.MonkeyPatch, act: Callable[[int], None] = lambda _: None) -> list[int]:
    """The number of networks in every step that is made."""
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


# --- what comes out ------------------------------------------------------------------------------


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
        assert row["single_error"] == run.error(1)
        assert row["single_std"] == pytest.approx(run.errors(1).std(ddof=1))
        assert row["ensemble_error"] == run.error(3)
        assert row["vote_error"] == run.error(3, "vote")
        assert row["mean_distance"] == run.distance.mean()
        counts = [row[name] for name in ("zero", "converged", "exact", "max_steps", "diverged")]
        assert sum(counts) == 3
    assert [row["exact"] for row in rows] == [0, 0, 3, 3]  # squared loss at α = ∞ is solved
    assert math.isnan(row_of(curve(n_members=1, max_steps=5).runs[0])["single_std"])


def test_members_that_diverged_are_counted_and_left_out(tmp_path: Path) -> None:
    wild: dict[str, Any] = {
        "loss": "squared", "optimizer": "gd", "learning_rate": 1e4, "laziness": [2.0]
    }  # fmt: skip
    found = curve(**wild, store=tmp_path / "store")
    identical(curve(**wild, store=tmp_path / "store"), found)
    for row in found.table():
        assert row["diverged"] == 3
        assert math.isnan(row["single_error"])
    sound = curve(**{**wild, "learning_rate": 0.1}).runs[0]
    mixed = LazyRun.of(
        [sound.members[0], found.runs[0].members[1], sound.members[2]], DATA.y_test, width=3,
        laziness=2.0, settings={},
    )  # fmt: skip
    row = row_of(mixed)
    assert (row["n_members"], row["diverged"], row["max_steps"]) == (3, 1, 2)
    left = mixed.without_diverged()
    assert (row["single_error"], row["ensemble_error"]) == (left.error(1), left.error(2))
    assert row["mean_distance"] == left.distance.mean()
    assert row["median_steps"] == 60


def test_a_run_is_a_record() -> None:
    for run in curve(max_steps=5).runs:
        again = from_record(decode(encode(to_record(run))))
        identical(LazyCurve(runs=(again,)), LazyCurve(runs=(run,)))
        assert isinstance(again.status, tuple)
        assert again.error(3) == run.error(3)


# --- the store -----------------------------------------------------------------------------------


def test_a_store_changes_nothing_and_holds_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, expected = tmp_path / "lazy.sqlite", curve()
    identical(curve(store=path), expected)
    assert files(tmp_path) == ["lazy.sqlite"]
    with Store.read(path) as store:
        assert list(store.statuses().values()) == [DONE] * 4
    steps = counted(monkeypatch)
    identical(curve(store=path), expected)
    assert not steps
    turned = curve(store=path, laziness=[math.inf, 2.0], widths=[6])  # cells are found one by one
    identical(turned, LazyCurve(runs=(expected.runs[3], expected.runs[1])))
    assert not steps
    more = curve(store=path, widths=[3, 6, 4])
    assert len(more.runs) == 6
    assert sum(steps) <= 2 * 3 * 60  # the new width alone, at two α
    assert files(tmp_path) == ["lazy.sqlite"]


@pytest.mark.parametrize(
    "changed",
    [{"seed": 1}, {"n_members": 2}, {"depth": 4}, {"loss": "hinge"}, {"max_steps": 59},
     {"precision": "float32"}, {"learning_rate": 0.2}],
    ids=str,
)  # fmt: skip
def test_other_settings_are_other_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    small: dict[str, Any] = {"widths": [3], "laziness": [2.0], "store": tmp_path / "store"}
    curve(**small)
    steps = counted(monkeypatch)
    curve(**{**small, **changed})
    assert steps
    before = len(steps)
    lazy_curve(small_data(10, seed=1), **{**OPTIONS, **small})
    assert len(steps) > before


def test_how_it_is_computed_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curve(store=tmp_path / "store")
    steps = counted(monkeypatch)
    curve(store=tmp_path / "store", memory=1e4, device="auto", progress=True)
    assert not steps


# --- a run that was stopped ----------------------------------------------------------------------


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.networks.checkpoint._EVERY", 0.0)
    monkeypatch.setattr("doubletrouble.networks.checkpoint._SHARE", 1e9)


def broken_off(at: int, **options: Any) -> None:
    def act(count: int) -> None:
        if count == at:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        counted(patch, act)
        with pytest.raises(KeyboardInterrupt):
            curve(**options)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("at", [25, 85, 115])
def test_a_run_that_was_broken_off_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        all_steps = counted(patch)
        expected = curve()
    path = tmp_path / "lazy.sqlite"
    broken_off(at, store=path)
    with Store.read(path) as store:
        assert len(store.statuses()) < 4
    assert len(files(tmp_path)) == 2
    steps = counted(monkeypatch)
    identical(curve(store=path), expected)
    assert len(steps) <= len(all_steps) - (at - 1) // 10 * 10  # from the last whole window
    assert files(tmp_path) == ["lazy.sqlite"]


KILLED = """
import os, signal, sys
from doubletrouble.networks import checkpoint
from tests.sweep.test_lazy import curve

checkpoint._EVERY, checkpoint._SHARE = 0.0, 1e9
write, writes = checkpoint.Checkpoint._write, []

def die(self, *args):
    write(self, *args)
    writes.append(args)
    if len(writes) == 9:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.Checkpoint._write = die
curve(store=sys.argv[1])
"""


def test_a_killed_process_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lazy.sqlite"
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(path)], cwd=ROOT, check=False,
        env={**os.environ, **one},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert len([name for name in files(tmp_path) if name.endswith(".training")]) == 1
    with Store.read(path) as store:
        assert len(store.statuses()) < 4
    steps = counted(monkeypatch)
    found = curve(store=path)
    before = len(steps)
    expected = curve()
    assert 0 < before < len(steps) - before
    for one_run, other in zip(found.runs, expected.runs, strict=True):
        np.testing.assert_allclose(one_run.predictions, other.predictions, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(one_run.steps, other.steps)
    assert files(tmp_path) == ["lazy.sqlite"]


@pytest.mark.usefixtures("always")
def test_what_a_killed_run_left_when_all_was_stored_goes_away(tmp_path: Path) -> None:
    path = tmp_path / "lazy.sqlite"
    broken_off(25, store=path)
    (left,) = [name for name in files(tmp_path) if name.endswith(".training")]
    content = (tmp_path / left).read_bytes()
    curve(store=path)
    (tmp_path / left).write_bytes(content)
    curve(store=path)
    assert files(tmp_path) == ["lazy.sqlite"]


@pytest.mark.usefixtures("always")
def test_a_broken_file_of_training_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lazy.sqlite"
    broken_off(85, store=path)
    (left,) = [name for name in files(tmp_path) if name.endswith(".training")]
    (tmp_path / left).write_bytes(b"not whole")
    with pytest.raises(StoreError, match=rf"^checkpoint must be a file that .*{left}; delete it"):
        curve(store=path)
    assert (tmp_path / left).read_bytes() == b"not whole"
    (tmp_path / left).unlink()
    identical(curve(store=path), curve())


# --- bad input -----------------------------------------------------------------------------------


def test_a_store_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^store .* cannot be used: "):
        curve(store=tmp_path / "no" / "store")
    (tmp_path / "text").write_text("no store")
    with pytest.raises(StoreError):
        curve(store=tmp_path / "text")
    assert files(tmp_path) == ["text"]
    assert (tmp_path / "text").read_text() == "no store"
