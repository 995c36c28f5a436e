"""Train all members, in as few batches as memory allows.

Several batches are on their way at once. On a GPU each has a stream of its own, as narrow networks
and the last stragglers of a wide batch leave most of it idle. On a processor each has a thread of
its own: threads that share one small matrix product wait for each other most of the time, and on a
busy machine nearly all of it. Networks that have stopped are dropped.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from doubletrouble.networks._batches import Batch, batches
from doubletrouble.networks._checkpoint import Checkpoint
from doubletrouble.networks._device import TorchDevice, one_thread
from doubletrouble.networks._interrupts import held_back
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._run import Run
from doubletrouble.networks._samples import Samples
from doubletrouble.networks._settings import Training
from doubletrouble.networks._tangent import solved
from doubletrouble.networks._weights import NetworkMember
from doubletrouble.parameters import FloatArray

Done = Callable[[int, TrainingOutcome], None]


def train_members(
    members: Sequence[NetworkMember], x: FloatArray, y: FloatArray, x_test: FloatArray, *,
    depth: int, training: Training, device: TorchDevice, memory: float | None = None,
    checkpoint: Checkpoint | None = None, known: Mapping[int, TrainingOutcome] | None = None,
    progress: bool = True, done: Done | None = None,
) -> list[TrainingOutcome]:  # fmt: skip
    """Train every member; x (S, N, D) and y (S, N) are the training sets that members name.

    `done` is told of each member as soon as it has stopped. What is `known`, or in a checkpoint, is
    not done again.
    """
    before = {**(checkpoint.outcomes() if checkpoint else {}), **(known or {})}
    with device.computing(), _bar(members, before, training, progress) as bar:
        samples = Samples(x=_put(x, device), y=_put(y, device), x_test=_put(x_test, device))
        team = _Team(members, samples, training, device, checkpoint, bar, done)
        for k, outcome in before.items():
            team.take(k, outcome)
        easy = [k for k, member in enumerate(members) if training.solves(member.laziness)]
        team.solve([k for k in easy if k not in before], depth)
        _, n_samples, dim = x.shape
        plan = batches(
            members, dim=dim, depth=depth, n_samples=n_samples, device=device, memory=memory
        )
        team.train(plan, device.free_memory if memory is None else memory)
        found = team.found
    return [found[k] for k in range(len(members))]


class _Team:
    """Batches on their way, and what has come of them."""

    def __init__(
        self, members: Sequence[NetworkMember], samples: Samples, training: Training,
        device: TorchDevice, checkpoint: Checkpoint | None, bar: Any, done: Done | None,
    ) -> None:  # fmt: skip
        self._members, self._samples, self._training = members, samples, training
        self._device, self._checkpoint, self._bar, self._done = device, checkpoint, bar, done
        self._runs: list[Run] = []
        self._tight = False  # a batch did not fit, and may have left something behind
        self.found: dict[int, TrainingOutcome] = {}

    def take(self, index: int, outcome: TrainingOutcome) -> None:
        """Note what became of a member."""
        self.found[index] = outcome
        if self._done is not None:
            self._done(index, outcome)

    def solve(self, indices: Sequence[int], depth: int) -> None:
        """Networks that need no training."""
        for k in indices:
            try:
                outcome = solved(self._members[k], self._samples, depth=depth)
            except (RuntimeError, MemoryError) as error:
                if not _lacks_memory(error):
                    raise
                n_samples = self._samples.x.shape[1]
                raise MemoryError(
                    f"the tangent kernel of {n_samples} samples must fit into memory, and does "
                    "not; optimizer='adam' needs less"
                ) from error
            self.take(k, outcome)
            self._bar.update(self._training.max_steps)
            self._save()

    def train(self, plan: list[Batch], memory: float) -> None:
        """All batches, to the end."""
        with (
            held_back() if self._checkpoint else nullcontext(lambda: False) as interrupted,
            ThreadPoolExecutor(self._device.at_once, initializer=one_thread) as self._pool,
        ):
            while plan or self._runs:
                self._fill(plan, memory)
                # a GPU has work from all of them before we wait for one
                self._each(self._started(Run.advance), plan)
                self._each(self._settle, plan)
                stop = interrupted()
                self._save(now=stop)
                if stop:
                    raise KeyboardInterrupt
        self._save(now=True)

    def _save(self, *, now: bool = False) -> None:
        if self._checkpoint is not None:
            self._checkpoint.keep(self._runs, self.found, now=now)

    def _fill(self, plan: list[Batch], memory: float) -> None:
        """Start batches while there is room."""
        while plan and (not self._runs or self._room(plan[0], memory)):
            if self._tight:
                self._device.release()
                self._tight = False
            batch = plan.pop(0)
            left = tuple(k for k in batch.indices if k not in self.found)
            if not left:
                continue
            try:
                run = Run(self._members, left, batch, self._samples, self._training)
                if self._checkpoint is not None:
                    self._checkpoint.resume(run)
            except (RuntimeError, MemoryError) as error:
                if not _lacks_memory(error):
                    raise
                self._split(batch, plan)
                continue
            self._runs.append(run)
            if others := tuple(k for k in left if k not in run.indices):
                plan.insert(0, replace(batch, indices=others))

    def _started(self, act: Callable[[Run], None]) -> Callable[[Run], None]:
        """Begin with every batch at once; the function that waits for one of them."""
        if self._device.is_gpu:
            return act
        if len(self._runs) == 1:
            self._device.share_threads(self._runs[0].batch.each)
            return act
        begun = {run: self._pool.submit(act, run) for run in self._runs}
        return lambda run: begun[run].result()

    def _room(self, batch: Batch, memory: float) -> bool:
        if len(self._runs) >= self._device.at_once:
            return False
        return batch.bytes + sum(run.batch.bytes for run in self._runs) <= memory

    def _each(self, act: Callable[[Run], None], plan: list[Batch]) -> None:
        """Do something with every batch, or train it in smaller ones if it does not fit.

        A method of its own: no name of its caller holds on to what must leave the memory.
        """
        for run in list(self._runs):
            try:
                act(run)
            except (RuntimeError, MemoryError) as error:
                if not _lacks_memory(error):
                    raise
                self._runs.remove(run)
                self._split(run.batch, plan)

    def _settle(self, run: Run) -> None:
        """Take what a batch has done."""
        before = run.work
        for index, outcome in run.settle():
            self.take(index, outcome)
        self._bar.update(run.work - before)
        if run.is_over:
            self._runs.remove(run)

    def _split(self, batch: Batch, plan: list[Batch]) -> None:
        """Plan the same networks in smaller batches."""
        self._tight = True
        n_samples = self._samples.x.shape[1]
        if len(batch.indices) > 1:
            plan[:0] = batch.halves()
        elif len(batch.blocks) < n_samples:
            plan[:0] = [batch.finer(n_samples)]
        else:
            raise MemoryError(
                f"a network of width {batch.architecture.width} must fit into memory, and does not "
                "with one sample at a time"
            )


def _lacks_memory(error: BaseException) -> bool:
    """Whether an allocation failed, be it while a step was recorded."""
    known = isinstance(error, torch.OutOfMemoryError | MemoryError)
    if known or "can't allocate memory" in str(error):  # torch has no class for a processor's
        return True
    return error.__context__ is not None and _lacks_memory(error.__context__)


def _put(array: FloatArray, device: TorchDevice) -> Tensor:
    return torch.from_numpy(np.array(array)).to(device=device.name, dtype=device.torch_dtype)


@contextmanager
def _bar(
    members: Sequence[NetworkMember],
    found: dict[int, TrainingOutcome],
    training: Training,
    progress: bool,
) -> Iterator[Any]:
    """Progress in steps of networks; those that stop early count as done."""
    from tqdm import tqdm

    with tqdm(
        total=len(members) * training.max_steps, initial=len(found) * training.max_steps,
        desc="train", unit="step", unit_scale=True, delay=2, mininterval=0.5,
        disable=None if progress else True,
    ) as bar:  # fmt: skip
        yield bar
