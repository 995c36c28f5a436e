r"""Conversions of the ridge and of training time between conventions.

**Ridge.** With features Φ (N × P, entries σ(θ·x/√D)) the same predictor is written

    "paper"    λ      min (1/N) |y - Φa|² + (P λ/D) |a|²              [dascoli2020] Eq. (4)
    "sklearn"  alpha  min |y - Φa|² + alpha |a|²                      alpha = N P λ / D
    "gram"     δ      (Φ Φᵀ / P + δ I) c = y                          δ = N λ / D
    "per_dim"         (Zᵀ Z + ψ₁ ψ₂ λ I) a = Zᵀ y, Z = Φ/√D           alpha / D

"gram" is the convention of `SpectralProblem`, "per_dim" that of the authors' notebook.

**Time.** Gradient flow from zero weights a has the time "flow" of `gradient_flow`,

    da/dt = (Φᵀ (y - Φ a) - alpha a)/D,

in which the residual along an eigenvector of Φᵀ Φ/D decays at the rate of its eigenvalue, which
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

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import Numeric, Value, check_choice, checked, common_shape, refuse

RidgeUnit: TypeAlias = Literal["paper", "sklearn", "gram", "per_dim"]
RIDGE_UNITS: tuple[RidgeUnit, ...] = get_args(RidgeUnit)

TimeUnit: TypeAlias = Literal["flow", "mean", "half_mean", "sum", "half_sum", "gram"]
TIME_UNITS: tuple[TimeUnit, ...] = get_args(TimeUnit)


def convert_ridge(
    value: Numeric,
    source: RidgeUnit,
    target: RidgeUnit,
    *,
    n_samples: Numeric,
    dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:
    """Convert a ridge from one convention to another.

    Parameters
    ----------
    value : float or array_like
        The ridge in the convention `source`, in [0, inf].
    source, target : "paper" or "sklearn" or "gram" or "per_dim"
        The conventions of the argument and of the result. "paper" is λ relative to the mean loss
        (the `ridge` of a `Problem`), "sklearn" alpha = N P λ/D, "gram" δ = N λ/D (the `gram_ridge`
        of a `SpectralProblem`) and "per_dim" alpha/D.
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].
    n_features : float or array_like or None, default: None
        Random features P, in [1e-50, 1e50] or inf; needed for "sklearn" and "per_dim" alone, and
        finite there.

    Returns
    -------
    float or numpy.ndarray
        The ridge in the convention `target`, of the shape that the arguments broadcast to.

    Raises
    ------
    ValueError
        For an unknown convention, a number outside its domain, shapes that do not broadcast, or
        "sklearn" or "per_dim" without finite `n_features`.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.convert_ridge(1e-5, "paper", "sklearn", n_features=400, n_samples=200, dim=200)
    0.004
    >>> dt.convert_ridge(1.0, "sklearn", "paper", n_features=400, n_samples=200, dim=200)
    0.0025
    >>> dt.convert_ridge(0.1, "paper", "gram", n_samples=400, dim=200)
    0.2
    """
    _check_units(source, target, RIDGE_UNITS)
    ridge = checked("value", value, glossary.RIDGE)
    N = checked("n_samples", n_samples, glossary.N_SAMPLES)
    D = checked("dim", dim, glossary.DIM)
    P = _features(n_features, {source, target} & {"sklearn", "per_dim"})
    shape = common_shape({"value": ridge, "n_features": P, "n_samples": N, "dim": D})
    units = {"paper": 1.0, "gram": N / D, "sklearn": (N / D) * P, "per_dim": (N / D) * (P / D)}
    return _converted(ridge, units, source, target, shape)


def convert_time(
    value: Numeric,
    source: TimeUnit,
    target: TimeUnit,
    *,
    n_samples: Numeric,
    dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:
    """Convert a time of training from one unit to another.

    Parameters
    ----------
    value : float or array_like
        The time in the unit `source`, in [0, 1e150] or inf.
    source, target : "flow" or "mean" or "half_mean" or "sum" or "half_sum" or "gram"
        The units of the argument and of the result. "flow" is the time of `gradient_flow` for a
        `Problem`, "gram" that for a `SpectralProblem`. The others are steps × learning rate of
        gradient descent on a loss: "mean" is (1/N) |y - Φa|² + (P λ/D) |a|², "sum" is |y - Φa|² +
        alpha |a|², and "half_mean" and "half_sum" are half of these.
    n_samples : float or array_like
        Training samples N, in [1e-50, 1e50].
    dim : float or array_like
        Input dimensions D, in [1e-50, 1e50].
    n_features : float or array_like or None, default: None
        Random features P, in [1e-50, 1e50] or inf; needed for "gram" alone, and finite there.

    Returns
    -------
    float or numpy.ndarray
        The time in the unit `target`, of the shape that the arguments broadcast to.

    Raises
    ------
    ValueError
        For an unknown unit, a number outside its domain, shapes that do not broadcast, or "gram"
        without finite `n_features`.
    TypeError
        If an argument is not a number or an array of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.convert_time(10.0, "flow", "mean", n_samples=300, dim=100)  # 1500 steps at rate 0.01
    15.0
    >>> dt.convert_time(1500 * 0.01, "mean", "flow", n_samples=300, dim=100)
    10.0
    """
    _check_units(source, target, TIME_UNITS)
    time = checked("value", value, glossary.TIME)
    N = checked("n_samples", n_samples, glossary.N_SAMPLES)
    D = checked("dim", dim, glossary.DIM)
    P = _features(n_features, {source, target} & {"gram"})
    shape = common_shape({"value": time, "n_features": P, "n_samples": N, "dim": D})
    units = {
        "flow": 1.0,
        "mean": N / (2 * D),
        "half_mean": N / D,
        "sum": 1 / (2 * D),
        "half_sum": 1 / D,
        "gram": P / D,
    }
    return _converted(time, units, source, target, shape)


def _features(n_features: Numeric | None, units: Collection[str]) -> Value:
    """The number of features, which some units need; 1 where it is not given."""
    for unit in sorted(units):
        if n_features is None:
            raise ValueError(f"n_features must be given for the unit {unit!r}, got None")
    if n_features is None:
        return 1.0
    P = checked("n_features", n_features, glossary.N_FEATURES)
    for unit in sorted(units):
        refuse("n_features", P, np.isinf(P), f"finite for the unit {unit!r}")
    return P


def _check_units(source: str, target: str, known: tuple[str, ...]) -> None:
    for name, unit in (("source", source), ("target", target)):
        check_choice(name, unit, known)


def _converted(
    value: Value, units: Mapping[str, Value], source: str, target: str, shape: tuple[int, ...]
) -> Value:
    """A value in another unit; `units` are factors from the first of them."""
    if source == target:
        converted = value
    elif target == next(iter(units)):
        converted = value / units[source]
    else:
        converted = value * (units[target] / units[source])
    return np.array(np.broadcast_to(converted, shape)) if shape else converted
