"""The torch device on which networks are trained: arithmetic, memory, threads, compilation."""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from doubletrouble.errors import automatic_device
from doubletrouble.networks._settings import DTYPES, DTypeName
from doubletrouble.parameters import check_choice

_SHARE = 0.6  # of the free memory; the rest is for torch's caches and workspaces
_CPU_CACHE = 24 * 2**20  # bytes of a batch that a CPU processes fastest
_LARGE = 3 * 2**20  # bytes of a network that a CPU trains fastest alone, with all threads
_STREAMS = 16  # batches at a time on a GPU
_FALLBACK = 2.0**30  # bytes, where the free memory is unknown
_ROUNDING = 1e-3  # largest rounding error of F


@dataclass(frozen=True, kw_only=True)
class TorchDevice:
    """A torch device, and the arithmetic on it.

    >>> TorchDevice.of("cpu", "float32").torch_dtype
    torch.float32
    """

    name: str
    dtype: DTypeName
    threads: int = 1  # of a CPU

    @classmethod
    def of(cls, device: str, dtype: DTypeName) -> "TorchDevice":
        """Check that the device exists; "auto" is a GPU if there is one."""
        check_choice("dtype", dtype, DTYPES)
        if device == "auto":
            device = automatic_device()
        message = f"device must be 'auto', 'cpu' or an available GPU, got {device!r}"
        if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d+)?", device):
            raise ValueError(message)
        try:
            torch.ones(1, device=device, dtype=torch.float64).add_(1).item()
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(f"{message}: {reason}") from error
        return cls(name=device, dtype=dtype, threads=torch.get_num_threads())

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype of all tensors; "tf32" only changes the products of float32 matrices."""
        return torch.float64 if self.dtype == "float64" else torch.float32

    @property
    def is_gpu(self) -> bool:
        """Whether this is a GPU."""
        return torch.device(self.name).type == "cuda"

    @property
    def free_memory(self) -> float:
        """Bytes available for training."""
        if self.is_gpu:
            free = torch.cuda.mem_get_info(self.name)[0]
            cached = torch.cuda.memory_reserved(self.name) - torch.cuda.memory_allocated(self.name)
            return _SHARE * (free + cached)
        return _SHARE * _available_memory()

    @property
    def n_batches(self) -> int:
        """Number of batches trained at the same time."""
        return _STREAMS if self.is_gpu else self.threads

    def batch_memory(self, each: float) -> float:
        """Return the bytes of the batch that is fastest, for networks of `each` bytes."""
        if self.is_gpu:
            return self.free_memory
        return min(_CPU_CACHE if each <= _LARGE else each, self.free_memory)

    def use_threads_for(self, each: float) -> None:
        """Use all threads of a CPU for a single batch of networks of `each` bytes if large."""
        torch.set_num_threads(self.threads if each > _LARGE else 1)

    def check_laziness(self, laziness: float) -> None:
        """Raise ValueError if α amplifies the rounding error of a difference of outputs."""
        limit = _ROUNDING / torch.finfo(self.torch_dtype).eps
        if limit < laziness < math.inf:
            raise ValueError(
                f"laziness must be at most {limit:.0e} or inf with dtype {self.dtype!r}, "
                f"got {laziness!r}; 'float64' has more digits"
            )

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Use this device and its matrix products; autograd off, one thread for each batch."""
        gpu = torch.cuda.device(self.name) if self.is_gpu else nullcontext()
        torch.set_num_threads(1)
        try:
            with torch.no_grad(), gpu, tf32_products(self.dtype == "tf32"):
                yield
        finally:
            torch.set_num_threads(self.threads)


def _available_memory() -> float:
    """Return the bytes of free main memory, as far as the system reports them."""
    limits = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits += [1024.0 * int(ln.split()[1]) for ln in lines if ln.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # the limit of a container may be lower
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / f"memory.{kind}").read_text()) for kind in ("max", "current"))
        limits.append(float(limit - used))
    return min(limits, default=_FALLBACK)


@contextmanager
def tf32_products(allowed: bool) -> Iterator[None]:
    """Allow TF32 in products of float32 matrices on a GPU, or not."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def new_stream() -> Any:
    """Return a new stream of the current GPU, which waits for the work in progress."""
    make: Any = torch.cuda.Stream  # untyped in torch
    stream = make()
    stream.wait_stream(torch.cuda.current_stream())
    return stream


TensorFunction = Callable[..., Any]


@cache
def can_compile() -> bool:
    """Whether kernels can be compiled for a GPU, which needs Triton and a C compiler."""
    if find_spec("triton") is None:
        return False
    try:
        torch.compile(_double)(torch.zeros(2, device="cuda"))
    except (RuntimeError, OSError, AssertionError):
        return False
    return True


def _double(x: Tensor) -> Tensor:
    return 2 * x


@cache
def _compiled(function: TensorFunction) -> TensorFunction:
    return torch.compile(function, dynamic=True) if can_compile() else function


def elementwise(device: torch.device, function: TensorFunction) -> TensorFunction:
    """Return an elementwise function, compiled into one kernel on a GPU if possible.

    Elementwise functions on a GPU are limited by memory bandwidth: one kernel reads and writes each
    tensor once. torch compiles up to eight kernels of a function, by the number of axes and the
    axes of length 1, and runs it without compilation for further shapes.
    """
    return _compiled(function) if device.type == "cuda" else function
