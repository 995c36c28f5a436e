"""Diagnose a learner on one data set, and compare several."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble._numbers import CONFIDENCE, percent, plain
from doubletrouble.learners._comparison import LearnerComparison
from doubletrouble.learners._diagnosis import OPTIONS, Diagnosis
from doubletrouble.learners._extrapolation import Extrapolation, LossCurve
from doubletrouble.learners._fitting import (
    FitRunner,
    Learner,
    TaskName,
    is_classification,
    summarized_warnings,
)
from doubletrouble.learners._losses import zero_one_loss
from doubletrouble.learners._sources import Inputs
from doubletrouble.learners._windows import (
    CHECK,
    FULL,
    N_BLOCKS,
    PROBES,
    RUNGS,
    Alternative,
    BlockedRows,
    Fitted,
    Loss,
    Measurements,
    RowMultipliers,
    WindowDesign,
    WindowFit,
    WindowFits,
    cross_entropy,
    totals,
)
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import (
    MOST_SEEDS,
    FloatArray,
    check_level,
    number,
    whole_number,
)
from doubletrouble.runs import (
    Executor,
    ProgressBar,
    ThisProcess,
    backend,
    progress_bar,
    store_path,
)

_LAW_OFF = 0.1  # relative
_ROUNDING = 1e-10  # differences of predictions below it do not count
_MOST_NOISE = 2.0  # times the spread of the labels, whose noise is part of it


def diagnose(
    model: Any,
    X: Inputs,
    y: npt.ArrayLike,
    *,
    alternatives: Mapping[str, Any] | None = None,
    seed: int = 0,
    groups: npt.ArrayLike | None = None,
    cv: Any = None,
    noise: float | None = None,
    measure: LearnerMeasure = "squared",
    task: TaskName = "auto",
    store: str | Path | None = None,
    name: str | None = None,
    executor: Executor | None = None,
    workers: int | None = 1,
    scheduler: str | None = None,
    confidence: float = CONFIDENCE,
    progress: bool = True,
) -> Diagnosis:
    """Decompose the test error of a learner on all rows by cause, and compare what reduces it.

    The result estimates the expected squared error of the learner trained on all rows, its parts by
    cause, and the gain of each option: averaging seeds, bagging, other learners, and more data.
    It needs 120 fits, at the cost of 62 to 65 on all rows, and 20 more for each of `alternatives`.

    Parameters
    ----------
    model : estimator or callable
        A scikit-learn estimator or pipeline, or a function `fit(X, y, seed)` that returns a
        function `predict(X)`.
    X : array_like or DataFrame or sparse matrix of shape (n, ...)
        All rows, 30 or more: exchangeable, as independent draws are.
    y : array_like of shape (n,) or (n, outputs)
        Their labels: numbers, or classes, for which the error is the Brier score.
    alternatives : mapping of str to estimator or callable or None, default: None
        Other learners by name, compared on the same folds.
    seed : int, default: 0
        The seed of the order of the rows, the learner's seeds and the intervals, in [0, 2³²): equal
        seeds give equal results.
    groups : array_like of shape (n,) or None, default: None
        A label for each row, with 20 or more values. Rows of a group stay together: the error is
        that on new groups.
    cv : splitter or None, default: None
        A splitter of scikit-learn with ten test sets of which every row is in one, such as
        `StratifiedKFold(10)`; its test sets become the blocks.
    noise : float or None, default: None
        The standard deviation of the labels' noise, if it is known; of classes, 0 if there is none.
        It is split off the bias, and the learning curve does not fall below it, but may reach it.
    measure : "squared" or "log" or "zero_one", default: "squared"
        The error of the result, from the same fits: "squared", of classes the Brier score, is split
        by cause; "log", the cross-entropy of a classifier, and "zero_one", its error rate, are
        measured as a whole.
    task : "auto" or "regression" or "classification", default: "auto"
        "auto" is that of the estimator, and regression for a function. With "classification" a
        function predicts a probability for each class, in sorted order.
    store : str or path or None, default: None
        A file in which every fit is stored when it is done: a later call with the same data
        computes only what is missing.
    name : str or None, default: None
        The name of the learner in the store, required for one that cannot be hashed, such as a
        lambda; change it whenever the learner changes.
    executor : object or None, default: None
        Any object with a method `submit`, on which fits run.
    workers : int or None, default: 1
        The number of worker processes, to which learners are pickled; 1 is this process, None as
        many as there are processors.
    scheduler : str or None, default: None
        The address of a Dask scheduler, such as "tcp://host:8786".
    confidence : float, default: 0.9
        The level of intervals in tables and plots, in (0, 1).
    progress : bool, default: True
        Whether progress is shown on stderr.

    Returns
    -------
    Diagnosis
        `print` shows it; `error`, `advise`, `learning_curve`, `by_row`, `plot`.

    Raises
    ------
    ValueError
        If there are too few rows, classes or groups, the rows are indexed by time, the test sets of
        `cv` are not ten that partition the rows, a learner is of the other task, or an option is
        out of range.
    TypeError
        If a learner, the inputs, the labels or `cv` are not of the types above.
    FitError
        If fits raise an error or do not predict finite numbers; failures on small shares of the
        rows alone are left out, with a note.
    StoreError
        If `store` is not a valid store, or cannot be used.
    DoubleTroubleError
        If the executor breaks, or the scheduler cannot be reached.
    MissingExtraError
        If the packages of a store, of worker processes or of Dask are not installed.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=60)
    >>> d = dt.diagnose(DecisionTreeRegressor(min_samples_leaf=5), X, y)
    >>> error = d.error()
    >>> bool(error.sampling.value > error.initialization.value)
    True
    >>> [option.name for option in d.advise()]
    ['bag of 10', '2x data', '4x data']
    """
    run = _Learners.of(
        X,
        y,
        {"": model},
        measure=measure,
        task=task,
        groups=groups,
        cv=cv,
        noise=noise,
        seed=seed,
        confidence=confidence,
        runner=FitRunner(
            store=store_path(store),
            name=name,
            start=backend(executor, workers, scheduler),
            progress=progress,
        ),
    )
    return run.diagnosis("", run.alternatives(alternatives))


def compare(
    models: Mapping[str, Any],
    X: Inputs,
    y: npt.ArrayLike,
    *,
    seed: int = 0,
    groups: npt.ArrayLike | None = None,
    cv: Any = None,
    noise: float | None = None,
    measure: LearnerMeasure = "squared",
    task: TaskName = "auto",
    store: str | Path | None = None,
    name: str | None = None,
    executor: Executor | None = None,
    workers: int | None = 1,
    scheduler: str | None = None,
    confidence: float = CONFIDENCE,
    progress: bool = True,
) -> LearnerComparison:
    """Compare learners on the same rows: their errors by cause, and paired differences.

    Every learner is diagnosed, with 120 fits.

    Parameters
    ----------
    models : mapping of str to estimator or callable
        Two or more learners by name, each a scikit-learn estimator or a function `fit(X, y, seed)`
        that returns a function `predict(X)`; the first is the one that others are compared with.
    X : array_like or DataFrame or sparse matrix of shape (n, ...)
        All rows, 30 or more: exchangeable, as independent draws are.
    y : array_like of shape (n,) or (n, outputs)
        Their labels: numbers, or classes, for which the error is the Brier score.
    seed : int, default: 0
        The seed of the order of the rows, the learners' seeds and the intervals, in [0, 2³²).
    groups : array_like of shape (n,) or None, default: None
        A label for each row, with 20 or more values; rows of a group stay together.
    cv : splitter or None, default: None
        A splitter of scikit-learn with ten test sets of which every row is in one.
    noise : float or None, default: None
        The standard deviation of the labels' noise, if it is known; of classes, 0 if there is none.
    measure : "squared" or "log" or "zero_one", default: "squared"
        The error of the result, from the same fits: "squared", of classes the Brier score, is split
        by cause; "log", the cross-entropy of a classifier, and "zero_one", its error rate, are
        measured as a whole.
    task : "auto" or "regression" or "classification", default: "auto"
        "auto" is that of the first estimator, and regression for a function.
    store : str or path or None, default: None
        A file in which every fit is stored when it is done, for later calls with the same data.
    name : str or None, default: None
        A name for the fits in the store, required for learners that cannot be hashed.
    executor : object or None, default: None
        Any object with a method `submit`, on which fits run.
    workers : int or None, default: 1
        The number of worker processes, to which learners are pickled; 1 is this process, None as
        many as there are processors.
    scheduler : str or None, default: None
        The address of a Dask scheduler, such as "tcp://host:8786".
    confidence : float, default: 0.9
        The level of intervals in tables and plots, in (0, 1).
    progress : bool, default: True
        Whether progress is shown on stderr.

    Returns
    -------
    LearnerComparison
        The diagnosis of every learner; `difference` and `advise` compare them.

    Raises
    ------
    ValueError
        If `models` is not a mapping of two or more learners, or its keys are not strings, or are
        names of options; if the data or options are not those of `diagnose`.
    TypeError
        If a learner, the inputs, the labels or `cv` are not of the types above.
    FitError
        If fits raise an error or do not predict finite numbers.
    StoreError
        If `store` is not a valid store, or cannot be used.
    DoubleTroubleError
        If the executor breaks, or the scheduler cannot be reached.
    MissingExtraError
        If the packages of a store, of worker processes or of Dask are not installed.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=60)
    >>> comparison = dt.compare({"ridge": Ridge(), "tree": DecisionTreeRegressor()}, X, y)
    >>> bool(comparison.difference("tree").sampling.value > 0)
    True
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        got = type(models).__name__
        if isinstance(models, Mapping):
            got = f"{len(models)}"
        raise ValueError(
            f'models must be two or more learners by name, as {{"a": …, "b": …}}, got {got}'
        )
    _check_names("models", models)
    run = _Learners.of(
        X,
        y,
        models,
        measure=measure,
        task=task,
        groups=groups,
        cv=cv,
        noise=noise,
        seed=seed,
        confidence=confidence,
        runner=FitRunner(
            store=store_path(store),
            name=name,
            start=backend(executor, workers, scheduler),
            progress=progress,
        ),
    )
    diagnoses = {}
    for key in models:  # a warning of the fits is that of the caller
        diagnoses[key] = run.diagnosis(key, {})
    return LearnerComparison(diagnoses=diagnoses)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Learners:
    """One data set in blocks, and the learners to diagnose on it."""

    table: BlockedRows
    learners: Mapping[str, Learner]
    measure: LearnerMeasure
    floor: float | None  # the variance of label noise, summed over outputs
    confidence: float
    task: TaskName
    runner: FitRunner

    @classmethod
    def of(
        cls,
        X: Inputs,
        y: npt.ArrayLike,
        models: Mapping[str, Any],
        *,
        measure: LearnerMeasure,
        task: TaskName,
        groups: npt.ArrayLike | None,
        cv: Any,
        noise: float | None,
        seed: int,
        confidence: float,
        runner: FitRunner,
    ) -> Self:
        """Validate all arguments; nothing is fitted yet."""
        check_level("confidence", confidence)
        seed = whole_number("seed", seed, 0, MOST_SEEDS)
        names = {key: "model" if len(models) == 1 else f"models[{key!r}]" for key in models}
        learners = {key: Learner.of(model, names[key]) for key, model in models.items()}
        named = {names[key]: learner for key, learner in learners.items()}
        classification = is_classification(named, task, measure)
        variance = None if noise is None else number("noise", noise, glossary.NOISE) ** 2
        if variance and classification:
            raise ValueError(f"noise must be 0 or left out for classes, got {noise!r}")
        table = BlockedRows.of(X, y, classification=classification, groups=groups, cv=cv, seed=seed)
        spread = math.sqrt(table.baseline / table.target.shape[1])
        if noise is not None and noise > _MOST_NOISE * spread:
            raise ValueError(
                f"noise must be at most the standard deviation of y, {plain(spread)}, got {noise!r}"
            )
        return cls(
            table=table,
            learners=learners,
            measure=measure,
            floor=None if variance is None else variance * table.target.shape[1],
            confidence=confidence,
            task=task,
            runner=runner,
        )

    def alternatives(self, models: Any) -> dict[str, Learner]:
        """Other learners of the same kind, by name."""
        if models is None:
            return {}
        if not isinstance(models, Mapping):
            raise TypeError(f"alternatives must be learners by name, got {type(models).__name__}")
        _check_names("alternatives", models)
        learners = {name: Learner.of(model, "alternatives") for name, model in models.items()}
        own = next(iter(self.learners.values()))
        for learner in learners.values():
            is_classification({"model": own, "alternatives": learner}, self.task, self.measure)
        return learners

    def diagnosis(self, key: str, alternatives: Mapping[str, Learner]) -> Diagnosis:
        """Make all fits of a learner, and 10 or 20 of each alternative."""
        started, table, learner = time.perf_counter(), self.table, self.learners[key]
        with progress_bar(
            self._n_fits(learner, alternatives, seeded=not learner.is_deterministic),
            unit="fit",
            description=key,
            progress=self.runner.progress,
        ) as bar:
            fitted, seeded = self._fitted(key, alternatives, bar)
            design = table.design(seeded=seeded, rungs=fitted.rungs)
            compared = {}
            for name, other in alternatives.items():
                compared[name] = Fitted()
                windows = _folds(other, seeded=seeded)
                self._run(name, other, design, windows, bar, compared[name])
                compared[name].raise_failures()
        measured = Measurements.of(design, fitted.predictions, table.target)
        multipliers = RowMultipliers(table.n_samples, table.seed, table.groups)
        too_large = (self.floor or 0.0) > measured.total[FULL].mean
        floor = None if too_large else self.floor
        extrapolation = Extrapolation.of(measured, multipliers, seed=table.seed, floor=floor)
        notes = [
            *learner.probability_notes,
            *_notes(fitted, extrapolation, design, learner),
            *table.notes(measured.total[FULL].by_row),
        ]
        warned = [message for one in (fitted, *compared.values()) for message in one.warned]
        if warning := summarized_warnings(warned):
            warnings.warn(warning, UserWarning, stacklevel=3)
            notes.append(f"{warning}.")
        losses: dict[LearnerMeasure, Loss] = {"log": cross_entropy, "zero_one": zero_one_loss}
        diagnosis = Diagnosis(
            n_samples=table.n_samples,
            n_fits=len(warned),
            seconds=time.perf_counter() - started,
            notes=tuple(notes),
            classes=table.classes,
            floor=self.floor,
            measure=self.measure,
            baselines=table.baselines,
            index=table.index,
            rows_key=table.fingerprint,
            design=design,
            measured=measured,
            other_measures={
                name: LossCurve(
                    totals=totals(design, fitted.predictions, table.target, loss),
                    rows=multipliers,
                    seed=table.seed,
                    floor=self.floor,
                )
                for name, loss in losses.items()
                if table.classes is not None
            },
            extrapolation=extrapolation,
            multipliers=multipliers,
            alternatives={
                name: Alternative.of(design, one.predictions, table.target)
                for name, one in compared.items()
            },
            key=("diagnosis", table.fingerprint, table.seed),
            confidence=self.confidence,
        )
        excess = diagnosis.excess_noise
        return replace(diagnosis, notes=(*notes, excess)) if excess else diagnosis

    def _fitted(
        self, key: str, alternatives: Mapping[str, Learner], bar: ProgressBar
    ) -> tuple[Fitted, bool]:
        """All fits of a learner, and whether its seed has an effect."""
        learner, fitted = self.learners[key], Fitted()
        design = self.table.design(seeded=True, rungs=RUNGS)
        self._run(
            key, learner, design, PROBES, bar, fitted, start=ThisProcess
        )  # no pool for six fits
        fitted.raise_failures()
        seeded = not all(
            _are_equal(fitted.predictions[fit], fitted.predictions[fit._replace(round=1)])
            for fit in PROBES
            if fit.round == 0
        )
        if not seeded:
            for fit in PROBES:  # those windows of the other permutation are fitted later
                if fit.round == 1:
                    del fitted.predictions[fit]
            design = self.table.design(seeded=False, rungs=RUNGS)
        bar.total = self._n_fits(learner, alternatives, seeded=seeded)
        self._run(key, learner, design, design.fits, bar, fitted)
        return fitted, seeded

    def _run(
        self,
        key: str,
        learner: Learner,
        design: WindowDesign,
        fits: Sequence[WindowFit],
        bar: ProgressBar,
        into: Fitted,
        **changes: Any,
    ) -> None:
        """Make some fits of one learner: stored fits of several need names of their own."""
        name = self.runner.name
        runner = replace(self.runner, name=f"{name}: {key}" if name and key else name, **changes)
        windows = WindowFits(
            learner=learner, classes=self.table.classes, table=self.table, design=design
        )
        windows.run(fits, runner, bar, into)

    def _n_fits(
        self, learner: Learner, alternatives: Mapping[str, Learner], *, seeded: bool
    ) -> int:
        """The number of all fits."""
        own = len(PROBES) + len(self.table.design(seeded=seeded, rungs=RUNGS).fits)
        return own + sum(len(_folds(other, seeded=seeded)) for other in alternatives.values())


