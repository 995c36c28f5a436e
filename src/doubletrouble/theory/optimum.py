r"""The ridge of least test error.

As a function of the ridge the error R is smooth, with its minima at 0, at inf or where the
derivative changes sign from minus to plus (a measured spectrum may have several; all between nodes
half a decade apart are compared). The derivative comes from the error formulas
themselves, evaluated a complex step away along log y (`balance.stepped`): it has no truncation
error, stays finite at ridge 0, and its sign there tells whether any ridge helps at all.

Known answers: infinitely many members, with σ² = τ² + F⋆², are best at

    λ = (μ₁² σ²/F² - μ⋆²) (1 - ψ₁*/ψ₁)/ψ₂ when both brackets are positive, else 0,

ψ₁* being the width at which they need no ridge, and are then the best linear predictor; with
nothing to learn (F = 0 or μ₁ = 0) the best ridge is inf.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.results import OptimalRidge
from doubletrouble.theory.balance import stepped
from doubletrouble.theory.blocks import blockwise
from doubletrouble.theory.crossing import crossings
from doubletrouble.theory.error import causes, exact_error
from doubletrouble.theory.evaluate import Weights, zero_wins
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import NO_SAMPLES, split, split_at

# The imaginary step along -log y, which rises with log r: its square is far below rounding.
_STEP = 1e-20
# Where the derivative is looked at first, in units of the kernel's total weight: both ends are
# as good as 0 and inf.
_SMALLEST = 1e-250
_NODES = np.concatenate([[0.0, 1e-200], np.geomspace(1e-24, 1e24, 97), [1e240]])


def optimal_ridge(
    problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble"
) -> OptimalRidge:
    """Return the ridge that minimizes the total test error, and the error there.

    The problem's own ridge is ignored. Both 0 (no ridge helps) and inf (predict zero) are
    answers; the ridge is in the problem's own convention.

    >>> from doubletrouble import Problem
    >>> best = optimal_ridge(Problem(features_per_dim=10.0, samples_per_dim=1.0))
    >>> round(best.ridge, 4), round(best.error.total, 4)
    (0.2222, 0.6661)
    >>> optimal_ridge(Problem(noise=0.1), n_members=float("inf")).ridge
    0.0
    """
    modes, inputs, shape = prepare(problem, n_members, scheme)

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        arrays = np.broadcast_arrays(*values)
        point = Point(*(v.reshape(-1) for v in arrays))
        return (_best(modes, point, scheme).reshape(arrays[0].shape),)

    (ridge,) = blockwise(kernel, inputs, shape, block=max(1, 4096 // modes.cost))
    error = exact_error(replace(problem, ridge=ridge), n_members, scheme)
    return OptimalRidge(ridge=ridge, error=error)


def _best(modes: Modes, point: Point, scheme: str) -> FloatArray:
    """The best ridge of each point of a flat block."""
    index = np.arange(point.features.size)
    flat = _risk(modes, point, scheme, np.repeat(_NODES, index.size), np.tile(index, _NODES.size))
    risk, slope = (v.reshape(_NODES.size, -1) for v in flat)
    # a minimum lies at 0 if the slope is positive there, and wherever it turns positive
    at_zero = slope[0] >= 0
    cells, inside = np.nonzero((slope[:-1] < 0) & (slope[1:] >= 0))
    best, least = np.where(at_zero, 0.0, np.inf), np.where(at_zero, risk[0], np.inf)
    if inside.size:
        ends = (np.log(np.maximum(_NODES[cells], _SMALLEST)), np.log(_NODES[cells + 1]))
        minima = np.exp(
            crossings(
                lambda x, i: _risk(modes, point, scheme, np.exp(x), inside[i])[1],
                *ends, slope[cells, inside], slope[cells + 1, inside],
            )
        )  # fmt: skip
        risks, slopes = _risk(modes, point, scheme, minima, inside)
        if not np.isfinite(risks).all():
            raise ConvergenceError(
                "the best ridge was not found", last=minima, residual=float(np.max(np.abs(slopes)))
            )
        for i, ridge, value in zip(inside, minima, risks, strict=True):
            if value < least[i]:
                best[i], least[i] = ridge, value
    # where powers differ by more than 150 decades derivatives underflow: a node may then be better
    node = np.argmin(risk, axis=0)
    better = risk[node, index] < (1 - 1e-6) * least
    best = np.where(better & (np.isfinite(least) | (node < _NODES.size - 1)), _NODES[node], best)
    # a saturated learner's ridge 0 stands for the limit; where that diverges, stop short of it
    sizes = point.each(scheme)
    if np.any(modes.saturated(*sizes[:2])):
        at_zero = split_at(modes, *sizes, np.zeros_like(best))
        total = np.sum(causes(at_zero, Weights.of(point, scheme), zero_wins), axis=0)
        best = np.where((best == 0) & np.isinf(total), _SMALLEST, best)
    best[sizes[1] < NO_SAMPLES] = 0.0  # without data every ridge is as good
    best[point.signal * modes.learnable == 0] = np.inf
    return modes.own_ridge(best, point.samples)


def _risk(
    modes: Modes, point: Point, scheme: str, ridge: FloatArray, index: npt.NDArray[np.int_]
) -> tuple[FloatArray, FloatArray]:
    """The test error at ridge r, and the sign (and some size) of its derivative by the ridge."""
    point = Point(*(v[index] for v in point))
    features, samples, spare = point.each(scheme)
    samples = np.where(samples < NO_SAMPLES, 1.0, samples)
    ridge = np.where(modes.saturated(features, samples), np.maximum(ridge, _SMALLEST), ridge)
    balance = modes.solve(features, samples, spare, ridge)
    turned = modes.count(balance.learned**2 * balance.missed)
    weights = Weights.of(point, scheme)
    # next to P = N at a small ridge everything varies with the unused fractions: step as they do
    unused = (balance.unused_features / balance.partial_features
              + balance.unused_samples / balance.partial_samples)  # fmt: skip
    step = _STEP * np.where(weights.member == 0, 1.0, np.fmin(unused, 1.0))
    p = split(stepped(balance, turned, features, samples, step), modes)
    risk = np.sum(causes(p, weights, zero_wins), axis=0)
    slope = -risk.imag / _STEP
    # at P = N the ridgeless error of finitely many members is infinite
    peak = ~np.isfinite(slope) | ~np.isfinite(risk.real)
    return np.where(peak, np.inf, risk.real), np.where(peak, -np.inf, slope)
