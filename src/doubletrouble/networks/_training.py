"""Training of ensembles of lazy networks, in as few batches as memory allows.

Networks of one width make a batch; on a GPU, where a narrow network costs little more than its
launches, networks of several small widths are padded to one. The memory of a network is estimated
before training: batches are chosen to fit, down to one network, then to blocks of its samples.

Several batches are trained at a time. On a GPU each has its own stream, since narrow networks and
the last networks of a wide batch leave most of the GPU idle. On a CPU each has its own thread,
since threads that share one small matrix product mostly wait for each other.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

import json
import signal
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

from doubletrouble import glossary
from doubletrouble.data import Data, as_data
from doubletrouble.ensembles import EnsembleLike
from doubletrouble.losses import ClassifierLoss
from doubletrouble.networks._checkpoint import Checkpoint
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._network import EVERY, Architecture, NetworkMember, Samples
from doubletrouble.networks._program import Batch, Program
from doubletrouble.networks._result import LazyRun, ensemble_size
from doubletrouble.networks._settings import (
    DEFAULTS,
    REVISION,
    DTypeName,
    OptimizerName,
    Training,
    TrainingOutcome,
)
from doubletrouble.networks._tangent import solved
from doubletrouble.parameters import MOST_SEEDS, FloatArray, number, whole_number
from doubletrouble.runs import ProgressBar, progress_bar

Done = Callable[[int, TrainingOutcome], None]

_NARROW = (16, 32)  # on a GPU, networks up to these widths are padded to them
_ALIGNED = 8  # widths of other networks on a GPU are padded to multiples of this
_COPIES = 6  # of the weights: initial, trained, gradient, two moments, one temporary
_CPU_COPIES = 6  # more on a CPU, where the operations of a step of Adam are not fused


def train_lazy(
    data: Data,
    *,
    width: int = DEFAULTS["width"],
    depth: int = DEFAULTS["depth"],
    laziness: float = DEFAULTS["laziness"],
    ensemble: EnsembleLike = DEFAULTS["ensemble"],
    loss: ClassifierLoss = "hinge",
    optimizer: OptimizerName = "auto",
    learning_rate: float | None = None,
    max_steps: int = 100_000,
    patience: int | None = None,
    tolerance: float = 1e-3,
    batch_size: int | None = None,
    seed: int = 0,
    device: str = "auto",
    dtype: DTypeName = "float32",
    memory: float | None = None,
    store: str | Path | None = None,
    progress: bool = True,
) -> LazyRun:
    """Train the networks of an ensemble, from independent initializations, on the same data.

    F = α (f_θ - f_θ₀) is trained, with networks f_θ in the parametrization of the neural tangent
    kernel. The initial weights of member k do not depend on the other members.

    A member stops when its training loss is exactly zero, after `max_steps`, when it diverges, or
    when its loss has converged: its mean over the last `patience` steps is greater than
    (1 - `tolerance`) times its mean over the `patience` steps before, and no more than twice that
    mean.

    Parameters
    ----------
    data : Data
        The training and test set.
    width : int, default: 30
        Nodes of every hidden layer, in [1, 100000].
    depth : int, default: 5
        Linear layers of a network, in [2, 100].
    laziness : float, default: 100.0
        α, in [1e-6, 1e6]; `math.inf` trains the network linearized at initialization.
    ensemble : int or Ensemble, default: 20
        The number of networks, or `Ensemble(K)`.
    loss : "hinge" or "squared_hinge" or "squared" or "logistic", default: "hinge"
        The training loss: the mean over samples and the two outputs, divided by α². "hinge" is
        that of the paper's experiment; networks stop once it is zero.
    optimizer : "auto" or "adam" or "gd" or "sgd" or "exact", default: "auto"
        "adam" or "gd" (with all samples in every step), "sgd" (with `batch_size`), or "exact" for
        the linearized network with squared loss; "auto" is "exact" where possible, else "adam". At
        α = ∞ Adam takes the steps of α = 100: 100 times the rate for α (θ - θ₀).
    learning_rate : float or None, default: None
        The step size, in [1e-12, 1e12]; None for 0.1 min(1, α) with Adam, and with the others for
        1/curvature at initialization (half of it for "sgd"; α/10 times that for α < 10, where the
        curvature grows).
    max_steps : int, default: 100000
        The most steps, at least 1.
    patience : int or None, default: None
        The steps in a window of the stopping rule, at least 1; None for a tenth of `max_steps`, at
        least 100.
    tolerance : float, default: 0.001
        The share by which the loss must fall within a window for training to go on, in [0, 1].
    batch_size : int or None, default: None
        The samples of a step of "sgd", at least 1; None for other optimizers.
    seed : int, default: 0
        The seed of the initial weights, in [0, 2³²).
    device : str, default: "auto"
        "auto" (a GPU if there is one), "cpu", "cuda" ...
    dtype : "float32" or "tf32" or "float64", default: "float32"
        The precision; "tf32" has faster and coarser matrix products on a GPU.
    memory : float or None, default: None
        The most bytes of the batches in training; None for the free memory.
    store : str or path or None, default: None
        The path of a checkpoint; an interrupted call continues from it when it is repeated.
    progress : bool, default: True
        Whether progress is shown on stderr.

    Returns
    -------
    LazyRun
        The predictions of every network at the test points, and how its training ended; a network
        that diverged has the status "diverged".

    Raises
    ------
    ValueError
        If an option is not one of those listed, out of range, or not available on the device, or
        options are incompatible.
    TypeError
        If `data` is not a `Data`, or a number is not of the type above.
    StoreError
        If `store` is not a checkpoint of the same call, or cannot be written.
    MemoryError
        If a network, or the tangent kernel of "exact", does not fit into memory.
    MissingExtraError
        If torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> digits = dt.load_data("digits", n_samples=50)
    >>> run = dt.train_lazy(digits, width=8, ensemble=3, max_steps=50, device="cpu")
    >>> run.predictions.shape
    (3, 500)
    >>> one, three = (float(run.error(K, measure="zero_one").total) for K in (1, 3))
    >>> three <= one
    True
    """
    as_data(data)
    first = NetworkMember(
        width=int(number("width", width, glossary.WIDTH)),
        laziness=number("laziness", laziness, glossary.LAZINESS),
        number=0,
        seed=whole_number("seed", seed, 0, MOST_SEEDS),
    )
    task = TrainingTask(
        members=[replace(first, number=k) for k in range(ensemble_size(ensemble, "train_lazy"))],
        x=data.x_train[None],
        y=data.y_train[None],
        x_test=data.x_test,
        depth=int(number("depth", depth, glossary.DEPTH)),
        training=Training(
            loss=loss,
            optimizer=optimizer,
            learning_rate=learning_rate,
            max_steps=max_steps,
            patience=patience,
            tolerance=tolerance,
            batch_size=batch_size,
        ),
        device=TorchDevice.of(device, dtype),
    )
    outcomes = train_members(task, memory=memory, store=store, progress=progress)
    return task.ensemble(first, outcomes, data)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingTask:
    """Everything that the outcomes of training depend on."""

    members: Sequence[NetworkMember]
    x: FloatArray  # (S, N, D): training sets, which members refer to by index
    y: FloatArray  # (S, N)
    x_test: FloatArray  # (T, D)
    depth: int
    training: Training
    device: TorchDevice

    def __post_init__(self) -> None:
        for laziness in {member.laziness for member in self.members}:
            self.training.solves(laziness)  # raises for an α that the optimizer excludes
            self.device.check_laziness(laziness)

    @property
    def key(self) -> str:
        """A hash of the task, for its checkpoint; the batches are not part of it."""
        members = [asdict(member) for member in self.members]
        options = asdict(self.training)
        settings = [REVISION, self.depth, options, self.device.dtype, members]
        key = sha256(json.dumps(settings).encode())
        for array in (self.x, self.y, self.x_test):
            key.update(str(array.shape).encode())
            key.update(np.ascontiguousarray(array, dtype="<f8").data)
        return key.hexdigest()

    def samples(self) -> Samples:
        """Return the data as tensors on the device."""
        name, dtype = self.device.name, self.device.torch_dtype
        x, y, x_test = (
            torch.from_numpy(np.array(array)).to(device=name, dtype=dtype)
            for array in (self.x, self.y, self.x_test)
        )
        return Samples(x=x, y=y, x_test=x_test)

    def ensemble(
        self, member: NetworkMember, outcomes: Sequence[TrainingOutcome], data: Data
    ) -> LazyRun:
        """Return the ensemble of a member, with the outcomes of all members of the ensemble."""
        settings = {
            "depth": self.depth,
            "seed": member.seed,
            "dtype": self.device.dtype,
            "data": data.name,
            **asdict(self.training),
        }
        return LazyRun._of(
            outcomes, data.y_test, width=member.width, laziness=member.laziness, settings=settings
        )


def train_members(
    task: TrainingTask,
    *,
    memory: float | None = None,
    store: str | Path | None = None,
    known: Mapping[int, TrainingOutcome] | None = None,
    progress: bool = True,
    done: Done | None = None,
) -> list[TrainingOutcome]:
    """Train or solve every member.

    `done` is called with the index and the outcome of each member as soon as it has stopped.
    Members that are `known`, or in the checkpoint `store`, are not trained.
    """
    if memory is not None:
        number("memory", memory, glossary.MEMORY)
    checkpoint = Checkpoint(store, task.key) if store is not None else None
    before = {**(checkpoint.outcomes if checkpoint else {}), **(known or {})}
    max_steps = task.training.max_steps
    bar = progress_bar(  # in steps; a network that stops early counts as complete
        len(task.members) * max_steps,
        initial=len(before) * max_steps,
        unit="step",
        description="train",
        progress=progress,
    )
    with task.device.computing(), bar:
        trainer = _Trainer(task, checkpoint, bar, done)
        for k, outcome in before.items():
            trainer.record(k, outcome)
        for k, member in enumerate(task.members):
            if task.training.solves(member.laziness) and k not in before:
                trainer.solve(k, member)
        trainer.train(
            plan_batches(task, memory), task.device.free_memory if memory is None else memory
        )
    return [trainer.outcomes[k] for k in range(len(task.members))]


class _Trainer:
    """Batches in training, and the outcomes so far by the index of the member."""

    def __init__(
        self, task: TrainingTask, checkpoint: Checkpoint | None, bar: ProgressBar, done: Done | None
    ) -> None:
        self._task, self._device, self._samples = task, task.device, task.samples()
        self._checkpoint, self._bar, self._done = checkpoint, bar, done
        self._programs: list[Program] = []
        self.outcomes: dict[int, TrainingOutcome] = {}

    def record(self, index: int, outcome: TrainingOutcome) -> None:
        """Record the outcome of a member."""
        self.outcomes[index] = outcome
        if self._done is not None:
            self._done(index, outcome)

    def solve(self, index: int, member: NetworkMember) -> None:
        """Solve a linearized network exactly."""
        try:
            outcome = solved(member, self._samples, depth=self._task.depth)
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            n_samples = self._samples.x.shape[1]
            raise MemoryError(
                f"the tangent kernel of {n_samples} samples does not fit into memory; "
                "optimizer='adam' needs less"
            ) from error
        self.record(index, outcome)
        self._bar.update(self._task.training.max_steps)
        self._save()

    def train(self, batches: list[Batch], memory: float) -> None:
        """Train all batches, with as many at a time as fit into `memory` bytes.

        After a failed allocation the outcomes so far are saved, and so are the batches whose last
        step is complete.
        """
        reason = None
        try:
            self._train(batches, memory)
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            reason = str(error).partition("\n")[0] or "out of memory"
        self._save(now=True)
        if reason is not None:
            # raised outside of `except`: a traceback would refer to the tensors of the batches
            self._programs.clear()
            raise MemoryError(
                f"memory must be smaller than {memory:.3g} bytes, the limit of this training on "
                f"{self._device.name!r}, which failed: {reason}"
            )

    def _train(self, batches: list[Batch], memory: float) -> None:
        threads = self._device.n_batches
        with (
            _deferred_interrupt(defer=self._checkpoint is not None) as interrupted,
            ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool,
        ):
            while batches or self._programs:
                self._start(batches, memory)
                self._advance(pool)
                for program in list(self._programs):
                    self._collect(program)
                if interrupted():
                    self._save(now=True)
                    raise KeyboardInterrupt
                self._save()

    def _start(self, batches: list[Batch], memory: float) -> None:
        """Start batches while there is room for them."""
        while batches and self._has_room(batches[0], memory):
            batch = _without(batches.pop(0), self.outcomes)
            if not batch.indices:
                continue
            program = Program(batch, self._samples, self._task.training)
            if self._checkpoint is not None:
                self._checkpoint.resume(program)
            self._programs.append(program)
            others = _without(batch, program.indices)
            if others.indices:
                batches.insert(0, others)

    def _has_room(self, batch: Batch, memory: float) -> bool:
        if not self._programs:
            return True
        used = sum(program.batch.bytes for program in self._programs)
        return len(self._programs) < self._device.n_batches and used + batch.bytes <= memory

    def _advance(self, pool: Executor) -> None:
        """Make some steps with every batch, all at the same time."""
        if self._device.is_gpu or len(self._programs) == 1:
            if not self._device.is_gpu:
                self._device.use_threads_for(self._programs[0].batch.member_bytes)
            for program in self._programs:
                program.advance()  # a GPU computes while the next batch is launched
        else:
            for future in [pool.submit(program.advance) for program in self._programs]:
                future.result()

    def _collect(self, program: Program) -> None:
        """Record the networks of a batch that have stopped."""
        before = program.work
        for index, outcome in program.collect():
            self.record(index, outcome)
        self._bar.update(program.work - before)
        if not program.indices:
            self._programs.remove(program)

    def _save(self, *, now: bool = False) -> None:
        if self._checkpoint is not None:
            complete = [program for program in self._programs if program.is_consistent]
            self._checkpoint.save(complete, self.outcomes, now=now)


# --- batches -------------------------------------------------------------------------------------


def plan_batches(task: TrainingTask, memory: float | None = None) -> list[Batch]:
    """Divide all members into batches that fit into `memory` bytes."""
    members, device = task.members, task.device
    _, n_samples, dim = task.x.shape
    available = device.free_memory if memory is None else memory
    batches = []
    for width, indices in _by_width(members, device):
        shape = Architecture(dim=dim, width=width, depth=task.depth)
        whole = network_bytes(shape, n_samples, device)
        limit = device.batch_memory(whole) if memory is None else memory
        share = -(-len(indices) // (1 if device.is_gpu else device.threads))  # one for each thread
        count = max(1, int(min(share, limit // whole)))
        weights = network_bytes(shape, 0, device)
        n_blocks = 1
        while n_blocks < n_samples and weights + (whole - weights) / n_blocks > available:
            n_blocks *= 2
        for start in range(0, len(indices), count):
            chosen = tuple(indices[start : start + count])
            batches.append(
                Batch(
                    indices=chosen,
                    members=tuple(members[k] for k in chosen),
                    architecture=shape,
                    blocks=sample_blocks(n_samples, n_blocks),
                    member_bytes=weights + (whole - weights) / n_blocks,
                )
            )
    return batches


def network_bytes(shape: Architecture, n_samples: int, device: TorchDevice) -> int:
    """Estimate the memory of one network in training: its weights and its activations."""
    copies = _COPIES if device.is_gpu else _COPIES + _CPU_COPIES
    per_sample = (shape.depth + 2) * shape.width + 2 * shape.dim + 16
    return (copies * shape.n_weights + n_samples * per_sample) * device.torch_dtype.itemsize


def sample_blocks(n_samples: int, count: int) -> tuple[slice, ...]:
    """Divide the samples into blocks of nearly equal size.

    >>> sample_blocks(5, 2)
    (slice(0, 3, None), slice(3, 5, None))
    """
    if count <= 1:
        return (EVERY,)
    size = -(-n_samples // min(count, n_samples))
    return tuple(slice(a, min(a + size, n_samples)) for a in range(0, n_samples, size))


def _by_width(
    members: Sequence[NetworkMember], device: TorchDevice
) -> Iterator[tuple[int, list[int]]]:
    """Yield the width that members are padded to, and their indices."""

    def kind(k: int) -> tuple[bool, int]:
        width = members[k].width
        if device.is_gpu:
            aligned = -(-width // _ALIGNED) * _ALIGNED
            width = next((limit for limit in _NARROW if width <= limit), aligned)
        return members[k].laziness == float("inf"), width

    for (_, width), indices in groupby(sorted(range(len(members)), key=kind), key=kind):
        yield width, list(indices)


def _without(batch: Batch, done: Container[int]) -> Batch:
    """Return the batch without some indices."""
    pairs = [p for p in zip(batch.indices, batch.members, strict=True) if p[0] not in done]
    return replace(batch, indices=tuple(k for k, _ in pairs), members=tuple(m for _, m in pairs))


# --- errors and interrupts -----------------------------------------------------------------------


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, also within the recording of a CUDA graph."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    if "can't allocate memory" in str(error):  # a plain RuntimeError on a CPU
        return True
    return error.__context__ is not None and _is_out_of_memory(error.__context__)


@contextmanager
def _deferred_interrupt(*, defer: bool) -> Iterator[Callable[[], bool]]:
    """Defer the first Ctrl-C to the end of a step; yield whether there was one.

    A second Ctrl-C has its usual effect. Python delivers signals to the main thread only, and
    another handler of SIGINT is left in place.
    """
    received = threading.Event()
    in_main_thread = threading.current_thread() is threading.main_thread()
    usual = signal.default_int_handler
    if not (defer and in_main_thread and signal.getsignal(signal.SIGINT) is usual):
        yield received.is_set
        return

    def receive(*_: Any) -> None:
        received.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, receive)
    try:
        yield received.is_set
    finally:
        signal.signal(signal.SIGINT, usual)
