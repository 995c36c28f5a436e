r"""The weights of many networks at once, and the networks as functions of them.

A network has L linear layers of width w with ReLU between them, in the parametrization of the
neural tangent kernel [jacot2018]: layer l is z = (h W + b)/√n, n its number of inputs; W starts as
standard normal numbers and b as 0. There are two outputs, one for each class.

We hold W/√n and b/√n, so that no activation is ever multiplied by 1/√n; the optimizer accounts for
it (`optimizers`). Networks of several widths share a batch by padding with zeros: a node whose
incoming and outgoing weights are 0 has gradient 0, and stays so.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from doubletrouble.networks import _kernels as kernels

OUTPUTS = 2

NARROW = (16, 32)
"""On a GPU, networks up to these widths are padded to them, and have a kernel of their own."""


@dataclass(frozen=True, kw_only=True)
class NetworkMember:
    """One network of an ensemble: its initialization depends on these numbers and nothing else."""

    width: int
    laziness: float
    number: int  # among the members of its ensemble
    data: int = 0  # which of the training sets
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """What all networks of a batch share; `width` is the largest."""

    dim: int
    width: int
    depth: int

    @property
    def n_weights(self) -> int:
        """Weights and biases of one network.

        >>> Architecture(dim=10, width=2, depth=5).n_weights
        46
        """
        D, w = self.dim, self.width
        return (D + 1) * w + (self.depth - 2) * (w + 1) * w + (w + 1) * OUTPUTS


class NetworkWeights(NamedTuple):
    """Tensors with an entry for each of M networks; layers of one shape are stacked.

    Also what belongs to each weight: gradients, moments, steps.
    """

    first: Tensor  # (M, D, w)
    hidden: Tensor  # (L - 2, M, w, w)
    last: Tensor  # (M, w, outputs)
    biases: Tensor  # (L - 1, M, 1, w)
    last_bias: Tensor  # (M, 1, outputs)

    @property
    def layers(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Matrix and bias of each layer, in order."""
        matrices = (self.first, *self.hidden, self.last)
        yield from zip(matrices, (*self.biases, self.last_bias), strict=True)

    def zeros_like(self) -> Self:
        """Zeros of the same shapes."""
        return type(self)(*(torch.zeros_like(tensor) for tensor in self))

    def copy(self) -> Self:
        """The same numbers elsewhere in memory."""
        return type(self)(*(tensor.clone() for tensor in self))

    def take(self, members: Tensor) -> Self:
        """Some of the networks."""
        taken = (t.index_select(_axis(t), members).contiguous() for t in self)
        return type(self)(*taken)


def _axis(tensor: Tensor) -> int:
    """The axis of the members."""
    return tensor.ndim - 3


def zeros(
    architecture: Architecture, count: int, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """Weights of `count` networks, all 0."""
    D, w, H = architecture.dim, architecture.width, architecture.depth - 2
    shapes = (
        (count, D, w), (H, count, w, w), (count, w, OUTPUTS), (H + 1, count, 1, w),
        (count, 1, OUTPUTS),
    )  # fmt: skip
    return NetworkWeights(*(torch.zeros(shape, dtype=dtype, device=device) for shape in shapes))


def initial(
    members: Sequence[NetworkMember], architecture: Architecture, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """The weights at initialization: drawn by NumPy in double precision, scaled and padded.

    >>> member = NetworkMember(width=3, laziness=1.0, number=7)
    >>> shape = Architecture(dim=2, width=3, depth=4)
    >>> alone = initial([member], shape, torch.float64, "cpu")
    >>> other = NetworkMember(width=5, laziness=2.0, number=0)
    >>> both = initial([other, member], Architecture(dim=2, width=5, depth=4), torch.float64, "cpu")
    >>> bool((both.hidden[1, 1, :3, :3] == alone.hidden[1, 0]).all())
    True
    """
    found = zeros(architecture, len(members), dtype, device)
    D, depth = architecture.dim, architecture.depth
    stream = torch.cuda.current_stream(device) if found.first.is_cuda else None

    def fill(index: int) -> None:
        member = members[index]
        key = (member.number, member.width, depth, D)
        rng = np.random.default_rng(np.random.SeedSequence(member.seed, spawn_key=key))
        n = D
        for layer, n_out in enumerate([member.width] * (depth - 1) + [OUTPUTS]):
            drawn = torch.from_numpy(rng.standard_normal((n, n_out))) / n**0.5
            matrix = (found.first, *found.hidden, found.last)[layer]
            with torch.cuda.stream(stream):  # ours: a thread has another, which would not wait
                matrix[index, :n, :n_out] = drawn.to(device=device, dtype=dtype)
            n = n_out

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(len(members))))
    return found


def scales(
    members: Sequence[NetworkMember], architecture: Architecture, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """1/√n for every weight, of shapes that broadcast with `NetworkWeights`."""
    D, H = architecture.dim, architecture.depth - 2
    narrow = torch.tensor([m.width**-0.5 for m in members], dtype=torch.float64)
    of_width = narrow[:, None, None]  # (M, 1, 1)
    of_dim = torch.full_like(of_width, D**-0.5)
    found = (
        of_dim,
        of_width.expand(H, -1, -1, -1),
        of_width,
        torch.stack([of_dim] + [of_width] * H),
        of_width,
    )
    return NetworkWeights(*(s.to(device=device, dtype=dtype).contiguous() for s in found))


def weighted_norm(weights: NetworkWeights, factors: NetworkWeights) -> Tensor:
    """The norm of all weights of each network, each times its factor: (M,)."""
    squares = [
        (w * f).double().square().sum((-1, -2)).reshape(-1, len(weights.first)).sum(0)
        for w, f in zip(weights, factors, strict=True)
    ]
    return torch.stack(squares).sum(0).sqrt().to(weights.first.dtype)


def activations(weights: NetworkWeights, x: Tensor) -> list[Tensor]:
    """The inputs of every layer (M, n, ·), the network's output last."""
    found = [x]
    layers = list(weights.layers)
    for W, b in layers[:-1]:
        found.append(kernels.layer(found[-1], W, b))
    W, b = layers[-1]
    return [*found, torch.baddbmm(b, found[-1], W)]


def gradient(
    weights: NetworkWeights,
    inputs: Sequence[Tensor],
    slope: Tensor,
    out: NetworkWeights,
    *,
    more: bool = False,
) -> None:
    """Put the gradient of Σ slope·output into `out`, or add it to what is there (`more`).

    `inputs` are those of every layer.
    """
    into, layers = list(out.layers), list(weights.layers)
    for layer in reversed(range(len(layers))):
        matrix, bias = into[layer]
        kernels.add_product(matrix, inputs[layer], slope, more=more)
        total = slope.sum(1, keepdim=True)
        bias.add_(total) if more else bias.copy_(total)
        if layer:
            slope = kernels.masked(torch.bmm(slope, layers[layer][0].mT), inputs[layer])
