"""The balance equation with many levels: a measured spectrum."""

from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import TINIEST, Balance, Sizes, balance_of

_NODES = 512  # of the table of z, at most
_FAST = 10  # steps of Newton's method, from the table; what is not done then is bracketed
_LAST_STEP = 1e-9


def balance_levels(
    features: FloatArray, samples: FloatArray, spare: FloatArray, ridge: FloatArray,
    levels: FloatArray, tail: float,
) -> Balance:  # fmt: skip
    """Solve (*) for a list of levels, each of multiplicity one; modes run along the first axis.

    For a mode with l y > 1, L is written 1 - (1 - L) and the one is moved to the right-hand
    side, where counting is exact: no digits are lost however saturated the spectrum is.
    """
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

    def newton(log_y: FloatArray, points: Sizes, ridge: FloatArray) -> FloatArray:
        """The step: d(z + small·h)/dlog y = z - Q + small·dh/dlog y."""
        y, learned, missed = modes(log_y)
        h, bigger = points.unused(2 * ridge * y)
        slope = h * bigger / np.maximum(2 * bigger - points.gap, TINIEST)
        partial = np.sum(learned * missed, axis=0) + tail * y
        return np.asarray(excess(log_y, *points, ridge) / (partial + points.small * slope))

    bracket = _bracket(sizes, ridge, levels, tail)
    log_y, reach = _start(sizes, ridge, levels, tail, bracket)
    active = np.arange(log_y.size)
    for _ in range(_FAST):
        some = Sizes(*(v[active] for v in sizes))
        step = newton(log_y[active], some, ridge[active])
        log_y[active] -= np.clip(step, -reach, reach)
        active = active[~(np.abs(step) < _LAST_STEP)]
        if active.size == 0:
            break
    else:  # a spectrum with gaps, saturated up to one of them
        some, few = Sizes(*(v[active] for v in sizes)), ridge[active]
        ends = (bracket[0][active], bracket[1][active])
        log_y[active] = _searched(excess, ends, (*some, few))
    for _ in range(2):
        step = newton(log_y, sizes, ridge)
        log_y = log_y - step
    if not (change := float(np.max(np.abs(step)))) < 1e-9:
        raise ConvergenceError(
            f"the scalar equation was not solved (last step {change:.1e})",
            last=np.exp(log_y),
            residual=change,
        )
    y, learned, missed = modes(log_y)
    rest = tail * y
    partial = np.sum(learned * missed, axis=0) + rest
    squared = np.sum(learned * learned, axis=0)
    unused = sizes.unused(2 * ridge * y)
    balance = balance_of(features, samples, unused, learned, missed, partial, squared, rest)
    return Balance(*(v.reshape((*v.shape[:-1], *shape)) for v in balance))


def _start(
    sizes: Sizes, ridge: FloatArray, levels: FloatArray, tail: float,
    bracket: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, float]:  # fmt: skip
    """Log y from a table of z, looked up without the modes, and how far off it may be."""
    low, high = float(bracket[0].min()), float(bracket[1].max())
    nodes = np.linspace(low, high, min(_NODES, 32 + sizes.small.size))
    y = np.exp(nodes)
    ly = levels[:, None] * y
    z = np.sum(ly / (1 + ly), axis=0) + tail * y

    def share(place: npt.NDArray[np.int_]) -> FloatArray:
        used = z[place] / sizes.small + sizes.unused(2 * ridge * y[place])[0]
        return np.asarray(np.log(used))

    below = np.zeros(sizes.small.shape, dtype=int)
    above = np.full_like(below, nodes.size - 1)
    while np.any(above - below > 1):
        middle = (below + above) // 2
        over = share(middle) > 0
        below, above = np.where(over, below, middle), np.where(over, middle, above)
    first, last = share(below), share(above)
    part = np.clip(-first / np.maximum(last - first, TINIEST), 0.0, 1.0)
    spacing = float(nodes[1] - nodes[0])
    return nodes[below] + part * spacing, spacing


def _searched(
    excess: Any, bracket: tuple[FloatArray, FloatArray], args: tuple[FloatArray, ...]
) -> FloatArray:
    """Log y by bracketing, which takes longer and never fails."""
    from scipy.optimize import elementwise

    find_root: Any = elementwise.find_root
    tolerances = {"xatol": 1e-10, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0}
    return np.asarray(find_root(excess, bracket, args=args, tolerances=tolerances).x)


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
