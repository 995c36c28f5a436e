r"""The fixed point at complex ridges, by continuation.

At a complex ridge off the negative real axis (*) of `_fixed_point` has one solution that belongs to
a resolvent. It is followed by continuation from a real ridge: from pole to pole of a contour a
tangent predicts log y, and Newton's method corrects it. With s = gap + 2 h small/big,

    F = z + small·h - small = 0,    dF/dlog y = (z - Q) + small r y/s,    dF/dlog r = small r y/s,

and h = 2 r y/(gap + s), where s = ±√(gap² + 4 (small/big) r y) has the sign that is nearer to the
value that z implies (along a contour both occur). A step that moves the solution too far is divided
into smaller ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Numbers
from doubletrouble.theory._fixed_point import FixedPoint, Sizes, Spectrum

_LAST_STEP = 1e-9
_MOST_STEPS = 12
_DECIDED = 1e-8
_STRIDE = 0.4  # largest step of log r
_MOST_PIECES = 1000


@dataclass(slots=True, kw_only=True)
class _State:
    """The terms of (*) at some y and r."""

    gap: Numbers  # z - Q
    unused: tuple[Numbers, Numbers]  # of the smaller and the bigger resource
    excess: Numbers  # F
    pull: Numbers  # small r y/s


def fixed_points_along(
    spectrum: Spectrum, features: FloatArray, samples: FloatArray, ridges: Sequence[Numbers]
) -> Iterator[FixedPoint]:
    """Yield the fixed point at each of `ridges` (an array of points each), in their order.

    Continuation starts at the real ridge |ridges[0]|, and is fastest if each ridge is close to the
    one before.
    """
    surplus = features - samples
    sizes = Sizes.of(features, samples, surplus)
    here: Numbers = np.abs(ridges[0])
    y: Numbers = spectrum.inverse_ridge(spectrum.solve(features, samples, surplus, here)) + 0j
    for ridge in ridges:
        y = _continued(spectrum, sizes, y, here, ridge, _pieces(here, ridge))
        here = ridge
        unused = _state(spectrum, sizes, y, here).unused
        yield FixedPoint.at(spectrum, features, samples, y, unused)


def _pieces(start: Numbers, end: Numbers) -> int:
    """Number of continuation steps from one ridge to another."""
    return max(1, math.ceil(float(np.max(np.abs(np.log(end / start)))) / _STRIDE))


def _continued(
    spectrum: Spectrum, sizes: Sizes, y: Numbers, start: Numbers, end: Numbers, pieces: int
) -> Numbers:
    """Follow y from one ridge to another; without convergence, in smaller steps."""
    turn = np.log(end / start) / pieces
    start_y, converged = y, np.ones(np.shape(y), dtype=bool)
    for piece in range(pieces):
        at = _state(spectrum, sizes, y, start * np.exp(turn * piece))
        y = y * np.exp(-turn * at.pull / (at.gap + at.pull))
        y, near = _corrected(spectrum, sizes, y, start * np.exp(turn * (piece + 1)))
        converged &= near
    if converged.all():
        return y
    if pieces > _MOST_PIECES:
        raise ConvergenceError(
            f"the fixed point at a complex ridge did not converge in {pieces} pieces",
            last=y,
            residual=float(np.max(np.abs(_state(spectrum, sizes, y, end).excess))),
        )
    failed = np.flatnonzero(~converged)
    few = sizes.take(failed)
    y[failed] = _continued(spectrum, few, start_y[failed], start[failed], end[failed], 4 * pieces)
    return y


def _corrected(
    spectrum: Spectrum, sizes: Sizes, y: Numbers, ridge: Numbers
) -> tuple[Numbers, BoolArray]:
    """Newton's method on log y, and where it converged close to its start."""
    moved = np.zeros(np.shape(y), dtype=np.complex128)
    for _ in range(_MOST_STEPS):
        at = _state(spectrum, sizes, y, ridge)
        step = at.excess / (at.gap + at.pull)
        step = step / np.maximum(1.0, 2 * np.abs(step))
        y, moved = y * np.exp(-step), moved - step
        if np.all(np.abs(step) < _LAST_STEP):
            break
    return y, (np.abs(step) < _LAST_STEP) & (np.abs(moved) < 0.3)


def _state(spectrum: Spectrum, sizes: Sizes, y: Numbers, ridge: Numbers) -> _State:
    excess, gap = spectrum.balance(y, sizes.small)
    ry = ridge * y
    root = np.sqrt(sizes.square + 2 * sizes.twice_ratio * ry)
    likely = sizes.gap - sizes.twice_ratio * (excess / sizes.small)
    # next to P = N at the smallest ridges z does not decide: there it is the principal root
    turned = ((root * np.conj(likely)).real < 0) & (np.abs(root) > _DECIDED)
    root = np.where(turned, -root, root)
    smaller = 2 * ry / (sizes.gap + root)
    return _State(
        gap=gap,
        unused=(smaller, 0.5 * (sizes.gap + root)),
        excess=excess + sizes.small * smaller,
        pull=sizes.small * ry / root,
    )
