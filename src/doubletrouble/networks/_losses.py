r"""Losses of an output F and its target t = ±1, and the curvature that limits gradient descent.

The loss of a network is the mean of ℓ(F, t) over samples and both outputs. The target of the second
output is the label, the target of the first is minus the label; with noise on the labels a target
is any real number.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from doubletrouble.losses import ClassifierLoss
from doubletrouble.networks._network import (
    OUTPUTS,
    Linearized,
    NetworkWeights,
    rows_of,
    weighted_norm,
)

_POWER_STEPS = 30  # the largest eigenvalue need not be precise
_TINY = 1e-30


class TrainingLoss(NamedTuple):
    """A loss: ℓ and dℓ/dF element by element, and an upper bound of ℓ''."""

    value_and_slope: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    curvature: float


def _hinge(F: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    value = torch.relu(1 - t * F)
    return value, torch.where(value > 0, -t, 0.0)


def _squared_hinge(F: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    short = torch.relu(1 - t * F)
    return short * short, -2 * t * short


def _squared(F: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    residual = F - t
    return residual * residual, 2 * residual


def _logistic(F: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    margin = t * F
    return torch.nn.functional.softplus(-margin), -t * torch.sigmoid(-margin)


LOSSES: dict[ClassifierLoss, TrainingLoss] = {
    "hinge": TrainingLoss(
        _hinge, curvature=1.0
    ),  # piecewise linear: steps of the size of the others'
    "squared_hinge": TrainingLoss(_squared_hinge, curvature=2.0),
    "squared": TrainingLoss(_squared, curvature=2.0),
    "logistic": TrainingLoss(_logistic, curvature=0.25),
}
"""The losses by name; the authors' code trains with the hinge loss."""


def largest_curvature(
    theta0: NetworkWeights,
    scale: NetworkWeights,
    x: Tensor,
    targets: Tensor,
    blocks: Sequence[slice],
) -> Tensor:
    """Return the largest eigenvalue of the tangent kernel of each network, per sample: (M,).

    By the power method, starting at the gradient of the loss at initialization.
    """
    direction, out = theta0.zeros_like(), theta0.zeros_like()
    tangent = Linearized(direction, theta0, x, blocks)
    size = torch.ones(len(x), dtype=x.dtype, device=x.device)
    for step in range(_POWER_STEPS):
        for k, block in enumerate(blocks):
            F = tangent.outputs(block)
            slope = F if step else rows_of(targets, block)
            tangent.descend(slope / (x.shape[1] * OUTPUTS), out, add=k > 0)
        size = weighted_norm(out, scale)
        for d, g, s in zip(direction, out, scale, strict=True):
            d.copy_(g * s * s / size[:, None, None].clamp_min(_TINY))
    return size.clamp_min(_TINY)
