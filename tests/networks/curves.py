"""A small curve of lazy networks, and how two of them are compared."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.networks import LazyCurve, lazy_curve
from doubletrouble.networks._curve import _record_of
from doubletrouble.networks._program import Program
from tests.networks.literal import small_data

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
        mine, theirs = _record_of(one), _record_of(other)
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
