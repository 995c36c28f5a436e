r"""The function that is trained: F(x) = α (f_θ(x) - f_θ₀(x)), or its limit α → ∞.

With δ = α (θ - θ₀), F is linear in δ as α → ∞: F(x) = ∇f_θ₀(x)·δ, computed layer by layer with
the activations at initialization held fixed [chizat2019]. In both cases `outputs` gives F and
`descend` adds the gradient of a loss with respect to what is trained, θ or δ.

The loss is divided by α², so that gradient descent moves F at a speed that does not depend on α:
dL/df = dℓ/dF / α, and in terms of δ simply dℓ/dF.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from doubletrouble.networks import _kernels as kernels
from doubletrouble.networks._weights import NetworkWeights, activations, gradient

RowSelection = Tensor | slice
"""Which samples: an index (M, n) for each network, or the same block for all."""

EVERY = slice(None)


class Lazy(Protocol):
    """What the training needs to know of M functions on the samples given to each."""

    trained: NetworkWeights

    def outputs(self, rows: RowSelection = EVERY) -> Tensor:
        """F at the samples, (M, n, outputs); keeps what `descend` needs."""
        ...

    def descend(self, slope: Tensor, out: NetworkWeights, *, more: bool = False) -> None:
        """Put (or add) the gradient of a loss with dℓ/dF = `slope` at the last `outputs`."""
        ...


class Scaled:
    """α (f_θ - f_θ₀) with α < ∞; θ is trained."""

    def __init__(
        self, theta: NetworkWeights, theta0: NetworkWeights, laziness: Tensor, x: Tensor,
        blocks: Sequence[slice] = (EVERY,),
    ) -> None:  # fmt: skip
        self.trained, self._x = theta, x
        starts = [activations(theta0, x[:, block])[-1] for block in blocks]
        self.start = torch.cat(starts, dim=1)  # f_θ₀
        self._alpha = laziness[:, None, None]  # (M, 1, 1)

    def outputs(self, rows: RowSelection = EVERY) -> Tensor:
        """F at the samples."""
        x, start = rows_of(self._x, rows), rows_of(self.start, rows)
        *self._inputs, f = activations(self.trained, x)
        return f.sub_(start).mul_(self._alpha)

    def descend(self, slope: Tensor, out: NetworkWeights, *, more: bool = False) -> None:
        """The gradient with respect to θ."""
        gradient(self.trained, self._inputs, slope.div_(self._alpha), out, more=more)
        self._inputs = []


class Linearized:
    """∇f_θ₀·δ, the limit α → ∞; δ is trained.

    The activations at initialization are held, or, where samples come in blocks because all do not
    fit, computed when they are needed.
    """

    def __init__(
        self,
        delta: NetworkWeights,
        theta: NetworkWeights,
        x: Tensor,
        blocks: Sequence[slice] = (EVERY,),
    ) -> None:
        self.trained, self._theta, self._x = delta, theta, x
        self._fixed = activations(theta, x)[:-1] if len(blocks) == 1 else None

    def outputs(self, rows: RowSelection = EVERY) -> Tensor:
        """F at the samples."""
        if self._fixed is None:
            self._inputs = activations(self._theta, rows_of(self._x, rows))[:-1]
        else:
            self._inputs = [rows_of(h, rows) for h in self._fixed]
        moved: Tensor | None = None  # how much the inputs of a layer change
        steps = zip(self.trained.layers, self._theta.layers, self._inputs, strict=True)
        for (U, c), (W, _), h in steps:
            if moved is not None:
                moved = kernels.masked(moved, h)
            change = torch.baddbmm(c, h, U)
            moved = change if moved is None else change.baddbmm_(moved, W)
        assert moved is not None
        return moved

    def descend(self, slope: Tensor, out: NetworkWeights, *, more: bool = False) -> None:
        """The gradient with respect to δ."""
        gradient(self._theta, self._inputs, slope, out, more=more)


def count_of(x: Tensor, rows: RowSelection) -> int:
    """How many samples of each network."""
    if isinstance(rows, Tensor):
        return rows.shape[1]
    return len(range(*rows.indices(x.shape[1])))


def rows_of(tensor: Tensor, rows: RowSelection) -> Tensor:
    """Some samples of each network."""
    if isinstance(rows, slice):
        return tensor[:, rows]
    return tensor.gather(1, rows[:, :, None].expand(-1, -1, tensor.shape[2]))
