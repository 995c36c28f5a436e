"""One batch of networks in training: every step works on all of them.

On a GPU the step is recorded as a CUDA graph and replayed, on a stream of its own. Networks that
have stopped do not change, and are dropped from the batch.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from doubletrouble.networks._device import new_stream, tf32_products
from doubletrouble.networks._losses import LOSSES, largest_curvature
from doubletrouble.networks._network import (
    EVERY,
    OUTPUTS,
    Architecture,
    Linearized,
    NetworkMember,
    NetworkWeights,
    RowSelection,
    Samples,
    Scaled,
    initial,
    misclassified,
    rows_of,
    scales,
    scores_at,
    weighted_norm,
)
from doubletrouble.networks._optimizers import (
    DIVERGED,
    EPSILON,
    RUNNING,
    STATUS,
    Adam,
    SampleOrder,
    StoppingRule,
    gradient_step_,
)
from doubletrouble.networks._settings import LINEAR_AS, Training, TrainingOutcome

_WARM_UP = 3  # steps before one is recorded
_STIFF = 10.0  # below this α the curvature grows in training
_CHECK_SECONDS = 0.4  # between checks for networks that have stopped
_MAX_STEPS = 2000  # between checks
_DROP_SHARE = {"cpu": 0.0, "cuda": 0.2}  # of a batch that must have stopped to be dropped


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Networks to train together, all with α < ∞ or all linearized, padded to one shape."""

    indices: tuple[int, ...]  # in the list of all members
    members: tuple[NetworkMember, ...]
    architecture: Architecture
    blocks: tuple[slice, ...] = (EVERY,)  # of samples, one after the other in a step
    member_bytes: float = 0.0  # memory of one network in training

    @property
    def bytes(self) -> float:
        """Memory of all networks."""
        return self.member_bytes * len(self.indices)


