r"""One fit, four conventions for its ridge.

With features Φ (N × P, entries σ(θ·x/√D)) the same predictor is written

    "paper"    λ      min (1/N) |y - Φa|² + (P λ/D) |a|²              [dascoli2020] Eq. (4)
    "sklearn"  alpha  min |y - Φa|² + alpha |a|²                      alpha = N P λ / D
    "gram"     δ      (Φ Φᵀ / P + δ I) c = y                          δ = N λ / D
    "per_dim"         (Zᵀ Z + ψ₁ ψ₂ λ I) a = Zᵀ y, Z = Φ/√D           alpha / D

"gram" is the convention of `SpectralProblem`, "per_dim" that of the authors' notebook.
"""

from doubletrouble.parameters import Numeric, Parameter, Value, checked, common_shape

CONVENTIONS = ("paper", "sklearn", "gram", "per_dim")

_RIDGE = Parameter(symbol="λ", meaning="ridge penalty", typical=(1e-5, 10.0))
_SIZE = Parameter(
    symbol="P, N, D", meaning="a count", typical=(1, 1e4), open_low=True, open_high=True
)


def ridge_to(
    convention: str, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric, dim: Numeric
) -> Value:
    """Convert the paper's λ to another convention.

    >>> ridge_to("sklearn", 1e-5, n_features=400, n_samples=200, dim=200)
    0.004
    >>> ridge_to("gram", 1e-5, n_features=400, n_samples=100, dim=200)
    5e-06
    """
    return checked("ridge", ridge, _RIDGE) * _factor(convention, n_features, n_samples, dim)


def ridge_from(
    convention: str, ridge: Numeric, *, n_features: Numeric, n_samples: Numeric, dim: Numeric
) -> Value:
    """Convert another convention's ridge to the paper's λ.

    >>> ridge_from("sklearn", 1.0, n_features=400, n_samples=200, dim=200)
    0.0025
    """
    return checked("ridge", ridge, _RIDGE) / _factor(convention, n_features, n_samples, dim)


def _factor(convention: str, n_features: Numeric, n_samples: Numeric, dim: Numeric) -> Value:
    """How many units of `convention` the paper's λ = 1 is worth."""
    sizes = {
        name: checked(name, value, _SIZE)
        for name, value in (("n_features", n_features), ("n_samples", n_samples), ("dim", dim))
    }
    common_shape(sizes)
    P, N, D = sizes["n_features"], sizes["n_samples"], sizes["dim"]
    factors = {
        "paper": 1.0 + 0.0 * D,
        "sklearn": N * P / D,
        "gram": N / D,
        "per_dim": (N / D) * (P / D),
    }
    if convention not in factors:
        raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    return factors[convention]
