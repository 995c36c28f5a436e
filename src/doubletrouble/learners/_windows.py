"""The design of a diagnosis: the rows each fit is trained on, and the pairs of fits to compare.

Rows are dealt into ten blocks on a circle. A fit of rung L is trained on a window, L consecutive
blocks, and predicts the rows outside. A learner with a seed is fitted on every window from two
seeds; one without, on the windows of two permutations of the rows. With two bootstrap fits on every
window of nine blocks and one check, these are 120 fits, the cost of 62 to 65 on all rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from datetime import time as clock
from functools import cached_property
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import percent, plain
from doubletrouble.errors import FitError, require
from doubletrouble.learners._fitting import (
    Failure,
    FitRows,
    FitRunner,
    FitWarning,
    LearnerFits,
    as_target,
    data_hash,
    listed_failures,
)
from doubletrouble.learners._sources import (
    Inputs,
    as_groups,
    as_inputs,
    as_labels,
    generator,
    numbers_of,
    take_rows,
)
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray, Labels
from doubletrouble.runs import ProgressBar

N_BLOCKS = 10
FULL, LAW = 9, 6  # the rungs of cross-validation and of the overlap law
RUNGS = (1, 2, 4, LAW, FULL)
DISJOINT = {1: (1, 2, 3, 4, 5), 2: (2, 3, 4, 5), 4: (4, 5)}
"""Shifts between two windows of a rung without a common row."""
HALF_SHARED = {4: (2,), LAW: (3,)}
"""Shifts between two windows of a rung that share half of their rows."""

Blocks: TypeAlias = npt.NDArray[np.intp]
"""The block of each row."""
Mask: TypeAlias = npt.NDArray[np.bool_]

N_DRAWS = 4000  # of every estimate

_ORDER, _BOOTSTRAP, _SEED = 10, 11, 12  # kinds of draws
_UNITS, _ROWS = 20, 21
_MOST_UNITS = 400
_LEVEL = 1.25  # factor of the standard error over rows of a total
_FEWEST_ROWS = 30
_FEWEST_RUNGS = 3
_ROUNDING = 1e-10  # of the standard deviation of the labels: smaller errors are 0
_LARGEST_BLOCK = 1.5  # times the mean size
_NEIGHBOURS = 4.0  # standard errors of the correlation between errors of neighbouring rows
_TIMES = (date, clock, timedelta, np.datetime64, np.timedelta64)
_TIME_KINDS = {"datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period"}


# --- the design ---


class WindowFit(NamedTuple):
    """One fit of the design."""

    rung: int  # the number of blocks of the window
    window: int  # its first block
    round: int  # 0 or 1: the seed, or the permutation
    bootstrap: bool = False  # trained on rows of the window drawn with replacement
    again: bool = False  # an earlier fit once more, as a check

    @property
    def place(self) -> str:
        """The training rows in words."""
        return f"window {self.window} of {percent(self.rung / N_BLOCKS)} of the rows"

    def seed(self, seed: int) -> int:
        """The seed of the learner: every fit has its own, the repeated one that of the first."""
        key = (_SEED, self.rung, self.window, self.round, int(self.bootstrap))
        return int(generator(seed, *key).integers(2**31))


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowDesign:
    """The blocks of both rounds, and the fits."""

    blocks: tuple[Blocks, Blocks]
    seeded: bool  # rounds are seeds on the same blocks, not permutations
    fixed: bool = False  # permutations have the same blocks in another order
    rungs: tuple[int, ...]
    seed: int

    @property
    def fits(self) -> list[WindowFit]:
        """All fits after `PROBES`, and last the check."""
        plain = [
            WindowFit(rung, window, r)
            for rung in self.rungs
            for window in range(N_BLOCKS)
            for r in range(1 if self._is_repeated(rung) else 2)
        ]
        bags = [WindowFit(FULL, w, r, bootstrap=True) for w in range(N_BLOCKS) for r in range(2)]
        done = {*self.left_out, *(fit for fit in PROBES if self.seeded or fit.round == 0)}
        return [fit for fit in plain if fit not in done] + bags + [CHECK]

    def _is_repeated(self, rung: int) -> bool:
        """Whether the second permutation has the same windows: all but one of the same blocks."""
        return self.fixed and not self.seeded and rung in (1, N_BLOCKS - 1)

    @property
    def left_out(self) -> list[WindowFit]:
        """The fits that make room for the check, and for probes of seeds without effect."""
        extra = 0 if self.seeded else sum(fit.round for fit in PROBES)
        windows = range(N_BLOCKS - 1 - extra, N_BLOCKS)
        return [WindowFit(self.rungs[0], window, 1) for window in windows]

    def in_window(self, fit: WindowFit) -> Mask:
        """Whether each row is in the window of a fit."""
        blocks = self.blocks[0 if fit.bootstrap else fit.round]
        mask: Mask = (blocks - fit.window) % N_BLOCKS < fit.rung
        return mask

    def split(self, fit: WindowFit) -> tuple[Blocks, Blocks]:
        """The rows a fit is trained on, of a bootstrap some several times, and those outside."""
        mask = self.in_window(fit)
        (rows,), (outside,) = np.nonzero(mask), np.nonzero(~mask)
        if fit.bootstrap:
            rng = generator(self.seed, _BOOTSTRAP, fit.window, fit.round)
            rows = np.sort(rng.choice(rows, len(rows)))
        return rows, outside


PROBES = tuple(WindowFit(FULL, window, r) for window in (0, 3, 6) for r in range(2))
"""Two fits from two seeds on each of three windows: if all are equal, seeds have no effect."""
CHECK = PROBES[0]._replace(again=True)
"""The first fit once more after all others: equal, unless a learner is not reproducible."""


def deal(
    n_samples: int,
    *,
    seed: int,
    round: int,
    classes: Labels | None = None,
    groups: Labels | None = None,
) -> Blocks:
    """Rows in blocks at random: of equal shares of the classes, or of whole groups.

    >>> deal(6, seed=0, round=0, groups=np.array([0, 0, 1, 1, 2, 2])).tolist()
    [2, 2, 7, 7, 6, 6]
    """
    rng = generator(seed, _ORDER, round)
    if groups is not None:
        return _whole_groups(groups, rng)
    order = rng.permutation(n_samples)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    blocks = np.empty(n_samples, dtype=np.intp)
    blocks[order] = 3 * np.arange(n_samples) % N_BLOCKS  # few rows of a class: in distant blocks
    return blocks


def _whole_groups(groups: Labels, rng: np.random.Generator) -> Blocks:
    """Groups in blocks of nearly equal size: the largest first, each into the smallest block."""
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    block_of, filled = np.empty(len(sizes), dtype=np.intp), np.zeros(N_BLOCKS)
    for one in order:
        block_of[one] = np.argmin(filled)
        filled[block_of[one]] += sizes[one]
    return rng.permutation(N_BLOCKS)[block_of[group]]


# --- the rows ---


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockedRows:
    """Rows with labels, dealt into blocks in two ways."""

    X: Inputs
    y: Labels
    target: FloatArray  # (M, outputs), one-hot for classes
    classes: Labels | None
    groups: Labels | None
    blocks: tuple[Blocks, Blocks]
    fixed: bool  # blocks are those of a splitter
    seed: int

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.y)

    @cached_property
    def baseline(self) -> float:
        """The error of predicting the mean, or the class frequencies."""
        return float(self.target.var(axis=0).sum())

    @property
    def baselines(self) -> dict[LearnerMeasure, float]:
        """The baseline by each measure: of the class frequencies, or of the largest class."""
        if self.classes is None:
            return {"squared": self.baseline}
        shares = self.target.mean(axis=0)
        return {
            "squared": self.baseline,
            "log": float(-np.sum(shares * np.log(shares))),
            "zero_one": float(1 - shares.max()),
        }

    @property
    def index(self) -> Any:
        """The index of a DataFrame, or the numbers of the rows."""
        return getattr(self.X, "index", np.arange(self.n_samples))

    @property
    def fingerprint(self) -> str:
        """Equal for the same labels in the same order."""
        return blake2b(np.ascontiguousarray(self.target).tobytes()).hexdigest()

    def notes(self, errors: FloatArray) -> list[str]:
        """Notes on duplicates, and on errors of neighbouring rows that are alike."""
        notes = []
        X = numbers_of(self.X)
        if self.groups is None and X is not None:
            copies = self.n_samples - len({row.tobytes() for row in np.ascontiguousarray(X)})
            if copies:
                notes.append(
                    f"{copies:,} of {self.n_samples:,} rows repeat the inputs of another one: if "
                    "these belong together, the error on new rows is larger; give groups."
                )
        if self.groups is None and np.ptp(errors) > 0:
            from scipy.stats import rankdata

            ranks = rankdata(errors) - (self.n_samples + 1) / 2
            for one in () if self.classes is None else self.classes:  # rows may be sorted by class
                ranks[self.y == one] -= ranks[self.y == one].mean()
            spread = max(float(np.mean(ranks**2)), 1e-300)
            correlation = float(np.mean(ranks[1:] * ranks[:-1])) / spread
            if correlation * np.sqrt(self.n_samples) > _NEIGHBOURS:
                notes.append(
                    "Errors of neighbouring rows are alike (rank correlation "
                    f"{plain(correlation, 2)}): if rows follow in time or come in groups, "
                    "the error on new ones is larger; give groups."
                )
        return notes

    @classmethod
    def of(
        cls,
        X: Inputs,
        y: npt.ArrayLike,
        *,
        classification: bool,
        groups: npt.ArrayLike | None,
        cv: Any,
        seed: int,
    ) -> Self:
        """Validate the data, and deal them into blocks."""
        X = as_inputs("X", X)
        _check_columns(X)
        for name, table in (("X", X), ("y", y)):
            _refuse_times(name, table, groups, cv)
        n_samples = X.shape[0]
        y = as_labels("y", y, n_samples)
        if n_samples < _FEWEST_ROWS:
            raise ValueError(f"X must have {_FEWEST_ROWS} or more rows, got {n_samples}")
        classes = np.unique(y) if classification else None
        target = as_target(y, classes).reshape(n_samples, -1)
        if groups is not None:
            groups = as_groups(groups, n_samples, fewest=2 * N_BLOCKS)
        if cv is not None:
            given = _blocks_of(cv, X, y, groups)
            if groups is not None and len({*zip(groups, given, strict=True)}) > len({*groups}):
                raise ValueError(f"cv must keep the rows of a group together, got {cv!r}")
            blocks = (given, 3 * given % N_BLOCKS)  # the same blocks with other neighbours
        else:
            strata = y if classes is not None else None
            first, second = (
                deal(n_samples, seed=seed, round=r, classes=strata, groups=groups) for r in range(2)
            )
            blocks = (first, second)
        largest = int(np.bincount(blocks[0]).max())
        if largest > _LARGEST_BLOCK * n_samples / N_BLOCKS:
            raise ValueError(
                f"{'groups' if cv is None else 'cv'} must give {N_BLOCKS} blocks of about equal "
                f"size, got one with {largest} of {n_samples} rows"
            )
        return cls(
            X=X,
            y=y,
            target=target,
            classes=classes,
            groups=groups,
            blocks=blocks,
            fixed=cv is not None,
            seed=seed,
        )

    def design(self, *, seeded: bool, rungs: Sequence[int]) -> WindowDesign:
        """The design for a learner whose seed has an effect, or has none."""
        first, second = self.blocks
        return WindowDesign(
            blocks=(first, first if seeded else second),
            seeded=seeded,
            fixed=self.fixed,
            rungs=tuple(rungs),
            seed=self.seed,
        )


def _blocks_of(cv: Any, X: Inputs, y: Labels, groups: Labels | None) -> Blocks:
    """The test sets of a splitter as blocks."""
    if isinstance(cv, str) or not hasattr(cv, "split"):
        raise TypeError(f"cv must be a splitter of scikit-learn, got {cv!r:.60}")
    blocks = np.full(len(y), -1, dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of groups that a splitter ignores: they are checked
        try:
            splits = list(cv.split(X, y, groups))
        except (TypeError, ValueError) as error:
            raise ValueError(f"cv must split these rows, got {cv!r}: {error}") from error
    count = 0
    for count, (_, test) in enumerate(splits, start=1):
        if count > N_BLOCKS or np.any(blocks[test] >= 0):
            break
        blocks[test] = count - 1
    if count != N_BLOCKS or np.any(blocks < 0):
        raise ValueError(
            f"cv must split the rows into {N_BLOCKS} test sets of which every row is in one, as "
            f"KFold({N_BLOCKS}) does, got {cv!r}; rows that follow in time are not exchangeable: "
            "give periods as groups"
        )
    return blocks


def _check_columns(X: Inputs) -> None:
    """Raise for one column without its axis, and for columns that are no numbers or categories."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if len(X.shape) == 1 and kind in "biufc":
        raise ValueError(f"X must have rows and columns, got shape {tuple(X.shape)}")
    columns: list[tuple[Any, str]] = []
    if hasattr(X, "iloc"):
        infer = require("pandas.api.types", "tables").infer_dtype
        table = X.to_frame() if len(X.shape) == 1 else X
        kinds = ((name, infer(column, skipna=True)) for name, column in table.items())
        columns = [(name, kind) for name, kind in kinds if kind in {*_TIME_KINDS, "complex"}]
    elif kind == "c":
        columns = [(0, "complex")]
    elif kind in ("M", "m", "O") and len(X):
        first = np.atleast_1d(X[0])
        columns = [(k, type(v).__name__) for k, v in enumerate(first) if isinstance(v, _TIMES)]
    for name, kind in columns[:1]:
        advice = "" if kind == "complex" else "; use numbers made of it, or leave it out"
        raise TypeError(f"X must hold numbers or categories, got {kind} column {name!r}{advice}")


