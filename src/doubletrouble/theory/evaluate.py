"""Solve at every point of a problem, and combine the parts of unit power into what is asked."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, Value
from doubletrouble.theory.blocks import BLOCK, blockwise
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import Split, split_at

Product: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


class Weights(NamedTuple):
    """What multiplies the parts of unit power."""

    data: FloatArray  # what averaging leaves of a variance that comes with the data
    member: FloatArray  # what it leaves of one that comes with each member
    signal: FloatArray  # F²
    nonlinear: FloatArray  # F⋆²
    noise: FloatArray  # τ²

    @classmethod
    def of(cls, point: Point, scheme: str) -> "Weights":
        """The weights at one point (or block of points)."""
        member = 1 / point.members
        data = member if scheme == "divide" else np.ones_like(member)
        return cls(data, member, point.signal**2, point.nonlinear_signal**2, point.noise**2)


Combination: TypeAlias = Callable[[Split, Weights, Product], tuple[FloatArray, ...]]


def evaluate(
    problem: AnyProblem, n_members: Numeric, scheme: str, combine: Combination
) -> list[Value]:
    """Evaluate `combine` at every point; the last value returned is the Bayes error τ̃²."""
    modes, inputs, shape = prepare(problem, n_members, scheme)

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        point = Point(*values)
        ridge = modes.scaled_ridge(point.ridge, point.samples)
        p = split_at(modes, *point.each(scheme), ridge)
        weights = Weights.of(point, scheme)
        parts = combine(p, weights, np.multiply)
        if any(np.isnan(part).any() for part in parts):  # 0 · inf: the factor 0 is exact
            parts = combine(p, weights, zero_wins)
        return (*parts, point.test_noise**2)

    return blockwise(kernel, inputs, shape, block=max(1, BLOCK // modes.cost))


def zero_wins(factor: FloatArray, value: FloatArray) -> FloatArray:
    """Factor · value, with 0 · inf = 0: a cause that is absent contributes nothing."""
    return np.where((factor == 0) | (value == 0), 0.0, factor * value)
