"""The work beside large matrix products, in as few passes over memory as the device allows.

A GPU is limited by memory here: there each elementwise function is compiled into one kernel, once
for all shapes. Where no compiler is found, and on a processor, the same lines run as they are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

TensorFunction = Callable[..., Any]

_SHAPES = 64  # an axis of length one makes a kernel of its own
_TILE = 64  # rows and columns of a product that one processor of a GPU computes
_BUSY = 400  # tiles that keep all of them busy
_PIECES = 20


@cache
def can_compile() -> bool:
    """Whether kernels for a GPU can be compiled here: Triton needs a C compiler, too."""
    if find_spec("triton") is None:
        return False
    try:
        torch.compile(_add_relu_)(torch.zeros(2, 2, device="cuda"), torch.zeros(2, device="cuda"))
    except (RuntimeError, OSError):
        return False
    return True


@cache
def compiled(function: TensorFunction) -> TensorFunction:
    """A function of tensors on a GPU, compiled where that is possible."""
    if not can_compile():
        return function
    torch._dynamo.config.recompile_limit = max(_SHAPES, torch._dynamo.config.recompile_limit)
    return torch.compile(function, dynamic=True)


def on(device: torch.device | str, function: TensorFunction) -> TensorFunction:
    """A function as it runs best on a device."""
    return compiled(function) if torch.device(device).type == "cuda" else function


def new_stream() -> Any:
    """A stream of the current GPU, which waits for what is under way."""
    make: Any = torch.cuda.Stream  # without types in torch
    stream = make()
    stream.wait_stream(torch.cuda.current_stream())
    return stream


@contextmanager
def full_precision() -> Iterator[None]:
    """Matrix products without the shortcuts of tensor cores."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def layer(h: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """relu(h W + b) for each network."""
    if h.is_cuda:
        found: Tensor = compiled(_add_relu_)(torch.bmm(h, W), b)
        return found
    return torch.baddbmm(b, h, W).relu_()


def masked(slope: Tensor, h: Tensor) -> Tensor:
    """What passes back through a ReLU with output h."""
    found: Tensor = torch.ops.aten.threshold_backward(slope, h, 0)
    return found


def add_product(out: Tensor, left: Tensor, right: Tensor, *, more: bool) -> None:
    """Put leftᵀ right into `out`, or add it (`more`): a sum over the samples of each network.

    A GPU gives every tile of a product to one of its processors: where there are few tiles, the
    samples are split into as many pieces as keep all of them busy.
    """
    count, n, width = left.shape
    tiles = count * (-(-width // _TILE)) * (-(-right.shape[2] // _TILE))
    pieces = _divisor(n, min(_PIECES, _BUSY // tiles)) if left.is_cuda else 1
    if pieces == 1:
        out.baddbmm_(left.mT, right, beta=float(more))
    else:
        products = product_in_pieces(left, right, pieces)
        out.add_(products.sum(1)) if more else torch.sum(products, 1, out=out)


def product_in_pieces(left: Tensor, right: Tensor, pieces: int) -> Tensor:
    """leftᵀ right of every piece of the samples, (M, pieces, ·, ·)."""
    count, n, _ = left.shape
    left, right = (t.reshape(count * pieces, n // pieces, -1) for t in (left, right))
    return torch.bmm(left.mT, right).reshape(count, pieces, left.shape[2], right.shape[2])


def _add_relu_(z: Tensor, b: Tensor) -> Tensor:
    return z.add_(b).relu_()


def _divisor(n: int, most: int) -> int:
    """The largest divisor of n that is not above `most`; 1 if there is none."""
    return next((k for k in range(min(n, most), 1, -1) if n % k == 0), 1)
