"""The squared error of any learner by cause, from fits of it on training sets of a source.

With a store every fit is a cell of its own, stored when it is done. Without one, cells are data
sets: the training set is drawn once for all of its fits.
"""

from __future__ import annotations  # help() then shows names, not their definitions

import hashlib
import math
import pickle
import tempfile
import time
import warnings
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from io import BytesIO
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble.decomposition._components import digest
from doubletrouble.decomposition._fitting import (
    Failure,
    FitIndex,
    Fits,
    FitWarning,
    Learner,
    message_of,
    summarized_warnings,
)
from doubletrouble.decomposition._predictions import decompose_predictions
from doubletrouble.decomposition._result import LearnerDecomposition
from doubletrouble.decomposition._sources import (
    DataSource,
    GeneratorSource,
    Labels,
    PoolSource,
    TestSet,
    init_seed,
    one_hot,
)
from doubletrouble.errors import FitError, SweepInterrupted, require
from doubletrouble.parameters import MOST_SEEDS, FloatArray, whole_number
from doubletrouble.results import check_level
from doubletrouble.runs import DONE, Cell, Store, check_executor, decode, progress_bar, run_cells

TaskName: TypeAlias = Literal["auto", "regression", "classification"]
ErrorsName: TypeAlias = Literal["raise", "collect"]

REVISION = 1  # of the definition of the numbers; count up when draws or definitions change

_N_NOISE = 2  # draws of label noise by default
_FIRST = 3  # fits that stop a run if all of them fail
_SHOWN = 3  # failures in a message
_IN_MEMORY = 2**28  # bytes of predictions; more are in a file

_Outcome: TypeAlias = tuple[FitIndex, "FloatArray | str", "list[FitWarning]"]


def decompose(
    model: Any,
    source: DataSource,
    *,
    n_data: int = 20,
    n_init: int = 5,
    n_noise: int | None = None,
    seed: int = 0,
    executor: Any = None,
    workers: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    name: str | None = None,
    confidence: float = 0.95,
    task: TaskName = "auto",
    include_test: bool = True,
    errors: ErrorsName = "raise",
    progress: bool = True,
) -> LearnerDecomposition:
    """Split the squared error of a learner into noise, initialization, sampling and bias.

    `model` is a scikit-learn estimator or pipeline, which is cloned for every fit, all its
    `random_state`s set from the seed of the initialization; or a function `fit(X, y, seed)` that
    returns a function `predict(X)`. The error of a classifier is the squared distance of its
    predicted probabilities to the one-hot labels (Brier score); with `task="classification"` a
    function is a classifier, and predicts a probability for each class, in sorted order.

    `source` gives `n_data` training sets, `n_noise` draws of label noise on each (2, where noise
    can be drawn) and one test set (`GeneratorSource`, `PoolSource`); on each of these the learner
    is fitted from the same `n_init` initializations. A learner without a seed is fitted once.

    Estimates of two learners with the same source, `seed` and numbers of draws are paired: `a - b`
    of two results is the difference on the same data, with its interval.

    Fits run one after the other with one thread of linear algebra, or in parallel: `workers`
    processes, the address of a Dask `scheduler`, or any `executor` with a method `submit`. With a
    `store`, a file, every fit is stored when it is done, and a later call with the same arguments,
    or with more draws, computes only what is missing. Stored fits are identified by the content of
    the estimator and of the source; functions by their module and name only. `name` stands for the
    learner instead, and is required for functions that cannot be imported: change it whenever the
    learner changes.

    Warnings of all fits are summarized in one warning, and in a note of the result. A fit that
    raises an error, or predicts something that is not a finite number, fails: `FitError` is raised
    at the end, with the result of the data sets without a failure. With `errors="raise"`, it is
    raised at once if the first three fits fail; with `errors="collect"` all fits are tried.

    >>> def sample(rng, n):
    ...     X = rng.standard_normal((n, 2))
    ...     return X, X[:, 0]
    >>> def fit(X, y, seed):
    ...     features = np.random.default_rng(seed).standard_normal((2, 10))
    ...     weights = np.linalg.lstsq(np.tanh(X @ features), y, rcond=None)[0]
    ...     return lambda X: np.tanh(X @ features) @ weights
    >>> source = GeneratorSource(sample, n_train=30, noise=0.5, n_test=100)
    >>> result = decompose(fit, source, n_data=8, n_init=4)
    >>> error = result.error()
    >>> bool(error.noise.value > 0.05 > error.bias.value)
    True
    """
    started = time.perf_counter()
    check_executor(executor, workers, scheduler)
    check_level("confidence", confidence)
    for option, value, names in (("task", task, TaskName), ("errors", errors, ErrorsName)):
        if value not in get_args(names):
            known = ", ".join(map(repr, get_args(names)))
            raise ValueError(f"{option} must be one of {known}, got {value!r}")
    run = _Run.of(model, source, task, seed=seed, n_data=n_data, n_init=n_init, n_noise=n_noise)
    identity = "" if store is None else _identity(run.fits.learner, source, name)
    stored = f"in {store}: call again to retry them" if store else "in its `predictions`"
    predictions = _allocated((run.n_data, run.fits.n_noise, run.n_init, *run.fits.shape))
    failures: list[Failure] = []
    warned: list[list[FitWarning]] = []
    first = set(run.indices[:_FIRST])
    outcomes = run.outcomes(
        executor=executor,
        workers=workers,
        scheduler=scheduler,
        store=None if store is None else Path(store),
        identity=identity,
        progress=progress,
    )
    for index, result, messages in outcomes:
        warned.append(messages)
        if not isinstance(result, str):
            predictions[index] = result
            continue
        predictions[index] = np.nan
        failures.append(Failure(index, init_seed(run.fits.seed, index.init), result))
        if errors == "raise" and first <= {failure.fit for failure in failures}:
            outcomes.close()
            message = f"the first {len(first)} fits failed, {_listed(failures)}"
            raise FitError(f"{message}; errors='collect' tries all fits", failures=failures)
    warning = summarized_warnings(warned)
    if warning:
        warnings.warn(warning, UserWarning, stacklevel=2)

    def result_of(sets: Sequence[int]) -> LearnerDecomposition:
        return run.result(
            predictions if len(sets) == run.n_data else predictions[list(sets)],
            sets,
            notes=[f"{warning}."] if warning else [],
            confidence=confidence,
            include_test=include_test,
            started=started,
        )

    if not failures:
        return result_of(range(run.n_data))
    failures.sort()
    total, lost = len(run.indices), {failure.fit.data for failure in failures}
    complete = [d for d in range(run.n_data) if d not in lost]
    left = total - len(failures)
    others = f" (the other {left} are {stored})" if left else ""
    raise FitError(
        f"{len(failures)} of {total} fits failed, {_listed(failures)}{others}",
        failures=failures,
        predictions=predictions,
        partial=result_of(complete) if len(complete) > 1 else None,
    )