class Program:
    """The networks of a batch in training."""

    def __init__(self, batch: Batch, samples: Samples, training: Training) -> None:
        self.batch, self._samples, self._training = batch, samples, training
        self.indices, self.members = list(batch.indices), list(batch.members)
        self._device, self._loss = samples.x.device, LOSSES[training.loss]
        self._linear = math.isinf(self.members[0].laziness)
        self._stream = new_stream() if samples.x.is_cuda else None
        self._steps, self._started = 10, 0.0  # until the next check
        self.time = 0
        self.is_consistent = True  # False within a change of the state, and after an error in it
        with self.on_stream():
            self._initialize()

    def on_stream(self) -> Any:
        """Return the context of the stream of this batch; no effect on a CPU."""
        return torch.cuda.stream(self._stream)

    def _initialize(self) -> None:
        dtype = self._samples.x.dtype
        options = (self.batch.architecture, dtype, str(self._device))
        self._theta0, self._scale = initial(self.members, *options), scales(self.members, *options)
        self.weights = self._theta0.zeros_like() if self._linear else self._theta0.copy()
        alpha = [1.0 if self._linear else m.laziness for m in self.members]
        self._alpha = torch.tensor(alpha, dtype=dtype, device=self._device)
        epsilon = EPSILON * (LINEAR_AS if self._linear else 1.0)
        self._adam = Adam.start(self.weights, epsilon) if self._training.by_adam else None
        self.stopping = StoppingRule.start(len(self.members), self._device)
        self._prepare()
        self._rate = self._rates()  # (M,)
        t = self._targets.double()
        values, _ = self._loss.value_and_slope(torch.zeros_like(t), t)
        self.stopping.first.copy_(values.mean((1, 2)))
        if self._training.loss == "squared":  # zero up to rounding
            rounding = 4 * torch.finfo(dtype).eps * self._alpha.double().clamp_min(1.0)
            self.stopping.goal.copy_(rounding**2 * self.stopping.first)

    def _prepare(self) -> None:
        """Set everything that follows from the members, their weights and their samples."""
        self._x, self._targets = self._samples.of(self.members)
        self._lazy = self._function(EVERY, self._x, self.batch.blocks)
        self._gradient = self.weights.zeros_like()
        self._graph: Any = None
        n, size = self._x.shape[1], self._training.batch_size
        self._order = SampleOrder(self.members, n, size, self._device) if size else None

    def _function(
        self, which: Tensor | slice, x: Tensor, blocks: Sequence[slice] = (EVERY,)
    ) -> Scaled | Linearized:
        """Return F of some networks at the inputs x."""
        weights, theta0 = self.weights, self._theta0
        if isinstance(which, Tensor):
            weights, theta0 = weights.take(which), theta0.take(which)
        if self._linear:
            return Linearized(weights, theta0, x, blocks)
        return Scaled(weights, theta0, self._alpha[which], x, blocks)

    def _rates(self) -> Tensor:
        """Return the step size of each network."""
        if self._training.by_adam or self._training.learning_rate is not None:
            rates = [self._training.rate(m.laziness) for m in self.members]
            return torch.tensor(rates, dtype=self._x.dtype, device=self._device)
        curvature = self._loss.curvature * largest_curvature(
            self._theta0, self._scale, self._x, self._targets, self.batch.blocks
        )
        rate = (0.5 if self._order else 1.0) / curvature
        if not self._linear:
            rate *= (self._alpha / _STIFF).clamp_max(1.0)
        return rate

    # --- steps ---------------------------------------------------------------------------------

    @property
    def window(self) -> int:
        """Steps of a window of the stopping rule: whole epochs, if there are epochs."""
        epoch = self._order.epoch if self._order else 1
        return -(-self._training.window // epoch) * epoch

    @property
    def work(self) -> int:
        """Steps of all networks that are made or saved."""
        limit, stopped = self._training.max_steps, len(self.batch.indices) - len(self.indices)
        return limit * stopped + self.time * len(self.indices)

    def advance(self, steps: int | None = None) -> None:
        """Make steps; without a number, until the next check or the end of a window."""
        if steps is None:
            left = min(self.window - self.time % self.window, self._training.max_steps - self.time)
            self._steps = steps = min(self._steps, left)
        self._started = time.perf_counter()
        self.is_consistent = False
        with self.on_stream():
            if self._order is not None:
                for step in range(self.time, self.time + steps):
                    self._minibatch_step(self._order, step)
            elif self._x.is_cuda:
                self._replay(steps)
            else:
                for _ in range(steps):
                    self._step()
            self.time += steps
            if steps and self.time % self.window == 0:
                self.stopping.end_window(self._training.tolerance, self._losses())
        self.is_consistent = True

    def _step(self) -> None:
        """Make a step with all samples."""
        self._update(self.stopping.before_step(self._write_gradient(self.batch.blocks)))

    def _minibatch_step(self, order: SampleOrder, step: int) -> None:
        """Make a step with some samples; the loss on all samples is computed once an epoch."""
        if step % order.epoch == 0:
            self.stopping.known.copy_(self._losses())
        running = self.stopping.before_step(self.stopping.known)
        self._write_gradient((order.minibatch(step),))
        self._update(running)

    def _write_gradient(self, blocks: Sequence[RowSelection]) -> Tensor:
        """Compute the gradient of the loss on some samples; return the loss of each network."""
        total: Tensor | float = 0.0
        targets = [rows_of(self._targets, block) for block in blocks]
        count = OUTPUTS * sum(t.shape[1] for t in targets)
        for k, (block, t) in enumerate(zip(blocks, targets, strict=True)):
            value, slope = self._loss.value_and_slope(self._lazy.outputs(block), t)
            total = value.sum((1, 2), dtype=torch.float64) + total
            self._lazy.descend(slope.div_(count), self._gradient, add=k > 0)
        assert isinstance(total, Tensor)
        return total / count

    def _losses(self) -> Tensor:
        """Return the loss of each network on all samples."""
        total = torch.zeros_like(self.stopping.loss)
        for block in self.batch.blocks:
            F, t = self._lazy.outputs(block), rows_of(self._targets, block)
            total += self._loss.value_and_slope(F, t)[0].sum((1, 2), dtype=torch.float64)
        return total / (self._x.shape[1] * OUTPUTS)

    def _update(self, running: Tensor) -> None:
        """Change the weights of the networks that are running."""
        step = self._adam.step_ if self._adam is not None else gradient_step_
        step(self.weights, self._gradient, self._scale, self._rate, running)

    def _replay(self, steps: int) -> None:
        """Make steps on a GPU: a few eager ones, then one is recorded and replayed."""
        if self._graph is None:
            first = min(steps, _WARM_UP)
            side = new_stream()
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

    # --- networks that have stopped --------------------------------------------------------------

    def collect(self) -> list[tuple[int, TrainingOutcome]]:
        """Drop the networks that have stopped; return their indices and outcomes."""
        with self.on_stream():
            at_end = self.time >= self._training.max_steps
            if at_end:
                self.record_final_loss()
            status = self.stopping.status.cpu()
            seconds = max(1e-7, (time.perf_counter() - self._started) / max(1, self._steps))
            self._steps = int(min(_MAX_STEPS, max(1, _CHECK_SECONDS / seconds)))
            stopped = torch.nonzero((status != RUNNING) | at_end).ravel()
            if len(stopped) <= _DROP_SHARE.get(self._device.type, 0.0) * len(self.indices):
                return []
            outcomes = list(self._outcomes(stopped.to(self._device)))
            left = torch.nonzero((status == RUNNING) & (not at_end)).ravel().tolist()
            if left:
                self.keep(left)
            else:
                self.indices = []
            return outcomes

    def record_final_loss(self) -> None:
        """Record the loss after the last step."""
        self.stopping.after_last_step(self._losses())

    def keep(self, positions: Sequence[int]) -> None:
        """Drop all networks but those at some positions of the batch."""
        self.is_consistent = False
        self._graph = None  # frees its memory
        with self.on_stream():
            which = torch.tensor(positions, device=self._device)
            self.indices = [self.indices[k] for k in positions]
            self.members = [self.members[k] for k in positions]
            self.weights, self._theta0 = self.weights.take(which), self._theta0.take(which)
            self._scale, self._alpha = self._scale.take(which), self._alpha[which]
            self._rate, self.stopping = self._rate[which], self.stopping.take(which)
            self._adam = self._adam and self._adam.take(which)
            self._prepare()
        self.is_consistent = True

    def _outcomes(self, which: Tensor) -> Iterator[tuple[int, TrainingOutcome]]:
        positions = which.tolist()
        data = torch.tensor([self.members[k].data for k in positions], device=self._device)
        x_test = self._samples.x_test.expand(len(positions), -1, -1)
        scores = self.scores(which, x_test).double().cpu().numpy()
        wrong = misclassified(self.scores(which, self._samples.x[data]), self._samples.y[data])
        train_error, displacement = wrong.double().mean(1).tolist(), self._displacement(which)
        state = self.stopping.take(which)
        loss, steps, status = state.loss.tolist(), state.steps.tolist(), state.status.tolist()
        for k, position in enumerate(positions):
            diverged = status[k] == DIVERGED or not np.isfinite(scores[k]).all()
            yield (
                self.indices[position],
                TrainingOutcome(
                    scores=np.full_like(scores[k], np.nan) if diverged else scores[k],
                    train_error=math.nan if diverged else train_error[k],
                    train_loss=loss[k],
                    displacement=displacement[k],
                    steps=steps[k],
                    status=STATUS[DIVERGED if diverged else status[k]],
                ),
            )

    def scores(self, which: Tensor, x: Tensor) -> Tensor:
        """Return the scores of some networks at inputs (m, n, D)."""
        with tf32_products(False):
            return scores_at(partial(self._function, which), x)

    def _displacement(self, which: Tensor) -> list[float]:
        """Return α |θ - θ₀| of some networks."""
        moved = self.weights.take(which)
        if not self._linear:
            theta0 = self._theta0.take(which)
            moved = NetworkWeights(*(a - b for a, b in zip(moved, theta0, strict=True)))
        inverse = NetworkWeights(*(1 / s for s in self._scale.take(which)))
        values: list[float] = (self._alpha[which] * weighted_norm(moved, inverse)).tolist()
        return values

    # --- checkpoints -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the members, their padded width, and everything that changes in training.

        The names are part of the format of checkpoints.
        """
        self._synchronize()
        return {
            "time": self.time,
            **{name: tensor.cpu().numpy() for name, tensor in self._changing().items()},
            "places": self.indices,
            "width": self.batch.architecture.width,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `state` of the same members."""
        self._synchronize()
        for name, tensor in self._changing().items():
            tensor.copy_(torch.from_numpy(state[name]))
        self._synchronize()
        self.time = int(state["time"])

    def _synchronize(self) -> None:
        if self._x.is_cuda:
            torch.cuda.synchronize(self._device)

    def _changing(self) -> dict[str, Tensor]:
        """Return all tensors that change in training, by their names in a checkpoint."""
        parts = {"weights": self.weights}
        if self._adam is not None:
            parts |= {"first": self._adam.first, "second": self._adam.second}
        tensors = {f"{p}.{name}": t for p, w in parts.items() for name, t in w._asdict().items()}
        if self._adam is not None:
            tensors["steps"] = self._adam.steps
        rule = {f"progress.{f.name}": getattr(self.stopping, f.name) for f in fields(StoppingRule)}
        return tensors | rule
