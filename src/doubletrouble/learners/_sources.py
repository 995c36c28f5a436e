r"""Sources of training sets: a function that draws them, or a pool of rows that exist.

Every draw has a seed of its own, which does not depend on the number of other draws: more data
sets, noise draws or initializations leave the earlier ones unchanged, and stored fits remain valid.

Training sets drawn from a pool with replacement are not independent data sets. A bootstrap sample
of n has about 63% distinct rows: a learner that interpolates n samples then interpolates at
0.63 n, and every resample shares the noise and the inputs of the one set it came from, so that
their effects are in "bias".
"""

from __future__ import annotations  # help() then shows names, not their definitions

import inspect
import math
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble._numbers import plain
from doubletrouble.parameters import (
    FloatArray,
    Labels,
    check_choice,
    number,
    refuse_masked,
    whole_number,
)

Index: TypeAlias = npt.NDArray[np.intp]
Inputs: TypeAlias = Any
"""Inputs of which rows can be taken: an array, a DataFrame or a sparse matrix."""
LabelsLike: TypeAlias = Any
"""Labels of a source: given as array_like, kept as `Labels`."""
SampleFunction: TypeAlias = Callable[[np.random.Generator, int], tuple[Inputs, npt.ArrayLike]]
_SAMPLE = "sample must be a function sample(rng, n) that returns X, y"
Noise: TypeAlias = float | Callable[[np.random.Generator, Labels], Labels]
"""A standard deviation, a share of flipped classes, or a function rng, y -> noisy y."""
Resampling: TypeAlias = Literal["disjoint", "subsample", "bootstrap"]
RESAMPLING: dict[Resampling, str] = {
    "disjoint": "",
    "subsample": (
        "resampling='subsample' draws training sets that share rows: they are not independent, "
        "and sampling is underestimated"
    ),
    "bootstrap": (
        "resampling='bootstrap' draws with replacement: a training set has about 63% distinct "
        "rows, which moves an interpolation peak by that factor, and effects that all resamples "
        "share are in bias; resampling='disjoint' has neither problem"
    ),
}

_TEST, _DATA, _NOISE, _INIT = range(4)  # kinds of draws
_TEST_SHARE, _LEAST_TEST_SHARE, _MOST_TEST = 0.25, 0.1, 1000  # for testing, by default
_FEWEST_SETS, _SETS = 3, 20  # of training data: the fewest with a standard error, and the default


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator of one draw: its kind, and its number."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


@cache
def init_seed(seed: int, number: int) -> int:
    """The seed of an initialization, as scikit-learn and others accept it.

    >>> init_seed(0, 1) == init_seed(0, 1), init_seed(0, 1) == init_seed(0, 2)
    (True, False)
    """
    return int(generator(seed, _INIT, number).integers(2**31))


# --- samples and labels ---


@dataclass(frozen=True, kw_only=True, eq=False)
class TestSet:
    """The shared test points.

    Parameters
    ----------
    X : array or DataFrame of shape (T, ...)
        Inputs.
    y : array of shape (T,) or (T, outputs)
        Labels.
    is_truth : bool
        Whether labels have no noise.
    noise : float or array of shape (T,) or None, default: None
        The standard deviation of the noise, where it is known.
    index : array of shape (T,) or None, default: None
        The labels of the rows; None for their numbers.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> source = dt.PoolSource(np.eye(8), np.arange(8.0), n_samples=2, n_test=4, noise=0.5)
    >>> points = source.test(seed=0, classification=False)
    >>> points.X.shape, points.is_truth, points.noise
    ((4, 8), False, 0.5)
    """

    __test__ = False  # not a test of pytest

    X: Inputs
    y: Labels
    is_truth: bool
    noise: float | FloatArray | None = None
    index: Labels | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSet:
    """Inputs, and a version of their labels for each draw of noise.

    Parameters
    ----------
    X : array or DataFrame of shape (N, ...)
        Inputs.
    y : tuple of arrays of shape (N,) or (N, outputs)
        Labels, one array for each draw of noise.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> source = dt.GeneratorSource(lambda rng, n: (rng.normal(size=(n, 3)), np.zeros(n)), 5, 1.0)
    >>> drawn = source.training(0, n_noise=2, seed=0, classes=None)
    >>> drawn.X.shape, len(drawn.y)
    ((5, 3), 2)
    """

    X: Inputs
    y: tuple[Labels, ...]


