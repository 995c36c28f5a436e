r"""The overlap q₁₂ = E h₁ h₂ of the outputs of two members that share features, samples or noise.

For members that share the fractions f₁ of their features and f₂ of their samples, the excess
Δ = q₁₂ - m²/ρ over members that share nothing is the root of

    Δ = ρ m̂² [Q(f₁/ψ₁) - Q(0)] + f₂ q̂₁₂(Δ) T(f₁/ψ₁)

with q̂₁₂ the mean product of the forces on both (`_labels`). It is convex and increasing in Δ, so
that Newton's method from the left converges monotonically.

[loureiro2022] has the joint law of learners on correlated features. The form with one scalar, for
any shared fractions and for labels drawn independently, is derived here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from doubletrouble.convex._fixed_point import INFINITE, Equations, SolvedPoints
from doubletrouble.convex._labels import Pair
from doubletrouble.errors import ConvergenceError

_STEPS = 80
_NEAR = 1e-14  # relative step at which iteration stops
_ROUNDING = 1e-9  # below it a step that does not fall is rounding


def excess_overlap(
    equations: Equations,
    solution: SolvedPoints,
    shared_features: Any,
    shared_samples: Any,
    shared_noise: bool,
) -> Any:
    """q₁₂ - m²/ρ of two members at every point."""
    at, features = solution.at, solution.features
    # features that are infinitely many are their mean: the same for all members
    f1 = np.where(at.inverse_width == 0, 1.0, shared_features)
    f2 = np.broadcast_to(np.asarray(shared_samples, dtype=np.float64), f1.shape)
    most, base = solution.excess, solution.fluctuation(f1)
    noisy = (at.flips > 0) | (at.variances > 0).any(axis=0)
    same = np.ones_like(noisy) if shared_noise else ~noisy
    excess = np.where(f2 == 0, base, most)
    strength = f2 * at.samples * features.noise(f1)
    infinite = (most >= INFINITE) & ~same & (f1 == 1) & (f2 == 1)
    for equal in (True, False):
        todo = (f2 > 0) & (same == equal) & ~infinite
        if equal:
            todo &= (f1 < 1) | (f2 < 1)
        index = np.flatnonzero(todo)
        if index.size:
            excess[index] = _root(equations, solution, index, base, strength, most, equal)
    peak = np.flatnonzero(infinite)
    if peak.size:  # both are infinite: their ratio is that of the forces
        own, shared = (
            _gap(equations, solution, peak, base, strength, most, v) for v in (False, True)
        )
        excess[peak] = most[peak] * own / shared
    return excess


def _gap(
    equations: Equations,
    solution: SolvedPoints,
    index: Any,
    base: Any,
    strength: Any,
    most: Any,
    same_labels: bool,
) -> Any:
    pair = _pair(equations, solution, index, base[index], most, same_labels)
    value, _ = equations.labels.product(solution.at.take(index), pair)
    return strength[index] * value + base[index]


def _pair(
    equations: Equations, solution: SolvedPoints, i: Any, x: Any, most: Any, same_labels: bool
) -> Pair:
    aligned = solution.unaligned if equations.residual else solution.aligned
    b = solution.third if equations.residual else np.zeros_like(most)
    return Pair(
        V=solution.V[i],
        aligned=aligned[i],
        excess=x,
        own=np.maximum(most[i] - x, 0.0),
        intercept=b[i],
        same_labels=same_labels,
    )


def _root(
    equations: Equations,
    solution: SolvedPoints,
    index: Any,
    base: Any,
    strength: Any,
    most: Any,
    same_labels: bool,
) -> Any:
    result, active = base[index], np.arange(index.size)
    last = np.full(index.size, np.inf)  # steps
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            i, x = index[active], result[active]
            pair = _pair(equations, solution, i, x, most, same_labels)
            value, slope = equations.labels.product(solution.at.take(i), pair)
            value, slope = strength[i] * value, strength[i] * slope
            gap = base[i] + value - x
            new = x + gap / np.maximum(1 - slope, 1e-12)
            new = np.clip(new, base[i], most[i])
            result[active] = new
            step = np.abs(new - x)
            rounded = (step <= _ROUNDING * new) & (step >= 0.3 * last[active])
            last[active] = step
            small = np.where(most[i] < INFINITE, 1e-20 * most[i], 0.0)  # beside q
            active = active[~(step <= _NEAR * new + small) & ~rounded]
            if not active.size:
                return result
    raise ConvergenceError(
        f"an overlap did not converge in {_STEPS} steps",
        last=result,
        residual=float(np.max(last[active])),
    )
