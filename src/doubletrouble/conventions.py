r"""Conversions of the ridge and of training time between conventions.

**Ridge.** With features Φ (N × P, entries σ(θ·x/√D)) the same predictor is written

    "paper"    λ      min (1/N) |y - Φa|² + (P λ/D) |a|²              [dascoli2020] Eq. (4)
    "sklearn"  alpha  min |y - Φa|² + alpha |a|²                      alpha = N P λ / D
    "gram"     δ      (Φ Φᵀ / P + δ I) c = y                          δ = N λ / D
    "per_dim"         (Zᵀ Z + ψ₁ ψ₂ λ I) a = Zᵀ y, Z = Φ/√D           alpha / D

"gram" is the convention of `SpectralProblem`, "per_dim" that of the authors' notebook.

**Time.** Gradient flow from zero weights a is timed by

    da/dt = (Φᵀ (y - Φ a) - alpha a)/D,

so that the residual along an eigenvector of Φᵀ Φ/D decays at the rate of its eigenvalue, which
stays finite when N, P, D → ∞. Gradient descent with small steps follows it; the time of one step
depends on the loss that is minimized. "mean" is the loss of [dascoli2020] Eq. (4):

    "mean"       (1/N) |y - Φa|² + (P λ/D) |a|²      t = 2 (D/N) · steps · rate
    "half_mean"  half of that                        t = (D/N) · steps · rate
    "sum"        |y - Φa|² + alpha |a|²              t = 2 D · steps · rate
    "half_sum"   half of that                        t = D · steps · rate

A `SpectralProblem` has its features divided by √P, and its own unit of time, "gram":
da/dt = Φᵀ (y - Φ a/√P)/√P - δ a, where t of the isotropic problem corresponds to t P/D.
"""

from __future__ import annotations  # help() then shows the alias Numeric

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import Numeric, Value, checked, common_shape, refuse

ConventionName: TypeAlias = Literal["paper", "sklearn", "gram", "per_dim"]
CONVENTIONS: tuple[ConventionName, ...] = get_args(ConventionName)

ClockName: TypeAlias = Literal["mean", "half_mean", "sum", "half_sum", "gram"]
CLOCKS: tuple[ClockName, ...] = get_args(ClockName)

_TIME_UNITS: dict[ClockName, Callable[[Value, Value, Value], Value]] = {
    "mean": lambda P, N, D: N / (2 * D),
    "half_mean": lambda P, N, D: N / D,
    "sum": lambda P, N, D: 1 / (2 * D),
    "half_sum": lambda P, N, D: 1 / D,
    "gram": lambda P, N, D: P / D,
}


def ridge_to(
    convention: ConventionName,
    ridge: Numeric,
    *,
    n_features: Numeric,
    n_samples: Numeric,
    dim: Numeric,
) -> Value:
    """Convert the paper's λ to another convention.

    Parameters
    ----------
    convention : {"paper", "sklearn", "gram", "per_dim"}
        The convention of the result. "paper" is λ relative to the mean loss, "sklearn" alpha =
        N P λ/D, "gram" δ = N λ/D (that of `SpectralProblem`) and "per_dim" alpha/D.
    ridge : float or array_like
        The paper's λ, in [0, inf].
    n_features : float or array_like
        Random features P, in [1e-50, 1e50] or inf; finite for "sklearn" and "per_dim".
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].

    Returns
    -------
    float or numpy.ndarray
        The ridge in this convention, of the shape that the arguments broadcast to.

    Raises
    ------
    ValueError
        For an unknown convention, a number outside its domain, or shapes that do not broadcast.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.ridge_to("sklearn", 1e-5, n_features=400, n_samples=200, dim=200)
    0.004
    >>> dt.ridge_to("gram", 1e-5, n_features=400, n_samples=100, dim=200)
    5e-06
    """
    value, unit = _ridge_and_unit(convention, ridge, n_features, n_samples, dim)
    return value * unit


def ridge_from(
    convention: ConventionName,
    ridge: Numeric,
    *,
    n_features: Numeric,
    n_samples: Numeric,
    dim: Numeric,
) -> Value:
    """Convert another convention's ridge to the paper's λ.

    Parameters
    ----------
    convention : {"paper", "sklearn", "gram", "per_dim"}
        The convention of the argument. "paper" is λ relative to the mean loss, "sklearn" alpha =
        N P λ/D, "gram" δ = N λ/D (that of `SpectralProblem`) and "per_dim" alpha/D.
    ridge : float or array_like
        The ridge in this convention, in [0, inf].
    n_features : float or array_like
        Random features P, in [1e-50, 1e50] or inf; finite for "sklearn" and "per_dim".
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].

    Returns
    -------
    float or numpy.ndarray
        The paper's λ, of the shape that the arguments broadcast to.

    Raises
    ------
    ValueError
        For an unknown convention, a number outside its domain, or shapes that do not broadcast.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.ridge_from("sklearn", 1.0, n_features=400, n_samples=200, dim=200)
    0.0025
    """
    value, unit = _ridge_and_unit(convention, ridge, n_features, n_samples, dim)
    return value / unit


