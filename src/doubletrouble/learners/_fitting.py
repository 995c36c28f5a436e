"""Fits of a learner: seeded, on some rows, predicting others; here, in workers, or from a store.

A learner is an estimator or a function. A fit that fails does not stop the others. Warnings of a
fit are recorded and returned with its predictions, also by worker processes, and are reported once
for all fits. Every fit is a cell of its own: one that kills its worker takes no other with it, and
with a store each is stored when it is done.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
)

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import SweepInterrupted, require
from doubletrouble.learners._components import LARGEST
from doubletrouble.learners._sources import Inputs, one_hot
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray, Labels, check_choice, check_flag, refuse_masked
from doubletrouble.runs import (
    DONE,
    Cell,
    ProgressBar,
    Record,
    Start,
    Store,
    ThisProcess,
    decode,
    digest,
    one_thread,
    run_cells,
)

REVISION = 1  # of the definition of the fits; count up when draws or definitions change

TaskName: TypeAlias = Literal["auto", "regression", "classification"]

_SEED_NAMES = ("random_state", "random_seed", "seed")
_SHOWN = 3  # failures and warnings in a message
_LONGEST_WARNING = 200


# --- learners ---


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """A scikit-learn estimator, or a function `fit(X, y, seed)` that returns `predict(X)`."""

    model: Any  # an unfitted clone of the estimator, or the function
    clone: Callable[[Any], Any] | None = None  # an unfitted copy of an estimator
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
        return cls(model=model)

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        base = require("sklearn.base", "estimators")
        parameters = estimator.get_params(deep=True)
        return cls(
            model=base.clone(estimator),
            clone=base.clone,
            is_classifier=bool(base.is_classifier(estimator)),
            seeds=tuple(sorted(k for k in parameters if k.rpartition("__")[2] in _SEED_NAMES)),
            splitters=tuple(sorted(k for k, v in parameters.items() if _splits_at_random(v))),
        )

    @property
    def is_deterministic(self) -> bool:
        """Whether it is an estimator without a seed."""
        return self.clone is not None and not (self.seeds or self.splitters)

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
        if classes is not None:
            _check_classes(y, classes)
        if self.clone is None:
            return self._by_function(X, y, seed, X_test)
        model = self.clone(self.model)
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


def is_classification(
    learners: Mapping[str, Learner], task: TaskName, measure: LearnerMeasure
) -> bool:
    """Whether labels are classes: by the task, or by the first of the learners.

    ValueError for a regressor of classes, for a classifier unless `task` is a regression, and for a
    measure that a regression does not have. Keys are the names of the learners in messages.
    """
    check_choice("task", task, get_args(TaskName))
    check_choice("measure", measure, get_args(LearnerMeasure))
    first = next(iter(learners.values()))
    classification = bool(first.is_classifier) if task == "auto" else task == "classification"
    for name, learner in learners.items():
        wrong = learner.is_classifier is (not classification)
        if wrong and (classification or task == "auto"):
            kind = "classifier" if classification else "regressor"
            raise ValueError(f"{name} must be a {kind}, got {type(learner.model).__name__}")
    if measure != "squared" and not classification:
        raise ValueError(f"measure must be squared for regression, got {measure!r}")
    return classification


def _splits_at_random(value: object) -> bool:
    """Whether a parameter is not an estimator and has a random_state: it splits data at random."""
    if isinstance(value, type) or hasattr(value, "get_params"):
        return False
    return hasattr(value, "random_state") and bool(getattr(value, "shuffle", True))


def _as_array(predictions: npt.ArrayLike) -> FloatArray:
    if isinstance(predictions, np.ma.MaskedArray):
        refuse_masked("predictions", predictions)
    return np.asarray(predictions)


def as_target(y: Labels, classes: Labels | None) -> FloatArray:
    """Labels as the target of predictions, one-hot for classes."""
    if classes is not None:
        if y.ndim != 1:
            raise ValueError(f"y must have one class for each row, got shape {y.shape}")
        if len(classes) < 2:
            raise ValueError(f"y must have 2 or more classes, got only {classes[0]!s}")
        return one_hot(y, classes)
    if y.dtype.kind not in "iufb":
        raise TypeError(
            f"y must be numbers for a regression, got {y.dtype}; classes need a classifier, or "
            "task='classification'"
        )
    return y.astype(np.float64)


def _check_classes(y: Labels, classes: Labels) -> None:
    """Raise unless a training set has two classes or more, all of them known."""
    seen = np.unique(y)
    if len(seen) < 2:
        raise ValueError(
            f"a training set must have 2 or more classes, got only {seen[0]!s} in {len(y)} rows; "
            "larger training sets make that unlikely"
        )
    if unknown := sorted({str(c) for c in seen} - {str(c) for c in classes}):
        raise ValueError(f"classes must have every label, got {', '.join(unknown)} beside them")


def _checked(predictions: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Predictions as floats of a shape, or an error: they must be finite."""
    if predictions.shape != shape:
        if predictions.squeeze().shape == np.empty(shape).squeeze().shape:
            predictions = predictions.reshape(shape)  # (T, 1) for (T,), or the reverse
        else:
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


