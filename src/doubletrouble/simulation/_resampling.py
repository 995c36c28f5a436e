r"""Members that draw from a common set: samples of the data set, or features of a bank.

- *Samples*: `Scheme.draw_samples` returns how often each of the N samples is in each member. A
  sample drawn w times is one of weight w, whose row of features and label are multiplied by √w; a
  member of n samples in all has alpha = n P λ/D.
- *Features*: P of the B features of a bank, without replacement. For any scheme whose members
  share features, B = P²/k, where k is the number of features that two of them have in common.

Maps act on all N labels, with zeros for the samples that a member does not have, so that maps of
members with different samples can be multiplied.

**Which members.** For samples, choice j is given to the features j and j - 1: twins. Of all first
twins, no two share a choice or features, nor do any two second ones, also where J = 2. A bank is
not drawn as a whole: its features are exchangeable, so that two choices from it are P features
each, m of them in common, with m from the hypergeometric distribution.

**Random numbers.** All schemes of a draw start from copies of one generator. The draws of a scheme
do not depend on the others, and those of one class are correlated: smaller subsamples are parts of
larger ones, which reduces the standard errors of differences between schemes.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.ensembles import IntArray, Scheme
from doubletrouble.kernels import Array
from doubletrouble.simulation._features import Features
from doubletrouble.simulation._learner import FeatureSums, Fit, RidgeMap, learner
from doubletrouble.simulation._result import PAIRED, PAIRED_CURVED
from doubletrouble.simulation._setting import DrawSetting, TermTable, drawn_features
from doubletrouble.simulation._shares import drawn_counts, n_members
from doubletrouble.simulation._terms import DataPair
from doubletrouble.simulation._twins import Twins, twin_terms

_LARGEST_DRAW = 10**9  # beyond, NumPy has no hypergeometric numbers


class MemberDraws(Protocol):
    """The members of one scheme in one draw, fitted width by width."""

    terms: TermTable

    def add(self, w: int, width: int, sums: Sequence[Sequence[FeatureSums | None]]) -> None:
        """Fit and multiply all members of the w-th width."""


def member_draws(
    at: DrawSetting, data: DataPair, test: Array | None, sets: Sequence[Features],
    rng: np.random.Generator,
) -> dict[Scheme, MemberDraws]:  # fmt: skip
    """The members of every scheme."""
    return {
        scheme: _Bank(at, at.banks[scheme], data, test, own)
        if scheme.shares_features
        else _Samples(at, scheme, data, sets, own)
        for scheme, own in generators(at.schemes, rng).items()
    }


def generators(
    schemes: Sequence[Scheme], rng: np.random.Generator
) -> dict[Scheme, np.random.Generator]:
    """A copy of one generator for each scheme."""
    (common,) = rng.spawn(1)
    return {scheme: deepcopy(common) for scheme in schemes}


def n_choices(scheme: Scheme, n_init: int) -> int:
    """The number of members that are drawn: at most K where the shares depend on K."""
    return n_init if scheme.any_size else min(n_init, int(n_members(scheme)))


def paired_zeros(at: DrawSetting) -> TermTable:
    """Zeros of every term."""
    return at.zeros(PAIRED + PAIRED_CURVED if at.curved else PAIRED)


# --- samples -------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """The samples of a member, and the roots of their weights."""

    n_drawn: int  # sum of the weights
    rows: Array  # (n,) indices of the distinct samples
    roots: Array  # (n, 1)
    back: Array  # (N,): index of each of the N samples in `rows`; n for those not drawn

    def weighted(self, values: Array) -> Array:
        """Rows of the samples drawn, multiplied by the roots of their weights."""
        return self.roots * values[self.rows]

    def embedded(self, response: Array) -> Array:
        """The map of the labels drawn, extended to all N labels by zeros."""
        xp = array_namespace(response)
        rows = xp.concat([self.roots * response, 0 * response[:1]], axis=0)
        return rows[self.back]


def choices(
    scheme: Scheme, count: int, at: DrawSetting, rng: np.random.Generator, like: Array
) -> list[Choice]:
    """The samples of `count` members."""
    return [_choice(row, at, like) for row in drawn_counts(scheme, at.n_samples, count, rng)]


def _choice(counts: IntArray, at: DrawSetting, like: Array) -> Choice:
    rows = np.flatnonzero(counts)
    back = np.full(counts.size, rows.size)
    back[rows] = np.arange(rows.size)
    xp = array_namespace(like)
    rows_there, back_there = (xp.asarray(v, device=like.device) for v in (rows, back))
    roots = at.place.put(np.sqrt(counts[rows]))[:, None]
    return Choice(int(counts.sum()), rows_there, roots, back_there)


class _Fits(NamedTuple):
    """All fits of one member, to the samples drawn or to all of them."""

    inner: RidgeMap
    fits: list[Fit]
    choice: Choice | None = None

    def response(self, k: int) -> Array:
        found = self.inner.respond(self.fits[k])
        return found if self.choice is None else self.choice.embedded(found)


class _Samples:
    """Members with samples of their own."""

    def __init__(
        self, at: DrawSetting, scheme: Scheme, data: DataPair, sets: Sequence[Features],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.at, self.data, self.sets = at, data, sets
        count = n_choices(scheme, len(sets))
        first, second = (choices(scheme, count, at, rng, x) for x in data.inputs)
        self.choices = list(zip(first, second, strict=True))
        self.terms = paired_zeros(at)

    def add(self, w: int, width: int, sums: Sequence[Sequence[FeatureSums | None]]) -> None:
        def both(features: int, own: Sequence[Choice]) -> tuple[_Fits, _Fits]:
            one, grown = self.sets[features], sums[features]
            first, second = (self._fits(one, i, width, own[i], grown[i]) for i in range(2))
            return first, second

        pairs = [Twins(both(j, own), both(j - 1, own)) for j, own in enumerate(self.choices)]
        n_shared = self.sets[0].outputs.shape[1]
        for k in range(self.at.n_fits):
            for name, value in twin_terms(pairs, self.data, k, n_shared).items():
                self.terms[name][w, k] = value

    def _fits(
        self, one: Features, i: int, width: int, choice: Choice, sums: FeatureSums | None
    ) -> _Fits:
        """The member of one feature set on samples drawn from data set i."""
        fits, rows, roots = self.at.fits(choice.n_drawn, width), choice.rows, choice.roots
        if sums is not None:
            gram = sums.gram[rows][:, rows] * (roots * roots.T)
            sums = FeatureSums(gram, choice.weighted(sums.reached))
        phi = choice.weighted(one.train[i][:, :width])
        return _Fits(learner(phi, one.outputs[:width, :], one.own, fits, sums), fits, choice)


# --- features ------------------------------------------------------------------------------------


class _Bank:
    """Members with features of their own from a bank."""

    def __init__(
        self,
        at: DrawSetting,
        sizes: Sequence[float],
        data: DataPair,
        test: Array | None,
        rng: np.random.Generator,
    ) -> None:
        self.at, self.sizes, self.data, self.rng = at, sizes, data, rng
        self.pools = drawn_features(at, data.inputs, test, 2 * int(at.widths[-1]), rng)
        self.terms = paired_zeros(at)

    def add(self, w: int, width: int, sums: Sequence[Sequence[FeatureSums | None]]) -> None:
        fits = self.at.fits(self.at.n_samples, width)
        pairs = []
        for pool in self.pools:
            common = n_common(width, self.sizes[w], self.rng)
            first, second = (
                (_of_bank(pool, 0, start, width, fits), _of_bank(pool, 1, start, width, fits))
                for start in (0, width - common)
            )
            pairs.append(Twins(first, second, common))
        n_shared = self.pools[0].outputs.shape[1]
        for k in range(self.at.n_fits):
            for name, value in twin_terms(pairs, self.data, k, n_shared).items():
                self.terms[name][w, k] = value


def n_common(width: int, size: float, rng: np.random.Generator) -> int:
    """The number of features that two choices of `width` from a bank of B have in common.

    Its mean is P²/B. Where B is no whole number, the bank is one of the next smaller and larger
    sizes at random, so that the mean is the same.

    >>> n_common(5, 5, np.random.default_rng(0)), n_common(5, np.inf, np.random.default_rng(0))
    (5, 0)
    """
    if size < _LARGEST_DRAW:
        whole = math.floor(size)
        if whole < size:  # mean of 1/B: whole with probability whole (whole + 1 - B)/B
            whole += int(rng.random() >= whole * (whole + 1 - size) / size)
        return int(rng.hypergeometric(width, whole - width, width))
    return int(rng.binomial(width, width / size))


def _of_bank(pool: Features, i: int, start: int, width: int, fits: list[Fit]) -> _Fits:
    """The member of some features of a bank on data set i."""
    part = slice(start, start + width)
    inner = learner(pool.train[i][:, part], pool.outputs[part, :], pool.own, fits)
    return _Fits(inner, fits)
