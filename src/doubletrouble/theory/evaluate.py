"""Solve at every point of a problem, and combine the parts of unit power into what is asked."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, Value
from doubletrouble.theory.blocks import BLOCK, blockwise
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import AnyProblem, Drawing, Point, prepare
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


Combination: TypeAlias = Callable[[Any, Weights, Product], tuple[FloatArray, ...]]


def split_there(modes: Modes, point: Point, scheme: str, ridge: FloatArray) -> Split:
    """The parts of one member's error."""
    return split_at(modes, *point.each(scheme), ridge)


def evaluate(
    problem: AnyProblem, n_members: Numeric, scheme: str, combine: Combination, *,
    draw: Drawing | None = None, parts_at: Callable[..., Any] = split_there,
) -> list[Value]:  # fmt: skip
    """Evaluate `combine` at every point; the last value returned is the Bayes error τ̃².

    `parts_at` gives the parts of unit power that it combines.
    """
    modes, inputs, shape = prepare(problem, n_members, scheme, draw)

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        point = Point(*values)
        ridge = modes.scaled_ridge(point.ridge, point.samples)
        p = parts_at(modes, point, scheme, ridge)
        return (*combined(combine, p, Weights.of(point, scheme)), point.test_noise**2)

    return blockwise(kernel, inputs, shape, block=max(1, BLOCK // modes.cost))


def combined(combine: Combination, parts: Any, weights: Weights) -> tuple[FloatArray, ...]:
    """What `combine` makes of the parts, causes that are absent contributing nothing."""
    found = combine(parts, weights, np.multiply)
    if any(np.isnan(part).any() for part in found):  # 0 · inf: the factor 0 is exact
        found = combine(parts, weights, zero_wins)
    return found


def zero_wins(factor: FloatArray, value: FloatArray) -> FloatArray:
    """Factor · value, with 0 · inf = 0: a cause that is absent contributes nothing."""
    return np.where((factor == 0) | (value == 0), 0.0, factor * value)
