"""What is fitted: a scikit-learn estimator, cloned and seeded, or a function of the user's."""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from doubletrouble.errors import require
from doubletrouble.learners._samples import Labels, one_hot
from doubletrouble.parameters import FloatArray

_SEEDS = ("random_state", "random_seed", "seed")

Predict = Callable[[Any], Any]
SeededFit = Callable[[Any, Any, int], Predict]


class LearnerModel(Protocol):
    """A learner: fits data from a seed, and predicts."""

    @property
    def is_deterministic(self) -> bool:
        """Whether it has no seed."""
        ...

    @property
    def is_classifier(self) -> bool | None:
        """Whether it predicts classes; None if that is not known."""
        ...

    @property
    def note(self) -> str:
        """What a reader must know of it."""
        ...

    def predictions(
        self, X: Any, y: Labels, seed: int, X_test: Any, classes: Labels | None
    ) -> FloatArray:
        """What it predicts at the test points: numbers, or probabilities of `classes`."""
        ...


def as_model(model: Any) -> LearnerModel:
    """An estimator with fit and predict, or a function fit(X, y, seed) -> predict."""
    if isinstance(model, type):
        raise TypeError(f"model must be an estimator, not a class; got {model.__name__}")
    if hasattr(model, "fit") and hasattr(model, "get_params"):
        return Estimator(model)
    if callable(model):
        return FitFunction(model)
    raise TypeError(
        "model must be a scikit-learn estimator or a function fit(X, y, seed) -> predict, "
        f"got {type(model).__name__}"
    )


class Estimator:
    """A scikit-learn estimator or pipeline."""

    def __init__(self, estimator: Any) -> None:
        base = require("sklearn.base", "estimators")
        self._clone = base.clone
        self._estimator = base.clone(estimator)
        self.is_classifier = bool(base.is_classifier(estimator))
        held = estimator.get_params(deep=True)
        self._seeds = sorted(name for name in held if name.rpartition("__")[2] in _SEEDS)
        self._splitters = sorted(name for name, value in held.items() if _draws_splits(value))
        self.is_deterministic = not (self._seeds or self._splitters)
        self.note = ""
        if self.is_classifier and not hasattr(estimator, "predict_proba"):
            self.note = (
                f"{type(estimator).__name__} has no predict_proba: the class it predicts counts as "
                "certain."
            )

    def predictions(
        self, X: Any, y: Labels, seed: int, X_test: Any, classes: Labels | None
    ) -> FloatArray:
        """Clone, seed, fit, predict."""
        model = self._clone(self._estimator)
        model.set_params(**self._seeded(seed))
        model.fit(X, y)
        if classes is None:
            return np.asarray(model.predict(X_test))
        if not hasattr(model, "predict_proba"):
            return one_hot(np.asarray(model.predict(X_test)), classes)
        found = np.zeros((X_test.shape[0], len(classes)))
        known = np.searchsorted(classes, model.classes_)  # a class it never saw has probability 0
        found[:, known] = model.predict_proba(X_test)
        return found

    def _seeded(self, seed: int) -> dict[str, Any]:
        """The seed itself for the only random_state, and one of its own for each of several."""
        names = [*self._seeds, *self._splitters]
        if len(names) == 1 and self._seeds:
            return {names[0]: seed}
        drawn = np.random.default_rng(seed).integers(2**31, size=len(names)).tolist()
        found: dict[str, Any] = dict(zip(names, drawn, strict=True))
        for name in self._splitters:
            found[name], number = copy(self._estimator.get_params()[name]), found[name]
            found[name].random_state = number
        return found


def _draws_splits(value: Any) -> bool:
    """Whether something is no estimator and has a random_state: it divides data at random."""
    if isinstance(value, type) or hasattr(value, "get_params"):
        return False
    return hasattr(value, "random_state") and bool(getattr(value, "shuffle", True))


@dataclass(frozen=True, eq=False)
class FitFunction:
    """A function fit(X, y, seed) that returns a function predict(X)."""

    fit: SeededFit
    is_deterministic: bool = False
    is_classifier: bool | None = None
    note: str = ""

    def __post_init__(self) -> None:
        try:
            inspect.signature(self.fit).bind(None, None, 0)
        except TypeError as error:
            raise TypeError(
                f"model must be a function fit(X, y, seed) -> predict: {error}"
            ) from None
        except ValueError:  # built-in functions do not tell
            pass

    def predictions(
        self, X: Any, y: Labels, seed: int, X_test: Any, classes: Labels | None
    ) -> FloatArray:
        """Fit, then predict; tensors become arrays."""
        predict = self.fit(X, y, seed)
        if not callable(predict):
            raise TypeError(f"fit must return a function predict(X), got {type(predict).__name__}")
        found = predict(X_test)
        if hasattr(found, "detach"):  # a tensor of torch
            found = found.detach().cpu().numpy()
        return np.asarray(found)
