"""One batch on its way: steps, looks at who has stopped, and what became of each network."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from torch import Tensor

from doubletrouble.networks import _kernels as kernels
from doubletrouble.networks._batches import Batch
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._program import Program
from doubletrouble.networks._progress import DIVERGED, RUNNING, STATUS
from doubletrouble.networks._samples import Samples
from doubletrouble.networks._settings import Training
from doubletrouble.networks._weights import NetworkMember

_LOOK = 0.4  # seconds between looks at who has stopped
_DROP = {"cpu": 0.0, "cuda": 0.2}  # a larger share of a batch must have stopped to be dropped
BLOCK = 5000  # test points at a time
_MOST_STEPS = 2000  # between looks


class Run:
    """A batch of members that are trained together; `indices` are theirs in the list of all."""

    def __init__(
        self, members: Sequence[NetworkMember], indices: Sequence[int], batch: Batch,
        samples: Samples, training: Training,
    ) -> None:  # fmt: skip
        self.batch, self.indices, self._all = batch, list(indices), len(indices)
        self._samples, self._training = samples, training
        self._device = samples.x.device
        self._stream = kernels.new_stream() if samples.x.is_cuda else None
        with self._streaming():
            self.program = Program(
                [members[k] for k in indices], batch.architecture, samples, training,
                blocks=batch.blocks,
            )  # fmt: skip
        self._steps, self._started = 10, 0.0

    @contextmanager
    def _streaming(self) -> Iterator[None]:
        with torch.cuda.stream(self._stream) if self._stream else nullcontext():
            yield

    @property
    def is_over(self) -> bool:
        """Whether all have stopped."""
        return not self.indices

    @property
    def work(self) -> int:
        """Steps of all networks that are done or saved."""
        limit = self._training.max_steps
        return limit * (self._all - len(self.indices)) + self.program.time * len(self.indices)

    def advance(self) -> None:
        """Make some steps, at most to the end of a window."""
        window = self.program.window
        room = window - self.program.time % window
        room = min(room, self._training.max_steps - self.program.time)
        self._steps = min(self._steps, room)
        self._started = time.perf_counter()
        with self._streaming():
            self.program.advance(self._steps)

    def settle(self) -> list[tuple[int, TrainingOutcome]]:
        """What became of those that have stopped since; they are dropped."""
        with self._streaming():
            at_end = self.program.time >= self._training.max_steps
            if at_end:
                self.program.judge()
            status = self.program.progress.status.cpu()
            self._pace()
            stopped = torch.nonzero((status != RUNNING) | at_end).ravel()
            if len(stopped) <= _DROP.get(self._device.type, 0.0) * len(self.indices):
                return []
            found = list(self._outcomes(stopped.to(self._device)))
            left = torch.nonzero((status == RUNNING) & (not at_end)).ravel()
            self.indices = [self.indices[k] for k in left.tolist()]
            if self.indices:
                self.program.keep(left.to(self._device))
            return found

    def _pace(self) -> None:
        """As many steps as fit between two looks."""
        each = max(1e-7, (time.perf_counter() - self._started) / self._steps)
        self._steps = int(min(_MOST_STEPS, max(1, _LOOK / each)))

    def keep(self, indices: Sequence[int]) -> None:
        """Drop all members but some."""
        which = torch.tensor([self.indices.index(k) for k in indices], device=self._device)
        with self._streaming():
            self.program.keep(which)
        self.indices = list(indices)

    def _outcomes(self, which: Tensor) -> Iterator[tuple[int, TrainingOutcome]]:
        program, chosen = self.program, which.tolist()
        data = torch.tensor([program.members[k].data for k in chosen], device=which.device)
        x, y = self._samples.x[data], self._samples.y[data]
        test = self._samples.x_test.expand(len(chosen), -1, -1)
        scores = program.scores(which, test, BLOCK).double().cpu().numpy()
        missed = wrong(program.scores(which, x, BLOCK), y).double().mean(1).tolist()
        moved = program.displacement(which).tolist()
        rows = program.progress.take(which)
        lists = (rows.loss.tolist(), rows.steps.tolist(), rows.status.tolist())
        for k, index in enumerate(chosen):
            loss, steps, status = (column[k] for column in lists)
            lost = status == DIVERGED or not np.isfinite(scores[k]).all()
            yield self.indices[index], TrainingOutcome(
                scores=np.full_like(scores[k], np.nan) if lost else scores[k],
                train_error=float("nan") if lost else missed[k],
                train_loss=loss, displacement=moved[k], steps=steps,
                status=STATUS[DIVERGED if lost else status],
            )  # fmt: skip


def wrong(scores: Tensor, y: Tensor) -> Tensor:
    """1 on the wrong side, one half on neither."""
    return (1 - torch.sign(scores) * torch.sign(y)) / 2
