r"""The scalar equation behind every term, and its solution.

A ridge learner with P features and N samples uses up some of both. If the kernel has eigenvalues
l_i and a tail of total weight t, and y is the inverse of the effective ridge, then mode i is
learned to the fraction L_i = l_i y/(1 + l_i y), and the degrees of freedom in use are

    z(y) = Σ_i L_i + t y,        Q(y) = Σ_i L_i²,        z - Q = Σ_i L_i (1 - L_i) + t y.

The unused fractions of features and samples balance the ridge ([simon2023], [defilippis2024]):

    (1 - z/P) (1 - z/N) = r y.                                                              (*)

The isotropic problem is the case of one level, counted per dimension: l = μ₁², t = μ⋆², r = λ,
P → ψ₁ = P/D, N → ψ₂ = N/D; then L = Ψ₁ and z = Δ of the saddle point in [dascoli2020] App. B.
For a measured spectrum with ridge δ on the Gram matrix, r = δ/N.

**Numerical form.** With small = min(P, N), big = max(P, N) and gap = 1 - small/big, the smaller
unused fraction h solves h (gap + h small/big) = r y, so h(y) is known without subtraction, and
(*) reads z(y) + small·h(y) = small: a sum of increasing positive terms. Every quantity is then
accurate to a few units in the last place, also at P = N and for r down to 1e-300.
"""

from typing import Any, NamedTuple

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray

# The Newton step at which the next one is below rounding (convergence is quadratic).
_LAST_STEP = 1e-8
_DAMPED_AFTER = 8
_MAX_STEPS = 200
_TINIEST = 5e-324


class Balance(NamedTuple):
    """The solution of (*): what is learned of each mode, and what is left of the resources."""

    learned: FloatArray  # L
    missed: FloatArray  # 1 - L, without subtraction
    unused_features: FloatArray  # 1 - z/P
    unused_samples: FloatArray  # 1 - z/N
    partial_features: FloatArray  # (z - Q)/P
    partial_samples: FloatArray  # (z - Q)/N
    squared_samples: FloatArray  # Q/N


