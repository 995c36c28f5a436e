"""The device of torch on which networks are trained, its arithmetic and its memory."""

import gc
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from doubletrouble.networks._settings import DTYPES, DTypeName

_SHARE = 0.6  # of the free memory; the rest is for what torch keeps for itself
_CACHE = 24 * 2**20  # bytes that a processor works on without waiting long for memory
_LARGE = 3 * 2**20  # bytes of a network that is trained fastest alone
_STREAMS = 16  # batches at once on a GPU
_MODEST = 2.0**30  # bytes, where nothing is known
_DIGITS = 1e-3  # largest error of F that rounding may make


@dataclass(frozen=True, kw_only=True)
class TorchDevice:
    """A device of torch, and the arithmetic on it.

    >>> TorchDevice.of("cpu", "float32").torch_dtype
    torch.float32
    """

    name: str
    dtype: DTypeName
    threads: int = 1  # of a processor

    @classmethod
    def of(cls, device: str, dtype: DTypeName) -> "TorchDevice":
        """Check that there is such a device; "auto" is a GPU where there is one."""
        if dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        wanted = f"device must be 'auto', 'cpu' or a GPU torch has here, got {device!r}"
        if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d+)?", device):
            raise ValueError(wanted)
        try:
            torch.ones(1, device=device, dtype=torch.float64).add_(1).item()
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(f"{wanted}: {reason}") from error
        return cls(name=device, dtype=dtype, threads=torch.get_num_threads())

    @property
    def torch_dtype(self) -> torch.dtype:
        """The type of all tensors; "tf32" is a way to multiply those of float32."""
        return torch.float64 if self.dtype == "float64" else torch.float32

    @property
    def is_gpu(self) -> bool:
        """Whether steps are recorded and replayed."""
        return torch.device(self.name).type == "cuda"

    @property
    def free_memory(self) -> float:
        """Bytes that a batch may take."""
        if self.is_gpu:
            return _SHARE * torch.cuda.mem_get_info(self.name)[0]
        return _SHARE * _available()

    @property
    def at_once(self) -> int:
        """Batches that are trained at the same time."""
        return _STREAMS if self.is_gpu else self.threads

    def batch_memory(self, each: float) -> float:
        """Bytes of a batch of networks that take `each`, so that it computes fastest."""
        if self.is_gpu:
            return self.free_memory
        return min(_CACHE if each <= _LARGE else each, self.free_memory)

    def share_threads(self, each: float) -> None:
        """Let a batch of networks that take `each` bytes have all threads, if they are large."""
        torch.set_num_threads(self.threads if each > _LARGE else 1)

    def release(self) -> None:
        """Give back the memory of what is no longer used: errors keep what they met in cycles."""
        gc.collect()
        if self.is_gpu:
            torch.cuda.synchronize(self.name)
            torch._C._cuda_clearCublasWorkspaces()  # one for every stream there has been
            torch.cuda.empty_cache()

    def refuse_too_lazy(self, laziness: float) -> None:
        """The outputs of two networks are subtracted and scaled up: digits must be left of it."""
        most = _DIGITS / torch.finfo(self.torch_dtype).eps
        if most < laziness < math.inf:
            raise ValueError(
                f"laziness must be at most {most:.0e} or inf with dtype {self.dtype!r}, "
                f"got {laziness!r}; 'float64' has more digits"
            )

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Matrix products of this dtype on this device; autograd off."""
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = self.dtype == "tf32"
        one_thread()  # batches have threads of their own
        try:
            with torch.no_grad(), torch.cuda.device(self.name) if self.is_gpu else nullcontext():
                yield
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before
            torch.set_num_threads(self.threads)


def one_thread() -> None:
    """Compute with one thread, in this thread and those it starts."""
    torch.set_num_threads(1)


def _available() -> float:
    """Bytes of memory that a processor has to spare, as far as the system tells."""
    found = [math.inf]
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024.0 * int(ln.split()[1]) for ln in lines if ln.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # a container may be allowed less
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / f"memory.{kind}").read_text()) for kind in ("max", "current"))
        found.append(float(limit - used))
    return min(found) if len(found) > 1 else _MODEST
