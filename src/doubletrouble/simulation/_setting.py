"""What is simulated, in whole numbers, and what is drawn for it: data and features."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.ensembles import Scheme
from doubletrouble.kernels import Array
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation._features import Features, Slope, gaussian_features, true_features
from doubletrouble.simulation._learner import Fit
from doubletrouble.simulation._place import ArrayDevice
from doubletrouble.simulation._teacher import curvature
from doubletrouble.simulation._terms import DataPair

TermTable = dict[str, FloatArray]
"""Every term, (widths, fits)."""


class Draw(NamedTuple):
    """Every term of one draw."""

    divided: dict[int, TermTable]  # by the number of parts the data are divided in
    paired: dict[Scheme, TermTable]  # by the scheme, for members that draw from a common set


@dataclass(frozen=True, kw_only=True)
class DrawSetting:
    """What is simulated, in whole numbers."""

    activation: Activation
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # increasing; (inf,) for the kernel
    ridges: tuple[float, ...]  # the paper's λ
    times: tuple[float, ...]  # of gradient flow; (inf,) for ridge regression
    divisions: tuple[int, ...]
    schemes: tuple[Scheme, ...]  # of members that draw from a common set, at the sizes realized
    banks: Mapping[Scheme, Sequence[float]]  # B for every width, where members share features
    n_init: int
    n_test: int  # sampled test points; 0: the average over test points is exact
    curved: bool  # with a quadratic teacher
    center: bool
    place: ArrayDevice
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

    @property
    def n_fits(self) -> int:
        """How many fits one learner has."""
        return len(self.ridges) * len(self.times)

    def zeros(self, names: Sequence[str]) -> TermTable:
        """Terms to add to, one for each width and fit."""
        return {name: np.zeros((len(self.widths), self.n_fits)) for name in names}


def drawn_data(at: DrawSetting, rng: np.random.Generator) -> tuple[DataPair, Array | None]:
    """Two data sets, and test points where they are sampled."""
    first, second = (at.place.normals(rng, (at.n_samples, at.dim)) for _ in range(2))
    test = at.place.normals(rng, (at.n_test, at.dim)) if at.n_test else None
    bent = curvature((first, second), test) if at.curved else None
    return DataPair((first, second), bent), test


def drawn_features(
    at: DrawSetting,
    inputs: Sequence[Array],
    test: Array | None,
    width: int,
    rng: np.random.Generator,
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
