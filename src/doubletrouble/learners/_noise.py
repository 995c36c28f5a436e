"""Label noise that is drawn: Gaussian for numbers, other classes for classes, or the user's own."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.learners._samples import Labels
from doubletrouble.parameters import number

Noise: TypeAlias = float | Callable[[np.random.Generator, Labels], Labels]
"""A standard deviation, a share of flipped classes, or a function rng, y -> noisy y."""


def as_noise(name: str, noise: Noise) -> Noise:
    """A number of at least 0, or a function."""
    return noise if callable(noise) else number(name, noise, glossary.NOISE)


def noisy(y: Labels, noise: Noise, rng: np.random.Generator, classes: Labels | None) -> Labels:
    """Labels with a draw of noise on them; where `classes` are given, labels are classes.

    >>> rng = np.random.default_rng(0)
    >>> noisy(np.array(["a", "a"]), 1.0, rng, np.array(["a", "b"])).tolist()
    ['b', 'b']
    """
    if callable(noise):
        found = np.asarray(noise(rng, y))
        if found.shape != y.shape:
            raise ValueError(
                f"noise must return labels of shape {y.shape}, got shape {found.shape}"
            )
        return found
    if classes is None:
        return y + noise * rng.standard_normal(y.shape)
    number("noise", noise, glossary.LABEL_FLIPS)
    places = np.searchsorted(classes, y)
    others = (places + rng.integers(1, max(2, len(classes)), len(y))) % len(classes)
    return np.where(rng.random(len(y)) < noise, classes[others], y)
