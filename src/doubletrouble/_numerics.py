"""Roots, minima and limits at many points at once.

`scipy.optimize.elementwise` has root finders and minimizers on arrays, but its root of one function
takes 0.9 ms, four times as long as Ridders' method here and a fifth of a call of `optimal_ridge`,
and importing it takes 0.3 s.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Indices, Numbers, Value

Function: TypeAlias = Callable[[FloatArray], FloatArray]
Values: TypeAlias = Callable[[FloatArray, npt.NDArray[np.int_]], FloatArray]

_MOST_STEPS = 200
_NEAR = 1e-13
_GOLDEN = (3 - math.sqrt(5)) / 2
_MINIMIZER_STEPS = 40
_NEGLIGIBLE = 1e-70  # sizes reach 1e±50, and limits approached are beyond 1e±83


@dataclass(slots=True)
class PointArrays:
    """Base of quantities at several points, which are the last axis of its arrays."""

    def map(self, function: Callable[..., object], *others: Self) -> Self:
        """A function of each number or array, and of those of the same name in others."""
        values: dict[str, Any] = {f: getattr(self, f) for f in self.__dataclass_fields__}
        for name, value in values.items():
            if isinstance(value, PointArrays):
                values[name] = value.map(function, *(getattr(one, name) for one in others))
            elif isinstance(value, _NUMBERS):
                values[name] = function(value, *(getattr(one, name) for one in others))
        return type(self)(**values)

    def take(self, index: Indices) -> Self:
        """The quantities at some of the points."""
        values: dict[str, Any] = {f: getattr(self, f) for f in self.__dataclass_fields__}
        for name, value in values.items():  # without `map`, for speed
            if isinstance(value, np.ndarray):
                values[name] = value[..., index] if value.ndim else value
            elif isinstance(value, PointArrays):
                values[name] = value.take(index)
        return type(self)(**values)

    def put(self, index: Indices, others: Self) -> None:
        """Set the arrays at some of the points, in place."""
        for name in self.__dataclass_fields__:
            own, new = getattr(self, name), getattr(others, name)
            if isinstance(own, PointArrays):
                own.put(index, new)
            elif np.ndim(own):
                own[..., index] = new

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape to which the arrays broadcast."""
        values = (getattr(self, name) for name in self.__dataclass_fields__)
        return np.broadcast_shapes(*(np.shape(v) for v in values if isinstance(v, _NUMBERS)))


_NUMBERS = (float, np.ndarray, np.generic)


def limit_value(value: Numbers, limit: BoolArray | bool = True, unit: Value = 1.0) -> Numbers:
    """The value where `limit` is false, and else 0, ±inf or the value, by its size.

    Limits of parameters (ridges 0 and inf, labels without information) are evaluated at surrogates,
    where finite limits are exact to rounding and other values are so small or large, relative to
    `unit`, that they stand for 0 or inf.

    >>> limit_value(np.array([1e-90, 2.0, -1e90]))
    array([  0.,   2., -inf])
    """
    size = np.abs(value)
    limited = np.where(limit & (size < _NEGLIGIBLE * unit), 0.0, value)
    return np.where(limit & (size * _NEGLIGIBLE > unit), np.copysign(np.inf, limited), limited)


def bisected(
    is_below: Callable[[FloatArray], BoolArray],
    low: FloatArray,
    high: FloatArray,
    *,
    steps: int = 64,
    bits: int = 1,
) -> FloatArray:
    """The points between `low` and `high` up to which `is_below` is true, to rounding.

    Each call of `is_below` halves the interval `bits` times: it gets points of as many sections,
    along an axis before those of the bounds. After all it is halved `steps` times.

    >>> bisected(lambda x: x**3 < np.array([8.0, 27.0]), np.zeros(2), np.full(2, 10.0))
    array([2., 3.])
    """
    sections, width = 2**bits, high - low
    inner = np.arange(1.0, sections).reshape(-1, *(1 for _ in np.shape(low)))
    for _ in range(-(-steps // bits)):
        width = width / sections
        # up to the last section: far below, where a function may be 0/0, comparisons are false
        low = low + width * np.where(is_below(low + width * inner), inner, 0.0).max(axis=0)
    return low + 0.5 * width


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


def minimizers(function: Function, nodes: FloatArray, values: FloatArray) -> FloatArray:
    """The arguments of the least value near the least of three nodes, to 1e-7.

    `nodes` and `values` are those of three points, in order, (3, ...). Each step evaluates the
    minimum of the parabola through them, or a golden section of the longer side.

    >>> nodes = np.array([[0.0], [1.0], [3.0]])
    >>> minimizers(lambda x: (x - 1.25) ** 2, nodes, (nodes - 1.25) ** 2).round(6)
    array([1.25])
    """
    (low, middle, high), (at_low, at_middle, at_high) = nodes, values
    for step in range(_MINIMIZER_STEPS):
        left, right = middle - low, high - middle
        up, down = left**2 * (at_middle - at_high), right**2 * (at_middle - at_low)
        bottom = left * (at_middle - at_high) + right * (at_middle - at_low)
        with np.errstate(all="ignore"):
            x = middle - 0.5 * (up - down) / bottom
        longer = np.where(right > left, middle + _GOLDEN * right, middle - _GOLDEN * left)
        near = np.abs(x - middle) < 1e-3 * (high - low)
        x = np.where(np.isfinite(x) & (x > low) & (x < high) & ~near & (step % 3 < 2), x, longer)
        value = function(np.asarray(x))
        better, above = value < at_middle, x > middle
        low = np.where(better & above, middle, np.where(~better & ~above, x, low))
        at_low = np.where(better & above, at_middle, np.where(~better & ~above, value, at_low))
        high = np.where(better & ~above, middle, np.where(~better & above, x, high))
        at_high = np.where(better & ~above, at_middle, np.where(~better & above, value, at_high))
        middle, at_middle = np.where(better, x, middle), np.where(better, value, at_middle)
        if np.all(high - low < 1e-7):
            break
    return np.asarray(middle)
