"""Devices: a GPU agrees with a CPU, CUDA graphs, out of memory, checkpoints across devices."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.losses import ClassifierLoss
from doubletrouble.networks import Training, train_lazy
from doubletrouble.networks._device import TorchDevice, tf32_products
from doubletrouble.networks._network import NetworkMember, Samples
from doubletrouble.networks._program import Program
from tests.networks.literal import as_samples, batch_of, small_data

DATA = small_data(100, 40)
MEMBERS = [
    NetworkMember(width=width, laziness=alpha, number=k)
    for k, (width, alpha) in enumerate([(30, 100.0), (17, 1.0), (32, 10.0)])
]
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.fixture
def computing() -> Iterator[None]:
    with TorchDevice.of("cuda", "float32").computing():
        yield


def program_on_gpu(loss: ClassifierLoss) -> Program:
    """Five layers, up to 32 nodes wide."""
    cpu = as_samples([DATA], torch.float32)
    samples = Samples(x=cpu.x.cuda(), y=cpu.y.cuda(), x_test=cpu.x_test.cuda())
    training = Training(loss=loss, optimizer="adam", max_steps=100)
    return Program(batch_of(MEMBERS, depth=5), samples, training)


@gpu
@pytest.mark.parametrize(
    "options",
    [
        {"laziness": 1.0},
        {"laziness": 50.0, "depth": 3},
        {"laziness": math.inf},
        {"optimizer": "gd", "loss": "squared"},
        {"optimizer": "sgd", "batch_size": 30},
    ],
    ids=str,
)
def test_gpu_agrees_with_cpu(options: dict[str, Any]) -> None:
    common: dict[str, Any] = {"width": 12, "ensemble": 3, "max_steps": 12, "dtype": "float64"}
    cpu, cuda = (train_lazy(DATA, device=name, **common, **options) for name in ("cpu", "cuda"))
    np.testing.assert_allclose(cuda.predictions, cpu.predictions, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(cuda.steps, cpu.steps)
    assert cuda.status == cpu.status


@gpu
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_replayed_steps_agree_with_eager_steps(loss: ClassifierLoss) -> None:
    replayed, eager = program_on_gpu(loss), program_on_gpu(loss)
    replayed.advance(12)
    replayed.advance(8)
    with eager.on_stream():
        for _ in range(20):
            eager._step()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(replayed.stopping.steps.cpu(), eager.stopping.steps.cpu())
    for a, b in zip(replayed.weights, eager.weights, strict=True):
        np.testing.assert_allclose(a.cpu(), b.cpu(), rtol=1e-5, atol=1e-6)


@gpu
def test_gpu_memory_is_limited_by_the_argument() -> None:
    """The allocator has 1.5 GiB: too little without the limit, enough with it."""
    data = small_data(2000, 50)
    options: dict[str, Any] = {"width": 512, "ensemble": 64, "max_steps": 3, "device": "cuda"}
    expected = train_lazy(data, **options)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    limit = torch.cuda.memory_reserved() + 1.5 * 2**30
    torch.cuda.set_per_process_memory_fraction(limit / total)
    try:
        before = torch.cuda.memory_allocated()
        with pytest.raises(MemoryError, match=r"^memory must be smaller than"):
            train_lazy(data, memory=1e12, **options)
        assert torch.cuda.memory_allocated() < before + 2**29  # workspaces of cuBLAS at most
        limited = train_lazy(data, memory=3e8, **options)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    scale = np.abs(expected.predictions).max()
    np.testing.assert_allclose(limited.predictions, expected.predictions, atol=1e-3 * scale)


@gpu
@pytest.mark.usefixtures("save_always")
def test_checkpoint_continues_on_a_gpu_and_on_a_cpu(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "width": 12,
        "ensemble": 3,
        "max_steps": 60,
        "patience": 10,
        "tolerance": 0.0,
        "dtype": "float64",
        "device": "cuda",
        "loss": "logistic",
    }
    expected, advance, calls = train_lazy(DATA, **options), Program.advance, []

    def interrupted(self: Program, steps: int | None = None) -> None:
        calls.append(steps)
        if len(calls) == 3:
            raise KeyboardInterrupt
        advance(self, steps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "advance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_lazy(DATA, store=tmp_path / "run", **options)
    for device in ("cuda", "cpu"):  # on a CPU, unfinished batches start again
        run = train_lazy(DATA, **{**options, "device": device, "store": tmp_path / "run"})
        np.testing.assert_allclose(run.predictions, expected.predictions, rtol=1e-7, atol=1e-7)


def test_auto_is_an_available_device() -> None:
    assert TorchDevice.of("auto", "float32").name == (
        "cuda" if torch.cuda.is_available() else "cpu"
    )


def test_computing_restores_the_options_of_torch() -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    with TorchDevice.of("cpu", "tf32").computing():
        assert torch.backends.cuda.matmul.allow_tf32
        assert not torch.is_grad_enabled()
        with tf32_products(False):
            assert not torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cuda.matmul.allow_tf32 == before
    assert torch.is_grad_enabled()
