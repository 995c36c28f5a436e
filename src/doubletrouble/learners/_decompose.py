"""The squared error of any learner by cause, from fits of it."""

from __future__ import annotations  # help() then shows names, not what they stand for

import math
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from doubletrouble.decomposition import Decomposition, decompose_predictions, digest
from doubletrouble.errors import FitError
from doubletrouble.learners._fits import Failure, Fits
from doubletrouble.learners._identity import identity
from doubletrouble.learners._lending import Lent
from doubletrouble.learners._model import LearnerModel, as_model
from doubletrouble.learners._run import Where, run_fits
from doubletrouble.learners._samples import Labels, TestSet, one_hot
from doubletrouble.learners._source import DataSource
from doubletrouble.parameters import MOST_SEEDS, FloatArray, whole_number
from doubletrouble.results import check_level
from doubletrouble.runs import check_executor

TaskName: TypeAlias = Literal["auto", "regression", "classification"]
TASKS: tuple[TaskName, ...] = get_args(TaskName)
_DRAWS = 2  # of label noise, unless told
_SHOWN = 3  # failures named in a message


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerDecomposition(Decomposition):
    """The squared error of a learner by cause, and the predictions it comes from."""

    predictions: FloatArray  # [data, noise, init, test] or [data, noise, init, test, class]
    y_test: FloatArray  # what they are held against, one-hot for classes
    classes: Labels | None
    n_fits: int
    most_data: float  # training sets that the source can give
    seconds: float  # all of it


def decompose(
    model: Any, source: DataSource, *, n_data: int = 20, n_init: int = 5,
    n_noise: int | None = None, seed: int = 0, executor: Any = None, workers: int | None = None,
    scheduler: str | None = None, store: str | Path | None = None, name: str | None = None,
    confidence: float = 0.95, task: TaskName = "auto", include_test: bool = True,
    progress: bool = True,
) -> LearnerDecomposition:  # fmt: skip
    """Split the squared error of a learner into noise, initialization, sampling and bias.

    `model` is a scikit-learn estimator or pipeline, which is cloned for every fit, all its
    `random_state`s set from the seed of the initialization; or a function `fit(X, y, seed)` that
    returns a function `predict(X)`. Classifiers are judged by the probabilities they predict, the
    squared distance to one-hot labels (the score of Brier); a function is taken for one with
    `task="classification"`, and then predicts a probability for each class, in sorted order.

    `source` gives `n_data` training sets, `n_noise` draws of label noise on each (2, where it has
    noise to draw) and one test set (`GeneratorSource`, `PoolSource`); on each of these the learner
    is fitted from the same `n_init` initializations. A learner without a seed is fitted once.

    Estimates of two learners with the same source, `seed` and numbers of draws are paired: the
    standard error of `a.error().total - b.error().total` is that of differences on the same data.

    Fits run one after the other, or in parallel: `workers` processes, the address of a Dask
    `scheduler`, or any `executor` with a method `submit`. With a `store`, a file, every fit is kept
    when it is done, and a run that was stopped, or asks for more, goes on from there; `name` stands
    for the learner where its content cannot be told.

    >>> def sample(rng, n):
    ...     X = rng.standard_normal((n, 2))
    ...     return X, X[:, 0]
    >>> def fit(X, y, seed):
    ...     features = np.random.default_rng(seed).standard_normal((2, 10))
    ...     weights = np.linalg.lstsq(np.tanh(X @ features), y, rcond=None)[0]
    ...     return lambda X: np.tanh(X @ features) @ weights
    >>> from doubletrouble.learners._generator import GeneratorSource
    >>> source = GeneratorSource(sample, n_train=30, noise=0.5, n_test=100)
    >>> result = decompose(fit, source, n_data=8, n_init=4)
    >>> error = result.error()
    >>> bool(error.noise.value > 0.05 > error.bias.value)
    True
    """
    started = time.perf_counter()
    check_executor(executor, workers, scheduler)
    check_level("confidence", confidence)
    asked = _DecompositionTask.of(
        model, source, task, seed=seed, n_data=n_data, n_init=n_init, n_noise=n_noise
    )
    where = Where(
        executor=executor, workers=workers, scheduler=scheduler,
        store=None if store is None else Path(store), progress=progress,
        identity="" if store is None else _identity(model, source, name),
    )  # fmt: skip
    fits = asked.fits(shared=executor is not None)
    predictions, failures = run_fits(fits, asked.n_data, asked.n_init, where)
    split = partial(asked.split, confidence=confidence, include_test=include_test, started=started)
    if failures:
        kept = f"in {store}: run the same again to try them" if store else "in its `predictions`"
        lost = {failure.fit.data for failure in failures}
        sound = [d for d in range(asked.n_data) if d not in lost]
        raise FitError(
            _told(failures, predictions, kept), failures=failures, predictions=predictions,
            partial=split(predictions[sound], sets=sound) if len(sound) > 1 else None,
        )  # fmt: skip
    return split(predictions, sets=range(asked.n_data))


