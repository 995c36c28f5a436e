r"""The balance equation at complex ridges, by continuation.

At a ridge off the negative real axis (*) of `balance` still has the one solution that a resolvent
goes by, reached from the one at a real ridge without leaving the path: from pole to pole of a
contour a tangent predicts log y, and Newton's method corrects it. With s = gap + 2 h small/big,

    F = z + small·h - small = 0,    dF/dlog y = (z - Q) + small r y/s,    dF/dlog r = small r y/s,

and h = 2 r y/(gap + s), where s = ±√(gap² + 4 (small/big) r y) has the sign that is nearer to what
z says of it (along a contour both occur). A step that turns the solution too far is cut in pieces.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance, Sizes, balance_of
from doubletrouble.theory.modes import Modes

Complex: TypeAlias = Any
"""Complex arrays, in formulas that are typed for real ones."""

_LAST_STEP = 1e-9
_MOST_STEPS = 12
_TOLD = 1e-8
_STRIDE = 0.4  # along log r, at most, in one piece of the way to the next pole
_MOST_PIECES = 1000


class _State(NamedTuple):
    """What is known at some y and r."""

    y: Complex
    learned: Complex
    missed: Complex
    partial: Complex  # z - Q
    unused: tuple[Complex, Complex]  # of the smaller and the bigger resource
    excess: Complex  # F
    pull: Complex  # small r y/s


def along(
    modes: Modes, features: FloatArray, samples: FloatArray, ridges: Any
) -> Iterator[Balance]:
    """Yield the balance at each of `ridges` (an array of points each), in their order.

    They are followed from the real ridge of the first one's size: best if they turn away from it
    step by step.
    """
    spare = features - samples
    sizes = Sizes.of(features, samples, spare)
    here: Complex = np.abs(ridges[0])
    y: Complex = modes.reached(modes.solve(features, samples, spare, here)) + 0j
    for ridge in ridges:
        y = _continued(modes, sizes, y, here, ridge, _pieces(here, ridge))
        here = ridge
        at = _state(modes, sizes, y, here)
        squared = modes.count(at.learned**2)
        yield balance_of(
            features, samples, at.unused, at.learned, at.missed, at.partial, squared,
            modes.tail * at.y,
        )  # fmt: skip


def _pieces(start: Complex, end: Complex) -> int:
    """In how many pieces to go from one ridge to another."""
    return max(1, math.ceil(float(np.max(np.abs(np.log(end / start)))) / _STRIDE))


def _continued(
    modes: Modes, sizes: Sizes, y: Complex, start: Complex, end: Complex, pieces: int
) -> Complex:
    """Follow y from one ridge to another; where Newton's method strays, in smaller steps."""
    turn = np.log(end / start) / pieces
    found, good = y, np.ones(np.shape(y), dtype=bool)
    for piece in range(pieces):
        at = _state(modes, sizes, found, start * np.exp(turn * piece))
        found = found * np.exp(-turn * at.pull / (at.partial + at.pull))
        found, converged = _corrected(modes, sizes, found, start * np.exp(turn * (piece + 1)))
        good &= converged
    if good.all():
        return found
    if pieces > _MOST_PIECES:
        raise ConvergenceError(
            f"the scalar equation was not solved at a complex ridge in {pieces} pieces",
            last=found, residual=float(np.max(np.abs(_state(modes, sizes, found, end).excess))),
        )  # fmt: skip
    lost = np.flatnonzero(~good)
    few = Sizes(*(np.broadcast_to(v, np.shape(y))[lost] for v in sizes))
    found[lost] = _continued(modes, few, y[lost], start[lost], end[lost], 4 * pieces)
    return found


def _corrected(modes: Modes, sizes: Sizes, y: Complex, ridge: Complex) -> tuple[Complex, Any]:
    """Newton's method on log y, and where it stayed near its start and converged."""
    moved = np.zeros(np.shape(y), dtype=np.complex128)
    for _ in range(_MOST_STEPS):
        at = _state(modes, sizes, y, ridge)
        step = at.excess / (at.partial + at.pull)
        step = step / np.maximum(1.0, 2 * np.abs(step))
        y, moved = y * np.exp(-step), moved - step
        if np.all(np.abs(step) < _LAST_STEP):
            break
    return y, (np.abs(step) < _LAST_STEP) & (np.abs(moved) < 0.3)


def _state(modes: Modes, sizes: Sizes, y: Complex, ridge: Complex) -> _State:
    learned, missed = modes.fractions(y)
    surplus = modes.surplus(y, learned, missed, sizes.small)  # z - small
    partial = modes.count(learned * missed) + modes.tail * y
    ry = ridge * y
    root = np.sqrt(sizes.square + 2 * sizes.twice_ratio * ry)
    likely = sizes.gap - sizes.twice_ratio * (surplus / sizes.small)
    # next to P = N at the smallest ridges z cannot tell: there it is the principal root
    turned = ((root * np.conj(likely)).real < 0) & (np.abs(root) > _TOLD)
    root = np.where(turned, -root, root)
    smaller = 2 * ry / (sizes.gap + root)
    bigger = 0.5 * (sizes.gap + root)
    return _State(
        y, learned, missed, partial, (smaller, bigger),
        surplus + sizes.small * smaller, sizes.small * ry / root,
    )  # fmt: skip
