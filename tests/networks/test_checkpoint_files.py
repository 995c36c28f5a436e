"""Files that are no checkpoints are left alone, and indices that cannot be written are named."""

import errno
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.errors import StoreError
from doubletrouble.networks import TrainingOutcome, train_lazy
from doubletrouble.networks._checkpoint import Checkpoint
from tests.networks.broken_off import Steps, batch_of, identical, train
from tests.networks.literal import small_data

# --- files that are no checkpoints ---------------------------------------------------------------


def refused(path: Path, match: str) -> None:
    """The sentence, with nothing trained and nothing touched."""
    before = path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch)
        with pytest.raises(StoreError, match=match) as caught:
            train(path)
        assert steps.count == 0
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def strangers(path: Path) -> dict[str, Any]:
    def savez(**arrays: Any) -> None:
        with path.open("wb") as file:
            np.savez(file, **arrays)

    def save(array: Any) -> None:
        with path.open("wb") as file:
            np.save(file, array)

    return {
        "empty": lambda: path.write_bytes(b""),
        "text": lambda: path.write_text("loss,steps\n0,1\n"),
        "half a zip": lambda: path.write_bytes(b"PK\x03\x04" + bytes(60)),
        "an array": lambda: save(np.zeros(3)),
        "objects": lambda: save(np.array([{}], dtype=object)),
        "other arrays": lambda: savez(x=np.zeros(3)),
        "no JSON": lambda: savez(header=np.array("{")),
        "a number": lambda: savez(header=np.array("5")),
        "no key": lambda: savez(header=np.array("{}")),
    }


@pytest.mark.parametrize("kind", strangers(Path()))
def test_files_of_others_are_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run"
    strangers(path)[kind]()
    refused(path, r"^store must be a file that training wrote, got .*; delete it to start anew")


@pytest.mark.parametrize(
    "changed",
    [
        {"seed": 1}, {"ensemble": 3}, {"laziness": 2.0}, {"width": 6}, {"depth": 4},
        {"loss": "logistic"}, {"learning_rate": 0.1}, {"max_steps": 61}, {"dtype": "float32"},
    ],
    ids=str,
)  # fmt: skip
def test_the_checkpoint_of_another_training_is_refused(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    path = tmp_path / "run"
    train(path, **changed)
    refused(path, r"^store must belong to the same data and settings, got .* name another file")


def test_the_checkpoint_of_other_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    train_lazy(small_data(10, seed=3), width=5, depth=3, laziness=3.0, ensemble=4, max_steps=60,
               patience=10, tolerance=0.0, device="cpu", dtype="float64",
               store=path)  # fmt: skip
    refused(path, "another training")


@torch.no_grad()
def test_a_file_that_is_no_longer_whole_is_refused_or_read_right(tmp_path: Path) -> None:
    """Cut anywhere, or with any byte changed: never other numbers."""
    path, run = tmp_path / "run", batch_of((0, 1), 5)
    run.advance()
    outcome = TrainingOutcome(
        scores=np.arange(3.0), train_error=math.nan, train_loss=0.5, displacement=1.0, steps=7,
        status="diverged",
    )  # fmt: skip
    Checkpoint(path, "key").keep([run], {2: outcome}, now=True)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refusals = 0
    for attempt in range(150):
        broken = bytearray(whole)
        place = int(rng.integers(len(whole)))
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(whole[:place] if attempt % 3 == 0 else broken)
        try:
            found = Checkpoint(path, "key")
        except StoreError:
            refusals += 1
            continue
        again = found.outcomes()[2]
        np.testing.assert_array_equal(again.scores, outcome.scores)
        assert (again.steps, again.train_loss, again.status) == (7, 0.5, "diverged")
        other = batch_of((0, 1), 5)
        found.resume(other)
        for a, b in zip(run.program.weights, other.program.weights, strict=True):
            assert other.program.time in (0, run.program.time)
            assert other.program.time == 0 or torch.equal(a, b)
    assert refusals > 100


def test_reading_runs_nobodys_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(tmp_path / "trapped"),))

    key = json.dumps({"key": "x", "outcomes": {}})
    with (tmp_path / "run").open("wb") as file:
        np.savez(file, header=np.array(key), indices=np.array([Trap()], dtype=object))
    with pytest.raises(StoreError):
        train(tmp_path / "run")
    assert not (tmp_path / "trapped").exists()


# --- indices that cannot be written ---------------------------------------------------------------


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^store must lie in a writable folder, got .*/no/run"):
        train(tmp_path / "no" / "run")
    with pytest.raises(StoreError, match=r"^store must be a file, got the folder"):
        train(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    steps = Steps(monkeypatch)
    with pytest.raises(StoreError, match=r"^store must lie in a writable folder"):
        train(tmp_path / "run")
    assert steps.count == 0


@pytest.mark.usefixtures("always")
def test_a_disk_that_is_full_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    path, expected = tmp_path / "run", train(None)
    replace, writes = os.replace, []

    def full(*args: Any) -> None:
        writes.append(args)
        if len(writes) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(StoreError, match=r"^store .* cannot be written: No space left"):
            train(path)
    assert list(tmp_path.iterdir()) == [path]
    identical(train(path), expected)


def test_writing_waits_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[Any] = []
    monkeypatch.setattr(Checkpoint, "_write", lambda *args: writes.append(args))
    train(tmp_path / "run")
    assert len(writes) == 1  # at the end