def take_rows(X: Inputs, index: Index) -> Inputs:
    """Some rows of an array, a DataFrame or a sparse matrix."""
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def as_inputs(name: str, X: Inputs) -> Inputs:
    """Inputs of which rows can be taken; lists become arrays."""
    _refuse_masked_items(name, X)
    if isinstance(X, Sequence) and not isinstance(X, str):
        try:
            X = np.asarray(X)
        except ValueError:
            raise ValueError(f"{name} must have rows of equal length, got unequal ones") from None
    if hasattr(X, "tocsr"):  # rows cannot be taken from every sparse matrix
        X = X.tocsr()
    if not (hasattr(X, "shape") and len(X.shape) >= 1):
        raise TypeError(f"{name} must be an array or a DataFrame, got {type(X).__name__}")
    return X


def as_labels(name: str, y: npt.ArrayLike, count: int) -> Labels:
    """Labels as an array of one type, one for each row, without NaN."""
    _refuse_masked_items(name, y)
    listed = isinstance(y, list | tuple)
    array = np.asarray(y, dtype=object) if listed else np.asarray(y)
    if array.dtype.kind == "O":
        kinds = sorted({_kind(label) for label in array.flat})
        if len(kinds) > 1:
            raise TypeError(f"{name} must have labels of one type, got {' and '.join(kinds)}")
        if kinds in (["NoneType"], ["NAType"], ["NaTType"]):
            raise TypeError(f"{name} must have no missing label, got {kinds[0]}")
        if listed or kinds == ["number"]:  # pandas has columns of numbers as objects
            array = np.array(array.tolist())
    if array.ndim not in (1, 2) or len(array) != count:
        raise ValueError(
            f"{name} must have a label for each of {count} rows, got shape {array.shape}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} must be finite, got {float(array[tuple(bad)])} at index {int(bad[0])}"
        )
    return array


def as_groups(groups: npt.ArrayLike, count: int, *, fewest: int = 2) -> Labels:
    """The group of each row."""
    array = as_labels("groups", groups, count)
    if array.ndim != 1:
        raise ValueError(f"groups must have one group for each row, got shape {array.shape}")
    if (known := len(np.unique(array))) < fewest:
        raise ValueError(f"groups must have {fewest} or more groups, got {known}")
    return array


def numbers_of(X: Inputs) -> npt.NDArray[np.generic] | None:
    """Inputs as an array of numbers, whose rows can be compared; None for others."""
    array = X.to_numpy() if hasattr(X, "to_numpy") else X
    return array if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" else None


def _refuse_masked_items(name: str, value: object) -> None:
    """Raise TypeError for masked elements, also of the items of a list."""
    refuse_masked(name, value)
    if isinstance(value, list | tuple):
        for item in value:
            _refuse_masked_items(name, item)


def _kind(label: object) -> str:
    if isinstance(label, bool | np.bool_):
        return "bool"
    return "number" if isinstance(label, Real) else type(label).__name__


def one_hot(y: Labels, classes: Labels) -> FloatArray:
    """Class labels as probabilities, (n, classes).

    >>> one_hot(np.array(["b", "a"]), np.array(["a", "b"]))
    array([[0., 1.],
           [1., 0.]])
    """
    return np.asarray(y[:, None] == classes[None, :], dtype=np.float64)


def _check_noise(name: str, noise: Noise) -> None:
    if not callable(noise):
        number(name, noise, glossary.NOISE)


def noisy(y: Labels, noise: Noise, rng: np.random.Generator, classes: Labels | None) -> Labels:
    """Labels with a draw of noise on them; with `classes`, labels are classes.

    >>> rng = np.random.default_rng(0)
    >>> noisy(np.array(["a", "a"]), 1.0, rng, np.array(["a", "b"])).tolist()
    ['b', 'b']
    """
    if callable(noise):
        drawn = noise(rng, y)
        refuse_masked("labels of noise", drawn)
        labels = np.asarray(drawn)
        if labels.shape != y.shape:
            raise ValueError(
                f"noise must return labels of shape {y.shape}, got shape {labels.shape}"
            )
        return labels
    if classes is None:
        return y + noise * rng.standard_normal(y.shape)
    number("noise", noise, glossary.LABEL_FLIPS)
    index = np.searchsorted(classes, y)
    others = (index + rng.integers(1, max(2, len(classes)), len(y))) % len(classes)
    return np.where(rng.random(len(y)) < noise, classes[others], y)


