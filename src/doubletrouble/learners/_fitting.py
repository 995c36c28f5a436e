"""Fits of a learner: an estimator or a function, seeded, on training sets of a source.

A fit that fails does not stop the others. Warnings of a fit are recorded and returned with its
predictions, also by worker processes, and are reported once for all fits.
"""

import copy
import inspect
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import require
from doubletrouble.learners._components import LARGEST
from doubletrouble.learners._sources import (
    DataSource,
    Inputs,
    TestSet,
    TrainingSet,
    init_seed,
    one_hot,
)
from doubletrouble.parameters import FloatArray, Labels, refuse_masked, whole_number
from doubletrouble.runs import Record

_N_NOISE = 2  # draws of label noise by default
_SEED_NAMES = ("random_state", "random_seed", "seed")
_SHOWN = 3  # failures and warnings in a message
_LONGEST_WARNING = 200


class FitIndex(NamedTuple):
    """The index of a fit: data set, draw of noise, initialization."""

    data: int
    noise: int
    init: int


class Failure(NamedTuple):
    """A fit that failed."""

    fit: FitIndex
    seed: int
    message: str

    @property
    def place(self) -> str:
        """The index and the seed."""
        d, n, k = self.fit
        return f"data set {d}, noise draw {n}, initialization {k} (seed {self.seed})"

    def __str__(self) -> str:
        """The index, the seed and the message."""
        return f"{self.place}: {self.message}"


def listed_failures(failures: Iterable[tuple[str, str]]) -> str:
    """The places of fits that failed, the first ones with each message.

    >>> listed_failures([("fit 1", "too large"), ("fit 2", "too large"), ("fit 5", "empty")])
    'fit 1, fit 2: too large; fit 5: empty'
    """
    places: dict[str, list[str]] = {}
    for place, message in failures:
        places.setdefault(message, []).append(place)
    shown = [
        f"{', '.join(some[:_SHOWN])}{', ...' if len(some) > _SHOWN else ''}: {message}"
        for message, some in list(places.items())[:_SHOWN]
    ]
    return "; ".join([*shown, "..."] if len(places) > _SHOWN else shown)


class FitWarning(NamedTuple):
    """A warning of a fit."""

    category: str
    message: str


TaskName: TypeAlias = Literal["auto", "regression", "classification"]


