"""The error of any learner by cause, from fits of it on training sets of a pool or a source."""

from __future__ import annotations  # help() then shows names, not their definitions

import copy
import hashlib
import math
import pickle
import threading
import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import CONFIDENCE
from doubletrouble.errors import FitError
from doubletrouble.estimates import draws_digest
from doubletrouble.learners._decomposition import LearnerDecomposition
from doubletrouble.learners._design import least_draws
from doubletrouble.learners._fitting import (
    Failure,
    FitRows,
    FitRunner,
    FitWarning,
    Learner,
    LearnerFits,
    TaskName,
    as_target,
    content_hash,
    data_hash,
    is_classification,
    listed_failures,
    recorded_warnings,
    summarized_warnings,
)
from doubletrouble.learners._predictions import decompose_predictions
from doubletrouble.learners._sources import (
    DataSource,
    Inputs,
    PoolSource,
    TestSet,
    TrainingSet,
    held_out,
    init_seed,
)
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import (
    MOST_SEEDS,
    FloatArray,
    check_choice,
    check_flag,
    check_level,
    shown,
    whole_number,
)
from doubletrouble.runs import Executor, backend, progress_bar, store_path

ErrorsName: TypeAlias = Literal["raise", "collect"]

_FIRST = 3  # fits that stop a run if all of them fail


