"""How networks are batched is nothing to their results, and no batch is too large for memory."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.networks import Training, TrainingOutcome
from doubletrouble.networks._batches import Batch, batches, blocks_of, bytes_of
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._lazy import EVERY
from doubletrouble.networks._program import Program
from doubletrouble.networks._train import train_all, train_lazy
from doubletrouble.networks._weights import Architecture, NetworkMember
from tests.networks.literal import DIM, program, scores_of, small_data

N = 10
DATA = small_data(N)
CPU = TorchDevice.of("cpu", "float64")
OPTIONS: dict[str, Any] = {
    "width": 6, "depth": 3, "laziness": 10.0, "ensemble": 5, "max_steps": 30, "device": "cpu",
    "dtype": "float64",
}  # fmt: skip
ONE = bytes_of(Architecture(dim=DIM, width=6, depth=3), N, CPU)


def trained(
    members: list[NetworkMember], training: Training, **options: Any
) -> list[TrainingOutcome]:
    return train_all(
        members, DATA.x_train[None], DATA.y_train[None], DATA.x_test, depth=3, training=training,
        device=CPU, progress=False, **options,
    )  # fmt: skip


def same(a: Any, b: Any) -> None:
    """Two runs, or members of them, agree to rounding."""
    np.testing.assert_allclose(a.predictions, b.predictions, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(a.steps, b.steps)
    assert a.status == b.status
    for name in ("train_error", "train_loss", "displacement"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-8, atol=1e-12)


# --- the same results ----------------------------------------------------------------------------


@pytest.mark.parametrize("laziness", [1.0, 50.0, math.inf])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("memory", [1.0, ONE, 2.5 * ONE, ONE / 3])
def test_any_memory_gives_the_same(laziness: float, loss: str, memory: float) -> None:
    """One sample at a time, one network, two, or a third of one network's samples."""
    options = {**OPTIONS, "laziness": laziness, "loss": loss, "optimizer": "adam"}
    same(train_lazy(DATA, **options), train_lazy(DATA, memory=memory, **options))


@pytest.mark.parametrize("optimizer", ["gd", "sgd"])
@pytest.mark.parametrize("laziness", [3.0, math.inf])
def test_other_optimizers_in_blocks_give_the_same(optimizer: str, laziness: float) -> None:
    options = {**OPTIONS, "laziness": laziness, "loss": "squared", "optimizer": optimizer}
    options["batch_size"] = 7 if optimizer == "sgd" else None
    same(train_lazy(DATA, **options), train_lazy(DATA, memory=1, **options))


def test_one_at_a_time_gives_the_same() -> None:
    """Batched members, and each trained by itself in a batch of one."""
    members = [
        NetworkMember(width=width, laziness=alpha, number=k)
        for width in (2, 5, 6)
        for alpha in (0.5, 40.0, math.inf)
        for k in range(2)
    ]
    training = Training(max_steps=30)
    together = trained(members, training)
    for member, outcome in zip(members, together, strict=True):
        (alone,) = trained([member], training)
        np.testing.assert_allclose(outcome.scores, alone.scores, rtol=1e-9, atol=1e-9)
        assert (outcome.steps, outcome.status) == (alone.steps, alone.status)
        assert outcome.train_loss == pytest.approx(alone.train_loss, rel=1e-8, abs=1e-12)


def test_a_member_is_the_same_in_every_ensemble() -> None:
    small, large = (train_lazy(DATA, **{**OPTIONS, "ensemble": n}) for n in (2, 6))
    np.testing.assert_allclose(large.predictions[:2], small.predictions, rtol=1e-9, atol=1e-9)
    assert np.abs(large.predictions[0] - large.predictions[1]).max() > 1e-3
    other = train_lazy(DATA, **{**OPTIONS, "ensemble": 2, "seed": 1})
    assert np.abs(other.predictions - small.predictions).max(axis=1).min() > 1e-3


