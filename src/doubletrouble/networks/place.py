"""Where networks are trained: a device, a precision, and how much memory there is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from doubletrouble.networks.settings import PRECISIONS

_SHARE = 0.6  # of the free memory; the rest is for what torch keeps for itself
_CACHE = 6 * 2**20  # bytes that a processor works on without waiting for memory


@dataclass(frozen=True, kw_only=True)
class Place:
    """A device of torch and a precision.

    >>> Place.of("cpu", "float32").dtype
    torch.float32
    """

    device: str
    precision: str

    @classmethod
    def of(cls, device: str, precision: str) -> "Place":
        """Check that there is such a device; "auto" is a GPU where there is one."""
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.ones(1, device=device).add_(1).item()
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"device must be 'auto', 'cpu' or a device torch has here, got {device!r}: {reason}"
            ) from error
        return cls(device=device, precision=precision)

    @property
    def dtype(self) -> torch.dtype:
        """Of all tensors."""
        return torch.float64 if self.precision == "float64" else torch.float32

    @property
    def is_gpu(self) -> bool:
        """Whether steps are recorded and replayed."""
        return torch.device(self.device).type == "cuda"

    @property
    def free_memory(self) -> float:
        """Bytes that a batch may take."""
        if self.is_gpu:
            return _SHARE * torch.cuda.mem_get_info(self.device)[0]
        if "SC_AVPHYS_PAGES" in os.sysconf_names:
            return _SHARE * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return 2.0**30

    @property
    def batch_memory(self) -> float:
        """Bytes of a batch that computes fastest."""
        return self.free_memory if self.is_gpu else min(_CACHE, self.free_memory)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Matrix products in the precision asked for; autograd off."""
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = self.precision == "tf32"
        try:
            with torch.no_grad():
                yield
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before
