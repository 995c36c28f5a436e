"""Small runs to be broken off, and ways to break them off."""

import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.networks import LazyRun, Training, train_lazy
from doubletrouble.networks._batches import Batch
from doubletrouble.networks._program import Program
from doubletrouble.networks._run import Run
from doubletrouble.networks._weights import Architecture, NetworkMember
from tests.networks.literal import DIM, as_samples, small_data

DATA = small_data(10)
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "adam": {},
    "gd": {"optimizer": "gd"},
    "sgd": {"optimizer": "sgd", "batch_size": 3},
    "linearized": {"laziness": math.inf, "loss": "logistic"},
}


def train(path: Path | None, optimizer: str = "adam", **options: Any) -> LazyRun:
    """Four small networks, in windows of ten steps, some of which reach zero loss."""
    given: dict[str, Any] = {
        "width": 5, "depth": 3, "laziness": 3.0, "ensemble": 4, "max_steps": 60, "patience": 10,
        "tolerance": 0.0, "device": "cpu", "dtype": "float64", "store": path,
        "progress": False, **OPTIMIZERS[optimizer], **options,
    }  # fmt: skip
    return train_lazy(DATA, **given)


def identical(a: LazyRun, b: LazyRun) -> None:
    """Bit for bit."""
    for name in ("predictions", "train_error", "train_loss", "displacement", "steps"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.status == b.status


class Steps:
    """Counts steps, and does something before one of them is whole."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int = -1, act: Any = None) -> None:
        self.count = 0
        original = Program._update

        def counted(program: Program, running: torch.Tensor) -> None:
            self.count += 1
            if self.count == at:
                act()
            original(program, running)

        patch.setattr(Program, "_update", counted)


def interrupt() -> None:
    raise KeyboardInterrupt


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def batch_of(indices: tuple[int, ...], width: int) -> Run:
    members = [NetworkMember(width=5, laziness=1.0, number=k) for k in range(6)]
    shape = Architecture(dim=DIM, width=width, depth=3)
    batch = Batch(indices=indices, architecture=shape, each=1.0)
    return Run(members, indices, batch, as_samples([DATA]), Training(max_steps=60))
