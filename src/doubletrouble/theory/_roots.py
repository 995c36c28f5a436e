"""Roots of many functions at once, by Ridders' method.

`scipy.optimize.elementwise` has root finders on arrays, but importing it takes 0.3 s, ten times as
long as the first call of `optimal_ridge` or `advise` in a process.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray

Values: TypeAlias = Callable[[FloatArray, npt.NDArray[np.int_]], FloatArray]

_MOST_STEPS = 200
_NEAR = 1e-13


def crossings(
    values: Values, low: FloatArray, high: FloatArray, at_low: FloatArray, at_high: FloatArray
) -> FloatArray:
    """Roots between `low` and `high`, where the values have different signs, to 1e-13.

    `values(x, i)` are those of functions i at x. Each step evaluates them at the midpoint and at
    the zero of an exponential through the three values, and at least halves the bracket.

    >>> cubes = lambda x, i: x**3 - np.array([8.0, 27.0])[i]
    >>> ends = np.zeros(2), np.full(2, 10.0)
    >>> crossings(cubes, *ends, cubes(ends[0], [0, 1]), cubes(ends[1], [0, 1]))
    array([2., 3.])
    """
    if np.any(np.sign(at_low) == np.sign(at_high)):
        raise ConvergenceError(
            "the function must change sign between the ends of the bracket",
            last=(low, high),
            residual=math.inf,
        )
    a, b, fa, fb = low.copy(), high.copy(), at_low.copy(), at_high.copy()
    root, active = np.full_like(a, np.inf), np.arange(a.size)

    def narrow(i: npt.NDArray[np.int_], point: FloatArray, value: FloatArray) -> None:
        """Narrow the bracket by a value inside it."""
        inside = (point > a[i]) & (point < b[i])
        left = inside & (np.sign(value) == np.sign(fa[i]))
        right = inside & ~left
        a[i], fa[i] = np.where(left, point, a[i]), np.where(left, value, fa[i])
        b[i], fb[i] = np.where(right, point, b[i]), np.where(right, value, fb[i])

    for _ in range(_MOST_STEPS):
        i, middle = active, 0.5 * (a + b)[active]
        fm = values(middle, i)
        with np.errstate(all="ignore"):
            away = np.sign(fa[i]) * fm / np.sqrt(fm * fm - fa[i] * fb[i])
        x = middle + (middle - a[i]) * np.where(np.isfinite(away), away, 0.0)
        fx = values(x, i)
        narrow(i, middle, fm)
        narrow(i, x, fx)
        still, root[i] = i[np.abs(x - root[i]) < _NEAR], x
        if still.size:  # the bracket closes if the other side of the step has the other sign
            beyond = np.where(root[still] == a[still], _NEAR, -_NEAR)
            narrow(still, root[still] + beyond, values(root[still] + beyond, still))
        active = i[(fx != 0) & (b[i] - a[i] > 2 * _NEAR * np.maximum(1.0, np.abs(root[i])))]
        if active.size == 0:
            return root
    raise ConvergenceError(
        f"a root did not converge in {_MOST_STEPS} steps",
        last=root[active],
        residual=float(np.max(b[active] - a[active])),
    )
