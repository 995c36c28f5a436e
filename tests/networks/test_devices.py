"""A GPU gives what a processor gives; its own kernel, and the recorded step, change nothing."""

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.networks import _kernels as kernels
from doubletrouble.networks import train_lazy
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._network import Architecture, NetworkMember, Samples
from doubletrouble.networks._program import Program
from doubletrouble.networks._settings import LossName, Training
from tests.networks.literal import DIM, as_samples, small_data

ROOT = Path(__file__).parents[2]
DATA = small_data(100, 40)
MEMBERS = [
    NetworkMember(width=width, laziness=alpha, number=k)
    for k, (width, alpha) in enumerate([(30, 100.0), (17, 1.0), (32, 10.0)])
]
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
triton = pytest.mark.skipif(not kernels.can_compile(), reason="triton is not installed")


@pytest.fixture
def computing() -> Iterator[None]:
    with TorchDevice.of("cuda", "float32").computing():
        yield


def on_gpu(loss: LossName, steps: int = 100) -> Program:
    """Five layers, up to 32 wide: what the kernel is made for."""
    samples = as_samples([DATA], torch.float32)
    there = {name: getattr(samples, name).cuda() for name in ("x", "y", "x_test")}
    shape = Architecture(dim=DIM, width=32, depth=5)
    training = Training(loss=loss, optimizer="adam", max_steps=steps)
    return Program(MEMBERS, shape, Samples(**there), training)


# --- on every machine with triton ----------------------------------------------------------------

INTERPRETED = """
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch
from doubletrouble.networks._fused import LOSSES, Gradients
from doubletrouble.networks._network import Scaled
from doubletrouble.networks._losses import LOSSES as PAIRS
from doubletrouble.networks._network import Architecture, NetworkMember, initial

torch.set_grad_enabled(False)
g = torch.Generator().manual_seed(0)
members = [NetworkMember(width=w, laziness=a, number=0) for w, a in ((16, 1.0), (5, 100.0))]
theta0 = initial(members, Architecture(dim=3, width=16, depth=5), torch.float32, "cpu")
weights = theta0.copy()
for tensor, start in zip(weights, theta0):
    tensor.add_(0.01 * torch.randn(start.shape, generator=g) * (start != 0))
x = torch.randn(2, 40, 3, generator=g)
y = torch.randn(2, 40, 1, generator=g).sign()
targets, alpha = torch.cat([-y, y], 2), torch.tensor([m.laziness for m in members])
for loss in LOSSES:
    mine, other = weights.zeros_like(), weights.zeros_like()
    value = Gradients(weights, theta0, x, targets, alpha, loss).into(mine)
    lazy = Scaled(weights, theta0, alpha, x)
    pair = PAIRS[loss].pair(lazy.outputs(), targets)
    lazy.descend(pair[1] / 80, other)
    torch.testing.assert_close(value, pair[0].double().mean((1, 2)), rtol=1e-5, atol=1e-6)
    for a, b in zip(mine, other):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5 * float(b.abs().max()))
    for broken in (float("nan"), float("inf")):
        for name in ("first", "last"):
            lost = weights.copy()
            getattr(lost, name)[0, 0, 0] = broken
            value = Gradients(lost, theta0, x, targets, alpha, loss).into(mine)
            assert value.isfinite().tolist() == [False, True], (loss, name, broken)
"""