def decompose(
    model: Any,
    X: Inputs,
    y: npt.ArrayLike | None = None,
    *,
    n_samples: int | None = None,
    noise: float | None = None,
    groups: npt.ArrayLike | None = None,
    n_test: int | None = None,
    n_data: int | None = None,
    n_init: int = 5,
    n_noise: int | None = None,
    seed: int = 0,
    measure: LearnerMeasure = "squared",
    executor: Executor | None = None,
    workers: int | None = 1,
    scheduler: str | None = None,
    store: str | Path | None = None,
    name: str | None = None,
    confidence: float = CONFIDENCE,
    task: TaskName = "auto",
    include_test: bool = True,
    errors: ErrorsName = "raise",
    progress: bool = True,
) -> LearnerDecomposition:
    """Split the test error of a learner into noise, initialization, sampling and bias.

    Training sets are drawn from a pool of rows, `decompose(model, X, y, n_samples=200)`, or from a
    source, `decompose(model, source)`. On every training set and draw of label noise, the learner
    is fitted from the same initializations. Estimates of two learners with the same data, `seed`
    and numbers of draws are paired: `a.error() - b.error()` is the difference on the same data.

    Fits run one after the other with one thread of linear algebra, or in parallel with one of
    `executor`, `workers` and `scheduler`. Warnings of all fits are summarized in one warning, and
    in a note of the result.

    Parameters
    ----------
    model : estimator or callable
        A scikit-learn estimator or pipeline, which is cloned for every fit, all its `random_state`s
        set from the seed of the initialization; or a function `fit(X, y, seed)` that returns a
        function `predict(X)`.
    X : array_like or DataFrame or sparse matrix of shape (n, ...), or GeneratorSource or PoolSource
        Inputs of a pool of rows, which are cut into one test set and training sets; or a source of
        both, and of the draws of label noise, in place of `X` and `y`.
    y : array_like of shape (n,) or (n, outputs), default: None
        The labels of the pool: numbers, or classes. To be left out with a source.
    n_samples : int or None, default: None
        The rows of each training set of the pool, at most nine tenths of all; required, and to be
        left out with a source, as the three arguments that follow. Further options of a pool are
        those of `PoolSource`.
    noise : float or None, default: None
        The standard deviation of the noise in `y`, where it is known; 0 for labels without noise.
    groups : array_like of shape (n,) or None, default: None
        The group of each row: rows of a group that is in the test set are in no training set.
    n_test : int or None, default: None
        The number of test rows; None for a quarter of the pool, or for a tenth where training needs
        the rows; at most 1000.
    n_data : int or None, default: None
        The number of training sets, at least 1; None for 20, or for all that a pool has without a
        common row. Where those are less than three, 20 random subsets of the pool are drawn, with a
        warning and a note on what follows for sampling.
    n_init : int, default: 5
        The number of initializations, at least 1; a learner without a seed is fitted once.
    n_noise : int or None, default: None
        The draws of label noise on each training set, at least 1; None for 2 (3 with
        `measure="zero_one"`) where noise can be drawn.
    seed : int, default: 0
        The seed of all draws, in [0, 2³²).
    measure : "squared" or "log" or "zero_one", default: "squared"
        The error of a classifier: the squared distance of its predicted probabilities to the
        one-hot labels (Brier score); the cross-entropy, whose central predictor is the normalized
        geometric mean of probabilities; or the error rate, whose parts are the effects of voting. A
        regression has the squared error.
    executor : object or None, default: None
        Any object with a method `submit`, on which fits run.
    workers : int or None, default: 1
        The number of worker processes, to which learners are pickled; 1 is this process, None as
        many as there are processors.
    scheduler : str or None, default: None
        The address of a Dask scheduler, such as "tcp://host:8786".
    store : str or path or None, default: None
        A file in which every fit is stored when it is done: a later call with the same arguments,
        or with more draws or another measure, computes only what is missing. Stored fits are
        identified by the content of the estimator and of the source (of functions: their module and
        name), by the test set and the first training set, and by `name`.
    name : str or None, default: None
        The name of the learner and source in the store, required for those that cannot be hashed,
        such as a lambda or a function of a notebook; change it whenever the learner changes.
    confidence : float, default: 0.9
        The level of intervals in tables and plots, in (0, 1).
    task : "auto" or "regression" or "classification", default: "auto"
        "auto" is that of the estimator, and regression for a function. With "classification" a
        function predicts a probability for each class, in sorted order.
    include_test : bool, default: True
        Whether standard errors include the draw of the test points.
    errors : "raise" or "collect", default: "raise"
        Whether `FitError` is raised at once if the first three fits fail, or all fits are tried.
    progress : bool, default: True
        Whether progress is shown on stderr.

    Returns
    -------
    LearnerDecomposition
        Every part with its standard error, and all predictions: `error()`, `anova()`,
        `advise()`, `by_row()`, `plot()`.

    Raises
    ------
    ValueError
        If an option is not one of those listed, a number is out of range, the pool has too few
        rows, `n_samples` or `y` is missing, an argument of a pool is given with a source, or fits
        without a `name` cannot be identified in a store.
    TypeError
        If `model`, `X` or the labels are not of the types above.
    FitError
        If fits raise an error, or predict something that is not a finite number; it has the result
        of the data sets without a failure.
    StoreError
        If `store` is not a valid store, or cannot be used.
    DoubleTroubleError
        If the executor breaks, or the scheduler cannot be reached.
    MissingExtraError
        If the packages of a store, of worker processes or of Dask are not installed.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> def sample(rng, n):
    ...     X = rng.standard_normal((n, 2))
    ...     return X, X[:, 0]
    >>> def fit(X, y, seed):
    ...     features = np.random.default_rng(seed).standard_normal((2, 10))
    ...     weights = np.linalg.lstsq(np.tanh(X @ features), y, rcond=None)[0]
    ...     return lambda X: np.tanh(X @ features) @ weights
    >>> source = dt.GeneratorSource(sample, n_samples=30, noise=0.5, n_test=100)
    >>> error = dt.decompose(fit, source, n_data=8, n_init=4).error()
    >>> bool(error.noise.value > 0.05 > error.bias.value)
    True

    Of a pool of rows, whose noise is not known:

    >>> X, y = sample(np.random.default_rng(0), 400)
    >>> result = dt.decompose(fit, X, y, n_samples=30, n_data=8, n_init=4)
    >>> sorted(result.error().includes)
    ['bias', 'initialization', 'sampling']
    """
    started = time.perf_counter()
    runner = FitRunner(
        store=store_path(store),
        name=name,
        start=backend(executor, workers, scheduler),
        progress=progress,
    )
    check_flag("include_test", include_test)
    check_level("confidence", confidence)
    check_choice("errors", errors, get_args(ErrorsName))
    seed = whole_number("seed", seed, 0, MOST_SEEDS)
    learner = Learner.of(model)  # a wrong model is named before wrong rows
    classification = is_classification({"model": learner}, task, measure)
    source = _source(X, y, n_samples=n_samples, noise=noise, groups=groups, n_test=n_test)
    if n_data is None:
        source, n_data = source._with_default_sets(seed)
    n_data, n_init = whole_number("n_data", n_data, 1), whole_number("n_init", n_init, 1)
    draws = whole_number("n_noise", least_draws(measure) if n_noise is None else n_noise, 1)
    source._check(n_data, seed=seed, classification=classification)
    test = source.test(seed, classification=classification)
    classes = source._class_labels(seed) if classification else None
    fits = DrawnFits(
        learner=learner,
        source=source,
        test=test,
        target=as_target(test.y, classes),
        classes=classes,
        seed=seed,
        n_data=n_data,
        n_noise=source._noise_draws(draws),
        n_init=1 if learner.is_deterministic else n_init,
        requested_init=n_init,
        requested_noise=n_noise or 1,
        hidden_noise=source._hides_noise(seed),
    )
    predictions = np.full((fits.n_data, fits.n_noise, fits.n_init, *fits.target.shape), np.nan)
    failures: list[Failure] = []
    warned: list[list[FitWarning]] = []
    keys = fits.keys
    first = set(keys[:_FIRST])
    try:
        with progress_bar(len(keys), unit="fit", progress=progress) as bar:
            finished = runner.run(fits, keys, bar)
            for key, result, messages in finished:
                warned.append(messages)
                if not isinstance(result, str):
                    predictions[key] = result
                    continue
                failures.append(fits.failure(key, result))
                if errors == "raise" and first <= {failure.fit for failure in failures}:
                    finished.close()
                    message = f"the first {len(first)} fits failed, {listed_failures(failures)}"
                    raise FitError(f"{message}; errors='collect' tries all fits", failures=failures)
    finally:
        _last.__dict__.clear()
    warning = summarized_warnings(warned)
    if warning:
        warnings.warn(warning, UserWarning, stacklevel=2)

    result_of = partial(
        _result,
        fits,
        notes=[f"{warning}."] if warning else [],
        confidence=confidence,
        include_test=include_test,
        started=started,
        measure=measure,
    )
    if not failures:
        return result_of(predictions, range(n_data))
    failures.sort()
    lost = {failure.fit.data for failure in failures}
    complete = [d for d in range(n_data) if d not in lost]
    left = len(keys) - len(failures)
    where = "in the `predictions` of this error"
    if store is not None:
        where = f"in {store}: the same call computes only the failed ones again"
    raise FitError(
        f"{len(failures)} of {len(keys)} fits failed, {listed_failures(failures)}"
        + (f" (the other {left} are {where})" if left else ""),
        failures=failures,
        predictions=predictions,
        partial=result_of(predictions[complete], complete) if len(complete) > 1 else None,
    )


