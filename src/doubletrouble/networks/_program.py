"""M networks in training, as one program: every step works on all of them.

On a GPU the step is recorded once and replayed. Networks that have stopped are left as they are
(`progress`), and may be dropped.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from doubletrouble.networks import _kernels as kernels
from doubletrouble.networks._curvature import largest_curvature
from doubletrouble.networks._lazy import (
    EVERY,
    Lazy,
    Linearized,
    RowSelection,
    Scaled,
    count_of,
    rows_of,
)
from doubletrouble.networks._losses import LOSSES
from doubletrouble.networks._optimizers import EPSILON, AdamMoments, adam_, descend_
from doubletrouble.networks._order import Order
from doubletrouble.networks._progress import Progress
from doubletrouble.networks._samples import Samples
from doubletrouble.networks._settings import LINEAR_AS, Training
from doubletrouble.networks._weights import (
    OUTPUTS,
    Architecture,
    NetworkMember,
    NetworkWeights,
    initial,
    scales,
    weighted_norm,
)

if TYPE_CHECKING:
    from doubletrouble.networks._fused import Gradients

_WARM_UP = 3  # steps before one is recorded
_STIFF = 10.0  # the curvature of networks less lazy than this grows while they learn


class Program:
    """Networks that are finite all, or linearized all, in training."""

    def __init__(
        self, members: Sequence[NetworkMember], architecture: Architecture, samples: Samples,
        training: Training, *, blocks: Sequence[slice] = (EVERY,),
    ) -> None:  # fmt: skip
        self.members, self._samples, self._blocks = list(members), samples, tuple(blocks)
        self._training, self._loss = training, LOSSES[training.loss]
        dtype, device = samples.x.dtype, samples.x.device
        where = (architecture, dtype, str(device))
        self._linear = math.isinf(members[0].laziness)
        self._theta0, self._scale = initial(members, *where), scales(members, *where)
        self.weights = self._theta0.zeros_like() if self._linear else self._theta0.copy()
        alpha = [1.0 if self._linear else m.laziness for m in members]
        self._alpha = torch.tensor(alpha, dtype=dtype, device=device)
        self.moments = AdamMoments.of(self.weights) if training.by_adam else None
        self._epsilon = EPSILON * (LINEAR_AS if self._linear else 1.0)
        self.progress = Progress.start(len(members), device)
        self.time = 0
        self._assemble()
        self._rate = self._rates()  # (M, 1, 1)
        self._set_goal()

    def _assemble(self) -> None:
        """What follows from the members, their weights and their samples."""
        self._x, self._targets = self._samples.of(self.members)
        self._lazy = self._function(EVERY, self._x, self._blocks)
        self._slope = self.weights.zeros_like()
        self._graph: Any = None
        self._fused = self._fuse()
        n, size = self._x.shape[1], self._training.batch_size
        self._order = Order(self.members, n, size, self._x.device) if size else None

    def _function(
        self, which: Tensor | slice, x: Tensor, blocks: Sequence[slice] = (EVERY,)
    ) -> Lazy:
        """F of some networks at other inputs."""
        weights, theta0 = self.weights, self._theta0
        if isinstance(which, Tensor):
            weights, theta0 = weights.take(which), theta0.take(which)
        if self._linear:
            return Linearized(weights, theta0, x, blocks)
        return Scaled(weights, theta0, self._alpha[which], x, blocks)

    def _fuse(self) -> "Gradients | None":
        """The gradient in one kernel, where there is one."""
        whole = self._blocks == (EVERY,) and not self._training.batch_size
        possible = self._x.is_cuda and whole and isinstance(self._lazy, Scaled)
        if not (possible and kernels.can_compile()):
            return None
        from doubletrouble.networks._fused import Gradients, suits

        if not suits(self.weights, self._x, self._training.loss):
            return None
        given = (self._theta0, self._x, self._targets, self._alpha, self._training.loss)
        return Gradients(self.weights, *given)

    def _rates(self) -> Tensor:
        """The step size of each network."""
        given = self._training.learning_rate
        if self._training.by_adam or given is not None:
            rates = [self._training.rate(m.laziness) for m in self.members]
            found = torch.tensor(rates, dtype=self._x.dtype, device=self._x.device)
        else:
            steepest = self._loss.curvature * largest_curvature(
                self._theta0, self._scale, self._x, self._targets, self._blocks
            )
            found = (0.5 if self._order else 1.0) / steepest
            if not self._linear:
                found *= (self._alpha / _STIFF).clamp_max(1.0)
        return found[:, None, None]

    def _set_goal(self) -> None:
        """The loss of F = 0; the squared loss is zero when rounding is all that is left of it."""
        t, first = self._targets.double(), self.progress.first
        first.copy_(self._loss.pair(torch.zeros_like(t), t)[0].mean((1, 2)))
        if self._training.loss == "squared":
            lost = 4 * torch.finfo(self._x.dtype).eps * self._alpha.double().clamp_min(1.0)
            self.progress.goal.copy_(lost**2 * first)

    @property
    def window(self) -> int:
        """Steps of a window of the rule of convergence: whole epochs, if there are epochs."""
        epoch = self._order.epoch if self._order else 1
        return -(-self._training.window // epoch) * epoch

    def advance(self, steps: int) -> None:
        """Make some steps; the window of the rule of convergence may end after them."""
        if self._order is not None:
            for _ in range(steps):
                self._small_step(self._order)
        elif self._x.is_cuda:
            self._replay(steps)
        else:
            for _ in range(steps):
                self._step()
        self.time += steps
        if self.time % self.window == 0:
            self.progress.end_of_window(self._training.tolerance, self._losses())

    def _step(self) -> None:
        """A step on all samples."""
        loss = self._fused.into(self._slope) if self._fused else self._descend(self._blocks)
        self._update(self.progress.see(loss))

    def _small_step(self, order: Order) -> None:
        """A step on a batch; the loss on all samples is known as of the last epoch."""
        if order.at_start:
            self.progress.known.copy_(self._losses())
        running = self.progress.see(self.progress.known)
        self._descend((order.next(),))
        self._update(running)

    def _descend(self, blocks: Sequence[RowSelection]) -> Tensor:
        """The gradient of the loss on some samples; return the loss of each network."""
        total: Tensor | float = 0.0
        count = OUTPUTS * sum(count_of(self._x, block) for block in blocks)
        for k, block in enumerate(blocks):
            F = self._lazy.outputs(block)
            value, slope = self._loss.pair(F, rows_of(self._targets, block))
            total = value.sum((1, 2), dtype=torch.float64) + total
            self._lazy.descend(slope.div_(count), self._slope, more=k > 0)
        assert isinstance(total, Tensor)
        return total / count

    def _losses(self) -> Tensor:
        """The loss of each network on all samples."""
        total = torch.zeros_like(self.progress.loss)
        for block in self._blocks:
            value, _ = self._loss.pair(self._lazy.outputs(block), rows_of(self._targets, block))
            total += value.sum((1, 2), dtype=torch.float64)
        return total / (self._x.shape[1] * OUTPUTS)

    def _update(self, running: Tensor) -> None:
        """Move the weights of the networks that are trained."""
        alive = running[:, None, None]
        device = self._x.device
        if self.moments is None:
            for theta, g, s in zip(self.weights, self._slope, self._scale, strict=True):
                kernels.on(device, descend_)(theta, g, s, self._rate, alive)
            return
        corrections = self.moments.corrections()
        parts = (self.weights, self.moments.first, self.moments.second, self._slope, self._scale)
        for theta, m, v, g, s in zip(*parts, strict=True):
            kernels.on(device, adam_)(theta, m, v, g, s, self._rate, self._epsilon, alive,
                                      corrections)  # fmt: skip

    def _replay(self, steps: int) -> None:
        """Steps on a GPU: the first are made one by one, then one is recorded and replayed."""
        if self._graph is None:
            first = min(steps, _WARM_UP)
            side = kernels.new_stream()
            with torch.cuda.stream(side):
                for _ in range(first):
                    self._step()
            torch.cuda.current_stream().wait_stream(side)
            steps -= first
            if not steps:
                return
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._step()
        for _ in range(steps):
            self._graph.replay()

    def keep(self, which: Tensor) -> None:
        """Drop all networks but some."""
        self._graph = None
        self.members = [self.members[k] for k in which.tolist()]
        self.weights, self._theta0 = self.weights.take(which), self._theta0.take(which)
        self._scale, self._alpha = self._scale.take(which), self._alpha[which]
        self._rate, self.progress = self._rate[which], self.progress.take(which)
        self.moments = self.moments and self.moments.take(which)
        self._assemble()
        if self._order is not None:
            self._order.resume(self.time)

    def judge(self) -> None:
        """See the loss after the last step."""
        self.progress.judge(self._losses())

    @property
    def size(self) -> int:
        """Bytes of a `state`."""
        return sum(tensor.nbytes for tensor in self._changing().values())

    def state(self) -> dict[str, Any]:
        """Everything that changes in training, as NumPy arrays."""
        self._come_to_rest()
        arrays = {name: t.cpu().numpy() for name, t in self._changing().items()}
        return {"time": self.time, **arrays}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state` of the same members."""
        self._come_to_rest()
        for name, tensor in self._changing().items():
            tensor.copy_(torch.from_numpy(state[name]))
        self._come_to_rest()
        self.time = int(state["time"])
        if self._order is not None:
            self._order.resume(self.time)

    def _come_to_rest(self) -> None:
        """Wait for what is on its way on another stream of a GPU."""
        if self._x.is_cuda:
            torch.cuda.synchronize(self._x.device)

    def _changing(self) -> dict[str, Tensor]:
        found = _named("weights", self.weights)
        if self.moments is not None:
            found |= _named("first", self.moments.first) | _named("second", self.moments.second)
            found["steps"] = self.moments.steps
        rows = {f.name: getattr(self.progress, f.name) for f in fields(Progress)}
        return found | {f"progress.{name}": tensor for name, tensor in rows.items()}

    def scores(self, which: Tensor, x: Tensor, block: int) -> Tensor:
        """Half the difference of the outputs of some networks at inputs (m, n, D)."""
        found = []
        for start in range(0, x.shape[1], block):
            with kernels.full_precision():
                F = self._function(which, x[:, start : start + block]).outputs()
            found.append((F[:, :, 1] - F[:, :, 0]) / 2)
        return torch.cat(found, dim=1)

    def displacement(self, which: Tensor) -> Tensor:
        """α |θ - θ₀| of some networks, which has a limit as α → ∞."""
        moved = self.weights.take(which)
        if not self._linear:
            theta0 = self._theta0.take(which)
            moved = NetworkWeights(*(a - b for a, b in zip(moved, theta0, strict=True)))
        scale = self._scale.take(which)
        inverse = NetworkWeights(*(1 / s for s in scale))
        return self._alpha[which] * weighted_norm(moved, inverse)


def _named(prefix: str, weights: NetworkWeights) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in weights._asdict().items()}