# --- sources ---


class DataSource(ABC):
    """A test set and training sets, all drawn anew for every seed."""

    n_samples: int  # the rows of each training set
    most_data: float = math.inf  # the largest number of training sets
    injected: float | None = None  # the variance of the labels' own noise over that added, if known

    @property
    @abstractmethod
    def is_noiseless(self) -> bool:
        """Whether labels have no noise, and none is added."""

    @abstractmethod
    def test(self, seed: int, *, classification: bool) -> TestSet:
        """The test set; of repeated labels, their mean and the noise of this mean.

        Parameters
        ----------
        seed : int
            The seed of all draws.
        classification : bool
            Whether labels are classes, which are not averaged.

        Returns
        -------
        TestSet
            `n_test` points.

        Raises
        ------
        ValueError
            If a function `sample` does not return as many rows and labels as requested.
        TypeError
            If it does not return a pair of inputs and labels.
        """

    def training(
        self, number: int, *, n_noise: int, seed: int, classes: Labels | None
    ) -> TrainingSet:
        """One of the training sets, with some draws of noise on its labels.

        Parameters
        ----------
        number : int
            The index of the training set, from 0.
        n_noise : int
            The versions of the labels; those without noise have one.
        seed : int
            The seed of all draws.
        classes : array or None
            All classes of a classification; None for a regression.

        Returns
        -------
        TrainingSet
            `n_samples` rows.

        Raises
        ------
        ValueError
            If a function `sample` or `noise` does not return as many rows and labels as requested.
        TypeError
            If `sample` does not return a pair of inputs and labels.
        """
        X, y, known = self._rows(number, n_noise, seed)
        if (noise := self._added) is None:
            return TrainingSet(X=X, y=known)
        draws = (generator(seed, _NOISE, number, n) for n in range(n_noise - len(known)))
        return TrainingSet(X=X, y=(*known, *(noisy(y, noise, rng, classes) for rng in draws)))

    @property
    @abstractmethod
    def _added(self) -> Noise | None:
        """The noise that is added to training labels."""

    @abstractmethod
    def _rows(
        self, number: int, n_noise: int, seed: int
    ) -> tuple[Inputs, Labels, tuple[Labels, ...]]:
        """A training set: its inputs, its labels, and their versions without added noise."""

    @abstractmethod
    def _class_labels(self, seed: int) -> Labels:
        """All classes of the labels."""

    @abstractmethod
    def _hides_noise(self, seed: int) -> bool:
        """Whether labels have noise of unknown size that no draw changes."""

    def _noise_draws(self, n_noise: int) -> int:
        """The number of versions of the labels of a training set."""
        return 1 if self._added is None else n_noise

    def _with_default_sets(self, seed: int) -> tuple[DataSource, int]:
        """The source, and the number of its training sets, where none is given."""
        return self, _SETS

    @abstractmethod
    def _check(self, n_data: int, *, seed: int, classification: bool) -> None:
        """Raise ValueError for data that do not suffice, or noise that classes do not have."""

    @abstractmethod
    def _notes(self, n_noise: int, *, n_data: int, seed: int, hidden: bool) -> list[str]:
        """Notes on what each part contains."""


