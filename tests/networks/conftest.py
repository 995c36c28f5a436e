"""Fixtures of the tests of networks."""

from collections.abc import Iterator

import pytest
import torch

from doubletrouble.networks import _checkpoint as checkpoint


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute with one thread: sums then have one order, and parallel tests share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def save_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a checkpoint after every check, without an interval."""
    monkeypatch.setattr(checkpoint, "_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 1e9)
