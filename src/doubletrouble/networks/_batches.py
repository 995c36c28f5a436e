r"""Which networks are trained together, and on how many samples at a time.

Networks of one width make the best batch; on a GPU, where a narrow network costs as much as its
launch, those of several small widths are padded to the widest of them. A batch that would not fit
into memory is split, down to one network, then down to blocks of its samples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._lazy import EVERY
from doubletrouble.networks._weights import NARROW, Architecture, NetworkMember

_ALIGNED = 8  # widths a GPU multiplies fastest
_HELD = 6  # copies of the weights: initial, trained, gradient, two moments, one on the way
_PASSING = 6  # and on a processor, between the passes of an optimizer's step


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Members by their index in the list, the shape they are padded to, and blocks of samples."""

    indices: tuple[int, ...]
    architecture: Architecture
    blocks: tuple[slice, ...] = (EVERY,)
    each: float  # bytes of one member in training

    @property
    def bytes(self) -> float:
        """Memory of all."""
        return self.each * len(self.indices)

    def halves(self) -> tuple["Batch", "Batch"]:
        """The same in two batches."""
        half = len(self.indices) // 2
        first, second = self.indices[:half], self.indices[half:]
        return replace(self, indices=first), replace(self, indices=second)

    def finer(self, n_samples: int) -> "Batch":
        """The same with twice as many blocks of samples."""
        return replace(self, blocks=blocks_of(n_samples, 2 * len(self.blocks)))


def batches(
    members: Sequence[NetworkMember], *, dim: int, depth: int, n_samples: int, device: TorchDevice,
    memory: float | None = None,
) -> list[Batch]:  # fmt: skip
    """All members in batches that fit into `memory` bytes."""
    most = device.free_memory if memory is None else memory
    found = []
    for width, indices in _alike(members, device):
        shape = Architecture(dim=dim, width=width, depth=depth)
        each = bytes_of(shape, n_samples, device)
        limit = device.batch_memory(each) if memory is None else memory
        share = -(-len(indices) // (1 if device.is_gpu else device.threads))  # one for each thread
        count = max(1, int(min(share, limit // each)))
        weights = _held(device) * shape.n_weights * device.torch_dtype.itemsize
        parts = 1
        while parts < n_samples and weights + (each - weights) / parts > most:
            parts *= 2
        for start in range(0, len(indices), count):
            some = tuple(indices[start : start + count])
            blocks = blocks_of(n_samples, parts)
            one = weights + (each - weights) / parts
            found.append(Batch(indices=some, architecture=shape, blocks=blocks, each=one))
    return found


def bytes_of(shape: Architecture, n_samples: int, device: TorchDevice) -> int:
    """Memory of one network in training."""
    per_sample = (shape.depth + 2) * shape.width + 2 * shape.dim + 16
    numbers = _held(device) * shape.n_weights + n_samples * per_sample
    return numbers * device.torch_dtype.itemsize


def _held(device: TorchDevice) -> int:
    """Copies of the weights in memory at the same time."""
    return _HELD if device.is_gpu else _HELD + _PASSING


def blocks_of(n_samples: int, count: int) -> tuple[slice, ...]:
    """Samples in blocks of nearly the same size.

    >>> blocks_of(5, 2)
    (slice(0, 3, None), slice(3, 5, None))
    """
    if count <= 1:
        return (EVERY,)
    size = -(-n_samples // min(count, n_samples))
    return tuple(slice(a, min(a + size, n_samples)) for a in range(0, n_samples, size))


def _alike(
    members: Sequence[NetworkMember], device: TorchDevice
) -> Iterator[tuple[int, list[int]]]:
    """Indices of members that are trained together, and the width they are padded to."""

    def kind(k: int) -> tuple[bool, int]:
        member = members[k]
        width = member.width
        if device.is_gpu:
            narrow = [limit for limit in NARROW if width <= limit]
            width = narrow[0] if narrow else -(-width // _ALIGNED) * _ALIGNED
        return member.laziness == float("inf"), width

    order = sorted(range(len(members)), key=kind)
    for (_, width), indices in groupby(order, key=kind):
        yield width, list(indices)