def _source(X: Inputs, y: npt.ArrayLike | None, **options: Any) -> DataSource:
    """The source in place of `X` and `y`, or a pool of these rows with its options."""
    if isinstance(X, DataSource):
        for name, value in {"y": y, **options}.items():
            if value is not None:
                raise ValueError(f"{name} must be left out with a source, got {shown(value)}")
        return X
    if isinstance(X, type):
        raise TypeError(f"X must be rows or a source, got the class {X.__name__}")
    if callable(X):
        given = getattr(X, "__name__", type(X).__name__)
        raise TypeError(
            f"X must be rows or a source, got {given}; a function that draws data is the argument "
            "of one, dt.GeneratorSource(sample, n_samples=...)"
        )
    if y is None:
        got = "a pair as X" if isinstance(X, tuple) and len(X) == 2 else "None"
        raise ValueError(
            "y must be given with the rows X, as in decompose(model, X, y, n_samples=...), unless "
            f"X is a GeneratorSource or a PoolSource, got {got}"
        )
    if options["n_samples"] is not None:
        return PoolSource(X, y, **options)
    count = PoolSource(X, y, **options | {"n_samples": 1}).X.shape[0]
    most = count - (options["n_test"] or held_out(count))
    raise ValueError(
        f"n_samples must be given, at most {most} of the {count} rows, got None; "
        "dt.diagnose(model, X, y) is for the learner trained on all rows"
    )


# --- fits ---


class FitIndex(NamedTuple):
    """The key of a fit: data set, draw of noise, initialization."""

    data: int
    noise: int
    init: int

    @property
    def place(self) -> str:
        """The index in words."""
        return f"data set {self.data}, noise draw {self.noise}, initialization {self.init}"


class _Drawn(NamedTuple):
    """A training set of a run, and the warnings of its draw."""

    run: str
    number: int
    data: TrainingSet
    warned: list[FitWarning]