# --- learners ---


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """A scikit-learn estimator, or a function `fit(X, y, seed)` that returns `predict(X)`."""

    model: Any  # an unfitted clone of the estimator, or the function
    is_estimator: bool
    is_classifier: bool | None = None  # None if it is not known
    seeds: tuple[str, ...] = ()  # parameters of the estimator that are seeds
    splitters: tuple[str, ...] = ()  # parameters that split data at random

    @classmethod
    def of(cls, model: Any, name: str = "model") -> Self:
        """A learner, or TypeError with the name of the argument."""
        if isinstance(model, type):
            raise TypeError(f"{name} must be an estimator, got the class {model.__name__}")
        if hasattr(model, "fit") and hasattr(model, "get_params"):
            return cls._of_estimator(model)
        if not callable(model):
            raise TypeError(
                f"{name} must be a scikit-learn estimator or a function fit(X, y, seed) -> "
                f"predict, got {type(model).__name__}"
            )
        try:
            inspect.signature(model).bind(None, None, 0)
        except TypeError:
            given = f"{getattr(model, '__name__', type(model).__name__)}{inspect.signature(model)}"
            message = f"{name} must be a function fit(X, y, seed) -> predict, got {given}"
            raise TypeError(message) from None
        except ValueError:  # built-in functions have no signature
            pass
        return cls(model=model, is_estimator=False)

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        base = require("sklearn.base", "estimators")
        parameters = estimator.get_params(deep=True)
        return cls(
            model=base.clone(estimator),
            is_estimator=True,
            is_classifier=bool(base.is_classifier(estimator)),
            seeds=tuple(sorted(k for k in parameters if k.rpartition("__")[2] in _SEED_NAMES)),
            splitters=tuple(sorted(k for k, v in parameters.items() if _splits_at_random(v))),
        )

    @property
    def is_deterministic(self) -> bool:
        """Whether it is an estimator without a seed."""
        return self.is_estimator and not (self.seeds or self.splitters)

    @property
    def probability_notes(self) -> list[str]:
        """A note on a classifier without probabilities."""
        if not self.is_classifier or hasattr(self.model, "predict_proba"):
            return []
        name = type(self.model).__name__
        return [f"{name} has no predict_proba: the predicted class has probability 1."]

    @property
    def notes(self) -> list[str]:
        """Notes on its probabilities and on its seeds."""
        if not self.is_deterministic:
            return self.probability_notes
        note = "The learner has no random_state: it is deterministic, with one fit each."
        return [*self.probability_notes, note]

    def predictions(
        self, X: Inputs, y: Labels, seed: int, X_test: Inputs, classes: Labels | None
    ) -> FloatArray:
        """Fit, and predict at the test points: numbers, or probabilities of `classes`."""
        if not self.is_estimator:
            return self._by_function(X, y, seed, X_test)
        model = require("sklearn.base", "estimators").clone(self.model)
        model.set_params(**self._seeded(seed))
        model.fit(X, y)
        if classes is None:
            return _as_array(model.predict(X_test))
        if not hasattr(model, "predict_proba"):
            return one_hot(_as_array(model.predict(X_test)), classes)
        probabilities = np.zeros((X_test.shape[0], len(classes)))
        known = np.searchsorted(classes, model.classes_)  # classes not in the training set: 0
        probabilities[:, known] = model.predict_proba(X_test)
        return probabilities

    def _by_function(self, X: Inputs, y: Labels, seed: int, X_test: Inputs) -> FloatArray:
        predict = self.model(X, y, seed)
        if not callable(predict):
            raise TypeError(f"fit must return a function predict(X), got {type(predict).__name__}")
        predicted = predict(X_test)
        if hasattr(predicted, "detach"):  # a tensor of torch
            predicted = predicted.detach().cpu().numpy()
        return _as_array(predicted)

    def _seeded(self, seed: int) -> dict[str, Any]:
        """The seed itself for the only random_state, and one of its own for each of several."""
        names = [*self.seeds, *self.splitters]
        if len(names) == 1 and self.seeds:
            return {names[0]: seed}
        drawn = np.random.default_rng(seed).integers(2**31, size=len(names)).tolist()
        seeded: dict[str, Any] = dict(zip(names, drawn, strict=True))
        for name in self.splitters:
            splitter = copy.copy(self.model.get_params()[name])
            splitter.random_state, seeded[name] = seeded[name], splitter
        return seeded


def _splits_at_random(value: object) -> bool:
    """Whether a parameter is not an estimator and has a random_state: it splits data at random."""
    if isinstance(value, type) or hasattr(value, "get_params"):
        return False
    return hasattr(value, "random_state") and bool(getattr(value, "shuffle", True))


def _as_array(predictions: npt.ArrayLike) -> FloatArray:
    refuse_masked("predictions", predictions)
    return np.asarray(predictions)


# --- fits ---


class _Drawn(NamedTuple):
    """A training set of a run, and the warnings of its draw."""

    run: str
    number: int
    data: TrainingSet
    warned: list[FitWarning]


_last = threading.local()  # the training set drawn last in this thread


def forget_training() -> None:
    """Release the training set drawn last in this thread."""
    _last.__dict__.clear()


