"""The data that members are trained on, as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from doubletrouble.networks._weights import NetworkMember


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Training sets of one size, and inputs to predict at."""

    x: Tensor  # (S, N, D)
    y: Tensor  # (S, N)
    x_test: Tensor  # (T, D)

    def of(self, members: Sequence[NetworkMember]) -> tuple[Tensor, Tensor]:
        """Inputs (M, N, D) of each member, and targets (M, N, outputs)."""
        which = torch.tensor([m.data for m in members], device=self.x.device)
        y = self.y[which][:, :, None]
        return self.x[which], torch.cat([-y, y], dim=2)
