r"""How each network of a batch fares, and the rule by which it stops.

A network stops when its training loss is exactly zero (for losses that only approach zero: no
larger than rounding), when it diverges (a loss that is not finite, or beyond all hope), or when it
has converged: its mean over the last window of steps is less than a share `tolerance` below the
mean over the window before, and no more than twice that: a loss that grows has not converged. From
then on it is left as it is; how the others fare, and how often one looks, is nothing to it.
"""

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from doubletrouble.networks import _kernels as kernels

RUNNING, ZERO, CONVERGED, DIVERGED = range(4)
_HOPELESS = 1e20  # times the loss at the start; Adam's first steps reach 1e10, and come back
_GROWING = 2.0  # times the mean of the window before

STATUS = ("max_steps", "zero", "converged", "diverged")
"""Why each network stopped; one that never did ran into the limit of steps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Progress:
    """A number for each of M networks; changed in place, for a recorded step to be replayed."""

    status: Tensor
    steps: Tensor  # updates made
    loss: Tensor  # at the last step
    known: Tensor  # on all samples, when it was last computed
    goal: Tensor  # a loss no larger than this is zero
    first: Tensor  # the loss of F = 0
    window_sum: Tensor  # of the losses in this window
    before: Tensor  # the same of the window before

    @classmethod
    def start(cls, count: int, device: torch.device) -> "Progress":
        """At the first step."""

        def filled(value: float, dtype: torch.dtype = torch.float64) -> Tensor:
            return torch.full((count,), value, dtype=dtype, device=device)

        return cls(
            status=filled(RUNNING, torch.int64), steps=filled(0, torch.int64),
            loss=filled(math.nan), known=filled(math.nan), goal=filled(0.0), first=filled(1.0),
            window_sum=filled(0.0), before=filled(math.inf),
        )  # fmt: skip

    @property
    def running(self) -> Tensor:
        """Which networks are still trained."""
        return self.status == RUNNING

    def take(self, members: Tensor) -> "Progress":
        """Some of the networks."""
        return Progress(**{f.name: getattr(self, f.name)[members].clone() for f in fields(self)})

    def see(self, loss: Tensor) -> Tensor:
        """Take note of the loss at a step; which networks are to make it."""
        note = kernels.on(loss.device, _note_)
        note(loss, self.status, self.loss, self.window_sum, self.goal, self.first, self.steps)
        return self.running

    def judge(self, loss: Tensor) -> None:
        """Stop those with a loss that is zero or hopeless, at the end of all steps."""
        steps = self.steps.clone()
        _note_(loss, self.status, self.loss, self.window_sum, self.goal, self.first, steps)

    def end_of_window(self, tolerance: float, loss: Tensor) -> None:
        """Stop those that have converged, at the `loss` that the last step led to."""
        now, before = self.window_sum, self.before
        flat = (now > (1 - tolerance) * before) & (now <= _GROWING * before)
        stopped = self.running & flat
        self.status.copy_(torch.where(stopped, CONVERGED, self.status))
        self.loss.copy_(torch.where(stopped, loss, self.loss))
        self.before.copy_(self.window_sum)
        self.window_sum.zero_()


def _note_(
    loss: Tensor, status: Tensor, last: Tensor, window_sum: Tensor, goal: Tensor, first: Tensor,
    steps: Tensor,
) -> None:  # fmt: skip
    was = status == RUNNING
    last.copy_(torch.where(was, loss, last))
    window_sum.add_(torch.where(was, loss, 0.0))
    found = torch.where(loss <= _HOPELESS * first, RUNNING, DIVERGED)  # neither is NaN
    found = torch.where(loss <= goal, ZERO, found)
    status.copy_(torch.where(was, found, status))
    steps.add_(status == RUNNING)
