"""What is simulated, in whole numbers, and what is drawn for it: data and features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation.features import Features, Slope, gaussian_features, true_features
from doubletrouble.simulation.learner import Fit
from doubletrouble.simulation.place import Array, Place
from doubletrouble.simulation.teacher import curvature
from doubletrouble.simulation.terms import Data

Table = dict[str, FloatArray]
"""Every term, (widths, fits)."""


class Draw(NamedTuple):
    """Every term of one draw."""

    divided: dict[int, Table]  # by the number of parts the data are divided in
    resampled: dict[str, Table]  # by the scheme


class Resampling(NamedTuple):
    """A scheme of members that draw from a common set."""

    scheme: str
    size: float  # samples that each member draws; of a bank, its features, which may be infinite


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is simulated, in whole numbers."""

    activation: Activation
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # increasing; (inf,) for the kernel
    ridges: tuple[float, ...]  # the paper's λ
    times: tuple[float, ...]  # of gradient flow; (inf,) for ridge regression
    divisions: tuple[int, ...]
    resampled: tuple[Resampling, ...]
    n_init: int
    n_test: int  # sampled test points; 0: the average over test points is exact
    curved: bool  # with a quadratic teacher
    center: bool
    place: Place
    slope: Slope | None  # of the true features; None: Gaussian covariates

    def blocks(self, parts: int, rng: np.random.Generator) -> Iterator[tuple[slice, slice]]:
        """Pairs of parts of divided data, one of each data set, as even as can be.

        Where some are a sample larger, each part meets any other with equal probability: that is
        how different parts of one data set meet.
        """
        ends = [round(k * self.n_samples / parts) for k in range(parts + 1)]
        found = [slice(start, end) for start, end in pairwise(ends)]
        turn = int(rng.integers(1, parts)) if self.n_samples % parts else 0
        return zip(found, found[turn:] + found[:turn], strict=True)

    def fits(self, n_samples: int, n_features: int) -> list[Fit]:
        """All fits of one learner: every ridge, and every time of each."""
        alphas = [n_samples * n_features * ridge / self.dim for ridge in self.ridges]
        return [Fit(alpha, time / self.dim) for alpha in alphas for time in self.times]

    def zeros(self, names: Sequence[str]) -> Table:
        """Terms to add to, one for each width and fit."""
        shape = (len(self.widths), len(self.ridges) * len(self.times))
        return {name: np.zeros(shape) for name in names}


def drawn_data(at: Setting, rng: np.random.Generator) -> tuple[Data, Array | None]:
    """Two data sets, and test points where they are sampled."""
    first, second = (at.place.normals(rng, (at.n_samples, at.dim)) for _ in range(2))
    test = at.place.normals(rng, (at.n_test, at.dim)) if at.n_test else None
    bent = curvature((first, second), test) if at.curved else None
    return Data((first, second), bent), test


def drawn_features(
    at: Setting, inputs: Sequence[Array], test: Array | None, width: int, rng: np.random.Generator
) -> list[Features]:
    """All sets of features, of a width."""
    if at.slope is None:
        return [
            gaussian_features(at.activation, inputs, width, at.center, rng, at.place)
            for _ in range(at.n_init)
        ]
    return true_features(
        at.activation, inputs, test, width, at.n_init, at.slope, at.center, rng, at.place
    )