@dataclass(frozen=True, eq=False)
class GeneratorSource(DataSource):
    """Data that a function draws, with label noise added to the training sets.

    All training sets share one test set with clean labels. Noise that `sample` itself adds to the
    labels is not separated from sampling and bias; the result has a note where the noise is not
    drawn from `rng`.

    Parameters
    ----------
    sample : callable
        A function `sample(rng, n)` that returns n rows `X` and their clean labels `y`. It must draw
        everything from `rng`: inputs that differ between two calls with the same state of `rng`
        raise ValueError.
    n_samples : int
        The rows of each training set, at least 1.
    noise : float or callable, default: 0.0
        The standard deviation of the label noise; for class labels, the share in [0, 1] that is
        replaced by another class drawn at random; or a function `noise(rng, y)` that returns noisy
        labels.
    n_test : int, default: 1000
        The number of test points, at least 1.
    classes : array_like or None, default: None
        The classes of the labels; None for those of the test set.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> def sample(rng, n):
    ...     X = rng.standard_normal((n, 3))
    ...     return X, X[:, 0] ** 2
    >>> source = dt.GeneratorSource(sample, n_samples=50, noise=0.5, n_test=200)
    >>> source.training(0, n_noise=2, seed=0, classes=None).X.shape
    (50, 3)
    """

    sample: SampleFunction
    n_samples: int
    noise: Noise = 0.0
    n_test: int = 1000
    classes: npt.ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.sample):
            raise TypeError(f"{_SAMPLE}, got {type(self.sample).__name__}")
        with suppress(ValueError):  # without a signature
            signature = inspect.signature(self.sample)
            try:
                signature.bind(None, self.n_samples)
            except TypeError:
                name = getattr(self.sample, "__name__", type(self.sample).__name__)
                raise TypeError(f"{_SAMPLE}, got {name}{signature}") from None
        whole_number("n_samples", self.n_samples, 1)
        whole_number("n_test", self.n_test, 1)
        _check_noise("noise", self.noise)

    @property
    def is_noiseless(self) -> bool:
        return not callable(self.noise) and self.noise == 0

    @property
    def _added(self) -> Noise | None:
        return None if self.is_noiseless else self.noise

    def _hides_noise(self, seed: int) -> bool:
        """Whether the labels of `sample` differ between two draws from equal generators."""
        n = int(self.n_samples)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (X, y), (other_X, other_y) = (
                    self._drawn(generator(seed, _DATA, 0), n) for _ in range(2)
                )
                same_X, same_y = _equal(X, other_X), _equal(y, other_y)
        except Exception:  # noqa: BLE001 (errors of `sample` are raised where it is used)
            return False
        if not same_X:
            raise ValueError(
                "sample must depend on rng alone, got different inputs from two generators in the "
                "same state"
            )
        return not same_y

    def _check(self, n_data: int, *, seed: int, classification: bool) -> None:
        if classification and not callable(self.noise):
            number("noise", self.noise, glossary.LABEL_FLIPS)

    def _notes(self, n_noise: int, *, n_data: int, seed: int, hidden: bool) -> list[str]:
        if hidden:
            return [
                "The labels of sample are noisy: they differ between two draws at the same inputs. "
                "Their noise is in initialization, sampling and bias; let sample return clean "
                "labels, and give noise, to separate it."
            ]
        if self.is_noiseless:
            return ["noise = 0: the labels of sample are taken as exact given the inputs."]
        return []

    def _class_labels(self, seed: int) -> Labels:
        """The classes: those given, or those of the test set."""
        if self.classes is not None:
            return np.unique(np.asarray(self.classes))
        return np.unique(self.test(seed, classification=True).y)

    def test(self, seed: int, *, classification: bool) -> TestSet:
        X, y = self._drawn(generator(seed, _TEST), int(self.n_test))
        return TestSet(X=X, y=y, is_truth=True)

    def _rows(
        self, number: int, n_noise: int, seed: int
    ) -> tuple[Inputs, Labels, tuple[Labels, ...]]:
        X, clean = self._drawn(generator(seed, _DATA, number), int(self.n_samples))
        return X, clean, (clean,) if self.is_noiseless else ()

    def _drawn(self, rng: np.random.Generator, count: int) -> tuple[Inputs, Labels]:
        drawn = self.sample(rng, count)
        if not (isinstance(drawn, tuple) and len(drawn) == 2):
            raise TypeError(f"sample must return X, y, got {type(drawn).__name__}")
        X = as_inputs("X of sample", drawn[0])
        if X.shape[0] != count:
            raise ValueError(f"sample must return n = {count} rows, got {X.shape[0]}")
        return X, as_labels("y of sample", drawn[1], count)


def _equal(left: Inputs, right: Inputs) -> bool:
    """Whether two arrays, tables or sparse matrices are equal, NaN included."""
    if hasattr(left, "equals"):  # of pandas
        return bool(left.equals(right))
    if hasattr(left, "tocsr"):
        left, right = left.toarray(), right.toarray()
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        return False
    return bool(((left == right) | ((left != left) & (right != right))).all())


