r"""One draw: two data sets and J sets of features, at every width and fit, for every scheme.

Widths are nested: the first P of the widest features are the features of width P, as a draw of
their own would be. Points of one curve then share their draws, each unbiased with its own standard
error. Sums over features grow from width to width. Divided data are consecutive blocks of both
data sets; what was summed for the whole serves its blocks.
"""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from doubletrouble.simulation._features import Features
from doubletrouble.simulation._learner import FeatureSums, Fit, RidgeMap, accumulated, learner
from doubletrouble.simulation._resampling import member_draws
from doubletrouble.simulation._result import CURVED
from doubletrouble.simulation._setting import (
    Draw,
    DrawSetting,
    TermTable,
    drawn_data,
    drawn_features,
)
from doubletrouble.simulation._terms import TERMS, draw_terms


def feature_draw(at: DrawSetting, rng: np.random.Generator) -> Draw:
    """Draw data and features, and return every term."""
    data, test = drawn_data(at, rng)
    sets = drawn_features(at, data.inputs, test, int(at.widths[-1]), rng)
    n_shared = sets[0].outputs.shape[1]
    found, sums = empty_draw(at), _Growing(at.n_samples, sets)
    paired = member_draws(at, data, test, sets, rng)
    own = {parts: deepcopy(rng) for parts in found}  # no division depends on the others
    for w, width in enumerate(map(int, at.widths)):
        whole = sums.up_to(width)
        for members in paired.values():
            members.add(w, width, whole)
        for parts, terms in found.items():
            for rows in at.blocks(parts, own[parts]):
                fits = [at.fits(_size(part), width) for part in rows]
                learners = [
                    (
                        _part(one, 0, width, rows[0], fits[0], grown[0]),
                        _part(one, 1, width, rows[1], fits[1], grown[1]),
                    )
                    for one, grown in zip(sets, whole, strict=True)
                ]
                seen = data.rows(rows)
                for k, both in enumerate(zip(*fits, strict=True)):
                    for name, value in draw_terms(learners, seen, both, n_shared).items():
                        terms[name][w, k] += value / parts
    return Draw(found, {scheme: members.terms for scheme, members in paired.items()})


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def empty_draw(at: DrawSetting) -> dict[int, TermTable]:
    """Zeros to add to, for every division of the data."""
    return {k: at.zeros(TERMS + CURVED if at.curved else TERMS) for k in at.divisions}


class _Growing:
    """Sums over the first features of every set, on each data set, where P > N needs them."""

    def __init__(self, n_samples: int, sets: Sequence[Features]) -> None:
        self.n_samples, self.sets, self.reached = n_samples, sets, 0
        self.sums: list[list[FeatureSums | None]] = [[None, None] for _ in sets]

    def up_to(self, width: int) -> list[list[FeatureSums | None]]:
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
    one: Features, i: int, width: int, rows: slice, fits: Sequence[Fit], sums: FeatureSums | None
) -> RidgeMap:
    """The learner of one feature set on some rows of data set i."""
    if sums is not None:
        sums = FeatureSums(sums.gram[rows, rows], sums.reached[rows, :])
    return learner(one.train[i][rows, :width], one.outputs[:width, :], one.own, fits, sums)
