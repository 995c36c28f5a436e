"""An interrupted training continues with the same results; other files are refused unchanged."""

import errno
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.errors import StoreError
from doubletrouble.networks import TrainingOutcome
from doubletrouble.networks import _checkpoint as checkpoint
from doubletrouble.networks._checkpoint import Checkpoint
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._network import Architecture
from doubletrouble.networks._training import network_bytes
from tests.networks.interrupted import (
    OPTIMIZERS,
    Steps,
    identical,
    interrupt,
    press_ctrl_c,
    program_of,
    train,
)
from tests.networks.literal import DIM, small_data
from tests.selection import full_beyond, full_beyond_cases

ROOT = Path(__file__).parents[2]
ONE = network_bytes(Architecture(dim=DIM, width=5, depth=3), 10, TorchDevice.of("cpu", "float64"))
BATCHES = (1.5 * ONE, 2.5 * ONE, None)  # memory for one network, for two, for all


# --- continuation --------------------------------------------------------------


@pytest.mark.usefixtures("save_always")
@pytest.mark.parametrize(
    ("optimizer", "at"), [("adam", 7), *((optimizer, 25) for optimizer in OPTIMIZERS)]
)
def test_training_interrupted_within_a_step_continues(
    tmp_path: Path, optimizer: str, at: int
) -> None:
    path, expected = tmp_path / "run", train(None, optimizer)
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, at, interrupt)
        with pytest.raises(KeyboardInterrupt):
            train(path, optimizer)
    assert [p.name for p in tmp_path.iterdir()] == (["run"] if at > 10 else [])
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch)
        identical(train(path, optimizer), expected)
        window = 12 if optimizer == "sgd" else 10  # whole epochs
        assert steps.count <= 60 - (at - 1) // window * window
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("optimizer", full_beyond(("adam", "sgd"), OPTIMIZERS))
def test_ctrl_c_saves_after_the_step(tmp_path: Path, optimizer: str) -> None:
    path, expected = tmp_path / "run", train(None, optimizer)
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch, 15, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            train(path, optimizer)
        done = steps.count
    assert 15 <= done < 60
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch)
        identical(train(path, optimizer), expected)
        assert steps.count <= 60 - done
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_second_ctrl_c_interrupts_immediately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_INTERVAL", math.inf)

    def twice() -> None:
        press_ctrl_c()
        press_ctrl_c()

    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch, 15, twice)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "run")
    assert steps.count == 15
    assert not list(tmp_path.iterdir())


def test_ctrl_c_without_a_store_interrupts_immediately() -> None:
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch, 15, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            train(None)
    assert steps.count == 15


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from doubletrouble.networks import _checkpoint as checkpoint
from tests.networks.interrupted import train

torch.set_num_threads(1)
checkpoint._INTERVAL, checkpoint._SHARE = 0.0, 1e9
replace, writes = os.replace, []

def die(*args):
    writes.append(args)
    if optimizer == "adam" and len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # in the middle of a write
    replace(*args)
    if len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # after one

