r"""When to stop: the time of least test error along gradient flow.

The error is smooth in log t between the two ends, the zero predictor and the fit itself, either of
which may be best; it may have several minima (a dip, the epoch-wise peak, and a second descent).
Ten times a decade are looked at, from 10⁻⁶ to 10¹⁸ of the fastest mode's time, and the best is
refined, ten times as close in each round. Of times that are equal but for rounding it is the last.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, Value, refuse
from doubletrouble.problems import Problem
from doubletrouble.results import StoppingTime
from doubletrouble.theory.flow import gradient_flow
from doubletrouble.theory.optimum import optimal_ridge
from doubletrouble.theory.points import AnyProblem, prepare

_FIRST, _LAST, _PER_DECADE = -6, 18, 10
_ROUNDS = 7  # after which the error has all its digits
_CLOSER = np.linspace(-1.0, 1.0, 21)
_ROUNDING = 1e-13


def best_stopping_time(problem: AnyProblem, n_members: Numeric = 1) -> StoppingTime:
    """Return the time at which K averaged models, trained together, have the least test error.

    Time is that of `gradient_flow`, at the problem's own ridge; 0 (do not train) and inf (train to
    the end) are answers. `ridge` tells what the best ridge reaches instead, trained to the end.
    Infinitely many features are trained at once in this time; `SpectralProblem.from_problem` has
    them in one that lasts.

    >>> from doubletrouble import Problem
    >>> found = best_stopping_time(Problem(features_per_dim=1.0, ridge=0.0, noise=0.5))
    >>> round(found.time, 2), round(found.error.total, 4), round(found.ridge.error.total, 4)
    (1.55, 0.7994, 0.7903)
    """
    modes, point, shape = prepare(problem, n_members, "ensemble")
    if isinstance(problem, Problem):
        width: Value = problem.features_per_dim  # type: ignore[assignment]
        refuse(
            "features_per_dim", width, np.isinf(width),
            "finite for a time to stop, as infinitely many features are trained at once "
            "(a SpectralProblem has a time of its own, in which they are not)",
        )  # fmt: skip
    # a time t is worth a ridge `paced`: in units of the mode of weight one, t is of order one here
    with np.errstate(divide="ignore", over="ignore"):
        unit = modes.paced(np.ones(shape), point.features, point.samples)
    unit = np.where(np.isfinite(unit) & (unit > 0), unit, 1.0)
    grid = np.arange(_FIRST * _PER_DECADE, _LAST * _PER_DECADE + 1) / _PER_DECADE
    ends = np.array([-np.inf, np.inf])
    nodes = np.concatenate([ends[:1], grid, ends[1:]])
    best, width = _least(problem, n_members, _column(nodes, shape), unit), 1 / _PER_DECADE
    for _ in range(_ROUNDS):
        close = best + _column(_CLOSER * width, shape)
        best, width = _least(problem, n_members, close, unit), width / 10
    time = unit * 10.0**best
    found: Value = time if shape else float(time)
    error = gradient_flow(problem, found, n_members)
    return StoppingTime(time=found, error=error, ridge=optimal_ridge(problem, n_members))


def _column(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values along an axis before those of the problem."""
    return values.reshape(-1, *(1 for _ in shape))


def _least(
    problem: AnyProblem, n_members: Numeric, logs: FloatArray, unit: FloatArray
) -> FloatArray:
    """The best of some times at each point, by their logarithms."""
    with np.errstate(over="ignore"):
        total = np.asarray(gradient_flow(problem, unit * 10.0**logs, n_members).total)
    logs = np.broadcast_to(logs, total.shape)
    # of times that are as good as the best but for rounding, the last: to train on does no harm
    least = np.min(total, axis=0)
    index = total.shape[0] - 1 - np.argmax((total <= least * (1 + _ROUNDING))[::-1], axis=0)[None]
    return np.asarray(np.take_along_axis(logs, index, axis=0)[0])
