"""How steep the loss of a network may become, which limits the steps of gradient descent."""

from collections.abc import Sequence

import torch
from torch import Tensor

from doubletrouble.networks._lazy import Linearized, rows_of
from doubletrouble.networks._weights import OUTPUTS, NetworkWeights, weighted_norm

_STEPS = 30  # of the power method, whose result need not be precise
_TINY = 1e-30


def largest_curvature(
    theta0: NetworkWeights,
    scale: NetworkWeights,
    x: Tensor,
    targets: Tensor,
    blocks: Sequence[slice],
) -> Tensor:
    """The largest eigenvalue of the tangent kernel over all samples and outputs, per sample: (M,).

    By the power method, from the gradient of the loss at the start.
    """
    direction, out = theta0.zeros_like(), theta0.zeros_like()
    tangent = Linearized(direction, theta0, x, blocks)
    size = torch.ones(len(x), dtype=x.dtype, device=x.device)
    for step in range(_STEPS):
        for k, block in enumerate(blocks):
            F = tangent.outputs(block)
            slope = F if step else rows_of(targets, block)
            tangent.descend(slope / (x.shape[1] * OUTPUTS), out, more=k > 0)
        size = weighted_norm(out, scale)
        for d, g, s in zip(direction, out, scale, strict=True):
            d.copy_(g * s * s / size[:, None, None].clamp_min(_TINY))
    return size.clamp_min(_TINY)
