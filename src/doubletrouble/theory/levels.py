"""The balance equation with many levels: a measured spectrum."""

from typing import Any

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import TINIEST, Balance, Sizes, balance_of


def balance_levels(
    features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray,
    levels: FloatArray, tail: float,
) -> Balance:  # fmt: skip
    """Solve (*) for a list of levels, each of multiplicity one; modes run along the first axis.

    For a mode with l y > 1, L is written 1 - (1 - L) and the one is moved to the right-hand
    side, where counting is exact: no digits are lost however saturated the spectrum is.
    """
    from scipy.optimize import elementwise

    find_root: Any = elementwise.find_root
    arrays = np.broadcast_arrays(features, samples, spare, ridge)
    shape = arrays[0].shape
    features, samples, spare, ridge = (v.reshape(-1) for v in arrays)
    sizes = Sizes.of(features, samples, spare)

    def modes(log_y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        y = np.exp(log_y)
        ly = levels[:, None] * y
        missed = 1 / (1 + ly)
        return y, ly * missed, missed

    def excess(log_y: FloatArray, small: FloatArray, *rest: FloatArray) -> FloatArray:
        *others, ridge = rest
        y, learned, missed = modes(log_y)
        known = missed < 0.5
        loose = np.sum(np.where(known, -missed, learned), axis=0)
        used = small * Sizes(small, *others).unused(2 * ridge * y)[0]
        return np.asarray((used + tail * y + loose) - (small - np.sum(known, axis=0)))

    bracket = _bracket(sizes, ridge, levels, tail)
    tolerances = {"xatol": 1e-10, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0}
    args = (*sizes, ridge)
    log_y = find_root(excess, bracket, args=args, tolerances=tolerances).x
    for _ in range(3):  # polish: d(z + small·h)/dlog y = z - Q + small·dh/dlog y
        y, learned, missed = modes(log_y)
        h, bigger = sizes.unused(2 * ridge * y)
        slope = h * bigger / np.maximum(2 * bigger - sizes.gap, TINIEST)
        partial = np.sum(learned * missed, axis=0) + tail * y
        step = excess(log_y, *args) / (partial + sizes.small * slope)
        log_y = log_y - step
    if not (change := float(np.max(np.abs(step)))) < 1e-9:
        raise ConvergenceError(
            f"the scalar equation was not solved (last step {change:.1e})",
            last=np.exp(log_y),
            residual=change,
        )
    y, learned, missed = modes(log_y)
    partial = np.sum(learned * missed, axis=0) + tail * y
    squared = np.sum(learned * learned, axis=0)
    unused = sizes.unused(2 * ridge * y)
    balance = balance_of(features, samples, unused, learned, missed, partial, squared)
    return Balance(*(v.reshape((*v.shape[:-1], *shape)) for v in balance))


def _bracket(
    sizes: Sizes, ridge: FloatArray, levels: FloatArray, tail: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds on log y: below, z and h each use at most half; above, one term alone suffices."""
    small, twice_ratio, gap, _ = sizes
    positive = levels[levels > 0]
    count = positive.size
    half = 0.125 * twice_ratio + 0.5 * gap  # r y at which h = 1/2
    total, smallest = np.float64(levels.sum() + tail), positive.min() if count else 1.0
    low = np.minimum(0.5 * small / total, half / ridge)
    by_modes = np.where(small < count, small / ((count - small) * smallest), np.inf)
    high = np.minimum(np.minimum(1 / ridge, small / np.float64(tail)), by_modes)
    return np.log(low) - 0.1, np.log(high) + 0.1