_last = threading.local()  # the training set drawn last in this thread


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnFits(LearnerFits[FitIndex]):
    """All fits of a decomposition."""

    key = FitIndex
    kind: ClassVar[str] = "fits"

    source: DataSource
    test: TestSet
    target: FloatArray  # of the predictions: (T,) or (T, outputs), one-hot for classes
    seed: int
    n_data: int
    n_noise: int
    n_init: int  # 1 for a deterministic learner
    requested_init: int
    requested_noise: int  # 1 unless given
    hidden_noise: bool  # labels have noise that no draw changes
    run: str = field(default_factory=lambda: uuid4().hex)  # of this object, and its copies

    @property
    def keys(self) -> list[FitIndex]:
        """All fits, data set by data set."""
        draws = product(range(self.n_data), range(self.n_noise), range(self.n_init))
        return [FitIndex(*index) for index in draws]

    def training(self, number: int) -> TrainingSet:
        """One of the training sets."""
        return self.source.training(
            number, n_noise=self.n_noise, seed=self.seed, classes=self.classes
        )

    def seed_of(self, key: FitIndex) -> int:
        """The seed of an initialization."""
        return init_seed(self.seed, key.init)

    def rows(self, key: FitIndex) -> FitRows:
        """Copies, since learners may work in place; each thread keeps the training set for more."""
        drawn: _Drawn | None = getattr(_last, "drawn", None)
        if drawn is None or (drawn.run, drawn.number) != (self.run, key.data):
            with recorded_warnings() as messages:
                data = self.training(key.data)
            drawn = _last.drawn = _Drawn(self.run, key.data, data, messages)
        X, y, X_test = map(_copied, (drawn.data.X, drawn.data.y[key.noise], self.test.X))
        return FitRows(X, y, X_test, self.seed_of(key), self.target.shape, drawn.warned)

    def contents(self, name: str | None) -> list[object]:
        """The source, the test set and the first training set; the last two are always hashed."""
        known = [content_hash(self.source, name), *map(data_hash, (self.test.X, self.test.y))]
        try:
            data = self.training(0)
        except Exception:  # noqa: BLE001 (a fit with an error in `sample` fails)
            return [*known]
        return [*known, *map(data_hash, (data.X, *data.y[:2]))]

    def described(self, key: FitIndex) -> dict[str, object]:
        """The draws, and the form of the predictions."""
        return {
            "seed": self.seed,
            "noisy": self.n_noise > 1,
            "shape": list(self.target.shape),
            "classification": self.classes is not None,
        }


def _copied(array: Inputs) -> Inputs:
    return array.copy() if hasattr(array, "copy") else copy.deepcopy(array)


# --- the result ---


def _result(
    fits: DrawnFits,
    predictions: FloatArray,
    sets: Sequence[int],
    *,
    notes: Sequence[str],
    confidence: float,
    include_test: bool,
    started: float,
    measure: LearnerMeasure,
) -> LearnerDecomposition:
    """The decomposition of the predictions of all fits on some data sets."""
    source, n_noise = fits.source, predictions.shape[1]
    targets: dict[str, Any] = {"truth": fits.target}
    if fits.hidden_noise or not fits.test.is_truth:
        known = fits.test.noise if fits.classes is None else None
        targets = {"y_test": fits.target, "label_noise": known}
    split = decompose_predictions(
        predictions,
        **targets,
        confidence=confidence,
        include_test=include_test,
        deterministic=fits.learner.is_deterministic,
        noiseless=source.is_noiseless and not fits.hidden_noise,
        hidden_noise=fits.hidden_noise,
        injected=source.injected if n_noise > 1 else None,
        measure=measure,
    )
    key: tuple[Hashable, ...] = (
        ("source", _fingerprint(fits, predictions)),
        ("seed", fits.seed),
        ("n_data", tuple(sets)),
        ("n_init", fits.requested_init),
        ("n_noise", n_noise),
        ("task", "regression" if fits.classes is None else "classification"),
        ("include_test", include_test),
        ("measure", measure),
    )
    return LearnerDecomposition(
        design=split.design,
        notes=(*split.notes, *_notes(fits, predictions), *notes),
        confidence=confidence,
        measure=measure,
        statistics={name: replace(s, key=key) for name, s in split.statistics.items()},
        predictions=predictions,
        y_test=fits.target,
        classes=fits.classes,
        index=range(len(fits.target)) if fits.test.index is None else fits.test.index.tolist(),
        n_fits=math.prod(predictions.shape[:3]),
        most_data=source.most_data,
        seconds=time.perf_counter() - started,
        label_noise=targets.get("label_noise"),
    )


def _notes(fits: DrawnFits, predictions: FloatArray) -> list[str]:
    """Notes on the source and on the learner."""
    learner, source, n_noise = fits.learner, fits.source, predictions.shape[1]
    notes = [
        *source._notes(n_noise, n_data=fits.n_data, seed=fits.seed, hidden=fits.hidden_noise),
        *learner.notes,
    ]
    if fits.requested_noise > n_noise and not source.is_noiseless:
        notes.append(
            f"n_noise = {fits.requested_noise} draws of label noise were requested, and {n_noise} "
            "are available from this source."
        )
    return notes


def _fingerprint(fits: DrawnFits, predictions: FloatArray) -> str:
    """Equal for the same draws of a source: a digest of its test set and of a training set."""
    hashed = hashlib.blake2b()
    try:
        data = fits.training(0)
        for value in (fits.test.X, fits.test.y, data.X, *data.y):
            array = value.to_numpy() if hasattr(value, "to_numpy") else value
            if isinstance(array, np.ndarray) and array.dtype.kind != "O":
                hashed.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
            else:
                hashed.update(pickle.dumps(value))
    except Exception:  # noqa: BLE001 (inputs are of any class, and the fits are done)
        return draws_digest(predictions)
    return hashed.hexdigest()
