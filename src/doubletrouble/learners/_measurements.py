"""The means that the fits of a diagnosis measure, at every rung.

T is the mean squared error, VI the variance over seeds, VS that over training sets, and d(h) half
the mean squared difference of two fits that share the part h of their rows: d(1) = VI and
d(0) = VI + VS. Differences of predictions contain no label, so that VI and VS have no noise of test
labels.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from doubletrouble.learners._windows import (
    DISJOINT,
    FULL,
    HALF_SHARED,
    N_BLOCKS,
    Mask,
    WindowDesign,
    WindowFit,
)
from doubletrouble.parameters import FloatArray

Predictions: TypeAlias = Mapping[WindowFit, FloatArray]
"""Of every fit at the rows outside its window: (rows, outputs)."""
Loss: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""The loss of each row: a function of the predictions and the target."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """A mean over the rows outside of windows, or of pairs of windows."""

    by_row: FloatArray  # (M,) the mean at each row; NaN where there is none
    windows: FloatArray  # (windows,) the mean of each window or pair

    @classmethod
    def of(cls, n_samples: int, parts: Iterator[tuple[Mask, FloatArray]]) -> Self:
        """The mean of the values at some rows of each window or pair."""
        sums, counts, windows = np.zeros(n_samples), np.zeros(n_samples), []
        for rows, values in parts:
            sums[rows] += values
            counts[rows] += 1
            windows.append(values.mean())
        with np.errstate(invalid="ignore"):  # 0/0 at rows in every window
            return cls(by_row=sums / counts, windows=np.array(windows))

    @cached_property
    def mean(self) -> float:
        """The mean over rows."""
        return float(np.nanmean(self.by_row))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the means of windows."""
        return float(np.std(self.windows, ddof=1))


class Bags(NamedTuple):
    """Bootstrap fits at the largest rung: the error of K averaged ones is pair + (one - pair)/K."""

    one: Measurement  # the squared error of one
    pair: Measurement  # the product of the errors of two


class Alternative(NamedTuple):
    """Another learner at the largest rung."""

    total: Measurement
    averaged: Measurement  # less the variance over seeds, where two were fitted

    @classmethod
    def of(
        cls, design: WindowDesign, predictions: Predictions, target: FloatArray
    ) -> "Alternative":
        """The means of one or two fits on every window."""
        rung = _Rung(design, predictions, target, FULL)
        total = averaged = rung.total(squared_error)
        if design.seeded and WindowFit(FULL, 0, 1) in predictions:
            seeds = rung.initialization()
            averaged = Measurement(
                by_row=total.by_row - seeds.by_row, windows=total.windows - seeds.windows
            )
        return cls(total, averaged)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """The means of every rung, and of bags."""

    total: Mapping[int, Measurement]  # T by rung
    initialization: Mapping[int, Measurement]  # VI by rung; empty if seeds have no effect
    sampling: Mapping[int, Measurement]  # VS by rung, from windows without a common row
    shared: Mapping[int, Measurement]  # D = d(1/2) - VI by rung
    bags: Bags

    @classmethod
    def of(cls, design: WindowDesign, predictions: Predictions, target: FloatArray) -> Self:
        """Average over the rows outside of windows; `target` is (M, outputs)."""
        rungs = [_Rung(design, predictions, target, size) for size in design.rungs]
        return cls(
            total={rung.size: rung.total(squared_error) for rung in rungs},
            initialization={r.size: r.initialization() for r in rungs} if design.seeded else {},
            sampling={
                r.size: r.disagreement(DISJOINT[r.size]) for r in rungs if r.size in DISJOINT
            },
            shared={
                r.size: r.disagreement(HALF_SHARED[r.size]) for r in rungs if r.size in HALF_SHARED
            },
            bags=_bags(design, predictions, target),
        )


class _Window(NamedTuple):
    """The fits on one window: the rows outside, and predictions there by seed."""

    outside: Mask
    predictions: list[FloatArray]  # (rows, outputs)

    def at(self, rows: Mask) -> list[FloatArray]:
        """Predictions at some of the rows outside."""
        return [values[rows[self.outside]] for values in self.predictions]


