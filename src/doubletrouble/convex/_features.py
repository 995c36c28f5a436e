r"""The features side of the order parameters: what random features make of given label forces.

A member with ψ₁ = P/D random features answers the forces on its N training outputs, which have the
mean response v̂, alignment m̂ with the target and power q̂ (`_labels`). With the moments μ₁, μ⋆ of the
activation and the ridge ψ₂λ,

    m = ρ m̂ (uX),    q = ρ m̂² Q(1/ψ₁) + q̂ T(1/ψ₁),    V = (u + μ⋆²/μ₁²) X,    X = μ₁² Y
    u² μ₁²/ψ₁ + u (ω + μ₁² (1 - 1/ψ₁)) = ω,    ω = μ⋆²/ψ₁ + ψ₂λ/v̂,    1/Y = v̂ (ω + u μ₁²/ψ₁)

and, for two members that share a fraction f of their features, with c = f/ψ₁, s = u X v̂ = 1 - u,

    Q(c) = (uX)² + c u² μ₁² Y² (μ₁² u² + μ⋆²)/(1 - c s²)
    T(c) = (uX)² + c Y² (μ₁² u² + μ⋆²)²/(1 - c s²).

**Numerical form.** All is in units of V: v̂V, m̂V, q̂V² and Y/V are numbers of order one for ridges
from 1e-300 to 1e300. Products replace quotients, so that P = ∞, v̂ = 0 (the hinge loss at a huge
ridge) and μ₁ = 0 or μ⋆ = 0 are regular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TINIEST = 5e-324


@dataclass(slots=True, kw_only=True)
class Response:
    """The response of the features at a block of points, in units of V."""

    unlearned: Any  # u
    learned: Any  # s = 1 - u
    aligned: Any  # uX/V
    growth: Any  # (u + μ⋆²/μ₁²) X/V: one at the fixed point
    inverse_width: Any  # 1/ψ₁
    _signal: Any  # μ₁² (uY)² (μ₁² u² + μ⋆²)
    _noise: Any  # (Y (μ₁² u² + μ⋆²))²

    def signal(self, shared: Any = 1.0) -> Any:
        """Q(f/ψ₁) - Q(0): the fluctuation of the learned signal over features shared."""
        c = shared * self.inverse_width
        return c * self._signal / (1 - c * self.learned**2)

    def noise(self, shared: Any = 1.0) -> Any:
        """T(f/ψ₁)."""
        c = shared * self.inverse_width
        return self.aligned**2 + c * self._noise / (1 - c * self.learned**2)


def response(linear: float, nonlinear: float, inverse_width: Any, stiff: Any, v: Any) -> Response:
    """The response to forces of response v̂V; `linear` is μ₁², `nonlinear` μ⋆², `stiff` ψ₂λV."""
    shared = linear * inverse_width * v
    w = nonlinear * inverse_width * v + stiff
    b = w + linear * v - shared
    root = np.sqrt(b * b + 4 * w * shared)
    falling = b <= 0
    # two forms of one root; the one that does not subtract
    h = np.where(falling, 4 * w * shared / (root - b + TINIEST), b + root)
    u = np.where(falling, (root - b) / (2 * shared), 2 * w / h)
    aligned = 2 * linear / (h + 2 * shared)
    rest = nonlinear * (h / (w * (h + 2 * shared))) if nonlinear else 0.0
    strength = linear * u * u + nonlinear
    return Response(
        unlearned=u,
        learned=aligned * v,
        aligned=aligned,
        growth=aligned + rest,
        inverse_width=inverse_width,
        _signal=aligned * aligned * (strength / linear) if linear else 0.0 * u,
        _noise=(u * aligned + rest) ** 2,
    )
