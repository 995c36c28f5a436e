r"""Where float32 is enough.

The Gram matrix of the features has a largest eigenvalue e and, near P = N, smallest ones down to
zero: adding alpha makes its condition number e/alpha. Rounding then disturbs a fit by about
e/alpha times the precision. For features with moments μ₁, μ⋆ (and μ₀, if left in)

    e ≈ μ₁² (√N + √D)² (√P + √D)²/D + μ⋆² (√N + √P)² + μ₀² N P
"""

import math
from collections.abc import Iterable

import numpy as np

from doubletrouble.activations import Activation

_TOLERANCE = 1e-2


def refuse_too_small(
    ridge: float, sigma: Activation, dim: int, sizes: Iterable[tuple[int, float]], center: bool
) -> None:
    """Raise a ValueError where a ridge is too small for float32; `sizes` are all N and P."""
    mean = 0.0 if center else sigma.mean
    least = max(smallest_ridge(sigma, mean, dim, n, p) for n, p in sizes)
    if ridge < least:
        raise ValueError(
            f"ridge must be at least {least:.1e} for dtype 'float32' at these sizes, got "
            f"{ridge!r}; use dtype 'float64'"
        )


def smallest_ridge(
    sigma: Activation, mean: float, dim: int, n_samples: int, n_features: float
) -> float:
    """The λ at which float32 is off by 1 % at worst."""
    N, D, P = n_samples, dim, min(n_features, 1e12)  # the kernel: all is in proportion to P
    root_n, root_p, root_d = (math.sqrt(v) for v in (N, P, D))
    largest = (
        (sigma.linear * (root_n + root_d) * (root_p + root_d)) ** 2 / D
        + (sigma.nonlinear * (root_n + root_p)) ** 2
        + mean**2 * N * P
    )
    alpha = largest * float(np.finfo(np.float32).eps) / _TOLERANCE
    return alpha * D / (N * P)
