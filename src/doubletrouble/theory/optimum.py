r"""The ridge of least test error.

As a function of the ridge the error R is smooth, with its minimum at 0, at inf or where the
derivative changes sign from minus to plus. The derivative comes from the error formulas
themselves, evaluated a complex step away along log y (`balance.stepped`): it has no truncation
error, stays finite at ridge 0, and its sign there tells whether any ridge helps at all.

Known answers: for infinitely many members λ* = (μ₁² σ²/F² - μ⋆²)(ψ₁ - ψ₁*)/(ψ₁ ψ₂) when both
factors are positive, else 0, and the error there is that of the best linear predictor; with
nothing to learn (F = 0 or μ₁ = 0) the best ridge is inf.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.results import OptimalRidge
from doubletrouble.theory.balance import stepped
from doubletrouble.theory.blocks import blockwise
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import split

# The imaginary step: its square is far below rounding.
_STEP = 1e-12
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
    # where powers differ by more than 150 decades derivatives underflow: the ends are as good
    error = exact_error(replace(problem, ridge=ridge), n_members, scheme)
    for end in (0.0, np.inf):
        there = exact_error(replace(problem, ridge=end), n_members, scheme)
        if np.any(better := np.asarray(there.total) < 0.999999 * np.asarray(error.total)):
            ridge = np.where(better, end, ridge) if shape else end
            error = exact_error(replace(problem, ridge=ridge), n_members, scheme)
    return OptimalRidge(ridge=ridge, error=error)


def _best(modes: Modes, point: Point, scheme: str) -> FloatArray:
    """The best ridge of each point of a flat block."""
    from scipy.optimize import elementwise

    find_root: Any = elementwise.find_root
    index = np.arange(point.features.size)
    flat = _risk(modes, point, scheme, np.repeat(_NODES, index.size), np.tile(index, _NODES.size))
    risk, slope = (v.reshape(_NODES.size, -1) for v in flat)
    # a minimum lies where the slope turns positive; `turns[0]` means: at ridge 0 already
    before = np.vstack([np.full_like(slope[:1], -1.0), slope[:-1]])
    turns = (before < 0) & (slope >= 0)
    ends = np.minimum(risk, np.vstack([risk[:1], risk[:-1]]))
    cell = np.argmin(np.where(turns, ends, np.inf), axis=0)
    inside = index[turns.any(axis=0) & (cell > 0)]

    best = np.where(turns.any(axis=0), 0.0, np.inf)
    if inside.size:
        low = np.log(np.maximum(_NODES[cell[inside] - 1], _SMALLEST))
        high = np.log(_NODES[cell[inside]])
        found = find_root(
            lambda x, i: _risk(modes, point, scheme, np.exp(x), i.astype(int))[1],
            (low, high),
            args=(inside.astype(float),),
            tolerances={"xatol": 1e-13, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0},
        )
        best[inside] = np.exp(found.x)
    best[point.samples_each(scheme) == 0] = 0.0  # without data every ridge is as good
    best[point.signal * modes.learnable == 0] = np.inf
    return modes.own_ridge(best, point.samples)


def _risk(
    modes: Modes, point: Point, scheme: str, ridge: FloatArray, index: npt.NDArray[np.int_]
) -> tuple[FloatArray, FloatArray]:
    """The test error and its derivative by the logarithm of the (scaled) ridge."""
    point = Point(*(v[index] for v in point))
    data, member = point.shares(scheme)
    samples = point.samples_each(scheme)
    samples = np.where(samples == 0, 1.0, samples)
    ridge = np.where(modes.saturated(point.features, samples), np.maximum(ridge, _SMALLEST), ridge)
    balance = modes.solve(point.features, samples, ridge)
    turned = modes.count(balance.learned**2 * balance.missed)
    p = split(stepped(balance, turned, point.features, samples, _STEP), modes)
    signal = p.missed + data * p.data + _unless_zero(member, p.features + p.features_data)
    noise = data * p.noise_shared + _unless_zero(member, p.noise_own)
    risk = point.signal**2 * signal + (point.noise**2 + point.nonlinear_signal**2) * noise
    slope = -risk.imag / _STEP  # y falls when the ridge rises
    # at P = N the ridgeless error of finitely many members is infinite
    peak = np.isnan(slope) | np.isnan(risk.real) | np.isinf(risk.real)
    return np.where(peak, np.inf, risk.real), np.where(peak, -np.inf, slope)


def _unless_zero(factor: FloatArray, value: FloatArray) -> FloatArray:
    return np.where(factor == 0, 0.0, factor * value)
