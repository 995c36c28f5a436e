"""The gradient in one kernel agrees with the batched gradient, and diverged networks are seen."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from doubletrouble.networks._device import can_compile
from doubletrouble.networks._settings import LossName
from tests.networks.test_devices import computing as computing
from tests.networks.test_devices import program_on_gpu

ROOT = Path(__file__).parents[2]
triton = pytest.mark.skipif(not can_compile(), reason="triton is not installed")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

INTERPRETED = """
import torch
from doubletrouble.networks._fused import LOSSES, FusedGradient
from doubletrouble.networks._losses import LOSSES as FUNCTIONS
from doubletrouble.networks._network import Architecture, NetworkMember, Scaled, initial

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
    value = FusedGradient(weights, theta0, x, targets, alpha, loss).write(mine)
    lazy = Scaled(weights, theta0, alpha, x)
    expected, slope = FUNCTIONS[loss].value_and_slope(lazy.outputs(), targets)
    lazy.descend(slope / 80, other)
    torch.testing.assert_close(value, expected.double().mean((1, 2)), rtol=1e-5, atol=1e-6)
    for a, b in zip(mine, other):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5 * float(b.abs().max()))
    for broken in (float("nan"), float("inf")):
        for name in ("first", "last"):
            lost = weights.copy()
            getattr(lost, name)[0, 0, 0] = broken
            value = FusedGradient(lost, theta0, x, targets, alpha, loss).write(mine)
            assert value.isfinite().tolist() == [False, True], (loss, name, broken)
"""


@triton
def test_interpreted_kernel_agrees_with_the_batched_gradient() -> None:
    """Also: the loss of a network with a weight that is not finite is not finite."""
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


@gpu
@triton
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared"])
def test_kernel_agrees_with_the_batched_gradient(loss: LossName) -> None:
    program = program_on_gpu(loss)
    assert program._fused is not None
    program.advance(5)
    with program.on_stream():
        value, fused = program._fused.write(program._gradient), program._gradient.copy()
        expected = program._write_gradient(program.batch.blocks)
    torch.cuda.synchronize()
    np.testing.assert_allclose(value.cpu(), expected.cpu(), rtol=1e-5)
    for a, b in zip(fused, program._gradient, strict=True):
        largest = b.abs().amax((-1, -2), keepdim=True).clamp_min(1e-30)
        assert ((a - b).abs() / largest).max().item() < 1e-5


@gpu
@triton
@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared"])
def test_kernel_detects_diverged_networks(loss: LossName) -> None:
    program = program_on_gpu(loss)
    with program.on_stream():
        program.weights.first[1, 0, 0] = math.nan
        program.weights.last[2, 0, 0] = math.inf
    program.advance(10)
    torch.cuda.synchronize()
    assert program.stopping.status.tolist()[1:] == [3, 3]