# --- fits ---


class FitKey(Protocol):
    """What tells a fit from the others of a run: a named tuple of numbers."""

    @property
    def place(self) -> str:
        """The training set and the draws, in words."""

    def _asdict(self) -> dict[str, Any]: ...


Key = TypeVar("Key", bound=FitKey)


class Failure(NamedTuple):
    """A fit that failed."""

    fit: Any  # its key
    seed: int
    message: str

    @property
    def place(self) -> str:
        """The training set, the draws and the seed."""
        return f"{self.fit.place} (seed {self.seed})"

    def __str__(self) -> str:
        """The place and the message."""
        return f"{self.place}: {self.message}"


def listed_failures(failures: Sequence[Failure]) -> str:
    """The places of fits that failed, the first ones with each message."""
    places: dict[str, list[str]] = {}
    for failure in failures:
        places.setdefault(failure.message, []).append(failure.place)
    shown = [
        f"{', '.join(some[:_SHOWN])}{', ...' if len(some) > _SHOWN else ''}: {message}"
        for message, some in list(places.items())[:_SHOWN]
    ]
    return "; ".join([*shown, "..."] if len(places) > _SHOWN else shown)


class FitWarning(NamedTuple):
    """A warning of a fit."""

    category: str
    message: str


class FitRows(NamedTuple):
    """What one fit is made of."""

    X: Inputs
    y: Labels
    X_test: Inputs
    seed: int
    shape: tuple[int, ...]  # of the predictions
    warned: Sequence[FitWarning] = ()  # when the rows were drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnerFits(ABC, Generic[Key]):
    """The fits of one learner; called with the fields of a key, it makes one of them."""

    key: ClassVar[Callable[..., Any]]
    kind: ClassVar[str]  # of their cells

    learner: Learner
    classes: Labels | None

    @abstractmethod
    def rows(self, key: Key) -> FitRows:
        """The rows a fit is trained on, and those it predicts: the learner's own copies."""

    @abstractmethod
    def seed_of(self, key: Key) -> int:
        """The seed of the learner."""

    @abstractmethod
    def contents(self, name: str | None) -> list[object]:
        """What identifies the data in a store; those without a hash have a name."""

    @abstractmethod
    def described(self, key: Key) -> dict[str, object]:
        """What tells a stored fit from others of the same learner and data, beside its key."""

    def __call__(self, parameters: Mapping[str, Any]) -> Record:
        """The predictions of a fit, and its warnings."""
        key = self.key(**parameters)
        try:
            rows = self.rows(key)
            with recorded_warnings() as messages:
                predictions = self.learner.predictions(
                    rows.X, rows.y, rows.seed, rows.X_test, self.classes
                )
        except SystemExit as error:
            raise RuntimeError(f"the learner called sys.exit({error.code!r})") from None
        return {
            "predictions": _checked(predictions, rows.shape),
            "warned": [*map(list, rows.warned), *map(list, messages)],
        }

    def identity(self, name: str | None) -> str:
        """The learner, the data and the name in the key of a stored fit.

        Learners and sources are identified by their content, where it can be hashed, and need a
        name otherwise.
        """
        return digest([name, content_hash(self.learner.model, name), *self.contents(name)])

    def cell(self, key: Key, identity: str) -> Cell:
        """The cell of a fit; its key does not depend on the number of others."""
        described = self.described(key) if identity else {}
        fields = {"identity": identity, **described, **key._asdict()}
        return Cell.of(self.kind, REVISION, fields)

    def failure(self, key: Key, message: str) -> Failure:
        """A fit that failed, with its seed."""
        return Failure(key, self.seed_of(key), message)


