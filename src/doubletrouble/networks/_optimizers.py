r"""Full-batch Adam, gradient descent, and stochastic gradient descent, for many networks at once.

The weights θ = (W, b) are held as sθ with s = 1/√n (`weights`), and so are their gradients as
(dL/dθ)/s. In these units Adam's step η m̂/(√v̂ + ε) of θ is η s² m̂/(s √v̂ + ε) of sθ, and
the step η dL/dθ of gradient descent is η s² times the gradient held. Adam's constants are those of
[kingma2015].
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from doubletrouble.networks._weights import NetworkWeights

BETAS = (0.9, 0.999)
EPSILON = 1e-8


def adam_(
    theta: Tensor, first: Tensor, second: Tensor, slope: Tensor, scale: Tensor, rate: Tensor,
    epsilon: float, alive: Tensor, corrections: Tensor,
) -> None:  # fmt: skip
    """One step of Adam, in place, on the weights of the networks that are `alive`."""
    first.lerp_(slope, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
    root = (second / corrections[1]).sqrt_()
    step = (first / corrections[0]).mul_(scale * scale * rate)
    step.div_(root.mul_(scale).add_(epsilon))
    theta.sub_(torch.where(alive, step, 0.0))


def descend_(theta: Tensor, slope: Tensor, scale: Tensor, rate: Tensor, alive: Tensor) -> None:
    """One step down the gradient, in place."""
    theta.sub_(torch.where(alive, slope * (scale * scale * rate), 0.0))


@dataclass(frozen=True, kw_only=True)
class AdamMoments:
    """What Adam remembers: means of the gradient and of its square, and the steps taken."""

    first: NetworkWeights
    second: NetworkWeights
    steps: Tensor  # ()
    betas: Tensor  # (2,)

    @classmethod
    def of(cls, weights: NetworkWeights) -> "AdamMoments":
        """Nothing yet."""
        options: dict[str, Any] = {"dtype": torch.float64, "device": weights.first.device}
        return cls(
            first=weights.zeros_like(),
            second=weights.zeros_like(),
            steps=torch.zeros((), **options),
            betas=torch.tensor(BETAS, **options),
        )

    def corrections(self) -> Tensor:
        """Count a step; 1 - β^t for both means."""
        self.steps.add_(1)
        return 1 - self.betas**self.steps

    def take(self, members: Tensor) -> "AdamMoments":
        """Those of some of the networks."""
        first, second = self.first.take(members), self.second.take(members)
        return AdamMoments(first=first, second=second, steps=self.steps, betas=self.betas)
