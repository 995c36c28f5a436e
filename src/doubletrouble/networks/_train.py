"""Train an ensemble of lazy networks on one data set."""

from __future__ import annotations  # help() then shows names, not what they stand for

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.data import Data, as_data
from doubletrouble.ensembles import EnsembleLike
from doubletrouble.networks._checkpoint import Checkpoint
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._result import LazyRun, ensemble_size
from doubletrouble.networks._settings import DTypeName, LossName, OptimizerName, Training
from doubletrouble.networks._training import Done, train_members
from doubletrouble.networks._weights import NetworkMember
from doubletrouble.parameters import MOST_SEEDS, FloatArray, number, whole_number

REVISION = 1
"""Of the meaning of all settings; results of another revision are not mixed with ours."""


def train_lazy(
    data: Data, *, width: int = 30, depth: int = 5, laziness: float = 100.0,
    ensemble: EnsembleLike = 20, loss: LossName = "hinge", optimizer: OptimizerName = "auto",
    learning_rate: float | None = None, max_steps: int = 100_000, patience: int | None = None,
    tolerance: float = 1e-3, batch_size: int | None = None, seed: int = 0, device: str = "auto",
    dtype: DTypeName = "float32", memory: float | None = None, store: str | Path | None = None,
    progress: bool = True,
) -> LazyRun:  # fmt: skip
    """Train the networks of an ensemble, from independent initializations, on the same data.

    - `ensemble` is their number, or `Ensemble(K)`.
    - A network has `depth` linear layers, `width` nodes wide, in the parametrization of the neural
      tangent kernel. F = α (f_θ - f_θ₀) is trained, α being `laziness`; `math.inf` trains the
      network linearized at initialization.
    - `loss` is "hinge", "squared_hinge", "squared" or "logistic": the mean over samples and the
      two outputs, divided by α².
    - `optimizer` is "adam" or "gd" (with all samples in every step), "sgd" (with `batch_size`), or
      "exact" for the linearized network with squared loss; "auto" is that where it can be, and
      "adam" elsewhere. Unless given, `learning_rate` is 0.1 min(1, α) for Adam, and for the others
      what the curvature at initialization allows (a tenth of it per α below 10, where the curvature
      changes). At α = ∞ Adam takes the steps of α = 100: of α (θ - θ₀), 100 times the rate.
    - A member stops when its training loss is exactly zero, after `max_steps`, when it diverges,
      or when its loss has converged: its mean over the last `patience` steps (a tenth of
      `max_steps`, at least 100) is less than `tolerance`, a share, below its mean over the
      `patience` before, and no more than twice that.
    - `device` is "auto" (a GPU where there is one), "cpu", "cuda" ...; `dtype` is "float32",
      "tf32" (faster and coarser matrix products on a GPU) or "float64"; `memory` limits the bytes
      that a batch may take, all that is free unless given.
    - `store` names a file; an interrupted run continues from it when it is called again.

    Member k starts from the same weights whatever else is trained with it.

    >>> from doubletrouble.data._load import load_data
    >>> digits = load_data("digits", n_train=100)
    >>> run = train_lazy(digits, width=8, ensemble=3, max_steps=50, device="cpu")
    >>> run.predictions.shape
    (3, 500)
    >>> float(run.error(ensemble=3).total) <= float(run.error(ensemble=1).total)
    True
    """
    as_data(data)
    members = network_members(width, laziness, ensemble, seed)
    training = Training(
        loss=loss, optimizer=optimizer, learning_rate=learning_rate, max_steps=max_steps,
        patience=patience, tolerance=tolerance, batch_size=batch_size,
    )  # fmt: skip
    torch_device = TorchDevice.of(device, dtype)
    layers = int(number("depth", depth, glossary.DEPTH))
    outcomes = train_all(
        members, data.x_train[None], data.y_train[None], data.x_test, depth=layers,
        training=training, device=torch_device, memory=memory, store=store, progress=progress,
    )  # fmt: skip
    one = members[0]
    settings = {"depth": layers, "seed": one.seed, "dtype": dtype, "data": data.name}
    return LazyRun.of(
        outcomes, data.y_test, width=one.width, laziness=one.laziness,
        settings=settings | asdict(training),
    )  # fmt: skip


def network_members(
    width: Any, laziness: Any, ensemble: EnsembleLike, seed: Any, data: int = 0
) -> list[NetworkMember]:
    """The members of one ensemble, checked."""
    w = int(number("width", width, glossary.WIDTH))
    alpha = number("laziness", laziness, glossary.LAZINESS)
    count = ensemble_size(ensemble, "train_lazy")
    root = whole_number("seed", seed, 0, MOST_SEEDS)
    return [
        NetworkMember(width=w, laziness=alpha, number=k, seed=root, data=data) for k in range(count)
    ]


def train_all(
    members: Sequence[NetworkMember], x: FloatArray, y: FloatArray, x_test: FloatArray, *,
    depth: int, training: Training, device: TorchDevice, memory: float | None = None,
    store: str | Path | None = None, known: Mapping[int, TrainingOutcome] | None = None,
    progress: bool = True, done: Done | None = None,
) -> list[TrainingOutcome]:  # fmt: skip
    """Train or solve members on training sets x (S, N, D), y (S, N); `known` are done already."""
    if memory is not None:
        number("memory", memory, glossary.MEMORY)
    for laziness in {member.laziness for member in members}:
        device.refuse_too_lazy(laziness)
    file = None
    if store is not None:
        file = Checkpoint(store, _key(members, x, y, x_test, depth, training, device))
    return train_members(
        members, x, y, x_test, depth=depth, training=training, device=device, memory=memory,
        checkpoint=file, known=known, progress=progress, done=done,
    )  # fmt: skip


def _key(
    members: Sequence[NetworkMember], x: FloatArray, y: FloatArray, x_test: FloatArray, depth: int,
    training: Training, device: TorchDevice,
) -> str:  # fmt: skip
    """What results depend on; nothing of how they are batched."""
    settings = [REVISION, depth, asdict(training), device.dtype, list(map(asdict, members))]
    found = sha256(json.dumps(settings).encode())
    for array in (x, y, x_test):
        found.update(str(array.shape).encode())
        found.update(np.ascontiguousarray(array, dtype="<f8").data)
    return found.hexdigest()
