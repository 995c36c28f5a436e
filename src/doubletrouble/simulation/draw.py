r"""One draw: two data sets and J sets of features, at every width, ridge and division of the data.

Widths are nested: the first P of the widest features are the features of width P, as a draw of
their own would be. Points of one curve then share their draws, each unbiased with its own standard
error. Sums over features grow from width to width. Divided data are consecutive blocks of both
data sets; what was summed for the whole serves its blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation.features import (
    Features,
    Slope,
    gaussian_features,
    true_features,
)
from doubletrouble.simulation.learner import Learner, Sums, accumulated, learner
from doubletrouble.simulation.place import Array, Place
from doubletrouble.simulation.result import CURVED
from doubletrouble.simulation.teacher import curvature
from doubletrouble.simulation.terms import TERMS, Data, draw_terms

Draw = dict[int, dict[str, FloatArray]]
"""By the number of parts the data are divided in: every Ψ term, (widths, ridges)."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is simulated, in whole numbers."""

    activation: Activation
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # increasing; (inf,) for the kernel
    ridges: tuple[float, ...]  # the paper's λ
    divisions: tuple[int, ...]
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


def feature_draw(at: Setting, rng: np.random.Generator) -> Draw:
    """Draw data and features, and return every term."""
    data, test = drawn_data(at, rng)
    sets = _drawn_features(at, data.inputs, test, rng)
    n_shared = sets[0].outputs.shape[1]
    found, sums = empty_draw(at), _Growing(at.n_samples, sets)
    for w, width in enumerate(map(int, at.widths)):
        whole = sums.up_to(width)
        for parts, terms in found.items():
            for rows in at.blocks(parts, rng):
                alphas = [[_size(part) * width * r / at.dim for r in at.ridges] for part in rows]
                learners = [
                    (
                        _part(one, 0, width, rows[0], alphas[0], grown[0]),
                        _part(one, 1, width, rows[1], alphas[1], grown[1]),
                    )
                    for one, grown in zip(sets, whole, strict=True)
                ]
                seen = data.rows(rows)
                for r, both in enumerate(zip(*alphas, strict=True)):
                    for name, value in draw_terms(learners, seen, both, n_shared).items():
                        terms[name][w, r] += value / parts
    return found


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def empty_draw(at: Setting) -> Draw:
    """Zeros to add to."""
    shape, names = (len(at.widths), len(at.ridges)), TERMS + CURVED if at.curved else TERMS
    return {k: {name: np.zeros(shape) for name in names} for k in at.divisions}


def drawn_data(at: Setting, rng: np.random.Generator) -> tuple[Data, Array | None]:
    """Two data sets, and test points where they are sampled."""
    first, second = (at.place.normals(rng, (at.n_samples, at.dim)) for _ in range(2))
    test = at.place.normals(rng, (at.n_test, at.dim)) if at.n_test else None
    bent = curvature((first, second), test) if at.curved else None
    return Data((first, second), bent), test


def _drawn_features(
    at: Setting, inputs: Sequence[Array], test: Array | None, rng: np.random.Generator
) -> list[Features]:
    widest = int(at.widths[-1])
    if at.slope is None:
        return [
            gaussian_features(at.activation, inputs, widest, at.center, rng, at.place)
            for _ in range(at.n_init)
        ]
    return true_features(
        at.activation, inputs, test, widest, at.n_init, at.slope, at.center, rng, at.place
    )


class _Growing:
    """Sums over the first features of every set, on each data set, where P > N needs them."""

    def __init__(self, n_samples: int, sets: Sequence[Features]) -> None:
        self.n_samples, self.sets, self.reached = n_samples, sets, 0
        self.sums: list[list[Sums | None]] = [[None, None] for _ in sets]

    def up_to(self, width: int) -> list[list[Sums | None]]:
        if width > self.n_samples:
            new = slice(self.reached, width)
            self.sums = [
                [
                    accumulated(phi[:, new], one.outputs[new, :], before)
                    for phi, before in zip(one.train, sums, strict=True)
                ]
                for one, sums in zip(self.sets, self.sums, strict=True)
            ]
            self.reached = width
        return self.sums


def _part(
    one: Features, i: int, width: int, rows: slice, alphas: Sequence[float], sums: Sums | None
) -> Learner:
    """The learner of one feature set on some rows of data set i."""
    if sums is not None:
        sums = Sums(sums.gram[rows, rows], sums.reached[rows, :])
    return learner(one.train[i][rows, :width], one.outputs[:width, :], one.own, alphas, sums)