@dataclass(frozen=True, kw_only=True, eq=False)
class Fits:
    """All fits of a decomposition; called with the parameters of a cell, it makes one of them."""

    learner: Learner
    source: DataSource
    test: TestSet
    target: FloatArray  # of the predictions: (T,) or (T, outputs), one-hot for classes
    classes: Labels | None
    seed: int
    n_data: int
    n_noise: int
    n_init: int  # 1 for a deterministic learner
    requested_init: int
    requested_noise: int  # 1 unless given
    hidden_noise: bool  # labels have noise that no draw changes
    run: str  # of this object and its copies in workers alone

    @classmethod
    def of(
        cls,
        model: Any,
        source: DataSource,
        task: TaskName,
        *,
        seed: int,
        n_data: int,
        n_init: int,
        n_noise: int | None,
        default_noise: int = _N_NOISE,
    ) -> Self:
        """Validate the arguments of `decompose`; nothing is fitted yet."""
        learner, n_init = Learner.of(model), whole_number("n_init", n_init, 1)
        draws = whole_number("n_noise", default_noise if n_noise is None else n_noise, 1)
        classification = bool(learner.is_classifier) if task == "auto" else task == "classification"
        if classification and learner.is_classifier is False:
            raise ValueError(f"model must be a classifier for {task=}, got {type(model).__name__}")
        source._check(n_data, seed=seed, classification=classification)
        test = source.test(seed, classification=classification)
        classes = source._class_labels(seed) if classification else None
        return cls(
            learner=learner,
            source=source,
            test=test,
            target=_target(test, classes),
            classes=classes,
            seed=seed,
            n_data=n_data,
            n_noise=source._noise_draws(draws),
            n_init=1 if learner.is_deterministic else n_init,
            requested_init=n_init,
            requested_noise=n_noise or 1,
            hidden_noise=source._hides_noise(seed),
            run=uuid4().hex,
        )

    @property
    def indices(self) -> list[FitIndex]:
        """All fits, data set by data set."""
        draws = product(range(self.n_data), range(self.n_noise), range(self.n_init))
        return [FitIndex(*index) for index in draws]

    def __call__(self, parameters: Mapping[str, Any]) -> Record:
        """The record of a cell, which is one fit: its predictions and its warnings."""
        index = FitIndex(*(parameters[name] for name in FitIndex._fields))
        try:
            drawn = self._cached_training(index.data)
            with recorded_warnings() as messages:
                predictions = self.fit(index, drawn.data)
        except SystemExit as error:
            raise RuntimeError(f"the learner called sys.exit({error.code!r})") from None
        warned = [list(message) for message in (*drawn.warned, *messages)]
        return {"predictions": predictions, "warned": warned}

    def _cached_training(self, number: int) -> "_Drawn":
        """A training set; each thread keeps the last one it drew, for the next fit on it."""
        drawn: _Drawn | None = getattr(_last, "drawn", None)
        if drawn is None or (drawn.run, drawn.number) != (self.run, number):
            with recorded_warnings() as messages:
                data = self.training(number)
            drawn = _last.drawn = _Drawn(self.run, number, data, messages)
        return drawn

    def training(self, number: int) -> TrainingSet:
        """One of the training sets."""
        return self.source.training(
            number, n_noise=self.n_noise, seed=self.seed, classes=self.classes
        )

    def fit(self, index: FitIndex, data: TrainingSet) -> FloatArray:
        """One fit, and its predictions; copies of the data, since learners may work in place."""
        X, y, X_test = map(_copied, (data.X, data.y[index.noise], self.test.X))
        if self.classes is not None:
            _check_classes(y, self.classes)
        seed = init_seed(self.seed, index.init)
        predictions = self.learner.predictions(X, y, seed, X_test, self.classes)
        return checked_predictions(predictions, self.target.shape)