@triton
def test_the_kernel_interpreted_gives_the_gradient() -> None:
    """And a weight that is not finite shows in the loss: such a network did not learn."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERPRETED],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    if "InterpreterError: TypeError('only 0-dimensional arrays" in done.stderr:
        pytest.skip("this triton cannot interpret kernels with NumPy 2.4 or later")
    assert done.returncode == 0, done.stderr


# --- on a GPU ------------------------------------------------------------------------------------


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
def test_a_gpu_agrees_with_the_processor(options: dict[str, Any]) -> None:
    given: dict[str, Any] = {"width": 12, "ensemble": 3, "max_steps": 12, "dtype": "float64"}
    here, there = (
        train_lazy(DATA, device=device, **given, **options) for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(there.predictions, here.predictions, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(there.steps, here.steps)
    assert there.status == here.status


@gpu
@triton
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared"])
def test_the_kernel_gives_the_gradient(loss: LossName) -> None:
    program = on_gpu(loss)
    assert program._fused is not None
    program.advance(5)
    value, mine = program._fused.into(program._slope), program._slope.copy()
    expected = program._descend(program._blocks)
    np.testing.assert_allclose(value.cpu(), expected.cpu(), rtol=1e-5)
    for a, b in zip(mine, program._slope, strict=True):
        largest = b.abs().amax((-1, -2), keepdim=True).clamp_min(1e-30)
        assert ((a - b).abs() / largest).max().item() < 1e-5


@gpu
@triton
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared"])
def test_the_kernel_lets_no_network_that_diverged_look_well(loss: LossName) -> None:
    program = on_gpu(loss)
    program.weights.first[1, 0, 0] = math.nan
    program.weights.last[2, 0, 0] = math.inf
    program.advance(10)
    assert program.stopping.status.tolist()[1:] == [3, 3]


@gpu
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_recorded_step_is_a_step(loss: LossName) -> None:
    replayed, made = on_gpu(loss), on_gpu(loss)
    replayed.advance(12)
    replayed.advance(8)
    for _ in range(20):
        made._step()
    np.testing.assert_array_equal(replayed.stopping.steps.cpu(), made.stopping.steps.cpu())
    for a, b in zip(replayed.weights, made.weights, strict=True):
        np.testing.assert_allclose(a.cpu(), b.cpu(), rtol=1e-5, atol=1e-6)


@gpu
def test_memory_that_runs_out_means_smaller_batches() -> None:
    """A limit that batches know nothing of: the allocator really refuses."""
    data = small_data(2000, 50)
    options: dict[str, Any] = {"width": 256, "ensemble": 32, "max_steps": 3, "device": "cuda"}
    expected = train_lazy(data, **options)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 300 * 2**20) / total)
    try:
        found = train_lazy(data, memory=1e12, **options)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    scale = np.abs(expected.predictions).max()
    np.testing.assert_allclose(found.predictions, expected.predictions, atol=1e-3 * scale)


@gpu
def test_a_gpu_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.networks._checkpoint._INTERVAL", 0.0)
    monkeypatch.setattr("doubletrouble.networks._checkpoint._SHARE", 1e9)
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

    def stopped(self: Program, steps: int) -> None:
        calls.append(steps)
        if len(calls) == 3:
            raise KeyboardInterrupt
        advance(self, steps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "advance", stopped)
        with pytest.raises(KeyboardInterrupt):
            train_lazy(DATA, store=tmp_path / "run", **options)
    for device in ("cuda", "cpu"):  # elsewhere, what was on its way starts again
        found = train_lazy(DATA, **{**options, "device": device, "store": tmp_path / "run"})
        np.testing.assert_allclose(found.predictions, expected.predictions, rtol=1e-7, atol=1e-7)


# --- anywhere ------------------------------------------------------------------------------------


def test_auto_is_a_device_that_is_there() -> None:
    assert TorchDevice.of("auto", "float32").name == (
        "cuda" if torch.cuda.is_available() else "cpu"
    )


def test_computing_leaves_torch_as_it_was() -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    with TorchDevice.of("cpu", "tf32").computing():
        assert torch.backends.cuda.matmul.allow_tf32
        assert not torch.is_grad_enabled()
        with kernels.full_precision():
            assert not torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cuda.matmul.allow_tf32 == before
    assert torch.is_grad_enabled()


def test_a_product_in_pieces_is_the_product() -> None:
    left, right = torch.randn(3, 12, 5).double(), torch.randn(3, 12, 2).double()
    pieces = kernels.product_in_pieces(left, right, 4)
    assert pieces.shape == (3, 4, 5, 2)
    torch.testing.assert_close(pieces.sum(1), torch.bmm(left.mT, right))
    shared = left[:1].expand(3, -1, -1)  # one data set for all
    torch.testing.assert_close(
        kernels.product_in_pieces(shared, right, 6).sum(1), torch.bmm(shared.mT, right)
    )
