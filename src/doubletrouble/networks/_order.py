"""The order in which stochastic gradient descent sees the samples: each epoch shuffled anew."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doubletrouble.networks._weights import NetworkMember

_SHUFFLES = 1  # apart from the weights of the same member


class Order:
    """Batches of samples for each network; they depend on its member and the step alone."""

    def __init__(
        self, members: Sequence[NetworkMember], n_samples: int, size: int, device: torch.device
    ) -> None:
        self._members, self._n, self._device = members, n_samples, device
        self._size = min(size, n_samples)
        self.time = 0
        self._last, self._shuffled = -1, torch.empty(0)

    @property
    def epoch(self) -> int:
        """Steps of an epoch; samples that fill no whole batch wait for the next."""
        return self._n // self._size

    @property
    def at_start(self) -> bool:
        """Whether an epoch begins."""
        return self.time % self.epoch == 0

    def next(self) -> Tensor:
        """The samples of the next batch, (M, size)."""
        epoch, batch = divmod(self.time, self.epoch)
        if epoch != self._last:
            shuffled = np.stack([self._permutation(m, epoch) for m in self._members])
            self._last, self._shuffled = epoch, torch.from_numpy(shuffled).to(self._device)
        self.time += 1
        return self._shuffled[:, batch * self._size : (batch + 1) * self._size]

    def resume(self, time: int) -> None:
        """Go on at some step."""
        self.time = time

    def _permutation(self, member: NetworkMember, epoch: int) -> npt.NDArray[np.int64]:
        key = (member.number, member.width, _SHUFFLES, epoch)
        rng = np.random.default_rng(np.random.SeedSequence(member.seed, spawn_key=key))
        return rng.permutation(self._n)