def checked_predictions(predictions: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Predictions as floats of a shape, or an error: they must be finite."""
    if _long_axes(predictions.shape) == _long_axes(shape):  # (T, 1) for (T,), or the reverse
        predictions = predictions.reshape(shape)
    if predictions.shape != shape:
        raise ValueError(f"predict must return shape {shape}, got {predictions.shape}")
    if predictions.dtype.kind not in "iufb":
        raise TypeError(f"predict must return numbers, got an array of {predictions.dtype}")
    predictions = predictions.astype(np.float64)
    bad = ~(np.abs(predictions) <= LARGEST)
    if bad.any():
        raise ValueError(
            f"predict must return finite numbers up to {LARGEST:g}, got {predictions[bad][0]} "
            f"at {int(bad.sum())} of {predictions.size} predictions"
        )
    return predictions


def _target(test: TestSet, classes: Labels | None) -> FloatArray:
    """The target of the predictions, one-hot for classes."""
    if classes is not None:
        if test.y.ndim != 1:
            raise ValueError(f"y must have one class for each row, got shape {test.y.shape}")
        if len(classes) < 2:
            raise ValueError(f"y must have 2 or more classes, got only {classes[0]!s}")
        return one_hot(test.y, classes)
    if test.y.dtype.kind not in "iufb":
        raise TypeError(
            f"y must be numbers for a regression, got {test.y.dtype}; classes need a classifier, "
            "or task='classification'"
        )
    return test.y.astype(np.float64)


def _copied(array: Inputs) -> Inputs:
    return array.copy() if hasattr(array, "copy") else copy.deepcopy(array)


def _long_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes longer than one."""
    return tuple(length for length in shape if length != 1)


def _check_classes(y: Labels, classes: Labels) -> None:
    """Raise unless a training set has two classes or more, all of them known."""
    seen = np.unique(y)
    if len(seen) < 2:
        raise ValueError(
            f"a training set must have 2 or more classes, got only {seen[0]!s}; a larger n_samples "
            "makes that unlikely"
        )
    if unknown := sorted({str(c) for c in seen} - {str(c) for c in classes}):
        raise ValueError(f"classes must have every label, got {', '.join(unknown)} beside them")


# --- warnings ---

_lock = threading.Lock()
_own = threading.local()  # the record of the fit in this thread
_recording = 0
_restore: Callable[..., object] | None = None


@contextmanager
def recorded_warnings() -> Iterator[list[FitWarning]]:
    """Record the warnings of this thread instead of showing them; filters of the user apply.

    Filters belong to the whole process, and fits may run in several of its threads: the first to
    enter installs the record, the last to leave removes it.
    """
    global _recording, _restore
    messages: list[FitWarning] = []
    with _lock:
        if _recording == 0:
            context = warnings.catch_warnings()
            context.__enter__()
            warnings.simplefilter("always", append=True)
            warnings.showwarning = _recorder(warnings.showwarning)
            _restore = context.__exit__
        _recording += 1
    _own.messages = messages
    try:
        yield messages
    finally:
        _own.messages = None
        with _lock:
            _recording -= 1
            if _recording == 0 and _restore is not None:
                _restore(None, None, None)


def _recorder(show: Callable[..., None]) -> Callable[..., None]:
    """A function that records the warnings of fits, and shows all others."""

    def record(
        message: Warning | str, category: type[Warning], *where: object, **options: object
    ) -> None:
        messages = getattr(_own, "messages", None)
        if messages is None:
            show(message, category, *where, **options)
        else:
            messages.append(FitWarning(category.__name__, str(message)))

    return record


def summarized_warnings(warned: Sequence[Sequence[FitWarning]]) -> str:
    """One line for the warnings of all fits, the most frequent first; "" if there are none.

    >>> summarized_warnings([[FitWarning("UserWarning", "not converged")], []])
    '1 of 2 fits warned: UserWarning: not converged'
    """
    counts: Counter[str] = Counter()
    for messages in warned:
        counts.update({f"{category}: {_shortened(text)}" for category, text in messages})
    if not counts:
        return ""
    frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [
        text + (f" ({count} fit{'s' if count > 1 else ''})" if len(counts) > 1 else "")
        for text, count in frequent[:_SHOWN]
    ]
    more = len(counts) - len(shown)
    rest = f"; and {more} other warning{'s' if more > 1 else ''}" if more else ""
    total = sum(map(bool, warned))
    return f"{total} of {len(warned)} fits warned: {'; '.join(shown)}{rest}"


def _shortened(message: str) -> str:
    """A message on one line of bounded length, without a full stop."""
    text = " ".join(message.split())
    return text.rstrip(".") if len(text) <= _LONGEST_WARNING else f"{text[:_LONGEST_WARNING]}…"
