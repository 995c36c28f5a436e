"""What learners are given: rows of inputs, labels, and the targets of the test points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray

Labels = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class TestSet:
    """The shared test points; labels of known noise, or without it, stand for the truth."""

    __test__ = False  # for pytest: no test

    X: Any  # (T, ...)
    y: Labels  # (T,) or (T, outputs)
    is_truth: bool  # without noise
    noise: float | FloatArray | None = None  # its standard deviation, where it is known


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingSet:
    """Inputs, and as many versions of their labels as there are draws of noise."""

    X: Any  # (N, ...)
    y: tuple[Labels, ...]


def rows(X: Any, index: npt.NDArray[np.intp]) -> Any:
    """Some rows of an array, a DataFrame or a sparse matrix."""
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def as_inputs(name: str, X: Any) -> Any:
    """Inputs as they are, if rows can be taken from them; lists as arrays."""
    if isinstance(X, Sequence) and not isinstance(X, str):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):  # rows cannot be taken from every sparse matrix
        X = X.tocsr()
    if not (hasattr(X, "shape") and len(X.shape) >= 1):
        raise TypeError(f"{name} must be an array or a DataFrame, got {type(X).__name__}")
    return X


def as_labels(name: str, y: Any, count: int) -> Labels:
    """Labels as an array, one row for each sample, and none of them NaN."""
    array = np.asarray(y)
    if array.ndim not in (1, 2) or len(array) != count:
        raise ValueError(
            f"{name} must have a label for each of {count} samples, got shape {array.shape}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} must be finite, got {float(array[tuple(bad)])} at index {int(bad[0])}"
        )
    return array


def one_hot(y: Labels, classes: Labels) -> FloatArray:
    """Class labels as probabilities, (n, classes).

    >>> one_hot(np.array(["b", "a"]), np.array(["a", "b"]))
    array([[0., 1.],
           [1., 0.]])
    """
    return np.asarray(y[:, None] == classes[None, :], dtype=np.float64)
