r"""One fit, four conventions for its ridge.

With features Φ (N × P, entries σ(θ·x/√D)) the same predictor is written

    "paper"    λ      min (1/N) |y - Φa|² + (P λ/D) |a|²              [dascoli2020] Eq. (4)
    "sklearn"  alpha  min |y - Φa|² + alpha |a|²                      alpha = N P λ / D
    "gram"     δ      (Φ Φᵀ / P + δ I) c = y                          δ = N λ / D
    "per_dim"         (Zᵀ Z + ψ₁ ψ₂ λ I) a = Zᵀ y, Z = Φ/√D           alpha / D

"gram" is the convention of `SpectralProblem`, "per_dim" that of the authors' notebook.
"""

import numpy as np

from doubletrouble.parameters import Numeric, Parameter, Value, checked, common_shape

CONVENTIONS = ("paper", "sklearn", "gram", "per_dim")

_RIDGE = Parameter(symbol="λ", meaning="ridge penalty", typical=(1e-5, 10.0))
_SIZE = Parameter(symbol="N, D", meaning="a count", typical=(1, 1e4), open_low=True, open_high=True)
_SIZE_OR_INF = Parameter(symbol="P", meaning="a count, or inf", typical=(1, 1e4), open_low=True)


def ridge_to(
    convention: str, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric, dim: Numeric
) -> Value:
    """Convert the paper's λ to another convention.

    >>> ridge_to("sklearn", 1e-5, n_features=400, n_samples=200, dim=200)
    0.004
    >>> ridge_to("gram", 1e-5, n_features=400, n_samples=100, dim=200)
    5e-06
    """
    value, unit = _checked(convention, ridge, n_features, n_samples, dim)
    return value * unit


def ridge_from(
    convention: str, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric, dim: Numeric
) -> Value:
    """Convert another convention's ridge to the paper's λ.

    >>> ridge_from("sklearn", 1.0, n_features=400, n_samples=200, dim=200)
    0.0025
    """
    value, unit = _checked(convention, ridge, n_features, n_samples, dim)
    return value / unit


def _checked(
    convention: str, ridge: Numeric, n_features: Numeric, n_samples: Numeric, dim: Numeric
) -> tuple[Value, Value]:
    """The ridge, and how many units of `convention` the paper's λ = 1 is worth."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    value = checked("ridge", ridge, _RIDGE)
    P = checked("n_features", n_features, _SIZE_OR_INF)
    N = checked("n_samples", n_samples, _SIZE)
    D = checked("dim", dim, _SIZE)
    common_shape({"ridge": value, "n_features": P, "n_samples": N, "dim": D})
    if convention == "paper":
        return value, 1.0
    if convention == "gram":  # the same for any number of features, the kernel limit included
        return value, N / D
    if np.any(np.isinf(P)):
        raise ValueError(f"n_features must be finite for the {convention} convention, got inf")
    return value, N * P / D if convention == "sklearn" else (N / D) * (P / D)