def _refuse_times(name: str, rows: Any, groups: npt.ArrayLike | None, cv: Any) -> None:
    """Raise for a time index: rows that follow in time are not exchangeable."""
    index = getattr(rows, "index", None)
    kinds = {type(level).__name__ for level in getattr(index, "levels", [index])}
    if groups is None and cv is None and kinds & {"DatetimeIndex", "PeriodIndex"}:
        raise ValueError(
            f"{name} must have exchangeable rows, got a time index; give periods (as weeks or "
            "months) as groups, or reset the index if the order has no meaning"
        )


# --- the fits ---


@dataclass(kw_only=True, eq=False)
class Fitted:
    """The predictions of the fits of a learner, the warnings of every fit, and the failures."""

    predictions: dict[WindowFit, FloatArray] = field(default_factory=dict)
    warned: list[list[FitWarning]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def raise_failures(self) -> None:
        """Raise FitError if a fit failed."""
        if self.failures:
            raise FitError(
                f"{len(self.failures)} of {len(self.warned)} fits failed, "
                f"{listed_failures(self.failures)}",
                failures=self.failures,
            )

    @property
    def rungs(self) -> tuple[int, ...]:
        """The rungs without a failure; small windows may have too few rows for a learner."""
        failed = [one.fit for one in self.failures]
        largest = max(
            (FULL if fit.again or fit.bootstrap else fit.rung for fit in failed), default=0
        )
        rungs = tuple(rung for rung in RUNGS if rung > largest)
        if len(rungs) < _FEWEST_RUNGS:
            self.raise_failures()
        return rungs


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowFits(LearnerFits[WindowFit]):
    """One learner on windows of rows."""

    key = WindowFit
    kind: ClassVar[str] = "diagnosis"

    table: BlockedRows
    design: WindowDesign

    def rows(self, key: WindowFit) -> FitRows:
        """The rows of the window, and those outside."""
        table, (inside, outside) = self.table, self.design.split(key)
        return FitRows(
            X=take_rows(table.X, inside),
            y=table.y[inside],
            X_test=take_rows(table.X, outside),
            seed=self.seed_of(key),
            shape=(len(outside), *table.target.shape[1:]),
        )

    def seed_of(self, key: WindowFit) -> int:
        """The seed of a fit."""
        return key.seed(self.table.seed)

    def contents(self, name: str | None) -> list[object]:
        """The table, and whether labels are classes."""
        return [data_hash(self.table.X), data_hash(self.table.y), self.classes is not None]

    def described(self, key: WindowFit) -> dict[str, object]:
        """The rows, and the seed."""
        inside, outside = map(data_hash, self.design.split(key))
        return {"rows": inside, "outside": outside, "seed": self.seed_of(key)}

    def run(
        self, keys: Sequence[WindowFit], runner: FitRunner, bar: ProgressBar, into: Fitted
    ) -> None:
        """Make the fits; `bar` counts them."""
        for key, predictions, warned in runner.run(self, keys, bar):
            into.warned.append(warned)
            if isinstance(predictions, str):
                into.failures.append(self.failure(key, predictions))
                continue
            target = self.table.target[~self.design.in_window(key)]
            exact = np.abs(predictions - target) <= _ROUNDING * math.sqrt(self.table.baseline)
            into.predictions[key] = np.where(exact, target, predictions)


# --- what the fits measure, at every rung ---
#
# T is the mean squared error, VI the variance over seeds, VS that over training sets, and d(h) half
# the mean squared difference of two fits that share the part h of their rows: d(1) = VI and
# d(0) = VI + VS. Differences of predictions contain no label, so that VI and VS have no noise of
# test labels.

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
    def of(cls, design: WindowDesign, predictions: Predictions, target: FloatArray) -> Alternative:
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
        total, seeds, sampling, shared = ({} for _ in range(4))
        for size in design.rungs:
            rung = _Rung(design, predictions, target, size)
            total[size] = rung.total(squared_error)
            if design.seeded:
                seeds[size] = rung.initialization()
            if size in DISJOINT:
                sampling[size] = rung.disagreement(DISJOINT[size])
            if size in HALF_SHARED:
                shared[size] = rung.disagreement(HALF_SHARED[size])
        bags = _bags(design, predictions, target)
        return cls(total=total, initialization=seeds, sampling=sampling, shared=shared, bags=bags)


class _Window(NamedTuple):
    """The fits on one window: the rows outside, and predictions there by seed."""

    outside: Mask
    predictions: FloatArray  # (seeds, rows, outputs), or empty


class _Rung:
    """The windows of one size: of both seeds together, or of two permutations one by one."""

    def __init__(
        self, design: WindowDesign, predictions: Predictions, target: FloatArray, size: int
    ) -> None:
        self._target = target
        self._rounds: list[list[_Window]] = []
        for rounds in [(0, 1)] if design.seeded else [(0,), (1,)]:
            windows = []
            for w in range(N_BLOCKS):
                fits = [WindowFit(size, w, r) for r in rounds]
                known = np.array([predictions[fit] for fit in fits if fit in predictions])
                windows.append(_Window(~design.in_window(fits[0]), known))
            self._rounds.append(windows)

    def _measured(self, parts: Iterator[tuple[Mask, FloatArray]]) -> Measurement:
        return Measurement.of(len(self._target), parts)

    def total(self, loss: Loss) -> Measurement:
        """The mean loss."""
        parts = []
        for window in (window for windows in self._rounds for window in windows):
            if len(window.predictions):
                y = self._target[window.outside]
                values = np.mean([loss(f, y) for f in window.predictions], axis=0)
                parts.append((window.outside, values))
        return self._measured(iter(parts))

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
        f, g = a.predictions[:, rows[a.outside]], b.predictions[:, rows[b.outside]]
        values = _squares(f.mean(axis=0) - g.mean(axis=0)) / 2
        if len(f) == 2:
            values -= (_squares(np.subtract(*f)) + _squares(np.subtract(*g))) / 8
        return rows, values


def totals(
    design: WindowDesign, predictions: Predictions, target: FloatArray, loss: Loss
) -> dict[int, Measurement]:
    """The mean of another loss by rung."""
    return {n: _Rung(design, predictions, target, n).total(loss) for n in design.rungs}


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


# --- the variance of means over rows ---


class RowMultipliers:
    """Normal multipliers of rows: the same for every learner on the same data and seed.

    A mean over rows deviates by the sum of their contributions times the multipliers. Those of a
    group are equal; at most 400 differ.
    """

    def __init__(self, n_samples: int, seed: int, groups: Labels | None = None) -> None:
        units = (
            np.arange(n_samples) if groups is None else np.unique(groups, return_inverse=True)[1]
        )
        count = int(units.max()) + 1
        if count > _MOST_UNITS:
            units = (generator(seed, _UNITS).permutation(count) % _MOST_UNITS)[units]
            count = _MOST_UNITS
        self._units, self._count = units, count
        self._normal = generator(seed, _ROWS).standard_normal((N_DRAWS, count))

    def deviations(self, measured: Measurement) -> FloatArray:
        """The contribution of each unit to the deviation of a mean from its expectation."""
        known = np.isfinite(measured.by_row)
        centred = np.where(known, measured.by_row - measured.mean, 0.0) / known.sum()
        sums = np.bincount(self._units, centred, minlength=self._count)
        return np.asarray(sums * math.sqrt(self._count / (self._count - 1)), dtype=np.float64)

    def draws(self, deviations: FloatArray) -> FloatArray:
        """Draws of the deviation, with the factor for what rows share through training sets."""
        return _LEVEL * (self._normal @ deviations)

    def positive_draws(self, measured: Measurement) -> FloatArray:
        """Draws of a mean that is not negative: log-normal, of the same mean and variance."""
        if not measured.mean > 0:
            return np.zeros(N_DRAWS)
        relative = self.draws(self.deviations(measured)) / measured.mean
        scale = math.log1p(float(np.var(relative)))
        normal = relative / max(float(np.std(relative)), 1e-300)
        return measured.mean * np.exp(math.sqrt(scale) * normal - scale / 2)
