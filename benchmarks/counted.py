"""NumPy arrays that time their products and factorizations and count their operations."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from doubletrouble._ridge import cholesky_solution
from doubletrouble.simulation import _learners as fits
from doubletrouble.simulation._devices import ArrayDevice


class Tally:
    """Seconds and floating-point operations in BLAS and LAPACK."""

    def __init__(self) -> None:
        self.seconds = self.flops = 0.0

    def timed(self, flops: float, work: Any, *args: Any, **options: Any) -> Any:
        """Do some work and enter it."""
        start = time.perf_counter()
        result = work(*args, **options)
        self.seconds += time.perf_counter() - start
        self.flops += flops
        return result


TALLY = Tally()


class Counted(np.ndarray[Any, np.dtype[np.float64]]):
    """An array whose products and factorizations are entered in `TALLY`."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [_plain(x) for x in inputs]
        if ufunc is np.matmul:
            return _counted(TALLY.timed(_product(*plain), ufunc, *plain, **options))
        return _counted(getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = _plain(args), _plain(kwargs)
        return _counted(func(*args, **kwargs))


def _product(a: Any, b: Any) -> float:
    """2 n k m; half of it for a product of a matrix with its own transpose (syrk)."""
    if a.ndim == 1:
        return 2.0 * float(a.size)
    same = a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    full: float = 2.0 * a.shape[0] * a.shape[1] * b.shape[1]
    return full / 2 if same and a.strides == b.strides[::-1] else full


def _solve(gram: Any, right: Any, alpha: float, *, least: float) -> Any:
    n, columns = map(float, right.shape)
    flops = 1 / 3 * n**3 + 2 * n**2 * columns
    plain = _plain((gram, right, alpha))
    return _counted(TALLY.timed(flops, cholesky_solution, *plain, least=least))


def _plain(value: Any) -> Any:
    if isinstance(value, Counted):
        return value.view(np.ndarray)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(v) for v in value)
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def _counted(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.view(Counted)
    return value


@contextmanager
def counting() -> Iterator[Tally]:
    """Count what simulations do inside."""
    asarray, TALLY.seconds, TALLY.flops = ArrayDevice.asarray, 0.0, 0.0

    def counted(self: ArrayDevice, array: Any) -> Any:
        return asarray(self, array).view(Counted)

    with (
        patch.object(ArrayDevice, "asarray", counted),
        patch.object(fits, "cholesky_solution", _solve),
    ):
        yield TALLY