def _listed(failures: Sequence[Failure]) -> str:
    return "; ".join(map(str, failures[:_SHOWN])) + ("; ..." if len(failures) > _SHOWN else "")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Run:
    """A validated call: its fits, their number, and the target of the predictions."""

    fits: Fits
    n_data: int
    n_init: int  # 1 for a deterministic learner
    requested_init: int
    requested_noise: int  # 1 unless given
    hidden_noise: bool
    test: TestSet
    target: FloatArray

    @classmethod
    def of(
        cls,
        model: Any,
        source: Any,
        task: TaskName,
        *,
        seed: int,
        n_data: int,
        n_init: int,
        n_noise: int | None,
    ) -> _Run:
        """Validate the arguments; nothing is fitted yet."""
        if not isinstance(source, GeneratorSource | PoolSource):
            given = source.__name__ if isinstance(source, type) else type(source).__name__
            raise TypeError(f"source must be a GeneratorSource or a PoolSource, got {given}")
        learner, seed = Learner.of(model), whole_number("seed", seed, 0, MOST_SEEDS)
        n_data, n_init = whole_number("n_data", n_data, 1), whole_number("n_init", n_init, 1)
        draws = whole_number("n_noise", _N_NOISE if n_noise is None else n_noise, 1)
        classification = bool(learner.is_classifier) if task == "auto" else task == "classification"
        if classification and learner.is_classifier is False:
            raise ValueError(f"model must be a classifier for {task=}, got {type(model).__name__}")
        source.check(n_data, seed=seed, classification=classification)
        test = source.test(seed, classification=classification)
        classes = source.class_labels(seed) if classification else None
        target = _target(test, classes)
        fits = Fits(
            learner=learner,
            source=source,
            X_test=test.X,
            shape=target.shape,
            classes=classes,
            n_noise=source.noise_draws(draws),
            seed=seed,
        )
        return cls(
            fits=fits,
            n_data=n_data,
            n_init=1 if learner.is_deterministic else n_init,
            requested_init=n_init,
            requested_noise=n_noise or 1,
            hidden_noise=source.hides_noise(),
            test=test,
            target=target,
        )

    @property
    def indices(self) -> list[FitIndex]:
        """All fits, data set by data set."""
        draws = product(range(self.n_data), range(self.fits.n_noise), range(self.n_init))
        return [FitIndex(*index) for index in draws]

    def outcomes(
        self,
        *,
        executor: Any,
        workers: int | None,
        scheduler: Any,
        store: Path | None,
        identity: str,
        progress: bool,
    ) -> Generator[_Outcome]:
        """Every fit with its predictions, or the message of its failure, and its warnings."""
        by_data = [[i for i in self.indices if i.data == d] for d in range(self.n_data)]
        elsewhere = not (executor is None and workers is None and scheduler is None)
        if store is None and not elsewhere:
            yield from self._outcomes_here(by_data, progress)
            return
        first, *rest = by_data  # the first fits may stop the run
        groups = [group for group in (first[:_FIRST], first[_FIRST:], *rest) if group]
        if store is not None:
            groups = [[index] for index in self.indices]
        cells = [self._cell(group, identity) for group in groups]
        group_of = {cell.key: group for cell, group in zip(cells, groups, strict=True)}
        opened: AbstractContextManager[Store | None] = (
            nullcontext() if store is None else Store.open(store)
        )
        try:
            with opened as opened_store:
                for cell, outcome in run_cells(
                    cells,
                    self.fits,
                    opened_store,
                    retry=True,
                    executor=executor,
                    workers=workers if elsewhere else 1,
                    scheduler=scheduler,
                    progress=progress,
                    unit="fit",
                    steps=lambda cell: len(group_of[cell.key]),
                ):
                    yield from _read(outcome, group_of[cell.key])
        except SweepInterrupted:
            if store is None:
                raise KeyboardInterrupt from None
            raise SweepInterrupted(
                f"stopped; the finished fits are in {store}: call again to continue"
            ) from None

    def _outcomes_here(
        self, by_data: Sequence[Sequence[FitIndex]], progress: bool
    ) -> Iterator[_Outcome]:
        with (
            _one_thread(),
            progress_bar(len(self.indices), unit="fit", progress=progress) as bar,
        ):
            for group in by_data:
                for index, result, messages in self.fits.outcomes(group):
                    bar.update()
                    if isinstance(result, BaseException):
                        yield index, message_of(result), messages
                    else:
                        yield index, result, messages

    def _cell(self, group: Sequence[FitIndex], identity: str) -> Cell:
        """The cell of fits on one data set; its key does not depend on the number of others."""
        fits = self.fits
        parameters = {
            "identity": identity,
            "seed": fits.seed,
            "noisy": fits.n_noise > 1,
            "shape": list(fits.shape),
            "classification": fits.classes is not None,
            "data": group[0].data,
            "places": [[index.noise, index.init] for index in group],
        }
        return Cell.of("fits", REVISION, parameters)

    def result(
        self,
        predictions: FloatArray,
        sets: Sequence[int],
        *,
        notes: Sequence[str],
        confidence: float,
        include_test: bool,
        started: float,
    ) -> LearnerDecomposition:
        """The decomposition of the predictions of all fits on some data sets."""
        fits, source = self.fits, self.fits.source
        n_noise = predictions.shape[1]
        split = decompose_predictions(
            predictions,
            **self._targets(),
            confidence=confidence,
            include_test=include_test,
            deterministic=fits.learner.is_deterministic,
            noiseless=source.is_noiseless and not self.hidden_noise,
            hidden_noise=self.hidden_noise,
            injected=source.injected if n_noise > 1 else None,
        )
        key = (
            ("source", self._fingerprint(predictions)),
            ("seed", fits.seed),
            ("n_data", tuple(sets)),
            ("n_init", self.requested_init),
            ("n_noise", n_noise),
            ("task", "regression" if fits.classes is None else "classification"),
            ("include_test", include_test),
        )
        values = {f.name: getattr(split, f.name) for f in fields(split)}
        values["statistics"] = {k: replace(s, key=key) for k, s in split.statistics.items()}
        values["notes"] = (*split.notes, *self._notes(predictions), *notes)
        return LearnerDecomposition(
            **values,
            predictions=predictions,
            y_test=self.target,
            classes=fits.classes,
            n_fits=math.prod(predictions.shape[:3]),
            most_data=source.most_data,
            seconds=time.perf_counter() - started,
        )

    def _targets(self) -> dict[str, Any]:
        if self.test.is_truth and not self.hidden_noise:
            return {"truth": self.target}
        known = self.test.noise if self.fits.classes is None else None
        return {"y_test": self.target, "label_noise": known}

    def _fingerprint(self, predictions: FloatArray) -> Hashable:
        """Equal for the same draws of a source: a digest of its test set and a training set."""
        fits = self.fits
        try:
            data = fits.source.training(
                0, n_noise=fits.n_noise, seed=fits.seed, classes=fits.classes
            )
            hashed = hashlib.blake2b()
            for value in (self.test.X, self.test.y, data.X, *data.y):
                hashed.update(_content(value))
            return hashed.hexdigest()
        except Exception:  # noqa: BLE001 (inputs are of any class, and the fits are done)
            return digest(predictions)

    def _notes(self, predictions: FloatArray) -> list[str]:
        """Notes on the source and on the learner."""
        learner, source, n_noise = self.fits.learner, self.fits.source, predictions.shape[1]
        notes = source.notes(n_noise, seed=self.fits.seed, hidden=self.hidden_noise)
        if learner.note:
            notes.append(learner.note)
        if learner.is_deterministic:
            notes.append("The learner has no random_state: it is deterministic, with one fit each.")
        elif predictions.shape[2] > 1 and all(bool((f == f[:, :1]).all()) for f in predictions):
            notes.append("All initializations predict the same: the learner is deterministic here.")
        if self.requested_noise > n_noise and not source.is_noiseless:
            notes.append(
                f"n_noise = {self.requested_noise} draws of label noise were requested, and "
                f"{n_noise} are available from this source."
            )
        return notes


