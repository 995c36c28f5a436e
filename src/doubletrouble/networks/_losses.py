r"""Losses of an output F and its target t = ±1: the mean over samples and both outputs.

Each function returns ℓ and dℓ/dF, element by element. The target of an output is the label for the
second class and minus the label for the first; with noise on the labels it is any real number.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

_Pair = tuple[Tensor, Tensor]


class Loss(NamedTuple):
    """A loss, the largest ℓ'' it has, and whether it can be exactly 0 on a set of measure > 0."""

    pair: Callable[[Tensor, Tensor], _Pair]
    curvature: float
    reaches_zero: bool


def _hinge(F: Tensor, t: Tensor) -> _Pair:
    value = torch.relu(1 - t * F)
    return value, torch.where(value > 0, -t, 0.0)


def _squared_hinge(F: Tensor, t: Tensor) -> _Pair:
    short = torch.relu(1 - t * F)
    return short * short, -2 * t * short


def _squared(F: Tensor, t: Tensor) -> _Pair:
    off = F - t
    return off * off, 2 * off


def _logistic(F: Tensor, t: Tensor) -> _Pair:
    margin = t * F
    return torch.nn.functional.softplus(-margin), -t * torch.sigmoid(-margin)


LOSSES = {
    "hinge": Loss(_hinge, 1.0, True),  # no curvature of its own: a step of the others' size
    "squared_hinge": Loss(_squared_hinge, 2.0, True),
    "squared": Loss(_squared, 2.0, False),
    "logistic": Loss(_logistic, 0.25, False),
}
"""The losses by name; the authors' script trains with the linear hinge."""
