"""The fits of a diagnosis: the data as blocks, and one learner on the windows of a design."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from datetime import time as clock
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import percent, plain
from doubletrouble.errors import FitError, require
from doubletrouble.learners._fitting import (
    FitWarning,
    Learner,
    checked_predictions,
    listed_failures,
    recorded_warnings,
)
from doubletrouble.learners._running import content_hash, data_hash, run_fits
from doubletrouble.learners._sources import Inputs, as_inputs, as_labels, one_hot, take_rows
from doubletrouble.learners._windows import N_BLOCKS, Blocks, WindowDesign, WindowFit, deal
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray, Labels
from doubletrouble.runs import Cell, ProgressBar, Record, digest

REVISION = 1  # of the definition of the fits; count up when draws or definitions change

_FEWEST_ROWS = 30
_ROUNDING = 1e-10  # of the standard deviation of the labels: smaller errors are 0
_LARGEST_BLOCK = 1.5  # times the mean size
_NEIGHBOURS = 4.0  # standard errors of the correlation between errors of neighbouring rows
_TIMES = (date, clock, timedelta, np.datetime64, np.timedelta64)
_TIME_KINDS = {"datetime64", "datetime", "date", "time", "timedelta64", "timedelta", "period"}


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
        X = self.X.to_numpy() if hasattr(self.X, "to_numpy") else self.X
        if self.groups is None and isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
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
        classes = None
        if classification:
            if y.ndim != 1:
                raise ValueError(f"y must have one class for each row, got shape {y.shape}")
            classes = np.unique(y)
            if len(classes) < 2:
                raise ValueError(f"y must have 2 or more classes, got only {classes[0]!s}")
            target = one_hot(y, classes)
        else:
            if y.dtype.kind not in "iufb":
                raise TypeError(f"y must be numbers for a regression, got {y.dtype}")
            target = y.astype(np.float64).reshape(n_samples, -1)
        if groups is not None:
            groups = _as_groups(groups, n_samples)
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


def _as_groups(groups: npt.ArrayLike, n_samples: int) -> Labels:
    array = as_labels("groups", groups, n_samples)
    if array.ndim != 1:
        raise ValueError(f"groups must have one label for each row, got shape {array.shape}")
    count = len(np.unique(array))
    if count < 2 * N_BLOCKS:
        raise ValueError(f"groups must have {2 * N_BLOCKS} or more groups, got {count}")
    return array


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


@dataclass(kw_only=True, eq=False)
class Fitted:
    """The predictions of the fits of a learner, the warnings of every fit, and the failures."""

    predictions: dict[WindowFit, FloatArray] = field(default_factory=dict)
    warned: list[list[FitWarning]] = field(default_factory=list)
    failures: dict[WindowFit, str] = field(default_factory=dict)

    def update(self, other: Fitted) -> None:
        """Add further fits."""
        self.predictions |= other.predictions
        self.failures |= other.failures
        self.warned += other.warned

    def raise_failures(self) -> None:
        """Raise FitError if a fit failed."""
        if not self.failures:
            return
        shown = listed_failures(
            (f"window {fit.window} of {percent(fit.rung / N_BLOCKS)} of the rows", message)
            for fit, message in self.failures.items()
        )
        raise FitError(
            f"{len(self.failures)} of {len(self.warned)} fits failed, {shown}",
            failures=list(self.failures.items()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowFits:
    """One learner on windows of rows; called with the fields of a `WindowFit`, it makes the fit."""

    learner: Learner
    table: BlockedRows
    design: WindowDesign

    def __call__(self, parameters: Mapping[str, Any]) -> Record:
        """The predictions of a fit outside its window, and its warnings."""
        fit, table = WindowFit(**parameters), self.table
        training = self.design.training_rows(fit)
        (outside,) = np.nonzero(~self.design.in_window(fit))
        y = table.y[training]
        if table.classes is not None and len(np.unique(y)) < 2:
            raise ValueError(
                f"y must have two or more classes in each training set, got {y[0]!s} only in one "
                f"of {len(y)} rows"
            )
        try:
            with recorded_warnings() as messages:
                predictions = self.learner.predictions(
                    take_rows(table.X, training),
                    y,
                    fit.seed(table.seed),
                    take_rows(table.X, outside),
                    table.classes,
                )
        except SystemExit as error:
            raise RuntimeError(f"the learner called sys.exit({error.code!r})") from None
        shape = (len(outside), *table.target.shape[1:])
        return {
            "predictions": checked_predictions(predictions, shape),
            "warned": [list(message) for message in messages],
        }

    def run(
        self,
        fits: Sequence[WindowFit],
        bar: ProgressBar,
        *,
        store: Path | None,
        name: str | None,
        **options: Any,
    ) -> Fitted:
        """Make the fits, or read them from the store; `bar` counts them."""
        identity = "" if store is None else self._identity(name)
        result = Fitted()
        for fit, predictions, warned in run_fits(
            self,
            fits,
            lambda fit: self._cell(fit, identity),
            store=store,
            **options | {"progress": False},
        ):
            bar.update()
            result.warned.append(warned)
            if isinstance(predictions, str):
                result.failures[fit] = predictions
            else:
                target = self.table.target[~self.design.in_window(fit)]
                exact = np.abs(predictions - target) <= _ROUNDING * math.sqrt(self.table.baseline)
                result.predictions[fit] = np.where(exact, target, predictions)
        return result

    def _identity(self, name: str | None) -> str:
        """The content of the learner and of the data."""
        table = self.table
        parts = [content_hash(self.learner.model, name), data_hash(table.X), data_hash(table.y)]
        return digest([name, *parts, table.classes is not None])

    def _cell(self, fit: WindowFit, identity: str) -> Cell:
        """The cell of a fit: the rows it is trained on, its seed, and whether it is a check."""
        parameters = {
            "identity": identity,
            "rows": data_hash(self.design.training_rows(fit)) if identity else list(fit),
            "window": data_hash(self.design.in_window(fit)) if identity else "",
            "seed": fit.seed(self.table.seed),
            "again": fit.again,
        }
        return Cell.of("diagnosis", REVISION, parameters)