def _read(outcome: Any, group: Sequence[FitIndex]) -> Iterator[_Outcome]:
    """The fits of a cell."""
    if outcome.status != DONE:
        for index in group:
            yield index, outcome.message, []
        return
    record = decode(outcome.result)
    failed = {FitIndex(*index): message for index, message in record["failed"]}
    warned = record.get("warned", [[] for _ in group])  # earlier versions did not record them
    for index, predictions, messages in zip(group, record["predictions"], warned, strict=True):
        yield index, failed.get(index, predictions), [FitWarning(*pair) for pair in messages]


def _one_thread() -> AbstractContextManager[Any]:
    """Limit linear algebra to one thread, if threadpoolctl is installed.

    Many small fits are faster so: 2.0 s instead of 10.3 s for LogisticRegression.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def _allocated(shape: tuple[int, ...]) -> FloatArray:
    """An array for all predictions; a large one is in a temporary file."""
    if np.prod(shape) * 8 <= _IN_MEMORY:
        return np.full(shape, np.nan)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=shape)


def _target(test: TestSet, classes: Labels | None) -> FloatArray:
    """The target of the predictions, one-hot for classes."""
    if classes is not None:
        if test.y.ndim != 1:
            raise ValueError(f"y must have one class for each sample, got shape {test.y.shape}")
        if len(classes) < 2:
            raise ValueError(f"y must have 2 or more classes, got only {classes[0]!s}")
        return one_hot(test.y, classes)
    if test.y.dtype.kind not in "iufb":
        raise TypeError(
            f"y must be numbers for a regression, got {test.y.dtype}; classes need a classifier, "
            "or task='classification'"
        )
    return test.y.astype(np.float64)


def _content(value: Any) -> bytes:
    """The content of an array, a table or a sparse matrix as bytes."""
    array = value.to_numpy() if hasattr(value, "to_numpy") else value
    if isinstance(array, np.ndarray) and array.dtype.kind != "O":
        return f"{array.dtype}{array.shape}".encode() + array.tobytes()
    return pickle.dumps(value)


# --- identity of stored fits ---


def _identity(learner: Learner, source: DataSource, name: str | None) -> str:
    """The learner and the source in the key of a stored fit: by content, or by `name`."""
    if name is None:
        return _hashed([learner.model, source])
    if not (isinstance(name, str) and name):
        raise ValueError(f"name must be a string that is not empty, got {name!r}")
    try:
        return _hashed([name, source])
    except ValueError:  # the name stands for the source, too
        return name


def _hashed(content: Any) -> str:
    """A hash by joblib, or ValueError if the content cannot be identified."""
    joblib = require("joblib", "runs")
    try:
        _ContentPickler(BytesIO(), protocol=5, buffer_callback=lambda _: None).dump(content)
        return str(joblib.hash(content, hash_name="sha1"))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ValueError(
            f"name must be given to store fits of a learner or source without identity: {error}"
        ) from error


class _ContentPickler(pickle.Pickler):
    """Refuses functions and classes that are pickled by a name which does not identify them."""

    def reducer_override(self, obj: Any) -> Any:
        """Raise PicklingError for a lambda, a local function or one of the main module."""
        if isinstance(obj, FunctionType | type) and (
            obj.__module__ == "__main__" or "<" in obj.__qualname__
        ):
            raise pickle.PicklingError(f"{obj.__qualname__} is not defined in a module")
        return NotImplemented
