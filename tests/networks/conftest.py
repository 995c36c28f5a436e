"""What tests of networks share."""

from collections.abc import Iterator

import pytest
import torch

from doubletrouble.networks import _checkpoint as checkpoint


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Two tests at a time share two cores, and sums have one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints are written whenever they may be."""
    monkeypatch.setattr(checkpoint, "_EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 1e9)
