"""What a source of data sets can do."""

from typing import Protocol, runtime_checkable

from doubletrouble.learners._samples import Labels, TestSet, TrainingSet


@runtime_checkable
class DataSource(Protocol):
    """Where training sets come from, and one test set for all of them."""

    @property
    def is_noiseless(self) -> bool:
        """Whether labels of training sets have no noise at all."""
        ...

    @property
    def injected(self) -> float | None:
        """The labels' own noise over that which is added, as variances; None if none is added."""
        ...

    @property
    def hides_noise(self) -> bool:
        """Whether labels have noise that no draw changes, and nothing tells how much."""
        ...

    @property
    def most_data(self) -> float:
        """How many training sets there can be."""
        ...

    def draws_of_noise(self, wanted: int) -> int:
        """How many draws of label noise on a training set there can be."""
        ...

    def check(self, n_data: int, *, classification: bool) -> None:
        """Refuse what cannot be drawn, with a sentence."""
        ...

    def notes(self, n_noise: int, *, classification: bool) -> list[str]:
        """What a reader of the parts must know of the labels' noise."""
        ...

    def class_labels(self, seed: int) -> Labels:
        """All classes there are."""
        ...

    def test(self, seed: int, *, classification: bool) -> TestSet:
        """The test set."""
        ...

    def training(
        self, number: int, *, n_noise: int, seed: int, classes: Labels | None
    ) -> TrainingSet:
        """One of the training sets, with `n_noise` versions of its labels."""
        ...
