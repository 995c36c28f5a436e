"""Array arithmetic on NumPy or torch, on a processor or a GPU, in float64 or float32.

All random numbers are drawn by NumPy, in an order that depends on the seed alone, and then copied
to the device: the draws are the same on every device.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, TypeVar, get_args

import numpy as np

from doubletrouble.errors import automatic_device, require
from doubletrouble.parameters import Array, FloatArray

Item = TypeVar("Item")
Result = TypeVar("Result")

Dtype: TypeAlias = Literal["float64", "float32"]
DTYPES: tuple[str, ...] = get_args(Dtype)

_BLOCK = 2**20  # numbers drawn from one generator


_DEVICE = re.compile(r"auto|(cpu|torch|cuda|mps|xpu)(:\d+)?")
_WANTED = "device must be 'auto', 'cpu', 'torch' or a device of torch such as 'cuda'"


def device_named(name: object) -> str:
    """The name of a device, present on this machine or not; ValueError for any other.

    "auto" is torch's GPU where torch is imported already and has one, else "cpu".

    >>> device_named("cuda:1")
    'cuda:1'
    """
    if not (isinstance(name, str) and _DEVICE.fullmatch(name)):
        raise ValueError(f"{_WANTED}, got {name!r}")
    return automatic_device() if name == "auto" else name


@dataclass(frozen=True, kw_only=True)
class ArrayDevice:
    """A device and a precision; "cpu" is NumPy, everything else torch.

    >>> ArrayDevice().asarray(np.ones(2))
    array([1., 1.])
    """

    device: str = "cpu"
    dtype: str = "float64"

    @classmethod
    def of(cls, device: str, dtype: str) -> Self:
        """The device of a name (see `device_named`).

        >>> ArrayDevice.of("cpu", "float64").is_gpu
        False
        """
        return cls(device=device_named(device), dtype=dtype)

    def __post_init__(self) -> None:
        if self.device == "cpu":
            return
        torch = require("torch", "torch")
        try:
            # in the precision requested; also loads linear algebra, which is not thread-safe
            one = torch.ones(1, 1, device=self._torch_name, dtype=getattr(torch, self.dtype))
            torch.linalg.cholesky(one).item()
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            raise ValueError(f"{_WANTED}, got {self.device!r}: {error}") from error

    @property
    def _torch_name(self) -> str:
        return "cpu" if self.device == "torch" else self.device

    @property
    def is_gpu(self) -> bool:
        """Whether arrays are copied to a device that computes asynchronously."""
        return self.device.startswith("cuda")

    def asarray(self, array: FloatArray) -> Array:
        """Copy an array of NumPy to the device."""
        if self.device == "cpu":
            return np.asarray(array, dtype=self.dtype)
        torch = require("torch", "torch")
        return torch.as_tensor(array, device=self._torch_name).to(getattr(torch, self.dtype))

    def to_numpy(self, array: Array) -> FloatArray:
        """Copy an array of the device to NumPy."""
        return np.asarray(array if self.device == "cpu" else array.cpu(), dtype=np.float64)

    def normals(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Independent standard normal numbers, drawn by NumPy."""
        if not self.is_gpu:
            return self.asarray(normals(rng, shape))
        torch = require("torch", "torch")
        # a GPU copies several times faster from page-locked memory
        buffer = torch.empty(shape, dtype=torch.float64, pin_memory=True)
        normals(rng, shape, out=buffer.numpy())
        copied = buffer.to(self._torch_name, non_blocking=True)
        return copied.to(getattr(torch, self.dtype))

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in order; for a GPU in two threads, so that one draws while the other computes.

        >>> list(ArrayDevice().map(abs, [-1, 2]))
        [1, 2]
        """
        if not self.is_gpu:
            yield from map(work, items)
            return
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(work, items)


def normals(
    rng: np.random.Generator, shape: tuple[int, ...], out: FloatArray | None = None
) -> FloatArray:
    """Independent standard normal numbers; large arrays in blocks, one generator and thread each.

    >>> normals(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    """
    out = np.empty(shape) if out is None else out
    flat = out.reshape(-1)
    starts = range(0, flat.size, _BLOCK)
    if len(starts) < 2:
        rng.standard_normal(out=flat)
        return out

    def fill(child: np.random.Generator, start: int) -> None:
        child.standard_normal(out=flat[start : start + _BLOCK])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, rng.spawn(len(starts)), starts))
    return out
