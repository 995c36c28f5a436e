"""Fits, one by one: what a worker does, and what came of it.

A fit that fails stops no other. What it raised, or what is wrong with its predictions, is kept with
the data set, the noise draw and the initialization it belongs to.
"""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.decomposition import LARGEST
from doubletrouble.learners._lending import Lent
from doubletrouble.learners._model import LearnerModel
from doubletrouble.learners._samples import Labels
from doubletrouble.learners._seeds import init_seed
from doubletrouble.learners._source import DataSource
from doubletrouble.parameters import FloatArray

REVISION = 1  # of what the numbers mean; count up when draws or definitions change

_lock = threading.Lock()
_silent = 0  # fits that run without warnings
_restore: Callable[..., object] | None = None


class FitIndex(NamedTuple):
    """Which fit: of which data set, with which draw of noise, from which initialization."""

    data: int
    noise: int
    init: int


class Failure(NamedTuple):
    """A fit that came to nothing."""

    fit: FitIndex
    seed: int
    message: str

    def __str__(self) -> str:
        """As it is told."""
        d, n, k = self.fit
        where = f"data set {d}, noise draw {n}, initialization {k} (seed {self.seed})"
        return f"{where}: {self.message}"


class Drawn(NamedTuple):
    """A training set on which several fits are made."""

    lent: Lent
    y: tuple[Labels, ...]  # for every draw of noise


@dataclass(frozen=True, kw_only=True, eq=False)
class Fits:
    """All that fits have in common; called with a data set, it fits some of them."""

    model: LearnerModel
    source: DataSource
    lent: Lent  # the test inputs
    shared: bool  # whether fits run in this process at the same time
    shape: tuple[int, ...]  # of the predictions: (T,) or (T, outputs)
    classes: Labels | None
    n_noise: int
    seed: int

    def __call__(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The work of a cell: `data`, and the `places` (noise, init) of its fits.

        A single fit that fails raises: the cell has failed, and may be tried again.
        """
        indices = [FitIndex(parameters["data"], n, k) for n, k in parameters["places"]]
        if len(indices) == 1:
            return {"predictions": [self.fit(indices[0])], "failed": []}
        found: list[FloatArray] = []
        failures = self.fit_all(indices, lambda _, predictions: found.append(predictions))
        return {"predictions": found, "failed": [[list(f.fit), f.message] for f in failures]}

    def failure(self, index: FitIndex, message: str) -> Failure:
        """A fit that came to nothing, with its seed."""
        return Failure(index, init_seed(self.seed, index.init), message)

    def drawn(self, number: int) -> "Drawn":
        """One of the training sets."""
        found = self.source.training(
            number, n_noise=self.n_noise, seed=self.seed, classes=self.classes
        )
        return Drawn(Lent(found.X), found.y)

    def fit_all(
        self, indices: Sequence[FitIndex], keep: Callable[[FitIndex, FloatArray], None],
        step: Callable[[], object] = lambda: None,
    ) -> list[Failure]:  # fmt: skip
        """Fits on one data set; predictions go to `keep`, NaN where a fit failed."""
        failures = []
        training: Drawn | None = None
        with _warnings_of(indices[0]):  # the filters are set once for all
            for index in indices:
                try:
                    training = training or self.drawn(index.data)
                    predictions = self.fit(index, training)
                except Exception as error:  # noqa: BLE001 (the next fit must run)
                    failures.append(self.failure(index, f"{type(error).__name__}: {error}"))
                    predictions = np.full(self.shape, np.nan)
                keep(index, predictions)
                step()
        return failures

    def fit(self, index: FitIndex, training: "Drawn | None" = None) -> FloatArray:
        """One fit, and what it predicts."""
        training = training or self.drawn(index.data)
        y, seed = training.y[index.noise], init_seed(self.seed, index.init)
        if self.classes is not None:
            _check_classes(y, self.classes)
        with _warnings_of(index):
            X, X_test = training.lent.lend(shared=False), self.lent.lend(shared=self.shared)
            try:
                found = self.model.predictions(X, y.copy(), seed, X_test, self.classes)
            finally:
                self.lent.look()
                training.lent.look()
        if _long(found.shape) == _long(self.shape):  # (T, 1) for (T,), or the other way round
            found = found.reshape(self.shape)
        if found.shape != self.shape:
            raise ValueError(f"predict must return shape {self.shape}, got {found.shape}")
        if found.dtype.kind not in "iufb":
            raise TypeError(f"predict must return numbers, got an array of {found.dtype}")
        found = found.astype(np.float64)
        bad = ~(np.abs(found) <= LARGEST)
        if bad.any():
            raise ValueError(
                f"predict must return finite numbers up to {LARGEST:g}, got {found[bad][0]} at "
                f"{int(bad.sum())} of {found.size} predictions"
            )
        return found


@contextmanager
def _warnings_of(index: FitIndex) -> Iterator[None]:
    """What a learner warns of, it warns of once: in the first fit of all.

    Filters belong to the whole process, and fits may share it with others: the first to enter
    silences them, the last to leave brings them back.
    """
    global _silent, _restore
    if index == (0, 0, 0):
        yield
        return
    with _lock:
        if _silent == 0:
            caught = warnings.catch_warnings()
            caught.__enter__()
            warnings.simplefilter("ignore")
            _restore = caught.__exit__
        _silent += 1
    try:
        yield
    finally:
        with _lock:
            _silent -= 1
            if _silent == 0 and _restore is not None:
                _restore(None, None, None)


def _long(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes longer than one."""
    return tuple(length for length in shape if length != 1)


def _check_classes(y: Labels, classes: Labels) -> None:
    """A training set must have two classes, and none that is not known."""
    seen = np.unique(y)
    if len(seen) < 2:
        raise ValueError(
            f"a training set must have 2 or more classes, got only {seen[0]!s}; a larger n_train "
            "makes that unlikely"
        )
    if unknown := sorted({str(c) for c in seen} - {str(c) for c in classes}):
        raise ValueError(f"classes must hold every label, got {', '.join(unknown)} beside them")
