"""One point of the paper's parameter space, in decimals.

The letters are those of [dascoli2020] App. B: ψ₁ = P/D, ψ₂ = N/D, λ, and the moments μ₁, μ⋆ of the
activation.
"""

from __future__ import annotations  # help() then shows the alias Value

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np

from doubletrouble.parameters import common_shape, refuse
from doubletrouble.problems import Problem

_SIZES = ("features_per_dim", "samples_per_dim", "ridge")
_DOMAIN = "positive and finite for the replica route (doubletrouble.psi_terms covers the limits)"


@dataclass(frozen=True, kw_only=True)
class ReplicaPoint:
    """ψ₁, ψ₂, λ, μ₁, μ⋆.

    >>> ReplicaPoint.of(psi1=2.0, psi2=1.0, lam=0.5, mu1=0.5, mustar=0.25).mu1
    Decimal('0.5')
    """

    psi1: Decimal
    psi2: Decimal
    lam: Decimal
    mu1: Decimal
    mustar: Decimal

    @classmethod
    def of(cls, **numbers: float) -> Self:
        """The point of given floats, which decimals represent exactly."""
        return cls(**{name: Decimal(value) for name, value in numbers.items()})

    @property
    def power(self) -> Decimal:
        """μ₁² + μ⋆², the scale of λ (1 for an activation that vanishes)."""
        return self.mu1**2 + self.mustar**2 or Decimal(1)

    @property
    def digits(self) -> int:
        """Decimal digits that leave at least 17 correct ones after all cancellations."""
        scales = (self.psi1, self.psi2, self.lam / self.power)
        return 40 + 4 * sum(abs(v.adjusted()) for v in scales)


def shape_of(problem: Any) -> tuple[int, ...]:
    """The broadcast shape of P/D, N/D and λ; raise outside the domain of the replica route."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    sizes = {name: getattr(problem, name) for name in _SIZES}
    for name, value in sizes.items():
        refuse(name, value, ~((np.asarray(value) > 0) & np.isfinite(value)), _DOMAIN)
    return common_shape(sizes)


def points_of(problem: Problem) -> Iterator[ReplicaPoint]:
    """Every point of a problem, in the order of its arrays."""
    shape, moments = shape_of(problem), problem.moments
    sizes = [np.broadcast_to(getattr(problem, name), shape).reshape(-1) for name in _SIZES]
    for psi1, psi2, lam in np.stack(sizes, axis=-1).tolist():
        yield ReplicaPoint.of(
            psi1=psi1, psi2=psi2, lam=lam, mu1=moments.linear, mustar=moments.nonlinear
        )