class _Sizes(NamedTuple):
    """P and N, sorted: what the smaller unused fraction depends on."""

    small: FloatArray
    ratio: FloatArray  # small/big, 0 in the kernel limit
    gap: FloatArray  # 1 - small/big, exact near P = N

    @classmethod
    def of(cls, features: FloatArray, samples: FloatArray) -> "_Sizes":
        small, big = np.minimum(features, samples), np.maximum(features, samples)
        # big - small is exact where they are close; fmin turns inf/inf, the kernel limit, into 1
        return cls(small, small / big, np.fmin((big - small) / big, 1.0))

    def unused(self, ry: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The unused fractions of the smaller and of the bigger resource, given r·y."""
        twice = self.gap + np.sqrt(self.gap**2 + 4 * self.ratio * ry)
        return 2 * ry / np.maximum(twice, _TINIEST), 0.5 * twice  # 0/0 at P = N, r = 0 is 0


def _finish(
    features: FloatArray, samples: FloatArray, unused: tuple[FloatArray, FloatArray],
    learned: FloatArray, missed: FloatArray, partial: FloatArray, squared: FloatArray,
) -> Balance:  # fmt: skip
    smaller, bigger = unused
    narrow = features <= samples
    return Balance(
        learned=learned,
        missed=missed,
        unused_features=np.where(narrow, smaller, bigger),
        unused_samples=np.where(narrow, bigger, smaller),
        partial_features=partial / features,
        partial_samples=partial / samples,
        squared_samples=squared / samples,
    )


def balance_one_level(
    features: FloatArray, samples: FloatArray, ridge: FloatArray, level: float, tail: float
) -> Balance:
    """Solve (*) for one level of multiplicity one: the isotropic problem, per dimension.

    Multiplying (*) by 1 + l y gives, divided by `small`,

        (1 + l y) (t y/small + h(y)) + (1/small - 1)⁺ l y = 1 + (1 - 1/small)⁺ l y.

    Both sides are close to power laws of y, so Newton's method on their logarithms converges
    from anywhere, in three or four steps from the start below.
    """
    sizes = _Sizes.of(features, samples)
    small, ratio, gap = sizes
    excess = (1 - small) / small * level
    equation = _OneLevel(
        flat=tail / small,
        less=np.maximum(excess, 0.0),
        more=np.maximum(-excess, 0.0),
        gap=gap,
        square=np.maximum(gap * gap, 1e-320),  # the floor only matters at P = N, r = 0: h = 0
        twice_ratio=2 * ratio,
        twice_ridge=2 * ridge,
    )
    # start: the ridgeless root (a quadratic) and the root when the ridge dominates, combined,
    # then scaled down by the share of `small` that the two terms would use there
    linear = (level + tail) - small * level
    width = abs(linear) + np.sqrt(linear * linear + 4 * level * tail * small)
    inverse = np.where(linear >= 0, width / (2 * small), 2 * level * tail / width)
    y = 1 / (inverse + ridge)
    y = y / (y * inverse + sizes.unused(ridge * y)[0])
    y = _newton(y, level, equation)

    ly = level * y
    missed = 1 / (1 + ly)
    learned = ly * missed
    partial = learned * missed + tail * y
    unused = sizes.unused(ridge * y)
    return _finish(features, samples, unused, learned, missed, partial, learned * learned)


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


def balance_levels(
    features: FloatArray, samples: FloatArray, ridge: FloatArray, levels: FloatArray,
    tail: FloatArray,
) -> Balance:  # fmt: skip
    """Solve (*) for a list of levels, each of multiplicity one; modes run along the first axis.

    For a mode with l y > 1, L is written 1 - (1 - L) and the one is moved to the right-hand
    side, where counting is exact: no digits are lost however saturated the spectrum is.
    """
    from scipy.optimize import elementwise

    sizes = _Sizes.of(features, samples)
    column = levels[:, None]

    def modes(log_y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        y = np.exp(log_y)
        missed = 1 / (1 + column * y)
        return y, column * y * missed, missed

    def excess(log_y: FloatArray, at: Any = slice(None)) -> FloatArray:
        y, learned, missed = modes(log_y)
        known = missed < 0.5
        rest = np.sum(np.where(known, -missed, learned), axis=0)
        used = small[at] * pick(at).unused(ridge[at] * y)[0]
        return (used + tail[at] * y + rest) - (small[at] - np.sum(known, axis=0))

    def pick(at: Any) -> _Sizes:
        return _Sizes(*(v[at] for v in sizes))

    small = sizes.small
    low, high = _bracket(sizes, ridge, levels, tail)
    index = np.arange(small.size)
    found = elementwise.find_root(
        lambda log_y, i: excess(log_y, i.astype(int)), (low, high), args=(index,),
        tolerances={"xatol": 1e-10, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0},
    )  # fmt: skip
    log_y = found.x
    for _ in range(3):  # polish: z + small·h has logarithmic derivative z - Q + small·h'
        y, learned, missed = modes(log_y)
        h, bigger = sizes.unused(ridge * y)
        slope_h = h * bigger / np.maximum(2 * bigger - sizes.gap, _TINIEST)
        partial = np.sum(learned * missed, axis=0) + tail * y
        step = excess(log_y) / (partial + small * slope_h)
        log_y = log_y - step
    if not np.max(np.abs(step)) < 1e-9:
        raise ConvergenceError(
            f"the scalar equation was not solved (last step {float(np.max(np.abs(step))):.1e})",
            last=np.exp(log_y),
            residual=float(np.max(np.abs(step))),
        )
    y, learned, missed = modes(log_y)
    partial = np.sum(learned * missed, axis=0) + tail * y
    squared = np.sum(learned * learned, axis=0)
    unused = sizes.unused(ridge * y)
    return _finish(features, samples, unused, learned, missed, partial, squared)


def _bracket(
    sizes: _Sizes, ridge: FloatArray, levels: FloatArray, tail: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds on log y: below, z and h each use at most half; above, one term alone suffices."""
    small, ratio, gap = sizes
    positive = levels[levels > 0]
    count = positive.size
    half = 0.25 * ratio + 0.5 * gap  # r y at which h = 1/2
    low = np.minimum(0.5 * small / (levels.sum() + tail), half / ridge)
    smallest = positive.min() if count else 1.0
    by_modes = np.where(small < count, small / ((count - small) * smallest), np.inf)
    high = np.minimum(np.minimum(1 / ridge, small / tail), by_modes)
    return np.log(low) - 0.1, np.log(high) + 0.1
