"""A run that was killed goes on, and ends as if it had not been."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from doubletrouble.networks._batches import bytes_of
from doubletrouble.networks._checkpoint import Checkpoint
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._weights import Architecture
from tests.networks.broken_off import (
    OPTIMIZERS,
    Steps,
    batch_of,
    identical,
    interrupt,
    press_ctrl_c,
    train,
)
from tests.networks.literal import DIM

ROOT = Path(__file__).parents[2]
ONE = bytes_of(Architecture(dim=DIM, width=5, depth=3), 10, TorchDevice.of("cpu", "float64"))


# --- a run that was stopped goes on --------------------------------------------------------------


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("at", [7, 25, 58])
def test_broken_off_in_the_middle_of_a_step(tmp_path: Path, optimizer: str, at: int) -> None:
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


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_ctrl_c_waits_for_the_step_and_saves_it(tmp_path: Path, optimizer: str) -> None:
    """Without waiting for the minute between two writes; nothing is lost."""
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


def test_a_second_ctrl_c_acts_at_once(tmp_path: Path) -> None:
    def twice() -> None:
        press_ctrl_c()
        press_ctrl_c()

    with pytest.MonkeyPatch.context() as patch:
        steps = Steps(patch, 15, twice)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "run")
    assert steps.count == 15
    assert not list(tmp_path.iterdir())


def test_without_a_checkpoint_ctrl_c_acts_at_once() -> None:
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
from tests.networks.broken_off import OPTIMIZERS, train

torch.set_num_threads(1)
checkpoint._EVERY, checkpoint._SHARE = 0.0, 1e9
replace, writes = os.replace, []

def die(*args):
    writes.append(args)
    if optimizer == "adam" and len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # in the middle of a write
    replace(*args)
    if len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # after one

os.replace = die
for optimizer in OPTIMIZERS:
    child = os.fork()
    if not child:
        train(Path(sys.argv[1]) / optimizer, optimizer)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_killed_processes_go_on(tmp_path: Path) -> None:
    """With a signal that cannot be caught, after a write or in the middle of one."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)], cwd=ROOT, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [str(-signal.SIGKILL)] * len(OPTIMIZERS)
    assert len(list(tmp_path.glob("adam.*.part"))) == 1
    other = tmp_path / f"adam.{os.getppid()}.part"  # of a process that is alive
    other.touch()
    for optimizer in OPTIMIZERS:
        with pytest.MonkeyPatch.context() as patch:
            steps = Steps(patch)
            found = train(tmp_path / optimizer, optimizer)
            assert 0 < steps.count < 60
        identical(found, train(None, optimizer))
    assert {p.name for p in tmp_path.iterdir()} == {*OPTIMIZERS, other.name}


def test_a_finished_run_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(tmp_path / "run")
    steps = Steps(monkeypatch)
    identical(train(tmp_path / "run"), first)
    assert steps.count == 0


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("before", [1.5 * ONE, 2.5 * ONE, None])
@pytest.mark.parametrize("after", [1.5 * ONE, 2.5 * ONE, None])
@pytest.mark.parametrize("at", [45, 75])
def test_batches_may_be_others_when_it_goes_on(
    tmp_path: Path, before: float | None, after: float | None, at: int
) -> None:
    """No member is lost, whichever were together: some start again, some go on."""
    path, expected = tmp_path / "run", train(None, loss="logistic")
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, at if before else at - 30, interrupt)  # one batch has 60 steps in all
        with pytest.raises(KeyboardInterrupt):
            train(path, loss="logistic", memory=before)
    found = train(path, loss="logistic", memory=after)
    np.testing.assert_allclose(found.predictions, expected.predictions, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.steps, expected.steps)


@torch.no_grad()
def test_batches_on_their_way_are_kept_until_they_go_on(tmp_path: Path) -> None:
    """On a GPU there are several; one that has not started again yet is not forgotten."""
    runs = [batch_of((0, 1), 5), batch_of((4, 2), 5)]
    for run in runs:
        run.advance()
    Checkpoint(tmp_path / "run", "key").keep(runs, {}, now=True)
    time = runs[0].program.time
    assert time > 0

    again = Checkpoint(tmp_path / "run", "key")
    first = batch_of((0, 1), 5)
    again.resume(first)
    again.keep([first], {}, now=True)

    last = Checkpoint(tmp_path / "run", "key")
    second, other = batch_of((2, 3, 4), 5), batch_of((3, 5), 5)
    last.resume(second)
    last.resume(other)
    assert second.indices == [4, 2]
    assert [r.program.time for r in (first, second, other)] == [time, time, 0]
    for a, b in zip(second.program.weights, runs[1].program.weights, strict=True):
        np.testing.assert_array_equal(a, b)


@torch.no_grad()
def test_a_batch_that_was_padded_to_another_width_starts_again(tmp_path: Path) -> None:
    """As when a run that began on a GPU goes on elsewhere."""
    padded = batch_of((0, 1), 16)
    padded.advance()
    Checkpoint(tmp_path / "run", "key").keep([padded], {}, now=True)
    plain = batch_of((0, 1), 5)
    Checkpoint(tmp_path / "run", "key").resume(plain)
    assert plain.program.time == 0
