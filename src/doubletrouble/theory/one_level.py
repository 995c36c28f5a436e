"""The balance equation with one level: the isotropic problem, vectorized and branch-free."""

from typing import Any, NamedTuple

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import TINIEST, Balance, Sizes, balance_of

# The Newton step at which the next one is below rounding (convergence is quadratic).
_LAST_STEP = 1e-8
_DAMPED_AFTER = 8
_MAX_STEPS = 200


def balance_one_level(
    features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray,
    level: float, tail: float,
) -> Balance:  # fmt: skip
    """Solve (*) for one level of multiplicity one: the isotropic problem, per dimension.

    Multiplying (*) by 1 + l y gives, divided by `small`,

        (1 + l y) (t y/small + h(y)) + (1/small - 1)⁺ l y = 1 + (1 - 1/small)⁺ l y.

    Both sides are close to power laws of y, so Newton's method on their logarithms converges
    from anywhere, in three or four steps from the start below.
    """
    sizes = Sizes.of(features, samples, spare)
    small, twice_ratio, gap, square = sizes
    twice_ridge, inverse_small = 2 * ridge, 1 / small
    excess = (1 - small) * inverse_small * level
    less = np.maximum(excess, 0.0)
    equation = _OneLevel(
        flat=tail * inverse_small,
        less=less,
        more=less - excess,
        gap=gap,
        square=square + 1e-320,  # which only matters at P = N, r = 0, where h = 0
        twice_ratio=twice_ratio,
        twice_ridge=twice_ridge,
    )
    # start: the ridgeless root (a quadratic, in two forms of which one subtracts: that one is then
    # the smaller) and the root when the ridge dominates, combined, then scaled down by the share of
    # `small` that the two terms would use there
    linear = (level + tail) - small * level
    root = np.sqrt(linear * linear + (4 * level * tail) * small)
    width = np.abs(linear) + root + TINIEST  # TINIEST: a linear network at min(P, N) = D
    inverse = np.maximum((linear + root) * (0.5 * inverse_small), (2 * level * tail) / width)
    y = 1 / (inverse + ridge)
    y = y / (y * inverse + sizes.unused(twice_ridge * y)[0])
    y = _newton(y, level, equation)

    ly = level * y
    missed = 1 / (1 + ly)
    learned = ly * missed
    rest = tail * y
    partial = learned * missed + rest
    unused = sizes.unused(twice_ridge * y)
    return balance_of(features, samples, unused, learned, missed, partial, learned * learned, rest)


class _OneLevel(NamedTuple):
    """Coefficients of the one-level equation, per point."""

    flat: FloatArray
    less: FloatArray
    more: FloatArray
    gap: FloatArray
    square: FloatArray
    twice_ratio: FloatArray
    twice_ridge: FloatArray

    def at(self, points: Any) -> "_OneLevel":
        return _OneLevel(*(v if np.ndim(v) == 0 else v[points] for v in self))


def _newton(y: FloatArray, level: float, equation: _OneLevel, steps: int = 0) -> FloatArray:
    """Newton's method on the logarithms; once most points are done, only the rest goes on.

    The logarithmic slope lies in [1/2, 2] everywhere. A point that wanders between regimes (a
    nearly linear network just above P = N = D can) is soon stepped with the slope 2 until it is
    near, which always contracts.
    """
    flat, less, more, gap, square, twice_ratio, twice_ridge = equation
    for taken in range(steps, _MAX_STEPS):
        ly, ty, ry, below, above = level * y, flat * y, twice_ridge * y, less * y, more * y
        root = np.sqrt(square + twice_ratio * ry)  # ry holds 2 r y
        inner, one = ty + ry / (gap + root), 1 + ly
        left, right = one * inner + below, 1 + above
        slope = (ly * inner + one * (ty + 0.5 * (ry / root)) + below) / left - above / right
        excess = np.log(left / right)
        if taken >= _DAMPED_AFTER:
            slope = np.where(np.abs(excess) > 0.5, 2.0, slope)
        step = excess / slope
        y = y * np.exp(-step)
        if np.ndim(y) == 0:
            if abs(step) < _LAST_STEP:
                return y
        elif taken >= 1:  # hardly any block is done after its first step
            active = np.flatnonzero(~(np.abs(step) < _LAST_STEP))
            if active.size == 0:
                return y
            if active.size < 0.2 * step.size:
                y[active] = _newton(y[active], level, equation.at(active), taken + 1)
                return y
    raise ConvergenceError(
        f"the scalar equation was not solved in {_MAX_STEPS} steps "
        f"(last step {float(np.max(np.abs(step))):.1e})",
        last=y,
        residual=float(np.max(np.abs(step))),
    )