os.replace = die
for optimizer in ("adam", "sgd"):
    child = os.fork()
    if not child:
        train(Path(sys.argv[1]) / optimizer, optimizer)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_killed_processes_continue(tmp_path: Path) -> None:
    """SIGKILL is sent after a write or within one."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [str(-signal.SIGKILL)] * 2
    assert len(list(tmp_path.glob("adam.*.part"))) == 1
    other = tmp_path / f"adam.{os.getppid()}.part"  # of a process that is alive
    other.touch()
    for optimizer in ("adam", "sgd"):
        with pytest.MonkeyPatch.context() as patch:
            steps = Steps(patch)
            result = train(tmp_path / optimizer, optimizer)
            assert 0 < steps.count < 60
        identical(result, train(None, optimizer))
    assert {p.name for p in tmp_path.iterdir()} == {"adam", "sgd", other.name}


def test_complete_training_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train(tmp_path / "run")
    steps = Steps(monkeypatch)
    identical(train(tmp_path / "run"), first)
    assert steps.count == 0


@pytest.mark.usefixtures("save_always")
@pytest.mark.parametrize(
    ("before", "after", "at"),
    full_beyond_cases(
        [(1.5 * ONE, 2.5 * ONE, 75), (2.5 * ONE, None, 45), (None, 1.5 * ONE, 45)],
        itertools.product(BATCHES, BATCHES, (45, 75)),
    ),
)
def test_batches_may_differ_on_continuation(
    tmp_path: Path, before: float | None, after: float | None, at: int
) -> None:
    """Every member continues or starts again."""
    path, expected = tmp_path / "run", train(None, loss="logistic")
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, at if before else at - 30, interrupt)  # one batch has 60 steps in all
        with pytest.raises(KeyboardInterrupt):
            train(path, loss="logistic", memory=before)
    result = train(path, loss="logistic", memory=after)
    np.testing.assert_allclose(result.predictions, expected.predictions, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(result.steps, expected.steps)


@torch.no_grad()
def test_states_are_preserved_until_their_batch_resumes(tmp_path: Path) -> None:
    runs = [program_of((0, 1), 5), program_of((4, 2), 5)]
    for run in runs:
        run.advance()
    Checkpoint(tmp_path / "run", "key").save(runs, {}, now=True)
    time = runs[0].time
    assert time > 0

    again = Checkpoint(tmp_path / "run", "key")
    first = program_of((0, 1), 5)
    again.resume(first)
    again.save([first], {}, now=True)

    last = Checkpoint(tmp_path / "run", "key")
    second, other = program_of((2, 3, 4), 5), program_of((3, 5), 5)
    last.resume(second)
    last.resume(other)
    assert second.indices == [4, 2]
    assert [r.time for r in (first, second, other)] == [time, time, 0]
    for a, b in zip(second.weights, runs[1].weights, strict=True):
        np.testing.assert_array_equal(a, b)


@torch.no_grad()
def test_batch_padded_to_another_width_starts_again(tmp_path: Path) -> None:
    """Networks are padded on a GPU, not on a CPU."""
    padded = program_of((0, 1), 16)
    padded.advance()
    Checkpoint(tmp_path / "run", "key").save([padded], {}, now=True)
    plain = program_of((0, 1), 5)
    Checkpoint(tmp_path / "run", "key").resume(plain)
    assert plain.time == 0


# --- invalid files ---------------------------------------------------------------


def refused(path: Path, match: str, **options: Any) -> None:
    """Refused with a message, without training, and unchanged."""
    before = path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch)
        with pytest.raises(StoreError, match=match) as caught:
            train(path, **options)
        assert steps.count == 0
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def other_files(path: Path) -> dict[str, Any]:
    def savez(**arrays: Any) -> None:
        with path.open("wb") as file:
            np.savez(file, **arrays)

    def save(array: Any) -> None:
        with path.open("wb") as file:
            np.save(file, array)

    def npz_with_header(text: str) -> None:
        padded = text.encode().ljust(118) + b"\n"
        with zipfile.ZipFile(path, "w") as file:
            length = len(padded).to_bytes(2, "little")
            file.writestr("header.npy", b"\x93NUMPY\x01\x00" + length + padded)

    def huge_header(size: int) -> str:
        return str({"descr": "<f8", "fortran_order": False, "shape": (size,)})

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
        "header that is no tuple": lambda: npz_with_header("{'descr': '<f8', 'shape': ("),
        "shape that overflows": lambda: npz_with_header(huge_header(10**30)),
        "shape beyond memory": lambda: npz_with_header(huge_header(10**15)),
    }


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    for make in other_files(path).values():
        make()
        refused(path, r"^store must be a complete checkpoint")


def test_checkpoint_of_other_data_or_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"ensemble": 3},
        {"laziness": 2.0},
        {"width": 6},
        {"depth": 4},
        {"loss": "logistic"},
        {"learning_rate": 0.1},
        {"max_steps": 9},
        {"dtype": "float32"},
        {"data": small_data(10, seed=3)},
    ]
    for changed in others:
        train(path, **{"max_steps": 10, **changed})
        refused(path, r"^store must belong", max_steps=10)
        path.unlink()


@torch.no_grad()
def test_damaged_files_are_refused_or_read_correctly(tmp_path: Path) -> None:
    """Files are truncated anywhere, or have one bit changed."""
    path, run = tmp_path / "run", program_of((0, 1), 5)
    run.advance()
    outcome = TrainingOutcome(
        scores=np.arange(3.0),
        train_error=math.nan,
        train_loss=0.5,
        displacement=1.0,
        steps=7,
        status="diverged",
    )
    Checkpoint(path, "key").save([run], {2: outcome}, now=True)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refusals = 0
    for attempt in range(150):
        broken = bytearray(whole)
        position = int(rng.integers(len(whole)))
        broken[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(whole[:position] if attempt % 3 == 0 else broken)
        try:
            result = Checkpoint(path, "key")
        except StoreError:
            refusals += 1
            continue
        again = result.outcomes[2]
        np.testing.assert_array_equal(again.scores, outcome.scores)
        assert (again.steps, again.train_loss, again.status) == (7, 0.5, "diverged")
        other = program_of((0, 1), 5)
        result.resume(other)
        for a, b in zip(run.weights, other.weights, strict=True):
            assert other.time in (0, run.time)
            assert other.time == 0 or torch.equal(a, b)
    assert refusals > 100


def test_reading_executes_no_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(tmp_path / "trapped"),))

    key = json.dumps({"key": "x", "outcomes": {}})
    with (tmp_path / "run").open("wb") as file:
        np.savez(file, header=np.array(key), indices=np.array([Trap()], dtype=object))
    with pytest.raises(StoreError):
        train(tmp_path / "run")
    assert not (tmp_path / "trapped").exists()


# --- writing ---------------------------------------------------------------


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^store must be in a writable folder"):
        train(tmp_path / "no" / "run")
    with pytest.raises(StoreError, match=r"^store must be a file, got the folder"):
        train(tmp_path)
    assert not list(tmp_path.iterdir())


def test_read_only_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    steps = Steps(monkeypatch)
    with pytest.raises(StoreError, match=r"^store must be in a writable folder"):
        train(tmp_path / "run")
    assert steps.count == 0


@pytest.mark.usefixtures("save_always")
def test_full_disk_leaves_the_last_checkpoint(tmp_path: Path) -> None:
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


def test_checkpoints_are_written_after_an_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[Any] = []
    monkeypatch.setattr(checkpoint, "_INTERVAL", math.inf)
    monkeypatch.setattr(Checkpoint, "_write", lambda *args: writes.append(args))
    train(tmp_path / "run")
    assert len(writes) == 1  # at the end
