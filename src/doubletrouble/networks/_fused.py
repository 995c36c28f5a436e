r"""The gradient of narrow networks in one kernel, on a GPU.

The matrix products of a narrow network are so small that a GPU spends its time on launches and on
moving activations. In this kernel a block of samples stays in registers from the inputs to the
gradient of every weight. Several programs work on each network; their partial sums are added in a
fixed order, so that a run is reproducible bit for bit.

For networks of 5 layers, as in the paper, up to 32 nodes wide, with all samples in a step.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from doubletrouble.networks._device import full_precision
from doubletrouble.networks._network import OUTPUTS, NetworkWeights, activations

LOSSES = ("hinge", "squared_hinge", "squared")

_DEPTH = 5
_WIDTHS = (16, 32)
_MAX_INPUTS = 16
_BLOCK = 32  # samples at a time
_PROGRAMS = 528  # at least: four for each multiprocessor of a large GPU


class FusedGradient:
    """Buffers for the partial sums of M networks, and the launch that fills them."""

    @staticmethod
    def applies(weights: NetworkWeights, x: Tensor, loss: str) -> bool:
        """Whether the kernel supports these networks."""
        shape = weights.first.shape[2] in _WIDTHS and weights.hidden.shape[0] == _DEPTH - 2
        return shape and loss in LOSSES and x.shape[2] <= _MAX_INPUTS and x.dtype == torch.float32

    def __init__(
        self,
        weights: NetworkWeights,
        theta0: NetworkWeights,
        x: Tensor,
        targets: Tensor,
        laziness: Tensor,
        loss: str,
    ) -> None:
        count, self._n, dim = x.shape
        tiles = -(-self._n // _BLOCK)
        self._splits = max(1, min(tiles, -(-_PROGRAMS // count)))
        self._grid = (count, self._splits)
        with full_precision():
            start = activations(theta0, x)[-1]
        self._inputs = (x, targets, start, laziness)
        self._weights = weights
        self._parts = NetworkWeights(*(t.new_empty((self._splits, *t.shape)) for t in weights))
        self._losses = x.new_empty((self._splits, count))
        self._constants: dict[str, Any] = {
            "D": dim,
            "W": weights.first.shape[2],
            "BLOCK": _BLOCK,
            "LOSS": LOSSES.index(loss),
            "PRECISION": "tf32x3",
            "num_warps": 4,
        }

    def write(self, out: NetworkWeights) -> Tensor:
        """Write the gradients into `out`; return the loss of each network."""
        _gradients[self._grid](
            *self._inputs, *self._weights, *self._parts, self._losses, self._n, **self._constants
        )
        for part, slope in zip(self._parts, out, strict=True):
            torch.sum(part, 0, out=slope)
        return self._losses.sum(0, dtype=torch.float64) / (self._n * OUTPUTS)


@triton.jit
def _relu(z):
    """ReLU that propagates NaN, as in torch: the loss of a diverged network must not be finite."""
    return tl.maximum(z, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _gradients(
    x_at,
    target_at,
    start_at,
    alpha_at,
    first_at,
    hidden_at,
    last_at,
    biases_at,
    last_bias_at,
    d_first_at,
    d_hidden_at,
    d_last_at,
    d_biases_at,
    d_last_bias_at,
    loss_at,
    N,
    D: tl.constexpr,
    W: tl.constexpr,
    BLOCK: tl.constexpr,
    LOSS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    m, s = tl.program_id(0), tl.program_id(1)
    M, S = tl.num_programs(0), tl.num_programs(1)
    d, w, o = tl.arange(0, 16), tl.arange(0, W), tl.arange(0, 16)
    square = w[:, None] * W + w[None, :]
    inner, outer = d[:, None] < D, o[None, :] < 2
    w1 = tl.load(first_at + m * D * W + d[:, None] * W + w[None, :], mask=inner, other=0.0)
    w2 = tl.load(hidden_at + m * W * W + square)
    w3 = tl.load(hidden_at + (M + m) * W * W + square)
    w4 = tl.load(hidden_at + (2 * M + m) * W * W + square)
    w5 = tl.load(last_at + m * W * 2 + w[:, None] * 2 + o[None, :], mask=outer, other=0.0)
    b1 = tl.load(biases_at + m * W + w)[None, :]
    b2 = tl.load(biases_at + (M + m) * W + w)[None, :]
    b3 = tl.load(biases_at + (2 * M + m) * W + w)[None, :]
    b4 = tl.load(biases_at + (3 * M + m) * W + w)[None, :]
    b5 = tl.load(last_bias_at + m * 2 + o, mask=o < 2, other=0.0)[None, :]
    alpha = tl.load(alpha_at + m)

    g1 = tl.zeros((16, W), tl.float32)
    g2 = tl.zeros((W, W), tl.float32)
    g3 = tl.zeros((W, W), tl.float32)
    g4 = tl.zeros((W, W), tl.float32)
    g5 = tl.zeros((W, 16), tl.float32)
    c1 = tl.zeros((W,), tl.float32)
    c2 = tl.zeros((W,), tl.float32)
    c3 = tl.zeros((W,), tl.float32)
    c4 = tl.zeros((W,), tl.float32)
    c5 = tl.zeros((16,), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)

    for tile in range(s, tl.cdiv(N, BLOCK), S):
        n = tile * BLOCK + tl.arange(0, BLOCK)
        there = n[:, None] < N
        given = there & (d[None, :] < D)
        x = tl.load(x_at + m * N * D + n[:, None] * D + d[None, :], mask=given, other=0.0)
        h1 = _relu(tl.dot(x, w1, input_precision=PRECISION) + b1)
        h2 = _relu(tl.dot(h1, w2, input_precision=PRECISION) + b2)
        h3 = _relu(tl.dot(h2, w3, input_precision=PRECISION) + b3)
        h4 = _relu(tl.dot(h3, w4, input_precision=PRECISION) + b4)
        f = tl.dot(h4, w5, input_precision=PRECISION) + b5
        at = m * N * 2 + n[:, None] * 2 + o[None, :]
        known = there & outer
        F = alpha * (f - tl.load(start_at + at, mask=known, other=0.0))
        t = tl.load(target_at + at, mask=known, other=0.0)
        if LOSS == 2:
            value = (F - t) * (F - t)
            slope = 2 * (F - t)
        else:
            short = _relu(1 - t * F)
            if LOSS == 1:
                value = short * short
                slope = -2 * t * short
            else:
                value = short
                slope = tl.where(short > 0, -t, 0.0)
        total += tl.sum(tl.where(known, value, 0.0), 1)
        e = tl.where(known, slope, 0.0) / (N * 2) / alpha
        g5 += tl.dot(tl.trans(h4), e, input_precision=PRECISION)
        c5 += tl.sum(e, 0)
        e = tl.where(h4 > 0, tl.dot(e, tl.trans(w5), input_precision=PRECISION), 0.0)
        g4 += tl.dot(tl.trans(h3), e, input_precision=PRECISION)
        c4 += tl.sum(e, 0)
        e = tl.where(h3 > 0, tl.dot(e, tl.trans(w4), input_precision=PRECISION), 0.0)
        g3 += tl.dot(tl.trans(h2), e, input_precision=PRECISION)
        c3 += tl.sum(e, 0)
        e = tl.where(h2 > 0, tl.dot(e, tl.trans(w3), input_precision=PRECISION), 0.0)
        g2 += tl.dot(tl.trans(h1), e, input_precision=PRECISION)
        c2 += tl.sum(e, 0)
        e = tl.where(h1 > 0, tl.dot(e, tl.trans(w2), input_precision=PRECISION), 0.0)
        g1 += tl.dot(tl.trans(x), e, input_precision=PRECISION)
        c1 += tl.sum(e, 0)

    p = s * M + m
    tl.store(d_first_at + p * D * W + d[:, None] * W + w[None, :], g1, mask=inner)
    hidden = s * 3 * M + m
    tl.store(d_hidden_at + hidden * W * W + square, g2)
    tl.store(d_hidden_at + (hidden + M) * W * W + square, g3)
    tl.store(d_hidden_at + (hidden + 2 * M) * W * W + square, g4)
    tl.store(d_last_at + p * W * 2 + w[:, None] * 2 + o[None, :], g5, mask=outer)
    biases = s * 4 * M + m
    tl.store(d_biases_at + biases * W + w, c1)
    tl.store(d_biases_at + (biases + M) * W + w, c2)
    tl.store(d_biases_at + (biases + 2 * M) * W + w, c3)
    tl.store(d_biases_at + (biases + 3 * M) * W + w, c4)
    tl.store(d_last_bias_at + p * 2 + o, c5, mask=o < 2)
    tl.store(loss_at + p, tl.sum(total, 0))
