r"""One fit, four conventions for its ridge.

With features Φ (N × P, entries σ(θ·x/√D)) the same predictor is written

    "paper"    λ      min (1/N) |y - Φa|² + (P λ/D) |a|²              [dascoli2020] Eq. (4)
    "sklearn"  alpha  min |y - Φa|² + alpha |a|²                      alpha = N P λ / D
    "gram"     δ      (Φ Φᵀ / P + δ I) c = y                          δ = N λ / D
    "per_dim"         (Zᵀ Z + ψ₁ ψ₂ λ I) a = Zᵀ y, Z = Φ/√D           alpha / D

"gram" is the convention of `SpectralProblem`, "per_dim" that of the authors' notebook.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import Numeric, Value, checked, common_shape, refuse

ConventionName: TypeAlias = Literal["paper", "sklearn", "gram", "per_dim"]
CONVENTIONS: tuple[ConventionName, ...] = get_args(ConventionName)


def ridge_to(
    convention: ConventionName, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric,
    dim: Numeric,
) -> Value:  # fmt: skip
    """Convert the paper's λ to another convention.

    >>> ridge_to("sklearn", 1e-5, n_features=400, n_samples=200, dim=200)
    0.004
    >>> ridge_to("gram", 1e-5, n_features=400, n_samples=100, dim=200)
    5e-06
    """
    value, unit = _checked(convention, ridge, n_features, n_samples, dim)
    return value * unit


def ridge_from(
    convention: ConventionName, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric,
    dim: Numeric,
) -> Value:  # fmt: skip
    """Convert another convention's ridge to the paper's λ.

    >>> ridge_from("sklearn", 1.0, n_features=400, n_samples=200, dim=200)
    0.0025
    """
    value, unit = _checked(convention, ridge, n_features, n_samples, dim)
    return value / unit


def _checked(
    convention: ConventionName, ridge: Numeric, n_features: Numeric, n_samples: Numeric,
    dim: Numeric,
) -> tuple[Value, Value]:  # fmt: skip
    """The ridge, and the factor from the paper's λ to `convention`."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    value = checked("ridge", ridge, glossary.RIDGE)
    P = checked("n_features", n_features, glossary.N_FEATURES)
    N = checked("n_samples", n_samples, glossary.N_SAMPLES)
    D = checked("dim", dim, glossary.DIM)
    shape = common_shape({"ridge": value, "n_features": P, "n_samples": N, "dim": D})
    if convention in ("sklearn", "per_dim"):
        refuse("n_features", P, np.isinf(P), f"finite for the {convention} convention")
    units = {"paper": 1.0, "gram": N / D, "sklearn": (N / D) * P, "per_dim": (N / D) * (P / D)}
    unit = units[convention]
    return value, np.broadcast_to(unit, shape) if shape else unit
