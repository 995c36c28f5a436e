"""Evaluate a function of floats on arrays of any size, a cache-sized block at a time."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray, Value

Kernel = Callable[..., tuple[FloatArray, ...]]

# Points per block: some twenty temporaries of this length stay in the second-level cache.
BLOCK = 16384


def blockwise(
    kernel: Kernel, inputs: Sequence[Value], shape: tuple[int, ...], *, block: int = BLOCK
) -> list[Value]:
    """Apply `kernel` to broadcast `inputs`; scalars in give Python floats out.

    The kernel sees NumPy scalars for scalar inputs, and blocks of equal length for arrays, so
    that memory beyond the results is that of one block.
    """
    with np.errstate(all="ignore"):
        if not shape:
            scalars = (cast(FloatArray, np.float64(v)) for v in inputs)
            return [_number(v) for v in kernel(*scalars)]
        size = int(np.prod(shape))
        sources = [_source(v, shape) for v in inputs]
        results: list[FloatArray] = []
        for start in range(0, size, block):
            part = slice(start, min(start + block, size))
            values = kernel(*(s if np.ndim(s) == 0 else s[part] for s in sources))
            if not results:
                results = [np.empty(size) for _ in values]
            for result, value in zip(results, values, strict=True):
                result[part] = value
                if np.isnan(result[part]).any():
                    _not_a_number(result[part])
        return [result.reshape(shape) for result in results]


def _source(value: Value, shape: tuple[int, ...]) -> FloatArray:
    """A flat view of `value` at `shape`: itself, or an iterator that copies block by block."""
    if np.ndim(value) == 0:
        return cast(FloatArray, np.float64(value))
    array = np.asarray(value)
    if array.shape == shape and array.flags.c_contiguous:
        return array.reshape(-1)
    return cast(FloatArray, _Flat(np.broadcast_to(array, shape)))


class _Flat:
    """Slices of a broadcast array in C order, each copied when it is asked for."""

    ndim = 1

    def __init__(self, array: FloatArray) -> None:
        self._flat = array.flat

    def __getitem__(self, part: slice) -> FloatArray:
        return self._flat[part]


def _number(value: FloatArray) -> float:
    number = float(value)
    if number != number:
        _not_a_number(value)
    return number


def _not_a_number(value: FloatArray) -> None:
    raise ConvergenceError(
        "the theory gave no number here; please report the problem that led to it",
        last=value,
        residual=float("nan"),
    )