class _Rung:
    """The windows of one size: of both seeds together, or of two permutations one by one."""

    def __init__(
        self, design: WindowDesign, predictions: Predictions, target: FloatArray, size: int
    ) -> None:
        self.size, self._target = size, target
        self._rounds: list[list[_Window]] = []
        for rounds in [(0, 1)] if design.seeded else [(0,), (1,)]:
            windows = []
            for w in range(N_BLOCKS):
                fits = [WindowFit(size, w, r) for r in rounds]
                known = [predictions[fit] for fit in fits if fit in predictions]
                windows.append(_Window(~design.in_window(fits[0]), known))
            self._rounds.append(windows)

    def _measured(self, parts: Iterator[tuple[Mask, FloatArray]]) -> Measurement:
        return Measurement.of(len(self._target), parts)

    def total(self, loss: Loss) -> Measurement:
        """The mean loss."""
        return self._measured(
            (
                window.outside,
                np.mean(
                    [loss(f, self._target[window.outside]) for f in window.predictions], axis=0
                ),
            )
            for windows in self._rounds
            for window in windows
            if window.predictions
        )

    def initialization(self) -> Measurement:
        """The variance over seeds."""
        return self._measured(
            (window.outside, _squares(np.subtract(*window.predictions)) / 2)
            for window in self._rounds[0]
            if len(window.predictions) == 2
        )

    def disagreement(self, shifts: Sequence[int]) -> Measurement:
        """d(h) - VI of windows at some shifts, VI at the same rows."""
        return self._measured(
            self._pair(windows[w], windows[(w + shift) % N_BLOCKS])
            for windows in self._rounds
            for shift in shifts
            for w in range(N_BLOCKS if 2 * shift < N_BLOCKS else N_BLOCKS // 2)
            if len(windows[w].predictions) == len(windows[(w + shift) % N_BLOCKS].predictions) > 0
        )

    @staticmethod
    def _pair(a: _Window, b: _Window) -> tuple[Mask, FloatArray]:
        """Half the squared difference of the means over seeds, less the variance of both means."""
        rows = a.outside & b.outside
        f, g = a.at(rows), b.at(rows)
        values = _squares(np.mean(f, axis=0) - np.mean(g, axis=0)) / 2
        if len(f) == 2:
            values -= (_squares(np.subtract(*f)) + _squares(np.subtract(*g))) / 8
        return rows, values


def totals(
    design: WindowDesign, predictions: Predictions, target: FloatArray, loss: Loss
) -> dict[int, Measurement]:
    """The mean of another loss by rung."""
    rungs = (_Rung(design, predictions, target, size) for size in design.rungs)
    return {rung.size: rung.total(loss) for rung in rungs}


def squared_error(predictions: FloatArray, target: FloatArray) -> FloatArray:
    """The squared error of each row."""
    return _squares(target - predictions)


def cross_entropy(predictions: FloatArray, target: FloatArray) -> FloatArray:
    """Minus the logarithm of the probability of the class of each row; inf for probability 0."""
    with np.errstate(divide="ignore"):
        losses: FloatArray = -np.log(np.sum(target * predictions, axis=1))
    return losses


def _squares(differences: FloatArray) -> FloatArray:
    """Squares, added up over outputs."""
    squares: FloatArray = np.einsum("ij,ij->i", differences, differences)
    return squares


def _bags(design: WindowDesign, predictions: Predictions, target: FloatArray) -> Bags:
    """The errors of bootstrap fits."""
    one, pair = [], []
    for w in range(N_BLOCKS):
        fits = [WindowFit(FULL, w, r, bootstrap=True) for r in range(2)]
        outside = ~design.in_window(fits[0])
        errors = [target[outside] - predictions[fit] for fit in fits]
        one.append((outside, (_squares(errors[0]) + _squares(errors[1])) / 2))
        pair.append((outside, np.einsum("ij,ij->i", *errors)))
    return Bags(*(Measurement.of(len(target), iter(parts)) for parts in (one, pair)))
