"""A literal lazy network with autograd and the optimizers of torch, and small data sets."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from doubletrouble.data import Data
from doubletrouble.networks import Training
from doubletrouble.networks._network import (
    EVERY,
    Architecture,
    NetworkMember,
    NetworkWeights,
    Samples,
    scales,
)
from doubletrouble.networks._optimizers import SampleOrder
from doubletrouble.networks._program import Batch, Program
from doubletrouble.parameters import FloatArray

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "hinge": lambda F, t: torch.clamp(1 - t * F, min=0),
    "squared_hinge": lambda F, t: torch.clamp(1 - t * F, min=0) ** 2,
    "squared": lambda F, t: (F - t) ** 2,
    "logistic": lambda F, t: torch.log(1 + torch.exp(-t * F)),
}
DIM = 3


def samples_of(n: int, seed: int, dim: int = DIM) -> tuple[FloatArray, FloatArray]:
    """Two classes that overlap a little."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, dim))
    y = np.where(x[:, 0] * x[:, 1] + 0.5 * x[:, 2] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return x, y


def small_data(n: int = 20, n_test: int = 15, *, pool: int = 1, seed: int = 0) -> Data:
    """A data set with `pool` disjoint training sets, all with both classes."""
    x, y = samples_of(n * pool, seed)
    y[::n], y[1::n] = -1.0, 1.0
    x_test, y_test = samples_of(n_test, seed + 1)
    return Data(
        x_train=x[:n], y_train=y[:n], x_test=x_test, y_test=y_test, pool_x=x, pool_y=y, name="small"
    )


class Network(torch.nn.Module):
    """z = (h W + b)/√n in every layer, ReLU between them; weights N(0, 1), biases 0."""

    def __init__(self, member: NetworkMember, depth: int, dim: int = DIM) -> None:
        super().__init__()
        key = (member.number, member.width, depth, dim)
        rng = np.random.default_rng(np.random.SeedSequence(member.seed, spawn_key=key))
        sizes = [dim, *[member.width] * (depth - 1), 2]
        pairs = list(pairwise(sizes))
        self.weights = torch.nn.ParameterList(
            torch.from_numpy(rng.standard_normal(pair)) for pair in pairs
        )
        self.biases = torch.nn.ParameterList(
            torch.zeros(n_out, dtype=torch.float64) for _, n_out in pairs
        )

    def forward(self, h: Tensor) -> Tensor:
        last = len(self.weights) - 1
        for k, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            z = (h @ W + b) / math.sqrt(len(W))
            h = z if k == last else torch.relu(z)
        return h


@dataclass
class Lazy:
    """α (f_θ - f_θ₀), and its loss over α²."""

    member: NetworkMember
    depth: int
    loss: str

    def __post_init__(self) -> None:
        self.network = Network(self.member, self.depth)
        self.start = copy.deepcopy(self.network)

    def __call__(self, x: Tensor) -> Tensor:
        result: Tensor = self.network(x) - self.start(x).detach()
        return self.member.laziness * result

    def value(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss, not divided by α²."""
        t = torch.stack([-y, y], dim=1)
        return LOSSES[self.loss](self(x), t).mean()

    def scores(self, x: Tensor) -> FloatArray:
        F = self(x).detach()
        return np.asarray((F[:, 1] - F[:, 0]) / 2)

    def train(
        self, x: Tensor, y: Tensor, steps: int, *, optimizer: str, rate: float, size: int = 0
    ) -> list[float]:
        """Train until the loss is zero; the losses at every step."""
        kind: Any = torch.optim.Adam if optimizer == "adam" else torch.optim.SGD
        how = kind(self.network.parameters(), lr=rate)
        order = SampleOrder([self.member], len(x), size, torch.device("cpu")) if size else None
        losses = []
        for step in range(steps):
            if order is None or step % order.epoch == 0:
                losses.append(self.value(x, y).item())
                if losses[-1] == 0:
                    break
            rows = slice(None) if order is None else order.minibatch(step)[0]
            how.zero_grad()
            torch.autograd.backward(self.value(x[rows], y[rows]) / self.member.laziness**2)
            how.step()
        return losses


def as_samples(data: Sequence[Data], dtype: torch.dtype = torch.float64) -> Samples:
    """Training sets as tensors."""
    return Samples(
        x=torch.tensor(np.stack([d.x_train for d in data]), dtype=dtype),
        y=torch.tensor(np.stack([d.y_train for d in data]), dtype=dtype),
        x_test=torch.tensor(data[0].x_test, dtype=dtype),
    )


def batch_of(
    members: Sequence[NetworkMember],
    *,
    depth: int,
    width: int | None = None,
    blocks: tuple[slice, ...] = (EVERY,),
    indices: Sequence[int] | None = None,
) -> Batch:
    """All members in one batch, padded to the widest."""
    padded = max(member.width for member in members) if width is None else width
    return Batch(
        indices=tuple(range(len(members)) if indices is None else indices),
        members=tuple(members),
        architecture=Architecture(dim=DIM, width=padded, depth=depth),
        blocks=blocks,
    )


def program(
    members: Sequence[NetworkMember],
    data: Sequence[Data],
    training: Training,
    depth: int,
    blocks: tuple[slice, ...] = (EVERY,),
) -> Program:
    """All members in one program."""
    return Program(batch_of(members, depth=depth, blocks=blocks), as_samples(data), training)


def scores_at_test(trained: Program, data: Data) -> FloatArray:
    """F of every network at the test inputs."""
    count = len(trained.members)
    x = torch.tensor(data.x_test).expand(count, -1, -1)
    return trained.scores(torch.arange(count), x).numpy()


def literal_weights(
    held: NetworkWeights, k: int, member: NetworkMember, dim: int = DIM
) -> list[FloatArray]:
    """W and b of each layer of the k-th network, in the units of the literal network."""
    one = held.take(torch.tensor([k]))
    shape = Architecture(dim=dim, width=member.width, depth=len(held.hidden) + 2)
    factors = scales([member], shape, torch.float64, "cpu").layers
    result = []
    n = dim
    for (W, b), (s, _) in zip(one.layers, factors, strict=True):
        n_out = min(member.width, W.shape[2])
        result += [(W / s)[0, :n, :n_out].numpy(), (b / s)[0, 0, :n_out].numpy()]
        n = n_out
    return result
