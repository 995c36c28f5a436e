r"""Where float32 is enough.

The Gram matrix of the features has a largest eigenvalue e and, near P = N, smallest ones down to
zero: adding alpha makes its condition number e/alpha. Rounding then disturbs a fit by about
e/alpha times the precision. For features with moments μ₁, μ⋆ (and μ₀, if left in)

    e ≈ μ₁² (√N + √D)² (√P + √D)²/D + μ⋆² (√N + √P)² + μ₀² N P
"""

import math

import numpy as np

from doubletrouble.simulation.draw import Setting

_TOLERANCE = 1e-2


def refuse_too_small(at: Setting) -> None:
    """Raise a ValueError where the smallest ridge is too small for float32."""
    least = max(
        smallest_ridge(at, width, at.n_samples // parts)
        for width in at.widths
        for parts in at.divisions
    )
    if min(at.ridges) < least:
        raise ValueError(
            f"ridge must be at least {least:.1e} for dtype 'float32' at these sizes, got "
            f"{min(at.ridges)!r}; use dtype 'float64'"
        )


def smallest_ridge(at: Setting, width: float, n_samples: int) -> float:
    """The λ at which float32 is off by 1 % at worst."""
    N, D, sigma = n_samples, at.dim, at.activation
    P = min(width, 1e12)  # the kernel: all is in proportion to P
    root_n, root_p, root_d = (math.sqrt(v) for v in (N, P, D))
    largest = (
        (sigma.linear * (root_n + root_d) * (root_p + root_d)) ** 2 / D
        + (sigma.nonlinear * (root_n + root_p)) ** 2
        + (0.0 if at.center else sigma.mean**2 * N * P)
    )
    alpha = largest * float(np.finfo(np.float32).eps) / _TOLERANCE
    return alpha * D / (N * P)