def test_padding_changes_nothing() -> None:
    """A narrow network beside a wide one, in a program padded to the wide one."""
    training = Training(max_steps=40)
    narrow = NetworkMember(width=3, laziness=2.0, number=4)
    with torch.no_grad():
        both = program(
            [NetworkMember(width=11, laziness=1.0, number=0), narrow], [DATA], training, 4
        )
        alone = program([narrow], [DATA], training, 4)
        for made in (both, alone):
            made.advance(40)
    np.testing.assert_allclose(
        scores_of(both, DATA)[1], scores_of(alone, DATA)[0], rtol=1e-10, atol=1e-10
    )
    padded = both.weights
    assert not padded.first[1, :, 3:].any()
    assert not padded.hidden[:, 1, 3:].any()
    assert not padded.hidden[:, 1, :, 3:].any()
    assert not padded.last[1, 3:].any()
    assert not padded.biases[:, 1, :, 3:].any()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_dropping_those_that_stopped_changes_nothing(optimizer: str) -> None:
    """Members stop at different steps; without dropping any, the others end where they did."""
    data = small_data(6)
    size, rate = (4, 3.0) if optimizer == "sgd" else (None, 0.03)
    how: dict[str, Any] = {
        "optimizer": optimizer, "max_steps": 75, "batch_size": size, "learning_rate": rate
    }  # fmt: skip
    members = [NetworkMember(width=8, laziness=1.0, number=k) for k in range(8)]
    with torch.no_grad():
        kept, dropped = (program(members, [data], Training(**how), 3) for _ in range(2))
        kept.advance(75)
        dropped.advance(50)
        left = torch.nonzero(dropped.progress.status == 0).ravel()
        others = left.tolist()
        assert 0 < len(left) < len(members)
        dropped.keep(left)
        dropped.advance(25)
        for made in (kept, dropped):
            made.judge()
    np.testing.assert_allclose(
        scores_of(dropped, data), scores_of(kept, data)[others], rtol=1e-10, atol=1e-10
    )
    np.testing.assert_array_equal(dropped.progress.steps, kept.progress.steps[others])
    np.testing.assert_array_equal(dropped.progress.status, kept.progress.status[others])
    run = train_lazy(
        data, width=8, depth=3, laziness=1.0, ensemble=8, device="cpu", dtype="float64", **how
    )
    np.testing.assert_allclose(run.predictions, scores_of(kept, data), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(run.steps, kept.progress.steps)
    assert len(set(run.steps)) > 3


# --- batches that fit ----------------------------------------------------------------------------


def plan(members: list[NetworkMember], **options: Any) -> list[Batch]:
    return batches(members, dim=DIM, depth=3, n_samples=N, device=CPU, **options)


@pytest.mark.parametrize("share", [0.01, 0.5, 1, 2.5, 100])
def test_batches_fit_and_hold_every_member_once(share: float) -> None:
    members = [
        NetworkMember(width=width, laziness=alpha, number=k)
        for width in (6, 3)
        for alpha in (1.0, math.inf)
        for k in range(4)
    ]
    found = plan(members, memory=share * ONE)
    assert sorted(k for batch in found for k in batch.indices) == list(range(len(members)))
    for batch in found:
        assert len(batch.indices) == 1 or batch.bytes <= share * ONE
        assert batch.architecture.width == max(members[k].width for k in batch.indices)
        assert len({math.isinf(members[k].laziness) for k in batch.indices}) == 1
        covered = [k for block in batch.blocks for k in range(N)[block]]
        assert covered == list(range(N))
    if share < 1:
        assert max(len(batch.blocks) for batch in found) > 1


@pytest.mark.parametrize("n", [1, 2, 5, 9, 20])
def test_blocks_cover_all_samples_and_get_finer(n: int) -> None:
    shape = Architecture(dim=DIM, width=6, depth=3)
    batch = Batch(indices=(3, 1, 4), architecture=shape, each=1.0)
    first, second = batch.halves()
    assert first.indices + second.indices == batch.indices
    assert blocks_of(n, 1) == (EVERY,)
    while len(batch.blocks) < n:
        finer = batch.finer(n)
        assert len(finer.blocks) > len(batch.blocks)
        assert [k for block in finer.blocks for k in range(n)[block]] == list(range(n))
        batch = finer


# --- too little memory ---------------------------------------------------------------------------

NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
    MemoryError("Unable to allocate 8 GiB for an array"),
]


@pytest.mark.parametrize("when", ["__init__", "advance", "scores"])
@pytest.mark.parametrize("error", NO_MEMORY, ids=["gpu", "processor", "numpy"])
def test_a_batch_that_does_not_fit_is_split(
    monkeypatch: pytest.MonkeyPatch, when: str, error: Exception
) -> None:
    """Down to two networks here: building, training or predicting with more runs out of memory."""
    expected = train_lazy(DATA, **OPTIONS)
    original, seen = getattr(Program, when), []

    def limited(self: Program, *args: Any, **options: Any) -> Any:
        count = len(args[0]) if when == "__init__" else len(self.members)
        seen.append(count)
        if count > 2:
            raise error
        return original(self, *args, **options)

    monkeypatch.setattr(Program, when, limited)
    same(train_lazy(DATA, **OPTIONS), expected)
    assert max(seen) == 5


def test_a_network_that_does_not_fit_gets_blocks_of_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = train_lazy(DATA, **OPTIONS)
    original, fine = Program.advance, []

    def limited(self: Program, steps: int) -> None:
        if len(self._blocks) < 7:
            raise torch.OutOfMemoryError("CUDA out of memory")
        fine.append(len(self.members))
        original(self, steps)

    monkeypatch.setattr(Program, "advance", limited)
    same(train_lazy(DATA, **OPTIONS), expected)
    assert set(fine) == {1}


def test_memory_that_never_suffices_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: Program, steps: int) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Program, "advance", never)
    with pytest.raises(MemoryError, match=r"^a network of width 6 must fit into memory, and does"):
        train_lazy(DATA, **OPTIONS)


def test_other_errors_are_not_taken_for_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Program, steps: int) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Program, "advance", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        train_lazy(DATA, **OPTIONS)


def test_a_kernel_that_does_not_fit_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1e12")

    monkeypatch.setattr("doubletrouble.networks._training.solved", never)
    with pytest.raises(MemoryError, match=r"^the tangent kernel of 10 samples must fit"):
        train_lazy(DATA, **{**OPTIONS, "laziness": math.inf, "loss": "squared"})


def test_threads_change_nothing() -> None:
    """Two batches at once, each with a thread of its own."""
    data = small_data(20)
    how: dict[str, Any] = {"width": 6, "ensemble": 5, "max_steps": 30, "dtype": "float64"}
    alone = train_lazy(data, device="cpu", **how)
    torch.set_num_threads(2)  # until the end of this test
    found = train_lazy(data, device="cpu", **how)
    assert torch.get_num_threads() == 2
    np.testing.assert_allclose(found.predictions, alone.predictions, rtol=1e-10)
    np.testing.assert_array_equal(found.steps, alone.steps)