@dataclass(frozen=True, eq=False, repr=False)
class PoolSource(DataSource):
    """Rows that exist, cut into a test set and training sets without a common row.

    Noise of unknown size is in sampling (that of training labels) and in bias (that of test
    labels), and the result has a note.

    Parameters
    ----------
    X : array_like or DataFrame or sparse matrix of shape (n, ...)
        Inputs of all rows.
    y : array_like of shape (n,) or (n, outputs)
        Their labels: finite numbers, or classes.
    n_samples : int
        The rows of each training set, at least 1.
    noise : float or None, default: None
        The standard deviation of the noise in `y`, where it is known; 0 for labels without noise.
        As much is added to training labels, and the response of the learner separates noise from
        sampling.
    n_test : int or None, default: None
        The number of test rows; None for a quarter of the pool, or for a tenth where training needs
        the rows; at most 1000.
    inject : float or callable or None, default: None
        The standard deviation of noise that is added to training labels on top (for classes, the
        share flipped), or a function `inject(rng, y)` that returns noisy labels, to measure how the
        learner responds.
    repeated : sequence of array_likes, default: ()
        Further measurements of all labels, each like `y`: they separate noise without knowledge of
        its size.
    resampling : "disjoint" or "subsample" or "bootstrap", default: "disjoint"
        How training sets are drawn. Those of "subsample" and "bootstrap" share rows: a warning
        and a note of the result have the consequences.
    groups : array_like of shape (n,) or None, default: None
        The group of each row: rows of a group that is in the test set are in no training set.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> X = np.arange(100.0)[:, None]
    >>> source = dt.PoolSource(X, X[:, 0], n_samples=20, n_test=40)
    >>> source
    PoolSource(100 rows of shape (1,), n_samples=20, n_test=40)
    >>> sets = [source.training(d, n_noise=1, seed=0, classes=None) for d in range(3)]
    >>> len({float(x) for some in sets for x in some.X[:, 0]})
    60
    """

    X: Inputs
    y: LabelsLike
    n_samples: int
    noise: float | None = None
    n_test: int | None = None
    inject: Noise | None = field(default=None, kw_only=True)
    repeated: Sequence[npt.ArrayLike] = field(default=(), kw_only=True)
    resampling: Resampling = field(default="disjoint", kw_only=True)
    groups: npt.ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        X = as_inputs("X", self.X)
        count = X.shape[0]
        if count < 2:
            raise ValueError(f"X must have 2 or more rows, got {count}")
        y = as_labels("y", self.y, count)
        repeated: Any = self.repeated
        if getattr(repeated, "shape", None) == y.shape:  # one more measurement, not a list of them
            repeated = (repeated,)
        again = tuple(as_labels("repeated, a list of labels like y,", z, count) for z in repeated)
        groups = None if self.groups is None else as_groups(self.groups, count)
        whole_number("n_samples", self.n_samples, 1)
        usual, n_test = held_out(count, _TEST_SHARE), held_out(count)
        if self.n_test is not None:
            n_test = whole_number("n_test", self.n_test, 1)
        elif self.n_samples <= count - usual:
            n_test = usual
        elif self.n_samples > count - n_test:
            raise ValueError(
                f"n_samples must be at most {count - n_test} of the {count} rows, got "
                f"{self.n_samples}"
            )
        if n_test + self.n_samples > count:
            raise ValueError(
                f"n_test must leave n_samples = {self.n_samples} of {count} rows for training, "
                f"got {n_test}"
            )
        for name, value in (("X", X), ("y", y), ("repeated", again), ("groups", groups)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "n_test", n_test)
        if callable(self.noise):
            raise TypeError("noise must be a number or None, got a function; see inject")
        for name, noise in (("noise", self.noise), ("inject", self.inject)):
            if noise is not None:
                _check_noise(name, noise)
        if self.inject is not None and self.repeated:
            raise ValueError(
                f"inject must be left out where labels are repeated, got {self.inject!r}"
            )
        check_choice("resampling", self.resampling, RESAMPLING)
        if message := RESAMPLING[self.resampling]:
            warnings.warn(message, UserWarning, stacklevel=3)

    def __repr__(self) -> str:
        """The sizes and the options that are not the default, on one line."""
        shown = [f"n_samples={self.n_samples}", f"n_test={self.n_test}"]
        if self.noise is not None:
            shown.append(f"noise={self.noise}")
        if self.inject is not None:
            shown.append(f"inject={'function' if callable(self.inject) else self.inject}")
        if self.repeated:
            shown.append(f"repeated: {len(self.repeated)}")
        if self.resampling != "disjoint":
            shown.append(f"resampling={self.resampling!r}")
        if self.groups is not None:
            shown.append(f"{len(np.unique(self.groups))} groups")
        count, *shape = self.X.shape
        return f"PoolSource({count} rows of shape {tuple(shape)}, {', '.join(shown)})"

    @property
    def is_noiseless(self) -> bool:
        return self.noise == 0 and self.inject is None and not self.repeated

    @property
    def _added(self) -> Noise | None:
        """The noise that is added to training labels: `inject`, or as much as there is."""
        if self.inject is not None:
            return self.inject
        return None if self.repeated or not self.noise else self.noise

    @property
    def injected(self) -> float | None:  # type: ignore[override]
        """The variance of the labels' own noise over that of the added noise, where known."""
        if not self.noise or callable(self._added) or not self._added:
            return None
        return float(self.noise / self._added) ** 2

    def _hides_noise(self, seed: int) -> bool:
        return self.noise is None and not self.repeated

    @property
    def most_data(self) -> float:  # type: ignore[override]
        """The number of disjoint training sets; that of resampled ones is not limited."""
        assert self.n_test is not None
        if self.resampling != "disjoint":
            return math.inf
        groups = np.arange(self.X.shape[0]) if self.groups is None else np.asarray(self.groups)
        largest = int(np.unique(groups, return_counts=True)[1].max())
        left = len(groups) - self.n_test - largest + 1
        return max(0, left) // self.n_samples

    def _noise_draws(self, n_noise: int) -> int:
        if self.repeated:
            return min(n_noise, 1 + len(self.repeated))
        if self._added is None or n_noise == 1:
            return 1
        return n_noise + (self.injected is not None)  # and the labels without added noise

    def _with_default_sets(self, seed: int) -> tuple[DataSource, int]:
        """The sets have no common row where three or more fit; else they are random subsets."""
        left = len(self._split(seed)[1])
        if self.resampling != "disjoint":
            return self, _SETS
        if left // self.n_samples >= _FEWEST_SETS or left <= self.n_samples:
            return self, max(1, min(_SETS, left // self.n_samples))
        warnings.warn(
            f"n_samples = {self.n_samples} is too many for {_FEWEST_SETS} training sets of {left} "
            f"rows without a common one: {_SETS} random subsets are drawn, and sampling is "
            "underestimated; dt.diagnose(model, X, y) measures it",
            UserWarning,
            stacklevel=3,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return replace(self, resampling="subsample"), _SETS

    def _check(self, n_data: int, *, seed: int, classification: bool) -> None:
        """Raise ValueError for more data sets than the pool has rows for."""
        left = len(self._split(seed)[1])
        n_sets = n_data if self.resampling == "disjoint" else 1
        if n_sets * self.n_samples > left:
            sets, size = left // self.n_samples, left // n_sets
            fitting = f"n_data={sets}" if sets > 1 else f"n_samples={size}"
            raise ValueError(
                f"n_data = {n_data} training sets of {self.n_samples} rows need "
                f"{n_sets * self.n_samples} rows beside the test set, got {left}; {fitting} would "
                "fit, and dt.diagnose(model, X, y) needs no smaller training sets"
            )
        if classification and self.inject is not None and not callable(self.inject):
            number("inject", self.inject, glossary.LABEL_FLIPS)
        if classification and self.noise:
            raise ValueError(
                "noise must be left out for classes, got "
                f"{self.noise!r}; inject flips a known share of them"
            )

    def _notes(self, n_noise: int, *, n_data: int, seed: int, hidden: bool) -> list[str]:
        """Notes on resampling, on duplicates, and on how noise is separated."""
        notes = []
        if message := RESAMPLING[self.resampling]:
            notes.append(f"{message[0].upper()}{message[1:]}.")
        left = len(self._split(seed)[1])
        if self.resampling == "subsample" and left > self.n_samples:
            most = left / (left - self.n_samples)
            notes.append(
                f"Each training set has {self.n_samples} of the same {left} rows: sampling is "
                f"between the value shown and {plain(most, 2)} times that, and bias contains the "
                "rest."
            )
        if self.injected is not None and n_noise > 1:
            notes.append(
                "Noise is the response to noise added to the labels: it is exact for a learner "
                "that is linear in its labels; for others, such as trees, noise is overestimated "
                "and initialization underestimated, while bias and total are unbiased."
            )
        elif hidden and n_noise > 1:
            notes.append(
                "Noise is the effect of the injected noise; that of the labels' own noise is in "
                "initialization, sampling and bias."
            )
        if self.groups is not None and self.resampling == "disjoint":
            groups = np.asarray(self.groups)
            sets = [set(groups[self._training_index(d, seed)]) for d in range(n_data)]
            counts = Counter(group for some in sets for group in some)
            if shared := sum(count > 1 for count in counts.values()):
                notes.append(
                    f"{shared} of {len(counts)} groups have rows in more than one training "
                    "set: data sets are then not independent."
                )
        return [*notes, *self._duplicates(seed)]

    def _duplicates(self, seed: int) -> list[str]:
        """A note on rows, or inputs alone, that occur more than once."""
        test, left = self._split(seed)
        equal_test, equal_training = [], []
        for labels in (True, False):
            of_test, of_training = self._hashes(test, labels), self._hashes(left, labels)
            training = set(of_training)
            equal_test.append(sum(row in training for row in of_test))
            equal_training.append(len(of_training) - len(training))
        if not (equal_test[1] or equal_training[1]):
            return []
        by_inputs = [
            "" if whole == inputs else f" ({inputs} in their inputs)"
            for whole, inputs in (equal_test, equal_training)
        ]
        return [
            f"The pool has duplicates: {equal_test[0]} of {len(test)} test rows are equal to a "
            f"training row{by_inputs[0]}, and {equal_training[0]} of {len(left)} training "
            f"rows to another one{by_inputs[1]}; if these are copies, data sets are not "
            "independent, and the error on new rows is larger."
        ]

    def _hashes(self, index: Index, labels: bool) -> list[int]:
        """Of some rows, inputs and label, or inputs; none for inputs that are not numbers."""
        X = numbers_of(self.X)
        if X is None or self.y.dtype.kind == "O":
            return []
        return [hash((X[i].tobytes(), self.y[i].tobytes() if labels else b"")) for i in index]

    def _class_labels(self, seed: int) -> Labels:
        return np.unique(self.y)

    def test(self, seed: int, *, classification: bool) -> TestSet:
        index = self._split(seed)[0]
        X = take_rows(self.X, index)
        rows = np.asarray(self.X.index)[index] if hasattr(self.X, "index") else index
        if self.repeated and not classification and self.y.dtype.kind in "iuf":
            labels = np.stack([self.y, *self.repeated])[:, index].astype(np.float64)
            left = labels.std(axis=0, ddof=1) / np.sqrt(len(labels))
            return TestSet(X=X, y=labels.mean(axis=0), is_truth=False, noise=left, index=rows)
        y, is_truth = self.y[index], self.noise == 0
        return TestSet(X=X, y=y, is_truth=is_truth, noise=self.noise, index=rows)

    def _rows(
        self, number: int, n_noise: int, seed: int
    ) -> tuple[Inputs, Labels, tuple[Labels, ...]]:
        index = self._training_index(number, seed)
        X, y = take_rows(self.X, index), self.y[index]
        if self.repeated:
            versions = (self.y, *self.repeated)[:n_noise]
            return X, y, tuple(np.asarray(again)[index] for again in versions)
        is_alone = self._added is None or n_noise == 1 or self.injected is not None
        return X, y, (y,) if is_alone else ()

    def _training_index(self, number: int, seed: int) -> Index:
        left, n = self._split(seed)[1], self.n_samples
        if self.resampling == "disjoint":
            return left[number * n : (number + 1) * n]
        rng = generator(seed, _DATA, number)
        return rng.choice(left, n, replace=self.resampling == "bootstrap")

    def _split(self, seed: int) -> tuple[Index, Index]:
        """The test rows, and those for training; groups of the test set are left out of both."""
        rng = generator(seed, _TEST)
        order = rng.permutation(self.X.shape[0])
        if self.groups is None:
            return order[: self.n_test], order[self.n_test :]
        names, group = np.unique(self.groups, return_inverse=True)
        rank = rng.permutation(len(names))[group]  # groups in a random order
        ordered = order[np.argsort(rank[order], kind="stable")]
        test = ordered[: self.n_test]
        return test, order[~np.isin(group[order], group[test])]


def held_out(count: int, share: float = _LEAST_TEST_SHARE) -> int:
    """The rows for testing: a share of all, at most 1000."""
    return max(1, min(_MOST_TEST, int(share * count)))