@dataclass(frozen=True, kw_only=True, eq=False)
class _DecompositionTask:
    """What is asked, checked: a learner, its data, and how many fits."""

    learner: LearnerModel
    source: DataSource
    seed: int
    n_data: int
    n_init: int  # 1 for a deterministic learner
    n_seeds: int  # initializations that were requested
    n_noise: int  # versions of the labels of a training set
    wanted: int  # draws of noise that were asked for in so many words, or 1
    test: TestSet
    classes: Labels | None
    target: FloatArray

    @classmethod
    def of(
        cls, model: Any, source: DataSource, task: TaskName, *, seed: int, n_data: int, n_init: int,
        n_noise: int | None,
    ) -> Self:  # fmt: skip
        """Refuse what cannot be done, before anything is fitted."""
        if task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}, got {task!r}")
        if isinstance(source, type) or not isinstance(source, DataSource):
            raise TypeError(
                f"source must be a GeneratorSource or a PoolSource, got {type(source).__name__}"
            )
        learner, root = as_model(model), whole_number("seed", seed, 0, MOST_SEEDS)
        sets, inits = whole_number("n_data", n_data, 1), whole_number("n_init", n_init, 1)
        draws = whole_number("n_noise", _DRAWS if n_noise is None else n_noise, 1)
        classification = bool(learner.is_classifier) if task == "auto" else task == "classification"
        if classification and learner.is_classifier is False:
            raise ValueError(f"model must be a classifier for {task=}, got {type(model).__name__}")
        source.check(sets, classification=classification)
        test = source.test(root, classification=classification)
        classes = source.class_labels(root) if classification else None
        return cls(
            learner=learner, source=source, seed=root, n_data=sets,
            n_init=1 if learner.is_deterministic else inits, n_seeds=inits,
            n_noise=source.draws_of_noise(draws),
            wanted=n_noise or 1, test=test, classes=classes, target=_target(test, classes),
        )  # fmt: skip

    def fits(self, *, shared: bool) -> Fits:
        """What is to be done for it."""
        return Fits(
            model=self.learner, source=self.source, lent=Lent(self.test.X), shared=shared,
            shape=self.target.shape, classes=self.classes, n_noise=self.n_noise, seed=self.seed,
        )  # fmt: skip

    def split(
        self, predictions: FloatArray, *, sets: Sequence[int], confidence: float,
        include_test: bool, started: float,
    ) -> LearnerDecomposition:  # fmt: skip
        """The error by cause, from the predictions of all fits on some data sets."""
        learner, source = self.learner, self.source
        found = decompose_predictions(
            predictions, confidence=confidence, include_test=include_test,
            deterministic=learner.is_deterministic, noiseless=source.is_noiseless,
            hidden_noise=source.hides_noise,
            injected=source.injected if self.n_noise > 1 else None,
            **_against(self.test, self.target, self.classes),
        )  # fmt: skip
        key = (*self._draws(predictions), tuple(sets), include_test)
        changed = {
            "notes": (
                *found.notes,
                *_notes(learner, source, predictions, self.wanted, self.classes),
            ),
            "statistics": {name: replace(s, key=key) for name, s in found.statistics.items()},
        }
        return LearnerDecomposition(
            **{f.name: getattr(found, f.name) for f in fields(found)} | changed,
            predictions=predictions, y_test=self.target, classes=self.classes,
            n_fits=math.prod(predictions.shape[:3]), most_data=source.most_data,
            seconds=time.perf_counter() - started,
        )  # fmt: skip

    def _draws(self, predictions: FloatArray) -> tuple[Hashable, ...]:
        """Equal for two learners that are fitted to the same draws.

        A source whose content is not identified is replaced by the predictions themselves.
        """
        try:
            source: Hashable = identity(self.source)
        except Exception:  # noqa: BLE001 (sources are of any class, and the fits are done)
            source = digest(predictions)
        return source, self.seed, self.n_seeds, self.n_noise, self.classes is not None


def _identity(model: Any, source: DataSource, name: str | None) -> str:
    """By content; what cannot be told so goes by the name that was given for it."""
    if name is None:
        return identity([model, source])
    if not (isinstance(name, str) and name):
        raise ValueError(f"name must be some words, got {name!r}")
    try:
        return identity([name, source])
    except ValueError:  # the source cannot be told, either
        return name


def _target(test: TestSet, classes: Labels | None) -> FloatArray:
    """What predictions are held against, one-hot for classes."""
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


def _against(test: TestSet, target: FloatArray, classes: Labels | None) -> dict[str, Any]:
    if test.is_truth:
        return {"truth": target}
    known = test.noise if classes is None else None
    return {"y_test": target} | ({} if known is None else {"label_noise": known})


def _notes(
    learner: LearnerModel,
    source: DataSource,
    predictions: FloatArray,
    wanted: int,
    classes: Labels | None,
) -> list[str]:
    """What a reader must know of this learner and these labels."""
    found = source.notes(predictions.shape[1], classification=classes is not None)
    if learner.note:
        found.append(learner.note)
    if learner.is_deterministic:
        found.append(
            "The learner has no random_state and is taken for deterministic: one fit each."
        )
    elif predictions.shape[2] > 1 and all(bool((f == f[:, :1]).all()) for f in predictions):
        found.append("All initializations predict the same: the learner is deterministic here.")
    if wanted > predictions.shape[1] and not source.is_noiseless:
        found.append(
            f"n_noise = {wanted} draws of label noise were asked for, and {predictions.shape[1]} "
            "can be had from this source."
        )
    return found


def _told(failures: Sequence[Failure], predictions: FloatArray, kept: str) -> str:
    """One sentence for all that failed."""
    total = math.prod(predictions.shape[:3])
    some = "; ".join(map(str, failures[:_SHOWN])) + ("; ..." if len(failures) > _SHOWN else "")
    left = total - len(failures)
    others = f" (the other {left} are kept {kept})" if left else ""
    return f"{len(failures)} of {total} fits failed, {some}{others}"
