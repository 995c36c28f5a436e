r"""Many networks at once: their weights, their outputs and gradients, and the lazy limit.

A network has L linear layers of width w with ReLU between them, in the parametrization of the
neural tangent kernel [jacot2018]: layer l is z = (h W + b)/√n with n inputs; W is initialized as
standard normal and b as 0. There are two outputs, one for each class.

The tensors hold W/√n and b/√n, so that activations are never multiplied by 1/√n; the optimizers
account for it. Networks of several widths share a batch by padding with zeros: a node whose
incoming and outgoing weights are 0 has gradient 0, so that it remains 0.

The trained function is F(x) = α (f_θ(x) - f_θ₀(x)), or its limit α → ∞ [chizat2019]: with
δ = α (θ - θ₀), F(x) = ∇f_θ₀(x)·δ is linear in δ and is computed layer by layer with the
activations at initialization. The loss is divided by α², so that gradient descent changes F at a
speed that does not depend on α: dL/df = dℓ/dF / α, and dL/dF = dℓ/dF in terms of δ.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor

from doubletrouble.networks._device import elementwise

OUTPUTS = 2

EVERY = slice(None)

RowSelection: TypeAlias = Tensor | slice
"""Samples: an index (M, n) for each network, or the same block for all."""

_TILE = 64  # rows and columns of a product computed by one multiprocessor of a GPU
_BUSY = 400  # tiles that occupy all multiprocessors
_MAX_PIECES = 20
_TEST_POINTS = 5000  # at a time


# --- members and their data ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NetworkMember:
    """One network of an ensemble; its initialization depends on these numbers only."""

    width: int
    laziness: float
    number: int  # within its ensemble
    data: int = 0  # index of its training set
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Training sets of one size, and test inputs."""

    x: Tensor  # (S, N, D)
    y: Tensor  # (S, N)
    x_test: Tensor  # (T, D)

    def of(self, members: Sequence[NetworkMember]) -> tuple[Tensor, Tensor]:
        """Return inputs (M, N, D) and targets (M, N, outputs) of each member."""
        which = torch.tensor([m.data for m in members], device=self.x.device)
        y = self.y[which][:, :, None]
        return self.x[which], torch.cat([-y, y], dim=2)


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The shape of all networks of a batch; `width` is the largest."""

    dim: int
    width: int
    depth: int

    @property
    def n_weights(self) -> int:
        """Number of weights and biases of one network.

        >>> Architecture(dim=10, width=2, depth=5).n_weights
        46
        """
        D, w = self.dim, self.width
        return (D + 1) * w + (self.depth - 2) * (w + 1) * w + (w + 1) * OUTPUTS


# --- weights -------------------------------------------------------------------------------------


class NetworkWeights(NamedTuple):
    """Weights of M networks, with layers of equal shape stacked.

    Also for any quantity with an entry for each weight: gradients, moments, scales.
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
        """Return zeros of the same shapes."""
        return type(self)(*(torch.zeros_like(tensor) for tensor in self))

    def copy(self) -> Self:
        """Return a copy."""
        return type(self)(*(tensor.clone() for tensor in self))

    def take(self, members: Tensor) -> Self:
        """Return a copy of some of the networks."""
        return type(self)(*(t.index_select(t.ndim - 3, members).contiguous() for t in self))


def zeros(
    architecture: Architecture, count: int, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """Return weights of `count` networks, all 0."""
    D, w, H = architecture.dim, architecture.width, architecture.depth - 2

    def of_shape(*shape: int) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=device)

    return NetworkWeights(
        first=of_shape(count, D, w),
        hidden=of_shape(H, count, w, w),
        last=of_shape(count, w, OUTPUTS),
        biases=of_shape(H + 1, count, 1, w),
        last_bias=of_shape(count, 1, OUTPUTS),
    )


def initial(
    members: Sequence[NetworkMember], architecture: Architecture, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """Return the initial weights: drawn by NumPy in double precision, scaled and padded.

    >>> member = NetworkMember(width=3, laziness=1.0, number=7)
    >>> shape = Architecture(dim=2, width=3, depth=4)
    >>> alone = initial([member], shape, torch.float64, "cpu")
    >>> other = NetworkMember(width=5, laziness=2.0, number=0)
    >>> both = initial([other, member], Architecture(dim=2, width=5, depth=4), torch.float64, "cpu")
    >>> bool((both.hidden[1, 1, :3, :3] == alone.hidden[1, 0]).all())
    True
    """
    weights = zeros(architecture, len(members), dtype, device)
    D, depth = architecture.dim, architecture.depth
    stream = torch.cuda.current_stream(device) if weights.first.is_cuda else None

    def fill(index: int) -> None:
        member = members[index]
        key = (member.number, member.width, depth, D)
        rng = np.random.default_rng(np.random.SeedSequence(member.seed, spawn_key=key))
        n = D
        for layer, n_out in enumerate([member.width] * (depth - 1) + [OUTPUTS]):
            drawn = torch.from_numpy(rng.standard_normal((n, n_out))) / n**0.5
            matrix = (weights.first, *weights.hidden, weights.last)[layer]
            with torch.cuda.stream(stream):  # the default stream of a thread would not wait
                matrix[index, :n, :n_out] = drawn.to(device=device, dtype=dtype)
            n = n_out

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(len(members))))
    return weights


