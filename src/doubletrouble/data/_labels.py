"""Two classes from ten: odd against even, or one class against another."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray

Classes: TypeAlias = npt.NDArray[np.integer[Any]]
"""The class of each sample: whole numbers from 0."""
Rows: TypeAlias = npt.NDArray[np.intp]
Rule: TypeAlias = str | tuple[int, int]

PARITY = "parity"


def label_rule(labels: Any) -> Rule:
    """Validate the labels: "parity", or two classes.

    >>> label_rule([3, 8])
    (3, 8)
    """
    if isinstance(labels, str) and labels == PARITY:
        return PARITY
    if isinstance(labels, list | tuple | np.ndarray) and np.shape(labels) == (2,):
        a, b = labels
        whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in (a, b))
        if whole and a != b:
            return int(a), int(b)
    raise ValueError(f"labels must be 'parity' or two different classes, got {labels!r}")


def check_classes(rule: Rule, classes: Classes, name: str) -> None:
    """Raise ValueError for a class that does not occur."""
    present = np.unique(classes).tolist()
    if not isinstance(rule, str) and not set(rule) <= set(present):
        listed = ", ".join(map(str, present))
        raise ValueError(f"labels must be among the classes {listed} of {name}, got {rule}")


def signs(classes: Classes, rule: Rule) -> tuple[Rows, FloatArray]:
    """Which samples are kept, and +1 for odd classes or the second of a pair, -1 for the others.

    >>> rows, labels = signs(np.array([5, 0, 4, 1]), "parity")
    >>> rows, labels
    (array([0, 1, 2, 3]), array([ 1., -1., -1.,  1.]))
    >>> rows, labels = signs(np.array([5, 0, 4, 1]), (4, 5))
    >>> rows, labels
    (array([0, 2]), array([ 1., -1.]))
    """
    if isinstance(rule, str):
        return np.arange(len(classes)), np.where(classes % 2 == 1, 1.0, -1.0)
    rows = np.flatnonzero(np.isin(classes, rule))
    return rows, np.where(classes[rows] == rule[1], 1.0, -1.0)
