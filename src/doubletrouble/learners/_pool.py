r"""A finite pool of samples: a test set, and training sets that share no sample.

Training sets drawn with replacement are no independent data sets.
A bootstrap sample of n holds about 63 % of its rows once or more: a learner that interpolates n
samples then interpolates at 0.63 n, and every resample shares the noise and the gaps of the one
set it came from, so that these end up in "bias".
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble.learners import _seeds as seeds
from doubletrouble.learners._noise import Noise, as_noise, noisy
from doubletrouble.learners._samples import (
    Labels,
    TestSet,
    TrainingSet,
    as_inputs,
    as_labels,
    rows,
)
from doubletrouble.parameters import number, whole_number

Resampling: TypeAlias = Literal["disjoint", "subsample", "bootstrap"]
RESAMPLING: dict[Resampling, str] = {
    "disjoint": "",
    "subsample": (
        "resampling='subsample' draws training sets that share samples: they are not independent, "
        "and sampling comes out too small"
    ),
    "bootstrap": (
        "resampling='bootstrap' draws with replacement: a training set holds about 63 % distinct "
        "samples, which moves an interpolation peak to 0.63 of its place, and what all resamples "
        "share is taken for bias; resampling='disjoint' is right"
    ),
}
_SHARE, _MOST = 0.25, 1000  # of the pool for testing, unless asked for


@dataclass(frozen=True, eq=False)
class PoolSource:
    """Samples `X`, `y` that exist, cut into a test set and training sets without a common sample.

    `noise` is the standard deviation of the noise that is in `y`, where it is known; 0 says that
    there is none. Unknown, it stays in sampling (that of training labels) and in bias (that of test
    labels), and the result says so. `inject` is the standard deviation of noise that is added to
    training labels on top (for classes, the share flipped), to see how the learner responds; with a
    known `noise`, as much is injected, and noise is told apart from sampling by that response.
    `repeated` are further measurements of all labels, each like `y`: with them, noise is told apart
    without knowing its size.

    >>> X = np.arange(100.0)[:, None]
    >>> source = PoolSource(X, X[:, 0], n_train=20, n_test=40)
    >>> sets = [source.training(d, n_noise=1, seed=0, classes=None) for d in range(3)]
    >>> len({float(x) for some in sets for x in some.X[:, 0]})
    60
    """

    X: Any
    y: Any
    n_train: int
    noise: float | None = None
    n_test: int | None = None  # by default a quarter of the pool, at most 1000
    inject: Noise | None = field(default=None, kw_only=True)
    repeated: Sequence[Any] = field(default=(), kw_only=True)
    resampling: Resampling = field(default="disjoint", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", as_inputs("X", self.X))
        count = self.X.shape[0]
        object.__setattr__(self, "y", as_labels("y", self.y, count))
        repeated = self.repeated
        if getattr(repeated, "shape", None) == self.y.shape:  # one measurement more, not a list
            repeated = (repeated,)
        again = tuple(as_labels("repeated, a list of labels like y,", y, count) for y in repeated)
        object.__setattr__(self, "repeated", again)
        whole_number("n_train", self.n_train, 1)
        share = max(1, min(_MOST, int(_SHARE * count)))
        n_test = share if self.n_test is None else self.n_test
        object.__setattr__(self, "n_test", whole_number("n_test", n_test, 1))
        if self.noise is not None:
            if callable(self.noise):
                raise TypeError("noise must be a number or None, got a function; see inject")
            as_noise("noise", self.noise)
        if self.inject is not None:
            as_noise("inject", self.inject)
            if again:
                raise ValueError(
                    f"inject must be left out where labels are repeated, got {self.inject!r}"
                )
        if self.resampling not in RESAMPLING:
            known = ", ".join(map(repr, RESAMPLING))
            raise ValueError(f"resampling must be one of {known}, got {self.resampling!r}")
        if said := RESAMPLING[self.resampling]:
            warnings.warn(said, UserWarning, stacklevel=3)

    @property
    def is_noiseless(self) -> bool:
        """Whether labels are known to have no noise, and none is added."""
        return self.noise == 0 and self.inject is None and not self.repeated

    @property
    def _added(self) -> Noise | None:
        """The noise that is added to training labels: as much as there is, unless told."""
        return self.inject if self.inject is not None else (self.noise or None)

    def draws_of_noise(self, wanted: int) -> int:
        """How many draws of label noise there can be."""
        if self.repeated:
            return min(wanted, 1 + len(self.repeated))
        if self._added is None or wanted == 1:
            return 1
        return wanted if self.injected is None else 1 + wanted  # and the labels as they are

    @property
    def injected(self) -> float | None:
        """The variance of the labels' own noise over that of what is added, where both are known.

        Labels that are known to be clean have only what is added, which is then their noise.
        """
        if not self.noise or self.repeated or callable(self._added):
            return None
        return (self.noise / self._added) ** 2 if self._added else None

    @property
    def hides_noise(self) -> bool:
        """Whether labels have noise that no draw changes, and nothing tells how much."""
        return self.noise is None and not self.repeated

    @property
    def most_data(self) -> float:
        """How many disjoint training sets the pool holds; resampled ones have no end."""
        left = self.X.shape[0] - (self.n_test or 0)
        return left // self.n_train if self.resampling == "disjoint" else math.inf

    def check(self, n_data: int, *, classification: bool) -> None:
        """Refuse more data sets than the pool holds."""
        assert self.n_test is not None
        count, n_sets = self.X.shape[0], n_data if self.resampling == "disjoint" else 1
        needed, left = n_sets * self.n_train + self.n_test, count - self.n_test
        if needed > count:
            sets, size = left // self.n_train, left // n_sets
            fits = f"n_data={sets}" if sets > 1 else f"n_train={size}" if size > 0 else ""
            raise ValueError(
                f"{n_data} training sets of {self.n_train} samples and {self.n_test} test points "
                f"need {needed} samples, got {count}; {fits or 'fewer test points'} would fit"
            )
        if classification and self.inject is not None and not callable(self.inject):
            number("inject", self.inject, glossary.LABEL_FLIPS)
        if classification and self.noise:
            raise ValueError(
                "noise must be left out for classes, got "
                f"{self.noise!r}; inject flips a known share of them"
            )

    def notes(self, n_noise: int, *, classification: bool) -> list[str]:
        """What a reader must know of how sets were drawn and noise was told apart."""
        found = []
        if said := RESAMPLING[self.resampling]:
            found.append(f"{said[0].upper()}{said[1:]}.")
        if self.injected is not None and n_noise > 1:
            found.append(
                "Noise is known by the response to noise added to the labels: exactly for a "
                "learner that is linear in its labels; for others, such as trees, noise comes out "
                "too large and initialization too small, while bias and total are right."
            )
        elif self.hides_noise and n_noise > 1:
            found.append(
                "Noise is what the injected noise adds; the labels' own is in initialization, "
                "sampling and bias."
            )
        return found

    def class_labels(self, seed: int) -> Labels:
        """All classes of the pool."""
        return np.unique(self.y)

    def test(self, seed: int, *, classification: bool) -> TestSet:
        """The test set; with repeated labels, their mean, and the noise that is left in it."""
        index = self._order(seed)[: self.n_test]
        X = rows(self.X, index)
        if self.repeated and not classification and self.y.dtype.kind in "iuf":
            labels = np.stack([y[index] for y in (self.y, *self.repeated)]).astype(np.float64)
            left = labels.std(axis=0, ddof=1) / np.sqrt(len(labels))
            return TestSet(X=X, y=labels.mean(axis=0), is_truth=False, noise=left)
        return TestSet(X=X, y=self.y[index], is_truth=self.noise == 0, noise=self.noise)

    def training(
        self, number: int, *, n_noise: int, seed: int, classes: Labels | None
    ) -> TrainingSet:
        """One of the training sets, with some draws of noise on its labels."""
        index = self._index(number, seed)
        X, y = rows(self.X, index), self.y[index]
        if self.repeated:
            labels = (self.y, *self.repeated)[:n_noise]
            return TrainingSet(X=X, y=tuple(again[index] for again in labels))
        if self._added is None or n_noise == 1:
            return TrainingSet(X=X, y=(y,))
        alone = () if self.injected is None else (y,)
        draws = (seeds.generator(seed, seeds.NOISE, number, n) for n in range(n_noise - len(alone)))
        added = (noisy(y, self._added, rng, classes) for rng in draws)
        return TrainingSet(X=X, y=(*alone, *added))

    def _index(self, number: int, seed: int) -> npt.NDArray[np.intp]:
        left, n = self._order(seed)[self.n_test :], self.n_train
        if self.resampling == "disjoint":
            return left[number * n : (number + 1) * n]
        rng = seeds.generator(seed, seeds.DATA, number)
        return rng.choice(left, n, replace=self.resampling == "bootstrap")

    def _order(self, seed: int) -> npt.NDArray[np.intp]:
        return seeds.generator(seed, seeds.TEST).permutation(self.X.shape[0])