def scales(
    members: Sequence[NetworkMember], architecture: Architecture, dtype: torch.dtype, device: str
) -> NetworkWeights:
    """Return 1/√n for every weight, in shapes that broadcast with the weights."""
    D, H = architecture.dim, architecture.depth - 2
    of_width = torch.tensor([m.width**-0.5 for m in members], dtype=torch.float64)[:, None, None]
    of_dim = torch.full_like(of_width, D**-0.5)  # (M, 1, 1)
    factors = NetworkWeights(
        first=of_dim,
        hidden=of_width.expand(H, -1, -1, -1),
        last=of_width,
        biases=torch.stack([of_dim] + [of_width] * H),
        last_bias=of_width,
    )
    return NetworkWeights(*(s.to(device=device, dtype=dtype).contiguous() for s in factors))


def weighted_norm(weights: NetworkWeights, factors: NetworkWeights) -> Tensor:
    """Return the norm of the weights of each network times their factors: (M,)."""
    squares = [
        (w * f).double().square().sum((-1, -2)).reshape(-1, len(weights.first)).sum(0)
        for w, f in zip(weights, factors, strict=True)
    ]
    return torch.stack(squares).sum(0).sqrt().to(weights.first.dtype)


# --- outputs and gradients -----------------------------------------------------------------------


def activations(weights: NetworkWeights, x: Tensor) -> list[Tensor]:
    """Return the inputs of every layer (M, n, ·), and the output of the network at the end."""
    inputs = [x]
    layers = list(weights.layers)
    for W, b in layers[:-1]:
        inputs.append(_relu_layer(inputs[-1], W, b))
    W, b = layers[-1]
    return [*inputs, torch.baddbmm(b, inputs[-1], W)]


def gradient(
    weights: NetworkWeights,
    inputs: Sequence[Tensor],
    slope: Tensor,
    out: NetworkWeights,
    *,
    add: bool = False,
) -> None:
    """Write the gradient of Σ slope·output into `out`, or add it to `out` (`add`).

    `inputs` are the inputs of every layer.
    """
    into, layers = list(out.layers), list(weights.layers)
    for layer in reversed(range(len(layers))):
        matrix, bias = into[layer]
        _sum_products(inputs[layer], slope, matrix, add=add)
        total = slope.sum(1, keepdim=True)
        bias.add_(total) if add else bias.copy_(total)
        if layer:
            slope = _relu_backward(torch.bmm(slope, layers[layer][0].mT), inputs[layer])


