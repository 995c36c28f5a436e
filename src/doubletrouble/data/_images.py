"""A set of original images, in bytes, with their classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.data._errors import DataError
from doubletrouble.data._labels import Classes, Rows
from doubletrouble.data._projection import ProjectionOptions, projections
from doubletrouble.parameters import FloatArray

_MOST = 9  # the largest class


@dataclass(frozen=True, kw_only=True)
class Images:
    """Every image of a set, one a row."""

    name: str
    train: npt.NDArray[np.uint8]
    train_classes: Classes
    test: npt.NDArray[np.uint8]
    test_classes: Classes
    source: str  # what they were read from

    def __post_init__(self) -> None:
        pairs = (self.train, self.train_classes), (self.test, self.test_classes)
        for which, (images, classes) in zip(("training", "test"), pairs, strict=True):
            if len(images) != len(classes):
                raise DataError(
                    f"the {which} images of {self.name} must have a label each, "
                    f"got {len(images)} images and {len(classes)} labels"
                )
            if classes.max() > _MOST:
                raise DataError(
                    f"the {which} labels of {self.name} must be 0 to {_MOST}, got {classes.max()}"
                )
        if self.train.shape[1] != self.test.shape[1]:
            raise DataError(
                f"the test images of {self.name} must be as large as those to train on, "
                f"{self.train.shape[1]} pixels, got {self.test.shape[1]}"
            )

    def inputs(
        self, train: Rows, test: Rows, view: ProjectionOptions
    ) -> tuple[FloatArray, FloatArray]:
        """The inputs of these samples, with directions from all training images."""
        for_train, for_test = projections(self.train, self.test, view)
        return for_train(self.train, train), for_test(self.test, test)

    def settings(self, view: ProjectionOptions) -> Mapping[str, Any]:
        """How the inputs are made."""
        statistics = "train" if view.scaling == "whiten" else view.test_statistics
        return {"source": self.source, "test_statistics": statistics}