def _ridge_and_unit(
    convention: ConventionName,
    ridge: Numeric,
    n_features: Numeric,
    n_samples: Numeric,
    dim: Numeric,
) -> tuple[Value, Value]:
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


def time_to(
    clock: ClockName,
    time: Numeric,
    *,
    n_samples: Numeric,
    dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:
    """Convert a time of `gradient_flow` to steps × learning rate on a loss.

    Parameters
    ----------
    clock : {"mean", "half_mean", "sum", "half_sum", "gram"}
        The loss that is minimized: "mean" is (1/N) |y - Φa|² + (P λ/D) |a|², "sum" is
        |y - Φa|² + alpha |a|², and "half_mean" and "half_sum" are half of these; or "gram", the
        unit of time of a `SpectralProblem`.
    time : float or array_like
        Time of `gradient_flow` for a `Problem`, in [0, 1e150] or inf.
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].
    n_features : float or array_like or None, default: None
        Random features P, in [1e-50, 1e50] or inf; needed for "gram" alone, and finite there.

    Returns
    -------
    float or numpy.ndarray
        Steps × learning rate, or the time in the unit "gram", of the shape that the arguments
        broadcast to.

    Raises
    ------
    ValueError
        For an unknown clock, a number outside its domain, shapes that do not broadcast, or "gram"
        without finite `n_features`.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.time_to("mean", 10.0, n_samples=300, dim=100)  # so 1500 steps at learning rate 0.01
    15.0
    """
    value, unit = _time_and_unit(clock, "time", time, n_features, n_samples, dim)
    return value * unit


def time_from(
    clock: ClockName,
    progress: Numeric,
    *,
    n_samples: Numeric,
    dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:
    """Convert steps × learning rate on a loss to a time of `gradient_flow`.

    Parameters
    ----------
    clock : {"mean", "half_mean", "sum", "half_sum", "gram"}
        The loss that is minimized: "mean" is (1/N) |y - Φa|² + (P λ/D) |a|², "sum" is
        |y - Φa|² + alpha |a|², and "half_mean" and "half_sum" are half of these; or "gram", the
        unit of time of a `SpectralProblem`.
    progress : float or array_like
        Steps × learning rate, or the time in the unit "gram", in [0, 1e150] or inf.
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].
    n_features : float or array_like or None, default: None
        Random features P, in [1e-50, 1e50] or inf; needed for "gram" alone, and finite there.

    Returns
    -------
    float or numpy.ndarray
        Time of `gradient_flow` for a `Problem`, of the shape that the arguments broadcast to.

    Raises
    ------
    ValueError
        For an unknown clock, a number outside its domain, shapes that do not broadcast, or "gram"
        without finite `n_features`.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.time_from("mean", 1500 * 0.01, n_samples=300, dim=100)
    10.0
    """
    value, unit = _time_and_unit(clock, "progress", progress, n_features, n_samples, dim)
    return value / unit


def _time_and_unit(
    clock: ClockName,
    name: str,
    time: Numeric,
    n_features: Numeric | None,
    n_samples: Numeric,
    dim: Numeric,
) -> tuple[Value, Value]:
    """The time, and the factor from the theory's time to `clock`."""
    if clock not in CLOCKS:
        raise ValueError(f"clock must be one of {', '.join(CLOCKS)}, got {clock!r}")
    value = checked(name, time, glossary.TIME)
    N = checked("n_samples", n_samples, glossary.N_SAMPLES)
    D = checked("dim", dim, glossary.DIM)
    P: Value = 1.0
    if n_features is not None:
        P = checked("n_features", n_features, glossary.N_FEATURES)
    if clock == "gram":
        if n_features is None:
            raise ValueError("n_features must be given for clock 'gram', got None")
        refuse("n_features", P, np.isinf(P), "finite to be converted to or from 'gram'")
    shape = common_shape({name: value, "n_features": P, "n_samples": N, "dim": D})
    unit = _TIME_UNITS[clock](P, N, D)
    return value, np.broadcast_to(unit, shape) if shape else unit