def _relu_layer(h: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """Return relu(h W + b) for each network."""
    if h.is_cuda:
        output: Tensor = elementwise(h.device, _add_relu_)(torch.bmm(h, W), b)
        return output
    return torch.baddbmm(b, h, W).relu_()


def _add_relu_(z: Tensor, b: Tensor) -> Tensor:
    return z.add_(b).relu_()


def _relu_backward(slope: Tensor, h: Tensor) -> Tensor:
    """Return the derivative with respect to the input of a ReLU with output h."""
    derivative: Tensor = torch.ops.aten.threshold_backward(slope, h, 0)
    return derivative


def _sum_products(left: Tensor, right: Tensor, out: Tensor, *, add: bool) -> None:
    """Write leftᵀ right, a sum over the samples of each network, into `out`, or add it.

    A GPU computes each tile of a product on one multiprocessor: where there are few tiles, the
    samples are split into pieces that occupy all of them.
    """
    count, n, width = left.shape
    tiles = count * (-(-width // _TILE)) * (-(-right.shape[2] // _TILE))
    pieces = _largest_divisor(n, min(_MAX_PIECES, _BUSY // tiles)) if left.is_cuda else 1
    if pieces == 1:
        out.baddbmm_(left.mT, right, beta=float(add))
    else:
        products = product_in_pieces(left, right, pieces)
        out.add_(products.sum(1)) if add else torch.sum(products, 1, out=out)


def product_in_pieces(left: Tensor, right: Tensor, pieces: int) -> Tensor:
    """Return leftᵀ right of every piece of the samples, (M, pieces, ·, ·)."""
    count, n, _ = left.shape
    left, right = (t.reshape(count * pieces, n // pieces, -1) for t in (left, right))
    return torch.bmm(left.mT, right).reshape(count, pieces, left.shape[2], right.shape[2])


def _largest_divisor(n: int, limit: int) -> int:
    """Return the largest divisor of n up to `limit`; 1 if there is none."""
    return next((k for k in range(min(n, limit), 1, -1) if n % k == 0), 1)


# --- the lazy function F -------------------------------------------------------------------------


class Scaled:
    """α (f_θ - f_θ₀) with α < ∞; θ is trained."""

    def __init__(
        self,
        theta: NetworkWeights,
        theta0: NetworkWeights,
        laziness: Tensor,
        x: Tensor,
        blocks: Sequence[slice] = (EVERY,),
    ) -> None:
        self._theta, self._x = theta, x
        starts = [activations(theta0, x[:, block])[-1] for block in blocks]
        self._start = torch.cat(starts, dim=1)  # f_θ₀
        self._alpha = laziness[:, None, None]  # (M, 1, 1)

    def outputs(self, rows: RowSelection = EVERY) -> Tensor:
        """Return F at the samples, (M, n, outputs); `descend` uses the same samples."""
        x, start = rows_of(self._x, rows), rows_of(self._start, rows)
        *self._inputs, f = activations(self._theta, x)
        return f.sub_(start).mul_(self._alpha)

    def descend(self, slope: Tensor, out: NetworkWeights, *, add: bool = False) -> None:
        """Write (or add) the gradient with respect to θ of a loss with dℓ/dF = `slope`."""
        gradient(self._theta, self._inputs, slope.div_(self._alpha), out, add=add)
        self._inputs = []


class Linearized:
    """∇f_θ₀·δ, the limit α → ∞; δ is trained.

    The activations at initialization are stored, or computed when needed if the samples are in
    several blocks, which means that memory is short.
    """

    def __init__(
        self,
        delta: NetworkWeights,
        theta0: NetworkWeights,
        x: Tensor,
        blocks: Sequence[slice] = (EVERY,),
    ) -> None:
        self._delta, self._theta0, self._x = delta, theta0, x
        self._fixed = activations(theta0, x)[:-1] if len(blocks) == 1 else None

    def outputs(self, rows: RowSelection = EVERY) -> Tensor:
        """Return F at the samples, (M, n, outputs); `descend` uses the same samples."""
        if self._fixed is None:
            self._inputs = activations(self._theta0, rows_of(self._x, rows))[:-1]
        else:
            self._inputs = [rows_of(h, rows) for h in self._fixed]
        moved: Tensor | None = None  # derivative of the inputs of a layer along δ
        steps = zip(self._delta.layers, self._theta0.layers, self._inputs, strict=True)
        for (U, c), (W, _), h in steps:
            if moved is not None:
                moved = _relu_backward(moved, h)
            change = torch.baddbmm(c, h, U)
            moved = change if moved is None else change.baddbmm_(moved, W)
        assert moved is not None
        return moved

    def descend(self, slope: Tensor, out: NetworkWeights, *, add: bool = False) -> None:
        """Write (or add) the gradient with respect to δ of a loss with dℓ/dF = `slope`."""
        gradient(self._theta0, self._inputs, slope, out, add=add)


def rows_of(tensor: Tensor, rows: RowSelection) -> Tensor:
    """Return some samples of each network."""
    if isinstance(rows, slice):
        return tensor[:, rows]
    return tensor.gather(1, rows[:, :, None].expand(-1, -1, tensor.shape[2]))


def scores_of(F: Tensor) -> Tensor:
    """Return half the difference of the outputs, whose sign is the class."""
    return (F[:, :, 1] - F[:, :, 0]) / 2


def scores_at(function: Callable[[Tensor], Scaled | Linearized], x: Tensor) -> Tensor:
    """Return the scores (M, n) of F = `function`(x) at inputs (M, n, D), a part at a time."""
    parts = torch.split(x, _TEST_POINTS, dim=1)
    return torch.cat([scores_of(function(part).outputs()) for part in parts], dim=1)


def misclassified(scores: Tensor, y: Tensor) -> Tensor:
    """Return 1 for a score of the wrong sign, 1/2 for a score of 0."""
    return (1 - torch.sign(scores) * torch.sign(y)) / 2