@dataclass(frozen=True, kw_only=True, eq=False)
class FitRunner:
    """Where fits are stored, and where they run: one after the other, or in parallel."""

    store: Path | None
    name: str | None  # of the learner and the data in the store
    start: Start
    progress: bool

    def __post_init__(self) -> None:
        check_flag("progress", self.progress)
        if not (self.name is None or (isinstance(self.name, str) and self.name)):
            raise ValueError(f"name must be a string that is not empty, got {self.name!r}")

    def run(
        self, fits: LearnerFits[Key], keys: Sequence[Key], bar: ProgressBar
    ) -> Generator[tuple[Key, FloatArray | str, list[FitWarning]]]:
        """Every fit with its predictions, or the message of its failure, and its warnings."""
        if self.start is ThisProcess and self.store is None:
            yield from _fits_here(fits, keys, bar)
            return
        identity = "" if self.store is None else fits.identity(self.name)
        key_of = {fits.cell(key, identity).key: key for key in keys}
        cells = [Cell(key=cell, parameters=key._asdict()) for cell, key in key_of.items()]
        try:
            with nullcontext() if self.store is None else Store.open(self.store) as opened:
                for cell, outcome in run_cells(
                    cells,
                    fits,
                    opened,
                    self.start,
                    retry=True,
                    progress=False,
                ):
                    bar.update()
                    if outcome.status != DONE:
                        yield key_of[cell.key], outcome.message, []
                    else:
                        yield key_of[cell.key], *_read(decode(outcome.result))
        except SweepInterrupted:
            if self.store is None:
                raise KeyboardInterrupt from None
            message = f"stopped; the finished fits are in {self.store}: call again to continue"
            raise SweepInterrupted(message) from None


def _fits_here(
    fits: LearnerFits[Key], keys: Sequence[Key], bar: ProgressBar
) -> Generator[tuple[Key, FloatArray | str, list[FitWarning]]]:
    """The fits one after the other, without cells: these cost a sixth of a fit of 2 ms."""
    with one_thread():
        for key in keys:
            try:
                record = fits(key._asdict())
            except Exception as error:  # noqa: BLE001 (the next fit must run)
                yield key, f"{type(error).__name__}: {error}", []
            else:
                yield key, *_read(record)
            bar.update()


def _read(record: Record) -> tuple[FloatArray, list[FitWarning]]:
    """The predictions of a fit, and its warnings."""
    return record["predictions"], [FitWarning(*pair) for pair in record["warned"]]


# --- identity of stored fits ---


def data_hash(content: object) -> str:
    """A hash of arrays and tables."""
    return str(require("joblib", "runs").hash(content, hash_name="sha1"))


def content_hash(content: object, name: str | None) -> str | None:
    """A hash of a learner or a source; None for one that has a name and cannot be hashed."""
    try:
        _ContentPickler(BytesIO(), protocol=5, buffer_callback=lambda _: None).dump(content)
        return data_hash(content)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        if name is not None:
            return None
        raise ValueError(
            "name must be given to store fits of a learner or source that cannot be hashed: "
            f"{error}"
        ) from error


class _ContentPickler(pickle.Pickler):
    """A pickler that raises PicklingError for functions and classes that cannot be imported."""

    def reducer_override(self, obj: object) -> Any:
        """Raise PicklingError for a lambda, a local function or one of the main module."""
        if isinstance(obj, FunctionType | type) and (
            obj.__module__ == "__main__" or "<" in obj.__qualname__
        ):
            raise pickle.PicklingError(f"{obj.__qualname__} is not defined in a module")
        return NotImplemented


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
