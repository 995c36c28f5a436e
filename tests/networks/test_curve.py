"""Ensembles of several widths and α: one program, one store, and a run that was killed goes on."""

import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.errors import StoreError
from doubletrouble.networks import LazyCurve, lazy_curve
from doubletrouble.networks._curve import stored_runs, table
from doubletrouble.runs import DONE, Store
from tests.networks.curves import OPTIONS, POINTS, ROOT, counted, curve, files, identical
from tests.networks.literal import small_data

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
    [
        {"seed": 1},
        {"ensemble": 2},
        {"depth": 4},
        {"loss": "hinge"},
        {"max_steps": 59},
        {"dtype": "float32"},
        {"learning_rate": 0.2},
    ],
    ids=str,
)
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


def test_all_ensembles_of_a_store_are_found(tmp_path: Path) -> None:
    path = tmp_path / "store"
    expected = curve(store=path, laziness=[math.inf, 2.0], widths=[6, 3])
    found = stored_runs(path)
    assert [(run.laziness, run.width) for run in found] == POINTS
    identical(LazyCurve(runs=tuple(found)), LazyCurve(runs=expected.runs[::-1]))
    columns = table(found)
    names = list(expected.table()[0])
    assert list(columns)[: len(names)] == names
    assert columns["single_error"] == [row["single_error"] for row in expected.table()[::-1]]
    assert columns["most_steps"] == [60] * 4
    with Store.read(path) as store:
        assert stored_runs(path, list(store.statuses())) == []
    assert table([]) == {}


def test_how_it_is_computed_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curve(store=tmp_path / "store")
    steps = counted(monkeypatch)
    curve(store=tmp_path / "store", memory=1e4, device="auto", progress=True)
    assert not steps


# --- a run that was stopped ----------------------------------------------------------------------


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.networks._checkpoint._INTERVAL", 0.0)
    monkeypatch.setattr("doubletrouble.networks._checkpoint._SHARE", 1e9)


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
    # from the last whole window of each of the two batches on their way
    assert len(steps) <= len(all_steps) - (at - 1) // 10 * 10 + 10
    assert files(tmp_path) == ["lazy.sqlite"]


KILLED = """
import os, signal, sys
from doubletrouble.networks import _checkpoint as checkpoint
from tests.networks.curves import curve

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


def test_a_killed_process_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(StoreError, match=rf"^store must be a file that .*{left}; delete it"):
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