def _folds(learner: Learner, *, seeded: bool) -> list[WindowFit]:
    """The fits of an alternative: from two seeds, or on the windows of two permutations."""
    rounds = 1 if seeded and learner.is_deterministic else 2
    return [WindowFit(FULL, w, r) for r in range(rounds) for w in range(N_BLOCKS)]


def _check_names(argument: str, models: Mapping[str, Any]) -> None:
    for name in models:
        if not (isinstance(name, str) and name):
            raise ValueError(f"{argument} must have non-empty strings as names, got {name!r}")
        if name in OPTIONS:
            raise ValueError(
                f"{argument} must have names other than those of options, got {name!r}"
            )


def _are_equal(first: FloatArray, second: FloatArray) -> bool:
    """Whether predictions are equal up to rounding."""
    return np.allclose(first, second, rtol=_ROUNDING, atol=_ROUNDING * float(np.ptp(first)))


def _notes(
    fitted: Fitted, extrapolation: Extrapolation, design: WindowDesign, learner: Learner
) -> list[str]:
    """Notes on the seed of the learner, on sizes left out and on the overlap law."""
    notes = []
    predictions = fitted.predictions
    if CHECK in predictions and not _are_equal(predictions[CHECK], predictions[PROBES[0]]):
        notes.append(
            "Two fits on the same rows from the same seed differ: the learner does not depend on "
            "its seed alone, or has state that one fit leaves to the next. In the first case "
            "initialization contains the difference and the result is not exactly reproducible; in "
            "the second no part is reliable."
        )
    if not design.seeded and not learner.is_deterministic:
        notes.append(
            "Fits from two seeds are equal on 3 of 3 sets of rows: the seed is taken to have no "
            "effect."
        )
    if lost := [rung for rung in RUNGS if rung not in design.rungs]:
        reason = fitted.failures[0].message
        notes.append(
            f"Fits on {_percent(lost)} of the rows failed and are left out: {reason.rstrip('.')}."
        )
    if extrapolation.withheld:
        notes.append(
            "The error on all rows may differ from that on 90% of them, where it is measured: "
            f"{extrapolation.withheld}."
        )
    if dropped := extrapolation.total.dropped:
        notes.append(
            f"The error at {_percent(dropped)} of the rows lies on a plateau or peak: it is left "
            "out of the learning curve."
        )
    if abs(extrapolation.law_excess) > _LAW_OFF:
        excess = percent(math.expm1(extrapolation.law_excess), "+")
        notes.append(
            f"The overlap law is off by {excess} at 40% of the rows, where it can be checked; "
            "sampling is corrected for this."
        )
    return notes


def _percent(rungs: Sequence[int]) -> str:
    return " and ".join(percent(rung / N_BLOCKS) for rung in rungs)
