r"""Training time, in the unit of the theory and in steps times learning rate.

Gradient flow from zero weights a, on features Φ (N × P) of N samples in D dimensions, is timed by

    da/dt = (Φᵀ (y - Φ a) - alpha a)/D,        alpha = N P λ/D,

so that what is fitted along an eigenvector of Φᵀ Φ/D decays at the rate of its eigenvalue, which
stays finite when N, P, D → ∞. Gradient descent with small steps follows it; how much time one step
is worth depends on the loss that is descended, that of [dascoli2020] Eq. (4) foremost:

    "mean"       (1/N) |y - Φa|² + (P λ/D) |a|²      t = 2 (D/N) · steps · rate
    "half_mean"  half of that                        t = (D/N) · steps · rate
    "sum"        |y - Φa|² + alpha |a|²              t = 2 D · steps · rate
    "half_sum"   half of that                        t = D · steps · rate

A `SpectralProblem` has its features divided by √P, and its own unit of time, "gram":
da/dt = Φᵀ (y - Φ a/√P)/√P - δ a, in which the same moment is at t P/D.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import Numeric, Value, checked, common_shape, refuse

ClockName: TypeAlias = Literal["mean", "half_mean", "sum", "half_sum", "gram"]
CLOCKS: tuple[ClockName, ...] = get_args(ClockName)

_UNITS: dict[ClockName, Callable[[Value, Value, Value], Value]] = {
    "mean": lambda P, N, D: N / (2 * D),
    "half_mean": lambda P, N, D: N / D,
    "sum": lambda P, N, D: 1 / (2 * D),
    "half_sum": lambda P, N, D: 1 / D,
    "gram": lambda P, N, D: P / D,
}


def time_to(
    clock: ClockName, time: Numeric, *, n_samples: Numeric, dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:  # fmt: skip
    """Convert a time of `gradient_flow` to steps × learning rate on a loss ("mean", "sum", …).

    `n_features` is needed for "gram" alone.

    >>> time_to("mean", 10.0, n_samples=300, dim=100)  # so 1500 steps at learning rate 0.01
    15.0
    """
    value, unit = _checked(clock, "time", time, n_features, n_samples, dim)
    return value * unit


def time_from(
    clock: ClockName, progress: Numeric, *, n_samples: Numeric, dim: Numeric,
    n_features: Numeric | None = None,
) -> Value:  # fmt: skip
    """Convert steps × learning rate on a loss to a time of `gradient_flow`.

    >>> time_from("mean", 1500 * 0.01, n_samples=300, dim=100)
    10.0
    """
    value, unit = _checked(clock, "progress", progress, n_features, n_samples, dim)
    return value / unit


def _checked(
    clock: ClockName, name: str, time: Numeric, n_features: Numeric | None, n_samples: Numeric,
    dim: Numeric,
) -> tuple[Value, Value]:  # fmt: skip
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
    common_shape({name: value, "n_features": P, "n_samples": N, "dim": D})
    return value, _UNITS[clock](P, N, D)
