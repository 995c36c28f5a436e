r"""Adam, gradient descent and the stopping rule, for many networks at once.

The tensors hold sθ with s = 1/√n for the weights θ = (W, b), and (dL/dθ)/s for their gradients
(`_network`). In these units Adam's step η m̂/(√v̂ + ε) of θ is η s² m̂/(s √v̂ + ε) of sθ, and the
step η dL/dθ of gradient descent is η s² times the gradient. The constants of Adam are those of
[kingma2015].

A network stops when its training loss is zero (for the squared loss: no larger than rounding), when
it diverges (a loss that is not finite, or 10²⁰ times the loss of F = 0), or when it has converged:
its mean loss over the last window of steps is greater than (1 - `tolerance`) times the mean over
the window before, and no more than twice that mean. A network that has stopped does not change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doubletrouble.networks._device import elementwise
from doubletrouble.networks._network import NetworkMember, NetworkWeights

BETAS = (0.9, 0.999)
EPSILON = 1e-8

RUNNING, ZERO, CONVERGED, DIVERGED = range(4)
STATUS = ("max_steps", "zero", "converged", "diverged")
"""The status of each code; a network that is still running at the end reached the step limit."""

_DIVERGED = 1e20  # times the loss of F = 0; early steps of Adam reach 1e10 and recover
_GROWING = 2.0  # times the mean of the window before

_SHUFFLES = 1  # random stream of a member, apart from that of its weights


@dataclass(frozen=True, kw_only=True, eq=False)
class Adam:
    """Adam: means of the gradient and of its square, and the number of steps."""

    first: NetworkWeights
    second: NetworkWeights
    steps: Tensor  # ()
    betas: Tensor  # (2,)
    epsilon: float

    @classmethod
    def start(cls, weights: NetworkWeights, epsilon: float = EPSILON) -> "Adam":
        """Return the state before the first step."""
        device = weights.first.device
        return cls(
            first=weights.zeros_like(),
            second=weights.zeros_like(),
            steps=torch.zeros((), dtype=torch.float64, device=device),
            betas=torch.tensor(BETAS, dtype=torch.float64, device=device),
            epsilon=epsilon,
        )

    def take(self, members: Tensor) -> "Adam":
        """Return the state of some of the networks."""
        return replace(self, first=self.first.take(members), second=self.second.take(members))

    def step_(
        self,
        weights: NetworkWeights,
        gradient: NetworkWeights,
        scale: NetworkWeights,
        rate: Tensor,
        running: Tensor,
    ) -> None:
        """Make a step, in place, with the networks that are `running`; `rate` is (M,)."""
        self.steps.add_(1)
        corrections = 1 - self.betas**self.steps
        eta, alive = rate[:, None, None], running[:, None, None]
        update = elementwise(rate.device, _adam_)
        parts = (weights, self.first, self.second, gradient, scale)
        for theta, m, v, g, s in zip(*parts, strict=True):
            update(theta, m, v, g, s, eta, self.epsilon, alive, corrections)


def gradient_step_(
    weights: NetworkWeights,
    gradient: NetworkWeights,
    scale: NetworkWeights,
    rate: Tensor,
    running: Tensor,
) -> None:
    """Make a step of gradient descent, in place, with the networks that are `running`."""
    update = elementwise(rate.device, _descend_)
    for theta, g, s in zip(weights, gradient, scale, strict=True):
        update(theta, g, s, rate[:, None, None], running[:, None, None])


def _adam_(
    theta: Tensor,
    first: Tensor,
    second: Tensor,
    slope: Tensor,
    scale: Tensor,
    rate: Tensor,
    epsilon: float,
    running: Tensor,
    corrections: Tensor,
) -> None:
    first.lerp_(slope, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
    root = (second / corrections[1]).sqrt_()
    step = (first / corrections[0]).mul_(scale * scale * rate)
    step.div_(root.mul_(scale).add_(epsilon))
    theta.sub_(torch.where(running, step, 0.0))


def _descend_(theta: Tensor, slope: Tensor, scale: Tensor, rate: Tensor, running: Tensor) -> None:
    theta.sub_(torch.where(running, slope * (scale * scale * rate), 0.0))


class SampleOrder:
    """Minibatches of stochastic gradient descent, shuffled in every epoch.

    They depend on the member and the step only. Samples that do not fill a minibatch are left out
    of an epoch.
    """

    def __init__(
        self, members: Sequence[NetworkMember], n_samples: int, size: int, device: torch.device
    ) -> None:
        self._members, self._n, self._device = members, n_samples, device
        self._size = min(size, n_samples)
        self.epoch = n_samples // self._size  # steps
        self._shuffled_for, self._shuffled = -1, torch.empty(0)

    def minibatch(self, step: int) -> Tensor:
        """Return the samples of a step, (M, size)."""
        epoch, batch = divmod(step, self.epoch)
        if epoch != self._shuffled_for:
            orders = np.stack([self._permutation(m, epoch) for m in self._members])
            self._shuffled_for, self._shuffled = epoch, torch.from_numpy(orders).to(self._device)
        return self._shuffled[:, batch * self._size : (batch + 1) * self._size]

    def _permutation(self, member: NetworkMember, epoch: int) -> npt.NDArray[np.int64]:
        key = (member.number, member.width, _SHUFFLES, epoch)
        rng = np.random.default_rng(np.random.SeedSequence(member.seed, spawn_key=key))
        return rng.permutation(self._n)


@dataclass(frozen=True, kw_only=True, eq=False)
class StoppingRule:
    """The state of the stopping rule, (M,) each; changed in place, as a CUDA graph requires.

    The names of the fields are part of the format of checkpoints.
    """

    status: Tensor
    steps: Tensor  # updates made
    loss: Tensor  # at the last step
    known: Tensor  # on all samples, when last computed
    goal: Tensor  # a loss up to this is zero
    first: Tensor  # the loss of F = 0
    window_sum: Tensor  # of the losses in this window
    before: Tensor  # of the losses in the window before

    @classmethod
    def start(cls, count: int, device: torch.device) -> "StoppingRule":
        """Return the state before the first step."""

        def full(value: float, dtype: torch.dtype = torch.float64) -> Tensor:
            return torch.full((count,), value, dtype=dtype, device=device)

        return cls(
            status=full(RUNNING, torch.int64),
            steps=full(0, torch.int64),
            loss=full(math.nan),
            known=full(math.nan),
            goal=full(0.0),
            first=full(1.0),
            window_sum=full(0.0),
            before=full(math.inf),
        )

    @property
    def running(self) -> Tensor:
        """Networks that are still trained."""
        return self.status == RUNNING

    def take(self, members: Tensor) -> "StoppingRule":
        """Return the state of some of the networks."""
        parts = {f.name: getattr(self, f.name)[members].clone() for f in fields(self)}
        return StoppingRule(**parts)

    def before_step(self, loss: Tensor) -> Tensor:
        """Record the loss before a step; return the networks that make the step."""
        record = elementwise(loss.device, _record_)
        record(loss, self.status, self.loss, self.window_sum, self.goal, self.first, self.steps)
        return self.running

    def after_last_step(self, loss: Tensor) -> None:
        """Record the loss after the last step."""
        steps = self.steps.clone()
        _record_(loss, self.status, self.loss, self.window_sum, self.goal, self.first, steps)

    def end_window(self, tolerance: float, loss: Tensor) -> None:
        """Stop the networks that have converged, with the `loss` after the last step."""
        now, before = self.window_sum, self.before
        flat = (now > (1 - tolerance) * before) & (now <= _GROWING * before)
        stopped = self.running & flat
        self.status.copy_(torch.where(stopped, CONVERGED, self.status))
        self.loss.copy_(torch.where(stopped, loss, self.loss))
        self.before.copy_(self.window_sum)
        self.window_sum.zero_()


def _record_(
    loss: Tensor,
    status: Tensor,
    last: Tensor,
    window_sum: Tensor,
    goal: Tensor,
    first: Tensor,
    steps: Tensor,
) -> None:
    running = status == RUNNING
    last.copy_(torch.where(running, loss, last))
    window_sum.add_(torch.where(running, loss, 0.0))
    code = torch.where(loss <= _DIVERGED * first, RUNNING, DIVERGED)  # a NaN compares as false
    code = torch.where(loss <= goal, ZERO, code)
    status.copy_(torch.where(running, code, status))
    steps.add_(status == RUNNING)
