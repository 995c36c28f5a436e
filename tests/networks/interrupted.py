"""Small trainings, and ways to interrupt them."""

import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.networks import LazyRun, Training, train_lazy
from doubletrouble.networks._network import NetworkMember
from doubletrouble.networks._program import Program
from tests.networks.literal import as_samples, batch_of, small_data

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
        "width": 5,
        "depth": 3,
        "laziness": 3.0,
        "ensemble": 4,
        "max_steps": 60,
        "patience": 10,
        "tolerance": 0.0,
        "device": "cpu",
        "dtype": "float64",
        "store": path,
        "progress": False,
        **OPTIMIZERS[optimizer],
        **options,
    }
    return train_lazy(given.pop("data", DATA), **given)


def identical(a: LazyRun, b: LazyRun) -> None:
    """Bit for bit."""
    for name in ("predictions", "train_error", "train_loss", "displacement", "steps"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.status == b.status


class Steps:
    """Counts steps, and calls a function before one of them is complete."""

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


def program_of(indices: tuple[int, ...], width: int) -> Program:
    """Some of six networks, padded to a width."""
    members = [NetworkMember(width=5, laziness=1.0, number=k) for k in indices]
    batch = batch_of(members, depth=3, width=width, indices=indices)
    return Program(batch, as_samples([DATA]), Training(max_steps=60))
