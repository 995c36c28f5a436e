"""A source without end: data sets drawn by a function of the user's, whose noise is known."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.learners import _seeds as seeds
from doubletrouble.learners._noise import Noise, as_noise, noisy
from doubletrouble.learners._samples import Labels, TestSet, TrainingSet, as_inputs, as_labels
from doubletrouble.parameters import number, whole_number

SampleFunction = Callable[[np.random.Generator, int], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class GeneratorSource:
    """Data from `sample(rng, n) -> X, clean_y`, with label noise added to the training sets.

    `noise` is its standard deviation; for class labels, the share that is replaced by another class
    drawn at random; or a function `noise(rng, y) -> noisy y`. One test set of `n_test` points, with
    clean labels, serves all.

    >>> def sample(rng, n):
    ...     X = rng.standard_normal((n, 3))
    ...     return X, X[:, 0] ** 2
    >>> source = GeneratorSource(sample, n_train=50, noise=0.5, n_test=200)
    >>> source.training(0, n_noise=2, seed=0, classes=None).X.shape
    (50, 3)
    """

    sample: SampleFunction
    n_train: int
    noise: Noise = 0.0
    n_test: int = 1000
    classes: Any = field(default=None, kw_only=True)  # of the labels; else those of the test set

    def __post_init__(self) -> None:
        if not callable(self.sample):
            raise TypeError(
                f"sample must be a function rng, n -> X, y, got {type(self.sample).__name__}"
            )
        whole_number("n_train", self.n_train, 1)
        whole_number("n_test", self.n_test, 1)
        as_noise("noise", self.noise)

    def draws_of_noise(self, wanted: int) -> int:
        """How many draws of label noise there can be; labels without noise have one."""
        return 1 if self.is_noiseless else wanted

    @property
    def is_noiseless(self) -> bool:
        """Whether the labels of training sets have no noise."""
        return not callable(self.noise) and self.noise == 0

    @property
    def injected(self) -> float | None:
        """The labels' own noise is what is drawn."""
        return None

    @property
    def hides_noise(self) -> bool:
        """All noise is drawn."""
        return False

    @property
    def most_data(self) -> float:
        """As many data sets as one likes."""
        return math.inf

    def check(self, n_data: int, *, classification: bool) -> None:
        """There are as many data sets as one likes; of classes, a share may be flipped."""
        if classification and not callable(self.noise):
            number("noise", self.noise, glossary.LABEL_FLIPS)

    def notes(self, n_noise: int, *, classification: bool) -> list[str]:
        """Nothing is unknown here."""
        return []

    def class_labels(self, seed: int) -> Labels:
        """The classes: those given, or those of the test set."""
        return np.unique(self._test(seed)[1] if self.classes is None else np.asarray(self.classes))

    def test(self, seed: int, *, classification: bool) -> TestSet:
        """The test set, with clean labels."""
        X, y = self._test(seed)
        return TestSet(X=X, y=y, is_truth=True)

    def training(
        self, number: int, *, n_noise: int, seed: int, classes: Labels | None
    ) -> TrainingSet:
        """One of the training sets, with some draws of noise."""
        X, clean = self._drawn(seeds.generator(seed, seeds.DATA, number), int(self.n_train))
        if self.is_noiseless:
            return TrainingSet(X=X, y=(clean,))
        draws = (seeds.generator(seed, seeds.NOISE, number, n) for n in range(n_noise))
        return TrainingSet(X=X, y=tuple(noisy(clean, self.noise, rng, classes) for rng in draws))

    def _test(self, seed: int) -> tuple[Any, Labels]:
        return self._drawn(seeds.generator(seed, seeds.TEST), int(self.n_test))

    def _drawn(self, rng: np.random.Generator, count: int) -> tuple[Any, Labels]:
        drawn = self.sample(rng, count)
        if not (isinstance(drawn, tuple) and len(drawn) == 2):
            raise TypeError(f"sample must return X, y, got {type(drawn).__name__}")
        X = as_inputs("X of sample", drawn[0])
        if X.shape[0] != count:
            raise ValueError(
                f"sample must return {count} rows when asked for them, got {X.shape[0]}"
            )
        return X, as_labels("y of sample", drawn[1], count)
